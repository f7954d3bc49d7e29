//! A run as a table with a row per record, shared by `csv` and `parquet`.

use super::error_kind;
use super::scores::verdicts;
use crate::data::Record;
use crate::report::reported::ReportedRun;
use crate::text::unquoted_if_any;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellKind {
    Text,
    Number,
    Count,
    Flag,
}

/// The value of a cell; may be missing.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ExportCell {
    Text(Option<String>),
    Number(Option<f64>),
    Count(Option<i64>),
    Flag(Option<bool>),
}

/// The columns of a run, including its slices and scorers.
pub(super) struct ExportTable {
    columns: Vec<(String, CellKind)>,
    slices: Vec<String>,
    /// Empty for a single scorer, whose verdict is that of the record.
    scorers: Vec<String>,
    /// All scorers.
    names: Vec<String>,
    eval: String,
    run_id: String,
}

/// Columns before those of slices and scorers.
const FIRST: [(&str, CellKind); 8] = [
    ("eval", CellKind::Text),
    ("run_id", CellKind::Text),
    ("sample_id", CellKind::Text),
    ("epoch", CellKind::Count),
    ("status", CellKind::Text),
    ("correct", CellKind::Flag),
    ("score", CellKind::Number),
    ("reason", CellKind::Text),
];

/// Columns after them.
const LAST: [(&str, CellKind); 13] = [
    ("error_kind", CellKind::Text),
    ("error_message", CellKind::Text),
    ("attempts", CellKind::Count),
    ("latency_s", CellKind::Number),
    ("cached", CellKind::Flag),
    ("input_tokens", CellKind::Count),
    ("output_tokens", CellKind::Count),
    ("cost_usd", CellKind::Number),
    ("redacted", CellKind::Count),
    ("prediction", CellKind::Text),
    ("ground_truth", CellKind::Text),
    ("prompt", CellKind::Text),
    ("answer", CellKind::Text),
];

impl ExportTable {
    pub(super) fn of(run: &ReportedRun) -> Self {
        let names = run.manifest.scorers.clone();
        let slices: Vec<String> = run
            .summary
            .dataset_slices()
            .map(|(name, _)| name.clone())
            .collect();
        let scorers = if names.len() > 1 {
            names.clone()
        } else {
            Vec::new()
        };
        let owned = |(name, kind): (&str, CellKind)| (name.to_owned(), kind);
        let mut columns: Vec<_> = FIRST.map(owned).into();
        for name in &scorers {
            columns.push((format!("correct.{name}"), CellKind::Flag));
            columns.push((format!("score.{name}"), CellKind::Number));
        }
        for name in &slices {
            columns.push((format!("slice.{name}"), CellKind::Text));
        }
        columns.extend(LAST.map(owned));
        Self {
            columns,
            slices,
            scorers,
            names,
            eval: run.manifest.eval.clone(),
            run_id: run.manifest.run_id.clone(),
        }
    }

    /// The columns with their types.
    pub(super) fn columns(&self) -> &[(String, CellKind)] {
        &self.columns
    }

    /// The row of a record, a cell for each column.
    pub(super) fn row(&self, record: &Record) -> Vec<ExportCell> {
        let result = &record.result;
        let text = |text: &str| ExportCell::Text(Some(text.to_owned()));
        let count = |count: u64| ExportCell::Count(i64::try_from(count).ok());
        let score = result.score.as_ref();
        let mut row = vec![
            text(&self.eval),
            text(&self.run_id),
            text(&record.sample_id),
            count(record.epoch.into()),
            text(result.status.as_str()),
            ExportCell::Flag(score.map(|score| score.correct)),
            ExportCell::Number(score.map(|score| score.value)),
            ExportCell::Text(score.map(|score| score.reason.clone().into_owned())),
        ];
        if !self.scorers.is_empty() {
            let found = verdicts(record, &self.names);
            for name in &self.scorers {
                let score = found.iter().find(|verdict| verdict.name == name);
                let score = score.and_then(|verdict| verdict.score.as_ref());
                row.push(ExportCell::Flag(score.map(|score| score.correct)));
                row.push(ExportCell::Number(score.map(|score| score.value)));
            }
        }
        let slices = self.slices.iter();
        row.extend(
            slices.map(|name| ExportCell::Text(record.slices.get(name).and_then(unquoted_if_any))),
        );
        let error = result.error.as_ref();
        let usage = result.usage.unwrap_or_default();
        let tokens =
            |tokens: Option<u64>| ExportCell::Count(tokens.and_then(|n| i64::try_from(n).ok()));
        let answer = result
            .output
            .as_ref()
            .and_then(|output| output.text.clone());
        let prompt = (!record.prompt.is_empty()).then(|| record.prompt.to_string());
        row.extend([
            ExportCell::Text(error.map(|error| error_kind(result.status, error))),
            ExportCell::Text(error.map(|error| error.message.clone())),
            count(result.attempts.into()),
            ExportCell::Number(Some(result.latency_s)),
            ExportCell::Flag(Some(result.cached)),
            tokens(usage.input_tokens),
            tokens(usage.output_tokens),
            ExportCell::Number(usage.cost_usd),
            count(result.redacted.into()),
            ExportCell::Text(result.prediction.clone()),
            ExportCell::Text(unquoted_if_any(&record.ground_truth)),
            ExportCell::Text(prompt),
            ExportCell::Text(answer),
        ]);
        row
    }
}
