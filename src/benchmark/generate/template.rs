//! `ItemTemplate`: prompt templates for items, with `{{placeholders}}`.
//!
//! Placeholders use two braces, so that the braces of JSON, code and TeX are plain text. `{{#name}}` and `{{/name}}`
//! enclose text that is included only if the value exists; tags on lines of their own leave no empty line.

use serde_json::{Map, Value};

use crate::error::{Error, Result, nearest};
use crate::scorer::item::fields::ItemFields;
use crate::text::{quoted, unquoted};

/// Placeholders besides fields of the reference.
const NAMES: [&str; 6] = ["topic", "topics", "reference", "number", "count", "fields"];
/// Prefix of a field of the reference.
const OF_REFERENCE: &str = "reference.";

/// A parsed template.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ItemTemplate {
    text: String,
    parts: Vec<TemplatePart>,
}

#[derive(Clone, Debug, PartialEq)]
enum TemplatePart {
    Text(String),
    Fill(String),
    /// Text included only if the value exists.
    Section(String, Vec<TemplatePart>),
}

/// The values for an item.
pub(super) struct Filling<'a> {
    pub(super) topic: Option<&'a str>,
    pub(super) topics: &'a [String],
    pub(super) reference: Option<&'a Map<String, Value>>,
    pub(super) number: u64,
    pub(super) count: u64,
    pub(super) fields: &'a ItemFields,
}

/// The allowed placeholders.
pub(super) struct TemplateNames<'a> {
    pub(super) fields: &'a ItemFields,
    pub(super) has_topics: bool,
    pub(super) has_reference: bool,
}

impl ItemTemplate {
    /// Parses a template.
    ///
    /// # Errors
    /// For an unknown placeholder; with line and column.
    pub(super) fn of(text: &str, known: &TemplateNames<'_>) -> Result<Self> {
        if text.trim().is_empty() {
            let error = Error::usage("the template is blank");
            return Err(error.hint(
                "write what is asked for: `template: \"Write a question about {{topic}}. …\"`",
            ));
        }
        let mut reader = TemplateReader {
            text,
            place: 0,
            known,
        };
        let parts = reader.parts(None)?;
        Ok(Self {
            text: text.to_owned(),
            parts,
        })
    }

    /// The prompt of an item.
    pub(super) fn render(&self, filling: &Filling<'_>) -> String {
        let mut prompt = String::with_capacity(self.text.len());
        render(&self.parts, filling, &mut prompt);
        prompt.truncate(prompt.trim_end().len());
        prompt
    }
}

fn render(parts: &[TemplatePart], filling: &Filling<'_>, prompt: &mut String) {
    for part in parts {
        match part {
            TemplatePart::Text(text) => prompt.push_str(text),
            TemplatePart::Fill(name) => prompt.push_str(&filling.value(name).unwrap_or_default()),
            TemplatePart::Section(name, inside) => {
                if filling.value(name).is_some() {
                    render(inside, filling, prompt);
                }
            }
        }
    }
}

impl Filling<'_> {
    /// The value of a placeholder; `None` if it does not exist.
    fn value(&self, name: &str) -> Option<String> {
        match name {
            "topic" => self.topic.map(str::to_owned),
            "topics" => (!self.topics.is_empty()).then(|| self.topics.join(", ")),
            // As JSON, which delimits it and shows how to escape texts.
            "reference" => serde_json::to_string_pretty(self.reference?).ok(),
            "number" => Some(self.number.to_string()),
            "count" => Some(self.count.to_string()),
            "fields" => Some(self.fields.definition()),
            other => self
                .reference?
                .get(other.strip_prefix(OF_REFERENCE)?)
                .map(unquoted),
        }
    }
}

/// A tag between two braces.
struct Tag<'t> {
    /// `#`, `/` or none.
    mark: Option<char>,
    name: &'t str,
    /// Offset after the tag.
    end: usize,
}

struct TemplateReader<'t> {
    text: &'t str,
    place: usize,
    known: &'t TemplateNames<'t>,
}

impl<'t> TemplateReader<'t> {
    /// Parses up to the end of the open section, or of the text.
    fn parts(&mut self, open: Option<(&str, usize)>) -> Result<Vec<TemplatePart>> {
        let mut parts = Vec::new();
        let mut start = self.place;
        loop {
            let Some(at) = self.text[self.place..]
                .find("{{")
                .map(|step| self.place + step)
            else {
                if let Some((name, at)) = open {
                    let error =
                        Error::usage(format!("{}: `{{{{#{name}}}}}` is not closed", self.at(at)));
                    return Err(error.hint(format!("write `{{{{/{name}}}}}` at its end")));
                }
                parts.push(TemplatePart::Text(self.text[start..].to_owned()));
                self.place = self.text.len();
                return Ok(parts);
            };
            let Some(tag) = self.tag(at)? else {
                self.place = at + 1;
                continue;
            };
            self.check(tag.name, tag.mark, at, open)?;
            let (before, behind) = match tag.mark {
                None => (at, tag.end),
                Some(_) => self.line(at, tag.end),
            };
            parts.push(TemplatePart::Text(
                self.text[start..before.max(start)].to_owned(),
            ));
            self.place = behind;
            match tag.mark {
                None => parts.push(TemplatePart::Fill(tag.name.to_owned())),
                Some('#') => {
                    let inside = self.parts(Some((tag.name, at)))?;
                    parts.push(TemplatePart::Section(tag.name.to_owned(), inside));
                }
                Some(_) => return Ok(parts),
            }
            start = self.place;
        }
    }

    /// Parses the tag at this offset; `None` if the braces are plain text.
    fn tag(&self, at: usize) -> Result<Option<Tag<'t>>> {
        let rest = &self.text[at + 2..];
        let trimmed = rest.trim_start_matches(' ');
        let mark = trimmed.chars().next().filter(|c| matches!(c, '#' | '/'));
        let named = &trimmed[mark.map_or(0, char::len_utf8)..];
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let name = &named[..named.find(|c| !is_name(c)).unwrap_or(named.len())];
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return Ok(None);
        }
        let behind = named[name.len()..].trim_start_matches(' ');
        if let Some(behind) = behind.strip_prefix("}}") {
            let end = self.text.len() - behind.len();
            return Ok(Some(Tag { mark, name, end }));
        }
        // Braces of TeX or code are plain text, but known placeholders are not.
        if self.legal().iter().any(|legal| legal == name) {
            let error = Error::usage(format!("{}: `{{{{{name}` is not closed", self.at(at)));
            return Err(error.hint(format!("write `{{{{{name}}}}}`")));
        }
        Ok(None)
    }

    /// Returns an error for an unknown name.
    fn check(
        &self,
        name: &str,
        mark: Option<char>,
        at: usize,
        open: Option<(&str, usize)>,
    ) -> Result<()> {
        let legal = self.legal();
        if !legal.iter().any(|known| known == name) {
            let legal = || legal.iter().map(String::as_str);
            let error = Error::usage(format!(
                "{}: unknown placeholder `{{{{{name}}}}}`",
                self.at(at)
            ));
            return Err(error.hint(match nearest(name, legal()) {
                Some(near) => format!("did you mean `{{{{{near}}}}}`? braces with a blank between them, `{{ {{`, are text"),
                None => format!("known are {}; braces with a blank between them, `{{ {{`, are text", quoted(legal())),
            }));
        }
        match (mark, open) {
            (Some('/'), Some((inner, _))) if inner == name => return Ok(()),
            (Some('/'), _) => {
                let error =
                    Error::usage(format!("{}: `{{{{/{name}}}}}` closes nothing", self.at(at)));
                return Err(error.hint(match open {
                    Some((inner, _)) => format!("`{{{{#{inner}}}}}` is open"),
                    None => format!("write `{{{{#{name}}}}}` before the text about it"),
                }));
            }
            (Some(_), _) => return Ok(()),
            (None, _) => {}
        }
        let is_topic = matches!(name, "topic" | "topics");
        if is_topic && !self.known.has_topics {
            let message = format!(
                "{}: `{{{{{name}}}}}` is used, but there are no topics",
                self.at(at)
            );
            return Err(Error::usage(message)
                .hint("write `topics: [Algebra, Geometry]` next to `template`"));
        }
        let is_reference = name == "reference" || name.starts_with(OF_REFERENCE);
        let is_inside = open.is_some_and(|(inner, _)| inner.starts_with("reference"));
        if is_reference && !self.known.has_reference && !is_inside {
            let message = format!(
                "{}: `{{{{{name}}}}}` is used, but there is no reference",
                self.at(at)
            );
            return Err(Error::usage(message).hint(
                "name a file of items, `reference: items.json`, or write `{{#reference}}…{{/reference}}` around the \
                 text about it",
            ));
        }
        Ok(())
    }

    /// The allowed names.
    fn legal(&self) -> Vec<String> {
        let fields = self.known.fields.0.iter();
        let fields = fields.map(|field| format!("{OF_REFERENCE}{}", field.name));
        NAMES.into_iter().map(str::to_owned).chain(fields).collect()
    }

    /// The line of a tag that is alone on it.
    fn line(&self, at: usize, end: usize) -> (usize, usize) {
        let start = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        let is_blank = |text: &str| text.chars().all(|c| c == ' ' || c == '\t' || c == '\r');
        let rest = &self.text[end..];
        let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
        if is_blank(&self.text[start..at]) && is_blank(rest[..length].trim_end_matches('\n')) {
            (start, end + length)
        } else {
            (at, end)
        }
    }

    /// Line and column of an offset, from 1.
    fn at(&self, place: usize) -> String {
        let before = &self.text[..place];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        format!("line {line}, column {column} of the template")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scorer::item::fields::FieldKeys;

    fn fields() -> ItemFields {
        let keys: Vec<FieldKeys> = serde_json::from_value(json!([
            { "name": "problem", "type": "text" }, { "name": "answer", "type": "integer" },
        ]))
        .unwrap();
        ItemFields::of(keys, &[]).unwrap()
    }

    #[track_caller]
    fn check(text: &str, reference: impl Into<Option<Value>>, expect: &str) {
        let reference = reference.into();
        let fields = fields();
        let known = TemplateNames {
            fields: &fields,
            has_topics: true,
            has_reference: reference.is_some(),
        };
        let template = ItemTemplate::of(text, &known).unwrap_or_else(|error| panic!("{error}"));
        let prompt = template.render(&Filling {
            topic: Some("Algebra"),
            topics: &["Algebra".to_owned(), "Logic".to_owned()],
            reference: reference.as_ref().and_then(Value::as_object),
            number: 3,
            count: 9,
            fields: &fields,
        });
        assert_eq!(prompt, expect);
    }

    #[test]
    fn names_in_two_braces_are_filled_in_and_other_braces_are_text() {
        let reference = || Some(json!({"problem": r"$\frac{1}{2}$?", "answer": 5}));
        check(
            "{{topic}} {{ number }}/{{count}} of {{topics}}",
            None,
            "Algebra 3/9 of Algebra, Logic",
        );
        check(
            r#"{"a": {"b": "{{topic}}"}}"#,
            None,
            r#"{"a": {"b": "Algebra"}}"#,
        );
        check(
            r"{{a}^2}, {{ {x} }}, {{}}, {{{topic}}}, {{",
            None,
            r"{{a}^2}, {{ {x} }}, {{}}, {Algebra}, {{",
        );
        check(
            "{{fields}}",
            None,
            "- \"problem\": a text\n- \"answer\": an integer",
        );
        check(
            "{{reference.problem}} = {{reference.answer}}",
            reference(),
            r"$\frac{1}{2}$? = 5",
        );
        check(
            "{{reference}}",
            reference(),
            "{\n  \"problem\": \"$\\\\frac{1}{2}$?\",\n  \"answer\": 5\n}",
        );
        // Values are not expanded again.
        check(
            "{{reference.problem}}",
            Some(json!({"problem": "{{topic}}"})),
            "{{topic}}",
        );
    }

    #[test]
    fn section_is_rendered_when_present() {
        let text = "A\n{{#reference}}\nLike {{reference.answer}}.\n{{/reference}}\nB{{#topic}}: {{topic}}{{/topic}}\n";
        check(text, None, "A\nB: Algebra");
        check(text, Some(json!({"answer": 5})), "A\nLike 5.\nB: Algebra");
    }

    #[test]
    fn a_mistake_has_its_place_and_what_to_write() {
        #[track_caller]
        fn check(text: &str, expect: &str, hint: &str) {
            let fields = fields();
            let known = TemplateNames {
                fields: &fields,
                has_topics: false,
                has_reference: false,
            };
            let error = ItemTemplate::of(text, &known).unwrap_err();
            assert_eq!(error.message(), expect);
            assert!(error.hint_text().unwrap().contains(hint), "{error}");
        }
        check(
            "\n é {{topik}}",
            "line 2, column 4 of the template: unknown placeholder `{{topik}}`",
            "`{{topic}}`",
        );
        check(
            "{{#reference}}{{reference.problm}}{{/reference}}",
            "line 1, column 15 of the template: unknown placeholder `{{reference.problm}}`",
            "`{{reference.problem}}`",
        );
        check(
            "{{number}",
            "line 1, column 1 of the template: `{{number` is not closed",
            "`{{number}}`",
        );
        check(
            "{{topic}}",
            "line 1, column 1 of the template: `{{topic}}` is used, but there are no topics",
            "topics: [",
        );
        check(
            "{{reference}}",
            "line 1, column 1 of the template: `{{reference}}` is used, but there is no reference",
            "items.json",
        );
        check(
            "{{#topic}}",
            "line 1, column 1 of the template: `{{#topic}}` is not closed",
            "`{{/topic}}`",
        );
        check(
            "{{/topic}}",
            "line 1, column 1 of the template: `{{/topic}}` closes nothing",
            "`{{#topic}}`",
        );
        check(" \n", "the template is blank", "template:");
    }
}
