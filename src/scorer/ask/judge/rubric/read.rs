//! Reads a rubric from a map of options or of a file. Errors contain the key, relative to this map.

use serde_json::{Map, Value};

use super::{CHOICE_PASS, name};
use super::{
    Choices, Dimension, EXCELLENT, GradedExample, Grading, OfferedChoice, PASS, Rubric, SCALE,
};
use crate::error::{Error, Result, Under};
use crate::scorer::options::unknown;

/// The keys of a rubric.
const KEYS: &[&str] = &["instructions", "dimensions", "choices", "pass", "excellent"];
const DIMENSION_KEYS: &[&str] = &["name", "description", "weight", "scale", "examples"];
const EXAMPLE_KEYS: &[&str] = &["score", "answer", "reason"];
const CHOICE_KEYS: &[&str] = &["value", "description"];

/// The limit of a scale: more points than a judge can distinguish, and exact in every sum.
const FARTHEST: i64 = 1_000_000;

/// Examples of minimal rubrics.
const SMALLEST: &str = "`{ dimensions: [{ name: clarity, description: … }] }` or `{ choices: { correct: 1, wrong: 0 } }`";

/// A rubric as written; choices and limits may be added from elsewhere.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RubricDraft {
    instructions: Option<String>,
    graded: Option<Graded>,
    pass: Option<f64>,
    excellent: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
enum Graded {
    Dimensions(Vec<Dimension>),
    Choices(Vec<OfferedChoice>),
}

impl RubricDraft {
    /// Reads a rubric.
    pub(super) fn of(value: &Value) -> Result<Self> {
        let map = match value {
            Value::Object(map) => map,
            Value::Null => {
                return Err(Error::usage("the rubric is empty").hint(format!("write {SMALLEST}")));
            }
            other => {
                let error = Error::usage(format!("a rubric is a map, not {}", kind(other)));
                return Err(error.hint(format!("write {SMALLEST}")));
            }
        };
        check_keys(map, KEYS)?;
        let mut draft = Self {
            instructions: text(map, "instructions")?,
            ..Self::default()
        };
        if let Some(list) = map.get("dimensions") {
            draft.graded = Some(Graded::Dimensions(dimensions(list).under("dimensions")?));
        }
        if let Some(choices) = map.get("choices") {
            draft.choices(choices).under("choices")?;
        }
        for key in ["pass", "excellent"] {
            if let Some(number) = map.get(key) {
                draft.limit(key, number).under(key)?;
            }
        }
        Ok(draft)
    }

    /// Sets the choices; an error if there are dimensions or other choices.
    pub(super) fn choices(&mut self, value: &Value) -> Result<()> {
        let choices = choices(value)?;
        match self.graded.replace(Graded::Choices(choices)) {
            None => Ok(()),
            Some(Graded::Dimensions(_)) => Err(Error::usage(
                "`choices` and `dimensions` are both set: an answer gets either a verdict or points",
            )
            .hint("keep one of the two; a judge of its own can have the other")),
            Some(Graded::Choices(_)) => Err(Error::usage(
                "`choices` is set, but the rubric has its own `choices`",
            )
            .hint("remove them, or the rubric")),
        }
    }

    /// Overrides `pass` or `excellent`. An answer must be able to reach it.
    pub(super) fn limit(&mut self, key: &str, value: &Value) -> Result<()> {
        let number = value.as_f64().filter(|number| number.is_finite());
        let number = number.ok_or_else(|| {
            Error::usage(format!("`{key}` {value} is not a number"))
                .hint(format!("write a number: `{key}: 4`"))
        })?;
        self.check_limit(key, number, "")?;
        if key == "pass" {
            self.pass = Some(number);
        } else {
            self.excellent = Some(number);
        }
        Ok(())
    }

    /// Rejects a limit off the scale, as far as the scale is known.
    fn check_limit(&self, key: &str, limit: f64, default: &str) -> Result<()> {
        match &self.graded {
            None => Ok(()),
            Some(Graded::Dimensions(dimensions)) => {
                let rubric = rubric(dimensions);
                let (lowest, highest) = (rubric.lowest(), rubric.highest());
                if (lowest..=highest).contains(&limit) {
                    return Ok(());
                }
                let message = format!(
                    "{default}`{key}` {limit} is off the scale, which goes from {lowest} to {highest}"
                );
                Err(Error::usage(message).hint(format!(
                    "write `{key}:` and a number from {lowest} to {highest}"
                )))
            }
            Some(Graded::Choices(_)) if key == "excellent" => Err(Error::usage(
                "`excellent` is a total of points, but choices have no points",
            )
            .hint("remove it")),
            Some(Graded::Choices(choices)) => {
                let highest = choices
                    .iter()
                    .map(|choice| choice.value)
                    .fold(0.0, f64::max);
                let error = if !(0.0..=1.0).contains(&limit) {
                    Error::usage(format!(
                        "{default}`{key}` {limit} is off the scale, which goes from 0 to 1"
                    ))
                } else if limit > highest {
                    Error::usage(format!(
                        "no choice reaches {default}`{key}` {limit}: the highest value is {highest}"
                    ))
                } else {
                    return Ok(());
                };
                Err(error.hint(format!(
                    "write `{key}: {highest}`, or give a choice a higher value"
                )))
            }
        }
    }

    /// The rubric with defaults: a total is excellent from 4.5, or from the highest total if that is lower. `pass` is
    /// required if 3.5 cannot be the default. Limits set before dimensions or choices are checked now.
    pub(super) fn finish(self) -> Result<Grading> {
        for (key, limit) in [("pass", self.pass), ("excellent", self.excellent)] {
            if let Some(limit) = limit {
                self.check_limit(key, limit, "").under(key)?;
            }
        }
        if let (Some(pass), Some(excellent)) = (self.pass, self.excellent)
            && excellent < pass
        {
            let message = format!("`excellent` {excellent} is below `pass` {pass}");
            let error = Error::usage(message).hint("write a number that is at least `pass`");
            return Err(error).under("excellent");
        }
        let pass = |default| match self.pass {
            Some(pass) => Ok(pass),
            None => self
                .check_limit("pass", default, "the default ")
                .map(|()| default),
        };
        match &self.graded {
            None => {
                let error = Error::usage("a rubric needs `dimensions` or `choices`");
                Err(error.hint(format!("write {SMALLEST}")))
            }
            Some(Graded::Dimensions(dimensions)) => {
                let rubric = rubric(dimensions);
                let (lowest, highest) = (rubric.lowest(), rubric.highest());
                let is_on_scale = (lowest..=highest).contains(&EXCELLENT);
                let excellent = if is_on_scale { EXCELLENT } else { highest };
                let limits = [("pass", self.pass), ("excellent", self.excellent)];
                let defaults = limits.iter().filter(|(_, limit)| limit.is_none());
                Ok(Grading::Rubric(Rubric {
                    instructions: self.instructions.clone(),
                    pass: pass(PASS)?,
                    excellent: self.excellent.unwrap_or(excellent),
                    defaults: defaults.map(|(key, _)| *key).collect(),
                    ..rubric
                }))
            }
            Some(Graded::Choices(choices)) => Ok(Grading::Choices(Choices {
                instructions: self.instructions.clone(),
                offered: choices.clone(),
                pass: pass(CHOICE_PASS)?,
                sees_truth: false,
                compares: false,
            })),
        }
    }
}

/// A rubric with these dimensions and the default limits.
fn rubric(dimensions: &[Dimension]) -> Rubric {
    Rubric {
        instructions: None,
        dimensions: dimensions.to_vec(),
        pass: PASS,
        excellent: EXCELLENT,
        defaults: Vec::new(),
    }
}

fn dimensions(value: &Value) -> Result<Vec<Dimension>> {
    let hint = "write a list of maps: `dimensions: [{ name: clarity, description: … }]`";
    let Some(list) = value.as_array() else {
        return Err(
            Error::usage(format!("`dimensions` are a list, not {}", kind(value))).hint(hint),
        );
    };
    if list.is_empty() {
        return Err(Error::usage("`dimensions` are empty: there is nothing to grade").hint(hint));
    }
    let mut read: Vec<Dimension> = Vec::new();
    for (item, value) in list.iter().enumerate() {
        let Some(map) = value.as_object() else {
            let error = Error::usage(format!("a dimension is a map, not {}", kind(value)));
            return Err(error.hint(hint)).under(item);
        };
        let known = read.iter().map(|one| one.name.as_str());
        let new = dimension(map).and_then(|new| {
            name::check_new("dimensions", &new.name, known).under("name")?;
            Ok(new)
        });
        read.push(new.under(item)?);
    }
    let sum: f64 = read.iter().map(|one| one.weight).sum();
    if !sum.is_finite() {
        return Err(Error::usage("the weights have no finite sum")
            .hint("write smaller ones, such as `weight: 2`"));
    }
    Ok(read)
}

fn dimension(map: &Map<String, Value>) -> Result<Dimension> {
    let name = match map.get("name") {
        Some(Value::String(name)) => name,
        None => {
            check_keys(map, DIMENSION_KEYS)?;
            let error = Error::usage("a dimension needs a `name`");
            return Err(error.hint("write it: `{ name: clarity, description: … }`"));
        }
        Some(other) => return Err(not_text("name", other)),
    };
    name::check_dimension(name).under("name")?;
    let read = || {
        check_keys(map, DIMENSION_KEYS)?;
        let scale = map.get("scale").map_or(Ok(SCALE), scale).under("scale")?;
        let examples = map.get("examples");
        let examples = examples.map_or(Ok(Vec::new()), |list| examples_on(scale, list));
        Ok(Dimension {
            name: name.clone(),
            description: text(map, "description")?.unwrap_or_default(),
            weight: map.get("weight").map_or(Ok(1.0), weight).under("weight")?,
            scale,
            examples: examples.under("examples")?,
        })
    };
    read().map_err(|error: Error| error.at(format_args!("dimension `{name}`")))
}

fn weight(value: &Value) -> Result<f64> {
    let weight = value
        .as_f64()
        .filter(|weight| weight.is_normal() && *weight > 0.0);
    weight.ok_or_else(|| {
        let error = Error::usage(format!("the weight {value} is not a finite number above 0"));
        error.hint(
            "write the dimension's weight: `weight: 2`; delete a dimension that must not count",
        )
    })
}

fn scale(value: &Value) -> Result<[i64; 2]> {
    let hint = "write the lowest and the highest points: `scale: [1, 5]`";
    let ends = value
        .as_array()
        .map(|ends| ends.iter().map(Value::as_i64).collect::<Option<Vec<_>>>());
    let Some(Some(ends)) = ends else {
        return Err(Error::usage(format!("the scale {value} is not two whole numbers")).hint(hint));
    };
    match *ends.as_slice() {
        [low, high] if low > high => {
            let error = Error::usage(format!("the scale [{low}, {high}] is reversed"));
            Err(error.hint(format!("write `scale: [{high}, {low}]`")))
        }
        [low, high] if low == high => {
            Err(Error::usage(format!("the scale [{low}, {high}] has only one point")).hint(hint))
        }
        [low, high] if low < -FARTHEST || high > FARTHEST => Err(Error::usage(format!(
            "the scale [{low}, {high}] goes beyond {FARTHEST}"
        ))
        .hint(hint)),
        [low, high] => Ok([low, high]),
        _ => Err(Error::usage(format!("the scale {value} is not two whole numbers")).hint(hint)),
    }
}

fn examples_on(scale: [i64; 2], value: &Value) -> Result<Vec<GradedExample>> {
    let hint = "write texts or maps: `examples: [{ score: 4, answer: …, reason: … }]`";
    let Some(list) = value.as_array() else {
        return Err(Error::usage(format!("`examples` are a list, not {}", kind(value))).hint(hint));
    };
    let read = |value: &Value| match value {
        Value::String(text) if !text.trim().is_empty() => {
            check_points(text, scale)?;
            Ok(GradedExample::Text(text.clone()))
        }
        Value::Object(map) => graded(map, scale),
        other => Err(Error::usage(format!(
            "an example is a text or a map, not {}",
            kind(other)
        ))
        .hint(hint)),
    };
    let items = list.iter().enumerate();
    items.map(|(item, value)| read(value).under(item)).collect()
}

/// Rejects a text such as `10: greets, helps, ends` on a scale that ends at 5: the judge would be shown points that it
/// must not give.
fn check_points(text: &str, [low, high]: [i64; 2]) -> Result<()> {
    let points = text.split_once(": ");
    let points = points.and_then(|(points, _)| points.trim().parse::<i64>().ok());
    match points.filter(|points| !(low..=high).contains(points)) {
        None => Ok(()),
        Some(points) => {
            let message =
                format!("an example has {points} points, on a scale from {low} to {high}");
            Err(Error::usage(message).hint(format!(
                "write points from {low} to {high}, or another `scale`"
            )))
        }
    }
}

fn graded(map: &Map<String, Value>, [low, high]: [i64; 2]) -> Result<GradedExample> {
    check_keys(map, EXAMPLE_KEYS)?;
    let hint = format!("write the points that it gets: `score: {high}`");
    let Some(given) = map.get("score") else {
        return Err(Error::usage("an example needs a `score`").hint(hint));
    };
    let score = given.as_i64().filter(|score| (low..=high).contains(score));
    let score = score.ok_or_else(|| {
        let message =
            format!("the score {given} of an example is not a whole number from {low} to {high}");
        Error::usage(message).hint(hint).under("score")
    })?;
    let (answer, reason) = (text(map, "answer")?, text(map, "reason")?);
    if answer.is_none() && reason.is_none() {
        let error = Error::usage("an example needs an `answer` or a `reason`");
        return Err(
            error.hint("write what gets these points: `{ score: 4, answer: …, reason: … }`")
        );
    }
    Ok(GradedExample::Graded {
        score,
        answer,
        reason,
    })
}

fn choices(value: &Value) -> Result<Vec<OfferedChoice>> {
    let hint = "write at least two, each with its value: `choices: { correct: 1, partial: 0.5, wrong: 0 }`";
    let Some(map) = value.as_object() else {
        return Err(Error::usage(format!("`choices` are a map, not {}", kind(value))).hint(hint));
    };
    let mut read: Vec<OfferedChoice> = Vec::new();
    for (name, value) in map {
        let known = read.iter().map(|one| one.name.as_str());
        name::check_choice(name)
            .and_then(|()| name::check_new("choices", name, known))
            .of_key(name)?;
        read.push(choice(name, value).under(name.as_str())?);
    }
    match read.len() {
        0 => Err(Error::usage("`choices` are empty: there is no verdict to give").hint(hint)),
        1 => Err(Error::usage("`choices` has only one, so every answer would get it").hint(hint)),
        _ if read
            .iter()
            .all(|one| one.value.total_cmp(&read[0].value).is_eq()) =>
        {
            let message = format!(
                "all `choices` have the value {}, so all answers get the same value",
                read[0].value
            );
            Err(Error::usage(message).hint(hint))
        }
        _ => Ok(read),
    }
}

fn choice(name: &str, value: &Value) -> Result<OfferedChoice> {
    let (given, description) = match value {
        Value::Object(map) => {
            check_keys(map, CHOICE_KEYS)
                .map_err(|error| error.at(format_args!("choice `{name}`")))?;
            let given = map.get("value").ok_or_else(|| {
                let error = Error::usage(format!("the choice `{name}` has no `value`"));
                error.hint(format!(
                    "write it: `{name}: {{ value: 1, description: … }}`"
                ))
            })?;
            (given, text(map, "description")?)
        }
        other => (other, None),
    };
    let number = given.as_f64().filter(|number| (0.0..=1.0).contains(number));
    let number = number.ok_or_else(|| {
        let message =
            format!("the value {given} of the choice `{name}` is not a number from 0 to 1");
        let error = Error::usage(message).hint(format!(
            "write `{name}: 1` for what is right, `{name}: 0` for what is wrong"
        ));
        if value.is_object() {
            error.under("value")
        } else {
            error
        }
    })?;
    Ok(OfferedChoice {
        name: name.to_owned(),
        value: number,
        description,
    })
}

/// A string that is not blank; `None` if the key is missing.
fn text(map: &Map<String, Value>, key: &str) -> Result<Option<String>> {
    match map.get(key) {
        None => Ok(None),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text.trim().to_owned())),
        Some(other) => Err(not_text(key, other)),
    }
}

fn not_text(key: &str, value: &Value) -> Error {
    let error = Error::usage(format!("`{key}` is a text, not {}", kind(value)));
    error
        .hint(format!("write it in quotes: `{key}: '…'`"))
        .under(key)
}

fn check_keys(map: &Map<String, Value>, legal: &[&str]) -> Result<()> {
    match map.keys().find(|key| !legal.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => {
            let error = unknown("key", key, legal);
            let error = match error.hint_text() {
                Some(_) => error,
                None => error.hint(format!("remove `{key}`, or write one of those")),
            };
            Err(error.of_key(key))
        }
    }
}

/// The kind of a value, in words.
fn kind(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(_) => format!("`{value}`"),
        Value::Number(_) => format!("the number {value}"),
        Value::String(text) if text.trim().is_empty() => "a blank text".to_owned(),
        Value::String(_) => "a text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a map".to_owned(),
    }
}
