//! Prints to the console; a closed pipe is not an error.

use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use evaltest::engine::report::document::{Block, Document};
use evaltest::engine::report::render::terminal::{self, Paint};
use evaltest::engine::system::project;
use evaltest::engine::text::{clean_lines, escape_json};
use evaltest::{Error, Result};

use crate::called::{Spoken, spoken};

/// Prints to standard output for a person. A closed pipe is not an error.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    print_data(|out| {
        let mut spoken = Spoken::new(out);
        write(&mut spoken)?;
        spoken.flush()
    })
}

/// Prints a document.
pub(crate) fn print_document(document: &Document) -> Result<()> {
    print(|out| terminal::document(document, Paint::Plain, out))
}

/// Prints blocks without a title.
pub(crate) fn print_blocks(blocks: &[Block]) -> Result<()> {
    print(|out| terminal::blocks(blocks, 0, Paint::Plain, out))
}

/// Writes data to standard output verbatim.
pub(crate) fn print_data(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::infrastructure(format!(
            "cannot write to standard output: {error}"
        ))),
        _ => Ok(()),
    }
}

/// Writes items to standard output one by one, verbatim, until one is an error.
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

/// Prints a value as JSON. Escapes characters that a terminal or CI log would interpret, or that are invisible.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print_data(|out| {
        let text = serde_json::to_string_pretty(value)?;
        writeln!(out, "{}", escape_json(&text))
    })
}

/// Like `print_json`, but streams values that may be too long for memory.
pub(crate) fn print_long_json(value: &impl serde::Serialize) -> Result<()> {
    print_data(|out| {
        let mut out = EscapedLines {
            out,
            line: Vec::new(),
        };
        serde_json::to_writer_pretty(&mut out, value)?;
        writeln!(out)
    })
}

/// Escapes lines of JSON as [`escape_json`] does; no line ends within a string.
struct EscapedLines<'a> {
    out: &'a mut dyn Write,
    line: Vec<u8>,
}

impl Write for EscapedLines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = String::from_utf8_lossy(&self.line);
                self.out.write_all(escape_json(&line).as_bytes())?;
                self.line.clear();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Prints a list as JSON with one value in memory at a time.
pub(crate) fn print_json_list(
    values: impl Iterator<Item = Result<serde_json::Value>>,
) -> Result<()> {
    // The final `None` writes the end of the list.
    let values = values.map(|value| value.map(Some));
    let mut is_first = true;
    print_each(values.chain([Ok(None)]), |value, out| {
        let Some(value) = value else {
            return writeln!(out, "{}", if is_first { "[]" } else { "\n]" });
        };
        // JSON strings contain no raw line feeds.
        let text = serde_json::to_string_pretty(&value)?.replace('\n', "\n  ");
        out.write_all(if is_first { b"[\n  " } else { b",\n  " })?;
        is_first = false;
        out.write_all(escape_json(&text).as_bytes())
    })
}

/// Prints an error to standard error.
pub(crate) fn complain(error: &Error) {
    // If stderr is closed, there is nowhere to report to.
    let _ = writeln!(io::stderr(), "error: {}", for_people(&error.to_string()));
}

/// Forwards another program's output to standard error.
pub(crate) fn pass_on(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Does slow work, such as fetching a dataset, and prints from time to time that it is still going on.
pub(crate) fn waiting<T>(what: &str, work: impl FnOnce() -> T) -> T {
    const FIRST: Duration = Duration::from_secs(2);
    const NEXT: Duration = Duration::from_secs(10);
    let (at_work, ended) = channel::<()>();
    thread::scope(|scope| {
        let report_progress = move || {
            let (began, mut pause) = (Instant::now(), FIRST);
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let seconds = began.elapsed().as_secs();
                note(&format!("{what}: {seconds} s so far"));
                pause = NEXT;
            }
        };
        // If no thread can be spawned, nothing is printed.
        let _ = thread::Builder::new().spawn_scoped(scope, report_progress);
        // Dropping the sender ends the thread, also on panic.
        let _at_work = at_work;
        work()
    })
}

/// Prints a note to standard error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "note: {}", clean_lines(&for_people(text)));
}

/// Text for display: project paths relative to the current folder, and the command's name as typed.
pub(crate) fn for_people(text: &str) -> String {
    spoken(&relative(text)).into_owned()
}

/// Makes project paths relative to the current folder, with `../` for those above it.
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
    let mut rendered = text.to_owned();
    for folder in folders {
        rendered = relative_to(&folder.to_string_lossy(), &up, &rendered);
        up += "../";
    }
    rendered
}

/// Replaces `folder` by `up` at the start of paths below it.
fn relative_to(folder: &str, up: &str, text: &str) -> String {
    let folder = format!("{}/", folder.trim_end_matches('/'));
    let mut rendered = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(&folder) {
        let (before, path) = rest.split_at(start);
        rendered.push_str(before);
        // Not inside another path, and not for the root, which contains everything.
        let begins = !before.ends_with(|c: char| c.is_alphanumeric() || "/._-:".contains(c))
            || before.ends_with(": ");
        let after = &path[folder.len()..];
        if !begins || folder == "/" || after.is_empty() || after.starts_with(['`', '/', ' ']) {
            rendered.push_str(&folder);
        } else {
            rendered.push_str(up);
        }
        rest = after;
    }
    rendered.push_str(rest);
    rendered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_folder_are_relative() {
        let check = |text: &str, expect: &str| assert_eq!(relative_to("/a/b", "", text), expect);
        check("cannot read `/a/b/c.csv`: no", "cannot read `c.csv`: no");
        check("/a/b/e.yaml:3:1: x /a/b/c", "e.yaml:3:1: x c");
        check(
            "/x/a/b/c /a/bc/d `/a/b/` /a/b",
            "/x/a/b/c /a/bc/d `/a/b/` /a/b",
        );
        check("file:///a/b/c", "file:///a/b/c");
        let check = |text: &str, expect: &str| {
            let rendered = relative_in(Path::new("/a/b"), Path::new("/a/b/c/d"), text);
            assert_eq!(rendered, expect);
        };
        check("/a/b/c/d/e `/a/b/c/e` /a/b/f:3", "e `../e` ../../f:3");
        check("/a/e /a/b", "/a/e /a/b");
        assert_eq!(relative_to("/", "", "`/a/b`"), "`/a/b`");
    }
}
