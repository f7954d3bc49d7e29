//! The plan for people.

use std::io::{self, Write};

use evaltest::engine::figure::{Points, Seconds, Share, Usd};
use evaltest::engine::report::render::terminal::table;
use evaltest::engine::system::project::shown;
use evaltest::engine::text::clean;

use super::basis::Basis;
use super::rows::{Expense, PlanRow, PlanRows};
use super::{PastRun, Wish, steps, typed_points};

pub(super) fn write(
    run: &PastRun,
    basis: &Basis,
    wish: &Wish,
    rows: &PlanRows,
    out: &mut dyn Write,
) -> io::Result<()> {
    heading(run, basis, out)?;
    writeln!(
        out,
        "\nwhat sees a drop of {} points with {} % power at alpha {}:",
        Points(wish.drop).unsigned(),
        typed_points(wish.power),
        wish.alpha
    )?;
    let prices = Prices::of(run);
    let mut lines = vec![prices.titles()];
    lines.extend(rows.all.iter().map(|row| prices.line(row)));
    table::write("  ", &lines, out)?;
    writeln!(
        out,
        "  `sees`: the smallest drop that is seen, in points; `in all`: the runs of the baseline and one run"
    )?;
    conclusion(run, wish, rows, out)
}

fn heading(run: &PastRun, basis: &Basis, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{}: {} samples, accuracy {} in run {}",
        clean(&run.manifest.eval),
        basis.samples,
        Share(run.accuracy()),
        shown(run.dir.path())
    )?;
    writeln!(out, "  flips: {}", basis.told(run))?;
    for note in basis.notes(run) {
        writeln!(out, "  note: {note}")?;
    }
    if let Some(measure) = steps::measure(run, basis) {
        writeln!(out, "  to measure it: {measure}")?;
    }
    let evidence = &run.evidence;
    let mut answer = Vec::new();
    if let Some(latency) = evidence.price.latency_s {
        let latency = Seconds(latency);
        answer.push(format!(
            "{latency} with {} in flight",
            evidence.price.concurrency
        ));
    }
    match (evidence.price.cost_usd, evidence.price.tokens) {
        (Some(cost), _) => answer.push(Usd(cost).to_string()),
        (None, Some(tokens)) => answer.push(format!("{tokens:.0} tokens, no price told")),
        (None, None) => answer.push("no price told".to_owned()),
    }
    writeln!(out, "  an answer: {}", answer.join(", "))
}

/// Which of the prices are known.
#[derive(Clone, Copy)]
enum Prices {
    Dollars,
    Tokens,
    Unknown,
}

impl Prices {
    fn of(run: &PastRun) -> Self {
        match (run.evidence.price.cost_usd, run.evidence.price.tokens) {
            (Some(_), _) => Self::Dollars,
            (None, Some(_)) => Self::Tokens,
            (None, None) => Self::Unknown,
        }
    }

    fn titles(self) -> Vec<String> {
        let mut titles = vec!["samples", "epochs", "baseline runs", "sees"];
        let price = match self {
            Self::Dollars => Some("cost"),
            Self::Tokens => Some("tokens"),
            Self::Unknown => None,
        };
        titles.extend(["a run: answers", "time"].into_iter().chain(price));
        titles.extend(["in all: answers", "time"].into_iter().chain(price));
        titles.into_iter().map(str::to_owned).collect()
    }

    fn line(self, row: &PlanRow) -> Vec<String> {
        let mut line = vec![
            row.samples.to_string(),
            row.epochs.to_string(),
            row.baseline_runs.to_string(),
            row.smallest_drop
                .map_or_else(|| "nothing".to_owned(), |drop| Points(drop).unsigned()),
        ];
        for expense in [&row.run, &row.in_all] {
            line.push(expense.answers.to_string());
            line.push(
                expense
                    .time_s
                    .map_or_else(|| "?".to_owned(), |time| Seconds(time).to_string()),
            );
            line.extend(self.price(expense));
        }
        if row.is_cheapest {
            line.push("<- cheapest".to_owned());
        }
        line
    }

    fn price(self, expense: &Expense) -> Option<String> {
        match self {
            Self::Dollars => expense.cost_usd.map(|usd| Usd(usd).to_string()),
            Self::Tokens => expense.tokens.map(|tokens| format!("{tokens:.0}")),
            Self::Unknown => None,
        }
    }
}

fn conclusion(run: &PastRun, wish: &Wish, rows: &PlanRows, out: &mut dyn Write) -> io::Result<()> {
    let steps = steps::of(run, wish, rows);
    if !steps.is_empty() {
        writeln!(out, "next:")?;
        return steps.iter().try_for_each(|step| writeln!(out, "  {step}"));
    }
    let needed = rows.needed.each_ref().map(|needed| {
        needed.samples.map_or_else(
            || "more than ten million".to_owned(),
            |samples| samples.to_string(),
        )
    });
    let [single, several] = needed;
    writeln!(
        out,
        "none of these on the samples that are there: it takes {single} samples with one answer to each before and now, or \
         {several} with 5 epochs and 5 runs of the baseline"
    )
}
