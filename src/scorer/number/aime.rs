//! AIME scorer: compares integers from 0 to 999.

use std::sync::{Arc, LazyLock};

use regex::Regex;
use serde_json::Value;

use crate::data::{Normalized, Score, Target};
use crate::error::{Error, Result};
use crate::scorer::extract::{Extract, reference_value};
use crate::scorer::string::text_rule::TextRule;
use crate::scorer::{Answer, Entry, Example};

pub(crate) const ENTRY: Entry = Entry {
    name: "aime",
    summary: "an integer from 0 to 999, from the last `\\boxed{…}`",
    rule: include_str!("aime.md"),
    options: &[],
    examples: &[
        Example {
            options: "",
            prediction: "25",
            ground_truth: "025",
            correct: true,
            note: "leading zeros do not count",
        },
        Example {
            options: "",
            prediction: "So \\boxed{m + n = \\text{25}}.",
            ground_truth: "25",
            correct: true,
            note: "the right side of an equation, without LaTeX around it",
        },
        Example {
            options: "",
            prediction: "1025",
            ground_truth: "25",
            correct: false,
            note: "out of range",
        },
        Example {
            options: "",
            prediction: "\\boxed{\\frac{50}{2}}",
            ground_truth: "25",
            correct: false,
            note: "nothing is calculated",
        },
    ],
    make: |_| Ok(Arc::new(AimeScorer)),
};

/// The largest valid answer.
const LARGEST: u16 = 999;

/// What may surround an integer.
static WRAPPING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"\\(?:text|math)(?:bf|rm|it|sf|tt)?\b|\\(?:boxed|fbox|displaystyle)\b|\\[,!;: ()\[\]]",
        r"|\^?\{?\\circ\}?|[°${}*`]",
    ))
    .expect("a constant pattern")
});

/// A unit behind the number: `\text{ cm}`, `\,\mathrm{cm}^2`, ` square units`.
static UNIT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?:\\[,;: ]|~|\s)*(?:\\(?:text|mathrm|textrm)\{\s*[A-Za-z][^{}0-9]*\}",
        r"|\s[A-Za-z]{2,}\.?(?:[ /·][A-Za-z]+\.?)*)(?:\^?\{?[23²³]\}?)?[\s$.)\]\\]*$",
    ))
    .expect("a constant pattern")
});

static INTEGER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^([+\-−]?)([0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(?:\.0*)?$")
        .expect("a constant pattern")
});

/// Compares integers from 0 to 999.
///
#[doc = include_str!("aime.md")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AimeScorer;

impl TextRule for AimeScorer {
    const NAME: &'static str = "aime";

    fn compare(&self, answer: &Answer<'_>) -> Result<Score> {
        let truth = ground_truth(answer.target)?;
        let wrong = |reason: &'static str| {
            Score::new(0.0, false, reason).normalized(Normalized::None, truth.to_string())
        };
        Ok(match answer.prediction.map(read) {
            None => wrong("no_answer"),
            Some(Read::NoInteger) => wrong("not_an_integer"),
            Some(Read::OutOfRange) => wrong("out_of_range"),
            Some(Read::Integer(number)) => {
                Score::binary(number == truth).normalized(number.to_string(), truth.to_string())
            }
        })
    }

    fn check(&self, target: &Target) -> Result<()> {
        ground_truth(target).map(drop)
    }

    fn detail_names(&self) -> Option<&'static [&'static str]> {
        Some(&[])
    }

    fn extraction(&self) -> Option<Extract> {
        Some(Extract::aime())
    }
}

/// The integer of a ground truth, which is a string or a number.
pub(crate) fn ground_truth(target: &Target) -> Result<u16> {
    let found = match &target.0 {
        Value::String(text) => match read(text) {
            Read::NoInteger => reference_value(text).map_or(Read::NoInteger, read),
            found => found,
        },
        Value::Number(number) => read(&number.to_string()),
        _ => Read::NoInteger,
    };
    if let Read::Integer(number) = found {
        return Ok(number);
    }
    let text = target.as_text();
    let excerpt = text.map_or_else(|| target.0.to_string(), str::to_owned);
    let excerpt: String = excerpt.chars().take(40).collect();
    Err(Error::usage(format!(
        "`ground_truth` must be an integer from 0 to {LARGEST} for scorer `aime`, found `{}`",
        excerpt.escape_debug()
    ))
    .hint("write `25`, or take another scorer"))
}

/// What a text was read as.
#[derive(Debug, PartialEq, Eq)]
enum Read {
    Integer(u16),
    OutOfRange,
    NoInteger,
}

fn read(text: &str) -> Read {
    // Drop the left side of an equation first, or its brackets would remain.
    let right = text.rsplit('=').next().unwrap_or_default();
    let right = UNIT
        .find(right)
        .map_or(right, |unit| &right[..unit.start()]);
    let bare = WRAPPING.replace_all(right, "");
    let bare = bare.trim();
    let Some(found) = INTEGER.captures(bare) else {
        return Read::NoInteger;
    };
    let digits: String = found[2].chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_start_matches('0');
    let is_negative = !matches!(&found[1], "" | "+") && !digits.is_empty();
    let number = if digits.is_empty() {
        Ok(0)
    } else {
        digits.parse()
    };
    match number {
        Ok(number) if number <= LARGEST && !is_negative => Read::Integer(number),
        _ => Read::OutOfRange,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::Output;
    use crate::scorer::Scorer;

    fn score(raw: &str, truth: Value) -> Result<Score> {
        let extracted = Extract::aime().apply(raw);
        AimeScorer
            .score(&Answer::new(extracted.as_deref(), &Target(truth)).output(&Output::text(raw)))
    }

    #[test]
    fn integers_are_read_as_people_write_them() {
        let check = |text: &str, expect: Read| assert_eq!(read(text), expect, "{text:?}");
        for text in [
            "25",
            " 025. ",
            "$25$",
            "25.00",
            "+25",
            "\\text{25}",
            "\\mathbf{ 25 }",
            "**25**",
            "m+n = 25",
            "\\(25\\)",
            "25^\\circ",
            "25^{\\circ}",
            "25°",
            "{25}",
            "\\, 25",
            "25 cm",
            "25 square units",
            "25\\text{ cm}",
            "25\\,\\mathrm{cm}^2",
            "\\displaystyle 25",
        ] {
            check(text, Read::Integer(25));
        }
        check("000", Read::Integer(0));
        check("-0", Read::Integer(0));
        check("999", Read::Integer(999));
        for text in [
            "1000",
            "-1",
            "1,024",
            "1{,}024",
            "1\\,024",
            "99999999999999999999",
        ] {
            check(text, Read::OutOfRange);
        }
        for text in [
            "",
            "x",
            "2 5",
            "25.5",
            "5^2",
            "\\frac{50}{2}",
            "25x",
            "25 x",
            "2,5",
            "1e2",
            "٢٥",
            "25, 26",
            "=",
            "\\textcolor{25}",
        ] {
            check(text, Read::NoInteger);
        }
    }

    #[test]
    fn verdicts_have_reasons() {
        let check = |raw: &str, truth: Value, reason: &str| {
            let score = score(raw, truth).unwrap();
            assert_eq!(
                (score.reason.as_ref(), score.correct),
                (reason, reason == "exact_match")
            );
        };
        check("Thus \\boxed{025}.", json!("25"), "exact_match");
        check("Thus \\boxed{25}.", json!(25), "exact_match");
        check("The answer is 25.", json!(25.0), "exact_match");
        check("\\boxed{26}", json!("025"), "mismatch");
        check("\\boxed{1025}", json!("25"), "out_of_range");
        check("\\boxed{x}", json!("25"), "not_an_integer");
        check("25.5", json!("25"), "not_an_integer");
        check("none", json!("25"), "no_answer");
    }

    #[test]
    fn a_ground_truth_that_is_no_such_integer_is_an_error() {
        for truth in [
            json!("1000"),
            json!(-1),
            json!("x"),
            json!(2.5),
            json!([25]),
            json!(null),
        ] {
            let error = score("\\boxed{25}", truth).unwrap_err();
            assert!(
                error
                    .message()
                    .starts_with("`ground_truth` must be an integer"),
                "{error}"
            );
        }
    }
}
