//! The samples of a run as lines, and the run and sample that are meant by names and the beginning of an id.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use evaltest::engine::report::terminal::in_epoch;
use evaltest::engine::store::{Carried, RunDir, files, read_records};
use evaltest::engine::text::{clean, excerpt, shell_word};
use evaltest::engine::verdict::Subject;
use evaltest::{Error, Record, Result, Status};

use super::ShowArgs;
use crate::runs::{LastRun, open_run, open_run_or};

/// The run to show, and the arguments with the id, which may be the only argument.
pub(super) fn with_run(args: &ShowArgs) -> Result<(PathBuf, ShowArgs)> {
    let Some(name) = &args.run_dir else {
        return Ok((path_of(&LastRun::find()?, ""), args.clone()));
    };
    if args.id.is_some() {
        return Ok((name.clone(), args.clone()));
    }
    let sample = (!args.failures).then_some("a sample of the last run");
    match open_run_or(name, sample) {
        Ok(_) if args.epoch.is_some() || args.against.is_some() => {
            let name = name.display();
            Err(
                Error::usage("`--epoch` and `--against` need the id of a sample")
                    .hint(format!("list the ids: cargo evaltest show {name}")),
            )
        }
        found => {
            let is_run = found.as_ref().is_ok_and(|dir| !is_only_part(name, dir));
            let name = name.to_str().filter(|_| sample.is_some() && !is_run);
            let is_id = |id: &str, name: &str| match &found {
                Ok(_) => id == name,
                Err(_) => id.starts_with(name),
            };
            let last = name.and_then(|name| last_run_with(|id| is_id(id, name)));
            let Some((id, last)) = name.zip(last) else {
                return Ok((found?.path().to_owned(), args.clone()));
            };
            let run = path_of(&last, &format!(" {}", shell_word(id)));
            let id = Some(id.to_owned());
            Ok((run, ShowArgs { id, ..args.clone() }))
        }
    }
}

/// Whether this is only a part of the run's name, as digits often are. Then it may also be the id of a sample.
fn is_only_part(name: &Path, dir: &RunDir) -> bool {
    let manifest = dir.manifest_unverified();
    let is_known =
        manifest.is_ok_and(|it| [it.run_id, it.eval].iter().any(|it| name == Path::new(it)));
    !is_known && !name.exists() && dir.path().file_name() != Some(name.as_os_str())
}

/// The last run, if it has a sample with such an id.
fn last_run_with(is_id: impl Fn(&str) -> bool) -> Option<LastRun> {
    let last = LastRun::find().ok()?;
    let mut records = read_records(&last.dir.file(files::RECORDS)).ok()?;
    let has_id = records.any(|it| it.is_ok_and(|it| is_id(&clean(&it.sample_id))));
    has_id.then_some(last)
}

/// The directory of the last run. A note says how to show another run of its command.
fn path_of(last: &LastRun, id: &str) -> PathBuf {
    last.note_others(|name| format!("cargo evaltest show {name}{id}"));
    last.dir.path().to_owned()
}

/// The run and the records of the wanted sample, if they can be read without all others.
pub(super) fn by_place(
    run: &Path,
    args: &ShowArgs,
) -> Result<Option<(RunDir, Vec<Carried<Record>>)>> {
    let Some(id) = &args.id else {
        return Ok(None);
    };
    let dir = open_run(run)?;
    let epochs = dir.records_by_place(id).filter(|it| !it.is_empty());
    Ok(epochs.map(|epochs| (dir, epochs)))
}

/// The records of the sample with this id, or else of the only one whose id starts with it; never empty.
pub(super) fn find(
    records: impl Iterator<Item = Result<Carried<Record>>>,
    wanted: &str,
    dir: &RunDir,
) -> Result<Vec<Carried<Record>>> {
    let mut exact = Vec::new();
    let mut has_more = false;
    let mut similar: Vec<Vec<Carried<Record>>> = Vec::new();
    for record in records {
        let record = record?;
        let id = &record.known.sample_id;
        // Match the id itself, or its escaped form as displayed.
        if id == wanted || wanted.contains('\\') && clean(id) == *wanted {
            exact.push(record);
            continue;
        }
        if !exact.is_empty() {
            // The epochs of a sample are adjacent.
            return Ok(exact);
        }
        let is_known = |epochs: &Vec<Carried<Record>>| epochs[0].known.sample_id == *id;
        let has_room = similar.len() < 4;
        match similar.last_mut().filter(|epochs| is_known(epochs)) {
            Some(epochs) => epochs.push(record),
            None if !id.starts_with(wanted) => {}
            None if has_room => similar.push(vec![record]),
            None => has_more = true,
        }
    }
    if !exact.is_empty() {
        return Ok(exact);
    }
    if similar.len() == 1 {
        return Ok(similar.remove(0));
    }
    let path = dir.path().display();
    let message = if similar.is_empty() {
        format!("run `{path}` has no sample `{wanted}`")
    } else {
        let ids = similar.iter().map(|epochs| &epochs[0].known.sample_id);
        let ids: Vec<_> = ids.map(|id| clean(id)).collect();
        let more = if has_more { ", …" } else { "" };
        format!(
            "`{wanted}` is the beginning of several ids: {}{more}",
            ids.join(", ")
        )
    };
    Err(Error::usage(message).hint(format!("cargo evaltest show {path}")))
}

/// The widest id to which the others are aligned.
pub(super) const WIDEST_ID: usize = 40;

/// The id of a sample, with its epoch and perturbation.
fn trial(record: &Record) -> String {
    let perturbed = record.perturb.map(|kind| format!(", {kind}"));
    clean(&record.sample_id) + &perturbed.unwrap_or_default() + &in_epoch(record.epoch)
}

pub(super) fn width(record: &Record) -> usize {
    trial(record).chars().count()
}

pub(super) fn line(
    record: &Record,
    subject: Subject,
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let outcome = &record.result;
    let trial = trial(record);
    let verdict = match (&outcome.score, outcome.status) {
        (Some(score), _) => subject.verdict(score.correct).to_owned(),
        (None, Status::Skipped) => return writeln!(out, "{:<14} {trial}", "not asked"),
        (None, status) => status.as_str().replace('_', " "),
    };
    let message = outcome.error.as_ref().map(|error| error.message.as_str());
    let message = message.or(outcome.prediction.as_deref());
    let message = excerpt(message.unwrap_or("(nothing)"));
    writeln!(out, "{verdict:<14} {trial:width$}  {message}")?;
    outcome.unjudged_beside().try_for_each(|(scorer, reason)| {
        let unread = format!("unread by `{}`", clean(scorer));
        writeln!(out, "{unread:<14} {trial:width$}  {}", excerpt(reason))
    })
}

/// Adds the last line of stderr to the message of a program that failed.
pub(super) fn add_stderr(record: &mut Record) {
    let Some(error) = &mut record.result.error else {
        return;
    };
    let tail = error.stderr_tail.as_deref().unwrap_or_default();
    let mut lines = tail.lines().map(str::trim);
    if let Some(line) = lines.rfind(|line| !line.is_empty()) {
        error.message = format!("{}: {line}", error.message);
    }
}
