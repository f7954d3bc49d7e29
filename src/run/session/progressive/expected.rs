//! The expected cost of a tier, from earlier runs or from the tiers before it.

use crate::data::history::{HISTORY_FILE, History, HistoryLine};
use crate::eval::plan::Plan;
use crate::figure::{Seconds, Usd};
use crate::stats::as_f64;
use crate::verdict::progressive::Progressive;
use crate::verdict::summary::Summary;

/// The cost of a sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::run) struct ExpectedCost {
    cost_usd: Option<f64>,
    seconds: Option<f64>,
    /// What the estimate is based on.
    by: String,
}

impl ExpectedCost {
    /// From the newest run of this tier or a larger one in the eval's history.
    pub(in crate::run) fn of_history(plan: &Plan, progressive: &Progressive) -> Option<Self> {
        let path = plan.eval.snapshot.folder.join(HISTORY_FILE);
        let history = History::read(&path, &plan.eval.name).ok()?;
        let larger: Vec<&str> = progressive
            .tiers
            .iter()
            .skip(progressive.at)
            .map(|step| step.tier.as_str())
            .collect();
        let is_meant = |line: &&HistoryLine| {
            let tier = line.tier.as_deref();
            tier.is_none_or(|tier| larger.contains(&tier)) && line.samples > line.cached
        };
        let line = history.runs().rev().find(is_meant)?;
        let requested = as_f64(line.samples - line.cached) / f64::from(line.epochs.max(1));
        let tier = line.tier.as_ref();
        Some(Self {
            cost_usd: line.cost_usd.map(|usd| usd / requested),
            seconds: line.duration_s.map(|seconds| seconds / requested),
            by: match tier {
                Some(tier) => format!("by run `{}` of tier `{tier}`", line.id),
                None => format!("by run `{}` of all samples", line.id),
            },
        })
    }

    /// From this run so far.
    pub(in crate::run) fn of_tier(
        plan: &Plan,
        summary: &Summary,
        progressive: &Progressive,
    ) -> Option<Self> {
        let requested = summary.samples.checked_sub(summary.cached)?;
        let samples = as_f64(requested) / f64::from(plan.eval.epochs);
        if requested == 0 {
            return None;
        }
        let at_once = plan.eval.limits.concurrency.max(1) as u64;
        let latency = summary.latency_s.map(|latency| latency.mean);
        let latency = latency.map(|mean| mean * f64::from(plan.eval.epochs) / as_f64(at_once));
        let tier = progressive.tier()?;
        Some(Self {
            cost_usd: summary.usage.cost_usd.map(|usd| usd / samples),
            seconds: latency,
            by: format!("by tier `{}`", tier.tier),
        })
    }

    /// The report before a tier. The samples of the earlier tiers are answered already.
    pub(in crate::run) fn description(
        expected: Option<&Self>,
        progressive: &Progressive,
    ) -> Option<String> {
        let step = progressive.tier()?;
        let before = progressive.at.checked_sub(1);
        let before = before.and_then(|at| progressive.tiers.get(at));
        let new = step.samples - before.map_or(0, |step| step.samples);
        let more = if before.is_some() { " more" } else { "" };
        let samples = format!("tier `{}`: {new}{more} samples", step.tier);
        let known = expected.map(|expected| {
            let time = expected.seconds.map(|seconds| {
                let seconds = seconds * as_f64(new);
                if seconds < 1.0 {
                    "less than a second".to_owned()
                } else {
                    format!("about {}", Seconds::whole(seconds))
                }
            });
            let usd = expected.cost_usd.map(|usd| usd * as_f64(new));
            let usd = usd.map(|usd| format!("about {}", Usd(usd)));
            let parts: Vec<_> = time.into_iter().chain(usd).collect();
            (parts, &expected.by)
        });
        Some(match known {
            Some((parts, by)) if !parts.is_empty() => {
                format!("{samples}; expected: {}, {by}", parts.join(" and "))
            }
            _ => {
                format!("{samples}; nothing is known yet of what they cost and how long they take")
            }
        })
    }
}
