//! `Plan`: an eval with its dataset loaded and everything checked that can be before an agent starts.

mod compared;
mod hashes;
mod item;
mod load;
mod notices;
#[cfg(test)]
mod placed_tests;
mod plan_file;
mod rejudged;
mod rust;
mod scorers;
pub(crate) mod secret;
mod tier;
mod truths;
pub(crate) mod unset;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::agent::Conversation;
use crate::benchmark::NO_TRUTH;
use crate::data::hub::Snapshot;
use crate::data::record::perturb::trials;
use crate::data::{DetailBounds, shard_hash};
use crate::error::{Error, Result};
use crate::eval::Eval;
use crate::scorer::extract::Extraction;
use crate::scorer::{Scorer, detail_bounds, hash};
use crate::snapshot::StoredParts;
use crate::system::spawn_scoped;
use crate::text::hash::{Hasher, MaskKey};
use crate::text::redact::Redactor;
use crate::verdict::baseline::Baseline;
use crate::verdict::gate::Gate;
use crate::verdict::summary::PERTURB;
use crate::verdict::{check, gate};
use crate::{scorer, text};
use compared::{PlanBaseline, UnreadBaseline};
use hashes::keys;
use item::Slices;
use load::Loaded;
use notices::{drawn_seed, missing_attachments, repeated_answers, unused_scorers};
use plan_file::{PlanFile, Sums};
use tier::RunSize;
use truths::Truths;

pub(crate) use compared::BaselineUse;
pub(crate) use item::{Item, Packed};
pub(crate) use scorers::{check_scorer_names, judges_answers, scorers};
pub(crate) use tier::PlanTier;

/// An eval that is ready to run.
pub(crate) struct Plan {
    pub(crate) eval: Eval,
    /// In dataset order.
    pub(crate) items: Vec<Packed>,
    /// Places in `items` in asking order.
    pub(crate) order: Vec<usize>,
    /// The tier that its samples form, if they are one.
    pub(crate) tier: Option<PlanTier>,
    pub(crate) extraction: Extraction,
    pub(crate) scorers: Vec<Arc<dyn Scorer>>,
    /// The gates of the eval, and the one that every eval has.
    pub(crate) gates: Vec<Gate>,
    pub(crate) redactor: Redactor,
    pub(crate) baseline: Option<Baseline>,
    /// The same until [`Plan::read_baseline`].
    unread: Option<UnreadBaseline>,
    pub(crate) dataset_hash: String,
    /// What an earlier run found of all samples, if these are all.
    known: Option<Sums>,
    pub(crate) request_hash: String,
    pub(crate) scorer_hash: String,
    pub(crate) scorers_hash: String,
    /// The declared bounds of their details.
    pub(crate) detail_bounds: DetailBounds,
    /// The name of the prompt around the questions.
    pub(crate) prompt_name: String,
    /// The key of masked snapshots, if this eval or its baseline has such.
    pub(crate) mask: Option<MaskKey>,
    /// The same as versions had it that rounded numbers, if it differs.
    pub(crate) older_mask: Option<MaskKey>,
    /// Samples that a limit or a tier left out, without those of the baseline that are missing.
    pub(crate) left_out: u64,
    /// Whether an existing baseline is ignored.
    pub(crate) ignores_baseline: bool,
    pub(crate) notices: Vec<String>,
    /// The dataset with its commit, if it is from the Hub.
    pub(crate) dataset: Option<String>,
    /// Paths that a sandboxed agent must not see.
    pub(crate) hidden: Arc<[PathBuf]>,
    /// Files with the answers, which no attachment may be.
    pub(crate) truths: Truths,
    /// What [`Plan::store`] writes.
    unstored: Option<PlanFile>,
}

impl Plan {
    /// Loads the dataset and the baseline and checks that everything fits together.
    pub(crate) fn load(eval: &Eval, baseline: BaselineUse) -> Result<Self> {
        let plan = Self::load_any(eval, baseline);
        plan.map_err(|error| {
            let error = secret::clean(eval, error);
            match eval.spec {
                Some(_) => error,
                None => rust::rephrase(error),
            }
        })
    }

    /// The same; hints refer to specs.
    fn load_any(eval: &Eval, baseline: BaselineUse) -> Result<Self> {
        check_name(eval.family())?;
        let checked = check_asked(eval).and_then(|()| eval.check_record());
        checked.map_err(|error| error.at(format!("eval `{}`", eval.name)))?;
        eval.prompt.check(&*eval.benchmark)?;
        gate::check_unique(&eval.gates)?;
        let scorers = scorers(eval);
        // Thousands of snapshots take as long as the dataset.
        let read = || PlanBaseline::open(eval, baseline);
        let (loaded, committed) = std::thread::scope(|scope| {
            let committed = spawn_scoped(scope, &read);
            (load::items(eval, &scorers), committed())
        });
        let Loaded {
            items,
            order,
            tier,
            slices,
            excluded,
            notices: of_samples,
            known,
            unstored,
        } = loaded?;
        let extraction = eval.extraction();
        check_scorer_names(&scorers)?;
        begin(eval, &scorers, &extraction, &items)?;
        let redactor = secret::redactor(eval, &scorers)?;
        secret::check_names(&redactor, &items)?;
        let size = RunSize {
            items: &items,
            excluded: &excluded,
            is_limited: eval.is_limited(),
            tiers: &eval.tiers,
            tier: eval.requested_tier.as_deref(),
        };
        check_gates(eval, slices, &scorers, &|gate, slice| size.of(gate, slice))?;
        let scorer_hash = eval.errors.mark(hash::scorer_hash(&extraction, &scorers));
        let scorer_hash = with_user(scorer_hash, &eval.config);
        let scorers_hash = hash::scorers_hash(&extraction, &scorers);
        let committed = committed?;
        let (mask, older_mask) = masks(eval, committed.mask_id().is_some())?;
        let dataset_hash = match &known {
            Some(known) => known.dataset_hash.clone(),
            None => dataset_hash(items.iter(), eval, mask.as_ref()),
        };
        let dataset = dataset(eval);
        let truths = Truths::of(eval);
        let mut notices = eval.benchmark.notices();
        notices.extend(tier.as_ref().and_then(PlanTier::notice));
        notices.extend(eval.notices.iter().cloned());
        if !scorers.iter().any(Scorer::needs_target) {
            // No scorer needs a ground truth.
            notices.retain(|notice| !notice.ends_with(NO_TRUTH));
        }
        notices.extend(
            dataset
                .iter()
                .map(|dataset| format!("the dataset is `{dataset}`")),
        );
        notices.extend(missing_attachments(&items, &truths));
        let reads = eval.agent.sandbox_reads();
        notices.extend(reads.iter().filter_map(|read| truths.notice(read)));
        notices.extend(of_samples);
        notices.extend(unused_scorers(eval, &items));
        notices.extend(drawn_seed(eval));
        notices.extend(repeated_answers(eval));
        notices.extend(eval.gates.iter().filter_map(Gate::doubt));
        let mut plan = Self {
            request_hash: request_hash(eval, &dataset_hash, &scorers_hash),
            prompt_name: prompt_name(eval),
            mask,
            older_mask,
            notices,
            dataset,
            hidden: hidden(eval).into(),
            truths,
            eval: eval.clone(),
            items,
            order,
            extraction,
            detail_bounds: detail_bounds(&scorers),
            scorers,
            gates: gate::with_default(
                eval.given_gates(),
                eval.requested_tier.as_deref(),
                committed.is_there(),
            ),
            tier,
            redactor,
            baseline: None,
            unread: None,
            ignores_baseline: baseline == BaselineUse::Ignore,
            left_out: excluded.len() as u64,
            unstored,
            dataset_hash,
            known,
            scorer_hash,
            scorers_hash,
        };
        plan.take_baseline(committed, excluded, baseline)?;
        Ok(plan)
    }

    /// The whole prompt of a sample. Made on each call: instructions repeated ten thousand times are not worth storing.
    pub(crate) fn prompt(&self, item: &Item) -> Arc<str> {
        self.eval
            .prompt
            .render(&*self.eval.benchmark, &item.sample)
            .into()
    }

    /// The tiers of its eval, the smallest first, with their numbers of samples.
    pub(crate) fn tiers(&self) -> Vec<(String, usize)> {
        let of_tier = self.tier.as_ref().map(|tier| tier.samples);
        let samples = of_tier.unwrap_or(self.items.len());
        let tiers = self.eval.tiers.iter();
        tiers
            .map(|tier| (tier.name.clone(), tier.of(samples)))
            .collect()
    }

    /// How often each sample is asked: in its epochs, and perturbed.
    pub(crate) fn trials(&self) -> usize {
        trials(self.eval.epochs, self.eval.perturb.as_ref()) as usize
    }

    /// Whether the command line asks for fewer samples than the eval has.
    pub(crate) fn is_limited(&self) -> bool {
        self.eval.is_limited()
    }

    /// The [`Plan::dataset_hash`] of these samples alone.
    pub(crate) fn dataset_hash_of(&self, ids: &HashSet<String>) -> String {
        let items = self.items.iter().filter(|item| ids.contains(&*item.id));
        dataset_hash(items, &self.eval, self.mask.as_ref())
    }

    /// A hash of the slices of all samples: gates use them, and the hash of the dataset covers only questions and truths.
    pub(crate) fn slices_hash(&self) -> Cow<'_, str> {
        if let Some(known) = &self.known {
            return Cow::Borrowed(&known.slices_hash);
        }
        let all = self.items.iter().fold(Hasher::default(), |hash, item| {
            let slices = item.slices.iter();
            slices.fold(hash.part(&*item.id), |hash, (dimension, value)| {
                hash.part(dimension).part("=").part(value)
            })
        });
        Cow::Owned(all.hex())
    }

    /// The hash that decides in which shard the sample at this place is.
    pub(crate) fn shard_hash(&self, place: usize) -> u64 {
        match &self.known {
            Some(known) => known.shard_hashes[place],
            None => shard_hash(&self.items[place].id),
        }
    }

    /// An id of the dataset, by which masked snapshots are keyed.
    pub(crate) fn mask_id(&self) -> Option<String> {
        self.mask.as_ref().map(|key| key.short(["dataset"]))
    }

    /// The same as older versions had it, if it differs.
    pub(crate) fn older_mask_id(&self) -> Option<String> {
        let key = self.older_mask.as_ref();
        key.map(|key| key.short(["dataset"]))
    }

    /// Without the default comparison with the baseline, as under `cargo test`, where each test asserts its sample.
    pub(crate) fn without_default_comparison(mut self) -> Self {
        self.gates
            .retain(|gate| !(gate.is_default() && gate.needs_baseline()));
        self
    }

    /// What snapshots of its answers keep.
    pub(crate) fn stored_parts(&self) -> StoredParts<'_> {
        StoredParts {
            masked: self.eval.masks_answers(),
            scorer: self.scorers.first().map(|first| (**first).name()),
            latency: false,
            details: Some(&self.detail_bounds),
        }
    }

    /// The test name of a sample: `gaia::level1::<id>`, `bfcl::simple_python::<id>`.
    pub(crate) fn trial_name(&self, item: &Packed) -> String {
        let slice = item.slices.first();
        let slice = slice.map(|(dimension, value)| (&**dimension, &**value));
        let group = text::trial_group(&self.eval.name, slice);
        format!("{group}::{}", text::readable(&item.id))
    }

    /// The test names of the gates: `gaia::gate::accuracy[level=1]`.
    pub(crate) fn gate_names(&self) -> Vec<String> {
        let gates = self.gates.iter();
        gates
            .map(|gate| format!("{}::gate::{}", self.eval.name, gate.name()))
            .collect()
    }

    /// Test names of all samples, unique.
    pub(crate) fn trial_names(&self) -> Vec<String> {
        // Gates are tests too.
        let mut seen: HashSet<String> = self.gate_names().into_iter().collect();
        let unique = |item: &Packed| {
            let mut name = self.trial_name(item);
            if seen.contains(&name) {
                name.push('~');
                name.push_str(&Hasher::default().part(&*item.id).short());
            }
            while !seen.insert(name.clone()) {
                name.push('~');
            }
            name
        };
        self.items.iter().map(unique).collect()
    }
}

/// Names of evals are parts of test names, folder names and run ids.
pub(crate) fn check_name(name: &str) -> Result<()> {
    if name.is_empty() || name.starts_with('.') || !name.chars().all(is_name_part) {
        return Err(Error::usage(format!(
            "`{}` cannot be the name of an eval",
            name.escape_debug()
        ))
        .hint("use letters, digits, `-`, `_` and `.`, and begin with no `.`"));
    }
    Ok(())
}

/// Whether a character is allowed in the name of an eval.
pub(crate) fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// A sample is asked at least once.
pub(crate) fn check_epochs(epochs: u32) -> Result<()> {
    if (1..=crate::verdict::poll::MOST).contains(&epochs) {
        return Ok(());
    }
    let most = crate::verdict::poll::MOST;
    Err(
        Error::usage(format!("epochs must be between 1 and {most}, not {epochs}"))
            .hint("`epochs: 3` asks every sample three times"),
    )
}

/// Refuses tiers and perturbed questions that cannot be asked.
fn check_asked(eval: &Eval) -> Result<()> {
    check_epochs(eval.epochs)?;
    eval.tiers.check()?;
    let Some(perturb) = &eval.perturb else {
        return Ok(());
    };
    perturb.check().map_err(|error| error.under("perturb"))?;
    if eval.agent.item_parts().is_some() {
        let error = Error::usage("`perturb` needs an agent: `none` answers no questions");
        return Err(error.hint("remove `perturb`, or name an agent"));
    }
    if !eval.agent.recordings().is_empty() {
        let error = Error::usage("a recording has no answers to perturbed questions");
        return Err(error.hint(
            "remove `perturb`, or judge the answers of a run again: `cargo evaltest rescore RUN_DIR`",
        ));
    }
    let of_tools = perturb.kinds.iter().find(|kind| kind.is_of_tools());
    let driver = eval.agent.conversation();
    if let Some(kind) = of_tools
        && !driver.is_some_and(Conversation::may_fail_calls)
    {
        let error = Error::usage(format!(
            "`{kind}` of `perturb` is for conversations whose tools the eval executes"
        ));
        return Err(error.hint(format!(
            "remove `{kind}`, or write `tools: {{ environment: {{ type: worker, … }} }}` or `tools: {{ mock: tools.yaml }}`"
        )));
    }
    Ok(())
}

/// The slices with those of perturbed answers.
fn with_perturbed(mut slices: Slices, eval: &Eval) -> Result<Slices> {
    let Some(perturb) = &eval.perturb else {
        return Ok(slices);
    };
    if slices.contains_key(PERTURB) {
        let message = format!(
            "eval `{}`: the dataset already has slices `{PERTURB}`",
            eval.name
        );
        return Err(Error::usage(message).hint("rename the column, or remove `perturb`"));
    }
    let kinds = perturb.kinds.iter().map(|kind| kind.as_str().to_owned());
    slices.insert(PERTURB.to_owned(), kinds.collect());
    Ok(slices)
}

fn dataset_hash<'a>(
    items: impl Iterator<Item = &'a Packed>,
    eval: &Eval,
    mask: Option<&MaskKey>,
) -> String {
    let parts = items.fold(Hasher::default(), |hash, item| {
        let [input, target] = item.hashes();
        hash.part(&*item.id).part(input).part(target)
    });
    match mask {
        // A run of one sample must not reveal whether a guess at its answer is right.
        Some(key) if eval.masks_answers() => key.hex(["dataset", &parts.hex()]),
        _ => parts.hex(),
    }
}

/// Announces all samples to the scorers, before anything is asked.
fn begin(
    eval: &Eval,
    scorers: &[Arc<dyn Scorer>],
    extraction: &Extraction,
    items: &[Packed],
) -> Result<()> {
    let ids: Vec<&str> = items.iter().map(|item| &*item.id).collect();
    let prepared = scorer::begin(scorers, extraction, &ids, &BTreeSet::new());
    prepared.map_err(|(number, error)| match eval.scorer_places.get(number) {
        Some(Some(place)) => error.at(place),
        _ => error.at(format_args!("eval `{}`", eval.name)),
    })
}

fn check_gates(
    eval: &Eval,
    slices: Slices,
    scorers: &[Arc<dyn Scorer>],
    size: &dyn Fn(&Gate, Option<&gate::Slice>) -> Option<u64>,
) -> Result<()> {
    let details: Vec<_> = scorers
        .iter()
        .map(|scorer| (scorer.name().to_owned(), scorer.details()))
        .collect();
    let known = check::Known {
        slices: with_perturbed(slices, eval)?,
        tiers: eval.tiers.names(),
        scorers: details.iter().map(|(name, _)| name.clone()).collect(),
        means: check::KnownMeans::of_details(&details),
        details: details.into_iter().collect(),
        bounds: detail_bounds(scorers),
        calibrated: Some(
            scorers
                .iter()
                .filter(|scorer| !scorer.agents().is_empty())
                .map(|scorer| (scorer.name().to_owned(), scorer.calibration().is_some()))
                .collect(),
        ),
        perturb: eval
            .perturb
            .iter()
            .flat_map(|it| it.kinds.clone())
            .collect(),
        epochs: eval.epochs,
        metrics: eval.benchmark.metric_names(),
    };
    let places = eval.gate_places.iter().map(Option::as_ref);
    let places = places.chain(std::iter::repeat(None));
    let promote = eval.progressive.iter().flat_map(|it| &it.gate);
    let gates = eval.gates.iter().chain(promote);
    gates.zip(places).try_for_each(|(gate, place)| {
        let checked = gate
            .validate(&known)
            .and_then(|()| gate.validate_size(&|slice| size(gate, slice)));
        checked.map_err(|error| match place {
            Some(place) => error.at(place),
            None => error.at(format!("eval `{}`", eval.name)),
        })
    })
}

/// Adds the simulated user to a hash: with another user, other things are asked.
pub(crate) fn with_user(hash: String, config: &Value) -> String {
    match config.get("user") {
        None | Some(Value::Null) => hash,
        Some(user) => {
            let user = crate::store::cache::agent_hash("user", user, &Map::new());
            Hasher::default().part(hash).part("user").part(user).short()
        }
    }
}

/// A hash of everything that decides what is asked. Timeouts, concurrency and gates may change when a run is resumed.
fn request_hash(eval: &Eval, dataset_hash: &str, scorers_hash: &str) -> String {
    let agent = eval.config.get("agent").cloned().unwrap_or(Value::Null);
    let hash = Hasher::default()
        .part(dataset_hash)
        .part(scorers_hash)
        .part(agent.to_string())
        .part(Value::Object((*eval.agent_options).clone()).to_string())
        .short();
    with_user(eval.errors.mark(hash), &eval.config)
}

/// The keys of masked snapshots of this version and of older ones, if this eval or its baseline has such.
fn masks(eval: &Eval, is_baseline_masked: bool) -> Result<(Option<MaskKey>, Option<MaskKey>)> {
    if !is_baseline_masked && !eval.masks_answers() {
        return Ok((None, None));
    }
    let (key, older) = keys(eval)?;
    Ok((Some(key), older))
}

/// Names what surrounds the questions: the instructions, and the system text of an endpoint's agent.
fn prompt_name(eval: &Eval) -> String {
    let name = eval.prompt.name(&*eval.benchmark);
    let system = eval
        .config
        .get("agent")
        .and_then(|agent| agent.get("system"));
    match system.and_then(Value::as_str) {
        Some(system) if !system.is_empty() => {
            let hash = Hasher::default().part(system).short();
            format!("{name}, system {}", &hash[..8])
        }
        _ => name,
    }
}

/// The dataset with its commit, if it is from the Hub.
pub(crate) fn dataset(eval: &Eval) -> Option<String> {
    let paths = eval.benchmark.paths();
    let snapshot = paths.iter().find_map(|path| Snapshot::at(path));
    snapshot.map(|snapshot| snapshot.to_string())
}

/// Paths that contain answers (the dataset, the spec, snapshots, runs, anything ever committed) or secrets.
pub(crate) fn hidden(eval: &Eval) -> Vec<PathBuf> {
    let mut paths = eval.benchmark.paths();
    // The content of a link is next to the Hub snapshot.
    let blobs: Vec<_> = paths.iter().filter_map(|path| Snapshot::at(path)).collect();
    paths.extend(blobs.into_iter().map(|snapshot| snapshot.folder));
    paths.extend(answers(eval).into_iter().map(|(path, _)| path));
    paths
}

/// The same without the dataset, each with a description.
fn answers(eval: &Eval) -> Vec<(PathBuf, &'static str)> {
    let root = crate::system::project::root();
    let spec = eval.spec.clone().map(|spec| (spec, "the spec"));
    let mut paths: Vec<_> = spec.into_iter().collect();
    paths.extend([
        (eval.snapshot.folder.clone(), "of the snapshots"),
        (eval.output_folder(), "of a run directory"),
        (eval.cache_folder(), "of the cache of answers"),
        (
            root.join(crate::store::DEFAULT_OUTPUT_ROOT),
            "of a run directory",
        ),
        (root.join(".git"), "of the repository"),
        (root.join(".env"), "the file of secrets"),
    ]);
    paths
}
