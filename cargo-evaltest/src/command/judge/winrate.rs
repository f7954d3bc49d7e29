//! `cargo evaltest winrate FILE`, formerly `judge winrate`.

use std::path::Path;

use clap::Args;
use evaltest::engine::figure::{CI95, Share, counted};
use evaltest::engine::judge::{
    ComparedAnswers, LogprobPreference, OrdersWinRate, PreferenceWinRate, Preferred,
};
use evaltest::engine::report::document::Document;
use evaltest::{Error, Exit, Result};

use super::super::judge;
use super::InputArgs;
use super::{figure, figures};
use crate::console;

/// Compute the win rate of stored verdicts: `winrate FILE`
#[derive(Debug, Args)]
#[command(hide = true)]
pub(super) struct WinrateArgs {
    #[command(flatten)]
    pub(super) input_args: InputArgs,

    /// Read lines `{"logprobs": {"m": lp, "M": lp}, "swapped": false}`: the preference is P(M) / (P(m) + P(M)), or 1
    /// minus that if `swapped`. A missing or null token has the probability 0; a line without both is skipped
    #[arg(long)]
    pub(super) logprobs: bool,
}

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
            1 => text.paragraph("1 line without a preference is skipped"),
            many => text.paragraph(format!("{many} lines without a preference are skipped")),
        }
        console::print_document(&text)?;
    }
    Ok(Exit::Passed)
}

fn win_rate(rate: Option<f64>, ci95: Option<[f64; 2]>, n: u64, noun: &str) -> Document {
    // The interval of a small sample may exceed what is possible.
    let ci95 = ci95.map(|ends| ends.map(|end| end.clamp(0.0, 1.0)));
    let (rate, ci95) = (figure(rate), figures(ci95));
    Document::new(format!("win rate {rate}, {CI95} {ci95}, of {n} {noun}"))
}

fn of_orders(rate: &OrdersWinRate) -> Document {
    let read = rate.n - rate.unreadable;
    let mut text = win_rate(rate.win_rate, rate.ci95, read, "pairs");
    text.paragraph(format!(
        "{}, {}, {}, {} inconsistent (the verdict changes with the order); ties and inconsistent pairs count half",
        counted(rate.wins, "win"),
        counted(rate.losses, "loss"),
        counted(rate.ties, "tie"),
        rate.inconsistent
    ));
    if let Some(bias) = rate.position_bias {
        let (first, all, bias) = (rate.first_shown_wins, rate.inconsistent, Share(bias));
        text.paragraph(format!(
            "position bias: the first shown won both times in {first} of {all} inconsistent pairs ({bias})"
        ));
    }
    if rate.unreadable > 0 {
        let were = match rate.unreadable {
            1 => "was unreadable and is skipped",
            _ => "were unreadable and are skipped",
        };
        let of = counted(rate.n, "pair");
        text.paragraph(format!("{} of {of} {were}", rate.unreadable));
    }
    text
}
