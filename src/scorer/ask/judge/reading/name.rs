//! Matches names of choices as judges spell them.

use crate::text::is_invisible;

/// The text without white space and invisible characters at its ends.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || is_invisible(c))
}

/// The offered names.
pub(super) struct Names<'a> {
    /// Each with its lower-case form, or `None` if another name has the same one.
    names: Vec<(&'a str, Option<String>)>,
}

impl<'a> Names<'a> {
    pub(super) fn of(offered: &[&'a str]) -> Self {
        let lower: Vec<_> = offered.iter().map(|name| name.to_lowercase()).collect();
        let names = offered.iter().zip(&lower).map(|(name, folded)| {
            let is_alone = lower.iter().filter(|other| *other == folded).count() == 1;
            (*name, is_alone.then(|| folded.clone()))
        });
        Self {
            names: names.collect(),
        }
    }

    pub(super) fn name(&self, choice: usize) -> &'a str {
        self.names[choice].0
    }

    /// The choice with this name, exactly or, if unambiguous, ignoring case.
    pub(super) fn find(&self, text: &str) -> Option<usize> {
        // A letter may get longer in another case, but not four times.
        let longest = self.names.iter().map(|(name, _)| name.len()).max();
        if text.len() > 4 * longest.unwrap_or_default() {
            return None;
        }
        let exact = self.names.iter().position(|(name, _)| *name == text);
        exact.or_else(|| {
            let lower = text.to_lowercase();
            let mut names = self.names.iter();
            names.position(|(_, folded)| folded.as_ref() == Some(&lower))
        })
    }

    /// The longest choice that a text starts with, and the rest.
    pub(super) fn at_start<'t>(&self, text: &'t str) -> Option<(usize, &'t str)> {
        let with = |(choice, (name, folded)): (usize, &(&str, Option<String>))| {
            let head = text.get(..name.len())?;
            let is_it = head == *name
                || folded
                    .as_ref()
                    .is_some_and(|folded| head.to_lowercase() == *folded);
            let rest = &text[name.len()..];
            let is_whole = is_it && !goes_on(name, rest);
            is_whole.then_some((choice, rest))
        };
        let found = self.names.iter().enumerate().filter_map(with);
        found.min_by_key(|(choice, rest)| {
            (
                rest.len(),
                self.names[*choice].0 != &text[..text.len() - rest.len()],
            )
        })
    }

    /// Whether another choice occurs somewhere as a word; names of one letter never do.
    pub(super) fn mentions_another(&self, text: &str, choice: usize) -> bool {
        let mut others = self.names.iter().enumerate();
        others.any(|(other, (name, _))| {
            let is_word = name.chars().count() > 1;
            other != choice
                && is_word
                && contains_word(text, &name.to_lowercase(), self.name(choice))
        })
    }

    /// Whether a text names another choice, as a word or as a letter.
    pub(super) fn states_another(&self, text: &str, choice: usize) -> bool {
        let mut others = self.names.iter().enumerate();
        let is_letter = |name: &str| {
            let mut words = text.split(|c: char| !c.is_alphanumeric());
            name.chars().count() == 1 && words.any(|word| word == name)
        };
        self.mentions_another(&text.to_lowercase(), choice)
            || others.any(|(other, (name, _))| other != choice && is_letter(name))
    }

    /// Whether a choice of several letters is a part of a lower-case text: `correct` of `incorrect`.
    pub(super) fn are_part_of(&self, text: &str) -> bool {
        let mut names = self.names.iter();
        names.any(|(name, _)| name.chars().count() > 1 && text.contains(&name.to_lowercase()))
    }
}

/// Whether a word continues after a name: `A` in `A+`, `correct` in `correct-ish`.
fn goes_on(name: &str, rest: &str) -> bool {
    let mut chars = rest.chars().filter(|c| !is_invisible(*c));
    let is_word = |c: char| c.is_alphanumeric();
    let ends_in_word = name.ends_with(is_word);
    match (chars.next(), chars.next()) {
        (Some(c), _) if is_word(c) => ends_in_word,
        (Some('+' | '#'), _) => ends_in_word,
        (Some('-' | '\'' | '’' | '.' | '_'), Some(c)) => ends_in_word && is_word(c),
        // A grade such as `A-`.
        (Some('-'), None) => ends_in_word && name.chars().count() == 1,
        (Some('%'), _) => name.ends_with(|c: char| c.is_numeric()),
        _ => false,
    }
}

/// Whether a lower-case word occurs in a lower-case text, except as a part of `within`.
fn contains_word(text: &str, word: &str, within: &str) -> bool {
    let within = within.to_lowercase();
    let is_word = |c: char| c.is_alphanumeric();
    text.match_indices(word).any(|(place, _)| {
        let before = &text[..place];
        let behind = &text[place + word.len()..];
        let is_whole = !before.ends_with(is_word) && !behind.starts_with(is_word);
        let is_part = within.match_indices(word).any(|(inner, _)| {
            before.ends_with(&within[..inner]) && behind.starts_with(&within[inner + word.len()..])
        });
        is_whole && !is_part
    })
}
