//! The figures of published verdicts and labels.

use std::process::Command;

use needs::needs;
use serde_json::{Value, json};

use super::super::correct::{GradedItem, JudgeCorrection};
use super::agreement;
use crate::data::calibration::{CalibratedAnswer, Calibration, LabelledValue};
use crate::data::labels::LabelChoice;
use crate::data::{Output, Record, Score};
use crate::stats::SplitMix64;
use crate::tests::parity;
use crate::verdict::judged::calibrated::CalibratedJudge;
use crate::verdict::judged::items::{JudgedItems, VALUE};

/// The published labels of `PandaLM`.
fn pandalm() -> Vec<Value> {
    let path = parity::path("judging/pandalm_labels.jsonl.gz");
    let ran = Command::new("gzip").arg("-dc").arg(path).output().unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    let rows: Vec<_> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 999);
    rows
}

fn is(found: &Value, expect: f64, digits: i32) {
    let off = (found.as_f64().unwrap() - expect).abs();
    assert!(off <= 0.5 * 10_f64.powi(-digits), "{found} is not {expect}");
}

#[needs(data = "judging/pandalm_labels.jsonl.gz")]
#[test]
fn published_labels_have_the_figures_that_are_known() {
    let rows = pandalm();
    for (one, other, kappa) in [(0, 1, 0.852), (0, 2, 0.879), (1, 2, 0.862)] {
        let line =
            |row: &Value| json!({ "labels": [row["human"][one]], "judge": row["human"][other] });
        is(
            &agreement(&rows.iter().map(line).collect())["kappa"],
            kappa,
            3,
        );
    }
    let found = agreement(
        &rows
            .iter()
            .map(|row| json!({ "labels": row["human"] }))
            .collect(),
    );
    is(&found["alpha_nominal"], 0.86422, 5);
    let judged = |judge: fn(&Value) -> Value| {
        let line = |row: &Value| json!({ "labels": row["human"], "judge": judge(row) });
        agreement(&rows.iter().map(line).collect())
    };
    let gpt = judged(|row| match row["gpt35"].as_str().unwrap() {
        "Tie" => json!(0),
        "garbage" => Value::Null,
        number => json!(number.parse::<u8>().unwrap()),
    });
    assert_eq!(gpt["n"], 974);
    is(&gpt["agreement"], 0.71561, 5);
    is(&gpt["kappa"], 0.49286, 5);
    let panda = judged(|row| row["pandalm7b"].clone());
    assert_eq!(panda["n"], 999);
    is(&panda["agreement"], 0.66767, 5);
    is(&panda["kappa"], 0.43535, 5);
    is(&panda["constant_agreement"], 472.0 / 999.0, 9);
    let labels = ["0", "1", "2"].map(|class| panda["classes"][class]["n"].as_u64().unwrap());
    assert_eq!(labels, [105, 422, 472]);
}

/// Draws 100 labels of 999 pairs 400 times, with a judge's verdicts on all: the coverage of the interval, and its
/// width relative to that of the labels alone.
fn coverage(values: &[(f64, f64)]) -> (f64, f64) {
    let n = values.len();
    let truth =
        values.iter().map(|(_, label)| label).sum::<f64>() / f64::from(u32::try_from(n).unwrap());
    let mut random = SplitMix64(14);
    let (mut covered, mut width, mut alone) = (0.0, 0.0, 0.0);
    for _ in 0..400 {
        let mut order: Vec<_> = (0..n).collect();
        for at in 0..100 {
            order.swap(at, at + random.below(n - at));
        }
        let item = |(place, item): (usize, &usize)| {
            let (judge, label) = values[*item];
            GradedItem {
                judge,
                label: (place < 100).then_some(label),
            }
        };
        let items: Vec<_> = order.iter().enumerate().map(item).collect();
        let found = JudgeCorrection::of(&items).unwrap();
        let [low, high] = found.corrected.ci95.unwrap();
        covered += if low <= truth && truth <= high {
            1.0
        } else {
            0.0
        };
        width += high - low;
        let [low, high] = found.labels.ci95.unwrap();
        alone += high - low;
    }
    (covered / 400.0, width / alone)
}

#[needs(data = "judging/pandalm_labels.jsonl.gz")]
#[test]
fn corrected_means_cover_the_truth_and_are_narrower() {
    let value = |verdict: u64| match verdict {
        1 => 1.0,
        2 => 0.0,
        _ => 0.5,
    };
    let rows = pandalm();
    let label = |row: &Value| {
        let human = row["human"].as_array().unwrap();
        let human: Vec<_> = human.iter().map(|label| label.as_u64().unwrap()).collect();
        let is_most = |label: &&u64| human.iter().filter(|other| other == label).count() > 1;
        value(*human.iter().find(is_most).unwrap())
    };
    let panda = rows
        .iter()
        .map(|row| (value(row["pandalm7b"].as_u64().unwrap()), label(row)));
    let gpt = rows
        .iter()
        .filter_map(|row| match row["gpt35"].as_str().unwrap() {
            "garbage" => None,
            "Tie" => Some((0.5, label(row))),
            number => Some((value(number.parse().unwrap()), label(row))),
        });
    for values in [panda.collect::<Vec<_>>(), gpt.collect()] {
        let (covered, width) = coverage(&values);
        assert!(covered >= 0.93 && width <= 0.90, "{covered} {width}");
    }
}

/// A calibration with this number of labels of these items, drawn at random.
fn drawn(values: &[(f64, f64)], population: &str, random: &mut SplitMix64) -> Calibration {
    let mut order: Vec<_> = (0..values.len()).collect();
    for at in 0..100 {
        order.swap(at, at + random.below(values.len() - at));
    }
    let answer = |item: &usize| {
        let (judge, label) = values[*item];
        let value = LabelledValue {
            label,
            judge: Some(judge),
        };
        CalibratedAnswer {
            id: item.to_string(),
            chosen: LabelChoice::Random,
            seed: None,
            cluster: None,
            labels: [].into(),
            values: [(VALUE.to_owned(), value)].into(),
            answer: String::new(),
        }
    };
    Calibration {
        format_version: Calibration::version(),
        eval: "e".to_owned(),
        scorer: "judge".to_owned(),
        fingerprint: String::new(),
        models: [].into(),
        run: "then".to_owned(),
        population: population.to_owned(),
        n: 100,
        picked: 0,
        doubts: Vec::new(),
        kappa: crate::data::calibration::CalibrationKappa::default(),
        self_agreement: None,
        figures: [].into(),
        answers: order[..100].iter().map(answer).collect(),
    }
}

/// For a run whose judge gives `PandaLM`'s verdicts, the intervals cover the mean by people at their nominal rate, and
/// labels of another agent's answers give no corrected figure.
#[needs(data = "judging/pandalm_labels.jsonl.gz")]
#[test]
fn corrected_mean_covers_human_labels() {
    let value = |verdict: u64| match verdict {
        1 => 1.0,
        2 => 0.0,
        _ => 0.5,
    };
    let values = pandalm().into_iter().map(|row| {
        let human = row["human"].as_array().unwrap();
        let human: Vec<_> = human.iter().map(|label| label.as_u64().unwrap()).collect();
        let is_most = |label: &&u64| human.iter().filter(|other| other == label).count() > 1;
        let label = value(*human.iter().find(is_most).unwrap());
        (value(row["pandalm7b"].as_u64().unwrap()), label)
    });
    let values: Vec<(f64, f64)> = values.collect();
    let answered = |agent: &str| {
        let mut items = JudgedItems::new("judge", Some("judge"));
        for (id, (verdict, _)) in values.iter().enumerate() {
            let score = Score::new(*verdict, *verdict > 0.5, "judged");
            let mut record = Record::scored(id.to_string(), score);
            record.result.output = Some(Output::text(format!("{agent} {id}")));
            items.add(&record);
        }
        items.finish()
    };
    let (items, population) = answered("one");
    let (others, other_population) = answered("other");
    assert_ne!(population, other_population);
    let labels = values.iter().map(|(_, label)| label);
    let truth = labels.sum::<f64>() / 999.0;
    let mut random = SplitMix64(16);
    let mut covered = 0;
    for _ in 0..1_000 {
        let calibration = drawn(&values, &population, &mut random);
        let judge = CalibratedJudge::of(&calibration, None, (items.clone(), &population), None);
        let found = judge.summary().corrected[VALUE];
        covered += u32::from((found.ci95[0]..=found.ci95[1]).contains(&truth));
    }
    let share = f64::from(covered) / 1_000.0;
    assert!(share >= 0.93, "{share}");
    let calibration = drawn(&values, &population, &mut random);
    let judge = CalibratedJudge::of(&calibration, None, (others, &other_population), None);
    assert!(judge.summary().corrected.is_empty());
    assert!(judge.summary().corrected_if_alike.contains_key(VALUE));
    let why = judge.corrected(VALUE, None).unwrap_err();
    assert!(why.starts_with("no labels of this run"), "{why}");
}
