//! Verdicts in prose: a choice on its own line, after a label such as `GRADE:`, or as `[[C]]`.
//!
//! A choice that is merely mentioned is not a verdict: "the answer is not correct". Markdown, quotes, brackets, a
//! full-width colon and zero-width characters may surround any of these.

use std::borrow::Cow;

use super::FoundObject;

use super::label::{Label, Other, goes_on, leads, takes_back};
use super::name::Names;
use super::truncated::truncated;
use crate::text::is_invisible;

/// A choice stated as the verdict.
#[derive(Clone, Copy)]
pub(super) struct Claim {
    pub(super) choice: usize,
    /// The label before it.
    pub(super) label: Option<Label>,
    /// Whether it counts by itself; otherwise it can only contradict another one.
    pub(super) is_certain: bool,
}

/// Words that introduce a quotation.
const QUOTING: &[&str] = &[
    "ask",
    "asks",
    "claim",
    "claimed",
    "claiming",
    "claims",
    "contain",
    "containing",
    "contains",
    "demand",
    "demands",
    "ending",
    "ends",
    "include",
    "includes",
    "including",
    "inserted",
    "not",
    "output",
    "outputs",
    "print",
    "prints",
    "reads",
    "said",
    "say",
    "saying",
    "says",
    "state",
    "states",
    "stating",
    "text",
    "with",
    "write",
    "writes",
    "writing",
    "written",
    "wrote",
];

/// Words that make a mention of what follows, unless the judge speaks of itself: `would be GRADE: C`.
const SUPPOSING: &[&str] = &[
    "could", "had", "if", "might", "unless", "were", "when", "would",
];

/// How long the value in `[[…]]` may be, in bytes.
const LONGEST_BRACKETED: usize = 40;

/// Stands for an object of JSON, on a line of its own.
const OBJECT: &str = "\u{fffc}";

/// What a text states, outside of its objects.
#[derive(Default)]
pub(super) struct Stated {
    pub(super) claims: Vec<Claim>,
    /// Values behind labels that were not offered.
    pub(super) others: Vec<Other>,
    /// Whether something is taken back.
    pub(super) takes_back: bool,
}

/// Reads what a text states, outside of its objects, which have given a choice or none.
pub(super) fn stated(
    text: &str,
    objects: &[FoundObject],
    given: Option<usize>,
    names: &Names<'_>,
) -> Stated {
    let text = &*plain(text, objects, "\n\u{fffc}\n");
    let end = truncated(text);
    let mut scan = Scan {
        names,
        text,
        end,
        stated: Stated::default(),
        lower: None,
        mentions: Vec::new(),
        awaits: None,
        given: None,
    };
    let lines = |text| -> Vec<&str> {
        let lines = str::split(text, ['\n', '\r', '\u{2028}', '\u{2029}']);
        lines.filter(|line| !line.trim().is_empty()).collect()
    };
    let (whole, part) = (lines(&text[..end]), lines(&text[end..]));
    let first = whole.iter().position(|line| *line != OBJECT);
    let last = whole.iter().rposition(|line| *line != OBJECT);
    let last = last.filter(|_| part.is_empty());
    for (place, line) in whole.into_iter().enumerate() {
        if line == OBJECT {
            scan.awaits = None;
            scan.given = given;
        } else {
            scan.line(line, Some(place) == first || Some(place) == last);
        }
    }
    scan.awaits = None;
    for line in part {
        scan.line_of_truncated(line);
    }
    scan.brackets();
    scan.stated
}

/// The text with a gap for each object and without zero-width characters.
pub(super) fn plain<'a>(text: &'a str, objects: &[FoundObject], gap: &str) -> Cow<'a, str> {
    let is_visible = text.is_ascii() || !text.contains(is_invisible);
    if objects.is_empty() && is_visible {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut done = 0;
    for object in objects {
        plain.push_str(&text[done..object.place.start]);
        plain.push_str(gap);
        done = object.place.end;
    }
    plain.push_str(&text[done..]);
    plain.retain(|c| !is_invisible(c));
    Cow::Owned(plain)
}

/// The choice, if the text is nothing else.
pub(super) fn whole(text: &str, names: &Names<'_>) -> Option<usize> {
    let text = text.trim();
    let bare = || {
        let bare = opened(text).trim_end_matches(|c| closes(c) || ends_sentence(c) || c == ',');
        names.find(bare)
    };
    names.find(text).or_else(bare)
}

/// Whether a text consists of choices only, with two different ones: `A or B`.
pub(super) fn are_several(text: &str, names: &Names<'_>) -> bool {
    let between = |c: char| closes(c) || ends_sentence(c) || matches!(c, ',' | '/' | '&' | '、');
    let mut rest = text.trim_start_matches(closes);
    let (mut first, mut several) = (None, false);
    while !rest.is_empty() {
        let Some((choice, behind)) = names.at_start(rest) else {
            return false;
        };
        several |= *first.get_or_insert(choice) != choice;
        rest = behind.trim_start_matches(between);
        for word in ["or ", "and "] {
            rest = rest.strip_prefix(word).unwrap_or(rest);
        }
        rest = rest.trim_start_matches(between);
    }
    several
}

struct Scan<'a> {
    names: &'a Names<'a>,
    text: &'a str,
    /// Where JSON starts that was truncated; the end of the text without such JSON.
    end: usize,
    stated: Stated,
    /// The text in lower case, computed on demand.
    lower: Option<String>,
    /// For each choice checked so far, whether the text mentions another one.
    mentions: Vec<(usize, bool)>,
    /// The label without a value on the line before, and whether the next line counts by itself.
    awaits: Option<(Label, bool)>,
    /// The choice that objects gave so far.
    given: Option<usize>,
}

impl Scan<'_> {
    fn line(&mut self, line: &str, is_at_end: bool) {
        let before = self.stated.claims.len();
        let is_quote = line.trim_start().starts_with('>');
        if let Some((label, is_certain)) = self.awaits.take() {
            self.below(label, line, is_certain && !is_quote);
        }
        let is_question = line.trim_end_matches(closes).ends_with(['?', '？']);
        if let Some(choice) = whole(line, self.names).filter(|_| !is_question) {
            let is_certain = !is_quote && (is_at_end || !self.mentions_another(choice));
            self.add(choice, None, is_certain);
        }
        // Where something may be taken back.
        let mut from = (before > 0 || self.given.is_some()).then_some(0);
        for (label, lead, value) in Label::all(line) {
            self.label(label, lead, value, is_quote);
            if self.stated.claims.len() > before {
                from = from.or(Some(line.len() - value.len()));
            }
        }
        let last = self.stated.claims.last().map(|claim| claim.choice);
        if let (Some(from), Some(choice)) = (from, last.or(self.given)) {
            self.stated.takes_back |= takes_back(&line[from..], choice, self.names);
        }
        if let Some(label) = Label::of_heading(line) {
            self.awaits = Some((label, false));
        }
    }

    /// Within JSON that was truncated, claims can only contradict.
    fn line_of_truncated(&mut self, line: &str) {
        let claims = self.stated.claims.len();
        self.line(line, false);
        for claim in &mut self.stated.claims[claims..] {
            claim.is_certain = false;
        }
    }

    /// Reads the line below a label without a value.
    fn below(&mut self, label: Label, line: &str, is_certain: bool) {
        if let Some((choice, rest)) = self.names.at_start(opened(line)) {
            if !goes_on(rest) {
                let is_certain = is_certain && !self.mentions_another(choice);
                self.add(choice, Some(label), is_certain);
            } else if label.is_strong() {
                self.add(choice, Some(label), false);
            }
        } else {
            self.stated.others.extend(Other::below(label, line));
        }
    }

    /// Reads the value after a label.
    fn label(&mut self, label: Label, before: &str, behind: &str, is_quote: bool) {
        let lead = before.trim_end_matches(|c: char| c.is_whitespace() || is_markdown(c));
        let is_quoted = lead.ends_with(is_quotation) || before.ends_with('`');
        let leads = leads(lead);
        let Some((choice, rest)) = self.names.at_start(opened(behind)) else {
            if opened(behind).is_empty() {
                self.awaits = Some((label, leads && !is_quote));
            } else {
                let other = Other::behind(label, lead, leads, behind);
                self.stated.others.extend(other);
            }
            return;
        };
        let tail = rest.trim_start_matches(closes);
        // A question is no claim.
        let rest_of_sentence = tail.trim_start_matches(ends_sentence);
        if tail[..tail.len() - rest_of_sentence.len()].contains(['?', '？']) {
            return;
        }
        let goes_on = goes_on(rest);
        if goes_on && !label.is_strong() {
            return;
        }
        let is_over = tail.is_empty() || tail.starts_with(ends_sentence);
        let is_certain = !is_quote
            && !goes_on
            && (leads
                || !is_quoted
                    && is_over
                    && (lead.trim_end_matches(closes).ends_with(ends_sentence)
                        || !is_quoting(lead)
                            && !is_supposing(lead)
                            && !self.mentions_another(choice)));
        self.add(choice, Some(label), is_certain);
        self.alternatives(rest);
    }

    /// Further choices after that of a label: `C or I`.
    fn alternatives(&mut self, mut rest: &str) {
        const SIGNS: &[&str] = &["/", "|", "&", "->", "→", "=>", "or ", "vs ", "vs. "];
        const WORDS: &[&str] = &[",", "and ", "but ", "then ", "to "];
        const ARROWS: &[&str] = &["->", "→", "=>"];
        // Behind these another verdict follows, and behind arrows if it is one word.
        const STRICT: &[&str] = &["or ", "vs ", "vs. "];
        let (mut is_sign, mut is_other) = (None, false);
        for _ in 0..16 {
            let tail = rest.trim_start_matches(closes);
            let by = |signs: &[&str]| signs.iter().find_map(|sign| tail.strip_prefix(sign));
            if let Some(next) = by(SIGNS) {
                let is_word = || words(next).take(2).count() == 1;
                let is_close = || tail.starts_with('/') && next.starts_with(char::is_alphabetic);
                is_other = by(STRICT).is_some() || is_close() || by(ARROWS).is_some() && is_word();
                (is_sign, rest) = (Some(true), next);
            } else if let Some(next) = by(WORDS) {
                (is_sign, rest) = (is_sign.or(Some(false)), next);
            } else if let Some(by_sign) = is_sign.take()
                && let Some((choice, behind)) = self.names.at_start(opened(tail))
            {
                // "C, I think".
                if by_sign || self.names.name(choice).chars().count() > 1 {
                    self.add(choice, None, false);
                }
                (is_other, rest) = (false, behind);
            } else {
                self.stated.takes_back |= is_other;
                return;
            }
        }
    }

    /// `[[C]]`, anywhere.
    fn brackets(&mut self) {
        let text = self.text;
        for (place, _) in text.match_indices("[[") {
            let inner = &text[place + 2..];
            // Only up to the next pair, as each is examined separately.
            let inner = inner.trim_start_matches(|c| c != '[' && closes(c));
            let Some((choice, rest)) = self.names.at_start(inner) else {
                let end = inner.floor_char_boundary(LONGEST_BRACKETED);
                let other = inner[..end].split_once("]]").map(|(value, _)| value);
                let other = other.filter(|value| !value.contains(['[', '\n']));
                let other = other.and_then(|value| Other::behind(Label::BRACKETS, "", true, value));
                self.stated.others.extend(other);
                continue;
            };
            if rest
                .trim_start_matches(|c| c != ']' && closes(c))
                .starts_with("]]")
            {
                let is_quoted = text[..place].ends_with(is_quotation);
                let is_certain = !is_quoted && place < self.end;
                self.add(choice, Some(Label::BRACKETS), is_certain);
            }
        }
    }

    fn add(&mut self, choice: usize, label: Option<Label>, is_certain: bool) {
        self.stated.claims.push(Claim {
            choice,
            label,
            is_certain,
        });
    }

    fn mentions_another(&mut self, choice: usize) -> bool {
        let known = self.mentions.iter().find(|(known, _)| *known == choice);
        if let Some((_, is_so)) = known {
            return *is_so;
        }
        let lower = self.lower.get_or_insert_with(|| self.text.to_lowercase());
        let is_so = self.names.mentions_another(lower, choice);
        self.mentions.push((choice, is_so));
        is_so
    }
}

/// Removes what may precede a value.
pub(super) fn opened(text: &str) -> &str {
    text.trim_start_matches(|c: char| {
        closes(c) || matches!(c, '-' | '–' | '—' | '•' | '#' | ':' | '：')
    })
}

/// Whether the character may surround a value, on either side.
pub(super) fn closes(c: char) -> bool {
    c.is_whitespace()
        || is_markdown(c)
        || is_quotation(c)
        || matches!(
            c,
            '[' | ']' | '(' | ')' | '{' | '}' | '<' | '>' | '$' | '【' | '】' | '（' | '）'
        )
}

fn is_markdown(c: char) -> bool {
    matches!(c, '*' | '_' | '~' | '`' | '|')
}

fn is_quotation(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '“' | '”' | '„' | '‘' | '’' | '«' | '»' | '「' | '」' | '『' | '』' | '`'
    )
}

pub(super) fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | ';' | '。' | '！' | '？' | '；')
}

pub(super) fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty())
}

/// Whether a quotation follows.
fn is_quoting(lead: &str) -> bool {
    let quoting_words = words(lead).rev().take(3);
    let mut quoting_words = quoting_words.map(str::to_lowercase);
    lead.ends_with(':') || quoting_words.any(|word| QUOTING.contains(&&*word))
}

/// Whether what follows holds only under a condition.
fn is_supposing(lead: &str) -> bool {
    let start = lead.rfind(ends_sentence).unwrap_or_default();
    let last: Vec<String> = words(&lead[start..])
        .rev()
        .take(8)
        .map(str::to_lowercase)
        .collect();
    let is_own = |place: usize| last.get(place + 1).is_some_and(|word| word == "i");
    let mut last_words = last.iter().enumerate();
    last_words.any(|(place, word)| SUPPOSING.contains(&&**word) && !is_own(place))
}
