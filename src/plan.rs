//! `Plan`: an eval with its dataset loaded and everything checked that can be checked before an agent
//! starts.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use serde_json::Value;

use crate::agent::Output;
use crate::baseline::Baseline;
use crate::benchmark::Benchmark;
use crate::dataset::Filter;
use crate::error::{Error, Result};
use crate::eval::{Assert, Eval};
use crate::extract::Extract;
use crate::hash::{self, Hasher};
use crate::redact::Redactor;
use crate::sample::Sample;
use crate::scorer::{Answer, Score, Scorer};
use crate::{gate, snapshot};

/// An eval that is ready to run.
pub(crate) struct Plan {
    pub(crate) eval: Eval,
    pub(crate) items: Vec<Item>,
    pub(crate) extract: Extract,
    pub(crate) scorers: Vec<Arc<dyn Scorer>>,
    pub(crate) redactor: Redactor,
    pub(crate) baseline: Option<Baseline>,
    pub(crate) dataset_hash: String,
    pub(crate) request_hash: String,
    pub(crate) scorer_hash: String,
    pub(crate) notices: Vec<String>,
}

/// A sample with what is derived from it.
pub(crate) struct Item {
    pub(crate) sample: Arc<Sample>,
    pub(crate) prompt: Arc<str>,
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
        eval.prompt.check(&*eval.benchmark)?;
        gate::check_unique(&eval.gates)?;
        let redactor = Redactor::new(&eval.redact, &eval.secrets)?;
        let items = load_items(eval)?;
        let extract = eval.effective_extract();
        let scorers = scorers(eval);
        let names: Vec<_> = scorers.iter().map(|scorer| scorer.name()).collect();
        check_scorer_names(&names)?;
        check_gates(eval, &items, &names)?;
        let scorer_hash = crate::rescore::scorer_hash(&extract, &scorers);
        let dataset_hash = items
            .iter()
            .fold(Hasher::default(), |hash, item| {
                hash.part(&item.sample.id)
                    .part(&item.input_hash)
                    .part(&item.target_hash)
            })
            .hex();
        let mut plan = Self {
            request_hash: request_hash(eval, &dataset_hash, &scorer_hash),
            notices: eval.benchmark.notices(),
            eval: eval.clone(),
            items,
            extract,
            scorers,
            redactor,
            baseline: None,
            dataset_hash,
            scorer_hash,
        };
        if baseline == BaselineUse::Compare {
            plan.baseline = snapshot::read_baseline(&plan.eval.snapshot.folder)?;
            plan.check_baseline()?;
        }
        Ok(plan)
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
            .check_comparable(&self.scorer_hash, ids)
            .map_err(|error| {
                let folder = self.eval.snapshot.folder.display();
                error.at(format!("eval `{}`, `{folder}`", self.eval.name))
            })
    }

    /// The test name of a sample: `gaia::level1::<id>`.
    pub(crate) fn trial_name(&self, item: &Item) -> String {
        let id = snapshot::readable(&item.sample.id);
        match item.sample.slices.first() {
            Some((dimension, value)) => {
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

    /// Test names of all samples, unique.
    pub(crate) fn trial_names(&self) -> Vec<String> {
        let mut seen = HashSet::with_capacity(self.items.len());
        let unique = |item: &Item| {
            let name = self.trial_name(item);
            if seen.insert(name.clone()) {
                return name;
            }
            let name = format!("{name}~{}", Hasher::default().part(&item.sample.id).short());
            seen.insert(name.clone());
            name
        };
        self.items.iter().map(unique).collect()
    }
}

fn load_items(eval: &Eval) -> Result<Vec<Item>> {
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
    let samples = filter.apply(samples)?;
    Ok(samples
        .into_iter()
        .map(|sample| item(eval, sample))
        .collect())
}

fn item(eval: &Eval, sample: Sample) -> Item {
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
    Item {
        input_hash: input.short(),
        // The id goes in, so that equal answers do not show as equal hashes.
        target_hash: Hasher::default().part(&sample.id).part(target).short(),
        prompt: prompt.into(),
        sample: Arc::new(sample),
    }
}

/// The scorers of an eval: its own, else the benchmark's.
fn scorers(eval: &Eval) -> Vec<Arc<dyn Scorer>> {
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

impl BenchmarkScorer {
    /// Rebuilds what `Benchmark::score` takes from what a scorer is given.
    fn judge(&self, answer: &Answer<'_>) -> Result<Score> {
        let sample = Sample {
            target: Some(answer.target.clone()),
            metadata: answer.metadata.clone(),
            ..Sample::default()
        };
        let output = Output {
            text: answer.prediction.map(str::to_owned),
            ..answer.output.clone()
        };
        self.0.score(&sample, &output)
    }
}

impl Scorer for BenchmarkScorer {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        self.judge(answer)
    }
}

fn check_scorer_names(names: &[&str]) -> Result<()> {
    let mut seen = BTreeSet::new();
    match names.iter().find(|name| !seen.insert(**name)) {
        None => Ok(()),
        Some(name) => Err(Error::usage(format!("two scorers are called `{name}`"))
            .hint("remove one from `scorers`")),
    }
}

fn check_gates(eval: &Eval, items: &[Item], scorers: &[&str]) -> Result<()> {
    let mut slices: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (dimension, value) in items.iter().flat_map(|item| &item.sample.slices) {
        slices
            .entry(dimension.clone())
            .or_default()
            .insert(value.clone());
    }
    let known = gate::Known {
        slices,
        scorers: scorers.iter().map(ToString::to_string).collect(),
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
fn request_hash(eval: &Eval, dataset_hash: &str, scorer_hash: &str) -> String {
    let agent = eval.config.get("agent").cloned().unwrap_or(Value::Null);
    Hasher::default()
        .part(dataset_hash)
        .part(scorer_hash)
        .part(agent.to_string())
        .part(Value::Object((*eval.agent_options).clone()).to_string())
        .short()
}
