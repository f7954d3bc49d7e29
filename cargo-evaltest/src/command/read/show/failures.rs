//! The failures of a run, grouped by what they have in common.

use std::collections::HashMap;

use evaltest::engine::report::document::{Block, Document, list};
use evaltest::engine::report::figures::ReportedSample;
use evaltest::engine::report::terminal::sample_rows;
use evaltest::engine::text::excerpt;
use evaltest::engine::verdict::Subject;
use evaltest::engine::verdict::{
    DisagreementGroup, ErrorGroup, GroupedFailures, SliceFailures, WrongGroup,
};

/// The groups, each listing up to `named` samples; `None` if there are no failures. Wrong ones that are `known` are listed
/// with question and answer.
pub(super) fn failures(
    groups: &GroupedFailures,
    named: usize,
    known: &HashMap<String, ReportedSample>,
    subject: Subject,
) -> Option<Document> {
    let line = |head: String, ids: &[String], count: u64| {
        // Each epoch of a sample counts, but its id is listed once.
        let is_all = ids.len() < named || u64::try_from(ids.len()) == Ok(count);
        let more = if is_all { "" } else { ", …" };
        format!("{head}: {}{more}", ids.join(", "))
    };
    let errors = groups.errors.iter();
    let wrong = groups.wrong.iter();
    let disagreements = groups.disagreements.iter();
    let slices = groups.slices.iter();
    let flaky = groups.flaky.samples.iter();
    let flaky_title = format!(
        "{} in some epochs and {} in others, {}:",
        subject.good(),
        subject.bad(),
        groups.flaky.count
    );
    let by_reason = format!("{} by reason:", subject.all_bad());
    let wrong = wrong.map(|it| {
        let samples: Option<Vec<_>> = it.ids.iter().map(|id| known.get(id)).collect();
        let Some(samples) = samples else {
            return Block::paragraph(line(reason(it), &it.ids, it.count));
        };
        let more = it.count.saturating_sub(samples.len() as u64);
        let more = (more > 0).then(|| format!("… and {more} more").into());
        let rows = sample_rows(&samples, subject).into_iter().chain(more);
        Block::group(format!("{}:", reason(it)), list(rows))
    });
    let of_lines = |lines: Vec<String>| list(lines).into_iter().collect();
    let sections: [(&str, Vec<Block>); 5] = [
        (
            "errors by kind:",
            of_lines(
                errors
                    .map(|it| line(error(it), &it.ids, it.count))
                    .collect(),
            ),
        ),
        (&by_reason, wrong.collect()),
        (
            "scorers that disagree:",
            of_lines(
                disagreements
                    .map(|it| line(disagreement(it), &it.ids, it.count))
                    .collect(),
            ),
        ),
        (
            "failures by slice:",
            of_lines(
                slices
                    .map(|it| line(slice(it, subject.bad()), &it.ids, it.failed))
                    .collect(),
            ),
        ),
        (
            &flaky_title,
            of_lines(
                flaky
                    .map(|it| {
                        let (correct, scored) = (it.correct, it.scored);
                        format!("{}: {correct} of {scored} {}", it.id, subject.good())
                    })
                    .collect(),
            ),
        ),
    ];
    let sections = sections.into_iter();
    let mut sections = sections.filter(|(_, blocks)| !blocks.is_empty());
    let (title, blocks) = sections.next()?;
    let mut text = Document::new(title);
    text.blocks.extend(blocks);
    for (title, blocks) in sections {
        text.section(title);
        text.blocks.extend(blocks);
    }
    Some(text)
}

fn error(group: &ErrorGroup) -> String {
    let (count, kind) = (group.count, group.kind.replace('_', " "));
    let example = excerpt(&group.example);
    match group.as_wrong {
        0 => format!("{count} {kind} (first: {example})"),
        wrong => format!("{count} {kind}, {wrong} of them counted as wrong (first: {example})"),
    }
}

fn reason(group: &WrongGroup) -> String {
    let reason = match group.reason.as_deref() {
        Some("") => "without a reason".to_owned(),
        Some(reason) => excerpt(reason),
        None => "for other reasons".to_owned(),
    };
    format!("{} {reason}", group.count)
}

fn disagreement(group: &DisagreementGroup) -> String {
    let decides = group.scorer.as_deref().unwrap_or("the first scorer");
    let (by, count) = (&group.other, group.count);
    if group.accepted {
        format!("{count} that `{decides}` accepts and `{by}` rejects")
    } else {
        format!("{count} that `{decides}` rejects and `{by}` accepts")
    }
}

fn slice(slice: &SliceFailures, bad: &str) -> String {
    let (failed, of) = (slice.failed, slice.of);
    let place = format!("in {}={}", slice.dimension, slice.value);
    match (slice.wrong, slice.errors) {
        (_, 0) => format!("{failed} of {of} {bad} {place}"),
        (0, _) => format!("{failed} of {of} without a verdict {place}"),
        (wrong, errors) => {
            format!("{failed} of {of} failed {place}, {wrong} {bad} and {errors} without a verdict")
        }
    }
}
