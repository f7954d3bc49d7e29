//! Printing, and what becomes of a reader who went away.

use std::io::{self, ErrorKind, Write};

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

/// Prints a value as JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print(|out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        writeln!(out)
    })
}

/// Shows an error that does not end the command.
pub(crate) fn complain(error: &Error) {
    // With stderr gone there is nobody left to tell.
    let _ = writeln!(io::stderr(), "error: {error}");
}

/// Says something beside the data on standard output.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "note: {text}");
}
