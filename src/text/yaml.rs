//! Parses YAML into values and types. The only file that names the parser.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, DeserializeSeed};
use serde_json::Value as Json;
use serde_yaml::{Deserializer, Value};

mod deep;
mod json;

pub(crate) use json::{MERGE, OneEach};

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
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, YamlError> {
    read_by(PhantomData, text)
}

/// Parses with a seed that knows more than a type does.
pub(crate) fn read_by<'a, S: DeserializeSeed<'a>>(
    seed: S,
    text: &'a str,
) -> Result<S::Value, YamlError> {
    check_depth(text)?;
    if has_merge(text) {
        return read_merged(seed, text);
    }
    let value = seed.deserialize(Deserializer::from_str(text));
    value.map_err(|error| found(error, text))
}

/// Whether a text may have a merge key.
fn has_merge(text: &str) -> bool {
    let mut after = text.split(MERGE).skip(1);
    after.any(|rest| rest.trim_start_matches([' ', '"', '\'']).starts_with(':'))
}

/// Parses a text with merge keys, which the parser leaves to its callers. Errors have the path of a value, as those of
/// the parser, and no position.
fn read_merged<'a, S: DeserializeSeed<'a>>(seed: S, text: &'a str) -> Result<S::Value, YamlError> {
    let value = json::OneEach.deserialize(Deserializer::from_str(text));
    let value = value.map_err(|error| found(error, text))?;
    from_json(seed, value).map_err(|(error, path)| {
        let message = match path.to_string() {
            path if path == "." => error.to_string(),
            path => format!("{path}: {error}"),
        };
        YamlError {
            message,
            place: None,
        }
    })
}

/// Parses a JSON value with a seed. An error comes with the path to the wrong value.
pub(crate) fn from_json<'a, S: DeserializeSeed<'a>>(
    seed: S,
    value: Json,
) -> Result<S::Value, (serde_json::Error, serde_path_to_error::Path)> {
    let mut track = serde_path_to_error::Track::new();
    let read = seed.deserialize(serde_path_to_error::Deserializer::new(value, &mut track));
    read.map_err(|error| (error, track.path()))
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
            message: "a byte order mark (U+FEFF) inside the text".to_owned(),
            place,
        },
    }
}

/// Parses a JSON value. A map with a duplicate key is an error, as only one of the two values could count.
pub(crate) fn read_json(text: &str) -> Result<Json, YamlError> {
    read_by(json::OneEach, text)
}

/// A number or a bool of YAML as JSON spells it: `31` for `0x1F`, `true` for `True`. `None` if that is the same, or if the
/// text is something else.
pub(crate) fn json_spelling(text: &str) -> Option<String> {
    let first = text.chars().next()?;
    if text.len() > 64 || !(first.is_ascii_digit() || "+-.tTfF".contains(first)) {
        return None;
    }
    // Most numbers are plain integers, and the YAML parser takes a microsecond.
    if is_short_integer(text) {
        return None;
    }
    let json = match read_json(text).ok()? {
        value @ (Json::Bool(_) | Json::Number(_)) => value.to_string(),
        _ => return None,
    };
    (json != text).then_some(json)
}

/// Whether this is an integer of at most 18 digits, without a leading zero or plus sign.
fn is_short_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    matches!(digits, [b'1'..=b'9', ..])
        && digits.len() <= 18
        && digits.iter().all(u8::is_ascii_digit)
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
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    #[test]
    fn json_spells_numbers_and_bools_in_one_way() {
        let pairs = [
            ("1.10", "1.1"),
            ("0x1F", "31"),
            ("0o17", "15"),
            ("1e3", "1000.0"),
            ("+5", "5"),
            (".5", "0.5"),
            ("5.", "5.0"),
            ("-0", "0"),
            ("True", "true"),
            ("FALSE", "false"),
        ];
        for (text, json) in pairs {
            assert_eq!(json_spelling(text).as_deref(), Some(json), "{text}");
        }
        let same = [
            "",
            "5",
            "-42",
            "999999999999999999",
            "1.1",
            "true",
            "012",
            "1_000",
            "12:30",
            "no",
            "t",
            "-",
            ".inf",
            "1, 2",
            "1: 2",
        ];
        for text in same {
            assert_eq!(json_spelling(text), None, "{text}");
        }
    }

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
    fn merge_keys_give_what_a_map_has_not_itself() {
        let check = |text: &str, expect: Json| assert_eq!(read_json(text), Ok(expect), "{text}");
        let base = "a: &a { k: 1, l: 2 }\nb: &b { l: 3, m: { n: 4 } }\n";
        for (merged, expect) in [
            ("{ <<: *a, l: 5 }", json!({ "k": 1, "l": 5 })),
            ("{ l: 5, <<: *a }", json!({ "k": 1, "l": 5 })),
            (
                "{ <<: [*a, *b] }",
                json!({ "k": 1, "l": 2, "m": { "n": 4 } }),
            ),
            ("{ << : [*b, *a], m: 6 }", json!({ "k": 1, "l": 3, "m": 6 })),
            ("{ <<: { <<: *a, k: 7 } }", json!({ "k": 7, "l": 2 })),
            ("{ <<: [] }", json!({})),
            ("<<EOF :", json!("<<EOF :")),
        ] {
            let expect =
                json!({ "a": { "k": 1, "l": 2 }, "b": { "l": 3, "m": { "n": 4 } }, "c": expect });
            let quoted = if merged.starts_with('{') {
                merged.to_owned()
            } else {
                format!("'{merged}'")
            };
            check(&format!("{base}c: {quoted}\n"), expect);
        }
        for wrong in ["{ <<: 1 }", "{ <<: [[]] }"] {
            let error = read_json(&format!("c: {wrong}")).unwrap_err();
            assert!(error.to_string().contains("`<<` takes a map"), "{error}");
        }
        let typed =
            read::<BTreeMap<String, BTreeMap<String, u8>>>("a: &a { k: 1 }\nb: { <<: *a, l: x }\n");
        let error = typed.unwrap_err();
        assert!(
            error.to_string().starts_with("b.l: invalid type: string"),
            "{error}"
        );
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
