//! Pictures of an eval over its runs: accuracy with its interval, slices, errors, cost, latency.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io::{self, Write};

use crate::figure::{Share, ci95};
use crate::report::document::{Chart, SeriesChart, SeriesLine, SeriesMark, SeriesPoint};
use crate::report::html::draw;
use crate::report::render::html::chart::{short, steps};
use crate::report::render::html::escape::text;
use crate::report::trend::{EvalTrend, measured, minute, short_commit};
use crate::verdict::trend::{TrendEntry, TrendMark};

/// Values of slices that are drawn.
const MOST_SLICES: usize = 24;

/// Writes the pictures of each tier.
pub(super) fn write(eval: &EvalTrend<'_>, heading: &str, out: &mut dyn Write) -> io::Result<()> {
    let entries = eval.entries();
    // The largest tier first, as it says the most.
    let mut tiers: Vec<(u64, Option<&str>)> = Vec::new();
    for TrendEntry { of, .. } in entries.iter().filter(|entry| entry.is_run()) {
        let tier = of.tier.as_deref();
        match tiers.iter_mut().find(|(_, known)| *known == tier) {
            Some((samples, _)) => *samples = of.samples.max(*samples),
            None => tiers.push((of.samples, tier)),
        }
    }
    tiers.sort_by_key(|(samples, _)| Reverse(*samples));
    for (_, tier) in &tiers {
        if tiers.len() > 1 {
            let name = tier.map_or_else(
                || "The whole eval".to_owned(),
                |tier| format!("Tier {tier}"),
            );
            writeln!(out, "<{heading}>{}</{heading}>", text(&name))?;
        }
        let of = entries
            .iter()
            .filter(|entry| entry.of.tier.as_deref() == *tier);
        TierCharts::of(of).write(out)?;
    }
    Ok(())
}

/// What is drawn of a tier.
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

    /// Marks the border before the next run.
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

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.accuracy(out)?;
        self.legend(out)?;
        self.slices(out)?;
        writeln!(out, "<div class=\"small\">")?;
        let errors = self.chart("Share of errors", "", |entry| {
            Some((entry.of.error_rate?, None))
        });
        self.amount(errors, |share| Share(share).to_string(), out)?;
        let cost = self.chart("Cost of a run", "", |entry| {
            Some((entry.of.cost_usd?, None))
        });
        self.amount(cost, |usd| format!("{} USD", short(usd)), out)?;
        self.latency(out)?;
        writeln!(out, "</div>")
    }

    /// What the letters mean that are there.
    fn legend(&self, out: &mut dyn Write) -> io::Result<()> {
        let known = [
            ("B", "baseline accepted"),
            ("A", "agent changed"),
            ("P", "prompt changed"),
            ("M", "another model was served"),
            ("J", "judge changed"),
            ("D", "another dataset: not compared with what is before"),
            ("S", "another scorer: not compared with what is before"),
            ("▼", "the level fell"),
            ("▲", "the level rose"),
        ];
        let is_there = |letter: &str| self.marks.iter().any(|mark| mark.letter.contains(letter));
        let there = known.iter().filter(|(letter, _)| is_there(letter));
        let there: Vec<_> = there
            .map(|(letter, what)| format!("<b>{letter}</b> {what}"))
            .collect();
        if there.is_empty() {
            return Ok(());
        }
        writeln!(out, "<p class=\"soft\">{}</p>", there.join(" · "))
    }

    fn accuracy(&self, out: &mut dyn Write) -> io::Result<()> {
        let chart = self.chart(ci95!("Accuracy with its "), "tall", |entry| {
            Some((entry.of.accuracy?, entry.of.accuracy_ci95))
        });
        let Some(chart) = chart else {
            return writeln!(out, "<p>No run has an accuracy.</p>");
        };
        draw(
            Chart::Series(SeriesChart {
                marks: self.marks.clone(),
                ..chart.on_shares()
            }),
            out,
        )
    }

    /// Each value of each dimension by itself, on one scale.
    fn slices(&self, out: &mut dyn Write) -> io::Result<()> {
        let of_run = |entry: &&'a TrendEntry<'a>| {
            let slices = entry.of.slices.iter();
            let names = slices.flat_map(|(dimension, values)| {
                values.keys().map(move |value| (&**dimension, &**value))
            });
            names.collect::<Vec<_>>()
        };
        let names: BTreeSet<(&str, &str)> = self.runs.iter().flat_map(of_run).collect();
        let mut names: Vec<_> = names.into_iter().collect();
        // Level 10 comes after level 9.
        let order = |value: &str| (value.parse::<i64>().unwrap_or(i64::MAX), value.to_owned());
        names.sort_by_key(|(dimension, value)| ((*dimension).to_owned(), order(value)));
        if names.is_empty() {
            return Ok(());
        }
        writeln!(out, "<div class=\"small\">")?;
        for (dimension, value) in names.iter().take(MOST_SLICES) {
            let caption = format!("{dimension}: {value}");
            let chart = self.chart(&caption, "", |entry| {
                let slice = entry.of.slices.get(*dimension)?.get(*value)?;
                Some((slice.accuracy?, slice.accuracy_ci95))
            });
            if let Some(chart) = chart {
                draw(
                    Chart::Series(SeriesChart {
                        marks: self.borders(),
                        ..chart.on_all_shares()
                    }),
                    out,
                )?;
            }
        }
        writeln!(out, "</div>")?;
        match names.len().saturating_sub(MOST_SLICES) {
            0 => Ok(()),
            more => writeln!(
                out,
                "<p class=\"soft\">And {more} more slices: <code>cargo evaltest trend --json</code></p>"
            ),
        }
    }

    /// The median, and what one answer in twenty is slower than.
    fn latency(&self, out: &mut dyn Write) -> io::Result<()> {
        let caption = "Latency: median, dashed p95";
        let p50 = self.chart(caption, "", |entry| Some((entry.of.latency_s?.p50, None)));
        let p95 = self.chart(caption, "", |entry| Some((entry.of.latency_s?.p95, None)));
        let both = p50.zip(p95).map(|(p50, p95)| {
            let slow = p95.lines.into_iter().map(|line| SeriesLine {
                class: "second",
                ..line
            });
            SeriesChart {
                lines: slow.chain(p50.lines).collect(),
                ..p50
            }
        });
        self.amount(both, |s| format!("{} s", short(s)), out)
    }

    /// Writes figures that are not below 0, unless all of them are 0.
    fn amount(
        &self,
        chart: Option<SeriesChart>,
        shown: impl Fn(f64) -> String,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Some(chart) = chart else {
            return Ok(());
        };
        let most = chart.values().fold(0.0, f64::max);
        if most <= 0.0 {
            return Ok(());
        }
        let newest = chart.values().last().map(&shown).unwrap_or_default();
        let scale = steps(most).into_iter().map(|end| (end, shown(end)));
        let chart = SeriesChart {
            scale: scale.collect(),
            told: format!("{}: {newest} in the newest run", chart.caption),
            marks: self.borders(),
            ..chart
        };
        draw(Chart::Series(chart), out)
    }

    /// The marks without their letters.
    fn borders(&self) -> Vec<SeriesMark> {
        let marks = self.marks.iter().cloned();
        let marks = marks.map(|mark| SeriesMark {
            letter: String::new(),
            ..mark
        });
        marks.collect()
    }

    /// A picture without its scale; none where no run has the figure.
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
                told: point_told(entry),
            };
            let goes_on = last == run.checked_sub(1).map(|before| (before, entry.line));
            match pieces.last_mut().filter(|_| goes_on && last.is_some()) {
                Some(piece) => piece.push(point),
                None => pieces.push(vec![point]),
            }
            last = Some((run, entry.line));
        }
        let newest = pieces.last()?.last()?.told.clone();
        let end = |entry: Option<&&TrendEntry<'_>>| {
            entry.map_or_else(String::new, |entry| {
                let time = minute(entry.of.time);
                time.get(..10).unwrap_or(&time).to_owned()
            })
        };
        Some(SeriesChart {
            caption: caption.to_owned(),
            told: format!("{caption}, the newest run: {newest}"),
            size,
            runs: self.runs.len(),
            lines: vec![SeriesLine { class: "", pieces }],
            ends: [end(self.runs.first()), end(self.runs.last())],
            ..SeriesChart::default()
        })
    }
}

impl SeriesChart {
    fn values(&self) -> impl Iterator<Item = f64> {
        let points = self.lines.iter().flat_map(|line| &line.pieces).flatten();
        points.map(|point| point.value)
    }

    /// On a scale of tenths around its points and intervals.
    fn on_shares(self) -> Self {
        let points = self.lines.iter().flat_map(|line| &line.pieces).flatten();
        let ends = points.flat_map(|point| {
            let [low, high] = point.interval.unwrap_or([point.value; 2]);
            [low.min(point.value), high.max(point.value)]
        });
        let ends: Vec<f64> = ends.collect();
        let low = ends.iter().copied().fold(1.0, f64::min);
        let high = ends.iter().copied().fold(0.0, f64::max);
        // Less than two tenths would make much of little.
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

    /// From none to all.
    fn on_all_shares(self) -> Self {
        let scale = [0.0, 0.5, 1.0].map(|share| (share, format!("{:.0} %", share * 100.0)));
        Self {
            scale: scale.to_vec(),
            ..self
        }
    }
}

/// How a mark looks in a picture, if it does.
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

/// What stands beside a point: `2026-11-23 07:51, 3f09abc: 58.8 % (51.0 to 66.0 %)`.
fn point_told(entry: &TrendEntry<'_>) -> String {
    let commit = short_commit(entry.of.commit.as_deref());
    let commit = if commit.is_empty() {
        commit
    } else {
        format!(", {commit}")
    };
    let accuracy = measured(entry).unwrap_or_default();
    format!("{}{commit}: {accuracy}", minute(entry.of.time))
}
