//! The document of a function, as far as calling it needs it.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde_json::Value;

use super::token::{stem, stems};

/// Dictionaries in dictionaries are looked at this deep.
const MAX_DEPTH: usize = 4;

/// Words that tell nothing about what is asked for.
const COMMON: &str = "a all an and another any are as at be by can code current default do each for from get give \
    given has have how i if in is it its made make many me more much my name not now of on one only or other please \
    show some such syntax tell than that the their them then there they this to two use what when where whether which \
    who will with you your";

/// What kind of value a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterKind {
    Integer,
    Float,
    Boolean,
    Text,
    List,
    Dict,
    Any,
}

/// The form in which a text is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Free,
    Time,
    Date,
    Email,
}

/// A parameter of a function, a field of a dictionary, or the items of a list.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) stems: Vec<String>,
    pub(super) kind: ParameterKind,
    /// The type as the document names it.
    pub(super) type_name: String,
    pub(super) shape: Shape,
    pub(super) options: Vec<String>,
    pub(super) items: Option<Box<Parameter>>,
    pub(super) fields: Vec<Parameter>,
    pub(super) is_required: bool,
}

/// A function that can be called.
#[derive(Debug, Clone)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) parameters: Vec<Parameter>,
    /// The stems that a question about it may have, from its name and from what is said of it.
    named: HashSet<String>,
    described: HashSet<String>,
}

impl Function {
    /// `None` for what is no document of a function.
    pub(super) fn read(document: &Value) -> Option<Self> {
        let name = document.get("name")?.as_str()?;
        let description = document.get("description").and_then(Value::as_str);
        let described = meaningful(description.unwrap_or_default());
        let parameters = document.get("parameters").unwrap_or(&Value::Null);
        let parameters = fields(parameters, MAX_DEPTH);
        let of_parameters = parameters.iter().flat_map(|known| known.stems.clone());
        Some(Self {
            named: meaningful(name),
            described: described.into_iter().chain(of_parameters).collect(),
            name: name.to_owned(),
            parameters,
        })
    }

    /// How much a question is about this function: two for each word of its name, one for each other word that
    /// is said of it.
    pub(super) fn relevance(&self, asked: &HashSet<&str>) -> usize {
        let has = |known: &&String| asked.contains(known.as_str());
        let named = self.named.iter().filter(has).count();
        let others = self
            .described
            .iter()
            .filter(|stem| !self.named.contains(*stem));
        2 * named + others.filter(has).count()
    }
}

/// The stems of the words that tell something.
fn meaningful(text: &str) -> HashSet<String> {
    static COMMON_STEMS: LazyLock<HashSet<String>> =
        LazyLock::new(|| COMMON.split(' ').map(stem).collect());
    let stems = stems(text).into_iter();
    stems.filter(|stem| !COMMON_STEMS.contains(stem)).collect()
}

fn fields(parameters: &Value, depth: usize) -> Vec<Parameter> {
    let Some(properties) = parameters.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let required = parameters.get("required").and_then(Value::as_array);
    let is_required = |name: &str| {
        let mut required = required.into_iter().flatten();
        required.any(|known| known.as_str() == Some(name))
    };
    let read = |(name, property): (&String, &Value)| Parameter {
        is_required: is_required(name),
        ..parameter(name, property, depth)
    };
    properties.iter().map(read).collect()
}

fn parameter(name: &str, property: &Value, depth: usize) -> Parameter {
    let text = |key: &str| property.get(key).and_then(Value::as_str);
    let type_name = text("type").unwrap_or("any");
    let description = text("description").unwrap_or_default();
    let options = property.get("enum").and_then(Value::as_array);
    let texts = options.into_iter().flatten().filter_map(Value::as_str);
    let deeper = depth.checked_sub(1);
    let items = property.get("items").filter(|_| deeper.is_some());
    Parameter {
        name: name.to_owned(),
        stems: stems(name),
        kind: kind(type_name),
        type_name: type_name.to_owned(),
        shape: if description.contains("HH:MM") {
            Shape::Time
        } else if description.contains("YYYY-MM-DD") {
            Shape::Date
        } else if name.to_lowercase().contains("email") {
            Shape::Email
        } else {
            Shape::Free
        },
        options: texts.map(str::to_owned).collect(),
        items: items.map(|items| Box::new(parameter("", items, depth - 1))),
        fields: deeper.map_or_else(Vec::new, |depth| fields(property, depth)),
        is_required: false,
    }
}

fn kind(type_name: &str) -> ParameterKind {
    match type_name {
        "integer" | "int" | "byte" | "short" | "long" | "Bigint" => ParameterKind::Integer,
        "float" | "double" | "number" => ParameterKind::Float,
        "boolean" | "bool" | "Boolean" => ParameterKind::Boolean,
        "string" | "String" | "char" | "Character" => ParameterKind::Text,
        "array" | "list" | "tuple" | "Array" | "ArrayList" => ParameterKind::List,
        "dict" | "object" | "HashMap" | "Hashtable" => ParameterKind::Dict,
        _ => ParameterKind::Any,
    }
}
