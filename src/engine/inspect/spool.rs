//! Stores samples and answers of a log in an unnamed file; memory has their positions.

use std::collections::HashMap;
use std::fs::File;
use std::sync::Mutex;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::data::{AgentError, Output, Sample};
use crate::error::{Error, Result};
use crate::system::file::spill::{RowSpan, SpillFile};
use crate::system::lock;

/// A sample of a log in one epoch.
#[derive(Deserialize, Serialize)]
pub(in crate::engine) struct TakenSample {
    pub(in crate::engine) id: String,
    /// From 0.
    pub(in crate::engine) epoch: u32,
    pub(in crate::engine) question: LogQuestion,
    pub(in crate::engine) answer: LogAnswer,
}

/// A question.
#[derive(Debug, Deserialize, Serialize)]
pub(in crate::engine) struct LogQuestion {
    pub(in crate::engine) prompt: String,
    pub(in crate::engine) target: Value,
    pub(in crate::engine) metadata: Map<String, Value>,
    pub(in crate::engine) slices: Vec<(String, String)>,
}

/// An answer.
#[derive(Debug, Deserialize, Serialize)]
pub(in crate::engine) struct LogAnswer {
    pub(in crate::engine) output: Option<Output>,
    pub(in crate::engine) error: Option<AgentError>,
    pub(in crate::engine) latency_s: f64,
}

/// The file while it is written.
pub(in crate::engine) struct SpoolWriter {
    file: SpillFile,
    places: HashMap<String, usize>,
    ids: Vec<(String, RowSpan)>,
    answers: HashMap<(usize, u32), RowSpan>,
}

/// The file, open for random access.
#[derive(Debug)]
pub(in crate::engine) struct LogSpool {
    file: Mutex<File>,
    places: HashMap<String, usize>,
    /// In dataset order.
    ids: Vec<(String, RowSpan)>,
    answers: HashMap<(usize, u32), RowSpan>,
    epochs: u32,
}

impl SpoolWriter {
    pub(in crate::engine) fn create() -> Result<Self> {
        Ok(Self {
            file: SpillFile::new()?,
            places: HashMap::new(),
            ids: Vec::new(),
            answers: HashMap::new(),
        })
    }

    pub(in crate::engine) fn add(&mut self, taken: &TakenSample) -> Result<()> {
        let place = if let Some(place) = self.places.get(&taken.id) {
            *place
        } else {
            let span = self.write(&taken.question)?;
            self.ids.push((taken.id.clone(), span));
            self.places.insert(taken.id.clone(), self.ids.len() - 1);
            self.ids.len() - 1
        };
        let span = self.write(&taken.answer)?;
        if self.answers.insert((place, taken.epoch), span).is_some() {
            return Err(Error::usage(format!(
                "sample `{}` has two answers in epoch {}",
                taken.id.escape_debug(),
                taken.epoch + 1
            ))
            .hint("sample ids must differ, even as text: `1` and `\"1\"` are the same"));
        }
        Ok(())
    }

    fn write(&mut self, value: &impl Serialize) -> Result<RowSpan> {
        let json = serde_json::to_vec(value);
        let json = json.map_err(|error| Error::infrastructure(error.to_string()))?;
        self.file.push(&json)
    }

    /// Finishes the file, with samples in the order of these ids, and all others after them.
    pub(in crate::engine) fn finish(self, order: Vec<String>) -> Result<LogSpool> {
        let file = self.file.finish()?;
        let order: HashMap<String, usize> = order
            .into_iter()
            .enumerate()
            .map(|(n, id)| (id, n))
            .collect();
        let mut sorted: Vec<usize> = (0..self.ids.len()).collect();
        sorted.sort_by_key(|place| {
            let known = order.get(&self.ids[*place].0);
            (known.is_none(), known.copied(), *place)
        });
        let epochs = self
            .answers
            .keys()
            .map(|(_, epoch)| epoch.saturating_add(1))
            .max();
        let mut ids: Vec<_> = self.ids.into_iter().map(Some).collect();
        let ids = sorted
            .iter()
            .filter_map(|place| ids[*place].take())
            .collect();
        Ok(LogSpool {
            file: Mutex::new(file),
            places: self.places,
            ids,
            answers: self.answers,
            epochs: epochs.unwrap_or_default(),
        })
    }
}

impl LogSpool {
    pub(in crate::engine) fn samples(&self) -> usize {
        self.ids.len()
    }

    pub(in crate::engine) fn answers(&self) -> usize {
        self.answers.len()
    }

    pub(in crate::engine) fn epochs(&self) -> u32 {
        self.epochs
    }

    pub(in crate::engine) fn ids(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().map(|(id, _)| id.as_str())
    }

    /// Every sample, in order.
    pub(in crate::engine) fn each_sample(
        &self,
        take: &mut dyn FnMut(Sample) -> Result<()>,
    ) -> Result<()> {
        for (id, span) in &self.ids {
            let question: LogQuestion = self.read(*span).map_err(|why| {
                Error::infrastructure(format!("sample `{}`: {why}", id.escape_debug()))
            })?;
            let mut sample = Sample::new(id, question.prompt);
            if !question.target.is_null() {
                sample = sample.target(question.target);
            }
            sample.metadata = question.metadata;
            sample.slices = question.slices;
            take(sample)?;
        }
        Ok(())
    }

    /// The answer to a sample in an epoch, if the log has it.
    pub(in crate::engine) fn answer(
        &self,
        id: &str,
        epoch: u32,
    ) -> std::result::Result<Option<LogAnswer>, String> {
        let span = self.places.get(id);
        let span = span.and_then(|place| self.answers.get(&(*place, epoch)));
        span.map(|span| self.read(*span)).transpose()
    }

    fn read<T: DeserializeOwned>(&self, span: RowSpan) -> std::result::Result<T, String> {
        let json = span.read(&mut lock(&self.file));
        let json = json.map_err(|error| error.to_string())?;
        serde_json::from_slice(&json).map_err(|error| error.to_string())
    }
}
