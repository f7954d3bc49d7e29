//! Labels such as `GRADE:`, and values behind them that were not offered.
//!
//! Such a value is no verdict, but a verdict that differs from another one: `GRADE: Z` makes an earlier `GRADE: C`
//! doubtful. Prose behind a label of its own is none: `Assessment: The answer names Paris.`

use std::sync::LazyLock;

use regex::Regex;

use super::lines::{closes, ends_sentence, opened, words};
use super::name::Names;

/// A label and the separator before its value.
static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    let words = WORDS.join("|");
    let pattern = format!(
        "(?i)(?:(?-u:\\b)|_)(?:{words})[*_`~\"'”’\\])]*(?:[ \\t]+is)?[ \\t]*(?:[:：=]|[ \\t](?:-+|–|—)[ \\t])"
    );
    Regex::new(&pattern).expect("a constant pattern")
});

/// The words of labels; first those that name nothing but a verdict.
const WORDS: [&str; 15] = [
    "verdict",
    "judgement",
    "judgment",
    "decision",
    "grade",
    "rating",
    "score",
    "evaluation",
    "assessment",
    "conclusion",
    "classification",
    "label",
    "answer",
    "choice",
    "result",
];

/// Words that may precede a label at the start of a line.
const LEADING: &[&str] = &[
    "a",
    "and",
    "conclusion",
    "final",
    "hence",
    "i",
    "in",
    "is",
    "judge",
    "my",
    "our",
    "overall",
    "so",
    "step",
    "summary",
    "the",
    "therefore",
    "thus",
    "your",
];

/// The maximum length of such words, in bytes.
const LONGEST_LEAD: usize = 100;

/// Words that a reason may start with, behind a value.
const REASONS: &[&str] = &[
    "according",
    "although",
    "and",
    "answer",
    "as",
    "based",
    "because",
    "but",
    "by",
    "despite",
    "due",
    "given",
    "here",
    "however",
    "i",
    "indeed",
    "overall",
    "per",
    "response",
    "since",
    "so",
    "solution",
    "though",
    "whereas",
    "while",
    "with",
];

/// Words that prose starts with.
const PROSE: &[&str] = &[
    "a", "an", "both", "he", "i", "in", "it", "its", "my", "neither", "our", "she", "that", "the",
    "there", "these", "they", "this", "to", "we",
];

/// What stands for a value where the form of a reply is repeated.
const PLACEHOLDERS: &[&str] = &[
    "choice", "grade", "label", "letter", "letters", "rating", "score", "verdict", "word",
];

/// Values that contradict a verdict behind labels that may name other things, too.
const NEGATIVE: &[&str] = &[
    "fail",
    "failed",
    "fails",
    "incorrect",
    "invalid",
    "n/a",
    "not",
    "unclear",
    "undetermined",
    "unknown",
    "wrong",
];

/// Words for which a letter may stand.
const WRITTEN_OUT: &[&str] = &[
    "correct",
    "fail",
    "false",
    "incorrect",
    "no",
    "partial",
    "partially",
    "pass",
    "true",
    "wrong",
    "yes",
];

/// Nouns before the name of a choice: `Verdict: Assistant A`.
const NOUNS: &[&str] = &[
    "answer",
    "assistant",
    "choice",
    "model",
    "option",
    "output",
    "problem",
    "response",
];

/// How much of a value is examined, in bytes, and how many words a short one has.
const LONGEST_VALUE: usize = 80;
const SHORT_WORDS: usize = 3;

/// A label of a verdict.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Label(u8);

impl Label {
    /// `verdict`, which members of objects have.
    pub(super) const VERDICT: Self = Self(0);
    /// `[[C]]`
    pub(super) const BRACKETS: Self = Self(31);
    /// Either spelling.
    const JUDGMENT: [Self; 2] = [Self(1), Self(2)];
    const GRADE: Self = Self(4);

    /// The labels in a line, with what is before and behind them.
    pub(super) fn all(line: &str) -> impl Iterator<Item = (Self, &str, &str)> {
        LABEL.find_iter(line).filter_map(|found| {
            let text = found.as_str().trim_start_matches('_');
            let word = words(text).next()?;
            let word = word.trim_end_matches('_');
            let label = Self::of(word)?;
            Some((label, &line[..found.start()], &line[found.end()..]))
        })
    }

    pub(super) fn is_in(line: &str) -> bool {
        LABEL.is_match(line)
    }

    /// The label with this name.
    fn of(word: &str) -> Option<Self> {
        let mut known = WORDS.iter();
        let place = known.position(|known| known.eq_ignore_ascii_case(word))?;
        let label = Self(u8::try_from(place).ok()?);
        Some(match label {
            label if Self::JUDGMENT.contains(&label) => Self::JUDGMENT[0],
            label => label,
        })
    }

    /// The label that the name of a member ends with: `final_grade`.
    pub(super) fn of_member(name: &str) -> Option<Self> {
        let starts = |c: char| !c.is_alphanumeric() || c.is_uppercase();
        let word = Self::of(name).map_or_else(|| name.rfind(starts), |_| Some(0))?;
        Self::of(name[word..].trim_start_matches(|c: char| !c.is_alphanumeric()))
    }

    /// The label of a heading that is nothing else: `## Final Verdict`.
    pub(super) fn of_heading(line: &str) -> Option<Self> {
        let line = line.trim();
        if line.len() > LONGEST_LEAD || !line.starts_with(['#', '*', '_']) {
            return None;
        }
        let mut words = words(line);
        let label = Self::of(words.next_back()?)?;
        words.all(is_leading).then_some(label)
    }

    /// Whether the label names nothing but a verdict.
    pub(super) fn is_strong(self) -> bool {
        self.0 <= Self::GRADE.0 || self == Self::BRACKETS
    }

    /// Whether it often names what was judged, instead of the verdict.
    fn is_weak(self) -> bool {
        let word = WORDS.get(usize::from(self.0));
        word.is_some_and(|word| matches!(*word, "answer" | "choice" | "result"))
    }
}

/// Several labels.
#[derive(Clone, Copy, Default)]
pub(super) struct Labels(u32);

impl Labels {
    pub(super) fn insert(&mut self, label: Label) {
        self.0 |= 1 << label.0;
    }

    fn contains(self, label: Label) -> bool {
        self.0 & (1 << label.0) != 0
    }
}

/// Whether only words such as `My final` precede a label in its line.
pub(super) fn leads(lead: &str) -> bool {
    lead.len() <= LONGEST_LEAD
        && words(lead).all(|word| is_leading(word) || word.bytes().all(|b| b.is_ascii_digit()))
}

fn is_leading(word: &str) -> bool {
    LEADING.contains(&&*word.to_lowercase())
}

/// Whether a value is the start of a sentence: `correct would be 5`.
pub(super) fn goes_on(rest: &str) -> bool {
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`'));
    let end = rest.find(|c: char| !c.is_alphanumeric());
    let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
    word.starts_with(char::is_lowercase)
        && !REASONS.contains(&word)
        && !behind.trim_start_matches(closes).starts_with([':', '='])
}

/// A value behind a label that was not offered.
pub(super) struct Other {
    label: Label,
    /// Whether it states a verdict, and not that of somebody else: `Final score: 0`, not `Accuracy score: 0`.
    is_own: bool,
    /// Its words in lower case, if they are few and no prose.
    short: Option<String>,
}

impl Other {
    /// The value behind a label in a line, if there is one.
    pub(super) fn behind(label: Label, lead: &str, leads: bool, value: &str) -> Option<Self> {
        let value = opened(value);
        let last = words(lead).next_back();
        let is_own = leads
            || !label.is_weak()
                && (lead.trim_end_matches(closes).ends_with(ends_sentence)
                    || last.is_some_and(is_leading));
        let first = value.split_whitespace().next()?;
        let is_value = !first.trim_matches(is_around).is_empty();
        let short = short(value);
        let is_placeholder = short
            .as_deref()
            .is_some_and(|short| PLACEHOLDERS.contains(&short));
        (is_value && !is_placeholder).then_some(Self {
            label,
            is_own,
            short,
        })
    }

    /// The value in the line below a label, if it is short.
    pub(super) fn below(label: Label, line: &str) -> Option<Self> {
        let is_other = line.trim_start().starts_with("```") || Label::is_in(line);
        let other = Self::behind(label, "", true, line).filter(|_| !is_other);
        other.filter(|other| other.short.is_some())
    }

    /// The value of a member.
    pub(super) fn of_member(label: Label, value: &str) -> Option<Self> {
        Self::behind(label, "", true, value)
    }

    fn is_number(&self) -> bool {
        self.short.as_deref().is_some_and(is_number)
    }

    /// Whether it is another verdict than this choice, which was given behind these labels.
    pub(super) fn contradicts(&self, choice: &str, labels: Labels, names: &Names<'_>) -> bool {
        if self
            .short
            .as_deref()
            .is_some_and(|short| is_same(short, choice))
        {
            return false;
        }
        // `[[1]]` may be a source.
        let is_source = self.label == Label::BRACKETS && is_number(choice) != self.is_number();
        if self.is_own && !is_source && labels.contains(self.label) {
            return true;
        }
        let Some(short) = self.short.as_deref().filter(|_| !is_source) else {
            return false;
        };
        if self.label.is_strong() {
            return !self.is_number() || self.label.0 < Label::GRADE.0;
        }
        let is_negative = || short.split(' ').any(|word| NEGATIVE.contains(&word));
        self.is_own && !self.is_number() && (is_negative() || names.are_part_of(short))
    }
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
}

/// The words of a value, if they are few and no prose.
fn short(value: &str) -> Option<String> {
    let end = value.floor_char_boundary(LONGEST_VALUE);
    let mut short = String::new();
    let mut count = 0;
    for token in value[..end].split_whitespace() {
        let word = token.trim_matches(is_around).to_lowercase();
        let is_reason = REASONS.contains(&&*word) && count > 0;
        if word.is_empty() || is_reason || count > 0 && token.starts_with('(') {
            break;
        }
        count += 1;
        if count > SHORT_WORDS || count == 1 && PROSE.contains(&&*word) {
            return None;
        }
        if count > 1 {
            short.push(' ');
        }
        short.push_str(&word);
        let token = token.trim_end_matches(closes);
        if token.ends_with(|c| ends_sentence(c) || matches!(c, ',' | ':' | '，' | '：' | '…')) {
            break;
        }
    }
    (!short.is_empty()).then_some(short)
}

fn is_around(c: char) -> bool {
    closes(c) || ends_sentence(c) || matches!(c, ',' | ':' | '，' | '：' | '-' | '–' | '—' | '…')
}

/// Whether a short value is another writing of the choice: `Assistant A`, or `Correct` for `C`.
fn is_same(short: &str, choice: &str) -> bool {
    let choice = choice.to_lowercase();
    let is_letter = choice.chars().count() == 1;
    let (first, rest) = short.split_once(' ').unwrap_or((short, ""));
    short == choice
        || NOUNS.contains(&first) && rest == choice
        || is_letter
            && first.starts_with(&choice)
            && WRITTEN_OUT.contains(&first)
            && (rest.is_empty() || WRITTEN_OUT.contains(&rest))
}

/// What takes something back, at the start of a part of a sentence.
static BACK: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = "(?i)(?:^|[.!?;:,(。！？；，…–—-])[\\s*_`>#)\"'(]*\
        (?:(?P<sure>hold on|scratch that|correction|on second thoughts?|i take (?:that|it) back|make that|i mean|wait)\
        (?:[\\s*_]*[,.:;!?…–—-]|[\\s,]+(?:no|actually|that)\\b)|(?:no|nope|actually|rather|instead|or rather|sorry|but (?:really|actually|in fact|no))[\\s,:;.!?…–—-])";
    Regex::new(pattern).expect("a constant pattern")
});

/// Whether a text behind a choice takes it back: `No: wrong`.
pub(super) fn takes_back(text: &str, choice: usize, names: &Names<'_>) -> bool {
    let mut found = BACK.captures_iter(text);
    let Some(first) = found.next() else {
        return false;
    };
    let is_sure = |found: &regex::Captures<'_>| found.name("sure").is_some();
    let behind = first.get(0).map_or(text.len(), |whole| whole.end());
    is_sure(&first)
        || names.states_another(&text[behind..], choice)
        || found.any(|next| is_sure(&next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_values() {
        let check = |value: &str, expect: Option<&str>| {
            assert_eq!(short(value).as_deref(), expect, "{value}");
        };
        check("Z", Some("z"));
        check("**Z**.", Some("z"));
        check("N/A", Some("n/a"));
        check("0.9, as it fits", Some("0.9"));
        check("not correct. It names Lyon.", Some("not correct"));
        check("Z because it names Lyon", Some("z"));
        check("no credit (at all)", Some("no credit"));
        check("❌", Some("❌"));
        check("", None);
        check("…", None);
        check("The answer matches.", None);
        check("names Lyon instead of Paris", None);
    }

    #[test]
    fn values_that_go_on() {
        for rest in [
            " would be 5",
            " if it names Paris",
            "** value 5",
            " answers name it",
        ] {
            assert!(goes_on(rest), "{rest}");
        }
        for rest in [
            "",
            ".",
            ", but short",
            " because it fits",
            " The answer fits",
            " reason: it fits",
            " (mostly)",
        ] {
            assert!(!goes_on(rest), "{rest}");
        }
    }

    #[test]
    fn what_takes_back() {
        let names = Names::of(&["correct", "wrong", "C", "I"]);
        let check = |text: &str, expect: bool| {
            assert_eq!(takes_back(text, 0, &names), expect, "{text}");
        };
        check("? No: wrong.", true);
        check(". Wait, it names Lyon.", true);
        check(" - scratch that: it names Lyon", true);
        check("Actually, it is wrong.", true);
        check("No, I.", true);
        check(", I would say, but really wrong", true);
        check(". No errors.", false);
        check(". No, nothing is missing.", false);
        check("It has to wait.", false);
        check(", actually", false);
    }
}
