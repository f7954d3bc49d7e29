//! `boxed`: the content of LaTeX's `\boxed{…}`.

const MARKER: &str = "\\boxed";

/// The content of the last closed `\boxed{…}`, trimmed. Braces nest; `\{` and `\}` do not count.
pub(super) fn last(raw: &str) -> Option<&str> {
    let bytes = raw.as_bytes();
    let mut best: Option<(usize, usize)> = None;
    // For each open brace, the start of the box content if it opens a box.
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut place = 0;
    while place < bytes.len() {
        match bytes[place] {
            b'\\' if raw[place..].starts_with(MARKER) => {
                let rest = &bytes[place + MARKER.len()..];
                let blank = rest
                    .iter()
                    .take_while(|byte| byte.is_ascii_whitespace())
                    .count();
                place += MARKER.len() + blank;
                if bytes.get(place) == Some(&b'{') {
                    place += 1;
                    open.push(Some(place));
                }
                continue;
            }
            // An escaped character is no brace.
            b'\\' => place += 1,
            b'{' => open.push(None),
            b'}' => {
                if let Some(Some(start)) = open.pop()
                    && best.is_none_or(|(latest, _)| start > latest)
                {
                    best = Some((start, place));
                }
            }
            _ => {}
        }
        place += 1;
    }
    best.map(|(start, end)| raw[start..end].trim())
}
