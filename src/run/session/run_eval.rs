//! `Eval::run`: runs an eval as a library.

use std::sync::Arc;

use crate::error::Result;
use crate::eval::Eval;
use crate::run::{RunOptions, Session};
use crate::verdict::conclude::Run;

impl Eval {
    /// Asks every sample and records the run, without printing anything.
    ///
    /// # Errors
    /// A mistake in the eval or its dataset (nothing was asked then), or a run directory that cannot be written. A
    /// failing agent is no error; see the records.
    pub fn run(&self) -> Result<Run> {
        Session::start(self, RunOptions::default(), Arc::new(|_| {}))?.run()
    }
}
