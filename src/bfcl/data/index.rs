//! `Index`: looks up entries by id; reads a category on first use.

use std::collections::HashMap;

use once_cell::sync::OnceCell;

use super::{BfclQuestion, Category, Data, category};
use crate::bfcl::form::{FORMAT_SENSITIVITY, PromptForm};
use crate::error::{Error, Result};

/// The entries of a folder by category and id.
#[derive(Debug)]
pub struct Index {
    data: Data,
    categories: Vec<(Category, OnceCell<HashMap<String, BfclQuestion>>)>,
}

impl Index {
    /// An index without any category loaded.
    pub fn new(data: Data) -> Self {
        let categories = data.categories().iter().cloned();
        Self {
            categories: categories
                .map(|category| (category, OnceCell::new()))
                .collect(),
            data,
        }
    }

    /// Looks up an entry.
    ///
    /// If the category of an answer is the id of an entry, that entry is used; for format sensitivity it is the
    /// original entry.
    pub fn get(&self, category: &str, id: &str) -> Result<&BfclQuestion> {
        if let Some((_, original)) =
            PromptForm::of_id(id).filter(|_| category == FORMAT_SENSITIVITY)
        {
            return self.get(original, original);
        }
        if let Some(questions) = self.category(category) {
            return questions?.get(id).ok_or_else(|| {
                Error::usage(format!(
                    "`{}`: no entry `{}` in category `{category}`",
                    self.data.path().display(),
                    id.escape_debug()
                ))
            });
        }
        let of_id = category.rsplit_once('_').map_or("", |(name, _)| name);
        if let Some(questions) = self.category(of_id)
            && let Some(question) = questions?.get(category)
        {
            return Ok(question);
        }
        Err(category::unknown(self.data.categories(), category))
    }

    fn category(&self, name: &str) -> Option<Result<&HashMap<String, BfclQuestion>>> {
        let is_it = |(category, _): &&(Category, _)| category.name == name;
        let (category, questions) = self.categories.iter().find(is_it)?;
        Some(questions.get_or_try_init(|| {
            let questions = self.data.read(category)?.into_iter();
            Ok(questions
                .map(|question| (question.id.clone(), question))
                .collect())
        }))
    }
}
