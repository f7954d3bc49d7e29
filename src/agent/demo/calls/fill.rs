//! Arguments for a function from the values of a question, as source. Each value is used once; optional parameters that
//! are not mentioned are omitted.

use serde_json::Value;

use super::token::{Kind, Token, series, stems};

/// The language in which calls are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    Java,
    JavaScript,
}

impl Language {
    /// The language of a category's functions.
    pub(super) fn of(category: &str) -> Self {
        if category.contains("javascript") {
            Self::JavaScript
        } else if category.contains("java") {
            Self::Java
        } else {
            Self::Python
        }
    }

    pub(super) fn calls(self, calls: &[String]) -> String {
        let calls = calls.join(", ");
        if self == Self::Python {
            format!("[{calls}]")
        } else {
            calls
        }
    }

    fn value(self, token: &Token, type_name: &str) -> String {
        match (token.kind, type_name) {
            (Kind::Number, "long") if self == Self::Java => format!("{}L", token.text),
            (Kind::Number, "Bigint") => format!("{}n", token.text),
            (Kind::Number, _) => token.text.clone(),
            // A variable has no meaning in Python.
            (Kind::Code, "any") if self != Self::Python => token.text.clone(),
            _ => self.text(&token.text, type_name),
        }
    }

    fn text(self, text: &str, type_name: &str) -> String {
        let quote = if self == Self::Python || type_name == "char" {
            "'"
        } else {
            "\""
        };
        let text = text
            .replace('\\', "\\\\")
            .replace(quote, &format!("\\{quote}"));
        format!("{quote}{text}{quote}")
    }

    fn list(self, items: &[String], type_name: &str, item: &str) -> String {
        let items = items.join(", ");
        match (self, type_name) {
            (Self::Java, "ArrayList") => format!("new ArrayList<{item}>(Arrays.asList({items}))"),
            (Self::Java, _) => format!(
                "new {}[]{{{items}}}",
                if item == "integer" { "int" } else { item }
            ),
            (_, "tuple") => format!("({items},)"),
            _ => format!("[{items}]"),
        }
    }

    fn dict(self, entries: &[(&str, String)]) -> String {
        let entry = |(name, value): &(&str, String)| match self {
            Self::Python => format!("{}: {value}", self.text(name, "")),
            Self::Java => format!("put({}, {value});", self.text(name, "")),
            Self::JavaScript => format!("{name}: {value}"),
        };
        let entries: Vec<String> = entries.iter().map(entry).collect();
        match self {
            Self::Java => format!(
                "new HashMap<String, Object>() {{{{ {} }}}}",
                entries.join(" ")
            ),
            _ => format!("{{{}}}", entries.join(", ")),
        }
    }
}

/// A parameter of a function, or a field of a dictionary.
pub(super) struct Parameter<'a> {
    pub(super) name: &'a str,
    pub(super) is_required: bool,
    schema: &'a Value,
}

/// The parameters that a schema has.
pub(super) fn parameters(schema: &Value) -> Vec<Parameter<'_>> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &String| required.is_some_and(|all| all.iter().any(|known| known == name));
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    properties
        .map(|(name, schema)| Parameter {
            name,
            is_required: is_required(name),
            schema,
        })
        .collect()
}

impl Parameter<'_> {
    fn type_name(&self) -> &str {
        type_name(self.schema)
    }

    pub(super) fn options(&self) -> Vec<&str> {
        let options = self.schema.get("enum").and_then(Value::as_array);
        options
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(
            self.type_name(),
            "array" | "list" | "tuple" | "Array" | "ArrayList"
        )
    }

    /// Whether a value fits: it has the parameter's type and, for a text, its described form.
    pub(super) fn fits(&self, token: &Token) -> bool {
        let description = self
            .schema
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let is_wanted = |form: &&str| description.contains(form) || self.name.contains(form);
        let wanted = ["HH:MM", "YYYY-MM-DD", "email"].into_iter().find(is_wanted);
        self.options().is_empty()
            && fits(self.schema, token)
            && (token.kind == Kind::Number
                || self.type_name() == "any"
                || form(&token.text) == wanted)
    }
}

fn type_name(schema: &Value) -> &str {
    schema.get("type").and_then(Value::as_str).unwrap_or("any")
}

/// Whether a value has the type of a schema.
fn fits(schema: &Value, token: &Token) -> bool {
    let is_text = matches!(token.kind, Kind::Quoted | Kind::Name | Kind::Code);
    let is_number = token.kind == Kind::Number;
    match type_name(schema) {
        "integer" | "short" | "long" | "Bigint" => is_number && !token.text.contains('.'),
        "float" | "double" => is_number,
        "string" | "String" | "char" => is_text,
        "any" => is_text || is_number,
        _ => false,
    }
}

/// The form of a text that is restricted.
fn form(text: &str) -> Option<&'static str> {
    let has_lengths = |mark: char, lengths: &[usize]| {
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        text.split(mark).all(is_number)
            && text.split(mark).map(str::len).eq(lengths.iter().copied())
    };
    if has_lengths(':', &[2, 2]) {
        Some("HH:MM")
    } else if has_lengths('-', &[4, 2, 2]) {
        Some("YYYY-MM-DD")
    } else {
        text.contains('@').then_some("email")
    }
}

/// The most words between the name of a parameter and its value.
const MOST_BETWEEN: usize = 2;
const BETWEEN: &str = "a an as at by called for in is named number of the to vector with";

/// The arguments of a call, if the tokens have all required ones.
pub(super) fn fill(
    parameters: &[Parameter<'_>],
    tokens: &[Token],
    language: Language,
) -> Option<String> {
    let mut filler = Filler {
        tokens,
        used: vec![false; tokens.len()],
        language,
    };
    let given = filler.all(parameters);
    let is_given = |name: &str| given.iter().any(|(known, _)| *known == name);
    let is_complete = parameters
        .iter()
        .all(|parameter| !parameter.is_required || is_given(parameter.name));
    let given = given.iter().map(|(name, value)| format!("{name}={value}"));
    is_complete.then(|| given.collect::<Vec<_>>().join(", "))
}

struct Filler<'a> {
    tokens: &'a [Token],
    used: Vec<bool>,
    language: Language,
}

impl Filler<'_> {
    /// Names and values, in the order of the parameters.
    fn all<'p>(&mut self, parameters: &[Parameter<'p>]) -> Vec<(&'p str, String)> {
        let mut values: Vec<Option<String>> = parameters
            .iter()
            .map(|parameter| self.list(parameter))
            .collect();
        for find in [Self::named, Self::mentioned, Self::remaining] {
            for (parameter, value) in parameters.iter().zip(&mut values) {
                if value.is_none() {
                    *value = find(self, parameter);
                }
            }
        }
        let names = parameters.iter().map(|parameter| parameter.name);
        names
            .zip(values)
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }

    /// The value next to the parameter's name; for a dictionary, the values next to its fields' names.
    fn named(&mut self, parameter: &Parameter<'_>) -> Option<String> {
        if matches!(parameter.type_name(), "dict" | "HashMap") {
            let given = self.all(&parameters(parameter.schema));
            return (!given.is_empty()).then(|| self.language.dict(&given));
        }
        let at = self.next_to_name(parameter)?;
        Some(self.take(at, parameter.type_name()))
    }

    /// An option that the question mentions, or whether it mentions what a boolean is about.
    fn mentioned(&mut self, parameter: &Parameter<'_>) -> Option<String> {
        if matches!(parameter.type_name(), "boolean" | "Boolean") {
            return self.flag(parameter);
        }
        let options = parameter.options();
        let mut free = (0..self.tokens.len()).filter(|&at| !self.used[at]);
        let is_it = |at: usize, option: &str| self.tokens[at].text.eq_ignore_ascii_case(option);
        let (at, option) =
            free.find_map(|at| Some((at, options.iter().find(|option| is_it(at, option))?)))?;
        self.used[at] = true;
        Some(self.language.text(option, ""))
    }

    /// Any unused value of its kind, for a required parameter.
    fn remaining(&mut self, parameter: &Parameter<'_>) -> Option<String> {
        let is_it = |&at: &usize| !self.used[at] && parameter.fits(&self.tokens[at]);
        let at = (0..self.tokens.len())
            .find(is_it)
            .filter(|_| parameter.is_required)?;
        Some(self.take(at, parameter.type_name()))
    }

    fn take(&mut self, at: usize, type_name: &str) -> String {
        self.used[at] = true;
        self.language.value(&self.tokens[at], type_name)
    }

    /// A series of values of one kind, such as `3, 5 and 8`.
    fn list(&mut self, parameter: &Parameter<'_>) -> Option<String> {
        let items = parameter
            .schema
            .get("items")
            .filter(|_| parameter.is_list())?;
        let fits = |at: usize| !self.used[at] && fits(items, &self.tokens[at]);
        let rows = series(self.tokens);
        let row = rows
            .into_iter()
            .find(|row| row.iter().all(|&at| fits(at)))?;
        let values: Vec<String> = row
            .into_iter()
            .map(|at| self.take(at, type_name(items)))
            .collect();
        Some(
            self.language
                .list(&values, parameter.type_name(), type_name(items)),
        )
    }

    /// The value of a boolean whose words occur, `false` if they are negated.
    fn flag(&self, parameter: &Parameter<'_>) -> Option<String> {
        let stems = stems(parameter.name);
        let at = self
            .tokens
            .iter()
            .position(|token| token.stems().iter().any(|stem| stems.contains(stem)))?;
        let before = &self.tokens[at.saturating_sub(3)..at];
        let is_denied = before
            .iter()
            .any(|token| token.is_any("not cannot without"));
        Some(match (self.language, is_denied) {
            (Language::Python, false) => "True".to_owned(),
            (Language::Python, true) => "False".to_owned(),
            (_, is_denied) => (!is_denied).to_string(),
        })
    }

    /// The first unused value right before a parameter's name ("20 percent") or after it, with only small words
    /// between.
    fn next_to_name(&self, parameter: &Parameter<'_>) -> Option<usize> {
        let is_free = |&at: &usize| !self.used[at] && parameter.fits(&self.tokens[at]);
        let name = stems(parameter.name).pop()?;
        let is_named = |at: &usize| {
            self.tokens[*at].kind == Kind::Word && self.tokens[*at].stems().contains(&name)
        };
        let mut cues = (0..self.tokens.len()).filter(is_named);
        cues.find_map(|cue| {
            let is_number = |at: &usize| self.tokens[*at].kind == Kind::Number;
            let before = cue.checked_sub(1).filter(is_number).filter(is_free);
            let mut behind = cue + 1..self.tokens.len().min(cue + MOST_BETWEEN + 2);
            let first = || {
                behind
                    .find(|&at| !self.tokens[at].is_any(BETWEEN))
                    .filter(is_free)
            };
            before.or_else(first)
        })
    }
}
