//! Loads, filters and packs the samples of a dataset.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use super::hashes::hashes;
use super::item::{Hashes, Packed, Packer, Slices};
use super::tier::PlanTier;
use super::{Plan, tier};
use crate::data::Sample;
use crate::data::conversation::Script;
use crate::data::dataset::{Field, Filter};
use crate::error::{Error, Result, nearest};
use crate::eval::Eval;
use crate::scorer::string::qa::QaRules;
use crate::scorer::string::unspaced::Unspaced;
use crate::scorer::{QaScorer, Scorer};

/// A dataset, filtered.
pub(super) struct Loaded {
    pub(super) items: Vec<Packed>,
    pub(super) order: Vec<usize>,
    /// The tier that they form, if they are one.
    pub(super) tier: Option<PlanTier>,
    pub(super) slices: Slices,
    /// Samples excluded by the limit.
    pub(super) excluded: HashSet<String>,
    /// How many samples each rule of the scorer `qa` judges, if it is used.
    pub(super) rules: Option<QaRules>,
    /// Samples in scripts without spaces, if a scorer splits at white space.
    pub(super) unspaced: Unspaced,
}

pub(super) fn items(eval: &Eval, scorers: &[Arc<dyn Scorer>]) -> Result<Loaded> {
    let mut packer = Packer::default();
    let mut items = Vec::new();
    let mut cluster = ColumnCheck::default();
    let is_all = eval.limits.limit.is_none() && eval.requested_tier.is_none();
    let hash_now = |files: bool| is_all && !files;
    let mut rules = judges_by_number(scorers).then(QaRules::default);
    let by_words = scorers.iter().any(|scorer| Unspaced::concerns(scorer));
    let mut unspaced = Unspaced::default();
    let is_placed = Cell::new(false);
    let of_eval = |error: Error| {
        if is_placed.get() {
            return error;
        }
        error.at(format_args!("eval `{}`", eval.name))
    };
    let mut hashes = |sample: &Sample| {
        if let (Some(rules), Some(target)) = (&mut rules, &sample.target) {
            rules.add(target);
        }
        if by_words {
            unspaced.add(sample);
        }
        check_conversation(eval, sample)?;
        hashes(eval, sample, scorers).map_err(|(error, place)| match place {
            Some(place) => {
                is_placed.set(true);
                error.at(place)
            }
            None => error,
        })
    };
    let samples = eval.benchmark.each_placed(&mut |sample, place| {
        cluster.see(eval, &sample);
        let hashes = if hash_now(!sample.files.is_empty()) {
            hashes(&sample)?
        } else {
            Hashes::default()
        };
        items.push(packer.pack(sample, place, hashes));
        Ok(())
    });
    samples.map_err(of_eval)?;
    if items.is_empty() {
        return Err(Error::usage(format!("eval `{}` has no samples", eval.name))
            .hint("loosen `benchmark.levels`, `benchmark.ids` or `benchmark.split`"));
    }
    check_ids(eval, &items)?;
    check_samples(eval, scorers, &items)?;
    cluster.finish(eval)?;
    // A limit must not make a gate on a slice look like a typing error.
    let slices = packer.slices();
    // A tier limited by the command line is less than that tier.
    let limit = eval.limits.limit;
    let (of_eval_itself, of_command) = match eval.requested_tier {
        Some(_) if eval.is_limited() => (None, limit),
        _ => (limit, None),
    };
    let filter = Filter {
        ids: None,
        seed: eval.shuffle,
        limit: of_eval_itself,
    };
    // Asked in shuffled order, recorded in dataset order.
    let turns = filter.order(items.len());
    let (tier, mut turns) = tier::limited(
        (&eval.tiers, eval.requested_tier.as_deref()),
        eval.progressive.is_some(),
        &eval.name,
        &items,
        turns,
    )?;
    turns.truncate(of_command.unwrap_or(usize::MAX));
    if turns.is_empty() {
        return Err(
            Error::usage(format!("eval `{}`: the limit leaves no sample", eval.name))
                .hint("set `limits.limit` to at least 1"),
        );
    }
    let (mut items, order, excluded) = chosen(items, turns);
    let with_files = items.iter().filter(|item| !item.files.is_empty());
    let with_files: Vec<Sample> = with_files.map(Packed::with_files).collect::<Result<_>>()?;
    eval.benchmark
        .fetch(&with_files)
        .map_err(|error| error.at(format_args!("eval `{}`", eval.name)))?;
    drop(with_files);
    for item in &mut items {
        if !hash_now(!item.files.is_empty()) {
            let hashes = item.sample().and_then(|sample| hashes(&sample));
            item.hashes = hashes.map_err(of_eval)?;
        }
    }
    Ok(Loaded {
        items,
        order,
        tier,
        slices,
        excluded,
        rules,
        unspaced,
    })
}

/// Whether the conversation of a sample can be held.
fn check_conversation(eval: &Eval, sample: &Sample) -> Result<()> {
    let Some((driver, script)) = eval.agent.conversation().zip(Script::of(sample)) else {
        return Ok(());
    };
    let checked = driver.check_script(&script, &sample.tools);
    checked.map_err(|error| error.at(format_args!("sample `{}`", sample.id.escape_debug())))
}

/// Whether the scorer `qa` is used, and is not a user's own of that name.
fn judges_by_number(scorers: &[Arc<dyn Scorer>]) -> bool {
    let qa = QaScorer.fingerprint();
    scorers.iter().any(|scorer| scorer.fingerprint() == qa)
}

fn check_ids(eval: &Eval, items: &[Packed]) -> Result<()> {
    let mut ids = HashSet::with_capacity(items.len());
    match items.iter().find(|item| !ids.insert(&*item.id)) {
        None => Ok(()),
        Some(twice) => Err(Error::usage(format!(
            "eval `{}`: sample id `{}` occurs twice",
            eval.name, twice.id
        ))
        .hint("give every sample an id of its own")),
    }
}

/// Refuses scorers with options for unknown samples.
fn check_samples(eval: &Eval, scorers: &[Arc<dyn Scorer>], items: &[Packed]) -> Result<()> {
    let ids = std::cell::OnceCell::new();
    let is_there = |id: &str| {
        let all = || items.iter().map(|item| &*item.id).collect::<HashSet<_>>();
        ids.get_or_init(all).contains(id)
    };
    for (item, scorer) in scorers.iter().enumerate() {
        let checked = (**scorer).check_samples(&is_there);
        checked.map_err(|error| {
            let error = error.at(format_args!("scorer `{}`", scorer.name()));
            match eval.scorer_places.get(item).and_then(Option::as_deref) {
                Some(place) => error.at(place),
                None => error.at(format_args!("eval `{}`", eval.name)),
            }
        })?;
    }
    Ok(())
}

/// The items that have a turn, in dataset order; their places in asking order; and the ids of the others.
fn chosen(items: Vec<Packed>, turns: Vec<usize>) -> (Vec<Packed>, Vec<usize>, HashSet<String>) {
    if turns.len() == items.len() {
        return (items, turns, HashSet::new());
    }
    let mut places: Vec<Option<usize>> = vec![None; items.len()];
    for &turn in &turns {
        places[turn] = Some(turn);
    }
    let mut excluded = HashSet::new();
    let mut selected = Vec::with_capacity(turns.len());
    for (place, item) in places.iter_mut().zip(items) {
        if place.is_some() {
            *place = Some(selected.len());
            selected.push(item);
        } else {
            excluded.insert(item.id.into_string());
        }
    }
    let order = turns.iter().filter_map(|&turn| places[turn]).collect();
    (selected, order, excluded)
}

impl Plan {
    /// The group of a sample; `None` if its column is empty: then it is its own group.
    pub(crate) fn cluster(&self, sample: &Sample) -> Option<String> {
        let column = self.eval.cluster.as_deref()?;
        let alone = || format!("sample {}", sample.id);
        Some(value(column, sample).unwrap_or_else(alone))
    }
}

/// The value of a column: in the sample's metadata, or a slice.
fn value(column: &str, sample: &Sample) -> Option<String> {
    let fields = Field::named(column);
    let found = fields.iter().find_map(|field| field.get(&sample.metadata));
    let text = match found.as_deref() {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => Some(other.to_string()),
    };
    let mut slices = sample.slices.iter();
    text.or_else(|| {
        let (_, value) = slices.find(|(dimension, _)| dimension == column)?;
        Some(value.clone())
    })
}

/// Checks that the column an eval names exists.
#[derive(Default)]
pub(super) struct ColumnCheck {
    is_there: bool,
    /// The names of the first sample's columns.
    known: Vec<String>,
}

impl ColumnCheck {
    pub(super) fn see(&mut self, eval: &Eval, sample: &Sample) {
        let Some(column) = eval.cluster.as_deref().filter(|_| !self.is_there) else {
            return;
        };
        if self.known.is_empty() {
            let slices = sample.slices.iter().map(|(dimension, _)| dimension);
            self.known = sample.metadata.keys().chain(slices).cloned().collect();
        }
        self.is_there = value(column, sample).is_some();
    }

    pub(super) fn finish(self, eval: &Eval) -> Result<()> {
        let Some(column) = eval.cluster.as_deref().filter(|_| !self.is_there) else {
            return Ok(());
        };
        let message = format!(
            "eval `{}`: no sample has a `{}`, which `benchmark.cluster` names",
            eval.name,
            column.escape_debug()
        );
        let known: Vec<String> = self.known.iter().map(|name| format!("`{name}`")).collect();
        Err(Error::usage(message).hint(
            match nearest(column, self.known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None if known.is_empty() => "samples have neither metadata nor slices".to_owned(),
                None => format!("name metadata or a slice: {}", known.join(", ")),
            },
        ))
    }
}
