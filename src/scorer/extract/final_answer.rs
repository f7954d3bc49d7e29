//! `final_answer`: the text that an answer calls final.

use std::collections::VecDeque;

use memchr::memchr;

use super::boxed::{self, LastBox};
use super::labels::{Label, final_in_last_line, labels, start};
use super::numbers::{is_no_answer, sentence_end};
use crate::data::FoundBy;
use crate::text::is_invisible;

/// The longest value behind a heading that is not called final, in bytes.
const LONGEST_HEADING: usize = 80;
/// The longest value of a sentence such as `The answer is 4.`, in bytes.
const LONGEST_SENTENCE: usize = 60;

/// What follows the last label that is called final, or stands in the last tag, whichever is later; otherwise in the last
/// box; otherwise a short value behind another label. All unwrapped; otherwise the whole answer, trimmed.
pub(super) fn last(raw: &str) -> (&str, FoundBy) {
    let is_value = |label: &Label| !is_placeholder(&raw[label.value..]);
    let mut last_final = final_in_last_line(raw).filter(is_value);
    let mut last_other = None;
    let all = match last_final {
        Some(_) => VecDeque::new(),
        None => labels(raw),
    };
    for label in all.into_iter().filter(is_value) {
        *(if label.is_final {
            &mut last_final
        } else {
            &mut last_other
        }) = Some(label);
    }
    let tag = boxed::last_tag(raw);
    if let Some(label) = last_final
        && tag.is_none_or(|tag| tag.start < label.start)
    {
        let value = &raw[label.value..];
        let value = value.lines().next().unwrap_or_default();
        let value = if label.is_heading {
            unwrap(value)
        } else {
            unwrap(unwrap(&value[..sentence_end(value)]).trim_end_matches(['.', '!']))
        };
        return (
            value,
            if value.is_empty() {
                FoundBy::Nothing
            } else {
                FoundBy::Label
            },
        );
    }
    if let Some(tag) = tag {
        let value = unwrap(tag.content);
        return (
            value,
            if value.is_empty() {
                FoundBy::Nothing
            } else {
                FoundBy::Tag
            },
        );
    }
    if let LastBox::Closed(found) = boxed::last(raw) {
        return (unwrap(found.content), FoundBy::Box);
    }
    match last_other.and_then(|label| short_value(raw, &label)) {
        Some(value) => (value, FoundBy::Label),
        None => (
            raw.trim_matches(|c: char| c.is_whitespace() || is_invisible(c)),
            FoundBy::WholeAnswer,
        ),
    }
}

/// Whether the value is the one of a prompt that the answer repeats: `[YOUR FINAL ANSWER]`.
fn is_placeholder(value: &str) -> bool {
    const NAMES: [&str; 4] = ["your final answer", "your answer", "answer]", "..."];
    let value = value.trim_start_matches(['[', '<', '{', '(', '*', ' ', '"']);
    value.starts_with(['y', 'Y', 'a', 'A', '.'])
        && NAMES.iter().any(|name| {
            let head = value.get(..name.len());
            head.is_some_and(|head| head.eq_ignore_ascii_case(name))
        })
}

/// The value of a label that is not called final, where it is the answer and not the start of one.
fn short_value<'a>(raw: &'a str, label: &Label) -> Option<&'a str> {
    let rest = start(&raw[label.value..], 200);
    let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
    let behind = raw[label.value + line.len()..]
        .trim_matches(|c: char| c.is_whitespace() || "*_`".contains(c));
    let value = if label.is_heading {
        let starts_line =
            raw[..label.start].trim_end_matches([' ', '\t', '*', '_', '#', '>', '`', '|']);
        let is_heading = starts_line.is_empty() || starts_line.ends_with('\n');
        let value = unwrap(line);
        // A list or a paragraph is more than its first line.
        let goes_on = behind.starts_with(['-', '•', '1', '2']);
        (is_heading && !goes_on && value.len() <= LONGEST_HEADING).then_some(value)?
    } else {
        let sentence = &line[..sentence_end(line)];
        let is_last = behind.is_empty()
            && line[sentence.len()..]
                .trim_end_matches(['.', '!', ' ', '*', '$'])
                .is_empty();
        let value = unwrap(sentence).trim_end_matches(['.', '!', '*', ' ']);
        (is_last && value.len() <= LONGEST_SENTENCE).then_some(value)?
    };
    (!value.is_empty() && !is_no_answer(value)).then_some(unwrap(value))
}

/// The pairs that people put around an answer.
const PAIRS: [(&str, &str); 19] = [
    ("„", "“"),
    ("‘", "’"),
    ("「", "」"),
    ("\\boxed{", "}"),
    ("\\fbox{", "}"),
    ("\\textbf{", "}"),
    ("\\text{", "}"),
    ("\\mathbf{", "}"),
    ("\\mathrm{", "}"),
    ("\\(", "\\)"),
    ("\\[", "\\]"),
    ("$$", "$$"),
    ("$", "$"),
    ("[", "]"),
    ("\"", "\""),
    ("“", "”"),
    ("«", "»"),
    ("<b>", "</b>"),
    ("<answer>", "</answer>"),
];

/// What a model or its server leaves at the end of an answer.
const ENDINGS: [&str; 10] = [
    "</answer>",
    "</final_answer>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|endoftext|>",
    "<|end|>",
    "<|return|>",
    "<|end_of_solution|>",
    "</s>",
    "<br>",
];

/// The value of a reference answer that is written like a reply: boxed (`$\boxed{42}$`), emphasised (`**42**`), or behind a
/// label.
pub(in crate::scorer) fn reference_value(text: &str) -> Option<&str> {
    match last(text) {
        (value, FoundBy::Label | FoundBy::Tag | FoundBy::Box) => Some(value),
        _ => Some(unwrap(text)).filter(|value| value.len() < text.trim().len()),
    }
}

/// The content of a text that is a box (`\boxed{42}`, `$\boxed{42}$`) or emphasised (`**42**`), and nothing else.
pub(in crate::scorer) fn undressed(text: &str) -> Option<&str> {
    let bare = text.trim();
    let bare = PAIRS[9..13]
        .iter()
        .find_map(|pair| within(bare, *pair))
        .unwrap_or(bare);
    [("\\boxed{", "}"), ("\\fbox{", "}"), ("**", "**")]
        .iter()
        .find_map(|pair| within(bare, *pair))
        .map(unwrap)
        .filter(|content| !content.is_empty())
}

fn unwrap(line: &str) -> &str {
    let line = behind_emphasis(line);
    let is_around = |c: char| c.is_whitespace() || is_invisible(c) || matches!(c, '*' | '`');
    let mut answer = line.trim();
    // Each layer takes one pass; a few layers are enough.
    for _ in 0..8 {
        let is_alphanumeric = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        let bytes = answer.as_bytes();
        if is_alphanumeric(bytes.first()) && is_alphanumeric(bytes.last()) {
            break;
        }
        let mut inner = answer.trim_matches(is_around);
        for ending in ENDINGS {
            inner = inner
                .strip_suffix(ending)
                .unwrap_or(inner)
                .trim_end_matches(is_around);
        }
        // `**4**.` and `"a"}`.
        for (ending, rest_length) in [
            ("**.", 2),
            ("`.", 1),
            ("。", 0),
            ("\"}", 1),
            ("\",", 1),
            ("\"},", 1),
        ] {
            if inner.ends_with(ending) && (rest_length == 0 || inner.starts_with(['*', '`', '"'])) {
                inner = &inner[..inner.len() - ending.len() + rest_length];
            }
        }
        inner = inner.strip_prefix(['=', '|']).unwrap_or(inner).trim_start();
        inner = inner.strip_suffix(" |").unwrap_or(inner);
        inner = PAIRS
            .iter()
            .find_map(|pair| within(inner, *pair))
            .unwrap_or(inner);
        if inner.len() == answer.len() {
            break;
        }
        answer = inner;
    }
    answer
}

/// The emphasised start of a line whose rest explains it: `73** - counted twice`. The label took its opening mark.
fn behind_emphasis(line: &str) -> &str {
    if memchr(b'*', line.as_bytes()).is_none() {
        return line;
    }
    match line.trim_start_matches('*').split_once("**") {
        Some((value, rest)) if !value.contains("**") => {
            let rest = rest.trim_start();
            let is_note = ["- ", "– ", "— ", "("]
                .iter()
                .any(|mark| rest.starts_with(mark));
            if is_note && !value.trim().is_empty() {
                value
            } else {
                line
            }
        }
        _ => line,
    }
}

/// The text between the two marks, if they belong together and are around all of it. A period may follow.
fn within<'a>(text: &'a str, (open, close): (&str, &str)) -> Option<&'a str> {
    let rest = text.strip_prefix(open)?;
    let rest = match rest.strip_suffix('.') {
        Some(before) if open != "[" && open != "\"" => before,
        _ => rest,
    };
    let inner = rest.strip_suffix(close)?;
    let is_one = if open.ends_with(['{', '[']) {
        is_balanced(
            inner,
            if close == "]" {
                (b'[', b']')
            } else {
                (b'{', b'}')
            },
        )
    } else {
        !inner.contains(close)
    };
    is_one.then(|| inner.trim())
}

/// Whether each bracket in the text closes one that it opens.
fn is_balanced(text: &str, (open, close): (u8, u8)) -> bool {
    let mut depth = 0_i64;
    for byte in text.bytes() {
        depth += i64::from(byte == open) - i64::from(byte == close);
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}
