//! How often one of two answers wins.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::stats::{MeanEstimate, ratio, wilson95_of_share};

use super::{InputLine, missing, share, wrong};

/// Which of two answers is better, independent of the order in which they were shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preferred {
    /// The answer whose wins are counted.
    A,
    /// The other.
    B,
    /// Neither.
    Tie,
}

/// A comparison of two answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ComparedAnswers {
    /// The preference with A shown first, and with B shown first; `None` if unreadable.
    BothOrders(Option<Preferred>, Option<Preferred>),
    /// The degree to which A is preferred, 0 to 1; `None` if unknown.
    Preference(Option<f64>),
}

impl ComparedAnswers {
    /// The members of lines of this kind.
    pub fn members(&self) -> &'static str {
        match self {
            Self::BothOrders(..) => "`first` and `second`",
            Self::Preference(_) => "`preference`",
        }
    }
}

impl InputLine for ComparedAnswers {
    const EXAMPLE: &'static str = r#"{"first": "A", "second": "tie"}` or `{"preference": 0.7}"#;

    fn read(fields: &Map<String, Value>) -> Result<Self> {
        let has = |name: &str| fields.contains_key(name);
        if has("preference") {
            if has("first") || has("second") {
                return Err(Error::usage(
                    "the line has both a `preference` and a verdict for an order",
                ));
            }
            return share(fields, "preference").map(Self::Preference);
        }
        if has("logprobs") && !has("first") {
            return Err(Error::usage("the line has `logprobs`").hint("add `--logprobs`"));
        }
        let verdict = |name: &str| match fields.get(name) {
            None => Err(missing(name)),
            Some(Value::Null) => Ok(None),
            Some(value) => match value.as_str() {
                Some("A") => Ok(Some(Preferred::A)),
                Some("B") => Ok(Some(Preferred::B)),
                Some("tie") => Ok(Some(Preferred::Tie)),
                _ => Err(wrong(name, r#""A", "B", "tie" or null"#, value)),
            },
        };
        Ok(Self::BothOrders(verdict("first")?, verdict("second")?))
    }
}

/// A preference from the log-probabilities of the tokens `m` and `M`, with which a judge names the better answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogprobPreference(
    /// P(M) / (P(m) + P(M)), or 1 minus that if the answers were swapped. A missing token has probability 0; `None` if
    /// both are missing.
    pub Option<f64>,
);

impl InputLine for LogprobPreference {
    const EXAMPLE: &'static str = r#"{"logprobs": {"m": -0.1, "M": -2.4}, "swapped": false}"#;

    fn read(fields: &Map<String, Value>) -> Result<Self> {
        let none = Map::new();
        let tokens = match fields.get("logprobs") {
            None => return Err(missing("logprobs")),
            Some(Value::Null) => &none,
            Some(Value::Object(tokens)) => tokens,
            Some(other) => {
                let wanted = "an object with `m` and `M`";
                return Err(wrong("logprobs", wanted, other));
            }
        };
        let lower = logprob(tokens, "m")?;
        let upper = logprob(tokens, "M")?;
        let is_swapped = match fields.get("swapped") {
            None => return Err(missing("swapped")),
            Some(Value::Bool(is)) => *is,
            Some(other) => return Err(wrong("swapped", "true or false", other)),
        };
        let (this, other) = if is_swapped {
            (lower, upper)
        } else {
            (upper, lower)
        };
        Ok(Self(match (this, other) {
            (None, None) => None,
            (Some(_), None) => Some(1.0),
            (None, Some(_)) => Some(0.0),
            // e^-1000 alone would underflow; the ratio does not.
            (Some(this), Some(other)) => Some(1.0 / (1.0 + (other - this).exp())),
        }))
    }
}

fn logprob(tokens: &Map<String, Value>, token: &str) -> Result<Option<f64>> {
    /// How far rounding may raise the logarithm of a probability above 0.
    const ROUNDING: f64 = 1e-3;
    let value = match tokens.get(token) {
        None | Some(Value::Null) => return Ok(None),
        Some(value) => value,
    };
    match value.as_f64().filter(|number| *number <= ROUNDING) {
        Some(number) => Ok(Some(number)),
        None => Err(wrong(
            &format!("logprobs.{token}"),
            "the logarithm of a probability, at most 0",
            value,
        )),
    }
}

/// The win rate of A, from verdicts in both orders.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OrdersWinRate {
    /// All pairs of answers.
    pub n: u64,
    /// A is preferred in both orders.
    pub wins: u64,
    /// B is preferred in both orders.
    pub losses: u64,
    /// Neither is preferred, in both orders.
    pub ties: u64,
    /// The verdict differs between the orders, even if one is a tie.
    pub inconsistent: u64,
    /// Pairs with a missing verdict.
    pub unreadable: u64,
    /// (wins + ½ (ties + inconsistent)) / (n - unreadable).
    pub win_rate: Option<f64>,
    /// Wilson's interval of this share.
    pub ci95: Option<[f64; 2]>,
    /// `first_shown_wins` / `inconsistent`: 1 if the answer shown first always gains by the order.
    pub position_bias: Option<f64>,
    /// Inconsistent pairs in which the answer shown first is preferred both times.
    pub first_shown_wins: u64,
}

/// The mean preference for A.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PreferenceWinRate {
    /// Known preferences.
    pub n: u64,
    /// Their mean.
    pub win_rate: Option<f64>,
    /// The sample standard deviation over √n; `null` for fewer than two.
    pub standard_error: Option<f64>,
    /// By the normal approximation, not limited to 0 to 1.
    pub ci95: Option<[f64; 2]>,
    /// Lines without a preference.
    #[serde(skip)]
    pub excluded: u64,
}

impl OrdersWinRate {
    /// From verdicts with A shown first, and with B shown first.
    pub fn of(pairs: &[(Option<Preferred>, Option<Preferred>)]) -> Self {
        let count = |is: fn(Preferred, Preferred) -> bool| {
            let read = pairs
                .iter()
                .filter_map(|(first, second)| first.zip(*second));
            read.filter(|(first, second)| is(*first, *second)).count() as u64
        };
        let read = count(|_, _| true);
        let wins = count(|first, second| (first, second) == (Preferred::A, Preferred::A));
        let losses = count(|first, second| (first, second) == (Preferred::B, Preferred::B));
        let ties = count(|first, second| (first, second) == (Preferred::Tie, Preferred::Tie));
        let inconsistent = read - wins - losses - ties;
        let first_shown_wins =
            count(|first, second| (first, second) == (Preferred::A, Preferred::B));
        let win_rate = ratio(2 * wins + ties + inconsistent, 2 * read);
        Self {
            n: pairs.len() as u64,
            wins,
            losses,
            ties,
            inconsistent,
            unreadable: pairs.len() as u64 - read,
            win_rate,
            ci95: win_rate.and_then(|rate| wilson95_of_share(rate, read)),
            position_bias: ratio(first_shown_wins, inconsistent),
            first_shown_wins,
        }
    }
}

impl PreferenceWinRate {
    /// From preferences; `None` for unknown ones.
    pub fn of(preferences: &[Option<f64>]) -> Self {
        let known: Vec<_> = preferences.iter().flatten().copied().collect();
        let estimate = MeanEstimate::of(&known);
        Self {
            n: estimate.n,
            win_rate: estimate.mean,
            standard_error: estimate.standard_error,
            ci95: estimate.ci95(),
            excluded: preferences.len() as u64 - estimate.n,
        }
    }
}
