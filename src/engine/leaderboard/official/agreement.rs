//! The agreement of two sides' verdicts, sample by sample.

use serde::Serialize;

use crate::bfcl::checker::OfficialVerdict;
use crate::data::{Record, Status};
use crate::figure::counted;
use crate::report::document::{Block, Document, Table, list};

/// How far the verdicts of a run and of the official program agree.
#[derive(Clone, Debug, Serialize)]
pub struct OfficialAgreement {
    /// The model's name in the official program.
    pub model: String,
    /// By category, in the order of the run.
    pub categories: Vec<CategoryAgreement>,
    /// Every sample on which they differ, in the order of the run.
    pub disagreements: Vec<Disagreement>,
}

/// The verdicts of a category.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CategoryAgreement {
    /// Its name.
    pub category: String,
    /// Answers that the official program judged.
    pub answers: u64,
    /// How many of them it calls correct.
    pub correct: u64,
    /// How many both judged.
    pub compared: u64,
    /// How many have the same verdict on both sides.
    pub agreed: u64,
    /// How many both call wrong, for the same reason.
    pub(crate) same_error_type: u64,
    /// How many both call wrong.
    pub(crate) both_wrong: u64,
}

/// A sample that one side calls right and the other wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// The sample's id.
    pub sample_id: String,
    /// Its category.
    pub category: String,
    /// The run's verdict, and why.
    pub ours: VerdictSide,
    /// The official verdict, and why.
    pub official: VerdictSide,
}

/// A verdict with its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerdictSide {
    /// Whether the answer is right.
    pub correct: bool,
    /// The error type, or `exact_match`.
    pub reason: String,
}

impl OfficialAgreement {
    pub(super) fn new(model: &str) -> Self {
        Self {
            model: model.to_owned(),
            categories: Vec::new(),
            disagreements: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, record: &Record, category: &str, official: &OfficialVerdict) {
        let place = self
            .categories
            .iter()
            .position(|one| one.category == category);
        let place = place.unwrap_or_else(|| {
            self.categories.push(CategoryAgreement {
                category: category.to_owned(),
                ..CategoryAgreement::default()
            });
            self.categories.len() - 1
        });
        let counts = &mut self.categories[place];
        counts.answers += 1;
        counts.correct += u64::from(official.valid);
        let score = record.result.score.as_ref();
        let Some(score) = score.filter(|_| record.result.status == Status::Scored) else {
            return;
        };
        counts.compared += 1;
        let reason = official.error_type.as_deref().unwrap_or("exact_match");
        if score.correct == official.valid {
            counts.agreed += 1;
            counts.both_wrong += u64::from(!score.correct);
            counts.same_error_type += u64::from(!score.correct && score.reason == reason);
            return;
        }
        self.disagreements.push(Disagreement {
            sample_id: record.sample_id.clone(),
            category: category.to_owned(),
            ours: VerdictSide {
                correct: score.correct,
                reason: score.reason.clone().into_owned(),
            },
            official: VerdictSide {
                correct: official.valid,
                reason: reason.to_owned(),
            },
        });
    }

    /// Whether no verdict differs.
    pub fn is_full(&self) -> bool {
        self.disagreements.is_empty()
    }

    /// The totals over all categories.
    pub fn all(&self) -> CategoryAgreement {
        let mut all = CategoryAgreement {
            category: "all".to_owned(),
            ..CategoryAgreement::default()
        };
        for one in &self.categories {
            all.answers += one.answers;
            all.correct += one.correct;
            all.compared += one.compared;
            all.agreed += one.agreed;
            all.same_error_type += one.same_error_type;
            all.both_wrong += one.both_wrong;
        }
        all
    }

    /// How many answers only the official program judged.
    pub fn only_official(&self) -> u64 {
        let all = self.all();
        all.answers - all.compared
    }

    /// For people: a table by category and the list of disagreements.
    pub fn text(&self) -> Document {
        let all = self.all();
        let mut text = Document::new(format!(
            "official program, as `{}`: {} of {} verdicts agree",
            self.model, all.agreed, all.compared
        ));
        let only = self.only_official();
        if only > 0 {
            text.paragraph(format!("{only} answers were judged by it alone"));
        }
        let mut table = Table::of_numbers([
            "category",
            "answers",
            "correct",
            "compared",
            "agreed",
            "wrong to both",
            "same error type",
        ]);
        let of_all = Some(&all).filter(|_| self.categories.len() > 1);
        for one in self.categories.iter().chain(of_all) {
            let counts = [
                one.answers,
                one.correct,
                one.compared,
                one.agreed,
                one.both_wrong,
                one.same_error_type,
            ];
            let counts = counts.map(|count| count.to_string());
            table.row(std::iter::once(one.category.clone()).chain(counts));
        }
        text.table(table);
        let side = |side: &VerdictSide| {
            let verdict = if side.correct { "correct" } else { "wrong" };
            format!("{verdict} ({})", side.reason)
        };
        let count = counted(self.disagreements.len() as u64, "disagreement");
        let lines = list(self.disagreements.iter().map(|one| {
            let (ours, official) = (side(&one.ours), side(&one.official));
            format!("{}: here {ours}, official {official}", one.sample_id)
        }));
        let lines = lines.map(|lines| Block::group(format!("{count}:"), [lines]));
        text.blocks.extend(lines);
        text
    }
}
