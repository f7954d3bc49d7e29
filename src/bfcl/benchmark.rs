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

pub(crate) mod prompt;
pub(crate) mod sensitivity;
pub(crate) mod tally;
pub(crate) mod tools;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use super::form::{FORM, FORMAT_SENSITIVITY, ORIGINAL, PromptForm};
use crate::agent::conversation::BenchmarkTools;
use crate::benchmark::{Benchmark, CategoryCount, CountsRecords, RunningMetrics, collected};
use crate::bfcl::checker::BfclScorer;
use crate::bfcl::data::{BfclQuestion, Category, Data};
use crate::bfcl::multi_turn::{self, MultiTurnScorer, Simulators};
use crate::calls::JsonValue as _;
use crate::data::dataset::{Filter, TakePlaced};
use crate::data::{Record, Sample, Target, hub};
use crate::error::{Error, Result, Under, nearest};
use crate::scorer::Scorer;
use crate::stats::as_f64;

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
    /// What executes the calls of multi-turn categories.
    simulators: Option<Arc<Simulators>>,
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
                 `unzip -q bfcl_eval-*.whl -d bfcl` next to `evals/`, and `path: ../bfcl`",
            ));
        }
        Ok(Self {
            data: Data::open(hub::file(path)?)?,
            categories: Vec::new(),
            filter: Filter::default(),
            weights: Weights::new(),
            simulators: None,
            notices: OnceLock::new(),
        })
    }

    /// Asks multi-turn categories, too: this Python, which has the package `bfcl-eval`, executes the calls. Agents with
    /// native calls want [`Prompt::None`](crate::Prompt::None).
    #[must_use]
    pub fn python(self, python: impl Into<PathBuf>) -> Self {
        self.python_in(python, ".")
    }

    /// The same; relative paths start in `folder`.
    pub(crate) fn python_in(
        mut self,
        python: impl Into<PathBuf>,
        folder: impl Into<PathBuf>,
    ) -> Self {
        let data = Some(self.data.path().to_owned());
        self.simulators = Some(Arc::new(Simulators::new(python, folder, data)));
        self
    }

    /// The scorer of multi-turn categories, if any is asked.
    fn multi_turn_scorer(&self) -> Option<MultiTurnScorer> {
        let simulators = self.simulators.as_ref()?;
        let selected = self.selected().ok()?;
        let is_asked = selected.iter().any(Category::is_multi_turn);
        is_asked.then(|| MultiTurnScorer::new(Arc::clone(simulators)))
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

    /// Whether answers to its entries can be judged.
    fn is_judged(&self, category: &Category) -> bool {
        category.is_native() || category.is_multi_turn() && self.simulators.is_some()
    }

    fn is_selected(&self, category: &Category) -> bool {
        // It repeats others.
        let is_left_out = self.categories.is_empty() && category.name == FORMAT_SENSITIVITY;
        self.is_judged(category) && !is_left_out
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
                    format!("`weights` names `{name}`, which is not a category of this eval");
                let error = Error::usage(message).hint(hint);
                return Err(error.of_key(name).under("weights"));
            }
            if !(weight.is_finite() && *weight >= 0.0) {
                let message = format!("the weight of `{name}` is {weight}, not a number from 0 up");
                return Err(Error::usage(message).under(name.as_str()).under("weights"));
            }
        }
        let sum: f64 = self.weights.values().sum();
        if !self.weights.is_empty() && (sum <= 0.0 || !sum.is_finite()) {
            let error = Error::usage(format!(
                "the sum of `weights` is {sum}, but must be finite and above 0"
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
            let mut message = format!(
                "{skipped}: not judged here and skipped; the official tool judges them: import its result files, \
                 `cargo evaltest import --format bfcl DIR`, then `cargo evaltest bfcl official RUN_DIR`"
            );
            if others.iter().any(Category::is_multi_turn) {
                message += "; multi-turn categories are asked and judged with the Python that has the official package, \
                            `environment: { python: ../.venv/bin/python }`";
            }
            if selected.is_empty() {
                return Err(Error::usage(message).hint("name others: `categories: [single_turn]`"));
            }
            notices.push(message);
        }
        let mut filter = self.filter.stream();
        let mut unsatisfiable = Vec::new();
        let (conversations, questions): (Vec<_>, Vec<_>) =
            selected.into_iter().partition(Category::is_multi_turn);
        let mut pass = |sample: Sample, place| {
            if !filter.passes(&sample.id) {
                return Ok(());
            }
            if sample.metadata.contains_key("unsatisfiable") {
                unsatisfiable.push(sample.id.clone());
            }
            take(sample, place)
        };
        self.data.each_placed(&questions, sample, &mut pass)?;
        for category in &conversations {
            let mut samples = multi_turn::samples(&self.data, category)?.into_iter();
            samples.try_for_each(|sample| {
                let simulators = self.simulators.as_ref();
                simulators.map_or(Ok(()), |simulators| simulators.check_sample(&sample))?;
                pass(sample, None)
            })?;
        }
        filter.finish()?;
        if !conversations.is_empty() {
            let simulators = self.simulators.iter();
            notices.extend(simulators.flat_map(|simulators| simulators.notices()));
        }
        if !unsatisfiable.is_empty() {
            notices.push(format!(
                "no answer can be right for `{}`: see their metadata",
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

    fn has_conversations(&self) -> bool {
        self.multi_turn_scorer().is_some()
    }

    fn tools(&self) -> Option<BenchmarkTools> {
        self.multi_turn_scorer()?;
        self.simulators.as_ref().map(Simulators::tools)
    }

    fn scorer(&self) -> Option<Box<dyn Scorer>> {
        let multi_turn = self.multi_turn_scorer();
        let is_alone = || {
            self.selected()
                .is_ok_and(|all| all.iter().all(Category::is_multi_turn))
        };
        Some(match multi_turn {
            Some(scorer) if is_alone() => Box::new(scorer),
            multi_turn => Box::new(BfclScorer::default().multi_turn(multi_turn)),
        })
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
                    native: self.is_judged(category),
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

// The official leaderboard's figures, from the results of its categories.
//
// | figure | of what | how |
// |---|---|---|
// | `simple` | `simple_python`, `simple_java`, `simple_javascript` | mean |
// | `non_live` | `simple`, `multiple`, `parallel`, `parallel_multiple` | mean |
// | `live` | `live_simple`, `live_multiple`, `live_parallel`, `live_parallel_multiple` | mean, weighted by entries |
// | `irrelevance` | `irrelevance`, `live_irrelevance` | mean |
// | `multi_turn` | the four `multi_turn_…` | mean |
// | `web_search`, `memory` | the two `web_search_…`, the three `memory_…` | mean |
// | `agentic` | `web_search`, `memory` | mean |
// | `overall` | `non_live`, `live`, `irrelevance`, `multi_turn`, `agentic` | mean, weighted 10 : 10 : 10 : 30 : 40 |
//
// `live_relevance` and `format_sensitivity` are in none of them. A category that was not run counts as 0 (in `live`
// with all its entries), and figures with it are incomplete. The official tables write "N/A" for incomplete figures,
// except `non_live`, `live`, `multi_turn`, `agentic` and `overall`, which include the zeros.
//
// Source: `eval_checker/eval_runner_helper.py` of bfcl-eval 2026.3.23. Sums have the same order, so that the figures
// are bitwise equal.

/// Correct and total entries per category.
pub(crate) type CategoryCounts = BTreeMap<String, (u64, u64)>;

/// A figure of the leaderboard.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Figure {
    /// From 0 to 1; categories that were not run count as 0.
    pub accuracy: f64,
    /// Whether all of its categories were run. Otherwise the official tables mostly write "N/A".
    pub(crate) is_complete: bool,
}

impl Figure {
    /// The accuracy, if complete.
    pub(crate) fn complete(self) -> Option<f64> {
        self.is_complete.then_some(self.accuracy)
    }
}

/// The figures of the leaderboard.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Aggregates {
    /// Simple calls in three languages.
    pub simple: Figure,
    /// All entries by the leaderboard's authors, without irrelevance.
    pub non_live: Figure,
    /// All entries contributed by users of models, without irrelevance and relevance.
    pub live: Figure,
    /// Making no call if no function fits.
    pub irrelevance: Figure,
    /// Conversations with stateful programs.
    pub multi_turn: Figure,
    /// Questions for a search engine.
    pub web_search: Figure,
    /// Questions about earlier conversations.
    pub memory: Figure,
    /// Search and memory.
    pub agentic: Figure,
    /// The leaderboard's ranking score.
    pub overall: Figure,
}

/// The categories of `live`, with the number of entries to assume if one was not run.
const LIVE: [(&str, u64); 4] = [
    ("live_simple", 258),
    ("live_multiple", 1053),
    ("live_parallel", 16),
    ("live_parallel_multiple", 24),
];

impl Aggregates {
    /// Computes the figures. A category without entries was not run.
    pub(crate) fn of(counts: &CategoryCounts) -> Self {
        let of = |name: &str| category(counts, name);
        let simple = mean(&["simple_python", "simple_java", "simple_javascript"].map(of));
        let [multiple, parallel, both] = ["multiple", "parallel", "parallel_multiple"].map(of);
        let non_live = mean(&[simple, multiple, parallel, both]);
        let live = LIVE.map(|(name, entries)| {
            let (_, total) = run(counts, name).unwrap_or((0, entries));
            (of(name), as_f64(total))
        });
        let entries = live.iter().map(|(_, entries)| entries).sum();
        let live = weighted(&live, entries);
        let irrelevance = mean(&["irrelevance", "live_irrelevance"].map(of));
        let conversations = ["base", "miss_func", "miss_param", "long_context"];
        let multi_turn = mean(&conversations.map(|name| of(&format!("multi_turn_{name}"))));
        let web_search = mean(&["web_search_base", "web_search_no_snippet"].map(of));
        let memory = mean(&["memory_kv", "memory_vector", "memory_rec_sum"].map(of));
        let agentic = mean(&[web_search, memory]);
        let parts = [
            (non_live, 0.1),
            (live, 0.1),
            (irrelevance, 0.1),
            (multi_turn, 0.3),
            (agentic, 0.4),
        ];
        Self {
            simple,
            non_live,
            live,
            irrelevance,
            multi_turn,
            web_search,
            memory,
            agentic,
            overall: weighted(&parts, 1.0),
        }
    }
}

/// What a single category scored.
pub(crate) fn category(counts: &CategoryCounts, name: &str) -> Figure {
    match run(counts, name) {
        Some((correct, total)) => Figure {
            accuracy: as_f64(correct) / as_f64(total),
            is_complete: true,
        },
        None => Figure::default(),
    }
}

fn run(counts: &CategoryCounts, name: &str) -> Option<(u64, u64)> {
    counts.get(name).copied().filter(|&(_, total)| total > 0)
}

fn mean(parts: &[Figure]) -> Figure {
    let sum: f64 = parts.iter().map(|part| part.accuracy).sum();
    let count: f64 = parts.iter().map(|_| 1.0).sum();
    Figure {
        accuracy: sum / count,
        is_complete: parts.iter().all(|part| part.is_complete),
    }
}

fn weighted(parts: &[(Figure, f64)], whole: f64) -> Figure {
    let sum: f64 = parts
        .iter()
        .map(|(part, weight)| part.accuracy * weight)
        .sum();
    Figure {
        accuracy: sum / whole,
        is_complete: parts.iter().all(|(part, _)| part.is_complete),
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod aggregates_tests {
    use super::*;
    use crate::bfcl::data::Category;
    use crate::tests::{needs, parity};

    fn counts(of: &[(&str, u64, u64)]) -> CategoryCounts {
        let counts = of.iter();
        counts
            .map(|&(name, correct, total)| (name.to_owned(), (correct, total)))
            .collect()
    }

    #[track_caller]
    fn close(figure: Figure, expect: f64) {
        assert!((figure.accuracy - expect).abs() < 1e-12, "{figure:?}");
    }

    #[test]
    fn what_was_not_run_counts_as_nothing() {
        let found = Aggregates::of(&counts(&[("simple_python", 3, 4), ("simple_java", 0, 0)]));
        close(found.simple, 0.25);
        close(found.non_live, 0.0625);
        close(found.overall, 0.00625);
        assert_eq!(found.simple.complete(), None);
        assert_eq!(found.live, Figure::default());
    }

    #[test]
    fn live_is_weighted_by_entries_also_by_those_that_were_not_run() {
        let found = Aggregates::of(&counts(&[("live_simple", 90, 100)]));
        close(found.live, 90.0 / (100.0 + 1053.0 + 16.0 + 24.0));
    }

    #[test]
    fn a_perfect_model_has_one_everywhere() {
        let all: CategoryCounts = Category::official()
            .map(|category| (category.name, (7, 7)))
            .collect();
        let found = Aggregates::of(&all);
        close(found.overall, 1.0);
        assert!(found.overall.is_complete);
        assert!(found.agentic.complete().is_some());
    }

    /// Values written by the official program.
    #[needs(data = "bfcl/official-run")]
    #[test]
    fn figures_are_the_official_ones() {
        let folder = "bfcl/official-run/score";
        let overall = parity::text(&format!("{folder}/data_overall.csv"));
        let mut all = CategoryCounts::new();
        for category in Category::official().filter(Category::is_default) {
            let group = if category.name.starts_with("live") {
                "live"
            } else {
                "non_live"
            };
            let path = format!(
                "{folder}/oracle/{group}/BFCL_v4_{}_score.json",
                category.name
            );
            let text = parity::text(&path);
            let head = serde_json::from_str(text.lines().next().unwrap()).unwrap();
            let counts = ["correct_count", "total_count"].map(|key| parity::get(&head, key));
            all.insert(category.name, counts.into());
        }
        let found = Aggregates::of(&all);
        let mut lines = overall.lines().map(|line| line.split(','));
        let columns: BTreeMap<&str, &str> =
            lines.next().unwrap().zip(lines.next().unwrap()).collect();
        let check = |column: &str, accuracy: Option<f64>| {
            let rendered =
                accuracy.map_or("N/A".to_owned(), |share| format!("{:.2}%", share * 100.0));
            assert_eq!(rendered, columns[column], "{column}");
        };
        check("Overall Acc", Some(found.overall.accuracy));
        check("Non-Live AST Acc", found.non_live.complete());
        check("Non-Live Simple AST", found.simple.complete());
        check("Live Acc", Some(found.live.accuracy));
        check("Multi Turn Acc", Some(found.multi_turn.accuracy));
        check("Web Search Acc", found.web_search.complete());
        check("Memory Acc", found.memory.complete());
        check("Irrelevance Detection", found.irrelevance.complete());
        let single = |name| category(&all, name).complete();
        check("Relevance Detection", single("live_relevance"));
        check("Live Multiple AST", single("live_multiple"));
        check("Memory KV", single("memory_kv"));
    }
}
