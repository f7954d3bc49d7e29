//! `generate`: items of data that agents write.
//!
//! Each sample is a prompt from a [`template`](ItemTemplate) with a topic (`topics`) and an example from the reference
//! (`reference_files`), both drawn with a seed. The scorer [`ItemScorer`] checks the replies.

mod near_copies;
mod reference_files;
mod tally;
mod template;
mod topics;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::benchmark::{Benchmark, CountsRecords, RunningMetrics, ValidationClient};
use crate::data::{Record, Sample, hub};
use crate::error::{Error, Result, Under};
use crate::scorer::Scorer;
use crate::scorer::item::checks::{CheckMode, ItemChecks};
use crate::scorer::item::fields::{FieldKeys, ItemFields, TOPICS};
use crate::scorer::item::ready;
use crate::scorer::item::references::ReferenceItems;
use crate::scorer::item::{ItemScorer, REFERENCE_ID, TOPIC};
use near_copies::NearCopyValidator;
use reference_files::ReferenceShape;
use tally::ItemCounts;
use template::{Filling, ItemTemplate, TemplateNames};
pub(crate) use topics::RequestedTopics;

/// Default number of items.
const COUNT: u64 = 30;
/// Maximum number of items.
pub(crate) const MOST: u64 = 100_000;

/// A spec of items to generate; missing keys come from the preset.
#[derive(Default)]
pub(crate) struct GenerateDraft {
    pub(crate) ready: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) count: Option<u64>,
    pub(crate) seed: Option<u64>,
    pub(crate) topics: Option<Value>,
    pub(crate) fields: Option<Vec<FieldKeys>>,
    pub(crate) template: Option<String>,
    pub(crate) references: Vec<PathBuf>,
    pub(crate) checks: Map<String, Value>,
    pub(crate) solver: Option<ItemSolver>,
}

/// The agent that solves generated problems.
pub(crate) struct ItemSolver {
    pub(crate) scorer: Arc<dyn Scorer>,
    /// The effect of a disagreement.
    pub(crate) mode: CheckMode,
    /// The fields it sees, and the field it must find, if set.
    pub(crate) shows: Option<Vec<String>>,
    pub(crate) answer: Option<String>,
}

impl ItemSolver {
    /// Returns an error for unknown fields.
    fn check(&self, fields: &ItemFields) -> Result<()> {
        for name in self.shows.iter().flatten() {
            fields.require(name).under("shows")?;
        }
        if self.shows.is_none() {
            let error = |error: Error| error.hint("name what is shown: `shows: [question]`");
            fields.require("problem").map_err(error)?;
        }
        let answer = self.answer.as_deref();
        match fields.require(answer.unwrap_or("answer")) {
            Ok(_) => Ok(()),
            Err(error) if answer.is_some() => Err(error.under("answer")),
            Err(error) => Err(error.hint("name what is to be found out: `answer: result`")),
        }
    }
}

/// A benchmark of items to generate.
pub(crate) struct Generate {
    name: String,
    count: usize,
    seed: u64,
    topics: RequestedTopics,
    template: ItemTemplate,
    references: Option<(Vec<PathBuf>, Arc<ReferenceItems>)>,
    scorer: Arc<ItemScorer>,
}

impl Generate {
    /// Builds the benchmark of a spec in this folder.
    ///
    /// # Errors
    /// If keys are inconsistent; names the key.
    pub(crate) fn of(draft: GenerateDraft, folder: &Path) -> Result<Self> {
        let ready = draft.ready.as_deref().map(ready::of);
        let ready = ready.transpose().under("ready")?;
        let name = match (draft.name, &ready) {
            (Some(name), _) => {
                let is_sign = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                if name.is_empty() || name.len() > 64 || !name.chars().all(is_sign) {
                    let error =
                        Error::usage(format!("`{}` is no name for items", name.escape_debug()));
                    let hint = "a name is made of the letters a to z, digits, `_` and `-`";
                    return Err(error.hint(hint).under("name"));
                }
                name
            }
            (None, Some(ready)) => ready.name.to_owned(),
            (None, None) => "item".to_owned(),
        };
        let count = draft.count.unwrap_or(COUNT);
        if !(1..=MOST).contains(&count) {
            let error = Error::usage(format!("`{count}` items cannot be asked for"));
            let hint = format!("write a number from 1 to {MOST}: `count: 30`");
            return Err(error.hint(hint).under("count"));
        }
        let topics = match (&draft.topics, &ready) {
            (Some(value), _) if !value.is_null() => RequestedTopics::of(value).under(TOPICS)?,
            (_, Some(ready)) => RequestedTopics::even(ready.topics()),
            _ => RequestedTopics::default(),
        };
        let keys = match (draft.fields, &ready) {
            (Some(keys), _) => keys,
            (None, Some(ready)) => ready.fields(),
            (None, None) => {
                let error = Error::usage("benchmark `generate` does not say what an item is");
                return Err(error.hint(
                    "write `ready: aime`, or `fields: [{ name: question, type: text }]` and a `template`",
                ));
            }
        };
        let fields = ItemFields::of(keys, &topics.names).under("fields")?;
        let mut given = ready
            .as_ref()
            .map(ready::ReadyItems::checks)
            .unwrap_or_default();
        // The preset may name fields that the spec does not define.
        given.retain(|key, value| {
            let end = key.strip_suffix("_ends_in").unwrap_or("");
            let named = [value.as_str().unwrap_or_default(), end];
            named
                .iter()
                .all(|name| name.is_empty() || fields.get(name).is_some())
        });
        given.extend(draft.checks);
        let checks = ItemChecks::of(&given, &fields).under("checks")?;
        let paths = draft.references.iter();
        let paths = paths.map(|path| hub::file(hub::resolve(path, folder)));
        let paths: Vec<PathBuf> = paths.collect::<Result<_>>().under("reference")?;
        let references = if paths.is_empty() {
            None
        } else {
            let shape = ReferenceShape {
                fields: &fields,
                needed: checks.copy_of.as_deref().unwrap_or(&fields.0[0].name),
                ready: ready.as_ref().map(|ready| ready.name),
            };
            let items = reference_files::read_all(&paths, &shape).under("reference")?;
            let items = ReferenceItems::of(items, checks.copy_of.as_deref());
            Some((paths, Arc::new(items)))
        };
        let template = match (&draft.template, &ready) {
            (Some(text), _) => text.as_str(),
            (None, Some(ready)) => ready.template(),
            (None, None) => {
                let error =
                    Error::usage("benchmark `generate` does not say how items are asked for");
                return Err(error.hint("write `template: \"Write a question. Reply with a JSON object:\\n{{fields}}\"`"));
            }
        };
        let known = TemplateNames {
            fields: &fields,
            has_topics: !topics.names.is_empty(),
            has_reference: references.is_some(),
        };
        let template = ItemTemplate::of(template, &known).under("template")?;
        if let Some(solver) = &draft.solver {
            solver.check(&fields).under("solver")?;
        }
        let mut scorer = ItemScorer::new(fields, checks);
        if let Some((_, references)) = &references {
            scorer = scorer.references(Arc::clone(references));
        }
        if let Some(solver) = draft.solver {
            scorer = scorer.solver(solver.scorer, solver.mode);
        }
        Ok(Self {
            name,
            count: usize::try_from(count).unwrap_or(usize::MAX),
            seed: draft.seed.unwrap_or(0),
            topics,
            template,
            references,
            scorer: Arc::new(scorer),
        })
    }
}

impl Generate {
    fn counts(&self) -> ItemCounts {
        let again = self.scorer.checks.again;
        ItemCounts::new(self.topics.clone(), again, self.scorer.refusing())
    }
}

impl Benchmark for Generate {
    fn name(&self) -> &'static str {
        "generate"
    }

    fn samples(&self) -> Result<Vec<Sample>> {
        crate::benchmark::collected(self)
    }

    fn each_sample(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        let topics = self.topics.draw(self.count, self.seed);
        let references = self
            .references
            .as_ref()
            .map(|(_, references)| references.all());
        let references = references.unwrap_or_default();
        let drawn = reference_files::draw(references.len(), self.count, self.seed);
        for place in 0..self.count {
            let topic = topics
                .get(place)
                .map(|topic| self.topics.names[*topic].as_str());
            let reference = drawn.get(place).map(|drawn| &references[*drawn]);
            let number = place as u64 + 1;
            let prompt = self.template.render(&Filling {
                topic,
                topics: &self.topics.names,
                reference: reference.map(|reference| &reference.item),
                number,
                count: self.count as u64,
                fields: &self.scorer.fields,
            });
            let mut sample = Sample::new(format!("gen_{}_{number}", self.name), prompt);
            sample.metadata.insert("number".to_owned(), number.into());
            if let Some(topic) = topic {
                sample.metadata.insert(TOPIC.to_owned(), topic.into());
                sample = sample.slice(TOPIC, topic);
            }
            if let Some(reference) = reference {
                let id = reference.id.as_str().into();
                sample.metadata.insert(REFERENCE_ID.to_owned(), id);
            }
            take(sample)?;
        }
        Ok(())
    }

    fn scorer(&self) -> Option<Box<dyn Scorer>> {
        Some(Box::new(Arc::clone(&self.scorer)))
    }

    fn validator(&self) -> Option<ValidationClient> {
        let items = NearCopyValidator::new(Arc::clone(&self.scorer));
        Some(ValidationClient(Arc::new(items)))
    }

    fn metrics(&self, records: &[Record]) -> Map<String, Value> {
        let mut counts = self.counts();
        for record in records {
            counts.add(record);
        }
        counts.finish()
    }

    fn running_metrics(&self) -> Option<RunningMetrics> {
        Some(RunningMetrics(Box::new(self.counts())))
    }

    fn metric_names(&self) -> Option<Vec<String>> {
        Some(ItemCounts::names(self.scorer.refusing()))
    }

    fn paths(&self) -> Vec<PathBuf> {
        let paths = self.references.as_ref().map(|(paths, _)| paths.clone());
        paths.unwrap_or_default()
    }
}
