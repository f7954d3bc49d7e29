//! The three columns of a table of problems: question, answer and id.

use serde_json::{Map, Value};

use crate::data::dataset::{Columns, Field, Header, required};
use crate::error::{Error, Result};

/// The names that a column usually has, by role; the first that is there counts.
pub(super) struct Usual {
    pub(super) prompt: &'static [&'static str],
    pub(super) ground_truth: &'static [&'static str],
    pub(super) id: &'static [&'static str],
}

/// Which column has which role in one file.
pub(super) struct Roles {
    prompt: Field,
    truth: Field,
    id: Option<Field>,
}

/// A row as texts.
pub(super) struct ProblemRow {
    pub(super) id: String,
    pub(super) prompt: String,
    pub(super) truth: String,
}

impl Roles {
    /// Finds the columns; one that is `named` must be there.
    pub(super) fn find(header: &Header<'_>, named: &Columns, usual: &Usual) -> Result<Self> {
        let truth = named.ground_truth.as_deref();
        Ok(Self {
            prompt: header.require_field("prompt", named.prompt.as_deref(), usual.prompt)?,
            truth: header.require_field("ground_truth", truth, usual.ground_truth)?,
            id: header.find_field("id", named.id.as_deref(), usual.id)?,
        })
    }

    /// Whether rows are called by a column.
    pub(super) fn has_ids(&self) -> bool {
        self.id.is_some()
    }

    /// Takes the three out of a row; without a column of ids the id is the row's index from 0.
    pub(super) fn take(&self, fields: &mut Map<String, Value>, index: usize) -> Result<ProblemRow> {
        let mut read = |field: &Field, role| required(field.name(), role, field.take(fields)?);
        let prompt = read(&self.prompt, "prompt")?;
        let id = match &self.id {
            Some(field) => read(field, "id")?,
            None => index.to_string(),
        };
        let truth = read(&self.truth, "ground truth")?;
        Ok(ProblemRow { id, prompt, truth })
    }

    /// An error about a ground truth, which says in which column it is.
    pub(super) fn of_truth(&self, error: Error) -> Error {
        error.at(format_args!("column `{}`", self.truth.name()))
    }
}
