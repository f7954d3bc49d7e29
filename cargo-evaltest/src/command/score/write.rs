//! Writes scores as JSON, byte for byte like `serde_json`.
//!
//! There is one score per line, and nearly all texts need no escapes: not checking every byte saves a quarter of the
//! time.

use evaltest::engine::text::is_json_plain;
use evaltest::{Error, Result};
use evaltest::{Normalized, Score};
use serde::Serialize;
use serde_json::Value;

/// Writes a score.
pub(super) fn score(score: &Score, out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(b"{\"value\":");
    number(score.value, out)?;
    out.extend_from_slice(if score.correct {
        b",\"correct\":true,\"reason\":"
    } else {
        b",\"correct\":false,\"reason\":"
    });
    text(&score.reason, out)?;
    out.extend_from_slice(b",\"normalized_prediction\":");
    normalized(&score.normalized_prediction, out)?;
    out.extend_from_slice(b",\"normalized_ground_truth\":");
    normalized(&score.normalized_ground_truth, out)?;
    out.extend_from_slice(b",\"details\":{");
    for (place, (name, value)) in score.details.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        text(name, out)?;
        out.push(b':');
        match value {
            Value::String(value) => text(value, out)?,
            Value::Bool(true) => out.extend_from_slice(b"true"),
            Value::Bool(false) => out.extend_from_slice(b"false"),
            Value::Number(value) if value.is_f64() => {
                number(value.as_f64().unwrap_or_default(), out)?;
            }
            other => json(other, out)?,
        }
    }
    out.extend_from_slice(b"}}");
    Ok(())
}

/// Writes any value with `serde_json`.
pub(super) fn json<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<()> {
    serde_json::to_writer(out, value)
        .map_err(|error| Error::usage(format!("the score cannot be written: {error}")))
}

/// Writes a comma, a key that needs no escapes, and a colon.
pub(super) fn key(key: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
}

fn normalized(value: &Normalized, out: &mut Vec<u8>) -> Result<()> {
    match value {
        Normalized::Text(value) => text(value, out),
        other => json(other, out),
    }
}

fn text(value: &str, out: &mut Vec<u8>) -> Result<()> {
    if !is_json_plain(value.as_bytes()) {
        return json(value, out);
    }
    out.reserve(value.len() + 2);
    out.push(b'"');
    out.extend_from_slice(value.as_bytes());
    out.push(b'"');
    Ok(())
}

/// Fast path for the two most common numbers.
fn number(value: f64, out: &mut Vec<u8>) -> Result<()> {
    if value.to_bits() == 0 {
        out.extend_from_slice(b"0.0");
    } else if value.to_bits() == 1.0_f64.to_bits() {
        out.extend_from_slice(b"1.0");
    } else {
        return json(&value, out);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn every_byte_is_that_of_serde() {
        let texts = [
            "",
            "a",
            "plain text of some length",
            "quote \"",
            "back\\slash",
            "line\nbreak",
            "\0\u{1}\u{8}\u{c}\u{1f}\u{7f}",
            "é 東京 😀 \u{2028}",
            "12345678\"",
            "1234567\t",
        ];
        let numbers = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            1.0 / 3.0,
            1e300,
            f64::NAN,
            f64::INFINITY,
        ];
        for sample_text in texts {
            for value in numbers {
                let details = json!({
                    "text": sample_text, "number": value, "whole": 7, "yes": true, "no": false, "null": null,
                    "list": [sample_text, value], "map": {"a": sample_text}, sample_text: 1,
                });
                let details: Map<_, _> = details.as_object().expect("a map").clone();
                for side in [
                    Normalized::None,
                    Normalized::Text(sample_text.into()),
                    Normalized::List(vec![sample_text.into(), "a".into()]),
                ] {
                    let mut given =
                        Score::new(value, value > 0.0, sample_text).normalized(side, sample_text);
                    given.details = details.clone().into();
                    let mut out = Vec::new();
                    score(&given, &mut out).expect("written");
                    assert_eq!(
                        String::from_utf8(out).expect("UTF-8"),
                        serde_json::to_string(&given).expect("JSON")
                    );
                }
            }
        }
        let empty = Score::binary(true);
        let mut out = Vec::new();
        score(&empty, &mut out).expect("written");
        assert_eq!(out, serde_json::to_vec(&empty).expect("JSON"));
    }
}
