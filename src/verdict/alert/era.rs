//! `Era`: the runs that the newest one is compared with.

use crate::data::history::{HistoryKind, HistoryLine};

/// The runs that the newest one is compared with, in order of time, the newest last.
pub(super) struct Era<'a> {
    /// All runs of its line.
    pub(super) line: Vec<&'a HistoryLine>,
    /// Those since the baseline was accepted that are new evidence.
    pub(super) analyses: Vec<&'a HistoryLine>,
    /// The index of the newest run among the analyses of the era, from 1; 0 if it is not new evidence.
    pub(super) analysis: usize,
    /// The newest baseline with its dataset and scorer.
    pub(super) baseline: Option<&'a HistoryLine>,
}

impl<'a> Era<'a> {
    /// The era of a run, in a history in order of time.
    pub(super) fn of(lines: &'a [HistoryLine], newest: &'a HistoryLine, analyses: usize) -> Self {
        let comparable = newest.comparable();
        let before = |line: &&HistoryLine| {
            line.id != newest.id && (line.time, &line.id) < (newest.time, &newest.id)
        };
        let earlier = || lines.iter().filter(before);
        let baseline = earlier().rfind(|line| {
            line.kind == HistoryKind::Accept
                && (&*line.dataset_hash, &*line.scorer_hash) == (comparable.0, comparable.1)
        });
        let runs = earlier().filter(|line| line.kind == HistoryKind::Run);
        let mut line: Vec<_> = runs
            .filter(|line| line.comparable() == comparable)
            .collect();
        line.push(newest);
        let counts = |line: &&&HistoryLine| {
            let is_later = baseline.is_none_or(|baseline| {
                baseline.time <= line.time && !baseline.runs.contains(&line.id)
            });
            is_later && is_new(line)
        };
        let since: Vec<_> = line.iter().filter(counts).copied().collect();
        let is_counted = since.last().is_some_and(|last| last.id == newest.id);
        Self {
            analysis: if is_counted {
                (since.len() - 1) % analyses + 1
            } else {
                0
            },
            line,
            analyses: since,
            baseline,
        }
    }

    /// Why the newest run is not analysed, if it is not.
    pub(super) fn why_not_counted(&self) -> Option<&'static str> {
        let is_early = self.line.last().is_some_and(|newest| newest.early);
        let why = if is_early {
            "the run ended before all was asked, as its gates were sure: it is no fair part of the rest"
        } else {
            "the run has no answer that is new"
        };
        (self.analysis == 0).then_some(why)
    }

    /// The last runs of the era, at most `count`.
    pub(super) fn last(&self, count: usize) -> &[&'a HistoryLine] {
        let count = count.min(self.analysis);
        &self.analyses[self.analyses.len() - count..]
    }
}

/// Whether a run is new evidence. Cached answers are not. Nor is a run that stopped early: worse agents stop sooner, so
/// it is biased.
fn is_new(line: &HistoryLine) -> bool {
    line.scored > line.cached && !line.early
}
