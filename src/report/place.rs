//! `CodePlaces`: the lines of a repository that gates and samples of a run stand on, where services of CI show them.
//!
//! A sample stands in its dataset, where that is a file of text in the repository. One that is masked is not, nor is one of
//! the Hub: then it is the gates of the spec that the sample is shown at.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::reported::ReportedRun;
use crate::data::dataset::{Rows, python_json, scalar};
use crate::system::project::root;
use crate::verdict::gate::Gate;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CodePlace {
    /// Relative to the checkout, with `/`.
    pub(super) path: String,
    /// From 1.
    pub(super) line: u64,
}

/// The files of a run.
pub(super) struct CodePlaces {
    spec: Option<CodeFile>,
    dataset: Option<CodeFile>,
    /// The columns that may hold the id.
    ids: Vec<String>,
}

/// A file in the checkout.
struct CodeFile {
    path: PathBuf,
    shown: String,
}

impl CodeFile {
    fn of(path: &Path, workspace: &Path) -> Option<Self> {
        let path = path.canonicalize().ok().filter(|path| path.is_file())?;
        let inside = path.strip_prefix(workspace.canonicalize().ok()?).ok()?;
        let names = inside.iter().map(|name| name.to_string_lossy());
        let shown = names.collect::<Vec<_>>().join("/");
        Some(Self { path, shown })
    }

    fn at(&self, line: u64) -> CodePlace {
        CodePlace {
            path: self.shown.clone(),
            line,
        }
    }
}

impl CodePlaces {
    pub(super) fn of(run: &ReportedRun, workspace: &Path) -> Self {
        let manifest = &run.manifest;
        let in_project = manifest.spec_in_project.as_ref();
        let here = in_project.map(|spec| root().join(spec));
        let mut specs = manifest.spec.iter().chain(&here);
        let spec = specs.find_map(|spec| CodeFile::of(spec, workspace));
        let benchmark = manifest.config.get("benchmark");
        let key = |name: &str| benchmark.and_then(|keys| keys.pointer(name));
        let path = key("/path").and_then(Value::as_str);
        let path = path.filter(|_| !manifest.masked && manifest.dataset.is_none());
        let dataset = path.and_then(|path| {
            let folder = spec.as_ref().and_then(|spec| spec.path.parent());
            CodeFile::of(&folder.unwrap_or(&root()).join(path), workspace)
        });
        let named = key("/columns/id").and_then(Value::as_str);
        let usual: &[&str] = match &*manifest.benchmark {
            "gaia" => &["task_id", "id"],
            _ => &["id", "ID", "task_id", "sample_id", "problem_id", "_id"],
        };
        let ids = match named {
            Some(name) => vec![name.to_owned()],
            None => usual.iter().map(|&name| name.to_owned()).collect(),
        };
        Self { spec, dataset, ids }
    }

    /// Where a gate stands in the spec.
    pub(super) fn gate(&self, gate: Option<&Gate>) -> Option<CodePlace> {
        let spec = self.spec.as_ref()?;
        let text = fs::read_to_string(&spec.path).unwrap_or_default();
        let lines = || (1..).zip(text.lines());
        let begin = lines().find(|(_, line)| line.trim_start().starts_with("gates:"));
        let Some((begin, _)) = begin else {
            return Some(spec.at(1));
        };
        let is_it = |line: &str| {
            let item = line.trim().strip_prefix('-').unwrap_or_default();
            let item = item.split(" #").next().unwrap_or_default();
            let item = item.trim().trim_matches(['"', '\'']);
            item.parse::<Gate>().is_ok_and(|found| Some(&found) == gate)
        };
        let found = lines().find(|(number, line)| *number > begin && is_it(line));
        Some(spec.at(found.map_or(begin, |(number, _)| number)))
    }

    /// Where samples stand; all of them at the gates where their dataset is not to be seen.
    pub(super) fn samples(&self, ids: &HashSet<&str>) -> HashMap<String, CodePlace> {
        let mut found = HashMap::new();
        if ids.is_empty() {
            return found;
        }
        if let Some(dataset) = &self.dataset {
            let mut see = |row: usize, line: u64, fields: &Map<String, Value>| {
                let id = self.id_of(row, fields);
                if ids.contains(&*id) {
                    found.insert(id, dataset.at(line));
                }
                found.len() < ids.len()
            };
            each_row(&dataset.path, &mut see);
        }
        let other = self.gate(None);
        for id in ids {
            if let (false, Some(other)) = (found.contains_key(*id), &other) {
                found.insert((*id).to_owned(), other.clone());
            }
        }
        found
    }

    /// The id of a row; without a column of ids its number, from 0.
    fn id_of(&self, row: usize, fields: &Map<String, Value>) -> String {
        let mut cells = self.ids.iter().filter_map(|name| cell(fields, name));
        let id = cells.find_map(|id| scalar("id", Some(id)).ok().flatten());
        id.unwrap_or_else(|| row.to_string())
    }
}

/// A column, or one within another: `doc.id`.
fn cell<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let within = || {
        let (outer, inner) = name.split_once('.')?;
        cell(fields.get(outer)?.as_object()?, inner)
    };
    fields.get(name).or_else(within)
}

/// Sees a row: its number from 0, its line, its fields. Tells whether it wants more.
type SeeRow<'a> = &'a mut dyn FnMut(usize, u64, &Map<String, Value>) -> bool;

/// Shows each row of a file of text with its number from 0 and its line, until somebody has seen enough. What cannot be read
/// ends it: this is about where to look, and the run has told of the rest.
fn each_row(path: &Path, see: SeeRow<'_>) {
    /// Of a format that is read as a whole.
    const WHOLE: u64 = 16 << 20;
    let end = path.extension().unwrap_or_default().to_ascii_lowercase();
    if end == "jsonl" {
        let Ok(file) = File::open(path) else {
            return;
        };
        let lines = (1..).zip(BufReader::new(file).lines());
        let mut row = 0;
        for (number, line) in lines {
            let Ok(line) = line else {
                return;
            };
            let line = line.trim_start_matches('\u{feff}').trim_ascii();
            if line.is_empty() {
                continue;
            }
            let Some(Value::Object(fields)) = python_json(line) else {
                return;
            };
            if !see(row, number, &fields) {
                return;
            }
            row += 1;
        }
        return;
    }
    let is_text = ["json", "csv", "tsv"].iter().any(|text| end == *text);
    if !is_text || fs::metadata(path).is_ok_and(|about| about.len() > WHOLE) {
        return;
    }
    let rows = Rows::read(path).map(|rows| rows.rows).unwrap_or_default();
    for (number, row) in rows.iter().enumerate() {
        if !row.line.is_some_and(|line| see(number, line, &row.fields)) {
            return;
        }
    }
}

/// The place that an error begins with, `evals/a.yaml:3:1: …`, if it is in the checkout.
pub(super) fn of_error(error: &str, workspace: &Path) -> Option<CodePlace> {
    let mut pieces = error.split(':');
    let path = pieces.next()?.trim_matches('`');
    let line = pieces
        .next()
        .and_then(|line| line.parse().ok())
        .unwrap_or(1);
    Some(CodeFile::of(Path::new(path), workspace)?.at(line))
}
