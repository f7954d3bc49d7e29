//! `cargo evaltest winrate`.

use std::path::PathBuf;

use clap::Args;
use evaltest::engine::flow::FlowStage;
use evaltest::engine::report::document::{Block, list};
use evaltest::engine::report::{corrected_lines, pair_lines};
use evaltest::engine::run::rescore::{Rescore, Versus, foresee, rescore};
use evaltest::engine::system::project::display;
use evaltest::engine::text::{clean, shell_word};
use evaltest::scorer::Scorer;
use evaltest::{Error, Exit, Result};

use super::flow::{self, FlowArgs};
use super::judge;
use super::rescore::foreseen_text;
use crate::console;
use crate::runs::{open_run, read_run};

/// Ask a judge which of two runs, or of two files of items, is better
///
/// With FILE and `--reference`, compares the items of FILE with real ones: the stage `winrate` of `flow --items FILE` alone,
/// in a folder of its own, with its reports.
///
/// With one FILE instead of two runs, computes the win rate of stored verdicts; no judge is called. FILE has JSON lines
/// `{"first": v, "second": v}`: the verdict when A was shown first, and when B was, each `"A"`, `"B"` or `"tie"`, or null
/// if it could not be read. Or it has lines `{"preference": 0.7}`: how strongly A is preferred, from 0 to 1, or null.
///
/// For two runs, the judge sees each answer of A next to that of B to the same question, twice: in both orders. The same
/// verdict in both orders is a win, a loss or a tie; two different ones are inconsistent and count half, as a tie does.
/// Questions that only one run answered are skipped.
///
/// The verdicts are written as a run: the answers of A, scored by `pairwise` against B. No request is repeated: replies of
/// an earlier or killed command are read from its run next to A. The budget is that of SPEC if it has one, else that of A.
/// The exit code is 0 whoever wins, and 3 if no reply could be read.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(crate) struct RunsWinrateArgs {
    /// The run whose wins are counted: a run directory, or an eval's name for its last run. Alone: a file of verdicts, or
    /// with `--reference` of items
    #[arg(value_name = "A|FILE")]
    a: PathBuf,

    /// The run to compare with
    #[arg(requires = "judge", group = "other")]
    b: Option<PathBuf>,

    /// A YAML file with `agent` and `criteria`, as for the scorer `pairwise`, or a spec with such a scorer (its
    /// `against` is ignored). For items: YAML as of `flow --judge`, or `{agent: JUDGE, criteria: …}`
    #[arg(long, value_name = "SPEC|YAML", requires = "other")]
    judge: Option<PathBuf>,

    /// Real items to compare those of FILE with: a JSON, JSONL, CSV or parquet file, or a dataset of the Hub
    #[arg(long, value_name = "PATH|hf://…", requires = "judge", group = "other")]
    reference: Option<PathBuf>,

    /// FILE has lines `{"logprobs": {"m": lp, "M": lp}, "swapped": false}`: the preference is P(M) / (P(m) + P(M)), or 1
    /// minus that if `swapped`. A missing or null token has the probability 0; a line without both is skipped
    #[arg(long, conflicts_with = "other")]
    logprobs: bool,

    /// Compare only N items, sampled at random
    #[arg(long, value_name = "N", requires = "other")]
    pairs: Option<u64>,

    /// Random seed
    #[arg(long, value_name = "S", requires = "other")]
    seed: Option<u64>,

    /// The folder of run directories; default: that of A
    #[arg(long, value_name = "DIR", requires = "other")]
    output_root: Option<PathBuf>,

    /// Print the number of requests and their maximum cost without calling the judge
    #[arg(long, requires = "other")]
    dry_run: bool,

    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Joined and wrapped by `--help`.
const NOTES: &str = "\
`--json` of two runs prints {\"run_dir\", \"pairs\": {\"n\", \"items\", \"wins\", \"losses\", \"ties\", \"inconsistent\", \"unreadable\",
\"win_rate\", \"ci95\", \"standing\", \"position_bias\", \"first_shown_wins\", \"length_coefficient\", \"length_ci95\"}, \"calibration\"}:
`win_rate` is (wins + (ties + inconsistent) / 2) / (n - unreadable), `ci95` treats the epochs of an item as a cluster,
and `standing` is `above` or `below` if the interval excludes one half, else `not_told_apart`. `pairs` is null if no reply
could be read. `length_coefficient` estimates the gain of the rate if the answer of A is much longer than that of B; the
rate is not corrected for it. `calibration` has the `status` of the judge compared with people.

`--json` of a file prints {\"n\", \"wins\", \"losses\", \"ties\", \"inconsistent\", \"unreadable\", \"win_rate\", \"ci95\",
\"position_bias\", \"first_shown_wins\"} for verdicts: `n` counts all lines, `ci95` is Wilson's interval,
`first_shown_wins` are the pairs whose first shown answer won in both orders, `position_bias` is their share of the
inconsistent ones. For preferences it prints {\"n\", \"win_rate\", \"standard_error\", \"ci95\"}; `n` counts the
known ones. A share of zero items is null.";

pub(crate) fn run(args: &RunsWinrateArgs) -> Result<Exit> {
    if let (Some(reference), Some(judge)) = (&args.reference, &args.judge) {
        return flow::run(&FlowArgs {
            items: Some(args.a.clone()),
            only: Some(FlowStage::Winrate),
            judge: Some(judge.to_string_lossy().into_owned()),
            reference: Some(reference.clone()),
            pairs: args.pairs,
            seed: args.seed,
            dry_run: args.dry_run,
            output_root: args.output_root.clone(),
            json: args.json,
            ..FlowArgs::default()
        });
    }
    let (Some(b), Some(spec)) = (&args.b, &args.judge) else {
        return judge::winrate_of_file(&args.a, args.json, args.logprobs);
    };
    let (a, b) = (read_run(&args.a)?, open_run(b)?);
    let versus = Versus {
        spec: spec.clone(),
        against: b,
        pairs: args.pairs,
        seed: args.seed,
    };
    let compared = versus.scorer()?;
    let name = compared.scorer.name().to_owned();
    let how = Rescore {
        scorers: vec![compared.scorer],
        specs: vec![compared.spec],
        extract: None,
        budget: compared.budget,
        output_root: args.output_root.clone(),
    };
    let foreseen = foresee(&a, &how)?.unwrap_or_default();
    let notices = how.scorers.iter().flat_map(Scorer::notices);
    for notice in compared.notice.into_iter().chain(notices) {
        console::note(&clean(&notice));
    }
    console::note(&clean(&foreseen_text(
        &foreseen,
        "the judge",
        ", two for each pair",
    )));
    if args.dry_run {
        if args.json {
            console::print_json(&foreseen)?;
        }
        return Ok(Exit::Passed);
    }
    let run = rescore(&a, how)?;
    for notice in &run.notices {
        console::note(&clean(notice));
    }
    let judge = run.summary.judge.as_ref();
    let judge = judge.and_then(|judge| judge.scorers.get(&name));
    let pairs = judge.and_then(|judge| judge.pairs.as_ref());
    let calibration = judge.and_then(|judge| judge.calibration.as_ref());
    if args.json {
        console::print_json(&serde_json::json!({
            "run_dir": run.dir,
            "pairs": pairs,
            "calibration": calibration,
        }))?;
    }
    let Some(pairs) = pairs else {
        let unread = judge.map_or(0, |judge| judge.unread);
        let dir = shell_word(&display(&run.dir));
        return Err(Error::infrastructure(format!(
            "no pair has a verdict: {unread} could not be read"
        ))
        .hint(format!(
            "see what the judge said: `cargo evaltest show {dir}`"
        )));
    };
    if !args.json {
        let mut blocks: Vec<_> = pair_lines(pairs)
            .into_iter()
            .map(Block::paragraph)
            .collect();
        // The interval above ignores the judge's errors.
        let corrected = list(corrected_lines(calibration));
        blocks.extend(calibration.map(|calibration| {
            Block::group(format!("the judge is {}", calibration.summary()), corrected)
        }));
        blocks.push(Block::paragraph(format!(
            "written to {}",
            display(&run.dir)
        )));
        console::print_blocks(&blocks)?;
    }
    Ok(Exit::Passed)
}
