//! Recommendations for a run: a table whose rows depend on a figure and its interval.
//!
//! A row applies only if the whole interval of its figure is in the row's range: 5 of 5 correct answers are not called
//! excellent, because their interval starts at 57 %. The text has the figure with its interval, the recommendation,
//! and the next command. The table is `recommend/table.json`; `figures` computes the figures that it uses.

mod figures;

use std::cmp::Ordering;
use std::sync::LazyLock;

use serde::Deserialize;

pub(super) use figures::{AdvisedFigure, AdvisedRun};

use super::document::Line;
use super::figures::RunFigures;
use super::reported::ReportedRun;

/// Maximum number of recommendations.
const MAX_ADVICE: usize = 7;

/// The priority of a row, from causes that invalidate other figures downwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AdviceRank {
    /// It makes other figures uncertain, or reports a regression.
    First,
    /// About all answers.
    Whole,
    /// About a part of the answers.
    Part,
    /// About the run rather than the answers.
    Run,
}

/// A kind of figure with its recommendations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AdviceTopic {
    /// Name of the figure in [`figures`].
    figure: String,
    /// Maximum number of such figures.
    most: usize,
    /// For each figure the first matching row applies.
    rows: Vec<AdviceRow>,
}

/// A recommendation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AdviceRow {
    /// Applies only to figures of these sorts; empty for all.
    #[serde(default)]
    only: Vec<String>,
    /// Minimum of the interval's lower bound.
    begins_at: Option<f64>,
    /// Upper limit of the whole interval.
    ends_below: Option<f64>,
    /// Minimum width of the interval, to detect uncertain figures.
    wider_than: Option<f64>,
    rank: AdviceRank,
    /// Whether the figure's next command does not belong to the recommendation.
    #[serde(default)]
    no_command: bool,
    todo: String,
}

static TABLE: LazyLock<Vec<AdviceTopic>> = LazyLock::new(|| {
    let table = serde_json::from_str(include_str!("recommend/table.json"));
    table.expect("a test reads the table")
});

/// The recommendations for a run, the most important first; may be empty.
pub fn recommendations(run: &ReportedRun, figures: &RunFigures) -> Vec<Line> {
    let advised = AdvisedRun { run, figures };
    let mut advice: Vec<(AdviceRank, AdvisedFigure, &str)> = Vec::new();
    for topic in &*TABLE {
        let text = figures::named(&topic.figure, &advised)
            .into_iter()
            .filter_map(|mut figure| {
                let row = topic.rows.iter().find(|row| row.is_about(&figure))?;
                if row.no_command {
                    figure.next = None;
                }
                Some((row.rank, figure, &*row.todo))
            });
        advice.extend(text.take(topic.most));
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
    advice.truncate(MAX_ADVICE);
    let lines = advice.into_iter();
    lines.map(|(_, figure, todo)| text(figure, todo)).collect()
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

fn text(figure: AdvisedFigure, todo: &str) -> Line {
    let line = Line::default().strong(format!("{}.", figure.text));
    let line = line.plain(" ").marked(todo);
    match figure.next {
        Some(command) => line.plain(": ").code(command),
        None => line,
    }
}

#[cfg(test)]
mod tests;
