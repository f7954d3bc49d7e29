//! `Ranking`: the runs of one spec with several agents or prompts by accuracy, with significance of their differences.
//!
//! A difference alone is not significant. Two runs differ significantly if the interval of their paired difference
//! excludes 0, its p-value corrected over all pairs is below 0.05, and missing verdicts could not reverse it: an
//! outage is neither an advantage nor a disadvantage.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use super::compare::{ALPHA, RunPair, compare, letter};
use super::reported::{MaskedTexts, ReportedRun};
use crate::data::Variant;
use crate::error::Result;
use crate::figure::{Interval, Points, Seconds, Share, Usd, ci95, or_dash};
use crate::report::document::{Document, Line, Table};
use crate::report::section::accuracy;
use crate::report::section::overview::titled;
use crate::store::{Manifest, RunDir, RunStatus};
use crate::text::clean;
use crate::verdict::check::ComparedVerdict;
use crate::verdict::summary::Summary;

/// The runs of a spec's variants, the best first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Ranking {
    /// The name of the spec.
    pub eval: String,
    /// The runs, sorted by the lower bound of their accuracy.
    pub runs: Vec<RankedRun>,
    /// All pairs of runs with verdicts.
    pub pairs: Vec<RankedPair>,
    /// Notes for the user.
    pub notices: Vec<String>,
}

/// A ranked run. Shares and differences are fractions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RankedRun {
    /// The name of the eval: `NAME@AGENT+PROMPT`.
    pub eval: String,
    /// Its agent and prompt.
    pub variant: Variant,
    /// Its run directory.
    pub run_dir: PathBuf,
    /// Its best and worst possible rank, depending on missing answers; equal if none are missing.
    pub rank: [usize; 2],
    /// Runs that share a letter do not differ significantly; empty without verdicts.
    pub groups: Vec<String>,
    /// correct / scored.
    pub accuracy: Option<f64>,
    /// Range of the accuracy over all possible missing verdicts.
    pub accuracy_bounds: Option<[f64; 2]>,
    /// Its 95 % confidence interval.
    pub accuracy_ci95: Option<[f64; 2]>,
    /// Paired difference to the first of the ranking.
    pub difference: Option<f64>,
    /// Its 95 % confidence interval.
    pub difference_ci95: Option<[f64; 2]>,
    /// Number of records: samples times epochs.
    pub samples: u64,
    /// Records with a verdict.
    pub scored: u64,
    /// Samples that should have a verdict but have none.
    pub errors: u64,
    /// Samples that were not requested.
    pub skipped: u64,
    /// Samples with cached answers, which are in no figure of cost or time.
    pub cached: u64,
    /// Cost of all answers.
    pub cost_usd: Option<f64>,
    /// Median latency in seconds.
    pub latency_p50_s: Option<f64>,
    /// Whether it finished.
    pub finished: bool,
}

/// A pair of runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RankedPair {
    /// Name of the first eval.
    pub a: String,
    /// Name of the second eval.
    pub b: String,
    /// Samples with a verdict in both.
    pub n: u64,
    /// Paired difference: B minus A.
    pub difference: Option<f64>,
    /// Its 95 % confidence interval.
    pub difference_ci95: Option<[f64; 2]>,
    /// The probability of a difference at least as large, in either direction, if the two are equal.
    pub p_two_sided: Option<f64>,
    /// The same with Holm's correction over all pairs.
    pub p_holm: Option<f64>,
    /// Whether they differ significantly.
    pub told_apart: bool,
}

/// Groups of runs of the same spec, for each spec with several variants.
pub fn matrices(runs: &[ReportedRun]) -> Vec<Vec<ReportedRun>> {
    let mut specs = Vec::<Vec<ReportedRun>>::new();
    for run in runs.iter().filter(|run| run.manifest.variant.is_some()) {
        let spec = |run: &ReportedRun| {
            let eval = Variant::family_of(&run.manifest.eval).to_owned();
            (eval, run.manifest.spec.clone())
        };
        match specs.iter_mut().find(|known| spec(&known[0]) == spec(run)) {
            Some(known) => known.push(run.clone()),
            None => specs.push(vec![run.clone()]),
        }
    }
    let has_several = |runs: &Vec<ReportedRun>| {
        let mut others = runs.iter().skip(1);
        others.any(|run| run.manifest.variant != runs[0].manifest.variant)
    };
    specs.retain(has_several);
    specs
}

/// The runs, the best first, if they are all of one spec with several variants.
pub fn in_rank(runs: &[ReportedRun]) -> Option<Vec<ReportedRun>> {
    let [of_one] = &*matrices(runs) else {
        return None;
    };
    let entries = sorted(of_one).into_iter().cloned();
    (of_one.len() == runs.len()).then(|| entries.collect())
}

/// Sorts by certain results: an outage is no advantage. Runs without a verdict come last.
fn sorted(runs: &[ReportedRun]) -> Vec<&ReportedRun> {
    let mut entries: Vec<&ReportedRun> = runs.iter().collect();
    entries.sort_by(|one, other| {
        let is_unknown = [one, other].map(|run| run.summary.scored == 0);
        let [one, other] = [one, other].map(|run| bounds(&run.summary));
        is_unknown[0]
            .cmp(&is_unknown[1])
            .then(other[0].total_cmp(&one[0]))
            .then(other[1].total_cmp(&one[1]))
    });
    entries
}

/// Ranks runs of one spec's variants with intact files. If they cannot be compared, the reason is a notice.
pub fn rank(runs: &[ReportedRun]) -> Ranking {
    let entries = sorted(runs);
    let first = entries.first().map(|run| &*run.manifest.eval);
    let eval = Variant::family_of(first.unwrap_or_default()).to_owned();
    let mut notices = Vec::new();
    let known: Vec<usize> = (0..entries.len())
        .filter(|&at| entries[at].summary.scored > 0)
        .collect();
    let pairs = pairs(&entries, &known).unwrap_or_else(|error| {
        let why = error.message();
        notices.push(format!("the runs are not compared with each other: {why}"));
        Vec::new()
    });
    let ranges: Vec<[f64; 2]> = entries.iter().map(|run| bounds(&run.summary)).collect();
    let apart = |pair: &&RunPair| is_distinct(pair, &ranges);
    let apart: Vec<[usize; 2]> = pairs.iter().filter(apart).map(|pair| pair.places).collect();
    let groups = if pairs.is_empty() && known.len() > 1 {
        vec![Vec::new(); entries.len()]
    } else {
        letters(entries.len(), &known, &apart)
    };
    let name = |at: usize| entries[at].manifest.eval.clone();
    for pair in pairs.iter().filter(|pair| pair.comparison.judge.is_some()) {
        let [a, b] = pair.places.map(name);
        notices.push(format!(
            "`{a}` and `{b}` were judged by different models: the difference may come from the judge"
        ));
    }
    notices.extend(entries.iter().filter_map(|run| unfinished(&run.manifest)));
    let runs = entries.iter().zip(groups).enumerate();
    let runs = runs.map(|(at, (run, groups))| {
        let to_first = pairs.iter().find(|pair| pair.places == [0, at]);
        let figures = to_first.map(|pair| &pair.comparison.whole);
        let (manifest, summary) = (&run.manifest, &run.summary);
        RankedRun {
            eval: manifest.eval.clone(),
            variant: manifest.variant.clone().unwrap_or_default(),
            run_dir: run.dir.path().to_owned(),
            rank: places(at, &ranges),
            groups,
            accuracy: summary.accuracy,
            accuracy_bounds: summary.accuracy_bounds,
            accuracy_ci95: summary.accuracy_ci95,
            difference: figures.and_then(|it| it.difference),
            difference_ci95: figures.and_then(|it| it.difference_ci95),
            samples: summary.samples,
            scored: summary.scored,
            errors: summary.errors,
            skipped: summary.skipped,
            cached: summary.cached,
            cost_usd: summary.usage.cost_usd,
            latency_p50_s: summary.latency_s.map(|latency| latency.p50),
            finished: manifest.status == RunStatus::Finished,
        }
    });
    let pairs = pairs.iter().map(|pair| {
        let [a, b] = pair.places.map(name);
        let figures = &pair.comparison.whole;
        RankedPair {
            a,
            b,
            n: figures.n,
            difference: figures.difference,
            difference_ci95: figures.difference_ci95,
            p_two_sided: figures.p_two_sided,
            p_holm: pair.p_holm,
            told_apart: is_distinct(pair, &ranges),
        }
    });
    Ranking {
        eval,
        pairs: pairs.collect(),
        runs: runs.collect(),
        notices,
    }
}

/// The pairs of runs with verdicts, by their indices in the ranking.
fn pairs(entries: &[&ReportedRun], known: &[usize]) -> Result<Vec<RunPair>> {
    let dirs: Vec<RunDir> = known.iter().map(|&at| entries[at].dir.clone()).collect();
    let placed = |pair: RunPair| RunPair {
        places: pair.places.map(|at| known[at]),
        ..pair
    };
    Ok(compare(&dirs, MaskedTexts::Hidden)?
        .pairs
        .into_iter()
        .map(placed)
        .collect())
}

/// Minimum and maximum of the accuracy.
fn bounds(summary: &Summary) -> [f64; 2] {
    let point = summary.accuracy.map(|accuracy| [accuracy; 2]);
    let known = summary.accuracy_bounds.or(point);
    known.filter(|_| summary.scored > 0).unwrap_or([0.0, 1.0])
}

/// Best and worst rank: after those that are certainly better, and before those that are certainly worse.
fn places(at: usize, ranges: &[[f64; 2]]) -> [usize; 2] {
    let [low, high] = ranges[at];
    let others = || ranges.iter().enumerate().filter(|(place, _)| *place != at);
    let ahead = others().filter(|(_, range)| range[0] > high).count();
    let may_be_ahead = others().filter(|(_, range)| range[1] > low).count();
    [ahead + 1, may_be_ahead + 1]
}

fn is_distinct(pair: &RunPair, ranges: &[[f64; 2]]) -> bool {
    let [a, b] = pair.places.map(|place| ranges[place]);
    let stays = match pair.comparison.whole.verdict {
        ComparedVerdict::Worse => b[1] < a[0],
        ComparedVerdict::Better => a[1] < b[0],
        ComparedVerdict::Indistinguishable | ComparedVerdict::NothingToCompare => false,
    };
    stays && pair.p_holm.is_some_and(|p| p < ALPHA)
}

fn unfinished(manifest: &Manifest) -> Option<String> {
    if manifest.status == RunStatus::Finished {
        return None;
    }
    // The rest may contain the agent's output, which may be masked.
    let reason = manifest.stop_reason.as_deref();
    let reason = reason.and_then(|reason| reason.split([':', ';']).next());
    let reason = reason.map_or_else(String::new, |reason| format!(": {}", clean(reason)));
    Some(format!("`{}` ended early{reason}", manifest.eval))
}

/// Letter groups of `count` runs. `known` are the runs with verdicts, and `apart` the pairs that differ significantly:
/// all other pairs share a letter. The first run has `a`.
///
/// Source: H.-P. Piepho, *An algorithm for a letter-based representation of all-pairwise comparisons*, Journal of
/// Computational and Graphical Statistics 13 (2004): a group that contains both runs of a pair is split in two, and
/// groups contained in others are dropped.
fn letters(count: usize, known: &[usize], apart: &[[usize; 2]]) -> Vec<Vec<String>> {
    let mut groups = vec![known.iter().copied().collect::<BTreeSet<usize>>()];
    for &[one, other] in apart {
        let (split, whole): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|group| group.contains(&one) && group.contains(&other));
        groups = whole;
        for group in split {
            for gone in [one, other] {
                let mut group = group.clone();
                group.remove(&gone);
                groups.retain(|other| !other.is_subset(&group));
                if !groups.iter().any(|other| group.is_subset(other)) {
                    groups.push(group);
                }
            }
        }
    }
    groups.sort();
    let groups = groups.iter().filter(|group| !group.is_empty()).enumerate();
    let mut letters = vec![Vec::new(); count];
    for (place, group) in groups {
        for &run in group {
            letters[run].push(letter(place).to_ascii_lowercase());
        }
    }
    letters
}

/// The runs, the best first, and which of them do not differ significantly.
pub fn document(ranking: &Ranking) -> Document {
    let has = |name: fn(&RankedRun) -> bool| ranking.runs.iter().any(name);
    let has_agents = has(|run| run.variant.agent.is_some());
    let has_prompts = has(|run| run.variant.prompt.is_some());
    let (kind, kinds) = match (has_agents, has_prompts) {
        (true, true) => ("agent, prompt", "agents and prompts"),
        (false, true) => ("prompt", "prompts"),
        _ => ("agent", "agents"),
    };
    let (eval, count) = (&ranking.eval, ranking.runs.len());
    let mut document = Document::new(format!("{eval}: {count} {kinds}, ranked by accuracy"));
    let mut table = Table::of_numbers([
        kind,
        "rank",
        "accuracy",
        ci95!(),
        "points from best",
        ci95!(),
        "group",
        "errors",
        "cost",
        "latency p50",
    ]);
    for run in &ranking.runs {
        table.row(cells(run, &ranking.runs[0]));
    }
    document.table(table.without_empty());
    let adjusted = match ranking.pairs.len() {
        0 => None,
        1 => Some(String::new()),
        pairs => Some(format!(", adjusted for all {pairs} pairs (Holm),")),
    };
    if let Some(adjusted) = adjusted {
        document.paragraph(format!(
            "{} that share a letter do not differ significantly. Two differ if the 95 % interval of their paired \
             difference excludes 0 and p{adjusted} is below {ALPHA}.",
            titled(kinds)
        ));
        if ranking.runs.iter().any(is_open) {
            document.paragraph(
                "Where answers are missing, accuracy and rank are ranges without an interval, differences from the best are not shown, and two runs differ significantly only if no missing answer could reverse their order.",
            );
        }
    }
    for run in ranking.runs.iter().filter(|run| run.cached > 0) {
        let note = Line::default().code(&run.eval);
        document.note(note.plain(format!(
            ": {} of {} answers are from the cache and excluded from cost and latency",
            run.cached, run.samples
        )));
    }
    for notice in &ranking.notices {
        document.note(Line::default().marked(notice));
    }
    document
}

/// The cells of a run.
fn cells(run: &RankedRun, best: &RankedRun) -> [String; 10] {
    let is_known = !is_open(run) && !is_open(best);
    let [best, worst] = run.rank;
    let accuracy = accuracy::display(run.accuracy, run.accuracy_bounds);
    // The interval over answered samples would hide the missing ones.
    let ci95 = run.accuracy_ci95.filter(|_| !is_open(run));
    // That of the samples with both answers alone.
    let ends = run.difference_ci95.filter(|_| is_known);
    [
        run.variant.names(),
        if best == worst {
            best.to_string()
        } else {
            format!("{best} to {worst}")
        },
        or_dash(accuracy),
        or_dash(ci95.map(|ends| Interval(ends.map(Share)))),
        or_dash(run.difference.filter(|_| is_known).map(Points)),
        or_dash(ends.map(|ends| Interval(ends.map(Points)))),
        or_dash(Some(run.groups.concat()).filter(|groups| !groups.is_empty())),
        run.errors.to_string(),
        or_dash(run.cost_usd.map(Usd)),
        or_dash(run.latency_p50_s.map(Seconds)),
    ]
}

/// Whether a missing verdict may change the accuracy.
fn is_open(run: &RankedRun) -> bool {
    run.accuracy_bounds.is_some_and(|[low, high]| low < high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_range_where_answers_are_missing() {
        fn check(ranges: &[[f64; 2]], expect: &[[usize; 2]]) {
            let found: Vec<_> = (0..ranges.len()).map(|at| places(at, ranges)).collect();
            assert_eq!(found, expect);
        }
        check(
            &[[0.9; 2], [0.7; 2], [0.7; 2], [0.1; 2]],
            &[[1, 1], [2, 2], [2, 2], [4, 4]],
        );
        check(&[[0.9; 2], [0.5; 2], [0.3, 1.0]], &[[1, 2], [2, 3], [1, 3]]);
        check(
            &[[0.9; 2], [0.0, 1.0], [0.0, 1.0]],
            &[[1, 3], [1, 3], [1, 3]],
        );
        check(&[], &[]);
    }

    #[test]
    fn indistinguishable_runs_share_a_letter() {
        fn check(known: &[usize], apart: &[[usize; 2]], expect: &str) {
            let found: Vec<_> = letters(4, known, apart)
                .iter()
                .map(|it| it.concat())
                .collect();
            assert_eq!(found.join(" "), expect, "{apart:?}");
        }
        let all = [0, 1, 2, 3];
        check(&all, &[], "a a a a");
        check(&all, &[[0, 3]], "a ab ab b");
        check(&all, &[[0, 2], [0, 3], [1, 3]], "a ab bc c");
        check(
            &all,
            &[[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]],
            "a b c d",
        );
        check(&all, &[[0, 2], [0, 3], [1, 2], [1, 3]], "a a b b");
        check(&[0, 2, 3], &[[0, 3], [2, 3]], "a  a b");
        check(&[], &[], "   ");
    }

    #[test]
    fn pair_shares_letter_iff_indistinguishable() {
        // All graphs on five runs.
        let pairs: Vec<[usize; 2]> = (0..5)
            .flat_map(|a| (a + 1..5).map(move |b| [a, b]))
            .collect();
        for chosen in 0..1_u32 << pairs.len() {
            let apart = pairs.iter().enumerate();
            let apart: Vec<_> = apart
                .filter(|(at, _)| chosen >> at & 1 == 1)
                .map(|(_, pair)| *pair)
                .collect();
            let letters = letters(5, &[0, 1, 2, 3, 4], &apart);
            for pair in &pairs {
                let shares = letters[pair[0]]
                    .iter()
                    .any(|it| letters[pair[1]].contains(it));
                assert_eq!(shares, !apart.contains(pair), "{apart:?}");
            }
        }
    }
}
