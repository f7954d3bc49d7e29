//! What was asked of whom, and what it cost.

use crate::figure::{Seconds, Usd, or_dash};
use crate::flow::figures::{FlowFigures, StageCost};
use crate::report::document::Align::{Left, Right};
use crate::report::document::{Document, Line, Table};

/// What was asked of whom, and what it cost.
pub(super) fn basics(figures: &FlowFigures, text: &mut Document) {
    let basics = &figures.basics;
    let mut table = Table::new(&[("what", Left), ("is", Left)]);
    let plain = |words: &str| Line::from(words);
    table.row([plain("flow"), plain(&basics.run_id)]);
    let started = basics.started_at.split('.').next().unwrap_or_default();
    let started = started.trim_end_matches('Z').replace('T', " ");
    table.row([plain("started"), plain(&format!("{started} UTC"))]);
    table.row([plain("generator"), plain(&basics.generator)]);
    table.row([plain("judge"), plain(&basics.judge)]);
    let reference = basics.reference.as_deref();
    table.row([
        plain("real items"),
        plain(reference.unwrap_or("none were named")),
    ]);
    table.row([plain("items asked for"), plain(&basics.count.to_string())]);
    if let Some(generated) = figures.generation.found() {
        table.row([
            plain("items accepted"),
            plain(&generated.accepted.to_string()),
        ]);
    }
    if let Some(seed) = basics.seed {
        table.row([plain("seed"), plain(&seed.to_string())]);
    }
    table.row([
        plain("written by"),
        plain(concat!("evaltest ", env!("CARGO_PKG_VERSION"))),
    ]);
    text.table(table);
    if basics.judges_itself {
        text.note(
            "The judge is the generator itself. Models favour what they wrote themselves: its points and wins are no \
             independent opinion.",
        );
    }
    for kinship in basics.kinship.iter().filter(|_| !basics.judges_itself) {
        text.note(Line::default().marked(kinship));
    }
    costs(figures, text);
}

/// What each stage took.
fn costs(figures: &FlowFigures, text: &mut Document) {
    let mut table = Table::new(&[
        ("stage", Left),
        ("requests", Right),
        ("tokens", Right),
        ("cost", Right),
        ("time", Right),
    ]);
    for cost in &figures.costs {
        table.row([
            cost.stage.as_str().to_owned(),
            cost.requests.to_string(),
            or_dash(cost.tokens.map(|tokens| tokens.to_string())),
            or_dash(cost.cost_usd.map(Usd)),
            or_dash(cost.duration_s.map(Seconds)),
        ]);
    }
    if figures.costs.len() > 1 {
        let sum = |of: &dyn Fn(&StageCost) -> Option<f64>| {
            let known: Vec<f64> = figures.costs.iter().filter_map(of).collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>())
        };
        let tokens: Vec<u64> = figures
            .costs
            .iter()
            .filter_map(|cost| cost.tokens)
            .collect();
        let requests: u64 = figures.costs.iter().map(|cost| cost.requests).sum();
        table.row([
            "all".to_owned(),
            requests.to_string(),
            or_dash((!tokens.is_empty()).then(|| tokens.iter().sum::<u64>().to_string())),
            or_dash(sum(&|cost| cost.cost_usd).map(Usd)),
            or_dash(sum(&|cost| cost.duration_s).map(Seconds)),
        ]);
    }
    if !table.rows.is_empty() {
        text.part("Cost and time");
        text.table(table);
    }
}
