//! A row of the metadata as a sample.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::data::dataset::{Columns, Header, required, scalar, slice_value};
use crate::data::{Attachment, Sample, Target};
use crate::error::{Error, Result};
use crate::system::file::is_inside;

use super::folder::MetadataFile;

const PROMPT: [&str; 2] = ["question", "Question"];
pub(super) const GROUND_TRUTH: [&str; 3] = ["final_answer", "Final answer", "answer"];
const ID: [&str; 2] = ["task_id", "id"];
const LEVEL: [&str; 2] = ["level", "Level"];

/// Which column plays which role in one file.
#[derive(Debug)]
pub(super) struct GaiaLayout {
    prompt: String,
    pub(super) ground_truth: Option<String>,
    id: Option<String>,
    pub(super) level: Option<String>,
    file_name: Option<String>,
    file_path: Option<String>,
}

impl GaiaLayout {
    pub(super) fn find(header: &Header<'_>, given: &Columns) -> Result<Self> {
        let find = |role: &str, given: &Option<String>, known: &[&str]| {
            header.find_column(role, given.as_deref(), known)
        };
        Ok(Self {
            prompt: header.require_column("prompt", given.prompt.as_deref(), &PROMPT)?,
            ground_truth: find("ground_truth", &given.ground_truth, &GROUND_TRUTH)?,
            id: find("id", &given.id, &ID)?,
            level: find("level", &given.level, &LEVEL)?,
            file_name: find("file_name", &given.file_name, &["file_name"])?,
            file_path: find("file_path", &given.file_path, &["file_path"])?,
        })
    }

    /// The sample of one row. Errors do not say which row it is.
    pub(super) fn sample(
        &self,
        mut fields: Map<String, Value>,
        index: usize,
        source: &MetadataFile,
    ) -> Result<Sample> {
        // One column may play two parts, the question as the id, say; the answer may not be shown to agents.
        if let Some(truth) = &self.ground_truth
            && (*truth == self.prompt || self.id.as_ref() == Some(truth))
        {
            return Err(Error::usage(format!(
                "column `{truth}` is the ground truth, and what the agent sees as well"
            ))
            .hint("name another column in `columns`"));
        }
        let read = |column: &str| scalar(column, fields.get(column));
        let prompt = required(&self.prompt, "prompt", read(&self.prompt)?)?;
        let target = match &self.ground_truth {
            Some(column) => read(column)?.filter(|truth| !is_hidden(truth)),
            None => None,
        };
        let id = match &self.id {
            Some(column) => required(column, "id", read(column)?)?,
            None => index.to_string(),
        };
        // They are not metadata; least of all the ground truth.
        let roles = [
            Some(&self.prompt),
            self.ground_truth.as_ref(),
            self.id.as_ref(),
        ];
        for column in roles.into_iter().flatten() {
            // `Map::remove` would put the last column into the place of the removed one.
            fields.shift_remove(column);
        }
        let get = |column: &Option<String>| match column {
            Some(column) => scalar(column, fields.get(column)),
            None => Ok(None),
        };
        let level = slice_value(get(&self.level)?);
        let file = attachment(get(&self.file_name)?, get(&self.file_path)?, source);
        let visible = [&self.level, &self.file_name];
        Ok(Sample {
            id,
            prompt,
            target: target.map(Target::from),
            slices: level
                .map(|level| ("level".to_owned(), level))
                .into_iter()
                .collect(),
            files: file.into_iter().collect(),
            visible: visible.into_iter().flatten().cloned().collect(),
            metadata: fields,
            tools: Vec::new(),
        })
    }
}

/// The published test split has `?` for every answer. A blank one is what CSV makes of null.
fn is_hidden(truth: &str) -> bool {
    matches!(truth.trim(), "" | "?")
}

/// The file of a row, not yet looked into: only where it should be is settled here.
///
/// `file_path` counts from the dataset's folder. When nothing is there, as in a split that was copied
/// out of its folder, it is `file_name` beside the metadata. A path that is not allowed stays what it is,
/// so that using it is an error.
fn attachment(
    name: Option<String>,
    path: Option<String>,
    source: &MetadataFile,
) -> Option<Attachment> {
    let name = name.filter(|name| !name.trim().is_empty());
    let path = path.filter(|path| !path.trim().is_empty());
    let beside = |name: &str| source.beside.join(name);
    let place: PathBuf = match (&name, &path) {
        (None, None) => return None,
        (Some(name), None) => beside(name),
        (None, Some(path)) => path.into(),
        (Some(name), Some(path)) => {
            if is_inside(Path::new(path)) && !source.has(Path::new(path)) {
                beside(name)
            } else {
                path.into()
            }
        }
    };
    let last = |path: &str| {
        path.rsplit(['/', '\\'])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    Some(Attachment {
        name: last(name.as_deref().or(path.as_deref()).unwrap_or_default()),
        path: place,
        root: source.root.clone(),
    })
}
