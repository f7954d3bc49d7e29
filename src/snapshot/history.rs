//! `HistoryFile`: `history.jsonl` next to the snapshots of an eval.
//!
//! The file is committed, and several processes may append to it: each line is written at once to the end, and existing
//! lines are never changed. Damage, such as a missing line end, costs that line only.

#[cfg(feature = "command")]
mod patch;

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{fs, io};

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::write_attributes;
use crate::data::history::{
    AnswerRow, HISTORY_FILE, HISTORY_VERSION, History, HistoryAnswers, HistoryGate, HistoryKind,
    HistoryLatency, HistoryLine, HistorySlice,
};
use crate::data::{Record, Score, Status};
use crate::error::{Error, Result};
use crate::stats;
use crate::store::files::{RECORDS, SUMMARY};
use crate::store::{Manifest, RunDir, RunStatus, read_lean_records};
use crate::system::file::has_name;
use crate::system::project::display;
use crate::text::hash::{Hasher, mark};
use crate::verdict::baseline::BaselineRun;
use crate::verdict::result::GateResult;
use crate::verdict::summary::{AnswerMean, Group, Latency, Summary, SummaryBuilder};

#[cfg(feature = "command")]
pub use patch::HistoryPatch;

/// The history of an eval, in its snapshot folder.
#[derive(Clone, Debug)]
pub(crate) struct HistoryFile {
    path: PathBuf,
    eval: String,
}

impl HistoryFile {
    /// The history file of an eval; neither it nor its folder needs to exist.
    pub(crate) fn of(folder: &Path, eval: &str) -> Self {
        Self {
            path: folder.join(HISTORY_FILE),
            eval: eval.to_owned(),
        }
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that lines can be appended, before the run costs money.
    ///
    /// # Errors
    /// If something else is there, or it is not writable.
    pub(crate) fn check(&self) -> Result<()> {
        self.refuse_other()?;
        if self.path.exists() {
            let file = OpenOptions::new().append(true).open(&self.path);
            file.map_err(|error| self.io("write", &error))?;
        }
        let folder = self.path.ancestors().skip(1).find(|it| it.exists());
        match folder {
            Some(folder) if !folder.is_dir() => {
                let message = format!("`{}` is not a folder", display(folder));
                Err(Error::usage(message)
                    .hint("move it away: the history of the eval goes into this folder"))
            }
            _ => Ok(()),
        }
    }

    /// Reads the history.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn read(&self) -> Result<History> {
        self.refuse_other()?;
        History::read(&self.path, &self.eval)
    }

    /// Appends a line; it is on disk on return.
    ///
    /// # Errors
    /// If it cannot be written; the file is then unchanged.
    pub(crate) fn append(&self, line: &HistoryLine) -> Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, &error))?;
        self.refuse_other()?;
        write_attributes(folder)?;
        let is_new = !self.path.exists();
        let bytes = line
            .to_line()
            .map_err(|error| self.io("write", &error.into()))?;
        let mut file = self.locked()?;
        let written = add(&mut file, bytes);
        written.map_err(|error| self.io("write", &error))?;
        if is_new {
            // The folder must be synced too, as it holds the name of the file.
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }

    /// Opens the file with an exclusive lock.
    fn locked(&self) -> Result<File> {
        loop {
            let file = OpenOptions::new()
                .create(true)
                .read(true)
                .append(true)
                .open(&self.path);
            let file = file.map_err(|error| self.io("write", &error))?;
            // On a file system without locks, a line is still appended at once.
            let _ = file.lock();
            // Meanwhile git may have replaced the file.
            if has_name(&file) {
                return Ok(file);
            }
        }
    }

    /// Refuses anything but a regular file: a link would redirect the write, and opening a pipe would block.
    fn refuse_other(&self) -> Result<()> {
        match fs::symlink_metadata(&self.path) {
            Ok(about) if !about.is_file() => {
                let is = if about.is_symlink() {
                    "is a link"
                } else {
                    "is not a file"
                };
                let message = format!(
                    "`{}` {is}: the history needs a regular file",
                    display(&self.path)
                );
                Err(Error::usage(message).hint("nothing was written to it: move it away"))
            }
            // Opening it reports the error.
            _ => Ok(()),
        }
    }

    fn io(&self, verb: &str, error: &io::Error) -> Error {
        Error::io(verb, &self.path, error)
    }
}

/// Appends a line at once, or nothing.
fn add(file: &mut File, line: Vec<u8>) -> io::Result<()> {
    let before = file.metadata()?.len();
    let mut last = [b'\n'];
    if before > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    let mut bytes = Vec::with_capacity(line.len() + 2);
    if last != [b'\n'] {
        // The last line end is missing, after a crash or an edit: start a new line.
        bytes.push(b'\n');
    }
    bytes.extend(line);
    if bytes.last() != Some(&b'\n') {
        bytes.push(b'\n');
    }
    let written = file.write_all(&bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a line would be read as damage.
        let _ = file.set_len(before);
    }
    written
}

/// The verdict on each answer of a baseline. Ids are stored as hashes, which for a million samples takes a tenth of the
/// memory.
#[derive(Debug, Default)]
pub(super) struct AcceptedAnswers {
    verdicts: Vec<Option<bool>>,
    places: HashMap<u64, Range<usize>>,
    most: usize,
}

impl AcceptedAnswers {
    /// Adds the verdicts of a sample.
    pub(super) fn add(&mut self, id: &str, verdicts: &[Option<bool>]) {
        let start = self.verdicts.len();
        self.verdicts.extend_from_slice(verdicts);
        self.places.insert(mark(id), start..self.verdicts.len());
        self.most = self.most.max(verdicts.len());
    }

    /// The verdicts of a sample; empty for an unknown one.
    fn of(&self, id: &str) -> &[Option<bool>] {
        let place = self.places.get(&mark(id)).cloned().unwrap_or_default();
        self.verdicts.get(place).unwrap_or_default()
    }

    /// The largest number of answers of a sample.
    fn most(&self) -> usize {
        self.most
    }
}

/// The history line of the baseline just accepted, whose last run is in `dir`.
///
/// Its figures are those of all answers of the baseline. What only a run knows, such as cost, is included only if the
/// baseline is a single run.
pub(super) fn accept_line(
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

/// With more answers, they are left out of the line to keep it short.
const MOST_ANSWERS: usize = 20_000;

/// Which samples of a run were right.
#[derive(Debug, Default)]
pub(crate) struct AnswerSheet {
    samples: Vec<SheetSample>,
    answers: usize,
}

/// A sample with the verdict on each answer to it.
#[derive(Debug)]
struct SheetSample {
    id: String,
    /// Hashes of the question and the ground truth.
    hashes: [String; 2],
    verdicts: Vec<Option<bool>>,
}

impl AnswerSheet {
    /// Adds a record; records of a sample must be consecutive.
    pub(crate) fn add(&mut self, record: &Record) {
        if record.perturb.is_some() {
            return;
        }
        self.answers += 1;
        if self.answers > MOST_ANSWERS {
            self.samples = Vec::new();
            return;
        }
        let outcome = &record.result;
        // A cached answer is not new evidence.
        let is_known = outcome.status == Status::Scored && !outcome.cached;
        let verdict = is_known.then(|| outcome.is_correct());
        if let Some(sample) = self.samples.last_mut()
            && sample.id == record.sample_id
        {
            sample.verdicts.push(verdict);
            return;
        }
        let question = match record.question_hash.as_str() {
            // The run was made by an older version.
            "" => &record.input_hash,
            hash => hash,
        };
        self.samples.push(SheetSample {
            id: record.sample_id.clone(),
            hashes: [question.to_owned(), record.target_hash.clone()],
            verdicts: vec![verdict],
        });
    }

    /// The answers for a history line, with these verdicts instead; `None` if there are too many.
    fn with(mut self, verdicts: impl Fn(&str) -> Vec<Option<bool>>) -> Option<HistoryAnswers> {
        for sample in &mut self.samples {
            sample.verdicts = verdicts(&sample.id);
        }
        self.finish()
    }

    /// The answers for a history line; `None` if there are none or too many.
    pub(crate) fn finish(mut self) -> Option<HistoryAnswers> {
        if self.answers == 0 || self.answers > MOST_ANSWERS {
            return None;
        }
        self.samples.sort_by(|one, other| one.id.cmp(&other.id));
        let hash = |hasher: Hasher, sample: &SheetSample| {
            let [question, target] = &sample.hashes;
            hasher.part(&sample.id).part(question).part(target)
        };
        let hasher = self.samples.iter().fold(Hasher::default(), hash);
        let rows = self.samples.iter().map(|sample| sample.verdicts.len());
        let rows = rows.max().unwrap_or_default();
        if self.samples.len().saturating_mul(rows) > MOST_ANSWERS {
            return None;
        }
        let row = |row: usize| {
            let verdicts = self.samples.iter();
            let verdicts = verdicts.map(|sample| sample.verdicts.get(row).copied().flatten());
            AnswerRow::of(&verdicts.collect::<Vec<_>>())
        };
        Some(HistoryAnswers {
            samples: hasher.short(),
            count: self.samples.len(),
            runs: (0..rows).map(row).collect(),
        })
    }
}

/// Dimensions with more slices are left out of the line.
const MOST_SLICES: usize = 100;

/// Aggregates of a benchmark whose JSON is longer are left out of the line.
const LONGEST_METRICS: usize = 4096;

/// The line of a finished run, from its summary.
pub(crate) fn run_line(
    manifest: &Manifest,
    summary: &Summary,
    answers: Option<HistoryAnswers>,
    time: Timestamp,
) -> HistoryLine {
    let judges = manifest.judge_models.iter();
    HistoryLine {
        format_version: HISTORY_VERSION,
        kind: HistoryKind::Run,
        id: manifest.run_id.clone(),
        eval: manifest.eval.clone(),
        time,
        commit: manifest.git_sha.clone(),
        dirty: manifest.git_dirty,
        // Runs stopped by an outage have no line.
        early: manifest.status == RunStatus::Stopped,
        tier: manifest.tier.clone(),
        dataset_hash: manifest.dataset_hash.clone(),
        scorer_hash: manifest.scorer_hash.clone(),
        agent_hash: manifest.agent_hash.clone(),
        prompt: manifest.prompt.clone(),
        served_models: manifest.models.keys().cloned().collect(),
        judge_models: judges
            .map(|(scorer, models)| (scorer.clone(), models.keys().cloned().collect()))
            .collect(),
        samples: summary.samples,
        scored: summary.scored,
        correct: summary.correct,
        errors: summary.errors,
        epochs: manifest.epochs,
        cached: summary.cached,
        accuracy: summary.accuracy.map(rounded),
        accuracy_ci95: summary.accuracy_ci95.map(|ends| ends.map(rounded)),
        error_rate: summary.error_rate.map(rounded),
        means: means(&summary.means),
        metrics: metrics(&summary.metrics),
        slices: slices(&summary.slices),
        cost_usd: summary.usage.cost_usd,
        tokens: summary.usage.tokens(),
        steps: summary.steps.and_then(|steps| steps.mean).map(rounded),
        figures: figures(summary),
        latency_s: summary.latency_s.as_ref().map(latency),
        duration_s: manifest.duration_s.map(rounded),
        gates: summary.gates.iter().map(gate).collect(),
        exit_code: Some(summary.exit_code.code()),
        runs: Vec::new(),
        answers,
    }
}

/// The figures that have no member of their own.
fn figures(summary: &Summary) -> BTreeMap<String, f64> {
    let usage = &summary.usage;
    let mean = |mean: Option<AnswerMean>| mean.map(|mean| mean.mean);
    let mut figures = vec![
        ("input_tokens", usage.input_tokens.map(stats::as_f64)),
        ("output_tokens", usage.output_tokens.map(stats::as_f64)),
        ("tool_calls", mean(summary.tool_calls)),
        ("output_length", mean(summary.output_length)),
    ];
    if let Some(conversations) = &summary.conversations {
        let tokens = usage.tokens();
        figures.extend([
            ("turns", conversations.mean(conversations.turns)),
            (
                "failed_calls",
                conversations.mean(conversations.failed_calls),
            ),
            (
                "repeated_calls",
                conversations.mean(conversations.repeated_calls),
            ),
            (
                "tokens_per_turn",
                tokens.and_then(|tokens| stats::ratio(tokens, conversations.turns)),
            ),
        ]);
    }
    let known = figures.into_iter();
    let known = known.filter_map(|(name, value)| Some((name.to_owned(), rounded(value?))));
    known.collect()
}

/// Rounds to the digits that people need; they read these lines, too.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn means(means: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    let finite = means.iter().filter(|(_, mean)| mean.is_finite());
    finite
        .map(|(name, mean)| (name.clone(), rounded(*mean)))
        .collect()
}

fn metrics(metrics: &Map<String, Value>) -> Map<String, Value> {
    let length = Value::Object(metrics.clone()).to_string().len();
    if length > LONGEST_METRICS {
        return Map::new();
    }
    metrics.clone()
}

fn slices(
    slices: &BTreeMap<String, BTreeMap<String, Group>>,
) -> BTreeMap<String, BTreeMap<String, HistorySlice>> {
    let slice = |(value, group): (&String, &Group)| {
        let slice = HistorySlice {
            scored: group.scored,
            correct: group.correct,
            errors: group.errors,
            cached: group.cached,
            accuracy: group.accuracy.map(rounded),
            accuracy_ci95: group.accuracy_ci95.map(|ends| ends.map(rounded)),
        };
        (value.clone(), slice)
    };
    let few = slices.iter().filter(|(_, of)| of.len() <= MOST_SLICES);
    few.map(|(dimension, of)| (dimension.clone(), of.iter().map(slice).collect()))
        .collect()
}

fn latency(latency: &Latency) -> HistoryLatency {
    HistoryLatency {
        mean: rounded(latency.mean),
        p50: rounded(latency.p50),
        p95: rounded(latency.p95),
    }
}

fn gate(result: &GateResult) -> HistoryGate {
    HistoryGate {
        gate: result.gate.to_string(),
        verdict: result.verdict.as_str().to_owned(),
        value: result.value.filter(|value| value.is_finite()),
        threshold: result.threshold.filter(|value| value.is_finite()),
    }
}
