//! `Gate`: a condition that a run must meet, such as `accuracy[level=1] >= 0.75` or `no_regression`.

pub(crate) mod figure;
mod metric;
mod tier;
pub(super) mod tokens;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::data::Record;
use crate::data::record::perturb::PerturbKind;
use crate::data::record::slices_of;
use crate::error::{Error, Result};
use crate::stats::ExactTest;
use tokens::{metric_parts, pair};

pub(crate) use metric::{
    ACCURACY, CORRECTED, DIFFICULTY_DROP, DROP, ERROR_RATE, FAILURE_RATE, LATENCY_MAX,
    LATENCY_PERCENTILE, MACRO_F1, MAJORITY, MEAN, MIN_SAMPLES, Metric, NO_CHANGE, NO_DECREASE,
    NO_INCREASE, NO_REGRESSION, OWN, Op, PASS_AT, PASS_HAT, RATE, REVIEWED, Suffix,
};
pub(crate) use tier::of_tiers;
pub(super) use tier::split_tier;

/// The default level of `no_regression`: the maximum rate at which an unchanged agent fails it.
pub(crate) const DEFAULT_ALPHA: f64 = 0.05;

/// If fewer of the baseline's samples are found, the two runs are hardly of the same eval.
const DEFAULT_MIN_PAIRS: f64 = 0.9;

/// If fewer of the answered samples have a ground truth, the figure is of hardly any of them.
const DEFAULT_MIN_SCORED: f64 = 0.9;

#[expect(
    clippy::struct_excessive_bools,
    reason = "options that do not depend on each other"
)]
/// A condition that a run must meet.
///
/// A gate is written as text, as in a spec, or built in Rust. It is checked against the samples before anything starts,
/// so a senseless one (`accuracy >= 60`) costs nothing, and evaluated when the run is over.
///
/// Errored and skipped samples have no verdict, so every gate but `error_rate` is evaluated with them as wrong and as
/// right: it passes if both pass, fails if both fail, and is inconclusive otherwise. That way an outage neither breaks
/// a build nor lets a worse agent through.
///
/// An eval without its own `error_rate` gets `error_rate <= 0.05` as its last gate. This gate is also evaluated if only
/// some of the samples are selected and other gates are ignored. `error_rate <= 1` never fails.
///
/// An eval that says nothing of gates and has a baseline gets `no_regression`, except under `cargo test`, where each
/// test asserts its sample. [`Eval::no_gates`](crate::Eval::no_gates) asks for none.
///
/// With several scorers a metric may name one: `accuracy(substring)`, `macro_f1(choice)`, `mean(qa_f1.f1)`. Without a
/// name it is that of the deciding scorer, and `mean(f1)` finds the detail of another scorer if only one has it. An
/// unknown name is an error that lists the legal ones: before the run for scorers, and for details if all scorers
/// declare theirs ([`Scorer::details`](crate::Scorer::details)); otherwise in the verdict (`inconclusive`) or, when a
/// finished run is checked again, at once.
///
/// Several `no_regression` gates of an eval are adjusted together (Holm), so that an unchanged agent passes all of them
/// as often as it would pass one.
///
/// `metric(NAME)` is a benchmark's own aggregate, such as `metric(overall)` of `bfcl`; the summary has them under
/// `metrics`. An unknown name is an error before anything starts if the benchmark declares its names
/// ([`Benchmark::metric_names`](crate::Benchmark::metric_names)). One without a value (N/A) is inconclusive.
///
/// | in a spec | in Rust |
/// |---|---|
/// | `accuracy >= 60%`, `accuracy(NAME) >= 60%` | [`accuracy`](Gate::accuracy), [`accuracy_of`](Gate::accuracy_of) |
/// | `accuracy >= 0.6 (confidence=0.95)` | the same with [`confidence`](Gate::confidence) |
/// | `accuracy >= 0.6 (min_scored=0.5)` | the same with [`min_scored`](Gate::min_scored) |
/// | `no_regression(alpha=0.05, mid_p=true)` | [`no_regression`](Gate::no_regression) with [`alpha`](Gate::alpha) and [`mid_p`](Gate::mid_p) |
/// | `no_regression(exact=conditional)` | the same with [`conditional`](Gate::conditional) |
/// | `no_regression(early_stop=true)` | the same with [`early_stop`](Gate::early_stop) |
/// | `no_increase(tokens, by=10%)`, `no_decrease(judge.total)` | [`no_increase`](Gate::no_increase), [`no_decrease`](Gate::no_decrease) with [`by`](Gate::by) and [`of_correct`](Gate::of_correct) |
/// | `no_change(trajectory)` | [`no_change`](Gate::no_change) |
/// | `no_regression(max_drop=0.02, min_pairs=0.9)` | the same with [`max_drop`](Gate::max_drop) and [`min_pairs`](Gate::min_pairs) |
/// | `error_rate <= 2%`, `failure_rate <= 40%` | [`error_rate`](Gate::error_rate), [`failure_rate`](Gate::failure_rate) |
/// | `min_samples >= 100` | [`min_samples`](Gate::min_samples) |
/// | `mean(NAME) >= 0.5`, `metric(NAME) >= 0.5` | [`mean`](Gate::mean), [`own_metric`](Gate::own_metric) |
/// | `corrected(JUDGE.NAME) >= 4` | [`corrected`](Gate::corrected), with [`confidence`](Gate::confidence) too |
/// | `macro_f1 >= 0.5`, `macro_f1(NAME) >= 0.5` | [`macro_f1`](Gate::macro_f1), [`macro_f1_of`](Gate::macro_f1_of) |
/// | `pass@3 >= 0.8`, `pass^3 >= 0.5`, `majority >= 0.7` | [`pass_at`](Gate::pass_at), [`pass_hat`](Gate::pass_hat), [`majority`](Gate::majority) |
/// | `latency_p95 <= 20s`, `latency_mean <= 5s` | [`latency_percentile`](Gate::latency_percentile), [`latency_mean`](Gate::latency_mean) |
/// | `steps <= 8`, `steps_ratio <= 2` | [`steps`](Gate::steps), [`steps_ratio`](Gate::steps_ratio) |
/// | `difficulty_drop <= 0.3`, `difficulty_drop(1->2) <= 0.3` | [`difficulty_drop`](Gate::difficulty_drop), [`difficulty_drop_between`](Gate::difficulty_drop_between) |
/// | `drop(typos) <= 0.1` | [`drop`](Gate::drop), with [`confidence`](Gate::confidence) too |
/// | `recovered_by_retry <= 10%` | [`recovered_by_retry`](Gate::recovered_by_retry) |
/// | `error_rate[tier=quick] <= 2%` | any of them with [`tier`](Gate::tier) |
/// | `cost_usd <= 2`, `tokens <= 9000` | [`cost_usd`](Gate::cost_usd), [`tokens`](Gate::tokens), [`input_tokens`](Gate::input_tokens), [`output_tokens`](Gate::output_tokens) |
///
/// ```
/// use evaltest::Gate;
///
/// let gate: Gate = "accuracy[level=1] >= 75%".parse()?;
/// assert_eq!(gate, Gate::accuracy(0.75).slice("level", "1"));
/// assert_eq!(gate.name(), "accuracy[level=1]");
/// # Ok::<(), evaltest::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    pub(super) metric: Metric,
    /// `None` means the whole run.
    pub(super) slice: Option<Slice>,
    /// The only tier in which it is evaluated.
    pub(super) tier: Option<String>,
    /// `None` for `no_regression`, which has options instead.
    pub(super) bound: Option<(Op, f64)>,
    /// The notation of the threshold.
    pub(super) unit: WrittenIn,
    pub(super) alpha: Option<f64>,
    pub(super) max_drop: Option<f64>,
    /// Whether it is a default gate.
    pub(super) is_default: bool,
    pub(super) mid_p: bool,
    /// Whether it keeps to the conditional test.
    pub(super) conditional: bool,
    pub(super) early_stop: bool,
    pub(super) min_pairs: Option<f64>,
    /// The margin of a figure.
    pub(super) by: Option<f64>,
    /// The answers whose figures are compared.
    pub(super) of: Option<figure::OfAnswers>,
    /// The smallest share of the answered samples that must have a ground truth.
    pub(super) min_scored: Option<f64>,
    /// The confidence of the interval whose upper end is compared with the threshold.
    pub(super) confidence: Option<f64>,
}

/// The notation of a threshold. `60%` and `0.6` are the same gate; the notation only matters if neither makes sense.
#[derive(Clone, Copy, Debug)]
pub(super) enum WrittenIn {
    Number,
    Percent,
}

impl PartialEq for WrittenIn {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Gate {
    /// At least this share (0 to 1) of the scored samples is correct.
    pub fn accuracy(at_least: f64) -> Self {
        Self::bounded(Metric::plain(ACCURACY), Op::AtLeast, at_least)
    }

    /// At least this share (0 to 1) is correct by the scorer of that name, if there are several.
    pub fn accuracy_of(scorer: impl Into<String>, at_least: f64) -> Self {
        let metric = Metric::of(ACCURACY, Some(scorer.into()));
        Self::bounded(metric, Op::AtLeast, at_least)
    }

    /// At most this share (0 to 1) of the asked samples ended in an error, that is, an outage, not a wrong answer.
    pub fn error_rate(at_most: f64) -> Self {
        Self::bounded(Metric::plain(ERROR_RATE), Op::AtMost, at_most)
    }

    /// At most this share (0 to 1) of the scored samples is wrong: 1 - accuracy.
    pub fn failure_rate(at_most: f64) -> Self {
        Self::bounded(Metric::plain(FAILURE_RATE), Op::AtMost, at_most)
    }

    /// At least this number of samples was scored.
    pub fn min_samples(at_least: u32) -> Self {
        Self::bounded(Metric::plain(MIN_SAMPLES), Op::AtLeast, f64::from(at_least))
    }

    /// The mean of a detail, or of the score itself (`value`), is at least this. With several scorers, `SCORER.DETAIL`
    /// names the scorer.
    pub fn mean(name: impl Into<String>, at_least: f64) -> Self {
        Self::bounded(Metric::of(MEAN, Some(name.into())), Op::AtLeast, at_least)
    }

    /// The mean of a judge's figure, `JUDGE.DETAIL`, corrected by labels of a random sample of this run, is at least
    /// this; `JUDGE` alone means its accuracy. Inconclusive without such labels.
    pub fn corrected(name: impl Into<String>, at_least: f64) -> Self {
        Self::bounded(
            Metric::of(CORRECTED, Some(name.into())),
            Op::AtLeast,
            at_least,
        )
    }

    /// A benchmark's own aggregate is at least this.
    pub fn own_metric(name: impl Into<String>, at_least: f64) -> Self {
        Self::bounded(Metric::of(OWN, Some(name.into())), Op::AtLeast, at_least)
    }

    /// The macro-F1 of the labels that the deciding scorer judges is at least this (0 to 1).
    pub fn macro_f1(at_least: f64) -> Self {
        Self::bounded(Metric::plain(MACRO_F1), Op::AtLeast, at_least)
    }

    /// The macro-F1 of the labels that the scorer of that name judges is at least this (0 to 1).
    pub fn macro_f1_of(scorer: impl Into<String>, at_least: f64) -> Self {
        Self::bounded(
            Metric::of(MACRO_F1, Some(scorer.into())),
            Op::AtLeast,
            at_least,
        )
    }

    /// At least one of `k` answers is correct with at least this probability (0 to 1), for an eval with at least
    /// `k` epochs.
    pub fn pass_at(k: u32, at_least: f64) -> Self {
        Self::bounded(Metric::of_answers(PASS_AT, k, None), Op::AtLeast, at_least)
    }

    /// All of `k` answers are correct with at least this probability (0 to 1), for an eval with at least `k`
    /// epochs.
    pub fn pass_hat(k: u32, at_least: f64) -> Self {
        Self::bounded(Metric::of_answers(PASS_HAT, k, None), Op::AtLeast, at_least)
    }

    /// The most frequent answer is correct for at least this share (0 to 1) of the samples.
    pub fn majority(at_least: f64) -> Self {
        Self::bounded(Metric::plain(MAJORITY), Op::AtLeast, at_least)
    }

    /// The `percent`-th percentile of the latency of answers is at most this number of seconds.
    pub fn latency_percentile(percent: f64, at_most_s: f64) -> Self {
        Self::bounded(Metric::latency_percentile(percent), Op::AtMost, at_most_s)
    }

    /// The mean latency of answers is at most this number of seconds.
    pub fn latency_mean(at_most_s: f64) -> Self {
        Self::bounded(Metric::plain("latency_mean"), Op::AtMost, at_most_s)
    }

    /// The mean number of steps of correct answers is at most this.
    pub fn steps(at_most: f64) -> Self {
        Self::bounded(Metric::plain("steps"), Op::AtMost, at_most)
    }

    /// The mean ratio of the steps of correct answers to those that people took is at most this.
    pub fn steps_ratio(at_most: f64) -> Self {
        Self::bounded(Metric::plain("steps_ratio"), Op::AtMost, at_most)
    }

    /// Accuracy falls by at most this share (0.3 is 30 % lost) from one level to the next, for the largest drop.
    pub fn difficulty_drop(at_most: f64) -> Self {
        Self::bounded(Metric::plain(DIFFICULTY_DROP), Op::AtMost, at_most)
    }

    /// Accuracy falls by at most this share from one level to another, which must be the next one.
    pub fn difficulty_drop_between(
        from: impl Into<String>,
        to: impl Into<String>,
        at_most: f64,
    ) -> Self {
        let step = LevelStep {
            from: from.into(),
            to: to.into(),
        };
        let metric = Metric::of(DIFFICULTY_DROP, Some(step.to_string()));
        Self::bounded(metric, Op::AtMost, at_most)
    }

    /// At most this share (0 to 1) of the requested answers was obtained only by a retry.
    pub fn recovered_by_retry(at_most: f64) -> Self {
        Self::bounded(Metric::plain("recovered_by_retry"), Op::AtMost, at_most)
    }

    /// People approved at least this share (0 to 1) of what they reviewed.
    pub fn reviewed_approved(at_least: f64) -> Self {
        Self::reviewed("approved", at_least)
    }

    /// A figure of the reviews by people is at least this: `share`, `agreement`, or the mean of a dimension.
    pub fn reviewed(figure: impl Into<String>, at_least: f64) -> Self {
        Self::bounded(Metric::reviewed(figure.into()), Op::AtLeast, at_least)
    }

    /// All answers together cost at most this number of US dollars.
    pub fn cost_usd(at_most: f64) -> Self {
        Self::bounded(Metric::plain("cost_usd"), Op::AtMost, at_most)
    }

    /// All answers together took at most this number of tokens, read and written.
    pub fn tokens(at_most: u32) -> Self {
        Self::bounded(Metric::plain("tokens"), Op::AtMost, f64::from(at_most))
    }

    /// All answers together took at most this number of tokens read by the model.
    pub fn input_tokens(at_most: u32) -> Self {
        Self::bounded(
            Metric::plain("input_tokens"),
            Op::AtMost,
            f64::from(at_most),
        )
    }

    /// All answers together took at most this number of tokens written by the model.
    pub fn output_tokens(at_most: u32) -> Self {
        Self::bounded(
            Metric::plain("output_tokens"),
            Op::AtMost,
            f64::from(at_most),
        )
    }

    /// The run is not worse than the accepted baseline, by an exact test over all answers to the samples with a verdict
    /// on both sides. Inconclusive if it could not have failed, or if too few samples can be compared.
    pub fn no_regression() -> Self {
        Self {
            metric: Metric::plain(NO_REGRESSION),
            slice: None,
            tier: None,
            bound: None,
            unit: WrittenIn::Number,
            alpha: None,
            max_drop: None,
            is_default: false,
            mid_p: false,
            conditional: false,
            early_stop: false,
            min_pairs: None,
            by: None,
            of: None,
            min_scored: None,
            confidence: None,
        }
    }

    /// Perturbed questions have at most so much less accuracy, 0 to 1, than the same questions as they are: see
    /// [`Eval::perturb`](crate::Eval::perturb).
    pub fn drop(kind: PerturbKind, at_most: f64) -> Self {
        let metric = Metric::of(DROP, Some(kind.as_str().to_owned()));
        Self::bounded(metric, Op::AtMost, at_most)
    }

    /// Only over the samples of a slice.
    #[must_use]
    pub fn slice(mut self, dimension: impl Into<String>, value: impl Into<String>) -> Self {
        self.slice = Some(Slice::new(dimension, value));
        self
    }

    /// `no_regression` fails if p is below this (default 0.05), the maximum rate at which an unchanged agent fails.
    #[must_use]
    pub fn alpha(mut self, alpha: f64) -> Self {
        self.alpha = Some(alpha);
        self
    }

    /// `no_regression` also fails if accuracy over the pairs dropped by more than this (0 to 1), even if that is likely
    /// by chance.
    #[must_use]
    pub fn max_drop(mut self, max_drop: f64) -> Self {
        self.max_drop = Some(max_drop);
        self
    }

    /// `no_regression` uses the mid-p: outcomes exactly as likely as the observed one count half. It detects more with
    /// few samples, and an unchanged agent fails about as often as alpha, sometimes slightly more.
    #[must_use]
    pub fn mid_p(mut self) -> Self {
        self.mid_p = true;
        self
    }

    /// `no_regression` keeps to the conditional exact test where it would take the unconditional one: with one answer to
    /// each sample on both sides. It sees a little less with few samples, and takes the number of flips as given.
    #[must_use]
    pub fn conditional(mut self) -> Self {
        self.conditional = true;
        self
    }

    /// `no_regression` may end the run as soon as it and every other gate of the eval are decided: samples are asked in
    /// random order, with up to four interim analyses. Red by O'Brien and Fleming's bounds, so that all analyses
    /// together are red for an unchanged agent no more often than alpha; green if red has become unlikely, which costs
    /// a little power. See O'Brien and Fleming, Biometrics 35 (1979).
    #[must_use]
    pub fn early_stop(mut self) -> Self {
        self.early_stop = true;
        self
    }

    /// `no_regression` is inconclusive if less than this share (0 to 1, default 0.9) of the baseline's samples can be
    /// compared. Those that left the dataset or the gate's slice cannot; a tier is compared with its own samples alone.
    #[must_use]
    pub fn min_pairs(mut self, at_least: f64) -> Self {
        self.min_pairs = Some(at_least);
        self
    }

    /// `accuracy`, or `corrected`, fails only if the upper end of its two-sided interval at this confidence (0 to 1,
    /// usually 0.95) is below the threshold, so that chance alone seldom fails an agent that is just good enough. `drop`,
    /// whose interval is that of 0.95, must have its upper end within the threshold.
    #[must_use]
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.confidence = Some(confidence);
        self
    }

    /// A gate on an accuracy or a mean is inconclusive if less than this share (0 to 1, default 0.9) of the answered
    /// samples of its slice has a ground truth.
    #[must_use]
    pub fn min_scored(mut self, at_least: f64) -> Self {
        self.min_scored = Some(at_least);
        self
    }

    fn bounded(metric: Metric, op: Op, threshold: f64) -> Self {
        Self {
            metric,
            bound: Some((op, threshold)),
            ..Self::no_regression()
        }
    }

    /// Whether it is a default gate, which no eval names.
    pub(crate) fn is_default(&self) -> bool {
        self.is_default
    }

    /// Whether the gate compares with a baseline.
    pub(crate) fn needs_baseline(&self) -> bool {
        self.metric.is(NO_REGRESSION) || self.figure().is_some()
    }

    /// Whether the gate may end the run before every sample was asked.
    pub(crate) fn stops_early(&self) -> bool {
        self.early_stop
    }

    /// The exact test whose p counts. Several looks at the same answers keep to the conditional one.
    pub(crate) fn exact_test(&self, has_analyses: bool) -> ExactTest {
        if self.mid_p {
            ExactTest::MidP
        } else if self.conditional || self.early_stop || has_analyses {
            ExactTest::Conditional
        } else {
            ExactTest::Unconditional
        }
    }

    /// `no_regression` fails if p is below this.
    pub(crate) fn level(&self) -> f64 {
        self.alpha.unwrap_or(DEFAULT_ALPHA)
    }

    /// The smallest share of the baseline's samples that `no_regression` must find in the run.
    pub(super) fn least_pairs(&self) -> f64 {
        self.min_pairs.unwrap_or(DEFAULT_MIN_PAIRS)
    }

    /// The smallest share of the answered samples that must have a ground truth.
    pub(super) fn least_scored(&self) -> f64 {
        self.min_scored.unwrap_or(DEFAULT_MIN_SCORED)
    }

    /// Whether it asks for more than its threshold, not for less.
    pub(crate) fn wants_more(&self) -> bool {
        matches!(self.bound, Some((Op::AtLeast | Op::Above, _)))
    }

    /// What the gate measures.
    pub(crate) fn metric(&self) -> &Metric {
        &self.metric
    }

    /// The name without the threshold, unique within an eval: `accuracy[level=1]`, `no_regression`.
    pub fn name(&self) -> String {
        format!("{}{}", self.metric, self.brackets())
    }
}

/// As it is written in a spec; parses back to an equal gate.
impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options = Vec::new();
        match self.figure() {
            Some(figure) => {
                write!(f, "{}", self.metric.name)?;
                options.push(figure.to_owned());
            }
            None => write!(f, "{}", self.metric)?,
        }
        let numbers = [
            ("by", self.by),
            ("alpha", self.alpha),
            ("max_drop", self.max_drop),
            ("min_pairs", self.min_pairs),
        ];
        let numbers = numbers.into_iter();
        let numbers = numbers.filter_map(|(name, value)| Some(format!("{name}={}", value?)));
        let switches = [("mid_p", self.mid_p), ("early_stop", self.early_stop)].into_iter();
        let switches = switches.filter(|(_, is_on)| *is_on);
        let switches = switches.map(|(name, _)| format!("{name}=true"));
        options.extend(self.conditional.then(|| "exact=conditional".to_owned()));
        options.extend(self.of.map(|of| format!("of={of}")));
        options.extend(numbers.chain(switches));
        if !options.is_empty() {
            write!(f, "({})", options.join(", "))?;
        }
        write!(f, "{}", self.brackets())?;
        if let Some((op, threshold)) = self.bound {
            write!(f, " {op} {threshold}")?;
        }
        let options = [
            ("confidence", self.confidence),
            ("min_scored", self.min_scored),
        ];
        let options = options.into_iter();
        let options = options.filter_map(|(name, value)| Some(format!("{name}={}", value?)));
        let options: Vec<String> = options.collect();
        if options.is_empty() {
            return Ok(());
        }
        write!(f, " ({})", options.join(", "))
    }
}

/// Refuses two gates of one name, such as `accuracy >= 0.6` and `accuracy >= 0.7`: they would be test cases
/// of one name.
pub fn check_unique(gates: &[Gate]) -> Result<()> {
    let mut seen = BTreeMap::new();
    for (item, gate) in gates.iter().enumerate() {
        if let Some(first) = seen.insert(gate.name(), gate) {
            return Err(Error::usage(format!(
                "two gates are called `{}`: `{first}` and `{gate}`",
                gate.name()
            ))
            .hint("keep one of them")
            .under(item));
        }
    }
    Ok(())
}

impl Serialize for Gate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Gate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Default maximum of the error rate; with more errors, nothing is known about the agent.
pub(crate) const DEFAULT_ERROR_RATE: f64 = 0.05;

/// The given gates and the default ones: `no_regression` of the tier that runs, if no gates are given and there is a
/// baseline to compare with, and `error_rate <= 0.05`, unless a given gate has that name, or is the one for the tier.
/// The error rate of a slice says nothing about the other samples and does not replace it.
pub(crate) fn with_default(
    given: Option<&[Gate]>,
    tier: Option<&str>,
    has_baseline: bool,
) -> Vec<Gate> {
    let default = |gate| Gate {
        is_default: true,
        ..gate
    };
    let own = given.unwrap_or_default();
    let compares = Gate {
        tier: tier.map(str::to_owned),
        ..Gate::no_regression()
    };
    let compares = (given.is_none() && has_baseline).then(|| default(compares));
    let is_of_tier = |gate: &Gate| gate.tier.is_none() || gate.tier.as_deref() == tier;
    let is_needed = !own.iter().any(|it| it.is_error_rate() && is_of_tier(it));
    let errors = is_needed.then(|| default(Gate::error_rate(DEFAULT_ERROR_RATE)));
    let own = own.iter().cloned();
    own.chain(compares).chain(errors).collect()
}

/// A pair of adjacent levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LevelStep {
    pub(crate) from: String,
    pub(crate) to: String,
}

impl LevelStep {
    /// Reads `1->2`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let levels = text.split_once("->");
        let levels = levels.map(|(from, to)| [from, to].map(|level| level.trim().to_owned()));
        match levels {
            Some([from, to]) if !from.is_empty() && !to.is_empty() => Ok(Self { from, to }),
            _ => Err(Error::usage(format!("`{text}` does not name two levels"))
                .hint("write both: `difficulty_drop(1->2) <= 0.3`")),
        }
    }
}

/// As in the parentheses of a gate.
impl fmt::Display for LevelStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}->{}", self.from, self.to)
    }
}

/// Samples with a common attribute, such as those of `level=1`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Slice {
    /// The attribute, such as `level`.
    pub dimension: String,
    /// Its value, such as `1`.
    pub value: String,
}

impl Slice {
    /// The slice of a value in a dimension.
    pub fn new(dimension: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            dimension: dimension.into(),
            value: value.into(),
        }
    }

    /// All slices of a record.
    pub(crate) fn all_of(record: &Record) -> Vec<Self> {
        let slices = slices_of(record);
        slices.map(|(of, value)| Self::new(of, value)).collect()
    }
}

impl Gate {
    /// Whether a record belongs to the slice.
    pub(crate) fn covers(&self, record: &Record) -> bool {
        let slice = self.slice.as_ref();
        slice.is_none_or(|slice| Slice::all_of(record).contains(slice))
    }
}

/// As in the brackets of a gate.
impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.dimension, self.value)
    }
}

// Variants in the text of a gate: `accuracy[agent=small][level=1] >= 0.6`.
//
// They are not part of a gate: a variant either has the gate, without these brackets, or does not.

/// A gate's text without the brackets of these kinds (`agent`, `prompt`), and their content in order. The brackets of a
/// slice may be before or after them.
pub(crate) fn without_variants(text: &str, kinds: &[&str]) -> (String, Vec<Slice>) {
    let of_kind = |inside: &str| {
        let (kind, name) = pair(inside)?;
        kinds.contains(&kind).then(|| Slice::new(kind, name))
    };
    let mut named = Vec::new();
    let Some((begin, end)) = brackets(text) else {
        return (text.to_owned(), named);
    };
    let mut inside = text[begin..end].trim();
    // Variant names contain no brackets, slices may.
    while let Some((first, rest)) = first(inside)
        && let Some(found) = of_kind(first)
    {
        named.push(found);
        inside = rest.trim_start();
    }
    let mut behind = Vec::new();
    while let Some((rest, last)) = last(inside)
        && let Some(found) = of_kind(last)
    {
        behind.push(found);
        inside = rest.trim_end();
    }
    named.extend(behind.into_iter().rev());
    let rest = format!("{}{inside}{}", &text[..begin], &text[end..]);
    (rest, named)
}

/// The range from the first bracket to the last.
fn brackets(text: &str) -> Option<(usize, usize)> {
    let (_, _, rest) = metric_parts(text)?;
    let begin = text.len() - rest.len();
    let end = text.rfind(']')? + 1;
    (text[begin..].starts_with('[') && begin < end).then_some((begin, end))
}

/// The content of the first brackets, and the rest.
fn first(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('[')?.split_once(']')
}

/// The part before the last brackets, and their content.
fn last(text: &str) -> Option<(&str, &str)> {
    text.strip_suffix(']')?.rsplit_once('[')
}

#[cfg(test)]
mod default_tests {
    use super::*;

    #[test]
    fn every_eval_has_an_error_rate() {
        fn check(own: &[&str], expect: &[(&str, bool)]) {
            let own: Vec<Gate> = own.iter().map(|text| text.parse().unwrap()).collect();
            let all = with_default(Some(&own), Some("quick"), false);
            let all = all.iter().map(|gate| (gate.to_string(), gate.is_default));
            let all: Vec<_> = all.collect();
            let expect: Vec<_> = expect
                .iter()
                .map(|&(text, is)| (text.to_owned(), is))
                .collect();
            assert_eq!(all, expect);
        }
        let default = ("error_rate <= 0.05", true);
        check(&[], &[default]);
        check(&["accuracy >= 0.5"], &[("accuracy >= 0.5", false), default]);
        check(&["error_rate < 1"], &[("error_rate < 1", false)]);
        let of_slice = "error_rate[level=1] <= 0.2";
        check(&[of_slice], &[(of_slice, false), default]);
        let of_tier = "error_rate[tier=quick] <= 0.2";
        check(&[of_tier], &[(of_tier, false)]);
        let of_other = "error_rate[tier=full] <= 0.2";
        check(&[of_other], &[(of_other, false), default]);
    }
}

#[cfg(test)]
mod variant_tests {
    use super::*;

    #[test]
    fn the_brackets_of_variants_are_taken_out_wherever_they_stand() {
        fn check(text: &str, rest: &str, named: &[&str]) {
            let (found, slices) = without_variants(text, &["agent", "prompt"]);
            assert_eq!(found, rest, "{text}");
            let slices: Vec<_> = slices.iter().map(ToString::to_string).collect();
            assert_eq!(slices, named, "{text}");
        }
        check(
            "accuracy[agent=small] >= 0.6",
            "accuracy >= 0.6",
            &["agent=small"],
        );
        check(
            "accuracy(exact) [ agent = a-1.5 ] [level=1] >= 60% (confidence=0.9)",
            "accuracy(exact) [level=1] >= 60% (confidence=0.9)",
            &["agent=a-1.5"],
        );
        check(
            "mean(f1)[topic=a[1]][agent=x][prompt=y] > 0",
            "mean(f1)[topic=a[1]] > 0",
            &["agent=x", "prompt=y"],
        );
        check(
            "accuracy[agent=x][agent=east][level=1] >= 1",
            "accuracy[level=1] >= 1",
            &["agent=x", "agent=east"],
        );
        check(
            "no_regression(alpha=0.1)[prompt=y]",
            "no_regression(alpha=0.1)",
            &["prompt=y"],
        );
        for text in [
            "accuracy >= 0.6",
            "accuracy[level=1] >= 0.6",
            "accuracy[agents=x] >= 0.6",
            "accuracy[agent=] >= 0.6",
            "accuracy[agent=x >= 0.6",
            "accuracy]agent=x[ >= 0.6",
            "accuracy(",
            "[agent=x",
            "",
        ] {
            check(text, text, &[]);
        }
    }

    #[test]
    fn only_kinds_that_there_are_count() {
        let (rest, named) = without_variants("accuracy[agent=x][prompt=y] > 0", &["prompt"]);
        assert_eq!((&*rest, named.len()), ("accuracy[agent=x] > 0", 1));
    }
}
