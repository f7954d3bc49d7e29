//! `AlertResult`: what became of an alert, as in `summary.json`.

use serde::{Deserialize, Serialize};

/// What became of an alert.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AlertResult {
    /// The alert as it is written in a spec.
    pub alert: String,
    /// What became of it.
    pub verdict: AlertVerdict,
    /// The figure that it is about.
    pub value: Option<f64>,
    /// What the figure is held against.
    pub threshold: Option<f64>,
    /// For a statistical rule how likely this would be, were nothing changed; it is raised below `p_needed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// What `p` must be below, so that all looks together keep to alpha.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_needed: Option<f64>,
    /// The id of the first of the runs that raised it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The tier that it was judged in, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// For people, on one line.
    pub message: String,
}

/// What became of an alert, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AlertVerdict {
    /// It is time to look.
    Raised,
    /// Nothing was found.
    Quiet,
    /// Nothing can be said yet.
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
    /// Whether it is time to look.
    pub fn is_raised(&self) -> bool {
        self.verdict == AlertVerdict::Raised
    }
}

/// What a rule finds, before it is said of which alert.
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
    /// Nothing can be said, for this reason.
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

    /// Names the first of the runs behind it, if it is raised.
    pub(super) fn since(mut self, id: &str) -> Self {
        self.since = (self.verdict == AlertVerdict::Raised).then(|| id.to_owned());
        self
    }
}
