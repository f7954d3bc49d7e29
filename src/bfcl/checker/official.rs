//! Verdicts of the official program on answers that evaltest cannot score: conversations, and entries whose data is
//! missing. Stored in the metadata of imported samples.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::bfcl::data::Category;
use crate::bfcl::form::{FORM, FORMAT_SENSITIVITY};
use crate::data::Score;

/// Metadata key of the verdict.
pub(crate) const KEY: &str = "official";

/// The official program's verdict on an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfficialVerdict {
    /// Whether it is right.
    pub valid: bool,
    /// The official error type of a wrong answer.
    pub error_type: Option<String>,
    /// The `error` of its line in the score file.
    pub error: Json,
}

impl OfficialVerdict {
    /// As a score.
    pub(super) fn score(self) -> Score {
        let value = if self.valid { 1.0 } else { 0.0 };
        let reason = self.error_type.unwrap_or_else(|| "exact_match".to_owned());
        Score::new(value, self.valid, reason)
            .detail("error", self.error)
            .detail("judged_by", "bfcl_official")
    }
}

/// The verdict in the metadata of a sample.
pub(super) fn of(metadata: &Map<String, Json>) -> Option<OfficialVerdict> {
    OfficialVerdict::deserialize(metadata.get(KEY)?).ok()
}

/// Whether the metadata name a category that only the official program can score, or lack an entry's form.
pub(super) fn is_needed(metadata: &Map<String, Json>) -> bool {
    let category = metadata.get("category").and_then(Json::as_str);
    category.is_some_and(|name| {
        let is_in_form = name != FORMAT_SENSITIVITY || metadata.contains_key(FORM);
        !Category::named(name).is_native() || !is_in_form
    })
}
