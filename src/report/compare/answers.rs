//! The answers of several runs to the same questions, side by side.
//!
//! Outcomes are read first, to choose the samples that are shown, and then only the texts of these.

use std::collections::{BTreeMap, HashMap};

use crate::data::Record;
use crate::error::Result;
use crate::report::document::{Align, Block, Line, Table, TableFilter, Tone};
use crate::report::figures::{ReportedSample, SampleOutcome};
use crate::report::reported::ReportedRun;
use crate::store::files::RECORDS;
use crate::store::read_lean_records;
use crate::verdict::poll::{self, Poll};

/// Maximum number of rows.
const MOST_ROWS: usize = 200;
/// Maximum number of samples considered, so that memory does not depend on the dataset.
const MOST_READ: usize = 20_000;

/// The outcome of a sample in each run; `None` for runs that lack it.
type Outcomes = Vec<Option<SampleOutcome>>;

/// A table of questions by runs, with these names as heads. Empty for fewer than two runs.
///
/// # Errors
/// If a run cannot be read.
pub fn answers(runs: &[ReportedRun], names: &[String]) -> Result<Vec<Block>> {
    if runs.len() < 2 {
        return Ok(Vec::new());
    }
    let (order, outcomes) = outcomes(runs)?;
    let differs = |id: &String| {
        let has = |outcome| outcomes[id].contains(&Some(outcome));
        has(SampleOutcome::Correct) && has(SampleOutcome::Wrong)
    };
    let (differing, agreeing): (Vec<&String>, Vec<&String>) =
        order.iter().partition(|id| differs(id));
    let count = differing.len();
    let shown = differing.into_iter().take(MOST_ROWS);
    let listed: Vec<&str> = shown
        .chain(agreeing)
        .take(MOST_ROWS)
        .map(String::as_str)
        .collect();
    let hides_texts = runs.iter().any(|run| run.hides_texts);
    // The runs may be of one dataset, so that one that hides its texts hides those of all.
    let texts = if hides_texts {
        vec![BTreeMap::new(); runs.len()]
    } else {
        texts(runs, &listed, &outcomes)?
    };
    let mut heads = vec![("sample", Align::Left)];
    if !hides_texts {
        heads.extend([("question", Align::Left), ("expected", Align::Left)]);
    }
    heads.extend(names.iter().map(|name| (&**name, Align::Left)));
    let mut table = Table::new(&heads);
    let mut stays = Vec::new();
    // In the order of the dataset.
    for id in order.iter().filter(|id| listed.contains(&id.as_str())) {
        let samples = texts.iter().map(|texts| texts.get(id));
        let mut row = vec![Line::default().code(id)];
        if !hides_texts {
            let any = samples.clone().flatten().next();
            let question = any.map_or("", |sample| &sample.question);
            let truth = any.and_then(|sample| sample.ground_truth.as_deref());
            let quoted = [question, truth.unwrap_or("-")];
            row.extend(quoted.map(|text| Line::default().quoted(text)));
        }
        row.extend(
            outcomes[id]
                .iter()
                .zip(samples)
                .map(|(outcome, sample)| cell(*outcome, sample)),
        );
        table.rows.push(row);
        stays.push(differs(id));
    }
    let rows = table.rows.len();
    let label = format!("Only where the models disagree ({count})");
    table.filter = Some(TableFilter::Switch(label, stays));
    let mut blocks = vec![Block::section("Answers side by side")];
    blocks.extend(table.block());
    if rows < order.len() {
        blocks.push(Block::paragraph(format!(
            "{rows} of {} samples; those where the models disagree come first.",
            order.len()
        )));
    }
    Ok(blocks)
}

/// The outcomes on each sample, and the ids in the order of the first run.
fn outcomes(runs: &[ReportedRun]) -> Result<(Vec<String>, HashMap<String, Outcomes>)> {
    let mut order = Vec::new();
    let mut outcomes = HashMap::<String, Outcomes>::new();
    for (place, run) in runs.iter().enumerate() {
        for sample in poll::samples(read_lean_records(&run.dir.file(RECORDS))?) {
            let sample = sample?;
            let Some(first) = sample.first() else {
                continue;
            };
            if !outcomes.contains_key(&first.sample_id) {
                if order.len() == MOST_READ {
                    continue;
                }
                order.push(first.sample_id.clone());
                outcomes.insert(first.sample_id.clone(), vec![None; runs.len()]);
            }
            let poll = Poll::of(&sample);
            let outcome = match poll.extremes() {
                _ if poll.scored() + poll.unknown() == 0 => SampleOutcome::Skipped,
                (true, _) => SampleOutcome::Correct,
                (_, false) => SampleOutcome::Wrong,
                _ => SampleOutcome::Error,
            };
            if let Some(known) = outcomes.get_mut(&first.sample_id) {
                known[place] = Some(outcome);
            }
        }
    }
    Ok((order, outcomes))
}

/// The texts of these samples by run: of several epochs the first with the outcome of the sample.
fn texts(
    runs: &[ReportedRun],
    ids: &[&str],
    outcomes: &HashMap<String, Outcomes>,
) -> Result<Vec<BTreeMap<String, ReportedSample>>> {
    let runs = runs.iter().enumerate();
    runs.map(|(place, run)| {
        run.samples(ids, |record: &Record| {
            let wanted = outcomes.get(&record.sample_id).and_then(|it| it[place]);
            let is_right = |outcome| outcome == SampleOutcome::Correct;
            wanted.is_some_and(|it| is_right(it) == is_right(SampleOutcome::of(record)))
        })
    })
    .collect()
}

/// `✓ 5.75`
fn cell(outcome: Option<SampleOutcome>, sample: Option<&ReportedSample>) -> Line {
    let line = Line::default();
    let line = match outcome {
        None => return line.plain("-"),
        Some(SampleOutcome::Correct) => line.toned(Tone::Good, "✓"),
        Some(SampleOutcome::Wrong) => line.toned(Tone::Bad, "✗"),
        Some(_) => line.toned(Tone::Unsure, "?"),
    };
    match sample {
        Some(sample) => line.quoted(format!(" {}", sample.answer.as_deref().unwrap_or("-"))),
        None => line,
    }
}
