//! `PromptForm`: one of the prompt variants of `format_sensitivity`.

use std::fmt;

use crate::calls::CallFormat;

/// The category whose entries are entries of other categories in a [`PromptForm`].
pub(crate) const FORMAT_SENSITIVITY: &str = "format_sensitivity";

/// Metadata keys of a sample's form, and of the id of its original entry.
pub(crate) const FORM: &str = "form";
pub(crate) const ORIGINAL: &str = "entry";

/// The format of a prompt and its answer. Written as in official ids:
/// `ret_fmt=json&tool_call_tag=True&func_doc_fmt=xml&prompt_fmt=plaintext&style=classic`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptForm([&'static str; PARTS.len()]);

/// A part: its official name, its slice dimension, and its values.
type FormPart = (&'static str, &'static str, &'static [&'static str]);

const PARTS: [FormPart; 5] = [
    (
        "ret_fmt",
        "return_format",
        &["python", "json", "verbose_xml", "concise_xml"],
    ),
    ("tool_call_tag", "tool_call_tag", &["True", "False"]),
    (
        "func_doc_fmt",
        "func_doc_format",
        &["python", "xml", "json"],
    ),
    ("prompt_fmt", "prompt_format", &["plaintext", "markdown"]),
    ("style", "prompt_style", &["classic", "experimental"]),
];

impl PromptForm {
    /// The 26 forms of the leaderboard, in its order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self::at)
    }

    pub(crate) const COUNT: usize = 26;

    /// One of the 26. The plain classic prompt is combined with all call and document formats; the other prompts with
    /// only one each.
    pub(crate) fn at(place: usize) -> Self {
        let [(.., calls), (.., tags), (.., documents), ..] = PARTS;
        match place {
            0..24 => Self([
                calls[place / 6],
                tags[place / 3 % 2],
                documents[place % 3],
                "plaintext",
                "classic",
            ]),
            24 => Self(["python", "False", "json", "markdown", "classic"]),
            _ => Self(["python", "False", "json", "plaintext", "experimental"]),
        }
    }

    /// The form of a name.
    pub fn named(name: &str) -> Option<Self> {
        let mut words = [""; PARTS.len()];
        let mut given = name.split('&');
        for (word, (key, _, values)) in words.iter_mut().zip(PARTS) {
            let value = given.next()?.strip_prefix(key)?.strip_prefix('=')?;
            *word = values.iter().find(|known| **known == value)?;
        }
        given.next().is_none().then_some(Self(words))
    }

    /// Form and original entry in an id such as `format_sensitivity_7:FORM:live_simple_3-0-1`.
    pub fn of_id(id: &str) -> Option<(Self, &str)> {
        let (first, rest) = id.split_once(':')?;
        let (form, original) = rest.split_once(':')?;
        let is_one = first.starts_with(FORMAT_SENSITIVITY) && !original.contains(':');
        Some((Self::named(form).filter(|_| is_one)?, original))
    }

    /// The format of calls.
    pub fn call_format(self) -> CallFormat {
        CallFormat::by_name(self.0[0]).unwrap_or(CallFormat::Python)
    }

    /// The name of [`PromptForm::call_format`].
    pub(crate) fn return_format(self) -> &'static str {
        self.0[0]
    }

    /// Whether the calls are enclosed in `<TOOLCALL>` and `</TOOLCALL>`.
    pub fn has_tool_call_tag(self) -> bool {
        self.0[1] == "True"
    }

    /// The format of function documents: `python`, `xml` or `json`.
    pub(crate) fn documents(self) -> &'static str {
        self.0[2]
    }

    /// Whether the instructions have headings.
    pub(crate) fn is_markdown(self) -> bool {
        self.0[3] == "markdown"
    }

    /// Whether the instructions use the newer wording.
    pub(crate) fn is_experimental(self) -> bool {
        self.0[4] == "experimental"
    }

    /// The slices of a sample in this form.
    pub(crate) fn slices(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let parts = PARTS.into_iter().zip(self.0);
        parts.map(|((_, slice, _), value)| (slice, value))
    }
}

impl fmt::Display for PromptForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, ((key, ..), value)) in PARTS.iter().zip(self.0).enumerate() {
            let joint = if place > 0 { "&" } else { "" };
            write!(f, "{joint}{key}={value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        let names: Vec<String> = PromptForm::all().map(|form| form.to_string()).collect();
        assert_eq!(names.len(), 26);
        assert_eq!(
            names[0],
            "ret_fmt=python&tool_call_tag=True&func_doc_fmt=python&prompt_fmt=plaintext&style=classic"
        );
        for (name, form) in names.iter().zip(PromptForm::all()) {
            assert_eq!(PromptForm::named(name), Some(form));
            let id = format!("format_sensitivity_3:{name}:live_simple_1-0-2");
            assert_eq!(PromptForm::of_id(&id), Some((form, "live_simple_1-0-2")));
            assert_eq!(PromptForm::of_id(&format!("{id}:x")), None);
            assert_eq!(names.iter().filter(|other| *other == name).count(), 1);
        }
        for wrong in [
            "",
            "ret_fmt=python",
            &names[0].replace("python", "ruby"),
            &format!("{}&x=y", names[0]),
        ] {
            assert_eq!(PromptForm::named(wrong), None, "{wrong}");
        }
        assert_eq!(PromptForm::of_id("live_simple_1-0-2"), None);
    }
}
