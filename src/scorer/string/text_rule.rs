//! `TextRule`: the base of scorers that compare only the prediction with the ground truth.
//!
//! A rule defines its name and its comparison. [`Golds`] are the accepted answers of a ground truth that is a string or
//! an array of strings; [`Golds::compare`] is the frame of a rule that compares normalised texts. [`without_answer`] gives
//! blank answers and refusals a reason of their own.

use std::borrow::Cow;

use serde_json::Value;

use super::super::{Answer, Reads, Scorer, shares};
use super::folding::visible;
use crate::data::{Finish, Normalized, Sample, Score, Target};
use crate::error::{Error, Result};
use crate::scorer::extract::{Extract, undressed};
use crate::text::is_invisible;

/// A rule that compares a prediction with the ground truth.
#[diagnostic::on_unimplemented(
    message = "the trait `Scorer` is not implemented for `{Self}`",
    label = "not a scorer"
)]
pub(crate) trait TextRule: Send + Sync {
    const NAME: &'static str;

    /// Whether it is the rule of an official program for which characters that nobody sees count. Where these alone make
    /// an answer wrong, the score has a warning.
    const COUNTS_INVISIBLE: bool = false;

    /// Whether blank answers and refusals have a reason of their own, see [`without_answer`]. A published rule has the
    /// reasons of its program.
    const NAMES_NO_ANSWER: bool = false;

    /// The details that are shares, from 0 to 1, see [`Scorer::bounds`].
    const SHARES: &'static [&'static str] = &[];

    /// See [`Scorer::score`].
    fn compare(&self, answer: &Answer<'_>) -> Result<Score>;

    /// Rejects a ground truth that cannot be compared, before an agent is paid to answer.
    fn check(&self, target: &Target) -> Result<()> {
        let _ = target;
        Ok(())
    }

    /// The details that its scores may have, see [`Scorer::details`].
    fn detail_names(&self) -> Option<&'static [&'static str]> {
        None
    }

    /// See [`Scorer::extract`].
    fn extraction(&self) -> Option<Extract> {
        None
    }

    /// See [`Scorer::fingerprint`].
    fn version(&self) -> String {
        Self::NAME.to_owned()
    }
}

impl<R: TextRule> Scorer for R {
    fn name(&self) -> &str {
        R::NAME
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let score = self.compare(answer)?;
        let score = if R::COUNTS_INVISIBLE && !score.correct && is_right_as_seen(self, answer) {
            score.detail("warning", INVISIBLE)
        } else {
            score
        };
        Ok(if R::NAMES_NO_ANSWER {
            without_answer(score, answer)
        } else {
            score
        })
    }

    fn extract(&self) -> Option<Extract> {
        self.extraction()
    }

    fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        sample
            .target
            .as_ref()
            .map_or(Ok(()), |target| self.check(target))?;
        Ok(None)
    }

    fn reads(&self) -> Reads {
        Reads::Text
    }

    fn fingerprint(&self) -> String {
        self.version()
    }

    fn details(&self) -> Option<Vec<Cow<'static, str>>> {
        let names = self.detail_names()?;
        Some(names.iter().copied().map(Cow::Borrowed).collect())
    }

    fn bounds(&self) -> Vec<(Cow<'static, str>, [f64; 2])> {
        shares(R::SHARES)
    }
}

/// The warning for an answer that only characters make wrong that nobody sees.
const INVISIBLE: &str = "the answer would be correct without invisible characters such as U+200B, which count by this rule";

/// Whether the answer is correct without the characters that nobody sees.
fn is_right_as_seen(rule: &impl TextRule, answer: &Answer<'_>) -> bool {
    let Some(prediction) = answer.prediction else {
        return false;
    };
    let has_invisible = |text: &str| matches!(visible(text), Cow::Owned(_));
    let is_in_truth = match &answer.target.0 {
        Value::String(text) => has_invisible(text),
        Value::Array(texts) => texts.iter().filter_map(Value::as_str).any(has_invisible),
        _ => false,
    };
    if !is_in_truth && !has_invisible(prediction) {
        return false;
    }
    let seen = |text: &str| visible(text).into_owned();
    let target = match &answer.target.0 {
        Value::String(text) => Value::from(seen(text)),
        Value::Array(texts) => {
            let texts = texts.iter().map(|text| match text {
                Value::String(text) => seen(text).into(),
                other => other.clone(),
            });
            texts.collect()
        }
        other => other.clone(),
    };
    let target = &Target(target);
    let score = rule.compare(&Answer {
        prediction: Some(&*visible(prediction)),
        target,
        ..*answer
    });
    score.is_ok_and(|score| score.correct)
}

/// A ground truth that is one string.
pub(in crate::scorer) fn truth_text<'a>(target: &'a Target, scorer: &str) -> Result<&'a str> {
    let message = || format!("`ground_truth` must be a string for scorer `{scorer}`");
    target.as_text().ok_or_else(|| Error::usage(message()))
}

/// One or more accepted answers.
pub(in crate::scorer) struct Golds<'a> {
    texts: Vec<&'a str>,
    is_list: bool,
    /// Whether one is boxed or emphasised: then a prediction may be, too.
    is_dressed: bool,
}

impl<'a> Golds<'a> {
    /// Reads a ground truth; anything but a string or a non-empty array of strings is an error. The content of a boxed or
    /// emphasised text counts as the answer: `\boxed{42}`, `**42**`.
    pub(in crate::scorer) fn read(target: &'a Target, scorer: &str) -> Result<Self> {
        let mut is_dressed = false;
        let mut content = |text: &'a str| match undressed(text) {
            Some(content) => {
                is_dressed = true;
                content
            }
            None => text,
        };
        let (texts, is_list) = match &target.0 {
            Value::String(text) => (Some(vec![content(text)]), false),
            Value::Array(items) if !items.is_empty() => {
                let texts = items.iter().map(|item| item.as_str().map(&mut content));
                (texts.collect(), true)
            }
            _ => (None, false),
        };
        match texts {
            Some(texts) => Ok(Self {
                texts,
                is_list,
                is_dressed,
            }),
            None => Err(Error::usage(format!(
                "`ground_truth` must be a string or a non-empty array of strings for scorer `{scorer}`"
            ))
            .hint("name the member with the text in `columns.ground_truth`, or judge by a scorer that reads such data: `ast_match`, `json`")),
        }
    }

    /// Compares the normalised prediction, if any, with the normalised texts, and adds these to the score.
    pub(in crate::scorer) fn compare(
        &self,
        prediction: Option<&str>,
        normalize: impl Fn(&str) -> String,
        compare: impl FnOnce(Option<&str>, &[String]) -> Result<Score>,
    ) -> Result<Score> {
        let texts: Vec<String> = self.texts.iter().map(|text| normalize(text)).collect();
        let content = |text| undressed(text).filter(|_| self.is_dressed);
        let prediction = prediction.map(|text| normalize(content(text).unwrap_or(text)));
        let score = compare(prediction.as_deref(), &texts)?;
        let prediction = prediction.map_or(Normalized::None, Normalized::Text);
        Ok(score.normalized(prediction, self.normalized(texts)))
    }

    /// At least one.
    pub(in crate::scorer) fn texts(&self) -> &[&'a str] {
        &self.texts
    }

    /// The normalised texts in the form of the ground truth: a string or a list.
    pub(in crate::scorer) fn normalized(&self, mut texts: Vec<String>) -> Normalized {
        match texts.pop() {
            Some(text) if !self.is_list => Normalized::Text(text),
            last => {
                texts.extend(last);
                Normalized::List(texts)
            }
        }
    }
}

/// The score of a wrong answer that is blank or a refusal, with that as its reason: it says nothing of what the agent
/// knows. The verdict stays.
pub(in crate::scorer) fn without_answer(score: Score, answer: &Answer<'_>) -> Score {
    let truth = answer.target.as_text();
    if score.correct || truth.is_some_and(is_blank) {
        return score;
    }
    let text = answer.output.text.as_deref().or(answer.prediction);
    let reason = if answer.output.finish() == Finish::Refused || text.is_some_and(is_refusal) {
        "refused"
    } else if answer.prediction.is_none_or(is_blank) {
        "no_prediction"
    } else {
        return score;
    };
    if reason == "refused" && truth.is_some_and(is_refusal) {
        return score;
    }
    Score {
        reason: reason.into(),
        ..score
    }
}

/// Whether there is nothing to see.
pub(in crate::scorer) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_invisible(c))
}

/// The longest refusal, in bytes. What is longer says more than that.
const LONGEST_REFUSAL: usize = 300;

/// What may stand before a refusal.
const APOLOGIES: &[&str] = &[
    "i'm sorry",
    "i am sorry",
    "i'm very sorry",
    "sorry",
    "i apologize",
    "i apologise",
    "my apologies",
    "apologies",
    "unfortunately",
    "as an ai language model",
    "as an ai model",
    "as an ai assistant",
    "as an ai",
    "but",
    "however",
];

/// How a refusal begins.
const REFUSES: &[&str] = &[
    "i can't",
    "i cannot",
    "i can not",
    "i won't",
    "i will not",
    "i'm unable to",
    "i am unable to",
    "i'm not able to",
    "i am not able to",
    "i must decline to",
    "i have to decline to",
    "i'm not comfortable",
    "i am not comfortable",
];

/// What is refused. `I can't find the answer` is none of them.
const REFUSED: &[&str] = &[
    "help",
    "assist",
    "answer",
    "provide",
    "comply",
    "fulfill",
    "fulfil",
    "do that",
    "do this",
    "discuss",
    "share",
    "support",
    "engage",
    "participate",
    "respond",
    "continue with",
    "complete th",
    "give you",
    "give advice",
    "process th",
    "helping",
    "answering",
    "providing",
    "discussing",
];

/// Whether a text is a plain refusal: `I'm sorry, but I can't help with that.`
fn is_refusal(text: &str) -> bool {
    if text.len() > LONGEST_REFUSAL {
        return false;
    }
    let seen = text.trim_start_matches(|c| is_between(c) || is_invisible(c));
    // Each of `APOLOGIES` and `REFUSES` begins with one of these.
    let first = seen.as_bytes().first().map(u8::to_ascii_lowercase);
    if !matches!(first, Some(b'a' | b'b' | b'h' | b'i' | b'm' | b's' | b'u')) {
        return false;
    }
    if text.is_ascii() {
        return refuses(seen);
    }
    let text: String = seen.chars().filter(|c| !is_invisible(*c)).collect();
    refuses(&text.replace(['’', '‘'], "'").to_lowercase())
}

/// What may stand between the parts of a refusal.
fn is_between(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | '.' | ';' | ':' | '!' | '*' | '"' | '-' | '–' | '—')
}

/// Whether a text begins with apologies, if any, and a refusal.
fn refuses(mut text: &str) -> bool {
    let behind = |text: &'_ str, start: &str| {
        let head = text.as_bytes().get(..start.len())?;
        let is_first = head[0] | 0x20 == start.as_bytes()[0];
        // A head of ASCII ends between two characters.
        (is_first && head.eq_ignore_ascii_case(start.as_bytes())).then_some(start.len())
    };
    // Each step makes the text shorter.
    while let Some(length) = APOLOGIES.iter().find_map(|start| behind(text, start)) {
        let rest = &text[length..];
        if !rest.starts_with(is_between) {
            break;
        }
        text = rest.trim_start_matches(is_between);
    }
    let length = REFUSES.iter().find_map(|start| behind(text, start));
    length.is_some_and(|length| {
        let rest = text[length..].trim_start();
        REFUSED.iter().any(|what| behind(rest, what).is_some())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::data::Output;
    use crate::scorer::tests::check::scorer;

    #[test]
    fn refusals_are_seen() {
        for text in [
            "I'm sorry, but I can't help with that.",
            "I’m sorry, I cannot assist with that request.",
            "Sorry. I am unable to provide this.",
            "As an AI language model, I cannot answer this question.",
            "**I cannot comply.**",
            "Unfortunately, I'm not able to share that",
        ] {
            assert!(is_refusal(text), "{text}");
        }
        for text in [
            "",
            "Paris",
            "I'm sorry",
            "I can't find the answer",
            "Sorry, the answer is 7",
            "I cannot be sure, but it is Paris",
            "sorrow, i can't help",
        ] {
            assert!(!is_refusal(text), "{text}");
        }
        let long = format!("I can't help with that. {}", "But this is so. ".repeat(30));
        assert!(!is_refusal(&long));
    }

    #[test]
    fn blank_answers_and_refusals_have_their_own_reason() {
        let refusal = "I'm sorry, but I can't help with that.";
        let check = |spec: &str, output: Output, truth: Value, expect: &str| {
            let target = Target(truth);
            let answer = Answer::new(output.text.as_deref(), &target).output(&output);
            let score = scorer(spec).score(&answer).unwrap();
            assert_eq!(score.reason, expect, "{spec} {output:?}");
            assert!(!score.correct, "{spec} {output:?}");
        };
        for spec in [
            "exact", "includes", "token_f1", "qa", "numeric", "list", "fuzzy", "regex",
        ] {
            check(spec, Output::text(refusal), json!("42"), "refused");
            check(
                spec,
                Output::text(" \u{200b}\n"),
                json!("42"),
                "no_prediction",
            );
            check(spec, Output::default(), json!("42"), "no_prediction");
            let mut marked = Output::text("No.");
            marked.metadata.insert("refused".to_owned(), true.into());
            check(spec, marked, json!("42"), "refused");
        }
        check("numeric", Output::text("Paris"), json!(42), "not_a_number");
        check("qa", Output::text("?!"), json!("42"), "not_a_number");
        // A published rule has the reasons of its program.
        check("gaia", Output::text(refusal), json!("Paris"), "mismatch");
        let asked = json!("I can't help with that");
        check("exact", Output::text(refusal), asked, "mismatch");
    }

    #[test]
    fn a_right_answer_may_be_blank_or_a_refusal() {
        let text = "I can't help with that";
        let target = Target::from(text);
        let score = scorer("exact").score(&Answer::new(text, &target)).unwrap();
        assert!(score.correct && score.reason == "exact_match");
    }
}
