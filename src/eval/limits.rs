//! `Limits`: bounds of a run, and what keeps them.
//!
//! [`Governor`](governor::Governor) says when the next question may be asked. It is a state machine that is told
//! the time and is otherwise pure; `run/throttle.rs` has the clock and the threads that wait. It governs one run
//! in one process. Under nextest, where each test is a process, the parts of a run share its budget and its deadline
//! (`run/siblings.rs`), each as the others were when it began; its rates, `ramp_up_s` and the quiet after a
//! refusal are of each part alone, and nextest's own `-j` or test groups say how many are in flight.

use std::time::Duration;

use serde_json::Value;

pub(crate) mod budget;
pub(crate) mod governor;
mod outage;
mod part;
pub(crate) mod purse;
mod rate;
mod window;

/// Bounds of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limits {
    /// Questions in flight at once: samples, or with several epochs epochs of samples.
    pub concurrency: usize,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// How long all attempts of a sample may take together, with the pauses between them; in each epoch anew.
    pub(crate) sample_timeout: Option<Duration>,
    /// How long the whole run may take, from its start or from where it is resumed. What is in flight then is
    /// cut off, and asked again when the run is resumed.
    pub deadline: Option<Duration>,
    /// What the whole run may use up.
    pub budget: Budget,
    /// Attempts that may begin in a minute, evenly spread.
    pub requests_per_minute: Option<f64>,
    /// Tokens that answers may take in a minute, read and written, as the agent tells.
    pub tokens_per_minute: Option<f64>,
    /// How long it takes at the start until `concurrency` questions are in flight; else 0.2 ms for each.
    pub(crate) ramp_up: Option<Duration>,
    /// How often a failed attempt is repeated. Wrong answers and timeouts are not. An agent behind a network has a
    /// default of its own: [`Agent::default_retries`](crate::Agent::default_retries).
    pub retries: u32,
    /// The same as the eval says it, if it does: then judges are asked as often, too.
    pub(crate) own_retries: Option<u32>,
    /// Pause before the first repetition; doubles each time up to 30 s. Longer when the agent says so, as a
    /// `Retry-After` does, up to ten minutes.
    pub backoff: Duration,
    /// Bytes that an agent may print as its answer.
    pub max_output_bytes: u64,
    /// Ask only the first samples, after shuffling.
    pub limit: Option<usize>,
    /// Stop at the first sample whose agent failed.
    pub fail_fast: bool,
    /// Go on when the first attempts of an agent fail alike, which else stops the run.
    pub keep_going: bool,
}

impl Limits {
    /// For a manifest: what bounds the run, in the words of a spec.
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
    /// What bounds the judges of a run whose answers are scored again, as its configuration says it.
    pub(crate) fn of_config(config: &Value) -> Self {
        let said = |pointer: &str| config.pointer(&format!("/limits/{pointer}"));
        let number = |pointer: &str| said(pointer).and_then(Value::as_f64);
        let count = |pointer: &str| said(pointer).and_then(Value::as_u64);
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

/// What a run may use up, all its parts together when it is resumed. When it is used up no question is asked any
/// more, those in flight are answered, and the run ends; it can be resumed with a larger one.
///
/// Requests are counted before they are sent, and never overspent. What an answer costs is known only afterwards:
/// as many are in flight as fit into what is left if they cost what those before did on average, and at most ten
/// until the first tells. So it is overspent by what those in flight cost above the average, and by attempts that
/// fail after the agent has paid for them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Budget {
    /// US dollars, as the agent tells the cost of its answers.
    pub cost_usd: Option<f64>,
    /// Tokens read and written, as the agent tells.
    pub tokens: Option<u64>,
    /// Attempts.
    pub requests: Option<u64>,
}

impl Budget {
    /// This one, and what it leaves open as the other has it.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            cost_usd: self.cost_usd.or(other.cost_usd),
            tokens: self.tokens.or(other.tokens),
            requests: self.requests.or(other.requests),
        }
    }
}
