//! Words for comparing texts: what stays the same when a text is reformatted.
//!
//! A word is a run of letters, in lower case; in scripts without spaces, each character. Punctuation, signs and braces
//! only separate words; apostrophes do not even do that. A LaTeX command is a word by its name, unless it only affects
//! appearance (`\left`, `\text`, `\quad`); `\dfrac` and `\tfrac` count as `\frac`.
//!
//! All numbers, in digits or English words, are the same word, and so is a sequence of numbers: `1,000`, `3.5`, `3/4`,
//! `(1, 2)` and `twenty-five`. The `th` of `20th` belongs to its number.

use crate::text::hash::mark;
use crate::text::{BELOW_TWENTY, TENS};

/// A word as hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CopyWord {
    pub(super) hash: u64,
    /// A hash that is the same for all names of one letter, such as variables.
    pub(super) unnamed: u64,
}

/// The words of a text.
pub(super) fn of(text: &str) -> Vec<CopyWord> {
    let mut words = WordSplitter::default();
    let mut chars = text.chars().peekable();
    let mut word = String::new();
    while let Some(c) = chars.next() {
        if is_silent(c) {
            continue;
        }
        if c == '\\' {
            while let Some(letter) = chars.next_if(char::is_ascii_alphabetic) {
                word.push(letter.to_ascii_lowercase());
            }
            words.command(&word);
        } else if c.is_numeric() {
            while chars.next_if(|c| c.is_numeric()).is_some() {}
            words.number();
            words.after_digits = true;
            continue;
        } else if is_one_word(c) {
            word.push(c);
            words.word(&word);
        } else if c.is_alphabetic() {
            push_lower(&mut word, c);
            while let Some(c) =
                chars.next_if(|c| is_silent(*c) || (c.is_alphabetic() && !is_one_word(*c)))
            {
                if !is_silent(c) {
                    push_lower(&mut word, c);
                }
            }
            words.letters(&word);
        }
        words.after_digits = false;
        word.clear();
    }
    words.found
}

fn push_lower(word: &mut String, c: char) {
    if c.is_ascii() {
        word.push(c.to_ascii_lowercase());
    } else {
        word.extend(c.to_lowercase());
    }
}

/// The hash of a sequence of words.
pub(super) fn gram(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(1, |hash: u64, word| {
        // The hash depends on the order of the words.
        (hash.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

/// Whether the character is ignored, neither part of a word nor a separator: apostrophes, combining accents and
/// invisible characters.
fn is_silent(c: char) -> bool {
    matches!(c,
        '\'' | '’' | '\u{300}'..='\u{36f}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Whether the script has no spaces: Thai to Khmer, Chinese and Japanese.
fn is_one_word(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
        && c.is_alphabetic()
}

#[derive(Default)]
struct WordSplitter {
    found: Vec<CopyWord>,
    ends_in_number: bool,
    after_digits: bool,
}

impl WordSplitter {
    fn letters(&mut self, word: &str) {
        let is_ordinal = self.after_digits && matches!(word, "st" | "nd" | "rd" | "th");
        if is_ordinal {
            return;
        }
        if is_number_word(word) {
            self.number();
        } else {
            self.word(word);
        }
    }

    fn command(&mut self, name: &str) {
        match name {
            "" => {}
            "dfrac" | "tfrac" | "cfrac" => self.word("frac"),
            name if is_styling(name) => {}
            name => self.word(name),
        }
    }

    fn word(&mut self, word: &str) {
        let hash = mark(word);
        let is_name = word.chars().nth(1).is_none();
        self.found.push(CopyWord {
            hash,
            unnamed: if is_name { 1 } else { hash },
        });
        self.ends_in_number = false;
    }

    fn number(&mut self) {
        if !self.ends_in_number {
            self.found.push(CopyWord {
                hash: 0,
                unnamed: 0,
            });
        }
        self.ends_in_number = true;
    }
}

fn is_number_word(word: &str) -> bool {
    BELOW_TWENTY.contains(&word)
        || TENS.contains(&word)
        || matches!(
            word,
            "hundred" | "thousand" | "million" | "billion" | "dozen"
        )
}

/// Whether a LaTeX command only affects appearance.
fn is_styling(name: &str) -> bool {
    matches!(
        name,
        "left"
            | "right"
            | "middle"
            | "big"
            | "bigg"
            | "bigl"
            | "bigr"
            | "biggl"
            | "biggr"
            | "displaystyle"
            | "textstyle"
            | "limits"
            | "nolimits"
            | "text"
            | "textrm"
            | "textbf"
            | "textit"
            | "emph"
            | "mathrm"
            | "mathbf"
            | "mathit"
            | "mbox"
            | "operatorname"
            | "quad"
            | "qquad"
            | "hspace"
            | "vspace"
            | "noindent"
            | "item"
    )
}
