//! Reads and writes the files of the Berkeley Function Calling Leaderboard in the formats of the official program
//! (bfcl-eval 2026.3.23):
//!
//! ```text
//! result/<model>/<group>/BFCL_v4_<category>_result.json    every answer: {"id", "result", …}
//! score/<model>/<group>/BFCL_v4_<category>_score.json      the accuracy, then the wrong answers
//! score/data_*.csv                                         the leaderboard's tables
//! submission.md                                            what to do with them
//! ```
//!
//! [`write()`] creates them from the records of a run. Answers of single-turn categories are rescored by
//! [`check`](crate::bfcl::checker::check), so that score files have the official verdicts on these result files,
//! whatever scored the run. Those of other categories keep an existing verdict of the official program; without one
//! there is no score file.
//!
//! A sample without an answer (its agent failed, or it was not requested) is omitted, because it would count as a
//! wrong answer. `bfcl evaluate --partial-eval` then counts the others.
//!
//! # Where bytes differ from the official files
//!
//! * Parser messages (`ast_decoder:decoder_failed`) are ours. An answer that crashes the official program has a line
//!   with `checker_crash_in_official`; that program would not write the file at all.
//! * Score lines of conversations have no `model_result_decoded` and no `inference_log`, and only the parts of the
//!   entry that the run has.
//! * The official program has a registry with the name, page, organisation, licence and prices of models: here the
//!   tables have the values of [`Model`], or else the model's name and `N/A`. Without prices the cost is that of the
//!   machine that the official program assumes for such models.
//! * The tables have one row.
//! * Integers beyond 64 bits in the data were already recorded as texts.

mod answer;
mod guide;
mod header;
mod layout;
mod model;
mod read;
mod score;
mod tables;

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::bfcl::benchmark::CategoryCounts;
use crate::bfcl::data::{Category, CategoryGroup};
use crate::bfcl::form::FORMAT_SENSITIVITY;
use crate::calls::{JsonValue as _, Value};
use crate::data::{Record, Status};
use crate::error::{Error, Result};
use crate::store::Manifest;
use crate::text::redact::is_blanked;
use answer::ResultField;
pub(crate) use answer::{RESULT, step, turns};
pub(crate) use guide::NAME as GUIDE;
use score::AnswerVerdict;
use tables::Costs;

pub(crate) use layout::ExportKind;
pub(crate) use layout::has_steps;
pub use model::Model;
pub use read::ModelFiles;
pub use read::find;
pub(crate) use read::score_files;
pub(crate) use read::{ResultLine, Scores, results, scores};
pub(crate) use read::{is_preparation, objects};

/// Options of an export.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportOptions {
    /// The model that gave the answers.
    pub model: Model,
    /// Whether `a_b` is right for a function `a.b`; by default from the sample's metadata (`underscore_to_dot`), or
    /// else true for native calls.
    pub underscore_to_dot: Option<bool>,
}

impl ExportOptions {
    /// With the defaults.
    pub fn new(model: Model) -> Self {
        Self {
            model,
            underscore_to_dot: None,
        }
    }

    /// Options as in the run's scorer.
    pub fn of_run(model: Model, manifest: &Manifest) -> Self {
        let config = &manifest.config;
        let scorers = config.get("scorers").and_then(Json::as_array);
        let mut scorers = scorers.into_iter().flatten().chain(config.get("scorer"));
        let scorer = scorers.find(|scorer| scorer.get("type").is_some_and(|name| name == "bfcl"));
        let option = scorer.and_then(|scorer| scorer.get("underscore_to_dot"));
        Self {
            underscore_to_dot: option.and_then(Json::as_bool),
            ..Self::new(model)
        }
    }
}

/// The result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BfclExport {
    /// The categories: official ones first, in official order.
    pub categories: Vec<WrittenCategory>,
    /// Samples without an answer, with their status.
    pub excluded: Vec<(String, Status)>,
    /// Samples with a redacted answer.
    pub redacted: Vec<String>,
    /// Samples for which the run's verdict differs from the score file.
    pub(crate) disputed: Vec<String>,
    /// Samples whose answers crash the official program.
    pub crashes: Vec<String>,
    /// Samples with an id that the official program cannot parse.
    pub(crate) odd_ids: Vec<String>,
    /// The only sample with a latency, which is omitted: the official tables need none or at least two.
    pub(crate) lone_latency: Option<String>,
}

impl BfclExport {
    /// Notes for the user, one sentence each.
    pub fn notes(&self, options: &ExportOptions) -> Vec<String> {
        guide::notes(self, options)
    }

    /// Notes on categories that have no score file because verdicts are missing.
    pub fn unjudged_notes(&self) -> Vec<String> {
        guide::unjudged(self)
    }

    /// Correct answers per category with a score file.
    fn counts(&self) -> CategoryCounts {
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let scored = self.categories.iter().filter_map(|one| {
            let correct = one.correct?;
            Some((one.category.clone(), (count(correct), count(one.results))))
        });
        scored.collect()
    }
}

/// The files written for a category.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenCategory {
    /// Its name.
    pub category: String,
    /// Lines of its result file.
    pub results: usize,
    /// Number of correct answers; `None` without a score file.
    pub correct: Option<usize>,
    /// Number of answers without a verdict.
    pub(crate) unjudged: usize,
    /// Whether the official program knows it.
    pub(crate) is_official: bool,
}

/// An answer to be exported.
struct ExportEntry {
    id: String,
    place: Option<u64>,
    result: Value,
    latency_s: f64,
    tokens: [Option<u64>; 2],
    judged: Option<AnswerVerdict>,
}

/// Writes all files into a folder, which must not contain `result` or `score`. On failure nothing is left there.
///
/// # Errors
/// If a record has no category, an id is duplicated, or a file cannot be written.
pub fn write(
    records: impl Iterator<Item = Result<Record>>,
    (manifest, run_dir): (&Manifest, &str),
    options: &ExportOptions,
    folder: &Path,
) -> Result<BfclExport> {
    for kind in [ExportKind::Result, ExportKind::Score] {
        let path = folder.join(kind.as_str());
        if path.exists() {
            return Err(
                Error::usage(format!("`{}` exists already", path.display())).hint(
                    "name a folder without exported files: the official program counts all files that it finds",
                ),
            );
        }
    }
    let (exported, categories) = gather(records, options)?;
    let is_new = !folder.exists();
    fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, &error))?;
    // Removed on drop with its content.
    let temporary = tempfile::Builder::new().prefix(".bfcl.").tempdir_in(folder);
    let temporary = temporary.map_err(|error| Error::io("write into", folder, &error))?;
    let written = write_files(temporary.path(), &categories, &exported, options).and_then(|()| {
        let guide = guide::guide(manifest, &exported, options, run_dir);
        put(&temporary.path().join(guide::NAME), &guide)?;
        for name in [
            ExportKind::Result.as_str(),
            ExportKind::Score.as_str(),
            guide::NAME,
        ] {
            let path = folder.join(name);
            fs::rename(temporary.path().join(name), &path)
                .map_err(|error| Error::io("write", &path, &error))?;
        }
        Ok(())
    });
    drop(temporary);
    if written.is_err() && is_new {
        // Created above, and empty.
        let _ = fs::remove_dir(folder);
    }
    written.map(|()| exported)
}

/// Answers by category, each in the order of its result file.
type Categories = Vec<(Category, Vec<ExportEntry>)>;

fn gather(
    records: impl Iterator<Item = Result<Record>>,
    options: &ExportOptions,
) -> Result<(BfclExport, Categories)> {
    let model = options.model.folder();
    let mut exported = BfclExport::default();
    let mut seen = HashSet::new();
    let mut categories: BTreeMap<String, Vec<ExportEntry>> = BTreeMap::new();
    let mut with_latency = Vec::new();
    for record in records {
        let record = record?;
        // Export only the first of several epochs.
        if record.epoch > 0 {
            continue;
        }
        let id = &record.sample_id;
        if !seen.insert(id.clone()) {
            return Err(Error::usage(format!(
                "the run has two records of sample `{}`",
                id.escape_debug()
            )));
        }
        let category = category(&record)?;
        layout::file(category, ExportKind::Result).map_err(|error| error.at(id))?;
        let answer = ResultField::of(&record, category);
        let Some(answer) = answer.filter(|_| is_answered(record.result.status)) else {
            exported.excluded.push((id.clone(), record.result.status));
            continue;
        };
        let place = layout::place(id);
        let judged = score::judge(
            &record,
            category,
            &answer,
            options.underscore_to_dot,
            &model,
        )?;
        let is_scored = record.result.status == Status::Scored;
        let is_disputed =
            |judged: &AnswerVerdict| is_scored && judged.correct != record.result.is_correct();
        let notes = [
            (&mut exported.odd_ids, place.is_none()),
            (
                &mut exported.redacted,
                record.result.redacted > 0 && is_blanked(&answer.result.to_json_text()),
            ),
            (
                &mut exported.disputed,
                judged.as_ref().is_some_and(is_disputed),
            ),
            (
                &mut exported.crashes,
                judged.as_ref().is_some_and(|judged| judged.is_crash),
            ),
        ];
        for (ids, _) in notes.into_iter().filter(|(_, applies)| *applies) {
            ids.push(id.clone());
        }
        // A cached answer's latency was measured in an earlier run.
        let latency_s = if record.result.cached {
            0.0
        } else {
            record.result.latency_s
        };
        if latency_s > 0.0 {
            with_latency.push((category.to_owned(), id.clone()));
            with_latency.truncate(2);
        }
        let usage = record.result.usage.unwrap_or_default();
        let entry = ExportEntry {
            id: id.clone(),
            place,
            result: answer.result,
            latency_s,
            tokens: [usage.input_tokens, usage.output_tokens],
            judged,
        };
        match categories.get_mut(category) {
            Some(entries) => entries.push(entry),
            None => drop(categories.insert(category.to_owned(), vec![entry])),
        }
    }
    if let [(category, id)] = &with_latency[..] {
        let entries = categories.get_mut(category).into_iter().flatten();
        for entry in entries.filter(|entry| entry.id == *id) {
            entry.latency_s = 0.0;
        }
        exported.lone_latency = Some(id.clone());
    }
    let categories = in_order(categories);
    exported.categories = categories
        .iter()
        .map(|(category, entries)| WrittenCategory::of(category, entries))
        .collect();
    Ok((exported, categories))
}

/// Sorts categories (official ones first, in official order) and lines (by number).
fn in_order(mut categories: BTreeMap<String, Vec<ExportEntry>>) -> Categories {
    let official = Category::official();
    let official: Categories = official
        .filter_map(|category| {
            let entries = categories.remove(&category.name)?;
            Some((category, entries))
        })
        .collect();
    let own = categories.into_iter();
    let own = own.map(|(name, entries)| (Category::named(&name), entries));
    let mut all: Categories = official.into_iter().chain(own).collect();
    for (_, entries) in &mut all {
        entries.sort_by_key(|entry| entry.place.unwrap_or(u64::MAX));
    }
    all
}

/// The category of a record.
pub(crate) fn category(record: &Record) -> Result<&str> {
    let category = record.metadata.get("category");
    category.and_then(Json::as_str).ok_or_else(|| {
        Error::usage(format!(
            "sample `{}` has no category: this is not a run of benchmark `bfcl`",
            record.sample_id.escape_debug()
        ))
        .hint("name a run of it, or another format: `--format gaia`")
    })
}

/// Whether a sample with this status has an answer.
pub(crate) fn is_answered(status: Status) -> bool {
    matches!(
        status,
        Status::Scored | Status::Unscored | Status::ScorerFailed
    )
}

impl WrittenCategory {
    fn of(category: &Category, entries: &[ExportEntry]) -> Self {
        let judged = entries.iter().filter_map(|entry| entry.judged.as_ref());
        let unjudged = entries.len() - judged.clone().count();
        let correct = judged.filter(|judged| judged.correct).count();
        Self {
            category: category.name.clone(),
            results: entries.len(),
            correct: (unjudged == 0).then_some(correct),
            unjudged,
            is_official: category.group != CategoryGroup::Own,
        }
    }
}

fn write_files(
    folder: &Path,
    categories: &Categories,
    exported: &BfclExport,
    options: &ExportOptions,
) -> Result<()> {
    let model = options.model.folder();
    let place = |category: &Category, kind: ExportKind| -> Result<PathBuf> {
        let below = folder.join(kind.as_str()).join(&model);
        Ok(below.join(layout::file(&category.name, kind)?))
    };
    for kind in [ExportKind::Result, ExportKind::Score] {
        let path = folder.join(kind.as_str());
        fs::create_dir_all(&path).map_err(|error| Error::io("create", &path, &error))?;
    }
    for (category, entries) in categories {
        let lines: String = entries.iter().map(ExportEntry::line).collect();
        put(&place(category, ExportKind::Result)?, &lines)?;
        let written = exported
            .categories
            .iter()
            .find(|written| written.category == category.name);
        if let Some(correct) = written.and_then(|written| written.correct) {
            let mut lines = header::line(correct, entries.len(), &header::forms(category, entries));
            let judged = entries.iter().filter_map(|entry| entry.judged.as_ref());
            lines.extend(judged.filter_map(|judged| judged.line.as_deref()));
            put(&place(category, ExportKind::Score)?, &lines)?;
        }
    }
    let of_forms = categories
        .iter()
        .find(|(one, _)| one.name == FORMAT_SENSITIVITY);
    let of_forms = of_forms.filter(|_| exported.counts().contains_key(FORMAT_SENSITIVITY));
    let of_forms = of_forms.map(|(category, entries)| header::forms(category, entries));
    let tables = tables::tables(
        &exported.counts(),
        &of_forms.unwrap_or_default(),
        &costs(categories),
        &options.model,
    );
    let scores = folder.join(ExportKind::Score.as_str());
    let mut tables = tables.iter();
    tables.try_for_each(|(name, text)| put(&scores.join(name), text))
}

/// Latencies and tokens for the tables. Zeros count as unknown.
fn costs(categories: &Categories) -> Costs {
    let mut costs = Costs::default();
    for entry in categories.iter().flat_map(|(_, entries)| entries) {
        if entry.latency_s > 0.0 {
            costs.latencies.push(entry.latency_s);
        }
        for (sum, tokens) in costs.tokens.iter_mut().zip(entry.tokens) {
            if let Some(tokens) = tokens.filter(|tokens| *tokens > 0) {
                *sum = Some(sum.unwrap_or_default().saturating_add(tokens));
            }
        }
    }
    costs
}

impl ExportEntry {
    fn line(&self) -> String {
        let [input, output] = self.tokens.map(|tokens| {
            let tokens = i64::try_from(tokens?).ok()?;
            Some(Value::from(tokens))
        });
        let latency = Some(self.latency_s).filter(|latency| *latency > 0.0);
        let members = [
            ("id", Some(Value::from(self.id.as_str()))),
            ("result", Some(self.result.clone())),
            ("input_token_count", input),
            ("output_token_count", output),
            ("latency", latency.map(Value::Float)),
        ];
        let members = members.into_iter();
        score::line(members.filter_map(|(key, value)| Some((key, value?))))
    }
}

/// Writes a file and the folders above it.
fn put(path: &Path, content: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, &error))?;
    }
    fs::write(path, content).map_err(|error| Error::io("write", path, &error))
}

#[cfg(test)]
mod parity_tests;
