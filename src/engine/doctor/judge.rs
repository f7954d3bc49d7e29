//! `DoctorClient`: asks the judges of an eval for one verdict, with their own rubrics, and checks whether it can be read.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{Examinee, Finding, Health, took};
use crate::agent::Agent;
use crate::data::{AgentError, Output, ReplyForm, Sample, Target, Unread};
use crate::eval::Eval;
use crate::figure::Seconds;
use crate::scorer::ask::client::{
    AgentClient, AskOutcome, JudgeRequest, NamedClient, refuses_form,
};
use crate::scorer::{Answer, Scorer};
use crate::system::cancel::Cancel;
use crate::system::clock;
use crate::system::lock;
use crate::system::panics;
use crate::text::redact::Redactor;

/// The question and the answer, as far as the judge sees them.
pub(super) const QUESTION: &str = "What is 2+2?";
const ANSWER: &str = "4";
/// The hint for a judge that fails at it.
pub(super) const ON_VERDICT: &str =
    "the request was to judge the answer `4` to `What is 2+2?`: send it by hand and read the reply";

/// Where the judges are asked.
pub(super) struct DoctorClient<'a> {
    pub(super) eval: &'a Eval,
    /// Recorded answers are looked up by it.
    pub(super) id: &'a str,
    pub(super) timeout: Duration,
    pub(super) cancel: &'a Cancel,
    probes: Mutex<Vec<JudgeProbe>>,
}

/// The result of the last request to a judge.
struct JudgeProbe {
    agent: Arc<dyn Agent>,
    form: ReplyForm,
    took: Duration,
    reply: Result<Output, AgentError>,
    unread: Option<Unread>,
}

impl<'a> DoctorClient<'a> {
    pub(super) fn new(eval: &'a Eval, id: &'a str, limits: (Duration, &'a Cancel)) -> Self {
        Self {
            eval,
            id,
            timeout: limits.0,
            cancel: limits.1,
            probes: Mutex::default(),
        }
    }

    /// Lets a scorer judge the tiny answer, if it asks a judge. The result is stored here.
    pub(super) fn probe_judge(&self, scorer: &Arc<dyn Scorer>, sample: &Sample) {
        if scorer.agents().is_empty() {
            return;
        }
        let target = Target::from(ANSWER);
        let output = Output {
            text: Some(ANSWER.to_owned()),
            ..Output::default()
        };
        let answer = Answer {
            prediction: Some(ANSWER),
            target: &target,
            output: &output,
            metadata: &sample.metadata,
            sample: Some(sample),
            extract_is_given: false,
            prompt: Some(QUESTION),
            item: None,
            client: Some(NamedClient {
                client: self,
                scorer: scorer.name(),
            }),
        };
        // The verdict does not matter, and a run reports problems of the scorer.
        let _ = panics::catch(|| scorer.score(&answer));
    }

    /// The state of a judge that was asked for a verdict.
    pub(super) fn found(&self, agent: &Arc<dyn Agent>, redactor: &Redactor) -> Option<Finding> {
        let mut probes = lock(&self.probes);
        let place = probes
            .iter()
            .position(|one| Arc::ptr_eq(&one.agent, agent))?;
        let probes = probes.swap_remove(place);
        Some(probes.finding(redactor))
    }
}

impl JudgeProbe {
    fn finding(self, redactor: &Redactor) -> Finding {
        let form = self.form.as_str();
        let (about, text) = match (self.reply, self.unread) {
            (Err(error), None) => {
                let examinee = Examinee {
                    about: "judge",
                    agent: self.agent,
                    options: Arc::default(),
                    prompt: "".into(),
                    question: None,
                    name: None,
                    recorder: None,
                };
                return examinee.failed(error, redactor);
            }
            (Err(mut error), Some(_)) => {
                redactor.agent_error(&mut error, &mut 0);
                (Seconds::from(self.took).to_string(), error.message)
            }
            (Ok(mut output), _) => {
                redactor.output(&mut output, &mut 0);
                let text = output.text.take().unwrap_or_default();
                (took(&output, self.took), text)
            }
        };
        let Some(reason) = self.unread else {
            let message = format!("answered in {about} by {form} with a readable verdict");
            return Finding::new("judge", Health::Ok, message);
        };
        let text = text.trim();
        let excerpt = match text {
            "" => String::new(),
            text => format!(": {}", super::shortened(text)),
        };
        let message = format!(
            "answered in {about} by {form} without a readable verdict (`{}`){excerpt}",
            reason.as_str()
        );
        Finding {
            hint: Some(cure(reason).to_owned()),
            ..Finding::new("judge", Health::Note, message)
        }
    }
}

/// A hint for replies that cannot be read.
fn cure(reason: Unread) -> &'static str {
    match reason {
        Unread::Conflicting => {
            "the reply contradicts itself: state in the rubric what decides, or ask for less"
        }
        Unread::Refusal => "the model or a filter refuses to judge: use another model",
        Unread::Truncated => "raise `max_tokens` of its agent; reasoning models need thousands",
        Unread::NoResponse => "its replies are empty: check the endpoint or the program",
        _ => {
            "use a model that returns valid JSON, an endpoint with schemas, or `choices` instead of points"
        }
    }
}

impl AgentClient for DoctorClient<'_> {
    fn recall(&self, _: &str, _: &JudgeRequest<'_>) -> Option<AskOutcome> {
        None
    }

    fn ask(&self, scorer: &str, request: &JudgeRequest<'_>) -> AskOutcome {
        // One verdict is enough; a recording has only its own; and failed checks are reported elsewhere.
        let agent = request.agent;
        if request.repeat > 0 || !agent.recordings().is_empty() || agent.check().is_err() {
            return AskOutcome::Stopped;
        }
        let examinee = Examinee {
            about: "judge",
            agent: Arc::clone(agent),
            options: Arc::clone(&request.options),
            prompt: request.prompt.as_str().into(),
            question: None,
            name: Some(scorer.to_owned()),
            recorder: None,
        };
        let started = clock::now();
        let reply = examinee.once(self, &examinee.prompt);
        let took = clock::since(started);
        if let Err(error) = &reply
            && request.may_fall_back
            && Unread::of_failure(error).is_none()
            && refuses_form(error)
        {
            return AskOutcome::FormRefused;
        }
        let outcome = match &reply {
            Ok(output) => AskOutcome::Reply(Box::new(output.clone())),
            Err(error) => AskOutcome::Failed(Box::new(error.clone())),
        };
        let mut probes = lock(&self.probes);
        probes.retain(|one| !Arc::ptr_eq(&one.agent, agent));
        probes.push(JudgeProbe {
            agent: Arc::clone(agent),
            form: request.form,
            took,
            reply,
            unread: None,
        });
        outcome
    }

    fn unread(&self, _: &str, request: &JudgeRequest<'_>, reason: Unread) {
        let mut probes = lock(&self.probes);
        let of = |one: &&mut JudgeProbe| Arc::ptr_eq(&one.agent, request.agent);
        if let Some(one) = probes.iter_mut().find(of) {
            one.unread = Some(reason);
        }
    }
}
