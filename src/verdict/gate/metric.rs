//! `Metric`: what a gate measures, with its name in specs; `Op`: the comparison with the threshold.

use std::fmt;

use super::level_step::LevelStep;
use crate::data::reviews::ReviewedFigures;

/// What a gate measures.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub(crate) enum Metric {
    /// `accuracy`: correct / scored; `accuracy(NAME)` by one of several scorers.
    Accuracy(Option<String>),
    /// `error_rate`: errors / asked samples.
    ErrorRate,
    /// `failure_rate`: 1 - accuracy.
    FailureRate,
    /// `min_samples`: the number of scored samples.
    MinSamples,
    /// `mean(NAME)`: the mean of a numeric or boolean detail, or of the score (`value`), of the deciding scorer; of
    /// another scorer if only that one has such a detail; `mean(SCORER.NAME)` names the scorer.
    Mean(String),
    /// `corrected(JUDGE.NAME)`: the mean of a detail of a judge, corrected by labels of people; `corrected(JUDGE)` its
    /// accuracy.
    Corrected(String),
    /// `metric(NAME)`: a benchmark's own aggregate, see [`Benchmark::metrics`](crate::Benchmark::metrics).
    Own(String),
    /// `macro_f1`: see [`Labels`](crate::verdict::summary::Labels); `macro_f1(NAME)` by one of several scorers.
    MacroF1(Option<String>),
    /// `latency_p95`, `latency_mean`, `latency_max`: seconds that the answers took.
    Latency(LatencyStatistic),
    /// `cost_usd`: US dollars, in total.
    CostUsd,
    /// `tokens`: read and written, in total.
    Tokens,
    /// `input_tokens`: read by the model, in total.
    InputTokens,
    /// `output_tokens`: written by the model, in total.
    OutputTokens,
    /// `steps`: the mean number of steps of correct answers.
    Steps,
    /// `steps_ratio`: the mean ratio of their steps to those that people took.
    StepsRatio,
    /// `difficulty_drop`: the largest relative drop of accuracy from one level to the next; `difficulty_drop(1->2)` that
    /// between two.
    DifficultyDrop(Option<LevelStep>),
    /// `recovered_by_retry`: the share of the requested answers that was obtained only by a retry.
    RecoveredByRetry,
    /// `pass@3`: the probability that at least one of this many answers is correct, see
    /// [`EpochFigures`](crate::verdict::summary::EpochFigures); `pass@3(NAME)` by one of several scorers.
    PassAt(u32, Option<String>),
    /// `pass^3`: the probability that all of this many answers are correct; `pass^3(NAME)`.
    PassHat(u32, Option<String>),
    /// `majority`: the share of samples whose most frequent answer is correct; `majority(NAME)`.
    Majority(Option<String>),
    /// `reviewed.approved`, `reviewed.share`, `reviewed.agreement`, …: figures of the reviews by people, see
    /// [`ReviewedFigures`](crate::summary::ReviewedFigures).
    Reviewed(String),
    /// `no_regression`: p of the paired test against the baseline.
    NoRegression,
}

/// A statistic of latencies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LatencyStatistic {
    /// The mean.
    Mean,
    /// A percentile, 0 to 100.
    Percentile(f64),
}

/// The documentation of a metric.
#[derive(Debug)]
#[non_exhaustive]
pub struct MetricEntry {
    /// Its syntax.
    pub form: &'static str,
    /// What it measures.
    pub meaning: &'static str,
    /// The unit of its value.
    pub unit: &'static str,
    /// An example of a gate.
    pub example: &'static str,
    /// The metric, if the name alone determines it.
    pub(super) plain: Option<Metric>,
}

/// The documentation of all metrics.
pub const METRICS: &[MetricEntry] = &[
    MetricEntry {
        form: "accuracy",
        meaning: "the share of scored samples that are correct",
        unit: "share",
        example: "accuracy[level=1] >= 75%",
        plain: None,
    },
    MetricEntry {
        form: "accuracy(SCORER)",
        meaning: "the same by one of several scorers",
        unit: "share",
        example: "accuracy(gaia) >= 0.6",
        plain: None,
    },
    MetricEntry {
        form: "error_rate",
        meaning: "samples that ended in an error, of those that were asked: outages, not wrong answers",
        unit: "share",
        example: "error_rate <= 0.02",
        plain: Some(Metric::ErrorRate),
    },
    MetricEntry {
        form: "failure_rate",
        meaning: "1 - accuracy",
        unit: "share",
        example: "failure_rate <= 40%",
        plain: Some(Metric::FailureRate),
    },
    MetricEntry {
        form: "min_samples",
        meaning: "how many samples were scored; `min_samples(30)` is short for `min_samples >= 30`",
        unit: "count",
        example: "min_samples >= 100",
        plain: None,
    },
    MetricEntry {
        form: "mean(NAME)",
        meaning: "the mean of a figure in the details of a score, or of the score itself (`value`); `mean(SCORER.NAME)` says whose",
        unit: "as the figure",
        example: "mean(f1) >= 0.7",
        plain: None,
    },
    MetricEntry {
        form: "corrected(JUDGE.NAME)",
        meaning: "the mean of a judge's figure, corrected by 50 or more labels of this run that were drawn by lot, or by one of each answer, see `judge calibrate`; `corrected(JUDGE)` is its accuracy",
        unit: "as the figure",
        example: "corrected(judge.total) >= 4.0",
        plain: None,
    },
    MetricEntry {
        form: "metric(NAME)",
        meaning: "an aggregate of the benchmark's own, such as `metric(overall)` of `bfcl`",
        unit: "as the aggregate",
        example: "metric(overall) >= 0.5",
        plain: None,
    },
    MetricEntry {
        form: "macro_f1",
        meaning: "the mean of the F1 of all labels, of scorers that judge labels",
        unit: "share",
        example: "macro_f1 >= 0.5",
        plain: None,
    },
    MetricEntry {
        form: "macro_f1(SCORER)",
        meaning: "the same by one of several scorers",
        unit: "share",
        example: "macro_f1(choice) >= 0.5",
        plain: None,
    },
    MetricEntry {
        form: "pass@3",
        meaning: "with at least 3 `epochs`: the probability that one or more of 3 answers are correct, for any number; `pass@3(SCORER)` by one of several scorers",
        unit: "share",
        example: "pass@3 >= 0.8",
        plain: None,
    },
    MetricEntry {
        form: "pass^3",
        meaning: "the probability that all of 3 answers are correct; `pass^3(SCORER)`",
        unit: "share",
        example: "pass^3[level=1] >= 0.5",
        plain: None,
    },
    MetricEntry {
        form: "majority",
        meaning: "the share of samples whose most frequent answer is correct; `majority(SCORER)`",
        unit: "share",
        example: "majority >= 0.7",
        plain: None,
    },
    MetricEntry {
        form: "latency_p95",
        meaning: "the time that so many percent of the answers were faster than; any percentile",
        unit: "seconds",
        example: "latency_p95 <= 20s",
        plain: None,
    },
    MetricEntry {
        form: "latency_mean",
        meaning: "the mean time of an answer",
        unit: "seconds",
        example: "latency_mean <= 5s",
        plain: Some(Metric::Latency(LatencyStatistic::Mean)),
    },
    MetricEntry {
        form: "latency_max",
        meaning: "the time of the slowest answer",
        unit: "seconds",
        example: "latency_max <= 60s",
        plain: Some(Metric::Latency(LatencyStatistic::Percentile(100.0))),
    },
    MetricEntry {
        form: "cost_usd",
        meaning: "what the agent says all its answers cost",
        unit: "US dollars",
        example: "cost_usd <= 2",
        plain: Some(Metric::CostUsd),
    },
    MetricEntry {
        form: "tokens",
        meaning: "what the agent says it read and wrote, of all answers",
        unit: "count",
        example: "tokens <= 9000",
        plain: Some(Metric::Tokens),
    },
    MetricEntry {
        form: "input_tokens",
        meaning: "what the model read, of all answers",
        unit: "count",
        example: "input_tokens <= 8000",
        plain: Some(Metric::InputTokens),
    },
    MetricEntry {
        form: "output_tokens",
        meaning: "what the model wrote, of all answers",
        unit: "count",
        example: "output_tokens <= 1000",
        plain: Some(Metric::OutputTokens),
    },
    MetricEntry {
        form: "steps",
        meaning: "the mean number of steps of correct answers: `steps` of a reply, else the messages of the assistant that call tools; a sample without a verdict may have none, or as many as the longest answer",
        unit: "steps",
        example: "steps[level=1] <= 8",
        plain: Some(Metric::Steps),
    },
    MetricEntry {
        form: "steps_ratio",
        meaning: "the mean of steps by those that people took, of correct answers whose dataset says so: GAIA's annotators, or a column `annotated_steps`",
        unit: "ratio",
        example: "steps_ratio <= 2",
        plain: Some(Metric::StepsRatio),
    },
    MetricEntry {
        form: "difficulty_drop",
        meaning: "the largest relative drop of accuracy from one level, a whole number, to the next: 0 is ideal, 0.3 is 30 % lost; `difficulty_drop(1->2)` that between two. Of the whole run",
        unit: "share of the easier level's accuracy",
        example: "difficulty_drop(1->2) <= 0.3",
        plain: None,
    },
    MetricEntry {
        form: "recovered_by_retry",
        meaning: "answers that came only because the sample was asked again, of all that were asked for. Of the whole run",
        unit: "share",
        example: "recovered_by_retry <= 10%",
        plain: Some(Metric::RecoveredByRetry),
    },
    MetricEntry {
        form: "reviewed.approved",
        meaning: "of what people reviewed, the share that they approve, see `review`; so `reviewed.rejected` and `reviewed.needs_revision`. Of the whole run",
        unit: "share",
        example: "reviewed.approved >= 0.9",
        plain: None,
    },
    MetricEntry {
        form: "reviewed.share",
        meaning: "the share of the items that was reviewed",
        unit: "share",
        example: "reviewed.share >= 20%",
        plain: None,
    },
    MetricEntry {
        form: "reviewed.DIMENSION",
        meaning: "the mean of people's points in a dimension, 1 to 5; `reviewed.total` of all dimensions together",
        unit: "points",
        example: "reviewed.clarity >= 4",
        plain: None,
    },
    MetricEntry {
        form: "reviewed.agreement",
        meaning: "of reviewed items that a judge gave a verdict on, the share on which the person approves and the judge passes, or neither",
        unit: "share",
        example: "reviewed.agreement >= 0.8",
        plain: None,
    },
    MetricEntry {
        form: "no_regression",
        meaning: "not worse than the baseline: p of an exact paired test; takes options and no number",
        unit: "p",
        example: "no_regression(alpha=0.05)",
        plain: None,
    },
];

/// The options of a gate, each with its meaning and an example.
pub const GATE_OPTIONS: &[(&str, &str, &str)] = &[
    (
        "alpha",
        "of `no_regression`: how often an unchanged agent may be red at most, above 0 and below 1; 0.05 by default",
        "no_regression(alpha=0.01)",
    ),
    (
        "max_drop",
        "of `no_regression`: also red for a larger drop of accuracy than this share, luck or not; any by default",
        "no_regression(max_drop=0.02)",
    ),
    (
        "min_pairs",
        "of `no_regression`: inconclusive with a smaller share of the baseline's samples than this; 0.9 by default",
        "no_regression(min_pairs=0.8)",
    ),
    (
        "mid_p",
        "of `no_regression`: sees a little more with few questions, red for nothing a little over alpha at times; \
         `false` by default",
        "no_regression(mid_p=true)",
    ),
    (
        "early_stop",
        "of `no_regression`: up to four looks, and an end as soon as all gates are sure; `false` by default",
        "no_regression(early_stop=true)",
    ),
    (
        "confidence",
        "of `accuracy` and `corrected`, behind the number: red only where the whole interval of this confidence is on the wrong side",
        "accuracy >= 0.6 (confidence=0.95)",
    ),
];

impl Metric {
    /// Whether a failed gate on it stays failed, whatever the remaining samples are.
    pub(crate) fn counts_unasked(&self) -> bool {
        !matches!(
            self,
            Self::ErrorRate
                | Self::MinSamples
                | Self::Latency(_)
                | Self::Own(_)
                | Self::Reviewed(_)
        )
    }

    /// Whether it depends on a scorer's verdicts, so that an answer without one leaves it undecided.
    pub(crate) fn is_of_verdicts(&self) -> bool {
        match self {
            Self::Accuracy(_)
            | Self::FailureRate
            | Self::Mean(_)
            | Self::Corrected(_)
            | Self::MacroF1(_)
            | Self::Steps
            | Self::StepsRatio
            | Self::DifficultyDrop(_)
            | Self::PassAt(..)
            | Self::PassHat(..)
            | Self::Majority(_) => true,
            Self::ErrorRate
            | Self::MinSamples
            | Self::Own(_)
            | Self::Latency(_)
            | Self::RecoveredByRetry
            | Self::CostUsd
            | Self::Tokens
            | Self::InputTokens
            | Self::OutputTokens
            | Self::Reviewed(_)
            | Self::NoRegression => false,
        }
    }

    /// The scorer it names.
    pub(crate) fn scorer(&self) -> Option<&str> {
        match self {
            Self::Accuracy(scorer)
            | Self::MacroF1(scorer)
            | Self::PassAt(_, scorer)
            | Self::PassHat(_, scorer)
            | Self::Majority(scorer) => scorer.as_deref(),
            _ => None,
        }
    }

    /// The number of epochs it needs.
    pub(crate) fn epochs(&self) -> u32 {
        match self {
            Self::PassAt(k, _) | Self::PassHat(k, _) => *k,
            _ => 1,
        }
    }

    /// Whether its values lie between 0 and 1.
    pub(super) fn is_rate(&self) -> bool {
        if let Self::Reviewed(name) = self {
            return ReviewedFigures::SHARES.contains(&&**name);
        }
        matches!(
            self,
            Self::Accuracy(_)
                | Self::ErrorRate
                | Self::FailureRate
                | Self::RecoveredByRetry
                | Self::MacroF1(_)
                | Self::PassAt(..)
                | Self::PassHat(..)
                | Self::Majority(_)
        )
    }

    /// Whether its values are whole numbers.
    pub(super) fn is_count(&self) -> bool {
        matches!(
            self,
            Self::MinSamples | Self::Tokens | Self::InputTokens | Self::OutputTokens
        )
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accuracy(scorer) => named("accuracy", scorer.as_deref(), f),
            Self::ErrorRate => f.write_str("error_rate"),
            Self::FailureRate => f.write_str("failure_rate"),
            Self::MinSamples => f.write_str("min_samples"),
            Self::Mean(name) => write!(f, "mean({name})"),
            Self::Corrected(name) => write!(f, "corrected({name})"),
            Self::Own(name) => write!(f, "metric({name})"),
            Self::MacroF1(scorer) => named("macro_f1", scorer.as_deref(), f),
            Self::PassAt(k, scorer) => named(&format!("pass@{k}"), scorer.as_deref(), f),
            Self::PassHat(k, scorer) => named(&format!("pass^{k}"), scorer.as_deref(), f),
            Self::Majority(scorer) => named("majority", scorer.as_deref(), f),
            Self::Latency(LatencyStatistic::Mean) => f.write_str("latency_mean"),
            Self::Latency(LatencyStatistic::Percentile(percent)) => {
                // The maximum has its own name.
                if *percent >= 100.0 {
                    f.write_str("latency_max")
                } else {
                    write!(f, "latency_p{percent}")
                }
            }
            Self::Steps => f.write_str("steps"),
            Self::StepsRatio => f.write_str("steps_ratio"),
            Self::DifficultyDrop(None) => f.write_str("difficulty_drop"),
            Self::DifficultyDrop(Some(step)) => write!(f, "difficulty_drop({step})"),
            Self::RecoveredByRetry => f.write_str("recovered_by_retry"),
            Self::CostUsd => f.write_str("cost_usd"),
            Self::Tokens => f.write_str("tokens"),
            Self::InputTokens => f.write_str("input_tokens"),
            Self::OutputTokens => f.write_str("output_tokens"),
            Self::Reviewed(name) => write!(f, "reviewed.{name}"),
            Self::NoRegression => f.write_str("no_regression"),
        }
    }
}

/// A metric with its scorer in parentheses.
fn named(metric: &str, scorer: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match scorer {
        Some(scorer) => write!(f, "{metric}({scorer})"),
        None => f.write_str(metric),
    }
}

/// A comparison with a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// `>=`
    AtLeast,
    /// `>`
    Above,
    /// `<=`
    AtMost,
    /// `<`
    Below,
}

impl Op {
    /// Whether `value` meets the threshold.
    pub(crate) fn holds(self, value: f64, threshold: f64) -> bool {
        match self {
            Self::AtLeast => value >= threshold,
            Self::Above => value > threshold,
            Self::AtMost => value <= threshold,
            Self::Below => value < threshold,
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AtLeast => ">=",
            Self::Above => ">",
            Self::AtMost => "<=",
            Self::Below => "<",
        })
    }
}
