//! Splits a question into words and values.

use std::sync::LazyLock;

use regex::Regex;

/// Length of a stem: words that start with the same letters are equal.
const STEM_CHARS: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    /// A number.
    Number,
    /// A text in quotes.
    Quoted,
    /// In back quotes, or with digits, dots, colons and the like in it: `KX-204`, `06:45`.
    Code,
    /// Capitalised words that do not start a sentence.
    Name,
    Comma,
    /// The end of a sentence.
    Stop,
}

/// A word, a value or a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// As written; a number without commas, a quoted text without quotes.
    pub(super) text: String,
}

impl Token {
    /// Whether it is one of these words.
    pub(super) fn is_any(&self, words: &str) -> bool {
        self.kind == Kind::Word
            && words
                .split(' ')
                .any(|word| self.text.eq_ignore_ascii_case(word))
    }

    pub(super) fn stems(&self) -> Vec<String> {
        match self.kind {
            Kind::Word | Kind::Name => self.text.split(' ').map(stem).collect(),
            _ => Vec::new(),
        }
    }
}

/// The word without its ending, so that `converts`, `Converting` and `conversion` are equal.
fn stem(word: &str) -> String {
    let mut stem = word.to_lowercase();
    for (ending, shortest) in [("s", 3), ("ing", 5), ("ed", 4), ("e", 3)] {
        if stem.len() > shortest && stem.ends_with(ending) && !stem.ends_with("ss") {
            stem.truncate(stem.len() - ending.len());
        }
    }
    stem.chars().take(STEM_CHARS).collect()
}

/// The stems of a name such as `bufferSize`, `from_unit` or `math.add`, and of a text.
pub(super) fn stems(text: &str) -> Vec<String> {
    static WORD: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\p{Lu}*[\p{L}\p{N}--\p{Lu}]+|\p{Lu}+").expect("a constant pattern")
    });
    WORD.find_iter(text)
        .map(|word| stem(word.as_str()))
        .collect()
}

/// Splits a text into tokens.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r#"(?x) (?<quoted>\B'.{1,300}?'\B | ".{1,300}?") | (?<code>`.{1,300}?`)
            | (?<number>-?\d{1,3}(?:,\d{3})+(?:\.\d+)?\b | -\d+(?:\.\d+)?\b)
            | (?<run>\w+(?:[-'’.:/@]\w+)*) | (?<comma>[,:()–]) | (?<stop>[.?!;\n])"#,
        )
        .expect("a constant pattern")
    });
    let mut found: Vec<Token> = Vec::new();
    for matched in TOKEN.captures_iter(text) {
        let is = |group: &str| matched.name(group).is_some();
        let whole = &matched[0];
        let inside = || {
            let mut chars = whole.chars();
            chars.next();
            chars.next_back();
            chars.as_str().to_owned()
        };
        let starts_sentence = found.last().is_none_or(|last| last.kind == Kind::Stop);
        let (kind, text) = if is("quoted") {
            (Kind::Quoted, inside())
        } else if is("code") {
            (Kind::Code, inside())
        } else if is("number") {
            (Kind::Number, whole.replace(',', ""))
        } else if is("run") {
            run(whole, starts_sentence)
        } else {
            (
                if is("comma") { Kind::Comma } else { Kind::Stop },
                whole.to_owned(),
            )
        };
        match found.last_mut() {
            // Adjacent capitalised words are one name.
            Some(last) if kind == Kind::Name && last.kind == Kind::Name => {
                last.text = format!("{} {text}", last.text);
            }
            _ => found.push(Token { kind, text }),
        }
    }
    found
}

/// Classifies letters and digits with single marks between them.
fn run(run: &str, starts_sentence: bool) -> (Kind, String) {
    // `12km` is a number and its unit.
    let number = run.trim_end_matches(char::is_alphabetic);
    if number.parse::<f64>().is_ok() && run.len() - number.len() <= 3 {
        return (Kind::Number, number.to_owned());
    }
    let kind = if run.contains(|c: char| c.is_ascii_digit() || "_.:/@".contains(c)) {
        Kind::Code
    } else if run.starts_with(char::is_uppercase) && !starts_sentence && run != "I" {
        Kind::Name
    } else {
        Kind::Word
    };
    (kind, run.to_owned())
}

/// The positions of series: two or more values of one kind, separated by commas, `and` or `or`.
pub(super) fn series(tokens: &[Token]) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = vec![Vec::new()];
    let mut is_joined = false;
    for (at, token) in tokens.iter().enumerate() {
        let last = found
            .last()
            .and_then(|row| row.last())
            .map(|&last: &usize| tokens[last].kind);
        match token.kind {
            Kind::Number | Kind::Quoted | Kind::Name | Kind::Code => {
                if !(is_joined && last == Some(token.kind)) {
                    found.push(Vec::new());
                }
                if let Some(row) = found.last_mut() {
                    row.push(at);
                }
                is_joined = false;
            }
            Kind::Comma if token.text != ":" => is_joined = true,
            Kind::Word if token.is_any("and or") => is_joined = true,
            _ => found.push(Vec::new()),
        }
    }
    found.retain(|row| row.len() > 1);
    found
}
