//! Reads replies exactly as `HelloAgents` 0.2.7 does: any failure counts as 3.0 of 5, or a tie.
//!
//! Only for comparison with its figures; [`rubric`](super::rubric) reports failures separately.

use serde_json::{Map, Number, Value};

use super::Reading;
use crate::text::json_cursor::{Cursor, Raw};
use crate::text::{is_py_space, py_float};

const DIMENSIONS: [&str; 4] = ["correctness", "clarity", "difficulty_match", "completeness"];

/// Replaces points that cannot be read.
const DEFAULT: f64 = 3.0;

const WINNERS: [&str; 2] = ["Problem A", "Problem B"];
const TIE: &str = "Tie";

/// Python rejects deeper JSON, and integers with more digits.
const DEPTH: usize = 990;
const DIGITS: usize = 4300;

/// The points of its four dimensions, and their mean as `total`. Not clamped; numbers that are not finite become null.
pub fn helloagents_judge(reply: &str) -> Reading {
    let points = read_points(reply).unwrap_or([DEFAULT; 4]);
    let total = points.iter().fold(0.0, |sum, points| sum + points) / 4.0;
    let named = DIMENSIONS.iter().zip(points).chain([(&"total", total)]);
    let value = |points| Number::from_f64(points).map_or(Value::Null, Value::Number);
    let values: Map<_, _> = named
        .map(|(name, points)| ((*name).to_owned(), value(points)))
        .collect();
    Reading::of_values(values)
}

/// `Problem A`, `Problem B` or `Tie`; the reply's reason is in the comments.
pub fn helloagents_winner(reply: &str) -> Reading {
    let json = json_part(reply);
    let names = ["winner", "reason"];
    let fixed;
    let mut found = members(json, names);
    if found.is_none() {
        fixed = with_backslashes(json);
        found = members(&fixed, names);
    }
    let [winner, reason] = found.unwrap_or_default();
    let text = |raw: Raw<'_>| raw.text().map(|(text, _)| text.into_owned());
    let winner = winner.and_then(text);
    let winner = WINNERS
        .into_iter()
        .find(|name| winner.as_deref() == Some(*name));
    let mut reading = Reading::of_verdict(winner.unwrap_or(TIE));
    if let Some(reason) = reason.and_then(text) {
        reading.comments.insert("reason".to_owned(), reason.into());
    }
    reading
}

fn read_points(reply: &str) -> Option<[f64; 4]> {
    let members = members(json_part(reply), DIMENSIONS)?;
    let mut points = [DEFAULT; 4];
    for (points, raw) in points.iter_mut().zip(members) {
        if let Some(raw) = raw {
            *points = float(raw)?;
        }
    }
    Some(points)
}

/// Python's `float()` of a value.
fn float(raw: Raw<'_>) -> Option<f64> {
    if let Some((text, _)) = raw.text() {
        return py_float(&text);
    }
    let text = raw.content();
    match &*text {
        "true" => Some(1.0),
        "false" => Some(0.0),
        // A too large integer is an error, whereas a float becomes infinite.
        number => {
            let float = py_float(number)?;
            let is_whole = number
                .bytes()
                .all(|byte| byte == b'-' || byte.is_ascii_digit());
            (float.is_finite() || !is_whole).then_some(float)
        }
    }
}

/// The content of the first fence, otherwise the whole text.
fn json_part(reply: &str) -> &str {
    let fenced = |fence: &str| {
        let inner = reply.split_once(fence)?.1;
        Some(inner.split("```").next().unwrap_or(inner))
    };
    let part = fenced("```json").or_else(|| fenced("```")).unwrap_or(reply);
    part.trim_matches(is_py_space)
}

/// The members with these names, if the text is an object. The last of a repeated name counts.
fn members<'a, const N: usize>(json: &'a str, names: [&str; N]) -> Option<[Option<Raw<'a>>; N]> {
    if is_beyond(json) {
        return None;
    }
    let mut found = [None; N];
    let mut cursor = Cursor::new(json, Vec::new());
    cursor.skip_space();
    if !cursor.eat(b'{') {
        return None;
    }
    cursor.skip_space();
    if !cursor.eat(b'}') {
        loop {
            let key = cursor.key().ok()?;
            let value = cursor.value().ok()?;
            if let Some(place) = names.iter().position(|name| key.is(name)) {
                found[place] = Some(value);
            }
            cursor.skip_space();
            if cursor.eat(b'}') {
                break;
            }
            if !cursor.eat(b',') {
                return None;
            }
            cursor.skip_space();
        }
    }
    cursor.skip_space();
    cursor.at_end().then_some(found)
}

/// Whether it is too deep for Python, or contains a too large number.
fn is_beyond(json: &str) -> bool {
    if json.len() <= DEPTH {
        return false;
    }
    let (mut depth, mut digits, mut in_text, mut escaped, mut in_fraction) =
        (0_usize, 0_usize, false, false, false);
    let mut deepest = 0;
    for byte in json.bytes().chain([b' ']) {
        if in_text {
            in_text = escaped || byte != b'"';
            escaped = byte == b'\\' && !escaped;
            continue;
        }
        if byte.is_ascii_digit() {
            digits += 1;
            continue;
        }
        let is_part = matches!(byte, b'.' | b'e' | b'E');
        if digits > DIGITS && !is_part && !in_fraction {
            return true;
        }
        in_fraction = is_part || in_fraction && matches!(byte, b'+' | b'-');
        digits = 0;
        match byte {
            b'"' => in_text = true,
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest > DEPTH
}

/// The program's handling of TeX: single backslashes that do not start a JSON escape are doubled.
fn with_backslashes(json: &str) -> String {
    let mut fixed = String::with_capacity(json.len() + 16);
    let mut before = None;
    let mut chars = json.chars().peekable();
    while let Some(c) = chars.next() {
        fixed.push(c);
        let next = chars.peek();
        let is_escape = next.is_some_and(|next| "\"\\/bfnrtu".contains(*next));
        if c == '\\' && before != Some('\\') && !is_escape {
            fixed.push('\\');
        }
        before = Some(c);
    }
    fixed
}
