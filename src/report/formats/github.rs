//! `GithubReport`: output for GitHub: the step summary in this module, [`annotations`] on lines of changed files, and
//! the [comment](write_comment) on a pull request.
//!
//! The summary helps to decide whether to merge: one sentence says what changed, then come the answers that became
//! wrong, failed gates and figures; passed gates are collapsed. GitHub rejects a summary of more than 1 MiB, so tables
//! are truncated, with the number of omitted rows.

pub mod annotations;
mod rows;

use std::io::Write;

use super::super::document::Line;
use super::super::format::{ReportAudience, ReportFormat, unwritten};
use super::super::render::markdown::{CountedRows, Page, row_text};
use super::super::reported::{ReportedRun, noun_of_all, subject_of_all};
use super::super::section;
use super::super::section::changes::{ChangeVerdict, change_verdict, difference_cell, flip_counts};
use super::super::section::{Detail, account_rows, accuracy, in_run, items};
use super::ci;
use super::ci::{UnstartedEval, interruption};
use crate::error::Result;
use crate::exit::Exit;
use crate::figure::{Seconds, Share, Usd};
use crate::verdict::result::Verdict;
use crate::verdict::summary::Summary;
use rows::{SampleColumns, SampleRows};

/// Maximum bytes that a step writes into its summary; above 1 MiB GitHub shows nothing.
pub const SUMMARY_ROOM: usize = 900_000;

/// The step summary.
pub(crate) struct GithubReport;

impl ReportFormat for GithubReport {
    fn name(&self) -> &'static str {
        "github"
    }

    fn about(&self) -> &'static str {
        "Markdown for the step summary of GitHub Actions: regressions first, then gates"
    }

    fn extension(&self) -> &'static str {
        "md"
    }

    fn write(
        &self,
        runs: &[ReportedRun],
        _audience: ReportAudience,
        out: &mut dyn Write,
    ) -> Result<()> {
        let summary = summary(runs, &[], SUMMARY_ROOM)?;
        out.write_all(summary.as_bytes())
            .map_err(|error| unwritten(&error))
    }
}

/// The summary of a command's runs and of evals without a run, in at most `room` bytes.
///
/// # Errors
/// If a run cannot be read.
pub fn summary(runs: &[ReportedRun], unstarted: &[UnstartedEval], room: usize) -> Result<String> {
    written(runs, unstarted, Page::new(room))
}

/// Writes the sections to a page: what changed, what became wrong, and then what it rests on.
///
/// The second part is written first and takes at most half of the room, so that many samples do not displace it.
fn written(runs: &[ReportedRun], unstarted: &[UnstartedEval], mut page: Page) -> Result<String> {
    let [texts, several] = [
        runs.iter().any(|run| !run.hides_texts),
        runs.len() + unstarted.len() > 1,
    ];
    let subject = subject_of_all(runs);
    let columns = SampleColumns {
        texts,
        several,
        subject,
    };
    let samples = SampleRows::of(runs, columns, page.room())?;
    let titles = columns.titles();
    let rest = rest(runs, &titles, samples.better, Page::new(page.room() / 2));
    page.shrink(rest.len());
    page.title(&format!("evaltest: {}", title(runs, unstarted)));
    if let Some(change) = sentence(runs) {
        page.paragraph(&change);
    }
    let lacking = unstarted
        .iter()
        .map(|eval| row_text(&[eval.eval.as_str().into(), message(&eval.error)]));
    page.table("Did not run", &["eval", "why"], lacking.collect());
    let worse = subject.word(["Became wrong", "Pass no longer", "No longer won"]);
    page.counted_table(worse, &titles, samples.worse);
    let wrong = subject.word(["Wrong", "Do not pass", "Not won"]);
    page.counted_table(wrong, &titles, samples.wrong);
    page.counted_table("Without a verdict", &titles, samples.errors);
    Ok(page.end() + &rest)
}

/// Gates, figures, and what became correct.
fn rest(runs: &[ReportedRun], samples: &[&str], better: CountedRows, mut page: Page) -> String {
    let heads = ["", "eval", "gate", "result"];
    let open = gates(runs, is_open);
    let others = if open.is_empty() {
        "Gates"
    } else {
        "Other gates"
    };
    page.table("Gates", &heads, open);
    page.table("Alerts", &["", "eval", "alert", "result"], alerts(runs));
    page.table(
        "Evals",
        &[
            "eval",
            noun_of_all(runs),
            subject_of_all(runs).word(["accuracy", "pass rate", "win rate"]),
            "since the baseline",
            "errors",
            "cost",
            "time",
        ],
        runs.iter().map(figures).collect(),
    );
    page.table(
        "Samples compared with the baseline",
        &["eval", "samples", "count"],
        accounts(runs),
    );
    let count = |verdict, word: &str| {
        let of = runs.iter().flat_map(|run| &run.summary.gates);
        let count = of.filter(|gate| gate.verdict == verdict).count();
        (count > 0).then(|| format!("{count} {word}"))
    };
    let counts = [
        count(Verdict::Passed, "passed"),
        count(Verdict::Ignored, "ignored"),
    ];
    let counts: Vec<_> = counts.into_iter().flatten().collect();
    let rows = gates(runs, |verdict| !is_open(verdict));
    let all = rows.len();
    let title = format!("{others}: {}", counts.join(", "));
    page.folded_table(&title, &heads, CountedRows { rows, all });
    let rows = statistics(runs);
    let all = rows.len();
    let heads = ["eval", "gate", "intervals and power"];
    page.folded_table("Statistics", &heads, CountedRows { rows, all });
    let title = subject_of_all(runs).word(["Became correct", "Pass now", "Won now"]);
    page.folded_table(&format!("{title}: {}", better.all), samples, better);
    page.end()
}

fn is_open(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Failed | Verdict::Inconclusive)
}

/// Most evals that are named with the same change.
const NAMED: usize = 10;

/// One sentence: which evals got worse or better since their baselines, by how much, and which did not.
fn sentence(runs: &[ReportedRun]) -> Option<Line> {
    let mut parts: [Vec<Line>; 5] = Default::default();
    for run in runs {
        let name = Line::default().code(&*run.manifest.eval);
        let summary = &run.summary;
        let change = summary.change.as_ref();
        let comparable = change.filter(|change| change.n > 0 && summary.recorded == 0);
        let Some(change) = comparable else {
            let share = in_short(summary);
            let why = match change {
                None => "no baseline",
                Some(_) => "not comparable with the baseline",
            };
            parts[3].push(name.plain(format!(": {share}, {why}")));
            continue;
        };
        let regressed = summary
            .gates
            .iter()
            .any(|gate| gate.verdict == Verdict::Failed && gate.regression.is_some());
        let [before, now] = [change.accuracy_before, change.accuracy_now].map(Share);
        let flips = flip_counts(change, summary);
        let (place, words) = match change_verdict(change, summary) {
            _ if change.worse + change.better == 0 => {
                parts[4].push(name);
                continue;
            }
            ChangeVerdict::Worse => (0, " got worse: "),
            _ if regressed => (0, " got worse: "),
            ChangeVerdict::Better => (1, " got better: "),
            _ => (2, " does not differ significantly: "),
        };
        parts[place].push(name.plain(format!("{words}{before} → {now}, {flips}")));
    }
    let unchanged = std::mem::take(&mut parts[4]);
    let is_one = unchanged.len() == 1;
    let mut lines: Vec<Line> = parts
        .into_iter()
        .filter_map(|part| named(part, "; "))
        .collect();
    let verb = if is_one {
        " is unchanged"
    } else {
        " are unchanged"
    };
    lines.extend(named(unchanged, ", ").map(|names| names.plain(verb)));
    joined(lines, "; ").map(|line| line.plain("."))
}

/// `88.9 % correct`; of items also how many are excellent and their mean.
fn in_short(summary: &Summary) -> String {
    if items::deciding_pairs(summary).is_some() {
        return format!("win rate {}", accuracy::value(summary));
    }
    let share = accuracy::display(summary.accuracy, summary.accuracy_bounds);
    let Some(share) = share else {
        return "nothing scored".to_owned();
    };
    let Some(points) = items::deciding_points(summary) else {
        return format!("{share} {}", summary.subject().good());
    };
    let excellent = points
        .excellent
        .share
        .map(|share| format!(", {} excellent", Share(share)));
    format!(
        "{share} pass{}, mean {}",
        excellent.unwrap_or_default(),
        points.total.text()
    )
}

/// The first of these lines, and how many more there are.
fn named(mut lines: Vec<Line>, between: &str) -> Option<Line> {
    let more = lines.len().saturating_sub(NAMED);
    lines.truncate(NAMED);
    let line = joined(lines, between)?;
    Some(if more > 0 {
        line.plain(format!("{between}{more} more"))
    } else {
        line
    })
}

fn joined(lines: Vec<Line>, between: &str) -> Option<Line> {
    let lines = lines.into_iter();
    lines.reduce(|line, next| line.plain(between).line(next))
}

/// What became of the samples, for each eval where not all were compared.
fn accounts(runs: &[ReportedRun]) -> Vec<String> {
    let rows = runs.iter().flat_map(|run| {
        let rows = account_rows(&run.summary, Detail::Brief);
        let decision = section::decision(&run.summary);
        let rows = rows.chain(decision.map(|text| [text, String::new()]));
        rows.map(|[row, count]| {
            let eval = run.manifest.eval.as_str();
            row_text(&[eval.into(), Line::default().marked(&row), count.into()])
        })
    });
    rows.collect()
}

/// The result in one line.
fn title(runs: &[ReportedRun], unstarted: &[UnstartedEval]) -> String {
    let codes = runs.iter().map(|run| run.summary.exit_code);
    let worst = codes.max().unwrap_or(Exit::Passed);
    let stopped = runs.iter().find_map(interruption);
    let of = |verdict: Verdict| {
        let gates = runs.iter().flat_map(|run| &run.summary.gates);
        gates
            .filter(|gate| gate.verdict == verdict && !gate.lacks_baseline())
            .count()
    };
    let gates = |count: usize, what: &str| match count {
        1 => format!("1 gate {what}"),
        count => format!("{count} gates {what}"),
    };
    match (worst, of(Verdict::Failed), of(Verdict::Inconclusive)) {
        _ if !unstarted.is_empty() => match unstarted.len() {
            1 => format!("❌ {} did not run", unstarted[0].eval),
            count => format!("❌ {count} evals did not run"),
        },
        (Exit::Failed, 0, _) if !alerts(runs).is_empty() => match alerts(runs).len() {
            1 => "❌ 1 alert raised".to_owned(),
            count => format!("❌ {count} alerts raised"),
        },
        (_, failed @ 1.., _) => format!("❌ {}", gates(failed, "failed")),
        (_, _, open @ 1..) => format!("⚠️ {}", gates(open, "inconclusive")),
        (Exit::Passed, ..) => match of(Verdict::Passed) {
            0 => "✅ no gate was checked".to_owned(),
            passed => format!("✅ {}", gates(passed, "passed")),
        },
        (Exit::Failed, ..) => "❌ answers differ from their snapshots".to_owned(),
        (Exit::Interrupted, ..) => "⚠️ interrupted".to_owned(),
        _ if stopped.is_some() => "⚠️ stopped early".to_owned(),
        (code, ..) => format!("⚠️ exit code {}", code.code()),
    }
}

/// The gates of all runs whose verdict passes `is_listed`, failed ones first.
fn gates(runs: &[ReportedRun], is_listed: impl Fn(Verdict) -> bool) -> Vec<String> {
    let order = [
        (Verdict::Failed, "❌ failed"),
        (Verdict::Inconclusive, "⚠️ inconclusive"),
        (Verdict::Ignored, "ignored"),
        (Verdict::Passed, "✅ passed"),
    ];
    let mut rows = Vec::new();
    for (verdict, display) in order.into_iter().filter(|(it, _)| is_listed(*it)) {
        for run in runs {
            let gates = run.summary.gates.iter();
            let gates = gates.filter(|gate| gate.verdict == verdict);
            rows.extend(gates.map(|gate| {
                let eval = run.manifest.eval.as_str().into();
                let name = Line::default().code(gate.gate.to_string());
                let first = gate.message.lines().next().filter(|_| is_open(verdict));
                let first = first.unwrap_or(&gate.message);
                let result = message(&in_run(first, &run.manifest.run_id));
                row_text(&[display.into(), eval, name, result])
            }));
        }
    }
    rows
}

/// What the messages of failed gates say after their first line, without the samples listed above.
fn statistics(runs: &[ReportedRun]) -> Vec<String> {
    let mut rows = Vec::new();
    for run in runs {
        let gates = run.summary.gates.iter();
        for gate in gates.filter(|gate| is_open(gate.verdict)) {
            let lines = gate.message.lines().skip(1);
            let subject = run.summary.subject();
            let lists = [subject.became_bad(), subject.became_good()].map(|it| format!("{it}: "));
            let is_listed = |line: &str| lists.iter().any(|list| line.starts_with(list));
            let lines = lines.filter(|line| !is_listed(line));
            let lines: Vec<_> = lines.collect();
            if !lines.is_empty() {
                let eval = run.manifest.eval.as_str().into();
                let name = Line::default().code(gate.gate.to_string());
                rows.push(row_text(&[eval, name, message(&lines.join("\n"))]));
            }
        }
    }
    rows
}

/// Raised alerts.
fn alerts(runs: &[ReportedRun]) -> Vec<String> {
    let rows = runs.iter().flat_map(|run| {
        let alerts = run.summary.alerts.iter();
        let raised = alerts.filter(|alert| alert.is_raised());
        raised.map(|alert| {
            let [eval, name] = [&run.manifest.eval, &alert.alert].map(|it| it.as_str().into());
            row_text(&["❌ raised".into(), eval, name, message(&alert.message)])
        })
    });
    rows.collect()
}

/// The figures of a run as a row.
fn figures(run: &ReportedRun) -> String {
    let summary = &run.summary;
    let display = match accuracy::missing(summary) {
        _ if items::deciding_pairs(summary).is_some() => accuracy::value(summary),
        Some(missing) => {
            let display = accuracy::display(summary.accuracy, summary.accuracy_bounds);
            let display = display.unwrap_or_else(|| "nothing was scored".to_owned());
            format!("{display} ({missing})")
        }
        None => accuracy::cell(
            summary.accuracy,
            summary.accuracy_bounds,
            summary.accuracy_ci95,
        ),
    };
    let change = summary.change.as_ref().map(|change| {
        let (worse, better) = (change.worse, change.better);
        let points = difference_cell(change);
        format!("{points}, {worse} worse, {better} better of {}", change.n)
    });
    let stopped = ci::interruption(run).map(|reason| cell(&reason, 200));
    let stopped = stopped.map(|reason| Line::from(", stopped early: ").line(reason));
    let tier = summary.tier.as_ref();
    let tier = tier.map_or_else(String::new, |tier| format!(", tier {tier}"));
    let partial = match &summary.part {
        Some(part) => format!(", {}", part.description()),
        None if summary.partial => ", partial run".to_owned(),
        None => String::new(),
    };
    let samples = Line::from(format!("{}{tier}{partial}", summary.samples));
    let usual = || "·".to_owned();
    let judge = summary.judge.as_ref().filter(|_| summary.judges_items);
    let usage = judge.map_or(&summary.usage, |judge| &judge.usage);
    let cost = usage.cost_usd;
    row_text(&[
        run.manifest.eval.as_str().into(),
        samples.line(stopped.unwrap_or_default()),
        display.into(),
        change.unwrap_or_else(usual).into(),
        summary.errors.to_string().into(),
        cost.map_or_else(usual, |cost| Usd(cost).to_string()).into(),
        run.manifest
            .duration_s
            .map_or_else(usual, |seconds| Seconds(seconds).to_string())
            .into(),
    ])
}

/// A message as a table cell, with the names in it as code.
fn message(raw: &str) -> Line {
    short_message(raw, 2000)
}

/// The same, truncated to `most` bytes.
fn short_message(raw: &str, most: usize) -> Line {
    let start = ci::beginning(raw, most);
    let lines = start
        .lines()
        .map(|line| Line::default().marked(line.trim()));
    let line = lines.reduce(|line, next| line.newline().line(next));
    let line = line.unwrap_or_default();
    if start.len() < raw.len() {
        line.plain("…")
    } else {
        line
    }
}

/// An untrusted text as a table cell, truncated to `most` bytes.
fn cell(raw: &str, most: usize) -> Line {
    let start = ci::beginning(raw, most);
    let display = Line::default().quoted_lines(start.trim());
    if start.len() < raw.len() {
        display.plain("…")
    } else {
        display
    }
}

/// GitHub's limit in characters; used as a limit in bytes, which is stricter.
const ROOM: usize = 65_536;

/// The comment on a pull request.
pub(crate) struct PrComment;

impl ReportFormat for PrComment {
    fn name(&self) -> &'static str {
        "pr-comment"
    }

    fn about(&self) -> &'static str {
        "Markdown for a comment on a pull request, with a hidden mark to find it again"
    }

    fn extension(&self) -> &'static str {
        "md"
    }

    fn write(
        &self,
        runs: &[ReportedRun],
        _audience: ReportAudience,
        out: &mut dyn Write,
    ) -> Result<()> {
        write_comment(runs, &[], out)
    }
}

/// Writes the comment on a command's runs and on evals without a run.
///
/// # Errors
/// If a run cannot be read, or the output cannot be written.
pub fn write_comment(
    runs: &[ReportedRun],
    unstarted: &[UnstartedEval],
    out: &mut dyn Write,
) -> Result<()> {
    let mark = mark(runs, unstarted);
    let page = Page::new(ROOM - mark.len());
    let text = written(runs, unstarted, page)?;
    out.write_all(format!("{mark}{text}").as_bytes())
        .map_err(|error| unwritten(&error))
}

/// A hidden line that identifies the comment. Eval names cannot contain the end of an HTML comment.
fn mark(runs: &[ReportedRun], unstarted: &[UnstartedEval]) -> String {
    let name = match (runs, unstarted) {
        ([one], []) => &*one.manifest.eval,
        _ => "all",
    };
    format!("<!-- evaltest:{name} -->\n")
}
