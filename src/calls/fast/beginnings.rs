//! Beginnings of texts that a parser cannot recover from: the answers of a model start alike.

/// The maximum number of stored beginnings, and their maximum length in bytes.
const MOST: usize = 16;
const LONGEST: usize = 64;

/// The beginnings for one language.
#[derive(Default)]
pub(in crate::calls) struct Beginnings {
    entries: Vec<String>,
    /// The index of the one to replace next.
    oldest: usize,
}

impl Beginnings {
    /// Whether a text starts with one of them.
    pub(super) fn begin(&self, text: &str) -> bool {
        self.entries.iter().any(|lost| text.starts_with(lost))
    }

    #[cfg(test)]
    pub(in crate::calls) fn count(&self) -> usize {
        self.entries.len()
    }

    /// Stores the part of a text that was read when the parse was lost.
    pub(in crate::calls) fn remember(&mut self, text: &str, reach: Reach) {
        let Some(end) = reach.0.filter(|&end| end <= LONGEST) else {
            return;
        };
        let lost = &text[..end];
        if self.entries.len() < MOST {
            self.entries.push(lost.to_owned());
        } else {
            lost.clone_into(&mut self.entries[self.oldest]);
            self.oldest = (self.oldest + 1) % MOST;
        }
    }
}

/// How far a text was read; `None` once its end was seen.
#[derive(Clone, Copy)]
pub(in crate::calls) struct Reach(Option<usize>);

impl Reach {
    /// Nothing was read.
    pub(in crate::calls) fn new() -> Self {
        Self(Some(0))
    }

    /// The parser read from `place` to `end`, or asked for text past the end.
    pub(in crate::calls) fn extend(&mut self, text: &str, place: usize, end: usize) {
        self.0 = self
            .0
            .filter(|_| place < text.len())
            .map(|known| known.max(end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::syntax_tree::TreeReader;
    use crate::calls::syntax_tree::tests::LANGUAGES;

    #[test]
    fn lost_beginning_is_stored_and_recognized() {
        for language in LANGUAGES {
            let mut reader = TreeReader::new(&language()).unwrap();
            let text = "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>";
            assert!(reader.tree(text).is_none());
            assert_eq!(reader.lost.count(), 1);
            assert!(reader.lost.begin(text));
            assert!(reader.tree(&text.replace("{}", "{\"a\": 1}")).is_none());
            assert_eq!(reader.lost.count(), 1);
            for number in 0..40 {
                assert!(reader.tree(&format!("<t{number}>\n{{")).is_none());
            }
            assert!(reader.lost.count() <= MOST);
            assert!(reader.tree("f(a=1);").is_some());
        }
    }
}
