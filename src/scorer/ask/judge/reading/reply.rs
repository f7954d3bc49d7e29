//! `JudgeReply`: splits the text of a reply into its parts.

use super::objects::{self, FoundObject};
use super::{Unread, name};
use crate::text::tex_json::{self, TexJson};

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// A reply that is not blank.
pub(crate) struct JudgeReply<'a> {
    /// The text after the reasoning.
    pub(crate) body: &'a str,
    /// Text that may already be part of the body: reasoning that contains its own end mark, perhaps in a quotation.
    /// Claims in it can only contradict.
    pub(crate) doubtful: &'a str,
    /// The body, if all of it is JSON.
    pub(crate) whole: Option<TexJson>,
    /// The objects at its top level, if not.
    pub(crate) found: Vec<FoundObject>,
    /// The objects of the doubtful part.
    pub(crate) quoted: Vec<FoundObject>,
}

impl<'a> JudgeReply<'a> {
    pub(crate) fn parse(text: &'a str) -> Result<Self, Unread> {
        let text = name::trimmed(text);
        if text.is_empty() {
            return Err(Unread::NoResponse);
        }
        let (doubtful, body) = without_thoughts(text)?;
        let whole = match body.as_bytes().first() {
            Some(b'{' | b'[' | b'"') => tex_json::read(body),
            _ => None,
        };
        let mut quoted = objects::among(doubtful)?;
        for found in &mut quoted {
            found.is_certain = false;
        }
        let found = match whole {
            Some(_) => Vec::new(),
            None => objects::among(body)?,
        };
        Ok(Self {
            body,
            doubtful,
            whole,
            found,
            quoted,
        })
    }
}

/// The text between the first and the last end mark of the reasoning, and the text after that.
fn without_thoughts(text: &str) -> Result<(&str, &str), Unread> {
    if !text.starts_with(OPEN) {
        return Ok(("", text));
    }
    let (Some(first), Some(last)) = (text.find(CLOSE), text.rfind(CLOSE)) else {
        // Reasoning without an end holds drafts.
        return Err(Unread::InvalidResponseFormat);
    };
    let body = name::trimmed(&text[last + CLOSE.len()..]);
    if body.is_empty() {
        return Err(Unread::NoResponse);
    }
    Ok((
        text.get(first + CLOSE.len()..last).unwrap_or_default(),
        body,
    ))
}
