//! Finds words that are not part of longer ones.

/// Whether `text` contains `part` with no letter, digit or `_` directly before or after it that would extend its first
/// or last word. A `.` or `,` between two digits also extends it: `5` is not a word of `3.5`.
///
/// Takes time linear in the sum of both lengths (the algorithm of Knuth, Morris and Pratt). A search that restarts
/// after each match would not, as matches may overlap.
pub(crate) fn contains_whole(text: &str, part: &str) -> bool {
    if part.is_empty() {
        return false;
    }
    let (text_bytes, part_bytes) = (text.as_bytes(), part.as_bytes());
    let table = prefixes(part_bytes);
    let mut matched = 0;
    for (place, byte) in text_bytes.iter().enumerate() {
        while matched > 0 && part_bytes[matched] != *byte {
            matched = table[matched - 1];
        }
        if part_bytes[matched] == *byte {
            matched += 1;
        }
        if matched == part_bytes.len() {
            let end = place + 1;
            // Matching byte ranges of two valid UTF-8 texts start and end at character boundaries.
            if is_whole(&text[..end - matched], part, &text[end..]) {
                return true;
            }
            matched = table[matched - 1];
        }
    }
    false
}

/// For each position, the length of the longest proper prefix of the word that also ends there.
fn prefixes(word: &[u8]) -> Vec<usize> {
    let mut table = vec![0; word.len()];
    let mut matched = 0;
    for place in 1..word.len() {
        while matched > 0 && word[place] != word[matched] {
            matched = table[matched - 1];
        }
        if word[place] == word[matched] {
            matched += 1;
        }
        table[place] = matched;
    }
    table
}

fn is_whole(before: &str, part: &str, after: &str) -> bool {
    let starts = !joins(before.chars().rev(), part.chars().next());
    let ends = !joins(after.chars(), part.chars().next_back());
    starts && ends
}

/// Whether the characters outside, nearest first, belong to the same word as the edge of the part.
fn joins(mut outside: impl Iterator<Item = char>, edge: Option<char>) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    match (outside.next(), edge) {
        (Some('.' | ','), edge) if is_digit(edge) => is_digit(outside.next()),
        (Some(next), Some(edge)) => is_word(next) && is_word(edge),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, part: &str, expect: bool) {
        assert_eq!(contains_whole(text, part), expect, "{text:?} {part:?}");
    }

    #[test]
    fn words_are_whole() {
        check("the cat sat", "cat", true);
        check("concatenate", "cat", false);
        check("cat", "cat", true);
        check("cats", "cat", false);
        check("tomcat, cat", "cat", true);
        check("ba a a", "a a", true);
        check("aaa", "a", false);
        check("cat_1", "cat", false);
        check("Zürich", "rich", false);
        check("a東京b", "東京", false);
        check("in 東京.", "東京", true);
        check("x (-5)", "-5", true);
        check("x-5", "-5", true);
        check("3.5", "5", false);
        check("1,927", "1", false);
        check("It is 5.", "5", true);
        check("4, 5, 6", "5", true);
        check("cat", "", false);
        check("", "cat", false);
    }
}
