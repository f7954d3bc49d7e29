//! `JurorSays`: the vote of one judge on one answer.

use serde_json::{Map, Value, json};

use crate::data::JurorVote;
use crate::scorer::ask::judge::graded::GradedAs;
use crate::scorer::ask::judge::rubric::Grading;
use crate::scorer::ask::judge::{NoOpinion, Opinion};

/// The vote of one judge on one answer, in numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JurorSays {
    /// Points by dimension, in order; empty for choices.
    pub(super) points: Vec<f64>,
    /// The total of a rubric, or the value of a choice.
    pub(super) total: f64,
    pub(super) choice: Option<String>,
    pub(super) correct: bool,
    pub(super) comments: String,
    pub(super) self_agreement: Option<(f64, u64)>,
}

/// Why there is no vote.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JurorIsSilent {
    /// The word used in files: `refusal`, …, `failed`.
    pub(super) reason: &'static str,
    pub(super) why: String,
}

/// A judge's vote, or why there is none.
pub(super) type JurorReply = Result<JurorSays, JurorIsSilent>;

impl JurorSays {
    pub(super) fn of(opinion: Opinion) -> Self {
        let graded = opinion.graded;
        let (points, total, choice) = match graded.verdict {
            #[expect(
                clippy::cast_precision_loss,
                reason = "the ends of a scale are far below what a float holds exactly"
            )]
            GradedAs::Points(points, total) => {
                let points = points.into_iter().map(|points| points as f64);
                (points.collect(), total, None)
            }
            GradedAs::Choice(name, value) => (Vec::new(), value, Some(name)),
        };
        Self {
            points,
            total,
            choice,
            correct: graded.correct,
            comments: graded.comments,
            self_agreement: opinion.self_agreement,
        }
    }

    /// The form for the details of a score.
    pub(super) fn details(&self, grading: &Grading, outlier: bool) -> Value {
        let mut details = Map::new();
        match grading {
            Grading::Rubric(rubric) => {
                details.insert("total".to_owned(), self.total.into());
                for (dimension, points) in rubric.dimensions.iter().zip(&self.points) {
                    details.insert(dimension.name.clone(), (*points).into());
                }
            }
            Grading::Choices(_) => {
                details.insert("verdict".to_owned(), json!(self.choice));
                details.insert("value".to_owned(), self.total.into());
            }
        }
        details.insert("correct".to_owned(), self.correct.into());
        if outlier {
            details.insert("outlier".to_owned(), true.into());
        }
        if !self.comments.is_empty() {
            details.insert("comments".to_owned(), self.comments.clone().into());
        }
        if let Some((share, _)) = self.self_agreement {
            details.insert("self_agreement".to_owned(), share.into());
        }
        details.into()
    }

    /// The form for the record of the call.
    pub(super) fn vote(&self, outlier: bool) -> JurorVote {
        JurorVote {
            total: Some(self.total),
            choice: self.choice.clone(),
            points: self.points.clone(),
            correct: Some(self.correct),
            outlier,
            self_agreement: self.self_agreement,
            ..JurorVote::default()
        }
    }
}

impl JurorIsSilent {
    /// `None` if the run is stopping.
    pub(super) fn of(none: NoOpinion) -> Option<Self> {
        let (reason, why) = match none {
            NoOpinion::Unread(reason, why) => (reason, format!("it was asked twice, and {why}")),
            NoOpinion::Failed(why) => ("failed", why),
            NoOpinion::Stopped => return None,
        };
        Some(Self { reason, why })
    }

    pub(super) fn details(&self) -> Value {
        json!({ "unread": self.reason, "error": self.why })
    }
}
