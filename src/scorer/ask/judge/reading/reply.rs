//! `JudgeReply`: the text of a reply in its parts.

use super::objects::{self, FoundObject};
use super::{Unread, name};
use crate::text::tex_json::{self, TexJson};

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// A reply that is not blank.
pub(crate) struct JudgeReply<'a> {
    /// What it says, without the thoughts before it.
    pub(crate) body: &'a str,
    /// Where the body may already have begun: thoughts that hold the mark of their end, perhaps because they quote it.
    /// What stands here can only contradict.
    pub(crate) doubtful: &'a str,
    /// The body, if all of it is JSON.
    pub(crate) whole: Option<TexJson>,
    /// The objects at its top level, if it is not.
    pub(crate) found: Vec<FoundObject>,
    /// Those of the doubtful part.
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

/// What stands between the first and the last end of the thoughts, and what comes behind that.
fn without_thoughts(text: &str) -> Result<(&str, &str), Unread> {
    if !text.starts_with(OPEN) {
        return Ok(("", text));
    }
    let (Some(first), Some(last)) = (text.find(CLOSE), text.rfind(CLOSE)) else {
        // Thoughts that do not end hold drafts.
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
