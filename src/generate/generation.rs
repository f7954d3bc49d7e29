//! `generate`: a run that makes items, with its files.

use std::sync::Arc;

use super::files::{GeneratedFiles, write_generated};
use crate::error::Result;
use crate::eval::Eval;
use crate::report::event::Event;
use crate::run::drive::{Drive, Prepared};
use crate::store::{Manifest, RunDir};
use crate::system::cancel::Cancel;
use crate::verdict::run::Run;

/// The kind of benchmark that makes items.
pub const BENCHMARK: &str = "generate";

/// A run that made items, and what was written of it.
#[derive(Debug)]
pub struct Generation {
    /// The run.
    pub run: Run,
    /// Its files.
    pub files: GeneratedFiles,
}

/// Whether an eval makes items.
pub fn makes_items(eval: &Eval) -> bool {
    eval.benchmark_name() == BENCHMARK
}

/// Whether a run made items.
pub fn made_items(manifest: &Manifest) -> bool {
    manifest.benchmark == BENCHMARK
}

/// Runs an eval that makes items, and writes what it made, also where the run stopped early.
///
/// # Errors
/// When the run directory or a file cannot be written.
pub fn generate(
    drive: &Drive,
    prepared: Prepared,
    cancel: &Cancel,
    observer: Arc<dyn Fn(&Event<'_>) + Send + Sync>,
) -> Result<Generation> {
    let run = drive.run(prepared, cancel, observer)?;
    let files = write_generated(&RunDir::open(&run.dir)?)?;
    Ok(Generation { run, files })
}
