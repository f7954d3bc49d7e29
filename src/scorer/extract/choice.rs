//! `choice`: the letter of a multiple-choice answer.

use std::sync::LazyLock;

use regex::Regex;

/// `answer is (B)`, `Answer: **B**`: the letter called the answer. A lower-case one counts only at the end of the line,
/// as it may be the article in `the answer is a cat`.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i:answer|choice|option)(?i:\s+is)?\s*[:=]?\s*[*_`(\[{$\\]*(?:\\?(?:boxed|text)\{)*[*_`(\[]*(?:([A-Z])\b|([a-z])[*_`)\]}$.]*[ \t\r]*(?m:$))",
    )
    .expect("a constant pattern")
});

/// A line that is nothing but a letter: `B`, `(B)`, `B.`, `**B**`.
static ALONE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^[ \t>*_`(\[{$]*(?:\\boxed\{)?([A-Z])[ \t*_`)\]}$.:]*\r?$")
        .expect("a constant pattern")
});

/// `(B)`, `[B]`, `\boxed{B}`.
static BRACKETED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[(\[{]\s*([A-Z])\s*[)\]}]").expect("a constant pattern"));

/// `B` as a word, but not the words `A` and `I` of a sentence.
static WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b([A-Z])\b['’]?").expect("a constant pattern"));

/// The letter that the answer names: the last one of the most specific kind.
pub(super) fn letter<'a>(raw: &'a str, letters: Option<&str>) -> Option<&'a str> {
    // Only if the answer is nothing else: elsewhere a lower-case letter usually is a word of a sentence.
    let whole = raw.trim_matches(|c: char| c.is_whitespace() || "()[]*_`.".contains(c));
    if let [byte] = whole.as_bytes()
        && byte.is_ascii_alphabetic()
        && letters.is_none_or(|letters| letters.contains(char::from(byte.to_ascii_uppercase())))
    {
        return Some(whole);
    }
    let last = |pattern: &Regex, is_word: bool| {
        let mut latest = None;
        for found in pattern.captures_iter(raw) {
            let Some(letter) = found.iter().skip(1).flatten().next() else {
                continue;
            };
            let upper = letter.as_str().to_ascii_uppercase();
            let legal = letters.is_none_or(|letters| letters.contains(&upper));
            let rest = &raw[letter.end()..];
            if legal && !(is_word && is_english(letter.as_str(), rest)) {
                latest = Some(letter.as_str());
            }
        }
        latest
    };
    [
        (&*NAMED, true),
        (&ALONE, false),
        (&BRACKETED, false),
        (&WORD, true),
    ]
    .into_iter()
    .find_map(|(pattern, is_word)| last(pattern, is_word))
}

/// Whether the letter is an article, a pronoun or part of a longer word: `A cat`, `I think`, `I'm`.
fn is_english(letter: &str, rest: &str) -> bool {
    if rest.starts_with(['\'', '’']) {
        return true;
    }
    let next = rest.strip_prefix(' ').and_then(|rest| rest.chars().next());
    matches!(letter, "A" | "I") && next.is_some_and(char::is_lowercase)
}
