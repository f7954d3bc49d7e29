//! Replies that regular expressions tell apart, as the programs of published judges do.

use regex::Regex;

use super::{Reading, Unread};
use crate::error::Result;
use crate::text::{MatchScope, compile};

/// The pattern that a text is; an error when it is none, or too large to be matched in a bounded time.
pub fn pattern(text: &str) -> Result<Regex> {
    compile(text, MatchScope::Part, false)
}

/// The name whose pattern matches anywhere, if no other one does; or the first in this order that does.
pub fn patterns(reply: &str, patterns: &[(String, Regex)], first_match: bool) -> Reading {
    if reply.trim().is_empty() {
        return Reading::unreadable(Unread::NoResponse);
    }
    let mut matching = patterns
        .iter()
        .filter(|(_, pattern)| pattern.is_match(reply))
        .map(|(name, _)| name);
    let Some(first) = matching.next() else {
        return Reading::unreadable(Unread::InvalidResponseFormat);
    };
    // Two patterns may stand for one name.
    if !first_match && matching.any(|other| other != first) {
        return Reading::unreadable(Unread::Conflicting);
    }
    Reading::of_verdict(first.as_str())
}
