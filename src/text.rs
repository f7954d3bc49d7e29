//! Text primitives compatible with Python and JavaScript, shared by scorers.
//!
//! The published scorers of most benchmarks are Python or JavaScript programs, and verdicts are only comparable if
//! "white space", "lower case", "a word" and "a number" have the same meaning. Each primitive is pure and equals
//! Python 3.11 (Unicode 14) or Node 20 (Unicode 17) for every code point; the tests compare them with tables generated
//! by these interpreters.
//!
//! Also formats texts for display: [`clean`], [`excerpt`].

mod display;
pub(crate) mod hash;
mod js;
mod json;
pub(crate) mod json_cursor;
mod json_line;
pub(crate) mod name;
pub(crate) mod near_copy;
pub(crate) mod number_words;
mod pattern;
mod punctuation;
mod python;
pub(crate) mod redact;
pub(crate) mod setting;
mod snippet;
pub(crate) mod splice;
pub(crate) mod tex_json;
mod whole_word;
mod word;
pub(crate) mod yaml;

pub(crate) use display::quoted;
pub use display::{clean, clean_lines, excerpt, shell_word};
pub(crate) use js::is_js_space;
pub(crate) use js::js_lower_word;
pub use json::is_json_plain;
pub(crate) use json::json_special;
pub(crate) use json_line::{EscapedLineEnds, json_line};
pub use json_line::{escape_json, escape_line_ends};
pub(crate) use pattern::{MatchScope, compile};
pub(crate) use punctuation::without_punctuation;
pub(crate) use python::{is_py_space, push_py_lower, py_digit, py_float, py_lower, py_repr_float};
pub(crate) use snippet::snippet;
pub(crate) use whole_word::contains_whole;
pub(crate) use word::is_py_word;
#[cfg(feature = "bfcl")]
pub(crate) use word::py_word_class;

/// Whether the character is in Python's `string.punctuation`: the 32 ASCII ones, none of Unicode's.
pub(crate) fn is_py_punct(c: char) -> bool {
    c.is_ascii_punctuation()
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;
    use crate::tests::{needs, parity};

    #[test]
    fn space_and_punctuation() {
        assert!(is_py_space('\x1f') && is_py_space('\u{85}') && is_py_space('\u{3000}'));
        assert!(!is_py_space('\u{200b}') && !is_py_space('\u{feff}') && !is_py_space('_'));
        assert!(is_py_punct('_') && is_py_punct('$'));
        assert!(!is_py_punct('’') && !is_py_punct('…') && !is_py_punct('€'));
    }

    #[needs(data = "unicode/python_tables.json")]
    #[test]
    fn every_code_point_is_classed_as_python_does() {
        let tables = parity::json("unicode/python_tables.json");
        let spaces: Vec<(u32, u32)> = parity::get(&tables, "py_str_isspace");
        let punctuation: String = parity::get(&tables, "ascii_punct");
        for c in '\0'..=char::MAX {
            let code = u32::from(c);
            let space = spaces.iter().any(|run| (run.0..=run.1).contains(&code));
            assert_eq!(is_py_space(c), space, "{c:?}");
            assert_eq!(is_py_punct(c), punctuation.contains(c), "{c:?}");
        }
    }

    #[needs(data = "unicode/python_tables.json")]
    #[test]
    fn every_code_point_counts_as_in_python() {
        let tables = parity::json("unicode/python_tables.json");
        let decimals: Vec<(u32, u8)> = parity::get(&tables, "py_decimal");
        let decimals: HashMap<u32, u8> = decimals.into_iter().collect();
        let stripped: HashSet<u32> = parity::get(&tables, "py_float_strip");
        let mut text = String::new();
        for c in '\0'..=char::MAX {
            let code = u32::from(c);
            let ascii = c.to_digit(10).and_then(|value| u8::try_from(value).ok());
            let digit = decimals.get(&code).copied().or(ascii);
            assert_eq!(py_digit(c), digit, "{c:?}");
            text.clear();
            text.push(c);
            assert_eq!(py_float(&text), digit.map(f64::from), "{c:?}");
            text.push('1');
            text.push(c);
            let around = stripped.contains(&code).then_some(1.0);
            let around = around.or(digit.map(|value| f64::from(value) * 101.0 + 10.0));
            assert_eq!(py_float(&text), around, "{c:?}");
        }
    }

    #[needs(data = "unicode/python_tables.json")]
    #[test]
    fn every_code_point_is_lowered_as_python_does() {
        let tables = parity::json("unicode/python_tables.json");
        let table: HashMap<u32, Vec<u32>> = parity::get(&tables, "py_lower");
        for c in '\0'..=char::MAX {
            let (code, got) = (u32::from(c), py_lower(c.encode_utf8(&mut [0; 4])));
            let alone = [code];
            let expect = table.get(&code).map_or(&alone[..], Vec::as_slice);
            assert!(
                got.chars().map(u32::from).eq(expect.iter().copied()),
                "{c:?}"
            );
            let mut pushed = String::new();
            push_py_lower(&mut pushed, c);
            assert_eq!(pushed, got);
        }
    }
}
