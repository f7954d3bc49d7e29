//! A prompt that is made of several columns.

use crate::error::{Error, Result};

/// A text with columns in braces: `Passage: {passage}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Column(String),
}

impl Template {
    /// Reads a template. `{{` and `}}` are braces, and so is a `}` that closes nothing.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(place) = rest.find(['{', '}']) {
            let (before, brace) = rest.split_at(place);
            plain.push_str(before);
            if brace.starts_with("{{") || brace.starts_with("}}") {
                plain.push_str(&brace[..1]);
                rest = &brace[2..];
                continue;
            }
            let Some(opened) = brace.strip_prefix('{') else {
                plain.push('}');
                rest = &brace[1..];
                continue;
            };
            let column = opened
                .split_once('}')
                .filter(|(column, _)| !column.trim().is_empty() && !column.contains(['{', '\n']));
            let Some((column, after)) = column else {
                let shown: String = brace.chars().take(20).collect();
                return Err(Error::usage(format!(
                    "the template has a `{{` that starts no column: `{}`",
                    shown.escape_debug()
                ))
                .hint("write `{question}` for a column, `{{` for a brace"));
            };
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(Part::Column(column.trim().to_owned()));
            rest = after;
        }
        plain.push_str(rest);
        if parts.is_empty() {
            return Err(Error::usage("the template names no column")
                .hint("write `template: \"Question: {question}\"`"));
        }
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Self { parts })
    }

    /// The columns that it names.
    pub(super) fn columns(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Column(name) => Some(name.as_str()),
        })
    }

    /// The text with the value of each column.
    pub(super) fn render(&self, mut value: impl FnMut(&str) -> Result<String>) -> Result<String> {
        let mut prompt = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => prompt.push_str(text),
                Part::Column(name) => prompt.push_str(&value(name)?),
            }
        }
        Ok(prompt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_in_braces() {
        let check = |text: &str, expect: &str| {
            let template = Template::parse(text).unwrap();
            let made = template.render(|name| Ok(format!("<{name}>"))).unwrap();
            assert_eq!(made, expect);
        };
        check("{a}", "<a>");
        check(
            "P: {passage}\n\nQ: { question }?",
            "P: <passage>\n\nQ: <question>?",
        );
        check("{a.b}{/c/0}", "<a.b></c/0>");
        check("{{\"x\": {a}}} }", "{\"x\": <a>} }");
        check("{{}} {é}", "{} <é>");
    }

    #[test]
    fn a_brace_that_starts_no_column_is_an_error() {
        for text in ["{a} {", "{a} {}", "{ }", "{a\n}", "{a {b}", "{a} {東"] {
            let error = Template::parse(text).unwrap_err();
            assert!(
                error.message().contains("starts no column"),
                "{text}: {error}"
            );
        }
        for text in ["", "plain", "{{a}}"] {
            let error = Template::parse(text).unwrap_err();
            assert_eq!(error.message(), "the template names no column");
        }
    }
}
