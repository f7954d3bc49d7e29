//! Makes the grading from a judge's options: `rubric`, `choices`, `pass`, `excellent`.

use serde_json::Value;

use super::Grading;
use super::file::RubricFile;
use super::read::RubricDraft;
use super::ready;
use crate::error::{Error, Result};
use crate::scorer::OptionReader;

/// Where a rubric comes from.
enum RubricSource {
    /// It is in the options, or these only have `choices`.
    Inline,
    Ready(&'static str),
    File(RubricFile),
}

impl Grading {
    /// Reads `rubric` (a built-in name, a path or a map), `choices`, and the limits `pass` and `excellent`, which
    /// override those of the rubric.
    ///
    /// # Errors
    /// When there is no grading, or no answer could be graded by it. An error in a file has its position there.
    pub(crate) fn from_options(options: &OptionReader<'_>) -> Result<Self> {
        let of_rubric = |error| options.of("rubric", error);
        let (source, mut draft) = match options.value("rubric") {
            Some(Value::String(name)) => named(name, options).map_err(of_rubric)?,
            Some(value) => (
                RubricSource::Inline,
                RubricDraft::of(value).map_err(of_rubric)?,
            ),
            None if options.value("choices").is_some() => {
                (RubricSource::Inline, RubricDraft::default())
            }
            None => {
                let wanted =
                    "a ready rubric, a file, a map with `dimensions`, or `choices` instead of it";
                return Err(options.missing("rubric", wanted));
            }
        };
        if let Some(choices) = options.value("choices") {
            let taken = draft.choices(choices);
            taken.map_err(|error| options.of("choices", error))?;
        }
        for key in ["pass", "excellent"] {
            if let Some(limit) = options.value(key) {
                let taken = draft.limit(key, limit);
                taken.map_err(|error| options.of(key, error))?;
            }
        }
        let grading = draft.finish().map_err(|error| match &source {
            RubricSource::File(file) => of_rubric(file.explain(&error)),
            _ if options.value("rubric").is_some() => of_rubric(error),
            _ => options.of("choices", error),
        })?;
        Ok(match (grading, &source) {
            (Self::Choices(mut choices), RubricSource::Ready(name)) => {
                choices.sees_truth = *name == ready::QA;
                Self::Choices(choices)
            }
            (grading, _) => grading,
        })
    }
}

/// A built-in rubric, otherwise a file.
fn named(name: &str, options: &OptionReader<'_>) -> Result<(RubricSource, RubricDraft)> {
    if name.trim().is_empty() {
        let error = Error::usage("the name of the rubric is blank");
        return Err(error.hint("name a ready rubric or a file, such as `rubric: aime`"));
    }
    if let Some(ready) = ready::named(name) {
        return Ok((RubricSource::Ready(ready.name), ready.draft()?));
    }
    let file = RubricFile::open(name, options.folder())?;
    let draft = file.draft()?;
    Ok((RubricSource::File(file), draft))
}
