//! Figures of a judge from stored verdicts and labels; no requests are made.
//!
//! Three questions, each with its own lines: how far a judge agrees with people ([`agreement`]), the mean of its
//! verdicts corrected by a few labels ([`correct`]), and how often one of two answers wins ([`winrate`]). Pure; figures
//! that are 0 / 0 are `None`. Also for the judge of a run with labelled answers: its verdict on each ([`items`]), the
//! labels of people ([`people`]), and the means corrected by them ([`calibrated`]).

#[cfg(feature = "command")]
pub(crate) mod agreement;
pub(crate) mod calibrated;
pub(crate) mod calibration;
#[cfg(feature = "command")]
pub(crate) mod correct;
pub(crate) mod items;
pub(crate) mod pairs;
#[cfg(feature = "command")]
pub(crate) mod people;
#[cfg(feature = "command")]
pub(crate) mod points;
#[cfg(test)]
mod tests;
pub(crate) mod winrate;

use std::path::Path;

use serde_json::{Map, Value};

use crate::data::dataset::jsonl;
use crate::data::labels::wrong;
use crate::error::{Error, Result};

/// A line of a verdict file.
///
/// ```
/// use evaltest::engine::judge::{GradedItem, parse_input_line};
///
/// let item: GradedItem = parse_input_line("graded.jsonl".as_ref(), 1, r#"{"judge": 0.8, "label": null}"#)?;
/// assert_eq!(item.label, None);
/// # Ok::<(), evaltest::Error>(())
/// ```
pub trait InputLine: Sized {
    /// An example of a line.
    const EXAMPLE: &'static str;

    /// Parses the members of a line; unknown ones are ignored.
    fn read(fields: &Map<String, Value>) -> Result<Self>;
}

/// Parses a line of a file, without its line break. Python's bare `NaN` and `Infinity` are null.
///
/// # Errors
///
/// With the place of the error, and an example of a line as the hint.
pub fn parse_input_line<T: InputLine>(path: &Path, number: u64, line: &str) -> Result<T> {
    let fields = jsonl::fields(path, number, line)?;
    T::read(&fields).map_err(|error| {
        let error = error.at(format_args!("{}:{number}", path.display()));
        match error.hint_text() {
            Some(_) => error,
            None => error.hint(format!("write lines as `{}`", T::EXAMPLE)),
        }
    })
}

/// A number from 0 to 1; `None` if it is null or missing.
fn share(fields: &Map<String, Value>, name: &str) -> Result<Option<f64>> {
    let value = match fields.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(value) => value,
    };
    let number = value.as_f64().filter(|number| (0.0..=1.0).contains(number));
    let wrong = || wrong(name, "a number from 0 to 1", value);
    number.map(Some).ok_or_else(wrong)
}

/// The error for a missing member.
fn missing(name: &str) -> Error {
    Error::usage(format!("the line has no `{name}`"))
}
