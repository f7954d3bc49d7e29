//! Traces as a run: their answers are replayed, with the verdicts that were recorded.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::trace::{Question, Trace};
use super::{TraceCounts, TraceFiles, message};
use crate::benchmark::prompt::Prompt;
use crate::data::{AgentError, FailureKind, Output};
use crate::engine::inspect::spool::{LogAnswer, LogQuestion, SpoolWriter, TakenSample};
use crate::engine::inspect::verdicts::ScorerNames;
use crate::engine::inspect::{LogAnswers, LogBenchmark, config, scorers_of};
use crate::error::{Error, Result};
use crate::eval::{Eval, Limits};
use crate::figure::counted;
use crate::scorer::compose::recorded::{self, VERDICTS};
use crate::scorer::extract::Extract;
use crate::system::file;
use crate::text::hash::Hasher;

/// How traces become a run.
#[derive(Clone, Debug, Default)]
pub struct TraceScorers {
    /// What judges the answers, as in a spec; when empty the scorers of the spec, else the recorded verdicts.
    pub given: Vec<Value>,
    /// From which number on the first recorded verdict counts as correct; 1 when `None`.
    pub correct_at: Option<f64>,
}

/// Traces that are ready to run.
#[derive(Debug)]
pub struct ImportedTraces {
    /// The eval, whose agent replays the answers.
    pub eval: Eval,
    /// What was found.
    pub counts: TraceCounts,
    /// The model that answered, if it was one.
    pub model: Option<String>,
    /// Notices about the import.
    pub notices: Vec<String>,
}

impl TraceFiles {
    /// Reads the traces. Name, gates and snapshots are those of `eval`, if given.
    ///
    /// # Errors
    /// When files cannot be read, or none of them has a trace.
    pub fn load(&self, eval: Option<Eval>, scorers: &TraceScorers) -> Result<ImportedTraces> {
        let mut spool = SpoolWriter::create()?;
        let mut names = ScorerNames::default();
        let mut models = BTreeSet::new();
        let counts = self.each(
            &mut |trace| {
                let sample = sample(trace, &mut names)?;
                let sample = sample.map(|sample| serde_json::to_vec(&sample));
                sample
                    .transpose()
                    .map_err(|error| Error::infrastructure(error.to_string()))
            },
            &mut |row| {
                let sample: TakenSample = serde_json::from_slice(row)
                    .map_err(|error| Error::infrastructure(error.to_string()))?;
                let output = sample.answer.output.as_ref();
                if let Some(model) =
                    output.and_then(|output| output.metadata.get("model")?.as_str())
                {
                    models.insert(model.to_owned());
                }
                spool.add(&sample)
            },
        )?;
        let spool = Arc::new(spool.finish(Vec::new())?);
        let epochs = spool.epochs().max(1);
        if spool.answers() == 0 {
            let notices = counts.notices(self.format);
            let error = Error::usage("no trace is left to import");
            return Err(match notices.first() {
                Some(first) => error.hint(first.clone()),
                None => error.hint("`--where` excludes all of them"),
            });
        }
        let mut notices = Vec::new();
        let holes = u64::from(epochs) * spool.samples() as u64 - spool.answers() as u64;
        if holes > 0 {
            notices.push(format!(
                "{} missing in some epochs of existing samples: errors here",
                counted(holes, "answer")
            ));
        }
        let model = models.first().cloned().filter(|_| models.len() == 1);
        let source = self.source(model.as_deref(), &mut notices)?;
        let recording = format!(
            "{}:{}",
            self.format.name(),
            source["sha256"].as_str().unwrap_or_default()
        );
        let benchmark = Arc::new(LogBenchmark::new(&spool, "traces"));
        let agent = Arc::new(LogAnswers::new(
            &spool,
            model.as_deref().unwrap_or_default(),
            recording,
        ));
        let mut eval = match eval {
            Some(mut eval) => {
                eval.benchmark = benchmark;
                eval.agent = agent;
                eval
            }
            None => Eval::from_parts(benchmark, agent).named(self.stem()),
        };
        let of_spec = ["scorers", "scorer"]
            .iter()
            .find_map(|key| eval.config.get(*key));
        let of_spec = of_spec.filter(|scorers| !scorers.is_null()).cloned();
        let specs = match of_spec {
            _ if !scorers.given.is_empty() => scorers.given.clone(),
            Some(Value::Array(specs)) => specs,
            Some(one) => vec![one],
            None => recorded_by(names, scorers.correct_at)?,
        };
        if !scorers.given.is_empty() || eval.scorers.is_empty() {
            eval.scorers = scorers_of(&specs)?;
        }
        eval.prompt = Prompt::None;
        eval.extract = eval.extract.or_else(|| Some(Extract::none()));
        eval.epochs = epochs;
        eval.limits = Limits {
            max_output_bytes: u64::MAX,
            ..Limits::default()
        };
        eval.config = config(
            &eval,
            json!({ "type": "traces", "format": self.format.name() }),
            source,
            specs,
        );
        Ok(ImportedTraces {
            eval,
            counts,
            model,
            notices,
        })
    }

    /// The name of the first file.
    fn stem(&self) -> String {
        let stem = self.paths.first().and_then(|path| path.file_stem());
        let stem = stem
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default();
        let stem = stem
            .strip_suffix(".jsonl")
            .or_else(|| stem.strip_suffix(".json"))
            .unwrap_or(&stem);
        if stem.is_empty() {
            "traces".to_owned()
        } else {
            stem.to_owned()
        }
    }

    /// The source of the answers, for the manifest.
    fn source(&self, model: Option<&str>, notices: &mut Vec<String>) -> Result<Map<String, Value>> {
        let mut hasher = Hasher::default();
        let files = super::files::files_of(&self.paths)?;
        for path in &files {
            let hash = file::hash(path).map_err(|error| Error::io("read", path, &error))?;
            hasher = hasher.part(hash);
        }
        if files.len() > 1 {
            notices.push(format!("{} files were read", files.len()));
        }
        let name = |path: &Path| {
            path.file_name()
                .map(|name| name.to_string_lossy().into_owned())
        };
        Ok(Map::from_iter([
            ("type".to_owned(), json!("imported")),
            ("model".to_owned(), json!(model)),
            ("format".to_owned(), json!(self.format.name())),
            (
                "log".to_owned(),
                json!(self.paths.first().and_then(|path| name(path))),
            ),
            ("sha256".to_owned(), json!(hasher.hex())),
        ]))
    }
}

/// Scorers that take the recorded verdicts, in the order in which they appeared.
fn recorded_by(names: ScorerNames, correct_at: Option<f64>) -> Result<Vec<Value>> {
    let (names, _) = names.ordered(&[], None)?;
    let specs = names.iter().enumerate().map(|(place, name)| {
        let mut spec = json!({ "type": recorded::NAME, "name": name, "of": name });
        if let Some(correct_at) = correct_at.filter(|_| place == 0) {
            spec["correct_at"] = correct_at.into();
        }
        spec
    });
    Ok(specs.collect())
}

/// The trace as a sample with its answer; `None` where nothing of it was recorded.
fn sample(trace: &Trace, names: &mut ScorerNames) -> Result<Option<TakenSample>> {
    let question = trace.question();
    let text = trace.output();
    let is_failed = trace.is_ours && trace.answer.error.is_some();
    if question.is_none() && text.is_none() && trace.scores.is_empty() && !is_failed {
        return Ok(None);
    }
    let prompt = match question {
        Some(Question::Text(text)) => text,
        Some(Question::Messages(messages)) => {
            let users = messages.iter().filter(|message| message["role"] == "user");
            users
                .filter_map(message::text_of)
                .collect::<Vec<_>>()
                .join("\n\n")
        }
        None => String::new(),
    };
    let mut verdicts = Map::new();
    for score in &trace.scores {
        if let Some(verdict) = score.recorded(trace.is_ours) {
            names.add(&mut verdicts, score.name.clone(), verdict)?;
        }
    }
    let metadata = trace.metadata();
    let calls = trace.tool_calls();
    let has_answer = text.is_some() || !calls.is_empty() || !verdicts.is_empty();
    let failed = trace.answer.error.as_ref().filter(|_| !has_answer);
    let error = failed.map(|why| {
        AgentError::of(
            trace.answer.kind.unwrap_or(FailureKind::Failed),
            why.as_str(),
        )
    });
    let mut output = Output {
        text,
        messages: trace.messages.clone(),
        tool_calls: calls.iter().map(message::tool_call).collect(),
        usage: trace.answer.usage,
        metadata: trace.answer.more.clone(),
        ..Output::default()
    };
    if let Some(model) = metadata.get("model") {
        output.metadata.insert("model".to_owned(), model.clone());
    }
    if let Some(why) = &trace.answer.error {
        output
            .metadata
            .insert("error".to_owned(), why.as_str().into());
    }
    output.metadata.insert(VERDICTS.to_owned(), verdicts.into());
    let [start, end] = trace.times;
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds of one answer")]
    let latency_s = (end - start).max(0) as f64 / 1e9;
    Ok(Some(TakenSample {
        id: trace.id.clone(),
        epoch: trace.epoch,
        question: LogQuestion {
            prompt,
            target: Value::Null,
            metadata,
            slices: Vec::new(),
        },
        answer: LogAnswer {
            output: error.is_none().then_some(output),
            error,
            latency_s,
        },
    }))
}
