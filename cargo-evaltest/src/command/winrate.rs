//! `cargo evaltest winrate`.

use std::path::PathBuf;

use clap::Args;
use evaltest::engine::report::document::{Block, list};
use evaltest::engine::report::{corrected_lines, pair_lines};
use evaltest::engine::run::rescore::{Rescore, Versus, foresee, rescore};
use evaltest::engine::system::project::display;
use evaltest::engine::text::{clean, shell_word};
use evaltest::scorer::Scorer;
use evaltest::{Error, Exit, Result};

use super::rescore::foreseen_text;
use crate::console;
use crate::runs::{open_run, read_run};

/// Ask a judge which of two runs answers better
///
/// Each answer of A is shown to the judge beside that of B to the same question, twice: once as the first of the two, and
/// once as the second. The same verdict in both orders is a win, a loss or a tie; two that differ are inconsistent, and
/// count half as a tie does. An item that one of the two runs has no answer to is not compared.
///
/// What the judge said is written as a run of its own: the answers of A, scored by `pairwise` against B. Nothing is asked
/// twice: what the judge said before, to a command that was killed or to one that came to its end, is taken from its run
/// beside A. The budget of A holds, or that of SPEC where it is a spec that has one. The exit code is 0 whoever wins, and 3
/// where no reply could be read.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(crate) struct RunsWinrateArgs {
    /// The run directory whose wins are counted, or the name of an eval, whose last run is meant
    a: PathBuf,

    /// The run that it is compared with
    b: PathBuf,

    /// A YAML file with `agent` and `criteria`, as the scorer `pairwise` has them, or a spec with such a scorer, whose
    /// `against` does not count
    #[arg(long, value_name = "SPEC")]
    judge: PathBuf,

    /// How many items are compared, drawn by lot; all by default
    #[arg(long, value_name = "N")]
    pairs: Option<u64>,

    /// What the lot is drawn with
    #[arg(long, value_name = "S")]
    seed: Option<u64>,

    /// The folder of run directories; that of A when left out
    #[arg(long, value_name = "DIR")]
    output_root: Option<PathBuf>,

    /// Say what the judge will be asked and what it costs at most, and ask nobody
    #[arg(long)]
    dry_run: bool,

    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

/// Joined and wrapped by `--help`.
const NOTES: &str = "\
`--json` prints {\"run_dir\", \"pairs\": {\"n\", \"items\", \"wins\", \"losses\", \"ties\", \"inconsistent\", \"unreadable\",
\"win_rate\", \"ci95\", \"standing\", \"position_bias\", \"first_shown_wins\", \"length_coefficient\", \"length_ci95\"}, \"calibration\"}:
`win_rate` is (wins + (ties + inconsistent) / 2) / (n - unreadable), `ci95` has the epochs of an item as what hangs
together, and `standing` says of the interval alone whether it lies `above` or `below` one half or is `not_told_apart`.
`pairs` is null where no reply could be read. `length_coefficient` is what the rate gains where the answer of A is much
longer than that of B; the rate is not corrected for it. `calibration` has the `status` of the judge beside people.";

pub(crate) fn run(args: &RunsWinrateArgs) -> Result<Exit> {
    let (a, b) = (read_run(&args.a)?, open_run(&args.b)?);
    let versus = Versus {
        spec: args.judge.clone(),
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
