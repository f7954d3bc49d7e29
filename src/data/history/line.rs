//! `HistoryLine`: a run or an accepted baseline, as a line of a history.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{HISTORY_VERSION, HistoryAnswers, SkippedLine};
use crate::text::checksum::{self, Checksum};
use crate::text::{excerpt, json_line};

/// The kind of a line.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum HistoryKind {
    /// A run.
    #[default]
    Run,
    /// Runs accepted as the baseline.
    Accept,
}

/// A run or an accepted baseline. Shares are from 0 to 1; unknown values are omitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistoryLine {
    /// The format version of the writer.
    pub format_version: u32,
    /// Its kind.
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
    /// Whether the working tree had uncommitted changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
    /// Whether the run ended before all samples were requested because its gates were decided. Its samples are then a
    /// biased subset, because worse agents stop earlier.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub early: bool,
    /// The tier, if the run was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// Hash of all ids, inputs and ground truths.
    #[serde(default)]
    pub dataset_hash: String,
    /// Hash of the extraction and the scorer that decides.
    #[serde(default)]
    pub scorer_hash: String,
    /// Hash of the agent, if it has a fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_hash: Option<String>,
    /// The prompt around the questions: the preset with a hash of its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The models that answered, with fingerprints, as reported by endpoints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub served_models: Vec<String>,
    /// The models that judged, by scorer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub judge_models: BTreeMap<String, Vec<String>>,
    /// Number of samples; with several epochs, of all answers.
    #[serde(default)]
    pub samples: u64,
    /// Those with a verdict.
    #[serde(default)]
    pub scored: u64,
    /// Those that are correct.
    #[serde(default)]
    pub correct: u64,
    /// Samples that should have a verdict but have none.
    #[serde(default)]
    pub errors: u64,
    /// Epochs per sample.
    #[serde(default = "once")]
    pub epochs: u32,
    /// Samples with cached answers, which are no new evidence.
    #[serde(default, skip_serializing_if = "is_none")]
    pub cached: u64,
    /// correct / scored.
    #[serde(default)]
    pub accuracy: Option<f64>,
    /// Its 95 % confidence interval.
    #[serde(default)]
    pub accuracy_ci95: Option<[f64; 2]>,
    /// The share of errors among requested samples.
    #[serde(default)]
    pub error_rate: Option<f64>,
    /// Means of the score and of its details.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub means: BTreeMap<String, f64>,
    /// The benchmark's own aggregates.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metrics: Map<String, Value>,
    /// Figures of slices, by dimension and value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub slices: BTreeMap<String, BTreeMap<String, HistorySlice>>,
    /// Cost of the agent in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Input and output tokens of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The mean number of steps of right answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<f64>,
    /// Other figures of the whole run, by the name of their metric: `input_tokens`, `tool_calls`, `turns`, …
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, f64>,
    /// Latency of answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_s: Option<HistoryLatency>,
    /// Duration of the run in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// Results of the gates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<HistoryGate>,
    /// Exit code of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u8>,
    /// Ids of the accepted runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<String>,
    /// Which samples were correct, unless there are too many.
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
    /// Samples that should have a verdict but have none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub errors: u64,
    /// Samples with cached answers.
    #[serde(default, skip_serializing_if = "is_none")]
    pub cached: u64,
    /// correct / scored.
    #[serde(default)]
    pub accuracy: Option<f64>,
    /// Its 95 % confidence interval.
    #[serde(default)]
    pub accuracy_ci95: Option<[f64; 2]>,
}

/// Latency of answers in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistoryLatency {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
}

/// The result of a gate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistoryGate {
    /// The gate as it is written.
    pub gate: String,
    /// `passed`, `failed`, `inconclusive` or `ignored`.
    pub verdict: String,
    /// The measured value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
}

/// The members checked before all others.
#[derive(Deserialize)]
struct LineHead {
    format_version: Option<u64>,
    eval: Option<String>,
}

/// Git's merge conflict markers.
const CONFLICT_MARKS: [&[u8]; 4] = [b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>"];

/// The first version whose lines have a checksum.
const CHECKSUM_SINCE: u32 = 2;

/// The fault of a line with a wrong checksum.
const CHANGED: &str = "it was changed after it was written: its `sum` is that of another line";

/// Hint for an unusable line.
const DELETE: &str = "restore it from version control or delete the line";

impl SkippedLine {
    /// A line that is not what evaltest wrote; its number is not known yet.
    fn damaged(why: impl Into<String>) -> Self {
        Self {
            is_damaged: true,
            ..Self::other(why, DELETE)
        }
    }

    /// A line that evaltest may have written elsewhere.
    fn other(why: impl Into<String>, hint: &'static str) -> Self {
        Self {
            line: 0,
            why: why.into(),
            hint,
            is_damaged: false,
        }
    }
}

impl HistoryLine {
    /// The line with its checksum.
    pub(crate) fn to_line(&self) -> serde_json::Result<Vec<u8>> {
        let mut line = json_line(self)?;
        checksum::add_to_line(&mut line);
        Ok(line)
    }

    /// Parses a line of an eval's history, or returns what is wrong with it.
    pub(super) fn of(bytes: &[u8], eval: &str) -> Result<Self, SkippedLine> {
        let error = match serde_json::from_slice::<Self>(bytes) {
            Ok(line) => {
                let sum = checksum::check_line(bytes);
                if sum == Checksum::Wrong {
                    return Err(SkippedLine::damaged(CHANGED));
                }
                let fault = line.fault(eval).or_else(|| {
                    let has_sum = line.format_version >= CHECKSUM_SINCE;
                    let lacks_sum = has_sum && sum == Checksum::Missing;
                    lacks_sum.then(|| SkippedLine::damaged("it lacks its checksum"))
                });
                return match fault {
                    None => Ok(line),
                    Some(fault) => Err(fault),
                };
            }
            Err(error) => error,
        };
        if CONFLICT_MARKS.iter().any(|mark| bytes.starts_with(mark)) {
            return Err(SkippedLine::other(
                "it is a conflict marker of git",
                "delete the markers and keep the other lines; all of them count",
            ));
        }
        // A line of another version may have a different structure.
        let head = serde_json::from_slice::<LineHead>(bytes);
        if let Ok(fault) = head.map(|head| head.fault(eval))
            && let Some(fault) = fault
        {
            return Err(fault);
        }
        Err(SkippedLine::damaged(if error.is_eof() {
            "it is cut off".to_owned()
        } else {
            format!("it is not a line of a history: {}", excerpt(&plain(&error)))
        }))
    }

    /// The sort key.
    pub(super) fn order(&self) -> (Timestamp, &str, HistoryKind) {
        (self.time, &self.id, self.kind)
    }

    /// The key that comparable lines share: dataset, scorer and tier.
    pub fn comparable(&self) -> (&str, &str, Option<&str>) {
        (&self.dataset_hash, &self.scorer_hash, self.tier.as_deref())
    }

    /// What is wrong with it, if it is invalid.
    fn fault(&self, eval: &str) -> Option<SkippedLine> {
        let head = LineHead {
            format_version: Some(self.format_version.into()),
            eval: Some(self.eval.clone()),
        };
        if let Some(fault) = head.fault(eval) {
            return Some(fault);
        }
        let why = |why: &str| Some(SkippedLine::damaged(why));
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
    /// What is wrong, if the line cannot be used for this eval.
    fn fault(&self, eval: &str) -> Option<SkippedLine> {
        let version = self.format_version.unwrap_or_default();
        if version > HISTORY_VERSION.into() {
            let why =
                format!("it has version {version}, but this evaltest reads {HISTORY_VERSION}");
            return Some(SkippedLine::other(why, "cargo install cargo-evaltest"));
        }
        let other = self.eval.as_deref().filter(|other| *other != eval)?;
        let why = format!("it belongs to eval `{}`", excerpt(other));
        let hint = "move it to the snapshots of that eval";
        Some(SkippedLine::other(why, hint))
    }
}

/// An error's text without its position, because the parser sees each line as line 1.
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

/// Serialises a time as in RFC 3339.
mod time {
    use std::borrow::Cow;

    use jiff::Timestamp;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
        // Use milliseconds, because an eval may run several times per second.
        to.collect_str(&format_args!("{time:.3}"))
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Timestamp, D::Error> {
        let text = Cow::<'a, str>::deserialize(from)?;
        let wrong = |_| D::Error::custom("its `time` is not a time such as 2026-11-23T19:53:21Z");
        text.parse().map_err(wrong)
    }
}
