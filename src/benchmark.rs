//! The `Benchmark` trait: the source of samples and their default scoring.
//!
//! | in a spec | samples | extraction and scorer |
//! |---|---|---|
//! | [`gaia`] | GAIA as it is published, or a file of the same shape | `final_answer`, `gaia` |
//! | [`qa`] | questions and answers in any file of rows; columns, templates, several right answers | `final_answer`, `qa`: numbers by `numeric`, other texts by `token_f1` |
//! | [`gsm8k`] | word problems with worked solutions | `gsm8k`, `gsm8k` |
//! | [`aime`] | problems whose answer is an integer from 0 to 999, by year | `aime`, `aime` |
//! | [`items`] | problems with answers and solutions, generated or collected, by topic | `final_answer`, `qa` |
//! | `bfcl` (feature `bfcl`) | single-turn function calling, in the layout of the Berkeley Function Calling Leaderboard | none, `bfcl` |
//! | [`generate`] | prompts that ask for items of data, by topic and reference | none, `item` |
//! | [`conversations`] | conversations of several turns, written down or with a simulated user | `final_answer`, `per_sample`, on each turn that has a ground truth |
//! | [`custom`] | written down in the spec itself | `final_answer`, `per_sample`: each sample has its own scorer |
//!
//! A path may be a dataset on the Hugging Face Hub, `hf://datasets/ORG/NAME[@REVISION][/FILE]` (feature `http`; the
//! file is optional if there is only one; the parts of a table are read together): only what the eval's samples need is downloaded, into the cache of Python's
//! `huggingface_hub`. The variables `HF_TOKEN`, `HF_HOME`, `HF_HUB_CACHE`, `HF_ENDPOINT` and `HF_HUB_OFFLINE` have the
//! same meaning as there. A branch is resolved once and then stays at the cached commit.
//!
//! `fixtures/` has an example spec of each.

pub(crate) mod aime;
pub(crate) mod conversations;
pub(crate) mod custom;
pub(crate) mod gaia;
#[cfg(feature = "judge")]
pub(crate) mod generate;
pub(crate) mod gsm8k;
pub(crate) mod items;
pub(crate) mod prompt;
pub(crate) mod qa;
mod rows;

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::agent::conversation::BenchmarkTools;
use crate::data::dataset::{KnownRows, PlacedFile, SamplePlace};
use crate::data::{Output, Record, Sample, Score};
use crate::error::{Error, Result};
use crate::scorer::extract::Extract;
use crate::scorer::{Maker, Scorer};

/// End of the notice about samples with hidden ground truths. Not shown if no scorer needs one.
pub(crate) const NO_TRUTH: &str = "have no ground truth: only scorers that need none judge them";

/// A category of a benchmark's data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CategoryCount {
    /// Its name.
    pub category: String,
    /// How many entries it has.
    pub entries: usize,
    /// Whether evaltest can score them.
    pub native: bool,
}

/// A set of samples with its rules.
///
/// Your own benchmark needs a name, samples and `score`; everything else has defaults.
///
/// ```
/// use evaltest::{Benchmark, Output, Result, Sample, Score, Target};
///
/// struct Riddles;
///
/// impl Benchmark for Riddles {
///     fn name(&self) -> &str {
///         "riddles"
///     }
///
///     fn samples(&self) -> Result<Vec<Sample>> {
///         Ok(vec![Sample::new("egg", "A box without hinges, key or lid?").target("egg")])
///     }
///
///     fn score(&self, sample: &Sample, output: &Output) -> Result<Score> {
///         let truth = sample.target.as_ref().and_then(Target::as_text);
///         Ok(Score::binary(output.text.as_deref() == truth))
///     }
/// }
/// ```
pub trait Benchmark: Send + Sync {
    /// The benchmark's name, which is the default name of the eval.
    fn name(&self) -> &str;

    /// All samples that pass the benchmark's filters.
    fn samples(&self) -> Result<Vec<Sample>>;

    /// The same samples one by one, in the same order. Implement it instead of [`Benchmark::samples`] if the samples
    /// need not all be in memory; this saves most of the memory for a large dataset. Errors of `take` must be
    /// returned.
    fn each_sample(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        self.samples()?.into_iter().try_for_each(take)
    }

    /// The same with the origin of each sample, so that it can be read again instead of staying in memory. For the
    /// built-in benchmarks, whose samples are rows of files; others implement [`Benchmark::each_sample`].
    #[doc(hidden)]
    fn each_placed(
        &self,
        take: &mut dyn FnMut(Sample, Option<SamplePlace>) -> Result<()>,
    ) -> Result<()> {
        self.each_sample(&mut |sample| take(sample, None))
    }

    /// The same, but a sample with an origin may have nothing but its id and slices: that is enough to decide whether it
    /// is asked.
    #[doc(hidden)]
    fn each_key(
        &self,
        take: &mut dyn FnMut(Sample, Option<SamplePlace>) -> Result<()>,
    ) -> Result<()> {
        self.each_placed(take)
    }

    /// The file whose rows make its samples, if it makes one of each row in their order, and of nothing else.
    #[doc(hidden)]
    fn row_file(&self) -> Option<PathBuf> {
        None
    }

    /// What the last read found in that file, without the rows themselves.
    #[doc(hidden)]
    fn found_rows(&self) -> Option<KnownRows> {
        None
    }

    /// Takes what is known of that file for read, and makes samples of its rows on demand.
    #[doc(hidden)]
    fn reopen(&self, known: KnownRows) -> Result<Option<PlacedFile>> {
        let _ = known;
        Ok(None)
    }

    /// Every sample of the dataset, including filtered ones. The key of [masked](crate::Answers::Masked) snapshots is
    /// derived from all questions and answers, so that a part of the dataset has the same key as the whole. Implement
    /// it for a benchmark that filters its samples and must not publish its answers.
    fn each_unfiltered(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        self.each_sample(take)
    }

    /// Downloads the files of these samples (those that passed every filter and limit). Called once, before any agent
    /// starts.
    fn fetch(&self, samples: &[Sample]) -> Result<()> {
        let _ = samples;
        Ok(())
    }

    /// Scores an answer if neither the eval nor [`Benchmark::scorer`] sets a scorer.
    fn score(&self, sample: &Sample, output: &Output) -> Result<Score> {
        let _ = (sample, output);
        Err(Error::usage(format!(
            "benchmark `{}` has no scorer of its own",
            self.name()
        ))
        .hint("name one: `scorer: { type: gaia }` in a spec, `.scorer(GaiaScorer)` in Rust"))
    }

    /// The default scorer.
    fn scorer(&self) -> Option<Box<dyn Scorer>> {
        None
    }

    /// Like [`scorer`](Self::scorer), for a scorer composed of others that `maker` builds by name.
    fn scorer_of(&self, maker: &Maker) -> Option<Box<dyn Scorer>> {
        let _ = maker;
        self.scorer()
    }

    /// The default extraction of predictions.
    fn extract(&self) -> Extract {
        Extract::none()
    }

    /// The benchmark's own instructions, the prompt preset `official`.
    fn official_prompt(&self) -> Option<&str> {
        None
    }

    /// The default instructions before a question: the official ones, or ours that request the answer format of
    /// [`Benchmark::extract`].
    fn default_prompt(&self) -> Option<&str> {
        self.official_prompt()
    }

    /// Instructions of a sample that differ from sample to sample; they replace both of the above.
    fn instructions(&self, sample: &Sample) -> Option<String> {
        let _ = sample;
        None
    }

    /// The benchmark's own aggregates, shown in the summary by name.
    ///
    /// The records are the reduced ones that stay in memory: `prompt`, `metadata` and `output` are empty and long
    /// texts are truncated. Put data for aggregates into the `details` of scores.
    ///
    /// Numbers, and `null` for undefined values, can be used in gates: `metric(overall) >= 0.5`. Reports show numbers,
    /// lists of texts and lists of objects (as tables). Errors are not wrong answers, so gates consider the range of a
    /// number over all possible verdicts of errored samples: `"bounds": {"overall": [low, high]}`; without it any
    /// value is considered possible.
    fn metrics(&self, records: &[Record]) -> Map<String, Value> {
        let _ = records;
        Map::new()
    }

    /// Whether [`Benchmark::metrics`] needs records, which then stay in memory until the end (several hundred bytes
    /// each). `false` saves this memory.
    fn has_metrics(&self) -> bool {
        true
    }

    /// A streaming form of [`Benchmark::metrics`] that keeps no records in memory, for the built-in benchmarks.
    #[doc(hidden)]
    fn running_metrics(&self) -> Option<RunningMetrics> {
        None
    }

    /// The tools of its conversations, and how they are called, if it has its own.
    #[doc(hidden)]
    fn tools(&self) -> Option<BenchmarkTools> {
        None
    }

    /// The validator of answers for samples that request new items: it accepts or refuses an answer, and limits
    /// repeated requests. Created anew for each run.
    #[doc(hidden)]
    fn validator(&self) -> Option<ValidationClient> {
        None
    }

    /// Names of the numbers in [`Benchmark::metrics`], so that a gate on another name is an error before an agent
    /// starts; `None` if unknown.
    fn metric_names(&self) -> Option<Vec<String>> {
        None
    }

    /// The categories of its data with their sizes, including unselected ones; empty without categories. Called only
    /// to list them.
    fn categories(&self) -> Result<Vec<CategoryCount>> {
        Ok(Vec::new())
    }

    /// Whether samples of it are conversations, which an agent is asked turn by turn.
    #[doc(hidden)]
    fn has_conversations(&self) -> bool {
        false
    }

    /// Whether its samples are items of data that can be scored themselves, with the agent `none`.
    #[doc(hidden)]
    fn has_items(&self) -> bool {
        false
    }

    /// Files and folders with its data, which a sandboxed agent must not see.
    fn paths(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The existing ones of these that are read for the selected samples, for display.
    #[doc(hidden)]
    fn read_paths(&self) -> Vec<PathBuf> {
        let mut paths = self.paths();
        paths.retain(|path| path.exists());
        paths
    }

    /// Whether the benchmark asks not to publish its answers: snapshots then mask them by default.
    fn is_gated(&self) -> bool {
        false
    }

    /// Notes on the dataset for the user.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Implements [`Benchmark::samples`] by [`Benchmark::each_sample`].
pub(crate) fn collected(benchmark: &dyn Benchmark) -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    benchmark.each_sample(&mut |sample| {
        samples.push(sample);
        Ok(())
    })?;
    Ok(samples)
}

/// Handle of the validator of answers.
pub struct ValidationClient(pub(crate) Arc<dyn AnswerValidator>);

/// Decides which answers are accepted, given those accepted before, and how often a refused one is requested again.
///
/// An answer is refused if the first scorer rejects it, or if [`second_verdict`](Self::beside) does. It stays in the journal
/// with its verdict and counts in usage and budget; the last answer of a sample is final, even if refused. Repeating
/// until success would inflate any accuracy: use it to produce answers, not to measure an agent.
pub(crate) trait AnswerValidator: Send + Sync {
    /// Maximum number of repeated requests after refusals.
    fn again(&self) -> u32;

    /// The text added to the prompt when the request is repeated for the `again`th time (from 1), given the verdict on
    /// the previous answer.
    fn note(&self, refused: &Score, again: u32) -> Option<String>;

    /// A second verdict on an answer that the scorers accept, given the accepted answers of earlier samples: an
    /// incorrect one refuses it, a correct one accepts it and adds details. `None` keeps the verdict; then
    /// [`stays`](Self::stays) is called. Called in the order of the samples, so that the result does not depend on
    /// concurrency.
    fn second_verdict(&self, sample: &Sample, output: &Output, score: &Score) -> Option<Score>;

    /// Records an accepted answer for which [`second_verdict`](Self::beside) returned `None`, or one of an earlier part of the
    /// run.
    fn stays(&self, sample: &Sample, output: &Output);
}

/// Aggregates computed from a stream of records.
pub struct RunningMetrics(pub(crate) Box<dyn CountsRecords>);

/// Computes aggregates.
pub(crate) trait CountsRecords: Send {
    /// Counts a record.
    fn add(&mut self, record: &Record);

    /// The result of [`Benchmark::metrics`] for the records counted so far.
    fn finish(&self) -> Map<String, Value>;
}
