//! What became of the alerts of a run, for people.

use std::io::{self, Write};

use super::markdown::{row, section, table};
use super::render::markdown::text;
use crate::text::clean;
use crate::verdict::alert::{AlertResult, AlertVerdict};
use crate::verdict::summary::Summary;

/// A line for each: those that are raised first, and in full.
pub(super) fn in_terminal(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    for alert in in_order(summary) {
        let verdict = match alert.verdict {
            AlertVerdict::Raised => "RAISED",
            AlertVerdict::Quiet => "quiet",
            AlertVerdict::Silent => "silent",
        };
        let (name, message) = (clean(&alert.alert), clean(&alert.message));
        let since = alert
            .since
            .as_deref()
            .map_or_else(String::new, |since| format!(" (since {})", clean(since)));
        writeln!(out, "  alert {name}: {verdict}: {message}{since}")?;
    }
    Ok(())
}

/// A table in Markdown.
pub(super) fn in_markdown(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    if summary.alerts.is_empty() {
        return Ok(());
    }
    section(out, "Alerts")?;
    table(out, &["alert", "verdict", "message"])?;
    in_order(summary).try_for_each(|alert| {
        let verdict = format!("**{}**", alert.verdict.as_str());
        row(out, &[text(&alert.alert), verdict, text(&alert.message)])
    })
}

fn in_order(summary: &Summary) -> impl Iterator<Item = &AlertResult> {
    let of = |raised: bool| {
        let alerts = summary.alerts.iter();
        alerts.filter(move |alert| alert.is_raised() == raised)
    };
    of(true).chain(of(false))
}
