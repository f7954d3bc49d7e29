//! The files of a run that generated data: how they are named without overwriting other files.
//!
//! `generation.json` in the run directory records the names before the files exist. A run that is killed and resumed
//! writes the same files again, and another run that started in the same second picks other names.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::item::GeneratedItem;
use super::report::generation_report;
use super::statistics::{GenerationStatistics, GenerationTally, model_of};
use crate::data::Variant;
use crate::error::{Error, Result};
use crate::store::files::{JOURNAL, RECORDS, SUMMARY};
use crate::store::journal::Kind;
use crate::store::{RunDir, read_records, stamp_and_id, stamp_of};
use crate::system::file::{
    make_root, open_plain, read_plain, write_atomically, write_atomically_by,
};
use crate::text::{escape_line_ends, file_name};
use crate::verdict::summary::Summary;

/// The file in the run directory with the statistics and the names of the other files.
const GENERATION: &str = "generation.json";
/// The version of `generation.json`.
const FORMAT_VERSION: u32 = 1;
/// Prefixes of eval names that are dropped from file names, which say `generated` already.
const BEGINNINGS: [&str; 4] = ["gen-", "gen_", "generate-", "generate_"];

/// The files written for a run.
#[derive(Clone, Debug)]
pub struct GeneratedFiles {
    /// Path of the items.
    pub items: PathBuf,
    /// Path of the report.
    pub report: PathBuf,
    /// The statistics.
    pub statistics: GenerationStatistics,
}

/// The content of `generation.json`.
#[derive(Debug, Serialize, Deserialize)]
struct GenerationNote {
    format_version: u32,
    /// Names of the files, which are next to the run directory.
    items: String,
    report: String,
    /// `None` until they are written.
    #[serde(default)]
    statistics: Option<GenerationStatistics>,
}

/// Checks that files can be written to a folder, before any request is made.
///
/// # Errors
/// When the folder cannot be created or written to.
pub fn check_writable(folder: &Path) -> Result<()> {
    let hint = |error: Error| error.hint("name another folder: --output DIR");
    make_root(folder).map_err(hint)?;
    let written = tempfile::tempfile_in(folder).map(drop);
    written.map_err(|error| hint(Error::io("write into", folder, &error)))
}

/// Writes the items and the report of a run next to its directory, and the statistics into it.
///
/// # Errors
/// When the run cannot be read, or a file cannot be written.
pub fn write_generated(dir: &RunDir) -> Result<GeneratedFiles> {
    let folder = dir.path().parent().unwrap_or(dir.path()).to_owned();
    let mut generation = claimed(dir, &folder, &dir.manifest()?.eval)?;
    let items = folder.join(&generation.items);
    let report = folder.join(&generation.report);
    let mut figures = None;
    write_atomically_by(&items, |out| {
        let mut is_first = true;
        let read = gathered(dir, &mut |item| {
            let before = if is_first { "[\n" } else { ",\n" };
            is_first = false;
            let text = serde_json::to_string_pretty(&item.to_json());
            let text = text.map_err(|error| Error::infrastructure(error.to_string()))?;
            let mut text = text.replace('\n', "\n  ").into_bytes();
            escape_line_ends(&mut text, 0);
            let written = write!(out, "{before}  ").and_then(|()| out.write_all(&text));
            written.map_err(|error| Error::io("write", &items, &error))
        });
        figures = Some(read);
        out.write_all(if is_first { b"[]\n" } else { b"\n]\n" })
    })?;
    let statistics = match figures {
        Some(read) => read?,
        None => return Err(Error::infrastructure("nothing was written")),
    };
    let mut text = Vec::new();
    let files = GeneratedFiles {
        items,
        report,
        statistics,
    };
    generation_report(&files, dir, &mut text)
        .map_err(|error| Error::io("write", &files.report, &error))?;
    write_atomically(&files.report, &text)?;
    generation.statistics = Some(files.statistics.clone());
    write_claim(dir, &generation)?;
    Ok(files)
}

/// The names of a run's files: the recorded ones, or names that are still free.
fn claimed(dir: &RunDir, folder: &Path, eval: &str) -> Result<GenerationNote> {
    if let Ok(text) = read_plain(&dir.file(GENERATION))
        && let Ok(claimed) = serde_json::from_slice::<GenerationNote>(&text)
        && is_name(&claimed.items)
        && is_name(&claimed.report)
    {
        return Ok(claimed);
    }
    let name = prefix(eval);
    let variant = match &eval[Variant::family_of(eval).len()..] {
        "" => String::new(),
        variant => file_name(&variant.replace(['@', '+'], "_")),
    };
    let time = time(dir)?;
    for number in 1u32.. {
        let end = if number == 1 {
            time.clone()
        } else {
            format!("{time}_{number}")
        };
        let wanted = GenerationNote {
            format_version: FORMAT_VERSION,
            items: format!("{name}_generated_{end}.json"),
            report: format!("generation_report{variant}_{end}.md"),
            statistics: None,
        };
        let paths = [&wanted.items, &wanted.report].map(|name| folder.join(name));
        if paths.iter().any(|path| path.symlink_metadata().is_ok()) {
            continue;
        }
        // Record the names first: a run killed in between would otherwise leave a file that seems to belong to another
        // run.
        write_claim(dir, &wanted)?;
        if made(&paths)? {
            return Ok(wanted);
        }
    }
    Err(Error::infrastructure("no name is left for the items"))
}

/// Creates empty files; false if one of them exists by now.
fn made(paths: &[PathBuf; 2]) -> Result<bool> {
    for (place, path) in paths.iter().enumerate() {
        match fs::File::create_new(path) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                // Remove the empty file that was just created.
                paths[..place].iter().for_each(|ours| {
                    let _ = fs::remove_file(ours);
                });
                return Ok(false);
            }
            Err(error) => return Err(Error::io("write", path, &error)),
        }
    }
    Ok(true)
}

fn write_claim(dir: &RunDir, generation: &GenerationNote) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(generation)
        .map_err(|error| Error::infrastructure(error.to_string()))?;
    text.push(b'\n');
    dir.write(GENERATION, &text)
}

/// Whether a text from a file is a plain file name that does not lead out of the folder.
fn is_name(text: &str) -> bool {
    Path::new(text).file_name().is_some_and(|name| name == text)
}

/// The start of the file names: the eval's name, followed by its variant.
fn prefix(eval: &str) -> String {
    let family = Variant::family_of(eval);
    let variant = &eval[family.len()..];
    let short = BEGINNINGS
        .iter()
        .find_map(|beginning| family.strip_prefix(beginning))
        .filter(|rest| !rest.is_empty());
    let variant = variant.replace(['@', '+'], "_");
    file_name(&format!("{}{variant}", short.unwrap_or(family)))
}

/// When the run started, in the form used in file names: `20260131_235959`.
fn time(dir: &RunDir) -> Result<String> {
    let stamp = match stamp_and_id(dir.path()) {
        Some((stamp, _)) => stamp.to_owned(),
        None => stamp_of(&dir.manifest()?.started_at),
    };
    Ok(stamp.replace('T', "_").replace('Z', ""))
}

/// Size of the read buffer, in bytes.
const BUFFER: usize = 1 << 17;

/// Passes every accepted item to `see`, in the order of the prompts, and returns the statistics.
pub(super) fn gathered(
    dir: &RunDir,
    see: &mut dyn FnMut(&GeneratedItem) -> Result<()>,
) -> Result<GenerationStatistics> {
    let manifest = dir.manifest()?;
    let summary = Summary::read(&dir.file(SUMMARY))?;
    let times = times(dir)?;
    let model = model_of(&manifest.config);
    let mut tally = GenerationTally::default();
    for record in read_records(&dir.file(RECORDS))? {
        let record = record?;
        let time = times.get(&(record.sample_id.clone(), record.epoch));
        let item = GeneratedItem::of(&record, model, time.map(String::as_str));
        tally.add(&record, item.as_ref());
        if let Some(item) = &item {
            see(item)?;
        }
    }
    Ok(tally.figures(&manifest, &summary))
}

/// The fields of a journal line that tell when a reply came. The rest of the line is long and skipped.
#[derive(Deserialize)]
struct ReplyEvent<'a> {
    #[serde(borrow)]
    sample_id: Cow<'a, str>,
    epoch: u32,
    kind: Kind,
    #[serde(borrow)]
    time: Cow<'a, str>,
}

/// When the reply that was scored came, for each sample in each epoch. Lines that cannot be read are skipped: the time
/// affects no statistic.
fn times(dir: &RunDir) -> Result<HashMap<(String, u32), String>> {
    let path = dir.file(JOURNAL);
    let mut journal = match open_plain(&path) {
        Ok(file) => BufReader::with_capacity(BUFFER, file),
        // A rescored run has no journal.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(HashMap::new()),
        Err(error) => return Err(Error::io("read", &path, &error)),
    };
    let mut answered = HashMap::new();
    let mut times = HashMap::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = journal.read_until(b'\n', &mut line);
        if read.map_err(|error| Error::io("read", &path, &error))? == 0 {
            return Ok(times);
        }
        let Ok(event) = serde_json::from_slice::<ReplyEvent<'_>>(&line) else {
            continue;
        };
        match event.kind {
            Kind::Answered => {
                let key = (event.sample_id.into_owned(), event.epoch);
                answered.insert(key, event.time.into_owned());
            }
            Kind::Scored => {
                let key = (event.sample_id.into_owned(), event.epoch);
                if let Some(time) = answered.remove(&key) {
                    times.insert(key, time);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_contain_benchmark_and_model() {
        let check = |eval: &str, expect: &str| assert_eq!(prefix(eval), expect, "{eval}");
        check("aime", "aime");
        check("gen-aime", "aime");
        check("generate-code", "code");
        check("gen-", "gen-");
        check("gen-aime@small", "aime_small");
        check("aime@gpt-4.1+short", "aime_gpt-4.1_short");
    }
    #[test]
    fn nobody_elses_files_are_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let run = |id: &str| {
            let path = folder.path().join(format!("20260131T235959Z_{id}"));
            RunDir::create_at(&path).unwrap()
        };
        let names = |dir: &RunDir| claimed(dir, folder.path(), "gen-aime").unwrap().items;
        let (one, two) = (run("one"), run("two"));
        let first = "aime_generated_20260131_235959.json";
        assert_eq!(names(&one), first);
        assert_eq!(names(&two), "aime_generated_20260131_235959_2.json");
        // A resumed run keeps its names.
        assert_eq!(names(&one), first);
        // A name cannot lead out of the folder.
        let claim = r#"{ "format_version": 1, "items": "../elsewhere.json", "report": "r.md" }"#;
        one.write(GENERATION, claim.as_bytes()).unwrap();
        assert_eq!(names(&one), "aime_generated_20260131_235959_3.json");
    }
}
