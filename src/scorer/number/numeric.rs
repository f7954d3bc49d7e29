//! Compares numbers, however they are written.

mod number;
mod read;
#[cfg(test)]
mod tests;
pub(in crate::scorer) mod words;

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::super::Tolerance;
use super::super::options::fingerprint;
use super::super::string::text_rule::TextRule;
use super::super::{Answer, Entry, Example, OptionReader};
use crate::data::{Normalized, Score, Target};
use crate::error::{Error, Result};
use crate::scorer;
use crate::scorer::extract::reference_value;
use crate::text::{snippet, yaml};
use number::ExactNumber;
use read::NumberReader;

const NAME: &str = "numeric";

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    summary: "equal numbers: separators, currencies, percent, fractions, exponents, English words; tolerances",
    rule: include_str!("numeric.md"),
    options: &[
        scorer::ABS_TOL,
        scorer::REL_TOL,
        (
            "percent",
            "`ignore` (default): `50%` is 50; `scale`: `50%` is 0.5",
        ),
        (
            "units",
            "`refuse` (default): `42 km` is no number; `ignore`: it is 42",
        ),
        (
            "decimal",
            "`point` (default): `1,234.5`; `comma`: `1.234,5`",
        ),
    ],
    examples: &[
        Example {
            options: "",
            prediction: "$1,234.50",
            ground_truth: "1234.5",
            correct: true,
            note: "separators and currencies do not count",
        },
        Example {
            options: "",
            prediction: "forty-two",
            ground_truth: "42.0",
            correct: true,
            note: "English words",
        },
        Example {
            options: "",
            prediction: r"1 \frac{1}{2}",
            ground_truth: "1.5",
            correct: true,
            note: "fractions",
        },
        Example {
            options: "",
            prediction: "1.2 × 10³",
            ground_truth: "1200",
            correct: true,
            note: "powers of ten",
        },
        Example {
            options: "{ percent: scale }",
            prediction: "50%",
            ground_truth: "0.5",
            correct: true,
            note: "a percent is a hundredth when told so, else a unit",
        },
        Example {
            options: "{ rel_tol: 0.01, units: ignore }",
            prediction: "9.8 m/s^2",
            ground_truth: "9.81",
            correct: true,
            note: "within a hundredth; the unit is ignored",
        },
        Example {
            options: "",
            prediction: "3.14",
            ground_truth: "3.14159",
            correct: false,
            note: "without a tolerance numbers are equal or not",
        },
        Example {
            options: "",
            prediction: "about 42",
            ground_truth: "42",
            correct: false,
            note: "no number; let the extraction `number` take it from the text",
        },
    ],
    make: |options| Ok(Arc::new(Numeric::read(options)?)),
};

/// Scores equal numbers.
///
#[doc = include_str!("numeric.md")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Numeric {
    /// How far the prediction may be from the ground truth.
    pub tolerance: Tolerance,
    /// What a percent sign means.
    pub percent: Percent,
    /// Whether words may follow a number.
    pub units: Units,
    /// The decimal separator.
    pub decimal: DecimalSign,
}

/// What a percent sign means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Percent {
    /// Nothing, like any unit.
    #[default]
    Ignore,
    /// A hundredth.
    Scale,
}

/// Whether words may follow a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Units {
    /// The text is not a number.
    #[default]
    Refuse,
    /// They are ignored.
    Ignore,
}

/// The decimal separator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DecimalSign {
    /// `1,234.5`.
    #[default]
    Point,
    /// `1.234,5`.
    Comma,
}

impl DecimalSign {
    fn sign(self) -> char {
        match self {
            Self::Point => '.',
            Self::Comma => ',',
        }
    }

    /// The separator between groups of digits.
    fn separator(self) -> char {
        match self {
            Self::Point => ',',
            Self::Comma => '.',
        }
    }
}

impl Numeric {
    fn read(options: &OptionReader<'_>) -> Result<Self> {
        Ok(Self {
            tolerance: Tolerance::read(options)?,
            percent: match options.word("percent", &["ignore", "scale"])? {
                Some("scale") => Percent::Scale,
                _ => Percent::Ignore,
            },
            units: match options.word("units", &["ignore", "refuse"])? {
                Some("ignore") => Units::Ignore,
                _ => Units::Refuse,
            },
            decimal: match options.word("decimal", &["point", "comma"])? {
                Some("comma") => DecimalSign::Comma,
                _ => DecimalSign::Point,
            },
        })
    }

    fn reader(self) -> NumberReader {
        NumberReader {
            decimal: self.decimal,
            percent: self.percent,
            units: self.units,
        }
    }

    /// Whether a text is a number.
    pub(in crate::scorer) fn reads_number(self, text: &str) -> bool {
        self.reader().read(text).is_some()
    }

    fn expected(self, target: &Value) -> Result<ExactNumber> {
        match target {
            // JSON uses points, whatever the option says.
            Value::Number(number) => Self::default().reader().read(&number.to_string()),
            Value::String(text) => self
                .reader()
                .read(text)
                .or_else(|| {
                    // As a spec may spell it: `0x1F`.
                    let json = yaml::json_spelling(text)?;
                    Self::default().reader().read(&json)
                })
                .or_else(|| self.reader().read(reference_value(text)?)),
            _ => {
                return Err(Error::usage(format!(
                    "`ground_truth` must be a number or a string for scorer `{NAME}`"
                )));
            }
        }
        .ok_or_else(|| self.no_number(target))
    }

    fn no_number(self, target: &Value) -> Error {
        let excerpt = snippet(&target.to_string());
        let error = Error::usage(format!(
            "`ground_truth` {excerpt} is not a number, but scorer `{NAME}` needs one"
        ));
        let ignoring = Self {
            units: Units::Ignore,
            ..self
        };
        let text = target.as_str().unwrap_or_default();
        match ignoring.reader().read(text) {
            Some(_) => error.hint(format!(
                "write `{{ type: {NAME}, units: ignore }}` if the text after the number does not count"
            )),
            None => error,
        }
    }
}

impl TextRule for Numeric {
    const NAME: &'static str = NAME;
    const NAMES_NO_ANSWER: bool = true;

    fn compare(&self, answer: &Answer<'_>) -> Result<Score> {
        let expected = self.expected(&answer.target.0)?;
        let ground_truth = expected.to_string();
        let wrong = |reason| {
            Score::new(0.0, false, reason).normalized(Normalized::None, ground_truth.as_str())
        };
        let Some(prediction) = answer.prediction else {
            return Ok(wrong("no_prediction"));
        };
        let Some(got) = self.reader().read(prediction) else {
            return Ok(wrong("not_a_number"));
        };
        let (left, right) = (got.to_f64(), expected.to_f64());
        let mut score = if got == expected {
            Score::binary(true)
        } else if self.tolerance.covers(left, right) {
            Score::new(1.0, true, "within_tolerance")
        } else {
            Score::binary(false)
        };
        let error = (left - right).abs();
        for (name, error) in [("abs_error", error), ("rel_error", error / right.abs())] {
            // A relative error is undefined for zero, and JSON has no infinity.
            if error.is_finite() {
                score = score.detail(name, error);
            }
        }
        Ok(score.normalized(got.to_string(), ground_truth))
    }

    fn check(&self, target: &Target) -> Result<()> {
        self.expected(&target.0).map(drop)
    }

    fn detail_names(&self) -> Option<&'static [&'static str]> {
        Some(&["abs_error", "rel_error"])
    }

    fn version(&self) -> String {
        fingerprint(NAME, self)
    }
}
