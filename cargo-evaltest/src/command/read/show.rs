//! `cargo evaltest show`.

mod against;
mod chat;
mod failures;
mod samples;
mod values;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::Args;
use evaltest::engine::data::display_prediction;
use evaltest::engine::figure::{Seconds, Usd};
use evaltest::engine::report::document::{Block, Document, list};
use evaltest::engine::report::figures::{ReportedSample, SampleOutcome};
use evaltest::engine::report::render::terminal;
use evaltest::engine::report::render::terminal::Paint;
use evaltest::engine::report::reported::masked::PublicWords;
use evaltest::engine::report::reported::{MaskedTexts, ReportedRun, subject_of};
use evaltest::engine::store::{Carried, RunDir, files, read_carried, read_records};
use evaltest::engine::text::{clean, excerpt};
use evaltest::engine::verdict::{FailureGroups, Subject};
use evaltest::summary::FoundBy;
use evaltest::{Error, Exit, JudgeCall, Normalized, Outcome, Output, Record, Result, Score};
use serde_json::Value;

use super::summarize::{self, SummarizeArgs};
use crate::console;
use crate::run_ids::typed_folder;
use crate::runs::{BASELINE, note_part, seen_run};
use chat::{chat, until_failure};
use samples::{WIDEST_ID, add_stderr, by_place, find, line, width, with_run};
use values::in_words;

/// Show a run: its samples, one sample in full, failures or the summary
///
/// Of one sample it shows the prompt, the answer, what was compared, the verdict and the attempts.
#[derive(Clone, Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "options of the command line")]
pub(crate) struct ShowArgs {
    /// A run directory, or an eval's name for its last run; default: the last run
    #[arg(value_parser = typed_folder())]
    run_dir: Option<PathBuf>,

    /// A sample's id or its beginning, without a run for the last run; default: a line for each sample
    id: Option<String>,

    /// The epoch to show in full, from 0; default: the first that is wrong or an error, else 0
    #[arg(long, value_name = "N", requires = "run_dir", conflicts_with_all = ["failures", "summary"])]
    epoch: Option<u32>,

    /// Show the answer side by side with that of another run: a run directory, an eval, or `baseline`
    #[arg(long, value_name = "RUN", requires = "run_dir", conflicts_with_all = ["failures", "summary"])]
    against: Option<PathBuf>,

    /// Show only failures, in groups: errors by kind, wrong answers by reason, scorers that disagree, slices
    #[arg(long, conflicts_with = "id")]
    failures: bool,

    /// With `--failures`: show texts even if the eval's snapshots are masked
    #[arg(long, requires = "failures")]
    show_texts: bool,

    /// Show only the recomputed summary, with details
    #[arg(long, conflicts_with_all = ["id", "failures"])]
    summary: bool,

    /// With `--summary`: print Markdown, `summary.md`
    #[arg(long, requires = "summary", conflicts_with = "json")]
    markdown: bool,

    /// Print JSON; with `--summary` that is `summary.json`
    #[arg(long)]
    json: bool,
}

/// Maximum number of samples listed per group of failures: alone, and below the list of all samples.
const NAMED: [usize; 2] = [10, 5];
/// Number of samples whose ids determine the width of their column.
const ALIGNED: usize = 1_000;
/// Maximum number of wrong samples whose question and answer are known.
const MOST_KNOWN: usize = 10_000;

pub(crate) fn run(args: &ShowArgs) -> Result<Exit> {
    if args.summary {
        return summarize::run(&SummarizeArgs {
            run_dir: args.run_dir.clone(),
            json: args.json,
            markdown: args.markdown,
        });
    }
    let (run, args) = &with_run(args)?;
    let by_place = by_place(run, args)?;
    let dir = match &by_place {
        Some((dir, _)) => dir.clone(),
        None => seen_run(run)?,
    };
    note_part(&dir)?;
    let path = dir.file(files::RECORDS);
    let manifest = dir.manifest_unverified();
    let subject = manifest.map_or(Subject::Answers, |it| subject_of(&it));
    let Some(wanted) = &args.id else {
        return all(args, &dir, &path, subject);
    };
    let epochs = match by_place {
        Some((_, epochs)) => epochs,
        None => find(read_carried(&path)?, wanted, &dir)?,
    };
    let mut records = epochs.iter().map(|carried| &carried.known);
    let failing = records.find(|record| SampleOutcome::of(record).is_failing());
    let epoch = args.epoch.or(failing.map(|record| record.epoch));
    let epoch = epoch.unwrap_or(0);
    let selected = epochs.iter().find(|carried| carried.known.epoch == epoch);
    let Some(selected) = selected else {
        let message = format!(
            "`{}` has no epoch {epoch}",
            clean(&epochs[0].known.sample_id)
        );
        let last = epochs.iter().map(|carried| carried.known.epoch).max();
        return Err(Error::usage(message).hint(format!("the last is {}", last.unwrap_or(0))));
    };
    let record = &selected.known;
    let mut attempts = dir.attempts(&record.sample_id)?;
    attempts.retain(|event| event["epoch"] == epoch);
    if let Some(against) = &args.against {
        let other = against::run_of(&dir, against)?;
        let before = against::record_of(&other, record)?;
        if args.json {
            let mut value = json(selected)?;
            value["against"] = serde_json::to_value(&before)
                .map_err(|error| Error::infrastructure(error.to_string()))?;
            console::print_json(&value)?;
        } else {
            let names = [&other, &dir].map(|dir| dir.path().file_name().unwrap_or_default());
            let names = names.map(|name| name.to_string_lossy());
            let is_baseline = against.as_os_str() == BASELINE;
            let text = against::side_by_side(record, &before, [&names[0], &names[1]], is_baseline);
            console::print_data(|out| terminal::blocks(&text.blocks, 0, Paint::Plain, out))?;
        }
        return Ok(Exit::Passed);
    }
    if args.json {
        let mut value = json(selected)?;
        value["events"] = attempts.into();
        console::print_json(&value)?;
    } else {
        console::print_data(|out| {
            if epochs.len() > 1 {
                let mut records = epochs.iter().map(|carried| &carried.known);
                let width = records.clone().map(width).max().unwrap_or_default();
                records.try_for_each(|record| line(record, subject, width, out))?;
                writeln!(out, "epoch {epoch} (another with `--epoch N`):")?;
            }
            let whole = whole(record, &attempts, subject);
            terminal::blocks(&whole.blocks, 0, Paint::Plain, out)
        })?;
    }
    Ok(Exit::Passed)
}

/// Shows all samples in short, or what went wrong.
fn all(args: &ShowArgs, dir: &RunDir, path: &Path, subject: Subject) -> Result<Exit> {
    let groups = FailureGroups::new(decides(dir).as_deref());
    let [alone, below] = NAMED;
    if args.failures {
        let mut groups = groups.naming(alone);
        let manifest = dir.manifest_unverified()?;
        let hides = manifest.masked && !args.show_texts;
        let public = hides.then(|| PublicWords::of(&manifest));
        let mut known = HashMap::new();
        for record in read_records(path)? {
            let mut record = record?;
            if let Some(public) = &public {
                public.hide(&mut record);
            } else if SampleOutcome::of(&record) == SampleOutcome::Wrong && known.len() < MOST_KNOWN
            {
                known
                    .entry(record.sample_id.clone())
                    .or_insert_with(|| ReportedSample::of(&record));
            }
            if !hides && !args.json {
                add_stderr(&mut record);
            }
            groups.add(&record);
        }
        let groups = groups.finish();
        if args.json {
            console::print_json(&groups)?;
        } else {
            let text = failures::failures(&groups, alone, &known, subject);
            let text = text.unwrap_or_else(|| Document::new("nothing failed"));
            console::print_data(|out| terminal::document(&text, Paint::Plain, out))?;
        }
    } else if args.json {
        let records = read_carried(path)?.map(|record| json(&record?));
        console::print_json_list(records)?;
    } else {
        let mut groups = groups.naming(below);
        // The first ones are enough to align a screen. A damaged one is reported below, after those before it.
        let first = read_records(path)?.take(ALIGNED).map_while(Result::ok);
        let widest = first.map(|record| width(&record)).max();
        console::print_each(read_records(path)?, |record, out| {
            groups.add(&record);
            line(
                &record,
                subject,
                widest.unwrap_or_default().min(WIDEST_ID),
                out,
            )
        })?;
        let groups = groups.finish();
        if let Some(text) = failures::failures(&groups, below, &HashMap::new(), subject) {
            console::print_data(|out| {
                writeln!(out)?;
                terminal::document(&text, Paint::Plain, out)
            })?;
        }
    }
    Ok(Exit::Passed)
}

/// The deciding scorer's name, if the run has a summary.
fn decides(dir: &RunDir) -> Option<String> {
    let run = ReportedRun::read(dir.clone(), MaskedTexts::Visible);
    run.ok()?.summary.scorer
}

/// A record with all of its members as JSON.
fn json(record: &Carried<Record>) -> Result<Value> {
    record
        .to_value()
        .map_err(|error| Error::infrastructure(format!("the record cannot be shown: {error}")))
}

/// All details of a record.
fn whole(record: &Record, attempts: &[Value], subject: Subject) -> Document {
    let outcome = &record.result;
    let mut text = Document::default();
    // The id escaped as displayed, so that it cannot act as a CI command.
    let id = clean(&record.sample_id);
    text.paragraph(format!("sample: {id} of eval {}", record.eval));
    for (dimension, value) in &record.slices {
        text.paragraph(format!(
            "{dimension}: {}",
            value.as_str().unwrap_or_default()
        ));
    }
    let status = outcome.status.as_str();
    text.paragraph(match &outcome.score {
        Some(score) => format!("status: {status}, {}", subject.verdict(score.correct)),
        None => format!("status: {status}"),
    });
    let output = outcome.output.as_ref();
    let messages = output.map_or(&[][..], |output| &output.messages);
    if let Some(ended) = outcome.ended.filter(|_| !messages.is_empty()) {
        let title = format!(
            "conversation, ended by {}",
            ended.as_str().replace('_', " ")
        );
        text.blocks.push(titled(&title, &chat(messages)));
    } else if let messages @ [_, ..] = &*until_failure(attempts) {
        let title = "conversation until the failure";
        text.blocks.push(titled(title, &chat(messages)));
    } else {
        text.blocks.push(titled("prompt", &record.prompt));
        let raw = output.and_then(|output| output.text.as_deref());
        text.blocks
            .push(titled("raw answer", raw.unwrap_or("(none)")));
    }
    if let Some(state) = &outcome.state {
        text.blocks
            .push(titled("state", &truncate(&state.to_string())));
    }
    if let Some(output) = output.filter(|output| !output.tool_calls.is_empty()) {
        let calls = output.tool_calls.iter().map(Value::to_string);
        let calls = calls.collect::<Vec<_>>().join("\n");
        text.blocks.push(titled("tool calls", &calls));
    }
    let extracted = outcome.prediction.as_deref().unwrap_or("(none)");
    text.blocks.push(titled("extracted", extracted));
    if let Some(by) = outcome.found_by {
        text.paragraph(match by {
            FoundBy::Nothing => {
                "extracted by: nothing (the answer has nothing to extract)".to_owned()
            }
            by => format!("extracted by: {}", by.words()),
        });
    }
    if !record.ground_truth.is_null() {
        let truth = plain(&record.ground_truth);
        text.blocks.push(titled("ground truth", &truth));
    }
    if let Some(score) = &outcome.score {
        verdict_of(score, &mut text);
    }
    // The deciding one is above. Another may give the same score.
    let deciding = serde_json::to_value(&outcome.score).unwrap_or_default();
    let decides = outcome.scores.values().position(|score| *score == deciding);
    let others = outcome.scores.iter().enumerate();
    let others = others.filter(|(place, _)| Some(*place) != decides);
    text.list(others.map(|(_, (name, score))| format!("scorer `{name}`: {}", in_words(score))));
    text.blocks.extend(outcome.judged.iter().map(call));
    // Metadata that the agent returned with its answer.
    let metadata = output.into_iter().flat_map(|output| &output.metadata);
    text.list(metadata.map(|(key, value)| format!("{}: {}", key.replace('_', " "), plain(value))));
    if let Some(usage) = &outcome.usage {
        text.paragraph(format!(
            "usage: {} input tokens, {} output tokens, cost {}",
            or_unknown(usage.input_tokens),
            or_unknown(usage.output_tokens),
            or_unknown(usage.cost_usd.map(Usd))
        ));
    }
    let latency = Seconds(outcome.latency_s);
    text.paragraph(if outcome.cached {
        format!("from the cache; the original answer took {latency}")
    } else {
        let attempts = outcome.attempts;
        format!("attempts: {attempts}, latency of the last: {latency}")
    });
    text.list(outcome.refused.iter().map(|refused| {
        let why = refused.details.get("why").and_then(Value::as_str);
        let why = why.map(|why| format!(": {}", excerpt(why)));
        let (attempt, reason) = (refused.attempt, &refused.reason);
        format!(
            "refused: attempt {attempt}, {reason}{}",
            why.unwrap_or_default()
        )
    }));
    progress(attempts, &mut text);
    ended(outcome, attempts, &mut text);
    text
}

/// The agent's progress messages, with the attempt number if there were several.
fn progress(events: &[Value], text: &mut Document) {
    let has_several = events.iter().any(|event| event["attempt"] != 1);
    let of_progress = events.iter().filter(|event| event["kind"] == "progress");
    let lines = list(of_progress.map(|event| {
        let attempt = match &event["attempt"] {
            attempt if has_several => format!("attempt {attempt}: "),
            _ => String::new(),
        };
        match event["progress"].as_str() {
            Some(text) => format!("{attempt}{}", excerpt(text)),
            None => format!("{attempt}… and {} more", event["left_out"]),
        }
    }));
    text.blocks
        .extend(lines.map(|lines| Block::group("progress:", [lines])));
}

/// The error that ended the sample.
fn ended(outcome: &Outcome, attempts: &[Value], text: &mut Document) {
    let failed = attempts.iter().filter(|event| event["kind"] == "failed");
    text.blocks.extend(failed.map(|event| {
        let message = event["error"]["message"].as_str().unwrap_or_default();
        let attempt = &event["attempt"];
        Block::Verbatim(format!("  attempt {attempt} failed: {}", clean(message)))
    }));
    if let Some(error) = &outcome.error {
        text.blocks.push(titled("error", &error.message));
        // One attempt of one is ended by no limit.
        let ended_by = error.ended_by.map(evaltest::EndedBy::key);
        let ended_by = ended_by.filter(|key| outcome.attempts > 1 || *key != "limits.retries");
        if let Some(key) = ended_by {
            text.paragraph(format!("ended by: `{key}`"));
        }
        if let Some(code) = error.exit_code {
            text.paragraph(format!("exit code: {code}"));
        }
        let tail = error.stderr_tail.as_deref();
        text.blocks
            .extend(tail.map(|tail| titled("stderr (end)", tail)));
    }
    if outcome.redacted > 0 {
        text.paragraph(format!("redacted: {} places", outcome.redacted));
    }
}

/// What was compared, the verdict, and why: explanations by scorers come first.
fn verdict_of(score: &Score, text: &mut Document) {
    let sides = [&score.normalized_prediction, &score.normalized_ground_truth];
    if sides.iter().any(|side| **side != Normalized::None) {
        let prediction = display_prediction(score);
        let [prediction, truth] = [&prediction, &score.normalized_ground_truth].map(normalized);
        // A judge may work without a ground truth.
        text.paragraph(match score.normalized_ground_truth {
            Normalized::None => format!("judged: {prediction}"),
            _ => format!("compared: {prediction} with {truth}"),
        });
    }
    text.paragraph(format!("score: {} ({})", score.value, score.reason));
    let mut details = serde_json::to_value(&score.details).unwrap_or_default();
    for key in ["difference", "faults", "unsatisfiable"] {
        let found = score.details.get(key);
        let items = match found.and_then(Value::as_array) {
            Some(items) => items.iter().collect(),
            None => Vec::from_iter(found),
        };
        let Some(words) = items
            .into_iter()
            .map(Value::as_str)
            .collect::<Option<Vec<_>>>()
        else {
            continue;
        };
        text.list(words.iter().map(|words| format!("{key}: {words}")));
        if let Value::Object(details) = &mut details {
            details.shift_remove(key);
        }
    }
    let details = in_words(&details);
    if !details.is_empty() {
        text.paragraph(format!("details: {details}"));
    }
}

/// A title followed by a multi-line text.
fn titled(title: &str, text: &str) -> Block {
    Block::group(format!("{title}:"), [Block::Verbatim(text.to_owned())])
}

/// A string as it is, other values as JSON.
fn plain(value: &Value) -> String {
    let text = value.as_str().map(str::to_owned);
    text.unwrap_or_else(|| value.to_string())
}

fn normalized(side: &Normalized) -> String {
    match side {
        Normalized::None => "none".to_owned(),
        Normalized::Text(text) => format!("\"{text}\""),
        Normalized::List(items) => format!("[{}]", items.join(" | ")),
    }
}

fn or_unknown(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "unknown".to_owned(), |value| value.to_string())
}

/// Maximum characters shown of a reply; `--json` has all of it.
const MAX_CHARS: usize = 1_000;

/// A judge request and its result.
fn call(call: &JudgeCall) -> Block {
    let mut whom = vec![format!("judge `{}`", call.scorer)];
    if call.repeat > 0 {
        whom.push(format!("repeat {}", call.repeat));
    }
    if call.again > 0 {
        whom.push("asked again".to_owned());
    }
    let mut how = vec![format!("by {}", call.form.as_str())];
    let output = call.output.as_ref();
    how.extend(
        output
            .and_then(Output::answered_by)
            .map(|model| format!("model {model}")),
    );
    how.push(if call.cached {
        "from the cache".to_owned()
    } else if call.stored {
        "stored by an earlier run of the same answers".to_owned()
    } else {
        format!("attempts {}, {}", call.attempts, Seconds(call.latency_s))
    });
    how.extend(call.usage().map(|usage| {
        format!(
            "{} input tokens, {} output tokens, cost {}",
            or_unknown(usage.input_tokens),
            or_unknown(usage.output_tokens),
            or_unknown(usage.cost_usd.map(Usd))
        )
    }));
    let title = format!("{}: {}", whom.join(", "), how.join(", "));
    let unread = call
        .unread
        .map(|reason| format!("no verdict: {}", reason.as_str()));
    let error = call.error.as_ref();
    let error = error.map(|error| format!("failed: {}", excerpt(&error.message)));
    let lines = list(unread.into_iter().chain(error));
    let text = output.and_then(|output| output.text.as_deref());
    let reply = text.map(|text| Block::Verbatim(truncate(text)));
    Block::group(title, lines.into_iter().chain(reply))
}

/// Truncates a reply that is longer than a screen.
fn truncate(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(MAX_CHARS) else {
        return text.to_owned();
    };
    let (rendered, rest) = text.split_at(end);
    let remaining = rest.chars().count();
    let line_end = if rendered.ends_with('\n') { "" } else { "\n" };
    format!("{rendered}{line_end}… and {remaining} more characters (all of it with `--json`)")
}

#[cfg(test)]
mod tests {
    use evaltest::engine::report::render::terminal::{self, Paint};
    use serde_json::json;

    use super::*;

    fn rendered(calls: &serde_json::Value) -> String {
        let calls: Vec<JudgeCall> = serde_json::from_value(calls.clone()).unwrap();
        let calls: Vec<Block> = calls.iter().map(call).collect();
        let mut out = Vec::new();
        terminal::blocks(&calls, 0, Paint::Plain, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_call_shows_judge_request_and_result() {
        let usage = json!({"input_tokens": 30, "output_tokens": 6, "cost_usd": 0.01});
        let output =
            |text: &str| json!({"text": text, "metadata": {"model": "m-1"}, "usage": usage});
        let calls = json!([
            {"scorer": "judge", "key": "k", "form": "schema", "attempts": 2, "latency_s": 0.5,
             "output": output("{\"clarity\": 4}\n\u{1b}[31m"), "unread": "conflicting"},
            {"scorer": "judge", "key": "k", "again": 1, "attempts": 1, "latency_s": 0.25, "cached": true,
             "output": output("{}")},
            {"scorer": "judge", "key": "k", "repeat": 2, "attempts": 3, "latency_s": 9.0,
             "error": {"kind": "timed_out", "message": "no reply"}},
        ]);
        let expect = "judge `judge`: by schema, model m-1, attempts 2, 0.5 s, 30 input tokens, 6 output tokens, cost 0.0100 \
                      USD\n  no verdict: conflicting\n  {\"clarity\": 4}\n  \\u{1b}[31m\n\
                      judge `judge`, asked again: by text, model m-1, from the cache, 30 input tokens, 6 output tokens, \
                      cost 0.0100 USD\n  {}\n\
                      judge `judge`, repeat 2: by text, attempts 3, 9.0 s\n  failed: no reply\n";
        assert_eq!(rendered(&calls), expect);
        assert_eq!(rendered(&json!([])), "");
    }

    #[test]
    fn long_reply_is_truncated() {
        let text = "ö".repeat(MAX_CHARS + 7);
        let calls = json!([{"scorer": "j", "key": "k", "attempts": 1, "latency_s": 1.0, "output": {"text": text}}]);
        let rendered = rendered(&calls);
        assert!(rendered.ends_with("  … and 7 more characters (all of it with `--json`)\n"));
        assert_eq!(rendered.matches('ö').count(), MAX_CHARS);
    }
}
