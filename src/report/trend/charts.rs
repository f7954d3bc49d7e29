//! Charts of an eval over its runs: accuracy with its interval, slices, errors, cost, latency.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::section::accuracy_cell;
use super::{EvalTrend, minute, short_commit};
use crate::figure::{Share, ci95};
use crate::report::document::{
    Block, Chart, Line, SeriesChart, SeriesLine, SeriesMark, SeriesPoint, Tone,
};
use crate::report::render::html::chart::{short, steps};
use crate::verdict::trend::{TrendEntry, TrendMark};

/// Maximum number of slices drawn.
const MOST_SLICES: usize = 24;

/// The charts of each tier.
pub(super) fn charts(eval: &EvalTrend<'_>) -> Vec<Block> {
    let entries = eval.entries();
    // The largest tier first, because it is the most informative.
    let mut tiers: Vec<(u64, Option<&str>)> = Vec::new();
    for TrendEntry { of, .. } in entries.iter().filter(|entry| entry.is_run()) {
        let tier = of.tier.as_deref();
        match tiers.iter_mut().find(|(_, known)| *known == tier) {
            Some((samples, _)) => *samples = of.samples.max(*samples),
            None => tiers.push((of.samples, tier)),
        }
    }
    tiers.sort_by_key(|(samples, _)| Reverse(*samples));
    let mut blocks = Vec::new();
    for (_, tier) in &tiers {
        if tiers.len() > 1 {
            let whole = || "The whole eval".to_owned();
            let name = tier.map_or_else(whole, |tier| format!("Tier {tier}"));
            blocks.push(Block::section(name));
        }
        let entries = entries.iter();
        let of = entries.filter(|entry| entry.of.tier.as_deref() == *tier);
        blocks.extend(TierCharts::of(of).blocks());
    }
    blocks
}

/// The data of a tier's charts.
struct TierCharts<'a> {
    runs: Vec<&'a TrendEntry<'a>>,
    marks: Vec<SeriesMark>,
}

impl<'a> TierCharts<'a> {
    fn of(entries: impl Iterator<Item = &'a TrendEntry<'a>>) -> Self {
        let mut charts = Self {
            runs: Vec::new(),
            marks: Vec::new(),
        };
        for entry in entries {
            if entry.is_run() {
                for mark in &entry.marks {
                    if let Some((class, letter)) = sign(mark) {
                        charts.mark(class, letter);
                    }
                }
                charts.runs.push(entry);
            } else {
                charts.mark("accepted", "B");
            }
        }
        charts
    }

    /// Marks the boundary before the next run.
    fn mark(&mut self, class: &'static str, letter: &str) {
        let run = self.runs.len();
        let order = ["border", "mark", "new", "accepted"];
        let weight = |class: &str| order.iter().position(|known| *known == class);
        match self.marks.last_mut().filter(|mark| mark.run == run) {
            Some(mark) => {
                if !mark.letter.contains(letter) {
                    mark.letter += letter;
                }
                if weight(class) < weight(mark.class) {
                    mark.class = class;
                }
            }
            None => self.marks.push(SeriesMark {
                run,
                class,
                letter: letter.to_owned(),
            }),
        }
    }

    fn blocks(&self) -> Vec<Block> {
        let accuracy = self.chart(ci95!("Accuracy with its "), "tall", |entry| {
            Some((entry.of.accuracy?, entry.of.accuracy_ci95))
        });
        let accuracy = accuracy.map(|chart| {
            Block::Chart(Chart::Series(SeriesChart {
                marks: self.marks.clone(),
                ..chart.on_shares()
            }))
        });
        let mut blocks =
            vec![accuracy.unwrap_or_else(|| Block::paragraph("No run has an accuracy."))];
        blocks.extend(self.legend());
        blocks.extend(self.slices());
        let errors = self.chart("Error rate", "", |entry| Some((entry.of.error_rate?, None)));
        let cost = self.chart("Cost of a run", "", |entry| {
            Some((entry.of.cost_usd?, None))
        });
        let amounts = [
            self.amount(errors, |share| Share(share).to_string()),
            self.amount(cost, |usd| format!("{} USD", short(usd))),
            self.amount(self.latency(), |s| match s {
                small if small > 0.0 && small < 0.1 => format!("{} ms", short(small * 1e3)),
                seconds => format!("{} s", short(seconds)),
            }),
        ];
        let amounts = amounts.into_iter().flatten().collect();
        blocks.push(Block::Chart(Chart::Small(amounts)));
        blocks
    }

    /// Explains the letters used.
    fn legend(&self) -> Option<Block> {
        let known = [
            ("B", "baseline accepted"),
            ("A", "agent changed"),
            ("P", "prompt changed"),
            ("M", "different model served"),
            ("J", "judge changed"),
            ("D", "different dataset: not compared with earlier runs"),
            ("S", "different scorer: not compared with earlier runs"),
            ("▼", "the level fell"),
            ("▲", "the level rose"),
        ];
        let mut line = Line::default();
        for (letter, what) in known {
            if self.marks.iter().any(|mark| mark.letter.contains(letter)) {
                let dot = if line.0.is_empty() { "" } else { " · " };
                let what = format!(" {what}");
                line = line.toned(Tone::Faint, dot).strong(letter);
                line = line.toned(Tone::Faint, what);
            }
        }
        (!line.0.is_empty()).then_some(Block::Paragraph(line))
    }

    /// A chart per slice, on one scale.
    fn slices(&self) -> Vec<Block> {
        let of_run = |entry: &&'a TrendEntry<'a>| {
            let slices = entry.of.slices.iter();
            let names = slices.flat_map(|(dimension, values)| {
                values.keys().map(move |value| (&**dimension, &**value))
            });
            names.collect::<Vec<_>>()
        };
        let names: BTreeSet<(&str, &str)> = self.runs.iter().flat_map(of_run).collect();
        let mut names: Vec<_> = names.into_iter().collect();
        // Sort level 10 after level 9.
        let order = |value: &str| (value.parse::<i64>().unwrap_or(i64::MAX), value.to_owned());
        names.sort_by_key(|(dimension, value)| ((*dimension).to_owned(), order(value)));
        let display = names.iter().take(MOST_SLICES);
        let charts = display.filter_map(|(dimension, value)| {
            let chart = self.chart(&format!("{dimension} = {value}"), "", |entry| {
                let slice = entry.of.slices.get(*dimension)?.get(*value)?;
                Some((slice.accuracy?, slice.accuracy_ci95))
            })?;
            let scale = [0.0, 0.5, 1.0].map(|share| (share, format!("{:.0} %", share * 100.0)));
            Some(Chart::Series(SeriesChart {
                marks: self.boundaries(),
                scale: scale.into(),
                ..chart
            }))
        });
        let charts: Vec<_> = charts.collect();
        let mut blocks = Vec::new();
        if !charts.is_empty() {
            blocks.push(Block::Chart(Chart::Small(charts)));
        }
        if let more @ 1.. = names.len().saturating_sub(MOST_SLICES) {
            let line = Line::from(format!("and {more} more slices: "));
            blocks.push(Block::Paragraph(line.code("cargo evaltest trend --json")));
        }
        blocks
    }

    /// The median and the 95th percentile.
    fn latency(&self) -> Option<SeriesChart> {
        let caption = "Latency: median (solid), p95 (dashed)";
        let p50 = self.chart(caption, "", |entry| Some((entry.of.latency_s?.p50, None)))?;
        let p95 = self.chart(caption, "", |entry| Some((entry.of.latency_s?.p95, None)))?;
        let slow = p95.lines.into_iter().map(|line| SeriesLine {
            class: "second",
            ..line
        });
        Some(SeriesChart {
            lines: slow.chain(p50.lines).collect(),
            ..p50
        })
    }

    /// A chart of non-negative figures; `None` if all are 0.
    fn amount(&self, chart: Option<SeriesChart>, display: impl Fn(f64) -> String) -> Option<Chart> {
        let chart = chart?;
        let most = chart.values().fold(0.0, f64::max);
        if most <= 0.0 {
            return None;
        }
        let newest = chart.values().last().map(&display).unwrap_or_default();
        let scale = steps(most).into_iter().map(|end| (end, display(end)));
        Some(Chart::Series(SeriesChart {
            scale: scale.collect(),
            alt: format!("{}: {newest} in the newest run", chart.caption),
            marks: self.boundaries(),
            ..chart
        }))
    }

    /// The marks without letters.
    fn boundaries(&self) -> Vec<SeriesMark> {
        let marks = self.marks.iter().cloned();
        let marks = marks.map(|mark| SeriesMark {
            letter: String::new(),
            ..mark
        });
        marks.collect()
    }

    /// A chart without a scale; `None` if no run has the figure.
    fn chart(
        &self,
        caption: &str,
        size: &'static str,
        figure: impl Fn(&TrendEntry<'_>) -> Option<(f64, Option<[f64; 2]>)>,
    ) -> Option<SeriesChart> {
        let mut pieces: Vec<Vec<SeriesPoint>> = Vec::new();
        let mut last = None;
        for (run, entry) in self.runs.iter().enumerate() {
            let Some((value, interval)) = figure(entry) else {
                continue;
            };
            let point = SeriesPoint {
                run,
                value,
                interval,
                label: label(entry),
            };
            let goes_on = last == run.checked_sub(1).map(|before| (before, entry.line));
            match pieces.last_mut().filter(|_| goes_on && last.is_some()) {
                Some(piece) => piece.push(point),
                None => pieces.push(vec![point]),
            }
            last = Some((run, entry.line));
        }
        let newest = pieces.last()?.last()?.label.clone();
        let ends = [self.runs.first(), self.runs.last()];
        let ends = ends.map(|entry| entry.map_or_else(String::new, |it| minute(it.of.time)));
        let days = ends.each_ref().map(|time| time.get(..10).unwrap_or(time));
        // Runs of one day differ by their times.
        let ends = if days[0] == days[1] {
            ends
        } else {
            days.map(str::to_owned)
        };
        Some(SeriesChart {
            caption: caption.to_owned(),
            alt: format!("{caption}, the newest run: {newest}"),
            size,
            runs: self.runs.len(),
            lines: vec![SeriesLine { class: "", pieces }],
            ends,
            ..SeriesChart::default()
        })
    }
}

impl SeriesChart {
    fn values(&self) -> impl Iterator<Item = f64> {
        let points = self.lines.iter().flat_map(|line| &line.pieces).flatten();
        points.map(|point| point.value)
    }

    /// Sets a scale in tenths that contains its points and intervals.
    fn on_shares(self) -> Self {
        let points = self.lines.iter().flat_map(|line| &line.pieces).flatten();
        let ends = points.flat_map(|point| {
            let [low, high] = point.interval.unwrap_or([point.value; 2]);
            [low.min(point.value), high.max(point.value)]
        });
        let ends: Vec<f64> = ends.collect();
        let low = ends.iter().copied().fold(1.0, f64::min);
        let high = ends.iter().copied().fold(0.0, f64::max);
        // A scale of less than two tenths would exaggerate small differences.
        let low = ((low * 10.0).floor() / 10.0).clamp(0.0, 0.8);
        let high = ((high * 10.0).ceil() / 10.0).clamp(low + 0.2, 1.0);
        let wide = if high - low > 0.55 { 0.2 } else { 0.1 };
        let mut scale = Vec::new();
        for step in 0..=10 {
            let value = low + f64::from(step) * wide;
            if value < high + 0.001 {
                scale.push((value, format!("{:.0} %", value * 100.0)));
            }
        }
        if let Some((last, _)) = scale.last()
            && *last < high - 0.001
        {
            scale.push((high, format!("{:.0} %", high * 100.0)));
        }
        Self { scale, ..self }
    }
}

/// Style and letter of a mark, if it is drawn.
fn sign(mark: &TrendMark) -> Option<(&'static str, &'static str)> {
    Some(match mark {
        TrendMark::Dataset => ("border", "D"),
        TrendMark::Scorer => ("border", "S"),
        TrendMark::Agent => ("new", "A"),
        TrendMark::Prompt { .. } => ("new", "P"),
        TrendMark::Model { .. } => ("new", "M"),
        TrendMark::Judge => ("new", "J"),
        TrendMark::Level { before, after, .. } => ("mark", if after < before { "▼" } else { "▲" }),
        TrendMark::Gates { .. } | TrendMark::Cached | TrendMark::Dirty => return None,
    })
}

/// Label of a point: `2026-11-23 07:51, 3f09abc: 58.8 % (51.0 to 66.0 %)`.
fn label(entry: &TrendEntry<'_>) -> String {
    let commit = short_commit(entry.of);
    let commit = commit.map_or_else(String::new, |commit| format!(", {commit}"));
    let accuracy = accuracy_cell(entry).unwrap_or_default();
    format!("{}{commit}: {accuracy}", minute(entry.of.time))
}
