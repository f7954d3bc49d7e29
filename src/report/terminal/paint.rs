//! `Paint`: words in colour, where somebody sees colours.
//!
//! What is painted was cleaned before: nothing that comes from outside reaches a terminal as a colour.

use anstyle::{AnsiColor, Effects, Style};
use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::verdict::result::Verdict;

/// Whether words have colours. The command knows, by `--color`, the environment and the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Paint {
    /// They have none.
    #[default]
    Plain,
    /// They have.
    Colour,
}

/// What a colour says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing.
    #[default]
    Plain,
    /// Green: it is as it should be.
    Good,
    /// Red: it is worse than it should be.
    Bad,
    /// Yellow: nobody knows.
    Unsure,
    /// Stands back.
    Faint,
}

impl Paint {
    /// The text in a colour.
    pub fn tone(self, tone: Tone, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Colour => {
                let style = tone.style();
                format!("{style}{text}{style:#}")
            }
        }
    }
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
            Self::Unsure => AnsiColor::Yellow.on_default(),
            Self::Faint => Effects::DIMMED.into(),
        }
    }
}

impl From<Verdict> for Tone {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Passed => Self::Good,
            Verdict::Failed => Self::Bad,
            Verdict::Inconclusive => Self::Unsure,
            Verdict::Ignored => Self::Plain,
        }
    }
}

impl From<Exit> for Tone {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Passed => Self::Good,
            Exit::Failed | Exit::Usage => Self::Bad,
            Exit::Infrastructure | Exit::Interrupted => Self::Unsure,
        }
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
