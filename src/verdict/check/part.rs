//! Gates of a part of a run are not evaluated: the result of all parts together is unknown.

use crate::verdict::facts::Facts;
use crate::verdict::gate::Gate;
use crate::verdict::result::{GateResult, Verdict};

impl Facts<'_> {
    /// The result of a gate that is left to the merge of all parts; `None` for a whole run.
    pub(super) fn deferred_to_merge(&self, gate: &Gate) -> Option<GateResult> {
        let part = self.part.as_ref()?;
        let message = format!("{}: judged by `cargo evaltest merge`", part.description());
        Some(GateResult::of(gate, Verdict::Ignored, None, message))
    }
}
