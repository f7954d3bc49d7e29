//! `Limits`: limits of a run, and their enforcement.
//!
//! [`Governor`](governor::Governor) decides when the next question may be asked. It is a state machine that takes the
//! time as input and is otherwise pure; `run/throttle.rs` has the clock and the waiting threads. It governs one run in
//! one process. Under nextest, where each test is a process, the parts of a run share its budget and its deadline
//! (`run/siblings.rs`), as of the start of each part. Rates, `ramp_up_s` and pauses after a refusal apply to each part
//! alone; nextest's own `-j` or test groups limit how many are in flight.

use std::time::Duration;

use serde_json::Value;

pub(crate) mod budget;
pub(crate) mod governor;
mod outage;
mod part;
mod rate;
pub(crate) mod shared_budget;
mod window;

/// Limits of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limits {
    /// Questions in flight at once: a sample in one epoch each.
    pub concurrency: usize,
    /// The timeout of one attempt.
    pub timeout: Duration,
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
    /// The limits for a manifest, with the keys of a spec.
    pub(crate) fn describe(&self) -> Value {
        serde_json::json!({
            "concurrency": self.concurrency,
            "timeout_s": self.timeout.as_secs_f64(),
            "retries": self.retries,
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
            sample_timeout: None,
            deadline: None,
            budget: Budget::default(),
            requests_per_minute: None,
            tokens_per_minute: None,
            ramp_up: None,
            retries: 0,
            own_retries: None,
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
