//! The accuracy of each slice, and its drop from level to level.

use std::collections::BTreeMap;

use super::accuracy;
use super::source::Source;
use super::source::errors_of;
use crate::figure::{CI95, Interval, Share};
use crate::report::document::{Block, IntervalRow, IntervalScale, Intervals, Line, Table, list};
use crate::stats::{as_f64, fall95};
use crate::verdict::summary::{Group, Range, Summary};

/// Number of slices that fit on one terminal line.
const ON_A_LINE: usize = 4;

/// Above this number, slices are only in `summary.md`.
const BRIEF: usize = 40;

/// Above this number, slices are only in `summary.json`.
const FULL: usize = 50;

/// The means of a scorer that distinguishes exact and partial matches.
const EXACT: &str = "exact_match";
const PARTIAL: &str = "partial_match";

/// A section for each dimension.
pub(super) fn slices(source: &Source<'_>) -> Vec<Block> {
    let summary = source.summary;
    let dimensions = summary.dataset_slices();
    if source.is_brief() {
        return dimensions
            .filter_map(|(dimension, values)| brief(dimension, values, summary))
            .collect();
    }
    dimensions
        .flat_map(|(dimension, values)| full(dimension, values, summary))
        .collect()
}

/// Sorted numerically, so that level 10 comes after level 9.
pub(in crate::report) fn in_order(values: &BTreeMap<String, Group>) -> Vec<(&String, &Group)> {
    let mut values: Vec<_> = values.iter().collect();
    values.sort_by_key(|(value, _)| (value.parse::<i64>().unwrap_or(i64::MAX), *value));
    values
}

/// Few slices in one line, more as a table.
fn brief(dimension: &str, values: &BTreeMap<String, Group>, summary: &Summary) -> Option<Block> {
    // Within a slice the two are not counted separately.
    let remaining = match summary.not_judged {
        _ if summary.judges_items => "not judged",
        0 => "not asked",
        _ => "not asked or not judged",
    };
    let display = |group: &Group| {
        let share = group.accuracy?;
        accuracy::display(Some(share), group.accuracy_bounds)
    };
    match values.len() {
        0..=ON_A_LINE => {
            let values = values.iter().map(|(value, group)| match display(group) {
                None => format!("{dimension} {value} {}", without_accuracy(group, remaining)),
                Some(share) => {
                    let mut counts = vec![format!("{} of {}", group.correct, group.scored)];
                    counts.extend(others(group, remaining));
                    format!("{dimension} {value} {share} ({})", counts.join(", "))
                }
            });
            list([values.collect::<Vec<_>>().join(", ")])
        }
        count if count > BRIEF => list([format!(
            "the {count} values of `{dimension}` are in summary.md"
        )]),
        _ => {
            let subject = summary.subject();
            let heads = [dimension, subject.good(), subject.share(), ""];
            let mut table = Table::of_numbers(heads);
            for (value, group) in values {
                let (correct, scored) = (group.correct, group.scored);
                table.row(match display(group) {
                    Some(share) => [
                        value.clone(),
                        format!("{correct} of {scored}"),
                        share,
                        others(group, remaining).join(", "),
                    ],
                    None => [
                        value.clone(),
                        format!("0 of {scored}"),
                        "N/A".to_owned(),
                        without_accuracy(group, remaining),
                    ],
                });
            }
            table.block()
        }
    }
}

/// `3 without a verdict (+57 not asked)`
fn without_accuracy(group: &Group, remaining: &str) -> String {
    let asked = group.samples.saturating_sub(group.skipped);
    let what = if group.errors > 0 {
        "without a verdict"
    } else {
        "unscored"
    };
    match (asked, group.skipped) {
        (0, skipped) => format!("{skipped} {remaining}"),
        (asked, 0) => format!("{asked} {what}"),
        (asked, skipped) => format!("{asked} {what} (+{skipped} {remaining})"),
    }
}

/// `+2 errors`, `+3 not asked`
fn others(group: &Group, remaining: &str) -> Vec<String> {
    let others = [
        (group.errors, errors_of(group.errors)),
        (group.skipped, format!("{} {remaining}", group.skipped)),
    ];
    let others = others.iter().filter(|(count, _)| *count > 0);
    others.map(|(_, what)| format!("+{what}")).collect()
}

fn full(dimension: &str, values: &BTreeMap<String, Group>, summary: &Summary) -> Vec<Block> {
    let values = in_order(values);
    let display = || values.iter().take(FULL);
    let rows = display().map(|(value, group)| IntervalRow {
        note: counts(group, summary),
        ..accuracy::row(
            // A number alone would not look like a name.
            if value.starts_with(|c: char| c.is_ascii_digit()) {
                format!("{dimension} {value}")
            } else {
                (*value).clone()
            },
            group.accuracy,
            group.accuracy_bounds,
            group.accuracy_ci95,
            String::new(),
        )
    });
    let matches = display().flat_map(|(value, group)| {
        exact_and_partial(&format!("{dimension} = {value}"), group, summary)
    });
    let remaining = values.len().saturating_sub(FULL);
    let subject = summary.subject();
    let share = subject.share();
    let mut blocks = vec![
        Block::section(format!("By {dimension}")),
        Block::Intervals(Intervals {
            caption: String::new(),
            heads: ["", &format!("{share}, {CI95}"), subject.good()].map(str::to_owned),
            scale: IntervalScale::SHARES,
            rows: rows.collect(),
        }),
    ];
    blocks.extend(list(matches));
    if remaining > 0 {
        let line = Line::from(format!("and {remaining} more: see "));
        blocks.push(Block::Paragraph(line.code("summary.json").plain(".")));
    }
    if dimension == "level" {
        drops(summary, &mut blocks);
    }
    blocks
}

/// `3 of 4, 1 without a verdict`
fn counts(group: &Group, summary: &Summary) -> String {
    let (correct, scored) = (group.correct, group.scored);
    match group.errors + needed(group, summary) {
        0 => format!("{correct} of {scored}"),
        lacking => format!("{correct} of {scored}, {lacking} without a verdict"),
    }
}

/// Number of missing samples that make figures uncertain.
fn needed(group: &Group, summary: &Summary) -> u64 {
    match summary.early_stop {
        None => group.skipped,
        Some(_) => 0,
    }
}

/// Exact and partial matches for each scorer that distinguishes them, one line each.
fn exact_and_partial(title: &str, group: &Group, summary: &Summary) -> Vec<String> {
    let needed = needed(group, summary);
    let decides = ExactAndPartial::among(&group.means, &group.mean_ranges).map(|both| {
        let lacking = group.errors + needed;
        let ci95 = group.accuracy_ci95.filter(|_| lacking == 0);
        let ci95 = ci95.map(|ci95| format!(", {} of exact", Interval(ci95.map(Share)).ci95()));
        format!(
            "{title}: {}{}",
            both.line(lacking),
            ci95.unwrap_or_default()
        )
    });
    let others = group.scorers.iter();
    let others = others.filter(|(name, _)| summary.scorer.as_ref() != Some(name));
    let others = others.filter_map(|(name, of)| {
        let both = ExactAndPartial::among(&of.means, &of.mean_ranges)?;
        Some(format!(
            "{title} by {name}: {}",
            both.line(of.errors + needed)
        ))
    });
    decides.into_iter().chain(others).collect()
}

/// Numbers of exact matches, and of at least partial ones.
struct ExactAndPartial {
    exact: f64,
    partial: f64,
    count: u64,
}

impl ExactAndPartial {
    fn among(means: &BTreeMap<String, f64>, ranges: &BTreeMap<String, Range>) -> Option<Self> {
        let count = ranges.get(EXACT)?.count;
        // For values of 0 or 1 the mean times the number is a count.
        let counted = |name: &str| Some((means.get(name)? * as_f64(count)).round());
        Some(Self {
            exact: counted(EXACT)?,
            partial: counted(PARTIAL)?,
            count,
        })
    }

    /// `50.00 % exact / 50.00 % partial (1/2)`, with the number of missing verdicts.
    fn line(&self, lacking: u64) -> String {
        let line = format!(
            "{} exact / {} partial ({}/{})",
            self.share(self.exact, lacking),
            self.share(self.partial, lacking),
            self.exact,
            self.count
        );
        match lacking {
            0 => line,
            _ => format!("{line}, {lacking} without a verdict"),
        }
    }

    /// With two decimals; a range if verdicts are missing.
    fn share(&self, part: f64, lacking: u64) -> String {
        let whole = as_f64(self.count + lacking).max(1.0);
        let share = |part| format!("{:.2} %", part / whole * 100.0);
        match lacking {
            0 => share(part),
            _ => format!("{} to {}", share(part), share(part + as_f64(lacking))),
        }
    }
}

/// The drop of accuracy from one level to the next.
pub(in crate::report) struct LevelDrop<'a> {
    /// The easier level.
    pub(in crate::report) from: &'a str,
    /// The harder one.
    pub(in crate::report) to: &'a str,
    /// Relative to the accuracy before; `None` if that is 0, or if missing verdicts make it uncertain.
    pub(in crate::report) drop: Option<f64>,
    /// Its 95 % confidence interval.
    pub(in crate::report) interval: Option<[f64; 2]>,
    /// Whether missing verdicts make it uncertain.
    is_open: bool,
    /// Number of wrong answers in the harder level.
    pub(in crate::report) wrong: u64,
}

/// The drops between consecutive levels with answers.
pub(in crate::report) fn level_drops(summary: &Summary) -> Vec<LevelDrop<'_>> {
    let Some(levels) = summary.slices.get("level") else {
        return Vec::new();
    };
    let known = |group: &Group| group.accuracy.zip(group.accuracy_ci95);
    let steps = summary.difficulty_drop.iter().filter_map(|step| {
        let (from, to) = (levels.get(&step.from)?, levels.get(&step.to)?);
        let is_open =
            accuracy::is_open(from.accuracy_bounds) || accuracy::is_open(to.accuracy_bounds);
        if from.scored == 0 || to.scored == 0 {
            return None;
        }
        let ends = known(from).zip(known(to));
        let ends = ends.filter(|_| !is_open && step.drop.is_some());
        Some(LevelDrop {
            from: &step.from,
            to: &step.to,
            drop: step.drop.filter(|_| !is_open),
            interval: ends.and_then(|(before, after)| fall95(before, after)),
            is_open,
            wrong: to.scored - to.correct,
        })
    });
    steps.collect()
}

fn drops(summary: &Summary, blocks: &mut Vec<Block>) {
    let steps = level_drops(summary).into_iter().map(|step| {
        let lost = match step.drop {
            _ if step.is_open => "undecided: some samples have no verdict".to_owned(),
            None => "undefined: no answer of the level before is correct".to_owned(),
            Some(drop) => Share(drop).to_string(),
        };
        let ci95 = step.interval.map(|ends| Interval(ends.map(Share)).ci95());
        let ci95 = ci95.map_or_else(String::new, |ci95| format!(" ({ci95})"));
        format!("from level {} to {}: {lost}{ci95}", step.from, step.to)
    });
    if let Some(steps) = list(steps) {
        let title = "Relative loss of accuracy from one level to the next (0 % is ideal, a gain is negative):";
        blocks.push(Block::group(title, [steps]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Status;
    use crate::report::section::Detail;
    use crate::report::section::tests::on_terminal;
    use crate::verdict::summary::tests::record;

    #[test]
    fn many_slices_are_a_table() {
        let display = |summary: &Summary| on_terminal(slices(&Source::of(summary, Detail::Brief)));
        let mut records: Vec<_> = (0..6)
            .map(|level| record("a", Status::Scored, level > 2, &format!("l{level}")))
            .collect();
        records.push(record("b", Status::TimedOut, false, "l0"));
        records.push(record("c", Status::TimedOut, false, "other"));
        let out = display(&Summary::of("e", &records));
        let expect = "  level  correct         accuracy
  l0      0 of 1  0.0 % to 50.0 %             +1 error
  l1      0 of 1            0.0 %
  l2      0 of 1            0.0 %
  l3      1 of 1          100.0 %
  l4      1 of 1          100.0 %
  l5      1 of 1          100.0 %
  other   0 of 0              N/A  1 without a verdict
";
        assert_eq!(out, expect);
        let records: Vec<_> = (0..50)
            .map(|level| record("a", Status::Scored, true, &level.to_string()))
            .collect();
        let out = display(&Summary::of("e", &records));
        let expect = "  the 50 values of `level` are in summary.md\n";
        assert_eq!(out, expect);
    }
}
