//! Whether the judges of a jury have the same grading, which is required to combine their verdicts.

use serde_json::{Value, json};

use crate::scorer::ask::judge::rubric::{Grading, Rubric};

/// What to do if gradings differ.
pub(super) const HINT: &str = "give all judges the same names, scales, weights, values and limits";

/// What must be the same: names, scales and weights of dimensions in order, names and values of choices in any order,
/// and the limits. Descriptions may differ.
fn comparable(grading: &Grading) -> Value {
    let (parts, limits): (Vec<Value>, Value) = match grading {
        Grading::Rubric(rubric) => {
            let parts = rubric.dimensions.iter();
            let parts = parts.map(|one| json!([one.name, one.scale, one.weight]));
            (parts.collect(), json!([rubric.pass, rubric.excellent]))
        }
        Grading::Choices(choices) => {
            let parts = choices.offered.iter();
            let parts = parts.map(|one| json!([one.name, one.value]));
            let mut parts: Vec<Value> = parts.collect();
            parts.sort_by_key(Value::to_string);
            (parts, json!([choices.pass]))
        }
    };
    json!([matches!(grading, Grading::Rubric(_)), parts, limits])
}

/// What differs, in words; `None` if nothing does.
pub(super) fn difference(first: &Grading, other: &Grading) -> Option<&'static str> {
    if comparable(first) == comparable(other) {
        return None;
    }
    Some(match (first, other) {
        (Grading::Rubric(one), Grading::Rubric(two)) => {
            let names = |rubric: &Rubric| {
                let names = rubric.dimensions.iter();
                let names = names.map(|one| (one.name.clone(), one.scale));
                names.collect::<Vec<_>>()
            };
            if names(one) == names(two) {
                "by other weights or limits than the first"
            } else {
                "by other dimensions than the first"
            }
        }
        (Grading::Choices(_), Grading::Choices(_)) => "by other choices than the first",
        (Grading::Rubric(_), _) => "by choices, and the first by a rubric",
        _ => "by a rubric, and the first by choices",
    })
}
