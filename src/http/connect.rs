//! `Noting`: ureq's own way to connect, which notes that a connection is a fresh one.

use std::cell::Cell;

use ureq::Error;
use ureq::unversioned::transport::{ConnectionDetails, Connector, DefaultConnector, Transport};

thread_local! {
    /// Whether the request of this thread asked for a fresh connection. ureq connects on the thread that asks.
    static FRESH: Cell<bool> = const { Cell::new(false) };
}

#[derive(Debug, Default)]
pub(super) struct Noting(DefaultConnector);

impl Connector<()> for Noting {
    type Out = Box<dyn Transport>;

    fn connect(
        &self,
        details: &ConnectionDetails,
        chained: Option<()>,
    ) -> Result<Option<Self::Out>, Error> {
        FRESH.set(true);
        self.0.connect(details, chained)
    }
}

/// What `work` gives, and whether it had a fresh connection made.
pub(super) fn noted<T>(work: impl FnOnce() -> T) -> (T, bool) {
    FRESH.set(false);
    let done = work();
    (done, FRESH.get())
}
