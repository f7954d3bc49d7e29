//! `Account`: what became of every sample of the dataset and of the baseline.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::{Record, Status};
use crate::verdict::baseline::{Baseline, CurrentSample, Pairing};
use crate::verdict::gate::Gate;
use crate::verdict::result::{GateResult, Verdict};

/// What became of every sample of the dataset and of the baseline, so that nobody takes a run for more than it compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Account {
    /// Samples of the baseline with a verdict; missing without a baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<u64>,
    /// Samples by what became of them; rows without samples are missing. [`AccountRow::is_of_samples`] says which rows
    /// count each sample once.
    pub rows: BTreeMap<AccountRow, u64>,
    /// Whether anything decided the run; missing for a part of a run, and where other gates are checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

/// A row of the [`Account`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AccountRow {
    /// With a verdict both in the baseline and now.
    Compared,
    /// With a verdict now and none in the baseline, or without a baseline.
    New,
    /// Its question or ground truth is another one than in the baseline.
    Changed,
    /// In the baseline and no longer in the dataset, or left out by a limit of the spec.
    Gone,
    /// Left out by a limit, a filter or a tier.
    LeftOut,
    /// Answered, without a ground truth to score it by.
    WithoutTruth,
    /// Answered, and in none of the pairs that a judge compared.
    Unpaired,
    /// Every answer ended in an error.
    InError,
    /// Without a verdict, as the run ended before it was asked in all epochs.
    NotAsked,
    /// Of the compared: no longer in the slice of a gate that compares.
    Moved,
    /// Answers from the cache.
    Cached,
    /// Answers that repeat another one of their sample and run.
    Repeated,
}

impl AccountRow {
    /// All rows, in the order of a report.
    pub const ALL: [Self; 12] = [
        Self::Compared,
        Self::New,
        Self::Changed,
        Self::Gone,
        Self::LeftOut,
        Self::WithoutTruth,
        Self::Unpaired,
        Self::InError,
        Self::NotAsked,
        Self::Moved,
        Self::Cached,
        Self::Repeated,
    ];

    /// The name of the row in a report.
    pub fn label(self) -> &'static str {
        match self {
            Self::Compared => "compared",
            Self::New => "new, not in the baseline",
            Self::Changed => "changed",
            Self::Gone => "gone from the dataset",
            Self::LeftOut => "not selected",
            Self::WithoutTruth => "without a ground truth",
            Self::Unpaired => "in no judged pair",
            Self::InError => "no verdict (error)",
            Self::NotAsked => "not asked",
            Self::Moved => "moved out of its slice",
            Self::Cached => "answers from the cache",
            Self::Repeated => "repeated answers, not counted again",
        }
    }

    /// Whether the row counts samples, each in one row; the other rows count samples or answers of these again.
    pub fn is_of_samples(self) -> bool {
        !matches!(self, Self::Moved | Self::Cached | Self::Repeated)
    }
}

/// Whether anything decided a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decision {
    /// Gates, or assertions on each sample.
    Decided,
    /// Nothing: there is no gate, and no baseline with which enough can be compared.
    Undecided,
    /// Nothing, as the eval asks for no gates.
    NotRequested,
}

/// What must decide a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decides {
    /// Others than this run: it is a part, or other gates are checked.
    #[default]
    Others,
    /// Gates.
    Gates,
    /// Assertions on each sample, with gates or without.
    Assertions,
    /// Nothing: the eval asks for no gates.
    Nothing,
}

impl Decides {
    /// What must decide a run of an eval with these gates, if it gives any.
    pub(crate) fn of(given: Option<&[Gate]>, asserts: bool) -> Self {
        match given {
            _ if asserts => Self::Assertions,
            Some([]) => Self::Nothing,
            _ => Self::Gates,
        }
    }

    /// Whether anything decided a run with these results.
    pub(crate) fn decision(self, results: &[GateResult]) -> Option<Decision> {
        // The default comparison is ignored where it could show nothing.
        let is_asked = |result: &GateResult| {
            let is_ignored = result.verdict == Verdict::Ignored;
            !(result.default && (is_ignored || result.gate.is_error_rate()))
        };
        match self {
            Self::Others => None,
            _ if results.iter().any(is_asked) => Some(Decision::Decided),
            Self::Assertions => Some(Decision::Decided),
            Self::Gates => Some(Decision::Undecided),
            Self::Nothing => Some(Decision::NotRequested),
        }
    }
}

/// What is known of a sample from the records so far; a later variant outweighs an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SampleState {
    WithoutTruth,
    InError,
    NotAsked,
    Scored,
}

impl SampleState {
    /// What one record says of its sample.
    pub(crate) fn of(record: &Record) -> Self {
        match record.result.status {
            Status::Scored => Self::Scored,
            Status::Unscored => Self::WithoutTruth,
            Status::Skipped => Self::NotAsked,
            Status::AgentFailed
            | Status::TimedOut
            | Status::ScorerFailed
            | Status::UserFailed
            | Status::EnvironmentFailed => Self::InError,
        }
    }

    /// The row of a sample, which `now` is as far as the baseline needs it.
    pub(crate) fn row(
        self,
        baseline: Option<&Baseline>,
        now: Option<&CurrentSample>,
    ) -> AccountRow {
        match self {
            Self::WithoutTruth => AccountRow::WithoutTruth,
            Self::InError => AccountRow::InError,
            Self::NotAsked => AccountRow::NotAsked,
            Self::Scored => {
                let before = baseline.zip(now).and_then(|(baseline, now)| {
                    let before = baseline.sample(now)?;
                    Some((before, now))
                });
                match before {
                    Some((before, now)) if !now.is_same_as(before) => AccountRow::Changed,
                    Some((before, _)) if before.has_verdict() => AccountRow::Compared,
                    _ => AccountRow::New,
                }
            }
        }
    }
}

impl Account {
    /// Counts some in a row.
    pub(crate) fn add(&mut self, row: AccountRow, count: u64) {
        if count > 0 {
            *self.rows.entry(row).or_default() += count;
        }
    }

    /// How many are in a row.
    pub fn count(&self, row: AccountRow) -> u64 {
        self.rows.get(&row).copied().unwrap_or_default()
    }

    /// Adds the baseline, whose samples `pairing` pairs with those of now.
    pub(crate) fn add_baseline(&mut self, baseline: &Baseline, pairing: &Pairing<'_>) {
        let scored = baseline.samples.iter();
        let scored = scored.filter(|sample| sample.has_verdict()).count();
        self.baseline = Some(scored as u64);
        self.add(AccountRow::Gone, pairing.removed.len() as u64);
    }

    /// Names the unscored samples of a scorer that judges some pairs only: those lack no ground truth.
    pub(crate) fn set_unpaired(&mut self) {
        let unscored = self.rows.remove(&AccountRow::WithoutTruth);
        self.add(AccountRow::Unpaired, unscored.unwrap_or_default());
    }

    /// Adds the samples that left the slice of a gate.
    pub(crate) fn add_moved(&mut self, results: &[GateResult]) {
        let compared = results
            .iter()
            .filter_map(|result| result.regression.as_ref());
        let mut moved: Vec<_> = compared.flat_map(|found| &found.moved).collect();
        moved.sort_unstable();
        moved.dedup();
        self.add(AccountRow::Moved, moved.len() as u64);
    }

    /// Whether all samples were compared, or, without a baseline, all are new.
    pub(crate) fn is_plain(&self) -> bool {
        let usual = match self.baseline {
            None => AccountRow::New,
            Some(_) => AccountRow::Compared,
        };
        // Answers from the cache stand in a line of their own.
        let mut rows = self.rows.keys();
        rows.all(|row| *row == usual || *row == AccountRow::Cached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Score;
    use crate::verdict::baseline::BaselineSample;
    use crate::verdict::facts::Facts;
    use crate::verdict::gate::with_default;
    use crate::verdict::gather::Gathered;
    use crate::verdict::summary::{Summary, SummaryBuilder};
    use serde_json::Map;

    /// The summary of records with these ids and statuses, on samples that the baseline has with these verdicts.
    fn concluded(
        records: &[(&str, Status)],
        baseline: &[(&str, Option<bool>)],
        facts: &Facts<'_>,
    ) -> Summary {
        let samples = baseline.iter().map(|(id, verdict)| {
            let hash = if id.starts_with("changed") {
                "other"
            } else {
                ""
            };
            let sample = BaselineSample {
                answers: vec![*verdict],
                input_hash: hash.to_owned(),
                ..BaselineSample::default()
            };
            ((*id).to_owned(), sample)
        });
        let accepted = Baseline {
            samples: samples.collect(),
            digest_matches: true,
            ..Baseline::default()
        };
        let accepted = (!baseline.is_empty()).then_some(accepted);
        let gates = with_default(None, None, accepted.is_some());
        let mut gathered = Gathered::new(SummaryBuilder::new("e"), &gates, accepted.as_ref());
        for (id, status) in records {
            let mut record = Record::scored(*id, Score::binary(true));
            record.result.status = *status;
            if *status != Status::Scored {
                record.result.score = None;
            }
            gathered.add(&record);
        }
        let (gathered, _) = gathered.finish(Map::new());
        let facts = Facts {
            left_out: facts.left_out,
            decides: facts.decides,
            ci: facts.ci,
            allow_ignored: facts.allow_ignored,
            total: gathered.selected + facts.total,
            ..gathered
        };
        facts.conclude(&gates)
    }

    #[test]
    fn every_sample_has_a_row() {
        use Status::{AgentFailed, Scored, Skipped, TimedOut, Unscored};
        let records = [
            ("a", Scored),
            ("b", Scored),
            ("new", Scored),
            ("no verdict then", Scored),
            ("changed", Scored),
            ("c", AgentFailed),
            ("d", TimedOut),
            ("e", Unscored),
            ("f", Skipped),
        ];
        let yes = Some(true);
        let baseline = [
            ("a", yes),
            ("b", Some(false)),
            ("no verdict then", None),
            ("changed", yes),
            ("c", yes),
            ("gone", yes),
        ];
        let facts = Facts {
            left_out: 4,
            total: 3,
            ..Facts::of(Summary::of("e", &[]))
        };
        let summary = concluded(&records, &baseline, &facts);
        let expect = [
            (AccountRow::Compared, 2),
            (AccountRow::New, 2),
            (AccountRow::Changed, 1),
            (AccountRow::Gone, 1),
            (AccountRow::LeftOut, 7),
            (AccountRow::WithoutTruth, 1),
            (AccountRow::InError, 2),
            (AccountRow::NotAsked, 1),
        ];
        assert_eq!(summary.account.rows, BTreeMap::from(expect));
        assert_eq!(summary.account.baseline, Some(5));
        // Without a baseline, and without a gate that needs the samples.
        let summary = concluded(&records, &[], &Facts::of(Summary::of("e", &[])));
        let expect = [
            (AccountRow::New, 5),
            (AccountRow::WithoutTruth, 1),
            (AccountRow::InError, 2),
            (AccountRow::NotAsked, 1),
        ];
        assert_eq!(summary.account.rows, BTreeMap::from(expect));
    }

    #[test]
    fn epochs_of_a_sample_are_one_sample() {
        let mut gathered = Gathered::new(SummaryBuilder::new("e").epochs(2), &[], None);
        for (id, epoch, status) in [
            ("a", 0, Status::AgentFailed),
            ("a", 1, Status::Scored),
            ("b", 0, Status::AgentFailed),
            ("b", 1, Status::TimedOut),
            ("c", 0, Status::TimedOut),
            ("c", 1, Status::Skipped),
        ] {
            let mut record = Record::scored(id, Score::binary(true));
            record.epoch = epoch;
            record.result.status = status;
            gathered.add(&record);
        }
        let (facts, _) = gathered.finish(Map::new());
        let expect = [
            (AccountRow::New, 1),
            (AccountRow::InError, 1),
            (AccountRow::NotAsked, 1),
        ];
        assert_eq!(facts.account.rows, BTreeMap::from(expect));
    }

    #[test]
    fn a_run_that_nothing_decides_is_open_in_continuous_integration() {
        let one = [("a", Status::Scored)];
        let facts = |decides, ci, allow_ignored| Facts {
            allow_ignored,
            decides,
            ci,
            ..Facts::of(Summary::of("e", &[]))
        };
        for (decides, decision, code) in [
            (Decides::Gates, Some(Decision::Undecided), 3),
            (Decides::Nothing, Some(Decision::NotRequested), 0),
            (Decides::Assertions, Some(Decision::Decided), 0),
            (Decides::Others, None, 0),
        ] {
            let summary = concluded(&one, &[], &facts(decides, true, false));
            assert_eq!(summary.account.decision, decision);
            assert_eq!(summary.exit_code.code(), code, "{decides:?}");
            let summary = concluded(&one, &[], &facts(decides, false, false));
            assert_eq!(summary.exit_code.code(), 0, "{decides:?}");
            let summary = concluded(&one, &[], &facts(decides, true, true));
            assert_eq!(summary.exit_code.code(), 0, "{decides:?}");
        }
        // The default gate decides, unless it lacks power: nobody asked for it.
        let ids: Vec<String> = (0..9).map(|number| number.to_string()).collect();
        let all = |ids: &[String], ci| {
            let records: Vec<_> = ids.iter().map(|id| (&**id, Status::Scored)).collect();
            let baseline: Vec<_> = ids.iter().map(|id| (&**id, Some(true))).collect();
            let summary = concluded(&records, &baseline, &facts(Decides::Gates, ci, false));
            let is_decided = summary.account.decision == Some(Decision::Decided);
            (
                summary.gates[0].verdict.as_str(),
                is_decided,
                summary.exit_code.code(),
            )
        };
        assert_eq!(all(&ids, true), ("passed", true, 0));
        assert_eq!(all(&ids[..3], false), ("ignored", false, 0));
        assert_eq!(all(&ids[..3], true), ("ignored", false, 3));
    }

    #[test]
    fn what_must_decide_a_run() {
        let gate: Gate = "accuracy >= 0.5".parse().unwrap();
        let gates = std::slice::from_ref(&gate);
        assert_eq!(Decides::of(None, false), Decides::Gates);
        assert_eq!(Decides::of(Some(gates), false), Decides::Gates);
        assert_eq!(Decides::of(Some(&[]), false), Decides::Nothing);
        assert_eq!(Decides::of(None, true), Decides::Assertions);
        let names = |given, has_baseline| {
            let gates = with_default(given, Some("quick"), has_baseline);
            gates.iter().map(Gate::name).collect::<Vec<_>>()
        };
        assert_eq!(
            names(None, true),
            ["no_regression[tier=quick]", "error_rate"]
        );
        assert_eq!(names(None, false), ["error_rate"]);
        assert_eq!(names(Some(&[]), true), ["error_rate"]);
        assert_eq!(names(Some(gates), true), ["accuracy", "error_rate"]);
    }
}
