//! `ReportedRun`: a run that is over, as reports read it.
//!
//! Its figures and verdicts are those that it ended with, which `summary.json` has: a run directory that was fetched from
//! another machine says the same there, without the checkout that it came from. Its records are read one by one.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::data::record::NO_PROMPT;
use crate::data::{Normalized, Record};
use crate::error::Result;
use crate::store::files::{RECORDS, SUMMARY};
use crate::store::{Manifest, RunDir, RunStatus, read_records};
use crate::system::project::shown;
use crate::text::shell_word;
use crate::verdict::summary::Summary;

/// Whether a report may show what a benchmark whose snapshots are masked asks, and what was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskedTexts {
    /// Reports, comments and artifacts are public: they show none of it.
    Hidden,
    /// Somebody asked for them, by `--show-texts`.
    Shown,
}

/// A run that is over.
#[derive(Clone, Debug)]
pub struct ReportedRun {
    /// Its directory.
    pub dir: RunDir,
    /// What it was made of.
    pub manifest: Manifest,
    /// Its figures, and the verdicts on its gates.
    pub summary: Summary,
    /// Whether its questions, answers and truths are not to be shown.
    pub hides_texts: bool,
    /// Whether it is going on: these are its figures so far.
    pub going_on: bool,
}

impl ReportedRun {
    /// Reads a run whose files can be believed.
    ///
    /// # Errors
    /// When its manifest or its summary cannot be read.
    pub fn read(dir: RunDir, texts: MaskedTexts) -> Result<Self> {
        let manifest = dir.manifest()?;
        let summary = Summary::read(&dir.file(SUMMARY)).map_err(|error| {
            let repair = shell_word(&shown(dir.path()));
            error.hint(format!("cargo evaltest repair {repair}"))
        })?;
        Ok(Self {
            hides_texts: manifest.masked && texts == MaskedTexts::Hidden,
            going_on: false,
            dir,
            manifest,
            summary,
        })
    }

    /// Its records in dataset order, epoch by epoch, without the texts that are not to be shown.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn records(&self) -> Result<impl Iterator<Item = Result<Record>> + use<>> {
        let hides = self.hides_texts;
        let records = read_records(&self.dir.file(RECORDS))?;
        Ok(records.map(move |record| {
            record.map(|mut record| {
                if hides {
                    hide_texts(&mut record);
                }
                record
            })
        }))
    }

    /// The agent as the spec names it, such as `openai`.
    pub fn agent(&self) -> Option<&str> {
        let agent = self.manifest.config.get("agent")?;
        let kind = agent.get("type").unwrap_or(agent);
        kind.as_str()
    }

    /// The model that the spec asks for.
    pub fn model(&self) -> Option<&str> {
        let agent = self.manifest.config.get("agent")?;
        agent.get("model")?.as_str()
    }

    /// Whether its answers were given before and are read from a file: how long they took and how often none came is not
    /// known.
    pub fn is_recorded(&self) -> bool {
        self.agent() == Some("replay")
    }

    /// Whether every sample ended, so that its figures are those of the whole.
    pub fn is_finished(&self) -> bool {
        self.manifest.status == RunStatus::Finished || self.summary.early_stop.is_some()
    }

    /// The samples that changed sides since the baseline, and whether they became wrong.
    pub fn flips(&self) -> HashMap<&str, bool> {
        let change = self.summary.change.iter();
        let sides = change.flat_map(|it| [(&it.became_wrong, true), (&it.became_correct, false)]);
        let flips = sides.flat_map(|(ids, worse)| ids.iter().map(move |id| (&**id, worse)));
        flips.collect()
    }
}

/// What stands in place of a text that is not shown where one must stand.
pub(super) const HIDDEN: &str = "(not shown: `snapshot.answers` is `masked`)";

/// Takes what was asked, what was said and what is true out of a record. Its id, its slices, its verdict and its figures
/// stay.
pub(crate) fn hide_texts(record: &mut Record) {
    record.prompt = Arc::clone(&NO_PROMPT);
    record.question = None;
    record.ground_truth = Value::Null;
    record.metadata = Map::new();
    record.mask = String::new();
    let result = &mut record.result;
    result.output = None;
    result.prediction = None;
    result.judged = Vec::new();
    if let Some(score) = &mut result.score {
        score.normalized_prediction = Normalized::None;
        score.normalized_ground_truth = Normalized::None;
        score
            .details
            .retain(|name, value| is_name(name) && is_figure(value));
        if !is_word(&score.reason) {
            score.reason = HIDDEN.into();
        }
    }
    // As JSON: the same members, and those of scorers that tell more.
    for score in result.scores.values_mut() {
        let Value::Object(members) = score else {
            continue;
        };
        members.retain(|name, value| match (name.as_str(), value) {
            ("error", value) => {
                *value = HIDDEN.into();
                true
            }
            ("reason", value) => {
                if !value.as_str().is_some_and(is_word) {
                    *value = HIDDEN.into();
                }
                true
            }
            ("details", Value::Object(details)) => {
                details.retain(|name, value| is_name(name) && is_figure(value));
                true
            }
            (_, value) => is_figure(value),
        });
    }
    if let Some(error) = &mut result.error {
        // What a program says when it fails may be what it was asked.
        HIDDEN.clone_into(&mut error.message);
        error.stderr_tail = None;
    }
}

fn is_figure(value: &Value) -> bool {
    value.is_number() || value.is_boolean()
}

/// A name in a program; a scorer of one's own may have texts for names.
fn is_name(name: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_-.:@".contains(c);
    name.len() <= 64 && name.chars().all(is_of_name)
}

/// A word that a scorer has for its verdict, such as `exact_match`, and no text of its own.
fn is_word(reason: &str) -> bool {
    let is_of_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c);
    reason.len() <= 40 && reason.chars().all(is_of_word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{AgentError, Output, Score};
    use serde_json::json;

    #[test]
    fn no_text_of_a_masked_benchmark_is_left() {
        let secret = "whale oil";
        let score = Score::new(0.5, false, format!("not {secret}"))
            .normalized(secret, secret)
            .detail("f1", 0.5)
            .detail("span", secret);
        let mut record = Record::scored("q1", score);
        record.prompt = secret.into();
        record.question = Some(secret.to_owned());
        record.ground_truth = secret.into();
        record.metadata.insert("Steps".to_owned(), secret.into());
        record.result.prediction = Some(secret.to_owned());
        record.result.output = Some(Output::text(secret));
        let mut error = AgentError::new(secret);
        error.stderr_tail = Some(secret.to_owned());
        record.result.error = Some(error);
        let scores = json!({
            "qa": {"value": 0.5, "correct": false, "reason": "partial", "normalized_prediction": secret,
                   "details": {"f1": 0.5, "span": secret}},
            "judge": {"error": secret},
        });
        record.result.scores = scores.as_object().unwrap().clone();
        hide_texts(&mut record);
        let text = serde_json::to_string(&record).unwrap();
        assert!(!text.contains("whale"), "{text}");
        assert_eq!(record.sample_id, "q1");
        let score = record.result.score.as_ref().unwrap();
        assert_eq!(score.details.get("f1"), Some(&0.5.into()));
        assert_eq!(record.result.scores["qa"]["reason"], "partial");
        assert_eq!(record.result.unjudged_by().collect::<Vec<_>>(), ["judge"]);
    }
}
