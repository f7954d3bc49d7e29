//! Findings of a flow: sentences and advice, chosen by gates and by where intervals lie.
//!
//! No sentence is chosen by a point estimate. 9 wins, 3 ties and 8 losses pass a gate of 45 % wins, yet their interval
//! goes from 26 to 66 %: the sentence says that there are too few pairs to distinguish the items from real ones. All
//! sentences are in `sentences.yaml`; the first that matches a figure is used.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::figures::{
    ComparedItems, CountedShare, FlowFigures, FlowGate, FlowStage, GeneratedItems, ItemPoints,
    JudgeWorth,
};
use crate::figure::{P, Share, counted};
use crate::text::yaml;
use crate::verdict::gate::Gate;
use crate::verdict::result::Verdict;

/// Share of the requested items that should pass their checks.
const ACCEPTED: f64 = 0.9;
/// Share of the items that a solver should agree on.
const SOLVED: f64 = 0.9;
/// Mean points to reach without a gate.
const POINTS: f64 = 4.0;
/// Share of items that should pass without a gate.
const PASSING: f64 = 0.8;
/// Share of items that people should approve without a gate.
const APPROVED: f64 = 0.9;
/// The kappa from which a judge agrees with people.
const KAPPA: f64 = 0.4;
/// Largest acceptable share of pairs whose verdict changes with the order.
const ORDER: f64 = 0.3;
/// A win rate whose whole interval is within this distance of one half counts as about one half.
const CLOSE: f64 = 0.1;
/// Significance level.
const ALPHA: f64 = 0.05;

/// The topics of findings, in the order in which they appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FindingTopic {
    /// The share of the requested items that passed their checks.
    Accepted,
    /// The spread over topics, compared with the requested one.
    Spread,
    /// The share of items whose answer an independent solver found.
    Solved,
    /// The mean of the judge's points.
    Points,
    /// The share of items that pass by its rubric.
    Passing,
    /// How far labels by people support the judge.
    Trust,
    /// The generator judges itself.
    JudgesItself,
    /// The win rate against real items.
    Wins,
    /// The share of pairs whose verdict changes with the order.
    Order,
    /// The share of reviewed items that people approved.
    Approved,
}

/// Where the interval of a figure lies relative to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum IntervalPlace {
    /// Entirely at or above the target.
    Above,
    /// Contains the target, and is so narrow that both are about equal.
    Near,
    /// Contains the target.
    Across,
    /// Entirely below the target.
    Below,
    /// There is no interval.
    Nowhere,
}

/// A figure, in the form that sentences are chosen by.
#[derive(Clone, Debug)]
pub(super) struct FlowFinding {
    topic: FindingTopic,
    /// The verdict of the gate on it; `Ignored` if there is none.
    gate: Verdict,
    place: IntervalPlace,
    /// The figure with its interval, as text.
    figure: String,
    /// The target, as text.
    target: String,
    /// The sample size, as text.
    n: String,
    /// Whether the items were there before, and not generated.
    is_given: bool,
}

/// A sentence about a figure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sentence {
    /// Matches if the interval lies at one of these places.
    interval: Vec<IntervalPlace>,
    /// Matches if the gate has one of these verdicts; always if empty.
    #[serde(default)]
    gate: Vec<Verdict>,
    text: String,
    /// What to do about it, if anything.
    advice: Option<String>,
}

static SENTENCES: LazyLock<BTreeMap<FindingTopic, Vec<Sentence>>> = LazyLock::new(|| {
    yaml::read(include_str!("sentences.yaml")).expect("a test reads the sentences")
});

impl FlowFinding {
    /// A finding by its interval, without a gate.
    fn new(topic: FindingTopic, place: IntervalPlace, figure: String) -> Self {
        Self {
            topic,
            gate: Verdict::Ignored,
            place,
            figure,
            target: String::new(),
            n: String::new(),
            is_given: false,
        }
    }

    /// A finding about a share with a target.
    fn of_share(topic: FindingTopic, share: &CountedShare, noun: &str, target: &Target) -> Self {
        let place = IntervalPlace::of(share.ci95, target.threshold);
        Self {
            gate: target.gate,
            target: Share(target.threshold).to_string(),
            n: counted(share.of, "item"),
            ..Self::new(topic, place, share.text(noun))
        }
    }

    fn sentence(&self) -> Option<&'static Sentence> {
        SENTENCES.get(&self.topic)?.iter().find(|sentence| {
            sentence.interval.contains(&self.place)
                && (sentence.gate.is_empty() || sentence.gate.contains(&self.gate))
        })
    }

    /// The sentence.
    pub(super) fn text(&self) -> Option<String> {
        Some(self.fill(&self.sentence()?.text))
    }

    /// What to do about it.
    pub(super) fn advice(&self) -> Option<String> {
        Some(self.fill(self.sentence()?.advice.as_ref()?))
    }

    fn fill(&self, text: &str) -> String {
        // The figure is filled in last: text of datasets and agents in it must not be expanded again.
        let [items, item, more, pairs] = if self.is_given {
            [
                "items",
                "item",
                "judge more items",
                "`pairs` of the flow's spec",
            ]
        } else {
            [
                "generated items",
                "generated item",
                "generate more items (`--count`)",
                "`--count`, or `pairs` of the flow's spec",
            ]
        };
        let text = text.replace("{items}", items).replace("{item}", item);
        let text = text.replace("{more}", more).replace("{pairs}", pairs);
        let text = text.replace("{n}", &self.n);
        let text = text.replace("{target}", &self.target);
        text.replace("{figure}", &self.figure)
    }
}

impl IntervalPlace {
    /// Relative to a threshold to reach.
    fn of(ci95: Option<[f64; 2]>, threshold: f64) -> Self {
        match ci95 {
            None => Self::Nowhere,
            Some([low, _]) if low >= threshold => Self::Above,
            Some([_, high]) if high < threshold => Self::Below,
            Some(_) => Self::Across,
        }
    }

    /// Relative to an expected value: `Near` if the whole interval lies within `close` of it.
    fn around(ci95: Option<[f64; 2]>, middle: f64, close: f64) -> Self {
        match ci95 {
            None => Self::Nowhere,
            Some([low, _]) if low > middle => Self::Above,
            Some([_, high]) if high < middle => Self::Below,
            Some([low, high]) if low >= middle - close && high <= middle + close => Self::Near,
            Some(_) => Self::Across,
        }
    }
}

/// The target of a figure.
struct Target {
    gate: Verdict,
    threshold: f64,
}

impl Target {
    fn ungated(threshold: f64) -> Self {
        Self {
            gate: Verdict::Ignored,
            threshold,
        }
    }

    /// The target of the gate that requires a minimum of one of the metrics; `otherwise` without such a gate.
    fn of(figures: &FlowFigures, stage: FlowStage, metrics: &[&str], otherwise: f64) -> Self {
        let is_on = |gate: &&FlowGate| {
            let gate = gate.gate.parse::<Gate>();
            gate.is_ok_and(|gate| gate.wants_more() && metrics.contains(&&*gate.name()))
        };
        let mut gates = figures.gates.iter().filter(|gate| gate.stage == stage);
        let gate = gates.find(is_on);
        Self {
            gate: gate.map_or(Verdict::Ignored, |gate| gate.verdict),
            threshold: gate.and_then(|gate| gate.threshold).unwrap_or(otherwise),
        }
    }
}

/// All findings, in the order in which they appear.
pub(super) fn findings(figures: &FlowFigures) -> Vec<FlowFinding> {
    let mut found = Vec::new();
    if let Some(generated) = figures.generation.found() {
        found.extend(of_generated(generated));
    }
    let judged = figures.judge.found();
    if let Some(judged) = judged {
        found.extend(of_judged(judged, figures));
    }
    let compared = figures.winrate.found();
    if let Some(compared) = compared {
        found.extend(of_compared(compared, figures));
    }
    let worth = judged.map(|judged| &judged.worth);
    if let Some(worth) = worth.or_else(|| compared.map(|compared| &compared.worth)) {
        found.push(of_worth(worth));
        if figures.basics.judges_itself {
            let (topic, place) = (FindingTopic::JudgesItself, IntervalPlace::Nowhere);
            found.push(FlowFinding::new(topic, place, String::new()));
        }
    }
    if let Some(reviewed) = &figures.reviewed {
        let target = Target::of(figures, FlowStage::Review, &["reviewed.approved"], APPROVED);
        let (topic, share) = (FindingTopic::Approved, &reviewed.approved);
        found.push(FlowFinding::of_share(
            topic,
            share,
            "reviewed items",
            &target,
        ));
    }
    for finding in &mut found {
        finding.is_given = figures.basics.items.is_some();
    }
    found.sort_by_key(|finding| finding.topic);
    found
}

fn of_generated(generated: &GeneratedItems) -> Vec<FlowFinding> {
    let mut found = Vec::new();
    // A generator without any reply has not written bad items.
    if generated.accepted > 0 || generated.refused > 0 || generated.requested == 0 {
        let (share, target) = (generated.share(), Target::ungated(ACCEPTED));
        found.push(FlowFinding::of_share(
            FindingTopic::Accepted,
            &share,
            "requested items",
            &target,
        ));
    }
    if let Some(p) = generated.topics_p {
        let place = if p < ALPHA {
            IntervalPlace::Below
        } else {
            IntervalPlace::Across
        };
        found.push(FlowFinding {
            n: counted(generated.accepted, "item"),
            ..FlowFinding::new(FindingTopic::Spread, place, P(p).to_string())
        });
    }
    if let Some(solved) = generated.solver.filter(|solved| solved.of > 0) {
        let target = Target::ungated(SOLVED);
        found.push(FlowFinding::of_share(
            FindingTopic::Solved,
            &solved,
            "items",
            &target,
        ));
    }
    found
}

fn of_judged(judged: &ItemPoints, figures: &FlowFigures) -> Vec<FlowFinding> {
    let mut found = Vec::new();
    let target = |metrics, otherwise| Target::of(figures, FlowStage::Judge, metrics, otherwise);
    if judged.total.mean.is_some() {
        let target = target(&["mean(judge.total)", "mean(total)"], POINTS);
        let place = IntervalPlace::of(judged.total.ci95, target.threshold);
        found.push(FlowFinding {
            gate: target.gate,
            target: format!("{:.1}", target.threshold),
            n: counted(judged.total.n, "item"),
            ..FlowFinding::new(FindingTopic::Points, place, judged.total.text())
        });
    }
    if judged.pass.of > 0 {
        let target = target(&["accuracy(judge)", "accuracy"], PASSING);
        found.push(FlowFinding::of_share(
            FindingTopic::Passing,
            &judged.pass,
            "items",
            &target,
        ));
    }
    found
}

fn of_compared(compared: &ComparedItems, figures: &FlowFigures) -> Vec<FlowFinding> {
    let metrics = ["mean(pairwise.win)", "mean(win)"];
    let target = Target::of(figures, FlowStage::Winrate, &metrics, 0.5);
    let place = IntervalPlace::around(compared.pairs.ci95, 0.5, CLOSE);
    let wins = FlowFinding {
        gate: target.gate,
        target: Share(target.threshold).to_string(),
        n: counted(compared.read(), "pair"),
        ..FlowFinding::new(FindingTopic::Wins, place, compared.text())
    };
    let inconsistent = compared.share(compared.pairs.inconsistent);
    let order = (inconsistent.of > 0).then(|| {
        let target = Target::ungated(ORDER);
        FlowFinding::of_share(FindingTopic::Order, &inconsistent, "pairs", &target)
    });
    std::iter::once(wins).chain(order).collect()
}

fn of_worth(worth: &JudgeWorth) -> FlowFinding {
    let ci95 = worth.kappa_ci95.filter(|_| worth.calibrated);
    let place = match IntervalPlace::of(ci95, KAPPA) {
        // Calibrated but without kappa, as when all labels are equal.
        IntervalPlace::Nowhere if worth.calibrated => IntervalPlace::Across,
        place => place,
    };
    FlowFinding::new(FindingTopic::Trust, place, worth.text.clone())
}

#[cfg(test)]
mod tests;
