//! What marks of a trend say, for a terminal as for a page. Texts of a history are not cleaned here.

use super::{minute, short_commit};
use crate::figure::{Interval, P, Points, Share};
use crate::report::section::accuracy;
use crate::verdict::alert::{AlertResult, AlertVerdict};
use crate::verdict::trend::{TrendEntry, TrendMark};

/// A mark in few words.
pub(crate) fn mark(mark: &TrendMark) -> String {
    match mark {
        TrendMark::Dataset => "other dataset".to_owned(),
        TrendMark::Scorer => "other scorer".to_owned(),
        TrendMark::Agent => "agent changed".to_owned(),
        TrendMark::Prompt { after, .. } => match after {
            Some(prompt) => format!("prompt {prompt}"),
            None => "prompt left out".to_owned(),
        },
        TrendMark::Model { before, after } => {
            let new: Vec<_> = after
                .iter()
                .filter(|model| !before.contains(model))
                .collect();
            let gone: Vec<_> = before
                .iter()
                .filter(|model| !after.contains(model))
                .collect();
            let names = |models: &[&String]| {
                let models: Vec<&str> = models.iter().map(|model| model.as_str()).collect();
                models.join(", ")
            };
            if new.is_empty() {
                format!("served no more {}", names(&gone))
            } else {
                format!("served {}", names(&new))
            }
        }
        TrendMark::Judge => "judge changed".to_owned(),
        TrendMark::Level { before, after, p } => {
            format!("{} from here, {}", level(*before, *after), P(*p))
        }
        TrendMark::Gates {
            failed,
            inconclusive,
        } => gates(*failed, *inconclusive),
        TrendMark::Cached => "answers from the cache".to_owned(),
        TrendMark::Dirty => "not committed".to_owned(),
    }
}

/// An alert in a line: what became of it, and why.
pub(crate) fn alert(result: &AlertResult) -> String {
    let word = match result.verdict {
        AlertVerdict::Raised => "ALERT",
        AlertVerdict::Quiet => "quiet",
        AlertVerdict::Silent => "cannot say yet",
    };
    let tier = result.tier.as_deref();
    let tier = tier.map_or_else(String::new, |tier| format!(" (tier {tier})"));
    format!("{word}: {}{tier}: {}", result.alert, result.message)
}

/// `▼ 8.1 points`
pub(crate) fn level(before: f64, after: f64) -> String {
    let sign = if after < before { '▼' } else { '▲' };
    format!("{sign} {} points", Points(after - before).unsigned())
}

fn gates(failed: usize, inconclusive: usize) -> String {
    let told = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 gate {what}")),
        count => Some(format!("{count} gates {what}")),
    };
    let told = [told(failed, "failed"), told(inconclusive, "inconclusive")];
    told.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The accuracy with its interval; with errors, what it could be.
pub(crate) fn measured(entry: &TrendEntry<'_>) -> Option<String> {
    let bounds = entry.bounds();
    let told = accuracy::shown(entry.of.accuracy, bounds)?;
    let is_range = bounds.is_some_and(|[low, high]| low < high);
    Some(match entry.of.accuracy_ci95 {
        Some(ci95) if !is_range => format!("{told} ({})", Interval(ci95.map(Share))),
        _ => told,
    })
}

/// By how many points it differs from the run before.
pub(crate) fn delta(entry: &TrendEntry<'_>) -> Option<String> {
    Some(Points(entry.delta?).to_string())
}

/// What a change of the level says, if the mark is one: by how much, since which run, and what else was new there.
pub(super) fn change(entry: &TrendEntry<'_>, told: &TrendMark) -> Option<String> {
    let TrendMark::Level { before, after, p } = told else {
        return None;
    };
    let verb = if after < before { "fell" } else { "rose" };
    let tier = entry.of.tier.as_deref();
    let tier = tier.map_or_else(String::new, |tier| format!(", tier {tier}"));
    let commit = short_commit(entry.of.commit.as_deref());
    let commit = match &*commit {
        "" => commit,
        commit => format!(", commit {commit}"),
    };
    let new = entry.marks.iter().filter(|mark| mark.is_of_the_agent());
    let new: Vec<_> = new.map(mark).collect();
    let new = match &*new {
        [] => String::new(),
        new => format!("; new there: {}", new.join(", ")),
    };
    Some(format!(
        "accuracy {verb} by {} points, from {} to {} ({}), with run {} of {}{tier}{commit}{new}",
        Points(after - before).unsigned(),
        Share(*before),
        Share(*after),
        P(*p),
        entry.of.id,
        minute(entry.of.time),
    ))
}
