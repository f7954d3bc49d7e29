//! Regular expressions of a stranger's making.

use regex::{Regex, RegexBuilder};

use super::excerpt;
use crate::error::{Error, Result};

/// Compiled patterns may take this much memory, which bounds the time that a match takes: it grows with the
/// length of the text times the size of the pattern, and never faster.
const PATTERN_BYTES: usize = 1 << 20;

/// What of a text has to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Any part.
    Part,
    /// All of it.
    Whole,
}

/// Compiles a pattern; an error when it is none, or too large to be matched in a bounded time.
pub(crate) fn compile(text: &str, scope: Scope, ignore_case: bool) -> Result<Regex> {
    let build = |text: &str| {
        RegexBuilder::new(text)
            .case_insensitive(ignore_case)
            .size_limit(PATTERN_BYTES)
            .build()
    };
    let pattern = build(text).map_err(|error| {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim();
        let text = excerpt(text);
        Error::usage(format!("`{text}` is no regular expression: {reason}"))
    })?;
    if scope == Scope::Part {
        return Ok(pattern);
    }
    // The pattern is one by itself, so what is put around it cannot change its meaning. With `(?x)` it may
    // end in a comment, which the line break ends.
    build(&format!(r"\A(?:{text})\z"))
        .or_else(|_| build(&format!("\\A(?:{text}\n)\\z")))
        .map_err(|_| {
            let text = excerpt(text);
            Error::usage(format!(
                "`{text}` is too large a regular expression for whole texts"
            ))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, scope: Scope, text: &str, expect: bool) {
        let compiled = compile(pattern, scope, false).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(compiled.is_match(text), expect, "{pattern} {text:?}");
    }

    #[test]
    fn whole_texts() {
        check("a|ab", Scope::Whole, "ab", true);
        check("a|b", Scope::Whole, "ab", false);
        check("a|b", Scope::Part, "xbx", true);
        check("(?x) a # comment", Scope::Whole, "a", true);
        check("(?x) a # comment", Scope::Whole, "aa", false);
        check("a", Scope::Whole, "a\n", false);
        check("(?i)a", Scope::Whole, "A", true);
        check("", Scope::Whole, "", true);
    }

    #[test]
    fn no_patterns() {
        let check = |text: &str, expect: &str| {
            let error = compile(text, Scope::Whole, false).expect_err("no pattern");
            assert_eq!(error.message(), expect);
        };
        check("(", "`(` is no regular expression: error: unclosed group");
        check(
            "a)|(b",
            "`a)|(b` is no regular expression: error: unopened group",
        );
        check(
            "a{1000}{1000}{1000}",
            "`a{1000}{1000}{1000}` is no regular expression: Compiled regex exceeds size limit of 1048576 bytes.",
        );
    }
}
