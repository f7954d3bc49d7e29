//! The result of a run on one screen: verdict and change, gates, what became wrong, then figures.
//!
//! The intervals, tests and assumptions behind a verdict are in `summary.md` and on the page; `--verbose` prints them.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{next, stopped};
use crate::data::Status;
use crate::exit::Exit;
use crate::figure::{Count, Interval, P, Points, Scale, Share, Value, counted};
use crate::report::document::{Block, Line, Tone, list};
use crate::report::figures::ReportedSample;
use crate::report::render::terminal::truncate;
use crate::report::reported::{MaskedTexts, ReportedRun};
use crate::report::section::changes::by_majority;
use crate::report::section::{self, Detail, Source, accuracy, errors_of, in_run, items};
use crate::store::RunDir;
use crate::system::project::display;
use crate::verdict::conclude::{Notable, Run};
use crate::verdict::gate::{ACCURACY, ERROR_RATE};
use crate::verdict::metric::Unit;
use crate::verdict::result::{BASELINE_IGNORED, GateResult, Verdict};
use crate::verdict::summary::{Subject, Summary};

/// The width that the lines of samples fit into.
const WIDTH: usize = 80;
/// How many samples are shown.
const ROWS: usize = Notable::WRONG;
/// The most characters of an id, and of an answer.
const MOST_ID: usize = 24;
const MOST_ANSWER: usize = 20;
/// Ids that differ within this many characters, such as UUIDs, are cut to them if questions would get fewer than
/// [`FAIR_QUESTION`].
const SHORT_ID: usize = 13;
const FAIR_QUESTION: usize = 24;
/// The fewest characters of a question.
const LEAST_QUESTION: usize = 12;
/// The widest gate to which the others are aligned.
const WIDEST_GATE: usize = 48;

/// The whole screen: the line with the verdict, and what is below it.
pub(super) fn screen(run: &Run) -> Block {
    let source = Source::of(&run.summary, Detail::Brief);
    let mut below = stopped(run);
    below.extend(gates(run, |_| true));
    below.extend(section::alerts(&source));
    below.extend(section::account(&source));
    below.extend(samples(run));
    below.extend(section::assertions(run, true));
    below.extend(section::failures(run));
    below.extend(section::figures(&source));
    below.extend(super::end(run));
    Block::group(headline(run), below)
}

/// The problems of one of several runs; nothing if there are none.
pub(super) fn problems(run: &Run, undecided: Option<String>, is_well: bool) -> Block {
    let summary = &run.summary;
    let is_open = |verdict| matches!(verdict, Verdict::Failed | Verdict::Inconclusive);
    let mut below = stopped(run);
    below.extend(gates(run, |verdict| {
        is_open(verdict) || summary.ignored_matter && verdict == Verdict::Ignored
    }));
    below.extend(section::alerts(&Source::of(summary, Detail::Brief)));
    below.extend(list(undecided));
    if !is_well {
        below.extend(samples(run));
        below.extend(section::assertions(run, true));
        below.extend(section::failures(run));
        below.extend(super::end(run));
    }
    Block::group(headline(run), below)
}

/// A sign for a verdict, and its colour.
fn mark(verdict: Verdict) -> Line {
    let sign = match verdict {
        Verdict::Passed => "✓",
        Verdict::Failed => "✗",
        Verdict::Inconclusive => "?",
        Verdict::Ignored => "-",
    };
    Line::default().toned(verdict.into(), sign)
}

/// Whether a gate failed because of the answers, not because of too many errors.
fn has_failed(summary: &Summary) -> bool {
    let mut gates = summary.gates.iter();
    gates.any(|gate| gate.verdict == Verdict::Failed && !gate.gate.metric().is(ERROR_RATE))
}

/// Whether a part of the eval was asked and no gate but that of errors was checked.
fn is_unchecked(summary: &Summary) -> bool {
    let gates = summary.gates.iter();
    let mut others = gates.filter(|gate| !gate.gate.is_error_rate()).peekable();
    summary.partial
        && others.peek().is_some()
        && others.all(|gate| gate.verdict == Verdict::Ignored)
}

/// `✗ mine: 25 of 30 correct, 83.3 % (was 100.0 %), −16.7 points, 95 % −33.6 to −3.4`
fn headline(run: &Run) -> Line {
    let summary = &run.summary;
    let all = match summary.exit_code {
        Exit::Passed if is_unchecked(summary) => Verdict::Ignored,
        Exit::Passed => Verdict::Passed,
        Exit::Failed => Verdict::Failed,
        // The exit code is that of an inconclusive gate; the reader needs to know that another failed.
        _ if has_failed(summary) => Verdict::Failed,
        _ => Verdict::Inconclusive,
    };
    // Those that should have a verdict.
    let answered = summary.samples - summary.skipped + summary.not_judged - summary.unscored;
    let (answers, epochs) = match &summary.epochs {
        None => ("", String::new()),
        Some(figures) => {
            let samples = counted(figures.samples, "sample");
            let epochs = format!(" ({samples}{})", super::epochs(figures.epochs));
            (" answers", epochs)
        }
    };
    let subject = summary.subject();
    let answers = subject.word([answers, " items", " pairs"]);
    let pairs = items::deciding_pairs(summary);
    let is_outage = summary.scored == 0 && summary.errors > 0;
    let is_unanswered = summary.scored + summary.errors + summary.unscored == 0;
    let mut parts = vec![match pairs {
        _ if is_outage => {
            let of = summary.samples;
            let unit = match &summary.epochs {
                Some(_) => "answers",
                None => subject.word(["samples", "items", "pairs"]),
            };
            format!(
                "no verdict: {} of {of} {unit} ended in an error",
                summary.errors
            )
        }
        _ if is_unanswered => "no verdict: no answer".to_owned(),
        Some(pairs) => items::pair_counts(pairs),
        None => format!(
            "{} of {answered}{answers} {}{epochs}",
            summary.correct,
            subject.good()
        ),
    }];
    let share = match pairs.and_then(|pairs| pairs.win_rate) {
        Some(rate) => Some(format!("win rate {}", Share(rate))),
        None if is_outage || is_unanswered => None,
        None => accuracy::display(summary.accuracy, summary.accuracy_bounds),
    };
    // Recorded calls say nothing of the agent of now.
    let is_compared = summary.recorded == 0;
    let change = summary.change.as_ref();
    let change = change.filter(|change| change.n > 0 && is_compared);
    // The win rate is another figure than the share of wins.
    let was = change.filter(|_| pairs.is_none()).map(|change| {
        let [before, now] = [change.accuracy_before, change.accuracy_now].map(Share);
        // The change is that of the compared samples, which may not be all.
        let of = (share.as_ref() != Some(&now.to_string()))
            .then(|| format!(", of {} compared {now}", change.n));
        format!("{} (was {before})", of.unwrap_or_default())
    });
    parts.extend(share.map(|share| share + &was.unwrap_or_default()));
    parts.extend(change.map(|change| {
        let [low, high] = change.difference_ci95.map(Points);
        let points = Points(change.difference);
        let what = subject.word(["", "", "share of wins "]);
        format!("{what}{points} points, 95 % {low} to {high}")
    }));
    if let Some(points) = items::deciding_points(summary) {
        let excellent = points.excellent.share;
        parts.extend(excellent.map(|share| format!("{} excellent", Share(share))));
        parts.extend(
            points
                .total
                .mean
                .map(|mean| format!("mean {}", Scale(mean, 2))),
        );
    }
    let unscored = subject.word(["unscored", "unscored", "not compared"]);
    parts.extend((summary.unscored > 0).then(|| format!("{} {unscored}", summary.unscored)));
    parts.extend((summary.errors > 0 && !is_outage).then(|| errors_of(summary.errors)));
    let decides = summary.scorer.as_deref();
    let is_uncalibrated = decides.is_some_and(|name| summary.is_uncalibrated(name));
    parts.extend(is_uncalibrated.then(|| "the deciding judge is uncalibrated".to_owned()));
    let lead = super::lead(summary);
    let text = format!(" {}: {lead}{}", run.eval, parts.join(", "));
    mark(all).plain(text)
}

/// A line for each gate whose verdict passes `is_listed`, with its figure. What failed comes first.
fn gates(run: &Run, is_listed: impl Fn(Verdict) -> bool) -> Option<Block> {
    let gates = run.summary.gates.iter();
    let mut gates: Vec<&GateResult> = gates.filter(|gate| is_listed(gate.verdict)).collect();
    gates.sort_by_key(|gate| gate.verdict != Verdict::Failed);
    let names = gates.iter().map(|gate| gate.gate.to_string());
    let names: Vec<String> = names.collect();
    let widths = names.iter().map(|name| name.chars().count());
    let width = widths.max().unwrap_or_default().min(WIDEST_GATE);
    let mut advised = HashSet::new();
    list(gates.into_iter().zip(names).map(|(gate, name)| {
        let undecided = undecided(gate, &mut advised);
        let figure = undecided.unwrap_or_else(|| gate_figure(gate, &name, &run.summary));
        let figure = in_run(&figure, &display(&run.dir));
        let text = format!(" {name:width$}  {figure}");
        if gate.lacks_baseline() {
            mark(Verdict::Ignored).toned(Tone::Faint, text)
        } else {
            mark(gate.verdict).plain(text)
        }
    }))
}

/// Why a gate is undecided, with the advice of its message unless another gate gave it. `--verbose` has the rest.
fn undecided<'a>(gate: &'a GateResult, advised: &mut HashSet<&'a str>) -> Option<String> {
    let message = gate.message.lines().next()?;
    let mut why = &message[message.find("undecided: ")?..];
    for note in ["; an agent with a true ", "; judge `"] {
        why = why.split(note).next()?;
    }
    let Some((why, advice)) = why.split_once("; ") else {
        return Some(why.to_owned());
    };
    Some(if advised.insert(advice) {
        format!("{why}; {advice}")
    } else {
        why.to_owned()
    })
}

/// The figure of a gate. A gate without one, or whose figure does not show why, says it in words.
pub(in crate::report) fn gate_figure(gate: &GateResult, name: &str, summary: &Summary) -> String {
    if gate.lacks_baseline() {
        let is_ignored = gate.message.starts_with(BASELINE_IGNORED);
        let why = if is_ignored {
            BASELINE_IGNORED
        } else {
            "no baseline yet"
        };
        return format!("not checked: {why}");
    }
    let in_words = || gate.message.lines().next().unwrap_or_default().to_owned();
    // A message that begins otherwise has more to say than the figure.
    let is_regular = match &gate.regression {
        Some(_) => gate.message.starts_with(|c: char| c.is_ascii_digit()),
        None => gate.message.starts_with(&format!("{} ", gate.gate.label())),
    };
    let is_decided = matches!(gate.verdict, Verdict::Passed | Verdict::Failed);
    let (Some(value), true) = (gate.value, is_decided && is_regular) else {
        return in_words();
    };
    if let Some(change) = &gate.regression {
        let alpha = gate.threshold.unwrap_or_default();
        let p = change.p_adjusted.unwrap_or(change.p);
        let is_by_p = (p < alpha) == (gate.verdict == Verdict::Failed);
        let (worse, better, subject) = (change.worse, change.better, summary.subject());
        return if is_by_p && change.pairs > 0 {
            let p = P(p).at_level(alpha);
            let (lost, won) = (subject.became_bad(), subject.became_good());
            let is_by_chance = gate.verdict == Verdict::Passed && worse > better;
            let doubt = if is_by_chance { ": may be chance" } else { "" };
            let by = by_majority(summary);
            format!("{worse} {lost}, {better} {won}{by}, {p}{doubt}")
        } else {
            in_words()
        };
    }
    let Some(threshold) = gate.threshold.filter(|_| gate.figure.is_none()) else {
        return in_words();
    };
    if let Some(open) = open_accuracy(gate, name, summary) {
        return open;
    }
    let unit = gate.gate.metric().entry().unit;
    let written = |value: f64| match unit {
        Unit::Count if value >= 0.0 && value.fract() == 0.0 => {
            let count = format!("{value:.0}").parse().ok()?;
            Some(Count(count).to_string())
        }
        Unit::Count | Unit::Amount(_) | Unit::Any(_) => Some(Value(value).to_string()),
        Unit::Share | Unit::Drop | Unit::Seconds | Unit::Usd => Some(unit.written(value)),
    };
    let shown = written(value);
    // Rounding must not hide on which side of the threshold it is.
    let is_hidden = shown == written(threshold) && value.total_cmp(&threshold).is_ne();
    let of_interval = name.contains("confidence=");
    shown
        .filter(|_| !is_hidden && !of_interval)
        .unwrap_or_else(in_words)
}

/// `31.2 % to 100.0 % (11 of 16 not judged)`: an accuracy that a scorer leaves open.
fn open_accuracy(gate: &GateResult, name: &str, summary: &Summary) -> Option<String> {
    if !gate.gate.metric().is(ACCURACY) {
        return None;
    }
    let group = if name.contains('[') {
        let mut slices = summary.slices.iter().flat_map(|(dimension, values)| {
            values
                .iter()
                .map(move |(value, group)| (format!("[{dimension}={value}]"), group))
        });
        slices.find(|(slice, _)| name.contains(slice))?.1
    } else {
        &summary.whole
    };
    let scorer = gate.gate.metric().scorer();
    let of_scorer = scorer.and_then(|scorer| group.scorers.get(scorer));
    let (bounds, unjudged, scored, errors) = match of_scorer {
        Some(of) => (of.accuracy_bounds, of.unjudged, of.scored, of.errors),
        None => (
            group.accuracy_bounds,
            group.unjudged,
            group.scored,
            group.errors,
        ),
    };
    let [low, high] = bounds.filter(|[low, high]| low < high && unjudged > 0)?;
    let (range, all) = (Interval([low, high].map(Share)), scored + errors);
    Some(format!("{range} ({unjudged} of {all} not judged)"))
}

/// The samples that became wrong since the baseline; where a gate failed and none did, wrong ones.
fn samples(run: &Run) -> Option<Block> {
    let subject = run.summary.subject();
    let flipped = run.flips.iter().filter(|flip| flip.worse);
    let flipped: Vec<&str> = flipped.map(|flip| &*flip.id).collect();
    let (title, count, wanted) = if !flipped.is_empty() {
        (subject.became_bad(), flipped.len() as u64, flipped)
    } else if has_failed(&run.summary) && run.summary.scored > run.summary.correct {
        let is_wrong = |status, is_correct: bool| status == Status::Scored && !is_correct;
        let mut wrong: Vec<&str> = Vec::new();
        for record in &run.records {
            if is_wrong(record.result.status, record.result.is_correct())
                && wrong.last() != Some(&&*record.sample_id)
            {
                wrong.push(&record.sample_id);
            }
        }
        (
            subject.bad(),
            run.summary.scored - run.summary.correct,
            wrong,
        )
    } else {
        return None;
    };
    let listed = &wanted[..wanted.len().min(ROWS)];
    let known = read(run, listed);
    let rows: Vec<&ReportedSample> = listed.iter().filter_map(|id| known.get(*id)).collect();
    let lines = if rows.len() == listed.len() && !listed.is_empty() {
        rows_of(&rows, subject)
    } else {
        listed.iter().map(|id| Line::from(*id)).collect()
    };
    let more = count.saturating_sub(listed.len() as u64);
    let more = (more > 0).then(|| {
        let run = next::name(run);
        format!("… and {more} more: cargo evaltest show {run} --failures").into()
    });
    let title = Line::default().toned(Tone::Bad, title);
    let below = list(lines.into_iter().chain(more))?;
    Some(Block::group(title.plain(format!(" ({count}):")), [below]))
}

/// Question, expected and given answer of these samples, those with the wrong answer of each; nothing where the texts of a
/// benchmark are not shown, or cannot be read.
fn read(run: &Run, ids: &[&str]) -> BTreeMap<String, ReportedSample> {
    let read = || {
        let dir = RunDir::open(&run.dir)?;
        let run = ReportedRun::read(dir, MaskedTexts::Hidden)?;
        if run.hides_texts {
            return Ok(BTreeMap::new());
        }
        run.wrong_samples(ids)
    };
    read().unwrap_or_default()
}

/// A line for each sample: `add-01  What is 3.5 plus 2.25?  expected 5.75  got 6`.
pub fn sample_rows(samples: &[&ReportedSample], subject: Subject) -> Vec<Line> {
    rows_of(samples, subject)
}

/// The same; an item or a pair is followed by the reason alone.
fn rows_of(samples: &[&ReportedSample], subject: Subject) -> Vec<Line> {
    let is_answered = subject == Subject::Answers;
    let cells: Vec<[String; 4]> = samples
        .iter()
        .map(|sample| {
            let answer = |text: &Option<String>| {
                let text = text.as_deref().unwrap_or("nothing");
                truncate(text, MOST_ANSWER)
            };
            // A judge may work without a ground truth.
            let expected = match &sample.ground_truth {
                None => String::new(),
                truth => format!("expected {}", answer(truth)),
            };
            let got = format!("got {}", answer(&sample.answer));
            let (id, question) = (sample.id.clone(), sample.question.clone());
            if is_answered {
                [id, question, expected, got]
            } else {
                [id, question, String::new(), sample.why.clone()]
            }
        })
        .collect();
    let widest = |column: usize| {
        let widths = cells.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or_default()
    };
    let [id, expected, got] = [0, 2, 3].map(widest);
    // Four columns of indentation, and two between cells.
    let room = |id| WIDTH.saturating_sub(4 + id + expected + got + 3 * 2);
    let mut id = id.min(MOST_ID);
    let starts: BTreeSet<String> = cells
        .iter()
        .map(|row| truncate(&row[0], SHORT_ID))
        .collect();
    if room(id) < widest(1).min(FAIR_QUESTION) && starts.len() == cells.len() {
        id = id.min(SHORT_ID);
    }
    let question = widest(1).min(room(id).max(LEAST_QUESTION));
    let rows = cells.iter().map(|[name, text, truth, answer]| {
        let (name, text) = (truncate(name, id), truncate(text, question));
        let truth = if is_answered {
            format!("{truth:expected$}  ")
        } else {
            String::new()
        };
        Line::from(format!("{name:id$}  {text:question$}  {truth}{answer}"))
    });
    rows.collect()
}
