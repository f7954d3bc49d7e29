//! `Field`: a column, or a member of a nested one.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{Header, scalar};
use crate::error::Result;

/// Location of a value in a row: `answer`, a dotted path such as `answers.text`, or a JSON pointer such as
/// `/answers/text/0`.
///
/// A column with the full name takes precedence, even with dots. For an array, a name is looked up in each element and
/// a number is an index from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    name: String,
    column: String,
    members: Vec<String>,
}

impl Field {
    /// The field with this name, if at least one row has it.
    pub(crate) fn find(header: &Header<'_>, name: &str) -> Option<Self> {
        let is_there = |field: &Self| {
            let is_column = header.columns.contains(&field.column.as_str());
            let has = |fields: &Map<String, Value>| field.get(fields).is_some();
            is_column && (field.is_whole() || header.rows.any(&has))
        };
        Self::named(name).into_iter().find(is_there)
    }

    /// A whole column.
    pub(crate) fn whole(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            column: name.to_owned(),
            members: Vec::new(),
        }
    }

    /// The possible meanings of a name: a column, or a path.
    pub(crate) fn named(name: &str) -> [Self; 2] {
        let whole = Self::whole(name);
        let path = match name.strip_prefix('/') {
            Some(pointer) => pointer
                .split('/')
                .map(|part| part.replace("~1", "/").replace("~0", "~"))
                .collect(),
            None => name.split('.').map(str::to_owned).collect(),
        };
        let mut path: Vec<String> = path;
        let nested = Self {
            name: name.to_owned(),
            column: path.remove(0),
            members: path,
        };
        [whole, nested]
    }

    /// The requested name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The column that it is in.
    pub(crate) fn column(&self) -> &str {
        &self.column
    }

    /// The path below the column.
    pub(super) fn members(&self) -> &[String] {
        &self.members
    }

    /// Whether it is a whole column.
    pub(crate) fn is_whole(&self) -> bool {
        self.members.is_empty()
    }

    /// Whether one contains the other, so that showing one reveals part of the other.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let both = self.members.iter().zip(&other.members);
        self.column == other.column && both.into_iter().all(|(left, right)| left == right)
    }

    /// The value in a row.
    pub(crate) fn get<'a>(&self, fields: &'a Map<String, Value>) -> Option<Cow<'a, Value>> {
        member(fields.get(&self.column)?, &self.members)
    }

    /// The value as text; removed from the row if it is a whole column.
    pub(crate) fn take(&self, fields: &mut Map<String, Value>) -> Result<Option<String>> {
        let text = scalar(&self.name, self.get(fields).as_deref())?;
        if self.is_whole() {
            // `Map::remove` would move the last column into the removed one's position.
            fields.shift_remove(&self.column);
        }
        Ok(text)
    }
}

fn member<'a>(value: &'a Value, path: &[String]) -> Option<Cow<'a, Value>> {
    let Some((name, rest)) = path.split_first() else {
        return Some(Cow::Borrowed(value));
    };
    match value {
        Value::Object(map) => member(map.get(name)?, rest),
        Value::Array(items) => {
            if let Ok(place) = name.parse::<usize>() {
                member(items.get(place)?, rest)
            } else {
                let found = items.iter().filter_map(|item| member(item, path));
                let found: Vec<_> = found.map(Cow::into_owned).collect();
                (!found.is_empty()).then_some(Cow::Owned(Value::Array(found)))
            }
        }
        _ => None,
    }
}

impl Header<'_> {
    /// Like [`super::Rows::find_column`], for a column that may be nested.
    pub(crate) fn find_field(
        &self,
        role: &str,
        named: Option<&str>,
        known: &[&str],
    ) -> Result<Option<Field>> {
        if let Some(field) = named.and_then(|name| Field::find(self, name)) {
            return Ok(Some(field));
        }
        let column = self.find_column(role, named, known)?;
        Ok(column.and_then(|column| Field::find(self, &column)))
    }

    /// Like [`super::Rows::require_column`], for a column that may be nested.
    pub(crate) fn require_field(
        &self,
        role: &str,
        named: Option<&str>,
        known: &[&str],
    ) -> Result<Field> {
        if let Some(field) = self.find_field(role, named, known)? {
            return Ok(field);
        }
        let column = self.require_column(role, named, known)?;
        Ok(Field {
            name: column.clone(),
            column,
            members: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;
    use super::*;

    const ROWS: &str = r#"{"a":null,"answers":{"text":["x","y"],"start":[1,2]},"a.b":1,"list":[{"t":"p"},{"u":0},{"t":"q"}]}
        {"a":{"b":2,"c/d":3},"only":true}"#;

    #[track_caller]
    fn check(name: &str, expect: [Option<&str>; 2]) {
        let rows = read("rows.jsonl", ROWS).unwrap();
        let field = Field::find(&rows.header(), name);
        let got = |row: usize| {
            let value = field.as_ref()?.get(&rows.rows[row].fields)?;
            Some(value.to_string())
        };
        assert_eq!(
            [got(0), got(1)],
            expect.map(|text| text.map(str::to_owned)),
            "{name}"
        );
    }

    #[test]
    fn paths_lead_into_columns() {
        check("only", [None, Some("true")]);
        check("answers.text", [Some(r#"["x","y"]"#), None]);
        check("/answers/text/1", [Some(r#""y""#), None]);
        check("answers.text.0", [Some(r#""x""#), None]);
        check("list.t", [Some(r#"["p","q"]"#), None]);
        check("a.b", [Some("1"), None]);
        check("/a/b", [None, Some("2")]);
        check("/a/c~1d", [None, Some("3")]);
        check("a", [Some("null"), Some(r#"{"b":2,"c/d":3}"#)]);
        for none in [
            "",
            "b",
            "answers.texts",
            "answers.text.2",
            "only.x",
            "/",
            "list.v",
            ".",
        ] {
            check(none, [None, None]);
        }
    }

    #[test]
    fn what_holds_another_overlaps_it() {
        let rows = read("rows.jsonl", ROWS).unwrap();
        let field = |name| Field::find(&rows.header(), name).unwrap();
        assert!(field("answers").overlaps(&field("answers.text")));
        assert!(field("answers.text.0").overlaps(&field("answers.text")));
        assert!(!field("answers.start").overlaps(&field("answers.text")));
        assert!(!field("only").overlaps(&field("answers")));
    }

    #[test]
    fn a_field_that_no_row_has_is_an_error_that_lists_the_columns() {
        let rows = read("rows.jsonl", ROWS).unwrap();
        let error = rows
            .header()
            .find_field("ground_truth", Some("answers.texts"), &[])
            .unwrap_err();
        assert!(
            error.message().ends_with(
                "no column `answers.texts` (named by `columns.ground_truth`); found `a`, `answers`, `a.b`, \
                 `list`, `only`"
            ),
            "{error}"
        );
    }
}
