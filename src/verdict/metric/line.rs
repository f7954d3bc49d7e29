//! A metric in a line of a history, as alerts read it.

use std::fmt;

use super::{MetricEntry, Unit};
use crate::data::history::HistoryLine;
use crate::error::{Error, Result};
use crate::figure::{Seconds, Share, Usd};
use crate::verdict::gate::{Gate, Metric, Slice};

/// A metric of a run, or of a slice of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SlicedMetric {
    pub(crate) metric: Metric,
    /// `None` is the whole run.
    pub(crate) slice: Option<Slice>,
}

impl SlicedMetric {
    /// # Errors
    /// When there is no such percentile, or the lines of a history do not have it by slice.
    pub(crate) fn new(metric: Metric, slice: Option<Slice>) -> Result<Self> {
        if let Some(fault) = metric.fault() {
            return Err(Error::usage(fault));
        }
        let entry = metric.entry();
        if slice.is_some() {
            if let Some(hint) = entry.whole_run {
                let message = format!("`{metric}` is of the whole run");
                return Err(Error::usage(message).hint(hint));
            }
            if !entry.has_slices_in_history() {
                return Err(Error::usage(format!("`{metric}` is not kept by slice"))
                    .hint("`accuracy` and `failure_rate` are: `accuracy[level=1]`"));
            }
        }
        Ok(Self { metric, slice })
    }

    pub(crate) fn entry(&self) -> &'static MetricEntry {
        self.metric.entry()
    }

    /// What it is in a line, if the line has it: by itself, or as the value of a gate of that run.
    pub(crate) fn in_line(&self, line: &HistoryLine) -> Option<f64> {
        let entry = self.entry();
        let own = match &self.slice {
            // What another scorer says is no member of a line.
            _ if self.metric.scorer().is_some() => None,
            None => entry.line.and_then(|read| read(line, &self.metric)),
            Some(Slice { dimension, value }) => {
                let slice = line.slices.get(dimension).and_then(|of| of.get(value));
                slice.zip(entry.slice).and_then(|(slice, read)| read(slice))
            }
        };
        let value = own.or_else(|| self.measured_by_gate(line));
        value.filter(|value| value.is_finite())
    }

    fn measured_by_gate(&self, line: &HistoryLine) -> Option<f64> {
        let gates = line.gates.iter();
        let mut gates = gates.filter(|gate| gate.gate.starts_with(self.metric.name));
        gates.find_map(|gate| {
            let parsed: Gate = gate.gate.parse().ok()?;
            let parsed = match line.tier {
                Some(_) => parsed,
                None => parsed.without_tiers(),
            };
            let is_same = parsed.metric == self.metric && parsed.slice == self.slice;
            gate.value.filter(|_| is_same)
        })
    }

    /// Why a line has none.
    pub(crate) fn why_missing(&self) -> String {
        let is_of_gates = self.entry().line.is_none() || self.metric.scorer().is_some();
        let why = if is_of_gates {
            ": a history has it where a gate of the eval measures it"
        } else {
            ""
        };
        format!("the run has no {self}{why}")
    }

    /// A value of it for people.
    pub(crate) fn show(&self, value: f64) -> String {
        match self.entry().unit {
            Unit::Share => Share(value).to_string(),
            Unit::Usd => Usd(value).to_string(),
            Unit::Seconds => Seconds(value).to_string(),
            _ => ((value * 1e4).round() / 1e4).to_string(),
        }
    }
}

/// As it is written.
impl fmt::Display for SlicedMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.metric)?;
        match &self.slice {
            Some(slice) => write!(f, "[{slice}]"),
            None => Ok(()),
        }
    }
}
