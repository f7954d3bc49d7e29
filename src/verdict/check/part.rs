//! Which gates are asked of a part of a run: none. What all parts together say is not known here.

use crate::verdict::facts::Facts;
use crate::verdict::gate::Gate;
use crate::verdict::result::{GateResult, Verdict};

impl Facts<'_> {
    /// What becomes of a gate that is left to whoever puts all parts together; `None` in a run that has none.
    pub(super) fn left_to_merge(&self, gate: &Gate) -> Option<GateResult> {
        let part = self.part.as_ref()?;
        let message = format!("{}: judged by `cargo evaltest merge`", part.told());
        Some(GateResult::of(gate, Verdict::Ignored, None, message))
    }
}
