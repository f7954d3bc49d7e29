//! Overrides from `cargo evaltest` for the specs that a test binary reads.

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::text::setting::Override;

/// The variable that carries a `Drive` as JSON.
pub const VARIABLE: &str = "EVALTEST_DRIVE";

/// The parts of a command's request that concern specs.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Wishes {
    overrides: Vec<Override>,
}

/// The overrides for specs read by this process.
pub(super) fn overrides() -> Result<Vec<Override>> {
    let Ok(text) = std::env::var(VARIABLE) else {
        return Ok(Vec::new());
    };
    let wishes: Wishes = serde_json::from_str(&text).map_err(|error| other_version(&error))?;
    Ok(wishes.overrides)
}

/// The error for a request that cannot be read.
pub(crate) fn other_version(error: &serde_json::Error) -> Error {
    Error::usage(format!("{VARIABLE} is not of this version: {error}"))
}
