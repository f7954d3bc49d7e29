//! `OptionReader`: reads the options of a scorer, from a spec or the command line.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Entry, Maker, Scorer};
use crate::error::{Error, Result, Under, nearest};

/// Reads options one by one. A wrong type is an error that names the scorer and the option.
pub(crate) struct OptionReader<'a> {
    entry: &'static Entry,
    given: &'a Map<String, Value>,
    maker: &'a Maker,
}

impl<'a> OptionReader<'a> {
    /// Rejects options that the scorer does not have.
    pub(crate) fn new(
        entry: &'static Entry,
        given: &'a Map<String, Value>,
        maker: &'a Maker,
    ) -> Result<Self> {
        let legal: Vec<&str> = entry.options.iter().map(|option| option.0).collect();
        let name = entry.name;
        match given.keys().find(|key| !legal.contains(&key.as_str())) {
            None => Ok(Self {
                entry,
                given,
                maker,
            }),
            Some(key) if legal.is_empty() => Err(Error::usage(format!(
                "unknown option `{key}`: scorer `{name}` has no options"
            ))
            .hint(format!("remove `{key}`"))
            .of_key(key)),
            Some(key) => {
                let error = unknown("option", key, &legal).at(format_args!("scorer `{name}`"));
                let error = match owner(key).filter(|owner| legal.contains(owner)) {
                    Some(owner) => error.hint(format!(
                        "`{key}` belongs into `{owner}`: `{owner}: {{ {key}: … }}`"
                    )),
                    None => error,
                };
                Err(error.of_key(key))
            }
        }
    }

    /// The folder for relative paths.
    pub(crate) fn folder(&self) -> &Path {
        self.maker.folder()
    }

    /// The [`Maker`] in use.
    pub(crate) fn maker(&self) -> &'a Maker {
        self.maker
    }

    /// Whether the scorer defines this option.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entry.options.iter().any(|option| option.0 == key)
    }

    /// The raw value; `null` counts as not given.
    pub(crate) fn value(&self, key: &str) -> Option<&'a Value> {
        debug_assert!(
            self.has(key),
            "scorer `{}` reads an option `{key}` that its entry does not list",
            self.entry.name
        );
        self.given.get(key).filter(|value| !value.is_null())
    }

    /// A boolean option; `false` if not given.
    pub(crate) fn flag(&self, key: &str) -> Result<bool> {
        Ok(self
            .read(key, "true or false", Value::as_bool)?
            .unwrap_or(false))
    }

    /// A finite number.
    pub(crate) fn number(&self, key: &str) -> Result<Option<f64>> {
        self.read(key, "a number", Value::as_f64)
    }

    /// A number from `low` to `high`.
    pub(crate) fn number_in(&self, key: &str, low: f64, high: f64) -> Result<Option<f64>> {
        let number = self.number(key)?;
        match number.filter(|number| !(low..=high).contains(number)) {
            None => Ok(number),
            Some(_) if high >= f64::MAX => Err(self.wrong(key, &format!("a number from {low}"))),
            Some(_) => Err(self.wrong(key, &format!("a number from {low} to {high}"))),
        }
    }

    /// A non-negative integer.
    pub(crate) fn count(&self, key: &str) -> Result<Option<u64>> {
        self.read(key, "a whole number", Value::as_u64)
    }

    /// A string.
    pub(crate) fn text(&self, key: &str) -> Result<Option<&'a str>> {
        self.read(key, "a text", Value::as_str)
    }

    /// One of a few words.
    pub(crate) fn word(&self, key: &str, legal: &[&str]) -> Result<Option<&'a str>> {
        let word = self.text(key)?;
        match word.filter(|word| !legal.contains(word)) {
            None => Ok(word),
            Some(word) => Err(self.of(key, unknown("value", word, legal))),
        }
    }

    /// A list of strings.
    pub(crate) fn texts(&self, key: &str) -> Result<Option<Vec<&'a str>>> {
        self.read(key, "a list of texts", |value| {
            value.as_array()?.iter().map(Value::as_str).collect()
        })
    }

    /// A scorer: its name, or a map with `type` and its options.
    pub(crate) fn scorer(&self, key: &str) -> Result<Option<Arc<dyn Scorer>>> {
        let made = self.value(key).map(|value| self.maker.scorer(value));
        made.transpose().map_err(|error| self.of(key, error))
    }

    /// A non-empty list of scorers.
    pub(crate) fn scorers(&self, key: &str) -> Result<Vec<Arc<dyn Scorer>>> {
        let list = self.read(key, "a list of scorers", Value::as_array)?;
        let list = list.filter(|list| !list.is_empty());
        let list = list.ok_or_else(|| self.missing(key, "a list of scorers"))?;
        let items = list.iter().enumerate();
        let made = items.map(|(item, value)| self.maker.scorer(value).under(item));
        made.collect::<Result<_>>()
            .map_err(|error| self.of(key, error))
    }

    /// Reads an option; if `read` returns `None`, the error says what is `wanted`.
    pub(crate) fn read<T>(
        &self,
        key: &str,
        wanted: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>> {
        match self.value(key) {
            None => Ok(None),
            Some(value) => read(value).map(Some).ok_or_else(|| self.wrong(key, wanted)),
        }
    }

    /// The error for an option that is not what is `wanted`.
    pub(crate) fn wrong(&self, key: &str, wanted: &str) -> Error {
        let value = self.given.get(key).unwrap_or(&Value::Null);
        self.of(key, Error::usage(format!("`{value}` is not {wanted}")))
    }

    /// Attaches the option's key to an error about its value.
    pub(crate) fn of(&self, key: &str, error: Error) -> Error {
        let name = self.entry.name;
        let error = error.at(format_args!("scorer `{name}`, option `{key}`"));
        error.under(key)
    }

    /// The error for a required option that is missing.
    pub(crate) fn missing(&self, key: &str, wanted: &str) -> Error {
        let name = self.entry.name;
        Error::usage(format!(
            "scorer `{name}` needs the option `{key}`, {wanted}"
        ))
        .hint(format!("write `{{ type: {name}, {key}: … }}`"))
        .under(key)
    }
}

/// The option whose map should contain a key that was written next to it.
fn owner(key: &str) -> Option<&'static str> {
    match key {
        "api_key_env" | "base_url" | "extra_body" | "headers" | "max_tokens" | "model"
        | "price" | "seed" | "system" | "temperature" | "url" => Some("agent"),
        "dimensions" | "examples" | "instructions" | "scale" | "weight" => Some("rubric"),
        _ => None,
    }
}

/// The fingerprint of a scorer that is defined by its options alone.
pub(crate) fn fingerprint(name: &str, options: &impl Serialize) -> String {
    let options = serde_json::to_value(options).unwrap_or_default();
    format!("{name} {options}")
}

pub(crate) fn unknown(what: &str, given: &str, legal: &[&str]) -> Error {
    let near = nearest(given, legal.iter().copied());
    let is_scorer = what == "scorer";
    let message = match near {
        // There are too many to list.
        Some(_) if is_scorer => format!("unknown {what} `{given}`"),
        _ => format!(
            "unknown {what} `{given}`, expected one of `{}`",
            legal.join("`, `")
        ),
    };
    let error = if is_scorer {
        // A test binary may have registered it.
        Error::unregistered(message)
    } else {
        Error::usage(message)
    };
    match near {
        Some(name) if is_scorer => error.hint(format!(
            "did you mean `{name}`? all: cargo evaltest scorers --list"
        )),
        Some(name) => error.hint(format!("did you mean `{name}`?")),
        None => error,
    }
}
