//! `cargo evaltest judge winrate`.

use std::path::Path;

use clap::Args;
use evaltest::engine::figure::{CI95, Share};
use evaltest::engine::judge::{
    ComparedAnswers, LogprobPreference, OrdersWinRate, PreferenceWinRate, Preferred,
};
use evaltest::engine::report::document::Document;
use evaltest::{Error, Exit, Result};

use super::super::judge;
use super::InputArgs;
use super::{figure, figures};
use crate::console;

/// How often one of two answers wins
///
/// Reads lines `{"first": v, "second": v}`: the verdict on answers A and B when A was shown first, and when B was, each
/// `"A"`, `"B"` or `"tie"` in the original orientation, or null where it could not be read. Two equal verdicts are a
/// win, a loss or a tie; any two different ones are inconsistent, and count half as a tie does.
///
/// Or reads lines `{"preference": 0.7}`: how far A is preferred, from 0 to 1; null is left out.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub(super) struct WinrateArgs {
    #[command(flatten)]
    input_args: InputArgs,

    /// Read lines `{"logprobs": {"m": lp, "M": lp}, "swapped": false}`: the preference is P(M) / (P(m) + P(M)), 1 less
    /// that where `swapped`. A token that is missing or null has the probability 0; without both the line is left out
    #[arg(long)]
    logprobs: bool,
}

/// Joined and wrapped by `--help`.
const NOTES: &str = "\
`--json` prints {\"n\", \"wins\", \"losses\", \"ties\", \"inconsistent\", \"unreadable\", \"win_rate\", \"ci95\", \"position_bias\",
\"first_shown_wins\"} of verdicts in both orders: `n` counts all lines, `win_rate` is (wins + (ties + inconsistent) /
2) / (n - unreadable) with Wilson's interval, `first_shown_wins` are the pairs whose first shown answer won in both
orders, `position_bias` is their share of the inconsistent ones. Of preferences it prints {\"n\", \"win_rate\",
\"standard_error\", \"ci95\"}, and `n` counts those that are known. A share of nothing is null.";

pub(super) fn run(args: &WinrateArgs) -> Result<Exit> {
    let input = &args.input_args.input;
    if args.logprobs {
        let lines: Vec<LogprobPreference> = judge::all(input)?;
        let preferences: Vec<_> = lines.iter().map(|line| line.0).collect();
        return preferred(args, &preferences);
    }
    match compared(input)? {
        WinrateLines::BothOrders(pairs) => {
            let rate = OrdersWinRate::of(&pairs);
            if args.input_args.json {
                console::print_json(&rate)?;
            } else {
                console::print_document(&of_orders(&rate))?;
            }
            Ok(Exit::Passed)
        }
        WinrateLines::Preferences(preferences) => preferred(args, &preferences),
    }
}

type Verdicts = (Option<Preferred>, Option<Preferred>);

/// The lines of a file, all of one kind.
enum WinrateLines {
    BothOrders(Vec<Verdicts>),
    Preferences(Vec<Option<f64>>),
}

fn compared(input: &Path) -> Result<WinrateLines> {
    let (mut pairs, mut preferences) = (Vec::new(), Vec::new());
    judge::each(input, |path, number, line: ComparedAnswers| {
        match line {
            ComparedAnswers::BothOrders(first, second) => pairs.push((first, second)),
            ComparedAnswers::Preference(preference) => preferences.push(preference),
        }
        if pairs.is_empty() || preferences.is_empty() {
            return Ok(());
        }
        let members = line.members();
        let place = format!("{}:{number}", path.display());
        Err(
            Error::usage(format!("the line has {members}, unlike those before it"))
                .at(place)
                .hint("put verdicts in both orders and preferences in files of their own"),
        )
    })?;
    Ok(if preferences.is_empty() {
        WinrateLines::BothOrders(pairs)
    } else {
        WinrateLines::Preferences(preferences)
    })
}

fn preferred(args: &WinrateArgs, preferences: &[Option<f64>]) -> Result<Exit> {
    let rate = PreferenceWinRate::of(preferences);
    if args.input_args.json {
        console::print_json(&rate)?;
    } else {
        let mut text = win_rate(rate.win_rate, rate.ci95, rate.n, "preferences");
        match rate.excluded {
            0 => {}
            1 => text.paragraph("1 line without a preference is left out"),
            many => text.paragraph(format!("{many} lines without a preference are left out")),
        }
        console::print_document(&text)?;
    }
    Ok(Exit::Passed)
}

fn win_rate(rate: Option<f64>, ci95: Option<[f64; 2]>, n: u64, noun: &str) -> Document {
    let (rate, ci95) = (figure(rate), figures(ci95));
    Document::new(format!("win rate {rate}, {CI95} {ci95}, of {n} {noun}"))
}

fn of_orders(rate: &OrdersWinRate) -> Document {
    let read = rate.n - rate.unreadable;
    let mut text = win_rate(rate.win_rate, rate.ci95, read, "pairs");
    text.paragraph(format!(
        "{} wins, {} losses, {} ties, {} inconsistent (the verdict changes with the order; half a win)",
        rate.wins, rate.losses, rate.ties, rate.inconsistent
    ));
    if let Some(bias) = rate.position_bias {
        let (first, all, bias) = (rate.first_shown_wins, rate.inconsistent, Share(bias));
        text.paragraph(format!(
            "position bias: the first shown won both times in {first} of {all} inconsistent pairs ({bias})"
        ));
    }
    if rate.unreadable > 0 {
        text.paragraph(format!(
            "{} of {} unreadable, left out",
            rate.unreadable, rate.n
        ));
    }
    text
}
