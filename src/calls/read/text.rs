//! Finds calls in free text.

use super::{Call, Effort, FoundCalls, TooComplex, json};
use crate::calls::{JsonValue as _, Value};
use crate::calls::{PlainCall, literal_eval, plain_calls};
use crate::text::is_py_space;

/// Tags that models write around calls.
const TAGS: [(&str, &str); 5] = [
    ("<tool_call>", "</tool_call>"),
    ("<tool_calls>", "</tool_calls>"),
    ("<TOOLCALL>", "</TOOLCALL>"),
    ("<function_call>", "</function_call>"),
    ("<function_calls>", "</function_calls>"),
];

/// Python's limit on nested brackets.
const DEEPEST: usize = 200;

/// The calls of an answer in the first of these forms that has any: the whole text as JSON or as call text; tags;
/// fenced code; JSON in prose; `f(a=1)` in prose. An empty list counts as no calls in that form.
pub(crate) fn find(text: &str) -> Result<Option<FoundCalls>, TooComplex> {
    let mut effort = Effort::for_text(text);
    let found = |form, calls| Ok(Some(FoundCalls { calls, form }));
    if let Some(calls) = as_json(text) {
        return found("json", calls);
    }
    if let Some(calls) = as_calls(text) {
        return found("text", calls);
    }
    // Tags may be nested in tags of another kind.
    for (open, close) in TAGS {
        let tagged = blocks(tagged(text, open, close), &mut effort)?;
        if !tagged.is_empty() {
            return found("tag", tagged);
        }
    }
    let fenced = text.split("```").skip(1).step_by(2);
    let fenced = blocks(fenced, &mut effort)?;
    if !fenced.is_empty() {
        return found("fence", fenced);
    }
    let calls = json_in(text, &mut effort)?;
    if !calls.is_empty() {
        return found("json", calls);
    }
    let calls = calls_in(text, &mut effort)?;
    if !calls.is_empty() {
        return found("text", calls);
    }
    Ok(None)
}

/// The texts between tags.
fn tagged<'a>(text: &'a str, open: &'a str, close: &'a str) -> impl Iterator<Item = &'a str> {
    let pieces = text.split(open).skip(1);
    // A model may stop before it closes the tag.
    pieces.map(move |piece| piece.split_once(close).map_or(piece, |(inside, _)| inside))
}

fn blocks<'a>(
    blocks: impl Iterator<Item = &'a str>,
    effort: &mut Effort,
) -> Result<Vec<Call>, TooComplex> {
    let mut all = Vec::new();
    // Where the calls of the block before begin, and whether they are JSON.
    let mut before = (0, false);
    for block in blocks {
        effort.spend(block.len())?;
        let (calls, is_json) = calls_of_block(block, effort)?;
        // The same calls once more in another notation: shown, not made.
        let repeats = is_json != before.1 && !calls.is_empty() && all[before.0..] == calls[..];
        if !repeats {
            before = (all.len(), is_json);
            all.extend(calls);
        }
    }
    Ok(all)
}

/// The calls of a block, and whether they are JSON.
fn calls_of_block(block: &str, effort: &mut Effort) -> Result<(Vec<Call>, bool), TooComplex> {
    // The first line may name the language.
    let is_word = |line: &str| {
        line.trim()
            .chars()
            .all(|c| c.is_alphanumeric() || "_+-".contains(c))
    };
    let block = match block.split_once('\n') {
        Some((first, rest)) if is_word(first) => rest,
        _ => block,
    };
    if let Some(calls) = as_json(block) {
        return Ok((calls, true));
    }
    if let Some(calls) = as_calls(block) {
        return Ok((calls, false));
    }
    let calls = json_in(block, effort)?;
    if calls.is_empty() {
        return Ok((calls_in(block, effort)?, false));
    }
    Ok((calls, true))
}

/// The whole text as JSON, or as the Python data that models write instead.
fn as_json(text: &str) -> Option<Vec<Call>> {
    let text = text.trim_matches(is_py_space);
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let value = Value::from_json(text)
        .ok()
        .or_else(|| literal_eval(text).ok());
    json::calls(&value?)
}

/// The whole text as calls, alone or in a list.
fn as_calls(text: &str) -> Option<Vec<Call>> {
    let text = text.trim_matches(|c| is_py_space(c) || c == '`');
    let is_it = text.ends_with([')', ']', ',']) && !text.is_empty();
    let calls = is_it.then(|| plain_calls(text).ok())??;
    Some(calls.into_iter().map(Call::from).collect())
}

/// Every call written as JSON.
fn json_in(text: &str, effort: &mut Effort) -> Result<Vec<Call>, TooComplex> {
    let mut found = Vec::new();
    let mut place = 0;
    while let Some(next) = text[place..].find(['{', '[']) {
        place += next;
        let (value, end) = Value::from_json_start(&text[place..]);
        effort.spend(end)?;
        if let Ok(value) = value
            && let Some(calls) = json::calls(&value)
        {
            found.extend(calls);
            place += end;
        } else {
            place += 1;
        }
    }
    Ok(found)
}

/// Every `name(…)` that is a call, outermost first.
fn calls_in(text: &str, effort: &mut Effort) -> Result<Vec<Call>, TooComplex> {
    let mut found = Vec::new();
    let mut place = 0;
    while let Some(next) = text[place..].find('(') {
        let open = place + next;
        let start = name_before(&text[place..open]).map(|name| open - name.len());
        place = open + 1;
        let Some(start) = start.filter(|&start| !is_definition(&text[..start])) else {
            continue;
        };
        let (looked_at, end) = closing(text, open);
        effort.spend(looked_at)?;
        let Some(end) = end else {
            continue;
        };
        effort.spend(2 * (end - start))?;
        if let Ok(calls) = plain_calls(&text[start..end])
            && let [call] = &calls[..]
            && !is_mention(call)
        {
            found.extend(calls.into_iter().map(Call::from));
            place = end;
        }
    }
    Ok(found)
}

/// The name at the end of a text: `math.add`.
fn name_before(text: &str) -> Option<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let start = text
        .char_indices()
        .rev()
        .take_while(|(_, c)| is_part(*c))
        .last()?
        .0;
    let name = &text[start..];
    let first = name.chars().next()?;
    (first.is_alphabetic() || first == '_').then_some(name)
}

/// `def f(a=1):`
fn is_definition(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t']);
    ["def", "class", "function", "func", "fn"]
        .iter()
        .any(|word| before.ends_with(word))
}

/// `f(x)` and `f(0)` mention a function in prose.
fn is_mention(call: &PlainCall) -> bool {
    let is_number = |value: &Value| matches!(value, Value::Int(_) | Value::Float(_));
    call.named.is_empty()
        && !call.positional.is_empty()
        && (call.has_bare_name || call.positional.iter().all(is_number))
}

/// How many bytes were examined, and the position after the bracket that closes the one at `open`.
fn closing(text: &str, open: usize) -> (usize, Option<usize>) {
    let bytes = text.as_bytes();
    let mut levels: Vec<u8> = Vec::new();
    let mut place = open;
    while let Some(&byte) = bytes.get(place) {
        place += 1;
        match byte {
            b'(' => levels.push(b')'),
            b'[' => levels.push(b']'),
            b'{' => levels.push(b'}'),
            b')' | b']' | b'}' if levels.pop() != Some(byte) => return (place - open, None),
            b')' | b']' | b'}' if levels.is_empty() => return (place - open, Some(place)),
            b'#' => {
                let line = bytes[place..].iter().take_while(|&&byte| byte != b'\n');
                place += line.count();
            }
            b'\'' | b'"' => match string_end(bytes, place, byte) {
                Ok(end) => place = end,
                Err(end) => return (end - open, None),
            },
            _ => {}
        }
        if levels.len() > DEEPEST {
            break;
        }
    }
    (place - open, None)
}

/// The end of the string whose opening quote is before `place`, or the position where it is clear that it does not end.
fn string_end(bytes: &[u8], place: usize, quote: u8) -> Result<usize, usize> {
    let triple = bytes[place..].starts_with(&[quote, quote]);
    let mut place = if triple { place + 2 } else { place };
    while let Some(&byte) = bytes.get(place) {
        place += 1;
        match byte {
            b'\\' => place += 1,
            b'\n' if !triple => return Err(place),
            byte if byte != quote => {}
            _ if !triple => return Ok(place),
            _ if bytes[place..].starts_with(&[quote, quote]) => return Ok(place + 2),
            _ => {}
        }
    }
    Err(bytes.len())
}
