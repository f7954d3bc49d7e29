//! Regular expressions from untrusted sources.

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind};

use super::snippet;
use crate::error::{Error, Result};

/// Memory limit of a compiled pattern, in bytes.
const PATTERN_BYTES: usize = 1 << 20;

/// Limit on the copies that counted repetitions such as `[a-z]{200}` expand to. Matching time grows with the length of
/// the text times the number of positions in the pattern, and such copies are what makes those many: with 5,000 a text
/// of 1 MiB takes most of a minute.
const COPIES: usize = 1000;

/// Which part of a text must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchScope {
    /// Any part.
    Part,
    /// All of it.
    Whole,
}

/// Compiles a pattern; fails if it is invalid, or too large to be matched in bounded time.
pub(crate) fn compile(text: &str, scope: MatchScope, ignore_case: bool) -> Result<Regex> {
    let build = |text: &str| {
        RegexBuilder::new(text)
            .case_insensitive(ignore_case)
            .size_limit(PATTERN_BYTES)
            .build()
    };
    let pattern = build(text).map_err(|error| {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim();
        let text = snippet(text);
        Error::usage(format!("`{text}` is not a regular expression: {reason}"))
    })?;
    // The pattern compiled above, so this parser accepts it too.
    let copies = regex_syntax::parse(text).map_or(0, |parsed| copies(&parsed));
    if copies > COPIES {
        let text = snippet(text);
        let message = format!(
            "`{text}` repeats by count up to {copies} characters, more than the {COPIES} that are matched in a bounded time"
        );
        return Err(Error::usage(message).hint("write `*` or `+` instead of large counts"));
    }
    if scope == MatchScope::Part {
        return Ok(pattern);
    }
    // The pattern is valid by itself, so wrapping it cannot change its meaning. With `(?x)` it may end in a comment,
    // which the line break ends.
    build(&format!(r"\A(?:{text})\z"))
        .or_else(|_| build(&format!("\\A(?:{text}\n)\\z")))
        .map_err(|_| {
            let text = snippet(text);
            Error::usage(format!(
                "`{text}` is too large a regular expression for whole texts"
            ))
        })
}

/// How many characters the counted repetitions of a pattern expand to.
fn copies(pattern: &Hir) -> usize {
    match pattern.kind() {
        HirKind::Repetition(repetition) => match count(repetition) {
            0 | 1 => copies(&repetition.sub),
            times => places(&repetition.sub).saturating_mul(times),
        },
        HirKind::Capture(capture) => copies(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => sum(parts, copies),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => 0,
    }
}

/// The number of character positions in a pattern after its repetitions are expanded.
fn places(pattern: &Hir) -> usize {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(_) => 1,
        HirKind::Repetition(repetition) => {
            places(&repetition.sub).saturating_mul(count(repetition).max(1))
        }
        HirKind::Capture(capture) => places(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => sum(parts, places),
    }
}

/// How many copies a repetition is compiled to.
fn count(repetition: &regex_syntax::hir::Repetition) -> usize {
    usize::try_from(repetition.max.unwrap_or(repetition.min)).unwrap_or(usize::MAX)
}

fn sum(parts: &[Hir], of: fn(&Hir) -> usize) -> usize {
    parts.iter().map(of).fold(0, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, scope: MatchScope, text: &str, expect: bool) {
        let compiled = compile(pattern, scope, false).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(compiled.is_match(text), expect, "{pattern} {text:?}");
    }

    #[test]
    fn whole_texts() {
        check("a|ab", MatchScope::Whole, "ab", true);
        check("a|b", MatchScope::Whole, "ab", false);
        check("a|b", MatchScope::Part, "xbx", true);
        check("(?x) a # comment", MatchScope::Whole, "a", true);
        check("(?x) a # comment", MatchScope::Whole, "aa", false);
        check("a", MatchScope::Whole, "a\n", false);
        check("(?i)a", MatchScope::Whole, "A", true);
        check("", MatchScope::Whole, "", true);
    }

    #[test]
    fn no_patterns() {
        let check = |text: &str, expect: &str| {
            let error = compile(text, MatchScope::Whole, false).expect_err("no pattern");
            assert_eq!(error.message(), expect);
        };
        check(
            "(",
            "`(` is not a regular expression: error: unclosed group",
        );
        check(
            "a)|(b",
            "`a)|(b` is not a regular expression: error: unopened group",
        );
        check(
            "a{1000}{1000}{1000}",
            "`a{1000}{1000}{1000}` is not a regular expression: Compiled regex exceeds size limit of 1048576 bytes.",
        );
        check(
            "a[a-z]{0,5000}x",
            "`a[a-z]{0,5000}x` repeats by count up to 5000 characters, more than the 1000 that are matched in a \
             bounded time",
        );
    }

    #[test]
    fn what_counts_stand_for() {
        let check = |text: &str, expect: usize| {
            let parsed = regex_syntax::parse(text).expect("a pattern");
            assert_eq!(copies(&parsed), expect, "{text}");
        };
        check("(?i)the answer is: (.*)|yes|no", 0);
        check(r"\d{4}-\d{2}", 6);
        check("(a+)+$", 0);
        check("a{3,}", 3);
        check("(?:ab?){10}|c{5}", 25);
        check("((a{1,20}){1,20}b*){1,3}", 1203);
        check("((a{1000}){1000}){1000}", 1_000_000_000);
        check("x{0}", 0);
    }
}
