//! What to do about a run: one table, whose rows are each tied to a figure and to where its interval lies.
//!
//! A row says nothing unless the whole interval of its figure lies where the row says something: 5 of 5 right answers are not
//! called excellent, for their interval begins at 57 %. What is said is the figure with its interval, what to do, and what to
//! type next. The table is `recommend/table.json`; `figures` reads the figures that it names.

mod figures;

use std::cmp::Ordering;
use std::sync::LazyLock;

use serde::Deserialize;

pub(super) use figures::{AdvisedFigure, AdvisedRun};

use super::document::Line;
use super::figures::RunFigures;
use super::reported::ReportedRun;

/// So many are told: nobody follows more.
const TOLD: usize = 7;

/// What a row is about, from what makes other figures worthless down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AdviceRank {
    /// It leaves the figures open, or says that the agent became worse.
    First,
    /// It is about the whole.
    Whole,
    /// It is about a part of the answers.
    Part,
    /// It is about the run, not about answers.
    Run,
}

/// A kind of figure, and what is said of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AdviceTopic {
    /// The name of the figure in [`figures`].
    figure: String,
    /// So many of the figures are told.
    most: usize,
    /// Of each figure the first row says something that is about it.
    rows: Vec<AdviceRow>,
}

/// What to do about a figure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AdviceRow {
    /// Of figures of these sorts alone; of all, where there is none.
    #[serde(default)]
    only: Vec<String>,
    /// Where its interval begins, at least.
    begins_at: Option<f64>,
    /// What its whole interval lies below.
    ends_below: Option<f64>,
    /// How wide its interval is at least, so that it says little.
    wider_than: Option<f64>,
    rank: AdviceRank,
    todo: String,
}

static TABLE: LazyLock<Vec<AdviceTopic>> = LazyLock::new(|| {
    let table = serde_json::from_str(include_str!("recommend/table.json"));
    table.expect("a test reads the table")
});

/// What to do about a run, the most important first; nothing where nothing is to be said.
pub fn recommendations(run: &ReportedRun, figures: &RunFigures) -> Vec<Line> {
    let advised = AdvisedRun { run, figures };
    let mut advice: Vec<(AdviceRank, AdvisedFigure, &str)> = Vec::new();
    for topic in &*TABLE {
        let told = figures::named(&topic.figure, &advised)
            .into_iter()
            .filter_map(|figure| {
                let row = topic.rows.iter().find(|row| row.is_about(&figure))?;
                Some((row.rank, figure, &*row.todo))
            });
        advice.extend(told.take(topic.most));
    }
    advice.sort_by(|(rank, one, _), (other_rank, other, _)| {
        let by_rank = rank.cmp(other_rank);
        by_rank.then_with(|| {
            other
                .weight
                .partial_cmp(&one.weight)
                .unwrap_or(Ordering::Equal)
        })
    });
    advice.truncate(TOLD);
    let lines = advice.into_iter();
    lines.map(|(_, figure, todo)| told(figure, todo)).collect()
}

impl AdviceRow {
    fn is_about(&self, figure: &AdvisedFigure) -> bool {
        let is_of = self.only.is_empty() || self.only.contains(&figure.sort);
        let tests = [
            self.begins_at
                .map(|least| figure.interval.is_some_and(|[low, _]| low >= least)),
            self.ends_below
                .map(|most| figure.interval.is_some_and(|[_, high]| high < most)),
            self.wider_than.map(|width| {
                figure
                    .interval
                    .is_some_and(|[low, high]| high - low > width)
            }),
        ];
        is_of && tests.into_iter().flatten().all(|is_met| is_met)
    }
}

fn told(figure: AdvisedFigure, todo: &str) -> Line {
    let line = Line::default().strong(figure.told).plain(": ").marked(todo);
    match figure.next {
        Some(command) => line.plain(": ").code(command),
        None => line,
    }
}

#[cfg(test)]
mod tests;
