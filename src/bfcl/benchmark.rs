//! BFCL: single-turn function calling, from the data of the Berkeley Function Calling Leaderboard.
//!
//! [`crate::bfcl::data`] reads the data; here an entry becomes a sample, with the official instructions for agents
//! that answer in text (`prompt`) and tool definitions for those with native calls (`tools`). The scorer
//! [`bfcl`](crate::bfcl::checker::BfclScorer) accepts both.
//!
//! Prompts and tools of all 3,641 official entries equal those that the official package makes for its default prompt
//! format and for `OpenAI`'s completions. Every agent gets both: one with native calls uses `Task::question` and
//! `Task::tools` and ignores `Task::prompt`; set `prompt: none` for it in a spec. `format_sensitivity` uses its
//! entries with 26 prompt formats, all equal to the official ones, and without tools.
#![doc = include_str!("benchmark/categories.md")]

pub(crate) mod aggregates;
pub(crate) mod prompt;
pub(crate) mod sensitivity;
pub(crate) mod tally;
pub(crate) mod tools;

use std::path::PathBuf;
use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::form::{FORM, FORMAT_SENSITIVITY, ORIGINAL, PromptForm};
use crate::benchmark::{Benchmark, CategoryCount, CountsRecords, RunningMetrics, collected};
use crate::bfcl::checker;
use crate::bfcl::data::{BfclQuestion, Category, Data};
use crate::calls::JsonValue as _;
use crate::data::dataset::{Filter, TakePlaced};
use crate::data::{Record, Sample, Target, hub};
use crate::error::{Error, Result, Under, nearest};
use crate::scorer::Scorer;
pub(crate) use tally::BfclTally;
pub(crate) use tally::Weights;

/// The leaderboard's single-turn categories, or your own entries in the same format.
///
/// A sample's metadata has `category`, `function` (the documents, needed by the scorer) and `messages`, which agents
/// may see; `unsatisfiable` is the reason why no answer can be right, for the few known such entries. Slices are
/// `category`, and for `format_sensitivity` each part of the form.
///
/// ```no_run
/// # fn main() -> evaltest::Result<()> {
/// use evaltest::Bfcl;
///
/// let bfcl = Bfcl::open("bfcl_eval/data")?.categories(["simple_python", "live"]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Bfcl {
    data: Data,
    categories: Vec<String>,
    filter: Filter,
    weights: Weights,
    /// Notes from the last [`Benchmark::samples`].
    notices: OnceLock<Vec<String>>,
}

impl Bfcl {
    /// Opens the data at a path, see [`Data::open`].
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        if let Some(Ok(address)) = hub::Address::of(&path)
            && address.path.is_empty()
        {
            return Err(Error::usage(format!(
                "`{address}`: of the Hub, this benchmark reads one file, not a dataset"
            ))
            .hint(
                "the leaderboard's data is in its package: `pip download --no-deps bfcl-eval==2026.3.23`, then \
                 `unzip -q bfcl_eval-*.whl -d bfcl` beside `evals/`, and `path: ../bfcl`",
            ));
        }
        Ok(Self {
            data: Data::open(hub::file(path)?)?,
            categories: Vec::new(),
            filter: Filter::default(),
            weights: Weights::new(),
            notices: OnceLock::new(),
        })
    }

    /// Returns an error if the data has no category or collection of this name.
    pub(crate) fn check(&self, name: &str) -> Result<()> {
        self.data.select(&[name.to_owned()]).map(drop)
    }

    /// Selects these categories and collections; by default all that evaltest can score, without `format_sensitivity`.
    #[must_use]
    pub fn categories<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.categories = names.into_iter().map(Into::into).collect();
        self
    }

    /// Selects the samples with these ids.
    #[must_use]
    pub fn ids<I: Into<String>>(mut self, ids: impl IntoIterator<Item = I>) -> Self {
        self.filter.ids = Some(ids.into_iter().map(Into::into).collect());
        self
    }

    /// Weights of categories in the metric `weighted`; others have weight 0. They need not sum to 1. An unselected
    /// category or an invalid weight is an error of [`Benchmark::samples`].
    #[must_use]
    pub fn weights<S: Into<String>>(mut self, weights: impl IntoIterator<Item = (S, f64)>) -> Self {
        let weights = weights.into_iter();
        self.weights = weights
            .map(|(name, weight)| (name.into(), weight))
            .collect();
        self
    }

    /// The selected categories that evaltest can score.
    fn selected(&self) -> Result<Vec<Category>> {
        let mut selected = self.data.select(&self.categories)?;
        selected.retain(|category| self.is_selected(category));
        Ok(selected)
    }

    fn is_selected(&self, category: &Category) -> bool {
        if self.categories.is_empty() {
            category.is_default()
        } else {
            category.is_native()
        }
    }

    /// Checks the weights.
    pub(crate) fn check_weights(&self) -> Result<()> {
        let selected = self.selected().under("weights")?;
        for (name, weight) in &self.weights {
            if !selected.iter().any(|category| category.name == *name) {
                let names = selected.iter().map(|category| &*category.name);
                let hint = match nearest(name, names.clone()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("they are `{}`", names.collect::<Vec<_>>().join("`, `")),
                };
                let message =
                    format!("`weights` names `{name}`, which is no category that is asked");
                let error = Error::usage(message).hint(hint);
                return Err(error.of_key(name).under("weights"));
            }
            if !(weight.is_finite() && *weight >= 0.0) {
                let message = format!("the weight of `{name}` is {weight}, no number from 0 on");
                return Err(Error::usage(message).under(name.as_str()).under("weights"));
            }
        }
        let sum: f64 = self.weights.values().sum();
        if !self.weights.is_empty() && (sum <= 0.0 || !sum.is_finite()) {
            let error = Error::usage(format!(
                "`weights` sum to {sum}, and nothing can be divided by it"
            ));
            let hint =
                "give at least one category a weight above 0: `weights: { simple_python: 1 }`";
            return Err(error.hint(hint).under("weights"));
        }
        Ok(())
    }

    /// Passes the samples on one by one; returns notes.
    fn each(&self, take: &mut TakePlaced<'_>) -> Result<Vec<String>> {
        let mut notices = Vec::new();
        let mut skipped: Vec<String> = Vec::new();
        let (selected, others): (Vec<_>, Vec<_>) = self
            .data
            .select(&self.categories)?
            .into_iter()
            .partition(|category| self.is_selected(category));
        if !self.categories.is_empty() {
            let others = others.iter().map(|category| self.skipped(category));
            skipped = others.collect::<Result<_>>()?;
        }
        if !skipped.is_empty() {
            let skipped = skipped.join(", ");
            let message = format!(
                "{skipped}: not judged here and skipped; the official tool judges them: import its result files, \
                 `cargo evaltest import --format bfcl DIR`, then `cargo evaltest bfcl official RUN_DIR`"
            );
            if selected.is_empty() {
                return Err(Error::usage(message).hint("name others: `categories: [single_turn]`"));
            }
            notices.push(message);
        }
        let mut filter = self.filter.stream();
        let mut unsatisfiable = Vec::new();
        self.data
            .each_placed(&selected, sample, &mut |sample, place| {
                if !filter.passes(&sample.id) {
                    return Ok(());
                }
                if sample.metadata.contains_key("unsatisfiable") {
                    unsatisfiable.push(sample.id.clone());
                }
                take(sample, place)
            })?;
        filter.finish()?;
        if !unsatisfiable.is_empty() {
            notices.push(format!(
                "no answer can be right for `{}`: their metadata tells why",
                unsatisfiable.join("`, `")
            ));
        }
        Ok(notices)
    }

    fn skipped(&self, category: &Category) -> Result<String> {
        let count = self.data.count(category)?;
        Ok(format!("`{}` ({count} entries)", category.name))
    }
}

pub(crate) fn sample(question: BfclQuestion) -> Sample {
    let functions = question.functions.to_json();
    let category = &question.category.name;
    let form = PromptForm::of_id(&question.id);
    let form = form.filter(|_| category == FORMAT_SENSITIVITY);
    let form = form.map(|(form, original)| (form, original.to_owned()));
    let mut sample = Sample::new(question.id, prompt::question(&question.messages))
        .slice("category", category.as_str());
    sample.target = question
        .ground_truth
        .map(|ground_truth| Target(ground_truth.to_json()));
    if form.is_none() {
        sample.tools = tools::of(&functions, category);
    }
    let metadata = [
        ("category", Value::from(category.as_str())),
        ("messages", question.messages.to_json()),
        ("function", functions),
    ];
    let metadata = metadata.into_iter();
    sample.metadata = metadata
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    // For `format_sensitivity` only the prompt describes the functions.
    if let Some((form, original)) = form {
        for (slice, value) in form.slices() {
            sample = sample.slice(slice, value);
        }
        sample
            .metadata
            .insert(FORM.to_owned(), form.to_string().into());
        sample.metadata.insert(ORIGINAL.to_owned(), original.into());
    }
    if let Some(reason) = question.unsatisfiable {
        sample
            .metadata
            .insert("unsatisfiable".to_owned(), reason.into());
    }
    sample.visible = ["category", "messages", "function"]
        .map(str::to_owned)
        .into();
    sample
}

/// The metrics of a run so far.
struct WeightedTally {
    tally: BfclTally,
    weights: Weights,
}

impl CountsRecords for WeightedTally {
    fn add(&mut self, record: &Record) {
        self.tally.add(record);
    }

    fn finish(&self) -> Map<String, Value> {
        self.tally.finish(&self.weights)
    }
}

impl Benchmark for Bfcl {
    fn name(&self) -> &'static str {
        "bfcl"
    }

    fn samples(&self) -> Result<Vec<Sample>> {
        collected(self)
    }

    fn each_sample(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        self.each_placed(&mut |sample, _| take(sample))
    }

    fn each_placed(&self, take: &mut TakePlaced<'_>) -> Result<()> {
        self.check_weights()?;
        let notices = self.each(take)?;
        // Reading again gives the same notes.
        let _ = self.notices.set(notices);
        Ok(())
    }

    fn each_unfiltered(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        let categories = self.data.categories().iter();
        // `format_sensitivity` repeats entries of other categories.
        let categories: Vec<_> = categories.filter(|one| one.is_default()).cloned().collect();
        let take = &mut |sample, _| take(sample);
        self.data.each_placed(&categories, sample, take)
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.data.holders()
    }

    fn read_paths(&self) -> Vec<PathBuf> {
        let selected = self.selected().unwrap_or_default();
        let selected = selected
            .iter()
            .flat_map(|category| self.data.sources(category));
        let selected: Vec<_> = selected.collect();
        let mut paths = self.data.holders();
        paths.retain(|path| path == self.data.path() || selected.contains(path));
        paths
    }

    fn scorer(&self) -> Option<Box<dyn Scorer>> {
        Some(Box::new(checker::BfclScorer::default()))
    }

    fn official_prompt(&self) -> Option<&str> {
        Some(prompt::TEMPLATE)
    }

    fn instructions(&self, sample: &Sample) -> Option<String> {
        Some(prompt::instructions(sample))
    }

    /// See the module `tally`.
    fn metrics(&self, records: &[Record]) -> Map<String, Value> {
        let mut tally = BfclTally::default();
        for record in records {
            tally.add(record);
        }
        tally.finish(&self.weights)
    }

    fn running_metrics(&self) -> Option<RunningMetrics> {
        Some(RunningMetrics(Box::new(WeightedTally {
            tally: BfclTally::default(),
            weights: self.weights.clone(),
        })))
    }

    fn metric_names(&self) -> Option<Vec<String>> {
        let selected = self.selected().ok()?;
        Some(tally::names(&selected, &self.weights))
    }

    fn categories(&self) -> Result<Vec<CategoryCount>> {
        let categories = self.data.categories().iter();
        categories
            .map(|category| {
                Ok(CategoryCount {
                    category: category.name.clone(),
                    entries: self.data.count(category)?,
                    native: category.is_native(),
                })
            })
            .collect()
    }

    fn notices(&self) -> Vec<String> {
        if let Some(notices) = self.notices.get() {
            return notices.clone();
        }
        // An error is reported when the samples are read.
        self.each(&mut |_, _| Ok(())).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
