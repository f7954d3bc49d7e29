//! How often one of two answers wins.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::stats::{MeanEstimate, ratio, wilson95_of_share};

use super::{JudgedLine, missing, share, wrong};

/// Which of two answers is better, in the original orientation whatever the order was in which they were shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preferred {
    /// The one whose wins are counted.
    A,
    /// The other.
    B,
    /// Neither.
    Tie,
}

/// A comparison of two answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ComparedAnswers {
    /// What was preferred when A was shown first, and when B was; `None` where that could not be read.
    BothOrders(Option<Preferred>, Option<Preferred>),
    /// How far A is preferred, 0 to 1; `None` where that is not known.
    Preference(Option<f64>),
}

impl ComparedAnswers {
    /// The members that lines of this kind have.
    pub fn members(&self) -> &'static str {
        match self {
            Self::BothOrders(..) => "`first` and `second`",
            Self::Preference(_) => "`preference`",
        }
    }
}

impl JudgedLine for ComparedAnswers {
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

/// A preference from the log-probabilities of the tokens `m` and `M`, by which a judge names the better answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogprobPreference(
    /// P(M) / (P(m) + P(M)), and 1 less that where the answers were swapped. A token that is not there is one of
    /// probability 0; `None` where neither is.
    pub Option<f64>,
);

impl JudgedLine for LogprobPreference {
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
            // Of e^-1000 alone nothing would be left; of their ratio everything is.
            (Some(this), Some(other)) => Some(1.0 / (1.0 + (other - this).exp())),
        }))
    }
}

fn logprob(tokens: &Map<String, Value>, token: &str) -> Result<Option<f64>> {
    /// By which rounding may take the logarithm of a probability above 0.
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

/// How often A wins, of verdicts in both orders.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OrdersWinRate {
    /// All pairs of answers.
    pub n: u64,
    /// A is preferred in both orders.
    pub wins: u64,
    /// B is.
    pub losses: u64,
    /// Neither is, in both orders.
    pub ties: u64,
    /// Another verdict in the other order, also where one of the two is a tie.
    pub inconsistent: u64,
    /// Pairs with a verdict that is missing.
    pub unreadable: u64,
    /// (wins + ½ (ties + inconsistent)) / (n - unreadable).
    pub win_rate: Option<f64>,
    /// Wilson's interval of that share of so many.
    pub ci95: Option<[f64; 2]>,
    /// `first_shown_wins` / `inconsistent`: 1 where it is always the first shown that gains by the order.
    pub position_bias: Option<f64>,
    /// Pairs whose first shown answer is preferred in both orders.
    pub first_shown_wins: u64,
}

/// How far A is preferred, on average.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PreferenceWinRate {
    /// Preferences that are known.
    pub n: u64,
    /// Their mean.
    pub win_rate: Option<f64>,
    /// The sample standard deviation over √n; `null` for fewer than two.
    pub standard_error: Option<f64>,
    /// Of the normal approximation, which may lie beyond 0 and 1.
    pub ci95: Option<[f64; 2]>,
    /// Lines without a preference.
    #[serde(skip)]
    pub left_out: u64,
}

impl OrdersWinRate {
    /// Of verdicts when A was shown first, and when B was.
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
    /// Of preferences, with `None` where there is none.
    pub fn of(preferences: &[Option<f64>]) -> Self {
        let known: Vec<_> = preferences.iter().flatten().copied().collect();
        let estimate = MeanEstimate::of(&known);
        Self {
            n: estimate.n,
            win_rate: estimate.mean,
            standard_error: estimate.standard_error,
            ci95: estimate.ci95(),
            left_out: preferences.len() as u64 - estimate.n,
        }
    }
}
