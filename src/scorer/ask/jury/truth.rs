//! `LabelTruths`: labels of items by people, to compare a jury with.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::{Value, json};

use crate::data::labels::{ItemLabels, LabelClass, read_labels};
use crate::error::{Error, Result};
use crate::scorer::ask::judge::rubric::{Choices, Grading, Rubric};
use crate::text::excerpt;

/// The labels of one item, combined.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Truth {
    /// The choice of more than half of the people.
    Choice(String),
    /// Their mean: of the total, and of each labelled dimension.
    Points {
        total: f64,
        dimensions: BTreeMap<usize, f64>,
    },
}

/// The truth by item id. Items whose labels are not decisive are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LabelTruths(pub(super) HashMap<String, Truth>);

impl Truth {
    /// The form for the record of a call.
    pub(super) fn details(&self) -> Value {
        match self {
            Self::Choice(name) => json!(name),
            Self::Points { total, .. } => json!(total),
        }
    }
}

impl LabelTruths {
    /// Reads a file of labels.
    ///
    /// # Errors
    /// When it is invalid, or has a label that no judge of the jury could give.
    pub(super) fn read(path: &Path, grading: &Grading) -> Result<Self> {
        let mut truths = HashMap::new();
        for item in read_labels(path)? {
            let truth = match grading {
                Grading::Choices(choices) => of_choices(&item, choices),
                Grading::Rubric(rubric) => of_rubric(&item, rubric),
            };
            let at = |error: Error| error.at(format_args!("{}:{}", path.display(), item.line));
            if let Some(truth) = truth.map_err(at)? {
                truths.insert(item.id, truth);
            }
        }
        Ok(Self(truths))
    }

    pub(super) fn of(&self, id: Option<&str>) -> Option<&Truth> {
        self.0.get(id?)
    }
}

fn of_choices(item: &ItemLabels, choices: &Choices) -> Result<Option<Truth>> {
    let mut votes = BTreeMap::<&str, usize>::new();
    for label in &item.whole {
        if choices.named(label.text()).is_none() {
            let offered = choices.offered.iter().map(|choice| &*choice.name);
            let offered: Vec<_> = offered.collect();
            let message = format!(
                "id `{}` has the label `{}`, which is not a choice of the judges",
                item.id,
                excerpt(label.text())
            );
            return Err(
                Error::usage(message).hint(format!("write one of `{}`", offered.join("`, `")))
            );
        }
        *votes.entry(label.text()).or_default() += 1;
    }
    let most = votes.into_iter().find(|it| 2 * it.1 > item.whole.len());
    Ok(most.map(|(name, _)| Truth::Choice(name.to_owned())))
}

fn of_rubric(item: &ItemLabels, rubric: &Rubric) -> Result<Option<Truth>> {
    let mut dimensions = BTreeMap::new();
    for (name, labels) in &item.dimensions {
        let place = rubric.dimensions.iter().position(|it| it.name == *name);
        let Some(place) = place else {
            let known = rubric.dimensions.iter().map(|it| &*it.name);
            let known: Vec<_> = known.collect();
            let message = format!(
                "id `{}` has a label for `{}`, which is not a dimension of the judges",
                item.id,
                excerpt(name)
            );
            return Err(
                Error::usage(message).hint(format!("write one of `{}`", known.join("`, `")))
            );
        };
        let ends = rubric.dimensions[place].ends();
        if let Some(mean) = mean(item, labels, ends)? {
            dimensions.insert(place, mean);
        }
    }
    let ends = [rubric.lowest(), rubric.highest()];
    let whole = mean(item, &item.whole, ends)?;
    let all: Option<Vec<f64>> = (0..rubric.dimensions.len())
        .map(|place| dimensions.get(&place).copied())
        .collect();
    let total = whole.or(all.map(|points| rubric.total_of(&points)));
    Ok(total.map(|total| Truth::Points { total, dimensions }))
}

/// The mean of labels; `None` if there are none.
fn mean(item: &ItemLabels, labels: &[LabelClass], [low, high]: [f64; 2]) -> Result<Option<f64>> {
    let number = |label: &LabelClass| {
        let number = label.number();
        number
            .filter(|number| (low..=high).contains(number))
            .ok_or_else(|| {
                let message = format!(
                    "id `{}` has the label `{}`, which is not a number from {low} to {high}",
                    item.id,
                    excerpt(label.text())
                );
                Error::usage(message).hint("write points on the scale of the judges")
            })
    };
    let numbers: Result<Vec<f64>> = labels.iter().map(number).collect();
    Ok(crate::stats::mean(&numbers?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(grading: &Value, lines: &str, expect: Result<&[(&str, Truth)], &str>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("l.jsonl");
        std::fs::write(&path, lines).unwrap();
        let found = LabelTruths::read(&path, &Grading::inline(grading));
        match expect {
            Ok(expect) => {
                let expect = expect.iter();
                let expect = expect.map(|(id, truth)| ((*id).to_owned(), truth.clone()));
                assert_eq!(found.unwrap().0, expect.collect());
            }
            Err(expect) => {
                let found = found.unwrap_err().to_string();
                let found = found.replace(&path.display().to_string(), "l.jsonl");
                let found = found.replace("\n\nhint", "; hint");
                assert_eq!(found, expect);
            }
        }
    }

    #[test]
    fn a_choice_is_that_of_more_than_half() {
        let grading = json!({ "choices": { "1": 1, "2": 0 } });
        let lines = "{\"id\": \"a\", \"labels\": [1, \"1\", 2]}\n{\"id\": \"b\", \"labels\": [1, 2]}\n\
                     {\"id\": \"c\", \"label\": \"2\"}\n";
        let choice = |name: &str| Truth::Choice(name.to_owned());
        check(
            &grading,
            lines,
            Ok(&[("a", choice("1")), ("c", choice("2"))]),
        );
        check(
            &grading,
            "{\"id\": \"a\", \"label\": 1}\n{\"id\": \"b\", \"label\": \"tie\"}\n",
            Err(
                "l.jsonl:2: id `b` has the label `tie`, which is not a choice of the judges; hint: write one of `1`, \
                 `2`",
            ),
        );
    }

    #[test]
    fn points_are_means_of_the_whole_or_of_all_dimensions() {
        let grading =
            json!({ "rubric": { "dimensions": [{ "name": "x" }, { "name": "y", "weight": 3 }] } });
        let points = |total, dimensions: &[(usize, f64)]| Truth::Points {
            total,
            dimensions: dimensions.iter().copied().collect(),
        };
        let lines = "{\"id\": \"a\", \"labels\": [4, 5]}\n{\"id\": \"b\", \"label\": {\"x\": 1, \"y\": 5}}\n\
                     {\"id\": \"c\", \"label\": {\"x\": 1}}\n";
        check(
            &grading,
            lines,
            Ok(&[
                ("a", points(4.5, &[])),
                ("b", points(4.0, &[(0, 1.0), (1, 5.0)])),
            ]),
        );
        for (label, expect) in [
            (
                "\"good\"",
                "l.jsonl:1: id `a` has the label `good`, which is not a number from 1 to 5; hint: write points on the \
                 scale of \
                 the judges",
            ),
            (
                "6",
                "l.jsonl:1: id `a` has the label `6`, which is not a number from 1 to 5; hint: write points on the \
                 scale of the \
                 judges",
            ),
            (
                "{\"z\": 1}",
                "l.jsonl:1: id `a` has a label for `z`, which is not a dimension of the judges; hint: write one of \
                 `x`, `y`",
            ),
        ] {
            let line = format!("{{\"id\": \"a\", \"label\": {label}}}\n");
            check(&grading, &line, Err(expect));
        }
    }
}
