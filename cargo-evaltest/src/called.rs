//! The command's name: `cargo evaltest`, or `evaltest` if it was started as that.
//!
//! Hints name commands to type, and users of the Python wheel may not have cargo. All texts say `cargo evaltest`; only
//! this module replaces it by the name that the user typed, in output and in files written by `init`. Runs and JSON
//! keep the long name because they are read elsewhere too. Data and answers are never changed.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;

/// The name used in all texts.
const FULL: &str = "cargo evaltest";

/// The name without cargo; cargo also passes it as the first argument of a subcommand.
const SHORT: &str = "evaltest";

static CALLED: OnceLock<&'static str> = OnceLock::new();

static COMMANDS: OnceLock<Vec<String>> = OnceLock::new();

static TYPED: OnceLock<()> = OnceLock::new();

/// The arguments without the one that cargo adds (`cargo-evaltest evaltest …`). Stores the name under which the
/// command was started.
pub(crate) fn arguments(given: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<_> = given.into_iter().collect();
    let (name, by_cargo) = called(
        arguments.first().map(OsString::as_os_str),
        arguments.get(1).map(OsString::as_os_str),
    );
    if by_cargo {
        arguments.remove(1);
    }
    // Set once per process.
    let _ = CALLED.set(name);
    arguments
}

/// The name to display, and whether cargo added the second word.
fn called(program: Option<&OsStr>, second: Option<&OsStr>) -> (&'static str, bool) {
    let program = program.and_then(|path| Path::new(path).file_stem());
    if program == Some(OsStr::new(SHORT)) {
        return (SHORT, false);
    }
    (FULL, second == Some(OsStr::new(SHORT)))
}

/// Stores the names of the commands, to suggest one for a misspelt word.
pub(crate) fn has_commands<'a>(names: impl IntoIterator<Item = &'a str>) {
    // Set once: they do not change.
    let _ = COMMANDS.set(names.into_iter().map(str::to_owned).collect());
}

/// Stores that the user typed the name of a command, so no other word is meant as one.
pub(crate) fn typed_command() {
    // Set once per process.
    let _ = TYPED.set(());
}

/// Whether the user typed the name of a command.
pub(crate) fn has_command() -> bool {
    TYPED.get().is_some()
}

/// The names of the commands.
pub(crate) fn commands() -> impl Iterator<Item = &'static str> {
    COMMANDS.get().into_iter().flatten().map(String::as_str)
}

/// The name by which the command was started.
pub(crate) fn name() -> &'static str {
    CALLED.get().copied().unwrap_or(FULL)
}

/// A text with the command's name as the user typed it.
pub(crate) fn spoken(text: &str) -> Cow<'_, str> {
    with_name(text, name())
}

fn with_name<'a>(text: &'a str, name: &str) -> Cow<'a, str> {
    if name == FULL || !text.contains(FULL) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.replace(FULL, name))
    }
}

/// A writer that replaces the command's name line by line; an incomplete last line is written on flush.
pub(crate) struct Spoken<W> {
    out: W,
    line: Vec<u8>,
    name: &'static str,
}

impl<W: Write> Spoken<W> {
    pub(crate) fn new(out: W) -> Self {
        let (line, name) = (Vec::new(), name());
        Self { out, line, name }
    }

    fn pass_on(&mut self) -> io::Result<()> {
        let line = String::from_utf8_lossy(&self.line);
        let written = self.out.write_all(with_name(&line, self.name).as_bytes());
        self.line.clear();
        written
    }
}

impl<W: Write> Write for Spoken<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.name == FULL {
            return self.out.write(bytes);
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.pass_on()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on()?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_the_one_that_was_typed() {
        let check = |line: &[&str], expect: (&str, bool)| {
            let mut words = line.iter().map(OsStr::new);
            assert_eq!(called(words.next(), words.next()), expect, "{line:?}");
        };
        check(&[], (FULL, false));
        check(&["/bin/cargo-evaltest", "evaltest", "run"], (FULL, true));
        check(&["cargo-evaltest", "run"], (FULL, false));
        check(&["/venv/bin/evaltest"], (SHORT, false));
        check(&["evaltest", "run"], (SHORT, false));
        check(&["evaltest.exe", "run"], (SHORT, false));
        // An eval may be named `evaltest`.
        check(&["evaltest", "evaltest"], (SHORT, false));
    }

    #[test]
    fn texts_are_put_into_the_words_that_were_typed() {
        let check = |name: &'static str, expect: &str| {
            let mut spoken = Spoken {
                out: Vec::new(),
                line: Vec::new(),
                name,
            };
            // Holds for any split into writes.
            for piece in [
                "hint: `cargo ",
                "evaltest run`\nthen cargo",
                " evaltest accept",
            ] {
                spoken.write_all(piece.as_bytes()).unwrap();
            }
            spoken.flush().unwrap();
            assert_eq!(String::from_utf8(spoken.out).unwrap(), expect);
        };
        check(
            FULL,
            "hint: `cargo evaltest run`\nthen cargo evaltest accept",
        );
        check(SHORT, "hint: `evaltest run`\nthen evaltest accept");
    }
}
