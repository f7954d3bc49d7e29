//! `Folding`: which differences between two texts are ignored.
//!
//! Shared by all scorers that compare texts, so that an option means the same for each of them.

use std::borrow::Cow;

use serde::Serialize;
use unicode_normalization::{UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

use super::super::OptionReader;
use crate::error::Result;
use crate::text::{is_invisible, without_punctuation};

/// Which differences between two texts are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own in specs"
)]
#[non_exhaustive]
pub struct Folding {
    /// The Unicode normal form used for comparison.
    pub unicode: Form,
    /// `A` equals `a`: both texts are lower-cased.
    pub ignore_case: bool,
    /// Punctuation of any script is removed, unless a text has nothing else.
    pub ignore_punctuation: bool,
    /// Any run of white space counts as one space.
    pub collapse_space: bool,
    /// White space at both ends is removed.
    pub trim: bool,
}

/// The Unicode normal form used for comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Form {
    /// None: texts are compared as they are.
    None,
    /// Characters that nobody sees are left out, and `é` equals `e` with a combining accent.
    Nfc,
    /// Also `ﬁ` equals `fi`, `①` and `¹` equal `1`, `Ａ` equals `A`.
    Nfkc,
}

pub(in crate::scorer) const UNICODE: (&str, &str) = (
    "unicode",
    "`nfc` (default): `é` equals `e` with an accent added; `nfkc`: also `ﬁ` equals `fi`; `none`",
);
pub(in crate::scorer) const IGNORE_PUNCTUATION: (&str, &str) = (
    "ignore_punctuation",
    "leave out punctuation, unless a text has nothing else; default false",
);

impl Folding {
    /// Ignores white space at the ends, and treats equivalent characters as equal.
    pub const TRIMMED: Self = Self {
        unicode: Form::Nfc,
        ignore_case: false,
        ignore_punctuation: false,
        collapse_space: false,
        trim: true,
    };

    /// Also ignores case and the amount of white space.
    pub const LOOSE: Self = Self {
        ignore_case: true,
        collapse_space: true,
        ..Self::TRIMMED
    };

    /// Reads those of these options that the scorer has.
    pub(in crate::scorer) fn read(options: &OptionReader<'_>, default: Self) -> Result<Self> {
        let switch = |name: &str, default: bool| {
            if !options.has(name) {
                return Ok(default);
            }
            let given = options.read(name, "true or false", serde_json::Value::as_bool)?;
            Ok(given.unwrap_or(default))
        };
        let form = match options.word("unicode", &["nfc", "nfkc", "none"])? {
            Some("none") => Form::None,
            Some("nfkc") => Form::Nfkc,
            _ => Form::Nfc,
        };
        Ok(Self {
            unicode: form,
            ignore_case: switch("ignore_case", default.ignore_case)?,
            ignore_punctuation: switch("ignore_punctuation", default.ignore_punctuation)?,
            collapse_space: switch("collapse_space", default.collapse_space)?,
            trim: switch("trim", default.trim)?,
        })
    }

    /// The text with ignored differences removed.
    ///
    /// ```
    /// use evaltest::scorer::Folding;
    /// assert_eq!(Folding::LOOSE.apply(" New\n York"), "new york");
    /// ```
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        if !text.is_ascii() {
            if self.unicode != Form::None {
                change(&mut text, visible);
            }
            change(&mut text, |text| self.unicode.apply(text));
        }
        if self.ignore_case {
            change(&mut text, lower);
        }
        if self.ignore_punctuation {
            change(&mut text, |text| {
                let rest = without_punctuation(text);
                let is_blank = rest.chars().all(char::is_whitespace);
                if is_blank { text.into() } else { rest }
            });
        }
        if self.collapse_space {
            change(&mut text, collapse);
        }
        if self.trim {
            change(&mut text, |text| text.trim().into());
        }
        text
    }
}

impl Form {
    fn apply(self, text: &str) -> Cow<'_, str> {
        use unicode_normalization::IsNormalized::Yes;
        match self {
            Self::Nfc if is_nfc_quick(text.chars()) != Yes => text.nfc().collect(),
            Self::Nfkc if is_nfkc_quick(text.chars()) != Yes => text.nfkc().collect(),
            _ => text.into(),
        }
    }
}

/// Applies a function to a text, without copying a borrowed one.
fn change<'a>(text: &mut Cow<'a, str>, apply: impl for<'t> Fn(&'t str) -> Cow<'t, str>) {
    *text = match text {
        Cow::Borrowed(text) => apply(text),
        Cow::Owned(text) => Cow::Owned(apply(text).into_owned()),
    };
}

/// The text without the characters that nobody sees.
pub(in crate::scorer) fn visible(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.contains(is_invisible) {
        return text.into();
    }
    text.replace(is_invisible, "").into()
}

fn lower(text: &str) -> Cow<'_, str> {
    if text
        .bytes()
        .all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase())
    {
        return text.into();
    }
    text.to_lowercase().into()
}

/// Replaces every run of white space by one space.
fn collapse(text: &str) -> Cow<'_, str> {
    let mut before = false;
    let is_collapsed = text.chars().all(|c| {
        let is_space = c.is_whitespace();
        let fits = !is_space || (c == ' ' && !before);
        before = is_space;
        fits
    });
    if is_collapsed {
        return text.into();
    }
    let mut folded = String::with_capacity(text.len());
    let mut before = false;
    for c in text.chars() {
        let is_space = c.is_whitespace();
        if !is_space {
            folded.push(c);
        } else if !before {
            folded.push(' ');
        }
        before = is_space;
    }
    folded.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(folding: Folding, text: &str, expect: &str) {
        assert_eq!(folding.apply(text), expect, "{folding:?} {text:?}");
    }

    #[test]
    fn what_does_not_count_goes() {
        let trimmed = Folding::TRIMMED;
        check(trimmed, " A  b.\n", "A  b.");
        check(trimmed, "e\u{301}", "é");
        check(trimmed, "ﬁ", "ﬁ");
        check(Folding::LOOSE, "\u{3000}A\t\n B\u{a0}", "a b");
        check(Folding::LOOSE, "ΟΔΟΣ", "οδος");
        let nothing = Folding {
            unicode: Form::None,
            trim: false,
            ..trimmed
        };
        check(nothing, " e\u{301} ", " e\u{301} ");
        let compatible = Folding {
            unicode: Form::Nfkc,
            ..trimmed
        };
        check(compatible, "ﬁ Ａ①½", "fi A11⁄2");
        let words = Folding {
            ignore_punctuation: true,
            ..Folding::LOOSE
        };
        check(words, "“It’s”, he - said.", "its he said");
        check(words, " -?! ", "-?!");
        check(words, "", "");
    }
}
