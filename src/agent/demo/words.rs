//! Word puzzles about a piece of text given in the question.
//!
//! Responsibility: count, pick, sort, reverse, strip or re-case the words or
//! letters of a quoted text (or, for lists, the text after the last colon).
//! Limits: letters are Unicode scalar values and vowels are the Latin a, e, i,
//! o, u; nothing is known about meaning, rhyme or grammar.

use std::sync::LazyLock;

use regex::Regex;

use super::number::Number;

/// A position such as `third word` or `last letter`.
static ORDINAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|\d{1,4}(?:st|nd|rd|th))\s+(word|letter|character)\b",
    )
    .ok()
});

/// A letter named without quotes: `the letter r`.
static LETTER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\bletter\s+(\p{L})\b").ok());

/// Answers a question about quoted or listed words.
pub(super) fn solve(question: &str) -> Option<String> {
    let quotes = quoted(question);
    let mut bare = question.to_lowercase();
    for quote in quotes.iter().take(20) {
        bare = bare.replacen(&quote.to_lowercase(), " ", 1);
    }
    let has = |any: &[&str]| any.iter().any(|part| bare.contains(part));
    let listed = || {
        let (_, list) = question.rsplit_once(':')?;
        list.contains(',')
            .then(|| list.trim().trim_end_matches(['.', '?', '!']).to_owned())
    };
    let subject = quotes
        .iter()
        .rev()
        .max_by_key(|quote| quote.chars().count())
        .cloned();
    let subject = subject
        .or_else(listed)
        .filter(|text| !text.trim().is_empty())?;

    if has(&["how many", "count the", "number of"]) {
        return count(&bare, &quotes, &subject);
    }
    if has(&["each word", "every word"]) {
        let initials = subject.split_whitespace().filter_map(|word| {
            let mut letters = word.chars().filter(|c| c.is_alphanumeric());
            if has(&["last letter"]) {
                letters.next_back()
            } else {
                letters.next()
            }
        });
        return has(&["first letter", "initial", "last letter"]).then(|| initials.collect());
    }
    let mut words = pieces(&subject);
    if has(&["longest word"]) {
        return words
            .iter()
            .rev()
            .max_by_key(|word| word.chars().count())
            .map(|word| clean(word));
    }
    if has(&["shortest word"]) {
        return words
            .iter()
            .min_by_key(|word| word.chars().count())
            .map(|word| clean(word));
    }
    if let Some(found) = ORDINAL.as_ref()?.captures(&bare) {
        return pick(
            found.get(1)?.as_str(),
            found.get(2)?.as_str() == "word",
            &subject,
        );
    }

    let mut changed = None;
    let separator = if subject.contains(',') || has(&["comma"]) {
        ", "
    } else {
        " "
    };
    if has(&["alphabetical"]) {
        let reversed = has(&["reverse alphabetical"]);
        if has(&["letter"]) {
            let mut letters: Vec<char> = subject.chars().filter(|c| !c.is_whitespace()).collect();
            letters.sort_unstable();
            if reversed {
                letters.reverse();
            }
            changed = Some(letters.into_iter().collect());
        } else {
            words.sort_by_key(|word| word.to_lowercase());
            if reversed {
                words.reverse();
            }
            changed = Some(words.join(separator));
        }
    } else if has(&["revers", "backward"]) {
        let whole_words = has(&["order of the words", "word order", "words in reverse"]);
        changed = Some(if whole_words {
            words.reverse();
            words.join(separator)
        } else {
            subject.chars().rev().collect()
        });
    }
    if has(&["vowel"]) && has(&["remov", "without", "delet", "drop"]) {
        changed = Some(
            changed
                .unwrap_or(subject.clone())
                .chars()
                .filter(|c| !is_vowel(*c))
                .collect(),
        );
    }
    if has(&["uppercase", "upper case", "upper-case", "capital letters"]) {
        changed = Some(changed.unwrap_or(subject).to_uppercase());
    } else if has(&["lowercase", "lower case", "lower-case", "small letters"]) {
        changed = Some(changed.unwrap_or(subject).to_lowercase());
    }
    changed
}

/// Counts letters or words of `subject`, as the question asks.
fn count(bare: &str, quotes: &[String], subject: &str) -> Option<String> {
    let single = |text: &str| {
        let mut letters = text.chars();
        letters.next().filter(|_| letters.next().is_none())
    };
    let named = || {
        LETTER
            .as_ref()?
            .captures(bare)?
            .get(1)
            .and_then(|found| single(found.as_str()))
    };
    let needle = quotes.iter().find_map(|quote| single(quote)).or_else(named);
    let count_of = |wanted: &dyn Fn(char) -> bool| subject.chars().filter(|c| wanted(*c)).count();
    let many = if let Some(needle) = needle {
        let lower: Vec<char> = needle.to_lowercase().collect();
        count_of(&|c| c.to_lowercase().eq(lower.iter().copied()))
    } else if bare.contains("vowel") {
        count_of(&is_vowel)
    } else if bare.contains("consonant") {
        count_of(&|c| c.is_ascii_alphabetic() && !is_vowel(c))
    } else if bare.contains("digit") {
        count_of(&char::is_numeric)
    } else if bare.contains("capital") || bare.contains("uppercase") {
        count_of(&char::is_uppercase)
    } else if bare.contains("letter") {
        count_of(&char::is_alphabetic)
    } else if bare.contains("character") {
        subject.chars().count()
    } else if bare.contains("word") {
        subject.split_whitespace().count()
    } else {
        return None;
    };
    Number::count(many).render(None)
}

/// The word or letter at a position such as `third`, `12th` or `last`.
fn pick(ordinal: &str, word: bool, subject: &str) -> Option<String> {
    const NAMES: [&str; 10] = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
        "tenth",
    ];
    let digits = ordinal.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let index = match NAMES.iter().position(|name| *name == ordinal) {
        Some(index) => Some(index),
        None if ordinal == "last" => None,
        None => Some(digits.parse::<usize>().ok()?.checked_sub(1)?),
    };
    if word {
        let words = pieces(subject);
        return index
            .map_or(words.last(), |index| words.get(index))
            .map(|word| clean(word));
    }
    let mut letters = subject.chars().filter(|c| c.is_alphanumeric());
    let found = match index {
        Some(index) => letters.nth(index),
        None => letters.next_back(),
    };
    found.map(String::from)
}

/// The items of a comma list, or else the words, of a text.
fn pieces(text: &str) -> Vec<String> {
    let list = text.contains(',');
    let parts = text.split(|c: char| if list { c == ',' } else { c.is_whitespace() });
    let items = parts.map(|part| {
        if list {
            part.trim().trim_start_matches("and ")
        } else {
            part
        }
    });
    items
        .filter(|item| !item.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A word without the punctuation around it.
fn clean(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
}

/// Whether a letter is a Latin vowel.
fn is_vowel(letter: char) -> bool {
    matches!(letter.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u')
}

/// The texts in quotation marks, in order. A straight single quote counts only
/// where a word begins and ends, so apostrophes do not.
pub(super) fn quoted(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let mut hopeless = Vec::new();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = letters.get(at).copied() {
        at += 1;
        let close = match open {
            '"' | '`' | '\'' => open,
            '“' => '”',
            '«' => '»',
            '‘' => '’',
            '「' => '」',
            _ => continue,
        };
        let previous = at.checked_sub(2).and_then(|index| letters.get(index));
        let inside_word = previous.is_some_and(|c| c.is_alphanumeric());
        if hopeless.contains(&open) || (open == '\'' && inside_word) {
            continue;
        }
        let closing = (at..letters.len()).find(|&index| {
            letters.get(index) == Some(&close)
                && (!matches!(close, '\'' | '’')
                    || !letters.get(index + 1).is_some_and(|c| c.is_alphanumeric()))
        });
        if let Some(end) = closing {
            found.push(letters.get(at..end).unwrap_or_default().iter().collect());
            at = end + 1;
        } else {
            hopeless.push(open);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, expected: Option<&str>) {
        assert_eq!(solve(question).as_deref(), expected, "{question}");
    }

    #[test]
    fn finds_quoted_text() {
        assert_eq!(
            quoted("say \"a b\", “c” and 'it's d'!"),
            ["a b", "c", "it's d"]
        );
        assert_eq!(
            quoted("Mara's dog's bone \" and « open"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn counts() {
        check("How many vowels are in \"Sea Otter\"?", Some("4"));
        check("How many words does \"one fine day\" have?", Some("3"));
        check(
            "How many times does the letter 'T' occur in \"Tattoo\"?",
            Some("3"),
        );
        check(
            "How many times does the letter é appear in “été”?",
            Some("2"),
        );
        check("How many characters are in \"a b🎈\"?", Some("4"));
        check("How many moons are in \"The Sky\"?", None);
    }

    #[test]
    fn picks() {
        check("What is the third word of \"one two, three\"?", None);
        check(
            "What is the third word of \"one two three.\"?",
            Some("three"),
        );
        check("What is the last word of \"тихое море\"?", Some("море"));
        check("What is the 2nd letter of \"abc\"?", Some("b"));
        check("What is the 0th letter of \"abc\"?", None);
        check(
            "Join the first letter of each word: \"Very odd word\"",
            Some("Vow"),
        );
        check(
            "What is the longest word in \"a dory sails\"?",
            Some("sails"),
        );
    }

    #[test]
    fn changes() {
        check("Write \"lamp\" backwards in capital letters.", Some("PMAL"));
        check(
            "Reverse the order of the words in \"go home now\".",
            Some("now home go"),
        );
        check(
            "Sort alphabetically: pear, Apple and fig, date.",
            Some("Apple and fig, date, pear"),
        );
        check(
            "Put \"pear fig date\" in alphabetical order.",
            Some("date fig pear"),
        );
        check(
            "Sort the letters of \"cab\" in alphabetical order.",
            Some("abc"),
        );
        check("Write \"tuba\" without its vowels.", Some("tb"));
        check("Who said \"hello\"?", None);
        check("Sort nothing: ", None);
    }
}
