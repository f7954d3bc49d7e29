//! `ReviewDimension`: what people give points for.

use serde::Serialize;

use crate::data::reviews::POINTS;
use crate::error::{Error, Result};
use crate::scorer::ask::judge::Grading;

/// The rubric of items where none is named.
const USUAL: &str = "aime";
/// Digits fill the scores: more dimensions than this nobody keeps in mind.
const MOST: usize = 9;

/// One of them.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ReviewDimension {
    pub(super) name: String,
    pub(super) description: String,
}

/// Those of a rubric.
pub(super) fn dimensions(rubric: Option<&str>) -> Result<Vec<ReviewDimension>> {
    let name = rubric.unwrap_or(USUAL);
    let told = |why: String| {
        Error::usage(format!("people cannot review by the rubric `{name}`: {why}"))
            .hint("name one with at most nine dimensions on a scale of [1, 5]: `--rubric aime`, or a file")
    };
    let Grading::Rubric(rubric) = Grading::given(name)? else {
        return Err(told("it has choices, and no dimensions".to_owned()));
    };
    if rubric.dimensions.len() > MOST {
        let count = rubric.dimensions.len();
        return Err(told(format!("it has {count} dimensions")));
    }
    let other = rubric
        .dimensions
        .iter()
        .find(|one| one.scale != POINTS.map(i64::from));
    if let Some(other) = other {
        let (name, [lowest, highest]) = (&other.name, other.scale);
        return Err(told(format!(
            "`{name}` has points from {lowest} to {highest}"
        )));
    }
    let dimensions = rubric.dimensions.into_iter();
    let dimensions = dimensions.map(|one| ReviewDimension {
        name: one.name,
        description: one.description,
    });
    Ok(dimensions.collect())
}
