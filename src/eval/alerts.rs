//! Alerts on an eval's history, and where they are sent.

pub(crate) mod webhook;

use serde_json::Value;

use super::Eval;
use crate::error::Result;
use crate::eval::alerts::webhook::Webhook;
use crate::verdict::alert::{Alerts, check_interim};

/// Alerts on an eval's history, and where they are sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alerting {
    pub(crate) alerts: Alerts,
    pub(crate) webhook: Option<Webhook>,
}

impl Eval {
    /// Adds an alert on the eval's history, written as in a spec.
    ///
    /// ```no_run
    /// use evaltest::{Eval, Gaia, Output, Task};
    ///
    /// # fn main() -> evaltest::Result<()> {
    /// let agent = |task: &Task| Ok(Output::text(task.question().len().to_string()));
    /// let gaia = Eval::new(Gaia::open("data/gaia")?, agent)
    ///     .alert("drop(accuracy, against=median(5))")?
    ///     .alert("error_rate > 0.05 twice")?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When it is not a valid alert, or can never be raised next to the others.
    pub fn alert(mut self, alert: &str) -> Result<Self> {
        self.alerting.alerts.rules.push(alert.parse()?);
        self.alerting.alerts.check().map_err(|(_, error)| error)?;
        Ok(self)
    }

    /// How many runs share one alpha of the statistical alerts; 30 by default.
    ///
    /// # Errors
    /// When the number is invalid, or so few runs can never raise an alert.
    pub fn looks(mut self, looks: u64) -> Result<Self> {
        self.alerting.alerts.looks = check_interim(looks)?;
        self.alerting.alerts.check().map_err(|(_, error)| error)?;
        Ok(self)
    }

    /// Sends alerts to a webhook. The URL is in the variable `url_env`. `template` is JSON in whose texts `{eval}`,
    /// `{alert}`, `{message}`, `{commit}`, `{accuracy}` and `{run}` are filled in; without one, a plain text is sent as
    /// chat services accept it.
    ///
    /// # Errors
    /// When the variable's name is invalid, or the template has an unknown placeholder.
    pub fn webhook(mut self, url_env: impl Into<String>, template: Option<Value>) -> Result<Self> {
        let url_env = url_env.into();
        let webhook = Webhook { url_env, template };
        webhook.check()?;
        self.alerting.webhook = Some(webhook);
        Ok(self)
    }
}
