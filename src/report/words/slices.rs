//! Accuracy by level, category and whatever else the samples are sliced by.

use std::collections::BTreeMap;

use super::fall::falls;
use super::told::titled;
use crate::figure::{Interval, Share, ci95};
use crate::report::accuracy;
use crate::report::document::{Block, Document, IntervalRow, IntervalScale, Intervals, Line};
use crate::stats::as_f64;
use crate::verdict::summary::{Group, Range, Summary};

/// So many values of a dimension are shown.
const LISTED: usize = 50;

/// The means that a scorer has which tells exact matches from partial ones.
const EXACT: &str = "exact_match";
const PARTIAL: &str = "partial_match";

/// A section for each dimension.
pub(super) fn sections(summary: &Summary, text: &mut Document) {
    for (dimension, values) in &summary.slices {
        text.section(format!("By {dimension}"));
        let values = in_order(values);
        let title = titled(dimension);
        let bar = |(value, group): &(&String, &Group)| IntervalRow {
            label: format!("{title} {value}"),
            value: group.accuracy,
            range: group.accuracy_bounds.filter(|_| is_range(group)),
            interval: group.accuracy_ci95.filter(|_| !is_range(group)),
            figures: told(group, summary),
            ..IntervalRow::default()
        };
        let bars = values.iter().take(LISTED).map(bar).collect();
        text.blocks.push(Block::Intervals(Intervals {
            caption: "Shares".to_owned(),
            heads: ["", ci95!("share, "), ""].map(str::to_owned),
            scale: IntervalScale::SHARES,
            rows: bars,
        }));
        let others = values.iter().take(LISTED).flat_map(|(value, group)| {
            let title = format!("{title} {value}");
            of_others(&title, group, summary)
        });
        let others: Vec<_> = others.collect();
        if !others.is_empty() {
            text.blocks.push(Block::List(others));
        }
        if values.len() > LISTED {
            let more = values.len() - LISTED;
            text.paragraph(format!("and {more} more, which `summary.json` has."));
        }
        if dimension == "level" {
            drops(summary, text);
        }
    }
}

/// What stands in no chart of accuracies: exact and partial matches of each value, and what is lost between levels.
pub(super) fn beside_charts(summary: &Summary, text: &mut Document) {
    for (dimension, values) in &summary.slices {
        let title = titled(dimension);
        let lines = in_order(values).into_iter().take(LISTED);
        let lines = lines.flat_map(|(value, group)| {
            let named = format!("{title} {value}");
            let decides = ExactAndPartial::among(&group.means, &group.mean_ranges);
            let own = decides.map(|_| format!("{named}: {}", told(group, summary)).into());
            own.into_iter().chain(of_others(&named, group, summary))
        });
        let told: Vec<_> = lines.collect();
        if !told.is_empty() {
            text.section(format!("Exact and partial by {dimension}"));
            text.blocks.push(Block::List(told));
        }
    }
    let mut lost = Document::default();
    drops(summary, &mut lost);
    if !lost.blocks.is_empty() {
        text.section("From level to level");
        text.blocks.append(&mut lost.blocks);
    }
}

fn is_range(group: &Group) -> bool {
    group.accuracy_bounds.is_some_and(|[low, high]| low < high)
}

/// Level 10 comes after level 9.
pub(super) fn in_order(values: &BTreeMap<String, Group>) -> Vec<(&String, &Group)> {
    let mut values: Vec<_> = values.iter().collect();
    values.sort_by_key(|(value, _)| (value.parse::<i64>().unwrap_or(i64::MAX), *value));
    values
}

/// Samples that were not asked and leave figures open.
fn needed(group: &Group, summary: &Summary) -> u64 {
    match summary.early_stop {
        None => group.skipped,
        Some(_) => 0,
    }
}

/// `50.00 % exact / 50.00 % partial (1/2), 95 % confidence interval …` where the scorer that decides tells both, else the accuracy.
fn told(group: &Group, summary: &Summary) -> String {
    let (correct, scored) = (group.correct, group.scored);
    let lacking = group.errors + needed(group, summary);
    if let Some(both) = ExactAndPartial::among(&group.means, &group.mean_ranges) {
        let told = both.told(lacking);
        return match group.accuracy_ci95.filter(|_| lacking == 0) {
            Some(ci95) => format!("{told}, {} of exact", Interval(ci95.map(Share)).ci95()),
            None => told,
        };
    }
    match accuracy::shown(group.accuracy, group.accuracy_bounds) {
        None => "nothing was scored".to_owned(),
        Some(_) if scored == 0 => format!("not known, {lacking} without a verdict"),
        Some(range) if is_range(group) => {
            format!("{range} ({correct} of the {scored} scored, {lacking} without a verdict)")
        }
        Some(share) => {
            let ci95 = group
                .accuracy_ci95
                .map(|ci95| format!(", {}", Interval(ci95.map(Share)).ci95()));
            format!(
                "{share} ({correct} of {scored}){}",
                ci95.unwrap_or_default()
            )
        }
    }
}

/// What scorers that do not decide find exact and partial, a line each: the bars are of the accuracy.
fn of_others(title: &str, group: &Group, summary: &Summary) -> Vec<Line> {
    let decides = summary.scorer.as_deref();
    let others = group.scorers.iter();
    let others = others.filter(|(name, _)| Some(name.as_str()) != decides);
    let lines = others.filter_map(|(name, of)| {
        let both = ExactAndPartial::among(&of.means, &of.mean_ranges)?;
        let told = both.told(of.errors + needed(group, summary));
        Some(format!("{title} by {name}: {told}").into())
    });
    lines.collect()
}

/// Answers that a scorer finds exact, and at least partial.
struct ExactAndPartial {
    exact: f64,
    partial: f64,
    count: u64,
}

impl ExactAndPartial {
    fn among(means: &BTreeMap<String, f64>, ranges: &BTreeMap<String, Range>) -> Option<Self> {
        let count = ranges.get(EXACT)?.count;
        // Of answers that are one or none, the mean is a count again.
        let counted = |name: &str| Some((means.get(name)? * as_f64(count)).round());
        Some(Self {
            exact: counted(EXACT)?,
            partial: counted(PARTIAL)?,
            count,
        })
    }

    /// `50.00 % exact / 50.00 % partial (1/2)`, and how many have no verdict.
    fn told(&self, lacking: u64) -> String {
        let told = format!(
            "{} exact / {} partial ({}/{})",
            self.share(self.exact, lacking),
            self.share(self.partial, lacking),
            self.exact,
            self.count
        );
        match lacking {
            0 => told,
            _ => format!("{told}, {lacking} without a verdict"),
        }
    }

    /// With two decimals; what lacks a verdict makes it a range.
    fn share(&self, part: f64, lacking: u64) -> String {
        let whole = as_f64(self.count + lacking).max(1.0);
        let share = |part| format!("{:.2} %", part / whole * 100.0);
        match lacking {
            0 => share(part),
            _ => format!("{} to {}", share(part), share(part + as_f64(lacking))),
        }
    }
}

/// How much is lost from each level to the next.
fn drops(summary: &Summary, text: &mut Document) {
    let steps = falls(summary).into_iter().map(|fall| {
        let told = match fall.drop {
            _ if fall.is_open => "open, for samples without a verdict".to_owned(),
            None => "undefined, for nothing was right before".to_owned(),
            Some(drop) if drop < 0.0 => format!("{} gained", Share(-drop)),
            Some(drop) => format!("{} lost", Share(drop)),
        };
        let ci95 = fall.interval.map(|[low, high]| {
            let lost = Interval([Share(low), Share(high)]);
            format!(" ({} of what is lost: {lost})", ci95!())
        });
        let ci95 = ci95.unwrap_or_default();
        format!("from level {} to {}: {told}{ci95}", fall.from, fall.to)
    });
    let steps: Vec<_> = steps.map(Into::into).collect();
    if !steps.is_empty() {
        text.paragraph("Of the accuracy of the level before (0 % lost is ideal):");
        text.blocks.push(Block::List(steps));
    }
}
