//! What went wrong in a run, by what it has in common.

use std::io::{self, Write};

use evaltest::engine::text::{clean, excerpt};
use evaltest::engine::verdict::{
    DisagreementGroup, ErrorGroup, GroupedFailures, SliceFailures, WrongGroup,
};

/// Writes the groups, each of which names so many samples; nothing where nothing went wrong.
pub(super) fn failures(
    groups: &GroupedFailures,
    named: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut section = |title: &str, groups: Vec<(String, &Vec<String>, u64)>| -> io::Result<()> {
        if groups.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{title}:")?;
        for (head, ids, count) in groups {
            // The epochs of a sample count each, and name it once.
            let is_all = ids.len() < named || u64::try_from(ids.len()) == Ok(count);
            let more = if is_all { "" } else { ", …" };
            let ids: Vec<_> = ids.iter().map(|id| clean(id)).collect();
            writeln!(out, "  {head}: {}{more}", ids.join(", "))?;
        }
        Ok(())
    };
    let errors = groups.errors.iter();
    let errors = errors.map(|group| (error(group), &group.ids, group.count));
    section("errors by kind", errors.collect())?;
    let wrong = groups.wrong.iter();
    let wrong = wrong.map(|group| (reason(group), &group.ids, group.count));
    section("wrong answers by reason", wrong.collect())?;
    let disagreements = groups.disagreements.iter();
    let disagreements = disagreements.map(|group| (disagreement(group), &group.ids, group.count));
    section("scorers that disagree", disagreements.collect())?;
    let slices = groups.slices.iter();
    let slices = slices.map(|group| (slice(group), &group.ids, group.failed));
    section("failures by slice", slices.collect())?;
    let flaky = &groups.flaky;
    if flaky.count > 0 {
        let count = flaky.count;
        writeln!(
            out,
            "\ncorrect in some epochs and wrong in others, {count}:"
        )?;
    }
    flaky.samples.iter().try_for_each(|sample| {
        let (id, correct, scored) = (clean(&sample.id), sample.correct, sample.scored);
        writeln!(out, "  {id}: {correct} of {scored} correct")
    })
}

/// The same, with nothing above it.
pub(super) fn alone(groups: &GroupedFailures, named: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut text = Vec::new();
    failures(groups, named, &mut text)?;
    match text.strip_prefix(b"\n") {
        Some(text) => out.write_all(text),
        None => writeln!(out, "nothing failed"),
    }
}

fn error(group: &ErrorGroup) -> String {
    let (count, kind, said) = (group.count, clean(&group.kind), excerpt(&group.example));
    match group.as_wrong {
        0 => format!("{count} {kind} (first: {said})"),
        wrong => format!("{count} {kind}, {wrong} of them counted as wrong (first: {said})"),
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
    let (decides, by, count) = (clean(decides), clean(&group.other), group.count);
    if group.accepted {
        format!("{count} that `{decides}` accepts and `{by}` rejects")
    } else {
        format!("{count} that `{decides}` rejects and `{by}` accepts")
    }
}

fn slice(slice: &SliceFailures) -> String {
    let (failed, of) = (slice.failed, slice.of);
    let place = format!("in {}={}", clean(&slice.dimension), clean(&slice.value));
    match (slice.wrong, slice.errors) {
        (_, 0) => format!("{failed} of {of} wrong {place}"),
        (0, _) => format!("{failed} of {of} without a verdict {place}"),
        (wrong, errors) => {
            format!("{failed} of {of} failed {place}, {wrong} wrong and {errors} without a verdict")
        }
    }
}
