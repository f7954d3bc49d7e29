//! The files of a run that generated data: which names they have, and that nobody else's are written over.
//!
//! `generation.json` in the run directory has the names before the files are there: a run that is killed and goes on
//! writes the same again, and another run that began in the same second takes other names.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::gathered::gathered;
use super::report::generation_report;
use super::statistics::GenerationStatistics;
use crate::data::Variant;
use crate::error::{Error, Result};
use crate::store::{RunDir, stamp_and_id, stamp_of};
use crate::system::file::{make_root, read_plain, write_atomically, write_atomically_by};
use crate::text::escape_line_ends;
use crate::text::name::file_name;

/// The figures in a run directory, with the names of the other files.
const GENERATION: &str = "generation.json";
/// The version of that file.
const FORMAT_VERSION: u32 = 1;
/// What the name of an eval may begin with that is of no interest in a name that says `generated`.
const BEGINNINGS: [&str; 4] = ["gen-", "gen_", "generate-", "generate_"];

/// What was written of a run.
#[derive(Clone, Debug)]
pub struct GeneratedFiles {
    /// The items.
    pub items: PathBuf,
    /// The report.
    pub report: PathBuf,
    /// The figures.
    pub statistics: GenerationStatistics,
}

/// The content of `generation.json`.
#[derive(Debug, Serialize, Deserialize)]
struct GenerationNote {
    format_version: u32,
    /// The names of the files, which lie beside the run directory.
    items: String,
    report: String,
    /// `None` until they are written.
    #[serde(default)]
    statistics: Option<GenerationStatistics>,
}

/// Whether files can be written into a folder, before anything is asked.
///
/// # Errors
/// When it cannot be made or written to.
pub fn check_writable(folder: &Path) -> Result<()> {
    let hint = |error: Error| error.hint("name another folder: --output DIR");
    make_root(folder).map_err(hint)?;
    let written = tempfile::tempfile_in(folder).map(drop);
    written.map_err(|error| hint(Error::io("write into", folder, &error)))
}

/// Writes the items and the report of a run beside its directory, and the figures into it.
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

/// The names of a run's files: those that it has, or names that nobody has.
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
        // The name stands in the run directory before the file is there, or a run that is killed in between would leave a
        // file that looks like somebody else's.
        write_claim(dir, &wanted)?;
        if made(&paths)? {
            return Ok(wanted);
        }
    }
    Err(Error::infrastructure("no name is left for the items"))
}

/// Makes empty files; false where one of them is there meanwhile.
fn made(paths: &[PathBuf; 2]) -> Result<bool> {
    for (place, path) in paths.iter().enumerate() {
        match fs::File::create_new(path) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                // The empty file that was made a moment ago.
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

/// Whether a text that a file has is the name of a file, and no way out of the folder.
fn is_name(text: &str) -> bool {
    Path::new(text).file_name().is_some_and(|name| name == text)
}

/// What the names begin with: that of the eval, with the agent of several.
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

/// When the run began, as names have it: `20260131_235959`.
fn time(dir: &RunDir) -> Result<String> {
    let stamp = match stamp_and_id(dir.path()) {
        Some((stamp, _)) => stamp.to_owned(),
        None => stamp_of(&dir.manifest()?.started_at),
    };
    Ok(stamp.replace('T', "_").replace('Z', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_of_what_and_of_whom() {
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
        // A run that goes on has the names that it had.
        assert_eq!(names(&one), first);
        // A name is no way out of the folder.
        let claim = r#"{ "format_version": 1, "items": "../elsewhere.json", "report": "r.md" }"#;
        one.write(GENERATION, claim.as_bytes()).unwrap();
        assert_eq!(names(&one), "aime_generated_20260131_235959_3.json");
    }
}
