//! The plan as text.

use evaltest::engine::figure::{Points, Seconds, Share, Usd, counted};
use evaltest::engine::report::document::{Document, Table};
use evaltest::engine::system::project::display;

use super::super::plan;
use super::basis::Basis;
use super::rows::{Expense, PlanRow, PlanRows};
use super::{PastRun, Wish, typed_points};

pub(super) fn text(run: &PastRun, basis: &Basis, wish: &Wish, rows: &PlanRows) -> Document {
    let mut text = heading(run, basis);
    text.section(format!(
        "to detect a drop of {} points with {} % power at alpha {}:",
        Points(wish.drop).unsigned(),
        typed_points(wish.power),
        wish.alpha
    ));
    let prices = Prices::of(run);
    let mut table = Table::of_numbers(prices.titles());
    for row in &rows.all {
        table.row(prices.line(row));
    }
    text.table(table);
    text.paragraph(
        "`detects`: the smallest drop that one run detects, in points; `total`: answers of this run and its baseline \
         runs",
    );
    conclusion(run, wish, rows, &mut text);
    text
}

fn heading(run: &PastRun, basis: &Basis) -> Document {
    let mut text = Document::new(format!(
        "{}: {}, accuracy {} in run {}",
        run.manifest.eval,
        counted(basis.samples, "sample"),
        Share(run.accuracy()),
        display(run.dir.path())
    ));
    text.paragraph(format!("flip rate: {}", basis.text(run)));
    for note in basis.notes(run) {
        text.note(note);
    }
    if let Some(measure) = plan::measure(run, basis) {
        text.paragraph(format!("measure it with {measure}"));
    }
    let price = &run.evidence.price;
    let time = price.latency_s.map(|latency| {
        let in_flight = price.concurrency;
        format!("{} with {in_flight} in parallel, ", Seconds(latency))
    });
    let cost = match (price.cost_usd, price.tokens) {
        (Some(cost), _) => Usd(cost).to_string(),
        (None, Some(tokens)) => format!("{tokens:.0} tokens, no price set"),
        (None, None) => "no price set".to_owned(),
    };
    text.paragraph(format!("per answer: {}{cost}", time.unwrap_or_default()));
    text
}

/// Which costs are known.
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

    fn titles(self) -> Vec<&'static str> {
        let mut titles = vec!["samples", "epochs", "baseline runs", "detects"];
        let [price, total_price] = match self {
            Self::Dollars => [Some("cost"), Some("total cost")],
            Self::Tokens => [Some("tokens"), Some("total tokens")],
            Self::Unknown => [None, None],
        };
        titles.extend(["answers", "time"].into_iter().chain(price));
        titles.extend(["total", "total time"].into_iter().chain(total_price));
        titles
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
                    .map_or_else(|| "-".to_owned(), |time| Seconds(time).to_string()),
            );
            line.extend(self.price(expense));
        }
        if row.is_cheapest {
            line.push("<- cheapest with these samples".to_owned());
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

fn conclusion(run: &PastRun, wish: &Wish, rows: &PlanRows, text: &mut Document) {
    let steps = plan::of(run, wish, rows);
    if !steps.is_empty() {
        text.section("next:");
        text.list(steps);
        return;
    }
    let needed = rows.needed.each_ref().map(|needed| {
        let samples = needed.samples.map(|samples| samples.to_string());
        samples.unwrap_or_else(|| "more than ten million".to_owned())
    });
    let [single, several] = needed;
    text.paragraph(format!(
        "{} too few: you need {single} with one epoch and one baseline run, or {several} with 5 epochs and 5 baseline runs",
        match run.manifest.samples {
            1 => "1 sample is".to_owned(),
            samples => format!("{samples} samples are"),
        }
    ));
}
