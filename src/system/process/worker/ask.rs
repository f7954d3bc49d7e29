//! Sends one line, receives one line.
//!
//! Used by one thread at a time. Unrequested output is a fault: taken for the next reply, it would be the verdict on
//! another answer.

use std::io;
use std::time::{Duration, Instant};

use super::WorkerProcess;
use crate::system::clock;
use crate::system::process::group::how_it_ended;

/// How long to wait for the end of a program that closed its stdout.
const END: Duration = Duration::from_millis(200);

/// Why there is no reply. After any fault the worker must not be used again.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It ended, or closed its stdout.
    Ended(String),
    /// There was no reply in time.
    TimedOut,
    /// The line is too long; has its beginning.
    TooLong(Vec<u8>),
    /// It printed this without a request.
    Unasked(Vec<u8>),
    /// The process could not be monitored.
    Lost(io::Error),
}

impl WorkerProcess {
    /// Sends a line and waits for a reply of at most `longest` bytes, returned without its line break.
    pub(crate) fn ask(
        &mut self,
        line: &[u8],
        deadline: Instant,
        longest: usize,
    ) -> Result<Vec<u8>, Fault> {
        let reply = self.converse(line, deadline, longest);
        if reply.is_err() {
            // It is out of sync, so there is nothing to wait for.
            self.grace = Duration::ZERO;
        }
        reply
    }

    fn converse(
        &mut self,
        line: &[u8],
        deadline: Instant,
        longest: usize,
    ) -> Result<Vec<u8>, Fault> {
        let mut reply = Vec::new();
        match self.read(&mut reply) {
            Ok(true) if reply.is_empty() => {}
            Ok(true) => return Err(Fault::Unasked(reply)),
            Ok(false) => return Err(self.ended()),
            Err(error) => return Err(Fault::Lost(error)),
        }
        let mut unsent = line;
        loop {
            self.feed(&mut unsent);
            let is_open = self.read(&mut reply).map_err(Fault::Lost)?;
            self.read_stderr();
            if let Some(end) = reply.iter().position(|&byte| byte == b'\n') {
                let more = reply.split_off(end + 1);
                reply.pop();
                if reply.len() > longest {
                    return Err(Fault::TooLong(reply));
                }
                if !more.is_empty() {
                    return Err(Fault::Unasked(more));
                }
                if !unsent.is_empty() {
                    // It answered before it had read everything, and would take the rest for the next line.
                    self.stdin = None;
                }
                return Ok(reply);
            }
            if reply.len() > longest {
                return Err(Fault::TooLong(reply));
            }
            if !is_open {
                // The last line of a program that exits may lack its line break.
                self.stdin = None;
                return if reply.trim_ascii().is_empty() {
                    Err(self.ended())
                } else {
                    Ok(reply)
                };
            }
            if clock::now() >= deadline {
                return Err(Fault::TimedOut);
            }
            self.wait(!unsent.is_empty(), Some(deadline), Vec::new())
                .map_err(Fault::Lost)?;
        }
    }

    /// How it ended. A program that only closed its stdout is killed.
    fn ended(&mut self) -> Fault {
        self.stdin = None;
        if !self.group.wait_for_end(END) {
            return Fault::Ended("closed its stdout".to_owned());
        }
        let status = self.group.kill();
        Fault::Ended(status.map_or_else(|| "ended".to_owned(), how_it_ended))
    }
}
