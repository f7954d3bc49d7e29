//! `cargo evaltest show`.

mod failures;
mod judged;
mod progress;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use evaltest::engine::data::shown_prediction;
use evaltest::engine::figure::Seconds;
use evaltest::engine::report::masked::PublicWords;
use evaltest::engine::report::reported::{MaskedTexts, ReportedRun};
use evaltest::engine::report::terminal::in_epoch;
use evaltest::engine::store::{Carried, RunDir, files, read_carried, read_records};
use evaltest::engine::text::{clean, excerpt};
use evaltest::engine::verdict::FailureGroups;
use evaltest::summary::RefusedAnswer;
use evaltest::{Error, Exit, Normalized, Outcome, Record, Result, Score};
use serde_json::{Map, Value};

use crate::console;
use crate::run_ids::typed_folder;
use crate::runs::{seen_run, tell_part};

/// Show one sample of a run: prompt, answer, what was compared, verdict, attempts
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The run directory, or the name of an eval, whose last run is meant; when left out that of the last run
    #[arg(value_parser = typed_folder())]
    run_dir: Option<PathBuf>,

    /// The sample's id, or its beginning; all samples in short when left out
    id: Option<String>,

    /// Which of several epochs is shown whole, from 0
    #[arg(long, value_name = "N", requires = "id")]
    epoch: Option<u32>,

    /// Print only what went wrong, in groups: errors by kind, wrong answers by reason, scorers that disagree, slices
    #[arg(long, conflicts_with = "id")]
    failures: bool,

    /// With `--failures`: show what agents and scorers said of an eval whose snapshots are masked, too
    #[arg(long, requires = "failures")]
    show_texts: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// So many samples are named of each group of failures: alone, and below the list of all samples.
const NAMED: [usize; 2] = [10, 5];

pub(crate) fn run(args: &ShowArgs) -> Result<Exit> {
    let dir = seen_run(args.run_dir.as_deref())?;
    tell_part(&dir)?;
    let path = dir.file(files::RECORDS);
    let Some(wanted) = &args.id else {
        let groups = FailureGroups::new(decides(&dir).as_deref());
        let [alone, below] = NAMED;
        if args.failures {
            let mut groups = groups.naming(alone);
            let manifest = dir.manifest()?;
            let hides = manifest.masked && !args.show_texts;
            let public = hides.then(|| PublicWords::of(&manifest));
            for record in read_records(&path)? {
                let mut record = record?;
                if let Some(public) = &public {
                    public.hide(&mut record);
                }
                groups.add(&record);
            }
            let groups = groups.finish();
            if args.json {
                console::print_json(&groups)?;
            } else {
                console::print_data(|out| failures::alone(&groups, alone, out))?;
            }
        } else if args.json {
            let records = read_carried(&path)?.map(|record| json(&record?));
            console::print_json_list(records)?;
        } else {
            let mut groups = groups.naming(below);
            console::print_each(read_records(&path)?, |record, out| {
                groups.add(&record);
                line(&record, out)
            })?;
            console::print_data(|out| failures::failures(&groups.finish(), below, out))?;
        }
        return Ok(Exit::Passed);
    };
    let epochs = find(read_carried(&path)?, wanted, &dir)?;
    let epoch = args.epoch.unwrap_or(0);
    let shown = epochs.iter().find(|carried| carried.known.epoch == epoch);
    let Some(shown) = shown else {
        let message = format!(
            "`{}` has no epoch {epoch}",
            clean(&epochs[0].known.sample_id)
        );
        let last = epochs.iter().map(|carried| carried.known.epoch).max();
        return Err(Error::usage(message).hint(format!("the last is {}", last.unwrap_or(0))));
    };
    let record = &shown.known;
    let mut attempts = dir.attempts(&record.sample_id)?;
    attempts.retain(|event| event["epoch"] == epoch);
    if args.json {
        let mut value = json(shown)?;
        value["events"] = attempts.into();
        console::print_json(&value)?;
    } else {
        console::print_data(|out| {
            if epochs.len() > 1 {
                let mut records = epochs.iter().map(|carried| &carried.known);
                records.try_for_each(|record| line(record, out))?;
                writeln!(out, "epoch {epoch} (another with `--epoch N`):")?;
            }
            whole(record, &attempts, out)
        })?;
    }
    Ok(Exit::Passed)
}

/// The name of the scorer that decides, where the run has a summary.
fn decides(dir: &RunDir) -> Option<String> {
    let run = ReportedRun::read(dir.clone(), MaskedTexts::Shown);
    run.ok()?.summary.scorer
}

/// A record with all of its members.
fn json(record: &Carried<Record>) -> Result<Value> {
    record
        .to_value()
        .map_err(|error| Error::infrastructure(format!("the record cannot be shown: {error}")))
}

/// The records of the sample with this id, else of the only one whose id begins so; never none.
fn find(
    records: impl Iterator<Item = Result<Carried<Record>>>,
    wanted: &str,
    dir: &RunDir,
) -> Result<Vec<Carried<Record>>> {
    let mut exact = Vec::new();
    let mut similar: Vec<Vec<Carried<Record>>> = Vec::new();
    for record in records {
        let record = record?;
        let id = &record.known.sample_id;
        // As the id is, or as it is shown.
        if id == wanted || wanted.contains('\\') && clean(id) == *wanted {
            exact.push(record);
            continue;
        }
        if !exact.is_empty() {
            // The epochs of a sample stand side by side.
            return Ok(exact);
        }
        let is_known = |epochs: &Vec<Carried<Record>>| epochs[0].known.sample_id == *id;
        let has_room = similar.len() < 4;
        match similar.last_mut().filter(|epochs| is_known(epochs)) {
            Some(epochs) => epochs.push(record),
            None if id.starts_with(wanted) && has_room => {
                similar.push(vec![record]);
            }
            None => {}
        }
    }
    if !exact.is_empty() {
        return Ok(exact);
    }
    if similar.len() == 1 {
        return Ok(similar.remove(0));
    }
    let error = Error::usage(format!(
        "run `{}` has no sample `{wanted}`",
        dir.path().display()
    ));
    Err(if similar.is_empty() {
        error.hint(format!("cargo evaltest show {}", dir.path().display()))
    } else {
        let ids: Vec<_> = similar
            .iter()
            .map(|epochs| clean(&epochs[0].known.sample_id))
            .collect();
        error.hint(format!("several ids begin so: {}", ids.join(", ")))
    })
}

fn line(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    let outcome = &record.result;
    let verdict = match &outcome.score {
        Some(score) if score.correct => "correct",
        Some(_) => "wrong",
        None => outcome.status.as_str(),
    };
    let said = outcome.error.as_ref().map(|error| error.message.as_str());
    let said = said
        .or(outcome.prediction.as_deref())
        .unwrap_or("(nothing)");
    writeln!(
        out,
        "{verdict:<14} {}{}  {}",
        clean(&record.sample_id),
        in_epoch(record.epoch),
        excerpt(said)
    )?;
    let (id, epoch) = (clean(&record.sample_id), in_epoch(record.epoch));
    outcome.unjudged_beside().try_for_each(|(scorer, reason)| {
        let unread = format!("unread by `{}`", clean(scorer));
        writeln!(out, "{unread:<14} {id}{epoch}  {}", excerpt(reason))
    })
}

/// How often the agent was asked, and how long the answer took.
fn asked(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    if outcome.cached {
        writeln!(
            out,
            "from the cache: it was given before, then in {}",
            Seconds(outcome.latency_s)
        )
    } else {
        writeln!(
            out,
            "attempts: {}, latency of the last: {}",
            outcome.attempts,
            Seconds(outcome.latency_s)
        )
    }
}

fn whole(record: &Record, attempts: &[Value], out: &mut dyn Write) -> io::Result<()> {
    let outcome = &record.result;
    writeln!(
        out,
        "sample: {} of eval {}",
        clean(&record.sample_id),
        clean(&record.eval)
    )?;
    for (dimension, value) in &record.slices {
        writeln!(
            out,
            "{}: {}",
            clean(dimension),
            clean(value.as_str().unwrap_or_default())
        )?;
    }
    let verdict = outcome
        .score
        .as_ref()
        .map(|score| if score.correct { "correct" } else { "wrong" });
    writeln!(
        out,
        "status: {}{}",
        outcome.status.as_str(),
        verdict.map(|word| format!(", {word}")).unwrap_or_default()
    )?;
    block("prompt", &record.prompt, out)?;
    let raw = outcome
        .output
        .as_ref()
        .and_then(|output| output.text.as_deref());
    block("raw answer", raw.unwrap_or("(none)"), out)?;
    if let Some(output) = &outcome.output
        && !output.tool_calls.is_empty()
    {
        let calls = output.tool_calls.iter().map(Value::to_string);
        block("tool calls", &calls.collect::<Vec<_>>().join("\n"), out)?;
    }
    block(
        "extracted",
        outcome.prediction.as_deref().unwrap_or("(none)"),
        out,
    )?;
    if !record.ground_truth.is_null() {
        let truth = record.ground_truth.as_str().map(str::to_owned);
        let truth = truth.unwrap_or_else(|| record.ground_truth.to_string());
        block("ground truth", &truth, out)?;
    }
    if let Some(score) = &outcome.score {
        verdict_of(score, out)?;
    }
    for (name, score) in &outcome.scores {
        writeln!(out, "scorer {}: {}", clean(name), clean(&score.to_string()))?;
    }
    judged::judged(&outcome.judged, out)?;
    if let Some(output) = &outcome.output {
        told(&output.metadata, out)?;
    }
    if let Some(usage) = &outcome.usage {
        writeln!(
            out,
            "usage: {} input tokens, {} output tokens, {} USD",
            or_unknown(usage.input_tokens),
            or_unknown(usage.output_tokens),
            or_unknown(usage.cost_usd)
        )?;
    }
    asked(outcome, out)?;
    refused(&outcome.refused, out)?;
    progress::progress(attempts, out)?;
    for event in attempts.iter().filter(|event| event["kind"] == "failed") {
        let message = event["error"]["message"].as_str().unwrap_or_default();
        writeln!(
            out,
            "  attempt {} failed: {}",
            event["attempt"],
            clean(message)
        )?;
    }
    if let Some(error) = &outcome.error {
        block("error", &error.message, out)?;
        if let Some(limit) = error.ended_by {
            writeln!(out, "ended by: `{}`", limit.key())?;
        }
        if let Some(code) = error.exit_code {
            writeln!(out, "exit code: {code}")?;
        }
        if let Some(tail) = &error.stderr_tail {
            block("stderr (end)", tail, out)?;
        }
    }
    if outcome.redacted > 0 {
        writeln!(out, "redacted: {} places", outcome.redacted)?;
    }
    Ok(())
}

/// Why answers were refused before the last one.
fn refused(refused: &[RefusedAnswer], out: &mut dyn Write) -> io::Result<()> {
    for refused in refused {
        let why = refused.details.get("why").and_then(Value::as_str);
        writeln!(
            out,
            "refused: attempt {}, {}{}",
            refused.attempt,
            clean(&refused.reason),
            why.map(|why| format!(": {}", excerpt(why)))
                .unwrap_or_default()
        )?;
    }
    Ok(())
}

/// What was compared, the verdict, and why: what scorers say in words first.
fn verdict_of(score: &Score, out: &mut dyn Write) -> io::Result<()> {
    let sides = [&score.normalized_prediction, &score.normalized_ground_truth];
    if sides.iter().any(|side| **side != Normalized::None) {
        let said = shown_prediction(score);
        let [prediction, truth] = [&said, &score.normalized_ground_truth].map(normalized);
        // A judge may have had nothing to compare it with.
        match score.normalized_ground_truth {
            Normalized::None => writeln!(out, "judged: {prediction}")?,
            _ => writeln!(out, "compared: {prediction} with {truth}")?,
        }
    }
    writeln!(out, "score: {} ({})", score.value, clean(&score.reason))?;
    for key in ["difference", "faults", "unsatisfiable"] {
        match score.details.get(key) {
            Some(Value::String(words)) => writeln!(out, "{key}: {}", clean(words))?,
            Some(Value::Array(items)) => {
                let mut words = items.iter().filter_map(Value::as_str);
                words.try_for_each(|words| writeln!(out, "{key}: {}", clean(words)))?;
            }
            _ => {}
        }
    }
    if score.details.is_empty() {
        return Ok(());
    }
    let details = serde_json::to_string(&score.details).unwrap_or_default();
    writeln!(out, "details: {}", clean(&details))
}

/// What the agent tells of its answer, a line each.
fn told(metadata: &Map<String, Value>, out: &mut dyn Write) -> io::Result<()> {
    for (key, value) in metadata {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        writeln!(out, "{}: {}", clean(&key.replace('_', " ")), clean(&value))?;
    }
    Ok(())
}

fn block(title: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{title}:")?;
    text.lines()
        .try_for_each(|line| writeln!(out, "  {}", clean(line)))
}

fn normalized(side: &Normalized) -> String {
    match side {
        Normalized::None => "(not told)".to_owned(),
        Normalized::Text(text) => format!("\"{}\"", clean(text)),
        Normalized::List(items) => format!("[{}]", clean(&items.join(" | "))),
    }
}

fn or_unknown(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "?".to_owned(), |value| value.to_string())
}
