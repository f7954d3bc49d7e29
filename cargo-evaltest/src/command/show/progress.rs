//! What `show` tells of what an agent said while it worked.

use std::io::{self, Write};

use evaltest::engine::text::excerpt;
use serde_json::Value;

/// A line for each, with the attempt where there were several.
pub(super) fn progress(events: &[Value], out: &mut dyn Write) -> io::Result<()> {
    let told = events.iter().filter(|event| event["kind"] == "progress");
    let mut told = told.peekable();
    if told.peek().is_none() {
        return Ok(());
    }
    writeln!(out, "progress:")?;
    let has_several = events.iter().any(|event| event["attempt"] != 1);
    told.try_for_each(|event| {
        let attempt = match &event["attempt"] {
            attempt if has_several => format!("attempt {attempt}: "),
            _ => String::new(),
        };
        match event["progress"].as_str() {
            Some(text) => writeln!(out, "  {attempt}{}", excerpt(text)),
            None => writeln!(out, "  {attempt}… and {} more", event["left_out"]),
        }
    })
}
