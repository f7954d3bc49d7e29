//! Compares a value with the options of the ground truth.

use super::entry::{PossibleValues, standard_value};
use super::kind::PythonType;
use super::standardize;
use crate::calls::Crash;
use crate::calls::{Dict, Value, half};
use crate::calls::{repr_list, repr_str};

/// Why a value was rejected: the official error type and messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ValueRefusal {
    pub(super) kind: &'static str,
    pub(super) messages: Vec<String>,
}

/// A rejection, or an exception of the official program.
#[derive(Debug)]
pub(super) enum NoMatch {
    Refused(ValueRefusal),
    Crashed(Crash),
}

impl<T: Into<Crash>> From<T> for NoMatch {
    fn from(crash: T) -> Self {
        Self::Crashed(crash.into())
    }
}

pub(super) type ValueCheck = Result<(), NoMatch>;

pub(super) fn refuse(kind: &'static str, message: String) -> ValueCheck {
    Err(NoMatch::Refused(ValueRefusal {
        kind,
        messages: vec![message],
    }))
}

fn crash(exception: impl Into<String>) -> NoMatch {
    NoMatch::Crashed(Crash::new(exception))
}

/// The parameter whose value is checked.
pub(super) struct Slot<'a> {
    pub(super) name: &'a str,
    /// Name of the type in the document.
    pub(super) type_name: &'a str,
    pub(super) kind: PythonType,
    pub(super) item: Option<PythonType>,
    pub(super) options: &'a PossibleValues,
}

impl Slot<'_> {
    pub(super) fn check(&self, value: &Value) -> ValueCheck {
        let options = self.options;
        // A value of another type than the document's is a "variable" if the options have that type.
        let is_variable =
            match type_check(value, &options.values, options.kind, self.kind, self.item) {
                TypeCheck::Fits { is_variable } => is_variable,
                misfit => return self.refuse_type(value, misfit),
            };
        let list_of_dicts = self.item == Some(PythonType::Dict);
        match (self.kind, value) {
            (PythonType::Dict, _) if !is_variable => check_dict(value, &options.values),
            (PythonType::List, Value::List(items)) if !is_variable && list_of_dicts => {
                check_dicts(items, &options.values)
            }
            (PythonType::Str, Value::Str(text)) if !is_variable => self.check_text(value, text),
            (PythonType::List, Value::List(items)) if !is_variable => self.check_list(value, items),
            _ if options.values.contains(value) => Ok(()),
            _ => refuse(
                "value_error:others",
                format!("{}.", self.unaccepted(value)?),
            ),
        }
    }

    fn refuse_type(&self, value: &Value, misfit: TypeCheck) -> ValueCheck {
        let (name, repr) = (repr_str(self.name), value.repr()?);
        let type_name = self.type_name;
        let mut messages = Vec::new();
        if let TypeCheck::Nested | TypeCheck::NestedAndSimple = misfit {
            let item = self.item.unwrap_or(PythonType::Str).class();
            messages.push(format!(
                "Nested type checking failed for parameter {name}. Expected outer type {type_name} with \
                 inner type {item}. Parameter value: {repr}."
            ));
        }
        if let TypeCheck::Simple | TypeCheck::NestedAndSimple = misfit {
            let got = value.type_name();
            messages.push(format!(
                "Incorrect type for parameter {name}. Expected type {type_name}, got {got}. Parameter \
                 value: {repr}."
            ));
        }
        let kind = match misfit {
            TypeCheck::Nested => "type_error:nested",
            _ => "type_error:simple",
        };
        Err(NoMatch::Refused(ValueRefusal { kind, messages }))
    }

    fn unaccepted(&self, value: &Value) -> Result<String, Crash> {
        let (name, repr) = (repr_str(self.name), value.repr()?);
        let options = repr_list(&self.options.values)?;
        Ok(format!(
            "Invalid value for parameter {name}: {repr}. Expected one of {options}"
        ))
    }

    fn check_text(&self, value: &Value, text: &str) -> ValueCheck {
        // Shortcut: an equal value needs no conversion.
        if self.options.values.contains(value) || self.options.texts.contains(&standardize(text)) {
            return Ok(());
        }
        let message = format!("{}. Case insensitive.", self.unaccepted(value)?);
        refuse("value_error:string", message)
    }

    fn check_list(&self, value: &Value, items: &[Value]) -> ValueCheck {
        let options = self.options.lists()?;
        let is_same = |option: &Value| option.as_list() == Some(items);
        if self.options.values.iter().any(is_same) {
            return Ok(());
        }
        let items: Vec<Value> = items.iter().map(standard_value).collect();
        if options.contains(&items) {
            return Ok(());
        }
        refuse(
            "value_error:list/tuple",
            format!("{}.", self.unaccepted(value)?),
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TypeCheck {
    Fits { is_variable: bool },
    Simple,
    Nested,
    NestedAndSimple,
}

/// Checks the type of a value: it must be that of the document, including items, or that of the options.
fn type_check(
    value: &Value,
    options: &[Value],
    options_kind: Option<PythonType>,
    kind: PythonType,
    item: Option<PythonType>,
) -> TypeCheck {
    let own = PythonType::of(value);
    let is_variable = options_kind.is_some_and(|options_kind| options_kind != kind);
    let mut is_nested = false;
    if own == kind {
        let Some(item) = item else {
            return TypeCheck::Fits { is_variable };
        };
        let fits = |option: &Value| match (option, value) {
            (Value::List(inner), Value::List(items)) => {
                let inner_kind = PythonType::of_options(inner);
                let item_fits = |value: &Value| {
                    let check = type_check(value, inner, inner_kind, item, None);
                    matches!(check, TypeCheck::Fits { .. })
                };
                items.iter().all(item_fits)
            }
            // An option that is not a list does not restrict items.
            _ => true,
        };
        if options.iter().any(fits) {
            return TypeCheck::Fits { is_variable };
        }
        is_nested = true;
    }
    match (options_kind == Some(own), is_nested) {
        (true, false) => TypeCheck::Fits { is_variable: true },
        (true, true) => TypeCheck::Nested,
        (false, true) => TypeCheck::NestedAndSimple,
        (false, false) => TypeCheck::Simple,
    }
}

/// Compares a dictionary with alternatives: accepts the first match, or else returns the error of the last one.
fn check_dict(value: &Value, options: &[Value]) -> ValueCheck {
    let mut refusal = ValueRefusal {
        kind: "dict_checker:unclear",
        messages: Vec::new(),
    };
    for option in options.iter().filter(|option| !option.is_empty_text()) {
        let Value::Dict(dict) = value else {
            let class = value.type_name();
            return Err(crash(format!(
                "AttributeError: '{class}' object has no attribute 'items'"
            )));
        };
        let Value::Dict(option) = option else {
            let class = option.type_name();
            return Err(crash(format!(
                "AttributeError: '{class}' object has no attribute 'items'"
            )));
        };
        refusal = match compare_dicts(dict, option)? {
            None => return Ok(()),
            Some(refusal) => refusal,
        };
    }
    Err(NoMatch::Refused(refusal))
}

fn compare_dicts(dict: &Dict, option: &Dict) -> Result<Option<ValueRefusal>, NoMatch> {
    let mut refusal: Option<ValueRefusal> = None;
    for (key, value) in dict {
        let Some(accepted) = option.get(key) else {
            let message = format!("Unexpected dict key parameter: '{}'.", plain(key)?);
            refusal = Some(ValueRefusal {
                kind: "value_error:dict_key",
                messages: vec![message],
            });
            break;
        };
        let accepted = standard_options(accepted)?;
        if !accepted.contains(&standard_value(value)) {
            let (key, value, accepted) = (key.repr()?, value.repr()?, repr_list(&accepted)?);
            let message =
                format!("Invalid value for parameter {key}: {value}. Expected one of {accepted}.");
            refusal = Some(ValueRefusal {
                kind: "value_error:dict_value",
                messages: vec![message],
            });
            break;
        }
    }
    // Missing keys are looked for in any case, and determine the error.
    for (key, accepted) in option {
        if dict.get(key).is_none() && !may_be_missing(accepted)? {
            let refusal = refusal.get_or_insert_with(|| ValueRefusal {
                kind: "",
                messages: Vec::new(),
            });
            refusal.kind = "value_error:dict_key";
            let key = plain(key)?;
            refusal
                .messages
                .push(format!("Missing dict key parameter: '{key}'."));
            break;
        }
    }
    Ok(refusal)
}

/// Python's `str`.
fn plain(key: &Value) -> Result<String, Crash> {
    match key {
        Value::Str(text) => Ok(text.clone()),
        other => Ok(other.repr()?),
    }
}

/// The options of a key, with texts standardised. A text counts as a list of its letters.
fn standard_options(options: &Value) -> Result<Vec<Value>, NoMatch> {
    match options {
        Value::List(options) => Ok(options.iter().map(standard_value).collect()),
        Value::Str(text) => {
            let letter = |letter| Value::Str(standardize(letter));
            Ok(half::letters(text).map(letter).collect())
        }
        Value::Dict(dict) if dict.is_empty() => Ok(Vec::new()),
        Value::Dict(_) => Err(crash("KeyError: 0")),
        other => {
            let class = other.type_name();
            Err(crash(format!(
                "TypeError: object of type '{class}' has no len()"
            )))
        }
    }
}

/// Whether `""` is among the options of a key.
fn may_be_missing(options: &Value) -> Result<bool, NoMatch> {
    match options {
        Value::List(options) => Ok(options.iter().any(Value::is_empty_text)),
        Value::Str(_) => Ok(true),
        Value::Dict(dict) => Ok(dict.get_str("").is_some()),
        other => {
            let class = other.type_name();
            Err(crash(format!(
                "TypeError: argument of type '{class}' is not iterable"
            )))
        }
    }
}

/// Compares a list of dictionaries: each option is a list of the same length, compared in order.
fn check_dicts(items: &[Value], options: &[Value]) -> ValueCheck {
    let mut refusal = ValueRefusal {
        kind: "list_dict_checker:unclear",
        messages: Vec::new(),
    };
    'options: for option in options {
        let count = match option {
            Value::List(option) => option.len(),
            Value::Str(text) => half::count(text),
            Value::Dict(dict) => dict.len(),
            other => {
                let class = other.type_name();
                return Err(crash(format!(
                    "TypeError: object of type '{class}' has no len()"
                )));
            }
        };
        if count != items.len() {
            refusal = ValueRefusal {
                kind: "value_error:list_dict_count",
                messages: vec!["Wrong number of dictionaries in the list.".to_owned()],
            };
            continue;
        }
        for (place, item) in items.iter().enumerate() {
            let single = match option {
                Value::List(option) => option[place].clone(),
                Value::Str(text) => half::letters(text).nth(place).unwrap_or_default().into(),
                _ => return Err(crash(format!("KeyError: {place}"))),
            };
            match check_dict(item, std::slice::from_ref(&single)) {
                Ok(()) => {}
                Err(NoMatch::Refused(fault)) => {
                    refusal = fault;
                    continue 'options;
                }
                Err(crash) => return Err(crash),
            }
        }
        return Ok(());
    }
    Err(NoMatch::Refused(refusal))
}
