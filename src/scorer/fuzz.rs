//! What the tests of scorers share: random answers with a fixed seed, and answers of a megabyte.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};

use super::{Answer, Context, Score, Scorer, from_value};
use crate::agent::Output;
use crate::error::Result;
use crate::sample::Target;
use crate::spec::Override;

/// The scorer of a spec such as `{ type: exact, trim: false }`.
pub(super) fn scorer(spec: &str) -> Arc<dyn Scorer> {
    let value = Override::value(spec).expect("YAML");
    from_value(&value, &Context::here()).unwrap_or_else(|error| panic!("{spec}: {error}"))
}

/// The message of the error that a spec is answered with.
pub(super) fn refusal(spec: &str) -> String {
    let value = Override::value(spec).expect("YAML");
    let error = from_value(&value, &Context::here()).err();
    error.expect("an error").to_string()
}

/// The verdict on an answer without metadata.
pub(super) fn judge(
    scorer: &dyn Scorer,
    prediction: Option<&str>,
    ground_truth: &Value,
) -> Result<Score> {
    let score = scorer.score(&Answer {
        prediction,
        target: &Target(ground_truth.clone()),
        output: &Output::default(),
        metadata: &Map::new(),
        sample: None,
        extract_is_given: false,
    })?;
    let is_legal = (0.0..=1.0).contains(&score.value);
    assert!(is_legal, "{prediction:?} {ground_truth} {score:?}");
    let is_missing = score.reason == "no_prediction";
    assert_eq!(is_missing, prediction.is_none(), "{score:?}");
    assert!(!(is_missing && score.correct), "{score:?}");
    Ok(score)
}

/// A table of cases: prediction, ground truth, verdict, value and reason.
pub(super) fn check_all(spec: &str, cases: &[(&str, Value, bool, f64, &str)]) {
    let scorer = scorer(spec);
    for (prediction, ground_truth, correct, value, reason) in cases {
        let score = judge(&*scorer, Some(prediction), ground_truth);
        let score = score.unwrap_or_else(|error| panic!("{prediction:?} {ground_truth}: {error}"));
        let got = (score.correct, score.reason.as_ref());
        assert_eq!(
            got,
            (*correct, *reason),
            "{spec} {prediction:?} {ground_truth} {score:?}"
        );
        assert!(
            (score.value - value).abs() < 1e-12,
            "{spec} {prediction:?} {ground_truth} {score:?}"
        );
    }
}

/// Random numbers, the same in every run.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).expect("small")
    }

    pub(super) fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    /// A text of the pieces, and of any characters at all now and then.
    pub(super) fn text(&mut self, pieces: &[&str]) -> String {
        let mut text = String::new();
        for _ in 0..self.below(7) {
            if self.below(6) > 0 {
                text += self.pick(pieces);
            } else if self.below(2) > 0 {
                text.push(char::from(u8::try_from(self.below(128)).expect("ASCII")));
            } else {
                let code = u32::try_from(self.below(0x11_0000)).expect("a code point");
                text.extend(char::from_u32(code));
            }
        }
        text
    }

    /// Any JSON of a few levels.
    pub(super) fn json(&mut self, pieces: &[&str], depth: usize) -> Value {
        match self.below(if depth == 0 { 5 } else { 8 }) {
            0 => Value::Null,
            1 => Value::Bool(self.below(2) > 0),
            2 => (self.below(4)).into(),
            3 => [0.5, 1.0, -2.0, 1e300, 2.5, 1.01][self.below(6)].into(),
            4 => self.text(pieces).into(),
            5 | 6 => (0..self.below(5))
                .map(|_| self.json(pieces, depth - 1))
                .collect::<Vec<_>>()
                .into(),
            _ => (0..self.below(4))
                .map(|_| {
                    (
                        self.pick(&["a", "b", "id", ""]).to_owned(),
                        self.json(pieces, depth - 1),
                    )
                })
                .collect::<Map<_, _>>()
                .into(),
        }
    }
}

/// Runs a property on random numbers, 1,000 times; a million times with `EVALTEST_FUZZ_CASES=1000000`.
pub(super) fn fuzz(mut property: impl FnMut(&mut Dice)) {
    let cases = std::env::var("EVALTEST_FUZZ_CASES").ok();
    let cases = cases.and_then(|cases| cases.parse().ok()).unwrap_or(1_000);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for _ in 0..cases {
        property(&mut dice);
    }
}

/// Scores megabytes of the pieces against each other, and against a short ground truth: that must not take
/// longer than linear time can.
pub(super) fn megabytes(specs: &[&str], short: &str, pieces: &[&str]) {
    // Unoptimised code gets a sixteenth, which still takes a quadratic scorer minutes.
    let size = if cfg!(debug_assertions) {
        1 << 16
    } else {
        1 << 20
    };
    for spec in specs {
        let scorer = scorer(spec);
        for (place, piece) in pieces.iter().enumerate() {
            let long = piece.repeat(size / piece.len());
            let other = pieces[(place + 1) % pieces.len()];
            let other = other.repeat(size / other.len());
            let almost = format!("{long}!");
            for truth in [&long, &almost, &other, short] {
                let start = Instant::now();
                // A ground truth that the scorer cannot read is an error in no time.
                let _ = judge(&*scorer, Some(&long), &truth.into());
                let seconds = start.elapsed().as_secs();
                assert!(seconds < 20, "{spec} took {seconds} s for {piece:?}");
            }
        }
    }
}
