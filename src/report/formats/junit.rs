//! `JunitReport`: runs as `JUnit` XML, for Jenkins, GitLab and other tools that show tests.
//!
//! Each run is a suite of its samples, followed by a suite of its gates. A case fails where its test fails under `cargo
//! test`: a wrong answer to a sample that the gates accept passes, and its output says that it is wrong. A suite starts
//! with its number of failures, so records are streamed twice.
//!
//! The output conforms to Jenkins' schema `junit-10.xsd`: a type for each flaky epoch, no total of skipped cases, no
//! properties of cases.

use std::collections::HashSet;
use std::io::Write;

use super::super::format::{ReportAudience, ReportFormat};
use super::super::render::xml;
use super::super::render::xml::{Complaint, XmlWriter};
use super::super::reported::{ReportedRun, program};
use super::super::section::in_run;
use super::ci::{self, CaseCounts, CaseEnd, CiSample, UnstartedEval};
use crate::data::{Record, Status};
use crate::error::Result;
use crate::text::readable;
use crate::verdict::result::{GateResult, Verdict};

/// Runs as `JUnit` XML.
pub(crate) struct JunitReport;

impl ReportFormat for JunitReport {
    fn name(&self) -> &'static str {
        "junit"
    }

    fn about(&self) -> &'static str {
        "JUnit XML, which CI services show as tests"
    }

    fn extension(&self) -> &'static str {
        "xml"
    }

    fn write(
        &self,
        runs: &[ReportedRun],
        _audience: ReportAudience,
        out: &mut dyn Write,
    ) -> Result<()> {
        write(runs, &[], WrongAnswers::AsTests, out)
    }
}

/// Which wrong answers are failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongAnswers {
    /// Those whose test fails under `cargo test`.
    AsTests,
    /// All of them.
    Fail,
}

/// Writes the suites of a command: its runs, and evals without a run.
///
/// # Errors
/// If a run cannot be read, or the output cannot be written.
pub fn write(
    runs: &[ReportedRun],
    unstarted: &[UnstartedEval],
    wrong: WrongAnswers,
    out: &mut dyn Write,
) -> Result<()> {
    let mut suites = Vec::new();
    let mut all = CaseCounts::default();
    for run in runs {
        let suite = Suite::of(run, wrong)?;
        for counts in [&suite.samples, &suite.gates] {
            all.all += counts.all;
            all.failed += counts.failed;
            all.errored += counts.errored;
        }
        suites.push(suite);
    }
    let remaining = unstarted.len() as u64;
    all.all += remaining;
    all.errored += remaining;
    let seconds = suites.iter().map(|suite| suite.seconds).sum();
    let mut xml = XmlWriter::new(out);
    xml.begin(&all, seconds)?;
    for suite in &suites {
        suite.write(&mut xml)?;
    }
    for eval in unstarted {
        let counts = CaseCounts {
            all: 1,
            errored: 1,
            ..CaseCounts::default()
        };
        xml.begin_suite(&eval.eval, &counts, None)?;
        xml.begin_case(&eval.eval, "run", None)?;
        let output = "it did not run";
        xml.complaint(
            Complaint::Error,
            "not_run",
            one_line(&eval.error, output),
            &eval.error,
        )?;
        xml.end_case()?;
        xml.end_suite()?;
    }
    xml.end()
}

/// A run with its counts.
struct Suite<'a> {
    run: &'a ReportedRun,
    samples: CaseCounts,
    gates: CaseCounts,
    /// Samples that differ from their snapshots.
    asserted: HashSet<&'a str>,
    /// The wrong samples that fail; `None` for all.
    failing: Option<HashSet<&'a str>>,
    /// Why the run is incomplete.
    interruption: Option<String>,
    seconds: f64,
}

impl<'a> Suite<'a> {
    fn of(run: &'a ReportedRun, wrong: WrongAnswers) -> Result<Self> {
        let mut suite = Self {
            failing: (wrong == WrongAnswers::AsTests)
                .then(|| failing(run))
                .flatten(),
            run,
            samples: CaseCounts::default(),
            gates: CaseCounts::default(),
            asserted: run
                .manifest
                .failed_assertions
                .iter()
                .map(|id| &**id)
                .collect(),
            interruption: ci::interruption(run),
            seconds: run.manifest.duration_s.unwrap_or_default(),
        };
        for sample in ci::ends(run)? {
            let (id, end) = sample?;
            suite.samples.add(suite.asserted(&id, end));
        }
        let gates = run.summary.gates.iter();
        gates.for_each(|gate| suite.gates.add(end_of_gate(gate)));
        if suite.interruption.is_some() {
            suite.gates.add(CaseEnd::Errored);
        }
        Ok(suite)
    }

    /// The result of a case: a correct sample may differ from its snapshot, and a wrong one need not fail.
    fn asserted(&self, id: &str, end: CaseEnd) -> CaseEnd {
        match end {
            CaseEnd::Passed if self.asserted.contains(id) => CaseEnd::Failed,
            CaseEnd::Failed => match &self.failing {
                Some(failing) if !failing.contains(id) => CaseEnd::Passed,
                _ => CaseEnd::Failed,
            },
            end => end,
        }
    }

    fn write(&self, xml: &mut XmlWriter<'_>) -> Result<()> {
        let (run, manifest) = (self.run, &self.run.manifest);
        xml.begin_suite(
            &manifest.eval,
            &self.samples,
            Some((&manifest.started_at, self.seconds)),
        )?;
        self.properties(xml)?;
        let mut seen = xml::SeenNames::default();
        for sample in ci::samples(run)? {
            self.case(&sample?, &mut seen, xml)?;
        }
        xml.end_suite()?;
        if self.gates.all == 0 {
            return Ok(());
        }
        let group = format!("{}::gate", manifest.eval);
        xml.begin_suite(&group, &self.gates, Some((&manifest.started_at, 0.0)))?;
        for gate in &run.summary.gates {
            xml.begin_case(&group, &readable(&gate.gate.name()), None)?;
            let kind = gate.verdict.as_str();
            let message = in_run(&gate.message, &manifest.run_id);
            let what = format!("{}: {}", gate.gate, one_line(&message, kind));
            let complaint = match end_of_gate(gate) {
                CaseEnd::Passed => None,
                CaseEnd::Failed => Some(Complaint::Failure),
                CaseEnd::Errored => Some(Complaint::Error),
                CaseEnd::Skipped => Some(Complaint::Skipped),
            };
            match complaint {
                Some(complaint) => xml.complaint(complaint, kind, &what, &message)?,
                None => xml.output(&message)?,
            }
            xml.end_case()?;
        }
        if let Some(reason) = &self.interruption {
            xml.begin_case(&group, "every sample is asked", None)?;
            let what = format!("stopped early: {reason}");
            xml.complaint(Complaint::Error, "stopped", &what, "")?;
            xml.end_case()?;
        }
        xml.end_suite()
    }

    fn properties(&self, xml: &mut XmlWriter<'_>) -> Result<()> {
        let (manifest, summary) = (&self.run.manifest, &self.run.summary);
        let share = |share: Option<f64>| share.map(|share| share.to_string());
        let interval = summary.accuracy_ci95;
        let interval = interval.map(|[low, high]| format!("{low} to {high}"));
        let usage = &summary.usage;
        xml.properties(&[
            ("run_id", Some(manifest.run_id.clone())),
            ("benchmark", Some(manifest.benchmark.clone())),
            ("agent", self.run.agent().map(str::to_owned)),
            ("program", program(manifest)),
            ("model", self.run.model().map(str::to_owned)),
            ("scorer", summary.scorer.clone()),
            (
                "epochs",
                (manifest.epochs > 1).then(|| manifest.epochs.to_string()),
            ),
            ("accuracy", share(summary.accuracy)),
            ("accuracy_ci95", interval),
            ("error_rate", share(summary.error_rate)),
            ("cost_usd", share(usage.cost_usd)),
            ("git_sha", manifest.git_sha.clone()),
            ("evaltest_version", Some(manifest.evaltest_version.clone())),
            ("exit_code", Some(summary.exit_code.code().to_string())),
        ])
    }

    /// A sample with all of its epochs.
    fn case(
        &self,
        sample: &CiSample,
        seen: &mut xml::SeenNames,
        xml: &mut XmlWriter<'_>,
    ) -> Result<()> {
        let CiSample { id, end, records } = sample;
        let (group, name) = ci::test_name(self.run, &records[0]);
        let name = seen.unique(&group, name, id);
        let seconds: f64 = records.iter().map(|it| it.result.latency_s).sum();
        xml.begin_case(&group, &name, Some(seconds))?;
        let record = sample.representative();
        match self.asserted(id, *end) {
            CaseEnd::Passed if *end == CaseEnd::Failed => {
                let why = ci::why(record);
                xml.output(&format!(
                    "wrong; no gate fails because of this sample: {why}\n{}",
                    texts(records)
                ))?;
            }
            CaseEnd::Passed => {
                // Correct overall but not in every epoch: services call this flaky.
                for epoch in records.iter().filter(|it| !it.result.is_correct()) {
                    let complaint = match epoch.result.status {
                        Status::Scored => Complaint::FlakyFailure,
                        status if status.is_error() => Complaint::FlakyError,
                        _ => continue,
                    };
                    let what = format!("epoch {}: {}", epoch.epoch, ci::why(epoch));
                    xml.complaint(complaint, &kind(epoch), &what, "")?;
                }
            }
            CaseEnd::Failed if *end == CaseEnd::Passed => xml.complaint(
                Complaint::Failure,
                "snapshot",
                "the answer differs from its snapshot",
                &texts(records),
            )?,
            CaseEnd::Failed => {
                let what = in_epochs(records, "wrong", |it| {
                    it.result.status == Status::Scored && !it.result.is_correct()
                });
                let what = what + &ci::why(record);
                xml.complaint(Complaint::Failure, &kind(record), &what, &texts(records))?;
            }
            CaseEnd::Errored => {
                let what = in_epochs(records, "no verdict", |it| it.result.status.is_error());
                let what = what + &ci::why(record);
                xml.complaint(Complaint::Error, &kind(record), &what, &texts(records))?;
            }
            CaseEnd::Skipped => {
                let what = match (record.result.status, self.run.summary.early_stop) {
                    (Status::Skipped, Some(_)) => "not asked: every gate was already decided",
                    (Status::Skipped, None) => "never asked",
                    _ => "no ground truth",
                };
                xml.complaint(Complaint::Skipped, record.result.status.as_str(), what, "")?;
            }
        }
        xml.end_case()
    }
}

/// The samples whose wrong answers fail their tests; `None` for all, where nothing but the verdicts decides.
fn failing(run: &ReportedRun) -> Option<HashSet<&str>> {
    let gates = &run.summary.gates;
    let assertion = run.manifest.config["snapshot"]["assert"].as_str();
    if matches!(assertion, Some("exact" | "correct")) {
        let failed = run.manifest.failed_assertions.iter();
        return Some(failed.map(String::as_str).collect());
    }
    let is_decided = gates.iter().any(|gate| !gate.default) || run.summary.change.is_some();
    let failed = gates.iter().filter(|gate| gate.verdict == Verdict::Failed);
    let regressions = failed.filter_map(|gate| gate.regression.as_ref());
    let became_wrong = regressions.flat_map(|regression| &regression.became_wrong);
    is_decided.then(|| became_wrong.map(String::as_str).collect())
}

fn end_of_gate(gate: &GateResult) -> CaseEnd {
    match gate.verdict {
        Verdict::Passed => CaseEnd::Passed,
        Verdict::Failed => CaseEnd::Failed,
        Verdict::Inconclusive => CaseEnd::Errored,
        Verdict::Ignored => CaseEnd::Skipped,
    }
}

/// `wrong in 2 of 3 epochs: `, or nothing for one.
fn in_epochs(records: &[Record], what: &str, is_one: impl Fn(&Record) -> bool) -> String {
    match records.len() {
        1 => String::new(),
        all => {
            let count = records.iter().filter(|it| is_one(it)).count();
            format!("{what} in {count} of {all} epochs: ")
        }
    }
}

/// The type of a failure.
fn kind(record: &Record) -> String {
    let result = &record.result;
    let unread = result.error.as_ref().and_then(|error| error.reason);
    match (&result.score, unread) {
        (_, Some(unread)) => format!("{}.{}", result.status.as_str(), unread.as_str()),
        (Some(score), None) if result.status == Status::Scored => {
            ci::beginning(&score.reason, 100).to_owned()
        }
        _ => result.status.as_str().to_owned(),
    }
}

/// The details of a sample.
fn texts(records: &[Record]) -> String {
    let mut text = String::new();
    let mut add = |title: &str, output: &str| {
        if !output.is_empty() {
            text.extend([title, ": ", ci::beginning(output, 1000), "\n"]);
        }
    };
    let record = &records[0];
    add("question", &record.prompt);
    add("expected", ci::truth(record).unwrap_or_default());
    match records {
        [one] => add("got", &ci::output(one).unwrap_or_default()),
        several => {
            for record in several {
                let end = match CaseEnd::of(std::slice::from_ref(record)) {
                    CaseEnd::Passed => "correct".to_owned(),
                    CaseEnd::Skipped => record.result.status.as_str().to_owned(),
                    CaseEnd::Failed | CaseEnd::Errored => ci::why(record),
                };
                add(&format!("epoch {}", record.epoch), &end);
            }
        }
    }
    text
}

/// The first line of a message, or `fallback` if it is empty.
fn one_line<'a>(message: &'a str, fallback: &'a str) -> &'a str {
    let first = message.lines().find(|line| !line.trim().is_empty());
    first.unwrap_or(fallback)
}
