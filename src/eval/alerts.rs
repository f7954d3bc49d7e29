//! What of an eval's history is told, and to whom.

pub(crate) mod webhook;

use serde_json::Value;

use super::Eval;
use crate::error::Result;
use crate::eval::alerts::webhook::Webhook;
use crate::verdict::alert::{Alerts, check_looks};

/// What of an eval's history is told, and to whom.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alerting {
    pub(crate) alerts: Alerts,
    pub(crate) webhook: Option<Webhook>,
}

impl Eval {
    /// Adds an alert, as a spec writes it: what to tell of the eval's history.
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
    /// When it is no alert, or can never be raised beside the others.
    pub fn alert(mut self, alert: &str) -> Result<Self> {
        self.alerting.alerts.rules.push(alert.parse()?);
        self.alerting.alerts.check().map_err(|(_, error)| error)?;
        Ok(self)
    }

    /// How many runs share one alpha of the statistical alerts; 30 unless said.
    ///
    /// # Errors
    /// When there can be no such number, or an alert can never be raised in so few.
    pub fn looks(mut self, looks: u64) -> Result<Self> {
        self.alerting.alerts.looks = check_looks(looks)?;
        self.alerting.alerts.check().map_err(|(_, error)| error)?;
        Ok(self)
    }

    /// Whom to tell of an alert: the address that stands in this variable gets `template`, JSON in whose texts `{eval}`,
    /// `{alert}`, `{message}`, `{commit}`, `{accuracy}` and `{run}` stand for what they name; without one, a plain text as
    /// chats take it.
    ///
    /// # Errors
    /// When there can be no such variable, or the template names what there is not.
    pub fn webhook(mut self, url_env: impl Into<String>, template: Option<Value>) -> Result<Self> {
        let url_env = url_env.into();
        let webhook = Webhook { url_env, template };
        webhook.check()?;
        self.alerting.webhook = Some(webhook);
        Ok(self)
    }
}
