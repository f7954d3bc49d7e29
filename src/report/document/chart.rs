//! The content of charts: values with intervals, and drawings.

use crate::figure::Points;

/// Values with intervals in rows, on one scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervals {
    /// Description of the chart.
    pub caption: String,
    /// Heads of the labels, the figures and the notes.
    pub heads: [String; 3],
    /// The common scale.
    pub scale: IntervalScale,
    /// The rows.
    pub rows: Vec<IntervalRow>,
}

/// One row. Texts are escaped on output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IntervalRow {
    /// What it is of.
    pub label: String,
    /// The point, if any.
    pub value: Option<f64>,
    /// The interval, drawn as a line.
    pub interval: Option<[f64; 2]>,
    /// Range of the point over all possible missing verdicts, drawn as a wider, paler line.
    pub range: Option<[f64; 2]>,
    /// The values as text.
    pub figures: String,
    /// A remark, such as the number of samples.
    pub note: String,
}

/// The scale of the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalScale {
    /// The value at the left edge.
    pub low: f64,
    /// The value at the right edge.
    pub high: f64,
    /// A vertical line through all rows, such as a threshold or no difference.
    pub mark: Option<f64>,
    /// The meaning of that line.
    pub marked: &'static str,
    /// How the ends are written.
    pub unit: AxisUnit,
}

/// The unit of a scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisUnit {
    /// Shares, in per cent.
    Share,
    /// Differences of shares, in points.
    Points,
    /// Plain numbers.
    Number,
}

impl IntervalScale {
    /// From 0 to 1.
    pub const SHARES: Self = Self {
        low: 0.0,
        high: 1.0,
        mark: None,
        marked: "",
        unit: AxisUnit::Share,
    };

    /// From 0 to 1, with a line at the accuracy of the baseline.
    pub fn against(baseline: f64) -> Self {
        Self {
            mark: Some(baseline),
            marked: "baseline",
            ..Self::SHARES
        }
    }

    /// Symmetric around 0, wide enough for these intervals.
    pub fn differences(intervals: impl IntoIterator<Item = [f64; 2]>) -> Self {
        let ends = intervals.into_iter().flatten().map(f64::abs);
        let widest = ends.fold(0.05, f64::max).min(1.0);
        Self {
            low: -widest,
            high: widest,
            mark: Some(0.0),
            marked: "no difference",
            unit: AxisUnit::Points,
        }
    }

    /// Whether it is from 0 to 1.
    pub(crate) fn is_of_shares(self) -> bool {
        let plain = Self {
            mark: None,
            marked: "",
            unit: AxisUnit::Share,
            ..self
        };
        plain == Self::SHARES
    }

    /// The labels of its ends.
    pub(crate) fn ends(self) -> [String; 2] {
        [self.low, self.high].map(|end| match self.unit {
            AxisUnit::Share => format!("{:.0} %", end * 100.0),
            AxisUnit::Points => format!("{} points", Points(end)),
            AxisUnit::Number => end.to_string(),
        })
    }

    /// Horizontal position of a value, as a fraction of the width.
    pub(crate) fn of(self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }
}

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub enum Chart {
    /// Frequencies of values.
    Histogram {
        /// Description of the chart.
        caption: String,
        /// Unit of the scale.
        unit: String,
        /// The values, not negative.
        values: Vec<f64>,
        /// Vertical lines through the bars.
        marks: Vec<HistogramMark>,
    },
    /// Shares plotted over a scale from 0 to the maximum.
    Scatter {
        /// Description of the chart.
        caption: String,
        /// Label of the horizontal axis.
        below: String,
        /// The points.
        points: Vec<ScatterPoint>,
    },
    /// Confusion matrix. There may be one column more than rows.
    Confusion {
        /// Description of the chart.
        caption: String,
        /// The ground truths.
        rows: Vec<String>,
        /// The predictions.
        columns: Vec<String>,
        /// The counts, row by row.
        counts: Vec<Vec<u64>>,
    },
    /// Figures over runs.
    Series(SeriesChart),
    /// Charts side by side, as many as fit.
    Small(Vec<Chart>),
}

/// A line through the bars, such as a percentile.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramMark {
    /// Its label.
    pub label: String,
    /// Its value.
    pub value: f64,
}

/// A point.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterPoint {
    /// Its name in the chart: one or two letters.
    pub letter: String,
    /// Horizontal value, from 0.
    pub x: f64,
    /// Vertical value, from 0 to 1.
    pub y: f64,
    /// Interval of the vertical value.
    pub interval: Option<[f64; 2]>,
}

/// A chart of figures over runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesChart {
    /// Description of the chart.
    pub caption: String,
    /// Alternative text for screen readers.
    pub alt: String,
    /// Its size, as a CSS class.
    pub size: &'static str,
    /// Number of runs, from left to right.
    pub runs: usize,
    /// Grid lines by value and label, in ascending order; the first and last are the edges of the chart.
    pub scale: Vec<(f64, String)>,
    /// The lines, the most important last.
    pub lines: Vec<SeriesLine>,
    /// Marks of changes, from left to right.
    pub marks: Vec<SeriesMark>,
    /// Labels below the first and the last run.
    pub ends: [String; 2],
}

/// A line through points. It is interrupted where a point is missing or the next one is not comparable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesLine {
    /// Its style, as a CSS class.
    pub class: &'static str,
    /// Its points.
    pub pieces: Vec<Vec<SeriesPoint>>,
}

/// A point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesPoint {
    /// Index of its run, from 0.
    pub run: usize,
    /// Its value.
    pub value: f64,
    /// Interval of the value.
    pub interval: Option<[f64; 2]>,
    /// Its label.
    pub label: String,
}

/// A mark where something changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesMark {
    /// Index of the run after the change, from 0.
    pub run: usize,
    /// Its style, as a CSS class.
    pub class: &'static str,
    /// One or two letters.
    pub letter: String,
}
