//! The figures of each scorer.

mod extraction;
mod labels;

use super::slices::in_order;
use super::source::{Source, number};
use super::{accuracy, items};
use crate::figure::{CI95, Interval, Scale, Share, ci95, or_dash, part_of};
use crate::report::document::{Align, Block, IntervalScale, Intervals, Table};
use crate::verdict::summary::{ScorerSummary, Subject, Summary};

pub(super) use extraction::extraction;
pub(super) use labels::labels;

/// Maximum number of disagreements listed.
const LISTED: usize = 20;

/// The accuracy of each scorer, the deciding one first; in full with means, by slice, and with disagreements.
pub(super) fn scorers(source: &Source<'_>) -> Vec<Block> {
    let summary = source.summary;
    if source.is_brief() {
        return brief(source).into_iter().collect();
    }
    let mut blocks = Vec::new();
    let [share, good] = words(summary);
    if rated(source).len() > 1 {
        let rows = rated(source).into_iter().map(|(name, of)| {
            let note = format!("{} of {}", of.correct, of.scored);
            accuracy::row(
                title(name, source),
                of.accuracy,
                of.accuracy_bounds,
                of.accuracy_ci95,
                note,
            )
        });
        blocks.push(Block::section("Scorers"));
        blocks.push(Block::Intervals(Intervals {
            caption: String::new(),
            heads: ["", &format!("{share}, {CI95}"), good].map(str::to_owned),
            scale: IntervalScale::SHARES,
            rows: rows.collect(),
        }));
        by_slice(source, &mut blocks);
        disagreements(source, &mut blocks);
    }
    means(source, &mut blocks);
    blocks
}

fn in_rank<'a>(source: &Source<'a>) -> Vec<(&'a String, &'a ScorerSummary)> {
    let mut scorers: Vec<_> = source.summary.scorers.iter().collect();
    scorers.sort_by_key(|(name, _)| !source.decides(name));
    scorers
}

/// Those with a verdict on each answer: one that compares pairs does not say which answers are correct.
fn rated<'a>(source: &Source<'a>) -> Vec<(&'a String, &'a ScorerSummary)> {
    let scorers = in_rank(source).into_iter();
    scorers
        .filter(|(name, _)| !source.summary.judges_pairs(name))
        .collect()
}

fn title(name: &str, source: &Source<'_>) -> String {
    let decides = if source.decides(name) {
        " (decides)"
    } else {
        ""
    };
    let uncalibrated = if source.summary.is_uncalibrated(name) {
        ", uncalibrated"
    } else {
        ""
    };
    format!("{name}{decides}{uncalibrated}")
}

/// The words for the share of each scorer, one of which may judge pairs and another one answers.
fn words(summary: &Summary) -> [&'static str; 2] {
    if summary.judges_items {
        [Subject::Items.share(), Subject::Items.good()]
    } else {
        [Subject::Answers.share(), Subject::Answers.good()]
    }
}

fn brief(source: &Source<'_>) -> Option<Block> {
    let [share, good] = words(source.summary);
    let mut table = Table::of_numbers(["scorer", good, share, ci95!(), "mean", ""]);
    let scorers = rated(source);
    for (name, scorer) in &scorers {
        let interval = scorer.accuracy_ci95.filter(|_| scorer.errors == 0);
        let mean = scorer.means.get("value");
        let display = accuracy::display(scorer.accuracy, scorer.accuracy_bounds);
        table.row([
            title(name, source),
            format!("{} of {}", scorer.correct, scorer.scored),
            display.unwrap_or("-".to_owned()),
            or_dash(interval.map(|ci95| Interval(ci95.map(Share)))),
            or_dash(mean.map(|mean| Scale(*mean, 3))),
            match scorer.errors {
                0 => String::new(),
                errors => format!("{errors} not judged"),
            },
        ]);
    }
    table.block().filter(|_| scorers.len() > 1)
}

/// The accuracy of each scorer in each slice.
fn by_slice(source: &Source<'_>, blocks: &mut Vec<Block>) {
    let mut names: Vec<_> = rated(source).into_iter().map(|(name, _)| name).collect();
    names.sort();
    for (dimension, values) in source.summary.dataset_slices() {
        let heads = std::iter::once(dimension).chain(names.iter().copied());
        let mut table = Table::of_numbers(heads.map(String::as_str));
        for (value, group) in in_order(values) {
            let share = |name: &String| {
                let scorer = group.scorers.get(name);
                let display =
                    scorer.and_then(|it| accuracy::display(it.accuracy, it.accuracy_bounds));
                display.unwrap_or("-".to_owned())
            };
            let cells = names.iter().copied().map(share);
            table.row(std::iter::once(value.clone()).chain(cells));
        }
        blocks.push(Block::Heading(3, format!("Scorers by {dimension}")));
        blocks.push(Block::Table(table));
    }
}

/// Samples on which another scorer contradicts the deciding one.
fn disagreements(source: &Source<'_>, blocks: &mut Vec<Block>) {
    let Some((_, figures)) = source.run else {
        return;
    };
    let nouns = format!("{}s", source.summary.subject().noun());
    let mut table = Table::new(&[
        ("deciding scorer", Align::Left),
        ("other scorer", Align::Left),
        (&*nouns, Align::Left),
        ("samples", Align::Left),
    ]);
    let found = |accepts: bool| if accepts { "accepts" } else { "rejects" };
    let groups = figures.failures.disagreements.iter();
    let groups = groups.filter(|group| {
        let both = group.scorer.iter().chain([&group.other]);
        !both
            .into_iter()
            .any(|name| source.summary.judges_pairs(name))
    });
    for group in groups.take(LISTED) {
        let decides = group.scorer.as_deref().unwrap_or("-");
        table.row([
            format!("{decides} {}", found(group.accepted)).into(),
            format!("{} {}", group.other, found(!group.accepted)).into(),
            part_of(group.count, source.summary.scored, &nouns).into(),
            super::problems::named(&group.ids, group.count, source.summary.epochs.is_some()),
        ]);
    }
    if let Some(table) = table.block() {
        blocks.push(Block::Heading(3, "Where they disagree".to_owned()));
        blocks.push(table);
    }
}

/// Means of the scorers' other numbers.
fn means(source: &Source<'_>, blocks: &mut Vec<Block>) {
    let mut table = Table::of_numbers(["score", "mean"]);
    let points = items::deciding_points(source.summary);
    for (name, mean) in source.summary.means.iter().filter(|_| points.is_none()) {
        table.row([name.replace('_', " "), number(*mean)]);
    }
    for (name, scorer) in in_rank(source) {
        let value = scorer.means.get("value").filter(|_| !source.decides(name));
        if let Some(mean) = value {
            table.row([format!("{} value", name.replace('_', " ")), number(*mean)]);
        }
    }
    if let Some(table) = table.block() {
        blocks.push(Block::section("Means"));
        blocks.push(table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::section::Detail;
    use crate::report::section::tests::on_terminal;
    use crate::verdict::summary::tests::judged;

    #[test]
    fn several_scorers_are_a_table() {
        let records = [
            judged("a", &[("gaia", Some(true)), ("exact", Some(false))]),
            judged("b", &[("gaia", Some(true)), ("exact", None)]),
        ];
        let mut summary = Summary::of("e", &records);
        summary.scorer = Some("gaia".to_owned());
        let out = on_terminal(scorers(&Source::of(&summary, Detail::Brief)));
        let expect = [
            "  scorer          correct         accuracy      95 % interval   mean",
            "  gaia (decides)   2 of 2          100.0 %  34.2 % to 100.0 %  1.000",
            "  exact            0 of 1  0.0 % to 50.0 %                  -  0.000  1 not judged",
            "",
        ];
        assert_eq!(out, expect.join("\n"));
    }
}
