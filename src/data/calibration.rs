//! `Calibration`: what a judge is worth beside labels of people, as the file that is committed beside a spec.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::labels::LabelChoice;
use crate::error::{Error, Result};
use crate::system::file::{read_plain, write_atomically};
use crate::text::escape_line_ends;

/// The version of the file, counted up whenever a reader of an older version would be misled.
///
/// - 1: the first.
const FORMAT_VERSION: u32 = 1;

/// What a judge is worth beside labels of people. It says nothing of when it was made: of the same run and labels it is
/// the same file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The version of the format, of the writer.
    pub format_version: u32,
    /// The eval's name.
    pub eval: String,
    /// The name of the scorer that judges.
    pub scorer: String,
    /// Hash of all that makes it another judge.
    pub fingerprint: String,
    /// What served it, as endpoints report it.
    pub models: BTreeSet<String>,
    /// The id of the run whose answers were labelled.
    pub run: String,
    /// Hash of the ids of that run with its answers: another run with the same has the same answers.
    pub population: String,
    /// Labelled answers that the judge gave a verdict on, of those that were drawn by lot or are all.
    pub n: u64,
    /// Further ones that were picked: they tell of agreement alone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub picked: u64,
    /// Why nobody can see that the labelled answers were drawn by lot from the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// How far the two agree beyond chance.
    pub kappa: CalibrationKappa,
    /// The share of the judge's repeats that say what its first verdict says.
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

/// Cohen's kappa of labels and verdicts, of the figure that says most, over answers that were drawn where there are such.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationKappa {
    /// Of which figure; empty without any.
    pub of: String,
    /// Whether the square of the distance counts, as with points; these are the mean of what people say.
    pub quadratic: bool,
    /// The kappa; `null` where there is none.
    pub value: Option<f64>,
    /// Its 95 % confidence interval; `null` where it would have no width.
    pub ci95: Option<[f64; 2]>,
}

/// An answer that people labelled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibratedAnswer {
    /// The id of its sample; of several epochs it is the first.
    pub id: String,
    /// How it came to be labelled.
    pub chosen: LabelChoice,
    /// What the lot was drawn with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The group of samples that it hangs together with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// What each person said, by figure.
    pub labels: BTreeMap<String, Vec<Value>>,
    /// The number that this amounts to, beside the judge's, by figure.
    pub values: BTreeMap<String, LabelledValue>,
    /// Hash of the answer.
    pub answer: String,
}

/// A figure of one answer, by people and by the judge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabelledValue {
    /// By people.
    pub label: f64,
    /// By the judge, over all epochs; `null` where it gave no verdict.
    pub judge: Option<f64>,
}

/// Which format a file says that it is of.
#[derive(Deserialize)]
struct Version {
    format_version: u32,
}

impl Calibration {
    /// With the version of this program.
    pub(crate) fn version() -> u32 {
        FORMAT_VERSION
    }

    /// Reads a calibration.
    ///
    /// # Errors
    ///
    /// With the place of what is wrong, and for one of another version.
    pub fn read(path: &Path) -> Result<Self> {
        const AGAIN: &str = "cargo evaltest judge calibrate RUN_DIR --labels FILE";
        let text = read_plain(path).map_err(|error| Error::io("read", path, &error))?;
        let refuse = |error: &serde_json::Error| {
            let place = format!("{}:{}:{}", path.display(), error.line(), error.column());
            // The place stands at the end of serde's words, too.
            let told = error.to_string();
            let told = told
                .rsplit_once(" at line ")
                .map_or(&*told, |(told, _)| told);
            Error::usage(format!("not a calibration: {told}"))
                .at(place)
                .hint(format!("make it again: `{AGAIN}`"))
        };
        let Version { format_version } =
            serde_json::from_slice(&text).map_err(|error| refuse(&error))?;
        if format_version != FORMAT_VERSION {
            let message = format!(
                "{}: format {format_version} of a calibration, and this evaltest understands {FORMAT_VERSION}",
                path.display()
            );
            return Err(
                Error::usage(message).hint(if format_version > FORMAT_VERSION {
                    "cargo install cargo-evaltest".to_owned()
                } else {
                    format!("make it again: `{AGAIN}`")
                }),
            );
        }
        serde_json::from_slice(&text).map_err(|error| refuse(&error))
    }

    /// Writes it.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(self).map_err(|error| {
            Error::infrastructure(format!("the calibration cannot be written: {error}"))
        })?;
        escape_line_ends(&mut text, 0);
        text.push(b'\n');
        write_atomically(path, &text)
    }

    /// In what this is the calibration of another judge than one with this fingerprint and these served models; `None`
    /// where it is the same. Fingerprints behind the name of a model are of the endpoint's machines and are not compared.
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

    /// Whether its labels say something of all answers: they were drawn by lot, or are all.
    pub(crate) fn is_drawn(&self) -> bool {
        self.drawn().next().is_some()
    }

    /// The labelled answers that were drawn by lot, or all.
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
