//! Function documents and ground truth, parsed once for any number of answers.
//!
//! Malformed parts are stored and only cause an error if an answer uses them, as in the official program.

use std::sync::OnceLock;

use super::kind::{Check, PythonType};
use super::standardize;
use crate::calls::Crash;
use crate::calls::{Dict, Value, half};

/// The data that answers to one question are checked against.
#[derive(Clone, Debug)]
pub struct AnswerKey {
    pub(super) functions: Vec<FunctionDoc>,
    pub(super) expected: Vec<Expected>,
    /// Why no answer can be right, when checking several calls or one. Cached, because every wrong answer needs it.
    unsatisfiable: [OnceLock<Option<String>>; 2],
}

/// The document of a function.
#[derive(Clone, Debug)]
pub(super) struct FunctionDoc {
    pub(super) name: String,
    /// An error if name, properties or the list of required parameters are missing: the official program crashes.
    pub(super) parameters: Result<Parameters, Crash>,
}

#[derive(Clone, Debug)]
pub(super) struct Parameters {
    pub(super) required: Vec<Value>,
    pub(super) properties: Vec<Property>,
}

#[derive(Clone, Debug)]
pub(super) struct Property {
    pub(super) name: String,
    /// The type named in the document, and that of its items.
    pub(super) kind: Option<String>,
    pub(super) item: Option<String>,
}

/// One expected call.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    pub(super) name: String,
    pub(super) arguments: Vec<Argument>,
    /// The call as in the data, for messages.
    pub(super) raw: Value,
}

/// An argument and its accepted values.
#[derive(Clone, Debug)]
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) options: PossibleValues,
}

#[derive(Clone, Debug)]
pub(super) struct PossibleValues {
    pub(super) values: Vec<Value>,
    /// Whether `""` is accepted: the argument may be omitted.
    pub(super) optional: bool,
    /// The type of the first value other than `""`.
    pub(super) kind: Option<PythonType>,
    /// The accepted texts, standardised.
    pub(super) texts: Vec<String>,
    lists: OnceLock<Result<Vec<Vec<Value>>, Crash>>,
    alone: OnceLock<Vec<PossibleValues>>,
}

impl AnswerKey {
    /// Parses the `function` of an entry and its `ground_truth` (none for irrelevance and relevance).
    pub fn new(functions: &Value, ground_truth: Option<&Value>) -> Result<Self, String> {
        let functions = match functions {
            Value::List(functions) => &**functions,
            Value::Dict(_) => std::slice::from_ref(functions),
            Value::None => &[],
            _ => return Err("`function` is not a list of function documents".to_owned()),
        };
        let functions = functions.iter().map(FunctionDoc::new);
        let entry = Self {
            functions: functions.collect::<Result<_, _>>()?,
            expected: Vec::new(),
            unsatisfiable: Default::default(),
        };
        entry.expecting(ground_truth)
    }

    /// The same functions with the calls of this `ground_truth`.
    pub fn expecting(self, ground_truth: Option<&Value>) -> Result<Self, String> {
        let expected = match ground_truth {
            None | Some(Value::None) => &[],
            Some(Value::List(calls)) => &**calls,
            Some(_) => return Err("`ground_truth` is not a list of calls".to_owned()),
        };
        let expected = expected.iter().map(Expected::new);
        Ok(Self {
            expected: expected.collect::<Result<_, _>>()?,
            unsatisfiable: Default::default(),
            ..self
        })
    }

    /// Why no answer can be right in a category, if so: the data has a few such entries.
    ///
    /// Detects contradictions in an entry's structure, but not values that no text of a language decodes to.
    pub fn unsatisfiable(&self, category: &str) -> Option<&str> {
        let is_simple = match Check::of_category(category) {
            Check::Irrelevance | Check::Relevance => return None,
            Check::Parallel | Check::Multiple => false,
            Check::Simple => true,
        };
        self.unsatisfiable[usize::from(is_simple)]
            .get_or_init(|| self.find_unsatisfiable(is_simple))
            .as_deref()
    }

    fn find_unsatisfiable(&self, is_simple: bool) -> Option<String> {
        if is_simple && self.expected.len() != 1 {
            return Some(format!(
                "only one call is checked, but `ground_truth` has {}",
                self.expected.len()
            ));
        }
        self.expected.iter().find_map(|expected| {
            let name = &expected.name;
            let function = match self.functions.first() {
                Some(first) if is_simple => Some(first),
                _ => self.function(name),
            };
            let Some(Ok(parameters)) = function.map(|function| &function.parameters) else {
                return Some(format!("no function `{name}` is described"));
            };
            unsatisfiable_call(expected, parameters)
        })
    }

    /// The first document with this name.
    pub(super) fn function(&self, name: &str) -> Option<&FunctionDoc> {
        self.functions.iter().find(|function| function.name == name)
    }
}

/// Why no call can match an expected one.
fn unsatisfiable_call(expected: &Expected, parameters: &Parameters) -> Option<String> {
    let required = parameters.required.iter().filter_map(Value::as_str);
    for name in required.clone() {
        if expected.argument(name).is_none() {
            return Some(format!(
                "`{name}` is required, but `ground_truth` has no value for it"
            ));
        }
        if parameters.property(name).is_none() {
            return Some(format!("`{name}` is required, but not described"));
        }
    }
    expected.arguments.iter().find_map(|argument| {
        let name = &argument.name;
        let is_required = required.clone().any(|required| required == name);
        if argument.options.values.is_empty() {
            return Some(format!("`ground_truth` has no value for `{name}`"));
        }
        let is_described = parameters.property(name).is_some();
        (!is_described && (is_required || !argument.options.optional)).then(|| {
            format!(
                "`{name}` is expected, but is not a parameter of `{}`",
                expected.name
            )
        })
    })
}

impl FunctionDoc {
    fn new(document: &Value) -> Result<Self, String> {
        let entry = |key| {
            document
                .as_dict()
                .and_then(|document| document.get_str(key))
        };
        let name = entry("name")
            .and_then(Value::as_str)
            .ok_or("a function document has no `name`")?;
        Ok(Self {
            name: name.to_owned(),
            parameters: entry("parameters").and_then(Value::as_dict).map_or_else(
                || Err(Crash::new("KeyError: 'parameters'")),
                Parameters::new,
            ),
        })
    }
}

impl Parameters {
    fn new(document: &Dict) -> Result<Self, Crash> {
        let missing = |key: &str| Crash::new(format!("KeyError: '{key}'"));
        let properties = document.get_str("properties").and_then(Value::as_dict);
        let required = document.get_str("required").and_then(Value::as_list);
        Ok(Self {
            required: required.ok_or_else(|| missing("required"))?.to_vec(),
            properties: properties
                .ok_or_else(|| missing("properties"))?
                .iter()
                .filter_map(|(name, property)| Some(Property::new(name.as_str()?, property)))
                .collect(),
        })
    }

    pub(super) fn property(&self, name: &str) -> Option<&Property> {
        self.properties
            .iter()
            .find(|property| property.name == name)
    }
}

impl Property {
    fn new(name: &str, property: &Value) -> Self {
        let kind = |property: &Value| {
            let kind = property.as_dict()?.get_str("type")?.as_str()?;
            Some(kind.to_owned())
        };
        let items = property
            .as_dict()
            .and_then(|property| property.get_str("items"));
        Self {
            name: name.to_owned(),
            kind: kind(property),
            item: items.and_then(kind),
        }
    }
}

impl Expected {
    fn new(call: &Value) -> Result<Self, String> {
        let first = call.as_dict().and_then(|call| call.iter().next());
        let Some((Value::Str(name), Value::Dict(arguments))) = first else {
            return Err(
                "a call in `ground_truth` is not `{name: {argument: [values]}}`".to_owned(),
            );
        };
        let argument = |(name, options): &(Value, Value)| {
            let name = name.as_str().unwrap_or_default();
            let Value::List(values) = options else {
                return Err(format!("`ground_truth` has no list of values for `{name}`"));
            };
            Ok(Argument {
                name: name.to_owned(),
                options: PossibleValues::new(values),
            })
        };
        Ok(Self {
            name: name.clone(),
            arguments: arguments.iter().map(argument).collect::<Result<_, _>>()?,
            raw: call.clone(),
        })
    }

    pub(super) fn argument(&self, name: &str) -> Option<&Argument> {
        self.arguments.iter().find(|argument| argument.name == name)
    }
}

impl PossibleValues {
    pub(super) fn new(values: &[Value]) -> Self {
        let texts = values.iter().filter_map(Value::as_str);
        Self {
            values: values.to_vec(),
            optional: values.iter().any(Value::is_empty_text),
            kind: PythonType::of_options(values),
            texts: texts.map(standardize).collect(),
            lists: OnceLock::new(),
            alone: OnceLock::new(),
        }
    }

    /// All values as lists, computed on first use because it is rarely needed.
    pub(super) fn lists(&self) -> Result<&[Vec<Value>], Crash> {
        let lists = self
            .lists
            .get_or_init(|| self.values.iter().map(as_list).collect());
        lists.as_deref().map_err(Clone::clone)
    }

    /// Each value as a set of its own.
    pub(super) fn alone(&self) -> &[Self] {
        if self.values.len() == 1 {
            return std::slice::from_ref(self);
        }
        self.alone.get_or_init(|| {
            let alone = self.values.iter().map(std::slice::from_ref);
            alone.map(Self::new).collect()
        })
    }
}

/// An option for a list parameter, with texts standardised. A text counts as a list of its letters.
fn as_list(option: &Value) -> Result<Vec<Value>, Crash> {
    match option {
        Value::List(items) => Ok(items.iter().map(standard_value).collect()),
        Value::Str(text) => {
            let letter = |letter| Value::Str(standardize(letter));
            Ok(half::letters(text).map(letter).collect())
        }
        Value::Dict(dict) if dict.is_empty() => Ok(Vec::new()),
        Value::Dict(_) => Err(Crash::new("KeyError: 0")),
        other => {
            let class = other.type_name();
            Err(Crash::new(format!(
                "TypeError: object of type '{class}' has no len()"
            )))
        }
    }
}

/// A text standardised for comparison; other values unchanged.
pub(super) fn standard_value(value: &Value) -> Value {
    match value {
        Value::Str(text) => Value::Str(standardize(text)),
        other => other.clone(),
    }
}
