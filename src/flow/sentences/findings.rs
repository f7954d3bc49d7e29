//! What sentences are chosen by: each figure of a flow with its gate and with where its interval lies.

use super::{FindingTopic, FlowFinding, GateWord, IntervalPlace};
use crate::figure::{P, Share, counted};
use crate::flow::figures::{
    ComparedItems, FlowFigures, FlowGate, FlowStage, GeneratedItems, ItemPoints, JudgeWorth,
};
use crate::flow::told::words::{mean_points, pairs, part};

/// At least so many of the asked items should pass their checks.
const ACCEPTED: f64 = 0.9;
/// A solver should agree on so many.
const SOLVED: f64 = 0.9;
/// So many points should a mean have where no gate says it.
const POINTS: f64 = 4.0;
/// So many items should pass where no gate says it.
const PASSING: f64 = 0.8;
/// So many items should people approve of where no gate says it.
const APPROVED: f64 = 0.9;
/// A judge agrees with people from this kappa on.
const KAPPA: f64 = 0.4;
/// So many pairs may change their verdict with the order.
const ORDER: f64 = 0.3;
/// A win rate that is surely so close to one half is about one half.
const CLOSE: f64 = 0.1;
/// What is less likely is no chance.
const ALPHA: f64 = 0.05;

/// All that sentences are chosen by, in the order in which they are said.
pub(in crate::flow) fn findings(figures: &FlowFigures) -> Vec<FlowFinding> {
    let mut found = Vec::new();
    if let Some(generated) = figures.generation.found() {
        of_generated(generated, figures, &mut found);
    }
    let judged = figures.judge.found();
    let compared = figures.winrate.found();
    if let Some(judged) = judged {
        of_judged(judged, figures, &mut found);
    }
    if let Some(compared) = compared {
        of_compared(compared, figures, &mut found);
    }
    let worth = judged.map(|judged| &judged.worth);
    let worth = worth.or_else(|| compared.map(|compared| &compared.worth));
    if let Some(worth) = worth {
        found.push(of_worth(worth));
        if figures.basics.judges_itself {
            found.push(plain(FindingTopic::Itself, IntervalPlace::Nowhere, ""));
        }
    }
    if let Some(reviewed) = &figures.reviewed {
        let gate = gate_of(figures, FlowStage::Review, &["reviewed.approved"]);
        let wanted = threshold(gate, APPROVED);
        found.push(FlowFinding {
            topic: FindingTopic::Approved,
            gate: word(gate),
            place: IntervalPlace::of(reviewed.approved.ci95, wanted),
            told: part(&reviewed.approved, "reviewed items"),
            wanted: Share(wanted).to_string(),
            n: counted(reviewed.approved.of, "item"),
        });
    }
    found.sort_by_key(|finding| finding.topic);
    found
}

fn of_generated(generated: &GeneratedItems, figures: &FlowFigures, found: &mut Vec<FlowFinding>) {
    let gate = gate_of(figures, FlowStage::Generate, &["accuracy"]);
    let share = generated.share();
    // Who says nothing writes no bad items.
    if generated.accepted > 0 || generated.refused > 0 || generated.asked == 0 {
        found.push(FlowFinding {
            gate: word(gate),
            ..plain(
                FindingTopic::Accepted,
                IntervalPlace::of(share.ci95, ACCEPTED),
                &part(&share, "asked items"),
            )
        });
    }
    if let Some(p) = generated.topics_p {
        let place = if p < ALPHA {
            IntervalPlace::Below
        } else {
            IntervalPlace::Across
        };
        found.push(FlowFinding {
            n: counted(generated.accepted, "item"),
            ..plain(FindingTopic::Spread, place, &P(p).to_string())
        });
    }
    if let Some(solved) = &generated.solver {
        let place = IntervalPlace::of(solved.ci95, SOLVED);
        if solved.of > 0 {
            found.push(plain(FindingTopic::Solved, place, &part(solved, "items")));
        }
    }
}

fn of_judged(judged: &ItemPoints, figures: &FlowFigures, found: &mut Vec<FlowFinding>) {
    let gate = gate_of(
        figures,
        FlowStage::Judge,
        &["mean(judge.total)", "mean(total)"],
    );
    let wanted = threshold(gate, POINTS);
    if judged.total.mean.is_some() {
        found.push(FlowFinding {
            topic: FindingTopic::Points,
            gate: word(gate),
            place: IntervalPlace::of(judged.total.ci95, wanted),
            told: mean_points(&judged.total),
            wanted: format!("{wanted:.1}"),
            n: counted(judged.total.n, "item"),
        });
    }
    let gate = gate_of(figures, FlowStage::Judge, &["accuracy(judge)", "accuracy"]);
    let wanted = threshold(gate, PASSING);
    if judged.pass.of > 0 {
        found.push(FlowFinding {
            topic: FindingTopic::Passing,
            gate: word(gate),
            place: IntervalPlace::of(judged.pass.ci95, wanted),
            told: part(&judged.pass, "items"),
            wanted: Share(wanted).to_string(),
            n: counted(judged.pass.of, "item"),
        });
    }
}

fn of_compared(compared: &ComparedItems, figures: &FlowFigures, found: &mut Vec<FlowFinding>) {
    let gate = gate_of(
        figures,
        FlowStage::Winrate,
        &["mean(pairwise.win)", "mean(win)"],
    );
    found.push(FlowFinding {
        topic: FindingTopic::Wins,
        gate: word(gate),
        place: IntervalPlace::beside(compared.pairs.ci95, 0.5, CLOSE),
        told: pairs(compared),
        wanted: Share(threshold(gate, 0.5)).to_string(),
        n: counted(compared.read(), "pair"),
    });
    let inconsistent = compared.share(compared.pairs.inconsistent);
    if inconsistent.of > 0 {
        found.push(plain(
            FindingTopic::Order,
            IntervalPlace::of(inconsistent.ci95, ORDER),
            &part(&inconsistent, "pairs"),
        ));
    }
}

fn of_worth(worth: &JudgeWorth) -> FlowFinding {
    let ci95 = worth.kappa_ci95.filter(|_| worth.calibrated);
    let place = match IntervalPlace::of(ci95, KAPPA) {
        // Enough labels and no kappa, as where all are alike.
        IntervalPlace::Nowhere if worth.calibrated => IntervalPlace::Across,
        place => place,
    };
    plain(FindingTopic::Worth, place, &worth.told)
}

fn plain(topic: FindingTopic, place: IntervalPlace, told: &str) -> FlowFinding {
    FlowFinding {
        topic,
        gate: GateWord::None,
        place,
        told: told.to_owned(),
        wanted: String::new(),
        n: String::new(),
    }
}

/// The gate on the lower end of a figure, where there is one.
fn gate_of<'a>(figures: &'a FlowFigures, stage: FlowStage, names: &[&str]) -> Option<&'a FlowGate> {
    let mut gates = figures.gates.iter().filter(|gate| gate.stage == stage);
    gates.find(|gate| {
        let written: String = gate.gate.split_whitespace().collect();
        names.iter().any(|name| {
            let rest = written.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with('>'))
        })
    })
}

fn word(gate: Option<&FlowGate>) -> GateWord {
    gate.map_or(GateWord::None, |gate| gate.verdict.into())
}

fn threshold(gate: Option<&FlowGate>, otherwise: f64) -> f64 {
    gate.and_then(|gate| gate.threshold).unwrap_or(otherwise)
}
