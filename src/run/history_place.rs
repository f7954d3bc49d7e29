//! `HistoryPlace`: where an eval keeps its history, as a test binary tells the command.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::data::history::HISTORY_FILE;
use crate::eval::Eval;

/// Where an eval keeps its history.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HistoryPlace {
    /// The eval's name.
    pub eval: String,
    /// The file, which need not be there.
    pub path: PathBuf,
}

impl HistoryPlace {
    /// That of an eval.
    pub(super) fn of(eval: &Eval) -> Self {
        Self {
            eval: eval.name.clone(),
            path: eval.snapshot.folder.join(HISTORY_FILE),
        }
    }
}
