//! The built-in rubrics, in the form of a user's file.

use super::read::RubricDraft;
use crate::error::{Error, Result};
use crate::text::yaml;

/// A named rubric.
#[derive(Debug)]
pub(crate) struct ReadyRubric {
    /// The name in options.
    pub(crate) name: &'static str,
    /// What it is for, in one line.
    pub(crate) summary: &'static str,
    /// The file, in YAML.
    pub(crate) text: &'static str,
}

/// The rubric that is also shown the ground truth.
pub(super) const QA: &str = "qa";

/// All of them, in the order they are listed.
pub(crate) const READY: &[ReadyRubric] = &[
    ReadyRubric {
        name: "aime",
        summary: "a competition problem with its solution: four dimensions of equal weight",
        text: include_str!("../rubrics/aime.yaml"),
    },
    ReadyRubric {
        name: QA,
        summary: "a free answer to a question: correct, partial or wrong, by the reference where there is one",
        text: include_str!("../rubrics/qa.yaml"),
    },
    ReadyRubric {
        name: "code",
        summary: "code that was asked for: mostly whether it is correct",
        text: include_str!("../rubrics/code.yaml"),
    },
    ReadyRubric {
        name: "creative_writing",
        summary: "stories, poems, speeches: mostly what was asked for, and craft",
        text: include_str!("../rubrics/creative_writing.yaml"),
    },
    ReadyRubric {
        name: "technical_docs",
        summary: "explanations, guides, references: mostly whether they are true",
        text: include_str!("../rubrics/technical_docs.yaml"),
    },
];

/// The built-in rubric with this name.
pub(super) fn named(name: &str) -> Option<&'static ReadyRubric> {
    READY.iter().find(|ready| ready.name == name)
}

impl ReadyRubric {
    /// The rubric in the file. A test reads all of them.
    pub(super) fn draft(&self) -> Result<RubricDraft> {
        let value = yaml::read_json(self.text);
        let value = value.map_err(|error| Error::infrastructure(error.to_string()))?;
        RubricDraft::of(&value)
    }
}
