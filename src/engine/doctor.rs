//! `doctor`: sends one tiny request to an eval's agent and to each of its judges, and explains problems in plain words.
//!
//! A judge is asked for one verdict, with its own rubric and as in a run.
//!
//! Nothing is recorded. Replies are redacted as in a run.

mod judge;

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::agent::recorded::recorder::Recorder;
use crate::agent::{Agent, RecordMode};
use crate::data::conversation::TurnTask;
use crate::data::task::Visible;
use crate::data::{AgentError, FailureKind, Output, Sample, Task};
use crate::error::{Error, Result};
use crate::eval::Eval;
use crate::eval::plan::{self, BaselineUse, Plan, secret, unset};
use crate::exit::Exit;
use crate::figure::{Seconds, Usd, counted};
use crate::run::dry_run::RecordedSamples;
use crate::scorer::Scorer;
use crate::system::cancel::Cancel;
use crate::system::clock;
use crate::system::file::TemporaryFolder;
use crate::system::panics;
use crate::text::redact::Blanked;
use crate::text::redact::Redactor;
use crate::text::shell_word;
use judge::DoctorClient;

/// The prompt for the agent.
const GREETING: &str = "Reply with the word OK.";
/// The hint for an agent that fails at it.
const ON_GREETING: &str =
    "the prompt was `Reply with the word OK.`: send it by hand and read the reply";

/// The same for one that prints nothing.
const ON_SILENCE: &str =
    "the prompt was `Reply with the word OK.`: have the agent print an answer to every prompt";

/// The name of the tools' part of a conversation.
const ENVIRONMENT: &str = "environment";

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// `spec`, `dataset`, `agent` or `judge`.
    pub about: &'static str,
    /// The state.
    pub verdict: Health,
    /// The details. An agent's reply is included unchanged, with line ends.
    pub message: String,
    /// What to type or to check next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The state of what was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// It works.
    Ok,
    /// It works, with a notice.
    Note,
    /// The spec is wrong, or what it names is missing: exit code 2.
    Wrong,
    /// It may be right, but does not work now: exit code 3.
    Down,
}

impl Health {
    /// The exit code of a command with this result.
    pub fn exit(self) -> Exit {
        match self {
            Self::Ok | Self::Note => Exit::Passed,
            Self::Wrong => Exit::Usage,
            Self::Down => Exit::Infrastructure,
        }
    }
}

impl Finding {
    fn new(about: &'static str, verdict: Health, message: impl Into<String>) -> Self {
        Self {
            about,
            verdict,
            message: message.into(),
            hint: None,
        }
    }

    /// A spec or a dataset that cannot be used.
    pub fn error(about: &'static str, error: &Error) -> Self {
        let verdict = if error.exit() == Exit::Usage {
            Health::Wrong
        } else {
            Health::Down
        };
        Self {
            hint: error.hint_text().map(str::to_owned),
            ..Self::new(about, verdict, error.message())
        }
    }
}

/// Loads the dataset of an eval, asks its agent one tiny question and its judges for a verdict on a tiny answer, and
/// reports their state. Each has the time `timeout`.
pub fn examine(eval: &Eval, timeout: Duration, cancel: &Cancel) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut sample = Sample::new("doctor", judge::QUESTION);
    let mut scorers = plan::scorers(eval);
    let mut recorded = None;
    let mut question = None;
    match Plan::load(eval, BaselineUse::Compare) {
        Err(error) => findings.push(Finding::error("dataset", &error)),
        Ok(plan) => {
            let (count, name) = (plan.items.len(), eval.benchmark_name());
            let message = format!("{} of benchmark {name}", counted(count as u64, "sample"));
            findings.push(Finding::new("dataset", Health::Ok, message));
            let notes = plan.notices.iter().cloned();
            findings.extend(notes.map(|note| Finding::new("dataset", Health::Note, note)));
            let often = often_blanked(&plan).into_iter();
            findings.extend(often.map(|note| Finding::new("dataset", Health::Note, note)));
            if let Some(first) = plan.items.first() {
                // Recorded answers are looked up by it.
                sample.id = first.id.to_string();
                // Has what a judge sees of an item, which scorer judges it, and the script of a conversation.
                if let Ok(first) = first.unpack() {
                    question = Some(plan.prompt(&first));
                    let first = first.sample;
                    sample.metadata = first.metadata;
                    sample.tools = first.tools;
                }
            }
            recorded = RecordedSamples::of(&plan);
            // Includes scorers that its samples name.
            scorers = plan.scorers;
        }
    }
    findings.extend(unset(eval));
    let judges = judges(&scorers);
    let redactor = match secret::redactor(eval, &scorers) {
        Ok(redactor) => redactor,
        Err(error) => {
            findings.push(Finding::error("spec", &error));
            return findings;
        }
    };
    let recorder = match recorder(eval, &redactor) {
        Ok(recorder) => recorder,
        Err(error) => {
            findings.push(Finding::error("agent", &error));
            return findings;
        }
    };
    let agent = Examinee {
        about: "agent",
        agent: Arc::clone(&eval.agent),
        options: Arc::clone(&eval.agent_options),
        prompt: GREETING.into(),
        question,
        name: None,
        recorder,
    };
    let id = sample.id.clone();
    findings.extend(
        eval.agent
            .sandbox()
            .map(|name| Finding::new("agent", Health::Ok, format!("sandbox: {name}"))),
    );
    let notices = eval.agent.notices().into_iter();
    findings.extend(notices.map(|note| Finding::new("agent", Health::Note, note)));
    let client = DoctorClient::new(eval, &id, (timeout, cancel));
    let is_replayed = recorded
        .as_ref()
        .is_some_and(|recorded| recorded.mode == RecordMode::Replay);
    if !is_replayed {
        findings.push(agent.examine(&client, &redactor));
    } else if let Err(error) = eval.agent.check() {
        findings.push(Finding::error("agent", &error));
    }
    findings.extend(recorded.as_ref().map(where_recorded));
    if let Some(conversation) = eval.agent.conversation() {
        let user = conversation.simulated_user().map(|user| {
            let (agent, options) = user.parts();
            Examinee {
                about: "user",
                agent,
                options,
                prompt: GREETING.into(),
                question: None,
                name: None,
                recorder: None,
            }
        });
        findings.extend(user.map(|user| user.examine(&client, &redactor)));
        let hidden = plan::hidden(eval);
        let tools = conversation.try_environment(&sample, &hidden, cancel);
        findings.extend(tools.map(|tools| environment(tools, &redactor)));
    }
    for scorer in &scorers {
        client.probe_judge(scorer, &sample);
    }
    findings.extend(judges.iter().map(|one| one.examine(&client, &redactor)));
    // Checks before the request may echo secrets, too.
    let clean = |text: String| redactor.text(&text, &mut 0).into_owned();
    let findings = findings.into_iter().map(|finding| Finding {
        message: clean(finding.message),
        hint: finding.hint.map(clean),
        ..finding
    });
    findings.collect()
}

/// Where calls of the agent are recorded.
fn where_recorded(recorded: &RecordedSamples) -> Finding {
    let not_asked = match recorded.mode {
        RecordMode::Replay => ": it was not asked",
        RecordMode::Record | RecordMode::Missing => "",
    };
    Finding::new("agent", Health::Ok, format!("{recorded}{not_asked}"))
}

/// What passes the agent's calls of models on to the provider, if a run would record them: without keeping them.
fn recorder(eval: &Eval, redactor: &Redactor) -> Result<Option<Arc<Recorder>>> {
    let Some(calls) = &eval.record else {
        return Ok(None);
    };
    let only_replays = calls.effective_mode() == RecordMode::Replay;
    let calls = calls.clone().mode(RecordMode::Record);
    let folder = eval.record_folder(&calls);
    let recorder = Recorder::start(&calls, folder, redactor.clone(), String::new())?;
    eval.agent
        .prepare_calls(Some(recorder.port()), only_replays);
    Ok(Some(recorder))
}

/// What the environment of conversations did when a session was opened.
fn environment(tools: Result<usize, AgentError>, redactor: &Redactor) -> Finding {
    match tools {
        Ok(count) => Finding::new(
            ENVIRONMENT,
            Health::Ok,
            format!("opened a session, {count} tools"),
        ),
        Err(mut error) => {
            redactor.agent_error(&mut error, &mut 0);
            failed(ENVIRONMENT, &error, None)
        }
    }
}

/// Variables whose values occur in more than one sample of the dataset.
fn often_blanked(plan: &Plan) -> Vec<String> {
    for item in &plan.items {
        // A changed row is reported when it is asked.
        let Ok(item) = item.unpack() else {
            continue;
        };
        let mut blanked = Blanked::default();
        let prompt = plan.prompt(&item);
        plan.redactor.text(&prompt, &mut blanked);
        if let Some(mut target) = item.sample.target.map(|target| target.0) {
            plan.redactor.value(&mut target, &mut blanked);
        }
        plan.redactor.note(&item.sample.id, &blanked);
    }
    plan.often_blanked()
}

/// The agents that judges ask, each once.
fn judges(scorers: &[Arc<dyn Scorer>]) -> Vec<Examinee> {
    let mut judges: Vec<Examinee> = Vec::new();
    for scorer in scorers {
        for agent in scorer.agents() {
            if !judges.iter().any(|one| Arc::ptr_eq(&one.agent, &agent)) {
                judges.push(Examinee {
                    about: "judge",
                    agent,
                    options: Arc::default(),
                    prompt: GREETING.into(),
                    question: None,
                    name: Some(scorer.name().to_owned()),
                    recorder: None,
                });
            }
        }
    }
    judges
}

/// An agent to check.
struct Examinee {
    about: &'static str,
    agent: Arc<dyn Agent>,
    options: Arc<Map<String, Value>>,
    prompt: Arc<str>,
    /// The first prompt of the dataset, for one that fails at the tiny prompt.
    question: Option<Arc<str>>,
    /// The scorer that asks it.
    name: Option<String>,
    /// Passes its calls of models on, if they are recorded in a run.
    recorder: Option<Arc<Recorder>>,
}

impl Examinee {
    fn examine(&self, client: &DoctorClient<'_>, redactor: &Redactor) -> Finding {
        let finding = self.find(client, redactor);
        let message = match &self.name {
            Some(name) => format!("`{name}`: {}", finding.message),
            None => finding.message,
        };
        Finding { message, ..finding }
    }

    fn find(&self, client: &DoctorClient<'_>, redactor: &Redactor) -> Finding {
        if let Err(error) = self.agent.check() {
            // A run would not start either.
            return Finding::error(self.about, &error);
        }
        if self.agent.item_parts().is_some() {
            let message = "no agent: the items themselves are judged";
            return Finding::new(self.about, Health::Ok, message);
        }
        if self.name.is_some() && !self.agent.recordings().is_empty() {
            // It only knows the recorded answers.
            return Finding::new(self.about, Health::Ok, "repeats a recording");
        }
        if let Some(found) = client.found(&self.agent, redactor) {
            return found;
        }
        let started = clock::now();
        match self.once(client, &self.prompt) {
            Ok(mut output) => {
                redactor.output(&mut output, &mut 0);
                answered(self.about, &output, clock::since(started))
            }
            Err(error) => self
                .at_first_sample(&error, client, redactor)
                .unwrap_or_else(|| self.failed(error, redactor)),
        }
    }

    /// What an agent that failed at the tiny prompt does with the first sample. Its answer may be of a masked dataset.
    fn at_first_sample(
        &self,
        error: &AgentError,
        client: &DoctorClient<'_>,
        redactor: &Redactor,
    ) -> Option<Finding> {
        use FailureKind as Kind;
        let is_its_own = matches!(error.kind, Kind::Exited | Kind::Panicked | Kind::NoOutput);
        let question = self.question.as_ref().filter(|_| is_its_own)?;
        let started = clock::now();
        let eval = client.eval;
        match self.once(client, question) {
            Ok(output) => {
                let took = took(&output, clock::since(started));
                let message = format!(
                    "answered the first sample in {took} (the test prompt `{GREETING}` failed, which may be fine)"
                );
                Some(Finding::new(self.about, Health::Ok, message))
            }
            Err(own) => {
                // A program's last words may have a masked question.
                let shown = if eval.masks_answers() {
                    error.clone()
                } else {
                    own
                };
                let finding = self.failed(shown, redactor);
                let hint = finding.hint.map(|hint| match hint.as_str() {
                    ON_GREETING | ON_SILENCE => {
                        format!("cargo evaltest run {} --limit 1", shell_word(eval.name()))
                    }
                    _ => hint,
                });
                Some(Finding { hint, ..finding })
            }
        }
    }

    /// Explains why one did not answer.
    fn failed(&self, mut error: AgentError, redactor: &Redactor) -> Finding {
        let more = self.agent.diagnose(&error);
        redactor.agent_error(&mut error, &mut 0);
        let more = more.map(|more| redactor.text(&more, &mut 0).into_owned());
        failed(self.about, &error, more)
    }

    fn once(&self, client: &DoctorClient<'_>, prompt: &Arc<str>) -> Result<Output, AgentError> {
        let scratch = TemporaryFolder::new().map_err(|error| {
            let message = format!("cannot make a folder for the agent: {error}");
            AgentError::of(FailureKind::NotStarted, message)
        });
        scratch.and_then(|scratch| self.ask(client, prompt, &scratch))
    }

    fn ask(
        &self,
        client: &DoctorClient<'_>,
        prompt: &Arc<str>,
        scratch: &TemporaryFolder,
    ) -> Result<Output, AgentError> {
        let &DoctorClient {
            eval,
            id,
            timeout,
            cancel,
            ..
        } = client;
        let deadline = clock::now().checked_add(timeout);
        let begin = |recorder: &Arc<Recorder>| recorder.begin(id, 0, deadline, cancel.clone());
        let calls = self.recorder.as_ref().map(begin).transpose()?;
        let task = Task {
            visible: Arc::new(Visible::of(&Sample::new(id, &**prompt))),
            prompt: Arc::clone(prompt),
            files: Vec::new(),
            options: Arc::clone(&self.options),
            scratch: Some(scratch.path().to_owned()),
            epoch: 0,
            again: 0,
            judge: None,
            talk: None,
            turn: self.agent.conversation().map(|_| TurnTask::first(prompt)),
            attempt: 1,
            deadline,
            cancel: cancel.clone(),
            live: None,
            progress: None,
            hidden: crate::eval::plan::hidden(eval).into(),
            base_urls: calls.as_ref().map(|calls| calls.urls()),
        };
        let call = |agent: &dyn Agent, task: &Task| {
            let panicked =
                |reason| AgentError::of(FailureKind::Panicked, format!("the agent {reason}"));
            panics::catch(|| agent.answer(task)).unwrap_or_else(|reason| Err(panicked(reason)))
        };
        if self.agent.keeps_deadline() {
            return call(&*self.agent, &task);
        }
        // It may never return.
        let (reply, answer) = channel();
        let agent = Arc::clone(&self.agent);
        std::thread::spawn(move || {
            // The receiver is gone if it comes too late.
            let _ = reply.send(call(&*agent, &task));
        });
        answer.recv_timeout(timeout).unwrap_or_else(|_| {
            let message = format!("did not answer within {} s", timeout.as_secs_f64());
            Err(AgentError::of(FailureKind::TimedOut, message))
        })
    }
}

/// Variables for programs that are not set.
fn unset(eval: &Eval) -> Option<Finding> {
    let message = unset::notice(eval)?;
    let names = unset::names(eval);
    let first = names.first()?;
    let hint =
        format!("write `{first}=…` into `.env` in the project's folder, or remove it from `env:`");
    Some(Finding {
        hint: Some(hint),
        ..Finding::new("agent", Health::Wrong, message)
    })
}

/// How long it took, and which model replied.
fn took(output: &Output, took: Duration) -> String {
    let seconds = took.as_secs_f64();
    let mut about = Vec::new();
    about.extend(output.answered_by());
    if let Some(usage) = output.usage {
        let tokens =
            |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
        about.push(format!(
            "{} + {} tokens",
            tokens(usage.input_tokens),
            tokens(usage.output_tokens)
        ));
        about.extend(usage.cost_usd.map(|cost| Usd(cost).to_string()));
    }
    match about.join(", ") {
        about if about.is_empty() => Seconds(seconds).to_string(),
        about => format!("{} ({about})", Seconds(seconds)),
    }
}

fn answered(about_whom: &'static str, output: &Output, after: Duration) -> Finding {
    let took = took(output, after);
    let text = output.text.as_deref().map(str::trim);
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        let message = format!("answered in {took}: {}", shortened(text));
        Finding::new(about_whom, Health::Ok, message)
    } else {
        let message = format!("succeeded in {took} without any text");
        Finding::new(about_whom, Health::Note, message)
    }
}

/// The beginning of a reply, unchanged: the caller escapes it for the terminal.
fn shortened(text: &str) -> String {
    let mut chars = text.chars();
    let mut short: String = chars.by_ref().take(200).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

fn failed(about: &'static str, error: &AgentError, more: Option<String>) -> Finding {
    use FailureKind as Kind;
    let (message, own) = match error.message.split_once("; hint: ") {
        Some((message, hint)) => (message, Some(hint.to_owned())),
        None => (error.message.as_str(), None),
    };
    let verdict = match error.kind {
        Kind::NotFound | Kind::NotStarted | Kind::Misconfigured | Kind::Refused => Health::Wrong,
        _ => Health::Down,
    };
    let hint = match error.kind {
        Kind::NotFound => Some(
            "check the spelling and that it is installed; a program next to the spec is `./name`",
        ),
        Kind::Exited | Kind::Panicked if about == "judge" => Some(judge::ON_VERDICT),
        Kind::Exited | Kind::Panicked if about != ENVIRONMENT => Some(ON_GREETING),
        Kind::NoOutput if about == "agent" => Some(ON_SILENCE),
        Kind::NoOutput => Some("have it print its answer to stdout"),
        Kind::TimedOut => Some("is it waiting for input? to allow more time: `--timeout-s 300`"),
        Kind::Unreachable => Some("is the server running, and the address right?"),
        Kind::Busy => Some("try again in a while"),
        _ => None,
    };
    let mut message = message.to_owned();
    let last_words = error
        .stderr_tail
        .as_deref()
        .map(str::trim)
        .unwrap_or_default();
    if let Some(line) = last_words.lines().last() {
        message = format!("{message}; stderr: {}", crate::text::excerpt(line));
    }
    Finding {
        hint: more.or(own).or(hint.map(str::to_owned)),
        ..Finding::new(about, verdict, message)
    }
}
