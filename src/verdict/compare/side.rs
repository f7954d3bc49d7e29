//! `SideSample`: a sample of a run as comparisons need it, built from its records.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::data::record::slices_of;
use crate::data::{Record, Status};
use crate::text::hash::mark;
use crate::verdict::baseline::figures::{AnswerFigures, FigureRules};
use crate::verdict::baseline::marks::Marks;
use crate::verdict::gate::figure::FigureScale;
use crate::verdict::summary::{Summary, SummaryBuilder, VALUE};

/// The figures of an agent that are compared, on their scales.
const FIGURES: [&str; 6] = [
    "tokens",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "steps",
    "tool_calls",
];

/// Stands for a scorer where a number is of the agent.
pub(super) const AGENT: &str = "";
/// The same where it is the logarithm of the amount itself. What is told is the ratio of these, as gates tell it, unless an
/// amount is 0.
pub(super) const AGENT_PLAIN: &str = "\0";

/// One answer of a run to a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SideAnswer {
    Wrong,
    Right,
    /// It errored or was never given.
    Errored,
    /// No verdict is expected.
    Unscored,
}

/// A sample of a run as comparisons need it. Names are indices into [`SideNames`], hashes are shortened.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SideSample {
    pub(crate) id: String,
    /// In the order of epochs.
    pub(crate) answers: Vec<SideAnswer>,
    pub(crate) input: u64,
    pub(crate) target: u64,
    /// Other hashes that identify its question.
    pub(crate) questions: Vec<u64>,
    /// Other hashes that identify its ground truth.
    pub(crate) targets: Vec<u64>,
    pub(crate) slices: Vec<u32>,
    pub(crate) cluster: Option<String>,
    /// The verdicts of each scorer, if there are several.
    pub(crate) scorers: Vec<(u32, Vec<Option<bool>>)>,
    pub(crate) values: Vec<SideValue>,
}

/// A number that a scorer gave the answers to a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SideValue {
    /// The index of scorer and number.
    pub(crate) entry: u32,
    /// Over the answers that have one.
    pub(crate) sum: f64,
    pub(crate) count: u32,
    /// Whether each is 0 or 1.
    pub(crate) is_binary: bool,
}

/// Interned names shared by the samples of several runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct SideNames {
    pub(crate) scorers: NamePlaces,
    /// Dimensions with values.
    pub(crate) slices: NamePlaces,
    /// Scorers with the names of their numbers.
    pub(crate) entries: NamePlaces,
    /// The figures that are 0 for an answer.
    pub(crate) with_zero: BTreeSet<String>,
}

/// Interned pairs of names.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamePlaces {
    places: BTreeMap<String, BTreeMap<String, u32>>,
    names: Vec<[String; 2]>,
}

impl NamePlaces {
    fn place(&mut self, first: &str, second: &str) -> u32 {
        let known = self.places.get(first).and_then(|it| it.get(second));
        if let Some(place) = known {
            return *place;
        }
        let place = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let of_first = self.places.entry(first.to_owned()).or_default();
        of_first.insert(second.to_owned(), place);
        self.names.push([first.to_owned(), second.to_owned()]);
        place
    }

    /// The two parts of a name.
    pub(crate) fn name(&self, place: u32) -> [&str; 2] {
        let name = self.names.get(place as usize);
        name.map_or(["", ""], |name| [&*name[0], &*name[1]])
    }
}

/// Builds the figures and samples of a run from its records, in dataset order.
pub(crate) struct RunSideBuilder {
    summary: SummaryBuilder,
    scorer: String,
    sample: Option<SideSample>,
}

impl RunSideBuilder {
    /// Without records yet.
    pub(crate) fn new(eval: &str, scorer: Option<&str>, epochs: u32) -> Self {
        let summary = SummaryBuilder::new(eval).scorer(scorer).epochs(epochs);
        Self {
            summary: summary.without_slices_and_latencies(),
            scorer: scorer.unwrap_or("scorer").to_owned(),
            sample: None,
        }
    }

    /// Adds a record. Returns the previous sample when the next one starts.
    pub(crate) fn add(&mut self, record: &Record, names: &mut SideNames) -> Option<SideSample> {
        self.summary.add(record);
        let is_next = self
            .sample
            .as_ref()
            .is_none_or(|sample| sample.id != record.sample_id);
        let done = if is_next {
            self.sample.replace(SideSample::new(record, names))
        } else {
            None
        };
        if let Some(sample) = &mut self.sample {
            sample.add(record, &self.scorer, names);
        }
        done
    }

    /// Returns the last sample, and the summary without latencies.
    pub(crate) fn finish(self) -> (Option<SideSample>, Summary) {
        (self.sample, self.summary.finish())
    }
}

impl SideSample {
    fn new(record: &Record, names: &mut SideNames) -> Self {
        let marks = Marks::of(record);
        let marked = |hashes: &[String]| hashes.iter().map(|it| mark(it.as_str())).collect();
        let slices = slices_of(record);
        Self {
            id: record.sample_id.clone(),
            input: mark(record.input_hash.as_str()),
            target: mark(record.target_hash.as_str()),
            questions: marked(&marks.questions),
            targets: marked(&marks.targets),
            slices: slices
                .map(|(of, value)| names.slices.place(of, &value))
                .collect(),
            cluster: record.cluster.clone(),
            ..Self::default()
        }
    }

    fn add(&mut self, record: &Record, first: &str, names: &mut SideNames) {
        let outcome = &record.result;
        self.answers.push(match outcome.status {
            Status::Scored if outcome.is_correct() => SideAnswer::Right,
            Status::Scored => SideAnswer::Wrong,
            Status::Unscored => SideAnswer::Unscored,
            _ => SideAnswer::Errored,
        });
        for (name, value) in AnswerFigures::of(record, FigureRules::default()).numbers() {
            let scale = FigureScale::of(name);
            if let Some(scaled) = scale.scaled(value)
                && FIGURES.contains(&name)
            {
                self.add_value(AGENT, name, scaled, names);
                if scale != FigureScale::RatioFromZero {
                    continue;
                }
                match FigureScale::Ratio.scaled(value) {
                    Some(plain) if value > 0.0 => {
                        self.add_value(AGENT_PLAIN, name, plain, names);
                    }
                    _ => {
                        names.with_zero.insert(name.to_owned());
                    }
                }
            }
        }
        for (scorer, score) in &outcome.scores {
            let verdict = score.get("correct").and_then(Value::as_bool);
            let place = names.scorers.place(scorer, "");
            match self.scorers.iter_mut().find(|(known, _)| *known == place) {
                Some((_, answers)) => answers.push(verdict),
                None => self.scorers.push((place, vec![verdict])),
            }
            if verdict.is_some() {
                let value = score.get("value").and_then(Value::as_f64);
                let details = score.get("details").and_then(Value::as_object);
                self.add_values(scorer, value, details, names);
            }
        }
        if let (Status::Scored, true, Some(score)) =
            (outcome.status, outcome.scores.is_empty(), &outcome.score)
        {
            self.add_value(first, VALUE, score.value, names);
            for (name, entry) in score.details.iter() {
                self.add_detail(first, name, entry, names);
            }
        }
    }

    fn add_values(
        &mut self,
        scorer: &str,
        value: Option<f64>,
        details: Option<&Map<String, Value>>,
        names: &mut SideNames,
    ) {
        if let Some(value) = value {
            self.add_value(scorer, VALUE, value, names);
        }
        for (name, entry) in details.into_iter().flatten() {
            self.add_detail(scorer, name, entry, names);
        }
    }

    /// As in the summary: the score takes precedence over a detail called `value`.
    fn add_detail(&mut self, scorer: &str, name: &str, entry: &Value, names: &mut SideNames) {
        let number = match entry {
            Value::Bool(yes) => Some(f64::from(u8::from(*yes))),
            Value::Number(number) => number.as_f64(),
            _ => None,
        };
        if let Some(number) = number.filter(|_| name != VALUE) {
            self.add_value(scorer, name, number, names);
        }
    }

    fn add_value(&mut self, scorer: &str, name: &str, number: f64, names: &mut SideNames) {
        if !number.is_finite() {
            return;
        }
        let entry = names.entries.place(scorer, name);
        let is_zero_or_one = number.total_cmp(&0.0).is_eq() || number.total_cmp(&1.0).is_eq();
        // An error such as `abs_error` is no share, even if each is 0 or 1 by chance.
        let is_binary = is_zero_or_one && scorer != AGENT && !name.ends_with("_error");
        match self.values.iter_mut().find(|value| value.entry == entry) {
            Some(value) => {
                value.sum += number;
                value.count += 1;
                value.is_binary &= is_binary;
            }
            None => self.values.push(SideValue {
                entry,
                sum: number,
                count: 1,
                is_binary,
            }),
        }
    }

    /// The answers as those of a baseline, with `None` for missing verdicts.
    pub(super) fn before(&self) -> Vec<Option<bool>> {
        self.answers.iter().map(|answer| answer.verdict()).collect()
    }

    /// The answers as those of a run compared with it; empty if no verdict is expected.
    pub(super) fn now(&self) -> Vec<Option<bool>> {
        let answers = self.answers.iter();
        let answers = answers.filter(|answer| **answer != SideAnswer::Unscored);
        answers.map(|answer| answer.verdict()).collect()
    }

    /// Whether question, files and ground truth are the same as in `other`; `self` is the baseline.
    pub(super) fn has_same_question(&self, other: &Self) -> bool {
        let is_one = |old: u64, now: u64, others: &[u64]| old == now || others.contains(&old);
        // The last hash is that of the question alone; older runs have none.
        let question = self.questions.last().copied().unwrap_or(self.input);
        is_one(question, other.input, &other.questions)
            && is_one(self.target, other.target, &other.targets)
    }
}

impl SideAnswer {
    fn verdict(self) -> Option<bool> {
        match self {
            Self::Wrong => Some(false),
            Self::Right => Some(true),
            Self::Errored | Self::Unscored => None,
        }
    }
}
