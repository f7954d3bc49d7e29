//! The `Benchmark` trait: where samples come from and how they are judged by default.
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
//! | [`custom`] | written down in the spec itself | `final_answer`, `per_sample`: each sample has its own scorer |
//!
//! A path may be that of a dataset on the Hugging Face Hub, `hf://datasets/ORG/NAME[@REVISION][/FILE]` (feature
//! `http`; without a file where there is only one): only what the samples of the eval need is fetched, into the cache of Python's `huggingface_hub`. The
//! variables `HF_TOKEN`, `HF_HOME`, `HF_HUB_CACHE`, `HF_ENDPOINT` and `HF_HUB_OFFLINE` mean what they mean there. A
//! branch is looked up once and stays the commit that the cache then has.
//!
//! `fixtures/` has a spec of each to copy.

pub(crate) mod aime;
pub(crate) mod custom;
pub(crate) mod gaia;
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

use crate::data::dataset::SamplePlace;
use crate::data::{Output, Record, Sample, Score};
use crate::error::{Error, Result};
use crate::scorer::extract::Extract;
use crate::scorer::{Maker, Scorer};

/// How a notice ends of samples whose ground truth is hidden. Nobody need know where no scorer looks at one.
pub(crate) const NO_TRUTH: &str = "have no ground truth: only scorers that need none judge them";

/// A category of a benchmark's data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CategoryCount {
    /// Its name.
    pub category: String,
    /// How many entries it has.
    pub entries: usize,
    /// Whether they are judged here.
    pub native: bool,
}

/// A set of samples with the rules of its field.
///
/// A benchmark of one's own needs a name, samples and `score`; the rest has defaults.
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
    /// The name of the benchmark, which is the eval's name unless that has one of its own.
    fn name(&self) -> &str;

    /// All samples, filtered as the benchmark was told to.
    fn samples(&self) -> Result<Vec<Sample>>;

    /// The same samples one by one, in the same order: a benchmark that need not hold all of them at once does better
    /// here than [`Benchmark::samples`], and then a large dataset takes a fraction of the memory. An error of `take`
    /// is to be passed on.
    fn each_sample(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        self.samples()?.into_iter().try_for_each(take)
    }

    /// The same with where each sample is made again from, so that it need not wait in memory: for the benchmarks of
    /// evaltest, whose samples are rows of files. An implementation of one's own is [`Benchmark::each_sample`].
    #[doc(hidden)]
    fn each_placed(
        &self,
        take: &mut dyn FnMut(Sample, Option<SamplePlace>) -> Result<()>,
    ) -> Result<()> {
        self.each_sample(&mut |sample| take(sample, None))
    }

    /// Every sample of the dataset, also those that the benchmark was told to leave out. All questions and answers
    /// together are the key of [masked](crate::Answers::Masked) snapshots, so that a part of the dataset has the key of
    /// the whole; a benchmark whose samples are filtered, and whose answers are not to be published, does well to say
    /// which these are.
    fn each_unfiltered(&self, take: &mut dyn FnMut(Sample) -> Result<()>) -> Result<()> {
        self.each_sample(take)
    }

    /// Makes the files of these samples ready to be read: those that have files and are left by every filter and
    /// limit. Called once, before any agent starts, for datasets whose files are elsewhere until they are needed.
    fn fetch(&self, samples: &[Sample]) -> Result<()> {
        let _ = samples;
        Ok(())
    }

    /// Judges an answer when neither the eval nor [`Benchmark::scorer`] names a scorer.
    fn score(&self, sample: &Sample, output: &Output) -> Result<Score> {
        let _ = (sample, output);
        Err(Error::usage(format!(
            "benchmark `{}` has no scorer of its own",
            self.name()
        ))
        .hint("name one: `scorer: { type: gaia }` in a spec, `.scorer(GaiaScorer)` in Rust"))
    }

    /// The scorer that judges unless the eval names another.
    fn scorer(&self) -> Option<Box<dyn Scorer>> {
        None
    }

    /// As [`scorer`](Self::scorer), where it is made of others by name: of those that `maker` makes.
    fn scorer_of(&self, maker: &Maker) -> Option<Box<dyn Scorer>> {
        let _ = maker;
        self.scorer()
    }

    /// How predictions are extracted unless the eval says otherwise.
    fn extract(&self) -> Extract {
        Extract::none()
    }

    /// The benchmark's own instructions, the prompt preset `official`.
    fn official_prompt(&self) -> Option<&str> {
        None
    }

    /// What stands before a question unless the eval chooses a preset: the official instructions, or those of
    /// our own that tell the form of answer which [`Benchmark::extract`] looks for.
    fn default_prompt(&self) -> Option<&str> {
        self.official_prompt()
    }

    /// The instructions of one sample, where they differ from sample to sample: they stand in place of both.
    fn instructions(&self, sample: &Sample) -> Option<String> {
        let _ = sample;
        None
    }

    /// Aggregates of the benchmark's own, shown in the summary under their names.
    ///
    /// The records are those that stay in memory: their `prompt`, `metadata` and `output` are empty and long texts are
    /// cut. What an aggregate needs belongs into the `details` of scores.
    ///
    /// Numbers, and `null` for what cannot be told, can be gated: `metric(overall) >= 0.5`. Reports show them, lists
    /// of texts and lists of objects (as tables). An error is no wrong answer, so gates look at what a number could
    /// be had every sample a verdict: `"bounds": {"overall": [low, high]}`, and anything where that is not told.
    fn metrics(&self, records: &[Record]) -> Map<String, Value> {
        let _ = records;
        Map::new()
    }

    /// Whether [`Benchmark::metrics`] looks at records, which then stay in memory until the end: several hundred bytes
    /// each. `false` spares a large run of them.
    fn has_metrics(&self) -> bool {
        true
    }

    /// [`Benchmark::metrics`] out of one record after another, so that none of them stays in memory: for the benchmarks
    /// of evaltest.
    #[doc(hidden)]
    fn running_metrics(&self) -> Option<RunningMetrics> {
        None
    }

    /// Which answers stay, and how often one that does not is asked for again, where samples ask for new things. A fresh one
    /// for each run.
    #[doc(hidden)]
    fn admission(&self) -> Option<AdmissionDesk> {
        None
    }

    /// The numbers that [`Benchmark::metrics`] will have, so that a gate on any other is an error before an agent
    /// starts; `None` where that is not known.
    fn metric_names(&self) -> Option<Vec<String>> {
        None
    }

    /// The categories of its data with their sizes, also those that are not asked for; none for a benchmark
    /// without categories. Unlike `samples` it is only called to list them.
    fn categories(&self) -> Result<Vec<CategoryCount>> {
        Ok(Vec::new())
    }

    /// Whether its samples are items of data, which may be judged themselves: the agent `none` shows those.
    #[doc(hidden)]
    fn has_items(&self) -> bool {
        false
    }

    /// Files and folders that hold its data. A sandboxed agent does not see them.
    fn paths(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Of those what is there and read for the samples that are asked for, for people.
    #[doc(hidden)]
    fn read_paths(&self) -> Vec<PathBuf> {
        let mut paths = self.paths();
        paths.retain(|path| path.exists());
        paths
    }

    /// Whether the benchmark asks not to publish its answers: snapshots then hide them by default.
    fn is_gated(&self) -> bool {
        false
    }

    /// Things about the dataset that people should know and that are no errors.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }
}

/// [`Benchmark::samples`] of a benchmark whose samples come one by one.
pub(crate) fn collected(benchmark: &dyn Benchmark) -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    benchmark.each_sample(&mut |sample| {
        samples.push(sample);
        Ok(())
    })?;
    Ok(samples)
}

/// Who says which answers stay.
pub struct AdmissionDesk(pub(crate) Arc<dyn AnswerAdmission>);

/// Says which answers stay beside one another, and how often one that does not is asked for again.
///
/// An answer is refused if the first scorer does not find it correct, or if [`beside`](Self::beside) finds it wrong. It stays in
/// the journal, with its verdict, and counts in usage and budget; the last one of a sample stands, refused or not. To ask
/// again until something fits would make every rate too good: this is for samples whose answers are wanted, and not for
/// measuring an agent.
pub(crate) trait AnswerAdmission: Send + Sync {
    /// How often a refused answer is asked for again.
    fn again(&self) -> u32;

    /// What the prompt says besides when it is asked for again, for the time of this number, from 1, because of this
    /// verdict on the answer before.
    fn note(&self, refused: &Score, again: u32) -> Option<String>;

    /// Another verdict on an answer that the scorers accept, now that those of samples before it are known: a wrong one refuses
    /// it, and a right one has it stay, with more to tell. `None` leaves the verdict, and [`stays`](Self::stays) is told.
    /// It is asked in the order of the samples, so that it is the same at any concurrency.
    fn beside(&self, sample: &Sample, output: &Output, score: &Score) -> Option<Score>;

    /// An answer stays of which [`beside`](Self::beside) said nothing, or since an earlier part of the run.
    fn stays(&self, sample: &Sample, output: &Output);
}

/// Aggregates that are made of one record after another.
pub struct RunningMetrics(pub(crate) Box<dyn CountsRecords>);

/// Makes aggregates.
pub(crate) trait CountsRecords {
    /// Counts a record.
    fn add(&mut self, record: &Record);

    /// What [`Benchmark::metrics`] makes of all that were counted.
    fn finish(&self) -> Map<String, Value>;
}
