//! Maps roles to columns: the first known name is used; an explicit name must exist.

use std::path::Path;

use serde_json::{Map, Value};

use crate::error::{Error, Result, nearest};
use crate::text::quoted;

use super::row::Rows;

/// Explicit column names by role; other roles use their usual names.
///
/// `Columns::default().prompt("Query")` equals `columns: { prompt: Query }` in a spec.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Columns {
    /// The question.
    pub prompt: Option<String>,
    /// The ground truth.
    pub ground_truth: Option<String>,
    /// The id of a row.
    pub id: Option<String>,
    /// The difficulty.
    pub level: Option<String>,
    /// An attached file next to the metadata.
    pub file_name: Option<String>,
    /// An attached file, relative to the dataset's folder.
    pub file_path: Option<String>,
}

macro_rules! chained {
    ($($role:ident),*) => {$(
        #[doc = concat!("Names the column `", stringify!($role), "`.")]
        #[must_use]
        pub fn $role(mut self, column: impl Into<String>) -> Self {
            self.$role = Some(column.into());
            self
        }
    )*};
}

impl Columns {
    /// The roles that every dataset has.
    pub(crate) fn of(
        prompt: Option<String>,
        ground_truth: Option<String>,
        id: Option<String>,
    ) -> Self {
        Self {
            prompt,
            ground_truth,
            id,
            ..Self::default()
        }
    }

    chained!(prompt, ground_truth, id, level, file_name, file_path);
}

impl Rows {
    /// All columns, in order of first appearance.
    pub fn columns(&self) -> Vec<&str> {
        let mut seen = std::collections::HashSet::new();
        self.rows
            .iter()
            .flat_map(|row| row.fields.keys())
            .map(String::as_str)
            .filter(|name| seen.insert(*name))
            .collect()
    }

    /// The column of a role: `named` if given, which must exist; otherwise the first of `known` that any row has.
    pub fn find_column(
        &self,
        role: &str,
        named: Option<&str>,
        known: &[&str],
    ) -> Result<Option<String>> {
        self.header().find_column(role, named, known)
    }

    /// Like [`Rows::find_column`], for a required role.
    pub fn require_column(
        &self,
        role: &str,
        named: Option<&str>,
        known: &[&str],
    ) -> Result<String> {
        self.header().require_column(role, named, known)
    }

    pub(crate) fn header(&self) -> Header<'_> {
        Header {
            path: &self.path,
            columns: self.columns(),
            rows: self,
        }
    }
}

/// The columns of a file.
pub(crate) struct Header<'a> {
    pub(crate) path: &'a Path,
    /// In order of first appearance.
    pub(crate) columns: Vec<&'a str>,
    pub(super) rows: &'a dyn AnyRow,
}

/// A set of rows that can be searched.
pub(crate) trait AnyRow {
    /// Whether any row satisfies `is`.
    fn any(&self, is: &dyn Fn(&Map<String, Value>) -> bool) -> bool;
}

impl AnyRow for Rows {
    fn any(&self, is: &dyn Fn(&Map<String, Value>) -> bool) -> bool {
        self.rows.iter().any(|row| is(&row.fields))
    }
}

impl Header<'_> {
    /// See [`Rows::find_column`].
    pub(crate) fn find_column(
        &self,
        role: &str,
        named: Option<&str>,
        known: &[&str],
    ) -> Result<Option<String>> {
        let Some(named) = named else {
            let found = known.iter().find(|name| self.columns.contains(name));
            return Ok(found.map(|&name| name.to_owned()));
        };
        if self.columns.contains(&named) {
            return Ok(Some(named.to_owned()));
        }
        let columns = self.columns.iter().copied();
        let error = Error::usage(format!(
            "`{}`: no column `{named}` (named by `columns.{role}`); found {}",
            self.path.display(),
            quoted(columns.clone())
        ));
        let name = nearest(named, columns).unwrap_or("NAME");
        Err(error.hint(format!(
            "name an existing one: `columns: {{ {role}: {name} }}`"
        )))
    }

    /// See [`Rows::require_column`].
    pub(crate) fn require_column(
        &self,
        role: &str,
        named: Option<&str>,
        known: &[&str],
    ) -> Result<String> {
        if let Some(column) = self.find_column(role, named, known)? {
            return Ok(column);
        }
        let columns = self.columns.iter().copied();
        let error = Error::usage(format!(
            "`{}`: no column for `{role}`: looked for {}; found {}",
            self.path.display(),
            quoted(known.iter().copied()),
            quoted(columns.clone())
        ));
        let name = known
            .iter()
            .find_map(|name| nearest(name, columns.clone()))
            .unwrap_or("NAME");
        Err(error.hint(format!("name it: `columns: {{ {role}: {name} }}`")))
    }
}

/// A JSON scalar as text: a string unchanged, numbers and bools in JSON syntax (`17`, `0.5`, `true`). `None` for null,
/// arrays and objects.
///
/// Numbers were parsed as 64-bit integers or floats: `0.50` becomes `0.5`, and larger numbers lose digits.
pub(crate) fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Name of a JSON value's type, for messages.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a bool",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::read;
    use super::*;

    fn rows() -> Rows {
        read("rows.jsonl", "{\"Question\":1}\n{\"questions\":2,\"id\":3}").unwrap()
    }

    #[test]
    fn the_first_known_name_wins() {
        let find = |known: &[&str]| rows().find_column("prompt", None, known).unwrap();
        assert_eq!(find(&["x", "id", "Question"]).as_deref(), Some("id"));
        assert_eq!(find(&["x"]), None);
    }

    #[test]
    fn a_given_name_must_be_there() {
        let column = rows().find_column("prompt", Some("questions"), &["Question"]);
        assert_eq!(column.unwrap().as_deref(), Some("questions"));
        let error = rows()
            .find_column("prompt", Some("Qestion"), &["Question"])
            .unwrap_err();
        assert!(
            error.message().ends_with(
                "no column `Qestion` (named by `columns.prompt`); found `Question`, `questions`, `id`"
            ),
            "{error}"
        );
        let hint = "name an existing one: `columns: { prompt: Question }`";
        assert_eq!(error.hint_text(), Some(hint));
    }

    #[test]
    fn a_required_column_lists_what_is_there() {
        let error = rows()
            .require_column("prompt", None, &["question", "ask"])
            .unwrap_err();
        assert!(
            error.message().ends_with(
                "no column for `prompt`: looked for `question`, `ask`; \
                 found `Question`, `questions`, `id`"
            ),
            "{error}"
        );
        let hint = "name it: `columns: { prompt: Question }`";
        assert_eq!(error.hint_text(), Some(hint));
    }

    #[test]
    fn scalars_become_text_as_json_writes_them() {
        let check = |value: Value, expect: Option<&str>| {
            assert_eq!(text(value).as_deref(), expect);
        };
        check(json!("a"), Some("a"));
        check(json!(17), Some("17"));
        check(json!(-0.5), Some("-0.5"));
        check(
            json!(18_446_744_073_709_551_615_u64),
            Some("18446744073709551615"),
        );
        check(json!(true), Some("true"));
        check(json!(null), None);
        check(json!([1]), None);
    }
}
