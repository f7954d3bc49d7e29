//! Printing, and what becomes of a reader who went away.

use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use evaltest::engine::report::document::{Block, Document};
use evaltest::engine::report::render::terminal::{self, paint::Paint};
use evaltest::engine::system::project;
use evaltest::engine::text::{clean_lines, shown_json};
use evaltest::{Error, Result};

use crate::called::{Spoken, spoken};

/// Tells a person something on standard output. A closed pipe is no error: whoever read it has seen enough.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    print_data(|out| {
        let mut spoken = Spoken::new(out);
        write(&mut spoken)?;
        spoken.flush()
    })
}

/// Tells a person what a document says.
pub(crate) fn print_document(document: &Document) -> Result<()> {
    print(|out| terminal::document(document, Paint::Plain, out))
}

/// Tells a person what blocks without a title say.
pub(crate) fn print_blocks(blocks: &[Block]) -> Result<()> {
    print(|out| terminal::blocks(blocks, 0, Paint::Plain, out))
}

/// Writes to standard output what is not ours to word, as it is.
pub(crate) fn print_data(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::infrastructure(format!(
            "cannot write to standard output: {error}"
        ))),
        _ => Ok(()),
    }
}

/// Writes one thing after the other to standard output, as it is, until one cannot be had.
pub(crate) fn print_each<T>(
    things: impl Iterator<Item = Result<T>>,
    mut write: impl FnMut(T, &mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let mut had = Ok(());
    print_data(|out| {
        for thing in things {
            match thing {
                Ok(thing) => write(thing, out)?,
                Err(error) => {
                    had = Err(error);
                    break;
                }
            }
        }
        Ok(())
    })?;
    had
}

/// Prints a value as JSON. What a terminal or a log in CI would act on, or is not seen, is escaped as well.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print_data(|out| {
        let text = serde_json::to_string_pretty(value)?;
        writeln!(out, "{}", shown_json(&text))
    })
}

/// The same of a value that may be longer than memory should hold.
pub(crate) fn print_long_json(value: &impl serde::Serialize) -> Result<()> {
    print_data(|out| {
        let mut out = ShownLines {
            out,
            line: Vec::new(),
        };
        serde_json::to_writer_pretty(&mut out, value)?;
        writeln!(out)
    })
}

/// Escapes lines of JSON as [`shown_json`] does; none ends within a string.
struct ShownLines<'a> {
    out: &'a mut dyn Write,
    line: Vec<u8>,
}

impl Write for ShownLines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = String::from_utf8_lossy(&self.line);
                self.out.write_all(shown_json(&line).as_bytes())?;
                self.line.clear();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The same of a list, of whose values one is in memory at a time.
pub(crate) fn print_json_list(
    values: impl Iterator<Item = Result<serde_json::Value>>,
) -> Result<()> {
    // Behind the last value the end of the list is written.
    let values = values.map(|value| value.map(Some));
    let mut is_first = true;
    print_each(values.chain([Ok(None)]), |value, out| {
        let Some(value) = value else {
            return writeln!(out, "{}", if is_first { "[]" } else { "\n]" });
        };
        // No text of JSON has a line feed in a string.
        let text = serde_json::to_string_pretty(&value)?.replace('\n', "\n  ");
        out.write_all(if is_first { b"[\n  " } else { b",\n  " })?;
        is_first = false;
        out.write_all(shown_json(&text).as_bytes())
    })
}

/// Shows an error.
pub(crate) fn complain(error: &Error) {
    // With stderr gone there is nobody left to tell.
    let _ = writeln!(io::stderr(), "error: {}", for_people(&error.to_string()));
}

/// Writes on what another program said to people.
pub(crate) fn pass_on(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Does work that may take long, such as fetching a dataset, and says from time to time that it is at it.
pub(crate) fn waiting<T>(what: &str, work: impl FnOnce() -> T) -> T {
    const FIRST: Duration = Duration::from_secs(2);
    const NEXT: Duration = Duration::from_secs(10);
    let (at_work, ended) = channel::<()>();
    thread::scope(|scope| {
        let tell = move || {
            let (began, mut pause) = (Instant::now(), FIRST);
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let seconds = began.elapsed().as_secs();
                note(&format!("{what}: {seconds} s so far"));
                pause = NEXT;
            }
        };
        // Where there is no thread to be had, nobody says so.
        let _ = thread::Builder::new().spawn_scoped(scope, tell);
        // The end of the work, also by a panic, is the end of the channel.
        let _at_work = at_work;
        work()
    })
}

/// Says something beside the data on standard output.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "note: {}", clean_lines(&for_people(text)));
}

/// The text as somebody reads it: paths of the project as they are typed in the current folder, and the command's name as it
/// was typed.
pub(crate) fn for_people(text: &str) -> String {
    spoken(&relative(text)).into_owned()
}

/// The text with paths of the project as they are typed in the current folder, those above it with `../`.
fn relative(text: &str) -> String {
    let current = std::env::current_dir().unwrap_or_default();
    let root = project::current_root().unwrap_or_else(|| current.clone());
    relative_in(&root, &current, text)
}

fn relative_in(root: &Path, current: &Path, text: &str) -> String {
    let folders = current
        .ancestors()
        .take_while(|folder| folder.starts_with(root));
    let mut up = String::new();
    let mut shown = text.to_owned();
    for folder in folders {
        shown = relative_to(&folder.to_string_lossy(), &up, &shown);
        up += "../";
    }
    shown
}

/// Puts `up` in the place of a folder before paths below it.
fn relative_to(folder: &str, up: &str, text: &str) -> String {
    let folder = format!("{}/", folder.trim_end_matches('/'));
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(&folder) {
        let (before, path) = rest.split_at(start);
        shown.push_str(before);
        // Not in the midst of another path, and not the root, in which everything lies.
        let begins = !before.ends_with(|c: char| c.is_alphanumeric() || "/._-:".contains(c))
            || before.ends_with(": ");
        let after = &path[folder.len()..];
        if !begins || folder == "/" || after.is_empty() || after.starts_with(['`', '/', ' ']) {
            shown.push_str(&folder);
        } else {
            shown.push_str(up);
        }
        rest = after;
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_the_folder_are_shown_from_there() {
        let check = |text: &str, expect: &str| assert_eq!(relative_to("/a/b", "", text), expect);
        check("cannot read `/a/b/c.csv`: no", "cannot read `c.csv`: no");
        check("/a/b/e.yaml:3:1: x /a/b/c", "e.yaml:3:1: x c");
        check(
            "/x/a/b/c /a/bc/d `/a/b/` /a/b",
            "/x/a/b/c /a/bc/d `/a/b/` /a/b",
        );
        check("file:///a/b/c", "file:///a/b/c");
        let check = |text: &str, expect: &str| {
            let shown = relative_in(Path::new("/a/b"), Path::new("/a/b/c/d"), text);
            assert_eq!(shown, expect);
        };
        check("/a/b/c/d/e `/a/b/c/e` /a/b/f:3", "e `../e` ../../f:3");
        check("/a/e /a/b", "/a/e /a/b");
        assert_eq!(relative_to("/", "", "`/a/b`"), "`/a/b`");
    }
}
