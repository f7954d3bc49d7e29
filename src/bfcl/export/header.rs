//! The first line of a score file: the accuracy.

use super::{ExportEntry, score, tables};
use crate::bfcl::benchmark::sensitivity::FormCounts;
use crate::bfcl::data::Category;
use crate::bfcl::form::{FORMAT_SENSITIVITY, PromptForm};
use crate::calls::Value;

/// The line for `correct` of `total` answers.
#[expect(
    clippy::cast_precision_loss,
    reason = "no file has so many lines that a double could not count them"
)]
pub(super) fn line(correct: usize, total: usize, forms: &FormCounts) -> String {
    let count = |count: u64| Value::from(i64::try_from(count).unwrap_or(i64::MAX));
    let counts = |accuracy, correct, total| {
        [
            ("accuracy", Value::Float(accuracy)),
            ("correct_count", count(correct)),
            ("total_count", count(total)),
        ]
    };
    let names: Vec<String> = forms.iter().map(|one| one.form.to_string()).collect();
    let accuracy = correct as f64 / total as f64;
    let mut members: Vec<_> = counts(accuracy, correct as u64, total as u64).into();
    if !forms.is_empty() {
        let percents = [
            ("accuracy_max_delta", forms.max_delta() * 100.0),
            ("accuracy_variance", forms.variance() * 10_000.0),
            ("accuracy_std", forms.std() * 100.0),
        ];
        members.extend(percents.map(|(name, value)| (name, Value::Float(tables::rounded(value)))));
    }
    for (name, one) in names.iter().zip(forms.iter()) {
        let counts = counts(one.accuracy(), one.correct, one.total);
        members.push((name, score::dict(counts)));
    }
    score::line(members)
}

/// Correct answers per form, for `format_sensitivity`.
pub(super) fn forms(category: &Category, entries: &[ExportEntry]) -> FormCounts {
    let mut counts = FormCounts::default();
    for entry in entries
        .iter()
        .filter(|_| category.name == FORMAT_SENSITIVITY)
    {
        if let Some((form, _)) = PromptForm::of_id(&entry.id)
            && let Some(judged) = &entry.judged
        {
            counts.add(form, judged.correct);
        }
    }
    counts
}
