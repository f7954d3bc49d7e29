//! `Metric`: what a gate measures, with its name in specs; `Op`: how it is compared.

use std::fmt;

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
    /// `mean(NAME)`: the mean of a numeric or boolean detail, or of the score (`value`), of the deciding
    /// scorer; of another scorer when it alone has such a detail; `mean(SCORER.NAME)` says whose.
    Mean(String),
    /// `metric(NAME)`: an aggregate of the benchmark's own, see [`Benchmark::metrics`](crate::Benchmark::metrics).
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
    /// `pass@3`: the probability that at least one of so many answers is correct, see
    /// [`EpochFigures`](crate::verdict::summary::EpochFigures); `pass@3(NAME)` by one of several scorers.
    PassAt(u32, Option<String>),
    /// `pass^3`: the probability that all of so many answers are correct; `pass^3(NAME)`.
    PassHat(u32, Option<String>),
    /// `majority`: the share of samples whose most frequent answer is correct; `majority(NAME)`.
    Majority(Option<String>),
    /// `no_regression`: p of the paired test against the baseline.
    NoRegression,
}

/// Which of the latencies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LatencyStatistic {
    /// The mean.
    Mean,
    /// A percentile, 0 to 100.
    Percentile(f64),
}

/// The metrics as people are told of them; with what it means, where the name says all.
pub(super) const METRICS: &[(&str, Option<Metric>)] = &[
    ("accuracy", None),
    ("accuracy(SCORER)", None),
    ("error_rate", Some(Metric::ErrorRate)),
    ("failure_rate", Some(Metric::FailureRate)),
    ("min_samples", None),
    ("mean(NAME)", None),
    ("metric(NAME)", None),
    ("macro_f1", None),
    ("macro_f1(SCORER)", None),
    ("pass@3", None),
    ("pass^3", None),
    ("majority", None),
    ("latency_p95", None),
    (
        "latency_mean",
        Some(Metric::Latency(LatencyStatistic::Mean)),
    ),
    ("cost_usd", Some(Metric::CostUsd)),
    ("tokens", Some(Metric::Tokens)),
    ("input_tokens", Some(Metric::InputTokens)),
    ("output_tokens", Some(Metric::OutputTokens)),
    ("no_regression", None),
];

impl Metric {
    /// Whether a gate on it that failed stays so, whatever comes of samples that were not asked yet.
    pub(crate) fn counts_unasked(&self) -> bool {
        !matches!(
            self,
            Self::ErrorRate | Self::MinSamples | Self::Latency(_) | Self::Own(_)
        )
    }

    /// The scorer that it names.
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

    /// How many epochs it needs.
    pub(crate) fn epochs(&self) -> u32 {
        match self {
            Self::PassAt(k, _) | Self::PassHat(k, _) => *k,
            _ => 1,
        }
    }

    /// Whether its values lie between 0 and 1.
    pub(super) fn is_rate(&self) -> bool {
        matches!(
            self,
            Self::Accuracy(_)
                | Self::ErrorRate
                | Self::FailureRate
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
            Self::Own(name) => write!(f, "metric({name})"),
            Self::MacroF1(scorer) => named("macro_f1", scorer.as_deref(), f),
            Self::PassAt(k, scorer) => named(&format!("pass@{k}"), scorer.as_deref(), f),
            Self::PassHat(k, scorer) => named(&format!("pass^{k}"), scorer.as_deref(), f),
            Self::Majority(scorer) => named("majority", scorer.as_deref(), f),
            Self::Latency(LatencyStatistic::Mean) => f.write_str("latency_mean"),
            Self::Latency(LatencyStatistic::Percentile(percent)) => {
                // The maximum has a name of its own.
                if *percent >= 100.0 {
                    f.write_str("latency_max")
                } else {
                    write!(f, "latency_p{percent}")
                }
            }
            Self::CostUsd => f.write_str("cost_usd"),
            Self::Tokens => f.write_str("tokens"),
            Self::InputTokens => f.write_str("input_tokens"),
            Self::OutputTokens => f.write_str("output_tokens"),
            Self::NoRegression => f.write_str("no_regression"),
        }
    }
}

/// A metric with the scorer that it names.
fn named(metric: &str, scorer: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match scorer {
        Some(scorer) => write!(f, "{metric}({scorer})"),
        None => f.write_str(metric),
    }
}

/// How a metric is compared with the threshold.
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
