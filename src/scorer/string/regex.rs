//! Checks that the prediction matches a regular expression.
//!
#![doc = include_str!("regex.md")]

use std::borrow::Cow;
use std::sync::Arc;

use regex::Regex;

use super::super::{Answer, Entry, Example, OptionReader, Reads, Scorer};
use super::text_rule::without_answer;
use crate::data::{Normalized, Sample, Score, Target};
use crate::error::{Error, Result};
use crate::text::{MatchScope, compile};

const NAME: &str = "regex";

/// Maximum length of the reported match.
const MATCHED_CHARS: usize = 200;

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    summary: "the prediction matches a regular expression, in part or as a whole",
    rule: include_str!("regex.md"),
    options: &[
        ("pattern", "the pattern; default: the ground truth is one"),
        (
            "full",
            "the whole prediction must match, not just a part of it; default false",
        ),
        ("ignore_case", "letters match in any case; default false"),
    ],
    examples: &[
        Example {
            options: "",
            prediction: "It happened in 1969.",
            ground_truth: r"\b19(69|70)\b",
            correct: true,
            note: "the ground truth is the pattern",
        },
        Example {
            options: "{ full: true }",
            prediction: "It happened in 1969.",
            ground_truth: r"19(69|70)",
            correct: false,
            note: "the whole prediction must match",
        },
        Example {
            options: r"{ pattern: '^[a-z]+$', ignore_case: true }",
            prediction: "Word",
            ground_truth: "",
            correct: true,
            note: "a pattern for all samples, independent of the ground truth",
        },
    ],
    make: |options| Ok(Arc::new(RegexMatch::read(options)?)),
};

/// Scores predictions that match a pattern.
struct RegexMatch {
    /// The pattern for all samples.
    pattern: Option<Pattern>,
    scope: MatchScope,
    ignore_case: bool,
}

struct Pattern {
    text: String,
    compiled: Regex,
}

impl RegexMatch {
    fn read(options: &OptionReader<'_>) -> Result<Self> {
        let scope = if options.flag("full")? {
            MatchScope::Whole
        } else {
            MatchScope::Part
        };
        let ignore_case = options.flag("ignore_case")?;
        let pattern = options.text("pattern")?.map(|text| {
            let compiled =
                compile(text, scope, ignore_case).map_err(|error| options.of("pattern", error))?;
            Ok(Pattern {
                text: text.to_owned(),
                compiled,
            })
        });
        Ok(Self {
            pattern: pattern.transpose()?,
            scope,
            ignore_case,
        })
    }

    /// The pattern, as written and compiled.
    fn pattern<'a>(&'a self, target: &'a Target) -> Result<(&'a str, Cow<'a, Regex>)> {
        if let Some(pattern) = &self.pattern {
            return Ok((&pattern.text, Cow::Borrowed(&pattern.compiled)));
        }
        match target.as_text() {
            None => Err(Error::usage(format!(
                "`ground_truth` must be a string for scorer `{NAME}`"
            ))
            .hint("give one pattern for all samples with the option `pattern`")),
            Some("") => Err(Error::usage(format!(
                "`ground_truth` is empty, and as a pattern of scorer `{NAME}` it would match everything"
            ))),
            Some(text) => compile(text, self.scope, self.ignore_case)
                .map(|compiled| (text, Cow::Owned(compiled)))
                .map_err(|error| error.at("`ground_truth`")),
        }
    }

    fn compare(&self, answer: &Answer<'_>) -> Result<Score> {
        let (text, pattern) = self.pattern(answer.target)?;
        let prediction = answer.prediction.map(|prediction| match self.scope {
            MatchScope::Part => prediction,
            MatchScope::Whole => prediction.trim(),
        });
        let Some(prediction) = prediction else {
            return Ok(Score::new(0.0, false, "no_prediction").normalized(Normalized::None, text));
        };
        let score = match pattern.find(prediction) {
            None => Score::new(0.0, false, "mismatch"),
            Some(found) => {
                let matched: String = found.as_str().chars().take(MATCHED_CHARS).collect();
                Score::new(1.0, true, "matched").detail("matched", matched)
            }
        };
        Ok(score.normalized(prediction, text))
    }
}

impl Scorer for RegexMatch {
    fn name(&self) -> &'static str {
        NAME
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        self.compare(answer)
            .map(|score| without_answer(score, answer))
    }

    fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        if let Some(target) = &sample.target {
            self.pattern(target)?;
        }
        Ok(None)
    }

    fn needs_target(&self) -> bool {
        self.pattern.is_none()
    }

    fn reads(&self) -> Reads {
        Reads::Text
    }

    fn fingerprint(&self) -> String {
        let pattern = self.pattern.as_ref().map(|pattern| &pattern.text);
        let scope = self.scope;
        format!(
            "{NAME} {scope:?} ignore_case={} {pattern:?}",
            self.ignore_case
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::scorer::tests::check::{check_all, judge, refusal, scorer};
    use crate::tests::fuzz::{fuzz, in_time, megabyte};

    #[test]
    fn verdicts() {
        check_all(
            "regex",
            &[
                ("in 1969.", json!(r"\b19\d\d\b"), true, 1.0, "matched"),
                ("in 2069.", json!(r"\b19\d\d\b"), false, 0.0, "mismatch"),
                ("a\nb", json!("a.b"), false, 0.0, "mismatch"),
                ("a\nb", json!("(?s)a.b"), true, 1.0, "matched"),
                ("Paris", json!("paris"), false, 0.0, "mismatch"),
                ("", json!("^$"), true, 1.0, "matched"),
            ],
        );
        check_all(
            "{ type: regex, full: true, ignore_case: true }",
            &[
                (" Paris\n", json!("paris"), true, 1.0, "matched"),
                ("ab", json!("a|ab"), true, 1.0, "matched"),
                ("ab", json!("a|b"), false, 0.0, "mismatch"),
            ],
        );
        check_all(
            "{ type: regex, pattern: '^[0-9]+$' }",
            &[
                ("12", json!(null), true, 1.0, "matched"),
                ("a", json!("a"), false, 0.0, "mismatch"),
            ],
        );
        assert!(scorer("regex").needs_target());
        assert!(!scorer("{ type: regex, pattern: a }").needs_target());
    }

    #[test]
    fn matched_text_is_reported() {
        let scorer = scorer("regex");
        let matched = |prediction: &str, pattern: &str| {
            let score = judge(&*scorer, Some(prediction), &pattern.into()).expect("a verdict");
            score.details.get("matched").cloned()
        };
        assert_eq!(matched("it is 42.", "[0-9]+"), Some(json!("42")));
        assert_eq!(
            matched(&"é".repeat(300), "é+"),
            Some(json!("é".repeat(200)))
        );
        assert_eq!(matched("b", "a"), None);
    }

    #[test]
    fn no_patterns() {
        let check = |ground_truth: serde_json::Value, expect: &str| {
            let error = judge(&*scorer("regex"), None, &ground_truth);
            assert_eq!(error.expect_err("no verdict").to_string(), expect);
        };
        check(
            json!("a("),
            "`ground_truth`: `a(` is not a regular expression: error: unclosed group",
        );
        check(
            json!(""),
            "`ground_truth` is empty, and as a pattern of scorer `regex` it would match everything",
        );
        check(
            json!(1),
            "`ground_truth` must be a string for scorer `regex`\n\nhint: give one pattern for all samples \
             with the option `pattern`",
        );
        assert_eq!(
            refusal("{ type: regex, pattern: '(a{1000}){1000}' }"),
            "scorer `regex`, option `pattern`: `(a{1000}){1000}` is not a regular expression: \
             Compiled regex exceeds size limit of 1048576 bytes."
        );
    }

    const PIECES: &[&str] = &[
        "a", "b", "(", ")", "(?:", "[", "]", "^a", "-", "{2,3}", "{1000}", "*", "+", "?", "|",
        "\\", "\\b", "\\w", "\\pL", ".", "(?s)", "(?x) # ", "\n", "é", "$", "^", "\\1", "(?=",
        "🦀",
    ];

    /// Any text is a pattern or an error; a whole match is also a partial match.
    #[test]
    fn any_pattern_matches_or_is_none() {
        let (part, whole) = (scorer("regex"), scorer("{ type: regex, full: true }"));
        let mut patterns = 0_u32;
        fuzz(|dice| {
            let (text, pattern) = (dice.wild(PIECES), dice.wild(PIECES));
            let there = judge(&*part, Some(text.trim()), &pattern.as_str().into());
            let all = judge(&*whole, Some(&text), &pattern.as_str().into());
            if let (Ok(there), Ok(all)) = (&there, &all) {
                patterns += 1;
                assert!(!all.correct || there.correct, "{text:?} {pattern:?}");
            }
            // A pattern too large for a whole match is known to be too large for a partial one.
            assert!(there.is_ok() || all.is_err(), "{text:?} {pattern:?}");
        });
        assert!(patterns > 50, "{patterns}");
    }

    #[test]
    fn a_megabyte_takes_linear_time() {
        // The pattern is short: time grows with the product of both lengths.
        for spec in [
            "regex",
            "{ type: regex, pattern: '(a+)+$' }",
            "{ type: regex, pattern: '(a|a|b)*c' }",
            "{ type: regex, pattern: '(.*)(.*)(.*)x$', full: true }",
            r"{ type: regex, pattern: '(?:\w{1,8}\s?)+z' }",
        ] {
            let scorer = scorer(spec);
            for piece in ["a", "ab", "a b ", "(", "[a", "a|", "é"] {
                let long = megabyte(piece);
                let _ = in_time(format_args!("{spec} {piece:?}"), || {
                    judge(&*scorer, Some(&long), &"a$".into())
                });
            }
        }
    }
}
