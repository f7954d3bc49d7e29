//! Changes since the baseline, and differences from the snapshots.

use super::accuracy;
use super::samples::SampleTable;
use super::source::Source;
use crate::figure::{Interval, Points, ci95};
use crate::report::document::{
    Block, Fold, IntervalRow, IntervalScale, Intervals, Line, Tone, list,
};
use crate::snapshot::assertion::ACCEPT;
use crate::verdict::conclude::Run;
use crate::verdict::summary::{BaselineChange, Summary};

/// Maximum number of ids on a terminal.
const BRIEF: usize = super::source::LISTED;

/// Maximum number of ids elsewhere; `manifest.json` has all.
const FULL: usize = 50;

/// The conclusion from a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum ChangeVerdict {
    Worse,
    Better,
    Indistinguishable,
    /// Better, unless missing verdicts change it.
    Open,
}

/// The conclusion from a change: depends on its interval, not only on the difference.
pub(in crate::report) fn change_verdict(
    change: &BaselineChange,
    summary: &Summary,
) -> ChangeVerdict {
    match change.difference_ci95 {
        [_, high] if high < 0.0 => ChangeVerdict::Worse,
        [low, _] if low > 0.0 && accuracy::known(summary).is_none() => ChangeVerdict::Open,
        [low, _] if low > 0.0 => ChangeVerdict::Better,
        _ => ChangeVerdict::Indistinguishable,
    }
}

/// `+3.1 points (95 % confidence interval −1.2 to +7.4)`.
pub(in crate::report) fn difference(change: &BaselineChange) -> String {
    Points(change.difference).with_ci95(change.difference_ci95)
}

/// The change with its conclusion.
pub(in crate::report) fn change_value(change: &BaselineChange, summary: &Summary) -> String {
    let verdict = match change_verdict(change, summary) {
        ChangeVerdict::Worse => "worse",
        ChangeVerdict::Better => "better",
        ChangeVerdict::Indistinguishable => "not significantly different",
        ChangeVerdict::Open => "undecided because of missing verdicts",
    };
    format!(
        "{}, {verdict}: {}, {} compared",
        difference(change),
        flip_counts(change, summary),
        change.n
    )
}

/// `4 became wrong, 1 became correct`, or the words for items and pairs.
pub(in crate::report) fn flip_counts(change: &BaselineChange, summary: &Summary) -> String {
    let subject = summary.subject();
    let worse = subject.became_bad();
    let better = subject.became_good();
    let by = by_majority(summary);
    format!("{} {worse}, {} {better}{by}", change.worse, change.better)
}

/// Says how samples with several epochs are counted: as correct if more than half of their answers are.
pub(in crate::report) fn by_majority(summary: &Summary) -> &'static str {
    if summary.epochs.is_some() {
        " by majority"
    } else {
        ""
    }
}

/// `−8.3 points (−20.1 to +3.0)`, for a table cell.
pub(in crate::report) fn difference_cell(change: &BaselineChange) -> String {
    let ends = Interval(change.difference_ci95.map(Points));
    format!("{} points ({ends})", Points(change.difference))
}

/// The change since the baseline with the ids of samples that flipped, where only a summary is known.
pub(in crate::report) fn changes(source: &Source<'_>) -> Vec<Block> {
    let change = source.summary.change.as_ref();
    let Some(change) = change.filter(|change| change.worse + change.better > 0) else {
        return Vec::new();
    };
    let row = IntervalRow {
        label: source.summary.subject().share().to_owned(),
        value: Some(change.difference),
        interval: Some(change.difference_ci95),
        figures: difference_cell(change),
        note: format!("{} compared", change.n),
        ..IntervalRow::default()
    };
    let mut blocks = vec![
        Block::section("Since the baseline"),
        Block::Intervals(Intervals {
            caption: format!("Change of {}", source.summary.subject().share()),
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
    let subject = source.summary.subject();
    let title = subject.word(["Became wrong", "Pass no longer", "No longer won"]);
    side(source, title, &change.became_wrong, Fold::Open)
}

/// The samples that became correct since the baseline.
pub(in crate::report) fn became_right(source: &Source<'_>) -> Option<Block> {
    let change = source.summary.change.as_ref()?;
    let subject = source.summary.subject();
    let title = subject.word(["Became correct", "Pass now", "Won now"]);
    side(source, title, &change.became_correct, Fold::Closed)
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
    let subject = run.summary.subject();
    let [worse, better] = subject.word([
        [
            "correct in the baseline, wrong now",
            "wrong in the baseline, correct now",
        ],
        [
            "passed in the baseline, not now",
            "pass now, not in the baseline",
        ],
        [
            "won in the baseline, not now",
            "won now, not in the baseline",
        ],
    ]);
    let sides = [(true, Tone::Bad, worse), (false, Tone::Good, better)];
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
