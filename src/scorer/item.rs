//! `item`: checks whether a reply is a data item as defined by a spec.
//!
//! `fields` defines its members and `kind` their types; `reply` finds the object in a model's reply; `checks` defines
//! what is checked, `references` has the items that it must not copy, and `verdict` builds the score. An item that
//! passes may be handed to a scorer that asks a model, so no request is paid for a refused item.

pub(crate) mod checks;
pub(crate) mod fields;
pub(crate) mod kind;
pub(crate) mod ready;
pub(crate) mod references;
pub(crate) mod reply;
pub(crate) mod verdict;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::agent::Agent;
use crate::data::{Finish, Output, Sample, Score, Unread};
use crate::error::{Error, Result};
use crate::scorer::{Answer, Entry, Example, OptionReader, Reads, Scorer};
use crate::text::unquoted;
use checks::{CheckMode, ItemChecks};
use fields::{FieldKeys, ItemFields};
use references::ReferenceItems;
use reply::{ItemReply, READABLE};
use verdict::{ItemTally, WHY};

const NAME: &str = "item";

/// The version of this module's rules. Increment it when some reply gets a different verdict.
const VERSION: u32 = 1;

/// The sample metadata with the id of the reference shown.
pub(crate) const REFERENCE_ID: &str = "reference_id";
/// The sample metadata with the requested topic.
pub(crate) const TOPIC: &str = "topic";

/// The check by a solver that sees the item without its solution.
pub(crate) const SOLVER_AGREES: &str = "solver_agrees";

pub(crate) const ENTRY: Entry = Entry {
    name: NAME,
    summary: "the reply is one JSON object with certain fields, each with an allowed value",
    rule: include_str!("item.md"),
    options: &[
        (
            "fields",
            "the members of the object: a list of `{ name, type }`, with `range`, `choices`, `min_length`, `max_length`, \
             `items`, `fields`, `required`, `description`",
        ),
        ("topics", "what a field with `choices: topics` may be"),
        (
            "checks",
            "each check by name, `refuse`, `note` or `off`; in addition `near_copy`, `copy_of`, `differs_in`, `FIELD_ends_in`",
        ),
    ],
    examples: &[
        Example {
            options: "{ fields: [{ name: question, type: text }, { name: answer, type: integer, range: [0, 9] }] }",
            prediction: "Here it is:\n```json\n{\"question\": \"3 + 4?\", \"answer\": \"07\"}\n```",
            ground_truth: "",
            correct: true,
            note: "one object in a fence; `\"07\"` is 7",
        },
        Example {
            options: "{ fields: [{ name: question, type: text }, { name: answer, type: integer, range: [0, 9] }] }",
            prediction: "{\"question\": \"6 * 7?\", \"answer\": 42}",
            ground_truth: "",
            correct: false,
            note: "42 is not from 0 to 9",
        },
        Example {
            options: "{ fields: [{ name: question, type: text }] }",
            prediction: "I cannot think of one.",
            ground_truth: "",
            correct: false,
            note: "no object",
        },
    ],
    make: |options| Ok(Arc::new(ItemScorer::read(options)?)),
};

/// Checks whether replies are items.
pub(crate) struct ItemScorer {
    pub(crate) fields: ItemFields,
    pub(crate) checks: ItemChecks,
    references: Option<Arc<ReferenceItems>>,
    solver: Option<(Arc<dyn Scorer>, CheckMode)>,
}

impl ItemScorer {
    /// A scorer with these fields and checks.
    pub(crate) fn new(fields: ItemFields, checks: ItemChecks) -> Self {
        Self {
            fields,
            checks,
            references: None,
            solver: None,
        }
    }

    /// Sets the items that must not be copied.
    #[must_use]
    pub(crate) fn references(mut self, references: Arc<ReferenceItems>) -> Self {
        self.references = Some(references);
        self
    }

    /// Sets the scorer that solves items that passed, and what a disagreement means for the item.
    #[must_use]
    pub(crate) fn solver(mut self, solver: Arc<dyn Scorer>, on_disagreement: CheckMode) -> Self {
        self.solver = Some((solver, on_disagreement));
        self
    }

    fn read(options: &OptionReader<'_>) -> Result<Self> {
        let topics = options.texts("topics")?.unwrap_or_default();
        let topics: Vec<String> = topics.into_iter().map(str::to_owned).collect();
        fields::distinct(&topics).map_err(|error| options.of("topics", error))?;
        let keys = options.value("fields").map(keys);
        let keys = keys.ok_or_else(|| options.missing("fields", "the members of an item"))?;
        let fields = keys.and_then(|keys| ItemFields::of(keys, &topics));
        let fields = fields.map_err(|error| options.of("fields", error))?;
        let given = options.read("checks", "a map", Value::as_object)?;
        let checks = given.cloned().unwrap_or_default();
        let checks = ItemChecks::of(&checks, &fields);
        let checks = checks.map_err(|error| options.of("checks", error))?;
        Ok(Self::new(fields, checks))
    }

    /// The checks that can refuse an item.
    pub(crate) fn refusing(&self) -> Vec<String> {
        let refuses = |name: &&str| self.checks.mode(name) == CheckMode::Refuse;
        let solver = self
            .solver
            .as_ref()
            .filter(|(_, mode)| *mode == CheckMode::Refuse);
        let solver = solver.map(|_| SOLVER_AGREES);
        let names = self.checks.names().filter(refuses);
        let names = [READABLE].into_iter().chain(names).chain(solver);
        names.map(str::to_owned).collect()
    }

    /// The text of an item that is compared with others, if any.
    pub(crate) fn compared_text(&self, output: &Output) -> Option<String> {
        let name = self.checks.copy_of.as_ref()?;
        let reply = ItemReply::of(output.text.as_deref()?, &self.fields).ok()?;
        reply.map.get(name).map(unquoted)
    }

    /// The score of a reply without a readable object.
    fn unread(answer: &Answer<'_>, reason: Unread) -> Score {
        let reason = match answer.output.finish() {
            Finish::Truncated => Unread::Truncated,
            Finish::Refused => Unread::Refusal,
            Finish::Answer | Finish::Outage => reason,
        };
        Score::new(0.0, false, READABLE)
            .detail(READABLE, 0)
            .detail("unread", reason.as_str())
            .detail(WHY, reply::unread(reason))
    }

    /// The result before the solver is asked.
    fn checked(&self, reply: &ItemReply, answer: &Answer<'_>) -> ItemTally<'_> {
        let mut tally = ItemTally::of(reply, &self.fields, &self.checks);
        let metadata = |key: &str| answer.metadata.get(key).and_then(Value::as_str);
        let given_id = metadata(REFERENCE_ID);
        if let Some(references) = &self.references {
            tally.compare(references, given_id);
            if let Some(reference) = given_id.and_then(|id| references.get(id)) {
                tally.differs(&reference.item, &self.fields);
            }
        }
        tally.ends(&self.fields);
        tally.topic(&self.fields, metadata(TOPIC));
        tally
    }
}

/// The field keys of an already parsed value.
pub(crate) fn keys(value: &Value) -> Result<Vec<FieldKeys>> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let message = Error::usage(error.inner().to_string());
        error.path().iter().rev().fold(
            message.hint("write `fields: [{ name: answer, type: integer, range: [0, 999] }]`"),
            |error, step| match step {
                serde_path_to_error::Segment::Seq { index } => error.under(*index),
                serde_path_to_error::Segment::Map { key } => error.under(key.as_str()),
                _ => error,
            },
        )
    })
}

impl Scorer for ItemScorer {
    fn name(&self) -> &'static str {
        NAME
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let reply = match ItemReply::of(answer.prediction.unwrap_or_default(), &self.fields) {
            Ok(reply) => reply,
            Err(reason) => return Ok(Self::unread(answer, reason)),
        };
        let mut tally = self.checked(&reply, answer);
        if let Some((solver, mode)) = &self.solver
            && *mode != CheckMode::Off
            && !tally.is_refused()
        {
            let item = Value::Object(tally.item.clone()).to_string();
            let solved = solver.score(&Answer {
                prediction: Some(&item),
                ..*answer
            })?;
            tally.check_as(SOLVER_AGREES, *mode, solved.correct, || {
                let why = solved.details.get(WHY).and_then(Value::as_str);
                why.unwrap_or("was solved with another answer").to_owned()
            });
            for (name, value) in solved.details.iter().filter(|(name, _)| *name != WHY) {
                tally
                    .details
                    .insert(format!("solver_{name}"), value.clone());
            }
        }
        Ok(tally.score())
    }

    fn needs_target(&self) -> bool {
        false
    }

    fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        let metadata = [REFERENCE_ID, TOPIC].map(|key| sample.metadata.get(key));
        Ok(metadata
            .iter()
            .any(Option::is_some)
            .then(|| json!(metadata).to_string()))
    }

    fn reads(&self) -> Reads {
        Reads::Everything
    }

    fn fingerprint(&self) -> String {
        let references = self.references.as_ref().map(|references| references.hash());
        let solver = self.solver.as_ref();
        let solver =
            solver.map(|(solver, mode)| (solver.fingerprint(), *mode == CheckMode::Refuse));
        let parts = json!([
            VERSION,
            self.fields.canonical(),
            self.checks.canonical(),
            references,
            solver,
        ]);
        format!("{NAME} {parts}")
    }

    fn details(&self) -> Option<Vec<Cow<'static, str>>> {
        let names = self.checks.names().map(str::to_owned).map(Cow::Owned);
        let others = [READABLE, "nearest_share", "repaired"].map(Cow::Borrowed);
        let mut details: Vec<Cow<'static, str>> = names.chain(others).collect();
        if let Some((solver, _)) = &self.solver {
            details.push(SOLVER_AGREES.into());
            let of_solver = solver.details().unwrap_or_default();
            details.extend(
                of_solver
                    .iter()
                    .map(|name| Cow::Owned(format!("solver_{name}"))),
            );
        }
        Some(details)
    }

    fn agents(&self) -> Vec<Arc<dyn Agent>> {
        self.solver
            .iter()
            .flat_map(|(solver, _)| solver.agents())
            .collect()
    }

    /// A solver determines what is true and gives no opinion.
    fn asks_opinions(&self) -> bool {
        false
    }

    fn secrets(&self) -> Vec<String> {
        self.solver
            .iter()
            .flat_map(|(solver, _)| solver.secrets())
            .collect()
    }

    fn secret_variables(&self) -> Vec<(String, String)> {
        let solver = self.solver.iter();
        solver
            .flat_map(|(solver, _)| solver.secret_variables())
            .collect()
    }

    fn unset_variables(&self) -> Vec<String> {
        let solver = self.solver.iter();
        solver
            .flat_map(|(solver, _)| solver.unset_variables())
            .collect()
    }

    fn notices(&self) -> Vec<String> {
        self.solver
            .iter()
            .flat_map(|(solver, _)| solver.notices())
            .collect()
    }
}

#[cfg(test)]
mod tests;
