//! The failures of a run, grouped by what they have in common.

use evaltest::engine::report::document::{Document, list};
use evaltest::engine::text::excerpt;
use evaltest::engine::verdict::{
    DisagreementGroup, ErrorGroup, GroupedFailures, SliceFailures, WrongGroup,
};

/// The groups, each listing up to `named` samples; `None` if there are no failures.
pub(super) fn failures(groups: &GroupedFailures, named: usize) -> Option<Document> {
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
        "correct in some epochs and wrong in others, {}:",
        groups.flaky.count
    );
    let sections = [
        (
            "errors by kind:",
            list(errors.map(|it| line(error(it), &it.ids, it.count))),
        ),
        (
            "wrong answers by reason:",
            list(wrong.map(|it| line(reason(it), &it.ids, it.count))),
        ),
        (
            "scorers that disagree:",
            list(disagreements.map(|it| line(disagreement(it), &it.ids, it.count))),
        ),
        (
            "failures by slice:",
            list(slices.map(|it| line(slice(it), &it.ids, it.failed))),
        ),
        (
            &flaky_title,
            list(flaky.map(|it| format!("{}: {} of {} correct", it.id, it.correct, it.scored))),
        ),
    ];
    let sections = sections.into_iter();
    let mut sections = sections.filter_map(|(title, lines)| Some((title, lines?)));
    let (title, lines) = sections.next()?;
    let mut text = Document::new(title);
    text.blocks.push(lines);
    for (title, lines) in sections {
        text.section(title);
        text.blocks.push(lines);
    }
    Some(text)
}

fn error(group: &ErrorGroup) -> String {
    let (count, kind, example) = (group.count, &group.kind, excerpt(&group.example));
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

fn slice(slice: &SliceFailures) -> String {
    let (failed, of) = (slice.failed, slice.of);
    let place = format!("in {}={}", slice.dimension, slice.value);
    match (slice.wrong, slice.errors) {
        (_, 0) => format!("{failed} of {of} wrong {place}"),
        (0, _) => format!("{failed} of {of} without a verdict {place}"),
        (wrong, errors) => {
            format!("{failed} of {of} failed {place}, {wrong} wrong and {errors} without a verdict")
        }
    }
}
