//! The `Scorer` trait, and the scorers that need no code of one's own.
//!
//! Scorers are pure: no clock, no environment, no file. Two are not, because they ask others: [`CommandScorer`] asks
//! a program, [`Semantic`] an endpoint (by an [`Embedder`] of one's own, or `HttpEmbedder` with the feature `http`). A
//! scorer that cannot judge returns an error, which is recorded as `scorer_failed` and is no wrong answer.
//!
//! By name in a spec and as types here: `aime` [`AimeScorer`], `all` [`All`], `any` [`Any`], `any_of` [`AnyOf`], `ast_match`
//! `AstMatch` (its `Types` say how strictly, its `CallsToFind` whether calls may be left over; feature `bfcl`), `command` [`CommandScorer`] (also [`without_target`](CommandScorer::without_target)),
//! `exact` [`Exact`] (with [`LabelSet`], and a [`Folding`] to a [`Form`] of Unicode), `fuzzy` [`Fuzzy`], `gaia` [`GaiaScorer`], which is [`question_scorer`] with its [`GaiaVerdict`] by [`TruthKind`],
//! `gsm8k` [`Gsm8kScorer`], `includes` [`Includes`], `json` [`Json`], `list` [`List`], `not` [`Not`], `numeric` [`Numeric`]
//! (with [`Percent`], [`Units`], [`DecimalSign`] and a [`Tolerance`]), `qa` [`QaScorer`], `qa_f1` [`QaF1`], `qa_f1_format` [`QaF1Format`],
//! `quasi_exact` [`QuasiExact`] (or [`as_documented`](QuasiExact::as_documented)), `semantic` [`Semantic`], `substring` [`Substring`], `token_f1` [`TokenF1`], `trajectory`
//! `Trajectory` (feature `bfcl`), `weighted` [`Weighted`].
//!
#![doc = include_str!("scorer/guide.md")]

pub(crate) mod entry;
pub(crate) mod extract;

pub(crate) mod aime;
pub(crate) mod all;
pub(crate) mod any;
pub(crate) mod any_of;
#[cfg(feature = "bfcl")]
pub(crate) mod ast_match;
mod bounds;
pub(crate) mod choice;
pub(crate) mod exact;
pub(crate) mod folding;
pub(crate) mod forward;
pub(crate) mod fuzzy;
pub(crate) mod gaia;
pub(crate) mod gsm8k;
pub(crate) mod hash;
pub(crate) mod includes;
pub(crate) mod item;
pub(crate) mod json;
pub(crate) mod list;
mod maker;
mod matching;
pub(crate) mod not;
mod numerals;
pub(crate) mod numeric;
pub(crate) mod options;
mod parts;
pub(crate) mod per_sample;
pub(crate) mod qa;
pub(crate) mod qa_f1;
pub(crate) mod quasi_exact;
pub(crate) mod recorded;
pub(crate) mod regex;
pub(crate) mod substring;
mod text_rule;
pub(crate) mod token_f1;
pub(crate) mod tolerance;
#[cfg(feature = "bfcl")]
pub(crate) mod trajectory;
pub(crate) mod weighted;

pub(crate) mod ask;

#[cfg(test)]
pub(crate) mod tests;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value};

use crate::agent::Agent;
pub use crate::data::JudgeRule;
use crate::data::{Output, Sample, Score, Target};
use crate::error::Result;
use crate::scorer::extract::{Extract, Extraction};
use ask::desk::NamedDesk;
use forward::forward;

#[cfg(feature = "bfcl")]
pub use self::{
    ast_match::{AstMatch, CallsToFind, Types},
    trajectory::Trajectory,
};
pub use aime::AimeScorer;
pub use all::All;
pub use any::Any;
pub use any_of::AnyOf;
pub use ask::command::CommandScorer;
pub use ask::judge::Judge;
pub use ask::jury::{Aggregate, Jury};
pub use ask::pairwise::Pairwise;
#[cfg(feature = "http")]
pub use ask::semantic::http::HttpEmbedder;
pub use ask::semantic::{Embedder, Semantic};
pub(crate) use bounds::detail_bounds;
pub(crate) use entry::{Entry, Example};
pub use exact::{Exact, LabelSet};
pub use folding::{Folding, Form};
pub use fuzzy::Fuzzy;
pub use gaia::{GaiaScorer, GaiaVerdict, TruthKind, question_scorer};
pub use gsm8k::Gsm8kScorer;
pub use includes::Includes;
pub use json::Json;
pub use list::List;
pub(crate) use maker::AskedAgent;
pub use maker::Maker;
pub use not::Not;
pub use numeric::{DecimalSign, Numeric, Percent, Units};
pub(crate) use options::OptionReader;
pub(crate) use parts::verdict;
pub use qa::QaScorer;
pub use qa_f1::{QaF1, QaF1Format};
pub use quasi_exact::QuasiExact;
pub use substring::Substring;
pub use token_f1::TokenF1;
pub use tolerance::Tolerance;
pub use weighted::Weighted;

/// What a scorer judges.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Answer<'a> {
    /// What was extracted from the raw answer; `None` when the agent gave none.
    pub prediction: Option<&'a str>,
    /// The ground truth.
    pub target: &'a Target,
    /// The whole output, for scorers that look at messages or tool calls.
    pub output: &'a Output,
    /// The sample's metadata, for scorers that need a criterion from there.
    pub metadata: &'a Map<String, Value>,
    /// The whole sample, when there is one: `score` and `rescore` have none.
    pub sample: Option<&'a Sample>,
    /// Whether a spec or the command line named the extraction, or the prediction is a part of one: then it
    /// holds for the parts of a composition, too, whatever extraction they have of their own.
    pub extract_is_given: bool,
    /// The question as the dataset has it, where it is known.
    pub prompt: Option<&'a str>,
    /// Where agents are asked, for scorers that ask some.
    pub(crate) desk: Option<NamedDesk<'a>>,
    /// The id of the sample and the epoch, where they are known.
    pub(crate) item: Option<(&'a str, u32)>,
}

impl<'a> Answer<'a> {
    /// A prediction and its ground truth, with nothing around them: the output is empty, there is no metadata
    /// and no sample. It is what a test of a scorer needs.
    ///
    /// ```
    /// use evaltest::scorer::GaiaScorer;
    /// use evaltest::{Answer, Scorer, Target};
    ///
    /// # fn main() -> evaltest::Result<()> {
    /// let target = Target::from("1000");
    /// assert!(GaiaScorer.score(&Answer::new("$1,000", &target))?.correct);
    /// assert!(!GaiaScorer.score(&Answer::new(None, &target))?.correct);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(prediction: impl Into<Option<&'a str>>, target: &'a Target) -> Self {
        static NOTHING: LazyLock<(Output, Map<String, Value>)> = LazyLock::new(Default::default);
        Self {
            prediction: prediction.into(),
            target,
            output: &NOTHING.0,
            metadata: &NOTHING.1,
            sample: None,
            extract_is_given: false,
            prompt: None,
            desk: None,
            item: None,
        }
    }

    /// The output that the prediction was taken from. Compositions take predictions of their own from its text.
    #[must_use]
    pub fn output(self, output: &'a Output) -> Self {
        Self { output, ..self }
    }

    /// The question as the dataset has it.
    #[must_use]
    pub fn prompt(self, prompt: &'a str) -> Self {
        Self {
            prompt: Some(prompt),
            ..self
        }
    }

    /// The metadata of the sample.
    #[must_use]
    pub fn metadata(self, metadata: &'a Map<String, Value>) -> Self {
        Self { metadata, ..self }
    }
}

/// What is about to be judged.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Beginning<'a> {
    /// The ids of all samples.
    pub ids: &'a [&'a str],
    /// How predictions are taken from answers.
    pub extract: &'a Extract,
    /// The runs whose answers are judged anew, by their ids.
    pub runs: &'a BTreeSet<String>,
}

/// Tells scorers what is about to be judged; an error knows the place of the scorer.
pub(crate) fn begin(
    scorers: &[Arc<dyn Scorer>],
    extraction: &Extraction,
    ids: &[&str],
    runs: &BTreeSet<String>,
) -> std::result::Result<(), (usize, crate::error::Error)> {
    for (place, scorer) in scorers.iter().enumerate() {
        let extract = &extraction.of(&**scorer);
        let begun = scorer.begin(&Beginning { ids, extract, runs });
        let name = scorer.name();
        begun.map_err(|error| (place, error.at(format_args!("scorer `{name}`"))))?;
    }
    Ok(())
}

/// Judges one answer.
///
/// A closure with a name is a scorer, too: `("brief", |answer: &Answer<'_>| Ok(Score::binary(…)))`.
///
/// ```
/// use evaltest::{Answer, Result, Score, Scorer};
///
/// /// Correct if the answer ends as the ground truth does.
/// struct EndsWith;
///
/// impl Scorer for EndsWith {
///     fn name(&self) -> &str {
///         "ends_with"
///     }
///
///     fn score(&self, answer: &Answer<'_>) -> Result<Score> {
///         let truth = answer.target.as_text().unwrap_or_default();
///         Ok(Score::binary(answer.prediction.is_some_and(|text| text.ends_with(truth))))
///     }
/// }
/// ```
pub trait Scorer: Send + Sync {
    /// The name under which its scores are recorded.
    fn name(&self) -> &str;

    /// Judges; an error means that it could not.
    fn score(&self, answer: &Answer<'_>) -> Result<Score>;

    /// Whether samples without a ground truth are left `unscored`. A scorer that judges by itself says no.
    fn needs_target(&self) -> bool {
        true
    }

    /// The extraction that is part of the rule. It replaces that of the benchmark, not one that a spec or
    /// the command line asks for.
    fn extract(&self) -> Option<Extract> {
        None
    }

    /// What decides the verdict on one sample alone besides its ground truth, such as a rule in its metadata. It
    /// is part of what tells versions of a sample apart.
    ///
    /// # Errors
    /// When the sample cannot be judged. This is asked before any agent starts.
    fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        let _ = sample;
        Ok(None)
    }

    /// Whether it can judge an answer at all. One that it cannot judge is unscored, and outside every denominator.
    fn judges(&self, answer: &Answer<'_>) -> bool {
        let _ = answer;
        true
    }

    /// Refuses what it was given where that does not fit the samples of the eval, such as labels with ids that there are
    /// not. This is asked before any agent starts.
    ///
    /// # Errors
    /// When it does not fit.
    fn check_samples(&self, is_there: &dyn Fn(&str) -> bool) -> Result<()> {
        let _ = is_there;
        Ok(())
    }

    /// What it looks at besides the prediction and the ground truth. It need not be told, but whoever reads
    /// answers from a file then reads less of it.
    fn reads(&self) -> Reads {
        Reads::Everything
    }

    /// Everything that can change a verdict: name, options, version of the rule. Two runs are only
    /// compared when it is equal.
    fn fingerprint(&self) -> String {
        self.name().to_owned()
    }

    /// The names of the details that its scores may have, so that a gate such as `mean(f1)` is checked before
    /// anything is asked: `Some(vec!["f1".into()])`. `None` where they are not known, and no gate is refused.
    fn details(&self) -> Option<Vec<Cow<'static, str>>> {
        None
    }

    /// The lowest and the highest that a detail can be, by its name, such as 1 and 5 for the points of a judge;
    /// `value` names the score itself. A gate such as `mean(points)` counts answers that could not be judged as the
    /// one and as the other. Of a detail that is not named they are 0 and 1, or what was seen where that is further
    /// out.
    fn bounds(&self) -> Vec<(Cow<'static, str>, [f64; 2])> {
        Vec::new()
    }

    /// How labels of people become the figures that it gives itself, for scorers that judge as people do. It is not
    /// that of a composition.
    fn judge_rule(&self) -> Option<JudgeRule> {
        None
    }

    /// The file of its calibration on labels of people. It changes no verdict, and so is no part of the fingerprint.
    fn calibration(&self) -> Option<&Path> {
        None
    }

    /// The agents that it asks. They are checked before anything starts, and closed when the run is over.
    fn agents(&self) -> Vec<Arc<dyn Agent>> {
        Vec::new()
    }

    /// Whether agents tell it what they think of answers, so that labels of people can say what that is worth.
    #[doc(hidden)]
    fn asks_opinions(&self) -> bool {
        !self.agents().is_empty()
    }

    /// Values that must not reach a record, such as a key that the scorer was given.
    fn secrets(&self) -> Vec<String> {
        Vec::new()
    }

    /// The variables among its [secrets](Self::secrets), name and value, so that people are told whose value was often
    /// blanked: those of its agents, unless it has others.
    fn secret_variables(&self) -> Vec<(String, String)> {
        let agents = self.agents();
        agents
            .iter()
            .flat_map(|agent| agent.secret_variables())
            .collect()
    }

    /// The variables that it is to hand to a program and that have no value, as they are named: those of its agents,
    /// unless it has others. People are told before anything is paid.
    fn unset_variables(&self) -> Vec<String> {
        let agents = self.agents();
        agents
            .iter()
            .flat_map(|agent| agent.unset_variables())
            .collect()
    }

    /// What is about to be judged, told before anybody is asked: for scorers that must know all samples first.
    ///
    /// # Errors
    /// When it cannot be judged so.
    #[doc(hidden)]
    fn begin(&self, about: &Beginning<'_>) -> Result<()> {
        let _ = about;
        Ok(())
    }

    /// What of its options people should know before they pay for a run, such as a limit that nobody gave and that
    /// fits another scale.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What people should know of these scorers before they pay for a run, each with its name.
pub(crate) fn notices(scorers: &[Arc<dyn Scorer>]) -> Vec<String> {
    let of = |scorer: &Arc<dyn Scorer>| {
        let told = scorer.notices().into_iter();
        let told = told.map(|notice| format!("scorer `{}`: {notice}", scorer.name()));
        told.collect::<Vec<_>>()
    };
    scorers.iter().flat_map(of).collect()
}

/// A shared scorer is one.
impl<S: Scorer + ?Sized> Scorer for Arc<S> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        (**self).score(answer)
    }

    forward!(self => (**self));

    fn details(&self) -> Option<Vec<Cow<'static, str>>> {
        (**self).details()
    }

    fn bounds(&self) -> Vec<(Cow<'static, str>, [f64; 2])> {
        (**self).bounds()
    }

    fn judge_rule(&self) -> Option<JudgeRule> {
        (**self).judge_rule()
    }

    fn calibration(&self) -> Option<&Path> {
        (**self).calibration()
    }

    fn fingerprint(&self) -> String {
        (**self).fingerprint()
    }
}

/// What a scorer looks at, besides the prediction and the ground truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reads {
    /// Nothing.
    Text,
    /// How many messages there are, and who wrote them: of each message only its `role`.
    Roles,
    /// Whatever an [`Answer`] has.
    Everything,
    /// The same, for calls of tools: a prediction may be JSON then, and is its text.
    Calls,
}

/// A named closure is a scorer.
impl<F> Scorer for (&'static str, F)
where
    F: Fn(&Answer<'_>) -> Result<Score> + Send + Sync,
{
    fn name(&self) -> &str {
        self.0
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        self.1(answer)
    }
}
