//! `MergeReporter`: after a merge, adds the run to the history of its eval and sends alerts.

use crate::data::history::HistoryAnswers;
use crate::error::Result;
use crate::eval::{Eval, plan};
use crate::run::history::RunHistory;
use crate::run::history::webhook;
use crate::store::Manifest;
use crate::verdict::alert::Alerts;
use crate::verdict::run::Run;

/// Reports a merged run as if it had run in one piece.
pub(super) struct MergeReporter<'a> {
    history: Option<RunHistory>,
    eval: Option<&'a Eval>,
}

impl<'a> MergeReporter<'a> {
    /// For a run with this manifest; `is_point` adds it to the history.
    ///
    /// # Errors
    /// When it cannot be added to a history.
    pub(super) fn of(manifest: &Manifest, eval: Option<&'a Eval>, is_point: bool) -> Result<Self> {
        let history = is_point.then(|| {
            let alerts = eval.map_or_else(Alerts::default, |eval| eval.alerting.alerts.clone());
            RunHistory::new(&manifest.snapshot_folder(), &manifest.eval, alerts)
        });
        if let Some(history) = &history {
            let whole = manifest.part.as_ref();
            let whole = whole.map_or(manifest.whole, |part| part.whole);
            history.check(!whole, None)?;
        }
        Ok(Self { history, eval })
    }

    /// Adds the run to the history, if requested, before its summary, which contains alerts, is written.
    pub(super) fn add(&self, manifest: &Manifest, run: &mut Run, answers: Option<HistoryAnswers>) {
        let Some(history) = &self.history else {
            return;
        };
        let mut notices = std::mem::take(&mut run.notices);
        if self.eval.is_none() {
            notices.push("no alert is judged: the spec that has them is not here".to_owned());
        }
        history.add(manifest, run, answers, &mut |text| {
            notices.push(text.to_owned());
        });
        run.notices = notices;
    }

    /// Sends alerts, after all files of the run are written.
    pub(super) fn alert(&self, manifest: &Manifest, run: &mut Run) {
        let Some(eval) = self.eval.filter(|_| self.history.is_some()) else {
            return;
        };
        let mut notices = std::mem::take(&mut run.notices);
        match plan::secret::redactor(eval, &plan::scorers(eval)) {
            Ok(redactor) => {
                let redacted = |text: &str| redactor.text(text, &mut 0).into_owned();
                let mut notice = |text: &str| notices.push(redacted(text));
                webhook::notify(eval, manifest, run, (&redacted, &mut notice));
            }
            Err(error) => notices.push(error.message().to_owned()),
        }
        run.notices = notices;
    }
}
