//! `HistoryLine`: a run, or a baseline as it was accepted, as a line of a history.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{HISTORY_VERSION, HistoryAnswers};
use crate::text::excerpt;

/// What a line is of.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum HistoryKind {
    /// A run.
    #[default]
    Run,
    /// Runs that became the baseline, as a whole.
    Accept,
}

/// A run, or a baseline as it was accepted. Shares lie between 0 and 1; what is not known is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistoryLine {
    /// The version of the format, of the writer.
    pub format_version: u32,
    /// What it is of.
    pub kind: HistoryKind,
    /// The id of the run, or of the acceptance.
    pub id: String,
    /// The eval's name.
    pub eval: String,
    /// When the run ended, or the baseline was accepted.
    #[serde(with = "time")]
    pub time: Timestamp,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether files differed from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
    /// Whether it ended before all was asked, as its gates were sure: what it asked is no fair part of the rest, for who is
    /// worse ends sooner.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub early: bool,
    /// The tier that was run, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// Hash of all ids, inputs and ground truths.
    #[serde(default)]
    pub dataset_hash: String,
    /// Hash of the extraction and the scorer that decides.
    #[serde(default)]
    pub scorer_hash: String,
    /// Hash of the agent, where it says what it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_hash: Option<String>,
    /// The prompt around the questions: the preset with a hash of its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// What answered, as endpoints report it: models with their fingerprints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub served_models: Vec<String>,
    /// What judged, by the name of the scorer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub judge_models: BTreeMap<String, Vec<String>>,
    /// All samples; with several epochs, all answers to them.
    #[serde(default)]
    pub samples: u64,
    /// Those with a verdict.
    #[serde(default)]
    pub scored: u64,
    /// Those that are correct.
    #[serde(default)]
    pub correct: u64,
    /// Those that lack the verdict they should have.
    #[serde(default)]
    pub errors: u64,
    /// How often each sample was asked.
    #[serde(default = "once")]
    pub epochs: u32,
    /// Those whose answers were given before, and are no new evidence.
    #[serde(default, skip_serializing_if = "is_none")]
    pub cached: u64,
    /// correct / scored.
    #[serde(default)]
    pub accuracy: Option<f64>,
    /// Its 95 % confidence interval.
    #[serde(default)]
    pub accuracy_ci95: Option<[f64; 2]>,
    /// The share of errors among those that were asked.
    #[serde(default)]
    pub error_rate: Option<f64>,
    /// Means of the score and its details.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub means: BTreeMap<String, f64>,
    /// The benchmark's own aggregates.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metrics: Map<String, Value>,
    /// The same for slices, by dimension and value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub slices: BTreeMap<String, BTreeMap<String, HistorySlice>>,
    /// What the agent cost, in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Tokens that it read and wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// How long answers took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_s: Option<HistoryLatency>,
    /// How long the run took, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// What became of the gates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<HistoryGate>,
    /// How the run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u8>,
    /// The ids of the runs that were accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<String>,
    /// Which samples were right, unless there are too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<HistoryAnswers>,
}

/// The figures of a slice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistorySlice {
    /// Samples of it with a verdict.
    #[serde(default)]
    pub scored: u64,
    /// Those that are correct.
    #[serde(default)]
    pub correct: u64,
    /// Those that lack the verdict they should have.
    #[serde(default, skip_serializing_if = "is_none")]
    pub errors: u64,
    /// Those whose answers were given before.
    #[serde(default, skip_serializing_if = "is_none")]
    pub cached: u64,
    /// correct / scored.
    #[serde(default)]
    pub accuracy: Option<f64>,
    /// Its 95 % confidence interval.
    #[serde(default)]
    pub accuracy_ci95: Option<[f64; 2]>,
}

/// How long answers took, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistoryLatency {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
}

/// What became of a gate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistoryGate {
    /// The gate as it is written.
    pub gate: String,
    /// `passed`, `failed`, `inconclusive` or `ignored`.
    pub verdict: String,
    /// What it measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// What it was held against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
}

/// What the first look at a line tells, whatever else it says.
#[derive(Deserialize)]
struct LineHead {
    format_version: Option<u64>,
    eval: Option<String>,
}

/// The marks that git leaves around what it could not merge.
const CONFLICT_MARKS: [&[u8]; 4] = [b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>"];

/// What to do about a line that says nothing.
const DELETE: &str = "restore it from version control or delete the line";

impl HistoryLine {
    /// Reads a line of the history of an eval, or says what is wrong with it and what to do.
    pub(super) fn of(bytes: &[u8], eval: &str) -> Result<Self, (String, &'static str)> {
        let error = match serde_json::from_slice::<Self>(bytes) {
            Ok(line) => {
                return match line.fault(eval) {
                    None => Ok(line),
                    Some(fault) => Err(fault),
                };
            }
            Err(error) => error,
        };
        if CONFLICT_MARKS.iter().any(|mark| bytes.starts_with(mark)) {
            let why = "it is a mark of a merge that git could not make".to_owned();
            return Err((
                why,
                "delete the marks and keep the other lines, all of them count",
            ));
        }
        // A line of another version need not have this shape.
        let head = serde_json::from_slice::<LineHead>(bytes);
        if let Ok(fault) = head.map(|head| head.fault(eval))
            && let Some(fault) = fault
        {
            return Err(fault);
        }
        let why = if error.is_eof() {
            "it is cut off".to_owned()
        } else {
            format!("it is no line of a history: {}", excerpt(&plain(&error)))
        };
        Err((why, DELETE))
    }

    /// Where it stands among others.
    pub(super) fn order(&self) -> (Timestamp, &str, HistoryKind) {
        (self.time, &self.id, self.kind)
    }

    /// What only lines that can be compared have in common: dataset, scorer and tier.
    pub fn comparable(&self) -> (&str, &str, Option<&str>) {
        (&self.dataset_hash, &self.scorer_hash, self.tier.as_deref())
    }

    /// What is wrong with it, and what to do, if anything is.
    fn fault(&self, eval: &str) -> Option<(String, &'static str)> {
        let head = LineHead {
            format_version: Some(self.format_version.into()),
            eval: Some(self.eval.clone()),
        };
        if let Some(fault) = head.fault(eval) {
            return Some(fault);
        }
        let why = |why: &str| Some((why.to_owned(), DELETE));
        if self.id.is_empty() {
            return why("it has no `id`");
        }
        let slices = self.slices.values().flat_map(BTreeMap::values);
        let counts = slices.clone().map(|slice| (slice.correct, slice.scored));
        let mut counts = counts.chain([(self.correct, self.scored), (self.scored, self.samples)]);
        if counts.any(|(part, whole)| part > whole) {
            return why("it counts more than there is");
        }
        let is_share = |share: f64| (0.0..=1.0).contains(&share);
        let shares = slices.filter_map(|slice| slice.accuracy);
        let mut shares = shares.chain(self.accuracy).chain(self.error_rate);
        if !shares.all(is_share) {
            return why("a share in it is not between 0 and 1");
        }
        let answers = self.answers.as_ref();
        let fault = answers.and_then(HistoryAnswers::fault)?;
        why(fault)
    }
}

impl LineHead {
    /// Why nothing is said of a line of this eval, if so.
    fn fault(&self, eval: &str) -> Option<(String, &'static str)> {
        let version = self.format_version.unwrap_or_default();
        if version > HISTORY_VERSION.into() {
            let why =
                format!("it is of version {version}, and this evaltest knows {HISTORY_VERSION}");
            return Some((why, "cargo install cargo-evaltest"));
        }
        let other = self.eval.as_deref().filter(|other| *other != eval)?;
        let why = format!("it is of eval `{}`", excerpt(other));
        Some((why, "move it to where the snapshots of that eval are"))
    }
}

/// What an error says without its place, for a line of the file is one line to the parser.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.split_once(" at line ") {
        Some((text, _)) => text.to_owned(),
        None => text,
    }
}

fn once() -> u32 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde's `skip_serializing_if` passes a reference"
)]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// A time as RFC 3339 has it.
mod time {
    use std::borrow::Cow;

    use jiff::Timestamp;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
        // In one second an eval may be run several times.
        to.collect_str(&format_args!("{time:.3}"))
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Timestamp, D::Error> {
        let text = Cow::<'a, str>::deserialize(from)?;
        let wrong = |_| D::Error::custom("its `time` is no time such as 2026-11-23T19:53:21Z");
        text.parse().map_err(wrong)
    }
}
