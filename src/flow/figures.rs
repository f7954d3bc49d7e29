//! `FlowFigures`: all that the stages of a flow found, as plain data.

mod compared;
mod cost;
mod generated;
mod judged;
mod reviewed;

use serde::{Deserialize, Serialize};

use crate::stats::{BoundedMean, RunningMean, ratio, wilson95};
use crate::verdict::result::Verdict;

pub use compared::ComparedItems;
pub use cost::StageCost;
pub use generated::{GeneratedItems, ItemCheckCount, TopicCount};
pub use judged::{DimensionPoints, ItemPoints, JudgeWorth};
pub use reviewed::ReviewedItems;

/// All that the stages of a flow found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FlowFigures {
    /// What was asked of whom.
    pub basics: FlowBasics,
    /// What was generated.
    pub generation: StageFigures<GeneratedItems>,
    /// What a judge says of it.
    pub judge: StageFigures<ItemPoints>,
    /// How it does beside real items.
    pub winrate: StageFigures<ComparedItems>,
    /// What people say of it, where somebody has looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewed: Option<ReviewedItems>,
    /// What each stage cost.
    pub costs: Vec<StageCost>,
    /// What became of the gates of all stages.
    pub gates: Vec<FlowGate>,
}

/// What was asked of whom.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FlowBasics {
    /// What the flow is called.
    pub name: String,
    /// Its id.
    pub run_id: String,
    /// When it began.
    pub started_at: String,
    /// Who generates, as it says of itself.
    pub generator: String,
    /// Who judges.
    pub judge: String,
    /// Whether that is the generator.
    pub judges_itself: bool,
    /// That a judge is otherwise near to the generator, such as of its family.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinship: Vec<String>,
    /// Where the real items come from, if there are any.
    pub reference: Option<String>,
    /// How many items are asked for.
    pub count: u64,
    /// What everything is drawn with.
    pub seed: Option<u64>,
    /// What to look at next.
    pub places: FlowPlaces,
}

/// Where things lie, as they are typed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FlowPlaces {
    /// The folder of the flow.
    pub folder: String,
    /// The file of the items.
    pub items: Option<String>,
    /// The run directory of the stage `generate`.
    pub generation: Option<String>,
    /// That of the stage `judge`.
    pub judge: Option<String>,
    /// That of the stage `winrate`.
    pub winrate: Option<String>,
}

/// What became of a stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageFigures<T> {
    /// It has figures.
    Found(T),
    /// It has none, and should: why.
    Failed(String),
    /// It was not to be run: why.
    LeftOut(String),
}

impl<T> Default for StageFigures<T> {
    fn default() -> Self {
        Self::LeftOut("it was not run".to_owned())
    }
}

impl<T> StageFigures<T> {
    /// The figures, where there are some.
    pub fn found(&self) -> Option<&T> {
        match self {
            Self::Found(figures) => Some(figures),
            Self::Failed(_) | Self::LeftOut(_) => None,
        }
    }

    /// Why it failed, if it did.
    pub fn failure(&self) -> Option<&str> {
        match self {
            Self::Failed(why) => Some(why),
            Self::Found(_) | Self::LeftOut(_) => None,
        }
    }
}

/// The stages of a flow that ask somebody, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowStage {
    /// Items are generated.
    Generate,
    /// A judge gives points.
    Judge,
    /// A judge compares with real items.
    Winrate,
    /// People look at the items; nobody is asked by the flow.
    Review,
}

impl FlowStage {
    /// The word in files, and the id of its run.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Generate => "generate",
            Self::Judge => "judge",
            Self::Winrate => "winrate",
            Self::Review => "review",
        }
    }
}

/// What became of a gate of a stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowGate {
    /// The stage that it is about.
    pub stage: FlowStage,
    /// As it is written: `mean(judge.total) >= 4`.
    pub gate: String,
    /// What became of it.
    pub verdict: Verdict,
    /// What was measured.
    pub value: Option<f64>,
    /// What it was compared with.
    pub threshold: Option<f64>,
    /// For people.
    pub message: String,
    /// Whether nobody asked for it by name: the `error_rate` of a stage.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub default: bool,
}

impl FlowGate {
    /// What was measured, behind the gate where that does not name it.
    pub fn told(&self) -> String {
        let measured = self.measured();
        let metric = self
            .gate
            .split_once(' ')
            .map_or(&*self.gate, |(metric, _)| metric);
        if measured.starts_with(metric) {
            measured.to_owned()
        } else {
            format!("`{}`: {measured}", self.gate)
        }
    }

    /// What was measured, without what to do about it: the run directory of the stage says that.
    fn measured(&self) -> &str {
        let line = self.message.lines().next().unwrap_or_default();
        line.split("; ").next().unwrap_or_default()
    }
}

/// A share of things that are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CountedShare {
    /// So many.
    pub part: u64,
    /// Of so many.
    pub of: u64,
    /// `part` / `of`; `null` of nothing.
    pub share: Option<f64>,
    /// Its 95 % Wilson interval.
    pub ci95: Option<[f64; 2]>,
}

impl CountedShare {
    /// So many of so many.
    pub fn of(part: u64, of: u64) -> Self {
        Self {
            part,
            of,
            share: ratio(part, of),
            ci95: wilson95(part, of),
        }
    }
}

/// The mean of points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointMean {
    /// Of so many items.
    pub n: u64,
    /// `null` of nothing.
    pub mean: Option<f64>,
    /// Its 95 % confidence interval within the scale, by Student's quantile. Never a point: where all items are alike it is as wide as
    /// others could be. `null` where the scale is not known and nothing varies.
    pub ci95: Option<[f64; 2]>,
    /// The fewest and the most points that there are, if that is known.
    pub scale: Option<[f64; 2]>,
}

impl PointMean {
    /// Of points on a scale.
    pub fn of(points: &[f64], scale: Option<[f64; 2]>) -> Self {
        let mut running = RunningMean::default();
        for points in points {
            running.add(*points);
        }
        let mean = running.mean();
        let n = points.len() as u64;
        // That all are alike does not say that the next one is.
        let alike = || BoundedMean::of((mean?, [mean?; 2]), n, scale, false).ci95();
        let [low, high] = scale.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let ci95 = running.ci95().or_else(alike);
        Self {
            n,
            mean,
            ci95: ci95.map(|ends| ends.map(|end| end.clamp(low, high))),
            scale,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_never_points_and_stay_on_their_scale() {
        let scale = Some([1.0, 5.0]);
        let alike = PointMean::of(&[5.0; 4], scale);
        assert_eq!(alike.mean, Some(5.0));
        let [low, high] = alike.ci95.unwrap();
        assert!(low < 4.0 && high <= 5.0, "{low} {high}");
        // One item says next to nothing.
        let [low, high] = PointMean::of(&[4.0], scale).ci95.unwrap();
        assert!(low < 2.0 && high >= 5.0, "{low} {high}");
        // Student's: of 4.0 ± 4.303 times the root of 1 / 3.
        let [low, high] = PointMean::of(&[3.0, 4.0, 5.0], None).ci95.unwrap();
        assert!((low - 1.5159).abs() < 1e-3 && (high - 6.4841).abs() < 1e-3);
        assert_eq!(PointMean::of(&[4.0], None).ci95, None);
        assert_eq!(PointMean::of(&[], scale).ci95, None);
    }
}
