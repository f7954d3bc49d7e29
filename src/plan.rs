//! `Plan`: an eval with its dataset loaded and everything checked that can be checked before an agent
//! starts.

pub(crate) mod place;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::agent::Output;
use crate::baseline::Baseline;
use crate::benchmark::Benchmark;
use crate::dataset::Filter;
use crate::error::{Error, Result};
use crate::eval::{Assert, Eval};
use crate::extract::Extraction;
use crate::hash::{self, Hasher};
use crate::redact::Redactor;
use crate::sample::Sample;
use crate::scorer::{Answer, Score, Scorer, per_sample};
use crate::{gate, rescore, snapshot};

/// An eval that is ready to run.
pub(crate) struct Plan {
    pub(crate) eval: Eval,
    /// In dataset order.
    pub(crate) items: Vec<Item>,
    /// Places in `items` in the order in which they are asked.
    pub(crate) order: Vec<usize>,
    pub(crate) extraction: Extraction,
    pub(crate) scorers: Vec<Arc<dyn Scorer>>,
    pub(crate) redactor: Redactor,
    pub(crate) baseline: Option<Baseline>,
    pub(crate) dataset_hash: String,
    pub(crate) request_hash: String,
    pub(crate) scorer_hash: String,
    pub(crate) scorers_hash: String,
    pub(crate) notices: Vec<String>,
    /// The dataset with its commit, if it is one of the Hub.
    pub(crate) dataset: Option<String>,
    /// What a sandboxed agent must not see.
    pub(crate) hidden: Arc<[PathBuf]>,
}

/// A sample with what is derived from it.
pub(crate) struct Item {
    pub(crate) sample: Arc<Sample>,
    pub(crate) input_hash: String,
    pub(crate) target_hash: String,
}

/// Whether the committed baseline is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BaselineUse {
    /// It is read and must fit.
    #[default]
    Compare,
    /// It is left alone.
    Ignore,
}

impl Plan {
    /// Loads the dataset and the baseline and checks that all fits together.
    pub(crate) fn load(eval: &Eval, baseline: BaselineUse) -> Result<Self> {
        check_name(&eval.name)?;
        check_epochs(eval.epochs).map_err(|error| error.at(format!("eval `{}`", eval.name)))?;
        eval.prompt.check(&*eval.benchmark)?;
        gate::check_unique(&eval.gates)?;
        let scorers = scorers(eval);
        let Loaded {
            items,
            order,
            slices,
            left_out,
        } = load_items(eval, &scorers)?;
        let extraction = eval.extraction();
        let names: Vec<_> = scorers.iter().map(Scorer::name).collect();
        check_scorer_names(&scorers)?;
        let of_scorers = scorers.iter().flat_map(Scorer::secrets);
        let others = eval.agent.secrets().into_iter().chain(of_scorers);
        let secrets: Vec<String> = eval.secrets.iter().cloned().chain(others).collect();
        let redactor = Redactor::new(&eval.redact, &secrets)?;
        check_gates(eval, slices, &names)?;
        let scorer_hash = rescore::scorer_hash(&extraction, &scorers);
        let scorers_hash = rescore::scorers_hash(&extraction, &scorers);
        let dataset_hash = items
            .iter()
            .fold(Hasher::default(), |hash, item| {
                hash.part(&item.sample.id)
                    .part(&item.input_hash)
                    .part(&item.target_hash)
            })
            .hex();
        let dataset = place::dataset(eval);
        let mut notices = eval.benchmark.notices();
        notices.extend(
            dataset
                .iter()
                .map(|dataset| format!("the dataset is `{dataset}`")),
        );
        notices.extend(missing_attachments(&items));
        notices.extend(unused_scorers(eval));
        notices.extend(repeated_answers(eval));
        let mut plan = Self {
            request_hash: request_hash(eval, &dataset_hash, &scorers_hash),
            notices,
            dataset,
            hidden: place::hidden(eval).into(),
            eval: eval.clone(),
            items,
            order,
            extraction,
            scorers,
            redactor,
            baseline: None,
            dataset_hash,
            scorer_hash,
            scorers_hash,
        };
        if baseline == BaselineUse::Compare {
            plan.baseline = snapshot::read_baseline(&plan.eval.snapshot.folder)?;
            plan.check_baseline()?;
            if let Some(baseline) = &mut plan.baseline {
                // Not asked is not gone.
                baseline.samples.retain(|id, _| !left_out.contains(id));
            }
        }
        Ok(plan)
    }

    /// The whole prompt of a sample. Made anew each time: instructions repeated ten thousand times are not
    /// worth keeping.
    pub(crate) fn prompt(&self, item: &Item) -> Arc<str> {
        self.eval
            .prompt
            .render(&*self.eval.benchmark, &item.sample)
            .into()
    }

    /// Refuses a baseline that nothing can be compared with.
    fn check_baseline(&self) -> Result<()> {
        let Some(baseline) = &self.baseline else {
            return Ok(());
        };
        let compares = matches!(self.eval.snapshot.assert, Assert::Baseline | Assert::Exact)
            || self
                .eval
                .gates
                .iter()
                .any(crate::gate::Gate::needs_baseline);
        if !compares {
            return Ok(());
        }
        let ids = self.items.iter().map(|item| item.sample.id.as_str());
        baseline
            .check_comparable(&self.scorer_hash, self.eval.epochs, ids)
            .map_err(|error| {
                let folder = self.eval.snapshot.folder.display();
                error.at(format!("eval `{}`, `{folder}`", self.eval.name))
            })
    }

    /// The test name of a sample: `gaia::level1::<id>`. Categories have names that need no word before them:
    /// `bfcl::simple_python::<id>`.
    pub(crate) fn trial_name(&self, item: &Item) -> String {
        let id = snapshot::readable(&item.sample.id);
        match item.sample.slices.first() {
            Some((dimension, value)) => {
                let dimension = match dimension.as_str() {
                    "category" => String::new(),
                    other => snapshot::readable(other),
                };
                format!(
                    "{}::{}{}::{id}",
                    self.eval.name,
                    dimension,
                    snapshot::readable(value)
                )
            }
            None => format!("{}::{id}", self.eval.name),
        }
    }

    /// The test names of the gates: `gaia::gate::accuracy[level=1]`.
    pub(crate) fn gate_names(&self) -> Vec<String> {
        let gates = self.eval.gates.iter();
        gates
            .map(|gate| format!("{}::gate::{}", self.eval.name, gate.name()))
            .collect()
    }

    /// Test names of all samples, unique.
    pub(crate) fn trial_names(&self) -> Vec<String> {
        // Gates are tests too.
        let mut seen: HashSet<String> = self.gate_names().into_iter().collect();
        let unique = |item: &Item| {
            let mut name = self.trial_name(item);
            if seen.contains(&name) {
                name.push('~');
                name.push_str(&Hasher::default().part(&item.sample.id).short());
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
    let legal = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(legal) {
        return Err(Error::usage(format!(
            "`{}` cannot be the name of an eval",
            name.escape_debug()
        ))
        .hint("use letters, digits, `-`, `_` and `.`, and begin with no `.`"));
    }
    Ok(())
}

/// A sample is asked at least once.
pub(crate) fn check_epochs(epochs: u32) -> Result<()> {
    if (1..=crate::epochs::MOST).contains(&epochs) {
        return Ok(());
    }
    let most = crate::epochs::MOST;
    Err(
        Error::usage(format!("epochs must be between 1 and {most}, not {epochs}"))
            .hint("`epochs: 3` asks every sample three times"),
    )
}

/// A dataset, filtered.
struct Loaded {
    items: Vec<Item>,
    order: Vec<usize>,
    slices: Slices,
    /// Samples that the limit left out.
    left_out: HashSet<String>,
}

fn load_items(eval: &Eval, scorers: &[Arc<dyn Scorer>]) -> Result<Loaded> {
    let samples = eval
        .benchmark
        .samples()
        .map_err(|error| error.at(format!("eval `{}`", eval.name)))?;
    if samples.is_empty() {
        return Err(Error::usage(format!("eval `{}` has no samples", eval.name))
            .hint("loosen `benchmark.levels`, `benchmark.ids` or `benchmark.split`"));
    }
    let mut ids = HashSet::with_capacity(samples.len());
    for sample in &samples {
        if !ids.insert(&sample.id) {
            return Err(Error::usage(format!(
                "eval `{}`: sample id `{}` occurs twice",
                eval.name, sample.id
            ))
            .hint("give every sample an id of its own"));
        }
    }
    let filter = Filter {
        ids: None,
        seed: eval.shuffle,
        limit: eval.limits.limit,
    };
    // A limit must not make a gate on a slice look like a typing error.
    let mut slices = Slices::new();
    for (dimension, value) in samples.iter().flat_map(|sample| &sample.slices) {
        slices
            .entry(dimension.clone())
            .or_default()
            .insert(value.clone());
    }
    let mut left_out: HashMap<String, usize> = samples
        .iter()
        .enumerate()
        .map(|(index, sample)| (sample.id.clone(), index))
        .collect();
    let samples = filter.apply(samples)?;
    if samples.is_empty() {
        return Err(
            Error::usage(format!("eval `{}`: the limit leaves no sample", eval.name))
                .hint("set `limits.limit` to at least 1"),
        );
    }
    eval.benchmark
        .fetch(&samples)
        .map_err(|error| error.at(format_args!("eval `{}`", eval.name)))?;
    // Asked in the order of the shuffle, recorded in that of the dataset.
    let mut indexed: Vec<_> = samples
        .into_iter()
        .enumerate()
        .map(|(turn, sample)| (left_out.remove(&sample.id).unwrap_or(turn), turn, sample))
        .collect();
    indexed.sort_by_key(|(index, ..)| *index);
    let mut order: Vec<usize> = (0..indexed.len()).collect();
    order.sort_by_key(|&place| indexed[place].1);
    Ok(Loaded {
        items: indexed
            .into_iter()
            .map(|(_, _, sample)| item(eval, sample, scorers))
            .collect::<Result<_>>()?,
        order,
        slices,
        left_out: left_out.into_keys().collect(),
    })
}

/// The values of each slice dimension.
type Slices = BTreeMap<String, BTreeSet<String>>;

/// A map without the room that growing left: the metadata of a whole dataset stay in memory.
fn tight(map: Map<String, Value>) -> Map<String, Value> {
    let entry = |(key, value)| match value {
        Value::Object(map) => (key, Value::Object(tight(map))),
        value => (key, value),
    };
    map.into_iter().map(entry).collect()
}

/// Says when samples name scorers of their own and the eval names one for all.
fn unused_scorers(eval: &Eval) -> Option<String> {
    let own = eval
        .benchmark
        .scorer()
        .filter(|own| own.name() == per_sample::NAME);
    let is_used = |scorer: &Arc<dyn Scorer>| scorer.name() == per_sample::NAME;
    let is_replaced = !eval.scorers.is_empty() && !eval.scorers.iter().any(is_used);
    own.filter(|_| is_replaced)
        .map(|_| "the eval names a scorer, so those that its samples name are not used".to_owned())
}

/// Says when asking again can tell nothing.
fn repeated_answers(eval: &Eval) -> Option<String> {
    (eval.epochs > 1 && !eval.agent.varies_by_epoch()).then(|| {
        format!(
            "the agent gives the same answer each time, so {} epochs say no more than one",
            eval.epochs
        )
    })
}

/// Says before anything is paid for which samples cannot be asked.
fn missing_attachments(items: &[Item]) -> Option<String> {
    let broken = |item: &&Item| item.sample.files.iter().any(|file| file.resolve().is_err());
    let mut broken = items.iter().filter(broken);
    let first = broken.next()?;
    let count = 1 + broken.count();
    Some(format!(
        "{count} of {} samples have an attachment that cannot be read and will fail, the first is `{}`",
        items.len(),
        first.sample.id
    ))
}

fn item(eval: &Eval, mut sample: Sample, scorers: &[Arc<dyn Scorer>]) -> Result<Item> {
    sample.metadata = tight(sample.metadata);
    let prompt = eval.prompt.render(&*eval.benchmark, &sample);
    let mut input = Hasher::default().part(&prompt);
    for file in &sample.files {
        // A file that cannot be read fails its sample when that is asked; here it is merely "none".
        let content = file.resolve().ok().and_then(|path| hash::file(&path).ok());
        input = input.part(&file.name).part(content.unwrap_or_default());
    }
    for tool in &sample.tools {
        input = input.part(tool.to_string());
    }
    let target = sample
        .target
        .as_ref()
        .map_or_else(|| "hidden".to_owned(), |target| target.0.to_string());
    // The id goes in, so that equal answers do not show as equal hashes.
    let mut truth = Hasher::default().part(&sample.id).part(target);
    for scorer in scorers {
        let criterion = (**scorer).criterion(&sample).map_err(|error| {
            error.at(format_args!("eval `{}`, sample `{}`", eval.name, sample.id))
        })?;
        if let Some(criterion) = criterion {
            truth = truth.part(criterion);
        }
    }
    Ok(Item {
        input_hash: input.short(),
        target_hash: truth.short(),
        sample: Arc::new(sample),
    })
}

/// Whether the eval's scorers judge an answer alone. A benchmark that is no scorer wants the whole sample.
pub(crate) fn judges_answers(eval: &Eval) -> bool {
    !eval.scorers.is_empty() || eval.benchmark.scorer().is_some()
}

/// The scorers of an eval: its own, else the benchmark's.
pub(crate) fn scorers(eval: &Eval) -> Vec<Arc<dyn Scorer>> {
    if !eval.scorers.is_empty() {
        return eval.scorers.clone();
    }
    match eval.benchmark.scorer() {
        Some(scorer) => vec![Arc::from(scorer)],
        None => vec![Arc::new(BenchmarkScorer(Arc::clone(&eval.benchmark)))],
    }
}

/// [`Benchmark::score`] as a scorer.
struct BenchmarkScorer(Arc<dyn Benchmark>);

impl Scorer for BenchmarkScorer {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let sample = answer.sample.ok_or_else(|| {
            Error::usage(format!(
                "benchmark `{}` judges whole samples only",
                self.0.name()
            ))
        })?;
        let text = answer.prediction.map(str::to_owned);
        self.0.score(
            sample,
            &Output {
                text,
                ..answer.output.clone()
            },
        )
    }

    fn needs_target(&self) -> bool {
        false
    }
}

/// Every scorer has a name of its own, under which its scores are recorded.
pub(crate) fn check_scorer_names(scorers: &[Arc<dyn Scorer>]) -> Result<()> {
    let mut seen = BTreeSet::new();
    let Some(twice) = scorers.iter().find(|scorer| !seen.insert(scorer.name())) else {
        return Ok(());
    };
    let name = twice.name();
    let hint = format!("give one another name: `{{ type: {name}, name: other }}`");
    Err(Error::usage(format!("two scorers are called `{name}`")).hint(hint))
}

fn check_gates(eval: &Eval, slices: Slices, scorers: &[&str]) -> Result<()> {
    let known = gate::Known {
        slices,
        scorers: scorers.iter().map(ToString::to_string).collect(),
        means: None,
        epochs: eval.epochs,
        metrics: eval.benchmark.metric_names(),
    };
    let lines = eval
        .gate_lines
        .iter()
        .copied()
        .chain(std::iter::repeat(None));
    eval.gates.iter().zip(lines).try_for_each(|(gate, line)| {
        gate.validate(&known)
            .map_err(|error| match (&eval.spec, line) {
                (Some(spec), Some(line)) => error.at(format!("{}:{line}", spec.display())),
                _ => error.at(format!("eval `{}`", eval.name)),
            })
    })
}

/// Everything that decides what is asked. Timeouts, concurrency and gates may change between the parts
/// of a run.
fn request_hash(eval: &Eval, dataset_hash: &str, scorers_hash: &str) -> String {
    let agent = eval.config.get("agent").cloned().unwrap_or(Value::Null);
    Hasher::default()
        .part(dataset_hash)
        .part(scorers_hash)
        .part(agent.to_string())
        .part(Value::Object((*eval.agent_options).clone()).to_string())
        .short()
}
