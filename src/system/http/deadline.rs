//! `Deadline`: the deadline of a request, by the clock that pauses while this process does.
//!
//! ureq's own clock continues while the process is stopped, so it gets no deadline. Instead, each wait for a server is
//! limited to the remaining time; a wait that expired while the process was stopped is repeated, because nothing could
//! be read. Nothing is sent twice.

use std::cell::Cell;
use std::io::ErrorKind;
use std::time::Instant;

use ureq::Error;
use ureq::Timeout;
use ureq::unversioned::transport::{Buffers, NextTimeout, Transport};

use crate::system::clock;

/// When a request must be complete, if ever.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Option<Instant>);

thread_local! {
    /// The deadline of this thread's request. ureq resolves, connects and sends on the calling thread.
    static CURRENT: Cell<Deadline> = const { Cell::new(Deadline(None)) };
}

impl Deadline {
    /// The deadline of this thread's request.
    pub(super) fn current() -> Self {
        CURRENT.get()
    }

    /// Runs a request with this deadline.
    pub(super) fn of<T>(deadline: Option<Instant>, work: impl FnOnce() -> T) -> T {
        let before = CURRENT.replace(Self(deadline));
        let done = work();
        CURRENT.set(before);
        done
    }

    /// Limits a timeout to the remaining time.
    fn limit(self, timeout: NextTimeout) -> Result<NextTimeout, Error> {
        let Some(deadline) = self.0 else {
            return Ok(timeout);
        };
        let remaining = deadline.saturating_duration_since(clock::now());
        if remaining.is_zero() {
            return Err(Error::Timeout(Timeout::Global));
        }
        if *timeout.after <= remaining {
            return Ok(timeout);
        }
        Ok(NextTimeout {
            after: remaining.into(),
            reason: Timeout::Global,
            ..timeout
        })
    }

    /// Runs `work` with a timeout; repeats it if the timeout expired because this process was stopped.
    pub(super) fn patiently<T>(
        self,
        timeout: NextTimeout,
        mut work: impl FnMut(NextTimeout) -> Result<T, Error>,
    ) -> Result<T, Error> {
        loop {
            let lost = clock::lost();
            match work(self.limit(timeout)?) {
                Err(error) if is_timeout(&error) && clock::lost() > lost => {}
                done => return done,
            }
        }
    }
}

fn is_timeout(error: &Error) -> bool {
    match error {
        Error::Timeout(_) => true,
        Error::Io(error) => error.kind() == ErrorKind::TimedOut,
        _ => false,
    }
}

/// A connection with the deadline of the last request sent over it.
#[derive(Debug)]
pub(super) struct Timed {
    system: Box<dyn Transport>,
    deadline: Deadline,
}

impl Timed {
    pub(super) fn new(system: Box<dyn Transport>) -> Self {
        let deadline = Deadline::current();
        Self { system, deadline }
    }
}

impl Transport for Timed {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.system.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.deadline = Deadline::current();
        // A partial write cannot be repeated, but a write interrupted by a stop restarts its timeout.
        let timeout = self.deadline.limit(timeout)?;
        self.system.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let Self { system, deadline } = self;
        deadline.patiently(timeout, |timeout| system.await_input(timeout))
    }

    fn is_open(&mut self) -> bool {
        self.system.is_open()
    }

    fn is_tls(&self) -> bool {
        self.system.is_tls()
    }
}
