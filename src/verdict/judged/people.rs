//! Converts labels of people to the figures of a judge.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::items::{CORRECT, JudgedItem, TOTAL, VALUE, VERDICT};
use crate::data::JudgeRule;
use crate::data::labels::{ItemLabels, LabelClass};
use crate::error::{Error, Result, nearest};
use crate::stats::mean;

/// The figures of a judge, and how labels convert to them.
#[derive(Clone, Debug)]
pub(crate) struct PeoplesFigures<'a> {
    rule: &'a JudgeRule,
    /// The lowest and highest values of figures, if known.
    bounds: Option<&'a BTreeMap<String, [f64; 2]>>,
    /// The numeric figures.
    numbers: BTreeSet<&'a str>,
    has_verdicts: bool,
}

/// The labels of an answer by people, by figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HumanLabels {
    /// The label of each person.
    pub(crate) classes: BTreeMap<String, Vec<LabelClass>>,
    /// Their mean for numbers, the majority otherwise.
    pub(crate) values: BTreeMap<String, f64>,
}

impl<'a> PeoplesFigures<'a> {
    /// The figures of a judge with these verdicts on a run.
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

    /// Converts the labels of an item to these figures.
    ///
    /// # Errors
    ///
    /// If the judge has no such dimension, or cannot give such a label.
    pub(crate) fn human_labels(&self, labels: &ItemLabels) -> Result<HumanLabels> {
        let mut human_labels = HumanLabels::default();
        for label in &labels.whole {
            let figure = self.figure_of(label)?;
            human_labels.add(figure, label.clone());
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
                human_labels.add(name, label.clone());
            }
        }
        for (figure, classes) in &human_labels.classes {
            let value = match figure.as_str() {
                VERDICT => None,
                CORRECT => majority(classes).and_then(LabelClass::truth).map(share),
                figure => Some(self.mean_label(figure, classes)?),
            };
            if let Some(value) = value {
                human_labels.values.insert(figure.clone(), value);
            }
        }
        self.derive(&mut human_labels);
        Ok(human_labels)
    }

    /// The figure that a label of the whole answer is about.
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
                    "the judge gives points, but the label is `{}`",
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
        let offered = format!("the judge's choices are `{}`", legal.join("`, `"));
        let near = nearest(label.text(), legal).map(|near| format!("did you mean `{near}`? "));
        let message = format!("`{}` is not a choice of the judge", label.text());
        Err(Error::usage(message).hint(near.unwrap_or_default() + &offered))
    }

    /// The mean of the labels of a numeric figure.
    fn mean_label(&self, figure: &str, labels: &[LabelClass]) -> Result<f64> {
        let bounds = self.bounds.and_then(|bounds| bounds.get(figure)).copied();
        let unit = (figure == VALUE).then_some([0.0, 1.0]);
        let number = |label: &LabelClass| {
            let number = label.number().or_else(|| label.truth().map(share));
            let number = number.ok_or_else(|| {
                Error::usage(format!(
                    "`{}` is not a number like `{figure}`",
                    label.text()
                ))
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

    /// Derives further figures: the total of all dimensions, the value of a verdict, and correctness.
    fn derive(&self, human_labels: &mut HumanLabels) {
        if let Some(total) = self.rule.total(&human_labels.values) {
            human_labels.derived(TOTAL, &[json!(total)], total);
        }
        if let (Some((only, _)), 1) = (self.rule.weights.iter().next(), self.rule.weights.len())
            && let Some(total) = human_labels.values.get(TOTAL).copied()
        {
            // With a single dimension, its points are the total.
            let each: Vec<Value> = human_labels.classes[TOTAL]
                .iter()
                .map(LabelClass::to_value)
                .collect();
            human_labels.derived(only, &each, total);
        }
        let choice = human_labels
            .classes
            .get(VERDICT)
            .and_then(|it| majority(it));
        let choice = choice.cloned();
        let value = choice
            .as_ref()
            .and_then(|choice| self.rule.choices.get(choice.text()).copied());
        if let Some(value) = value {
            human_labels.derived(VALUE, &[json!(value)], value);
        }
        self.derive_rates(choice.as_ref(), human_labels);
        let points = [VERDICT, TOTAL]
            .iter()
            .find(|name| human_labels.classes.contains_key(**name));
        let Some(points) = points else { return };
        let each = human_labels.classes[*points].iter().filter_map(|class| {
            let number = match *points {
                VERDICT => self.rule.choices.get(class.text()).copied(),
                _ => class.number(),
            };
            self.rule.is_correct(number?).map(Value::from)
        });
        let each: Vec<_> = each.collect();
        let mean = match *points {
            VERDICT => value,
            _ => human_labels.values.get(TOTAL).copied(),
        };
        if let Some(is) = mean.and_then(|mean| self.rule.is_correct(mean)) {
            human_labels.derived(CORRECT, &each, share(is));
        }
    }

    /// Derives the rate of each choice, such as `win`, `tie` and `loss` of pairs, if the judge has them. Agreement is
    /// that of the verdict.
    fn derive_rates(&self, choice: Option<&LabelClass>, human_labels: &mut HumanLabels) {
        let Some(choice) = choice else { return };
        let names = self.rule.choices.keys();
        for name in names.filter(|name| self.numbers.contains(name.as_str())) {
            let value = share(choice.text() == name);
            human_labels.values.entry(name.clone()).or_insert(value);
        }
    }

    fn unknown(&self, name: &str) -> Error {
        let mut legal: Vec<&str> = self.numbers.iter().copied().collect();
        legal.extend(self.has_verdicts.then_some(VERDICT));
        let offered = format!("it has `{}`", legal.join("`, `"));
        let near = nearest(name, legal).map(|near| format!("did you mean `{near}`? "));
        Error::usage(format!("the judge gives no `{name}`"))
            .hint(near.unwrap_or_default() + &offered)
    }
}

impl HumanLabels {
    fn add(&mut self, figure: &str, label: LabelClass) {
        let classes = self.classes.entry(figure.to_owned()).or_default();
        classes.push(label);
    }

    /// Adds a derived figure, unless it was labelled itself.
    fn derived(&mut self, figure: &str, each: &[Value], value: f64) {
        if !self.classes.contains_key(figure) {
            let classes = each.iter().filter_map(LabelClass::of).collect();
            self.classes.insert(figure.to_owned(), classes);
            self.values.insert(figure.to_owned(), value);
        }
    }
}

/// The majority label.
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
