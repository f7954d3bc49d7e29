//! From an answer to a verdict: extracts the answer and runs all scorers, by rule or by a model. `judges` sends requests
//! to the models.

#[cfg(feature = "command")]
pub(crate) mod calibrate;
pub(crate) mod calibrations;
pub(crate) mod judges;

use serde_json::{Map, Value};

use super::record::skipped;
use super::session::question::Question;
use crate::data::conversation::SCRIPT;
use crate::data::record::Judgement;
use crate::data::{
    AgentError, ConversationOutcome, FoundBy, Missed, MissedPart, Outcome, Output, Sample, Score,
    Status, Target, Unread,
};
use crate::error::{Error, Result};
use crate::eval::plan::Plan;
use crate::scorer::ask::client::{AgentClient, NamedClient};
use crate::scorer::extract::Extraction;
use crate::scorer::{Answer, Scorer, missed, verdict};
use crate::store::journal::past::Answered;
use crate::system::panics;
use crate::text::redact::is_blanked;
use judges::JudgeClient;

/// Extracts the prediction and runs every scorer. The first decides.
///
/// If the run stops before all judges have replied there is no verdict: the answer is on disk, and is judged when the
/// run is resumed.
pub(super) fn judge(
    plan: &Plan,
    question: &Question,
    answer: Answered,
    client: JudgeClient<'_>,
) -> Outcome {
    let Answered {
        mut output,
        latency_s,
        attempts,
        redacted,
        cached,
        cached_from,
        recorded,
    } = answer;
    let outcome = Outcome {
        shortfall: output.shortfall(),
        usage: output.usage,
        steps: output.steps_taken(),
        tools: output.tools_taken(),
        output_length: output.length(),
        attempts,
        latency_s,
        cached,
        cached_from,
        recorded,
        redacted,
        ..Outcome::default()
    };
    let sample = &question.item.sample;
    let judged = ScoringInput {
        target: sample.target.as_ref(),
        metadata: &sample.metadata,
        sample: Some(sample),
        output: &output,
        prompt: Some(&sample.prompt),
        item: (&sample.id, question.epoch),
        extraction: &plan.extraction,
        client: Some(&client),
    };
    let judgement = score_all(&plan.scorers, &judged);
    let (calls, stopped) = client.finish();
    if stopped {
        return skipped(attempts);
    }
    let judgement = Judgement {
        judged: calls,
        ..judgement
    };
    let mut outcome = outcome.judged(judgement);
    let conversation = output.conversation.take().map(|conversation| *conversation);
    let has_script = || sample.metadata.contains_key(SCRIPT);
    let conversation =
        conversation.or_else(|| has_script().then(|| ConversationOutcome::of_transcript(&output)));
    if let Some(conversation) = conversation {
        outcome.converse(conversation);
        outcome.judge_turns();
    }
    outcome.output = Some(output);
    if redacted > 0 {
        doubt(&mut outcome);
    }
    outcome
}

/// The outcome of a failed agent where that counts as wrong: every scorer that would have judged an answer finds it
/// wrong. If the first would have judged none, the outcome is unchanged.
pub(super) fn judge_failure(plan: &Plan, question: &Question, mut outcome: Outcome) -> Outcome {
    let sample = &question.item.sample;
    let (output, hidden) = (Output::default(), Target(Value::Null));
    let answer = Answer {
        prediction: None,
        target: sample.target.as_ref().unwrap_or(&hidden),
        output: &output,
        metadata: &sample.metadata,
        sample: Some(sample),
        extract_is_given: plan.extraction.is_given,
        prompt: Some(&sample.prompt),
        client: None,
        item: Some((&sample.id, question.epoch)),
    };
    let judges = |scorer: &&std::sync::Arc<dyn Scorer>| {
        (sample.target.is_some() || !scorer.needs_target()) && scorer.judges(&answer)
    };
    if !plan.scorers.first().as_ref().is_some_and(judges) {
        return outcome;
    }
    let names = plan.scorers.iter().filter(judges).map(Scorer::name);
    let names: Vec<_> = names.collect();
    let judgement = Judgement::wrong(
        outcome.status.as_str(),
        outcome.error.take(),
        if plan.scorers.len() > 1 { &names } else { &[] },
    );
    outcome.judged(judgement)
}

/// Discards a verdict if a secret in the answer was redacted before scoring, because the run was killed in between. If
/// the compared part is intact, the verdict stays.
fn doubt(outcome: &mut Outcome) {
    let calls = outcome.output.iter().flat_map(|output| &output.tool_calls);
    let blanked = outcome.prediction.as_deref().is_some_and(is_blanked)
        || calls.into_iter().any(|call| is_blanked(&call.to_string()));
    if blanked && outcome.status == Status::Scored {
        outcome.status = Status::ScorerFailed;
        outcome.score = None;
        outcome.scores.clear();
        outcome.error = Some(AgentError::new(
            "the run was killed before this answer was scored, and on disk a secret in it is blanked; \
             hint: ask it again with `--failed RUN_DIR`",
        ));
    }
}

/// What scorers see, besides the prediction.
#[derive(Clone, Copy)]
pub(super) struct ScoringInput<'a> {
    pub(super) target: Option<&'a Target>,
    pub(super) metadata: &'a Map<String, Value>,
    pub(super) sample: Option<&'a Sample>,
    pub(super) output: &'a Output,
    /// The question as the dataset has it.
    pub(super) prompt: Option<&'a str>,
    /// The id of the sample, and the epoch.
    pub(super) item: (&'a str, u32),
    pub(super) extraction: &'a Extraction,
    /// Where scorers ask agents.
    pub(super) client: Option<&'a dyn AgentClient>,
}

/// Extracts the prediction and runs every scorer that has what it needs. The first scorer decides, and its prediction
/// is recorded.
pub(super) fn score_all(
    scorers: &[std::sync::Arc<dyn Scorer>],
    judged: &ScoringInput<'_>,
) -> Judgement {
    let mut judgement = Judgement {
        status: Status::Unscored,
        ..Judgement::default()
    };
    let hidden = Target(Value::Null);
    let raw = judged.output.text.as_deref();
    for (number, scorer) in scorers.iter().enumerate() {
        let extract = judged.extraction.of(&**scorer);
        let (prediction, found_by) = match raw {
            Some(raw) => extract.read(raw),
            None => (None, FoundBy::Nothing),
        };
        if number == 0 {
            judgement.prediction = prediction.as_deref().map(str::to_owned);
            judgement.found_by = raw.map(|_| found_by);
            judgement.missed = raw.map_or_else(Missed::default, |raw| {
                missed::unread(raw, &extract, found_by, judged.target)
            });
        }
        let answer = Answer {
            prediction: prediction.as_deref(),
            target: judged.target.unwrap_or(&hidden),
            output: judged.output,
            metadata: judged.metadata,
            sample: judged.sample,
            extract_is_given: judged.extraction.is_given,
            prompt: judged.prompt,
            item: Some(judged.item),
            client: judged.client.map(|client| NamedClient {
                client,
                scorer: scorer.name(),
            }),
        };
        if judged.target.is_none() && scorer.needs_target() || !scorer.judges(&answer) {
            continue;
        }
        let score = score_one(&**scorer, &answer);
        if scorers.len() > 1 {
            let entry = match &score {
                Ok(score) => serde_json::to_value(score).unwrap_or_default(),
                Err(error) => unjudged(error),
            };
            judgement.scores.insert(scorer.name().to_owned(), entry);
        }
        if number > 0 {
            continue;
        }
        match score {
            Ok(score) => {
                let read = (prediction.as_deref(), found_by);
                let verdict = (&**scorer, &score);
                if raw.is_some_and(|raw| missed::has_truth(raw, read, verdict, answer.target)) {
                    judgement.missed.add(MissedPart::GroundTruth);
                }
                judgement.status = Status::Scored;
                judgement.score = Some(score);
            }
            Err(error) => {
                judgement.status = Status::ScorerFailed;
                let message = format!("scorer `{}`: {}", scorer.name(), error.message());
                judgement.error = Some(AgentError {
                    reason: error.reason().and_then(Unread::of),
                    ..AgentError::new(message)
                });
            }
        }
    }
    judgement
}

/// Recorded in place of the verdict of a scorer that could not judge.
fn unjudged(error: &Error) -> Value {
    match error.reason() {
        Some(reason) => serde_json::json!({ "error": error.message(), "reason": reason }),
        None => serde_json::json!({ "error": error.message() }),
    }
}

/// One verdict; a panic or a value that is not a number is an error.
pub(crate) fn score_one(scorer: &dyn Scorer, answer: &Answer<'_>) -> Result<Score> {
    panics::catch(|| verdict(scorer, answer)).map_err(Error::usage)?
}
