//! Puts pieces of a run together into one run directory.
//!
//! Everything is copied line by line: the records in dataset order, the journals one after the other. Memory use is
//! about twenty bytes per sample.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use memchr::memchr;
use serde_json::{Map, Value};

use super::pieces::{Piece, Pieces};
use crate::benchmark::RunningMetrics;
use crate::bfcl::Metrics;
use crate::data::Record;
use crate::data::history::HistoryAnswers;
use crate::data::record::read_abridged;
use crate::error::{Error, Result};
use crate::eval::Eval;
use crate::run::CiPolicy;
use crate::run::record::gathered::{GatheredRun, KnownFigures, RequestedGates};
use crate::run::record::reload::gates_of;
use crate::snapshot::{AnswerSheet, CommittedBaseline};
use crate::store::files::{ERRORS, JOURNAL, PLACES, RECORDS, SUMMARY};
use crate::store::journal::JoinedJournal;
use crate::store::places::PartPlaces;
use crate::store::records::Sorted;
use crate::store::{Manifest, RunDir};
use crate::system::file::open_plain;
use crate::system::project::display;
use crate::system::spawn_scoped;
use crate::text::hash::Hasher;
use crate::text::shell_word;
use crate::verdict::baseline::Baseline;
use crate::verdict::conclude::Run;
use crate::verdict::gate::with_default;
use crate::verdict::summary::Summary;

/// How pieces are put together.
pub(crate) struct GatherHow<'a> {
    /// The id of the resulting run.
    pub(crate) run_id: String,
    /// Whether its manifest names them.
    pub(crate) names_parts: bool,
    /// The eval, if available: it may compute metrics of its own.
    pub(crate) eval: Option<&'a Eval>,
    pub(crate) ci: CiPolicy,
    /// Whether to collect which samples were right.
    pub(crate) keeps_answers: bool,
    /// Ignore an existing baseline.
    pub(crate) ignores_baseline: bool,
}

/// The combined run, of which all but the summary and the manifest is written.
pub(crate) struct GatheredPieces {
    pub(crate) manifest: Manifest,
    pub(crate) run: Run,
    /// Which samples were right, for a line of the history.
    pub(crate) answers: Option<HistoryAnswers>,
}

impl GatheredPieces {
    /// Writes the rest into the directory.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write(mut self, dir: &RunDir) -> Result<(Manifest, Run)> {
        self.manifest.artifacts.extend(self.run.write_summary(dir)?);
        self.manifest.write(dir)?;
        Ok((self.manifest, self.run))
    }
}

/// Combines pieces in an empty directory. If they lack samples of their eval, the result is again a part, stopped
/// early.
///
/// # Errors
/// When two of them have the same sample, or one was changed.
pub(crate) fn gather(
    mut pieces: Pieces,
    dir: &RunDir,
    how: &GatherHow<'_>,
) -> Result<GatheredPieces> {
    pieces.together(how.names_parts)?;
    let mut manifest = Manifest {
        run_id: how.run_id.clone(),
        invocation: how.run_id.clone(),
        artifacts: BTreeMap::new(),
        failed_assertions: Vec::new(),
        ..pieces.manifest.clone()
    };
    if !pieces.is_complete() {
        let places = pieces.owners.iter().map(|(place, _)| *place as usize);
        let places = PartPlaces::new(manifest.samples, places.collect());
        let hash = places.write(dir)?;
        manifest.artifacts.insert(PLACES.to_owned(), hash);
    }
    let folder = manifest.snapshot_folder();
    let committed = if how.ignores_baseline {
        None
    } else {
        CommittedBaseline::open(&folder)?
    };
    let given = gates_of(&manifest)?;
    let tier = manifest.tier.as_deref();
    let gates = with_default(given.as_deref(), tier, committed.is_some());
    let baseline = committed
        .map(|it| it.read_for(&manifest, &gates))
        .transpose()?;
    let mut metrics = OwnMetrics::of(&pieces, how.eval);
    let (run, answers, files, journal, notices) = std::thread::scope(|scope| {
        let journal = spawn_scoped(scope, || join_journals(&pieces, dir, &how.run_id));
        let mut gathered = GatheredRun::new(&manifest, &gates, baseline.as_ref());
        let mut failed = FailedInOrder::of(&pieces.failed);
        let mut answers = how.keeps_answers.then(AnswerSheet::default);
        let files = join_records(&pieces, dir, &mut |record| {
            failed.add(&record);
            if let Some(answers) = &mut answers {
                answers.add(&record);
            }
            if record.perturb.is_none() {
                metrics.add(&record);
            }
            gathered.add(record);
        });
        // Return the first error of the two.
        let (journal, notices) = journal()?;
        let files = files?;
        let known = KnownFigures {
            metrics: metrics.finish(),
            not_judged: pieces.not_judged,
            progressive: None,
        };
        let requested = RequestedGates {
            gates: &gates,
            given: given.as_deref(),
            others: false,
            ci: how.ci,
            ignores_baseline: how.ignores_baseline,
        };
        let run = gathered.conclude(dir, &requested, known, failed.finish())?;
        Ok::<_, Error>((run, answers, files, journal, notices))
    })?;
    let mut run = run;
    let before = std::mem::take(&mut pieces.notices);
    run.notices.splice(0..0, before);
    run.notices.extend(notices);
    manifest.artifacts.extend(files);
    manifest.artifacts.insert(JOURNAL.to_owned(), journal);
    manifest.judge_models = run.summary.judge_models();
    manifest
        .failed_assertions
        .clone_from(&run.failed_assertions);
    manifest.baseline = baseline.as_ref().map(Baseline::run_ids);
    Ok(GatheredPieces {
        manifest,
        answers: answers.and_then(AnswerSheet::finish),
        run,
    })
}

/// Copies the journals; returns the hash of the result, and notices.
fn join_journals(pieces: &Pieces, dir: &RunDir, run_id: &str) -> Result<(String, Vec<String>)> {
    let mut notices = Vec::new();
    let mut joined = JoinedJournal::create(&dir.file(JOURNAL), run_id)?;
    for piece in &pieces.all {
        let expect = piece.journal.as_ref();
        let path = piece.dir.file(JOURNAL);
        match path.metadata() {
            Ok(about) if about.is_file() => {}
            Ok(_) => {
                notices.push(piece.dir.other_journal(&piece.dir.manifest()?));
                continue;
            }
            Err(_) => {
                notices.push(piece.dir.lost_journal());
                continue;
            }
        }
        let found = joined.add(&path)?;
        if expect.is_some_and(|expect| *expect != found.hash) || found.skipped > 0 {
            notices.push(piece.dir.other_journal(&piece.dir.manifest()?));
        }
    }
    Ok((joined.finish()?, notices))
}

/// Copies the records in dataset order; returns the names and hashes of the files.
fn join_records(
    pieces: &Pieces,
    dir: &RunDir,
    see: &mut dyn FnMut(Record),
) -> Result<[(String, String); 2]> {
    let mut samples = Sorted::create(dir.file(RECORDS))?;
    let mut errors = Sorted::create(dir.file(ERRORS))?;
    let count = pieces.all.len();
    let mut remaining = vec![0_usize; count];
    for (_, piece) in &pieces.owners {
        remaining[*piece as usize] += 1;
    }
    let mut lines: Vec<Option<PieceLines>> = Vec::new();
    for piece in &pieces.all {
        lines.push(Some(PieceLines::new(piece.dir.file(RECORDS), count)));
    }
    let trials = pieces.manifest.trials();
    for (_, number) in &pieces.owners {
        let number = *number as usize;
        let piece = &pieces.all[number];
        let odd = |what: &str| other_records(&piece.dir, Some(what.to_owned()));
        let Some(own) = &mut lines[number] else {
            continue;
        };
        for trial in 0..trials {
            let line = own.next().map_err(|error| unread(&piece.dir, &error))?;
            let line = line.ok_or_else(|| odd("it has fewer records than the run asked"))?;
            let record = read_abridged(line)
                .map_err(|error| odd(&format!("a line is not a record: {error}")))?;
            if record.epoch != trial || !line.ends_with(b"\n") {
                return Err(odd("its records are not those of the run"));
            }
            samples.write(line)?;
            if record.result.status.is_error() {
                errors.write(line)?;
            }
            see(record);
        }
        remaining[number] -= 1;
        if remaining[number] == 0 {
            end(lines[number].take(), piece)?;
        }
    }
    // Pieces without samples left.
    for (own, piece) in lines.into_iter().zip(&pieces.all) {
        end(own, piece)?;
    }
    Ok([
        (RECORDS.to_owned(), samples.finish()?),
        (ERRORS.to_owned(), errors.finish()?),
    ])
}

/// Checks, when all records of a piece were copied, that they are what its run wrote.
fn end(lines: Option<PieceLines>, piece: &Piece) -> Result<()> {
    let Some(mut lines) = lines else {
        return Ok(());
    };
    let more = lines.next().map_err(|error| unread(&piece.dir, &error))?;
    if more.is_some() {
        let odd = "it has more records than the run asked".to_owned();
        return Err(other_records(&piece.dir, Some(odd)));
    }
    if piece.records.as_ref() != Some(&lines.hash()) {
        return Err(other_records(&piece.dir, None));
    }
    Ok(())
}

/// The error for unreadable records, which the journal also has.
fn unread(dir: &RunDir, error: &std::io::Error) -> Error {
    let error = Error::io("read", &dir.file(RECORDS), error);
    if error.hint_text().is_some() {
        return error;
    }
    let dir = shell_word(&display(dir.path()));
    error.hint(format!(
        "rebuild it from the journal: cargo evaltest repair {dir}"
    ))
}

fn other_records(dir: &RunDir, odd: Option<String>) -> Error {
    match dir.manifest() {
        Ok(manifest) => dir.other_records(&manifest, odd),
        Err(error) => error,
    }
}

/// The ids of samples whose assertion failed, in dataset order.
struct FailedInOrder<'a> {
    all: &'a HashSet<String>,
    found: Vec<String>,
}

impl<'a> FailedInOrder<'a> {
    fn of(all: &'a HashSet<String>) -> Self {
        let found = Vec::new();
        Self { all, found }
    }

    fn add(&mut self, record: &Record) {
        if record.epoch == 0 && self.all.contains(&record.sample_id) {
            self.found.push(record.sample_id.clone());
        }
    }

    fn finish(self) -> Vec<String> {
        self.found
    }
}

/// A benchmark's own aggregates over all records: those of the pieces cannot be added up.
enum OwnMetrics {
    Stored(Metrics),
    Running(RunningMetrics),
    /// Only a program that is not here can compute them.
    Lost,
    Nothing,
}

impl OwnMetrics {
    fn of(pieces: &Pieces, eval: Option<&Eval>) -> Self {
        let first = &pieces.all[0].dir;
        if let Some(metrics) = Metrics::of(&pieces.manifest, first) {
            return Self::Stored(metrics);
        }
        let eval = eval.filter(|eval| eval.benchmark.name() == pieces.manifest.benchmark);
        if let Some(metrics) = eval.and_then(|eval| eval.benchmark.running_metrics()) {
            return Self::Running(metrics);
        }
        let known = Summary::read(&first.file(SUMMARY)).ok();
        let has_some = known.is_some_and(|known| !known.metrics.is_empty());
        if has_some { Self::Lost } else { Self::Nothing }
    }

    fn add(&mut self, record: &Record) {
        match self {
            Self::Stored(metrics) => metrics.add(record),
            Self::Running(metrics) => metrics.0.add(record),
            Self::Lost | Self::Nothing => {}
        }
    }

    fn finish(self) -> Map<String, Value> {
        match self {
            Self::Stored(metrics) => metrics.finish(),
            Self::Running(metrics) => metrics.0.finish(),
            Self::Nothing => Map::new(),
            Self::Lost => {
                let why = "the benchmark, which alone works out its metrics, is not here, and those of parts cannot be added \
                           up; an unsharded run has them";
                Map::from_iter([("error".to_owned(), why.into())])
            }
        }
    }
}

// Reads the records of a piece line by line.
//
// Pieces are read in parallel, in chunks: with few pieces the files stay open, with many each is opened per chunk.
// Data is hashed as it is read, so that nothing is read twice.

/// Most files open at once.
const MOST_OPEN: usize = 64;
/// Bytes of buffers for all pieces together.
const MEMORY: usize = 16 << 20;
/// Bytes per read.
const CHUNK: usize = 128 << 10;
/// Bytes per read with very many pieces.
const SMALLEST: usize = 4 << 10;

/// The records of a piece.
pub(super) struct PieceLines {
    path: PathBuf,
    file: Option<File>,
    stays_open: bool,
    chunk: usize,
    buffer: Vec<u8>,
    /// The start of the next line in the buffer.
    start: usize,
    /// How much of the file was read.
    read: u64,
    is_over: bool,
    hash: Hasher,
}

impl PieceLines {
    /// The reader of one of `pieces` files.
    pub(super) fn new(path: PathBuf, pieces: usize) -> Self {
        Self {
            path,
            file: None,
            stays_open: pieces <= MOST_OPEN,
            chunk: (MEMORY / pieces.max(1)).clamp(SMALLEST, CHUNK),
            buffer: Vec::new(),
            start: 0,
            read: 0,
            is_over: false,
            hash: Hasher::default(),
        }
    }

    /// The next line with its end; `None` at the end. A last line without a line end counts.
    pub(super) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        let mut searched = self.start;
        let end = loop {
            let found = memchr(b'\n', &self.buffer[searched..]);
            if let Some(found) = found {
                break searched + found + 1;
            }
            searched = self.buffer.len() - self.start;
            if self.is_over || !self.fill()? {
                break self.buffer.len();
            }
        };
        if end == self.start {
            // Free its memory.
            self.buffer = Vec::new();
            self.start = 0;
            self.file = None;
            return Ok(None);
        }
        let line = &self.buffer[self.start..end];
        self.start = end;
        Ok(Some(line))
    }

    /// The SHA-256 of what was read.
    pub(super) fn hash(self) -> String {
        self.hash.hex()
    }

    /// Reads more after the unread rest; whether there was more.
    fn fill(&mut self) -> io::Result<bool> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let mut file = if let Some(file) = self.file.take() {
            file
        } else {
            let mut file = open_plain(&self.path)?;
            file.seek(SeekFrom::Start(self.read))?;
            file
        };
        let before = self.buffer.len();
        self.buffer.resize(before + self.chunk, 0);
        let count = loop {
            match file.read(&mut self.buffer[before..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        let count = count.inspect_err(|_| self.buffer.truncate(before))?;
        self.buffer.truncate(before + count);
        self.hash.bytes(&self.buffer[before..]);
        self.read += count as u64;
        self.is_over = count == 0;
        if self.stays_open && count > 0 {
            self.file = Some(file);
        }
        Ok(count > 0)
    }
}
