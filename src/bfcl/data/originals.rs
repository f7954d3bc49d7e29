//! `Originals`: the entries that `format_sensitivity` repeats in every form. Its file lists their ids by category.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::{BfclQuestion, Category, CategoryGroup, Data};
use crate::bfcl::form::{FORMAT_SENSITIVITY, PromptForm};
use crate::data::Sample;
use crate::data::dataset::{PlacedRows, SamplePlace, TakePlaced, read_text};
use crate::error::{Error, Result};

/// Entries of other categories, in the order of the list and of their files.
pub(super) struct Originals(Vec<BfclQuestion>);

/// Ids by category, in the order of the file.
pub(super) struct OriginalIds {
    path: PathBuf,
    lists: Vec<(Category, HashSet<String>)>,
}

impl OriginalIds {
    pub(super) fn read(path: PathBuf) -> Result<Self> {
        let wrong = |message: String| Error::usage(message).at(path.display());
        let text = read_text(&path)?;
        let lists: Map<String, Json> = serde_json::from_str(&text)
            .map_err(|error| wrong(format!("not an object with lists of ids: {error}")))?;
        let mut read = Vec::new();
        for (name, ids) in lists {
            let category = Category::named(&name);
            if !has_python_answers(&category) {
                return Err(wrong(format!(
                    "`{}` has no other forms: only categories with Python calls have them",
                    name.escape_debug()
                )));
            }
            let ids: Vec<String> = serde_json::from_value(ids)
                .map_err(|error| wrong(format!("`{name}` is not a list of ids: {error}")))?;
            let mut known = HashSet::new();
            for id in ids {
                if let Some(id) = known.replace(id) {
                    return Err(wrong(format!("`{}` comes twice", id.escape_debug())));
                }
            }
            read.push((category, known));
        }
        Ok(Self { path, lists: read })
    }

    /// Number of entries over all forms.
    pub(super) fn count(&self) -> usize {
        let ids: usize = self.lists.iter().map(|(_, ids)| ids.len()).sum();
        PromptForm::COUNT * ids
    }

    /// The categories of the entries.
    pub(super) fn categories(&self) -> impl Iterator<Item = &Category> {
        self.lists.iter().map(|(category, _)| category)
    }
}

impl Originals {
    /// Reads the entries with these ids, all of which must exist.
    pub(super) fn read(data: &Data, ids: OriginalIds) -> Result<Self> {
        let OriginalIds { path, lists } = ids;
        let wrong = |message: String| Error::usage(message).at(path.display());
        let mut questions = Vec::new();
        for (category, mut ids) in lists.into_iter().filter(|(_, ids)| !ids.is_empty()) {
            if !data.categories().contains(&category) {
                let message = format!("no entries of category `{}`", category.name);
                return Err(wrong(message).hint("put its file next to this one"));
            }
            for question in data.read(&category)? {
                if ids.remove(&question.id) {
                    questions.push(question);
                }
            }
            if let Some(id) = ids.iter().min() {
                return Err(wrong(format!(
                    "no entry `{}` in `{}`",
                    id.escape_debug(),
                    data.file(&category).display()
                )));
            }
        }
        if questions.is_empty() {
            return Err(wrong("there is no id".to_owned()));
        }
        Ok(Self(questions))
    }

    pub(super) fn len(&self) -> usize {
        PromptForm::COUNT * self.0.len()
    }

    /// An entry in a form, with its official id.
    pub(super) fn question(&self, place: usize) -> BfclQuestion {
        let original = &self.0[place / PromptForm::COUNT];
        let form = PromptForm::at(place % PromptForm::COUNT);
        BfclQuestion {
            id: format!("{FORMAT_SENSITIVITY}_{place}:{form}:{}", original.id),
            category: Category::named(FORMAT_SENSITIVITY),
            ..original.clone()
        }
    }

    /// Passes on the samples of all forms; only the originals stay in memory.
    pub(super) fn each(
        self,
        make: fn(BfclQuestion) -> Sample,
        take: &mut TakePlaced<'_>,
    ) -> Result<()> {
        let len = self.len();
        let rows: Arc<dyn PlacedRows> = Arc::new(move |place| Ok(make(self.question(place))));
        (0..len).try_for_each(|row| take(rows.sample(row)?, Some(SamplePlace::new(&rows, row))))
    }
}

/// Whether all answers of the category are expected Python calls.
fn has_python_answers(category: &Category) -> bool {
    let is_single_turn = matches!(category.group, CategoryGroup::NonLive | CategoryGroup::Live);
    is_single_turn && category.has_ground_truth() && !category.name.contains("java")
}
