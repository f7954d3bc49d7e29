//! Which run directories to merge: named or found below a folder, the newest complete one of each shard.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::pieces::name_of;
use crate::data::Shard;
use crate::error::{Error, Result};
use crate::store::files::{JOURNAL, MANIFEST, PLACES, RECORDS, SUMMARY};
use crate::store::journal::{holds_answers, is_held};
use crate::store::{DEFAULT_OUTPUT_ROOT, Manifest, RunDir, RunStatus, UNFINISHED, going_on};
use crate::system::file::absolute;
use crate::system::project::display;
use crate::text::setting::Override;
use crate::text::{clean, shell_word};

/// How deep to search for parts: unpacked archives have folders of their own.
const DEPTH: usize = 4;

/// The parts of an eval, in an order that does not depend on how they were named.
pub struct FoundParts {
    /// The eval's name.
    pub eval: String,
    pub(super) dirs: Vec<RunDir>,
    /// The folder in which they were found, if only one was named.
    pub(super) folder: Option<PathBuf>,
    /// Notices, such as which of several attempts counts.
    pub(super) notices: Vec<String>,
}

/// A part and its manifest.
struct FoundPart {
    dir: RunDir,
    manifest: Manifest,
}

impl FoundPart {
    fn shard(&self) -> Option<Shard> {
        self.manifest.part.as_ref()?.shard
    }

    fn name(&self) -> String {
        name_of(&self.dir, &self.manifest)
    }

    /// The options it was run with, as far as recorded, for other parts of the same run.
    fn options(&self) -> String {
        let manifest = &self.manifest;
        let tier = manifest.tier.as_ref();
        let balance = manifest.part.as_ref().and_then(|of| of.balance.as_ref());
        let balance = balance.and_then(|name| name.split(' ').next());
        let changes = manifest.overrides.iter();
        let changes = changes.filter(|change| change.key != Override::DRAWN_SEED);
        let root = self.dir.path().parent().map(display);
        let root =
            root.filter(|root| Path::new(root).file_name() != Some(DEFAULT_OUTPUT_ROOT.as_ref()));
        let options = [
            tier.map(|tier| ("tier", tier.clone())),
            balance.map(|run| ("balance", run.to_owned())),
        ];
        let options = options.into_iter().flatten();
        let options = options.chain(changes.map(|change| ("set", change.plain())));
        let options = options.chain(root.map(|root| ("output-root", root)));
        let words = options.map(|(name, value)| format!(" --{name} {}", shell_word(&value)));
        words.collect()
    }

    /// A part left by nextest counts as whole: its missing samples are in no places of it.
    fn is_whole(&self) -> bool {
        match self.manifest.status {
            RunStatus::Finished => true,
            RunStatus::Running => false,
            RunStatus::Interrupted | RunStatus::Stopped => self.shard().is_none(),
        }
    }
}

/// The parts in these folders, each of which is a part or contains some, by eval.
///
/// # Errors
/// When there is none, when one cannot be read, is in progress or was never finished, or shards are missing.
pub fn found_parts(named: &[PathBuf]) -> Result<Vec<FoundParts>> {
    let mut evals: BTreeMap<String, Vec<FoundPart>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut notices = BTreeSet::new();
    for path in named {
        let mut below = Below::default();
        if is_run(path) {
            below.parts.push(part_named(path)?);
        } else {
            find_parts(path, DEPTH, &mut below)?;
            if below.parts.is_empty() {
                let message = format!("`{}` has no shard of a run", display(path));
                return Err(Error::usage(message).hint(
                    "pass the folder with the run directories of `cargo evaltest run --shard m/n`",
                ));
            }
        }
        let unborn = below.unborn.iter().map(|path| {
            let how = if is_held(&path.join(JOURNAL)) {
                "has just begun"
            } else {
                "was killed before it asked a sample"
            };
            format!("`{}` {how}, and is ignored", display(path))
        });
        notices.extend(unborn);
        for part in below.parts {
            let place = fs::canonicalize(part.dir.path());
            if seen.insert(place.unwrap_or_else(|_| part.dir.path().to_owned())) {
                let eval = part.manifest.eval.clone();
                evals.entry(eval).or_default().push(part);
            } else {
                notices.insert(format!("{} is named twice", part.name()));
            }
        }
    }
    let mut found = Vec::new();
    for (eval, parts) in evals {
        let folder = match named {
            [folder] if !is_run(folder) => Some(absolute(folder)?),
            _ => None,
        };
        let parts = chosen(eval, parts)?;
        found.push(FoundParts { folder, ..parts });
    }
    if let Some(first) = found.first_mut() {
        first.notices.extend(notices);
    }
    Ok(found)
}

/// What is found below a folder.
#[derive(Default)]
struct Below {
    parts: Vec<FoundPart>,
    /// Empty run directories: their manifest is not written yet, and perhaps never will be.
    unborn: Vec<PathBuf>,
}

/// Whether a folder is a run directory, as others may have a `manifest.json`, too.
fn is_run(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).exists();
    has(JOURNAL) || has(MANIFEST) && [RECORDS, PLACES, SUMMARY].into_iter().any(has)
}

/// A run directory that is named.
fn part_named(path: &Path) -> Result<FoundPart> {
    let dir = RunDir::open(path)?;
    let manifest = dir.manifest()?;
    if manifest.part.is_none() {
        let what = if manifest.merged.is_empty() {
            "it is a separate run"
        } else {
            "it was merged already"
        };
        let message = format!("run `{}` is not a shard: {what}", display(path));
        return Err(Error::usage(message)
            .hint("merge the run directories of `cargo evaltest run --shard m/n`"));
    }
    Ok(FoundPart { dir, manifest })
}

/// Collects the parts below a folder. Whole runs are skipped.
fn find_parts(folder: &Path, depth: usize, found: &mut Below) -> Result<()> {
    let hint = "pass run directories of shards, or the folder that has them";
    let entries = fs::read_dir(folder);
    let entries = entries.map_err(|error| Error::io("read", folder, &error).hint(hint))?;
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| Error::io("read", folder, &error))?;
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        // A link to another folder may lead into a cycle.
        if is_folder || is_run(&entry.path()) {
            paths.push(entry.path());
        }
    }
    paths.sort();
    for path in paths {
        if path.to_string_lossy().ends_with(UNFINISHED) {
            continue;
        }
        if is_run(&path) {
            if !path.join(MANIFEST).exists() && !holds_answers(&path.join(JOURNAL)) {
                found.unborn.push(path);
                continue;
            }
            let dir = RunDir::open(&path)?;
            let manifest = dir.manifest()?;
            if manifest.part.is_some() {
                found.parts.push(FoundPart { dir, manifest });
            }
        } else if depth > 1 {
            find_parts(&path, depth - 1, found)?;
        }
    }
    Ok(())
}

/// The newest complete run of each shard.
fn chosen(eval: String, mut parts: Vec<FoundPart>) -> Result<FoundParts> {
    check_same_split(&parts)?;
    let mut notices = Vec::new();
    // The newest last.
    let key = |part: &FoundPart| {
        let manifest = &part.manifest;
        let of = (manifest.ended_at.clone(), manifest.started_at.clone());
        (part.shard(), part.is_whole(), of, manifest.run_id.clone())
    };
    parts.sort_by_cached_key(|part| (key(part), part.dir.path().to_owned()));
    let mut newest: Vec<FoundPart> = Vec::new();
    for part in parts {
        let Some(before) = newest.last() else {
            newest.push(part);
            continue;
        };
        let is_copy = before.manifest.run_id == part.manifest.run_id
            && before.manifest.artifacts == part.manifest.artifacts;
        if is_copy && before.is_whole() {
            notices.push(format!("{} is listed twice: it counts once", part.name()));
            continue;
        }
        if before.shard().is_none() || before.shard() != part.shard() {
            newest.push(part);
            continue;
        }
        let (old, new) = (&before.manifest.run_id, &part.manifest.run_id);
        let why = if part.is_whole() && !before.is_whole() {
            "which did not finish"
        } else {
            "which is older"
        };
        notices.push(format!(
            "{} was run more than once: `{}` counts, and `{}` does not, {why}",
            part.name(),
            clean(new),
            clean(old)
        ));
        newest.pop();
        newest.push(part);
    }
    if let Some(open) = newest.iter().find(|part| !part.is_whole()) {
        return Err(unfinished(open));
    }
    none_missing(&newest)?;
    Ok(FoundParts {
        eval,
        dirs: newest.into_iter().map(|part| part.dir).collect(),
        folder: None,
        notices,
    })
}

/// Checks that all of them were split in the same way.
fn check_same_split(parts: &[FoundPart]) -> Result<()> {
    let Some(first) = parts.first() else {
        return Ok(());
    };
    let of = |part: &FoundPart| part.shard().map(Shard::of);
    let balance = |part: &FoundPart| {
        part.manifest
            .part
            .as_ref()
            .and_then(|of| of.balance.clone())
    };
    for part in parts {
        let what = if of(part) != of(first) {
            "they have another number of shards"
        } else if balance(part) != balance(first) {
            "they are balanced differently (`--balance`)"
        } else {
            continue;
        };
        let message = format!(
            "{} and {} cannot be merged: {what}: `{}`, `{}`",
            first.name(),
            part.name(),
            display(first.dir.path()),
            display(part.dir.path())
        );
        return Err(Error::usage(message).hint("pass the run directories of one set of shards"));
    }
    Ok(())
}

/// The error for a shard without a complete run.
fn unfinished(part: &FoundPart) -> Error {
    let dir = display(part.dir.path());
    if part.manifest.status == RunStatus::Running && part.dir.is_going_on() {
        return going_on(&dir);
    }
    let how = match part.manifest.status {
        RunStatus::Running => "was killed before its end",
        RunStatus::Interrupted => "was interrupted",
        RunStatus::Stopped | RunStatus::Finished => "stopped early",
    };
    let message = format!("{} {how}: run `{dir}`", part.name());
    Error::usage(message).hint(format!("cargo evaltest run --resume {}", shell_word(&dir)))
}

/// Checks that no shard is missing.
fn none_missing(parts: &[FoundPart]) -> Result<()> {
    let there: BTreeSet<Shard> = parts.iter().filter_map(FoundPart::shard).collect();
    let Some(of) = there.first().map(|shard| shard.of()) else {
        return Ok(());
    };
    let missing = (1..=of).filter_map(|index| Shard::new(index, of).ok());
    let missing: Vec<Shard> = missing.filter(|shard| !there.contains(shard)).collect();
    let Some(first) = missing.first() else {
        return Ok(());
    };
    let named: Vec<_> = missing.iter().take(20).map(Shard::to_string).collect();
    let more = match missing.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shards = if missing.len() == 1 {
        "shard"
    } else {
        "shards"
    };
    let message = format!(
        "eval `{}` is incomplete: missing {shards} {}{more}",
        clean(&parts[0].manifest.eval),
        named.join(", ")
    );
    let again = parts[0].manifest.run_again_as(Some(*first));
    Err(Error::usage(message).hint(format!("{again}{}", parts[0].options())))
}
