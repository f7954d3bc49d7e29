//! `Calibration`: agreement of a judge with human labels, as a file committed next to a spec.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::labels::LabelChoice;
use crate::error::{Error, Result};
use crate::system::file::{read_plain, write_atomically};
use crate::text::checksum::{self, Coverage};
use crate::text::escape_line_ends;

/// The version of the file; incremented when an older reader would misinterpret it.
///
/// - 1: the first.
/// - 2: it has a `checksum`.
const FORMAT_VERSION: u32 = 2;

/// The first version with a checksum.
const CHECKSUM_SINCE: u32 = 2;

/// Agreement of a judge with human labels. Contains no timestamp: the same run and labels give the same file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The format version of the writer.
    pub format_version: u32,
    /// The eval's name.
    pub eval: String,
    /// The name of the judge's scorer.
    pub scorer: String,
    /// Hash of the judge's configuration.
    pub fingerprint: String,
    /// The models that served it, as reported by endpoints.
    pub models: BTreeSet<String>,
    /// The id of the run whose answers were labelled.
    pub run: String,
    /// Hash of the ids and answers of that run.
    pub population: String,
    /// Labelled answers with a verdict of the judge that were drawn at random, or are all of the run.
    pub n: u64,
    /// Additional picked answers, used for agreement only.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub picked: u64,
    /// Reasons why it cannot be verified that the labelled answers are a random sample of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// Agreement beyond chance.
    pub kappa: CalibrationKappa,
    /// The share of the judge's repeated verdicts that equal its first one.
    pub self_agreement: Option<f64>,
    /// The figures of `judge agreement`, by what was labelled: `total`, a dimension, `verdict`, `correct`, `value`.
    pub figures: BTreeMap<String, Value>,
    /// The labelled answers, in the order of the run.
    pub answers: Vec<CalibratedAnswer>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Cohen's kappa of labels and verdicts for the most informative figure; over randomly drawn answers if there are any.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationKappa {
    /// The figure; empty if there is none.
    pub of: String,
    /// Whether kappa has quadratic weights, as for points, whose labels are averaged over people.
    pub quadratic: bool,
    /// The kappa; `null` if undefined.
    pub value: Option<f64>,
    /// Its 95 % confidence interval; `null` if it would have no width.
    pub ci95: Option<[f64; 2]>,
}

/// An answer that people labelled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibratedAnswer {
    /// The id of its sample; for several epochs the first one.
    pub id: String,
    /// How it was selected for labelling.
    pub chosen: LabelChoice,
    /// The seed of the random draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The cluster of its sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// The label of each person, by figure.
    pub labels: BTreeMap<String, Vec<Value>>,
    /// The numeric values of people and judge, by figure.
    pub values: BTreeMap<String, LabelledValue>,
    /// Hash of the answer.
    pub answer: String,
}

/// A figure of one answer, by people and judge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelledValue {
    /// By people.
    pub label: f64,
    /// By the judge, over all epochs; `null` without a verdict.
    pub judge: Option<f64>,
}

/// The format version of a file.
#[derive(Deserialize)]
struct Version {
    format_version: u32,
}

impl Calibration {
    /// The format version of this program.
    pub(crate) fn version() -> u32 {
        FORMAT_VERSION
    }

    /// Reads a calibration.
    ///
    /// # Errors
    ///
    /// Invalid content, with its position, and files of another version.
    pub fn read(path: &Path) -> Result<Self> {
        const AGAIN: &str = "cargo evaltest judge calibrate RUN_DIR --labels FILE";
        let text = read_plain(path).map_err(|error| Error::io("read", path, &error))?;
        let again = format!("restore it from version control, or make it again: `{AGAIN}`");
        let refuse = |error: &serde_json::Error| {
            let place = format!("{}:{}:{}", path.display(), error.line(), error.column());
            // serde's message also ends in the position.
            let message = error.to_string();
            let message = message
                .rsplit_once(" at line ")
                .map_or(&*message, |(message, _)| message);
            Error::usage(format!("not a calibration: {message}"))
                .at(place)
                .hint(&again)
        };
        let Version { format_version } =
            serde_json::from_slice(&text).map_err(|error| refuse(&error))?;
        if format_version > FORMAT_VERSION {
            let message = format!(
                "{}: calibration format {format_version}, but this evaltest reads {FORMAT_VERSION}",
                path.display()
            );
            return Err(Error::usage(message).hint("cargo install cargo-evaltest"));
        }
        let found = serde_json::from_slice(&text).map_err(|error| refuse(&error))?;
        let sum = checksum::check(&text, Coverage::Tokens);
        match sum.fault(format_version >= CHECKSUM_SINCE) {
            None => Ok(found),
            Some(fault) => {
                let message = format!("{}: not a calibration: {fault}", path.display());
                Err(Error::usage(message).hint(again))
            }
        }
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(self).map_err(|error| {
            Error::infrastructure(format!("the calibration cannot be written: {error}"))
        })?;
        escape_line_ends(&mut text, 0);
        checksum::add(&mut text, Coverage::Tokens);
        write_atomically(path, &text)
    }

    /// The difference to a judge with this fingerprint and these served models; `None` if they are the same. Backend
    /// fingerprints after a model's name are not compared, because they change with the endpoint's machines.
    pub(crate) fn differs(&self, fingerprint: &str, models: &BTreeSet<String>) -> Option<String> {
        let names = |models: &BTreeSet<String>| -> BTreeSet<String> {
            models.iter().map(|it| model_name(it).to_owned()).collect()
        };
        let (then, now) = (names(&self.models), names(models));
        if !then.is_empty() && !now.is_subset(&then) {
            let named = |models: BTreeSet<String>| {
                let models: Vec<_> = models.into_iter().collect();
                models.join("` and `")
            };
            return Some(format!(
                "served by `{}`, and here by `{}`",
                named(then),
                named(now)
            ));
        }
        (self.fingerprint != fingerprint)
            .then(|| "with another model, prompt, rubric, or other parameters".to_owned())
    }

    /// Whether its labels represent all answers: they were drawn at random, or are complete.
    pub(crate) fn is_drawn(&self) -> bool {
        self.drawn().next().is_some()
    }

    /// The labelled answers that were drawn at random, or are complete.
    pub(crate) fn drawn(&self) -> impl Iterator<Item = &CalibratedAnswer> {
        let answers = self.answers.iter();
        answers.filter(|answer| answer.chosen != LabelChoice::Picked && !answer.values.is_empty())
    }
}

/// The name of a model without its fingerprint: `m` of `m (fp_1)`.
pub(crate) fn model_name(served: &str) -> &str {
    let bare = served.strip_suffix(')').and_then(|it| it.rsplit_once(" ("));
    bare.map_or(served, |(name, _)| name)
}
