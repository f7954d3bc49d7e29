//! `final_answer`: the text after the last `FINAL ANSWER:`.

const MARKER: &[u8] = b"FINAL ANSWER:";

/// The text after the last marker, unwrapped; without a marker the whole answer, trimmed.
pub(super) fn last(raw: &str) -> &str {
    let is_marker = |window: &[u8]| window.eq_ignore_ascii_case(MARKER);
    let Some(place) = raw.as_bytes().windows(MARKER.len()).rposition(is_marker) else {
        return raw.trim();
    };
    // The marker is ASCII, so its end is a character boundary. Leading `*`s close emphasis that was opened before the
    // marker: `**FINAL ANSWER:** 17`.
    let rest = raw[place + MARKER.len()..]
        .trim_start()
        .trim_start_matches('*')
        .trim_start();
    unwrap(rest.lines().next().unwrap_or_default())
}

fn unwrap(line: &str) -> &str {
    let mut answer = line.trim();
    // Each layer takes one pass; a few layers are enough.
    for _ in 0..8 {
        let inner = answer.trim_matches(['*', '`']).trim();
        let inner = if is_one_bracket_pair(inner) {
            inner[1..inner.len() - 1].trim()
        } else {
            inner
        };
        if inner.len() == answer.len() {
            break;
        }
        answer = inner;
    }
    answer
}

/// Whether the text starts with a `[` whose closing bracket is the last character.
fn is_one_bracket_pair(text: &str) -> bool {
    let mut depth = 0_i64;
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            _ => {}
        }
        if depth <= 0 {
            return place > 0 && place + 1 == text.len() && depth == 0;
        }
    }
    false
}
