//! `Graded`: a judge's verdict, and the resulting score.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::reading::Reading;
use super::rubric::{Choices, Grading, Rubric};
use crate::data::{JudgeRule, Score};

/// A verdict read from a reply.
pub(in crate::scorer::ask) struct Graded {
    pub(in crate::scorer::ask) verdict: GradedAs,
    pub(in crate::scorer::ask) correct: bool,
    /// The comments next to it.
    pub(in crate::scorer::ask) comments: String,
    repaired: u32,
}

pub(in crate::scorer::ask) enum GradedAs {
    /// Points by dimension, in order, and their total.
    Points(Vec<i64>, f64),
    /// The name of a choice, and its value.
    Choice(String, f64),
}

impl Graded {
    /// The verdict in a reading.
    pub(super) fn of(grading: &Grading, reading: Reading) -> Self {
        let comments = comments(&reading);
        let repaired = reading.repaired;
        let (verdict, correct) = match grading {
            Grading::Rubric(rubric) => {
                let values = reading.values.unwrap_or_default();
                let names = rubric.dimensions.iter().map(|one| &one.name);
                let points = names.map(|name| values.get(name).and_then(whole));
                let points: Vec<i64> = points.map(Option::unwrap_or_default).collect();
                let total = rubric.total(&points);
                (GradedAs::Points(points, total), total >= rubric.pass)
            }
            Grading::Choices(choices) => {
                let name = reading.verdict.as_ref().and_then(Value::as_str);
                let name = name.unwrap_or_default().to_owned();
                let value = choices.named(&name).map_or(0.0, |choice| choice.value);
                (GradedAs::Choice(name, value), value >= choices.pass)
            }
        };
        Self {
            verdict,
            correct,
            comments,
            repaired,
        }
    }

    pub(super) fn score(&self, grading: &Grading) -> Score {
        let reason = if self.correct { "passed" } else { "below_pass" };
        let score = match (&self.verdict, grading) {
            (GradedAs::Points(points, total), Grading::Rubric(rubric)) => {
                let score = Score::new(rubric.value(points), self.correct, reason);
                let dimensions = rubric.dimensions.iter().zip(points);
                let score = dimensions.fold(score, |score, (dimension, points)| {
                    score.detail(dimension.name.clone(), *points)
                });
                score
                    .detail("total", *total)
                    .detail("excellent", *total >= rubric.excellent)
            }
            (GradedAs::Choice(name, value), _) => {
                Score::new(*value, self.correct, reason).detail("verdict", name.as_str())
            }
            (GradedAs::Points(..), _) => Score::new(0.0, false, reason),
        };
        let score = score.detail("comments", self.comments.as_str());
        match self.repaired {
            0 => score,
            repaired => score.detail("repaired", repaired),
        }
    }

    /// A repeated verdict, for the details of the first.
    pub(super) fn details(&self) -> Value {
        match &self.verdict {
            GradedAs::Points(_, total) => json!({ "total": total, "correct": self.correct }),
            GradedAs::Choice(name, _) => json!({ "verdict": name, "correct": self.correct }),
        }
    }

    /// Whether another verdict is the same: the points of every dimension, or the choice. It is not enough that both
    /// pass, as even random points above the limit would.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        match (&self.verdict, &other.verdict) {
            (GradedAs::Choice(one, _), GradedAs::Choice(other, _)) => one == other,
            (GradedAs::Points(one, _), GradedAs::Points(other, _)) => one == other,
            _ => false,
        }
    }
}

fn whole(value: &Value) -> Option<i64> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the reader lets whole points pass alone"
    )]
    value
        .as_i64()
        .or_else(|| value.as_f64().map(|value| value as i64))
}

/// The comments of a reply, or its reason if there are none.
fn comments(reading: &Reading) -> String {
    let text = |name: &str| {
        let text = reading.comments.get(name)?.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    text("comments")
        .or_else(|| text("reason"))
        .unwrap_or_default()
}

/// The names of details that have a mean.
pub(in crate::scorer::ask) fn details(grading: &Grading, repeats: u32) -> Vec<Cow<'static, str>> {
    let mut names: Vec<Cow<'static, str>> = match grading {
        Grading::Rubric(Rubric { dimensions, .. }) => dimensions
            .iter()
            .map(|one| Cow::Owned(one.name.clone()))
            .chain(["total", "excellent"].map(Cow::Borrowed))
            .collect(),
        Grading::Choices(Choices { .. }) => Vec::new(),
    };
    if repeats > 1 {
        names.push("self_agreement".into());
    }
    names
}

/// The bounds of details.
pub(in crate::scorer::ask) fn bounds(grading: &Grading) -> Vec<(Cow<'static, str>, [f64; 2])> {
    let ends = |[low, high]: [i64; 2]| {
        let end = |points: i64| f64::from(i32::try_from(points).unwrap_or(i32::MAX));
        [end(low), end(high)]
    };
    match grading {
        Grading::Rubric(rubric) => rubric
            .dimensions
            .iter()
            .map(|one| (Cow::Owned(one.name.clone()), ends(one.scale)))
            .chain([
                ("total".into(), [rubric.lowest(), rubric.highest()]),
                ("excellent".into(), [0.0, 1.0]),
            ])
            .collect(),
        Grading::Choices(_) => Vec::new(),
    }
}

/// How labels become figures.
pub(in crate::scorer::ask) fn rule(grading: &Grading) -> JudgeRule {
    match grading {
        Grading::Rubric(rubric) => {
            let dimensions = rubric.dimensions.iter();
            let weights = dimensions.map(|one| (one.name.clone(), one.weight));
            JudgeRule {
                pass: Some(rubric.pass),
                weights: weights.collect(),
                ..JudgeRule::default()
            }
        }
        Grading::Choices(choices) => {
            let offered = choices.offered.iter();
            let values = offered.map(|one| (one.name.clone(), one.value));
            JudgeRule {
                pass: Some(choices.pass),
                choices: values.collect(),
                ..JudgeRule::default()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorer::ask::judge::reading;

    #[test]
    fn repeats_agree_by_every_point() {
        let grading = Grading::inline(
            &json!({ "rubric": { "dimensions": [{ "name": "a" }, { "name": "b" }] } }),
        );
        let graded = |a: i64, b: i64| {
            let text = json!({ "a": a, "b": b }).to_string();
            Graded::of(
                &grading,
                reading::rubric(&text, &[("a", [1, 5]), ("b", [1, 5])]),
            )
        };
        assert!(graded(4, 5).agrees(&graded(4, 5)));
        // Both pass, with the same total but different points.
        assert!(!graded(4, 5).agrees(&graded(5, 4)));
        assert!(!graded(5, 5).agrees(&graded(5, 4)));
        let grading = Grading::inline(&json!({ "choices": { "a": 1, "b": 1, "c": 0 } }));
        let graded = |name: &str| {
            let text = json!({ "verdict": name }).to_string();
            Graded::of(&grading, reading::choices(&text, &["a", "b", "c"]))
        };
        assert!(graded("a").agrees(&graded("a")));
        assert!(!graded("a").agrees(&graded("b")));
    }
}
