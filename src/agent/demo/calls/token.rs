//! A question as words and values.
//!
//! Responsibility: tell what may be the value of an argument (numbers, quoted texts, names, code) from words, whose
//! stems say what is asked. One pass over the text. Limits: names are capitalised, and never begin a sentence; stems
//! are those of English.

use crate::text::number_words::{BELOW_TWENTY, TENS};

/// A quoted text is not longer than this, so that a stray quote costs little.
const MAX_QUOTED_CHARS: usize = 300;
/// Words in front of this many letters are the same.
const STEM_CHARS: usize = 6;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    /// A number, in digits or as a word.
    Number,
    /// A text in quotes.
    Quoted,
    /// In back quotes, or with digits, dots, colons and the like in it: `mapView`, `KX-204`, `06:45`.
    Code,
    /// Capitalised words.
    Name,
    Comma,
    /// The end of a sentence.
    Stop,
}

/// A word, a value or a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextToken {
    pub(super) kind: TokenKind,
    /// As it is written; a number without commas, a quoted text without quotes.
    pub(super) text: String,
    /// The stems of its words; none for values other than names.
    pub(super) stems: Vec<String>,
}

impl TextToken {
    fn new(kind: TokenKind, text: impl Into<String>) -> Self {
        let text = text.into();
        let stems = match kind {
            TokenKind::Word => vec![stem(&text)],
            _ => Vec::new(),
        };
        Self { kind, text, stems }
    }

    /// Whether it is this word, whatever its case.
    pub(super) fn is(&self, word: &str) -> bool {
        self.kind == TokenKind::Word && self.text.eq_ignore_ascii_case(word)
    }

    pub(super) fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }
}

/// The word without its ending, so that `converts`, `Converting` and `conversion` are one.
pub(super) fn stem(word: &str) -> String {
    let mut stem = word.to_lowercase();
    for (ending, shortest) in [("'s", 2), ("s", 3), ("ing", 5), ("ed", 4), ("e", 3)] {
        if stem.len() > shortest && stem.ends_with(ending) && !stem.ends_with("ss") {
            stem.truncate(stem.len() - ending.len());
        }
    }
    stem.chars().take(STEM_CHARS).collect()
}

/// The stems of a name such as `bufferSize`, `from_unit` or `math.add`, and of a text.
pub(super) fn stems(text: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(text.len());
    let mut previous = ' ';
    for c in text.chars() {
        if c.is_uppercase() && previous.is_lowercase() {
            spaced.push(' ');
        }
        spaced.push(if c.is_alphanumeric() { c } else { ' ' });
        previous = c;
    }
    spaced.split_whitespace().map(stem).collect()
}

/// Cuts a text into tokens.
pub(super) fn tokens(text: &str) -> Vec<TextToken> {
    let letters: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        let previous = at.checked_sub(1).map_or(' ', |before| letters[before]);
        let rest = &letters[at..];
        if let Some(length) = quoted(rest).filter(|_| !previous.is_alphanumeric()) {
            let inside: String = rest[1..length - 1].iter().collect();
            let kind = if letter == '`' {
                TokenKind::Code
            } else {
                TokenKind::Quoted
            };
            found.push(TextToken::new(kind, inside));
            at += length;
            continue;
        }
        if let Some((token, length)) = number(rest, previous) {
            found.push(token);
            at += length;
            continue;
        }
        let length = run(rest);
        if length > 0 {
            let word: String = rest[..length].iter().collect();
            found.push(classify(word));
            at += length;
            continue;
        }
        match letter {
            ',' | ':' | '(' | ')' | '–' | '，' | '、' => {
                found.push(TextToken::new(TokenKind::Comma, letter));
            }
            '.' | '?' | '!' | ';' | '\n' | '。' | '？' => {
                found.push(TextToken::new(TokenKind::Stop, letter));
            }
            _ => {}
        }
        at += 1;
    }
    join_names(found)
}

/// The length of a quoted text at the beginning, with its quotes.
fn quoted(letters: &[char]) -> Option<usize> {
    let closing = match letters.first()? {
        '\'' => '\'',
        '"' => '"',
        '`' => '`',
        '“' => '”',
        '„' => '“',
        '«' => '»',
        '‘' => '’',
        _ => return None,
    };
    let ends = |at: usize| {
        let next = letters.get(at + 1);
        letters[at] == closing && !next.is_some_and(|next| next.is_alphanumeric())
    };
    let last = letters.len().min(MAX_QUOTED_CHARS);
    (2..last).find(|&at| ends(at)).map(|at| at + 1)
}

/// The number at the beginning, and its length.
fn number(letters: &[char], previous: char) -> Option<(TextToken, usize)> {
    let is_digit = |at: usize| letters.get(at).is_some_and(char::is_ascii_digit);
    if previous.is_alphanumeric() {
        return None;
    }
    let mut text = String::new();
    let mut at = 0;
    if letters.first() == Some(&'-') && (previous.is_whitespace() || "([,=".contains(previous)) {
        text.push('-');
        at = 1;
    }
    if !is_digit(at) {
        return None;
    }
    let mut has_point = false;
    loop {
        match letters.get(at) {
            Some(c) if c.is_ascii_digit() => text.push(*c),
            Some('.') if !has_point && is_digit(at + 1) => {
                has_point = true;
                text.push('.');
            }
            // Of thousands.
            Some(',') if !has_point && (1..4).all(|n| is_digit(at + n)) && !is_digit(at + 4) => {}
            _ => break,
        }
        at += 1;
    }
    // `12km` is a number and its unit, `06:45` and `2025-10-03` are no numbers.
    let length = run(letters).max(at);
    let rest = &letters[at..length];
    let is_unit = rest.len() <= 3 && rest.iter().all(|c| c.is_alphabetic());
    is_unit.then(|| (TextToken::new(TokenKind::Number, text), at))
}

/// The length of a word or of code: letters and digits with single marks between them.
fn run(letters: &[char]) -> usize {
    let is_letter = |at: usize| {
        let letter = letters.get(at);
        letter.is_some_and(|&c| c.is_alphanumeric() || c == '_')
    };
    let mut at = 0;
    while is_letter(at)
        || (at > 0 && is_mark(letters[at]) && is_letter(at - 1) && is_letter(at + 1))
    {
        at += 1;
        if at == letters.len() {
            break;
        }
    }
    at
}

fn is_mark(letter: char) -> bool {
    matches!(letter, '-' | '\'' | '’' | '.' | ':' | '/' | '@')
}

fn classify(word: String) -> TextToken {
    let lower = word.to_lowercase();
    // `one` is a pronoun more often than a number.
    let mut numbers = BELOW_TWENTY.iter().chain(TENS.first()).enumerate().skip(2);
    if let Some((value, _)) = numbers.find(|(_, number)| **number == lower) {
        return TextToken::new(TokenKind::Number, value.to_string());
    }
    let inner_capital = || {
        let mut letters = word.chars();
        let first = letters.next().is_some_and(char::is_lowercase);
        first && letters.any(char::is_uppercase)
    };
    let is_code = word.contains(|c: char| c.is_ascii_digit() || "_.:/@".contains(c));
    if is_code || inner_capital() {
        return TextToken::new(TokenKind::Code, word);
    }
    TextToken::new(TokenKind::Word, word)
}

/// Makes one name of the capitalised words that stand together.
fn join_names(tokens: Vec<TextToken>) -> Vec<TextToken> {
    let mut joined: Vec<TextToken> = Vec::with_capacity(tokens.len());
    let mut starts_sentence = true;
    for token in tokens {
        let is_name = token.kind == TokenKind::Word
            && token.text.starts_with(char::is_uppercase)
            && !starts_sentence
            && token.text != "I";
        starts_sentence = token.kind == TokenKind::Stop;
        match joined.last_mut() {
            Some(last) if is_name && last.kind == TokenKind::Name => {
                last.text.push(' ');
                last.text.push_str(&token.text);
                last.stems.extend(token.stems);
            }
            _ if is_name => joined.push(TextToken {
                kind: TokenKind::Name,
                ..token
            }),
            _ => joined.push(token),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let tokens = tokens(text);
        let shown: Vec<String> = tokens
            .iter()
            .map(|token| format!("{:?} {}", token.kind, token.text))
            .collect();
        assert_eq!(shown.join("|"), expect, "{text}");
    }

    #[test]
    fn values_are_told_from_words() {
        check(
            "Ask Ada Lovelace for -3.5kg, 1,200 or twelve.",
            "Word Ask|Name Ada Lovelace|Word for|Number -3.5|Word kg|Comma ,|Number 1200|Word or|Number 12|Stop .",
        );
        check(
            "set 'it''s' \"a b\" `x` at 06:45 on 2025-10-03; KX-204, fooBar, a@b.org?",
            "Word set|Quoted it|Quoted s|Quoted a b|Code x|Word at|Code 06:45|Word on|Code 2025-10-03|Stop ;|\
             Code KX-204|Comma ,|Code fooBar|Comma ,|Code a@b.org|Stop ?",
        );
        check("it isn't 'open", "Word it|Word isn't|Word open");
        check("(3, -4.0)", "Comma (|Number 3|Comma ,|Number -4.0|Comma )");
        check("", "");
    }

    #[test]
    fn words_have_stems() {
        let check = |one: &str, other: &str| assert_eq!(stem(one), stem(other));
        check("converts", "Converting");
        check("searches", "search");
        check("scaled", "scale");
        check("dismissible", "dismissed");
        assert_eq!(stems("bufferSize"), ["buffer", "siz"]);
        assert_eq!(stems("math.add_all"), ["math", "add", "all"]);
    }
}
