//! `AlertMetric`: a figure of a history line.

use std::fmt;

use serde_json::Value;

use crate::data::history::{HistoryLatency, HistoryLine};
use crate::error::{Error, Result, nearest};
use crate::figure::{Seconds, Share, Usd};
use crate::text::quoted;
use crate::verdict::gate::Slice;

/// A figure of a history line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AlertMetric {
    Accuracy(Option<Slice>),
    FailureRate(Option<Slice>),
    ErrorRate,
    /// The mean of a detail of the scorer.
    Mean(String),
    /// An aggregate of the benchmark.
    Own(String),
    CostUsd,
    Tokens,
    LatencyMean,
    LatencyP50,
    LatencyP95,
    DurationS,
}

/// Metrics without an argument.
const PLAIN: [(&str, AlertMetric); 9] = [
    ("accuracy", AlertMetric::Accuracy(None)),
    ("failure_rate", AlertMetric::FailureRate(None)),
    ("error_rate", AlertMetric::ErrorRate),
    ("cost_usd", AlertMetric::CostUsd),
    ("tokens", AlertMetric::Tokens),
    ("latency_mean", AlertMetric::LatencyMean),
    ("latency_p50", AlertMetric::LatencyP50),
    ("latency_p95", AlertMetric::LatencyP95),
    ("duration_s", AlertMetric::DurationS),
];

impl AlertMetric {
    /// Reads `accuracy`, `accuracy[level=1]`, `mean(f1)`.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        if let Some((name, rest)) = text.split_once('[') {
            let inside = rest.strip_suffix(']').and_then(|inside| {
                let (dimension, value) = inside.split_once('=')?;
                let (dimension, value) = (dimension.trim(), value.trim());
                (!dimension.is_empty() && !value.is_empty()).then(|| Slice::new(dimension, value))
            });
            let slice = inside.ok_or_else(|| {
                Error::usage(format!("`[{rest}` is no slice"))
                    .hint("write the dimension and the value: `accuracy[level=1]`")
            })?;
            return match name.trim() {
                "accuracy" => Ok(Self::Accuracy(Some(slice))),
                "failure_rate" => Ok(Self::FailureRate(Some(slice))),
                name => Err(Error::usage(format!("`{name}` is not kept by slice"))
                    .hint("`accuracy` and `failure_rate` are: `accuracy[level=1]`")),
            };
        }
        if let Some((name, rest)) = text.split_once('(') {
            let inside = rest.strip_suffix(')').map(str::trim).unwrap_or_default();
            return match (name.trim(), inside) {
                ("mean" | "metric", "") => Err(Error::usage(format!("`{name}` of what"))
                    .hint(format!("name it: `{name}(f1)`"))),
                ("mean", of) => Ok(Self::Mean(of.to_owned())),
                ("metric", of) => Ok(Self::Own(of.to_owned())),
                _ => Err(unknown(text)),
            };
        }
        let found = PLAIN.iter().find(|(name, _)| *name == text);
        found
            .map(|(_, metric)| metric.clone())
            .ok_or_else(|| unknown(text))
    }

    /// Its value in a line, if there is one.
    pub(crate) fn of(&self, line: &HistoryLine) -> Option<f64> {
        let accuracy = |slice: &Option<Slice>| match slice {
            None => line.accuracy,
            Some(slice) => {
                line.slices
                    .get(&slice.dimension)?
                    .get(&slice.value)?
                    .accuracy
            }
        };
        let latency = |of: fn(&HistoryLatency) -> f64| line.latency_s.as_ref().map(of);
        let value = match self {
            Self::Accuracy(slice) => accuracy(slice),
            Self::FailureRate(slice) => accuracy(slice).map(|share| 1.0 - share),
            Self::ErrorRate => line.error_rate,
            Self::Mean(of) => line.means.get(of).copied(),
            Self::Own(of) => line.metrics.get(of).and_then(Value::as_f64),
            Self::CostUsd => line.cost_usd,
            #[expect(clippy::cast_precision_loss, reason = "tokens stay far below 2^53")]
            Self::Tokens => line.tokens.map(|tokens| tokens as f64),
            Self::LatencyMean => latency(|latency| latency.mean),
            Self::LatencyP50 => latency(|latency| latency.p50),
            Self::LatencyP95 => latency(|latency| latency.p95),
            Self::DurationS => line.duration_s,
        };
        value.filter(|value| value.is_finite())
    }

    /// Whether more of it is better.
    pub(super) fn is_good(&self) -> bool {
        matches!(self, Self::Accuracy(_) | Self::Mean(_) | Self::Own(_))
    }

    /// Whether it lies between 0 and 1.
    pub(super) fn is_share(&self) -> bool {
        matches!(
            self,
            Self::Accuracy(_) | Self::FailureRate(_) | Self::ErrorRate
        )
    }

    /// Whether it may be below 0.
    pub(super) fn is_signed(&self) -> bool {
        matches!(self, Self::Mean(_) | Self::Own(_))
    }

    /// Formats a value.
    pub(super) fn show(&self, value: f64) -> String {
        let rounded = (value * 1e4).round() / 1e4;
        match self {
            _ if self.is_share() => Share(value).to_string(),
            Self::CostUsd => Usd(value).to_string(),
            Self::LatencyMean | Self::LatencyP50 | Self::LatencyP95 | Self::DurationS => {
                Seconds(value).to_string()
            }
            _ => rounded.to_string(),
        }
    }
}

fn unknown(text: &str) -> Error {
    let names = || {
        PLAIN
            .iter()
            .map(|(name, _)| *name)
            .chain(["mean", "metric"])
    };
    let bare = text.split(['(', '[']).next().unwrap_or(text);
    let legal = quoted(
        PLAIN
            .iter()
            .map(|(name, _)| *name)
            .chain(["mean(f1)", "metric(overall)"]),
    );
    let hint = match nearest(bare, names()) {
        Some(near) => format!("did you mean `{near}`? the figures are {legal}"),
        None => format!("the figures are {legal}"),
    };
    Error::usage(format!("`{text}` is no figure that a history keeps")).hint(hint)
}

impl fmt::Display for AlertMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accuracy(Some(slice)) => write!(f, "accuracy[{slice}]"),
            Self::FailureRate(Some(slice)) => write!(f, "failure_rate[{slice}]"),
            Self::Mean(of) => write!(f, "mean({of})"),
            Self::Own(of) => write!(f, "metric({of})"),
            plain => {
                let found = PLAIN.iter().find(|(_, metric)| metric == plain);
                f.write_str(found.map_or("", |(name, _)| name))
            }
        }
    }
}
