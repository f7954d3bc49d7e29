//! [`SnapshotHeader`]: the header of a snapshot, for insta and for people who review it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::content::Content;
use super::{LONGEST_TEXT, json};
use crate::data::Record;
use crate::system::file::read_plain;
use crate::text::yaml;

/// The start of each header.
const SOURCE: &str = "source: evaltest";

/// The header of a snapshot.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SnapshotHeader {
    /// The sample's id.
    pub(crate) id: String,
    /// The question and the ground truth; `None` if the snapshot is masked.
    shown: Option<HeaderTexts>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct HeaderTexts {
    question: String,
    ground_truth: String,
}

impl SnapshotHeader {
    /// The header of a sample of which only the id is known.
    pub(super) fn bare(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            shown: None,
        }
    }

    /// The header for a record that still has its prompt.
    pub(crate) fn of(record: &Record, masked: bool) -> Self {
        let question = record.question.as_deref().unwrap_or(&record.prompt);
        Self::with_question(record, question, masked)
    }

    /// The header for a record whose question comes from elsewhere.
    pub(crate) fn with_question(record: &Record, question: &str, masked: bool) -> Self {
        let shown = || HeaderTexts {
            question: json(truncate(question.trim())),
            ground_truth: match record.ground_truth.as_str() {
                Some(text) => json(truncate(text)),
                None => json(truncate(&record.ground_truth.to_string())),
            },
        };
        Self {
            id: record.sample_id.clone(),
            shown: (!masked).then(shown),
        }
    }

    /// Whether a path is a regular file (not a link) whose header says that evaltest wrote it.
    pub(super) fn is_own(path: &Path) -> bool {
        if !path.symlink_metadata().is_ok_and(|about| about.is_file()) {
            return false;
        }
        let text = read_plain(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).replace("\r\n", "\n");
        let header = text
            .strip_prefix("---\n")
            .and_then(|text| text.split_once("\n---\n"));
        header.is_some_and(|(header, _)| header.lines().any(|line| line == SOURCE))
    }

    /// The header of an existing snapshot; `None` if it cannot be read.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let text = String::from_utf8(read_plain(path).ok()?)
            .ok()?
            .replace("\r\n", "\n");
        let (header, _) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
        let field = |start: &str| {
            let line = header.lines().find_map(|line| line.strip_prefix(start))?;
            // insta quotes it this way on acceptance.
            let text = serde_json::from_str(line).or_else(|_| yaml::read::<String>(line));
            text.ok()
        };
        let shown = field("description: ").zip(field("  ground_truth: "));
        Some(Self {
            id: field("expression: ")?,
            shown: shown.map(|(question, truth)| HeaderTexts {
                question: json(&question),
                ground_truth: json(&truth),
            }),
        })
    }

    /// The text of insta's header. The question is the description, which `cargo insta review` prints above the
    /// difference.
    pub(super) fn text(&self, content: &Content) -> String {
        let id = json(&self.id);
        let Some(shown) = &self.shown else {
            return format!("---\n{SOURCE}\nexpression: {id}\n---\n");
        };
        let HeaderTexts {
            question,
            ground_truth,
        } = shown;
        let answers = &content.answers;
        let correct = answers.iter().filter(|answer| **answer == Some(true));
        format!(
            "---\n{SOURCE}\ndescription: {question}\nexpression: {id}\ninfo:\n  ground_truth: \
             {ground_truth}\n  verdict: {}\n  correct: \"{} of {}\"\n---\n",
            content.verdict(),
            correct.count(),
            answers.len()
        )
    }
}

fn truncate(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_TEXT)]
}
