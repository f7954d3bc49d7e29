//! `Filler`: replaces `${NAME}` in the texts of an endpoint, and knows the values.

use std::path::Path;

use serde_json::Value;

use super::{from_variable, variable};
use crate::error::{Error, Result, Under};
use crate::text::redact::REDACTED;

/// Replaces `${NAME}` by variables of the environment or of the `.env` file. `$${` is a literal `${`.
#[derive(Debug)]
pub(crate) struct Filler<'a> {
    folder: &'a Path,
    /// Whether `{name}` in the texts is a placeholder, which no value may become.
    has_placeholders: bool,
    /// The variables and their values.
    found: Vec<(String, String)>,
}

impl<'a> Filler<'a> {
    /// For a spec in this folder.
    pub(crate) fn new(folder: &'a Path) -> Self {
        Self {
            folder,
            has_placeholders: false,
            found: Vec::new(),
        }
    }

    /// For texts in which `{name}` is a placeholder, and `{{name}}` a literal `{name}`.
    pub(crate) fn with_placeholders(folder: &'a Path) -> Self {
        Self {
            has_placeholders: true,
            ..Self::new(folder)
        }
    }

    /// The text of a key, for an address or a header.
    ///
    /// # Errors
    /// If a variable is not set, or holds more than plain ASCII.
    pub(crate) fn text(&mut self, key: &str, text: &str) -> Result<String> {
        self.fill(key, text, &from_variable)
    }

    /// The texts in the value of a key.
    ///
    /// # Errors
    /// If a variable is not set.
    pub(crate) fn json(&mut self, key: &str, value: &mut Value) -> Result<()> {
        match value {
            Value::String(text) => *text = self.fill(key, text, &variable)?,
            Value::Array(list) => {
                for (place, value) in list.iter_mut().enumerate() {
                    self.json(key, value).under(place)?;
                }
            }
            Value::Object(map) => {
                for (name, value) in map {
                    self.json(name, value).under(name.as_str())?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn fill(
        &mut self,
        key: &str,
        text: &str,
        find: &dyn Fn(&str, &str, &Path) -> Result<String>,
    ) -> Result<String> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            if let Some(before) = before.strip_suffix('$') {
                filled.push_str(before);
                filled.push('$');
                let end = after.find('}').map_or(0, |end| end + 1);
                let name = self.literal(&format!("{{{}", &after[..end]));
                filled.push_str(&name);
                rest = &after[end..];
                continue;
            }
            let (name, after) = after.split_once('}').ok_or_else(|| {
                Error::usage(format!("`{key}` has a `${{` without `}}`"))
                    .hint("write `${MY_KEY}`, or `$${` for the text `${`")
            })?;
            let value = find(name, &format!("{key}: ${{{name}}}"), self.folder)?;
            filled.push_str(before);
            filled.push_str(&self.literal(&value));
            self.found.push((name.to_owned(), value));
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }

    /// A text in which no placeholder is read.
    fn literal(&self, text: &str) -> String {
        let mut literal = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{').filter(|_| self.has_placeholders) {
            literal.push_str(before);
            let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
            let name = &after[..after.find(|c| !is_name(c)).unwrap_or(after.len())];
            match after[name.len()..].strip_prefix('}') {
                Some(after) if !name.is_empty() => {
                    literal.extend(["{{", name, "}}"]);
                    rest = after;
                }
                _ => {
                    literal.push('{');
                    rest = after;
                }
            }
        }
        literal + rest
    }

    /// An error without the values.
    pub(crate) fn hide(&self, error: Error) -> Error {
        error.map_text(|text| {
            let values = self.found.iter().map(|(_, value)| value);
            values.fold(text.to_owned(), |text, value| text.replace(value, REDACTED))
        })
    }

    /// The variables and their values, which are secret.
    pub(crate) fn found(self) -> Vec<(String, String)> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const VARIABLES: &str = "KEY_OF_FILLER=sk-1\nODD_OF_FILLER='{id} of {{id}}'\n";

    #[test]
    fn variables_are_replaced_and_a_doubled_dollar_is_one() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".env"), VARIABLES).unwrap();
        let fill = |text: &str| Filler::new(folder.path()).text("url", text);
        for (text, expect) in [
            ("a${KEY_OF_FILLER}/${KEY_OF_FILLER}b", "ask-1/sk-1b"),
            ("$${KEY_OF_FILLER}", "${KEY_OF_FILLER}"),
            (
                "$$${KEY_OF_FILLER} ${KEY_OF_FILLER}",
                "$${KEY_OF_FILLER} sk-1",
            ),
            ("$5 {id} $${", "$5 {id} ${"),
        ] {
            assert_eq!(fill(text).unwrap(), expect, "{text}");
        }
        for (text, expect) in [
            (
                "${NO_SUCH_OF_FILLER}",
                "`url: ${NO_SUCH_OF_FILLER}` is set neither",
            ),
            ("${KEY", "`url` has a `${` without `}`"),
            ("${}", "`url` needs the name of a variable"),
        ] {
            let error = fill(text).unwrap_err();
            assert!(error.message().starts_with(expect), "{error}");
            assert_eq!(error.exit(), crate::Exit::Usage);
        }
    }

    #[test]
    fn no_value_becomes_a_placeholder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".env"), VARIABLES).unwrap();
        let mut filler = Filler::with_placeholders(folder.path());
        let mut value = json!({"a": ["{id} ${ODD_OF_FILLER}", 1], "b": "$${prompt} $${A}"});
        filler.json("body", &mut value).unwrap();
        let expect = json!({"a": ["{id} {{id}} of {{{id}}}", 1], "b": "${{prompt}} ${A}"});
        assert_eq!(value, expect);
        let odd = ("ODD_OF_FILLER".to_owned(), "{id} of {{id}}".to_owned());
        assert_eq!(filler.found(), [odd]);
    }
}
