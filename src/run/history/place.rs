//! `HistoryPlace`: where the history of an eval is, as a test binary reports it to the command.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::data::history::HISTORY_FILE;
use crate::error::Result;
use crate::eval::Eval;
use crate::verdict::alert::{Alerts, check_interim};

/// Where the history of an eval is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HistoryPlace {
    /// The eval's name.
    pub eval: String,
    /// The file, which may not exist.
    pub path: PathBuf,
    /// The alerts, as a spec writes them.
    #[serde(default)]
    alerts: Vec<String>,
    /// How many runs share one alpha.
    #[serde(default)]
    looks: Option<u64>,
}

impl HistoryPlace {
    /// For an eval.
    pub(in crate::run) fn of(eval: &Eval) -> Self {
        Self {
            eval: eval.name.clone(),
            path: eval.snapshot.folder.join(HISTORY_FILE),
            alerts: eval
                .alerting
                .alerts
                .rules
                .iter()
                .map(ToString::to_string)
                .collect(),
            looks: Some(eval.alerting.alerts.looks as u64),
        }
    }

    /// The alerts on the history.
    ///
    /// # Errors
    /// When the test binary is of a version that knows other alerts.
    pub fn alerts(&self) -> Result<Alerts> {
        let rules = self.alerts.iter().map(|text| text.parse());
        let mut alerts = Alerts {
            rules: rules.collect::<Result<_>>()?,
            ..Alerts::default()
        };
        if let Some(looks) = self.looks {
            alerts.looks = check_interim(looks)?;
        }
        Ok(alerts)
    }
}
