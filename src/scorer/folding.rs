//! `Folding`: which differences between two texts do not count.
//!
//! The scorers that compare texts share it, so that an option means the same for each of them.

use std::borrow::Cow;

use serde::Serialize;
use unicode_normalization::{UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

use super::OptionReader;
use crate::error::Result;
use crate::text::without_punctuation;

/// Which differences between two texts do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own in specs"
)]
#[non_exhaustive]
pub struct Folding {
    /// How characters that Unicode calls equivalent are written.
    pub unicode: Form,
    /// `A` and `a` are the same: both texts are compared in lower case.
    pub ignore_case: bool,
    /// Punctuation of any script is left out, unless a text has nothing else.
    pub ignore_punctuation: bool,
    /// Any run of white space counts as one space.
    pub collapse_space: bool,
    /// White space at both ends is left out.
    pub trim: bool,
}

/// How characters that Unicode calls equivalent are written before they are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Form {
    /// As they are.
    None,
    /// `é` is the same as `e` with an accent added.
    Nfc,
    /// Also `ﬁ` as `fi`, `①` and `¹` as `1`, `Ａ` as `A`.
    Nfkc,
}

pub(super) const UNICODE: (&str, &str) = (
    "unicode",
    "`nfc` (default): `é` equals `e` with an accent added; `nfkc`: also `ﬁ` equals `fi`; `none`",
);
pub(super) const IGNORE_PUNCTUATION: (&str, &str) = (
    "ignore_punctuation",
    "leave out punctuation, unless a text has nothing else; default false",
);

impl Folding {
    /// White space at the ends and equivalent characters do not count.
    pub const TRIMMED: Self = Self {
        unicode: Form::Nfc,
        ignore_case: false,
        ignore_punctuation: false,
        collapse_space: false,
        trim: true,
    };

    /// Neither case nor the amount of white space counts.
    pub const LOOSE: Self = Self {
        ignore_case: true,
        collapse_space: true,
        ..Self::TRIMMED
    };

    /// Reads the options of these names that the scorer has.
    pub(super) fn read(options: &OptionReader<'_>, default: Self) -> Result<Self> {
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

    /// The text without what does not count.
    ///
    /// ```
    /// use evaltest::scorer::Folding;
    /// assert_eq!(Folding::LOOSE.apply(" New\n York"), "new york");
    /// ```
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        if !text.is_ascii() {
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

/// Changes a text that may be borrowed, without copying one that is.
fn change<'a>(text: &mut Cow<'a, str>, apply: impl for<'t> Fn(&'t str) -> Cow<'t, str>) {
    *text = match text {
        Cow::Borrowed(text) => apply(text),
        Cow::Owned(text) => Cow::Owned(apply(text).into_owned()),
    };
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

/// Every run of white space as one space.
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
    let mut kept = String::with_capacity(text.len());
    let mut before = false;
    for c in text.chars() {
        let is_space = c.is_whitespace();
        if !is_space {
            kept.push(c);
        } else if !before {
            kept.push(' ');
        }
        before = is_space;
    }
    kept.into()
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
