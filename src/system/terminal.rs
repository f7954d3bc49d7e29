//! The width of a terminal.

use std::io::IsTerminal;
use std::os::fd::AsFd;

/// The number of columns of a stream's terminal; `None` if it is not a terminal or its width is unknown.
pub fn columns(stream: &(impl AsFd + IsTerminal)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}
