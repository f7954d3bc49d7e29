use std::collections::BTreeSet;

use super::*;
use crate::flow::figures::{PointMean, ReviewedItems, StageFigures};
use crate::verdict::judged::pairs::{JudgedPair, PairsSummary};
use crate::verdict::judged::winrate::Preferred;

const SCALE: Option<[f64; 2]> = Some([1.0, 5.0]);

fn gate(stage: FlowStage, name: &str, threshold: f64, verdict: Verdict) -> FlowGate {
    FlowGate {
        stage,
        gate: format!("{name} >= {threshold}"),
        verdict,
        value: None,
        threshold: Some(threshold),
        message: String::new(),
        default: false,
    }
}

/// The verdict of a gate when every item has a value.
fn judged(value: Option<f64>, threshold: f64) -> Verdict {
    if value.is_some_and(|value| value >= threshold) {
        Verdict::Passed
    } else {
        Verdict::Failed
    }
}

/// This number of pairs of each kind.
fn compared([wins, ties, losses, inconsistent]: [usize; 4]) -> ComparedItems {
    use Preferred::{A, B, Tie};
    let kinds = [
        (wins, [A, A]),
        (ties, [Tie, Tie]),
        (losses, [B, B]),
        (inconsistent, [A, B]),
    ];
    let all = kinds
        .into_iter()
        .flat_map(|(times, preferred)| std::iter::repeat_n(preferred, times));
    let all = all.enumerate().map(|(place, preferred)| JudgedPair {
        item: place.to_string(),
        preferred,
        lengths: [100, 100],
    });
    ComparedItems {
        pairs: PairsSummary::of(&all.collect::<Vec<_>>(), 0),
        reasons: std::collections::BTreeMap::new(),
        worth: JudgeWorth::default(),
        notes: Vec::new(),
    }
}

fn with_pairs(pairs: [usize; 4], gated: Option<Verdict>) -> FlowFigures {
    let compared = compared(pairs);
    let gates = gated.map(|verdict| gate(FlowStage::Winrate, "mean(pairwise.win)", 0.45, verdict));
    FlowFigures {
        winrate: StageFigures::Found(compared),
        gates: gates.into_iter().collect(),
        ..FlowFigures::default()
    }
}

fn with_points(points: &[f64], gated: Option<Verdict>) -> FlowFigures {
    let passing = points.iter().filter(|points| **points >= 3.5).count() as u64;
    let share = CountedShare::of(passing, points.len() as u64).share;
    let gates = gated.into_iter().flat_map(|verdict| {
        let of_share = match verdict {
            Verdict::Inconclusive => verdict,
            _ => judged(share, 0.8),
        };
        [
            gate(FlowStage::Judge, "mean(judge.total)", 4.0, verdict),
            gate(FlowStage::Judge, "accuracy(judge)", 0.8, of_share),
        ]
    });
    FlowFigures {
        judge: StageFigures::Found(ItemPoints {
            items: points.len() as u64,
            total: PointMean::of(points, SCALE),
            pass: CountedShare::of(passing, points.len() as u64),
            ..ItemPoints::default()
        }),
        gates: gates.collect(),
        ..FlowFigures::default()
    }
}

fn with_reviews(approved: u64, of: u64, gated: Option<Verdict>) -> FlowFigures {
    let gates = gated.map(|verdict| gate(FlowStage::Review, "reviewed.approved", 0.9, verdict));
    FlowFigures {
        reviewed: Some(ReviewedItems {
            approved: CountedShare::of(approved, of),
            ..ReviewedItems::default()
        }),
        gates: gates.into_iter().collect(),
        ..FlowFigures::default()
    }
}

fn with_items(accepted: u64, requested: u64, p: Option<f64>, solved: u64) -> FlowFigures {
    FlowFigures {
        generation: StageFigures::Found(GeneratedItems {
            requested,
            accepted,
            topics_p: p,
            solver: Some(CountedShare::of(solved, accepted)),
            ..GeneratedItems::default()
        }),
        ..FlowFigures::default()
    }
}

fn with_worth(calibrated: bool, kappa_ci95: Option<[f64; 2]>) -> FlowFigures {
    let mut figures = with_points(&[4.0, 3.0], None);
    if let StageFigures::Found(judged) = &mut figures.judge {
        judged.worth = JudgeWorth {
            calibrated,
            kappa_ci95,
            ..JudgeWorth::default()
        };
    }
    figures.basics.judges_itself = true;
    figures
}

/// Possible gates on a figure: none, its verdict, and an undecided one.
fn gates_of(value: Option<f64>, threshold: f64) -> [Option<Verdict>; 3] {
    [
        None,
        Some(judged(value, threshold)),
        Some(Verdict::Inconclusive),
    ]
}

/// Flows with many combinations of figures.
fn flows() -> Vec<FlowFigures> {
    let mut all = Vec::new();
    let counts = [0, 1, 3, 8, 9, 12, 40, 230, 600];
    for wins in counts {
        for losses in counts {
            for (ties, inconsistent) in [(0, 0), (3, 0), (2, 7), (0, 400), (900, 0)] {
                let n = wins + losses + ties + inconsistent;
                if n == 0 {
                    all.push(with_pairs([0; 4], None));
                    continue;
                }
                let share = CountedShare::of(wins as u64, n as u64).share;
                for gated in gates_of(share, 0.45) {
                    all.push(with_pairs([wins, ties, losses, inconsistent], gated));
                }
            }
        }
    }
    // More losses than wins, and enough wins for the gate.
    all.push(with_pairs([1380, 0, 1620, 0], Some(Verdict::Passed)));
    for n in [1, 2, 5, 20, 200] {
        for high in 0..=n {
            let points: Vec<f64> = (0..n).map(|at| if at < high { 5.0 } else { 2.0 }).collect();
            let mean = PointMean::of(&points, SCALE).mean;
            for gated in gates_of(mean, 4.0) {
                all.push(with_points(&points, gated));
            }
        }
    }
    // A single item on an unknown scale has no interval.
    let mut unknown = with_points(&[4.0], None);
    if let StageFigures::Found(judged) = &mut unknown.judge {
        judged.total = PointMean::of(&[4.0], None);
    }
    all.push(unknown);
    for of in [1, 10, 60, 400] {
        for approved in 0..=of {
            let share = CountedShare::of(approved, of).share;
            for gated in gates_of(share, 0.9) {
                all.push(with_reviews(approved, of, gated));
            }
        }
    }
    for (accepted, requested) in [(0, 0), (30, 30), (400, 400), (9, 30), (27, 30)] {
        for p in [None, Some(0.01), Some(0.4)] {
            for solved in 0..=accepted {
                all.push(with_items(accepted, requested, p, solved));
            }
        }
    }
    for kappa in [None, Some([0.5, 0.8]), Some([0.2, 0.6]), Some([-0.1, 0.3])] {
        all.extend([true, false].map(|calibrated| with_worth(calibrated, kappa)));
    }
    all
}

#[test]
fn the_file_is_read_and_has_no_unknown_placeholder() {
    for sentence in SENTENCES.values().flatten() {
        for text in [Some(&sentence.text), sentence.advice.as_ref()] {
            let mut text = text.cloned().unwrap_or_default();
            for known in [
                "{figure}", "{target}", "{n}", "{items}", "{item}", "{more}", "{pairs}",
            ] {
                text = text.replace(known, "");
            }
            assert!(!text.contains(['{', '}']), "{text}");
        }
    }
}

#[test]
fn every_sentence_is_text_of_some_flow_and_every_figure_has_a_sentence() {
    let mut used = BTreeSet::new();
    for flow in flows() {
        for finding in findings(&flow) {
            let sentence = finding.sentence();
            assert!(sentence.is_some(), "nothing is text of {finding:?}");
            used.extend(sentence.map(std::ptr::from_ref));
        }
    }
    let all = SENTENCES.values().flatten();
    let silent = all.filter(|sentence| !used.contains(&std::ptr::from_ref(*sentence)));
    let silent: Vec<_> = silent.map(|sentence| &sentence.text).collect();
    assert_eq!(silent, Vec::<&String>::new());
}

/// Whether a claim about an interval holds against its threshold (one half for the win rate).
fn holds(claim: &str, [low, high]: [f64; 2], threshold: f64) -> bool {
    match claim {
        "whole interval is at or above" | "prefers the generated items" => low >= threshold,
        "it is mostly the generated item" | "is above 50 %" => low > threshold,
        "whole interval is below" | "prefers real items" | "win rate is below 50 %" => {
            high < threshold
        }
        "interval extends below" | "interval contains" => low < threshold && high >= threshold,
        "With " | "no difference between" => low <= threshold && high >= threshold,
        "about equally often" | "within ten points" | "is within ten" => {
            low >= threshold - 0.1 && high <= threshold + 0.1
        }
        _ => panic!("{claim}"),
    }
}

const CLAIMS: [&str; 13] = [
    "whole interval is at or above",
    "prefers the generated items",
    "it is mostly the generated item",
    "is above 50 %",
    "whole interval is below",
    "prefers real items",
    "win rate is below 50 %",
    "interval extends below",
    "interval contains",
    "With ",
    "no difference between",
    "about equally often",
    "within ten points",
];

#[test]
fn no_sentence_contradicts_its_interval_or_its_gate() {
    let mut checked = 0;
    for flow in flows() {
        for finding in findings(&flow) {
            let (ci95, threshold) = match finding.topic {
                FindingTopic::Points => (flow.judge.found().unwrap().total.ci95, 4.0),
                FindingTopic::Passing => (flow.judge.found().unwrap().pass.ci95, 0.8),
                FindingTopic::Wins => (flow.winrate.found().unwrap().pairs.ci95, 0.5),
                FindingTopic::Approved => (flow.reviewed.as_ref().unwrap().approved.ci95, 0.9),
                _ => continue,
            };
            let text = finding.text().unwrap();
            let Some(ci95) = ci95 else {
                assert!(
                    text.contains("No pair has a verdict") || text.contains("too few items"),
                    "{text}"
                );
                continue;
            };
            let is_open = finding.gate == Verdict::Inconclusive;
            let claims: Vec<_> = CLAIMS
                .iter()
                .filter(|claim| text.contains(**claim))
                .collect();
            for claim in &claims {
                assert!(holds(claim, ci95, threshold), "{ci95:?}: {text}");
                checked += 1;
            }
            assert!(is_open || !claims.is_empty(), "{text}");
            // Text about a gate must match its verdict.
            if text.contains("it meets the limit") || text.contains("enough for") {
                let missed = text.contains("not enough for");
                assert_eq!(missed, finding.gate == Verdict::Failed, "{text}");
            }
            if text.contains("misses") || text.contains("Wins alone miss") {
                assert_eq!(finding.gate, Verdict::Failed, "{text}");
            }
        }
    }
    assert!(checked > 3_000, "{checked}");
}

#[test]
fn nine_wins_of_twenty_do_not_reach_real_problems() {
    let flow = with_pairs([9, 3, 8, 0], Some(Verdict::Passed));
    let found = findings(&flow);
    let wins = found.iter().find(|it| it.topic == FindingTopic::Wins);
    let text = wins.unwrap().text().unwrap();
    assert!(
        text.starts_with(
            "With 20 pairs no difference between the generated items and real ones can be shown: 9 wins, 3 ties, 8 losses of \
             20 pairs (wins 45.0 %, 95 % interval 25.8 % to 65.8 %; win rate 52.5 %, 95 % interval "
        ),
        "{text}"
    );
    assert!(
        text.contains("Wins alone meet the gate of 45.0 %, which does not show"),
        "{text}"
    );
    assert!(wins.unwrap().advice().unwrap().contains("more pairs"));
    for sentence in SENTENCES.values().flatten() {
        for word in ["reaching", "exceed", "surpass", "human-level"] {
            assert!(!sentence.text.contains(word), "{}", sentence.text);
        }
    }
}

#[test]
fn what_agents_wrote_is_not_filled_in_again() {
    let (topic, place) = (FindingTopic::Trust, IntervalPlace::Nowhere);
    let finding = FlowFinding {
        target: "TARGET".to_owned(),
        n: "N".to_owned(),
        ..FlowFinding::new(topic, place, "{target} {n}".to_owned())
    };
    assert!(finding.text().unwrap().contains("{target} {n}"));
}

#[test]
fn existing_items_are_not_called_generated() {
    let mut texts = Vec::new();
    for mut flow in flows() {
        flow.basics.items = Some("mine.json".to_owned());
        if flow.basics.judges_itself || flow.generation.found().is_some() {
            continue;
        }
        for finding in findings(&flow) {
            texts.extend(finding.text());
            texts.extend(finding.advice());
        }
    }
    assert!(texts.len() > 10);
    for text in texts {
        assert!(
            !text.contains("generat") && !text.contains("--count"),
            "{text}"
        );
    }
}
