//! `FlowFigures`: all that the stages of a flow found, as plain data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::figure::{Interval, Scale, Share, counted, part_of};
use crate::stats::{BoundedMean, RunningMean, ratio, wilson95};
use crate::verdict::judged::pairs::PairsSummary;
use crate::verdict::result::Verdict;

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

impl FlowFigures {
    /// The gates that reports list: the error rate of a stage only where it is too high.
    pub fn listed_gates(&self) -> impl Iterator<Item = &FlowGate> {
        let gates = self.gates.iter();
        gates.filter(|gate| !gate.default || gate.verdict != Verdict::Passed)
    }
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
    pub fn text(&self) -> String {
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

/// What was generated, and what was refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GeneratedItems {
    /// Items that were asked for.
    pub asked: u64,
    /// Those that passed every check that refuses.
    pub accepted: u64,
    /// Items without any reply, for the generator failed.
    pub errors: u64,
    /// Why there is no item, if so.
    pub failure: Option<String>,
    /// Replies that were refused; an item may have several before one is accepted.
    pub refused: u64,
    /// Why, with how many replies.
    pub reasons: Vec<(String, u64)>,
    /// What each check found, of the replies that stand.
    pub checks: Vec<ItemCheckCount>,
    /// The topics of the accepted items beside those that were asked for.
    pub topics: Vec<TopicCount>,
    /// How likely a spread as far from the asked one is by chance: the exact test.
    pub topics_p: Option<f64>,
    /// Items whose answer an independent solver found, too.
    pub solver: Option<CountedShare>,
}

impl GeneratedItems {
    /// Accepted of those that were asked for.
    pub fn share(&self) -> CountedShare {
        CountedShare::of(self.accepted, self.asked)
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemCheckCount {
    /// Its name, such as `answer_in_range`.
    pub name: String,
    /// Replies that passed, of those that it could look at.
    pub passed: CountedShare,
}

/// How often a topic is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopicCount {
    /// Which.
    pub topic: String,
    /// Items that were asked to be of it.
    pub asked: u64,
    /// Accepted items of it, of all accepted ones.
    pub reached: CountedShare,
}

/// The points of a judge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ItemPoints {
    /// Items that it was asked about.
    pub items: u64,
    /// Those of which no reply could be read.
    pub unread: u64,
    /// Why, with how often.
    pub reasons: BTreeMap<String, u64>,
    /// The weighted mean of the dimensions.
    pub total: PointMean,
    /// Items from the rubric's `pass` on.
    pub pass: CountedShare,
    /// Items from its `excellent` on.
    pub excellent: CountedShare,
    /// Each dimension.
    pub dimensions: Vec<DimensionPoints>,
    /// Each topic.
    pub topics: Vec<DimensionPoints>,
    /// What the judge is worth beside people.
    pub worth: JudgeWorth,
    /// What people should know of how it judges.
    pub notes: Vec<String>,
}

/// The points of a part: a dimension, a topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DimensionPoints {
    /// Which.
    pub name: String,
    /// How many points.
    pub points: PointMean,
}

/// What a judge is worth beside people.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JudgeWorth {
    /// Whether enough labels of people vouch for it.
    pub calibrated: bool,
    /// In words.
    #[serde(rename = "told")]
    pub text: String,
    /// The 95 % confidence interval of kappa, where there is one.
    pub kappa_ci95: Option<[f64; 2]>,
    /// Means as people would have them, in words.
    pub corrected: Vec<String>,
}

/// How generated items do beside real ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedItems {
    /// The pairs.
    pub pairs: PairsSummary,
    /// Why pairs could not be read, with how often.
    #[serde(default)]
    pub reasons: BTreeMap<String, u64>,
    /// What the judge is worth beside people.
    #[serde(default)]
    pub worth: JudgeWorth,
    /// What people should know of how it judges.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl ComparedItems {
    /// Pairs with a verdict.
    pub fn read(&self) -> u64 {
        self.pairs.n.saturating_sub(self.pairs.unreadable)
    }

    /// So many pairs of those with a verdict.
    pub fn share(&self, part: u64) -> CountedShare {
        CountedShare::of(part, self.read())
    }

    /// `9 wins, 3 ties, 8 losses of 20 pairs (wins 45.0 %, 95 % interval 25.8 % to 65.8 %; win rate 52.5 %, …)`.
    pub(super) fn text(&self) -> String {
        let pairs = &self.pairs;
        let mut parts = vec![
            counted(pairs.wins, "win"),
            counted(pairs.ties, "tie"),
            counted(pairs.losses, "loss"),
        ];
        if pairs.inconsistent > 0 {
            parts.push(format!("{} inconsistent", pairs.inconsistent));
        }
        let wins = self.share(pairs.wins);
        let wins = wins.share.zip(wins.ci95).map(|wins| ("wins", wins));
        let rate = pairs.win_rate.zip(pairs.ci95);
        let rates = wins.into_iter().chain(rate.map(|rate| ("win rate", rate)));
        let rates = rates.map(|(name, (share, ci95))| {
            format!(
                "{name} {}, {}",
                Share(share),
                Interval(ci95.map(Share)).ci95()
            )
        });
        let rates = rates.collect::<Vec<_>>().join("; ");
        let read = counted(self.read(), "pair");
        format!("{} of {read} ({rates})", parts.join(", "))
    }
}

/// What people say of generated items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReviewedItems {
    /// Items with a verification, of all.
    pub reviewed: CountedShare,
    /// Approved, of those that were reviewed.
    pub approved: CountedShare,
    /// Rejected, of those.
    pub rejected: CountedShare,
    /// To be revised, of those.
    pub needs_revision: CountedShare,
    /// Points of each dimension.
    pub dimensions: Vec<DimensionPoints>,
    /// How far reviewers agree, where several looked at the same items: in words.
    pub agreement: Option<String>,
}

/// What a stage took: of whom it asks, be that an agent or a judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageCost {
    /// Which.
    pub stage: FlowStage,
    /// Requests, those that were repeated too.
    pub requests: u64,
    /// Tokens read and written, where endpoints tell.
    pub tokens: Option<u64>,
    /// US dollars, where a price is known.
    pub cost_usd: Option<f64>,
    /// Seconds from start to end, of a stage that went on those of its parts.
    pub duration_s: Option<f64>,
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

    /// `12 of 80 items (15.0 %, 95 % interval 8.8 % to 24.4 %)`.
    pub(super) fn text(&self, noun: &str) -> String {
        part_of(self.part, self.of, noun)
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

    /// `4.20/5.0 (95 % interval 3.95 to 4.45)`.
    pub(super) fn text(&self) -> String {
        let Some(mean) = self.mean else {
            return "unknown".to_owned();
        };
        let of = self.scale.map(|[_, high]| format!("/{high:.1}"));
        let mean = format!("{}{}", Scale(mean, 2), of.unwrap_or_default());
        match self.interval() {
            Some(interval) => format!("{mean} ({})", interval.ci95()),
            None => mean,
        }
    }

    /// `3.95 to 4.45`.
    pub fn interval(&self) -> Option<Interval<Scale>> {
        Some(Interval(self.ci95?.map(|end| Scale(end, 2))))
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
