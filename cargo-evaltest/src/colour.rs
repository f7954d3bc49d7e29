//! Whether output is coloured.

use std::ffi::OsString;
use std::io::{IsTerminal, stdout};

use clap::{Args, ValueEnum};
use evaltest::engine::report::render::terminal::Paint;

/// The option of commands that print verdicts.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct ColorArgs {
    /// When to use colors. `auto`: on a terminal, unless `NO_COLOR` is set; everywhere if `FORCE_COLOR` or
    /// `CLICOLOR_FORCE` is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    color: ColorWhen,
}

/// When there are colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    #[default]
    Auto,
    Always,
    Never,
}

impl ColorArgs {
    /// Colour mode for standard output.
    pub(crate) fn paint(self) -> Paint {
        let has_colours = match self.color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => wanted(stdout().is_terminal()),
        };
        if has_colours {
            Paint::Colour
        } else {
            Paint::Plain
        }
    }
}

/// Colour mode for commands without the option.
pub(crate) fn paint() -> Paint {
    ColorArgs::default().paint()
}

/// Whether a stream should be coloured according to the environment.
pub(crate) fn wanted(is_terminal: bool) -> bool {
    of_environment(|name| std::env::var_os(name), is_terminal)
}

/// <https://no-color.org>, <https://force-color.org> and <https://bixense.com/clicolors>.
fn of_environment(variable: impl Fn(&str) -> Option<OsString>, is_terminal: bool) -> bool {
    let given = |name: &str| variable(name).filter(|value| !value.is_empty());
    let is_zero = |value: OsString| value == "0";
    if given("NO_COLOR").is_some() {
        return false;
    }
    let mut forces = ["FORCE_COLOR", "CLICOLOR_FORCE"].into_iter();
    if forces.any(|name| given(name).is_some_and(|value| !is_zero(value))) {
        return true;
    }
    let is_dumb = given("TERM").is_some_and(|value| value == "dumb");
    is_terminal && !is_dumb && !given("CLICOLOR").is_some_and(is_zero)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opting_out_of_colour_wins() {
        let check = |variables: &[(&str, &str)], is_terminal: bool, expect: bool| {
            let variable = |name: &str| {
                let mut all = variables.iter();
                all.find(|(known, _)| *known == name)
                    .map(|(_, value)| OsString::from(value))
            };
            let has = of_environment(variable, is_terminal);
            assert_eq!(has, expect, "{variables:?}, terminal: {is_terminal}");
        };
        check(&[], true, true);
        check(&[], false, false);
        check(&[("NO_COLOR", "1")], true, false);
        check(&[("NO_COLOR", "")], true, true);
        check(&[("CLICOLOR_FORCE", "1")], false, true);
        check(&[("CLICOLOR_FORCE", "0")], false, false);
        check(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], true, false);
        check(&[("FORCE_COLOR", "1")], false, true);
        check(&[("FORCE_COLOR", "0")], false, false);
        check(&[("FORCE_COLOR", "3"), ("NO_COLOR", "1")], true, false);
        check(&[("CLICOLOR", "0")], true, false);
        check(&[("TERM", "dumb")], true, false);
    }
}
