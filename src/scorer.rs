//! The `Scorer` trait, and the built-in scorers.
//!
//! Scorers are pure: no clock, no environment, no file. There are two exceptions: [`CommandScorer`] runs a program,
//! and [`Semantic`] calls an endpoint (by your own [`Embedder`], or `HttpEmbedder` with the feature `http`). A scorer
//! that cannot score an answer returns an error, which is recorded as `scorer_failed` and never counts as a wrong
//! answer.
//!
//! Names in specs and types: `aime` [`AimeScorer`], `all` [`All`], `any` [`Any`], `any_of` [`AnyOf`], `ast_match`
//! `AstMatch` (with strictness `Types`, and `CallsToFind` for additional calls; feature `bfcl`), `command`
//! [`CommandScorer`] (also [`without_target`](CommandScorer::without_target)), `exact` [`Exact`] (with [`LabelSet`],
//! and a [`Folding`] to a [`Form`] of Unicode), `fuzzy` [`Fuzzy`], `gaia` [`GaiaScorer`], which is [`question_scorer`]
//! with its [`GaiaVerdict`] by [`TruthKind`], `gsm8k` [`Gsm8kScorer`], `includes` [`Includes`], `json` [`Json`],
//! `list` [`List`], `not` [`Not`], `numeric` [`Numeric`] (with [`Percent`], [`Units`], [`DecimalSign`] and a
//! [`Tolerance`]), `qa` [`QaScorer`], `qa_f1` [`QaF1`], `qa_f1_format` [`QaF1Format`], `quasi_exact` [`QuasiExact`]
//! (or [`as_documented`](QuasiExact::as_documented)), `semantic` [`Semantic`], `substring` [`Substring`], `token_f1`
//! [`TokenF1`], `trajectory` `Trajectory` (feature `bfcl`), `weighted` [`Weighted`].
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
use ask::client::NamedClient;
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
pub use maker::Maker;
pub(crate) use maker::ResolvedAgent;
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

/// The input of a scorer.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Answer<'a> {
    /// The prediction extracted from the raw answer; `None` if the agent gave none.
    pub prediction: Option<&'a str>,
    /// The ground truth.
    pub target: &'a Target,
    /// The whole output, for scorers that use messages or tool calls.
    pub output: &'a Output,
    /// The sample's metadata, for scorers with criteria in it.
    pub metadata: &'a Map<String, Value>,
    /// The sample, if available: `score` and `rescore` have none.
    pub sample: Option<&'a Sample>,
    /// Whether the extraction was set by a spec or the command line, or the prediction is a part of one: then it also
    /// applies to the parts of a composition, instead of their own extractions.
    pub extract_is_given: bool,
    /// The dataset's question, if known.
    pub prompt: Option<&'a str>,
    /// The client for scorers that call agents.
    pub(crate) client: Option<NamedClient<'a>>,
    /// The id of the sample and the epoch, if known.
    pub(crate) item: Option<(&'a str, u32)>,
}

impl<'a> Answer<'a> {
    /// A prediction and its ground truth, without output, metadata and sample. For tests of scorers.
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
            client: None,
            item: None,
        }
    }

    /// Sets the output that the prediction was extracted from. Compositions extract their own predictions from its
    /// text.
    #[must_use]
    pub fn output(self, output: &'a Output) -> Self {
        Self { output, ..self }
    }

    /// Sets the dataset's question.
    #[must_use]
    pub fn prompt(self, prompt: &'a str) -> Self {
        Self {
            prompt: Some(prompt),
            ..self
        }
    }

    /// Sets the sample's metadata.
    #[must_use]
    pub fn metadata(self, metadata: &'a Map<String, Value>) -> Self {
        Self { metadata, ..self }
    }
}

/// Information for scorers before scoring starts.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Beginning<'a> {
    /// The ids of all samples.
    pub ids: &'a [&'a str],
    /// The extraction of predictions.
    pub extract: &'a Extract,
    /// Ids of the runs being rescored.
    pub runs: &'a BTreeSet<String>,
}

/// Notifies scorers before scoring starts; an error has the position of the scorer.
pub(crate) fn begin(
    scorers: &[Arc<dyn Scorer>],
    extraction: &Extraction,
    ids: &[&str],
    runs: &BTreeSet<String>,
) -> std::result::Result<(), (usize, crate::error::Error)> {
    for (place, scorer) in scorers.iter().enumerate() {
        let extract = &extraction.of(&**scorer);
        let prepared = scorer.begin(&Beginning { ids, extract, runs });
        let name = scorer.name();
        prepared.map_err(|error| (place, error.at(format_args!("scorer `{name}`"))))?;
    }
    Ok(())
}

/// Scores one answer.
///
/// A named closure is a scorer, too: `("brief", |answer: &Answer<'_>| Ok(Score::binary(…)))`.
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
    /// The name of its scores in records.
    fn name(&self) -> &str;

    /// Scores an answer; an error means that it could not be scored.
    fn score(&self, answer: &Answer<'_>) -> Result<Score>;

    /// Whether samples without a ground truth are `unscored`. Return false for a scorer that needs none.
    fn needs_target(&self) -> bool {
        true
    }

    /// The scorer's own extraction. It replaces that of the benchmark, but not one set by a spec or the command line.
    fn extract(&self) -> Option<Extract> {
        None
    }

    /// What determines the verdict on a sample besides its ground truth, such as a rule in its metadata. Part of the
    /// identity of a sample's version.
    ///
    /// # Errors
    /// If the sample cannot be scored. Called before any agent starts.
    fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        let _ = sample;
        Ok(None)
    }

    /// Whether it can score an answer. If not, the answer is unscored, and not part of any denominator.
    fn judges(&self, answer: &Answer<'_>) -> bool {
        let _ = answer;
        true
    }

    /// Checks that its options fit the samples of the eval, such as labels with known ids. Called before any agent
    /// starts.
    ///
    /// # Errors
    /// If they do not fit.
    fn check_samples(&self, is_there: &dyn Fn(&str) -> bool) -> Result<()> {
        let _ = is_there;
        Ok(())
    }

    /// The inputs it uses besides the prediction and the ground truth. Optional, but lets commands skip parts of a
    /// file.
    fn reads(&self) -> Reads {
        Reads::Everything
    }

    /// Everything that can change a verdict: name, options, version of the rule. Runs are only compared if it is
    /// equal.
    fn fingerprint(&self) -> String {
        self.name().to_owned()
    }

    /// Names of the details of its scores, so that a gate such as `mean(f1)` is checked before anything is requested:
    /// `Some(vec!["f1".into()])`. `None` if unknown, which accepts any gate.
    fn details(&self) -> Option<Vec<Cow<'static, str>>> {
        None
    }

    /// Minimum and maximum of details by name, such as 1 and 5 for a judge's points; `value` is the score itself. A
    /// gate such as `mean(points)` counts unscored answers as either bound. The default is 0 and 1, or the observed
    /// values if they are further out.
    fn bounds(&self) -> Vec<(Cow<'static, str>, [f64; 2])> {
        Vec::new()
    }

    /// How human labels become the scorer's own figures, for judges. Not implemented by compositions.
    fn judge_rule(&self) -> Option<JudgeRule> {
        None
    }

    /// The file of its calibration with human labels. It does not affect verdicts, so it is not part of the
    /// fingerprint.
    fn calibration(&self) -> Option<&Path> {
        None
    }

    /// The agents it calls. They are checked before anything starts, and closed at the end of the run.
    fn agents(&self) -> Vec<Arc<dyn Agent>> {
        Vec::new()
    }

    /// Whether it asks agents for opinions on answers, so that human labels can measure their reliability.
    #[doc(hidden)]
    fn asks_opinions(&self) -> bool {
        !self.agents().is_empty()
    }

    /// Values that must not be recorded, such as keys.
    fn secrets(&self) -> Vec<String> {
        Vec::new()
    }

    /// Names and values of the variables among its [secrets](Self::secrets), to report whose value was redacted often.
    /// By default those of its agents.
    fn secret_variables(&self) -> Vec<(String, String)> {
        let agents = self.agents();
        agents
            .iter()
            .flat_map(|agent| agent.secret_variables())
            .collect()
    }

    /// Names of variables that it passes to a program but that are not set; by default those of its agents. Reported
    /// before any cost arises.
    fn unset_variables(&self) -> Vec<String> {
        let agents = self.agents();
        agents
            .iter()
            .flat_map(|agent| agent.unset_variables())
            .collect()
    }

    /// Called before anything is requested, for scorers that must know all samples first.
    ///
    /// # Errors
    /// If they cannot be scored.
    #[doc(hidden)]
    fn begin(&self, about: &Beginning<'_>) -> Result<()> {
        let _ = about;
        Ok(())
    }

    /// Notes on its options that users should see before they pay for a run, such as a default limit that fits another
    /// scale.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The notes of these scorers, each with its name.
pub(crate) fn notices(scorers: &[Arc<dyn Scorer>]) -> Vec<String> {
    let of = |scorer: &Arc<dyn Scorer>| {
        let notices = scorer.notices().into_iter();
        let notices = notices.map(|notice| format!("scorer `{}`: {notice}", scorer.name()));
        notices.collect::<Vec<_>>()
    };
    scorers.iter().flat_map(of).collect()
}

/// Forwards to the shared scorer.
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

/// The inputs of a scorer besides the prediction and the ground truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reads {
    /// Nothing.
    Text,
    /// The number of messages and their roles: of each message only its `role`.
    Roles,
    /// Everything in an [`Answer`].
    Everything,
    /// Everything, for tool calls: the prediction may be JSON, and its text is used.
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
