//! Printing, and what becomes of a reader who went away.

use std::io::{self, ErrorKind, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use evaltest::{Error, Result};

/// Writes to standard output. A closed pipe is no error: whoever read it has seen enough.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::infrastructure(format!(
            "cannot write to standard output: {error}"
        ))),
        _ => Ok(()),
    }
}

/// Prints a value as JSON. What a terminal would act on and JSON allows is escaped as well.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print(|out| {
        let text = serde_json::to_string_pretty(value)?;
        let mut rest = text.as_str();
        while let Some(place) = rest.find(acts_on_terminal) {
            let (plain, tail) = rest.split_at(place);
            out.write_all(plain.as_bytes())?;
            let mut tail = tail.chars();
            if let Some(c) = tail.next() {
                write!(out, "\\u{:04x}", u32::from(c))?;
            }
            rest = tail.as_str();
        }
        writeln!(out, "{rest}")
    })
}

/// The C1 controls, of which one begins an escape sequence, and marks that turn the direction of a text.
/// JSON escapes the other controls itself, and all of these stand in strings.
fn acts_on_terminal(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Shows an error that does not end the command.
pub(crate) fn complain(error: &Error) {
    // With stderr gone there is nobody left to tell.
    let _ = writeln!(io::stderr(), "error: {error}");
}

/// Does work that may take long, such as fetching a dataset, and says from time to time that it is at it.
pub(crate) fn waiting<T>(what: &str, work: impl FnOnce() -> T) -> T {
    const FIRST: Duration = Duration::from_secs(2);
    const NEXT: Duration = Duration::from_secs(10);
    let (at_work, ended) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let (began, mut pause) = (Instant::now(), FIRST);
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let seconds = began.elapsed().as_secs();
                note(&format!("{what}: {seconds} s so far"));
                pause = NEXT;
            }
        });
        // The end of the work, also by a panic, is the end of the channel.
        let _at_work = at_work;
        work()
    })
}

/// Says something beside the data on standard output.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "note: {text}");
}
