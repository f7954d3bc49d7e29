//! What charts show: values with intervals, and pictures.

/// Values with their intervals, one below the other on one scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Intervals {
    /// What it shows.
    pub caption: String,
    /// What stands above the labels, the figures and the notes.
    pub heads: [String; 3],
    /// What the rows are drawn on.
    pub scale: IntervalScale,
    /// The rows.
    pub rows: Vec<IntervalRow>,
}

/// What a row shows. Texts are escaped where they are written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IntervalRow {
    /// What it is of.
    pub label: String,
    /// The point, if there is one.
    pub value: Option<f64>,
    /// The line through it.
    pub interval: Option<[f64; 2]>,
    /// Where the point might be, had every sample a verdict: a wider, paler line.
    pub range: Option<[f64; 2]>,
    /// The same in figures.
    pub figures: String,
    /// What else there is to say, such as of how many it is.
    pub note: String,
}

/// What the rows are drawn on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalScale {
    /// What stands at the left.
    pub low: f64,
    /// What stands at the right.
    pub high: f64,
    /// Where a line goes through all rows, such as a threshold or no difference.
    pub mark: Option<f64>,
}

impl IntervalScale {
    /// From none to all.
    pub const SHARES: Self = Self {
        low: 0.0,
        high: 1.0,
        mark: None,
    };

    /// Around no difference, as wide as these intervals ask for.
    pub fn differences(intervals: impl IntoIterator<Item = [f64; 2]>) -> Self {
        let ends = intervals.into_iter().flatten().map(f64::abs);
        let widest = ends.fold(0.05, f64::max).min(1.0);
        Self {
            low: -widest,
            high: widest,
            mark: Some(0.0),
        }
    }

    /// How far to the right a value is, as a share of the width.
    pub(crate) fn of(self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }
}

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub enum Chart {
    /// How often which value occurs.
    Histogram {
        /// What it shows.
        caption: String,
        /// What stands behind the figures of the scale.
        unit: String,
        /// The values, none below 0.
        values: Vec<f64>,
        /// Lines through the bars.
        marks: Vec<HistogramMark>,
    },
    /// Shares over a scale from nothing to the largest.
    Scatter {
        /// What it shows.
        caption: String,
        /// What stands below the scale.
        below: String,
        /// The points.
        points: Vec<ScatterPoint>,
    },
    /// How often which ground truth got which prediction. There may be one column more than rows.
    Confusion {
        /// What it shows.
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
    /// Pictures beside each other, as many as there is room for.
    Small(Vec<Chart>),
}

/// A line through the bars, such as a percentile.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramMark {
    /// What it is.
    pub label: String,
    /// Where it is.
    pub value: f64,
}

/// A point.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterPoint {
    /// What it is called in the picture: a letter or two.
    pub letter: String,
    /// How far to the right, from 0.
    pub x: f64,
    /// How high, 0 to 1.
    pub y: f64,
    /// How high it may be.
    pub interval: Option<[f64; 2]>,
}

/// A picture of figures over runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesChart {
    /// What it shows.
    pub caption: String,
    /// The same for who cannot see it.
    pub alt: String,
    /// Its size: a class of the style.
    pub size: &'static str,
    /// How many runs there are, from left to right.
    pub runs: usize,
    /// Lines of the scale, by their value and their name, the lowest first; the picture ends at the first and the last.
    pub scale: Vec<(f64, String)>,
    /// What is drawn, the most important last.
    pub lines: Vec<SeriesLine>,
    /// Where something changed, from left to right.
    pub marks: Vec<SeriesMark>,
    /// What stands under the first and the last run.
    pub ends: [String; 2],
}

/// A line through points, in pieces where a point is missing or what follows cannot be compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesLine {
    /// How it looks: a class of the style.
    pub class: &'static str,
    /// Its points.
    pub pieces: Vec<Vec<SeriesPoint>>,
}

/// A point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesPoint {
    /// Which run it is of, from 0.
    pub run: usize,
    /// How high it is.
    pub value: f64,
    /// How high it may be.
    pub interval: Option<[f64; 2]>,
    /// What it is, in words.
    pub label: String,
}

/// Where something changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesMark {
    /// Before which run, from 0.
    pub run: usize,
    /// How it looks: a class of the style.
    pub class: &'static str,
    /// What it is, in a letter or two.
    pub letter: String,
}
