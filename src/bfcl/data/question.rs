//! `BfclQuestion`: an entry with its answer key, and the lines it is parsed from.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::{AnswerKey, Category, CategoryGroup, Value, simple};
use crate::calls::{Dict, JsonFault, JsonValue as _};
use crate::data::dataset::{jsonl, read_text};
use crate::error::{Error, Result};

/// An entry of the leaderboard.
#[derive(Clone, Debug)]
pub struct BfclQuestion {
    /// Its id.
    pub id: String,
    /// Its category.
    pub category: Category,
    /// The messages of its first turn, each with `role` and `content`. Categories that evaltest can score have one
    /// turn.
    pub messages: Value,
    /// The list of its function documents.
    pub functions: Value,
    /// The expected calls; none for irrelevance and relevance.
    pub ground_truth: Option<Value>,
    /// Functions and expected calls, parsed for checking.
    pub entry: AnswerKey,
    /// Why no answer can satisfy it, if so.
    pub unsatisfiable: Option<String>,
}

/// A line of a file.
pub(crate) struct QuestionLine {
    place: LinePlace,
    id: String,
    fields: Dict,
    ground_truth: Option<Value>,
    /// Position of the ground truth, if it is in a separate file.
    answered: Option<LinePlace>,
}

/// Position of a line, for errors.
#[derive(Clone)]
pub(crate) struct LinePlace {
    path: Arc<Path>,
    number: u64,
}

impl LinePlace {
    pub(super) fn new(path: &Arc<Path>, number: u64) -> Self {
        Self {
            path: Arc::clone(path),
            number,
        }
    }
}

impl fmt::Display for LinePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.number)
    }
}

/// The objects of a file, one per line, with unique ids.
pub(super) fn lines(path: &Path) -> Result<Vec<QuestionLine>> {
    lines_of(&read_text(path)?, path)
}

/// The objects in a file's text.
pub(super) fn lines_of(text: &str, path: &Path) -> Result<Vec<QuestionLine>> {
    let path: Arc<Path> = path.into();
    let mut places = HashMap::new();
    let mut lines: Vec<QuestionLine> = Vec::new();
    for (text, number) in text.split('\n').zip(1..) {
        if text.trim_ascii().is_empty() {
            continue;
        }
        let line = QuestionLine::read(text, LinePlace::new(&path, number))?;
        if let Some(first) = places.insert(line.id.clone(), number) {
            return Err(taken(line.id(), first).at(line.place()));
        }
        lines.push(line);
    }
    if lines.is_empty() {
        return Err(Error::usage("there is no entry").at(path.display()));
    }
    Ok(lines)
}

/// The error for an id used by an earlier line.
pub(super) fn taken(id: &str, first: u64) -> Error {
    Error::usage(format!(
        "the id `{}` is taken by line {first}",
        id.escape_debug()
    ))
}

impl QuestionLine {
    pub(super) fn read(text: &str, place: LinePlace) -> Result<Self> {
        let value = Value::from_json(text).map_err(|fault| broken(text, fault).at(&place))?;
        let Value::Dict(mut fields) = value else {
            return Err(Error::usage("an entry is an object, one per line").at(&place));
        };
        let id = fields.get_str("id").and_then(Value::as_str);
        let id = id.filter(|id| !id.is_empty());
        let id = id.ok_or_else(|| Error::usage("`id` is missing or not a text").at(&place))?;
        let id = id.to_owned();
        let ground_truth = fields.take("ground_truth");
        Ok(Self {
            place,
            id,
            ground_truth: ground_truth.filter(|value| !matches!(value, Value::None)),
            fields,
            answered: None,
        })
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// `file:line`, for errors.
    pub(crate) fn place(&self) -> &LinePlace {
        &self.place
    }

    /// A field, apart from the ground truth.
    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        self.fields.get_str(name)
    }

    pub(crate) fn ground_truth(&self) -> Option<&Value> {
        self.ground_truth.as_ref()
    }

    pub(super) fn has_ground_truth(&self) -> bool {
        self.ground_truth.is_some()
    }

    /// The error for an entry without a line in the file of answers.
    pub(super) fn without_answer(&self, answers: &Path) -> Error {
        Error::usage(format!(
            "`{}` has no ground truth, neither here nor in `{}`",
            self.id,
            answers.display()
        ))
        .at(&self.place)
    }

    /// Sets the ground truth from a line of `possible_answer/`.
    pub(super) fn set_ground_truth(&mut self, answer: &QuestionLine) {
        self.ground_truth.clone_from(&answer.ground_truth);
        self.answered = Some(answer.place.clone());
    }

    /// If the file has no category, uses that of the line.
    pub(super) fn into_question(mut self, category: Option<&Category>) -> Result<BfclQuestion> {
        let place = self.place.clone();
        let answered = self.answered.take().unwrap_or_else(|| place.clone());
        let ground_truth = self.ground_truth.take().map(simple::ground_truth);
        let ground_truth = ground_truth
            .transpose()
            .map_err(|error| error.at(&answered))?;
        let mut question = self
            .question(category, ground_truth)
            .map_err(|error| error.at(place))?;
        question.entry = question
            .entry
            .expecting(question.ground_truth.as_ref())
            .map_err(|message| Error::usage(message).at(answered))?;
        let unsatisfiable = question.entry.unsatisfiable(&question.category.name);
        question.unsatisfiable = unsatisfiable.map(str::to_owned);
        Ok(question)
    }

    /// Builds the question, except for converting the ground truth's simple form.
    fn question(
        mut self,
        category: Option<&Category>,
        ground_truth: Option<Value>,
    ) -> Result<BfclQuestion> {
        let messages = messages(self.fields.take("question").unwrap_or(Value::None))?;
        let functions = match self.fields.take("function") {
            None | Some(Value::None) => {
                simple::functions(ground_truth.as_ref()).ok_or_else(|| {
                    Error::usage("`function` is missing")
                        .hint("without expected calls the functions must be described")
                })?
            }
            Some(Value::Dict(one)) => Value::List(vec![Value::Dict(one)]),
            Some(functions) => functions,
        };
        let category = match (category, self.fields.get_str("category")) {
            (Some(category), _) => category.clone(),
            (None, Some(Value::Str(name))) => Category::named(name),
            (None, _) => simple::category(&functions, ground_truth.as_ref()),
        };
        if category.group == CategoryGroup::FormatSensitivity {
            return Err(Error::usage(format!(
                "category `{}` has no entries of its own: it uses those of other categories",
                category.name
            ))
            .hint("name the entry's own category, and list its id in `BFCL_v4_format_sensitivity.json`"));
        }
        let ground_truth = ground_truth.filter(|_| category.has_ground_truth());
        if category.has_ground_truth() && ground_truth.is_none() {
            return Err(Error::usage(format!(
                "`ground_truth` is missing, but category `{}` needs it",
                category.name
            )));
        }
        let entry = AnswerKey::new(&functions, None).map_err(Error::usage)?;
        Ok(BfclQuestion {
            unsatisfiable: None,
            id: self.id,
            category,
            messages,
            functions,
            ground_truth,
            entry,
        })
    }
}

/// The messages of the first turn; a plain text is a user message.
fn messages(question: Value) -> Result<Value> {
    let wrong = || Error::usage("`question` must be a text or a list of turns with messages");
    if let Value::Str(text) = question {
        let message: Dict = [("role", Value::from("user")), ("content", Value::Str(text))]
            .into_iter()
            .map(|(key, value)| (key.into(), value))
            .collect();
        return Ok(Value::List(vec![Value::Dict(message)]));
    }
    let Value::List(turns) = question else {
        return Err(wrong());
    };
    let messages = match turns.first().ok_or_else(wrong)? {
        // A list of messages without turns.
        Value::Dict(_) => Value::List(turns),
        _ => turns.into_iter().next().unwrap_or(Value::None),
    };
    let is_message = |message: &Value| {
        let content = message.as_dict().and_then(|dict| dict.get_str("content"));
        content.is_some_and(|content| content.as_str().is_some())
    };
    match messages.as_list() {
        Some(list) if !list.is_empty() && list.iter().all(is_message) => Ok(messages),
        _ => Err(wrong()),
    }
}

/// The error for a line that is not JSON, with the column if `serde_json` reports one.
pub(crate) fn broken(text: &str, fault: JsonFault) -> Error {
    match fault {
        JsonFault::TooDeep => Error::usage("the JSON is nested too deeply"),
        JsonFault::TooManyDigits => Error::usage("a number has more than 4300 digits"),
        JsonFault::Syntax => match jsonl::parse(text) {
            Err((column, reason)) => {
                Error::usage(format!("broken JSON in column {column}: {reason}"))
            }
            Ok(_) => Error::usage("broken JSON"),
        },
    }
}
