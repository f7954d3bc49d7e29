//! What to do about a run: one table, whose rows are each tied to a figure and to where its interval lies.
//!
//! A row says nothing unless the whole interval of its figure lies where the row says something: 5 of 5 right answers are not
//! called excellent, for their interval begins at 57 %. What is said is the figure with its interval, what to do, and what to
//! type next. `TABLE` is all there is; where its figures come from stands in `figures`.

mod figures;

use std::cmp::Ordering;

pub(super) use figures::{AdvisedFigure, AdvisedRun};

use super::document::Line;
use super::figures::RunFigures;
use super::reported::ReportedRun;
use IntervalTest::{Any, BeginsAt, EndsBelow, WiderThan};

/// So many are told: nobody follows more.
const TOLD: usize = 7;

/// What a row is about, from what makes other figures worthless down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AdviceRank {
    /// It leaves the figures open, or says that the agent became worse.
    First,
    /// It is about the whole.
    Whole,
    /// It is about a part of the answers.
    Part,
    /// It is about the run, not about answers.
    Run,
}

/// Where the interval of a figure has to lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum IntervalTest {
    /// Wherever it does.
    Any,
    /// Here or above.
    BeginsAt(f64),
    /// Wholly below.
    EndsBelow(f64),
    /// So wide that it says little.
    WiderThan(f64),
}

/// Some figures, and what is said of them.
struct AdviceTopic {
    of: fn(&AdvisedRun<'_>) -> Vec<AdvisedFigure>,
    /// So many of the figures are told.
    most: usize,
    /// Of each figure the first row says something whose test its interval meets.
    rows: &'static [AdviceRow],
}

/// What to do about a figure.
struct AdviceRow {
    /// Of figures of these sorts alone; of all, where there is none.
    only: &'static [&'static str],
    when: IntervalTest,
    rank: AdviceRank,
    todo: &'static str,
}

/// A row of the table.
const fn row(when: IntervalTest, rank: AdviceRank, todo: &'static str) -> AdviceRow {
    only(&[], when, rank, todo)
}

/// A row about some figures alone.
const fn only(
    only: &'static [&'static str],
    when: IntervalTest,
    rank: AdviceRank,
    todo: &'static str,
) -> AdviceRow {
    AdviceRow {
        only,
        when,
        rank,
        todo,
    }
}

/// The table.
const TABLE: &[AdviceTopic] = &[
    // The share of errors, by the most frequent kind.
    AdviceTopic {
        of: figures::errors,
        most: 1,
        rows: &[
            only(
                &["timed_out"],
                Any,
                AdviceRank::First,
                "see what takes so long, or give more time by `limits.timeout_s`",
            ),
            only(
                &["rate_limited", "busy", "shortage"],
                Any,
                AdviceRank::First,
                "ask fewer at once (`--concurrency`)",
            ),
            only(
                &figures::NOT_REACHED,
                Any,
                AdviceRank::First,
                "mend how the agent is reached",
            ),
            only(
                &["scorer_failed"],
                Any,
                AdviceRank::First,
                "the answers are there and a scorer could not judge them: see why",
            ),
            row(Any, AdviceRank::First, "see what the first of them said"),
        ],
    },
    // The change of the accuracy since the baseline.
    AdviceTopic {
        of: figures::change,
        most: 1,
        rows: &[row(
            EndsBelow(0.0),
            AdviceRank::First,
            "worse than what was accepted; see both answers of what became wrong",
        )],
    },
    // The accuracy, in steps.
    AdviceTopic {
        of: figures::accuracy,
        most: 1,
        rows: &[
            row(
                EndsBelow(0.5),
                AdviceRank::Whole,
                "most answers are wrong, which is no bad luck; begin with the first",
            ),
            only(
                &["all"],
                BeginsAt(0.9),
                AdviceRank::Run,
                "excellent; harder questions would tell more",
            ),
            row(
                BeginsAt(0.9),
                AdviceRank::Run,
                "excellent; what is still wrong is few enough to be read one by one",
            ),
            row(
                BeginsAt(0.7),
                AdviceRank::Run,
                "good; the parts and reasons below say where the rest is lost",
            ),
            row(
                BeginsAt(0.5),
                AdviceRank::Run,
                "more right than wrong; the parts and reasons below say where most is lost",
            ),
        ],
    },
    // The accuracy that is between two steps for want of samples.
    AdviceTopic {
        of: figures::precision,
        most: 1,
        rows: &[row(
            WiderThan(0.2),
            AdviceRank::Run,
            "ask more, or each several times (`--epochs`)",
        )],
    },
    // How well a judge that decides agrees with people: kappa.
    AdviceTopic {
        of: figures::uncalibrated,
        most: 1,
        rows: &[row(
            Any,
            AdviceRank::Whole,
            "have people label answers that are drawn by lot",
        )],
    },
    // The accuracy that is lost from a level to the next: 0 is ideal, .3 that 30 % are lost.
    AdviceTopic {
        of: figures::drops,
        most: 2,
        rows: &[row(
            BeginsAt(figures::LOST),
            AdviceRank::Part,
            "what the harder level needs, the agent does not do; see the first",
        )],
    },
    // By how much a part is less accurate than the whole.
    AdviceTopic {
        of: figures::weaker_parts,
        most: 2,
        rows: &[row(
            BeginsAt(0.0),
            AdviceRank::Part,
            "weaker than the whole; see the first",
        )],
    },
    // The share of the wrong answers that are one and the same, or are wrong for one reason.
    AdviceTopic {
        of: figures::one_cause,
        most: 1,
        rows: &[row(
            BeginsAt(1.0 / 3.0),
            AdviceRank::Part,
            "one cause; see the first",
        )],
    },
    // The share of the wrong answers of which nothing was extracted.
    AdviceTopic {
        of: figures::nothing_extracted,
        most: 1,
        rows: &[row(
            BeginsAt(0.05),
            AdviceRank::Part,
            "have the prompt ask for the form that `extract` reads, or mend `extract` in the spec and score again",
        )],
    },
    // The share of the wrong answers with one wrong parameter.
    AdviceTopic {
        of: figures::parameters,
        most: 1,
        rows: &[
            only(
                &["missing"],
                BeginsAt(0.05),
                AdviceRank::Part,
                "say in the description of the function when it is needed",
            ),
            row(
                BeginsAt(0.05),
                AdviceRank::Part,
                "say in the description of the function what it takes",
            ),
        ],
    },
    // The share of the answers of which two scorers say the opposite.
    AdviceTopic {
        of: figures::disagreements,
        most: 2,
        rows: &[
            only(
                &["accepts"],
                BeginsAt(0.05),
                AdviceRank::Part,
                "see whether the rule that decides is too lenient",
            ),
            only(
                &["rejects"],
                BeginsAt(0.05),
                AdviceRank::Part,
                "see whether the rule that decides is too strict, or the form of the answers alone is wrong",
            ),
        ],
    },
    // The share of the samples that are now right, now wrong.
    AdviceTopic {
        of: figures::flaky,
        most: 1,
        rows: &[row(
            BeginsAt(0.05),
            AdviceRank::Part,
            "a lower temperature, if the agent has one; what must hold each time is a gate on `pass^k`",
        )],
    },
    // The share of the answers that took more than one attempt.
    AdviceTopic {
        of: figures::retries,
        most: 1,
        rows: &[row(
            BeginsAt(0.05),
            AdviceRank::Run,
            "the agent is asked too often, or fails by chance; ask fewer at once (`--concurrency`)",
        )],
    },
];

/// What to do about a run, the most important first; nothing where nothing is to be said.
pub fn recommendations(run: &ReportedRun, figures: &RunFigures) -> Vec<Line> {
    let advised = AdvisedRun { run, figures };
    let mut advice: Vec<(AdviceRank, AdvisedFigure, &str)> = Vec::new();
    for topic in TABLE {
        let told = (topic.of)(&advised).into_iter().filter_map(|figure| {
            let row = topic.rows.iter().find(|row| row.is_about(&figure))?;
            Some((row.rank, figure, row.todo))
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
        let is_of = self.only.is_empty() || self.only.contains(&&*figure.sort);
        is_of && self.when.is_met(figure.interval)
    }
}

impl IntervalTest {
    fn is_met(self, interval: Option<[f64; 2]>) -> bool {
        match (self, interval) {
            (Any, _) => true,
            (_, None) => false,
            (BeginsAt(least), Some([low, _])) => low >= least,
            (EndsBelow(most), Some([_, high])) => high < most,
            (WiderThan(width), Some([low, high])) => high - low > width,
        }
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
