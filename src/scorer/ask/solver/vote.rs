//! `SolverVote`: the answer of a solver, and `Panel`: the majority of votes.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::data::{Output, Unread};
use crate::scorer::extract::Extract;
use crate::scorer::item::kind::{decimal, folded};
use crate::scorer::item::references::compared;

/// The maximum length of an answer, in characters.
const LONGEST: usize = 2000;

/// A line with an answer, with or without emphasis marks.
static LINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?im)^[ \t>*_#`-]*answer[*_` ]*:[*_` \t]*(?<said>\S.*?)[ \t\r]*$")
        .expect("a constant pattern")
});

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SolverVote {
    /// As written.
    pub(super) text: String,
    /// As compared.
    key: String,
}

impl SolverVote {
    /// The answer of a reply; two lines with different answers are a contradiction.
    pub(super) fn of(output: &Output) -> Result<Self, Unread> {
        let text = output.text.as_deref().unwrap_or_default();
        let body = match text.trim_start().strip_prefix("<think>") {
            None => text,
            Some(thoughts) => match thoughts.rsplit_once("</think>") {
                Some((_, body)) => body,
                None => return Err(Unread::InvalidResponseFormat),
            },
        };
        if body.trim().is_empty() {
            return Err(Unread::NoResponse);
        }
        let lines = LINE
            .captures_iter(body)
            .map(|found| found["said"].to_owned());
        let mut parsed: Vec<Self> = lines.map(|line| Self::parsed(&line)).collect();
        if parsed.is_empty() {
            let boxed = Extract::boxed().apply(body);
            parsed.extend(boxed.map(|boxed| Self::parsed(&boxed)));
        }
        let mut parsed = parsed.into_iter();
        let first = parsed.next().ok_or_else(|| {
            let finish = output.metadata.get("finish_reason").and_then(Value::as_str);
            match finish {
                Some("length" | "max_tokens") => Unread::Truncated,
                _ => Unread::InvalidResponseFormat,
            }
        })?;
        if parsed.any(|other| other.key != first.key) {
            return Err(Unread::Conflicting);
        }
        if first.key.is_empty() || first.text.chars().count() > LONGEST {
            return Err(Unread::InvalidResponseFormat);
        }
        Ok(first)
    }

    /// The answer in a line, without the marks around it.
    fn parsed(line: &str) -> Self {
        let boxed = Extract::boxed()
            .apply(line)
            .map(std::borrow::Cow::into_owned);
        let text = boxed.unwrap_or_else(|| line.to_owned());
        let marks = |c: char| c.is_whitespace() || matches!(c, '$' | '*' | '_' | '`');
        let text = text
            .trim_matches(marks)
            .trim_end_matches(['.', '$', '*', '`'])
            .to_owned();
        let key = key_of(&text);
        Self { text, key }
    }

    /// Whether this equals the item's answer.
    pub(super) fn is(&self, answer: &Value) -> bool {
        match answer {
            Value::Array(_) | Value::Object(_) => {
                serde_json::from_str::<Value>(&self.text).ok().as_ref() == Some(answer)
            }
            other => self.key == key_of(&compared(other)),
        }
    }
}

/// The comparison key of an answer: numbers by value, texts ignoring case and white space.
fn key_of(text: &str) -> String {
    let digits = text.replace(',', "");
    match decimal(&Value::String(digits)) {
        // 0 and -0 are equal.
        Some(number) => format!("{}", number + 0.0),
        None => folded(text),
    }
}

/// The result of several votes.
pub(super) struct Panel<'a> {
    /// The answer of more than half of all votes, including abstentions.
    pub(super) majority: Option<&'a SolverVote>,
    /// How many votes agree with the item.
    pub(super) agreeing: usize,
    pub(super) abstained: usize,
}

impl<'a> Panel<'a> {
    pub(super) fn of(votes: &'a [Option<SolverVote>], answer: &Value) -> Self {
        let cast = || votes.iter().flatten();
        let as_often = |vote: &&SolverVote| {
            let same = cast().filter(|other| other.key == vote.key).count();
            same * 2 > votes.len()
        };
        Self {
            majority: cast().find(as_often),
            agreeing: cast().filter(|vote| vote.is(answer)).count(),
            abstained: votes.iter().filter(|vote| vote.is_none()).count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_vote_is_read_from_its_line_or_its_box() {
        #[track_caller]
        fn check(reply: &str, expect: Result<&str, Unread>) {
            let vote = SolverVote::of(&Output::text(reply));
            assert_eq!(
                vote.as_ref()
                    .map(|vote| &*vote.text)
                    .map_err(|reason| *reason),
                expect,
                "{reply}"
            );
        }
        check("So it is 6.\nANSWER: 42", Ok("42"));
        check("**Answer:** $\\boxed{042}$.\n", Ok("042"));
        check("ANSWER: 42\r\nANSWER: 42.0", Ok("42"));
        check("Hence $\\boxed{7}$, no other.", Ok("7"));
        check("<think>ANSWER: 1</think>\nANSWER: 2", Ok("2"));
        check("ANSWER: none", Ok("none"));
        check("ANSWER: 1\nANSWER: 2", Err(Unread::Conflicting));
        check("The answer is 42", Err(Unread::InvalidResponseFormat));
        check("ANSWER:", Err(Unread::InvalidResponseFormat));
        check("<think>ANSWER: 1", Err(Unread::InvalidResponseFormat));
        check(" \n", Err(Unread::NoResponse));
        check(
            &format!("ANSWER: {}", "x".repeat(1 << 20)),
            Err(Unread::InvalidResponseFormat),
        );
    }

    #[test]
    fn most_of_the_whole_panel_decide() {
        #[track_caller]
        fn check(replies: &[&str], answer: impl std::borrow::Borrow<Value>, expect: Option<bool>) {
            let votes = replies
                .iter()
                .map(|reply| SolverVote::of(&Output::text(*reply)).ok());
            let votes: Vec<_> = votes.collect();
            let panel = Panel::of(&votes, answer.borrow());
            let majority = panel.majority.map(|vote| vote.is(answer.borrow()));
            assert_eq!(majority, expect, "{replies:?}");
        }
        check(
            &["ANSWER: 42", "ANSWER: 042", "ANSWER: 7"],
            json!(42),
            Some(true),
        );
        check(
            &["ANSWER: 42", "ANSWER: 7", "ANSWER: 7"],
            json!(42),
            Some(false),
        );
        check(&["ANSWER: 42", "?", "?"], json!(42), None);
        check(&["ANSWER: 42", "ANSWER: 42.0", "?"], json!(42), Some(true));
        check(&["ANSWER: 42", "ANSWER: 7"], json!(42), None);
        check(&["?"], json!(42), None);
        check(&["ANSWER: 1,000"], json!(1000), Some(true));
        check(&["ANSWER: new  york"], json!("New York"), Some(true));
        check(&["ANSWER: -0"], json!(0), Some(true));
        check(&["ANSWER: [1, 2]"], json!([1, 2]), Some(true));
        check(&["ANSWER: true"], json!(true), Some(true));
    }
}
