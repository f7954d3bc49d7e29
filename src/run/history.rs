//! `RunHistory`: adds a finished run as a line to the history of its eval, if requested.
//!
//! The line is made when everything else about the run is known, and added before the run's status is set: a failed
//! addition is part of that. Continuing a run that is already in the history adds a line only if something changed.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::data::history::{HISTORY_FILE, History, HistoryAnswers, HistoryKind, HistoryLine};
use crate::error::{Error, Result};
use crate::eval::Eval;
use crate::eval::alerts::AlertedRun;
use crate::eval::plan::Plan;
use crate::exit::Exit;
use crate::report::reported::{MaskedTexts, ReportedRun};
use crate::snapshot::{HistoryFile, run_line};
use crate::store::{Manifest, RunDir, RunStatus};
use crate::system::clock;
use crate::system::project::{commit_step, display};
use crate::text::shell_word;
use crate::verdict::alert::{AlertJudge, AlertResult, Alerts, check_interim};
use crate::verdict::conclude::Run;

/// Adds a run to the history of its eval.
pub(super) struct RunHistory {
    file: HistoryFile,
    alerts: Alerts,
}

impl RunHistory {
    pub(super) fn of(plan: &Plan) -> Self {
        let eval = &plan.eval;
        Self::new(
            &eval.snapshot.folder,
            &eval.name,
            eval.alerting.alerts.clone(),
        )
    }

    /// For an eval of this name, with its snapshot folder.
    pub(super) fn new(folder: &Path, eval: &str, alerts: Alerts) -> Self {
        Self {
            file: HistoryFile::of(folder, eval),
            alerts,
        }
    }

    /// Refuses, before anything is asked, what could not be added. `earlier` is the continued run.
    ///
    /// # Errors
    /// For a run of a part of the eval, or an invalid history file.
    pub(super) fn check(&self, is_part: bool, earlier: Option<&Manifest>) -> Result<()> {
        if is_part || earlier.is_some_and(|manifest| !manifest.whole) {
            return Err(Error::usage(
                "`--history` is for whole runs: a part of the samples cannot be compared with earlier runs",
            )
            .hint("remove `--limit`, `--filter` and `--failed`, or `--history`"));
        }
        self.file.check()?;
        self.read().map(drop)
    }

    /// The history so far.
    ///
    /// # Errors
    /// If it cannot be read, or has a damaged line that an alert may need.
    fn read(&self) -> Result<History> {
        let history = self.file.read()?;
        if !self.alerts.is_empty() {
            history.refuse_damage()?;
        }
        Ok(history)
    }

    /// Adds a finished run. A file that cannot be written counts as an outage.
    pub(super) fn add(
        &self,
        manifest: &Manifest,
        run: &mut Run,
        answers: Option<HistoryAnswers>,
        notice: &mut dyn FnMut(&str),
    ) {
        if let Some(why) = missing(manifest, run) {
            notice(&format!("this run is not added to the history: {why}"));
            return;
        }
        let added = self.read().and_then(|before| {
            let now = clock::timestamp();
            let message = before.notices().into_iter().chain(before.ahead_of(now));
            message.for_each(|message| notice(&message));
            self.add_to(&before, manifest, run, answers, now)
        });
        match added {
            Ok(()) => notice(&format!(
                "this run is added to the history: {}",
                commit_step(self.file.path())
            )),
            Err(error) => {
                notice(&format!(
                    "this run is not added to the history: {}; {}",
                    error.message(),
                    again(manifest, run)
                ));
                run.summary.exit_code = run.summary.exit_code.max(Exit::Infrastructure);
            }
        }
    }

    fn add_to(
        &self,
        before: &History,
        manifest: &Manifest,
        run: &mut Run,
        answers: Option<HistoryAnswers>,
        now: Timestamp,
    ) -> Result<()> {
        // As it is written: with three digits of a second.
        let time = Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now);
        let mut line = run_line(manifest, &run.summary, answers, time);
        let alerts = AlertJudge::new(&self.alerts).judge(&before.lines, &line);
        run.summary.set_alerts(alerts);
        line.exit_code = Some(run.summary.exit_code.code());
        if before.runs().any(|there| is_same(there, &line)) {
            return Ok(());
        }
        self.file.append(&line)
    }
}

/// Why a run cannot be added to a history, if so.
fn missing(manifest: &Manifest, run: &Run) -> Option<String> {
    if let Some(reason) = &run.stop_reason {
        let reason = reason.lines().next().unwrap_or_default();
        return Some(format!(
            "it stopped early ({reason}); {}",
            again(manifest, run)
        ));
    }
    if manifest.status == RunStatus::Interrupted {
        return Some(format!("it was interrupted; {}", again(manifest, run)));
    }
    let mixed = || format!("{}; run the eval again", manifest.why_mixed());
    manifest.mixed.then(mixed)
}

/// The command to add the run later.
fn again(manifest: &Manifest, run: &Run) -> String {
    let dir = shell_word(&display(&run.dir));
    if !manifest.merged.is_empty() {
        return "once this is fixed, merge again with `--history`".to_owned();
    }
    format!("once this is fixed: cargo evaltest run --resume {dir} --history")
}

/// Whether two lines are equal apart from the time they were written.
fn is_same(there: &HistoryLine, line: &HistoryLine) -> bool {
    debug_assert_eq!(line.kind, HistoryKind::Run);
    let untimed = |line: &HistoryLine| HistoryLine {
        time: Timestamp::default(),
        duration_s: None,
        commit: None,
        dirty: None,
        ..line.clone()
    };
    there.id == line.id && untimed(there) == untimed(line)
}

/// The history that these finished runs of an eval would have, in their order. Runs that could not be added are skipped.
/// Its path is the folder of the runs.
///
/// # Errors
/// If a run directory cannot be read.
pub fn history_of_runs(eval: &str, dirs: impl Iterator<Item = PathBuf>) -> Result<History> {
    let mut dirs = dirs.peekable();
    let folder = dirs.peek().and_then(|dir| dir.parent());
    let folder = folder.map(Path::to_owned).unwrap_or_default();
    let mut history = History::of(b"", &folder, eval);
    for dir in dirs {
        let run = ReportedRun::read(RunDir::open(&dir)?, MaskedTexts::Visible)?;
        if run.manifest.status != RunStatus::Finished
            || run.manifest.mixed
            || run.manifest.part.is_some()
        {
            continue;
        }
        let time = run.manifest.started_at.parse().unwrap_or_default();
        history
            .lines
            .push(run_line(&run.manifest, &run.summary, None, time));
    }
    Ok(history)
}

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
    pub(super) fn of(eval: &Eval) -> Self {
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

/// Redacts secrets, and takes notices.
type WebhookVoice<'a> = (&'a dyn Fn(&str) -> String, &'a mut dyn FnMut(&str));

/// Sends every alert that is raised.
pub(super) fn notify(
    eval: &Eval,
    manifest: &Manifest,
    run: &Run,
    (redacted, notice): WebhookVoice<'_>,
) {
    let Some(webhook) = &eval.alerting.webhook else {
        return;
    };
    let raised = || run.summary.alerts.iter().filter(|alert| alert.is_raised());
    if raised().next().is_none() {
        return;
    }
    let of = AlertedRun {
        eval: &run.eval,
        run: &manifest.run_id,
        commit: manifest.git_sha.as_deref(),
        accuracy: run.summary.accuracy,
    };
    // The body leaves this machine.
    let bodies = raised().map(|alert: &AlertResult| {
        let body = webhook.message(alert, of).to_string();
        redacted(&body)
    });
    if let Err(why) = sent(eval, &webhook.url_env, bodies) {
        notice(&format!("could not send the alerts to the webhook: {why}"));
    }
}

#[cfg(feature = "http")]
fn sent(eval: &Eval, variable: &str, bodies: impl Iterator<Item = String>) -> Result<(), String> {
    use std::path::Path;
    use std::time::Duration;

    use crate::system::cancel::Cancel;
    use crate::system::clock;
    use crate::system::http::{Client, HttpRequest, Url, from_variable, hide};

    /// The timeout of a request.
    const TIMEOUT: Duration = Duration::from_secs(10);
    /// How many bytes of a reply are read.
    const REPLY: u64 = 64 << 10;

    let describe = |error: crate::error::Error| match error.hint_text() {
        Some(hint) => format!("{}; {hint}", error.message()),
        None => error.message().to_owned(),
    };
    let folder = eval.spec.as_deref().and_then(Path::parent);
    let address = from_variable(
        variable,
        &format!("webhook.url_env: {variable}"),
        folder.unwrap_or(Path::new(".")),
    )
    .map_err(describe)?;
    // The address is a secret: it appears in no message.
    let hidden = |message: String| hide(message, [&*address]);
    let url = Url::new(address.clone(), "https://example.com/hook")
        .map_err(|_| format!("the value of `{variable}` is not a URL"))?;
    let client = Client::new().map_err(describe)?;
    let headers = [("Content-Type".to_owned(), "application/json".to_owned())];
    for body in bodies {
        let ask = || {
            let request = HttpRequest {
                method: "POST",
                url: &url,
                headers: &headers,
                body: Some(body.as_bytes()),
                deadline: clock::now().checked_add(TIMEOUT),
                max_bytes: REPLY,
            };
            let reply = client.send(&request, &Cancel::new());
            match reply {
                Ok(reply) if reply.status.is_success() => Ok(()),
                Ok(reply) => Err(format!("it answered {}", reply.status)),
                Err(failure) => Err(failure.message),
            }
        };
        ask().or_else(|_| ask()).map_err(hidden)?;
    }
    Ok(())
}

#[cfg(not(feature = "http"))]
fn sent(
    _eval: &Eval,
    _variable: &str,
    _bodies: impl Iterator<Item = String>,
) -> Result<(), String> {
    Err("this program was built without the feature `http`".to_owned())
}
