//! What the rest of the crate asks of the room, where it is not built.

use serde_json::Value;

/// Nobody would read them.
pub(crate) fn are_calls(_: &Value) -> bool {
    false
}
