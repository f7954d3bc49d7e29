//! `generate`: items of data that agents write.
//!
//! Each sample is a prompt from a [`template`](ItemTemplate) with a topic (`topics`) and an example from the reference
//! (`reference_files`), both drawn with a seed. The scorer [`ItemScorer`] checks the replies.

mod reference_files;
mod tally;
mod template;
mod topics;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value};

use crate::benchmark::{
    AnswerValidator, Benchmark, CountsRecords, RunningMetrics, ValidationClient,
};
use crate::data::{Output, Record, Sample, Score};
use crate::error::{Error, Result, Under};
use crate::scorer::Scorer;
use crate::scorer::item::checks::{CheckMode, ItemChecks, NO_COPY_OF_ITEM};
use crate::scorer::item::fields::{FieldKeys, ItemFields, TOPICS};
use crate::scorer::item::references::ReferenceItems;
use crate::scorer::item::verdict::WHY;
use crate::scorer::item::{ItemScorer, REFERENCE_ID, TOPIC, ready};
use crate::system::lock;
use crate::text::near_copy::{NearCopies, TextGrams};
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
            let error = |error: Error| error.hint("name the fields to show: `shows: [question]`");
            fields.require("problem").map_err(error)?;
        }
        let answer = self.answer.as_deref();
        match fields.require(answer.unwrap_or("answer")) {
            Ok(_) => Ok(()),
            Err(error) if answer.is_some() => Err(error.under("answer")),
            Err(error) => Err(error.hint("name the field with the answer: `answer: result`")),
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
                        Error::usage(format!("`{}` is not a name for items", name.escape_debug()));
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
            let error = Error::usage(format!("`{count}` items cannot be requested"));
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
                let error = Error::usage("benchmark `generate` has no fields of an item");
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
        let paths = reference_files::files(&draft.references, folder).under("reference")?;
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
                let error = Error::usage("benchmark `generate` has no template to request items");
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

/// The accepted items of a run.
struct NearCopyValidator {
    scorer: Arc<ItemScorer>,
    /// Accepted items by the compared text.
    stayed: Mutex<NearCopies>,
}

impl NearCopyValidator {
    /// Starts without items.
    fn new(scorer: Arc<ItemScorer>) -> Self {
        Self {
            scorer,
            stayed: Mutex::new(NearCopies::new()),
        }
    }

    fn add(&self, id: &str, grams: &TextGrams) {
        lock(&self.stayed).add_grams(id, grams);
    }
}

impl AnswerValidator for NearCopyValidator {
    fn again(&self) -> u32 {
        self.scorer.checks.again
    }

    fn note(&self, refused: &Score, again: u32) -> Option<String> {
        let why = refused.details.get(WHY).and_then(|why| why.as_str());
        let why = why.unwrap_or("did not pass a check");
        let all = self.again().saturating_add(1);
        let this = again.saturating_add(1);
        Some(format!(
            "Your last reply to this was refused: it {why}. This is try {this} of {all}. Reply anew, with one whole JSON \
             object as it is asked for above."
        ))
    }

    fn second_verdict(&self, sample: &Sample, output: &Output, score: &Score) -> Option<Score> {
        let mode = self.scorer.checks.mode(NO_COPY_OF_ITEM);
        let text = self.scorer.compared_text(output)?;
        if mode == CheckMode::Off {
            return None;
        }
        let grams = TextGrams::of(&text);
        let near = lock(&self.stayed).nearest_of(&grams);
        let share = near.as_ref().map_or(0.0, |near| near.share);
        let is_copy = share >= self.scorer.checks.near_copy;
        let mut checked = score.clone();
        if is_copy && mode == CheckMode::Refuse {
            (checked.value, checked.correct) = (0.0, false);
            checked.reason = NO_COPY_OF_ITEM.into();
            let why = "was a near copy of an item that was written before: write another one";
            checked.details.insert(WHY, why);
        } else {
            self.add(&sample.id, &grams);
        }
        checked.details.insert(NO_COPY_OF_ITEM, u8::from(!is_copy));
        if let Some(near) = near {
            checked.details.insert("nearest_item", near.id);
            checked.details.insert("nearest_item_share", share);
        }
        Some(checked)
    }

    fn stays(&self, sample: &Sample, output: &Output) {
        if let Some(text) = self.scorer.compared_text(output) {
            self.add(&sample.id, &TextGrams::of(&text));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scorer::item::checks::ItemChecks;
    use crate::scorer::item::fields::ItemFields;
    use crate::scorer::item::ready;

    fn second_verdict(checks: &serde_json::Value) -> NearCopyValidator {
        let ready = ready::of("aime").unwrap();
        let fields = ItemFields::of(ready.fields(), &ready.topics()).unwrap();
        let mut given = ready.checks();
        given.extend(checks.as_object().cloned().unwrap());
        let checks = ItemChecks::of(&given, &fields).unwrap();
        NearCopyValidator::new(Arc::new(ItemScorer::new(fields, checks)))
    }

    fn output(problem: &str) -> Output {
        let item = json!({"problem": problem, "answer": 7, "solution": "7", "topic": "Algebra"});
        Output::text(item.to_string())
    }

    const MILL: &str = "A mill has 12 wheels, each of which turns 30 times while the miller counts his 500 sacks of grain twice.";
    const COPY: &str = "A mill has 17 wheels, each of which turns 45 times while the miller counts his 900 sacks of grain twice.";
    const OTHER: &str = "How many ways are there to put nine different books on three shelves of unequal length in a row?";

    #[test]
    fn a_copy_of_an_item_before_it_is_refused_and_another_answer_of_its_own_stays() {
        let items = second_verdict(&json!({}));
        let right = Score::new(1.0, true, "accepted").detail("complete", 1);
        let sample = |id: &str| Sample::new(id, "?");
        let check = |id: &str, text: &str| {
            items
                .second_verdict(&sample(id), &output(text), &right)
                .unwrap()
        };
        // The first item is from an earlier part of the run.
        items.stays(&sample("gen_1"), &output(MILL));
        let refused = check("gen_2", COPY);
        assert_eq!(
            (refused.correct, &*refused.reason),
            (false, NO_COPY_OF_ITEM)
        );
        assert_eq!(refused.details.get("nearest_item"), Some(&json!("gen_1")));
        assert_eq!(refused.details.get("complete"), Some(&json!(1)));
        // A refused item is not compared with, so its text may come again.
        let stays = check("gen_2", OTHER);
        assert!(stays.correct && stays.details.get(NO_COPY_OF_ITEM) == Some(&json!(1)));
        assert!(!check("gen_3", OTHER).correct);
        let note = items.note(&refused, 1).unwrap();
        assert_eq!(
            note,
            "Your last reply to this was refused: it was a near copy of an item that was written before: write another \
             one. This is try 2 of 4. Reply anew, with one whole JSON object as it is asked for above."
        );
    }

    #[test]
    fn a_copy_is_noted_or_not_looked_for() {
        let right = Score::new(1.0, true, "accepted");
        let noted = second_verdict(&json!({"no_copy_of_item": "note"}));
        noted.stays(&Sample::new("a", "?"), &output(MILL));
        let score = noted
            .second_verdict(&Sample::new("b", "?"), &output(COPY), &right)
            .unwrap();
        assert!(score.correct && score.details.get(NO_COPY_OF_ITEM) == Some(&json!(0)));
        let off = second_verdict(&json!({"no_copy_of_item": false}));
        off.stays(&Sample::new("a", "?"), &output(MILL));
        assert_eq!(
            off.second_verdict(&Sample::new("b", "?"), &output(COPY), &right),
            None
        );
    }
}
