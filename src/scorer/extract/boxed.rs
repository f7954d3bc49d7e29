//! Finds LaTeX's `\boxed{…}`, and the tag `<answer>…</answer>`.

use memchr::{memchr, memchr3};

/// A closed box or tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Closed<'a> {
    /// Its content, trimmed.
    pub(super) content: &'a str,
    /// Where the content starts.
    pub(super) start: usize,
    /// Whether an earlier one has other content.
    pub(super) differs: bool,
}

/// What the last box of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastBox<'a> {
    /// There is none.
    None,
    Closed(Closed<'a>),
    /// It is not closed: the answer was cut off, or the text is broken.
    Open,
    /// It is an alternative to another one: `\boxed{48}` or `\boxed{50}`.
    Several,
}

const MARKERS: [&str; 2] = ["\\boxed", "\\fbox"];

/// The last `\boxed{…}`. Braces nest; `\{` and `\}` do not count. Without braces, the digits behind it are its content.
pub(super) fn last(raw: &str) -> LastBox<'_> {
    let bytes = raw.as_bytes();
    let mut best: Option<(usize, usize)> = None;
    let mut differs = false;
    let mut is_alternative = false;
    // For each open brace, the start of the box content if it opens a box.
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut place = 0;
    while let Some(step) = memchr3(b'\\', b'{', b'}', &bytes[place..]) {
        place += step;
        match bytes[place] {
            b'\\' => {
                let Some(marker) = MARKERS.iter().find(|it| raw[place..].starts_with(**it)) else {
                    // An escaped character is no brace.
                    place += 1 + bytes
                        .get(place + 1)
                        .map_or(0, |_| char_len(&raw[place + 1..]));
                    continue;
                };
                let rest = &bytes[place + marker.len()..];
                let blank = rest
                    .iter()
                    .take_while(|byte| byte.is_ascii_whitespace())
                    .count();
                place += marker.len() + blank;
                if bytes.get(place) == Some(&b'{') {
                    place += 1;
                    open.push(Some(place));
                    continue;
                }
                let digits = bytes[place..]
                    .iter()
                    .take_while(|byte| byte.is_ascii_digit())
                    .count();
                if digits > 0 {
                    best = Some((place, place + digits));
                }
                continue;
            }
            b'{' => open.push(None),
            _ => {
                if let Some(Some(start)) = open.pop()
                    && best.is_none_or(|(latest, _)| start > latest)
                {
                    differs |= best
                        .is_some_and(|(from, to)| raw[from..to].trim() != raw[start..place].trim());
                    is_alternative = best.is_some_and(|(_, to)| is_or(&bytes[to..start]));
                    best = Some((start, place));
                }
            }
        }
        place += 1;
    }
    let last_open = open.iter().rev().find_map(|start| *start);
    match best {
        Some((start, _)) if last_open.is_some_and(|open| open > start) => LastBox::Open,
        Some(_) if differs && is_alternative => LastBox::Several,
        Some((start, end)) => LastBox::Closed(Closed {
            content: raw[start..end].trim(),
            start,
            differs,
        }),
        None if last_open.is_some() => LastBox::Open,
        None => LastBox::None,
    }
}

/// Whether there is nothing but `or` between two boxes.
fn is_or(between: &[u8]) -> bool {
    let mut words = between
        .split(|byte| !byte.is_ascii_alphabetic())
        .filter(|word| !word.is_empty());
    between.len() <= 24
        && words.clone().any(|word| word == b"or")
        && words.all(|word| matches!(word, b"or" | b"boxed" | b"fbox"))
}

fn char_len(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// The last `<answer>…</answer>`. Servers leave the end tag out where it stops the model.
pub(super) fn last_tag(raw: &str) -> Option<Closed<'_>> {
    const TAGS: [(&str, &str); 3] = [
        ("<answer>", "</answer>"),
        ("<final_answer>", "</final_answer>"),
        ("<final-answer>", "</final-answer>"),
    ];
    let bytes = raw.as_bytes();
    let is_at = |place: usize, tag: &str| {
        let head = bytes.get(place..place + tag.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(tag.as_bytes()))
    };
    // Start and end of the last content, and the tag that ends it.
    let mut best: Option<(usize, usize, &str)> = None;
    let mut differs = false;
    let mut place = 0;
    while let Some(step) = memchr(b'<', &bytes[place..]) {
        place += step;
        if let Some((open, close)) = TAGS.iter().find(|(open, _)| is_at(place, open)) {
            let before = best.replace((place + open.len(), raw.len(), close));
            if let Some((from, to, _)) = before {
                differs |= to == raw.len()
                    || raw[from..to].trim() != content(raw, place + open.len(), close);
            }
        } else if let Some((_, end, close)) = &mut best
            && *end == raw.len()
            && is_at(place, close)
        {
            *end = place;
        }
        place += 1;
    }
    let (start, end, _) = best?;
    Some(Closed {
        content: raw[start..end].trim(),
        start,
        differs,
    })
}

/// What stands between this place and the next such tag.
fn content<'a>(raw: &'a str, start: usize, close: &str) -> &'a str {
    let rest = &raw[start..];
    rest[..rest.find(close).unwrap_or(rest.len())].trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_box_counts() {
        let check = |raw, expect: Option<&str>| {
            let got = match last(raw) {
                LastBox::Closed(found) => Some(found.content),
                _ => None,
            };
            assert_eq!(got, expect, "{raw:?}");
        };
        check(r"so \boxed{42}.", Some("42"));
        check(r"\boxed{1} and \boxed{ \frac{1}{2} }", Some(r"\frac{1}{2}"));
        check(r"\boxed {x^{2}}", Some("x^{2}"));
        check(r"\boxed{\boxed{7}}", Some("7"));
        check(r"\fbox{7}", Some("7"));
        check(r"\boxed{a\}b}", Some(r"a\}b"));
        check(r"{ \boxed{3} } }", Some("3"));
        check(r"\boxed 57.", Some("57"));
        check(r"Use \boxed. It is \boxed{5}", Some("5"));
        check("\\", None);
        check("\\é\\boxed{é}", Some("é"));
    }

    #[test]
    fn a_box_that_does_not_close_leaves_no_answer() {
        assert_eq!(last(r"\boxed{1} \boxed{2"), LastBox::Open);
        assert_eq!(last(r"\boxed{"), LastBox::Open);
        assert_eq!(last(r"Use \boxed "), LastBox::None);
    }

    #[test]
    fn tags() {
        let check = |raw, expect: Option<(&str, bool)>| {
            let found = last_tag(raw).map(|found| (found.content, found.differs));
            assert_eq!(found, expect, "{raw:?}");
        };
        check(
            "<answer>1</answer> <Answer> 2 </ANSWER>.",
            Some(("2", true)),
        );
        check("<answer>2</answer> <answer>2</answer>", Some(("2", false)));
        check("<answer>2", Some(("2", false)));
        check("a < b", None);
    }
}
