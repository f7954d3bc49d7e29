//! What a judge is worth, from verdicts and labels that are stored: nobody is asked.
//!
//! Three questions, each with lines of its own: how far a judge agrees with people ([`agreement`]), what a mean is when
//! a few labels correct its verdicts ([`correct`]), and how often one of two answers wins ([`winrate`]). Pure; figures
//! that are nothing over nothing are `None`. The same of the judge of a run, whose answers people labelled: what it says of
//! each ([`items`]), what people say of it ([`people`]), and the means that this corrects ([`calibrated`]).

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

use crate::data::dataset::{jsonl, kind};
use crate::error::{Error, Result};
use crate::text::excerpt;

/// A line of a file of verdicts.
///
/// ```
/// use evaltest::engine::judge::{GradedItem, judged_line};
///
/// let item: GradedItem = judged_line("graded.jsonl".as_ref(), 1, r#"{"judge": 0.8, "label": null}"#)?;
/// assert_eq!(item.label, None);
/// # Ok::<(), evaltest::Error>(())
/// ```
pub trait JudgedLine: Sized {
    /// A line as it should be.
    const EXAMPLE: &'static str;

    /// From the members of the line; those it does not know do not matter.
    fn read(fields: &Map<String, Value>) -> Result<Self>;
}

/// Reads a line of a file, without its line break. Python's bare `NaN` and `Infinity` are null.
///
/// # Errors
///
/// With the place of what is wrong, and a line as it should be as the hint.
pub fn judged_line<T: JudgedLine>(path: &Path, number: u64, line: &str) -> Result<T> {
    let fields = jsonl::fields(path, number, line)?;
    T::read(&fields).map_err(|error| {
        let error = error.at(format_args!("{}:{number}", path.display()));
        match error.hint_text() {
            Some(_) => error,
            None => error.hint(format!("write lines as `{}`", T::EXAMPLE)),
        }
    })
}

/// A number from 0 to 1; `None` where it is null or missing.
fn share(fields: &Map<String, Value>, name: &str) -> Result<Option<f64>> {
    let value = match fields.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(value) => value,
    };
    let number = value.as_f64().filter(|number| (0.0..=1.0).contains(number));
    let wrong = || wrong(name, "a number from 0 to 1", value);
    number.map(Some).ok_or_else(wrong)
}

/// A member is not what it should be.
fn wrong(name: &str, wanted: &str, found: &Value) -> Error {
    let shown = excerpt(&found.to_string());
    Error::usage(format!(
        "`{name}` must be {wanted}, found {}: `{shown}`",
        kind(found)
    ))
}

/// A line lacks a member.
fn missing(name: &str) -> Error {
    Error::usage(format!("the line has no `{name}`"))
}
