//! `References`: the texts that answers are compared with, before pairing.

use std::collections::{BTreeMap, BTreeSet};

use crate::data::ItemPart;
use crate::data::{Sample, Target};
use crate::error::{Error, Result};
use crate::text::hash::Hasher;

/// What answers are compared with.
#[derive(Clone, Debug, Default)]
pub(super) struct References {
    /// By id, each once.
    pub(super) items: BTreeMap<String, Reference>,
    /// The ids in their original order.
    pub(super) order: Vec<String>,
    /// The ids of the runs they come from, if they are answers of runs.
    pub(super) runs: BTreeSet<String>,
}

/// What one item is compared with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reference {
    /// Answers to the same question, by epoch; `None` for a missing answer.
    Answers(BTreeMap<u32, Option<String>>),
    /// A sample of a benchmark.
    Sample {
        /// Its reference answer.
        truth: Option<String>,
        /// Its question.
        question: String,
    },
}

/// Which text of a sample is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SampleText {
    Prompt,
    GroundTruth,
    /// The whole item, by these parts.
    Item(Vec<ItemPart>),
    Field(String),
}

impl SampleText {
    /// The text with this name; items are shown by these parts.
    pub(super) fn of(name: &str, rendered: Option<&[ItemPart]>) -> Self {
        match name {
            "item" => Self::Item(rendered.unwrap_or(&ItemPart::ALL).to_vec()),
            "prompt" => Self::Prompt,
            "ground_truth" => Self::GroundTruth,
            field => Self::Field(field.to_owned()),
        }
    }

    fn in_sample(&self, sample: &Sample) -> Option<String> {
        match self {
            Self::Prompt => Some(sample.prompt.clone()),
            Self::GroundTruth => sample.target.as_ref().map(text),
            Self::Item(parts) => ItemPart::rendered(parts, sample),
            Self::Field(name) => {
                let value = sample.metadata.get(name).filter(|value| !value.is_null())?;
                Some(text(&Target(value.clone())))
            }
        }
    }
}

impl SampleText {
    fn missing_in(&self, sample: &Sample) -> Error {
        let id = sample.id.escape_debug();
        let what = match self {
            Self::Field(name) => format!("field `{name}`"),
            Self::Item(_) => "part that is shown".to_owned(),
            _ => "ground truth".to_owned(),
        };
        Error::usage(format!("sample `{id}` has no {what}")).hint("name a `text` that all have")
    }
}

/// A string unchanged, anything else as JSON.
fn text(target: &Target) -> String {
    target
        .as_text()
        .map_or_else(|| target.0.to_string(), str::to_owned)
}

impl References {
    /// Adds an answer.
    ///
    /// # Errors
    /// When there is one already.
    pub(super) fn add(&mut self, id: String, epoch: u32, answer: Option<String>) -> Result<()> {
        let twice = || Error::usage(format!("`{}` is there twice", id.escape_debug()));
        let Some(there) = self.items.get_mut(&id) else {
            self.order.push(id.clone());
            let answers = Reference::Answers([(epoch, answer)].into());
            self.items.insert(id, answers);
            return Ok(());
        };
        match there {
            Reference::Answers(answers) if !answers.contains_key(&epoch) => {
                answers.insert(epoch, answer);
                Ok(())
            }
            _ => Err(twice().hint("give every answer a unique id")),
        }
    }

    /// The references of a benchmark.
    pub(super) fn of_samples(samples: Vec<Sample>, rendered: Option<&SampleText>) -> Result<Self> {
        let mut all = Self::default();
        for sample in samples {
            let given = match rendered {
                None => None,
                Some(rendered) => {
                    let text = rendered.in_sample(&sample);
                    Some(text.ok_or_else(|| rendered.missing_in(&sample))?)
                }
            };
            let truth = given
                .clone()
                .or_else(|| SampleText::GroundTruth.in_sample(&sample));
            let reference = Reference::Sample {
                truth,
                question: given.unwrap_or(sample.prompt),
            };
            all.order.push(sample.id.clone());
            all.items.insert(sample.id, reference);
        }
        Ok(all)
    }

    /// A hash of all ids and texts, independent of their source.
    pub(super) fn hash(&self) -> String {
        let one = |hash: Hasher, text: Option<&str>| {
            let hash = hash.part([u8::from(text.is_some())]);
            hash.part(text.unwrap_or_default())
        };
        let all = self
            .items
            .iter()
            .fold(Hasher::default(), |hash, (id, reference)| {
                let hash = hash.part(id);
                match reference {
                    Reference::Answers(answers) => {
                        answers
                            .iter()
                            .fold(hash.part("answers"), |hash, (epoch, answer)| {
                                one(hash.part(epoch.to_le_bytes()), answer.as_deref())
                            })
                    }
                    Reference::Sample { truth, question } => one(
                        one(hash.part("sample"), truth.as_deref()),
                        Some(question.as_str()),
                    ),
                }
            });
        all.short()
    }
}

impl Reference {
    /// The answer to compare with that of this epoch: the one of the same epoch, otherwise the existing ones in turn.
    pub(super) fn answer(&self, epoch: u32) -> Option<&str> {
        match self {
            Self::Answers(answers) => {
                let there: Vec<_> = answers.iter().collect();
                let turn = usize::try_from(epoch).ok()?.checked_rem(there.len())?;
                let own = answers.get(&epoch).or(there.get(turn).map(|(_, it)| *it));
                own?.as_deref()
            }
            Self::Sample { truth, .. } => truth.as_deref(),
        }
    }

    /// Whether there is any answer.
    pub(super) fn is_answered(&self) -> bool {
        match self {
            Self::Answers(answers) => answers.values().any(Option::is_some),
            Self::Sample { truth, .. } => truth.is_some(),
        }
    }
}
