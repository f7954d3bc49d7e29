//! `ScorerJury`: the scorers to compare.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use evaltest::engine::scorers::{Context, from_value, names};
use evaltest::engine::store::{Manifest, RunDir};
use evaltest::engine::text::Override;
use evaltest::engine::verdict::Vote;
use evaltest::scorer::{Reads, Scorer};
use evaltest::{Error, Extract, Extraction, Result};
use serde_json::{Value, json};

use super::ScorersArgs;
use crate::answers::AnsweredSample;
use crate::scorers;

/// Built-in scorers without required options that are compared only on request: those that score something other than
/// a text, that call other programs or models, that apply another scorer to each element, or that belong to one
/// benchmark.
const UNASKED: [&str; 10] = [
    "aime",
    "any_of",
    "command",
    "gsm8k",
    "json",
    "list",
    "per_sample",
    "qa_f1_format",
    "regex",
    "semantic",
];

/// The scorers to compare.
pub(super) struct ScorerJury {
    pub(super) members: Vec<Member>,
    /// Index of the reference scorer.
    pub(super) reference: usize,
    /// Whether the scorers were chosen by default: those that can score too few answers are then dropped.
    pub(super) is_default: bool,
    /// The extraction for displayed predictions, from the run or the command line.
    pub(super) extraction: Extraction,
}

/// A scorer in the comparison.
pub(super) struct Member {
    pub(super) name: String,
    verdict: VerdictSource,
}

/// The source of a scorer's verdicts.
enum VerdictSource {
    /// Recorded verdicts of the run's deciding scorer.
    Deciding,
    /// Recorded verdicts of another scorer of the run.
    Recorded,
    /// Scored now.
    Now {
        scorer: Arc<dyn Scorer>,
        extract: Extract,
        extract_is_given: bool,
    },
}

impl ScorerJury {
    /// The scorers given on the command line, or the default ones.
    pub(super) fn new(args: &ScorersArgs, extraction: Extraction) -> Result<Self> {
        let manifest = manifest(&args.answers.input)?;
        let of_run = manifest
            .map(|manifest| manifest.scorers)
            .unwrap_or_default();
        let mut jury = Self {
            members: Vec::new(),
            reference: 0,
            is_default: args.scorers.is_none(),
            extraction,
        };
        match &args.scorers {
            Some(text) => jury.given(text, &args.scorer_options, &of_run)?,
            None => jury.default(&of_run),
        }
        if jury.members.len() < 2 {
            let error = Error::usage("a comparison needs at least two scorers");
            return Err(error.hint("name two or more: `--scorers gaia,substring`"));
        }
        Ok(jury)
    }

    fn given(&mut self, text: &str, options: &[String], of_run: &[String]) -> Result<()> {
        // Parse it as a YAML list, so that maps may contain commas.
        let list = Override::value(&format!("[{text}]"))?;
        let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
        let is_recorded = |item: &Value| {
            let name = item.as_str();
            of_run.iter().position(|scorer| name == Some(scorer))
        };
        let now: Vec<String> = items
            .iter()
            .filter(|item| is_recorded(item).is_none())
            .map(ToString::to_string)
            .collect();
        let mut now = scorers::named(&now, options)?.into_iter();
        for item in items {
            let member = match is_recorded(item) {
                Some(place) => Some(Member::recorded(&of_run[place], place == 0)),
                None => now.next().map(|scorer| self.now(scorer)),
            };
            self.members.extend(member);
        }
        let name = |place: usize| &self.members[place].name;
        let is_double = |place: &usize| (0..*place).any(|other| name(other) == name(*place));
        match (0..self.members.len()).find(is_double) {
            None => Ok(()),
            Some(place) => {
                let name = name(place);
                let hint = format!("give one another name: `{{type: {name}, name: other}}`");
                Err(Error::usage(format!("scorer `{name}` is given twice")).hint(hint))
            }
        }
    }

    fn default(&mut self, of_run: &[String]) {
        let recorded = of_run.iter().enumerate();
        let recorded = recorded.map(|(place, name)| Member::recorded(name, place == 0));
        self.members.extend(recorded);
        let compat = json!({"type": "substring", "compat": true, "name": "substring_compat"});
        let built_in = names().filter(|name| !UNASKED.contains(name));
        for value in built_in.map(Value::from).chain([compat]) {
            // Scorers that cannot be built have required options, so they are not compared by default.
            let Ok(scorer) = from_value(&value, &Context::here()) else {
                continue;
            };
            if !self
                .members
                .iter()
                .any(|member| member.name == scorer.name())
            {
                let member = self.now(scorer);
                self.members.push(member);
            }
        }
        if of_run.is_empty() {
            let gaia = self.members.iter().position(|member| member.name == "gaia");
            let gaia = self.members.remove(gaia.unwrap_or_default());
            self.members.insert(0, gaia);
        }
    }

    fn now(&self, scorer: Arc<dyn Scorer>) -> Member {
        Member {
            name: scorer.name().to_owned(),
            verdict: VerdictSource::Now {
                extract: self.extraction.of(&*scorer).into_owned(),
                extract_is_given: self.extraction.is_given,
                scorer,
            },
        }
    }

    /// How many of the first members have recorded verdicts.
    pub(super) fn recorded(&self) -> usize {
        let members = self.members.iter();
        let is_recorded = |member: &&Member| !matches!(member.verdict, VerdictSource::Now { .. });
        members.take_while(is_recorded).count()
    }

    /// The parts that the scorers read.
    pub(super) fn reads(&self) -> Reads {
        let reads = self.members.iter().map(|member| match &member.verdict {
            VerdictSource::Now { scorer, .. } => scorer.reads(),
            VerdictSource::Deciding | VerdictSource::Recorded => Reads::Text,
        });
        reads.max().unwrap_or(Reads::Text)
    }

    /// Each scorer's verdict on an answer.
    pub(super) fn votes(&self, answered: &AnsweredSample) -> Vec<Vote> {
        let lost = answered.is_lost();
        let votes = self.members.iter();
        votes.map(|member| member.vote(answered, lost)).collect()
    }

    /// The prediction extracted from the answer.
    pub(super) fn prediction<'a>(&self, answered: &'a AnsweredSample) -> Option<Cow<'a, str>> {
        let raw = answered.output.text.as_deref();
        raw.and_then(|raw| self.extraction.extract.apply(raw))
    }
}

impl Member {
    fn recorded(name: &str, decides: bool) -> Self {
        Self {
            name: name.to_owned(),
            verdict: if decides {
                VerdictSource::Deciding
            } else {
                VerdictSource::Recorded
            },
        }
    }

    fn vote(&self, answered: &AnsweredSample, lost: bool) -> Vote {
        let entry = answered.entry.as_ref();
        match &self.verdict {
            VerdictSource::Deciding => entry?.correct,
            VerdictSource::Recorded => entry?.scores.get(&self.name)?.get("correct")?.as_bool(),
            VerdictSource::Now { .. } if lost => None,
            VerdictSource::Now {
                scorer,
                extract,
                extract_is_given,
            } => {
                let raw = answered.output.text.as_deref();
                let prediction = raw.and_then(|raw| extract.apply(raw));
                let answer = answered.answer(prediction.as_deref(), *extract_is_given);
                let score = scorer.score(&answer).ok()?;
                score.value.is_finite().then_some(score.correct)
            }
        }
    }
}

/// The manifest, if the input is a run directory.
fn manifest(input: &Path) -> Result<Option<Manifest>> {
    if input.is_dir() {
        return RunDir::open(input)?.manifest().map(Some);
    }
    Ok(None)
}
