//! `cargo evaltest compare`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use evaltest::engine::report::Detail;
use evaltest::engine::report::compare::answers::answers;
use evaltest::engine::report::compare::texts::PairTexts;
use evaltest::engine::report::compare::{ComparedRun, ComparedRuns, RunPair, compare, document};
use evaltest::engine::report::render::{html, terminal};
use evaltest::engine::report::reported::{MaskedTexts, ReportedRun};
use evaltest::engine::store::RunDir;
use evaltest::engine::system::file::write_atomically_by;
use evaltest::engine::system::project::display;
use evaltest::engine::text::clean;
use evaltest::{Error, Exit, Result};
use serde::ser::{Error as _, SerializeMap};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::run_ids::typed_folder;
use crate::runs::compared_runs;
use crate::{colour, console};

/// Compare runs: differences with intervals, samples that flipped
///
/// For two runs: the paired difference B − A with its 95 % confidence interval and p, as the gate `no_regression` computes
/// them with A as the baseline; what missing answers could change; the samples that flipped, with both answers; the same by
/// slice and by scorer, and other scores; errors, tokens, cost and latency of both. B counts as worse or better only if the
/// interval says so. For more runs: a table of all pairs, with p-values adjusted by Holm.
///
/// Without a name, compares the last run with the previous one of the same eval; with one name, that run with the last one
/// of its eval. Refuses runs that were scored differently; `rescore` scores both alike. Always exits with 0.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(crate) struct CompareArgs {
    /// Run directories, parts of their names, names of evals (their last runs), or `baseline`; the first is A
    #[arg(value_name = "RUN_DIR", value_parser = typed_folder())]
    runs: Vec<PathBuf>,

    /// Maximum number of flipped samples shown with texts, in each direction; default: 10, or 100 on a page. `--json`
    /// lists all ids
    #[arg(long, value_name = "N")]
    flips: Option<usize>,

    /// Show questions and answers even if the eval's snapshots are masked
    #[arg(long)]
    show_texts: bool,

    /// Print JSON
    #[arg(long, conflicts_with = "html")]
    json: bool,

    /// Write an HTML page to this file, with prompts and answers side by side
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Maximum characters shown of a text.
const CHARS: usize = 500;

/// A page has more room for texts and flips.
const PAGE_CHARS: usize = 4_000;

/// Joined and wrapped by `--help`.
const NOTES: &str = "\
`--json` prints {\"n\", \"verdict\", \"difference\", \"difference_ci95\", \"p\", \"p_two_sided\", \"accuracy_a\",
\"accuracy_b\", \"worse\", \"better\", \"groups\", \"smallest_drop\", \"assumption\", \"error_bounds\",
\"flips\": {\"worse\": [ids], \"better\": [ids]}, \"texts\", \"slices\", \"scorers\", \"means\", \"unpaired\", \"judge\", \"runs\", \"notices\"}: differences are fractions, B −
A, over the samples that both runs have a verdict for. `p` is one-sided, for a loss, as in `no_regression`;
`p_two_sided` is twice the smaller of both one-sided values. \"error_bounds\" has the same figures with the errored
answers of A and B counted as right and wrong (\"lowest\"), and as wrong and right (\"highest\"); \"means\" has
{\"n\", \"mean_a\", \"mean_b\", \"difference\", \"difference_ci95\", \"is_share\"} by scorer and number. For more than
two runs it prints {\"runs\", \"pairs\", \"notices\"}, where each pair has the same figures and \"a\", \"b\" and \"p_holm\".";

pub(crate) fn run(args: &CompareArgs) -> Result<Exit> {
    let dirs = compared_runs(&args.runs)?;
    let hidden = if args.show_texts {
        MaskedTexts::Visible
    } else {
        MaskedTexts::Hidden
    };
    let compared = compare(&dirs, hidden)?;
    let is_masked = compared.runs.iter().any(|run| run.masked) && !args.show_texts;
    let texts = if is_masked {
        PairTexts::default()
    } else {
        texts(&dirs, &compared.pairs, args)?
    };
    if args.json {
        let (compared, texts) = (&compared, &texts);
        console::print_long_json(&ComparisonJson { compared, texts })?;
        return Ok(Exit::Passed);
    }
    let texts = (!is_masked).then_some(&texts);
    let Some(file) = &args.html else {
        let document = document(&compared, texts, Vec::new(), Detail::Brief);
        console::print(|out| terminal::document(&document, colour::paint(), out))?;
        return Ok(Exit::Passed);
    };
    // Two runs have their flips with both answers.
    let answers = if dirs.len() > 2 {
        let runs = dirs
            .iter()
            .map(|dir| ReportedRun::read(dir.clone(), hidden));
        let names: Vec<String> = compared.runs.iter().map(ComparedRun::name).collect();
        answers(&runs.collect::<Result<Vec<_>>>()?, &names)?
    } else {
        Vec::new()
    };
    let document = document(&compared, texts, answers, Detail::Full);
    to_file(file, |out| {
        html::page(&document.title.clone(), &[document], out)
    })?;
    console::print(|out| writeln!(out, "{}", clean(&display(file))))?;
    Ok(Exit::Passed)
}

/// Writes the file atomically; writes directly into a non-file such as a pipe.
pub(in crate::command) fn to_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let io = |error: io::Error| Error::io("write", path, &error);
        let mut out = BufWriter::new(File::create(path).map_err(io)?);
        return write(&mut out).and_then(|()| out.flush()).map_err(io);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, &error))?;
    }
    write_atomically_by(path, write)
}

/// Texts of the first samples in which two runs differ.
fn texts(dirs: &[RunDir], pairs: &[RunPair], args: &CompareArgs) -> Result<PairTexts> {
    let ([a, b], [pair]) = (dirs, pairs) else {
        return Ok(PairTexts::default());
    };
    match args.html {
        None => PairTexts::of_flips([a, b], pair, args.flips.unwrap_or(10), CHARS),
        Some(_) => PairTexts::of_all([a, b], pair, args.flips.unwrap_or(100), PAGE_CHARS),
    }
}

/// Serializes the comparison as JSON in a streaming way, because its id lists may be too long for memory.
struct ComparisonJson<'a> {
    compared: &'a ComparedRuns,
    texts: &'a PairTexts,
}

/// One pair of several runs.
struct PairJson<'a> {
    runs: &'a [ComparedRun],
    pair: &'a RunPair,
}

impl Serialize for ComparisonJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let ComparedRuns {
            runs,
            pairs,
            notices,
            ..
        } = self.compared;
        let mut map = serializer.serialize_map(None)?;
        if let [pair] = &**pairs {
            figures(pair, &mut map)?;
            map.serialize_entry("texts", &self.texts.flips)?;
        } else {
            let pairs = pairs.iter().map(|pair| PairJson { runs, pair });
            map.serialize_entry("pairs", &pairs.collect::<Vec<_>>())?;
        }
        map.serialize_entry("runs", runs)?;
        map.serialize_entry("notices", notices)?;
        map.end()
    }
}

impl Serialize for PairJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let [a, b] = self.pair.places.map(|place| &*self.runs[place].letter);
        map.serialize_entry("a", a)?;
        map.serialize_entry("b", b)?;
        map.serialize_entry("p_holm", &self.pair.p_holm)?;
        figures(self.pair, &mut map)?;
        map.end()
    }
}

/// Writes the overall figures next to those of slices and scorers.
fn figures<M: SerializeMap>(pair: &RunPair, map: &mut M) -> std::result::Result<(), M::Error> {
    let figures = serde_json::to_value(&pair.comparison).map_err(M::Error::custom)?;
    let Value::Object(members) = figures else {
        return Ok(());
    };
    for (name, member) in members {
        match member {
            Value::Object(inner) if name == "whole" || name == "seen" => {
                for (name, figure) in inner {
                    map.serialize_entry(&name, &figure)?;
                }
            }
            member => map.serialize_entry(&name, &member)?,
        }
    }
    map.serialize_entry("flips", &pair.flips)?;
    map.serialize_entry("unpaired", &pair.unpaired)
}
