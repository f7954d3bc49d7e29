//! How wide a terminal is.

use std::io::IsTerminal;
use std::os::fd::AsFd;

/// The columns of the terminal that a stream goes to; `None` where it goes elsewhere, or does not say.
pub fn columns(stream: &(impl AsFd + IsTerminal)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}
