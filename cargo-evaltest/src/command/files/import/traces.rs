//! Traces of production as questions, or as a run.

use evaltest::engine::text::{Override, clean, shell_word};
use evaltest::engine::traces::{self, TraceFiles, TraceFilter, TraceFormat, TraceScorers};
use evaltest::{Eval, Exit, Result};
use serde_json::{Value, json};

use super::{ImportArgs, ImportFormat, Imports};
use crate::{console, discover};

/// The format, if it is one of traces.
pub(super) fn format(format: ImportFormat) -> Option<TraceFormat> {
    match format {
        ImportFormat::Otel => Some(TraceFormat::Otel),
        ImportFormat::OpenInference => Some(TraceFormat::OpenInference),
        ImportFormat::Langfuse => Some(TraceFormat::Langfuse),
        ImportFormat::Atif => Some(TraceFormat::Atif),
        ImportFormat::Bfcl | ImportFormat::Inspect | ImportFormat::Transcripts => None,
    }
}

fn files(args: &ImportArgs) -> Result<TraceFiles> {
    let filter = args.filter.as_deref().map(TraceFilter::parse);
    Ok(TraceFiles {
        paths: args.paths.clone(),
        format: format(args.format).unwrap_or(TraceFormat::Otel),
        filter: filter.transpose()?,
    })
}

/// Appends questions to the file, and reports what was written and what was not.
pub(super) fn questions(args: &ImportArgs) -> Result<Exit> {
    let files = files(args)?;
    let output = args.output.clone().unwrap_or_default();
    let spec = args.spec.as_ref().map(discover::one_spec).transpose()?;
    let mut patterns = spec.map_or(Ok(Vec::new()), |spec| traces::redact_of_spec(&spec))?;
    patterns.extend(args.redact_pattern.iter().cloned());
    let done = files.write_questions(&output, &patterns)?;
    let counts = &done.counts;
    for notice in counts.notices(files.format) {
        console::note(&clean(&notice));
    }
    let name = output.display().to_string();
    let warning = format!(
        "`{name}` contains texts of users: known secrets and matches of `redact` are redacted, but personal data \
         cannot be found reliably; read it before you share it"
    );
    if args.json {
        console::print_json(&json!({
            "output": name,
            "read": counts.read,
            "written": done.written,
            "already_there": done.already_there,
            "filtered_out": counts.filtered,
            "without_content": counts.without_content,
            "without_content_ids": counts.without_content_ids,
            "bad": counts.bad.count,
            "bad_lines": counts.bad.first,
            "redacted": done.redacted,
            "notices": [warning],
        }))?;
        return Ok(Exit::Passed);
    }
    console::print(|out| {
        writeln!(
            out,
            "{} read, {} written, {} already there, {} filtered out, {} without content{}",
            many(counts.read, "trace"),
            done.written,
            done.already_there,
            counts.filtered,
            counts.without_content,
            match counts.bad.count {
                0 => String::new(),
                bad => format!(", {bad} bad"),
            }
        )?;
        if done.written > 0 {
            let lines = match done.written {
                1 => "1 line awaits".to_owned(),
                written => format!("{written} lines await"),
            };
            let command = format!("cargo evaltest review {}", shell_word(&name));
            writeln!(out, "{}", clean(&format!("{lines} an answer: {command}")))?;
        }
        writeln!(out, "{}", clean(&warning))
    })?;
    Ok(Exit::Passed)
}

fn many(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The eval of a run.
pub(super) fn run(args: &ImportArgs, base: Option<Eval>) -> Result<Imports> {
    let files = files(args)?;
    let given = args.scorer.iter().map(|scorer| Override::value(scorer));
    let scorers = TraceScorers {
        given: given.collect::<Result<Vec<Value>>>()?,
        correct_at: args.correct_at,
    };
    let imported = files.load(base, &scorers)?;
    let mut notices = imported.notices;
    let counts = &imported.counts;
    if counts.filtered > 0 {
        notices.push(format!(
            "{} of {} skipped by `--where`",
            counts.filtered,
            many(counts.read, "trace")
        ));
    }
    notices.extend(counts.notices(files.format));
    Ok(Imports {
        eval: imported.eval,
        whole: counts.bad.count == 0,
        model: json!(imported.model),
        notices,
        missing: "some lines could not be read",
    })
}
