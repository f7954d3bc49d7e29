//! `AlertFinding`: what a rule finds in a history.

use crate::verdict::result::AlertVerdict;

/// What a rule finds, before it is known of which alert.
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
