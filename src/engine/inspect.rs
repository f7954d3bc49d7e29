//! Imports logs of Inspect as runs: their answers are replayed, with their verdicts.
//!
//! A log is read once, sample by sample, into an unnamed file; memory has the ids. The eval's agent finds the answers
//! there, by sample and epoch, and the scorer `recorded` their verdicts. The result is an ordinary run: gates, `show`,
//! `accept`, `compare`, and `rescore`, also with our scorers.
//!
//! A log is untrusted input: unpacked sizes are limited, names in a zip are not used as paths.

mod archive;
mod header;
mod message;
mod sample;
pub(in crate::engine) mod spool;
pub(in crate::engine) mod verdicts;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use self::header::LogHeader;
use self::sample::InspectSample;
use self::spool::SpoolWriter;
use self::verdicts::ScorerNames;
use crate::agent::Agent;
use crate::benchmark::prompt::Prompt;
use crate::benchmark::{Benchmark, collected};
use crate::data::{AgentError, FailureKind, Output, Sample, Task};
use crate::error::{Error, Result};
use crate::eval::registry::scorers;
use crate::eval::registry::scorers::Context;
use crate::eval::{Eval, Limits};
use crate::figure::counted;
use crate::scorer::compose::recorded;
use crate::scorer::extract::Extract;
use crate::system::file;
use spool::LogSpool;

/// The most answers to a sample.
const MOST_EPOCHS: u32 = 1_000;

/// A log of Inspect, and how to import it.
#[derive(Clone, Debug)]
pub struct InspectLog {
    /// The file: `.eval`, or `.json`.
    pub path: PathBuf,
    /// The scorer that decides; the first when `None`.
    pub scorer: Option<String>,
    /// The lowest value that counts as correct; 1 when `None`.
    pub correct_at: Option<f64>,
    /// Entries of the samples' metadata that become slices.
    pub slices: Vec<String>,
    /// The name of the eval; when `None`, that of the task or of the spec.
    pub name: Option<String>,
}

/// A log that is ready to run.
#[derive(Debug)]
pub struct ImportedLog {
    /// The eval, whose agent replays the answers of the log.
    pub eval: Eval,
    /// Whether the log is complete.
    pub whole: bool,
    /// The model that answered.
    pub model: String,
    /// Notices about the import.
    pub notices: Vec<String>,
}

impl InspectLog {
    /// Reads the log. Name, gates and snapshots are those of `eval`, if given.
    ///
    /// # Errors
    /// With the sample when the log is broken, and when it is too large.
    pub fn load(&self, eval: Option<Eval>) -> Result<ImportedLog> {
        let path = &self.path;
        let mut names = ScorerNames::default();
        let mut spool = SpoolWriter::create()?;
        let header = archive::read(path, &mut |header, text| {
            let sample = InspectSample::parse(text)?;
            let taken = sample.take(header, &self.slices, &mut names)?;
            spool.add(&taken)
        })?;
        let spool = spool.finish(header.ids())?;
        if spool.answers() == 0 {
            return Err(Error::usage("the log has no samples").at(path.display()));
        }
        let epochs = header.epochs().max(spool.epochs());
        if epochs > MOST_EPOCHS {
            let message =
                format!("the log has {epochs} epochs, but at most {MOST_EPOCHS} can be read");
            return Err(Error::usage(message).at(path.display()));
        }
        let of_task: Vec<&str> = header.scorers().collect();
        let (names, range) = names.ordered(&of_task, self.scorer.as_deref())?;
        let specs: Vec<Value> = names
            .iter()
            .map(|name| self.spec_of(name, &names))
            .collect();
        let mut notices = header.notices();
        notices.extend(range.filter(|_| self.correct_at.is_none()));
        let missing = header.missing(&spool);
        if let Some(notice) = missing.notice() {
            notices.push(notice);
        }
        let holes = u64::from(epochs) * spool.samples() as u64 - spool.answers() as u64;
        if holes > 0 {
            notices.push(format!(
                "{} missing in some epochs of existing samples: errors here",
                counted(holes, "answer")
            ));
        }
        let whole = missing.is_nothing() && header.is_finished();
        let source = self.source(&header)?;
        let (spool, model) = (Arc::new(spool), header.model());
        let benchmark = Arc::new(LogBenchmark::new(&spool, "inspect"));
        let agent = Arc::new(LogAnswers::new(&spool, &model, header.recording()));
        let mut eval = match eval {
            Some(mut eval) => {
                eval.benchmark = benchmark;
                eval.agent = agent;
                eval
            }
            None => Eval::from_parts(benchmark, agent).named(header.task()),
        };
        if let Some(name) = &self.name {
            eval = eval.named(name);
        }
        eval.prompt = Prompt::None;
        eval.extract = Some(Extract::none());
        eval.epochs = epochs;
        eval.scorers = scorers_of(&specs)?;
        eval.limits = Limits {
            // The answers exist already, however long they are.
            max_output_bytes: u64::MAX,
            ..Limits::default()
        };
        let benchmark = json!({ "type": "inspect", "task": source.get("task") });
        eval.config = config(&eval, benchmark, source, specs);
        Ok(ImportedLog {
            eval,
            whole,
            model,
            notices,
        })
    }

    /// The scorer of this name, as a spec writes it.
    fn spec_of(&self, name: &str, names: &[String]) -> Value {
        let mut spec = json!({ "type": recorded::NAME, "name": name, "of": name });
        let decides = names.first().is_some_and(|first| first == name);
        if let Some(correct_at) = self.correct_at.filter(|_| decides) {
            spec["correct_at"] = correct_at.into();
        }
        spec
    }

    /// The source of the answers, for the manifest.
    fn source(&self, header: &LogHeader) -> Result<Map<String, Value>> {
        let path = &self.path;
        let hash = file::hash(path).map_err(|error| Error::io("read", path, &error))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut source = Map::new();
        source.insert("type".to_owned(), "imported".into());
        source.insert("model".to_owned(), header.model().into());
        source.insert("format".to_owned(), "inspect".into());
        source.insert("log".to_owned(), name.into());
        source.insert("sha256".to_owned(), hash.into());
        source.extend(header.identity());
        Ok(source)
    }
}

pub(super) fn scorers_of(specs: &[Value]) -> Result<Vec<Arc<dyn crate::scorer::Scorer>>> {
    let context = Context {
        folder: Path::new("."),
        registry: None,
        item_parts: None,
    };
    let made = specs.iter().map(|spec| scorers::from_value(spec, &context));
    made.collect()
}

/// The eval's config as in a spec, if there is one.
pub(super) fn config(
    eval: &Eval,
    benchmark: Value,
    source: Map<String, Value>,
    specs: Vec<Value>,
) -> Value {
    let mut config = match &eval.config {
        Value::Object(config) => config.clone(),
        // Without a spec nobody asks for gates.
        _ => Map::from_iter([("gates".to_owned(), json!([]))]),
    };
    let own = [
        ("name", json!(eval.name)),
        ("benchmark", benchmark),
        ("prompt", json!("none")),
        ("agent", Value::Object(source)),
        ("scorers", Value::Array(specs)),
        ("epochs", json!(eval.epochs)),
    ];
    config.shift_remove("scorer");
    for (key, value) in own {
        config.insert(key.to_owned(), value);
    }
    Value::Object(config)
}

/// The questions of a log.
pub(super) struct LogBenchmark {
    spool: Arc<LogSpool>,
    name: &'static str,
}

impl LogBenchmark {
    pub(super) fn new(spool: &Arc<LogSpool>, name: &'static str) -> Self {
        Self {
            spool: Arc::clone(spool),
            name,
        }
    }
}

impl Benchmark for LogBenchmark {
    fn name(&self) -> &'static str {
        self.name
    }

    fn samples(&self) -> Result<Vec<Sample>> {
        collected(self)
    }

    fn each_sample(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        self.spool.each_sample(take)
    }
}

/// Replays the answers of a log.
pub(super) struct LogAnswers {
    spool: Arc<LogSpool>,
    model: String,
    recording: String,
}

impl LogAnswers {
    pub(super) fn new(spool: &Arc<LogSpool>, model: &str, recording: String) -> Self {
        Self {
            spool: Arc::clone(spool),
            model: model.to_owned(),
            recording,
        }
    }
}

impl Agent for LogAnswers {
    fn answer(&self, task: &Task) -> Result<Output, AgentError> {
        let answer = self.spool.answer(task.id(), task.epoch());
        let answer = answer.map_err(AgentError::new)?.ok_or_else(|| {
            let message = format!("the log has no epoch {} of it", task.epoch() + 1);
            AgentError::of(FailureKind::NotFound, message)
        })?;
        match answer.error {
            Some(error) => Err(error),
            None => Ok(answer.output.unwrap_or_default()),
        }
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    fn varies_by_epoch(&self) -> bool {
        true
    }

    fn keeps_deadline(&self) -> bool {
        true
    }

    fn recorded_latency_s(&self, task: &Task) -> Option<f64> {
        let answer = self.spool.answer(task.id(), task.epoch());
        Some(answer.ok()??.latency_s)
    }

    fn model(&self) -> Option<&str> {
        Some(&*self.model).filter(|model| !model.is_empty())
    }

    fn recordings(&self) -> Vec<String> {
        vec![self.recording.clone()]
    }
}
