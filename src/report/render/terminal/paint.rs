//! `Paint`: coloured text, if colours are enabled.
//!
//! Texts must be sanitised before: untrusted text cannot produce colours.

use anstyle::{AnsiColor, Effects, Style};
use serde::{Deserialize, Serialize};

use crate::report::document::Tone;

/// Whether text is coloured, according to `--color`, the environment and the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Paint {
    /// No colours.
    #[default]
    Plain,
    /// Colours.
    Colour,
}

impl Paint {
    /// The text in a colour.
    pub fn tone(self, tone: Tone, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Colour => {
                let style = style(tone);
                format!("{style}{text}{style:#}")
            }
        }
    }
}

fn style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Good => AnsiColor::Green.on_default(),
        Tone::Bad => AnsiColor::Red.on_default(),
        Tone::Unsure => AnsiColor::Yellow.on_default(),
        Tone::Faint => Effects::DIMMED.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_sees_colours_has_them() {
        let check = |paint: Paint, tone: Tone, expect: &str| {
            assert_eq!(paint.tone(tone, "x"), expect);
        };
        check(Paint::Plain, Tone::Bad, "x");
        check(Paint::Colour, Tone::Bad, "\x1b[31mx\x1b[0m");
        check(Paint::Colour, Tone::Good, "\x1b[32mx\x1b[0m");
        check(Paint::Colour, Tone::Plain, "x");
    }
}
