//! `Spent`: what a run has used up of its [`Budget`].

use std::fmt;

use super::BudgetShare;
use super::{Budget, Limits};
use crate::data::conversation::Speaker;
use crate::data::{FailureKind, Usage};
use crate::stats::{Sum, as_f64};
use crate::store::journal::{Kind, StoredEvent};

/// After this many answers without a reported cost, a cost budget is treated as a mistake.
const MIN_UNREPORTED_ANSWERS: u64 = 10;

/// What a run has used up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) requests: u64,
    answers: u64,
    cost: Sum,
    tokens: ReportedSum,
}

/// A sum over the answers that report a value.
#[derive(Clone, Copy, Debug, Default)]
struct ReportedSum {
    total: u64,
    answers: u64,
}

/// Why a budget allows no more questions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Exhausted {
    Cost {
        budget: f64,
        spent: f64,
    },
    Tokens {
        budget: u64,
        spent: u64,
    },
    Requests {
        budget: u64,
    },
    /// It cannot be enforced: no answer reports its cost.
    Untold {
        key: &'static str,
    },
}

/// What the agent and the judges of a run have used up.
#[derive(Clone, Debug, Default)]
pub(crate) struct UsedUp {
    pub(crate) agent: Spent,
    pub(crate) judges: Spent,
}

impl UsedUp {
    /// Adds what a line of a journal says was used up.
    pub(crate) fn add(&mut self, event: &StoredEvent) {
        // The requests of a conversation were counted one by one.
        let output = event.output.as_ref();
        let output = output.filter(|output| output.conversation.is_none());
        let usage = output.map(|output| output.usage.as_ref());
        match (event.kind, usage) {
            _ if event.cached => {}
            (Kind::Turn, _) => self.add_turn(event),
            (Kind::Judged, usage) => {
                self.judges.requests += 1;
                self.judges.add(usage.flatten());
            }
            (Kind::JudgeFailed, _) => self.judges.requests += 1,
            (Kind::Started, _) => self.agent.requests += 1,
            // It was started, but nothing was asked.
            (Kind::Failed, _) if is_shortage(event) => {
                self.agent.requests = self.agent.requests.saturating_sub(1);
            }
            (Kind::Answered, Some(usage)) => self.agent.add(usage),
            (Kind::Confirmed, Some(usage)) => {
                self.agent.requests += 1;
                self.agent.add(usage);
            }
            _ => {}
        }
    }

    /// Adds a message of a conversation, if somebody was asked for it. The agent's first reply is the request that was
    /// started.
    fn add_turn(&mut self, event: &StoredEvent) {
        let is_first = (event.turn, event.step) == (Some(1), Some(1));
        // What a user says without being asked takes no time.
        let is_asked = match event.by {
            Some(Speaker::Agent) => true,
            Some(Speaker::User) => event.latency_s.is_some_and(|latency| latency > 0.0),
            Some(Speaker::Tool) | None => false,
        };
        if is_asked {
            self.agent.requests += u64::from(!is_first);
            self.agent.add(event.usage.as_ref());
        }
    }

    /// The total of all.
    pub(crate) fn total(&self) -> Spent {
        let mut total = self.agent.clone();
        total.join(&self.judges);
        total
    }
}

impl Spent {
    /// Adds what others have used up.
    pub(crate) fn join(&mut self, others: &Self) {
        self.requests += others.requests;
        self.answers += others.answers;
        self.cost.add_all(&others.cost);
        self.tokens.total = self.tokens.total.saturating_add(others.tokens.total);
        self.tokens.answers += others.tokens.answers;
    }

    /// Adds the usage of an answer.
    pub(crate) fn add(&mut self, usage: Option<&Usage>) {
        self.answers += 1;
        let Some(usage) = usage else { return };
        if let Some(cost) = usage.cost_usd.filter(|cost| cost.is_finite()) {
            self.cost.add(cost.max(0.0));
        }
        if let Some(tokens) = tokens(usage) {
            self.tokens.total = self.tokens.total.saturating_add(tokens);
            self.tokens.answers += 1;
        }
    }

    /// The average tokens of an answer; 0 before any is reported.
    pub(super) fn mean_tokens(&self) -> f64 {
        match self.tokens.answers {
            0 => 0.0,
            answers => as_f64(self.tokens.total) / as_f64(answers),
        }
    }

    /// The exhausted part of a budget, if any.
    pub(super) fn exhausts(&self, budget: &Budget) -> Option<Exhausted> {
        let cost = self.cost.total().unwrap_or(0.0);
        if let Some(most) = budget.requests.filter(|most| self.requests >= *most) {
            return Some(Exhausted::Requests { budget: most });
        }
        if let Some(most) = budget.cost_usd.filter(|most| cost >= *most) {
            return Some(Exhausted::Cost {
                budget: most,
                spent: cost,
            });
        }
        let is_used_up = |most: &u64| self.tokens.total >= *most;
        let most = budget.tokens.filter(is_used_up)?;
        Some(Exhausted::Tokens {
            budget: most,
            spent: self.tokens.total,
        })
    }

    /// The part of a budget that cannot be enforced, as enough answers do not report their usage.
    pub(super) fn unreported(&self, budget: &Budget) -> Option<Exhausted> {
        let is_unreported = |reported: u64| reported == 0 && self.answers >= MIN_UNREPORTED_ANSWERS;
        if budget.cost_usd.is_some() && is_unreported(self.cost.count()) {
            return Some(Exhausted::Untold { key: "cost_usd" });
        }
        let is_unkept = budget.tokens.is_some() && is_unreported(self.tokens.answers);
        is_unkept.then_some(Exhausted::Untold { key: "tokens" })
    }

    /// Whether `in_flight` more answers of average size, with the others' share, would use up the budget. If so, no
    /// more are asked until those in flight end, so that they cannot all overspend together. Before any answer reports
    /// its size, enough are allowed to see that none will.
    pub(super) fn is_pledged(
        &self,
        budget: &Budget,
        in_flight: usize,
        others: &BudgetShare,
    ) -> bool {
        let mut total = self.clone();
        total.join(&others.spent);
        // An answer of one agent may cost a hundred times that of another.
        let mean_of = |it: &Self| it.cost.mean().or(total.cost.mean()).unwrap_or(0.0);
        let tokens_of = |it: &Self| match it.tokens.answers {
            0 => total.mean_tokens(),
            _ => it.mean_tokens(),
        };
        let [own, other] = [in_flight, others.in_flight].map(|count| as_f64(count as u64));
        let pledged =
            |mean_of: &dyn Fn(&Self) -> f64| own * mean_of(self) + other * mean_of(&others.spent);
        let cost = total.cost.total().unwrap_or(0.0) + pledged(&mean_of);
        let tokens = as_f64(total.tokens.total) + pledged(&tokens_of);
        // A remainder due to rounding has no room for another.
        let is_used_up = |most: f64, would_be: f64, reported| {
            would_be >= most * (1.0 - 1e-9) || self.is_blind(reported, in_flight)
        };
        budget
            .cost_usd
            .is_some_and(|most| is_used_up(most, cost, self.cost.count()))
            || budget
                .tokens
                .is_some_and(|most| is_used_up(as_f64(most), tokens, self.tokens.answers))
    }

    /// Whether to wait for the first answers in flight to report how many tokens one takes.
    pub(super) fn is_blind_to_tokens(&self, in_flight: usize) -> bool {
        self.is_blind(self.tokens.answers, in_flight)
    }

    fn is_blind(&self, reported: u64, in_flight: usize) -> bool {
        reported == 0
            && self.answers < MIN_UNREPORTED_ANSWERS
            && in_flight as u64 >= MIN_UNREPORTED_ANSWERS
    }

    /// Notices on limits that count less than was used, because not every answer reports its usage.
    pub(super) fn unenforced(&self, limits: &Limits) -> Vec<String> {
        let all = self.answers;
        let (of_cost, of_tokens) = (self.cost.count(), self.tokens.answers);
        let keys = [
            ("budget.cost_usd", limits.budget.cost_usd.is_some(), of_cost),
            ("budget.tokens", limits.budget.tokens.is_some(), of_tokens),
            (
                "tokens_per_minute",
                limits.tokens_per_minute.is_some(),
                of_tokens,
            ),
        ];
        let unenforced = keys
            .into_iter()
            .filter(|(_, is_set, reported)| *is_set && *reported < all);
        let notices = unenforced.map(|(key, _, reported)| match reported {
            0 => format!("`limits.{key}` was not enforced: no answer reports its usage"),
            reported => format!(
                "`limits.{key}` counted too little: {} of {all} answers do not report their usage",
                all - reported
            ),
        });
        notices.collect()
    }
}

/// Input and output tokens, as far as reported.
pub(super) fn tokens(usage: &Usage) -> Option<u64> {
    match (usage.input_tokens, usage.output_tokens) {
        (None, None) => None,
        (input, output) => Some(input.unwrap_or(0).saturating_add(output.unwrap_or(0))),
    }
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cost { budget, spent } => write!(
                f,
                "the budget is used up: {spent:.4} USD of {budget} (`limits.budget.cost_usd`)"
            ),
            Self::Tokens { budget, spent } => write!(
                f,
                "the budget is used up: {spent} tokens of {budget} (`limits.budget.tokens`)"
            ),
            Self::Requests { budget } => write!(
                f,
                "the budget is used up: {budget} requests (`limits.budget.requests`)"
            ),
            Self::Untold { key } => {
                let how = match *key {
                    "cost_usd" => "reply with `cost_usd`, or give agent `openai` a `price`",
                    _ => "reply with `usage`",
                };
                write!(
                    f,
                    "`limits.budget.{key}` cannot be enforced: none of {MIN_UNREPORTED_ANSWERS} answers reports its usage; {how}"
                )
            }
        }
    }
}

fn is_shortage(event: &StoredEvent) -> bool {
    let error = event.error.as_ref();
    error.is_some_and(|error| error.kind == FailureKind::Shortage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::AgentError;

    fn usage(tokens: u64, cost_usd: f64) -> Usage {
        Usage {
            cached_tokens: None,
            input_tokens: Some(tokens),
            output_tokens: None,
            cost_usd: Some(cost_usd),
        }
    }

    #[test]
    fn says_what_is_used_up() {
        let mut spent = Spent::default();
        let cost = |cost| Budget {
            cost_usd: Some(cost),
            ..Budget::default()
        };
        for _ in 0..10 {
            spent.add(Some(&usage(7, 0.1)));
            spent.requests += 1;
        }
        assert_eq!(spent.exhausts(&Budget::default()), None);
        assert_eq!(spent.exhausts(&cost(1.01)), None);
        let why = spent.exhausts(&cost(1.0)).map(|why| why.to_string());
        let expect = "the budget is used up: 1.0000 USD of 1 (`limits.budget.cost_usd`)";
        assert_eq!(why.as_deref(), Some(expect), "ten times 0.1 is 1");
        let tokens = |most| Budget {
            tokens: Some(most),
            ..Budget::default()
        };
        assert_eq!(spent.exhausts(&tokens(71)), None);
        let used = Exhausted::Tokens {
            budget: 70,
            spent: 70,
        };
        assert_eq!(spent.exhausts(&tokens(70)), Some(used));
        let requests = Budget {
            requests: Some(10),
            ..Budget::default()
        };
        assert_eq!(
            spent.exhausts(&requests),
            Some(Exhausted::Requests { budget: 10 })
        );
        // Three more in flight would cost 0.3.
        let nobody = BudgetShare::default();
        let is_pledged =
            |spent: &Spent, budget, in_flight| spent.is_pledged(&budget, in_flight, &nobody);
        assert!(!is_pledged(&spent, cost(1.31), 3) && is_pledged(&spent, cost(1.29), 3));
        // Before any cost is reported, a few answers show it.
        let none = Spent::default();
        assert!(!is_pledged(&none, cost(1.0), 9) && is_pledged(&none, cost(1.0), 10));
        assert!(is_pledged(&none, tokens(1), 10) && !is_pledged(&none, Budget::default(), 10));
    }

    #[test]
    fn what_is_in_flight_costs_what_its_own_agent_takes() {
        let of = |tokens, cost_usd| {
            let mut spent = Spent::default();
            spent.add(Some(&usage(tokens, cost_usd)));
            spent
        };
        let cost = |cost| Budget {
            cost_usd: Some(cost),
            ..Budget::default()
        };
        let tokens = |tokens| Budget {
            tokens: Some(tokens),
            ..Budget::default()
        };
        // 1.01 are spent; two of 1 are in flight, and three of 0.01.
        let others = BudgetShare {
            spent: of(1, 0.01),
            in_flight: 3,
        };
        let large = of(100, 1.0);
        assert!(large.is_pledged(&cost(3.03), 2, &others));
        assert!(!large.is_pledged(&cost(3.05), 2, &others));
        assert!(large.is_pledged(&tokens(304), 2, &others));
        assert!(!large.is_pledged(&tokens(305), 2, &others));
        // An agent that was not asked yet counts at the others' cost.
        assert!(Spent::default().is_pledged(&cost(0.05), 1, &others));
        assert!(!Spent::default().is_pledged(&cost(0.06), 1, &others));
    }

    fn used(events: &[StoredEvent]) -> UsedUp {
        let mut used = UsedUp::default();
        for event in events {
            used.add(event);
        }
        used
    }

    #[test]
    fn an_attempt_that_there_was_no_room_for_is_none() {
        let event = |kind| StoredEvent::new("a", 0, 1, kind);
        let short = StoredEvent {
            error: Some(AgentError::of(FailureKind::Shortage, "no room")),
            ..event(Kind::Failed)
        };
        let events = [event(Kind::Started), event(Kind::Started), short];
        assert_eq!(used(&events).agent.requests, 1);
        let failed = StoredEvent {
            error: Some(AgentError::of(FailureKind::Failed, "no")),
            ..event(Kind::Failed)
        };
        assert_eq!(used(&[event(Kind::Started), failed]).agent.requests, 1);
    }

    #[test]
    fn limits_that_nobody_tells_of_are_named() {
        let limits = Limits {
            budget: Budget {
                cost_usd: Some(1.0),
                ..Budget::default()
            },
            tokens_per_minute: Some(1.0),
            ..Limits::default()
        };
        let mut spent = Spent::default();
        assert!(spent.unenforced(&limits).is_empty(), "nothing was answered");
        spent.add(None);
        let none =
            |key: &str| format!("`limits.{key}` was not enforced: no answer reports its usage");
        assert_eq!(
            spent.unenforced(&limits),
            [none("budget.cost_usd"), none("tokens_per_minute")]
        );
        spent.add(Some(&usage(7, f64::NAN)));
        let some = "`limits.tokens_per_minute` counted too little: 1 of 2 answers do not report their usage";
        assert_eq!(
            spent.unenforced(&limits),
            [none("budget.cost_usd"), some.to_owned()]
        );
        assert!(spent.unenforced(&Limits::default()).is_empty());
    }

    #[test]
    fn a_budget_that_nobody_tells_of_is_a_mistake() {
        let mut spent = Spent::default();
        let budget = Budget {
            cost_usd: Some(1.0),
            tokens: Some(100),
            ..Budget::default()
        };
        for _ in 1..MIN_UNREPORTED_ANSWERS {
            spent.add(None);
        }
        assert_eq!(spent.unreported(&budget), None);
        spent.add(Some(&usage(1, f64::NAN)));
        assert_eq!(
            spent.unreported(&budget),
            Some(Exhausted::Untold { key: "cost_usd" })
        );
        spent.add(Some(&usage(1, -5.0)));
        assert_eq!(
            spent.unreported(&budget),
            None,
            "told, and nothing is given back"
        );
    }
}
