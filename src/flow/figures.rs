//! `FlowFigures`: the results of all stages of a flow, as plain data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::figure::{Interval, Share};
use crate::report::items::pair_counts;
use crate::verdict::gate::Gate;
use crate::verdict::judged::pairs::PairsSummary;
use crate::verdict::result::Verdict;

pub use crate::verdict::summary::{CountedShare, DimensionPoints, PointMean};

/// The results of all stages of a flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FlowFigures {
    /// The setup of the flow.
    pub basics: FlowBasics,
    /// Results of the stage `generate`.
    pub generation: StageFigures<GeneratedItems>,
    /// Results of the stage `judge`.
    pub judge: StageFigures<ItemPoints>,
    /// Results of the stage `winrate`.
    pub winrate: StageFigures<ComparedItems>,
    /// Verifications by people, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewed: Option<ReviewedItems>,
    /// What each stage cost.
    pub costs: Vec<StageCost>,
    /// The verdicts of the gates of all stages.
    pub gates: Vec<FlowGate>,
}

impl FlowFigures {
    /// The gates that reports list; the default `error_rate` of a stage only if it failed.
    pub fn listed_gates(&self) -> impl Iterator<Item = &FlowGate> {
        let gates = self.gates.iter();
        gates.filter(|gate| !gate.default || gate.verdict != Verdict::Passed)
    }
}

/// The setup of a flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FlowBasics {
    /// The name of the flow.
    pub name: String,
    /// Its id.
    pub run_id: String,
    /// Start time.
    pub started_at: String,
    /// The file of the items, if they were there before and none were generated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<String>,
    /// The generator, as it describes itself; empty if no items were generated.
    pub generator: String,
    /// The judge.
    pub judge: String,
    /// Whether the generator judges its own items.
    pub judges_itself: bool,
    /// Warnings that the judge is otherwise related to the generator, such as of its model family.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[serde(rename = "kinship")]
    pub family_notices: Vec<String>,
    /// The source of the real items, if there are any.
    pub reference: Option<String>,
    /// How many items are requested, or are in the file.
    pub count: u64,
    /// The random seed.
    pub seed: Option<u64>,
    /// Where to find the outputs.
    pub places: FlowPlaces,
}

/// Paths of the outputs, as they are typed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FlowPlaces {
    /// The folder of the flow.
    pub folder: String,
    /// The item file.
    pub items: Option<String>,
    /// The run directory of the stage `generate`.
    pub generation: Option<String>,
    /// The run directory of the stage `judge`.
    pub judge: Option<String>,
    /// The run directory of the stage `winrate`.
    pub winrate: Option<String>,
}

/// The result of a stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageFigures<T> {
    /// The stage has figures.
    Found(T),
    /// The stage failed, and why.
    Failed(String),
    /// The stage was not to be run, and why.
    #[serde(rename = "left_out")]
    Skipped(String),
}

impl<T> Default for StageFigures<T> {
    fn default() -> Self {
        Self::Skipped("it was not run".to_owned())
    }
}

impl<T> StageFigures<T> {
    /// The figures, if there are any.
    pub fn found(&self) -> Option<&T> {
        match self {
            Self::Found(figures) => Some(figures),
            Self::Failed(_) | Self::Skipped(_) => None,
        }
    }

    /// Why it failed, if it did.
    pub fn failure(&self) -> Option<&str> {
        match self {
            Self::Failed(why) => Some(why),
            Self::Found(_) | Self::Skipped(_) => None,
        }
    }
}

/// The stages of a flow, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowStage {
    /// Generates items.
    Generate,
    /// A judge gives points.
    Judge,
    /// A judge compares with real items.
    Winrate,
    /// People review the items; the flow itself asks no agent.
    Review,
}

impl FlowStage {
    /// Whether it reads items and does not make them.
    pub(super) fn reads_items(self) -> bool {
        matches!(self, Self::Judge | Self::Winrate)
    }

    /// The name in files, also the id of its run.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Generate => "generate",
            Self::Judge => "judge",
            Self::Winrate => "winrate",
            Self::Review => "review",
        }
    }
}

/// The verdict of a gate of a stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowGate {
    /// The stage the gate belongs to.
    pub stage: FlowStage,
    /// The gate as written: `mean(judge.total) >= 4`.
    pub gate: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The measured value.
    pub value: Option<f64>,
    /// The threshold.
    pub threshold: Option<f64>,
    /// The message for people.
    pub message: String,
    /// Whether the gate is a default one: the `error_rate` of a stage.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub default: bool,
}

impl FlowGate {
    /// The measured value as text, after the gate if the text does not name it.
    pub fn text(&self) -> String {
        let measured = self.measured();
        let label = self.gate.parse().map(|gate: Gate| gate.label());
        match label {
            Ok(label) if measured.starts_with(&label) => measured.to_owned(),
            _ => format!("`{}`: {measured}", self.gate),
        }
    }

    /// The measured value without advice; the run directory of the stage has that.
    fn measured(&self) -> &str {
        let line = self.message.lines().next().unwrap_or_default();
        line.split("; ").next().unwrap_or_default()
    }
}

/// Generated and refused items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GeneratedItems {
    /// Requested items.
    #[serde(rename = "asked")]
    pub requested: u64,
    /// Items that passed every check that can refuse one.
    pub accepted: u64,
    /// Items without a reply because the generator failed.
    pub errors: u64,
    /// Why there is no item, if there is none.
    pub failure: Option<String>,
    /// Refused replies; an item may have several before one is accepted.
    pub refused: u64,
    /// Reasons for refusals, with the number of replies.
    pub reasons: Vec<(String, u64)>,
    /// The result of each check over the accepted replies.
    pub checks: Vec<ItemCheckCount>,
    /// The topics of the accepted items, compared with the requested ones.
    pub topics: Vec<TopicCount>,
    /// p value of the exact test that the topics are spread as requested.
    pub topics_p: Option<f64>,
    /// Items whose answer an independent solver also found.
    pub solver: Option<CountedShare>,
}

impl GeneratedItems {
    /// The accepted share of the requested items.
    pub fn share(&self) -> CountedShare {
        CountedShare::of(self.accepted, self.requested)
    }
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemCheckCount {
    /// Its name, such as `answer_in_range`.
    pub name: String,
    /// Replies that passed, of those the check applies to.
    pub passed: CountedShare,
}

/// How often a topic occurs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopicCount {
    /// The topic.
    pub topic: String,
    /// Items requested with this topic.
    #[serde(rename = "asked")]
    pub requested: u64,
    /// Accepted items of this topic, of all accepted ones.
    pub reached: CountedShare,
}

/// The points of a judge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ItemPoints {
    /// Items the judge scored or tried to.
    pub items: u64,
    /// Items without a readable reply.
    pub unread: u64,
    /// Reasons for unreadable replies, with their counts.
    pub reasons: BTreeMap<String, u64>,
    /// The weighted mean of the dimensions.
    pub total: PointMean,
    /// Items that reach the rubric's `pass`.
    pub pass: CountedShare,
    /// Items that reach the rubric's `excellent`.
    pub excellent: CountedShare,
    /// Points of each dimension.
    pub dimensions: Vec<DimensionPoints>,
    /// Points of each topic.
    pub topics: Vec<DimensionPoints>,
    /// How far the judge agrees with people.
    pub worth: JudgeWorth,
    /// Notices about how the judge scores.
    pub notes: Vec<String>,
}

/// How far a judge agrees with people.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JudgeWorth {
    /// Whether there are enough labels by people to calibrate the judge.
    pub calibrated: bool,
    /// The same as text.
    #[serde(rename = "told")]
    pub text: String,
    /// The 95 % confidence interval of kappa, if there is one.
    pub kappa_ci95: Option<[f64; 2]>,
    /// Means corrected by the labels of people, as text.
    pub corrected: Vec<String>,
}

/// Generated items compared with real ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedItems {
    /// The pairs.
    pub pairs: PairsSummary,
    /// Reasons for unreadable pairs, with their counts.
    #[serde(default)]
    pub reasons: BTreeMap<String, u64>,
    /// How far the judge agrees with people.
    #[serde(default)]
    pub worth: JudgeWorth,
    /// Notices about how the judge scores.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl ComparedItems {
    /// Pairs with a verdict.
    pub fn read(&self) -> u64 {
        self.pairs.n.saturating_sub(self.pairs.unreadable)
    }

    /// The share of `part` in the pairs with a verdict.
    pub fn share(&self, part: u64) -> CountedShare {
        CountedShare::of(part, self.read())
    }

    /// `9 wins, 3 ties, 8 losses of 20 pairs (wins 45.0 %, 95 % interval 25.8 % to 65.8 %; win rate 52.5 %, …)`.
    pub(super) fn text(&self) -> String {
        let pairs = &self.pairs;
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
        format!("{} ({rates})", pair_counts(pairs))
    }
}

/// Verifications of generated items by people.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReviewedItems {
    /// Items with a verification, of all.
    pub reviewed: CountedShare,
    /// Approved items, of the reviewed ones.
    pub approved: CountedShare,
    /// Rejected items, of the reviewed ones.
    pub rejected: CountedShare,
    /// Items that need revision, of the reviewed ones.
    pub needs_revision: CountedShare,
    /// Points of each dimension.
    pub dimensions: Vec<DimensionPoints>,
    /// Agreement of reviewers who saw the same items, as text.
    pub agreement: Option<String>,
}

/// The cost of a stage, of its agent or its judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageCost {
    /// The stage.
    pub stage: FlowStage,
    /// Requests, repeated ones included.
    pub requests: u64,
    /// Tokens read and written, if the endpoints report them.
    pub tokens: Option<u64>,
    /// US dollars, if a price is known.
    pub cost_usd: Option<f64>,
    /// Seconds from start to end, summed over the parts of a resumed stage.
    pub duration_s: Option<f64>,
}
