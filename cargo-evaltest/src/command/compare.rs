//! `cargo evaltest compare`.

use std::path::PathBuf;

use clap::Args;
use evaltest::engine::report::compare::texts::{FlipTexts, WantedFlip, flip_texts};
use evaltest::engine::report::compare::{ComparedRuns, RunPair, compare};
use evaltest::engine::report::terminal::compare::{ShownFlips, write};
use evaltest::engine::store::RunDir;
use evaltest::{Error, Exit, Result};
use serde_json::{Map, Value};

use crate::console;
use crate::run_ids::typed_folder;
use crate::runs::compared_runs;

/// Compare two runs or more: by how much they differ, how sure that is, and who flipped
///
/// Of two runs: the paired difference of B less A with its 95 % interval and p, as the gate `no_regression` has them
/// where A is the baseline; what flipped, with both answers; the same by slice and by scorer; errors, tokens, cost and
/// latency of both. Whether B is worse or better is said by the interval, and never by the difference alone. Of more
/// runs: a table of all pairs, with p's adjusted by Holm.
///
/// Without a name the last run is compared with the one before of the same eval; with one name that run with the last one
/// of its eval. Runs that were judged otherwise are refused; `rescore` has both judged alike. The exit code is 0 whatever
/// comes of it.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(crate) struct CompareArgs {
    /// Run directories, parts of their names, or names of evals, whose last runs are meant; the first is A
    #[arg(value_name = "RUN_DIR", value_parser = typed_folder())]
    runs: Vec<PathBuf>,

    /// So many samples that flipped are shown with their texts, each way; all are named by `--json`
    #[arg(long, value_name = "N", default_value_t = 10)]
    flips: usize,

    /// Show questions and answers of an eval whose snapshots are masked, too
    #[arg(long)]
    show_texts: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Joined and wrapped by `--help`.
const NOTES: &str = "\
`--json` prints {\"n\", \"verdict\", \"difference\", \"difference_ci95\", \"p\", \"p_two_sided\", \"accuracy_a\",
\"accuracy_b\", \"worse\", \"better\", \"groups\", \"smallest_drop\", \"assumption\", \"flips\": {\"worse\": [ids], \"better\":
[ids]}, \"texts\", \"slices\", \"scorers\", \"unpaired\", \"judge\", \"runs\", \"notices\"}: differences are fractions, B less
A, over the samples that both runs have a verdict for. `p` is that of `no_regression`, on the side of a loss; `p_two_sided`
is twice the smaller of the two sides. Of more than two runs it prints {\"runs\", \"pairs\", \"notices\"}, where each pair has
the same figures and \"a\", \"b\" and \"p_holm\".";

pub(crate) fn run(args: &CompareArgs) -> Result<Exit> {
    let dirs = compared_runs(&args.runs)?;
    let compared = compare(&dirs)?;
    let is_masked = compared.runs.iter().any(|run| run.masked) && !args.show_texts;
    let texts = if is_masked {
        Vec::new()
    } else {
        texts(&dirs, &compared.pairs, args.flips)?
    };
    if args.json {
        console::print_json(&json(&compared, &texts)?)?;
        return Ok(Exit::Passed);
    }
    let shown = if is_masked {
        ShownFlips::Masked
    } else {
        ShownFlips::Texts(&texts)
    };
    console::print(|out| write(&compared, shown, out))?;
    Ok(Exit::Passed)
}

/// The texts of the first samples that flipped, of two runs.
fn texts(dirs: &[RunDir], pairs: &[RunPair], most: usize) -> Result<Vec<FlipTexts>> {
    let ([a, b], [pair]) = (dirs, pairs) else {
        return Ok(Vec::new());
    };
    let flips = &pair.comparison.flips;
    let first = |ids: &'_ [String]| ids.len().min(most);
    let worse = flips.worse[..first(&flips.worse)].iter();
    let better = flips.better[..first(&flips.better)].iter();
    let worse = worse.map(|id| (id.as_str(), true));
    let wanted: Vec<WantedFlip<'_>> = worse.chain(better.map(|id| (id.as_str(), false))).collect();
    flip_texts([a, b], &wanted)
}

fn json(compared: &ComparedRuns, texts: &[FlipTexts]) -> Result<Value> {
    let letter = |place: usize| Value::from(compared.runs[place].letter.as_str());
    let mut value = Map::new();
    if let [pair] = &*compared.pairs {
        value = figures(pair)?;
        value.insert("texts".to_owned(), told(texts)?);
    } else {
        let pairs = compared.pairs.iter().map(|pair| {
            let mut value = Map::new();
            let [a, b] = pair.places.map(letter);
            value.insert("a".to_owned(), a);
            value.insert("b".to_owned(), b);
            value.insert("p_holm".to_owned(), told(pair.p_holm)?);
            value.extend(figures(pair)?);
            Ok(Value::Object(value))
        });
        let pairs = pairs.collect::<Result<Vec<_>>>()?;
        value.insert("pairs".to_owned(), pairs.into());
    }
    value.insert("runs".to_owned(), told(&compared.runs)?);
    value.insert("notices".to_owned(), told(&compared.notices)?);
    Ok(Value::Object(value))
}

/// The figures over all samples stand beside those of slices and scorers.
fn figures(pair: &RunPair) -> Result<Map<String, Value>> {
    let mut value = Map::new();
    let Value::Object(members) = told(&pair.comparison)? else {
        return Ok(value);
    };
    for (name, member) in members {
        match member {
            Value::Object(inner) if name == "whole" || name == "seen" => value.extend(inner),
            member => drop(value.insert(name, member)),
        }
    }
    Ok(value)
}

fn told(value: impl serde::Serialize) -> Result<Value> {
    serde_json::to_value(value)
        .map_err(|error| Error::infrastructure(format!("the comparison cannot be shown: {error}")))
}
