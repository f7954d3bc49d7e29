//! `ItemPart`: the parts of an item of data, and their text.
//!
//! An item is a sample that is evaluated itself; no agent answers it. Its text contains the answer, so it is built
//! from the sample and never from a task.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::data::Sample;

/// Usual column names of a worked solution.
pub(crate) const SOLUTION: [&str; 4] = ["solution", "Solution", "reasoning", "Reasoning"];

/// A part of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ItemPart {
    /// What is asked.
    Problem,
    /// The right answer.
    Answer,
    /// How it is found.
    Solution,
}

impl ItemPart {
    /// All parts, in display order.
    pub(crate) const ALL: [Self; 3] = [Self::Problem, Self::Answer, Self::Solution];

    /// Its name in a spec.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Problem => "problem",
            Self::Answer => "answer",
            Self::Solution => "solution",
        }
    }

    /// The part with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }

    /// The content of an item's part; `None` if it has none.
    fn of(self, sample: &Sample) -> Option<Cow<'_, str>> {
        let text = match self {
            Self::Problem => Cow::Borrowed(&*sample.prompt),
            Self::Answer => text(&sample.target.as_ref()?.0)?,
            Self::Solution => SOLUTION
                .iter()
                .find_map(|name| text(sample.metadata.get(*name)?))?,
        };
        (!text.trim().is_empty()).then_some(text)
    }

    /// The text of an item with its existing parts; `None` if it has none of them.
    pub(crate) fn rendered(parts: &[Self], sample: &Sample) -> Option<String> {
        let parts = parts.iter().filter_map(|part| {
            let text = part.of(sample)?;
            Some(match part {
                Self::Problem => format!("Problem:\n{text}"),
                Self::Answer => format!("Answer: {text}"),
                Self::Solution => format!("Solution:\n{text}"),
            })
        });
        let parts: Vec<String> = parts.collect();
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }
}

/// A string as it is, other values as JSON.
fn text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.into()),
        other => Some(other.to_string().into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn item_renders_present_parts() {
        let mut sample = Sample::new("a", "6 * 7?").target("42");
        let rendered = |parts: &[ItemPart], sample: &Sample| ItemPart::rendered(parts, sample);
        let whole = |sample: &Sample| rendered(&ItemPart::ALL, sample).unwrap();
        assert_eq!(whole(&sample), "Problem:\n6 * 7?\n\nAnswer: 42");
        sample.metadata.insert("solution".to_owned(), json!(" "));
        assert_eq!(whole(&sample), "Problem:\n6 * 7?\n\nAnswer: 42");
        sample
            .metadata
            .insert("reasoning".to_owned(), json!("Count."));
        sample.metadata.shift_remove("solution");
        assert_eq!(
            whole(&sample),
            "Problem:\n6 * 7?\n\nAnswer: 42\n\nSolution:\nCount."
        );
        let one = rendered(&[ItemPart::Solution], &sample);
        assert_eq!(one.as_deref(), Some("Solution:\nCount."));
        assert_eq!(rendered(&[ItemPart::Answer], &Sample::new("b", "x")), None);
        assert_eq!(ItemPart::named("answer"), Some(ItemPart::Answer));
        assert_eq!(ItemPart::named("topic"), None);
    }
}
