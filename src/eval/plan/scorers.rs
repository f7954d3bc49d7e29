//! The scorers of an eval.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::benchmark::Benchmark;
use crate::data::{Output, Score};
use crate::error::{Error, Result};
use crate::eval::Eval;
use crate::eval::registry::scorers::Context;
use crate::scorer::{Answer, Scorer};

/// Whether the eval's scorers judge an answer alone. A benchmark that is no scorer needs the whole sample.
pub(crate) fn judges_answers(eval: &Eval) -> bool {
    !eval.scorers.is_empty() || scorer_of_benchmark(eval).is_some()
}

/// The scorers of an eval: its own, else the benchmark's.
pub(crate) fn scorers(eval: &Eval) -> Vec<Arc<dyn Scorer>> {
    if !eval.scorers.is_empty() {
        return eval.scorers.clone();
    }
    match scorer_of_benchmark(eval) {
        Some(scorer) => vec![Arc::from(scorer)],
        None => vec![Arc::new(BenchmarkScorer(Arc::clone(&eval.benchmark)))],
    }
}

/// The benchmark's own scorer, which may be built from built-in ones.
pub(super) fn scorer_of_benchmark(eval: &Eval) -> Option<Box<dyn Scorer>> {
    eval.benchmark.scorer_of(&Context::here().maker())
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

/// Every scorer has a unique name, under which its scores are recorded.
pub(crate) fn check_scorer_names(scorers: &[Arc<dyn Scorer>]) -> Result<()> {
    let mut seen = BTreeSet::new();
    let mut names = scorers.iter().map(Scorer::name).enumerate();
    let Some((item, name)) = names.find(|(_, name)| !seen.insert(*name)) else {
        return Ok(());
    };
    let hint = "give one another name: `{ type: …, name: other }`";
    let error = Error::usage(format!("two scorers are called `{name}`"));
    Err(error.hint(hint).under(item))
}
