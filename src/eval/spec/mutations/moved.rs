//! Moves the `type` of every map of a spec after other keys.

use std::sync::LazyLock;

use regex::Regex;

use super::MARK;

/// Where `type` goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Goal {
    /// After the next key.
    Middle,
    /// After all others.
    Last,
}

/// ` - type: x`, with a mark that stays at the start of the map.
static BLOCK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(&format!("^(?P<head> *(?:- )?){MARK}?type: .*$")).unwrap());
/// `{ type: x, `, with such a mark.
static FLOW: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(
        r"\{{ (?P<mark>{MARK}?)(?P<entry>type: [^,{{}}\[\]]*), *"
    ))
    .unwrap()
});

/// The same spec with every `type` that has keys after it moved; `None` if there is none.
pub(super) fn moved(text: &str, goal: Goal) -> Option<String> {
    let changed = flow(&block(text, goal), goal);
    (changed != text).then_some(changed)
}

fn indent(line: &str) -> usize {
    let bare = line.trim_start_matches(MARK);
    bare.len() - bare.trim_start().len()
}

/// In block style, the inner maps first.
fn block(text: &str, goal: Goal) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for at in (0..lines.len()).rev() {
        let Some(found) = BLOCK.captures(&lines[at]) else {
            continue;
        };
        let head = found["head"].to_owned();
        let column = head.len();
        let rest = &lines[at + 1..];
        let is_behind = |line: &&String| !line.trim().is_empty() && indent(line) < column;
        let end = rest
            .iter()
            .position(|line| is_behind(&line))
            .unwrap_or(rest.len());
        // Blank lines at the end are not part of the map.
        let end = at
            + 1
            + rest[..end]
                .iter()
                .rposition(|line| !line.trim().is_empty())
                .map_or(0, |last| last + 1);
        let is_key = |at: &usize| indent(&lines[*at]) == column && !lines[*at].trim().is_empty();
        let keys: Vec<usize> = (at + 1..end).filter(is_key).collect();
        let Some(&first) = keys.first() else {
            continue;
        };
        assert_eq!(first, at + 1, "{text}");
        let goal = match (goal, keys.get(1)) {
            (Goal::Middle, Some(&second)) => second,
            _ => end,
        };
        let entry = lines[at][column..].to_owned();
        let (mark, entry) = match entry.strip_prefix(MARK) {
            Some(bare) => (MARK.to_string(), bare.to_owned()),
            None => (String::new(), entry),
        };
        lines.insert(goal, format!("{}{entry}", " ".repeat(column)));
        let first = lines.remove(first);
        lines[at] = format!("{head}{mark}{}", first.trim_start());
    }
    lines.join("\n")
}

/// In flow style.
fn flow(text: &str, goal: Goal) -> String {
    let mut text = text.to_owned();
    let mut from = 0;
    while let Some(found) = FLOW.captures_at(&text, from) {
        let whole = found.get(0).unwrap().range();
        from = whole.start + 1;
        let (mark, entry) = (found["mark"].to_owned(), found["entry"].to_owned());
        let Some((comma, end)) = ends(&text[whole.end..]) else {
            continue;
        };
        let goal = match (goal, comma) {
            (Goal::Middle, Some(comma)) => comma,
            _ => end,
        };
        let (keys, rest) = text[whole.end..].split_at(goal);
        let head = &text[..whole.start];
        text = format!("{head}{{ {mark}{}, {entry} {rest}", keys.trim_end());
    }
    text
}

/// The end of a map's first entry and of the map, after its first bracket.
fn ends(text: &str) -> Option<(Option<usize>, usize)> {
    let (mut depth, mut quote, mut comma) = (0, None, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '{' | '[') => depth += 1,
            (None, '}' | ']') if depth == 0 => return Some((comma, at)),
            (None, '}' | ']') => depth -= 1,
            (None, ',') if depth == 0 => comma = comma.or(Some(at)),
            _ => {}
        }
    }
    None
}

#[test]
fn a_type_is_moved() {
    let check = |text: &str, middle: &str, last: &str| {
        assert_eq!(moved(text, Goal::Middle).as_deref(), Some(middle));
        assert_eq!(moved(text, Goal::Last).as_deref(), Some(last));
    };
    check(
        "a:\n  - type: b\n    c:\n      type: d\n      e: 1\n    f: 2\n\ng: 3\n",
        "a:\n  - c:\n      e: 1\n      type: d\n    type: b\n    f: 2\n\ng: 3\n",
        "a:\n  - c:\n      e: 1\n      type: d\n    f: 2\n    type: b\n\ng: 3\n",
    );
    check(
        "{ type: a, b: [ { type: c, d: \"}\" } ], e: 1 }",
        "{ b: [ { d: \"}\", type: c } ], type: a , e: 1 }",
        "{ b: [ { d: \"}\", type: c } ], e: 1, type: a }",
    );
    check(
        "¦{ ¦type: a, b: 1 }\n¦type: a\nb: 1",
        "¦{ ¦b: 1, type: a }\n¦b: 1\ntype: a",
        "¦{ ¦b: 1, type: a }\n¦b: 1\ntype: a",
    );
    assert_eq!(moved("a: { type: b }\nc: { d: type }\n", Goal::Last), None);
}
