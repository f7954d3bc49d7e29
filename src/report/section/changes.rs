//! Changes since the baseline, and differences from the snapshots.

use super::overview;
use super::samples::SampleTable;
use super::source::Source;
use crate::figure::ci95;
use crate::report::document::{
    Block, Fold, IntervalRow, IntervalScale, Intervals, Line, Tone, list,
};
use crate::snapshot::assertion::ACCEPT;
use crate::verdict::conclude::Run;

/// Maximum number of ids on a terminal.
const BRIEF: usize = super::source::LISTED;

/// Maximum number of ids elsewhere; `manifest.json` has all.
const FULL: usize = 50;

/// The change since the baseline with the ids of samples that flipped, where only a summary is known.
pub(in crate::report) fn changes(source: &Source<'_>) -> Vec<Block> {
    let change = source.summary.change.as_ref();
    let Some(change) = change.filter(|change| change.worse + change.better > 0) else {
        return Vec::new();
    };
    let row = IntervalRow {
        label: "accuracy".to_owned(),
        value: Some(change.difference),
        interval: Some(change.difference_ci95),
        figures: overview::difference_cell(change),
        note: format!("{} compared", change.n),
        ..IntervalRow::default()
    };
    let mut blocks = vec![
        Block::section("Since the baseline"),
        Block::Intervals(Intervals {
            caption: "Change of accuracy".to_owned(),
            heads: ["", ci95!("change, "), "samples"].map(str::to_owned),
            scale: IntervalScale::differences([change.difference_ci95]),
            rows: vec![row],
        }),
    ];
    blocks.extend(became_wrong(source));
    blocks.extend(became_right(source));
    blocks
}

/// The samples that became wrong since the baseline.
pub(in crate::report) fn became_wrong(source: &Source<'_>) -> Option<Block> {
    let change = source.summary.change.as_ref()?;
    side(source, "Became wrong", &change.became_wrong, Fold::Open)
}

/// The samples that became right since the baseline.
pub(in crate::report) fn became_right(source: &Source<'_>) -> Option<Block> {
    let change = source.summary.change.as_ref()?;
    side(source, "Became right", &change.became_correct, Fold::Closed)
}

fn side(source: &Source<'_>, title: &str, ids: &[String], fold: Fold) -> Option<Block> {
    if ids.is_empty() {
        return None;
    }
    let listed = &ids[..ids.len().min(FULL)];
    let samples = match source.run {
        Some((run, figures)) => SampleTable::of_flips(run).block(
            title,
            listed.iter().filter_map(|id| figures.flipped.get(id)),
        ),
        None => list(listed.iter().map(String::as_str)),
    };
    let more =
        (ids.len() > FULL).then(|| Block::paragraph(format!("And {} more.", ids.len() - FULL)));
    let title = Line::default().strong(format!("{title}: {}", ids.len()));
    Some(Block::folded(fold, title, samples.into_iter().chain(more)))
}

/// The same for a terminal: only ids.
pub(in crate::report) fn flips(run: &Run) -> Vec<Block> {
    let sides = [
        (true, Tone::Bad, "correct in the baseline, wrong now"),
        (false, Tone::Good, "wrong in the baseline, correct now"),
    ];
    let sides = sides.into_iter().filter_map(|(worse, tone, title)| {
        let flips = run.flips.iter().filter(|flip| flip.worse == worse);
        let ids: Vec<&str> = flips.map(|flip| &*flip.id).collect();
        let title = Line::default().toned(tone, title);
        ids_below(title, &ids)
    });
    sides.collect()
}

fn ids_below(title: Line, ids: &[&str]) -> Option<Block> {
    let listed = ids.iter().take(BRIEF).map(|id| Line::from(*id));
    let more = ids.len().saturating_sub(BRIEF);
    let more = (more > 0).then(|| format!("… and {more} more").into());
    let title = title.plain(format!(" ({}):", ids.len()));
    let items = list(listed.chain(more))?;
    Some(Block::group(title, [items]))
}

/// Samples that differ from their snapshots, with the differences if known.
pub(in crate::report) fn assertions(run: &Run, is_brief: bool) -> Vec<Block> {
    let failed = &run.failed_assertions;
    if failed.is_empty() {
        return Vec::new();
    }
    if is_brief && run.differences.is_empty() {
        let ids: Vec<&str> = failed.iter().map(String::as_str).collect();
        return ids_below("failed assertion".into(), &ids)
            .into_iter()
            .collect();
    }
    let listed = if is_brief { BRIEF } else { FULL };
    let mut below = Vec::new();
    for id in failed.iter().take(listed) {
        let difference = run.differences.get(id).map_or("", String::as_str);
        let (first, rest) = difference.split_once('\n').unwrap_or((difference, ""));
        let between = if first.is_empty() { "" } else { ": " };
        let rest = (!rest.is_empty()).then(|| Block::Verbatim(rest.to_owned()));
        below.push(Block::group(format!("{id}{between}{first}"), rest));
    }
    let more = failed.len().saturating_sub(listed);
    if more > 0 {
        below.push(Block::paragraph(format!("… and {more} more")));
    }
    if is_brief {
        below.push(Block::paragraph(format!("accept them: {ACCEPT}")));
        return vec![Block::group(
            format!("failed assertion ({}):", failed.len()),
            below,
        )];
    }
    let epochs = run.summary.epochs.as_ref();
    let samples = epochs.map_or(run.summary.samples, |figures| figures.samples);
    let title = format!("{} of {samples} samples.", failed.len());
    vec![
        Block::section("Failed assertions"),
        Block::group(title, below),
    ]
}
