//! Letters and words of a quoted text, or of a list after a colon: how many, first, last, backwards, sorted.

use std::sync::LazyLock;

use regex::Regex;

static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#""([^"]+)"|“([^”]+)”|«([^»]+)»|\B'([^']+)'\B"#).expect("a constant pattern")
});

/// Answers a question about a text in it.
pub(super) fn solve(question: &str) -> Option<String> {
    let quotes = quoted(question);
    let bare = QUOTED.replace_all(question, " ").to_lowercase();
    let has = |part: &str| bare.contains(part);
    if has("alphabetical order") {
        let (_, list) = question.rsplit_once(':')?;
        let mut items: Vec<&str> = list.split(',').map(str::trim).collect();
        items.sort_by_key(|item| item.to_lowercase());
        return Some(items.join(", "));
    }
    let subject = quotes
        .iter()
        .rev()
        .max_by_key(|quote| quote.chars().count())?;
    if has("how many") {
        let is_vowel = |c: char| "aeiou".contains(c.to_ascii_lowercase());
        let is_letter = |wanted: &str, c: char| c.to_lowercase().eq(wanted.to_lowercase().chars());
        let letter = quotes.iter().find(|quote| quote.chars().count() == 1);
        let count = match letter {
            Some(letter) => subject.chars().filter(|&c| is_letter(letter, c)).count(),
            None if has("vowels") => subject.chars().filter(|&c| is_vowel(c)).count(),
            None if has("words") => subject.split_whitespace().count(),
            None => return None,
        };
        return Some(count.to_string());
    }
    if has("first letter of each word") {
        let words = subject.split_whitespace();
        return Some(words.filter_map(|word| word.chars().next()).collect());
    }
    if has("last word") {
        return subject.split_whitespace().last().map(str::to_owned);
    }
    has("backwards").then(|| subject.chars().rev().collect())
}

/// The texts in quotation marks.
pub(super) fn quoted(text: &str) -> Vec<&str> {
    let found = QUOTED.captures_iter(text);
    found
        .filter_map(|found| Some(found.iter().flatten().nth(1)?.as_str()))
        .collect()
}
