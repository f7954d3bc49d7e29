//! `CodePlaces`: positions of a run's gates and samples in the repository, for CI services.
//!
//! A sample's position is its row, if its dataset is a text file in the repository. For masked or downloaded datasets
//! it is that of the spec's gates instead.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::super::reported::ReportedRun;
use crate::data::dataset::{Rows, python_json, scalar};
use crate::system::project::root;
use crate::verdict::gate::Gate;

/// A line of a file in the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::report) struct CodePlace {
    /// Path relative to the checkout, with `/`.
    pub(in crate::report) path: String,
    /// From 1.
    pub(in crate::report) line: u64,
}

/// The files of a run.
pub(in crate::report) struct CodePlaces {
    spec: Option<CodeFile>,
    dataset: Option<CodeFile>,
    /// Possible id columns.
    ids: Vec<String>,
}

/// A file in the checkout.
struct CodeFile {
    path: PathBuf,
    relative: String,
}

impl CodeFile {
    fn of(path: &Path, workspace: &Path) -> Option<Self> {
        let path = path.canonicalize().ok().filter(|path| path.is_file())?;
        let inside = path.strip_prefix(workspace.canonicalize().ok()?).ok()?;
        let names = inside.iter().map(|name| name.to_string_lossy());
        let relative = names.collect::<Vec<_>>().join("/");
        Some(Self { path, relative })
    }

    fn at(&self, line: u64) -> CodePlace {
        CodePlace {
            path: self.relative.clone(),
            line,
        }
    }
}

impl CodePlaces {
    pub(in crate::report) fn of(run: &ReportedRun, workspace: &Path) -> Self {
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

    /// Position of a gate in the spec.
    pub(in crate::report) fn gate(&self, gate: Option<&Gate>) -> Option<CodePlace> {
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

    /// Positions of samples; that of the gates if the dataset must not be shown.
    pub(in crate::report) fn samples(&self, ids: &HashSet<&str>) -> HashMap<String, CodePlace> {
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

    /// The id of a row; without an id column its index from 0.
    fn id_of(&self, row: usize, fields: &Map<String, Value>) -> String {
        let mut cells = self.ids.iter().filter_map(|name| cell(fields, name));
        let id = cells.find_map(|id| scalar("id", Some(id)).ok().flatten());
        id.unwrap_or_else(|| row.to_string())
    }
}

/// The value of a column, or of a nested one: `doc.id`.
fn cell<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let within = || {
        let (outer, inner) = name.split_once('.')?;
        cell(fields.get(outer)?.as_object()?, inner)
    };
    fields.get(name).or_else(within)
}

/// Gets a row: its index, its line, its fields. Returns whether to continue.
type SeeRow<'a> = &'a mut dyn FnMut(usize, u64, &Map<String, Value>) -> bool;

/// Passes each row of a text file to `see` with its index and line, until it returns false. Stops silently at
/// unreadable rows, because this only finds positions and the run has reported errors.
fn each_row(path: &Path, see: SeeRow<'_>) {
    /// Size limit for formats that must be read as a whole.
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

/// The position at the start of an error, `evals/a.yaml:3:1: …`, if it is in the checkout.
pub(in crate::report) fn of_error(error: &str, workspace: &Path) -> Option<CodePlace> {
    let mut pieces = error.split(':');
    let path = pieces.next()?.trim_matches('`');
    let line = pieces
        .next()
        .and_then(|line| line.parse().ok())
        .unwrap_or(1);
    Some(CodeFile::of(Path::new(path), workspace)?.at(line))
}
