//! Formats program output for messages: short, on one line and without parts of secrets.

use crate::printable::on_one_line;
use crate::text::redact::half_token;

/// Maximum length of a token; a longer word may contain one.
const WORD: usize = 200;

/// The beginning of a program's output, on one line and without control characters.
pub(crate) fn beginning(bytes: &[u8], limit: usize) -> String {
    let rendered = String::from_utf8_lossy(&bytes[..bytes.len().min(limit)]);
    let is_truncated = bytes.len() > limit;
    let rendered = if is_truncated {
        truncate(&rendered)
    } else {
        rendered.into_owned()
    };
    on_one_line(&rendered)
}

/// The end of a program's output in the same way. It starts with a whole word if possible, because part of a word may
/// be part of a secret.
pub(crate) fn ending(text: &str, limit: usize) -> String {
    let text = text.trim();
    if text.len() <= limit {
        return on_one_line(text);
    }
    let rest = &text[text.ceil_char_boundary(text.len() - limit)..];
    let word = rest.find(char::is_whitespace);
    format!(
        "…{}",
        on_one_line(rest[word.unwrap_or_default()..].trim_start())
    )
}

/// A truncated text without its last word, which may be part of a secret, and with a mark, by which the redactor finds
/// parts of known secrets. A word longer than a token is kept up to where a token could start.
pub(crate) fn truncate(text: &str) -> String {
    format!("{}…", safe(text))
}

/// A text of at most `limit` bytes; if it is truncated, a mark is appended.
pub(crate) fn at_most(mut text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    text.truncate(text.floor_char_boundary(limit));
    truncate(&text)
}

fn safe(text: &str) -> &str {
    let is_of_word = |c: char| c.is_alphanumeric() || "._~+/=-\u{FFFD}".contains(c);
    let whole = text.trim_end_matches(is_of_word);
    if text.len() - whole.len() <= WORD {
        return whole;
    }
    let end = half_token(text).unwrap_or(text.len());
    text[..end].trim_end_matches('\u{FFFD}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_end_between_characters() {
        assert_eq!(beginning("a ée".as_bytes(), 3), "a …");
        assert_eq!(beginning("say sk-12345678".as_bytes(), 9), "say …");
        assert_eq!(beginning("aé".as_bytes(), 3), "aé");
        let word = "a1b2".repeat(170);
        assert_eq!(
            beginning(word.as_bytes(), 500),
            format!("{}…", &word[..500])
        );
        let keyed = format!("{}.ghp_0123456789abcdefABCDEF{word}", &word[..480]);
        assert_eq!(
            beginning(keyed.as_bytes(), 500),
            format!("{}.…", &word[..480])
        );
        let long = format!("of {}é", &word[..499]);
        assert_eq!(
            beginning(long.as_bytes(), 503),
            format!("of {}…", &word[..499])
        );
        assert_eq!(beginning("\u{202E}x\0".as_bytes(), 9), "\\u{202e}x\\u{0}");
    }

    #[test]
    fn text_is_truncated_near_the_limit() {
        assert_eq!(at_most("a\nb".to_owned(), 3), "a\nb");
        assert_eq!(at_most("a béé".to_owned(), 4), "a …");
        assert_eq!(at_most("é".to_owned(), 1), "…");
    }

    #[test]
    fn endings_begin_with_a_whole_word() {
        assert_eq!(ending(" a\nb \n", 9), "a\\nb");
        assert_eq!(ending("key sk-12345678 was refused", 16), "…was refused");
        assert_eq!(ending("0123456789é", 3), "…9é");
        assert_eq!(ending("", 3), "");
    }
}
