//! `strip_think`: an answer without the reasoning that some models print before it.

use std::borrow::Cow;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// The text without its think blocks. A block that is never closed reaches to the end; one that is closed
/// without having been opened starts at the beginning, because some chat templates open it in the prompt.
pub(super) fn strip(raw: &str) -> Cow<'_, str> {
    if !raw.contains(OPEN) && !raw.contains(CLOSE) {
        return Cow::Borrowed(raw);
    }
    let mut kept = String::with_capacity(raw.len());
    let mut rest = raw;
    loop {
        match (rest.find(OPEN), rest.find(CLOSE)) {
            (_, None) if !rest.contains(OPEN) => {
                kept.push_str(rest);
                break;
            }
            (Some(open), None) => {
                kept.push_str(&rest[..open]);
                break;
            }
            (Some(open), Some(close)) if open < close => {
                kept.push_str(&rest[..open]);
                rest = &rest[close + CLOSE.len()..];
            }
            (_, Some(close)) => {
                kept.clear();
                rest = &rest[close + CLOSE.len()..];
            }
            (None, None) => break,
        }
    }
    Cow::Owned(kept.trim().to_owned())
}
