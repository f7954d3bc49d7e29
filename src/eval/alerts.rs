//! What the builder of an eval says of alerts.

use super::Eval;
use crate::error::Result;
use crate::eval::webhook::Webhook;
use crate::verdict::alert::check_looks;

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
        self.alerts.rules.push(alert.parse()?);
        self.alerts.check().map_err(|(_, error)| error)?;
        Ok(self)
    }

    /// How many runs share one alpha of the statistical alerts; 30 unless said.
    ///
    /// # Errors
    /// When there can be no such number, or an alert can never be raised in so few.
    pub fn looks(mut self, looks: u64) -> Result<Self> {
        self.alerts.looks = check_looks(looks)?;
        self.alerts.check().map_err(|(_, error)| error)?;
        Ok(self)
    }

    /// Whom to tell of an alert.
    ///
    /// # Errors
    /// When there can be no such variable, or the template names what there is not.
    pub fn webhook(mut self, webhook: Webhook) -> Result<Self> {
        webhook.check()?;
        self.webhook = Some(webhook);
        Ok(self)
    }
}
