//! Loads, filters and packs the samples of a dataset.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use super::hashes::hashes;
use super::item::{Hashes, Packed, Packer, Slices};
use super::plan_file::{PlanFile, SMALL, Sums};
use super::tier::PlanTier;
use super::{Plan, tier};
use crate::benchmark::NO_TRUTH;
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
    /// Notices on the ground truths of the samples.
    pub(super) notices: Vec<String>,
    /// What an earlier run found of all samples, if these are all.
    pub(super) known: Option<Sums>,
    /// The file for later runs, if it can be written.
    pub(super) unstored: Option<PlanFile>,
}

/// All samples of a dataset.
pub(super) struct AllItems {
    pub(super) items: Vec<Packed>,
    pub(super) slices: Slices,
    /// What an earlier run found of them, if they were not read.
    pub(super) known: Option<Sums>,
}

pub(super) fn items(eval: &Eval, scorers: &[Arc<dyn Scorer>]) -> Result<Loaded> {
    let asked = Asked::of(eval);
    let file = PlanFile::of(eval, scorers, asked == Asked::All);
    let mut hashing = Hashing::of(eval, scorers, asked, file.is_some());
    let AllItems {
        items,
        slices,
        known,
    } = match file.as_ref().and_then(|file| file.read(eval)) {
        Some(all) => all,
        None => hashing.read()?,
    };
    let (order, tier) = order(eval, &items)?;
    let (mut items, order, excluded) = chosen(items, order);
    let by_key = hashing.asked == Asked::PartOfLarge && known.is_none();
    let mut notices = Vec::new();
    if by_key {
        notices.extend(hashing.complete(&mut items)?);
    }
    let with_files = items.iter().filter(|item| !item.files.is_empty());
    let with_files: Vec<Sample> = with_files.map(Packed::with_files).collect::<Result<_>>()?;
    eval.benchmark
        .fetch(&with_files)
        .map_err(|error| error.at(format_args!("eval `{}`", eval.name)))?;
    drop(with_files);
    let known = known.filter(|_| hashing.asked == Asked::All);
    if let Some(known) = &known {
        notices.extend(known.notices.iter().cloned());
    } else {
        hashing.finish(&mut items, by_key)?;
        notices.extend(hashing.notices());
    }
    let is_new = known.is_none() && hashing.asked == Asked::All && hashing.may_store;
    let unstored = file.filter(|_| is_new);
    let unstored = unstored.map(|file| file.with_notices(&notices));
    Ok(Loaded {
        items,
        order,
        tier,
        slices,
        excluded,
        notices,
        known,
        unstored,
    })
}

/// The places of the samples that are asked, in asking order, and the tier that they form, if they are one.
fn order(eval: &Eval, items: &[Packed]) -> Result<(Vec<usize>, Option<PlanTier>)> {
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
        items,
        turns,
    )?;
    turns.truncate(of_command.unwrap_or(usize::MAX));
    if turns.is_empty() {
        return Err(
            Error::usage(format!("eval `{}`: the limit leaves no sample", eval.name))
                .hint("set `limits.limit` to at least 1"),
        );
    }
    Ok((turns, tier))
}

/// Whether all samples are asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// All: each is hashed while it is read, unless it has files that must be fetched.
    ///
    /// Also with `--shard` and `--filter`: the dataset hash of a part is that of the whole run. A hash of the file's
    /// lines would be faster, but would miss changed attachments and change with a blank line. And a broken row would be
    /// found only by its own shard, after others were paid for.
    All,
    /// Not all.
    Part,
    /// Not all of a large dataset: only ids and slices are read, until it is known which.
    PartOfLarge,
}

impl Asked {
    fn of(eval: &Eval) -> Self {
        if eval.limits.limit.is_none() && eval.requested_tier.is_none() {
            Self::All
        } else if eval.cluster.is_none() && is_large(eval) {
            Self::PartOfLarge
        } else {
            // Reading all of a small dataset tells its faults at once.
            Self::Part
        }
    }
}

/// Reads the samples of an eval and hashes them.
struct Hashing<'a> {
    eval: &'a Eval,
    scorers: &'a [Arc<dyn Scorer>],
    asked: Asked,
    /// How many samples each rule of the scorer `qa` judges, if it is used.
    rules: Option<QaRules>,
    /// Samples in scripts without spaces, if a scorer splits at white space.
    unspaced: Option<Unspaced>,
    /// Whether a [`PlanFile`] may have these samples.
    may_store: bool,
    /// Whether the error names its place.
    is_placed: bool,
}

impl<'a> Hashing<'a> {
    fn of(eval: &'a Eval, scorers: &'a [Arc<dyn Scorer>], asked: Asked, may_store: bool) -> Self {
        let by_words = scorers.iter().any(|scorer| Unspaced::concerns(scorer));
        Self {
            eval,
            scorers,
            asked,
            rules: judges_by_number(scorers).then(QaRules::default),
            unspaced: by_words.then(Unspaced::default),
            may_store,
            is_placed: false,
        }
    }

    /// Reads all samples.
    fn read(&mut self) -> Result<AllItems> {
        let eval = self.eval;
        let mut packer = Packer::default();
        let mut items = Vec::new();
        let mut cluster = ColumnCheck::default();
        let by_key = self.asked == Asked::PartOfLarge;
        let mut take = |sample: Sample, place| {
            cluster.see(eval, &sample);
            let hashes = if self.is_ready(!sample.files.is_empty()) {
                self.hashes(&sample)?
            } else {
                Hashes::default()
            };
            self.may_store = self.may_store && PlanFile::may_have(&sample, self.scorers);
            items.push(packer.pack(sample, place, hashes));
            Ok(())
        };
        let samples = if by_key {
            eval.benchmark.each_key(&mut take)
        } else {
            eval.benchmark.each_placed(&mut take)
        };
        samples.map_err(|error| self.of_eval(error))?;
        if items.is_empty() {
            return Err(Error::usage(format!("eval `{}` has no samples", eval.name))
                .hint("loosen `benchmark.levels`, `benchmark.ids` or `benchmark.split`"));
        }
        // The rows of one file have unique ids.
        if eval.benchmark.row_file().is_none() {
            check_ids(eval, &items)?;
        }
        check_samples(eval, self.scorers, &items)?;
        cluster.finish(eval)?;
        Ok(AllItems {
            items,
            // A limit must not make a gate on a slice look like a typing error.
            slices: packer.slices(),
            known: None,
        })
    }

    /// Reads and hashes the samples of which only id and slices were read. Returns a notice on their ground truths.
    fn complete(&mut self, items: &mut [Packed]) -> Result<Option<String>> {
        let mut packer = Packer::default();
        let mut hidden = 0;
        let all = items.len();
        for item in items {
            let place = item.place();
            let sample = match &place {
                Some(place) => place.sample(),
                // It was not read by its key.
                None => item.sample(),
            };
            let sample = sample.map_err(|error| self.of_eval(error))?;
            hidden += usize::from(sample.target.is_none());
            let hashes = if sample.files.is_empty() {
                let hashes = self.hashes(&sample);
                hashes.map_err(|error| self.of_eval(error))?
            } else {
                Hashes::default()
            };
            *item = packer.pack(sample, place, hashes);
        }
        let notices = self.eval.benchmark.notices();
        let is_noticed = hidden > 0
            && self.scorers.iter().any(Scorer::needs_target)
            && !notices.iter().any(|notice| notice.ends_with(NO_TRUTH));
        Ok(is_noticed.then(|| format!("{hidden} of the {all} samples that are asked {NO_TRUTH}")))
    }

    /// Whether a sample can be hashed when it is read.
    fn is_ready(&self, has_files: bool) -> bool {
        self.asked == Asked::All && !has_files
    }

    /// Hashes the samples that were not hashed when they were read, which is those with files if the others were
    /// `completed`.
    fn finish(&mut self, items: &mut [Packed], completed: bool) -> Result<()> {
        for item in items {
            let has_files = !item.files.is_empty();
            let is_hashed = self.is_ready(has_files) || completed && !has_files;
            if !is_hashed {
                let hashes = item.sample().and_then(|sample| self.hashes(&sample));
                item.hashes = hashes.map_err(|error| self.of_eval(error))?;
            }
        }
        Ok(())
    }

    fn hashes(&mut self, sample: &Sample) -> Result<Hashes> {
        if let (Some(rules), Some(target)) = (&mut self.rules, &sample.target) {
            rules.add(target);
        }
        if let Some(unspaced) = &mut self.unspaced {
            unspaced.add(sample);
        }
        check_conversation(self.eval, sample)?;
        hashes(self.eval, sample, self.scorers).map_err(|(error, place)| match place {
            Some(place) => {
                self.is_placed = true;
                error.at(place)
            }
            None => error,
        })
    }

    fn of_eval(&self, error: Error) -> Error {
        if self.is_placed {
            return error;
        }
        error.at(format_args!("eval `{}`", self.eval.name))
    }

    /// Notices on the ground truths.
    fn notices(&self) -> Vec<String> {
        let rules = self.rules.and_then(QaRules::notice);
        let unspaced = self.unspaced.as_ref().and_then(Unspaced::notice);
        rules.into_iter().chain(unspaced).collect()
    }
}

/// Whether the dataset is one file that takes a while to read.
fn is_large(eval: &Eval) -> bool {
    let file = eval.benchmark.row_file();
    let about = file.and_then(|file| file.metadata().ok());
    about.is_some_and(|file| file.len() >= SMALL)
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
        .hint("give every sample a unique id")),
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
            "eval `{}`: `benchmark.cluster` names `{}`, which no sample has",
            eval.name,
            column.escape_debug()
        );
        let known: Vec<String> = self.known.iter().map(|name| format!("`{name}`")).collect();
        Err(Error::usage(message).hint(
            match nearest(column, self.known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None if known.is_empty() => "samples have neither metadata nor slices".to_owned(),
                None => format!(
                    "write the name of metadata or of a slice: {}",
                    known.join(", ")
                ),
            },
        ))
    }
}
