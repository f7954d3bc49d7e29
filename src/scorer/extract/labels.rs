//! Finds the labels in an answer: `Answer: 4`, `**Final answer** - 4`, `The answer is 4`, `答案是4`.

mod words;

use std::collections::VecDeque;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use memchr::{memchr_iter, memrchr};
use regex::Regex;

use crate::text::is_invisible;
use words::{OTHER_FINAL, OTHER_WORDS, Word, words};

/// What may link a label with its value, in place of a colon. Longer ones first.
const VERBS: &[&str] = &[
    "would therefore be",
    "should therefore be",
    "would be",
    "should be",
    "must be",
    "will be",
    "has to be",
    "turns out to be",
    "comes out to",
    "comes out as",
    "works out to",
    "equals",
    "is",
    "lautet",
    "wäre",
    "ist",
    "est",
    "sería",
    "es",
    "é",
    "è",
    "sono",
    "são",
    "serait",
    "sera",
    "является",
    "это",
    "应该是",
    "應該是",
    "应该为",
    "是",
    "为",
    "為",
    "هو",
    "هي",
    "है",
    "হলো",
    "হল",
    "ni",
    "là",
    "adalah",
    "jest",
    "är",
    "er",
    "είναι",
    "คือ",
];

/// What stands between the verb and the value without changing what is said.
const ADVERBS: &[&str] = &[
    "therefore",
    "thus",
    "then",
    "hence",
    "simply",
    "clearly",
    "indeed",
    "definitely",
    "also",
    "actually",
    "again",
    "exactly",
    "precisely",
    "approximately",
    "about",
    "roughly",
    "around",
    "just",
    "only",
    "still",
    "most likely",
    "likely",
    "probably",
    "certainly",
    "obviously",
    "donc",
    "also",
    "entonces",
    "portanto",
    "quindi",
    "bien",
    "now",
    "equal to",
    "given by",
];

/// Particles that link a label with its value without a space.
const PARTICLES: [&str; 6] = ["は", "が", "은", "는", "이", "가"];

/// What makes a value one that the text does not claim.
const DENIALS: [&str; 10] = [
    "not ", "n't ", "neither ", "nicht ", "kein", "pas ", "no es ", "не ", "不是", "never ",
];

/// What a text says where it takes an answer back.
static CORRECTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)wait|no[,.] |no - |hmm|actually|correct(?:ion|ed|ing)|sorry|my mistake|mistaken|made a mistake|let me (?:re|check)",
        r"|re-?check|re-?reading|reflection|double[- ]check|second thought|scratch that|revis|oops|non, |perdón|不对|等等|いや",
    ))
    .expect("a constant pattern")
});

/// Whether the text between two claims takes the first one back.
pub(super) fn is_corrected(between: &str) -> bool {
    CORRECTION.is_match(tail(between, 1000))
}

/// A label and where its value starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label {
    /// Where the label starts.
    pub(super) start: usize,
    /// Where the value starts, behind spaces and markup.
    pub(super) value: usize,
    /// Whether the text calls it final.
    pub(super) is_final: bool,
    /// Whether a colon, a dash or a line end links the value, not a verb.
    pub(super) is_heading: bool,
}

/// How a model that runs on asks itself another question.
const QUESTION: &str = "\nQuestion:";
static FURTHER_QUESTION: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(QUESTION));

/// How many labels of a text are looked at, from its end.
const MOST: usize = 64;

/// The last label that is called final, if it stands in the last line, so that nothing else need be looked at.
pub(super) fn final_in_last_line(raw: &str) -> Option<Label> {
    let end = raw.trim_end().len();
    let line = memrchr(b'\n', &raw.as_bytes()[..end])? + 1;
    // What follows may be of another question.
    if FURTHER_QUESTION.find(raw.as_bytes()).is_some() {
        return None;
    }
    let mut labels = labels_from(raw, line);
    while let Some(label) = labels.pop_back() {
        if label.is_final {
            return Some(label);
        }
    }
    None
}

/// The last labels of a text, in order.
pub(super) fn labels(raw: &str) -> VecDeque<Label> {
    labels_from(raw, 0)
}

/// The same for those that begin at this place or later.
fn labels_from(raw: &str, place: usize) -> VecDeque<Label> {
    let mut last = VecDeque::new();
    let mut add = |label: Option<Label>| {
        if last.len() == MOST {
            last.pop_front();
        }
        last.extend(label);
    };
    let mut words = words(raw, place);
    if raw.is_ascii() {
        words.for_each(|word| add(Label::read(raw, word)));
    } else {
        let mut next = words.next();
        for found in OTHER_WORDS.find_iter(&raw[place..]) {
            let lower = found.as_str().to_lowercase();
            let other = Word {
                start: place + found.start(),
                end: place + found.end(),
                is_final: OTHER_FINAL.iter().any(|word| lower.contains(word)),
            };
            while let Some(word) = next.take_if(|word| word.start < other.start) {
                add(Label::read(raw, word));
                next = words.next();
            }
            add(Label::read(raw, other));
        }
        next.into_iter()
            .chain(words)
            .for_each(|word| add(Label::read(raw, word)));
    }
    // A model that runs on asks itself further questions.
    if let Some(first) = last.front() {
        let rest = &raw[first.value..];
        let question =
            memchr_iter(b'\n', rest.as_bytes()).find(|end| rest[*end..].starts_with(QUESTION));
        if let Some(question) = question {
            let end = first.value + question;
            last.retain(|label| label.start < end);
        }
    }
    last
}

impl Label {
    /// The label at this place, if what is around it makes it one.
    fn read(raw: &str, found: Word) -> Option<Self> {
        let Word {
            start,
            end,
            is_final,
        } = found;
        let (word, rest) = (&raw[start..end], &raw[end..]);
        let is_spaced = word.chars().next_back().is_some_and(has_spaces);
        let before = raw[..start].chars().next_back();
        if is_spaced && before.is_some_and(|c| c.is_alphabetic() && has_spaces(c)) {
            let mut letters = word.chars();
            let is_upper = letters.next().is_some_and(char::is_uppercase);
            if !is_upper || !letters.next().is_some_and(char::is_lowercase) {
                return None;
            }
        }
        if is_spaced && rest.starts_with(|c: char| c.is_alphanumeric() && has_spaces(c)) {
            return None;
        }
        let is_verb = !word.is_ascii() && word.ends_with(['选', '選', '择', '擇']);
        let starts_line = starts_line(&raw[..start]);
        let link = Link::read(rest, is_verb, starts_line, is_final)?;
        let value = end + link.end;
        let is_denied = raw[value..].starts_with(|c: char| c.is_alphabetic() || c == '\'')
            && DENIALS.iter().any(|denial| {
                let head = raw[value..].get(..denial.len());
                head.is_some_and(|head| head.eq_ignore_ascii_case(denial))
            });
        let label = Self {
            start,
            value,
            is_final,
            is_heading: link.is_heading,
        };
        (!is_denied).then_some(label)
    }
}

/// What is between a label and its value.
struct Link {
    end: usize,
    is_heading: bool,
}

impl Link {
    fn read(rest: &str, mut is_linked: bool, starts_line: bool, is_final: bool) -> Option<Self> {
        let mut place = skip(rest, 0);
        place = behind_note(rest, place);
        place = behind_aside(rest, place);
        let mut is_heading = false;
        // `The answer is: = 4`.
        for _ in 0..4 {
            let text = &rest[place..];
            let Some(first) = text.chars().next() else {
                break;
            };
            let length = if is_colon(first) || first == '|' && is_final {
                is_heading = true;
                first.len_utf8()
            } else if matches!(first, '-' | '–' | '—' | '−') && !is_linked && is_dash(text) {
                is_heading = true;
                text.len() - text.trim_start_matches(['-', '–', '—', '−', '>']).len()
            } else if first == '\n' && !is_linked && starts_line {
                is_heading = true;
                0
            } else if first.is_ascii() && !first.is_alphabetic() {
                break;
            } else if let Some(arrow) = ["→", "⇒", "➜", "➡\u{fe0f}", "➡", "👉"]
                .iter()
                .find(|it| !first.is_ascii() && text.starts_with(**it))
            {
                arrow.len()
            } else if !first.is_ascii()
                && (place == 0 || !rest[..place].ends_with(char::is_whitespace))
                && let Some(length) = particle(text)
            {
                length
            } else if !is_heading
                && let Some(length) = word(text, if is_linked { ADVERBS } else { VERBS })
            {
                length
            } else {
                break;
            };
            is_linked = true;
            place = skip_open(rest, place + length);
            if length == 0 {
                break;
            }
        }
        if !is_linked && let Some(end) = behind_topic(rest, place) {
            (is_linked, place) = (true, skip_open(rest, end));
        }
        let is_bare_number = is_final
            && starts_line
            && rest[place..].starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '\\');
        if !is_linked && !is_bare_number {
            return None;
        }
        // The value may be on the next line that has one.
        while rest[place..].starts_with(['\n', '\r']) {
            is_heading = true;
            place = skip_markup(rest, place + 1);
        }
        Some(Self {
            end: place,
            is_heading,
        })
    }
}

/// Whether a script sets its words apart with spaces.
fn has_spaces(c: char) -> bool {
    !matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}')
}

/// Whether there is nothing but markup between the start of the line and the end of this text.
fn starts_line(before: &str) -> bool {
    const OPENINGS: [&str; 7] = [
        "\\textbf{",
        "\\mathbf{",
        "\\text{",
        "<b>",
        "<strong>",
        "<h2>",
        "<h3>",
    ];
    let has_opening = before.ends_with(['{', '>']);
    let mut openings = OPENINGS.iter().filter(|_| has_opening);
    let opening = openings.find_map(|open| before.strip_suffix(open));
    let before = opening.unwrap_or(before).trim_end_matches(|c: char| {
        c != '\n' && c.is_whitespace()
            || matches!(
                c,
                '*' | '_'
                    | '#'
                    | '>'
                    | '-'
                    | '•'
                    | '`'
                    | '~'
                    | '$'
                    | '\\'
                    | '('
                    | '['
                    | '{'
                    | '|'
                    | '✅'
            )
            || is_invisible(c)
    });
    before.is_empty() || before.ends_with('\n')
}

fn is_colon(c: char) -> bool {
    matches!(c, ':' | '：' | '﹕' | '∶' | '=' | '＝' | 'ː' | '꞉')
}

/// Whether a dash links a label with its value, as no minus sign does.
fn is_dash(text: &str) -> bool {
    let after = text.trim_start_matches(['-', '–', '—', '−', '>']);
    after.starts_with([' ', '\u{a0}', '*', '`', '\n'])
}

fn particle(text: &str) -> Option<usize> {
    let found = PARTICLES.iter().find(|it| text.starts_with(**it))?;
    let comma = text[found.len()..].starts_with(['、', '，', ',']);
    Some(
        found.len()
            + if comma {
                text[found.len()..].chars().next()?.len_utf8()
            } else {
                0
            },
    )
}

/// The length of the first of these words that the text starts with.
fn word(text: &str, words: &[&str]) -> Option<usize> {
    let found = words.iter().find(|word| {
        let Some((head, rest)) = text.split_at_checked(word.len()) else {
            return false;
        };
        let is_it = head.eq_ignore_ascii_case(word);
        is_it
            && !(word.chars().next_back().is_some_and(has_spaces)
                && rest.starts_with(char::is_alphanumeric))
    })?;
    Some(found.len())
}

/// The place behind a note in brackets, as in `Answer (in km): 4`.
fn behind_note(text: &str, place: usize) -> usize {
    let rest = &text[place..];
    let Some(note) = rest.strip_prefix('(') else {
        return place;
    };
    match start(note, 60).find([')', '\n']) {
        Some(end) if note[end..].starts_with(')') => {
            let after = skip(text, place + 1 + end + 1);
            if text[after..].starts_with(is_colon) || word(&text[after..], VERBS).is_some() {
                after
            } else {
                place
            }
        }
        _ => place,
    }
}

/// The place behind `, however,`.
fn behind_aside(text: &str, place: usize) -> usize {
    const ASIDES: [&str; 6] = [
        ", however, ",
        ", therefore, ",
        ", then, ",
        ", of course, ",
        ", thus, ",
        ", in fact, ",
    ];
    let aside = ASIDES
        .iter()
        .find(|aside| text[place..].starts_with(**aside));
    place + aside.map_or(0, |aside| aside.len())
}

/// The end of the link behind a topic, as in `The answer to the riddle is 4`, `the answer for part (a): 4`.
fn behind_topic(text: &str, place: usize) -> Option<usize> {
    const TOPICS: [&str; 9] = [
        "to",
        "for",
        "of",
        "in",
        "choice",
        "they want",
        "you want",
        "that fits",
        "here",
    ];
    let topic = word(&text[place..], &TOPICS)?;
    let rest = start(&text[place + topic..], 90);
    let end = rest.find(['\n', '.', '?', '!', ';']).unwrap_or(rest.len());
    let phrase = &rest[..end];
    let is = phrase.find(" is ").map(|at| at + 4);
    let colon = phrase.find(": ").map(|at| at + 2);
    let found = match (is, colon) {
        (Some(is), Some(colon)) => is.min(colon),
        (found, other) => found.or(other)?,
    };
    Some(place + topic + found)
}

/// The start of a text, of about this many bytes.
pub(super) fn start(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

/// The end of a text, of about this many bytes.
pub(super) fn tail(text: &str, bytes: usize) -> &str {
    let from = text.len().saturating_sub(bytes);
    let from = (from..=text.len()).find(|place| text.is_char_boundary(*place));
    &text[from.unwrap_or_default()..]
}

/// The place behind spaces, emphasis, closing markup and what nobody sees, on the same line.
pub(super) fn skip(text: &str, place: usize) -> usize {
    skip_all(text, place, |c| {
        c != '\n' && c.is_whitespace()
            || matches!(c, '*' | '_' | '`' | '~' | '}' | ']' | ')' | '"' | '”')
            || is_invisible(c)
    })
}

/// Like [`skip`], for the start of a value, where closing markup belongs to the label only before its first space.
fn skip_open(text: &str, place: usize) -> usize {
    let closed = skip_all(text, place, |c| {
        matches!(c, '*' | '_' | '`' | '~' | '}' | ']' | ')') || is_invisible(c)
    });
    skip_all(text, closed, |c| {
        c != '\n' && c.is_whitespace() || matches!(c, '*' | '_' | '`' | '~') || is_invisible(c)
    })
}

/// Like [`skip`], for the start of a line: also behind the marks of headings, quotes and lists.
fn skip_markup(text: &str, place: usize) -> usize {
    let mut place = skip_all(text, place, |c| {
        c != '\n' && c.is_whitespace()
            || matches!(c, '*' | '_' | '`' | '~' | '#' | '>')
            || is_invisible(c)
    });
    if let Some(rest) = text[place..].strip_prefix(['-', '•'])
        && rest.starts_with(' ')
    {
        place = skip(text, text.len() - rest.len());
    }
    place
}

fn skip_all(text: &str, mut place: usize, is_skipped: impl Fn(char) -> bool) -> usize {
    loop {
        let rest = &text[place..];
        let after = rest.trim_start_matches(&is_skipped);
        place += rest.len() - after.len();
        // `<b>Answer</b>: 4`
        if !after.starts_with(['<', '\\']) {
            return place;
        }
        let tag = [
            "</b>",
            "</strong>",
            "</em>",
            "</i>",
            "</h1>",
            "</h2>",
            "</h3>",
            "<b>",
            "<strong>",
            "<br>",
            "\\]",
            "\\)",
        ];
        match tag.iter().find(|tag| after.starts_with(**tag)) {
            Some(tag) => place += tag.len(),
            None => return place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_found_however_they_are_written() {
        for text in [
            "Answer: 4",
            "**FINAL ANSWER**: 4",
            "**FINAL ANSWER:** 4",
            "### FINAL ANSWER\n4",
            "FINAL ANSWER : 4",
            "FINAL ANSWER：4",
            "FINAL ANSWER is 4",
            "FINAL ANSWER - 4",
            "FINAL ANSWER = 4",
            "FINAL ANSWER 4",
            "**Final** **Answer** — 4",
            r"\textbf{FINAL ANSWER:} 4",
            "<b>Answer</b>: 4",
            "**Answer**\n\n> 4",
            "So the answer is therefore: 4",
            "The correct option is 4",
            "The answer to the riddle is 4",
            "Answer (in km): 4",
            "Answer\u{200b}: 4",
            "答案：4",
            "答案是4",
            "因此选4",
            "答えは4",
            "答えは、4",
            "정답은 4",
            "Antwort: XAntwort: 4",
            "Lösung: 4",
            "La réponse est 4",
            "La respuesta correcta es 4",
            "A resposta é 4",
            "Risposta: 4",
            "Ответ: 4",
            "Правильный ответ — 4",
            "الجواب: 4",
            "الإجابة الصحيحة هي 4",
            "उत्तर: 4",
            "উত্তর: 4",
            "Jibu ni 4",
            "Ìdáhùn: 4",
        ] {
            let found = labels(text).back().map(|label| &text[label.value..]);
            assert_eq!(found, Some("4"), "{text:?}");
        }
    }

    #[test]
    fn a_mention_is_no_label() {
        for text in [
            "answering 4",
            "the answers 4",
            "An answer 4 people gave",
            "the answer is not 4",
            "unanswered: 4",
            "I know the answer",
        ] {
            assert_eq!(labels(text).len(), 0, "{text:?}");
        }
    }
}
