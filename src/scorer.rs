//! The `Scorer` trait, and the built-in scorers.
//!
//! Scorers are pure: no clock, no environment, no file. There are two exceptions: [`CommandScorer`] runs a program, and
//! judges ask a model (feature `judge`; `Semantic` by your own `Embedder`, or by `HttpEmbedder`). A scorer that cannot
//! score an answer returns an error, which is recorded as `scorer_failed` and never counts as a wrong answer.
//!
//! Names in specs and types: `aime` [`AimeScorer`], `all` [`All`], `any` [`Any`], `any_of` [`AnyOf`], `ast_match`
//! `AstMatch` (with strictness `Types`, and `CallsToFind` for additional calls; feature `bfcl`), `command`
//! [`CommandScorer`] (also [`without_target`](CommandScorer::without_target)), `exact` [`Exact`] (with [`LabelSet`],
//! and a [`Folding`] to a [`Form`] of Unicode), `fuzzy` [`Fuzzy`], `gaia` [`GaiaScorer`], which is [`question_scorer`]
//! with its [`GaiaVerdict`] by [`TruthKind`], `gsm8k` [`Gsm8kScorer`], `includes` [`Includes`], `json` [`Json`],
//! `list` [`List`], `not` [`Not`], `numeric` [`Numeric`] (with [`Percent`], [`Units`], [`DecimalSign`] and a
//! [`Tolerance`]), `qa` [`QaScorer`], `qa_f1` [`QaF1`], `qa_f1_format` [`QaF1Format`], `quasi_exact` [`QuasiExact`]
//! (or [`as_documented`](QuasiExact::as_documented)), `semantic` `Semantic` (feature `judge`), `state` [`State`],
//! `substring` [`Substring`], `token_f1` [`TokenF1`], `trajectory` `Trajectory` (feature `bfcl`), `weighted` [`Weighted`].
//!
#![doc = include_str!("scorer/guide.md")]

pub(crate) mod calls;
pub(crate) mod compose;
pub(crate) mod extract;

pub(crate) mod gaia;
pub(crate) mod hash;
#[cfg(feature = "judge")]
pub(crate) mod item;
pub(crate) mod json;
pub(crate) mod missed;
pub(crate) mod number;
pub(crate) mod options;
pub(crate) mod state;
pub(crate) mod string;

pub(crate) mod ask;

#[cfg(test)]
pub(crate) mod tests;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::agent::Agent;
use crate::data::{DetailBounds, Output, Sample, Score, Target};
use crate::error::Result;
use crate::scorer::extract::{Extract, Extraction};
use ask::client::NamedClient;
use compose::forward::forward;

pub use crate::data::JudgeRule;

pub use ask::command::CommandScorer;
#[cfg(feature = "judge")]
pub use ask::judge::Judge;
#[cfg(feature = "judge")]
pub use ask::jury::{Aggregate, Jury};
#[cfg(feature = "judge")]
pub use ask::pairwise::Pairwise;
#[cfg(all(feature = "http", feature = "judge"))]
pub use ask::semantic::http::HttpEmbedder;
#[cfg(feature = "judge")]
pub use ask::semantic::{Embedder, Semantic};
#[cfg(feature = "bfcl")]
pub use calls::ast_match::{AstMatch, CallsToFind, Types};
#[cfg(feature = "bfcl")]
pub use calls::trajectory::Trajectory;
pub use compose::all::All;
pub use compose::any::Any;
pub use compose::any_of::AnyOf;
pub use compose::maker::Maker;
pub(crate) use compose::maker::ResolvedAgent;
pub use compose::not::Not;
pub(crate) use compose::parts::verdict;
pub use compose::weighted::Weighted;
pub use gaia::{GaiaScorer, GaiaVerdict, TruthKind, question_scorer};
pub use json::Json;
pub use number::aime::AimeScorer;
pub use number::gsm8k::Gsm8kScorer;
pub use number::numeric::{DecimalSign, Numeric, Percent, Units};
pub(crate) use options::OptionReader;
pub use state::State;
pub use string::exact::{Exact, LabelSet};
pub use string::folding::{Folding, Form};
pub use string::fuzzy::Fuzzy;
pub use string::includes::Includes;
pub use string::list::List;
pub use string::qa::QaScorer;
pub use string::qa_f1::{QaF1, QaF1Format};
pub use string::quasi_exact::QuasiExact;
pub use string::substring::Substring;
pub use string::token_f1::TokenF1;

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
    /// values if they are further out. A detail that has bounds is taken for a measure of the answer, not for a part
    /// of it: [masked](crate::Answers::Masked) snapshots store no other.
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

/// The [bounds](Scorer::bounds) of details that are shares.
pub(crate) fn shares(names: &[&'static str]) -> Vec<(Cow<'static, str>, [f64; 2])> {
    let names = names.iter();
    names.map(|name| ((*name).into(), [0.0, 1.0])).collect()
}

/// The declared bounds of all scorers. Anything but a pair of numbers, lower first, is skipped.
pub(crate) fn detail_bounds(scorers: &[Arc<dyn Scorer>]) -> DetailBounds {
    let mut all = DetailBounds::new();
    for scorer in scorers {
        let bounds = scorer.bounds().into_iter();
        let is_sound = |[low, high]: [f64; 2]| low.is_finite() && high.is_finite() && low <= high;
        let sound = bounds.filter(|(_, bounds)| is_sound(*bounds));
        let bounds: std::collections::BTreeMap<_, _> = sound
            .map(|(detail, bounds)| (detail.into_owned(), bounds))
            .collect();
        if !bounds.is_empty() {
            all.insert(scorer.name().to_owned(), bounds);
        }
    }
    all
}

/// How to choose a scorer, and how each differs from the official GAIA rule, in Markdown.
pub const GUIDE: &str = include_str!("scorer/guide.md");

/// A built-in scorer, as listed by `cargo evaltest scorers`.
#[derive(Debug)]
pub struct Entry {
    /// The name in specs.
    pub name: &'static str,
    /// The rule in one line.
    pub summary: &'static str,
    /// The whole rule, in Markdown: meaning, range, what `correct` and `reason` mean, details, limits.
    pub rule: &'static str,
    /// The options, each with its meaning and default.
    pub options: &'static [(&'static str, &'static str)],
    /// Examples of the rule.
    pub examples: &'static [Example],
    /// Makes the scorer.
    pub(crate) make: fn(&OptionReader<'_>) -> Result<Arc<dyn Scorer>>,
}

/// A complete, minimal spec that demonstrates a scorer. A test runs every one.
#[derive(Clone, Debug)]
pub struct SmallSpec {
    /// What it demonstrates.
    pub name: &'static str,
    /// When to choose it.
    pub summary: &'static str,
    /// The spec, in YAML.
    pub text: String,
    /// A file used by the spec: its path relative to the spec's folder, and its content.
    pub file: Option<(&'static str, &'static str)>,
}

/// A pair of prediction and ground truth with its verdict. A test checks every one.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The options as YAML; empty for none.
    pub options: &'static str,
    /// The agent's answer.
    pub prediction: &'static str,
    /// The ground truth, as JSON or as plain text.
    pub ground_truth: &'static str,
    /// The verdict.
    pub correct: bool,
    /// What the example shows.
    pub note: &'static str,
}

impl Example {
    /// The ground truth.
    pub fn target(&self) -> Target {
        let text = self.ground_truth;
        let value = text
            .starts_with(['[', '{'])
            .then(|| serde_json::from_str(text).ok());
        Target(value.flatten().unwrap_or_else(|| text.into()))
    }

    /// Scores this pair, including the scorer's own extraction, like `score` does.
    pub fn judge(&self, scorer: &dyn Scorer) -> Result<Score> {
        let extract = scorer.extract().unwrap_or_default();
        let prediction = extract.apply(self.prediction);
        let target = self.target();
        let output = Output::text(self.prediction);
        scorer.score(&Answer {
            prediction: prediction.as_deref(),
            ..Answer::new(self.prediction, &target).output(&output)
        })
    }
}

/// How far a number may be from the expected one. The larger of both limits applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Tolerance {
    /// The absolute limit.
    pub abs: f64,
    /// The limit as a share of the expected number.
    pub rel: f64,
}

const ABS_TOL: (&str, &str) = (
    "abs_tol",
    "by how much a number may differ from the expected one; default 0",
);
const REL_TOL: (&str, &str) = (
    "rel_tol",
    "by which share of the expected one a number may differ; default 0",
);

impl Tolerance {
    fn read(options: &OptionReader<'_>) -> Result<Self> {
        let number = |name| Ok(options.number_in(name, 0.0, f64::MAX)?.unwrap_or(0.0));
        Ok(Self {
            abs: number("abs_tol")?,
            rel: number("rel_tol")?,
        })
    }

    /// Whether the number is close enough. A difference equal to the tolerance is accepted, up to rounding: 1.1 is
    /// within 0.1 of 1.
    fn covers(self, got: f64, expected: f64) -> bool {
        let allowed = self.abs.max(self.rel * expected.abs());
        let rounding = 4.0 * f64::EPSILON * got.abs().max(expected.abs());
        allowed > 0.0 && (got - expected).abs() <= allowed + rounding
    }
}

#[cfg(test)]
mod bounds_tests {
    use std::borrow::Cow;

    use super::*;
    use crate::data::Score;
    use crate::error::Result;
    use crate::scorer::{Answer, Exact};

    struct Points(Vec<(Cow<'static, str>, [f64; 2])>);

    impl Scorer for Points {
        fn name(&self) -> &'static str {
            "points"
        }

        fn score(&self, _: &Answer<'_>) -> Result<Score> {
            Ok(Score::binary(true))
        }

        fn bounds(&self) -> Vec<(Cow<'static, str>, [f64; 2])> {
            self.0.clone()
        }
    }

    #[test]
    fn only_pairs_of_numbers_in_order_are_bounds() {
        let bounds = vec![
            ("total".into(), [1.0, 5.0]),
            ("upside_down".into(), [5.0, 1.0]),
            ("endless".into(), [0.0, f64::INFINITY]),
            ("none".into(), [f64::NAN, 1.0]),
        ];
        let scorers: [Arc<dyn Scorer>; 2] = [Arc::new(Points(bounds)), Arc::new(Exact::default())];
        let json = serde_json::to_value(detail_bounds(&scorers)).unwrap();
        assert_eq!(json, serde_json::json!({"points": {"total": [1.0, 5.0]}}));
    }
}

#[cfg(test)]
mod tolerance_tests {
    use super::*;

    fn check(abs: f64, rel: f64, got: f64, expected: f64, expect: bool) {
        let tolerance = Tolerance { abs, rel };
        assert_eq!(
            tolerance.covers(got, expected),
            expect,
            "{tolerance:?} {got} {expected}"
        );
    }

    #[test]
    fn near_enough() {
        check(0.1, 0.0, 1.1, 1.0, true);
        check(0.1, 0.0, 0.9, 1.0, true);
        check(0.1, 0.0, 1.101, 1.0, false);
        check(0.0, 0.01, 99.0, 100.0, true);
        check(0.0, 0.01, 101.0, 100.0, true);
        check(0.0, 0.01, -100.0, 100.0, false);
        check(0.0, 0.01, 1e-9, 0.0, false);
        check(5.0, 0.01, 104.0, 100.0, true);
        check(0.0, 0.0, 1.0, 1.0, false);
        check(1.0, 0.0, f64::INFINITY, f64::INFINITY, false);
        check(f64::MAX, 0.0, f64::NAN, 1.0, false);
        check(0.0, 2.0, f64::MAX, f64::MAX / 2.0, true);
    }
}
