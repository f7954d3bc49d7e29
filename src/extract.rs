//! Answer extraction: from what an agent said to the prediction that scorers compare.

use std::fmt;

use serde_json::Value;

use crate::error::{Error, Result};

/// How the prediction is taken from the raw answer.
///
/// `FinalAnswer` looks for the marker `FINAL ANSWER:` (any case), the last one unless `first` is set, and
/// takes the rest of its line, or the next line that is not blank when the rest is empty. Without a
/// marker the whole answer counts. White space at the ends goes, and so does what people put around an
/// answer but do not mean:
///
/// | the marker's line holds | prediction |
/// |---|---|
/// | `[17]` | `17` (the template of GAIA's own prompt shows brackets) |
/// | `**17**`, `` `17` `` | `17` |
/// | `17.` | `17.` (scorers decide what a full stop means) |
/// | `[1], [2]` | `[1], [2]` (not one pair) |
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Extract {
    /// The raw answer, unchanged.
    #[default]
    None,
    /// What follows `FINAL ANSWER:`.
    FinalAnswer {
        /// Take the first marker rather than the last.
        first: bool,
    },
}

impl Extract {
    /// The prediction in `raw`.
    pub fn apply<'a>(&self, raw: &'a str) -> &'a str {
        match self {
            Self::None => raw,
            Self::FinalAnswer { first } => final_answer(raw, *first),
        }
    }
}

impl Extract {
    /// Reads an extraction as a spec writes it: `final_answer`, or `{ type: final_answer, first: true }`.
    pub fn from_value(value: &Value) -> Result<Self> {
        let name = value
            .as_str()
            .or_else(|| value.get("type")?.as_str())
            .unwrap_or_default();
        let options = value.as_object().map_or(0, |map| map.len() - 1);
        let first = value.get("first").and_then(Value::as_bool);
        match (name, options, first) {
            ("none", 0, None) => Ok(Self::None),
            ("final_answer", 0, None) => Ok(Self::FinalAnswer { first: false }),
            ("final_answer", 1, Some(first)) => Ok(Self::FinalAnswer { first }),
            _ => Err(Error::usage(format!("unknown extraction `{value}`")).hint(
                "legal are `none`, `final_answer` and `{ type: final_answer, first: true }`",
            )),
        }
    }

    /// The extraction as a spec writes it.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::None => "none".into(),
            Self::FinalAnswer { first: false } => "final_answer".into(),
            Self::FinalAnswer { first: true } => {
                serde_json::json!({ "type": "final_answer", "first": true })
            }
        }
    }
}

impl fmt::Display for Extract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::FinalAnswer { first: false } => f.write_str("final_answer"),
            Self::FinalAnswer { first: true } => f.write_str("final_answer(first)"),
        }
    }
}

const MARKER: &[u8] = b"FINAL ANSWER:";

fn final_answer(raw: &str, first: bool) -> &str {
    let bytes = raw.as_bytes();
    let is_marker = |window: &[u8]| window.eq_ignore_ascii_case(MARKER);
    let mut places = bytes.windows(MARKER.len());
    let place = if first {
        places.position(is_marker)
    } else {
        places.rposition(is_marker)
    };
    // The marker is ASCII, so its end is a character boundary.
    let Some(place) = place else {
        return raw.trim();
    };
    // Leading `*`s close the emphasis that was opened before the marker: `**FINAL ANSWER:** 17`.
    let rest = raw[place + MARKER.len()..]
        .trim_start()
        .trim_start_matches('*')
        .trim_start();
    unwrap(rest.lines().next().unwrap_or_default())
}

fn unwrap(line: &str) -> &str {
    let mut answer = line.trim();
    loop {
        let inner = answer.trim_matches(['*', '`']).trim();
        let inner = if is_one_bracket_pair(inner) {
            inner[1..inner.len() - 1].trim()
        } else {
            inner
        };
        if inner.len() == answer.len() {
            return answer;
        }
        answer = inner;
    }
}

/// Whether the first character is a `[` whose partner is the last character.
fn is_one_bracket_pair(text: &str) -> bool {
    let mut depth = 0_i64;
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            _ => {}
        }
        if depth <= 0 {
            return place > 0 && place + 1 == text.len() && depth == 0;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, expect: &str) {
        assert_eq!(
            Extract::FinalAnswer { first: false }.apply(raw),
            expect,
            "{raw:?}"
        );
    }

    #[test]
    fn takes_the_last_marker_and_unwraps_it() {
        check("thinking\nFINAL ANSWER: 17", "17");
        check("FINAL ANSWER: 1\nno, wait\nfinal answer: 2\nbye", "2");
        check("FINAL ANSWER: [17]", "17");
        check("FINAL ANSWER: **17**", "17");
        check("**FINAL ANSWER:** 17", "17");
        check("**FINAL ANSWER: 17**", "17");
        check("FINAL ANSWER: `[ a, b ]` ", "a, b");
        check("FINAL ANSWER: 17.", "17.");
        check("FINAL ANSWER: [1], [2]", "[1], [2]");
        check("FINAL ANSWER:\n\n  Zürich \nmore", "Zürich");
        check("FINAL ANSWER:", "");
        check("FINAL ANSWER: []", "");
        check("  no marker\nat all ", "no marker\nat all");
        check("日本 Final Answer: 東京", "東京");
        assert_eq!(
            Extract::FinalAnswer { first: true }.apply("FINAL ANSWER: 1\nFINAL ANSWER: 2"),
            "1"
        );
        assert_eq!(
            Extract::None.apply(" FINAL ANSWER: 1 "),
            " FINAL ANSWER: 1 "
        );
    }
}
