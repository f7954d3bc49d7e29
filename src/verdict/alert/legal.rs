//! Rejects alerts that can never be raised, or always are.

use std::collections::HashSet;

use super::{Alert, AlertRule, Alerts, Direction, DropReference};
use crate::error::{Error, Result};
use crate::stats::{MOVING, SteadyFalls};
use crate::verdict::gate::{ACCURACY, Metric, Op};
use crate::verdict::metric::{SlicedMetric, Unit};

/// The most analyses per era.
const MAX_ANALYSES: usize = 365;
/// The most runs that a rule may use.
const MOST_RUNS: usize = 100;
const LEAST_ALPHA: f64 = 0.001;
const MOST_ALPHA: f64 = 0.5;

impl AlertRule {
    /// # Errors
    /// If the alert makes no sense by itself.
    pub(super) fn check(&self) -> Result<()> {
        match self {
            Self::Drop { metric, alpha, .. } => {
                check_alpha(*alpha)?;
                if metric.metric == Metric::plain(ACCURACY) {
                    return Ok(());
                }
                let hint = if metric.entry().less_is_better {
                    format!("more of it is worse, so write `rise({metric}, 0.5)`")
                } else {
                    format!(
                        "write the share: `drop({metric}, 0.1)` is raised 10 % below the median of the previous five runs; \
                         or write `trend({metric}, runs=8)`"
                    )
                };
                let message =
                    "`drop` without a share compares correct answers, and is for `accuracy` alone";
                Err(Error::usage(message).hint(hint))
            }
            Self::Trend { runs, alpha, .. } => {
                check_alpha(*alpha)?;
                check_runs(*runs)
            }
            Self::Stale { days } if *days <= 0.0 => {
                Err(Error::usage("it is always raised").hint("write `stale(days=7)`"))
            }
            Self::Moved { by, .. } if *by <= 0.0 => {
                let message = "every other run would raise it";
                Err(Error::usage(message).hint(
                    "write the change that is too much, as a share: 0.5 for 50 % more or less",
                ))
            }
            Self::Moved {
                by,
                direction: Direction::Down,
                ..
            } if *by >= 1.0 => {
                let message = "it can never be raised: a figure cannot drop by 100 % or more";
                Err(Error::usage(message).hint("write a share below 1: 0.1 for 10 % less"))
            }
            Self::Stale { .. } | Self::Moved { .. } => Ok(()),
            Self::Bound {
                metric,
                op,
                threshold,
                times,
            } => {
                check_runs(*times)?;
                check_bound(metric, *op, *threshold)
            }
        }
    }
}

impl Alerts {
    /// Checks that all of them together can be raised.
    ///
    /// # Errors
    /// With the index of the first that cannot, and a hint.
    pub(crate) fn check(&self) -> std::result::Result<(), (usize, Error)> {
        let mut seen = HashSet::new();
        for (place, alert) in self.rules.iter().enumerate() {
            let checked = if seen.insert(&*alert.text) {
                self.check_one(alert)
            } else {
                Err(Error::usage("it is listed twice").hint("remove one of the two"))
            };
            checked.map_err(|error| (place, error.at(format_args!("alert `{alert}`"))))?;
        }
        Ok(())
    }

    fn check_one(&self, alert: &Alert) -> Result<()> {
        let never = |why: &str| Error::usage(format!("it can never be raised: {why}"));
        let looks = self.looks;
        match &alert.rule {
            AlertRule::Drop {
                against: DropReference::Median,
                ..
            } if looks <= MOVING => Err(never(&format!(
                "it needs {MOVING} earlier runs, and starts again after {looks} runs"
            ))
            .hint(format!("write `looks: {}` or more", MOVING + 1))),
            AlertRule::Trend { runs, .. } if *runs > looks => Err(never(&format!(
                "it needs {runs} runs, and starts again after {looks} runs"
            ))
            .hint(format!("write `looks: {runs}` or more"))),
            AlertRule::Trend {
                metric,
                runs,
                alpha,
            } => {
                let share = self.share(*alpha);
                let fires = |runs| SteadyFalls::can_alarm(runs, looks, share);
                if fires(*runs) {
                    return Ok(());
                }
                let why = format!(
                    "even {runs} runs, each worse than the one before, happen by chance too often for alpha over {looks} looks"
                );
                let enough = (*runs + 1..=looks.min(MOST_RUNS)).find(|runs| fires(*runs));
                let hint = match enough {
                    Some(enough) => format!("write `trend({metric}, runs={enough})`"),
                    None => "write a larger `alpha=`, or fewer `looks`".to_owned(),
                };
                Err(never(&why).hint(hint))
            }
            _ => Ok(()),
        }
    }
}

/// # Errors
/// If the number of analyses per era is out of range.
pub(crate) fn check_interim(looks: u64) -> Result<usize> {
    let number = usize::try_from(looks).unwrap_or(usize::MAX);
    if (1..=MAX_ANALYSES).contains(&number) {
        return Ok(number);
    }
    Err(
        Error::usage(format!("{looks} is not a valid number of looks")).hint(format!(
            "write how many runs share one alpha, from 1 to {MAX_ANALYSES}: `looks: 30`"
        )),
    )
}

fn check_alpha(alpha: f64) -> Result<()> {
    if (LEAST_ALPHA..=MOST_ALPHA).contains(&alpha) {
        return Ok(());
    }
    Err(Error::usage(format!("alpha is {alpha}")).hint(format!(
        "write the chance of a false alarm, from {LEAST_ALPHA} to {MOST_ALPHA}: `alpha=0.05`"
    )))
}

fn check_runs(runs: usize) -> Result<()> {
    if (1..=MOST_RUNS).contains(&runs) {
        return Ok(());
    }
    Err(
        Error::usage(format!("{runs} is not a valid number of runs"))
            .hint(format!("write a number from 1 to {MOST_RUNS}")),
    )
}

fn check_bound(metric: &SlicedMetric, op: Op, threshold: f64) -> Result<()> {
    let unit = metric.entry().unit;
    // At neither end of what is possible, and at neither beyond.
    let [at_least, at_most] = unit.range().map(|end| op.holds(end, threshold));
    let range = match unit {
        Unit::Share => format!("`{metric}` is between 0 and 1"),
        Unit::Drop => format!("`{metric}` is never above 1"),
        _ => format!("`{metric}` is never below 0"),
    };
    match (at_least, at_most) {
        (false, false) => Err(
            Error::usage(format!("it can never be raised: {range}")).hint(format!(
                "write a share such as `{metric} > 0.05` or `{metric} > 5%`"
            )),
        ),
        (true, true) => Err(Error::usage(format!("every run raises it: {range}"))
            .hint("write a threshold that some runs do not reach")),
        _ => Ok(()),
    }
}
