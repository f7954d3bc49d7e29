//! Reads replies with regular expressions, as published judge programs do.

use regex::Regex;

use super::{Reading, Unread};
use crate::error::Result;
use crate::text::{MatchScope, compile};

/// Compiles a pattern; fails if it is invalid, or too large to be matched in bounded time.
pub fn pattern(text: &str) -> Result<Regex> {
    compile(text, MatchScope::Part, false)
}

/// The name whose pattern matches anywhere, if no other one does; with `first_match`, the first in this order.
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
    // Two patterns may have the same name.
    if !first_match && matching.any(|other| other != first) {
        return Reading::unreadable(Unread::Conflicting);
    }
    Reading::of_verdict(first.as_str())
}
