//! What people say of an answer, as the figures that a judge gives.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::items::{CORRECT, JudgedItem, TOTAL, VALUE, VERDICT};
use crate::data::JudgeRule;
use crate::data::labels::{ItemLabels, LabelClass};
use crate::error::{Error, Result, nearest};
use crate::stats::mean;

/// The figures that a judge gives, and how labels become such.
#[derive(Clone, Debug)]
pub(crate) struct PeoplesFigures<'a> {
    rule: &'a JudgeRule,
    /// The lowest and the highest of figures, where that is known.
    bounds: Option<&'a BTreeMap<String, [f64; 2]>>,
    /// What it gives in numbers.
    numbers: BTreeSet<&'a str>,
    has_verdicts: bool,
}

/// What people say of an answer, by figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SaidOfAnswer {
    /// What each of them says.
    pub(crate) classes: BTreeMap<String, Vec<LabelClass>>,
    /// What that amounts to: the mean of numbers, the majority of what is none.
    pub(crate) values: BTreeMap<String, f64>,
}

impl<'a> PeoplesFigures<'a> {
    /// Those of a judge that said this of a run.
    pub(crate) fn of(
        items: &'a [JudgedItem],
        rule: &'a JudgeRule,
        bounds: Option<&'a BTreeMap<String, [f64; 2]>>,
    ) -> Self {
        let given = items.iter().map(|item| &item.first);
        let numbers = given.clone().flat_map(|given| given.numbers.keys());
        let dimensions = rule.weights.keys();
        Self {
            rule,
            bounds,
            numbers: numbers.chain(dimensions).map(String::as_str).collect(),
            has_verdicts: !rule.choices.is_empty()
                || given.clone().any(|given| given.verdict.is_some()),
        }
    }

    /// What people say of an item, in these figures.
    ///
    /// # Errors
    ///
    /// For a dimension that the judge does not have, and a label that is none of what it gives.
    pub(crate) fn said(&self, labels: &ItemLabels) -> Result<SaidOfAnswer> {
        let mut said = SaidOfAnswer::default();
        for label in &labels.whole {
            let figure = self.figure_of(label)?;
            said.add(figure, label.clone());
        }
        for (name, given) in &labels.dimensions {
            let is_verdict = self.has_verdicts && name == VERDICT;
            if !is_verdict && !self.numbers.contains(name.as_str()) {
                return Err(self.unknown(name));
            }
            for label in given {
                if name == VERDICT {
                    self.check_choice(label)?;
                }
                said.add(name, label.clone());
            }
        }
        for (figure, classes) in &said.classes {
            let value = match figure.as_str() {
                VERDICT => None,
                CORRECT => majority(classes).and_then(LabelClass::truth).map(share),
                figure => Some(self.points(figure, classes)?),
            };
            if let Some(value) = value {
                said.values.insert(figure.clone(), value);
            }
        }
        self.derive(&mut said);
        Ok(said)
    }

    /// What a label of the whole answer is of.
    fn figure_of(&self, label: &LabelClass) -> Result<&'static str> {
        let points = if self.numbers.contains(TOTAL) || !self.rule.weights.is_empty() {
            TOTAL
        } else {
            VALUE
        };
        let is_choice = self.rule.choices.contains_key(label.text());
        Ok(match (is_choice, label.truth(), label.number()) {
            (true, ..) => VERDICT,
            (false, Some(_), _) => CORRECT,
            (false, None, Some(_)) => points,
            (false, None, None) if self.has_verdicts => {
                self.check_choice(label)?;
                VERDICT
            }
            (false, None, None) => {
                return Err(Error::usage(format!(
                    "the judge gives points, and the label is `{}`",
                    label.text()
                ))
                .hint("label with numbers, or with true and false for what is correct"));
            }
        })
    }

    fn check_choice(&self, label: &LabelClass) -> Result<()> {
        let choices = &self.rule.choices;
        if choices.is_empty() || choices.contains_key(label.text()) {
            return Ok(());
        }
        let legal: Vec<&str> = choices.keys().map(String::as_str).collect();
        let told = format!("the judge's choices are `{}`", legal.join("`, `"));
        let near = nearest(label.text(), legal).map(|near| format!("did you mean `{near}`? "));
        let message = format!("`{}` is no choice of the judge", label.text());
        Err(Error::usage(message).hint(near.unwrap_or_default() + &told))
    }

    /// The mean of what people give a figure that is a number.
    fn points(&self, figure: &str, labels: &[LabelClass]) -> Result<f64> {
        let bounds = self.bounds.and_then(|bounds| bounds.get(figure)).copied();
        let unit = (figure == VALUE).then_some([0.0, 1.0]);
        let number = |label: &LabelClass| {
            let number = label.number().or_else(|| label.truth().map(share));
            let number = number.ok_or_else(|| {
                Error::usage(format!("`{}` is no number, as `{figure}` is", label.text()))
                    .hint("label it with a number")
            })?;
            match bounds.or(unit) {
                Some([low, high]) if !(low..=high).contains(&number) => Err(Error::usage(format!(
                    "the label {number} is off the scale of `{figure}`, {low} to {high}"
                ))
                .hint("label on the scale of the judge")),
                _ => Ok(number),
            }
        };
        let numbers = labels.iter().map(number).collect::<Result<Vec<_>>>()?;
        mean(&numbers).ok_or_else(|| Error::usage(format!("`{figure}` has no label")))
    }

    /// What follows from what is said: the total from all dimensions, the value of a verdict, and what is correct.
    fn derive(&self, said: &mut SaidOfAnswer) {
        if let Some(total) = self.rule.total(&said.values) {
            said.derived(TOTAL, &[json!(total)], total);
        }
        if let (Some((only, _)), 1) = (self.rule.weights.iter().next(), self.rule.weights.len())
            && let Some(total) = said.values.get(TOTAL).copied()
        {
            // Of one dimension the points are the total.
            let each: Vec<Value> = said.classes[TOTAL]
                .iter()
                .map(LabelClass::to_value)
                .collect();
            said.derived(only, &each, total);
        }
        let choice = said.classes.get(VERDICT).and_then(|it| majority(it));
        let choice = choice.cloned();
        let value = choice
            .as_ref()
            .and_then(|choice| self.rule.choices.get(choice.text()).copied());
        if let Some(value) = value {
            said.derived(VALUE, &[json!(value)], value);
        }
        self.derive_rates(choice.as_ref(), said);
        let points = [VERDICT, TOTAL]
            .iter()
            .find(|name| said.classes.contains_key(**name));
        let Some(points) = points else { return };
        let each = said.classes[*points].iter().filter_map(|class| {
            let number = match *points {
                VERDICT => self.rule.choices.get(class.text()).copied(),
                _ => class.number(),
            };
            self.rule.is_correct(number?).map(Value::from)
        });
        let each: Vec<_> = each.collect();
        let mean = match *points {
            VERDICT => value,
            _ => said.values.get(TOTAL).copied(),
        };
        if let Some(is) = mean.and_then(|mean| self.rule.is_correct(mean)) {
            said.derived(CORRECT, &each, share(is));
        }
    }

    /// Where the judge counts each choice by its name, as `win`, `tie` and `loss` of pairs, so do people. How far the two
    /// agree on one of them is told by the verdict.
    fn derive_rates(&self, choice: Option<&LabelClass>, said: &mut SaidOfAnswer) {
        let Some(choice) = choice else { return };
        let names = self.rule.choices.keys();
        for name in names.filter(|name| self.numbers.contains(name.as_str())) {
            let value = share(choice.text() == name);
            said.values.entry(name.clone()).or_insert(value);
        }
    }

    fn unknown(&self, name: &str) -> Error {
        let mut legal: Vec<&str> = self.numbers.iter().copied().collect();
        legal.extend(self.has_verdicts.then_some(VERDICT));
        let told = format!("it has `{}`", legal.join("`, `"));
        let near = nearest(name, legal).map(|near| format!("did you mean `{near}`? "));
        Error::usage(format!("the judge gives no `{name}`")).hint(near.unwrap_or_default() + &told)
    }
}

impl SaidOfAnswer {
    fn add(&mut self, figure: &str, label: LabelClass) {
        let classes = self.classes.entry(figure.to_owned()).or_default();
        classes.push(label);
    }

    /// What nobody said by itself.
    fn derived(&mut self, figure: &str, each: &[Value], value: f64) {
        if !self.classes.contains_key(figure) {
            let classes = each.iter().filter_map(LabelClass::of).collect();
            self.classes.insert(figure.to_owned(), classes);
            self.values.insert(figure.to_owned(), value);
        }
    }
}

/// The label of more than half.
pub(crate) fn majority(labels: &[LabelClass]) -> Option<&LabelClass> {
    let count = |label: &LabelClass| {
        let same = labels.iter().filter(|other| other.text() == label.text());
        same.count()
    };
    labels.iter().find(|label| 2 * count(label) > labels.len())
}

fn share(is: bool) -> f64 {
    if is { 1.0 } else { 0.0 }
}
