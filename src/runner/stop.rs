//! `Stop`: why a run ends early, and that it does.

use super::Session;
use crate::error::Error;
use crate::system::lock::lock;

/// Why a run stops early.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    pub(super) reason: String,
    /// Whether a person or the system asked for it.
    pub(super) interrupted: bool,
    /// Whether it is the eval's own mistake, which no sample survives.
    pub(super) misconfigured: bool,
    /// Whether a test told of it.
    told: bool,
}

impl Session {
    /// Stops the run: no sample starts any more, running agents are killed.
    pub(super) fn stop(&self, reason: &str, interrupted: bool) {
        self.stop_with(Stop {
            reason: reason.to_owned(),
            interrupted,
            misconfigured: false,
            told: false,
        });
    }

    /// The run ends early, without any haste: what is in flight comes to its end.
    pub(super) fn note_stop(&self, reason: &str) {
        let reason = reason.to_owned();
        lock(&self.stop).get_or_insert(Stop {
            reason,
            interrupted: false,
            misconfigured: false,
            told: false,
        });
    }

    /// Stops the run because no sample can be answered as the eval is.
    pub(super) fn stop_misconfigured(&self, reason: &str) {
        self.stop_with(Stop {
            reason: reason.to_owned(),
            interrupted: false,
            misconfigured: true,
            told: false,
        });
    }

    pub(super) fn stop_for(&self, error: &Error) {
        self.stop(error.message(), false);
    }

    /// The mistake of the eval for which the run stopped, for the first who asks.
    pub(crate) fn untold_mistake(&self) -> Option<String> {
        let mut stop = lock(&self.stop);
        let stop = stop
            .as_mut()
            .filter(|stop| stop.misconfigured && !stop.told)?;
        stop.told = true;
        Some(stop.reason.clone())
    }

    /// The first reason counts.
    fn stop_with(&self, why: Stop) {
        lock(&self.stop).get_or_insert(why);
        self.options.cancel.cancel();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.options.cancel.is_cancelled()
    }
}
