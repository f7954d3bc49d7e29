//! `Limits`: limits of a run, and their enforcement.
//!
//! [`Governor`](governor::Governor) decides when the next question may be asked. It is a state machine that takes the
//! time as input and is otherwise pure; `run/throttle.rs` has the clock and the waiting threads. It governs one run in
//! one process. Under nextest, where each test is a process, the parts of a run share its budget and its deadline
//! (`run/siblings.rs`), as of the start of each part. Rates, `ramp_up_s` and pauses after a refusal apply to each part
//! alone; nextest's own `-j` or test groups limit how many are in flight.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;

use crate::stats::as_f64;
use crate::system::lock;
use budget::Spent;

pub(crate) mod budget;
pub(crate) mod governor;

/// Limits of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limits {
    /// Questions in flight at once: a sample in one epoch each.
    pub concurrency: usize,
    /// The timeout of one attempt.
    pub timeout: Duration,
    /// The time for a whole conversation, of which `timeout` is that for a turn.
    pub(crate) conversation_timeout: Option<Duration>,
    /// The time for all attempts of a sample in one epoch, with the pauses between them.
    pub(crate) sample_timeout: Option<Duration>,
    /// The time for the whole run, from its start or resumption. Questions in flight are then cancelled, and asked
    /// again when the run is resumed.
    pub deadline: Option<Duration>,
    /// What the whole run may use up.
    pub budget: Budget,
    /// Attempts that may start per minute, evenly spread.
    pub requests_per_minute: Option<f64>,
    /// Input and output tokens per minute, as reported by the agent.
    pub tokens_per_minute: Option<f64>,
    /// How long it takes at the start until `concurrency` questions are in flight; by default 0.2 ms for each.
    pub(crate) ramp_up: Option<Duration>,
    /// How often a failed attempt is repeated. Wrong answers and timeouts are not. An agent behind a network has its
    /// own default: [`Agent::default_retries`](crate::Agent::default_retries).
    pub retries: u32,
    /// The same if set by the eval: then it applies to judges, too.
    pub(crate) own_retries: Option<u32>,
    /// The time that a sample may wait for rate limits (429), if it is limited.
    pub(crate) rate_limit_wait: Option<Duration>,
    /// Pause before the first repetition; doubles each time up to 30 s. Longer, up to ten minutes, if the agent asks
    /// for it, as with `Retry-After`.
    pub backoff: Duration,
    /// The longest answer of an agent, in bytes.
    pub max_output_bytes: u64,
    /// Ask only the first samples, after shuffling.
    pub limit: Option<usize>,
    /// Stop at the first sample whose agent failed.
    pub fail_fast: bool,
    /// Continue when the first attempts of an agent fail in the same way, which otherwise stops the run.
    pub keep_going: bool,
}

impl Limits {
    /// The time that a sample may wait for rate limits: none where the eval sets `retries` to 0 and not this.
    pub(crate) fn longest_rate_limit_wait(&self) -> Option<Duration> {
        let is_implied = self.own_retries == Some(0);
        self.rate_limit_wait
            .or(is_implied.then_some(Duration::ZERO))
    }

    /// The limits for a manifest, with the keys of a spec.
    pub(crate) fn describe(&self) -> Value {
        serde_json::json!({
            "concurrency": self.concurrency,
            "timeout_s": self.timeout.as_secs_f64(),
            "retries": self.retries,
            "rate_limit_wait_s": self.rate_limit_wait.map(|limit| limit.as_secs_f64()),
            "limit": self.limit,
            "sample_timeout_s": self.sample_timeout.map(|limit| limit.as_secs_f64()),
            "deadline_s": self.deadline.map(|limit| limit.as_secs_f64()),
            "budget": {
                "cost_usd": self.budget.cost_usd,
                "tokens": self.budget.tokens,
                "requests": self.budget.requests,
            },
            "requests_per_minute": self.requests_per_minute,
            "tokens_per_minute": self.tokens_per_minute,
        })
    }
}

impl Limits {
    /// The limits of a rescore's judges, from the configuration of the run.
    pub(crate) fn of_config(config: &Value) -> Self {
        let configured = |pointer: &str| config.pointer(&format!("/limits/{pointer}"));
        let number = |pointer: &str| configured(pointer).and_then(Value::as_f64);
        let count = |pointer: &str| configured(pointer).and_then(Value::as_u64);
        let seconds = |pointer: &str| {
            let seconds = number(pointer)?;
            Duration::try_from_secs_f64(seconds).ok()
        };
        let default = Self::default();
        let concurrency = count("concurrency").filter(|number| *number > 0);
        let own_retries = count("retries").map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        Self {
            concurrency: concurrency.map_or(default.concurrency, |number| {
                usize::try_from(number).unwrap_or(usize::MAX)
            }),
            timeout: seconds("timeout_s").unwrap_or(default.timeout),
            retries: own_retries.unwrap_or(default.retries),
            own_retries,
            rate_limit_wait: seconds("rate_limit_wait_s"),
            budget: Budget {
                cost_usd: number("budget/cost_usd"),
                tokens: count("budget/tokens"),
                requests: count("budget/requests"),
            },
            ..default
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            concurrency: 8,
            timeout: Duration::from_mins(10),
            conversation_timeout: None,
            sample_timeout: None,
            deadline: None,
            budget: Budget::default(),
            requests_per_minute: None,
            tokens_per_minute: None,
            ramp_up: None,
            retries: 0,
            own_retries: None,
            rate_limit_wait: None,
            backoff: Duration::from_millis(500),
            max_output_bytes: 1 << 20,
            limit: None,
            fail_fast: false,
            keep_going: false,
        }
    }
}

/// What a run may use up, over all its parts when it is resumed. When it is used up, nothing more is asked, questions
/// in flight are answered, and the run ends; it can be resumed with a larger budget.
///
/// Requests are counted before they are sent, and never exceeded. The cost of an answer is known only afterwards: as
/// many questions are in flight as fit into the rest at the average cost so far, and at most ten until the first answer
/// reports its cost. So the budget can be exceeded by what questions in flight cost above the average, and by attempts
/// that fail after the agent has paid for them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Budget {
    /// US dollars, as reported by the agent.
    pub cost_usd: Option<f64>,
    /// Input and output tokens, as reported by the agent.
    pub tokens: Option<u64>,
    /// Attempts.
    pub requests: Option<u64>,
}

impl Budget {
    /// This budget, with unset limits taken from the other.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            cost_usd: self.cost_usd.or(other.cost_usd),
            tokens: self.tokens.or(other.tokens),
            requests: self.requests.or(other.requests),
        }
    }
}

/// Bounds for the number of consecutive unanswered samples that make an outage, which is otherwise the number asked at
/// once.
const FEWEST: usize = 4;
const SAMPLES: usize = 8;
/// Tries of an agent that never answered: half a minute with the usual backoff.
const MOST_AT_FIRST: u32 = 7;
/// Tries of an agent that has answered before: some minutes.
const MOST: u32 = 15;

/// Tracks failures for which no sample is at fault.
#[derive(Clone, Debug)]
struct Outage {
    /// How many failed samples make an outage.
    samples: usize,
    /// Samples that failed this way since the last answer, while there is no outage.
    failed: BTreeSet<String>,
    /// The start of the outage, and the number of tries since then.
    out: Option<(Duration, u32)>,
    has_answered: bool,
}

impl Outage {
    fn new(concurrency: usize) -> Self {
        Self {
            samples: concurrency.clamp(FEWEST, SAMPLES),
            failed: BTreeSet::new(),
            out: None,
            has_answered: false,
        }
    }

    /// Whether there is an outage.
    fn is_on(&self) -> bool {
        self.out.is_some()
    }

    /// Whether it was tried often enough.
    fn is_exhausted(&self) -> bool {
        let most = if self.has_answered {
            MOST
        } else {
            MOST_AT_FIRST
        };
        self.out.is_some_and(|(_, tries)| tries >= most)
    }

    /// The agent answered.
    fn answered(&mut self) {
        self.has_answered = true;
        self.replied();
    }

    /// The agent is reachable, whatever it replied.
    fn replied(&mut self) {
        self.failed.clear();
        self.out = None;
    }

    /// The agent was unreachable for a sample that was asked at `requested`. Returns the number of tries in the outage.
    fn failed(&mut self, sample: &str, requested: Duration, now: Duration) -> u32 {
        match &mut self.out {
            // Ignore questions that were in flight when the outage began.
            Some((since, tries)) if requested >= *since => *tries += 1,
            Some(_) => {}
            None => {
                if !self.failed.contains(sample) {
                    self.failed.insert(sample.to_owned());
                }
                if self.failed.len() >= self.samples {
                    self.failed.clear();
                    self.out = Some((now, 1));
                }
            }
        }
        self.out.map_or(0, |(_, tries)| tries)
    }
}

impl Limits {
    /// The limits of one of `parts` parts, which has `own` of `all` samples: budgets by the share of samples, rates by
    /// the number of parts. Together they stay within the whole.
    pub(crate) fn of_part(&self, parts: u32, own: usize, all: usize) -> Self {
        let budget = &self.budget;
        let count = |count: u64| {
            let part = u128::from(count) * own as u128 / all.max(1) as u128;
            u64::try_from(part).unwrap_or(u64::MAX)
        };
        let share = as_f64(own as u64) / as_f64(all.max(1) as u64);
        let rate = |rate: f64| rate / f64::from(parts.max(1));
        Self {
            budget: Budget {
                cost_usd: budget.cost_usd.map(|usd| usd * share),
                tokens: budget.tokens.map(count),
                requests: budget.requests.map(count),
            },
            requests_per_minute: self.requests_per_minute.map(rate),
            tokens_per_minute: self.tokens_per_minute.map(rate),
            ..self.clone()
        }
    }
}

/// What each variant of a spec has used up, and its requests in flight.
#[derive(Debug, Default)]
pub(crate) struct SharedBudget {
    /// The names of the evals that share it.
    names: Vec<String>,
    shares: Mutex<BTreeMap<String, BudgetShare>>,
}

/// The share of one variant.
#[derive(Clone, Debug, Default)]
pub(crate) struct BudgetShare {
    pub(crate) spent: Spent,
    /// Requests whose cost is not known yet.
    pub(crate) in_flight: usize,
}

impl SharedBudget {
    /// With nothing used up.
    pub(crate) fn new(names: Vec<String>) -> Self {
        Self {
            names,
            shares: Mutex::default(),
        }
    }

    /// The other evals that share it.
    pub(crate) fn others_of<'a>(&'a self, eval: &'a str) -> impl Iterator<Item = &'a str> {
        let names = self.names.iter().map(String::as_str);
        names.filter(move |name| *name != eval)
    }

    /// Calls `act` with the total of the others and stores the new share that it returns, with the lock held.
    pub(crate) fn act<T>(
        &self,
        eval: &str,
        act: impl FnOnce(&BudgetShare) -> (BudgetShare, T),
    ) -> T {
        let mut shares = lock(&self.shares);
        let mut others = BudgetShare::default();
        for (_, share) in shares.iter().filter(|(name, _)| *name != eval) {
            others.spent.join(&share.spent);
            others.in_flight += share.in_flight;
        }
        let (own, done) = act(&others);
        shares.insert(eval.to_owned(), own);
        done
    }

    /// Sets what an eval used up outside this program, unless it is known already.
    pub(crate) fn report(&self, eval: &str, spent: Spent) {
        let share = BudgetShare {
            spent,
            in_flight: 0,
        };
        lock(&self.shares).entry(eval.to_owned()).or_insert(share);
    }
}

/// At the start, slots open at this interval: an endpoint loses connections if more come at once than its queue holds.
const OPENING: Duration = Duration::from_micros(200);

/// How many questions may be in flight.
///
/// At first the slots open one by one. A rate limit refusal halves the window; an answer grows it by the inverse of its
/// size, so by one per round of answers. Refusals of questions asked before the window was halved belong to the same
/// congestion and do not halve it again. Source: V. Jacobson, *Congestion avoidance and control*, SIGCOMM 1988.
#[derive(Clone, Copy, Debug)]
struct Window {
    most: usize,
    /// The interval at which slots open.
    opening: Duration,
    /// At most `most`.
    size: f64,
    halved: Option<Duration>,
}

impl Window {
    fn new(most: usize, ramp_up: Option<Duration>) -> Self {
        let most = most.max(1);
        let places = u32::try_from(most).unwrap_or(u32::MAX);
        Self {
            most,
            opening: ramp_up.map_or(OPENING, |ramp_up| ramp_up / places),
            size: as_f64(most as u64),
            halved: None,
        }
    }

    /// How many may be in flight now, at least one; and when there will be one more, if that depends on time alone.
    fn places(&self, now: Duration) -> (usize, Option<Duration>) {
        let open = now.as_nanos().checked_div(self.opening.as_nanos());
        let open = open.map_or(self.most, |open| {
            usize::try_from(open).map_or(self.most, |open| open.saturating_add(1))
        });
        let size = floor(self.size).clamp(1, self.most);
        if open >= size {
            return (size, None);
        }
        let next = u32::try_from(open).unwrap_or(u32::MAX);
        (open, Some(self.opening.saturating_mul(next)))
    }

    /// A question was answered.
    fn grow(&mut self) {
        self.size = (self.size + 1.0 / self.size).min(as_f64(self.most as u64));
    }

    /// A question asked at `requested`, one of `in_flight`, was refused because of a rate limit. Returns whether the window
    /// was halved.
    fn halve(&mut self, now: Duration, requested: Duration, in_flight: usize) -> bool {
        if self.halved.is_some_and(|halved| requested <= halved) {
            return false;
        }
        let used = as_f64(in_flight as u64).min(self.size);
        self.size = (used / 2.0).max(1.0);
        // Questions asked from now on reflect the smaller window.
        self.halved = Some(now);
        true
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at least 1 and at most a number of places"
)]
fn floor(size: f64) -> usize {
    size as usize
}

#[cfg(test)]
mod part_tests {
    use super::*;

    #[test]
    fn parts_together_take_no_more_than_the_whole() {
        let limits = Limits {
            budget: Budget {
                cost_usd: Some(10.0),
                tokens: Some(u64::MAX),
                requests: Some(100),
            },
            requests_per_minute: Some(60.0),
            tokens_per_minute: Some(1000.0),
            ..Limits::default()
        };
        let sizes = [0, 1, 51, 113];
        let parts = sizes.map(|own| limits.of_part(4, own, 165));
        let of =
            |part: fn(&Limits) -> Option<u64>| parts.iter().filter_map(part).collect::<Vec<_>>();
        assert_eq!(of(|it| it.budget.requests), [0, 0, 30, 68]);
        let tokens: u128 = of(|it| it.budget.tokens).into_iter().map(u128::from).sum();
        assert!(tokens <= u128::from(u64::MAX));
        let usd: f64 = parts.iter().filter_map(|it| it.budget.cost_usd).sum();
        assert!((usd - 10.0).abs() < 1e-9, "{usd}");
        assert!(parts.iter().all(|it| it.requests_per_minute == Some(15.0)));
        assert!(parts.iter().all(|it| it.tokens_per_minute == Some(250.0)));
        // Unset limits stay unset, and the others are unchanged.
        assert_eq!(Limits::default().of_part(4, 1, 9), Limits::default());
        // The one part that is the whole.
        assert_eq!(limits.of_part(1, 165, 165), limits);
    }
}

#[cfg(test)]
mod shared_budget_tests {
    use super::*;

    #[test]
    fn each_knows_what_the_others_have() {
        let shared_budget = SharedBudget::new(["e@a", "e@b", "e@c"].map(str::to_owned).to_vec());
        let share = |requests, in_flight| {
            let mut spent = Spent::default();
            spent.requests = requests;
            BudgetShare { spent, in_flight }
        };
        let seen = |eval: &str, own: BudgetShare| {
            shared_budget.act(eval, |others| {
                (own, (others.spent.requests, others.in_flight))
            })
        };
        assert_eq!(seen("e@a", share(3, 1)), (0, 0));
        assert_eq!(seen("e@b", share(4, 0)), (3, 1));
        assert_eq!(seen("e@a", share(5, 0)), (4, 0));
        // Known shares are not overwritten.
        shared_budget.report("e@b", share(99, 0).spent);
        shared_budget.report("e@c", share(2, 0).spent);
        assert_eq!(seen("e@a", share(5, 0)), (6, 0));
        assert_eq!(
            shared_budget.others_of("e@b").collect::<Vec<_>>(),
            ["e@a", "e@c"]
        );
    }
}

#[cfg(test)]
mod window_tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn places_open_one_by_one_at_the_start() {
        let window = Window::new(500, None);
        assert_eq!(window.places(Duration::ZERO), (1, Some(MS / 5)));
        assert_eq!(window.places(10 * MS), (51, Some(51 * MS / 5)));
        assert_eq!(window.places(100 * MS), (500, None));
        let slow = Window::new(10, Some(10_000 * MS));
        assert_eq!(slow.places(2500 * MS), (3, Some(3000 * MS)));
        assert_eq!(
            Window::new(7, Some(Duration::ZERO)).places(Duration::ZERO),
            (7, None)
        );
        assert_eq!(Window::new(0, None).places(MS).0, 1);
    }

    #[test]
    fn refusals_halve_it_once_and_answers_open_it_again() {
        let mut window = Window::new(64, Some(Duration::ZERO));
        let mut halvings = 0;
        // All 64 in flight are refused.
        for _ in 0..64 {
            halvings += u32::from(window.halve(100 * MS, 50 * MS, 64));
        }
        assert_eq!(halvings, 1);
        assert_eq!(window.places(100 * MS).0, 32);
        window.halve(200 * MS, 150 * MS, 20);
        assert_eq!(
            window.places(200 * MS).0,
            10,
            "half of those that were in flight"
        );
        for _ in 0..11 {
            window.grow();
        }
        assert_eq!(
            window.places(200 * MS).0,
            11,
            "one more for a round of answers"
        );
        for _ in 0..10_000 {
            window.grow();
        }
        assert_eq!(window.places(200 * MS).0, 64);
        for turn in 1..20 {
            window.halve(1000 * MS * turn + MS, 1000 * MS * turn, 1);
        }
        assert_eq!(window.places(MS).0, 1, "never none");
    }
}
