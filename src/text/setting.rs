//! `Override`: a new value for one key of a spec, as given on the command line.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::yaml;
use crate::error::{Error, Result};

/// A new value for one key of a spec: `limits.concurrency=4`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Override {
    /// The dotted key: `benchmark.split`.
    pub key: String,
    /// The value.
    pub value: Value,
}

impl Override {
    /// The key of a randomly drawn seed. It is the seed of the shuffle unless another one is given.
    pub const DRAWN_SEED: &str = "shuffle.drawn_seed";

    /// An override of `key`.
    pub fn new(key: impl Into<String>, value: impl Into<Value>) -> Self {
        Self {
            key: key.into(),
            value: value.into(),
        }
    }

    /// Reads `key=value`. The value is YAML, so `4`, `true` and `[1, 2]` have their usual types.
    pub fn parse(prefix: &str, pair: &str) -> Result<Self> {
        let Some((key, value)) = pair
            .split_once('=')
            .filter(|(key, _)| !key.trim().is_empty())
        else {
            return Err(
                Error::usage(format!("`{pair}` is not of the form `key=value`")).hint(format!(
                    "write `{}=value`",
                    if pair.contains('=') || pair.is_empty() {
                        "key"
                    } else {
                        pair
                    }
                )),
            );
        };
        Ok(Self::new(
            format!("{prefix}{}", key.trim()),
            Self::value(value)?,
        ))
    }

    /// As typed on a command line: a string needs no quotes if YAML reads it as a string.
    pub(crate) fn plain(&self) -> String {
        let is_plain = |text: &str| Self::value(text).is_ok_and(|read| read == *text);
        match &self.value {
            Value::String(text) if is_plain(text) => format!("{}={text}", self.key),
            _ => self.to_string(),
        }
    }

    /// Parses a value as YAML.
    pub fn value(text: &str) -> Result<Value> {
        let value = yaml::read_json(text).map_err(|error| {
            if error.to_string().contains("duplicate field `type`") {
                return Error::usage(format!("`{text}`: duplicate key `type`"))
                    .hint("keep one of the two");
            }
            let hint = if text.contains('\\') {
                r"in YAML a backslash is itself between single quotes: `{ regex: 'is (\d+)' }`"
            } else {
                "quote it for the shell and for YAML: `'{ type: regex, pattern: \"[0-9]+\" }'`"
            };
            Error::usage(format!("`{text}` is not YAML: {error}")).hint(hint)
        })?;
        // JSON has no such numbers: they would become `null`, which counts as not given.
        if yaml::holds_infinity(text) {
            let message = format!("`{text}` holds a number that is not finite");
            return Err(Error::usage(message).hint("write digits, as in `1e9`"));
        }
        Ok(value)
    }
}

impl fmt::Display for Override {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_yaml_that_json_has_too() {
        let check = |text: &str, expect: &str| {
            let error = Override::value(text).expect_err("no value");
            assert_eq!(error.to_string(), expect);
        };
        check(
            "{ abs_tol: [1, .inf] }",
            "`{ abs_tol: [1, .inf] }` holds a number that is not finite\n\nhint: write digits, as in `1e9`",
        );
        check(
            ".nan",
            "`.nan` holds a number that is not finite\n\nhint: write digits, as in `1e9`",
        );
        check(
            "{ type: any, scorers: [{ type: exact, type: gaia }] }",
            "`{ type: any, scorers: [{ type: exact, type: gaia }] }`: duplicate key `type`\n\nhint: keep one of the two",
        );
        let error = Override::value(r#"regex: "is (\d+)""#).expect_err("no YAML");
        assert!(
            error.to_string().ends_with(r"`{ regex: 'is (\d+)' }`"),
            "{error}"
        );
        let expect = json!([1e300, ".inf", null, "a"]);
        assert_eq!(Override::value("[1e300, '.inf', ~, a]").unwrap(), expect);
    }
}
