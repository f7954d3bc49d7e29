//! Parses YAML into values and types. The only file that names the parser.

use std::fmt;

use serde::Deserialize;
use serde::de::DeserializeSeed;
use serde_json::Value as Json;
use serde_yaml::{Deserializer, Value};

mod deep;
mod json;

pub(crate) use json::OneEach;

/// Why a text is not the expected YAML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct YamlError {
    /// The parser's message; most end with the position.
    message: String,
    /// Line and column, both from 1, of the error or of what contains it.
    pub(crate) place: Option<(usize, usize)>,
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<serde_yaml::Error> for YamlError {
    fn from(error: serde_yaml::Error) -> Self {
        Self {
            message: error.to_string(),
            place: error.location().map(|place| (place.line(), place.column())),
        }
    }
}

/// Parses into a type.
pub(crate) fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, YamlError> {
    check_depth(text)?;
    serde_yaml::from_str(text).map_err(|error| found(error, text))
}

/// Parses with a seed that knows more than a type does.
pub(crate) fn read_by<'a, S: DeserializeSeed<'a>>(
    seed: S,
    text: &'a str,
) -> Result<S::Value, YamlError> {
    check_depth(text)?;
    let value = seed.deserialize(Deserializer::from_str(text));
    value.map_err(|error| found(error, text))
}

/// Whether a text is nested too deep to be read. Do not try anything slow on such a text.
pub(crate) fn is_too_deep(text: &str) -> bool {
    deep::too_deep(text).is_some()
}

fn check_depth(text: &str) -> Result<(), YamlError> {
    match deep::too_deep(text) {
        None => Ok(()),
        place => Err(YamlError {
            message: "lists and maps nest too deeply".to_owned(),
            place,
        }),
    }
}

/// The error in a text that the parser rejects. The parser misreports a byte order mark in the middle of a text, so it
/// is detected here.
fn found(error: serde_yaml::Error, text: &str) -> YamlError {
    const MARK: char = '\u{feff}';
    let mut lines = text.lines().zip(1..);
    let amid = lines.find_map(|(line, number)| {
        let before = line.len() - line.trim_start().len();
        let begins = line[before..].starts_with(MARK);
        begins.then(|| (number, line[..before].chars().count() + 1))
    });
    match amid {
        None => error.into(),
        place => YamlError {
            message: "a byte order mark (U+FEFF) stands amid the text".to_owned(),
            place,
        },
    }
}

/// Parses a JSON value. A map with a duplicate key is an error, as only one of the two values could count.
pub(crate) fn read_json(text: &str) -> Result<Json, YamlError> {
    read_by(json::OneEach, text)
}

/// Whether the text contains a `.inf` or `.nan`, which JSON values cannot show.
pub(crate) fn holds_infinity(text: &str) -> bool {
    fn found(value: &Value) -> bool {
        match value {
            Value::Number(number) => !number.is_finite(),
            Value::Sequence(list) => list.iter().any(found),
            Value::Mapping(map) => map.values().any(found),
            _ => false,
        }
    }
    !is_too_deep(text) && serde_yaml::from_str(text).is_ok_and(|value| found(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_its_place() {
        let check = |text: &str, expect: &str, place: Option<(usize, usize)>| {
            let error = read::<Vec<u8>>(text).expect_err(text);
            assert_eq!((error.to_string().as_str(), error.place), (expect, place));
        };
        check(
            "- 1\n- a\n",
            ".[1]: invalid type: string \"a\", expected u8 at line 2 column 3",
            Some((2, 3)),
        );
        assert_eq!(read("[1, 2]"), Ok(vec![1_u8, 2]));
    }

    #[test]
    fn a_map_has_each_key_once() {
        for text in [
            "{ a: [1, -2, 0.5, ~, true, x, .inf], 7: { type: b, k: 1, l: 2 }, type: c }",
            "",
            "!a b",
            "123456789012345678901234567890",
        ] {
            assert_eq!(read_json(text), read(text), "{text}");
        }
        let error = read_json("- { a: 1 }\n- a: { type: b, k: 1, type: b }\n").expect_err("two");
        let expect = ".[1].a: duplicate field `type` at line 2 column 6";
        assert_eq!(
            (error.to_string().as_str(), error.place),
            (expect, Some((2, 6)))
        );
        let error = read_json("a: { type: b, k: 1, k: 1 }").expect_err("two");
        let expect = "a: duplicate field `k` at line 1 column 4";
        assert_eq!(error.to_string(), expect);
    }

    #[test]
    fn infinities_are_found_wherever_they_stand() {
        let check = |text: &str, expect: bool| assert_eq!(holds_infinity(text), expect, "{text}");
        check("{ a: [1, { b: -.inf }] }", true);
        check(".nan", true);
        check("[1e300, '.inf', ~]", false);
        check("[", false);
    }
}
