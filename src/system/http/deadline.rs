//! `Deadline`: when a request must be over, by the clock that stands still while this process does.
//!
//! ureq's own clock goes on while the process is stopped, so it is told of no deadline. Whatever waits for a server is
//! given the time that is left; a wait that ended while the process was stopped is waited again, for nobody could read
//! what came. Nothing is sent twice for it.

use std::cell::Cell;
use std::io::ErrorKind;
use std::time::Instant;

use ureq::Error;
use ureq::Timeout;
use ureq::unversioned::transport::{Buffers, NextTimeout, Transport};

use crate::system::clock;

/// When a request must be over, if ever.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Option<Instant>);

thread_local! {
    /// That of the request of this thread. ureq looks names up, connects and sends on the thread that asks.
    static CURRENT: Cell<Deadline> = const { Cell::new(Deadline(None)) };
}

impl Deadline {
    /// That of the request that this thread makes.
    pub(super) fn current() -> Self {
        CURRENT.get()
    }

    /// Makes a request that has this deadline.
    pub(super) fn of<T>(deadline: Option<Instant>, work: impl FnOnce() -> T) -> T {
        let before = CURRENT.replace(Self(deadline));
        let done = work();
        CURRENT.set(before);
        done
    }

    /// What is left of a time.
    fn limit(self, timeout: NextTimeout) -> Result<NextTimeout, Error> {
        let Some(deadline) = self.0 else {
            return Ok(timeout);
        };
        let left = deadline.saturating_duration_since(clock::now());
        if left.is_zero() {
            return Err(Error::Timeout(Timeout::Global));
        }
        if *timeout.after <= left {
            return Ok(timeout);
        }
        Ok(NextTimeout {
            after: left.into(),
            reason: Timeout::Global,
            ..timeout
        })
    }

    /// Does what takes so long at most; once more where its time was up because this process was stopped.
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

/// A connection that keeps the deadline of the request that was sent over it last.
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
        // What was sent in part cannot be sent again; but a write that a stop interrupts begins its time anew.
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
