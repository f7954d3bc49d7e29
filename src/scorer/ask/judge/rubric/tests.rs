//! What is read, what is rejected and where, and how totals are computed.

#![expect(
    clippy::float_cmp,
    reason = "totals are exact on paper, and are to be here"
)]

use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::data::yaml_places::YamlPlaces;
use crate::error::{Error, Result};
use crate::scorer::{Entry, Maker, OptionReader};
use crate::text::yaml;

static ENTRY: Entry = Entry {
    name: "judge",
    summary: "",
    rule: "",
    options: &[
        ("rubric", ""),
        ("choices", ""),
        ("pass", ""),
        ("excellent", ""),
    ],
    examples: &[],
    make: |_| Err(Error::usage("not made here")),
};

fn read_in(folder: &Path, options: &str) -> Result<Grading> {
    let Value::Object(given) = yaml::read_json(options).unwrap() else {
        panic!("no map: {options}");
    };
    let maker = Maker::new(
        folder,
        |_, _| Err(Error::usage("no scorers here")),
        |_, _| Err(Error::usage("no agents here")),
        |_, _| Err(Error::usage("no benchmarks here")),
    );
    Grading::from_options(&OptionReader::new(&ENTRY, &given, &maker)?)
}

impl Grading {
    /// The grading of these options, for tests.
    pub(in crate::scorer::ask) fn inline(options: &Value) -> Self {
        read(&options.to_string()).unwrap()
    }
}

fn read(options: &str) -> Result<Grading> {
    read_in(Path::new("/nowhere"), options)
}

fn rubric(options: &str) -> Rubric {
    match read(options) {
        Ok(Grading::Rubric(rubric)) => rubric,
        other => panic!("{options}: {other:?}"),
    }
}

fn choices(options: &str) -> Choices {
    match read(options) {
        Ok(Grading::Choices(choices)) => choices,
        other => panic!("{options}: {other:?}"),
    }
}

/// Checks the message, the place in the options, and the hint.
fn check(options: &str, message: &str, place: &str, hint: &str) {
    let error = read(options).expect_err(options);
    assert_eq!(error.exit(), crate::exit::Exit::Usage);
    assert_eq!(
        error.message(),
        format!("scorer `judge`, {message}"),
        "{options}"
    );
    let at = YamlPlaces::of(options).at(error.key_path().expect(options));
    assert_eq!(
        at.map(|at| at.to_string()).as_deref(),
        Some(place),
        "{options}"
    );
    let hint_text = error.hint_text().unwrap_or_default();
    assert!(
        hint_text.contains(hint) && !hint_text.is_empty(),
        "{options}: {hint_text}"
    );
}

#[test]
fn a_rubric_is_read_with_its_defaults() {
    let read = rubric("rubric: { dimensions: [{ name: clarity }] }");
    let clarity = Dimension {
        name: "clarity".to_owned(),
        description: String::new(),
        weight: 1.0,
        scale: [1, 5],
        examples: Vec::new(),
    };
    let expect = Rubric {
        instructions: None,
        dimensions: vec![clarity],
        pass: 3.5,
        excellent: 4.5,
        defaults: vec!["pass", "excellent"],
    };
    assert_eq!(read, expect);
    let read = rubric(
        "rubric:
  instructions: ' Be strict. '
  dimensions:
    - { name: Mathematical rigour, description: every step, weight: 2.5, scale: [0, 10], examples: [
        a proof gets 10, { score: 0, answer: none }, { score: 3, answer: half, reason: no end } ] }
    - { name: 正確-2_b, scale: [-1, 1] }
  pass: 5
  excellent: 7
",
    );
    assert_eq!(read.instructions.as_deref(), Some("Be strict."));
    assert_eq!((read.pass, read.excellent), (5.0, 7.0));
    let [rigour, other] = &read.dimensions[..] else {
        panic!("{read:?}");
    };
    assert_eq!(
        (rigour.weight, rigour.scale, other.scale),
        (2.5, [0, 10], [-1, 1])
    );
    let graded = |score, answer: &str, reason: Option<&str>| GradedExample::Graded {
        score,
        answer: Some(answer.to_owned()),
        reason: reason.map(str::to_owned),
    };
    let text = GradedExample::Text("a proof gets 10".to_owned());
    let examples = [
        text,
        graded(0, "none", None),
        graded(3, "half", Some("no end")),
    ];
    assert_eq!(rigour.examples, examples);
    assert_eq!(other.name, "正確-2_b");
}

#[test]
fn options_go_before_the_limits_of_a_rubric() {
    let read = rubric("{ rubric: aime, pass: 4, excellent: 5 }");
    assert_eq!((read.pass, read.excellent), (4.0, 5.0));
    assert_eq!(choices("{ rubric: qa, pass: 0.5 }").pass, 0.5);
    // Only instructions, with choices next to them.
    let read = choices(
        "{ rubric: { instructions: Be kind. }, choices: { a: 1, b: { value: 0, description: else } } }",
    );
    assert_eq!(read.instructions.as_deref(), Some("Be kind."));
    assert_eq!(
        read.named("b").unwrap().description.as_deref(),
        Some("else")
    );
    assert_eq!(read.named("B"), None);
    assert_eq!((read.pass, read.offered[0].name.as_str()), (1.0, "a"));
    // If no total reaches 4.5, the highest is excellent.
    let read = rubric("{ rubric: { dimensions: [{ name: a, scale: [1, 4] }] }, pass: 2 }");
    assert_eq!((read.pass, read.excellent), (2.0, 4.0));
    // Null counts as not given.
    assert_eq!(rubric("{ rubric: aime, choices: ~, pass: ~ }").pass, 3.5);
}

#[test]
fn mismatched_scales_are_reported() {
    fn check(options: &str, expect: &[&str]) {
        assert_eq!(read(options).unwrap().notices(), expect, "{options}");
    }
    let ten = "rubric: { dimensions: [{ name: a, scale: [0, 10] }] }";
    check(
        &format!("{{ {ten} }}"),
        &[
            "totals go from 0 to 10, and by defaults meant for 1 to 5 an answer passes from 3.5 and is excellent from 4.5: \
           write `pass: 6.25` and `excellent: 8.75`, or other values",
        ],
    );
    check(
        &format!("{{ {ten}, pass: 6 }}"),
        &[
            "totals go from 0 to 10, and by defaults meant for 1 to 5 an answer is excellent from 4.5: \
           write `excellent: 8.75`, or other values",
        ],
    );
    check(&format!("{{ {ten}, pass: 6, excellent: 9 }}"), &[]);
    check("rubric: aime", &[]);
    check("rubric: qa", &[]);
    check("rubric: { dimensions: [{ name: a }] }", &[]);
    check(
        "{ rubric: { dimensions: [{ name: a }, { name: b, scale: [0, 10] }] }, pass: 5, excellent: 7 }",
        &[
            "the scales of its dimensions differ (`a` 1 to 5, `b` 0 to 10), and the total is the mean of points as they \
           are: longer scales count more, in addition to `weight`",
        ],
    );
}

#[test]
fn totals_are_weighted_means() {
    let read = rubric("rubric: { dimensions: [{ name: a, weight: 3 }, { name: b }] }");
    assert_eq!(read.total(&[5, 1]), 4.0);
    assert_eq!((read.lowest(), read.highest()), (1.0, 5.0));
    assert_eq!(
        [[1, 1], [5, 1], [5, 5]].map(|points| read.value(&points)),
        [0.0, 0.75, 1.0]
    );
    let read = rubric(
        "rubric: { dimensions: [{ name: a, scale: [0, 10] }, { name: b, weight: 3, scale: [-4, 2] }] }",
    );
    assert_eq!((read.lowest(), read.highest()), (-3.0, 4.0));
    assert_eq!(read.total(&[10, -4]), -0.5);
    let thirds = rubric("rubric: { dimensions: [{ name: a }, { name: b }, { name: c }] }");
    assert_eq!(thirds.total(&[1, 2, 4]), 2.333_333_333_333);
    assert!((thirds.value(&[1, 2, 4]) - 1.0 / 3.0).abs() < 1e-15);
    // Rounding does not put a total below a limit that it equals.
    let dimensions = |weights: [f64; 3]| {
        let each = weights.iter().zip(["a", "b", "c"]);
        let each = each.map(|(weight, name)| json!({ "name": name, "weight": weight }));
        let rubric = json!({ "rubric": { "dimensions": each.collect::<Vec<_>>() } });
        super::tests::rubric(&rubric.to_string())
    };
    for weights in [
        [0.1, 0.2, 0.7],
        [0.3, 0.3, 0.4],
        [1e-300, 1e-300, 1e-300],
        [1e300, 3e300, 7e306],
    ] {
        for points in 1..=5_u8 {
            let total = dimensions(weights).total(&[points.into(); 3]);
            assert_eq!(total, f64::from(points), "{weights:?}");
        }
    }
    assert_eq!(dimensions([0.1, 0.2, 0.7]).total(&[4, 3, 4]), 3.8);
}

#[test]
fn what_is_canonical_changes_with_every_verdict() {
    let of = |options: &str| read(options).unwrap().canonical().to_string();
    let all = [
        "rubric: { dimensions: [{ name: a }, { name: b }] }",
        "rubric: { dimensions: [{ name: b }, { name: a }] }",
        "rubric: { dimensions: [{ name: a, weight: 2 }, { name: b }] }",
        "rubric: { dimensions: [{ name: a, scale: [1, 6] }, { name: b }] }",
        "rubric: { dimensions: [{ name: a, description: x }, { name: b }] }",
        "rubric: { dimensions: [{ name: a, examples: [x] }, { name: b }] }",
        "rubric: { dimensions: [{ name: a }, { name: b }], instructions: x }",
        "rubric: { dimensions: [{ name: a }, { name: b }], pass: 4 }",
        "{ rubric: { dimensions: [{ name: a }, { name: b }] }, excellent: 4 }",
        "choices: { a: 1, b: 0 }",
        "choices: { b: 0, a: 1 }",
        "choices: { a: 1, b: 0.5 }",
        "choices: { a: 1, b: { value: 0, description: x } }",
        "{ choices: { a: 1, b: 0 }, pass: 0.5 }",
    ];
    let all = all.map(of);
    for (place, one) in all.iter().enumerate() {
        assert!(!all[..place].contains(one), "{one}");
    }
    // But not by its source.
    let ready = json!({ "rubric": yaml::read_json(ready::READY[0].text).unwrap() });
    assert_eq!(of(&ready.to_string()), of("rubric: aime"));
    assert_eq!(
        of("rubric: { choices: { a: 1, b: 0 } }"),
        of("choices: { a: 1, b: 0 }")
    );
}

#[test]
fn default_inputs_of_judge() {
    let sees = |options: &str| read(options).unwrap().default_sees().to_vec();
    assert_eq!(sees("rubric: qa"), ["prompt", "prediction", "ground_truth"]);
    for options in [
        "rubric: aime",
        "choices: { a: 1, b: 0 }",
        "rubric: { choices: { a: 1, b: 0 } }",
    ] {
        assert_eq!(sees(options), ["prompt", "prediction"], "{options}");
    }
}

#[test]
fn every_ready_rubric_is_sound() {
    for ready in ready::READY {
        let grading = read(&format!("rubric: {}", ready.name)).unwrap();
        assert!(!ready.summary.is_empty() && ready.text.starts_with("# "));
        let Grading::Rubric(rubric) = grading else {
            assert_eq!(ready.name, "qa");
            continue;
        };
        assert_eq!(
            (rubric.pass, rubric.excellent),
            (3.5, 4.5),
            "{}",
            ready.name
        );
        assert!(rubric.instructions.is_some());
        let names: Vec<_> = rubric
            .dimensions
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        let weights = rubric.dimensions.iter().map(|one| one.weight);
        for one in &rubric.dimensions {
            assert_eq!(one.scale, [1, 5]);
            for points in ["5: ", "3: ", "1: "] {
                assert!(
                    one.description.contains(points),
                    "{}.{}",
                    ready.name,
                    one.name
                );
            }
        }
        if ready.name == "aime" {
            let expect = ["correctness", "clarity", "difficulty_match", "completeness"];
            assert_eq!(names, expect);
            assert!(weights.clone().all(|weight| weight == 1.0));
            continue;
        }
        assert!(
            weights
                .clone()
                .any(|weight| weight != rubric.dimensions[0].weight)
        );
        for one in &rubric.dimensions {
            assert!(one.examples.len() >= 2, "{}.{}", ready.name, one.name);
            for example in &one.examples {
                let is_whole = matches!(
                    example,
                    GradedExample::Graded {
                        answer: Some(_),
                        reason: Some(_),
                        ..
                    }
                );
                assert!(is_whole, "{example:?}");
            }
        }
    }
    let qa = choices("rubric: qa");
    let values: Vec<_> = qa
        .offered
        .iter()
        .map(|one| (one.name.as_str(), one.value))
        .collect();
    assert_eq!(values, [("correct", 1.0), ("partial", 0.5), ("wrong", 0.0)]);
    assert!(qa.offered.iter().all(|one| one.description.is_some()));
    assert_eq!(qa.pass, 1.0);
}

mod files;
mod refused;
