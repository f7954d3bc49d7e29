//! Imports and exports a run of the official program, and compares the files with the original ones.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::{BfclExport, ExportOptions, Model, find, write};
use crate::engine::leaderboard::{Import, Mode};
use crate::store::files::RECORDS;
use crate::store::{RunDir, read_records};
use crate::tests::{needs, parity};

const FOLDER: &str = "bfcl/official-run";

/// The exported files, and the official ones.
fn exported(to: &Path) -> (BfclExport, PathBuf) {
    let official = parity::path(FOLDER);
    let import = Import {
        files: find(&official, None, None).unwrap(),
        data: Some(parity::path("bfcl/data")),
        mode: Mode::Auto,
        underscore_to_dot: None,
    };
    let imported = import.load(None).unwrap();
    assert!(!imported.whole, "it has a part of each category");
    let run = imported.eval.output_root(to.join("runs")).run().unwrap();
    let dir = RunDir::open(&run.dir).unwrap();
    let mut model = Model::new("oracle").unwrap();
    for pair in [
        "display_name=Oracle (Prompt)",
        "url=http://example",
        "organization=evaltest",
        "license=apache-2.0",
    ] {
        model.set(pair).unwrap();
    }
    let records = read_records(&dir.file(RECORDS)).unwrap();
    let manifest = dir.manifest().unwrap();
    let options = ExportOptions::new(model);
    let exported = write(records, (&manifest, "run"), &options, &to.join("files")).unwrap();
    (exported, official)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(folder).into_iter().flatten();
    let files = entries.filter(|entry| entry.file_type().is_file());
    let mut files: Vec<_> = files.map(walkdir::DirEntry::into_path).collect();
    files.sort();
    files
}

fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    text.split('\n').map(str::to_owned).collect()
}

/// Ignore messages of `CPython`'s parser.
fn without_parser_message(line: &str) -> Json {
    let mut line: Json = serde_json::from_str(line).unwrap();
    let begins = |error: &Json, start| {
        error[0]
            .as_str()
            .is_some_and(|text| text.starts_with(start))
    };
    let decoder = line["error_type"] == "ast_decoder:decoder_failed"
        && begins(&line["error"], "Invalid syntax. Failed to decode AST. ");
    let relevance = line["error_type"] == "relevance_error:decoder_failed";
    if decoder || relevance {
        line["error"] = Json::Null;
    }
    line
}

#[needs(data = "bfcl/official-run", data = "bfcl/data")]
#[test]
fn files_are_those_of_the_official_program() {
    let folder = tempfile::tempdir().unwrap();
    let (exported, official) = exported(folder.path());
    assert_eq!(exported.categories.len(), 13);
    assert!(exported.excluded.is_empty() && exported.disputed.is_empty());
    let ours = folder.path().join("files/score");
    let theirs = official.join("score");
    let names = |folder: &Path| {
        let names = files(folder).into_iter();
        let names = names.map(|path| path.strip_prefix(folder).unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(&ours), names(&theirs));
    let (mut all, mut equal) = (0, 0);
    for name in names(&theirs) {
        let (ours, theirs) = (lines(&ours.join(&name)), lines(&theirs.join(&name)));
        assert_eq!(ours.len(), theirs.len(), "{name:?}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            all += 1;
            equal += usize::from(ours == theirs);
            if ours != theirs {
                assert!(
                    name.extension().is_some_and(|end| end == "json"),
                    "{name:?}"
                );
                let (ours, theirs) = (without_parser_message(ours), without_parser_message(theirs));
                assert_eq!(ours.to_string(), theirs.to_string(), "{name:?}");
            }
        }
    }
    assert!(equal * 100 >= all * 94, "{equal} of {all} lines are equal");
}

#[needs(data = "bfcl/official-run", data = "bfcl/data")]
#[test]
fn answers_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let (_, official) = exported(folder.path());
    let all = |folder: &Path| {
        let mut lines: Vec<(String, Json)> = files(folder)
            .iter()
            .flat_map(|path| lines(path))
            .filter(|line| !line.is_empty())
            .map(|line| {
                let line: Json = serde_json::from_str(&line).unwrap();
                (line["id"].as_str().unwrap().to_owned(), line)
            })
            .collect();
        lines.sort_by(|one, other| one.0.cmp(&other.0));
        lines
    };
    let ours = all(&folder.path().join("files/result"));
    let theirs = all(&official.join("result"));
    assert!(theirs.len() > 500);
    // The order of members is irrelevant.
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
}
