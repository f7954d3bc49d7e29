//! [`SampleContent`]: the snapshot content of a sample, built from that of each of its answers.

use std::path::Path;

use super::content::{AnswerForm, Content, InputHash};
use super::{LONGEST_TEXT, json, path};
use crate::data::{DetailBounds, Normalized, Record, Status};
use crate::text::hash::{Hasher, MaskKey};
use crate::verdict::baseline::figures::{AnswerFigures, FigureRules};
use crate::verdict::baseline::{marks, ways};
use crate::verdict::gate::Slice;
use crate::verdict::poll::Poll;

/// The snapshot content for one answer of a sample.
#[derive(Clone, Debug)]
pub(crate) struct EpochContent {
    /// The epoch, from 0.
    epoch: u32,
    /// The normalised answer, for the majority vote.
    ballot: String,
    content: Content,
    /// The same in format version 1.
    version_1: Content,
    /// The hash of the ground truth as versions had it that rounded numbers, if it differs.
    older_target: Option<String>,
}

/// What is stored of the answers of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StoredParts<'a> {
    /// Whether questions and answers are hidden.
    pub(crate) masked: bool,
    /// The deciding scorer.
    pub(crate) scorer: Option<&'a str>,
    /// Whether latencies are kept: they differ from run to run, so only where a gate compares them.
    pub(crate) latency: bool,
    /// The details of scores that are measures, and may be stored of answers that are hidden.
    pub(crate) details: Option<&'a DetailBounds>,
}

/// The current snapshot content of a sample.
#[derive(Clone, Debug)]
pub(crate) struct SampleContent {
    pub(crate) content: Content,
    version_1: Content,
    older_target: Option<String>,
}

impl EpochContent {
    /// From a record.
    pub(crate) fn of(record: &Record, stored: StoredParts<'_>) -> Self {
        let masked = stored.masked;
        let outcome = &record.result;
        let correct = (outcome.status == Status::Scored).then(|| outcome.is_correct());
        let prediction = outcome.prediction.as_deref();
        let normalized =
            outcome
                .score
                .as_ref()
                .and_then(|score| match &score.normalized_prediction {
                    Normalized::Text(text) => Some(json(text)),
                    list @ Normalized::List(_) => serde_json::to_string(list).ok(),
                    Normalized::None => None,
                });
        let ballot = normalized.clone();
        let ballot = ballot.unwrap_or_else(|| json(prediction.unwrap_or_default().trim()));
        let way = correct.and_then(|_| ways::of(outcome));
        let version_1 = Content {
            correct,
            answers: vec![correct],
            ways: Vec::new(),
            figures: AnswerFigures::unknown(&[correct]),
            answer: AnswerForm::Normalized(version_1(
                record,
                &ballot,
                masked && correct == Some(true),
            )),
            input: InputHash::Rendered(record.input_hash.clone()),
            target_hash: record.target_hash.clone(),
            slices: Vec::new(),
        };
        let null = || "null".to_owned();
        let (prediction, normalized) = (
            prediction.map_or_else(null, json),
            normalized.unwrap_or_else(null),
        );
        let key = masked.then(|| key(record));
        let figures = AnswerFigures::of(
            record,
            FigureRules {
                scorer: stored.scorer,
                key: key.as_ref(),
                latency: stored.latency,
                details: stored.details.filter(|_| masked),
            },
        );
        let (answer, input, target_hash) = match key {
            Some(key) => {
                let [question, target] = marks::masked(&key, record);
                let digest = key.short(["prediction", &prediction, &normalized]);
                (
                    AnswerForm::Masked(digest),
                    InputHash::Question(question),
                    target,
                )
            }
            None => (
                AnswerForm::Plain {
                    prediction: shorten(prediction),
                    normalized: shorten(normalized),
                },
                match record.question_hash.as_str() {
                    // The run was made by an older version.
                    "" => InputHash::Rendered(record.input_hash.clone()),
                    hash => InputHash::Question(hash.to_owned()),
                },
                record.target_hash.clone(),
            ),
        };
        Self {
            epoch: record.epoch,
            ballot,
            content: Content {
                correct,
                answers: vec![correct],
                ways: vec![way],
                figures,
                answer,
                input,
                target_hash,
                slices: Slice::all_of(record),
            },
            version_1,
            older_target: Some(record.older_target_hash.clone())
                .filter(|hash| !masked && !hash.is_empty()),
        }
    }
}

impl SampleContent {
    /// The snapshot content for all answers of a sample: that of the first answer that agrees with the majority, with
    /// the majority's verdict. `None` without answers.
    pub(crate) fn majority(mut epochs: Vec<EpochContent>) -> Option<Self> {
        epochs.sort_by_key(|answer| answer.epoch);
        let mut poll = Poll::default();
        let mut voters = Vec::new();
        for (
            place,
            EpochContent {
                ballot, content, ..
            },
        ) in epochs.iter().enumerate()
        {
            if let Some(correct) = content.correct {
                poll.vote(ballot, correct);
                voters.push(place);
            }
        }
        let answers = epochs.iter().map(|answer| answer.content.correct).collect();
        let ways = epochs.iter().flat_map(|answer| answer.content.ways.clone());
        let ways = ways.collect();
        let mut figures = AnswerFigures::default();
        for answer in &epochs {
            figures.append(answer.content.figures.clone());
        }
        let spokesman = poll.spokesman().and_then(|vote| usize::try_from(vote).ok());
        let place = spokesman.and_then(|vote| voters.get(vote).copied());
        let answer = epochs.into_iter().nth(place.unwrap_or_default())?;
        let correct = poll.majority().or(answer.content.correct);
        Some(Self {
            content: Content {
                correct,
                answers,
                ways,
                figures,
                ..answer.content
            },
            version_1: Content {
                correct,
                ..answer.version_1
            },
            older_target: answer.older_target,
        })
    }

    /// What `exact` compares with `old`: verdict, answer, question and ground truth, but not the number of right
    /// answers, which is up to gates, nor how they were found, nor its slices. For an `old` of version 1, what that
    /// version has.
    pub(crate) fn asserted(&self, old: &Content) -> Content {
        let now = match old.answer {
            AnswerForm::Normalized(_) => &self.version_1,
            AnswerForm::Plain { .. } | AnswerForm::Masked(_) => &self.content,
        };
        let older = self.older_target.as_ref();
        let target_hash = older.filter(|older| **older == old.target_hash);
        Content {
            answers: old.answers.clone(),
            ways: old.ways.clone(),
            figures: old.figures.clone(),
            slices: old.slices.clone(),
            target_hash: target_hash.unwrap_or(&now.target_hash).clone(),
            ..now.clone()
        }
    }

    /// Whether the snapshot of this sample matches; a missing or broken one does not.
    pub(crate) fn is_current(&self, folder: &Path, id: &str) -> bool {
        let old = Content::read(&path(folder, id)).ok().flatten();
        old.is_some_and(|old| self.asserted(&old) == old)
    }
}

/// Masks an earlier snapshot so that it reveals neither question nor answer. It must be of the same question and ground
/// truth as the record.
pub(super) fn hidden(old: Content, record: &Record) -> Content {
    let key = key(record);
    let [question, target_hash] = marks::masked(&key, record);
    let digest = match &old.answer {
        AnswerForm::Masked(digest) => digest.clone(),
        AnswerForm::Plain {
            prediction,
            normalized,
        } => key.short(["prediction", prediction, normalized]),
        AnswerForm::Normalized(answer) => key.short(["answer", answer]),
    };
    Content {
        answer: AnswerForm::Masked(digest),
        input: InputHash::Question(question),
        target_hash,
        ..old
    }
}

/// The key for masking a sample's snapshot. Runs made by an older version have none; they get a unique key, so nothing
/// is comparable or revealed.
fn key(record: &Record) -> MaskKey {
    MaskKey::from_hex(&record.mask).unwrap_or_else(|| {
        let whole = serde_json::to_string(record).unwrap_or_default();
        MaskKey::of(Hasher::default().part(whole))
    })
}

/// The answer in format version 1.
fn version_1(record: &Record, ballot: &str, is_masked: bool) -> String {
    if !is_masked {
        return shorten(ballot.to_owned());
    }
    let hash = Hasher::default().part(&record.sample_id).part(ballot);
    format!("(ground truth) {}", &hash.short()[..8])
}

fn shorten(text: String) -> String {
    if text.len() <= LONGEST_TEXT {
        return text;
    }
    let hash = Hasher::default().part(&text).short();
    format!(
        "{}… ({} bytes, {})",
        &text[..text.floor_char_boundary(LONGEST_TEXT)],
        text.len(),
        &hash[..8]
    )
}
