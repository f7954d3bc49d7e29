//! What went wrong, by what it has in common: errors by kind, wrong answers by reason, scorers that contradict each other,
//! the slowest and the dearest.

use std::io::{self, Write};

use crate::figure::{Seconds, Usd};
use crate::report::render::html::escape::{cut, text};
use crate::verdict::groups::{GroupedFailures, SampleFigure, WrongGroup};

/// Reasons of wrong answers that are told at once; the others are one click away.
const MOST_REASONS: usize = 12;

/// Writes what went wrong; nothing where nothing did. Recorded answers were given before the run.
pub(super) fn problems(
    groups: &GroupedFailures,
    is_recorded: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let is_any = !groups.errors.is_empty() || !groups.disagreements.is_empty();
    if is_any || !groups.wrong.is_empty() {
        writeln!(out, "<h3>What went wrong</h3>\n<ul>")?;
        for group in &groups.errors {
            let kind = group.kind.replace('_', " ");
            item(
                "warn",
                group.count,
                &format!("error: {kind}"),
                &group.ids,
                out,
            )?;
            if !group.example.is_empty() {
                writeln!(
                    out,
                    "<br><span class=\"soft t\">{}</span>",
                    cut(&group.example, 300)
                )?;
            }
            writeln!(out, "</li>")?;
        }
        let (first, rest) = groups.wrong.split_at(groups.wrong.len().min(MOST_REASONS));
        first.iter().try_for_each(|group| wrong(group, out))?;
        if !rest.is_empty() {
            let more = rest.len();
            writeln!(
                out,
                "<li><details><summary>{more} more of the reasons of wrong answers</summary><ul>"
            )?;
            rest.iter().try_for_each(|group| wrong(group, out))?;
            writeln!(out, "</ul></details></li>")?;
        }
        for group in &groups.disagreements {
            let decides = group.scorer.as_deref().unwrap_or("the scorer that decides");
            let (by, against) = if group.accepted {
                ("accepts", "rejects")
            } else {
                ("rejects", "accepts")
            };
            let told = format!("{decides} {by} what {} {against}", group.other);
            item("warn", group.count, &told, &group.ids, out)?;
            writeln!(out, "</li>")?;
        }
        writeln!(out, "</ul>")?;
    }
    // How long answers took that were given before is not known.
    if !is_recorded {
        let seconds = |value: f64| Seconds(value).to_string();
        ranked("The slowest", &groups.slowest, &seconds, out)?;
    }
    let dollars = |value: f64| Usd(value).to_string();
    ranked("The dearest", &groups.dearest, &dollars, out)
}

fn wrong(group: &WrongGroup, out: &mut dyn Write) -> io::Result<()> {
    let reason = match group.reason.as_deref() {
        // Not every scorer gives one.
        Some("") => "wrong, without a reason".to_owned(),
        Some(reason) => format!("wrong: {}", reason.replace('_', " ")),
        None => "wrong: other reasons".to_owned(),
    };
    item("bad", group.count, &reason, &group.ids, out)?;
    writeln!(out, "</li>")
}

fn item(
    class: &str,
    count: u64,
    what: &str,
    ids: &[String],
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(
        out,
        "<li class=\"ids\"><b>{count}</b> <span class=\"{class}\">{}</span>:",
        cut(what, 200)
    )?;
    for id in ids.iter().take(5) {
        write!(out, " <code>{}</code>", text(id))?;
    }
    if count > 5 && ids.len() > 5 {
        write!(out, " …")?;
    }
    Ok(())
}

fn ranked(
    title: &str,
    samples: &[SampleFigure],
    shown: &dyn Fn(f64) -> String,
    out: &mut dyn Write,
) -> io::Result<()> {
    let samples: Vec<_> = samples.iter().filter(|it| it.value >= 1e-6).collect();
    if samples.len() < 2 {
        return Ok(());
    }
    write!(out, "<details class=\"ids\"><summary>{title}</summary><ol>")?;
    for sample in samples {
        let epoch = match sample.epoch {
            0 => String::new(),
            epoch => format!(", epoch {epoch}"),
        };
        write!(
            out,
            "<li>{} <code>{}</code>{epoch}</li>",
            shown(sample.value),
            text(&sample.id)
        )?;
    }
    writeln!(out, "</ol></details>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::groups::FailureGroups;

    #[test]
    fn wrong_answers_are_told_whether_of_one_reason_or_of_many() {
        fn told(reasons: usize) -> String {
            let mut groups = FailureGroups::new(None).finish();
            groups.wrong = (0..reasons)
                .map(|number| WrongGroup {
                    reason: Some(format!("value_error:{number}")),
                    count: 2,
                    ids: vec![format!("q{number}")],
                })
                .collect();
            let mut out = Vec::new();
            problems(&groups, false, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        }
        assert_eq!(told(0), "");
        let one = told(1);
        assert!(
            one.contains(
                "<b>2</b> <span class=\"bad\">wrong: value error:0</span>: <code>q0</code>"
            ),
            "{one}"
        );
        let many = told(20);
        assert!(
            many.contains("value error:19<") && many.contains(">8 more of"),
            "{many}"
        );
    }
}
