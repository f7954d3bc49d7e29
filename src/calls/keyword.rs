//! Python's keywords.

/// Whether a word is no name anywhere.
#[rustfmt::skip]
pub(super) fn is_keyword(word: &[u8]) -> bool {
    // The shortest and the longest of them.
    (2..=8).contains(&word.len()) && matches!(
        word,
        b"False" | b"None" | b"True" | b"and" | b"as" | b"assert" | b"async" | b"await" | b"break" | b"class"
            | b"continue" | b"def" | b"del" | b"elif" | b"else" | b"except" | b"finally" | b"for" | b"from" | b"global"
            | b"if" | b"import" | b"in" | b"is" | b"lambda" | b"nonlocal" | b"not" | b"or" | b"pass" | b"raise"
            | b"return" | b"try" | b"while" | b"with" | b"yield"
    )
}
