//! Verdicts in prose: a choice on its own line, after a label such as `GRADE:`, or as `[[C]]`.
//!
//! A choice that is merely mentioned is not a verdict: "the answer is not correct". Markdown, quotes, brackets, a
//! full-width colon and zero-width characters may surround any of these.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::FoundObject;
use super::name::{Names, is_invisible};

/// A choice stated as the verdict.
#[derive(Clone, Copy)]
pub(super) struct Claim {
    pub(super) choice: usize,
    /// Whether it counts by itself; otherwise it can only contradict another one.
    pub(super) is_certain: bool,
}

/// A label and the separator before its value.
static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = "(?i)(?:(?-u:\\b)|_)(?:grade|verdict|rating|answer|judge?ment|score|choice|decision|result|evaluation|assessment|\
                   conclusion|classification|label)[*_`~\"'”’\\])]*(?:[ \\t]+is)?[ \\t]*(?:[:：=]|[ \\t](?:-+|–|—)[ \\t])";
    Regex::new(pattern).expect("a constant pattern")
});

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

/// The claims of a text, outside of its objects.
pub(super) fn claims(text: &str, objects: &[FoundObject], names: &Names<'_>) -> Vec<Claim> {
    let text = &*plain(text, objects);
    let mut scan = Scan {
        names,
        text,
        claims: Vec::new(),
        lower: None,
        mentions: Vec::new(),
        awaits: None,
    };
    let lines = text.split(['\n', '\r', '\u{2028}', '\u{2029}']);
    let mut lines = lines.filter(|line| !line.trim().is_empty()).peekable();
    let mut is_first = true;
    while let Some(line) = lines.next() {
        let is_last = lines.peek().is_none();
        scan.line(line, is_first || is_last);
        is_first = false;
    }
    scan.brackets();
    scan.claims
}

/// The text without its objects and without zero-width characters.
pub(super) fn plain<'a>(text: &'a str, objects: &[FoundObject]) -> Cow<'a, str> {
    let is_visible = text.is_ascii() || !text.contains(is_invisible);
    if objects.is_empty() && is_visible {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut done = 0;
    for object in objects {
        plain.push_str(&text[done..object.place.start]);
        plain.push('\n');
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
    claims: Vec<Claim>,
    /// The text in lower case, computed on demand.
    lower: Option<String>,
    /// For each choice checked so far, whether the text mentions another one.
    mentions: Vec<(usize, bool)>,
    /// Set after a label without a value on its line: whether the next line counts by itself.
    awaits: Option<bool>,
}

impl Scan<'_> {
    fn line(&mut self, line: &str, is_at_end: bool) {
        let is_quote = line.trim_start().starts_with('>');
        if let Some(is_certain) = self.awaits.take()
            && let Some((choice, _)) = self.names.at_start(opened(line))
        {
            let is_certain = is_certain && !is_quote && !self.mentions_another(choice);
            self.add(choice, is_certain);
        }
        if let Some(choice) = whole(line, self.names) {
            let is_certain = !is_quote && (is_at_end || !self.mentions_another(choice));
            self.add(choice, is_certain);
        }
        for label in LABEL.find_iter(line) {
            self.label(&line[..label.start()], &line[label.end()..], is_quote);
        }
    }

    /// Reads the value after a label.
    fn label(&mut self, before: &str, behind: &str, is_quote: bool) {
        let lead = before.trim_end_matches(|c: char| c.is_whitespace() || is_markdown(c));
        let is_quoted = lead.ends_with(is_quotation) || before.ends_with('`');
        let leads = lead.len() <= LONGEST_LEAD
            && words(lead).all(|word| {
                LEADING.contains(&&*word.to_lowercase()) || word.bytes().all(|b| b.is_ascii_digit())
            });
        let Some((choice, rest)) = self.names.at_start(opened(behind)) else {
            if opened(behind).is_empty() {
                self.awaits = Some(leads && !is_quote);
            }
            return;
        };
        let tail = rest.trim_start_matches(closes);
        let is_over = tail.is_empty() || tail.starts_with(ends_sentence);
        let is_certain = !is_quote
            && (leads
                || !is_quoted
                    && is_over
                    && (lead.trim_end_matches(closes).ends_with(ends_sentence)
                        || !is_quoting(lead) && !self.mentions_another(choice)));
        self.add(choice, is_certain);
        self.alternatives(rest);
    }

    /// Further choices after that of a label: `C or I`.
    fn alternatives(&mut self, mut rest: &str) {
        const SIGNS: &[&str] = &["/", "|", "&", "->", "→", "=>", "or ", "vs ", "vs. "];
        const WORDS: &[&str] = &[",", "and ", "but ", "then ", "to "];
        let mut is_sign = None;
        for _ in 0..16 {
            let tail = rest.trim_start_matches(closes);
            let by = |signs: &[&str]| signs.iter().find_map(|sign| tail.strip_prefix(sign));
            if let Some(next) = by(SIGNS) {
                (is_sign, rest) = (Some(true), next);
            } else if let Some(next) = by(WORDS) {
                (is_sign, rest) = (is_sign.or(Some(false)), next);
            } else if let Some(by_sign) = is_sign.take()
                && let Some((choice, behind)) = self.names.at_start(opened(tail))
            {
                // "C, I think".
                if by_sign || self.names.name(choice).chars().count() > 1 {
                    self.add(choice, false);
                }
                rest = behind;
            } else {
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
                continue;
            };
            if rest
                .trim_start_matches(|c| c != ']' && closes(c))
                .starts_with("]]")
            {
                let is_quoted = text[..place].ends_with(is_quotation);
                self.add(choice, !is_quoted);
            }
        }
    }

    fn add(&mut self, choice: usize, is_certain: bool) {
        self.claims.push(Claim { choice, is_certain });
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
fn opened(text: &str) -> &str {
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

fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | ';' | '。' | '！' | '？' | '；')
}

fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty())
}

/// Whether a quotation follows.
fn is_quoting(lead: &str) -> bool {
    let quoting_words = words(lead).rev().take(3);
    let mut quoting_words = quoting_words.map(str::to_lowercase);
    lead.ends_with(':') || quoting_words.any(|word| QUOTING.contains(&&*word))
}
