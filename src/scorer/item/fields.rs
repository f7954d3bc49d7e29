//! `ItemFields`: the members of an item, as defined in a spec.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::kind::{FieldKind, LengthRange};
use crate::error::{Error, Result, Under, nearest};
use crate::text::quoted;

/// The types of fields.
pub(crate) const TYPES: [&str; 7] = [
    "text", "integer", "number", "boolean", "choice", "list", "object",
];

/// Used instead of a list of choices: the requested topics.
pub(crate) const TOPICS: &str = "topics";

/// Members of a file of items that are not fields.
const TAKEN: [&str; 4] = ["id", "reference_id", "model", "generated_at"];

/// The maximum nesting of fields.
const DEEPEST: usize = 6;

/// A field as written in specs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FieldKeys {
    name: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    /// A description for agents.
    description: Option<String>,
    /// Whether it is required; true by default.
    required: Option<bool>,
    /// The lowest and the highest number.
    range: Option<[f64; 2]>,
    /// The allowed texts, or `topics`.
    choices: Option<Value>,
    /// In characters for a text, in elements for a list.
    min_length: Option<u64>,
    max_length: Option<u64>,
    /// The type of a list's elements, without a name.
    items: Option<Box<FieldKeys>>,
    /// The fields of an object.
    fields: Option<Vec<FieldKeys>>,
}

/// The fields of an item, in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ItemFields(pub(crate) Vec<ItemField>);

/// A member of an item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ItemField {
    pub(crate) name: String,
    pub(crate) kind: FieldKind,
    pub(crate) description: Option<String>,
    pub(crate) is_required: bool,
    /// Whether its choices are the topics.
    pub(crate) is_topic: bool,
}

impl ItemFields {
    /// Reads the fields of a spec; choices may be its `topics`.
    pub(crate) fn of(keys: Vec<FieldKeys>, topics: &[String]) -> Result<Self> {
        Self::nested(keys, topics, 0)
    }

    fn nested(keys: Vec<FieldKeys>, topics: &[String], depth: usize) -> Result<Self> {
        if keys.is_empty() {
            let error = Error::usage("there are no fields");
            return Err(error.hint("write one: `fields: [{ name: question, type: text }]`"));
        }
        let mut names = HashSet::new();
        let mut fields = Vec::with_capacity(keys.len());
        for (place, keys) in keys.into_iter().enumerate() {
            let field = keys.field(topics, depth).under(place)?;
            if depth == 0 && TAKEN.contains(&field.name.as_str()) {
                let name = &field.name;
                let error = Error::usage(format!("a field cannot be called `{name}`"));
                let error = error.hint("every item in a file has a member of that name already");
                return Err(error.under("name").under(place));
            }
            if !names.insert(field.name.clone()) {
                let error = Error::usage(format!("two fields are called `{}`", field.name));
                let error = error.hint("give each a unique name");
                return Err(error.under("name").under(place));
            }
            fields.push(field);
        }
        Ok(Self(fields))
    }

    /// The field with this name.
    pub(crate) fn get(&self, name: &str) -> Option<&ItemField> {
        self.0.iter().find(|field| field.name == name)
    }

    /// The field with this name, or an error that lists the fields.
    pub(crate) fn require(&self, name: &str) -> Result<&ItemField> {
        self.get(name).ok_or_else(|| {
            let names = || self.0.iter().map(|field| field.name.as_str());
            let error = Error::usage(format!("unknown field `{}`", name.escape_debug()));
            error.hint(match nearest(name, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("name one of {}", quoted(names())),
            })
        })
    }

    /// The field whose choices are the topics.
    pub(crate) fn topic(&self) -> Option<&ItemField> {
        self.0.iter().find(|field| field.is_topic)
    }

    /// Describes an object with these fields, in lines for an agent: `"answer": an integer from 0 to 999`.
    pub(crate) fn definition(&self) -> String {
        let lines = self.0.iter().map(|field| {
            let definition = field.kind.definition();
            let may_be_missing = if field.is_required { "" } else { " (optional)" };
            match &field.description {
                Some(more) => format!("- \"{}\": {definition}{may_be_missing}; {more}", field.name),
                None => format!("- \"{}\": {definition}{may_be_missing}", field.name),
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Everything that affects whether an item is valid.
    pub(crate) fn canonical(&self) -> Value {
        let fields = self.0.iter().map(|field| {
            Value::Array(vec![
                field.name.as_str().into(),
                field.kind.canonical(),
                field.is_required.into(),
            ])
        });
        fields.collect()
    }

    /// Reads the members of an object: normalised values, missing or blank fields, and errors.
    pub(crate) fn read(&self, given: &Map<String, Value>) -> ReadFields {
        let mut read = ReadFields::default();
        for field in &self.0 {
            let value = given.get(&field.name).filter(|value| !value.is_null());
            let Some(value) = value.filter(|value| !is_blank(value)) else {
                if field.is_required {
                    read.missing.push(field.name.clone());
                }
                continue;
            };
            let (normalized, wrong) = match field.kind.normal(value) {
                Ok(normal) => (normal, None),
                Err(why) => (value.clone(), Some(why)),
            };
            read.item.insert(field.name.clone(), normalized);
            if let Some(why) = wrong {
                read.wrong.push((field.name.clone(), why));
            }
        }
        read
    }
}

/// The result of reading an object's members.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ReadFields {
    /// Each field present, normalised; an invalid one as it came.
    pub(crate) item: Map<String, Value>,
    /// Fields that are missing or blank.
    pub(crate) missing: Vec<String>,
    /// Invalid fields, with a description of their values.
    pub(crate) wrong: Vec<(String, String)>,
}

impl ItemField {
    /// The name of the check of its value.
    pub(crate) fn check_name(&self) -> String {
        let end = match self.kind {
            FieldKind::Integer(_) | FieldKind::Number(_) => "in_range",
            FieldKind::Choice(_) => "in_list",
            _ => "in_form",
        };
        format!("{}_{end}", self.name)
    }
}

/// Whether a value has nothing visible.
pub(crate) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text
            .chars()
            .all(|c| c.is_whitespace() || crate::printable::is_unseen(c)),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

impl FieldKeys {
    fn field(self, topics: &[String], depth: usize) -> Result<ItemField> {
        let Some(name) = self.name.clone() else {
            let error = Error::usage("a field has no name");
            return Err(error.hint("write `{ name: answer, type: integer }`"));
        };
        let mut signs = name.bytes();
        let is_start = |c: u8| c.is_ascii_alphabetic() || c == b'_';
        let is_name = signs.next().is_some_and(is_start)
            && signs.all(|c| is_start(c) || c.is_ascii_digit())
            && name.len() <= 64;
        if !is_name {
            let error = Error::usage(format!(
                "`{}` is not the name of a field",
                name.escape_debug()
            ));
            let hint = "a name is made of the letters a to z, digits and `_`, at most 64 of them";
            return Err(error.hint(hint).under("name"));
        }
        let is_topic = self.choices.as_ref().and_then(Value::as_str) == Some(TOPICS);
        Ok(ItemField {
            description: self.description.clone(),
            is_required: self.required.unwrap_or(true),
            is_topic,
            kind: self.kind_of(topics, depth)?,
            name,
        })
    }

    fn kind_of(self, topics: &[String], depth: usize) -> Result<FieldKind> {
        if depth >= DEEPEST {
            let error = Error::usage("fields lie too deep in one another");
            return Err(error.hint(format!("at most {DEEPEST} levels may be nested")));
        }
        self.refuse_foreign()?;
        let span = || LengthRange::of(self.min_length, self.max_length);
        Ok(match self.kind.as_str() {
            "text" => FieldKind::Text(span()?),
            "integer" => FieldKind::Integer(whole_range(self.range)?),
            "number" => FieldKind::Number(range(self.range)?),
            "boolean" => FieldKind::Boolean,
            "choice" => FieldKind::Choice(choices(self.choices.as_ref(), topics).under("choices")?),
            "list" => {
                let length = span()?;
                let items = self.items.map(|items| {
                    if items.name.is_some() {
                        let error = Error::usage("the type of a list's elements has no name");
                        return Err(error.hint("remove `name`").of_key("name"));
                    }
                    items.kind_of(topics, depth + 1).map(Box::new)
                });
                FieldKind::List(length, items.transpose().under("items")?)
            }
            "object" => {
                let fields = self.fields.unwrap_or_default();
                let fields = ItemFields::nested(fields, topics, depth + 1).under("fields")?;
                FieldKind::Object(fields)
            }
            other => {
                let error = Error::usage(format!("unknown type `{}`", other.escape_debug()));
                let legal = quoted(TYPES);
                return Err(error
                    .hint(match nearest(other, TYPES) {
                        Some(near) => format!("did you mean `{near}`? legal types: {legal}"),
                        None => format!("legal types: {legal}"),
                    })
                    .under("type"));
            }
        })
    }

    /// Rejects keys that do not apply to this type.
    fn refuse_foreign(&self) -> Result<()> {
        let given = [
            ("range", self.range.is_some()),
            ("choices", self.choices.is_some()),
            ("min_length", self.min_length.is_some()),
            ("max_length", self.max_length.is_some()),
            ("items", self.items.is_some()),
            ("fields", self.fields.is_some()),
        ];
        let own: &[&str] = match self.kind.as_str() {
            "integer" | "number" => &["range"],
            "choice" => &["choices"],
            "text" => &["min_length", "max_length"],
            "list" => &["min_length", "max_length", "items"],
            "object" => &["fields"],
            "boolean" => &[],
            _ => return Ok(()),
        };
        match given.iter().find(|(key, is)| *is && !own.contains(key)) {
            None => Ok(()),
            Some((key, _)) => {
                let kind = &self.kind;
                let error = Error::usage(format!("a field of type `{kind}` has no `{key}`"));
                Err(error.hint(format!("remove `{key}`")).of_key(key))
            }
        }
    }
}

/// The lowest and the highest allowed number.
fn range(given: Option<[f64; 2]>) -> Result<[f64; 2]> {
    let [low, high] = given.unwrap_or([f64::MIN, f64::MAX]);
    if low <= high && low.is_finite() && high.is_finite() {
        return Ok([low, high]);
    }
    let error = Error::usage(format!("`[{low}, {high}]` is not a range"));
    Err(error
        .hint("write the lowest and the highest: `range: [0, 999]`")
        .under("range"))
}

fn whole_range(given: Option<[f64; 2]>) -> Result<[i64; 2]> {
    /// Up to here every integer is a distinct double.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let ends = range(Some(given.unwrap_or([-EXACT, EXACT])))?;
    if ends
        .iter()
        .any(|end| end.fract() != 0.0 || end.abs() > EXACT)
    {
        let error = Error::usage("the range of an integer has whole numbers, up to 2^53");
        return Err(error.hint("write `range: [0, 999]`").under("range"));
    }
    #[expect(clippy::cast_possible_truncation, reason = "whole and in range")]
    Ok(ends.map(|end| end as i64))
}

/// The allowed texts of a choice.
fn choices(given: Option<&Value>, topics: &[String]) -> Result<Vec<String>> {
    let list = match given {
        Some(Value::String(word)) if word == TOPICS => {
            if topics.is_empty() {
                let error = Error::usage("`choices: topics` needs topics, but there are none");
                return Err(error.hint("write `topics: [Algebra, Geometry]` next to `fields`"));
            }
            return Ok(topics.to_vec());
        }
        Some(Value::Array(list)) if !list.is_empty() => list,
        _ => {
            let error = Error::usage("a choice needs the texts that it may be");
            return Err(error.hint("write `choices: [easy, hard]`, or `choices: topics`"));
        }
    };
    let texts = list.iter().enumerate().map(|(place, value)| match value {
        Value::String(text) if !is_blank(value) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(truth) => Ok(truth.to_string()),
        _ => Err(Error::usage(format!("`{value}` is not a choice"))
            .hint("write a text")
            .under(place)),
    });
    let texts = texts.collect::<Result<Vec<_>>>()?;
    distinct(&texts)?;
    Ok(texts)
}

/// Rejects two texts that differ only in case and white space.
pub(crate) fn distinct(texts: &[String]) -> Result<()> {
    let mut seen = HashSet::new();
    for (place, text) in texts.iter().enumerate() {
        if !seen.insert(super::kind::folded(text)) {
            let error = Error::usage(format!("`{}` is there twice", text.escape_debug()));
            let error = error.hint("leave out what differs in case and white space alone");
            return Err(error.under(place));
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The fields of a spec in YAML, with two topics.
    pub(crate) fn fields(yaml: &str) -> Result<ItemFields> {
        let value = crate::text::setting::Override::value(yaml).unwrap();
        let keys: Vec<FieldKeys> = serde_json::from_value(value).unwrap();
        ItemFields::of(keys, &["Algebra".to_owned(), "Number Theory".to_owned()])
    }

    #[test]
    fn a_mistake_in_a_field_is_named_with_what_to_write() {
        fn check(yaml: &str, expect: &str, hint: &str) {
            let error = fields(yaml).unwrap_err();
            assert_eq!(error.message(), expect);
            assert!(error.hint_text().unwrap().contains(hint), "{error}");
        }
        check("[]", "there are no fields", "fields: [");
        check("[{ type: text }]", "a field has no name", "name: answer");
        check(
            "[{ name: a b, type: text }]",
            "`a b` is not the name of a field",
            "digits",
        );
        check(
            "[{ name: id, type: text }]",
            "a field cannot be called `id`",
            "already",
        );
        check(
            "[{ name: a, type: txt }]",
            "unknown type `txt`",
            "did you mean `text`?",
        );
        check(
            "[{ name: a, type: text }, { name: a, type: text }]",
            "two fields are called `a`",
            "unique",
        );
        check(
            "[{ name: a, type: text, range: [0, 1] }]",
            "a field of type `text` has no `range`",
            "remove `range`",
        );
        check(
            "[{ name: a, type: integer, range: [9, 0] }]",
            "`[9, 0]` is not a range",
            "[0, 999]",
        );
        check(
            "[{ name: a, type: integer, range: [0, 0.5] }]",
            "the range of an integer has whole numbers, up to 2^53",
            "[0, 999]",
        );
        check(
            "[{ name: a, type: choice }]",
            "a choice needs the texts that it may be",
            "topics",
        );
        check(
            "[{ name: a, type: choice, choices: [x, ' X'] }]",
            "` X` is there twice",
            "white space",
        );
        check(
            "[{ name: a, type: object }]",
            "there are no fields",
            "fields: [",
        );
        check(
            "[{ name: a, type: text, min_length: 3, max_length: 2 }]",
            "no length is from 3 to 2",
            "min_length",
        );
        let deep = (0..9).fold("{ type: text }".to_owned(), |inner, _| {
            format!("{{ type: list, items: {inner} }}")
        });
        let deep = deep.replacen("{ type", "{ name: a, type", 1);
        check(
            &format!("[{deep}]"),
            "fields lie too deep in one another",
            "at most",
        );
    }

    #[test]
    fn field_definitions_for_agents() {
        let fields = fields(
            "[{ name: problem, type: text, description: in LaTeX }, { name: answer, type: integer, range: [0, 999] },
              { name: topic, type: choice, choices: topics }, { name: tags, type: list, required: false,
              max_length: 3, items: { type: text } }]",
        );
        assert_eq!(
            fields.unwrap().definition(),
            "- \"problem\": a text; in LaTeX\n- \"answer\": an integer from 0 to 999\n\
             - \"topic\": one of \"Algebra\", \"Number Theory\"\n\
             - \"tags\": a list of at most 3 elements, each a text (optional)"
        );
    }
}
