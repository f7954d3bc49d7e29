//! The instructions of a judge that compares two texts.

use super::compared::{FIRST, SECOND, TIE};
use crate::scorer::ask::judge::rubric::{Choices, Grading, OfferedChoice};

/// The default criteria.
const USUAL: &str =
    "Which text does better what was asked? What is right and whole comes before how it is said.";

/// The grading with these criteria.
pub(super) fn grading(criteria: Option<&str>) -> Grading {
    let offered = |name: &str, value: f64, description: &str| OfferedChoice {
        name: name.to_owned(),
        value,
        description: Some(description.to_owned()),
    };
    Grading::Choices(Choices {
        instructions: Some(criteria.unwrap_or(USUAL).trim().to_owned()),
        offered: vec![
            offered(FIRST, 1.0, "the first text is better"),
            offered(SECOND, 0.0, "the second text is better"),
            offered(TIE, 0.5, "neither is better than the other"),
        ],
        pass: 1.0,
        sees_truth: false,
        compares: true,
    })
}
