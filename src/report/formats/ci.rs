//! Samples as test cases of CI services: passed, failed, error, skipped.
//!
//! A sample is one case: its epochs give one verdict, as in `cargo test`. A wrong answer is a failure; a missing
//! answer or an unparsable judge reply is an error, which says nothing about the agent; samples without a ground truth
//! or never requested are skipped.

use crate::data::record::slices_of;
use crate::data::{Normalized, Record, display_prediction};
use crate::error::Result;
use crate::report::reported::ReportedRun;
use crate::report::reported::masked::PublicWords;
use crate::store::files::RECORDS;
use crate::store::{RunStatus, read_lean_records, read_records};
use crate::text;
use crate::text::hash::Hasher;
use crate::verdict::poll::{self, Poll};

/// An eval of a command that has no run, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnstartedEval {
    /// Name of the eval, or of the program if it concerns no particular eval, such as a command-line error.
    pub eval: String,
    /// The error.
    pub error: String,
}

/// The result of a sample as a test case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum CaseEnd {
    Passed,
    Failed,
    Errored,
    Skipped,
}

impl CaseEnd {
    /// The result over all epochs of a sample. If errors could change it, it is an error.
    pub(in crate::report) fn of(records: &[Record]) -> Self {
        let poll = Poll::of(records);
        if poll.scored() + poll.unknown() == 0 {
            return Self::Skipped;
        }
        match poll.extremes() {
            (true, _) => Self::Passed,
            (_, false) => Self::Failed,
            _ if records.iter().any(|it| it.result.status.is_error()) => Self::Errored,
            _ => Self::Skipped,
        }
    }
}

/// Samples counted by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::report) struct CaseCounts {
    pub(in crate::report) all: u64,
    pub(in crate::report) failed: u64,
    pub(in crate::report) errored: u64,
    pub(in crate::report) skipped: u64,
}

impl CaseCounts {
    pub(in crate::report) fn add(&mut self, end: CaseEnd) {
        self.all += 1;
        match end {
            CaseEnd::Passed => {}
            CaseEnd::Failed => self.failed += 1,
            CaseEnd::Errored => self.errored += 1,
            CaseEnd::Skipped => self.skipped += 1,
        }
    }
}

/// The results of a run's samples, without texts.
pub(in crate::report) fn ends(
    run: &ReportedRun,
) -> Result<impl Iterator<Item = Result<(String, CaseEnd)>>> {
    let records = read_lean_records(&run.dir.file(RECORDS))?;
    let samples = poll::samples(records);
    Ok(samples.map(|sample| {
        let sample = sample?;
        let end = CaseEnd::of(&sample);
        let first = sample.into_iter().next();
        Ok((first.map(|it| it.sample_id).unwrap_or_default(), end))
    }))
}

/// A sample with the records of its epochs; texts are truncated, and removed if they must not be shown.
#[derive(Clone, Debug)]
pub(in crate::report) struct CiSample {
    pub(in crate::report) id: String,
    pub(in crate::report) end: CaseEnd,
    pub(in crate::report) records: Vec<Record>,
}

impl CiSample {
    /// Compute the verdict first, because it needs texts that are removed below.
    fn of(mut records: Vec<Record>, public: Option<&PublicWords>) -> Self {
        let end = CaseEnd::of(&records);
        if let Some(public) = public {
            for record in &mut records {
                public.hide(record);
            }
        }
        let id = records.first().map(|it| it.sample_id.clone());
        Self {
            id: id.unwrap_or_default(),
            end,
            records,
        }
    }

    /// The record that explains the result: the first with the same result.
    pub(in crate::report) fn representative(&self) -> &Record {
        let is_one = |record: &&Record| CaseEnd::of(std::slice::from_ref(*record)) == self.end;
        let found = self.records.iter().find(is_one);
        found.unwrap_or(&self.records[0])
    }
}

/// The samples of a run, streamed so that only a few are in memory.
pub(in crate::report) fn samples(
    run: &ReportedRun,
) -> Result<impl Iterator<Item = Result<CiSample>>> {
    let public = run.public_words();
    let records = read_records(&run.dir.file(RECORDS))?;
    let samples = poll::samples(records.map(|record| record.map(shortened)));
    Ok(samples.map(move |sample| Ok(CiSample::of(sample?, public.as_ref()))))
}

/// Maximum bytes of a text. No service shows more.
const MAX_TEXT: usize = 4096;

/// The record with truncated texts, and the question in place of the prompt.
fn shortened(mut record: Record) -> Record {
    let question = record.question.as_deref().unwrap_or(&record.prompt);
    let question = beginning(question, MAX_TEXT).into();
    record.abridge();
    record.prompt = question;
    let truth = match record.ground_truth {
        serde_json::Value::String(text) => text,
        other if other.is_null() => String::new(),
        other => other.to_string(),
    };
    record.ground_truth = beginning(&truth, MAX_TEXT).into();
    record
}

/// The first bytes of a text, up to a character boundary.
pub(in crate::report) fn beginning(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// Group and name of a sample's test.
pub(in crate::report) fn test_name(run: &ReportedRun, record: &Record) -> (String, String) {
    /// Services become slow with longer names.
    const MOST: usize = 500;
    let slice = slices_of(record).next();
    let slice = slice.as_ref().map(|(name, value)| (*name, &**value));
    let short = |text: String| {
        if text.len() <= MOST {
            return text;
        }
        let hash = Hasher::default().part(&*text).short();
        format!("{}…~{hash}", beginning(&text, MOST))
    };
    let group = text::trial_group(&run.manifest.eval, slice);
    (short(group), short(text::readable(&record.sample_id)))
}

/// The reason for a sample's verdict or missing answer in one line.
pub(in crate::report) fn why(record: &Record) -> String {
    let result = &record.result;
    if let Some(error) = &result.error {
        let tail = error.stderr_tail.as_deref().unwrap_or_default();
        let output = tail.lines().rfind(|line| !line.trim().is_empty());
        let output = output.map(|line| format!("; stderr: {}", beginning(line, 500)));
        return error.message.clone() + &output.unwrap_or_default();
    }
    match &result.score {
        Some(score) => {
            let output =
                output(record).map(|output| format!(": got `{}`", beginning(&output, 200)));
            let truth =
                truth(record).map(|truth| format!(", expected `{}`", beginning(truth, 200)));
            let more = [output, truth].into_iter().flatten();
            std::iter::once(score.reason.to_string())
                .chain(more)
                .collect()
        }
        None => "no ground truth".to_owned(),
    }
}

/// The answer, in the compared form if there is one.
pub(in crate::report) fn output(record: &Record) -> Option<String> {
    if let Some(prediction) = &record.result.prediction {
        return Some(prediction.clone());
    }
    match display_prediction(record.result.score.as_ref()?) {
        Normalized::Text(text) => Some(text),
        Normalized::List(items) => Some(items.join(", ")),
        Normalized::None => None,
    }
}

/// The ground truth, if it may be shown.
pub(in crate::report) fn truth(record: &Record) -> Option<&str> {
    let truth = record.ground_truth.as_str();
    truth.filter(|truth| !truth.is_empty())
}

/// Why a run did not request all its samples.
pub(in crate::report) fn interruption(run: &ReportedRun) -> Option<String> {
    if run.is_finished() {
        return None;
    }
    let reason = run.manifest.stop_reason.clone();
    Some(reason.unwrap_or_else(|| match run.manifest.status {
        RunStatus::Interrupted => "the run was interrupted".to_owned(),
        _ => "the run did not finish".to_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Score, Status};

    /// Records of a sample's epochs: `+` right, `-` wrong, `e` an error, `.` not requested, `?` without a ground
    /// truth.
    fn sample(epochs: &str) -> Vec<Record> {
        let record = |mark: char| {
            let mut record = Record::scored("a", Score::binary(mark == '+'));
            record.result.prediction = Some(mark.to_string());
            record.result.status = match mark {
                'e' => Status::TimedOut,
                '.' => Status::Skipped,
                '?' => Status::Unscored,
                _ => Status::Scored,
            };
            record
        };
        epochs.chars().map(record).collect()
    }

    #[test]
    fn a_sample_is_one_case() {
        fn check(epochs: &str, expect: CaseEnd) {
            assert_eq!(CaseEnd::of(&sample(epochs)), expect, "{epochs}");
        }
        check("+", CaseEnd::Passed);
        check("-", CaseEnd::Failed);
        check("e", CaseEnd::Errored);
        check(".", CaseEnd::Skipped);
        check("?", CaseEnd::Skipped);
        check("++-", CaseEnd::Passed);
        check("-+-", CaseEnd::Failed);
        // With two of three correct the third is irrelevant.
        check("++e", CaseEnd::Passed);
        check("--.", CaseEnd::Failed);
        check("+e.", CaseEnd::Errored);
        check("+-.", CaseEnd::Skipped);
    }

    #[test]
    fn shortened_records_are_short() {
        let mut record = sample("-").remove(0);
        record.prompt = "é".repeat(1 << 20).into();
        record.ground_truth = vec![1; 1 << 16].into();
        record.result.prediction = Some("x".repeat(1 << 20));
        let record = shortened(record);
        let truth = truth(&record).map_or(0, str::len);
        let output = output(&record).map_or(0, |output| output.len());
        assert!(record.prompt.len() <= MAX_TEXT && truth <= MAX_TEXT && output <= MAX_TEXT + 3);
        assert!(
            why(&record).starts_with("mismatch: got `xxx"),
            "{}",
            why(&record)
        );
    }
}
