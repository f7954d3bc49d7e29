//! Cells: converts a JSON value of a row to text.

use serde_json::Value;

use super::{kind, text};
use crate::error::{Error, Result};

/// The cell as text; `None` if it is null or missing.
pub(crate) fn scalar(column: &str, cell: Option<&Value>) -> Result<Option<String>> {
    match cell {
        None | Some(Value::Null) => Ok(None),
        Some(nested @ (Value::Array(_) | Value::Object(_))) => Err(Error::usage(format!(
            "column `{column}` has {}, where a text, a number or a bool is needed",
            kind(nested)
        ))
        .hint("name another column in `columns`, or write the value as a text")),
        Some(value) => Ok(text(value.clone())),
    }
}

/// A required text that must not be blank.
pub(crate) fn required(column: &str, role: &str, cell: Option<String>) -> Result<String> {
    match cell {
        Some(text) if !text.trim().is_empty() => Ok(text),
        Some(_) => Err(Error::usage(format!("the {role} in `{column}` is blank"))
            .hint("fill it in, or remove the row")),
        None => Err(Error::usage(format!(
            "the {role} is missing: `{column}` is null or not there"
        ))
        .hint("fill it in, or remove the row")),
    }
}

/// The value of a slice; `1.0` becomes `1`, because pandas converts integer columns with gaps to floats. `None` if
/// blank.
pub(crate) fn slice_value(cell: Option<String>) -> Option<String> {
    let cell = cell?;
    let value = cell.trim();
    let plain = match value.strip_suffix(".0") {
        Some(integer) if integer.parse::<i64>().is_ok() => integer,
        _ => value,
    };
    (!plain.is_empty()).then(|| plain.to_owned())
}
