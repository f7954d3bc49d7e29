//! The official `ast_checker`: checks decoded calls against function documents and ground truth.

use std::borrow::Cow;
use std::ptr;

use super::compare::{NoMatch, Slot, ValueCheck, ValueRefusal, refuse};
use super::entry::{AnswerKey, Argument, Expected, FunctionDoc, PossibleValues, Property};
use super::kind::{Check, Language};
use super::{TriedCall, VerdictMessage};
use crate::calls::Crash;
use crate::calls::repr_str;
use crate::calls::{Dict, Value, java_values, javascript_values};

/// The reason why calls were rejected.
pub(super) struct CallFault {
    pub(super) kind: &'static str,
    pub(super) messages: Vec<VerdictMessage>,
}

impl From<ValueRefusal> for CallFault {
    fn from(refusal: ValueRefusal) -> Self {
        Self {
            kind: refusal.kind,
            messages: refusal
                .messages
                .into_iter()
                .map(VerdictMessage::Text)
                .collect(),
        }
    }
}

/// The data that calls are checked against.
pub(super) struct Checker<'a> {
    pub(super) entry: &'a AnswerKey,
    pub(super) language: Language,
    /// Whether the model does not support dots in names, so that `_` is expected in their place.
    pub(super) underscore_to_dot: bool,
}

impl Checker<'_> {
    /// Checks by the kind of category: `parallel` in any order, `multiple` with the document of the expected name, all
    /// others with the first document. Appends the match of each expected call to `fits` as far as known.
    pub(super) fn check(
        &self,
        kind: Check,
        calls: &[Value],
        fits: &mut Vec<Option<usize>>,
    ) -> Result<Result<(), CallFault>, Crash> {
        let expected = &*self.entry.expected;
        let wrong_count = |kind| {
            Ok(Err(CallFault {
                kind,
                messages: vec![VerdictMessage::Text(
                    "Wrong number of functions.".to_owned(),
                )],
            }))
        };
        if kind == Check::Parallel {
            if calls.len() != expected.len() {
                return wrong_count("parallel_function_checker_no_order:wrong_count");
            }
            return self.parallel(calls, fits);
        }
        let no_answer = || Crash::new("IndexError: list index out of range");
        let (call, expected, function) = if kind == Check::Multiple {
            if calls.len() != expected.len() {
                return wrong_count("multiple_function_checker:wrong_count");
            }
            let first = expected.first().ok_or_else(no_answer)?;
            (&calls[0], first, self.function(first)?)
        } else {
            let [call] = calls else {
                return wrong_count("simple_function_checker:wrong_count");
            };
            let function = self.entry.functions.first().ok_or_else(no_answer)?;
            (call, expected.first().ok_or_else(no_answer)?, function)
        };
        let found = self.call(function, call, expected);
        let document = self.entry.function(&expected.name);
        if calls.len() == 1 && document.is_some_and(|document| ptr::eq(document, function)) {
            fits.push(found.is_ok().then_some(0));
        }
        match found {
            Ok(()) => Ok(Ok(())),
            Err(NoMatch::Refused(refusal)) => Ok(Err(refusal.into())),
            Err(NoMatch::Crashed(crash)) => Err(crash),
        }
    }

    fn function(&self, expected: &Expected) -> Result<&FunctionDoc, Crash> {
        let missing = || Crash::new("TypeError: 'NoneType' object is not subscriptable");
        self.entry.function(&expected.name).ok_or_else(missing)
    }

    /// Matches greedily: each expected call takes the first unused call that fits it, without backtracking.
    fn parallel(
        &self,
        calls: &[Value],
        fits: &mut Vec<Option<usize>>,
    ) -> Result<Result<(), CallFault>, Crash> {
        let mut taken = vec![false; calls.len()];
        for (place, expected) in self.entry.expected.iter().enumerate() {
            let function = self.function(expected)?;
            let mut attempts = Vec::new();
            let mut found = None;
            for (index, call) in calls.iter().enumerate().filter(|&(index, _)| !taken[index]) {
                match self.call(function, call, expected) {
                    Ok(()) => {
                        found = Some(index);
                        break;
                    }
                    Err(NoMatch::Refused(refusal)) => {
                        attempts.push(VerdictMessage::Attempt(TriedCall {
                            call: index,
                            expected: place,
                            error: refusal.messages,
                            error_type: refusal.kind,
                        }));
                    }
                    Err(NoMatch::Crashed(crash)) => return Err(crash),
                }
            }
            fits.push(found);
            let Some(index) = found else {
                let remaining = (0..calls.len()).filter(|&index| !taken[index]);
                let remaining: Vec<String> = remaining.map(|index| index.to_string()).collect();
                let message = format!(
                    "Could not find a matching function among index [{}] of model output for index {place} \
                     of possible answers.",
                    remaining.join(", ")
                );
                let mut messages = vec![VerdictMessage::Text(message)];
                messages.append(&mut attempts);
                return Ok(Err(CallFault {
                    kind: "parallel_function_checker_no_order:cannot_find_match",
                    messages,
                }));
            };
            taken[index] = true;
        }
        Ok(Ok(()))
    }

    /// Checks one call against one expected call.
    fn call(&self, function: &FunctionDoc, call: &Value, expected: &Expected) -> ValueCheck {
        let parameters = function
            .parameters
            .as_ref()
            .map_err(|crash| NoMatch::Crashed(crash.clone()))?;
        let name = self.expected_name(&function.name);
        let arguments = call.as_dict().and_then(|call| call.get_str(&name));
        let Some(Value::Dict(arguments)) = arguments else {
            let name = repr_str(&name);
            return refuse(
                "simple_function_checker:wrong_func_name",
                format!("Function name {name} not found in model output."),
            );
        };
        if let Some(name) = parameters
            .required
            .iter()
            .find(|name| arguments.get(name).is_none())
        {
            let name = name.repr()?;
            return refuse(
                "simple_function_checker:missing_required",
                format!("Missing required parameter: {name}."),
            );
        }
        for (key, value) in arguments {
            let property = key.as_str().and_then(|name| parameters.property(name));
            let argument = key.as_str().and_then(|name| expected.argument(name));
            let (Some(property), Some(argument)) = (property, argument) else {
                let key = key.repr()?;
                return refuse(
                    "simple_function_checker:unexpected_param",
                    format!("Unexpected parameter: {key}."),
                );
            };
            self.value(property, &argument.options, value)?;
        }
        Self::all_there(arguments, expected)
    }

    /// The name as the model must write it.
    pub(super) fn expected_name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        if self.underscore_to_dot && name.contains('.') {
            Cow::Owned(name.replace('.', "_"))
        } else {
            Cow::Borrowed(name)
        }
    }

    /// Whether a call matches an expected call.
    pub(super) fn fits(&self, call: &Value, expected: &Expected) -> bool {
        let function = self.function(expected);
        function.is_ok_and(|function| self.call(function, call, expected).is_ok())
    }

    /// The parameters that the document of an expected call's function requires.
    pub(super) fn required(&self, expected: &Expected) -> &[Value] {
        let parameters = self.function(expected).map(|function| &function.parameters);
        parameters.map_or(&[], |parameters| {
            parameters.as_ref().map_or(&[], |p| &p.required)
        })
    }

    /// Whether a value is accepted for an argument.
    pub(super) fn accepts(&self, expected: &Expected, argument: &Argument, value: &Value) -> bool {
        let property = self.property(expected, argument);
        property.is_some_and(|property| self.value(property, &argument.options, value).is_ok())
    }

    /// The first option that on its own accepts a value.
    pub(super) fn option_of(
        &self,
        expected: &Expected,
        argument: &Argument,
        value: &Value,
    ) -> Option<usize> {
        let property = self.property(expected, argument)?;
        let mut options = argument.options.alone().iter();
        options.position(|option| self.value(property, option, value).is_ok())
    }

    fn property(&self, expected: &Expected, argument: &Argument) -> Option<&Property> {
        let parameters = self.function(expected).ok()?.parameters.as_ref().ok()?;
        parameters.property(&argument.name)
    }

    fn value(&self, property: &Property, options: &PossibleValues, value: &Value) -> ValueCheck {
        let missing = || NoMatch::Crashed(Crash::new("KeyError: 'type'"));
        let type_name = property.kind.as_deref().ok_or_else(missing)?;
        let slot = Slot {
            name: &property.name,
            type_name,
            kind: self.language.kind(type_name).ok_or_else(missing)?,
            item: None,
            options,
        };
        self.argument(slot, property.item.as_deref(), value)
    }

    fn argument(&self, mut slot: Slot<'_>, item: Option<&str>, value: &Value) -> ValueCheck {
        let has_items = self.language.has_items(slot.type_name);
        let item_kind = || {
            let missing = || NoMatch::Crashed(Crash::new("KeyError: 'items'"));
            let kind = item.and_then(|item| self.language.kind(item));
            kind.ok_or_else(missing)
        };
        if self.language == Language::Python {
            if has_items {
                slot.item = Some(item_kind()?);
            }
            return match (slot.type_name, value) {
                ("tuple", Value::Tuple(items)) => slot.check(&Value::List(items.clone())),
                ("float", Value::Int(int)) => {
                    let message = "OverflowError: int too large to convert to float";
                    let float = int.to_f64().ok_or_else(|| Crash::new(message))?;
                    slot.check(&Value::Float(float))
                }
                (_, value) => slot.check(value),
            };
        }
        let Value::Str(text) = value else {
            let (name, class, repr) = (repr_str(slot.name), value.type_name(), value.repr()?);
            return refuse(
                if self.language == Language::Java {
                    "type_error:java"
                } else {
                    "type_error:js"
                },
                format!(
                    "Incorrect type for parameter {name}. Expected type String, got {class}. Parameter \
                     value: {repr}."
                ),
            );
        };
        let item = if has_items {
            slot.item = Some(item_kind()?);
            item
        } else {
            None
        };
        let converted = match self.language {
            Language::Java => java_values::convert(text, slot.type_name, item)?,
            _ => javascript_values::convert(text, slot.type_name, item)?,
        };
        slot.check(&converted)
    }

    /// Checks that every expected argument is present or optional.
    fn all_there(arguments: &Dict, expected: &Expected) -> ValueCheck {
        let missing = expected.arguments.iter().find(|argument| {
            !argument.options.optional && arguments.get_str(&argument.name).is_none()
        });
        match missing {
            None => Ok(()),
            Some(argument) => {
                let name = repr_str(&argument.name);
                refuse(
                    "simple_function_checker:missing_optional",
                    format!("Optional parameter {name} not provided and not marked as optional."),
                )
            }
        }
    }
}
