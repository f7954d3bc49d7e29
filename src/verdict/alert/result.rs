//! `AlertResult`: the result of an alert, as in `summary.json`.

use serde::{Deserialize, Serialize};

/// The result of an alert.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AlertResult {
    /// The alert as it is written in a spec.
    pub alert: String,
    /// The verdict.
    pub verdict: AlertVerdict,
    /// The value of the figure.
    pub value: Option<f64>,
    /// What the value is compared with.
    pub threshold: Option<f64>,
    /// For a statistical rule, the probability of this result if nothing changed; raised if below `p_needed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// The threshold for `p`, so that all analyses together keep to alpha.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_needed: Option<f64>,
    /// The id of the first run behind a raised alert.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The tier of the run, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// A message for people, on one line.
    pub message: String,
}

/// The verdict of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AlertVerdict {
    /// Something needs attention.
    Raised,
    /// Nothing was found.
    Quiet,
    /// Not enough data yet.
    Silent,
}

impl AlertVerdict {
    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Raised => "raised",
            Self::Quiet => "quiet",
            Self::Silent => "silent",
        }
    }
}

impl AlertResult {
    /// Whether the alert is raised.
    pub fn is_raised(&self) -> bool {
        self.verdict == AlertVerdict::Raised
    }
}

/// The result of a rule, without its alert.
#[derive(Debug)]
pub(super) struct AlertFinding {
    pub(super) verdict: AlertVerdict,
    pub(super) value: Option<f64>,
    pub(super) threshold: Option<f64>,
    pub(super) p: Option<[f64; 2]>,
    pub(super) since: Option<String>,
    pub(super) message: String,
}

impl AlertFinding {
    /// Not enough data, for this reason.
    pub(super) fn silent(why: impl Into<String>) -> Self {
        Self {
            verdict: AlertVerdict::Silent,
            value: None,
            threshold: None,
            p: None,
            since: None,
            message: why.into(),
        }
    }

    pub(super) fn of(raised: bool, value: f64, threshold: f64, message: String) -> Self {
        Self {
            verdict: if raised {
                AlertVerdict::Raised
            } else {
                AlertVerdict::Quiet
            },
            value: Some(value),
            threshold: Some(threshold),
            ..Self::silent(message)
        }
    }

    /// Names the first run behind it, if it is raised.
    pub(super) fn since(mut self, id: &str) -> Self {
        self.since = (self.verdict == AlertVerdict::Raised).then(|| id.to_owned());
        self
    }
}
