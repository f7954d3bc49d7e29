//! What Python 3.11 refuses in tokens that the parser here takes: names by newer tables, integers of any length,
//! conversions of f-strings that are spelt otherwise.

use ruff_python_ast::token::{Token, TokenKind, Tokens};
use ruff_python_ast::{Expr, Mod};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::Ranged as _;

use crate::integer::MAX_DIGITS;
use crate::printable::{is_named, is_printable};

/// Whether Python could read these tokens, wherever they stand.
pub(crate) fn are_known(tokens: &Tokens, text: &str) -> bool {
    // Nearly every text can have none of them.
    let has_marks = text.contains('!') || text.contains("\\N{");
    if text.is_ascii() && text.len() <= MAX_DIGITS && !has_marks {
        return true;
    }
    let is_known = |(place, token): (usize, &Token)| match token.kind() {
        TokenKind::Name => is_name(&text[token.range()]),
        TokenKind::Int => is_readable(&text[token.range()]),
        TokenKind::Exclamation => is_conversion(&tokens[place..], text),
        TokenKind::String => has_known_names(&text[token.range()]),
        TokenKind::FStringMiddle => are_characters(&text[token.range()]),
        _ => true,
    };
    tokens.iter().enumerate().all(is_known)
}

/// Whether one of three letters, and nothing else, stands behind the mark of a conversion.
fn is_conversion(tokens: &[Token], text: &str) -> bool {
    let [mark, letter, end, ..] = tokens else {
        return false;
    };
    let is_letter = matches!(&text[letter.range()], "s" | "r" | "a");
    is_letter && mark.end() == letter.start() && letter.end() == end.start()
}

/// Whether Unicode 14 has the characters that a literal calls by their names. Raw texts and bytes call none so.
fn has_known_names(literal: &str) -> bool {
    let mut prefix = literal.chars().take_while(char::is_ascii_alphabetic);
    prefix.any(|c| matches!(c, 'r' | 'R' | 'b' | 'B')) || are_characters(literal)
}

fn are_characters(text: &str) -> bool {
    let mut rest = text;
    while let Some((_, escape)) = rest.split_once('\\') {
        // Two braces are an escaped one in a raw f-string.
        let name = escape
            .strip_prefix("N{")
            .filter(|name| !name.starts_with('{'));
        let mut after = escape.chars();
        after.next();
        rest = after.as_str();
        if let Some((name, after)) = name.and_then(|name| name.split_once('}')) {
            if !is_character(name) {
                return false;
            }
            rest = after;
        }
    }
    true
}

/// Whether a name by the newest tables is one by those of Unicode 14. The names that are made up of a rule have capital
/// letters only.
fn is_character(name: &str) -> bool {
    let capital = name.to_ascii_uppercase();
    let is_ruled = |start: &&str| capital.starts_with(start);
    if capital.starts_with("TANGUT IDEOGRAPH-")
        || (capital != name
            && ["HANGUL SYLLABLE ", "CJK UNIFIED IDEOGRAPH-"]
                .iter()
                .any(is_ruled))
    {
        return false;
    }
    let parsed = parse_unchecked(
        &format!("'\\N{{{name}}}'"),
        ParseOptions::from(Mode::Expression),
    );
    match parsed.syntax() {
        Mod::Expression(expression) => match &*expression.body {
            Expr::StringLiteral(literal) => literal.value.chars().all(is_named),
            _ => true,
        },
        Mod::Module(_) => true,
    }
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
        for name in [
            "BULLET",
            "bullet",
            "CJK UNIFIED IDEOGRAPH-4E00",
            "HANGUL SYLLABLE GA",
            "ZERO WIDTH SPACE",
        ] {
            assert!(is_character(name), "{name:?}");
        }
        for name in [
            "SHAKING FACE",
            "Goose",
            "FACE WITH BAGS UNDER EYES",
            "CJK UNIFIED IDEOGRAPH-2B739",
            "CJK UNIFIED IDEOGRAPH-4e00",
            "hangul syllable ga",
        ] {
            assert!(!is_character(name), "{name:?}");
        }
        assert!(is_readable(&"9".repeat(4300)) && !is_readable(&"9".repeat(4301)));
        assert!(is_readable(&"1_".repeat(4299)) && !is_readable(&"1_".repeat(4301)));
        assert!(is_readable(&"0".repeat(5000)) && is_readable(&format!("0x{}", "f".repeat(5000))));
    }
}
