//! The words in which two texts differ.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Maximum number of words and signs of a text that is compared.
const MOST: usize = 1_500;
/// Minimum share of common words: texts with fewer have nothing to do with each other.
const COMMON: usize = 5;

/// The parts of a text, and whether the other one lacks them.
pub(super) type TextParts = Vec<(bool, String)>;

/// Both texts in parts; `None` if they are equal, too long, or differ in nearly everything.
pub(super) fn differing(a: &str, b: &str) -> Option<[TextParts; 2]> {
    let [words_a, words_b] = [words(a), words(b)];
    let longer = words_a.len().max(words_b.len());
    if a == b || longer > MOST {
        return None;
    }
    let (mut parts_a, mut parts_b) = (TextParts::new(), TextParts::new());
    let (mut common, mut all) = (0, [0, 0]);
    for op in capture_diff_slices(Algorithm::Myers, &words_a, &words_b) {
        let [of_a, of_b] = [&words_a[op.old_range()], &words_b[op.new_range()]];
        let counts = [of_a, of_b].map(|words| words.iter().filter(|it| is_word(it)).count());
        all = [all[0] + counts[0], all[1] + counts[1]];
        let is_same = matches!(op, DiffOp::Equal { .. });
        common += if is_same { counts[0] } else { 0 };
        for (parts, words) in [(&mut parts_a, of_a), (&mut parts_b, of_b)] {
            if !words.is_empty() {
                parts.push((!is_same, words.concat()));
            }
        }
    }
    let is_related = common > 0 && common * COMMON >= all[0].max(all[1]);
    is_related.then(|| [parts_a, parts_b].map(joined))
}

/// Marks the blanks between marked words, so that a phrase is one mark.
fn joined(parts: TextParts) -> TextParts {
    let mut all = TextParts::new();
    let mut parts = parts.into_iter().peekable();
    while let Some((is_marked, part)) = parts.next() {
        let is_blank = part.trim().is_empty();
        let follows = all.last().is_some_and(|(is_marked, _)| *is_marked);
        let precedes = parts.peek().is_some_and(|(is_marked, _)| *is_marked);
        let is_marked = is_marked || is_blank && follows && precedes;
        match all.last_mut().filter(|(last, _)| *last == is_marked) {
            Some((_, last)) => last.push_str(&part),
            None => all.push((is_marked, part)),
        }
    }
    all
}

fn is_word(piece: &str) -> bool {
    piece.chars().any(char::is_alphanumeric)
}

/// Words, numbers such as `3.5`, blanks, and single other characters.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if first.is_alphanumeric() {
            end_of_word(rest)
        } else if first.is_whitespace() {
            rest.find(|c: char| !c.is_whitespace())
                .unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after;
    }
    words
}

/// A sign such as the point of `3.5` belongs to the word if it goes on behind it.
fn end_of_word(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((place, c)) = chars.next() {
        let next = chars.peek();
        let goes_on = next.is_some_and(|(_, next)| next.is_alphanumeric());
        let is_part = c.is_alphanumeric() || goes_on && ".,'’_".contains(c);
        if !is_part {
            return place;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_the_other_text_lacks_are_marked() {
        let shown = |parts: TextParts| {
            let parts = parts
                .into_iter()
                .map(|(is_marked, part)| if is_marked { format!("[{part}]") } else { part });
            parts.collect::<String>()
        };
        let check = |a: &str, b: &str, expect: Option<[&str; 2]>| {
            let found = differing(a, b).map(|both| both.map(shown));
            let expect = expect.map(|both| both.map(str::to_owned));
            assert_eq!(found, expect, "{a:?} {b:?}");
        };
        check(
            "It costs 3.5 USD.",
            "It costs 3.75 USD, I think.",
            Some(["It costs [3.5] USD.", "It costs [3.75] USD[, I think]."]),
        );
        check(
            "the old red car is\nhere",
            "the new blue car is\nhere",
            Some(["the [old red] car is\nhere", "the [new blue] car is\nhere"]),
        );
        check("a b", "a b c", Some(["a b", "a b[ c]"]));
        check("<é>", "<è>", None);
        check("same", "same", None);
        check("6", "5.75", None);
        check("", "a", None);
        check("one two three four five six", "one", None);
        check(&"a ".repeat(900), &"a ".repeat(901), None);
    }
}
