//! Rescores a line of `samples.jsonl`: parts that no verdict changes are copied unchanged.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::foreseen::CountingClients;
use super::judges::RescoreJudges;
use crate::data::record::parts::{Part, Parts, read_parts};
use crate::data::record::{Judgement, NO_PROMPT};
use crate::data::{AgentError, Output, Record, Status, Target};
use crate::error::{Error, Result};
use crate::run::judge::judges::JudgeClient;
use crate::run::judge::{ScoringInput, score_all};
use crate::scorer::ask::client::AgentClient;
use crate::scorer::extract::Extraction;
use crate::scorer::{Reads, Scorer};
use crate::store::files::JOURNAL;
use crate::system::lock;
use crate::system::project::display;
use crate::text::escape_line_ends;
use crate::text::redact::{REDACTED, Redactor};
use crate::text::splice::{Members, Splice, Written};

/// Where the scorer `bfcl` looks for an external verdict.
const OFFICIAL: &str = "official";

/// Who judges, and which part of each answer.
pub(super) struct Rejudge {
    pub(super) scorers: Vec<Arc<dyn Scorer>>,
    pub(super) extraction: Extraction,
    /// External verdicts by sample, which go into the metadata.
    pub(super) official: HashMap<String, Value>,
    /// Where scorers ask agents.
    pub(super) clients: Clients,
    pub(super) redactor: LateRedactor,
}

/// Redacts the scorers' secrets. `per_sample` creates its scorers, and so learns their secrets, while it judges.
#[derive(Default)]
pub(super) struct LateRedactor(Mutex<(Vec<String>, Redactor)>);

impl LateRedactor {
    /// The redactor for the secrets known so far.
    fn of(&self, secrets: Vec<String>) -> Result<Redactor> {
        let mut made = lock(&self.0);
        if made.0 != secrets {
            let redactor = Redactor::new(&[], &secrets)?;
            *made = (secrets, redactor);
        }
        Ok(made.1.clone())
    }
}

/// How the scorers of all records reach judges.
pub(super) enum Clients {
    /// No scorer asks a judge.
    None,
    /// Judges are asked.
    Live(Box<RescoreJudges>),
    /// Only counts the requests.
    Counting(CountingClients),
}

/// A processed record.
pub(super) struct Seen {
    /// The part that the summary needs.
    pub(super) record: Record,
    /// Whether it keeps its verdict because what was judged is no longer there.
    pub(super) retained: bool,
}

/// Parts of a record that are not decoded: what scorers see only on request, and all that a verdict replaces.
const PARTS: Parts = &[
    ("eval", Part::Dropped),
    ("prompt", Part::Apart),
    ("ground_truth", Part::Apart),
    ("metadata", Part::Apart),
    ("result", Part::Inside(&RESULT)),
];

/// The same for its outcome.
const RESULT: [(&str, Part); Judgement::MEMBERS.len() + 1] = {
    let mut parts = [("output", Part::Missing); Judgement::MEMBERS.len() + 1];
    let mut number = 0;
    while number < Judgement::MEMBERS.len() {
        // The first says whether there is an answer to judge.
        let part = if number == 0 {
            Part::Both
        } else {
            Part::Missing
        };
        parts[number + 1] = (Judgement::MEMBERS[number], part);
        number += 1;
    }
    parts
};

/// The raw texts of [`PARTS`] in the line.
struct Texts<'a>(Vec<(&'static str, &'a RawValue)>);

impl<'a> Texts<'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        let mut texts = self.0.iter();
        let found = texts.find(|(known, _)| *known == name);
        found.map(|(_, text)| text.get())
    }

    /// Replaces these members of the outcome with the new ones, or inserts them in order.
    fn replace<'b>(&self, splice: &mut Splice<'b>, new: &'b Written, members: &[&'static str])
    where
        'a: 'b,
    {
        let mut before = "";
        for &name in Judgement::MEMBERS {
            let old: Option<&'a str> = self.get(name);
            if !members.contains(&name) {
                before = old.unwrap_or(before);
                continue;
            }
            match (old, new.get(name)) {
                (Some(old), Some(new)) => {
                    splice.replace(old, new);
                    before = old;
                }
                (Some(old), None) => splice.remove(old),
                (None, Some(new)) => splice.add_behind(before, name, new),
                (None, None) => {}
            }
        }
    }
}

/// The raw text of what is judged.
struct Subject<'a> {
    ground_truth: &'a str,
    metadata: Cow<'a, str>,
    output: &'a str,
}

impl Rejudge {
    /// Ends the requests: returns the name and SHA-256 of the journal, if there is one.
    pub(super) fn close(&self) -> Result<Option<(String, String)>> {
        let Clients::Live(judges) = &self.clients else {
            return Ok(None);
        };
        let hash = judges.close(&self.scorers)?;
        Ok(Some((JOURNAL.to_owned(), hash)))
    }

    /// Removes killed rescores: their replies are in the records of this one. Gives a notice for each that contains
    /// other files.
    pub(super) fn tidy(&self) -> Vec<String> {
        let Clients::Live(judges) = &self.clients else {
            return Vec::new();
        };
        let mut notices = Vec::new();
        for dir in &judges.abandoned {
            if !dir.remove_if_all_ours() {
                notices.push(format!(
                    "`{}` was left by a killed `rescore`; its replies are in this run now. It has other files too, so it \
                     stays",
                    display(dir.path())
                ));
            }
        }
        notices
    }

    /// Judges the record on a line and appends its new line to `out`.
    pub(super) fn line(&self, line: &[u8], out: &mut Vec<u8>) -> Result<Seen> {
        let line = line.trim_ascii_end();
        let mut texts = Texts(Vec::with_capacity(PARTS.len() + RESULT.len()));
        let record = read_parts(line, PARTS, |name, text| texts.0.push((name, text)));
        // Parsing the whole line gives the position of the error.
        let record = record.map_err(|error| whole(line).err().unwrap_or_else(|| broken(error)))?;
        let result = &record.result;
        let is_answered = matches!(
            result.status,
            Status::Scored | Status::Unscored | Status::ScorerFailed
        );
        let output = texts.get("output").filter(|output| *output != "null");
        let Some(output) = output.filter(|_| is_answered) else {
            let error = texts.get("error").filter(|error| *error != "null");
            return match error.filter(|_| result.status == Status::Scored) {
                Some(error) => self.failure(line, &texts, error, record, out),
                None => keep(line, out),
            };
        };
        let metadata = texts.get("metadata").unwrap_or("{}");
        let subject = Subject {
            ground_truth: texts.get("ground_truth").unwrap_or("null"),
            metadata: match self.official.get(&record.sample_id) {
                Some(verdict) => with_verdict(metadata, verdict).map_err(broken)?.into(),
                None => metadata.into(),
            },
            output,
        };
        if result.redacted > 0 && subject.is_lost() {
            return Ok(Seen {
                retained: result.status != Status::Unscored,
                ..keep(line, out)?
            });
        }
        self.answer(line, &texts, &subject, record, out)
    }

    /// Judges an answer that is complete.
    fn answer(
        &self,
        line: &[u8],
        texts: &Texts<'_>,
        subject: &Subject<'_>,
        mut record: Record,
        out: &mut Vec<u8>,
    ) -> Result<Seen> {
        let target: Value = serde_json::from_str(subject.ground_truth).map_err(broken)?;
        let target = Some(Target(target)).filter(|target| !target.0.is_null());
        let (metadata, mut output) = self.seen(subject).map_err(broken)?;
        output.conversation = record.result.conversation().map(Box::new);
        let known = || match texts.get("judged") {
            Some(calls) => serde_json::from_str(calls).map_err(broken),
            None => Ok(Vec::new()),
        };
        let (id, epoch) = (record.sample_id.clone(), record.epoch);
        let (mut judge_client, mut counted) = (None, None);
        match &self.clients {
            Clients::None => {}
            Clients::Live(judges) => judge_client = Some(judges.client(&id, epoch, known()?)),
            Clients::Counting(clients) => counted = Some(clients.client(&id, epoch, known()?)),
        }
        let judging = judge_client
            .as_ref()
            .map(|client| client as &dyn AgentClient);
        let counting = counted.as_ref().map(|client| client as &dyn AgentClient);
        let question = self.question(texts, &record)?;
        let judged = ScoringInput {
            target: target.as_ref(),
            metadata: &metadata,
            sample: None,
            output: &output,
            prompt: question.as_deref(),
            item: (&id, epoch),
            client: judging.or(counting),
            extraction: &self.extraction,
        };
        let judgement = score_all(&self.scorers, &judged);
        let (calls, stopped) = judge_client.map(JudgeClient::finish).unwrap_or_default();
        if let (true, Clients::Live(judges)) = (stopped, &self.clients) {
            return Err(judges.stopped());
        }
        record.result = record.result.judged(Judgement {
            judged: calls,
            ..judgement
        });
        // The answers were redacted when they were written. Only the scorers' output is new, which is no loss.
        self.redactor()?.verdicts(&mut record.result, &mut 0);
        let new = Written::of(&record.result).map_err(broken)?;
        let mut splice = Splice::of(line);
        if let (Some(old), Cow::Owned(new)) = (texts.get("metadata"), &subject.metadata) {
            splice.replace(old, new.as_bytes());
        }
        texts.replace(&mut splice, &new, Judgement::MEMBERS);
        Ok(seen(splice, record, out))
    }

    /// The question, for scorers that look at it.
    fn question(&self, texts: &Texts<'_>, record: &Record) -> Result<Option<String>> {
        if matches!(self.clients, Clients::None) {
            return Ok(None);
        }
        let whole = || {
            texts
                .get("prompt")
                .map(|text| serde_json::from_str(text).map_err(broken))
        };
        match &record.question {
            Some(question) => Ok(Some(question.clone())),
            None => whole().transpose(),
        }
    }

    /// Keeps the verdict on a failed agent: wrong for every scorer.
    fn failure(
        &self,
        line: &[u8],
        texts: &Texts<'_>,
        error: &str,
        mut record: Record,
        out: &mut Vec<u8>,
    ) -> Result<Seen> {
        let error: AgentError = serde_json::from_str(error).map_err(broken)?;
        let status = Status::of_failure(&error);
        let names: Vec<_> = self.scorers.iter().map(Scorer::name).collect();
        let names = if names.len() > 1 { &*names } else { &[] };
        let judgement = Judgement::wrong(status.as_str(), Some(error), names);
        record.result = record.result.judged(judgement);
        let new = Written::of(&record.result).map_err(broken)?;
        let mut splice = Splice::of(line);
        texts.replace(&mut splice, &new, &["scores"]);
        Ok(seen(splice, record, out))
    }

    fn redactor(&self) -> Result<Redactor> {
        let secrets = self.scorers.iter().flat_map(Scorer::secrets);
        self.redactor.of(secrets.collect())
    }

    /// The parts of the metadata and output that the scorers look at.
    fn seen(&self, subject: &Subject<'_>) -> serde_json::Result<(Map<String, Value>, Output)> {
        let reads = self.scorers.iter().map(Scorer::reads).max();
        if reads != Some(Reads::Text) {
            let metadata = serde_json::from_str(&subject.metadata)?;
            return Ok((metadata, serde_json::from_str(subject.output)?));
        }
        let OutputText { text, metadata } = serde_json::from_str(subject.output)?;
        let marks = [
            ("finish_reason", metadata.finish_reason),
            ("refused", metadata.refused),
        ];
        let marks = marks.into_iter();
        let marks = marks.filter_map(|(name, mark)| Some((name.to_owned(), mark?)));
        let output = Output {
            text: text.map(Cow::into_owned),
            metadata: marks.collect(),
            ..Output::default()
        };
        Ok((Map::new(), output))
    }
}

/// The text of an [`Output`], and the marks that tell a refusal.
#[derive(Deserialize)]
struct OutputText<'a> {
    #[serde(default, borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(default)]
    metadata: RefusalMarks,
}

#[derive(Default, Deserialize)]
struct RefusalMarks {
    #[serde(default)]
    finish_reason: Option<Value>,
    #[serde(default)]
    refused: Option<Value>,
}

impl Subject<'_> {
    /// Whether it contained a secret.
    fn is_lost(&self) -> bool {
        let parts = [self.output, self.ground_truth, &self.metadata];
        parts.iter().any(|part| part.contains(REDACTED))
    }
}

/// Metadata with an external verdict added.
fn with_verdict(metadata: &str, verdict: &Value) -> serde_json::Result<String> {
    let verdict = verdict.to_string();
    let members: Members<'_> = serde_json::from_str(metadata)?;
    let mut splice = Splice::of(metadata.as_bytes());
    match (members.get(OFFICIAL), members.last()) {
        (Some(old), _) => splice.replace(old, verdict.as_bytes()),
        (None, Some(last)) => splice.add_behind(last, OFFICIAL, verdict.as_bytes()),
        (None, None) => return Ok(format!("{{\"{OFFICIAL}\":{verdict}}}")),
    }
    let mut new = Vec::new();
    splice.write(&mut new);
    let new: &RawValue = serde_json::from_slice(&new)?;
    Ok(new.get().to_owned())
}

/// Writes a rescored line.
fn seen(splice: Splice<'_>, mut record: Record, out: &mut Vec<u8>) -> Seen {
    let start = out.len();
    splice.write(out);
    escape_line_ends(out, start);
    out.push(b'\n');
    record.prompt = Arc::clone(&NO_PROMPT);
    record.abridge();
    Seen {
        record,
        retained: false,
    }
}

/// Copies a line unchanged.
fn keep(line: &[u8], out: &mut Vec<u8>) -> Result<Seen> {
    let mut record = whole(line)?;
    let start = out.len();
    out.extend_from_slice(line);
    // Written by an older version.
    escape_line_ends(out, start);
    out.push(b'\n');
    record.abridge();
    Ok(Seen {
        record,
        retained: false,
    })
}

fn whole(line: &[u8]) -> Result<Record> {
    serde_json::from_slice(line).map_err(broken)
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn broken(error: serde_json::Error) -> Error {
    Error::usage(format!("not a record: {error}"))
}

#[cfg(test)]
mod tests;
