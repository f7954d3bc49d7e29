//! Runs side by side: what became of the second, by how much and how sure that is, and where they differ.

mod errors;
mod means;
mod pairs;

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::LISTED;
use super::table::{self, cut};
use crate::report::accuracy;
use crate::report::compare::ids::IdList;
use crate::report::compare::texts::{FlipAnswer, FlipTexts};
use crate::report::compare::{ComparedRun, ComparedRuns, RunPair, UnpairedIds};
use crate::text::{clean, excerpt, percent};
use crate::verdict::check::{ComparedVerdict, PairedFigures, show_p};
use crate::verdict::compare::RunsComparison;

/// Below which p two runs are told apart.
const ALPHA: f64 = 0.05;

/// So many characters of a name are shown.
const MOST: usize = 28;

/// What people are shown of the samples that changed sides.
#[derive(Clone, Copy, Debug)]
pub enum ShownFlips<'a> {
    /// These with their texts, and the ids of all.
    Texts(&'a [FlipTexts]),
    /// Their ids alone, for the snapshots of the eval are masked.
    Masked,
}

/// Writes two runs side by side, or a table of all pairs of several. The flips are those of two runs.
pub fn write(
    compared: &ComparedRuns,
    flips: ShownFlips<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for run in &compared.runs {
        writeln!(out, "{}", named(run))?;
    }
    for notice in &compared.notices {
        writeln!(out, "note: {}", clean(notice))?;
    }
    writeln!(out)?;
    match (&*compared.runs, &*compared.pairs) {
        ([a, b], [pair]) => two([a, b], pair, flips, out),
        (runs, pairs) => pairs::write(runs, pairs, out),
    }
}

/// `A: gaia-3f09ab, 2026-11-23 07:51, openai gpt-5`
fn named(run: &ComparedRun) -> String {
    let minute = run.started_at.get(..16).unwrap_or(&run.started_at);
    let agent = [run.agent.as_deref(), run.model.as_deref()];
    let agent: Vec<_> = agent.into_iter().flatten().map(clean).collect();
    format!(
        "{}: {} of {}, {}, {}",
        run.letter,
        clean(&run.run_id),
        clean(&run.eval),
        clean(&minute.replace('T', " ")),
        agent.join(" ")
    )
}

fn two(
    runs: [&ComparedRun; 2],
    pair: &RunPair,
    flips: ShownFlips<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let compared = &pair.comparison;
    sentences(runs, compared, out)?;
    writeln!(out)?;
    figures(runs, out)?;
    for (dimension, values) in &compared.slices {
        by_name(dimension, values, out)?;
    }
    by_name("scorer", &compared.scorers, out)?;
    means::write(&compared.means, out)?;
    let FlippedTold { shown, texts } = flips.told();
    for (title, ids, worse) in [
        ("became wrong", &pair.flips.worse, true),
        ("became correct", &pair.flips.better, false),
    ] {
        if ids.is_empty() {
            continue;
        }
        writeln!(out, "\n{title}, {}: {}", ids.count(), ids_of(ids))?;
        for flip in texts.iter().filter(|flip| flip.worse == worse) {
            one_flip(runs, flip, out)?;
        }
    }
    if !shown && pair.has_flips() {
        writeln!(
            out,
            "the eval masks its snapshots, so questions and answers are not shown; `--show-texts` shows them"
        )?;
    }
    unpaired(runs, &pair.unpaired, out)
}

/// The flips as they are told.
struct FlippedTold<'a> {
    shown: bool,
    texts: &'a [FlipTexts],
}

impl<'a> ShownFlips<'a> {
    fn told(self) -> FlippedTold<'a> {
        match self {
            Self::Texts(texts) => FlippedTold { shown: true, texts },
            Self::Masked => FlippedTold {
                shown: false,
                texts: &[],
            },
        }
    }
}

impl RunPair {
    fn has_flips(&self) -> bool {
        !(self.flips.worse.is_empty() && self.flips.better.is_empty())
    }
}

/// What came of it, by the interval and never by the difference alone.
fn sentences(
    [a, b]: [&ComparedRun; 2],
    compared: &RunsComparison,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (name_a, name_b) = (&a.letter, &b.letter);
    let PairedFigures {
        n, worse, better, ..
    } = &compared.whole;
    let judged = compared.judge.as_ref();
    let apart = why_apart(&compared.whole);
    let but = match (judged, &apart) {
        (Some(_), _) => ", or its judge is another one",
        (None, Some(_)) => " by the interval alone",
        (None, None) => "",
    };
    let said = match compared.whole.verdict {
        ComparedVerdict::Worse => format!("{name_b} is worse than {name_a}{but}"),
        ComparedVerdict::Better => format!("{name_b} is better than {name_a}{but}"),
        ComparedVerdict::NotToldApart => format!("{name_a} and {name_b} are not told apart"),
        ComparedVerdict::NothingToCompare => {
            writeln!(
                out,
                "nothing to compare: no sample is the same question with a verdict in both runs"
            )?;
            return errors::write([name_a, name_b], compared, out);
        }
    };
    let difference = spelled(&compared.whole).unwrap_or_default();
    writeln!(out, "{said}: {difference} over {n} {}", samples(*n))?;
    let shares = [compared.whole.accuracy_a, compared.whole.accuracy_b].map(share);
    writeln!(
        out,
        "  of these {} are correct in {name_a} and {} in {name_b}; {worse} became wrong, {better} became correct",
        shares[0], shares[1]
    )?;
    if let Some((p, both)) = compared.whole.p.zip(compared.whole.p_two_sided) {
        writeln!(
            out,
            "  p = {} that an agent that did not change does so badly or worse, as in `no_regression`; {} in either direction",
            show_p(p),
            show_p(both)
        )?;
    }
    if let Some(apart) = apart {
        writeln!(out, "  {apart}")?;
    }
    if let Some(groups) = compared.whole.groups {
        writeln!(
            out,
            "  the samples come in {groups} groups, and only groups are independent of each other"
        )?;
    }
    if compared.whole.verdict == ComparedVerdict::NotToldApart {
        let drop = compared.seen.smallest_drop.map_or_else(
            || "no drop is".to_owned(),
            |drop| format!("a drop of {:.1} points or more is", drop * 100.0),
        );
        writeln!(
            out,
            "  with {n} {} {drop} seen with 80 % power, {}",
            samples(*n),
            compared.seen.assumption
        )?;
    }
    errors::write([name_a, name_b], compared, out)?;
    judged.map_or(Ok(()), |judge| writeln!(out, "  {judge}"))
}

/// Why the test says another thing than the interval; `None` where it does not.
fn why_apart(figures: &PairedFigures) -> Option<String> {
    let (p, both) = (figures.p?, figures.p_two_sided?);
    let is_told = matches!(
        figures.verdict,
        ComparedVerdict::Worse | ComparedVerdict::Better
    );
    let why = match (is_told, both < ALPHA) {
        (true, false) if p < ALPHA => {
            "the interval is approximate: the exact test does not tell the two apart in either direction at 0.05, and does \
             on the side of a loss alone, which is what a gate asks"
        }
        (true, false) => {
            "the interval is approximate: the exact test does not tell the two apart at 0.05"
        }
        (false, true) => "the interval is approximate: the exact test tells the two apart at 0.05",
        (false, false) if p < ALPHA => {
            "a gate `no_regression` would be red all the same: it allows for 0.05 on the side of a loss, and the interval \
             for 0.025 on each side"
        }
        _ => return None,
    };
    Some(why.to_owned())
}

/// `-4.2 points (95 % interval -9.1 to +0.8)`
fn spelled(figures: &PairedFigures) -> Option<String> {
    let (value, [low, high]) = (figures.difference?, figures.difference_ci95?);
    Some(format!(
        "{:+.1} points (95 % interval {:+.1} to {:+.1})",
        value * 100.0,
        low * 100.0,
        high * 100.0
    ))
}

fn samples(count: u64) -> &'static str {
    if count == 1 { "sample" } else { "samples" }
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), percent)
}

/// What each run amounts to by itself.
fn figures(runs: [&ComparedRun; 2], out: &mut dyn Write) -> io::Result<()> {
    let mut rows = vec![
        [
            String::new(),
            runs[0].letter.clone(),
            runs[1].letter.clone(),
        ]
        .to_vec(),
    ];
    rows.extend(
        rows_of(&runs)
            .map(|(title, cells)| std::iter::once(title.to_owned()).chain(cells).collect()),
    );
    table::write("  ", &rows, out)
}

/// The figures of runs by themselves, a row each; those that no run has are left out.
fn rows_of<'a>(runs: &'a [&ComparedRun]) -> impl Iterator<Item = (&'static str, Vec<String>)> + 'a {
    type Cell = fn(&ComparedRun) -> Option<String>;
    let rows: [(&'static str, Cell); 15] = [
        ("samples, times epochs", |run| {
            (run.epochs > 1).then(|| run.samples.to_string())
        }),
        ("samples", |run| {
            (run.epochs == 1).then(|| run.samples.to_string())
        }),
        ("accuracy", |run| {
            accuracy::shown(run.accuracy, run.accuracy_bounds)
        }),
        ("95 % interval", |run| {
            let [low, high] = run.accuracy_ci95?;
            Some(format!("{} to {}", percent(low), percent(high)))
        }),
        ("errors", |run| Some(run.errors.to_string())),
        ("error rate", |run| {
            run.error_rate.filter(|rate| *rate > 0.0).map(percent)
        }),
        ("skipped", |run| {
            (run.skipped > 0).then(|| run.skipped.to_string())
        }),
        ("from the cache", |run| {
            (run.cached > 0).then(|| run.cached.to_string())
        }),
        ("input tokens", |run| {
            Some(run.usage.input_tokens?.to_string())
        }),
        ("output tokens", |run| {
            Some(run.usage.output_tokens?.to_string())
        }),
        ("cost", |run| run.usage.cost_usd.map(usd)),
        ("cost per sample", |run| {
            let cost = run.usage.cost_usd?;
            Some(usd(cost / crate::stats::as_f64(run.usage.samples.max(1))))
        }),
        ("cost of judges", |run| run.judge_usage?.cost_usd.map(usd)),
        ("latency p50", |run| Some(seconds(run.latency_s?.p50))),
        ("latency p95", |run| Some(seconds(run.latency_s?.p95))),
    ];
    let rows = rows.into_iter().map(|(title, cell)| {
        let cells: Vec<_> = runs.iter().map(|run| cell(run)).collect();
        (title, cells)
    });
    let known = rows.filter(|(_, cells)| cells.iter().any(Option::is_some));
    known.map(|(title, cells)| {
        let cells = cells.into_iter();
        let cells = cells.map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
        (title, cells.collect())
    })
}

fn usd(usd: f64) -> String {
    if usd.abs() < 0.1 && usd != 0.0 {
        format!("{usd:.6} USD")
    } else {
        format!("{usd:.2} USD")
    }
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.3} s")
}

/// The figures of slices or scorers under each other.
fn by_name(
    title: &str,
    figures: &BTreeMap<String, PairedFigures>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if figures.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let heads = [
        title,
        "pairs",
        "A",
        "B",
        "points",
        "95 % interval",
        "p (two-sided)",
    ];
    let mut rows = vec![heads.map(clean).to_vec()];
    rows.extend(figures.iter().take(LISTED).map(|(name, it)| {
        let mut row = vec![
            cut(&clean(name), MOST),
            it.n.to_string(),
            share(it.accuracy_a),
            share(it.accuracy_b),
        ];
        row.extend(difference_cells(it));
        row.push(it.p_two_sided.map_or_else(|| "-".to_owned(), show_p));
        row
    }));
    table::write("  ", &rows, out)?;
    match figures.len().saturating_sub(LISTED) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} more: `--json`"),
    }
}

/// The difference and its interval.
fn difference_cells(figures: &PairedFigures) -> [String; 2] {
    let points = |share: f64| format!("{:+.1}", share * 100.0);
    let none = || "-".to_owned();
    [
        figures.difference.map_or_else(none, points),
        figures.difference_ci95.map_or_else(none, |[low, high]| {
            format!("{} to {}", points(low), points(high))
        }),
    ]
}

fn word(verdict: ComparedVerdict) -> &'static str {
    match verdict {
        ComparedVerdict::Worse => "worse",
        ComparedVerdict::Better => "better",
        ComparedVerdict::NotToldApart => "not told apart",
        ComparedVerdict::NothingToCompare => "nothing to compare",
    }
}

fn ids_of(ids: &IdList) -> String {
    let named: Vec<_> = ids
        .first()
        .iter()
        .take(LISTED)
        .map(|id| clean(id))
        .collect();
    match ids.count().saturating_sub(named.len() as u64) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// A sample that changed sides: what was asked, and both answers under each other.
fn one_flip([a, b]: [&ComparedRun; 2], flip: &FlipTexts, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  {}", clean(&flip.id))?;
    writeln!(out, "    asked:  {}", excerpt(&flip.prompt))?;
    if let Some(truth) = &flip.ground_truth {
        writeln!(out, "    truth:  {}", excerpt(truth))?;
    }
    for (run, answer) in [(a, &flip.a), (b, &flip.b)] {
        let FlipAnswer {
            answer,
            correct,
            reason,
            ..
        } = answer;
        let said = answer
            .as_deref()
            .map_or_else(|| "(nothing)".to_owned(), excerpt);
        let verdict = if *correct { "correct" } else { "wrong" };
        let reason = reason.as_ref().map(|reason| format!(", {}", clean(reason)));
        let reason = reason.filter(|_| !correct).unwrap_or_default();
        writeln!(out, "    {}:      {said}  ({verdict}{reason})", run.letter)?;
    }
    Ok(())
}

/// What has no counterpart, by name.
fn unpaired(
    [a, b]: [&ComparedRun; 2],
    unpaired: &UnpairedIds,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lists = [
        (format!("only in {}", a.letter), &unpaired.only_in_a),
        (format!("only in {}", b.letter), &unpaired.only_in_b),
        (
            "question, file or ground truth changed".to_owned(),
            &unpaired.changed,
        ),
        (
            "without a verdict in one of the two".to_owned(),
            &unpaired.without_verdict,
        ),
    ];
    let told: Vec<_> = lists.iter().filter(|(_, ids)| !ids.is_empty()).collect();
    if !told.is_empty() {
        writeln!(out, "\nnot compared:")?;
    }
    told.iter()
        .try_for_each(|(title, ids)| writeln!(out, "  {title}, {}: {}", ids.count(), ids_of(ids)))
}
