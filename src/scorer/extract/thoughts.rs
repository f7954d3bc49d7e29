//! Takes the thoughts of a model off its answer.
//!
//! A thought stands between tags (`<think>…</think>`, `[THINK]…[/THINK]`) or in a channel of the harmony format. One
//! that is not closed extends to the end: what follows may be a draft. One that is closed but not opened begins with the
//! text, because some chat templates open it in the prompt.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memchr3};

/// The tags, in lower case, as models and their chat templates write them.
pub(crate) const TAGS: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<seed:think>", "</seed:think>"),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
];

/// Where a tag or a channel may begin.
fn find_start(text: &[u8]) -> Option<usize> {
    memchr3(b'<', b'[', "◁".as_bytes()[0], text)
}

/// The text without its thoughts. A text without any is unchanged.
pub(crate) fn strip(raw: &str) -> Cow<'_, str> {
    if let Some(answer) = final_channel(raw) {
        return Cow::Borrowed(answer);
    }
    let mut tags = tags(raw).peekable();
    if tags.peek().is_none() {
        return Cow::Borrowed(raw);
    }
    let mut answer = String::new();
    // Where the text outside of thoughts goes on, and the kind of the open thought.
    let mut outside = 0;
    let mut open = None;
    for tag in tags {
        match open {
            None if tag.opens => {
                answer.push_str(&raw[outside..tag.start]);
                open = Some(tag.kind);
            }
            // It was opened in the prompt.
            None => {
                answer.clear();
                outside = tag.end;
            }
            Some(kind) if !tag.opens && tag.kind == kind => {
                (open, outside) = (None, tag.end);
            }
            Some(_) => {}
        }
    }
    if open.is_none() {
        answer.push_str(&raw[outside..]);
    }
    Cow::Owned(answer.trim().to_owned())
}

/// The longest text that may be struck through, in bytes.
const LONGEST_STRUCK: usize = 500;

/// The text without what is struck through: `~~A~~ B`.
pub(super) fn without_struck(raw: &str) -> Cow<'_, str> {
    let bytes = raw.as_bytes();
    let mut tildes = memchr_iter(b'~', bytes);
    let Some(first) = tildes.find(|place| bytes.get(place + 1) == Some(&b'~')) else {
        return Cow::Borrowed(raw);
    };
    let mut text = raw[..first].to_owned();
    let mut rest = &raw[first..];
    while let Some((before, after)) = rest.split_once("~~") {
        text.push_str(before);
        let line = after
            .bytes()
            .take(LONGEST_STRUCK)
            .position(|byte| byte == b'\n');
        let line = line.unwrap_or(after.len().min(LONGEST_STRUCK));
        let end = after.as_bytes()[..line]
            .windows(2)
            .position(|bytes| bytes == b"~~");
        rest = match end {
            Some(end) if end > 0 => &after[end + 2..],
            _ => {
                text.push_str("~~");
                after
            }
        };
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Whether the text begins with a thought.
pub(crate) fn begins_with_one(raw: &str) -> bool {
    let text = raw.trim_start();
    final_channel(text).is_some()
        || tags(text)
            .next()
            .is_some_and(|tag| tag.opens && tag.start == 0)
}

struct Tag {
    start: usize,
    end: usize,
    kind: usize,
    opens: bool,
}

fn tags(raw: &str) -> impl Iterator<Item = Tag> + '_ {
    let bytes = raw.as_bytes();
    let mut place = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = &bytes[place..];
            place += find_start(rest)?;
            let rest = &bytes[place..];
            let start = place;
            let is_at = |tag: &str| {
                let head = rest.get(..tag.len());
                head.is_some_and(|head| head.eq_ignore_ascii_case(tag.as_bytes()))
            };
            for (kind, (open, close)) in TAGS.iter().enumerate() {
                for (tag, opens) in [(open, true), (close, false)] {
                    if is_at(tag) {
                        place += tag.len();
                        let end = place;
                        return Some(Tag {
                            start,
                            end,
                            kind,
                            opens,
                        });
                    }
                }
            }
            place += 1;
        }
    })
}

const CHANNEL: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";

/// What the harmony format has in its final channel; empty if there is only analysis, `None` if the text has no
/// channels. Where a tokenizer dropped the special tokens, their words stay: `analysis…assistantfinal…`.
fn final_channel(raw: &str) -> Option<&str> {
    let text = raw.trim_start();
    if let Some(first) = memchr(b'<', raw.as_bytes())
        && let Some(place) = raw[first..].rfind(CHANNEL)
    {
        let (name, rest) = raw[first + place + CHANNEL.len()..].split_once(MESSAGE)?;
        if name.trim() != "final" {
            return Some("");
        }
        let end = ["<|end|>", "<|return|>", "<|start|>"];
        let end = end.iter().filter_map(|mark| rest.find(mark)).min();
        return Some(rest[..end.unwrap_or(rest.len())].trim());
    }
    let rest = text.strip_prefix("analysis")?;
    let place = rest.rfind("assistantfinal")?;
    Some(rest[place + "assistantfinal".len()..].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_go() {
        for (raw, expect) in [
            ("<think>a</think>\n4", "4"),
            ("1 <think>a</think> 2 <think>b</think> 3", "1  2  3"),
            ("reasoning</think> 4", "4"),
            ("4 <think>and then", "4"),
            ("no block ", "no block "),
            ("<think>a <think> b</think> 4", "4"),
            ("a</think>b</think> c <think>d</think>e", "c e"),
            ("<think>", ""),
            ("<thinking>a</think></thinking>4", "4"),
            ("[THINK]a[/THINK]4", "4"),
            ("<Reasoning>a</reasoning>4", "4"),
            ("◁think▷a◁/think▷4", "4"),
            ("a < b, [x] ◁", "a < b, [x] ◁"),
            (
                "<|channel|>analysis<|message|>5?<|end|><|start|>assistant<|channel|>final<|message|>4<|return|>",
                "4",
            ),
            ("<|channel|>analysis<|message|>it is 4", ""),
            ("analysis4? 4.assistantfinal4", "4"),
            ("analysis of the text", "analysis of the text"),
        ] {
            assert_eq!(strip(raw), expect, "{raw:?}");
        }
    }

    #[test]
    fn a_thought_at_the_beginning_is_seen() {
        assert!(begins_with_one("\n<think>a"));
        assert!(begins_with_one("analysis4assistantfinal4"));
        assert!(!begins_with_one("4 <think>a</think>"));
        assert!(!begins_with_one("a</think>4"));
    }
}
