//! The report of a comparison.
//!
//! For two runs: the result, where they differ, and the flips with both answers. For more: each run, and all pairs.
//! Lists are truncated, so that the size of the report does not depend on the runs.

use super::flips::{flips, names};
use super::sentences::{ALPHA, contradictions, difference_cells, sentences, verdict, word_of_pair};
use super::texts::PairTexts;
use super::{ComparedRun, ComparedRuns, RunPair};
use crate::data::{FoundBy, Variant};
use crate::figure::{CI95, Interval, P, Scale, Seconds, Share, Usd, ci95, counted, or_dash};
use crate::report::document::{
    Block, Chart, Document, Fold, IntervalRow, IntervalScale, Intervals, Line, ScatterPoint, Table,
    Tone, list,
};
use crate::report::reported::{agent_name, common, minute};
use crate::report::section::Detail;
use crate::report::section::accuracy;
use crate::report::section::overview::titled;
use crate::stats::as_f64;
use crate::verdict::check::{ComparedVerdict, PairedFigures};
use crate::verdict::compare::RunsComparison;
use crate::verdict::summary::VALUE;

/// The report of a comparison. Texts are those of two runs; `None` if they must not be shown. `answers` are those of more
/// runs side by side.
pub fn document(
    compared: &ComparedRuns,
    texts: Option<&PairTexts>,
    answers: Vec<Block>,
    detail: Detail,
) -> Document {
    let runs: Vec<&ComparedRun> = compared.runs.iter().collect();
    let (title, blocks) = match (&*runs, &*compared.pairs) {
        (&[a, b], [pair]) => (
            verdict([a, b], &pair.comparison),
            two([a, b], pair, texts, detail),
        ),
        (runs, pairs) => (
            format!("{} runs", runs.len()),
            several(runs, pairs, answers, detail),
        ),
    };
    let mut evals = runs.iter().map(|run| &*run.eval);
    let first = evals.next().unwrap_or_default();
    let eval = if evals.all(|eval| eval == first) {
        first
    } else {
        Variant::family_of(first)
    };
    let mut document = Document::new(format!("{eval}: {title}"));
    document.list(runs.into_iter().map(name));
    for notice in &compared.notices {
        document.note(Line::default().marked(notice));
    }
    document.blocks.extend(blocks);
    document
}

impl ComparedRun {
    /// Letter and variant, model or run: `A large`.
    pub fn name(&self) -> String {
        let variant = self.eval.split_once('@').map(|(_, variant)| variant);
        let name = variant.or(self.model.as_deref()).unwrap_or(&self.run_id);
        format!("{} {name}", self.letter)
    }
}

/// `A: gaia-3f09ab of gaia, 2026-11-23 07:51, openai gpt-5`
fn name(run: &ComparedRun) -> Line {
    let minute = minute(&run.started_at);
    let line = Line::default().strong(&run.letter);
    let line = line.plain(format!(": {} of {}, {minute}", run.run_id, run.eval));
    let (agent, model) = (run.agent.as_deref(), run.model.as_deref());
    match agent_name(agent, model, run.program.as_deref()) {
        Some(name) => line.plain(", ").strong(name),
        None => line,
    }
}

fn two(
    runs: [&ComparedRun; 2],
    pair: &RunPair,
    texts: Option<&PairTexts>,
    detail: Detail,
) -> Vec<Block> {
    let compared = &pair.comparison;
    let tone = match (compared.whole.verdict, &compared.judge) {
        (ComparedVerdict::Worse, None) => Tone::Bad,
        (ComparedVerdict::Better, None) => Tone::Good,
        _ => Tone::Unsure,
    };
    let mut sentences = sentences(runs, compared).into_iter();
    let first = sentences.next().map(|first| Line::default().strong(first));
    let others = sentences.map(|sentence| Line::default().marked(&sentence));
    let lines = first.into_iter().chain(others);
    let mut blocks = Vec::new();
    if texts.is_none() && !(pair.flips.worse.is_empty() && pair.flips.better.is_empty()) {
        blocks.push(Block::Note(Line::default().marked(
            "the eval masks its snapshots, so questions and answers are not shown; `--show-texts` shows them",
        )));
    }
    let lines = lines.map(Block::Paragraph);
    blocks.push(Block::Framed(tone, lines.collect()));
    blocks.extend(differences(compared, detail));
    let flips = flips(runs, pair, texts, detail);
    let figures = [
        means(compared, detail),
        amounts(compared),
        figures(&runs).into(),
    ]
    .concat();
    // What flipped is at the end of a screen, and at the top of a page.
    let rest = match detail {
        Detail::Brief => [figures, flips],
        Detail::Full => [flips, figures],
    };
    blocks.extend(rest.into_iter().flatten());
    let unpaired = pair.unpaired.lists(runs).map(|(what, ids)| {
        let title = format!("{what}: {}", ids.count());
        Block::folded(Fold::Closed, title, [names(ids, detail)])
    });
    let unpaired: Vec<_> = unpaired.collect();
    if !unpaired.is_empty() {
        blocks.push(Block::section("Not compared"));
        blocks.extend(unpaired);
    }
    blocks
}

/// Maximum rows of a table.
fn most_rows(detail: Detail) -> usize {
    match detail {
        Detail::Brief => 20,
        Detail::Full => 40,
    }
}

/// States how many rows of a table are omitted, if any.
fn more_rows(rows: usize) -> Option<Block> {
    let line = Line::default().plain(format!("and {rows} more: "));
    (rows > 0).then(|| Block::Paragraph(line.code("cargo evaltest compare --json")))
}

/// Differences of two runs overall, by slice and by scorer, on one scale.
fn differences(compared: &RunsComparison, detail: Detail) -> Vec<Block> {
    let whole = &compared.whole;
    if whole.difference.is_none() {
        return Vec::new();
    }
    let scorers = ("scorer: ".to_owned(), &compared.scorers);
    let slices = compared.slices.iter();
    let slices = slices.map(|(dimension, values)| (format!("{dimension} = "), values));
    let (mut rows, mut more) = (vec![("all samples".to_owned(), whole)], 0);
    for (kind, values) in slices.chain([scorers]) {
        let mut values: Vec<_> = values.iter().collect();
        // Sort level 10 after level 9.
        values.sort_by_key(|(value, _)| (value.parse::<i64>().unwrap_or(i64::MAX), *value));
        more += values.len().saturating_sub(most_rows(detail));
        let values = values.into_iter().take(most_rows(detail));
        rows.extend(values.map(|(value, figures)| (format!("{kind}{value}"), figures)));
    }
    // The first row has its own sentences.
    let note = contradictions(rows.iter().skip(1).map(|(name, it)| (&**name, *it)));
    let rows = rows.into_iter().map(|(name, it)| {
        let p = it.p_two_sided.map(|p| format!(", {}", P(p)));
        let [a, b] = [it.accuracy_a, it.accuracy_b].map(|share| or_dash(share.map(Share)));
        let pairs = counted(it.n, "pair");
        let note = format!("{pairs}, {a} → {b}{}", p.unwrap_or_default());
        difference(name, it, note)
    });
    let heads = ["", ci95!("points ("; ")"), "pairs, A → B, p (two-sided)"];
    let mut blocks = vec![
        Block::section("Difference"),
        intervals("B − A", heads, rows.collect()),
    ];
    blocks.extend(note.map(|note| Block::Paragraph(Line::default().marked(&note))));
    blocks.extend(more_rows(more));
    blocks
}

fn difference(label: String, figures: &PairedFigures, note: String) -> IntervalRow {
    let [points, interval] = difference_cells(figures);
    IntervalRow {
        label,
        value: figures.difference,
        interval: figures.difference_ci95,
        figures: format!("{points} ({interval})"),
        note,
        ..IntervalRow::default()
    }
}

/// A chart of differences.
fn intervals(caption: &str, heads: [&str; 3], rows: Vec<IntervalRow>) -> Block {
    Block::Intervals(Intervals {
        caption: caption.to_owned(),
        heads: heads.map(str::to_owned),
        scale: IntervalScale::differences(rows.iter().filter_map(|row| row.interval)),
        rows,
    })
}

/// Means of the scorers' numbers. A score that is always 0 or 1 equals the accuracy above and is omitted.
fn means(compared: &RunsComparison, detail: Detail) -> Vec<Block> {
    let means = compared.means.iter().flat_map(|(scorer, entries)| {
        let entries = entries.iter();
        let entries = entries.filter(|(name, mean)| !(mean.is_share && *name == VALUE));
        entries.map(move |(name, mean)| (format!("{scorer} {name}").replace('_', " "), mean))
    });
    let means: Vec<_> = means.collect();
    if means.is_empty() {
        return Vec::new();
    }
    let mut table = Table::of_numbers(["score", "pairs", "A", "B", "B − A", ci95!()]);
    let number = |number: Option<f64>| or_dash(number.map(|it| format!("{it:.4}")));
    let signed = |number: f64| format!("{:+}", Scale(number, 4));
    for (name, mean) in means.iter().take(most_rows(detail)) {
        table.row([
            name.clone(),
            mean.n.to_string(),
            number(mean.mean_a),
            number(mean.mean_b),
            or_dash(mean.difference.map(signed)),
            or_dash(mean.difference_ci95.map(|ends| Interval(ends.map(signed)))),
        ]);
    }
    let mut blocks = vec![Block::section("Other scores"), Block::Table(table)];
    blocks.extend(more_rows(means.len().saturating_sub(most_rows(detail))));
    blocks
}

/// What the agents took, sample by sample.
fn amounts(compared: &RunsComparison) -> Vec<Block> {
    if compared.figures.is_empty() {
        return Vec::new();
    }
    let mut table = Table::of_numbers(["", "pairs", "ratio B / A", ci95!()]);
    let times = |ratio: f64| format!("{ratio:.3}");
    for (name, figure) in &compared.figures {
        table.row([
            name.trim_end_matches("_usd").replace('_', " "),
            figure.n.to_string(),
            or_dash(figure.ratio.map(times)),
            or_dash(figure.ratio_ci95.map(|ends| Interval(ends.map(times)))),
        ]);
    }
    vec![
        Block::section("Tokens, cost and steps of the same samples"),
        Block::Table(table),
    ]
}

/// Figures of each run: accuracy, cost, latency, errors. Figures that no run has are omitted.
fn figures(runs: &[&ComparedRun]) -> [Block; 2] {
    let letters = runs.iter().map(|run| &*run.letter);
    let mut table = Table::of_numbers(std::iter::once("").chain(letters));
    let mut row = |title: &str, cell: &dyn Fn(&ComparedRun) -> Option<String>| {
        let cells: Vec<_> = runs.iter().map(|run| cell(run)).collect();
        if cells.iter().any(Option::is_some) {
            let cells = cells.into_iter().map(or_dash);
            table.row(std::iter::once(title.to_owned()).chain(cells));
        }
    };
    let some = |count: u64| (count > 0).then(|| count.to_string());
    let has_epochs = runs.iter().any(|run| run.epochs > 1);
    let title = if has_epochs { "answers" } else { "samples" };
    row(title, &|run| Some(run.samples.to_string()));
    let subject = common(runs.iter().map(|run| run.subject));
    row(subject.share(), &|run| {
        accuracy::display(run.accuracy, run.accuracy_bounds)
    });
    row(ci95!(), &|run| {
        // The interval over answered samples would hide the missing ones.
        let ends = run.accuracy_ci95.filter(|_| range(run).is_none())?;
        Some(Interval(ends.map(Share)).to_string())
    });
    row("errors", &|run| Some(run.errors.to_string()));
    let mut kinds: Vec<_> = runs.iter().flat_map(|run| run.failures.keys()).collect();
    kinds.sort();
    kinds.dedup();
    for kind in kinds {
        row(&format!("  {}", kind.replace('_', " ")), &|run| {
            Some(run.failures.get(kind)?.to_string())
        });
    }
    if runs.iter().any(|run| run.errors > 0) {
        row("error rate", &|run| {
            Some(Share(run.error_rate?).to_string())
        });
    }
    let mut ways: Vec<_> = runs.iter().flat_map(|run| run.found_by.keys()).collect();
    ways.sort();
    ways.dedup();
    for way in ways {
        let count = |run: &ComparedRun| run.found_by.get(way).copied().unwrap_or_default();
        if runs.iter().any(|run| count(run) != count(runs[0])) {
            let title = match way {
                FoundBy::Nothing => "nothing extracted".to_owned(),
                way => format!("answer found by: {}", way.words()),
            };
            row(&title, &|run| {
                (!run.found_by.is_empty()).then(|| count(run).to_string())
            });
        }
    }
    row("skipped", &|run| some(run.skipped));
    row("from the cache", &|run| some(run.cached));
    row("input tokens", &|run| {
        Some(run.usage.input_tokens?.to_string())
    });
    row("output tokens", &|run| {
        Some(run.usage.output_tokens?.to_string())
    });
    row("cost", &|run| Some(Usd(run.usage.cost_usd?).to_string()));
    row("cost per sample", &|run| {
        let samples = as_f64(run.usage.samples.max(1));
        Some(Usd(run.usage.cost_usd? / samples).to_string())
    });
    row("cost of judges", &|run| {
        Some(Usd(run.judge_usage?.cost_usd?).to_string())
    });
    row("latency p50", &|run| {
        Some(Seconds(run.latency_s?.p50).to_string())
    });
    row("latency p95", &|run| {
        Some(Seconds(run.latency_s?.p95).to_string())
    });
    [Block::section("Run details"), Block::Table(table)]
}

/// The range of the accuracy, if missing verdicts may change it.
fn range(run: &ComparedRun) -> Option<[f64; 2]> {
    run.accuracy_bounds.filter(|[low, high]| low < high)
}

/// Three or more runs, and all pairs of them.
fn several(
    runs: &[&ComparedRun],
    pairs: &[RunPair],
    answers: Vec<Block>,
    detail: Detail,
) -> Vec<Block> {
    let mut blocks = Vec::new();
    if detail == Detail::Full {
        blocks.extend(accuracies(runs));
    }
    blocks.extend(answers);
    let rows = pairs.iter().map(|pair| {
        let [a, b] = pair.places.map(|place| &*runs[place].letter);
        let figures = &pair.comparison.whole;
        let note = format!(
            "{}, {}, adjusted {}: {}",
            counted(figures.n, "pair"),
            or_dash(figures.p_two_sided.map(P)),
            or_dash(pair.p_holm.map(|p| P(p).cell())),
            word_of_pair(pair)
        );
        difference(format!("{b} − {a}"), figures, note)
    });
    let rows: Vec<_> = rows.collect();
    let labels = rows.iter().map(|row| &*row.label);
    let note = contradictions(labels.zip(pairs.iter().map(|pair| &pair.comparison.whole)));
    let heads = ["", ci95!("points, "), "result"];
    blocks.push(Block::section("All pairs"));
    blocks.push(intervals("Difference", heads, rows));
    blocks.extend(note.map(|note| Block::Paragraph(Line::default().marked(&note))));
    blocks.extend(list(pairs.iter().filter_map(|pair| {
        let [a, b] = pair.places.map(|place| runs[place]);
        let lists = pair.unpaired.lists([a, b]);
        let lists: Vec<_> = lists
            .map(|(what, ids)| format!("{} ({what})", counted(ids.count(), "sample")))
            .collect();
        let names = [&b.letter, &a.letter].map(String::as_str).join(" − ");
        (!lists.is_empty()).then(|| format!("{names} leaves out {}", lists.join(", ")))
    })));
    blocks.push(Block::Paragraph(Line::default().toned(
        Tone::Faint,
        format!(
            "p is two-sided, and adjusted for all pairs (Holm): two runs differ significantly if the interval excludes 0 and \
             the adjusted p is below {ALPHA}. To see which samples flipped, compare two runs."
        ),
    )));
    blocks.extend(figures(runs));
    blocks
}

/// The accuracy and cost of each run.
fn accuracies(runs: &[&ComparedRun]) -> Vec<Block> {
    let rows = runs.iter().map(|run| IntervalRow {
        label: run.name(),
        value: run.accuracy,
        interval: run.accuracy_ci95,
        range: range(run),
        figures: accuracy::cell(run.accuracy, run.accuracy_bounds, run.accuracy_ci95),
        note: format!("{} of {}", run.correct, run.scored),
    });
    let subject = common(runs.iter().map(|run| run.subject));
    let share = subject.share();
    let mut blocks = vec![Block::Intervals(Intervals {
        caption: titled(share),
        heads: ["run", &format!("{share}, {CI95}"), subject.good()].map(str::to_owned),
        scale: IntervalScale::SHARES,
        rows: rows.collect(),
    })];
    let points = runs.iter().filter_map(|run| {
        Some(ScatterPoint {
            letter: run.letter.clone(),
            x: run.usage.cost_usd?,
            y: run.accuracy?,
            interval: run.accuracy_ci95,
        })
    });
    let points: Vec<_> = points.collect();
    if points.len() > 1 && points.iter().any(|point| point.x > 0.0) {
        blocks.push(Block::Chart(Chart::Scatter {
            caption: "Accuracy against cost".to_owned(),
            below: "cost in USD".to_owned(),
            points,
        }));
    }
    blocks
}
