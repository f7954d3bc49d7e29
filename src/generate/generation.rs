//! `generate`: a run that makes items, with its files.

use std::sync::Arc;

use serde_json::Value;

use super::files::{GeneratedFiles, write_generated};
use crate::error::{Error, Result};
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

/// How many may be asked in a minute; null for no bound, also where the spec has one.
///
/// # Errors
/// When it is no number of seconds from 0 on.
pub fn per_minute(delay_s: f64) -> Result<Value> {
    if !delay_s.is_finite() || delay_s < 0.0 {
        return Err(Error::usage(format!(
            "`--delay-s` must be a number of seconds from 0 on, not {delay_s}"
        )));
    }
    Ok(if delay_s > 0.0 {
        (60.0 / delay_s).into()
    } else {
        Value::Null
    })
}
