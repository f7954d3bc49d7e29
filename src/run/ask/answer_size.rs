//! Limits on the length of what an agent or a judge replies.

use crate::data::{AgentError, FailureKind, Output};
use crate::eval::limits::Limits;

/// Refuses an answer that is too long.
pub(in crate::run) fn check_size(output: Output, limits: &Limits) -> Result<Output, AgentError> {
    let limit = limits.max_output_bytes;
    let json = |values: &[serde_json::Value]| -> usize {
        if values.is_empty() {
            0
        } else {
            values.iter().map(|value| value.to_string().len()).sum()
        }
    };
    let size = output.text.as_ref().map_or(0, String::len)
        + json(&output.messages)
        + json(&output.tool_calls);
    if size as u64 <= limit {
        return Ok(output);
    }
    let message = format!("answered {size} bytes, more than `limits.max_output_bytes` ({limit})");
    Err(AgentError::of(FailureKind::OutputTooLarge, message))
}

/// Truncates an agent's error text, to which `max_output_bytes` does not apply.
pub(in crate::run) fn truncate(error: &mut AgentError) {
    const MOST: usize = 1 << 16;
    if error.message.len() > MOST {
        let end = error.message.floor_char_boundary(MOST);
        error.message.truncate(end);
        error.message.push('…');
    }
    if let Some(tail) = &mut error.stderr_tail
        && tail.len() > MOST
    {
        *tail = tail[tail.ceil_char_boundary(tail.len() - MOST)..].to_owned();
    }
}
