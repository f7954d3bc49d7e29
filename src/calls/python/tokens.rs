//! What Python 3.11 refuses in tokens that the parser here takes: names by newer tables, integers of any length.

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::token::Tokens;
use ruff_text_size::Ranged as _;

use crate::calls::integer::MAX_DIGITS;
use crate::calls::printable::is_printable;

/// Whether Python could read these tokens, wherever they stand.
pub(super) fn are_known(tokens: &Tokens, text: &str) -> bool {
    // Nearly every text can have neither.
    if text.is_ascii() && text.len() <= MAX_DIGITS {
        return true;
    }
    tokens.iter().all(|token| match token.kind() {
        TokenKind::Name => is_name(&text[token.range()]),
        TokenKind::Int => is_readable(&text[token.range()]),
        _ => true,
    })
}

/// Whether a name by the newest tables is one by those of Unicode 14. Every letter, mark and digit of a name can be
/// printed, and what had no meaning then cannot. Two middle dots had one, and have become part of names since.
fn is_name(name: &str) -> bool {
    let is_old = |c: char| is_printable(c) && !matches!(c, '\u{30fb}' | '\u{ff65}');
    name.is_ascii() || name.chars().all(is_old)
}

/// Only decimals have a largest length, and zero has none.
fn is_readable(integer: &str) -> bool {
    integer.len() <= MAX_DIGITS
        || integer.starts_with('0')
        || integer.bytes().filter(u8::is_ascii_digit).count() <= MAX_DIGITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_integers() {
        for name in ["é", "aé_1", "漢字", "ﬁ", "a\u{301}"] {
            assert!(is_name(name), "{name:?}");
        }
        for name in [
            "a\u{200d}",
            "\u{30fb}a",
            "a\u{ff65}",
            "\u{10d4a}",
            "a\u{1e4d0}",
        ] {
            assert!(!is_name(name), "{name:?}");
        }
        assert!(is_readable(&"9".repeat(4300)) && !is_readable(&"9".repeat(4301)));
        assert!(is_readable(&"1_".repeat(4299)) && !is_readable(&"1_".repeat(4301)));
        assert!(is_readable(&"0".repeat(5000)) && is_readable(&format!("0x{}", "f".repeat(5000))));
    }
}
