//! The history line of an accepted baseline.

use jiff::Timestamp;

use super::{AcceptedAnswers, AnswerSheet, run_line};
use crate::data::history::{HistoryKind, HistoryLine};
use crate::data::{Record, Score, Status};
use crate::error::Result;
use crate::store::files::{RECORDS, SUMMARY};
use crate::store::{Manifest, RunDir, read_lean_records};
use crate::text::hash::Hasher;
use crate::verdict::baseline::BaselineRun;
use crate::verdict::summary::{Group, Summary, SummaryBuilder};

/// The history line of the baseline just accepted, whose last run is in `dir`.
///
/// Its figures are those of all answers of the baseline. What only a run knows, such as cost, is included only if the
/// baseline is a single run.
pub(in crate::snapshot) fn accept_line(
    dir: &RunDir,
    manifest: &Manifest,
    runs: &[BaselineRun],
    answers: &AcceptedAnswers,
    time: Timestamp,
) -> Result<HistoryLine> {
    let epochs = u32::try_from(answers.most().max(1)).unwrap_or(u32::MAX);
    let mut sheet = AnswerSheet::default();
    let mut pooled = SummaryBuilder::new(&*manifest.eval)
        .scorer(manifest.scorers.first().map(String::as_str))
        .epochs(epochs);
    for record in read_lean_records(&dir.file(RECORDS))? {
        let record = record?;
        if record.epoch > 0 {
            continue;
        }
        sheet.add(&record);
        for (epoch, verdict) in (0..).zip(answers.of(&record.sample_id)) {
            pooled.add(&answer(&record, epoch, *verdict));
        }
    }
    let pooled = pooled.finish();
    let of_one = match runs {
        [_] => Summary::read(&dir.file(SUMMARY)).ok(),
        _ => None,
    };
    let whole = match of_one {
        Some(run) => {
            let whole = Group {
                scored: pooled.scored,
                correct: pooled.correct,
                accuracy: pooled.accuracy,
                accuracy_ci95: pooled.accuracy_ci95,
                ..run.whole
            };
            let slices = pooled.slices;
            Summary {
                whole,
                slices,
                ..run
            }
        }
        None => pooled,
    };
    let line = run_line(
        manifest,
        &whole,
        sheet.with(|id| answers.of(id).to_vec()),
        time,
    );
    let several = runs.len() > 1;
    let ids: Vec<_> = runs.iter().map(|run| run.run_id.clone()).collect();
    let hash = ids.iter().fold(Hasher::default(), Hasher::part).short();
    Ok(HistoryLine {
        kind: HistoryKind::Accept,
        id: format!("accept-{}-{}", &hash[..8], time.as_millisecond()),
        epochs,
        duration_s: line.duration_s.filter(|_| !several),
        exit_code: line.exit_code.filter(|_| !several),
        runs: ids,
        ..line
    })
}

/// A record with another verdict, reduced to what a verdict needs.
fn answer(of: &Record, epoch: u32, verdict: Option<bool>) -> Record {
    let score = Score::binary(verdict == Some(true));
    let mut record = Record::scored(&*of.sample_id, score);
    record.epoch = epoch;
    record.slices.clone_from(&of.slices);
    record.cluster.clone_from(&of.cluster);
    if verdict.is_none() {
        record.result.status = Status::Skipped;
        record.result.score = None;
    }
    record
}
