//! Calls in the form used for comparison: names and values are interned as numbers.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::canonical::Types;
use crate::calls::read::Call;
use crate::calls::{Dict, Value};
use crate::error::{Error, Result};

/// Limit of combinations for an expected argument whose dictionaries have several accepted values.
const MOST_WAYS: usize = 64;

/// The number of an interned text.
pub(in crate::scorer) type Text = u32;

/// A call that was made. Equal calls compare equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::scorer) struct Made {
    pub(in crate::scorer) name: Text,
    /// Sorted by the number of the name.
    pub(in crate::scorer) arguments: Vec<(Text, Text)>,
}

/// An expected call.
#[derive(Clone, Debug)]
pub(in crate::scorer) struct ExpectedCall {
    pub(in crate::scorer) name: Text,
    /// Sorted by the number of the name.
    pub(in crate::scorer) arguments: Vec<(Text, AcceptedValues)>,
}

/// The accepted values of an argument; usually one.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::scorer) struct AcceptedValues {
    pub(super) values: Vec<Text>,
    pub(super) is_optional: bool,
}

impl ExpectedCall {
    /// The only call that matches it fully, if there is only one.
    pub(super) fn only(&self) -> Option<Made> {
        let only = |(name, accepted): &(Text, AcceptedValues)| match accepted.values[..] {
            [value] if !accepted.is_optional => Some((*name, value)),
            _ => None,
        };
        let arguments = self.arguments.iter().map(only).collect::<Option<_>>()?;
        Some(Made {
            name: self.name,
            arguments,
        })
    }
}

/// Interns texts, and calls made of them.
#[derive(Debug, Default)]
pub(in crate::scorer) struct Interner {
    numbers: HashMap<Rc<str>, Text>,
    texts: Vec<Rc<str>>,
    /// The argument names of each function, in order.
    parameters: HashMap<String, Vec<String>>,
    types: Types,
}

impl Interner {
    /// `parameters`: argument names of documented functions.
    pub(in crate::scorer) fn new(types: Types, parameters: HashMap<String, Vec<String>>) -> Self {
        Self {
            parameters,
            types,
            ..Self::default()
        }
    }

    /// The text with this number.
    pub(super) fn text(&self, number: Text) -> &str {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        self.texts.get(place).map_or("", |text| text)
    }

    fn number(&mut self, text: String) -> Text {
        if let Some(number) = self.numbers.get(text.as_str()) {
            return *number;
        }
        let number = Text::try_from(self.texts.len()).unwrap_or(Text::MAX);
        let text: Rc<str> = text.into();
        self.texts.push(Rc::clone(&text));
        self.numbers.insert(text, number);
        number
    }

    /// For undocumented functions, takes the argument names of the first expected call, in its order.
    pub(in crate::scorer) fn learn(&mut self, calls: &[Call]) {
        for call in calls.iter().filter(|call| call.positional.is_empty()) {
            self.parameters
                .entry(call.name.clone())
                .or_insert_with(|| call.named.iter().map(|(name, _)| name.clone()).collect());
        }
    }

    /// The arguments by name. A positional one without a known name is named by its position.
    fn arguments<'a>(&self, call: &'a Call) -> BTreeMap<String, &'a Value> {
        let parameters = self
            .parameters
            .get(&call.name)
            .map_or(&[][..], Vec::as_slice);
        let mut arguments: BTreeMap<String, &Value> = BTreeMap::new();
        for (name, value) in &call.named {
            arguments.insert(name.clone(), value);
        }
        for (place, value) in call.positional.iter().enumerate() {
            let name = parameters
                .get(place)
                .filter(|name| !arguments.contains_key(*name));
            let name = name.cloned().unwrap_or_else(|| format!("#{}", place + 1));
            arguments.insert(name, value);
        }
        arguments
    }

    /// Interns a call that was made.
    pub(in crate::scorer) fn made(&mut self, call: &Call) -> Made {
        let types = self.types;
        let arguments: Vec<(String, String)> = self
            .arguments(call)
            .into_iter()
            .map(|(name, value)| (name, types.canonical(value)))
            .collect();
        let mut arguments: Vec<(Text, Text)> = arguments
            .into_iter()
            .map(|(name, value)| (self.number(name), self.number(value)))
            .collect();
        arguments.sort_unstable();
        Made {
            name: self.number(call.name.clone()),
            arguments,
        }
    }

    /// Interns an expected call. With `accepted` each argument is a list of accepted values.
    pub(in crate::scorer) fn expected(
        &mut self,
        call: &Call,
        accepted: bool,
    ) -> Result<ExpectedCall> {
        let mut arguments = Vec::with_capacity(call.named.len());
        let read: Vec<(String, Value)> = self
            .arguments(call)
            .into_iter()
            .map(|(name, value)| (name, value.clone()))
            .collect();
        for (name, value) in read {
            let (ways, is_optional) = if accepted {
                let options = value.as_list().ok_or_else(|| {
                    Error::usage(format!(
                        "argument `{name}` of the expected call of `{}` is not a list of accepted \
                                          values",
                        call.name
                    ))
                })?;
                let is_mark = |option: &Value| option.as_str() == Some("");
                let ways = options.iter().map(ways).collect::<Option<Vec<_>>>().ok_or_else(|| {
                    Error::usage(format!("argument `{name}` of the expected call of `{}` can be written in more than {MOST_WAYS} ways", call.name))
                })?;
                (ways.concat(), options.iter().any(is_mark))
            } else {
                (vec![value], false)
            };
            let values = ways
                .iter()
                .map(|value| self.types.canonical(value))
                .collect::<Vec<_>>();
            let mut values: Vec<Text> = values.into_iter().map(|text| self.number(text)).collect();
            values.sort_unstable();
            values.dedup();
            let accepted = AcceptedValues {
                values,
                is_optional,
            };
            arguments.push((self.number(name), accepted));
        }
        arguments.sort_unstable_by_key(|(name, _)| *name);
        Ok(ExpectedCall {
            name: self.number(call.name.clone()),
            arguments,
        })
    }

    /// A call for display, its arguments in alphabetical order.
    pub(in crate::scorer) fn show(&self, call: &Made) -> String {
        let arguments = call
            .arguments
            .iter()
            .map(|&(name, value)| (self.text(name), self.text(value).to_owned()));
        self.show_call(call.name, arguments.collect())
    }

    /// An expected call for display: `f(a=1 or 2, [b=3])`.
    pub(in crate::scorer) fn show_expected(&self, call: &ExpectedCall) -> String {
        let arguments = call
            .arguments
            .iter()
            .map(|(name, accepted)| (self.text(*name), self.show_accepted(accepted)));
        self.show_call(call.name, arguments.collect())
    }

    pub(super) fn show_accepted(&self, accepted: &AcceptedValues) -> String {
        let values: Vec<&str> = accepted
            .values
            .iter()
            .map(|&value| self.text(value))
            .collect();
        values.join(" or ")
    }

    fn show_call(&self, name: Text, mut arguments: Vec<(&str, String)>) -> String {
        arguments.sort_unstable();
        let arguments = arguments
            .iter()
            .map(|(name, value)| match name.strip_prefix('#') {
                Some(_) => value.clone(),
                None => format!("{name}={value}"),
            });
        let arguments: Vec<String> = arguments.collect();
        format!("{}({})", self.text(name), arguments.join(", "))
    }
}

/// The combinations of an accepted value: each key of a dictionary has its own list, where `""` means that it is
/// optional.
fn ways(value: &Value) -> Option<Vec<Value>> {
    let many = |counts: usize| (counts <= MOST_WAYS).then_some(());
    match value {
        Value::Dict(dict) => {
            let mut all = vec![Dict::new()];
            for (key, options) in dict {
                let options = options
                    .as_list()
                    .map_or_else(|| vec![options.clone()], <[Value]>::to_vec);
                many(all.len() * options.len())?;
                let with = |dict: &Dict| {
                    let dict = dict.clone();
                    let key = key.clone();
                    options
                        .iter()
                        .map(move |option| {
                            let mut dict = dict.clone();
                            if option.as_str() != Some("") {
                                dict.insert(key.clone(), option.clone());
                            }
                            dict
                        })
                        .collect::<Vec<_>>()
                };
                all = all.iter().flat_map(with).collect();
            }
            Some(all.into_iter().map(Value::Dict).collect())
        }
        Value::List(items) if items.iter().any(|item| item.as_dict().is_some()) => {
            let mut all: Vec<Vec<Value>> = vec![Vec::new()];
            for item in items {
                let options = ways(item)?;
                many(all.len() * options.len())?;
                all = all
                    .iter()
                    .flat_map(|head| {
                        options
                            .iter()
                            .map(|option| [&head[..], std::slice::from_ref(option)].concat())
                    })
                    .collect();
            }
            Some(all.into_iter().map(Value::List).collect())
        }
        other => Some(vec![other.clone()]),
    }
}
