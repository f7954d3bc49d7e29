//! `Golds`: the accepted answers of a ground truth that is a text or an array of texts.

use serde_json::Value;

use crate::data::{Normalized, Sample, Target};
use crate::error::{Error, Result};

/// One accepted answer or several.
pub(super) struct Golds<'a> {
    texts: Vec<&'a str>,
    is_list: bool,
}

impl<'a> Golds<'a> {
    /// Reads a ground truth; anything but a text or a non-empty array of texts is an error.
    pub(super) fn read(target: &'a Target, scorer: &str) -> Result<Self> {
        let (texts, is_list) = match &target.0 {
            Value::String(text) => (Some(vec![text.as_str()]), false),
            Value::Array(items) if !items.is_empty() => {
                (items.iter().map(Value::as_str).collect(), true)
            }
            _ => (None, false),
        };
        match texts {
            Some(texts) => Ok(Self { texts, is_list }),
            None => Err(Error::usage(format!(
                "`ground_truth` must be a string or a non-empty array of strings for scorer `{scorer}`"
            ))
            .hint("name the member with the text in `columns.ground_truth`, or judge by a scorer that reads such data: `ast_match`, `json`")),
        }
    }

    /// Refuses a ground truth that is neither, before an agent is paid for an answer to it.
    pub(super) fn check(sample: &Sample, scorer: &str) -> Result<()> {
        match &sample.target {
            Some(target) => Golds::read(target, scorer).map(drop),
            None => Ok(()),
        }
    }

    /// At least one.
    pub(super) fn texts(&self) -> &[&'a str] {
        &self.texts
    }

    /// The normalised texts in the form of the ground truth: a text or a list.
    pub(super) fn normalized(&self, mut texts: Vec<String>) -> Normalized {
        match texts.pop() {
            Some(text) if !self.is_list => Normalized::Text(text),
            last => {
                texts.extend(last);
                Normalized::List(texts)
            }
        }
    }
}
