//! `strip_think`: removes the reasoning that some models print before an answer.

use std::borrow::Cow;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// The text without its think blocks. An unclosed block extends to the end. One that is closed but not opened starts at
/// the beginning, because some chat templates open it in the prompt.
pub(super) fn strip(raw: &str) -> Cow<'_, str> {
    if !raw.contains(OPEN) && !raw.contains(CLOSE) {
        return Cow::Borrowed(raw);
    }
    let mut answer = String::with_capacity(raw.len());
    let mut rest = raw;
    while !rest.is_empty() {
        let open = rest.find(OPEN);
        let outside = &rest[..open.unwrap_or(rest.len())];
        // The last one, so that every byte is scanned a bounded number of times.
        if let Some(close) = outside.rfind(CLOSE) {
            answer.clear();
            answer.push_str(&outside[close + CLOSE.len()..]);
        } else {
            answer.push_str(outside);
        }
        let Some(open) = open else { break };
        let inside = &rest[open..];
        let Some(close) = inside.find(CLOSE) else {
            break;
        };
        rest = &inside[close + CLOSE.len()..];
    }
    Cow::Owned(answer.trim().to_owned())
}
