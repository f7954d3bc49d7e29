//! The function-calling leaderboard: how many answers `score --scorer bfcl` checks per CPU second, and what a run over
//! all entries takes that are judged here, with snapshots and run directory.
//!
//! `cargo bench --bench bfcl [-- LINES]` makes up entries and answers in the official formats (seeded, the same each
//! time). Real ones are measured, too, where these variables are set:
//!
//! * `EVALTEST_BENCH_BFCL_DATA`: a folder with the official data, `bfcl_eval/data`;
//! * `EVALTEST_BENCH_BFCL_ANSWERS`: a folder of answers to it, files of lines for `score --scorer bfcl`;
//! * `EVALTEST_BENCH_BFCL_PYTHON`: a Python that has the official package; its functions are timed on the same lines.
//!
//! Where the instructions go, of 16,676 real answers in the order of their models, 38,500 a pair: Java and JavaScript take
//! 98,000 each, all others 31,200. Of these finding the members of a line takes 6,000, an answer's escapes 4,000, its calls
//! and their check 6,000, `explain` 3,000, writing 4,000 and reading the data 4,000 once (650 at 98,690 lines). Every fifth
//! answer was given by another model before, so that its score is known (`score/memo.rs`); without that it were 34,000. What is
//! no Python nearly always shows in the first words, and is not parsed (`bfcl/fast/sequence.rs`). Next would be to read a line's
//! escapes once instead of twice, and to decode calls that borrow their texts.
//!
//! Answers of models meet the target, those that are made up miss it: most of their Java has letters beyond ASCII, or lists that
//! calls make, which only the parser of all of Java reads.

mod calls;
mod figure;
mod process;
mod program;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use figure::{Figure, is_bench, report};
use program::Usage;

/// The published answers of 71 models to the 1,390 entries that are not `live_`.
const LINES: u64 = 98_690;

/// Pairs of an answer and an entry that the official checker does per second of CPU, whole process; 15 times as many
/// are wanted.
const OFFICIAL: f64 = 9_600.0;

/// Nothing is expected of a figure.
const UNLIMITED: std::ops::RangeInclusive<f64> = f64::NEG_INFINITY..=f64::INFINITY;

fn main() -> io::Result<ExitCode> {
    let default = if is_bench() { LINES } else { 2_000 };
    let lines = std::env::args()
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(default);
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("data");
    calls::write_data(&data)?;
    let answers = folder.path().join("answers.jsonl");
    calls::write_answers(&answers, lines)?;
    let made_up = Answers {
        name: "made-up",
        folder: folder.path(),
        data: &data,
        file: &answers,
        lines,
    };
    let mut figures = made_up.figures()?;
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let real = variable("EVALTEST_BENCH_BFCL_DATA").and_then(|data| fs::canonicalize(data).ok());
    if let Some(data) = &real
        && let Some(given) = variable("EVALTEST_BENCH_BFCL_ANSWERS")
    {
        let file = folder.path().join("real.jsonl");
        let real = Answers {
            name: "real",
            data,
            file: &file,
            lines: join(&given, lines, &file)?,
            ..made_up
        };
        figures.extend(real.figures()?);
    }
    let recording = folder.path().join("recording.jsonl");
    calls::write_recording(&recording)?;
    run_figures(folder.path(), &mut figures)?;
    report(&figures)
}

/// Answers to entries.
#[derive(Clone, Copy)]
struct Answers<'a> {
    name: &'static str,
    /// Where to write.
    folder: &'a Path,
    data: &'a Path,
    file: &'a Path,
    lines: u64,
}

impl Answers<'_> {
    fn figures(&self) -> io::Result<Vec<Figure>> {
        let Self { name, lines, .. } = self;
        let used = best(3, || self.scored())?;
        let mut figures = Vec::new();
        let mut figure = |what: String, measured, unit, target| {
            figures.push(Figure {
                what: format!("score of {lines} {name} answers by bfcl, {what}"),
                measured,
                unit,
                target,
                // The rates that are wanted are those of answers that models gave.
                decides: *name == "real" || !matches!(unit, "pairs" | ""),
            });
        };
        let count = count(*lines);
        let per_second = count / used.cpu_s;
        let wanted = 15.0 * OFFICIAL..=f64::INFINITY;
        figure("CPU".into(), used.cpu_s, "s", 0.0..=2.0);
        figure("pairs per CPU second".into(), per_second, "pairs", wanted);
        figure("peak memory".into(), used.peak_mib, "MiB", 0.0..=64.0);
        if let Some(python) = std::env::var_os("EVALTEST_BENCH_BFCL_PYTHON") {
            let official = best(1, || self.official(Path::new(&python)))?;
            let theirs = count / official.cpu_s;
            figure(
                "official functions, pairs per CPU second".into(),
                theirs,
                "pairs",
                UNLIMITED,
            );
            let what = "times the pairs per CPU second of the official functions".into();
            figure(what, per_second / theirs, "", 15.0..=f64::INFINITY);
        }
        Ok(figures)
    }

    /// The whole process, on all its threads.
    fn scored(&self) -> io::Result<Usage> {
        let mut command = evaltest(self.folder, &["score", "--scorer", "bfcl", "--data"]);
        command.arg(self.data).arg(self.file);
        program::used(&mut command, &self.folder.join("scored"))
    }

    fn official(&self, python: &Path) -> io::Result<Usage> {
        let program = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/bench/originals/bfcl.py"
        );
        let mut command = Command::new(python);
        // No compiled files beside the sources.
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command.arg(program).arg(self.file).arg(self.data);
        program::used(&mut command, &self.folder.join("official"))
    }
}

/// A run over all entries by `replay`: the first one writes snapshots, the second compares with them.
fn run_figures(folder: &Path, figures: &mut Vec<Figure>) -> io::Result<()> {
    let spec = "name: calls\nbenchmark: { type: bfcl, path: data }\n\
                agent: { type: replay, path: recording.jsonl }\nsnapshot: { answers: plain }\noutput_root: runs\n\
                gates:\n  - accuracy >= 0.5\n  - accuracy[category=simple_python] >= 0.5\n  - error_rate <= 0.0\n";
    fs::write(folder.join("calls.yaml"), spec)?;
    let runs = folder.join("runs");
    let run = || {
        let _ = fs::remove_dir_all(&runs);
        program::run(&mut evaltest(folder, &["run", "calls.yaml"]), &runs)
    };
    // Once files were deleted, ext4 looks long for places of new ones, so what `accept` takes is only told.
    let mut figure = |what: &str, used: &Usage, target| {
        figures.push(Figure {
            what: format!("run of {} samples by replay, {what}, CPU", calls::ENTRIES),
            measured: used.cpu_s,
            unit: "s",
            target,
            decides: true,
        });
    };
    figure("without a baseline", &best(3, run)?, 0.0..=2.0);
    let accepted = program::used(
        evaltest(folder, &["accept"]).arg(program::last_run(&runs)?),
        &folder.join("accepted"),
    )?;
    figure("`accept` of it", &accepted, UNLIMITED);
    figure("against the baseline", &best(3, run)?, 0.0..=2.0);
    Ok(())
}

/// Puts the lines of all files of a folder into one file, so many at most, and tells how many. None of them twice: the
/// score of an answer that is repeated is known.
fn join(folder: &Path, most: u64, path: &Path) -> io::Result<u64> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "jsonl")
    });
    files.sort();
    let texts: Vec<String> = files
        .iter()
        .map(fs::read_to_string)
        .collect::<io::Result<_>>()?;
    let mut out = io::BufWriter::new(File::create(path)?);
    let mut lines = 0;
    for (_, line) in (0..most).zip(texts.iter().flat_map(|text| text.lines())) {
        writeln!(out, "{line}")?;
        lines += 1;
    }
    out.flush()?;
    Ok(lines)
}

/// The best of some runs: noise only ever adds.
fn best(runs: u32, run: impl Fn() -> io::Result<Usage>) -> io::Result<Usage> {
    let first = run()?;
    (1..runs).try_fold(first, |best, _| Ok(best.better(&run()?)))
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn count(lines: u64) -> f64 {
    lines as f64
}

fn evaltest(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-evaltest"));
    command.current_dir(home).arg("evaltest").args(arguments);
    command.env_remove("CI");
    command
}
