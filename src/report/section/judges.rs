//! Requests to judges, their agreement, and means corrected by human labels.

use super::costs::latencies;
use super::items::wins_ties_losses;
use super::source::Source;
use crate::figure::{Interval, Scale, Seconds, Share, Usd, Value, ci95, counted, or_dash};
use crate::report::document::{
    Align, AxisUnit, Block, IntervalRow, IntervalScale, Intervals, Line, Table, list,
};
use crate::verdict::agreement::ScorerPair;
use crate::verdict::judged::calibration::{CorrectedFigure, JudgeCalibration};
use crate::verdict::judged::pairs::{Outcome, PairsSummary};
use crate::verdict::summary::{
    JudgeSummary, JurorSummary, JurySummary, LabelAgreement, judge_notices,
};

/// A line per judge and jury; in full with all figures.
pub(super) fn judges(source: &Source<'_>) -> Vec<Block> {
    let Some(judge) = &source.summary.judge else {
        return Vec::new();
    };
    if source.is_brief() {
        let judges = judge.scorers.iter().map(|(name, judge)| {
            let pairs = judge.pairs.iter().flat_map(pair_lines);
            let below = pairs.chain(corrected_lines(judge.calibration.as_ref()));
            let noun = judge.noun(source.summary);
            let line = judge_line(judge, noun);
            Block::group(format!("judge `{name}`: {line}"), list(below))
        });
        let juries = judge.juries.iter().flat_map(|(name, jury)| {
            let line = |line: String| format!("jury `{name}`: {line}");
            let below = list(corrected_lines(jury.calibration.as_ref()));
            let noun = source.summary.judged_noun();
            let (first, labels) = (line(jury_line(jury, noun)), labels_line(jury).map(line));
            match labels {
                Some(labels) => vec![Block::paragraph(first), Block::group(labels, below)],
                None => vec![Block::group(first, below)],
            }
        });
        return judges.chain(juries).collect();
    }
    let mut table = Table::new(&[("figure", Align::Left)]);
    let names = judge.scorers.keys().map(|name| (name.clone(), Align::Left));
    table.heads.extend(names);
    let samples = judge
        .scorers
        .values()
        .map(|judge| judge.samples.to_string());
    let nouns = format!("{}s", source.summary.judged_noun());
    table.row(std::iter::once(nouns).chain(samples));
    for (name, of) in FIGURES {
        let cells: Vec<String> = judge.scorers.values().map(of).collect();
        if cells
            .iter()
            .any(|cell| !["0", "-"].contains(&cell.as_str()))
        {
            table.row(std::iter::once((*name).to_owned()).chain(cells));
        }
    }
    let mut blocks = vec![Block::section("Judge"), Block::Table(table)];
    for (name, judge) in &judge.scorers {
        // Those that decide are in a section of their own.
        let decides = source.decides(name);
        if let Some(pairs) = judge.pairs.as_ref().filter(|_| !decides) {
            let title = Line::default().code(name).plain(":");
            blocks.push(Block::group(title, list(pair_lines(pairs))));
        }
        corrected(name, judge.calibration.as_ref(), &mut blocks);
    }
    for (name, jury) in &judge.juries {
        jury_blocks(name, jury, source.summary.judged_noun(), &mut blocks);
    }
    agreement_chart(judge, &mut blocks);
    let notices = judge_notices(source.summary).into_iter();
    blocks.extend(notices.map(|notice| Block::Note(Line::default().marked(&notice))));
    blocks
}

/// A figure of a judge as a text.
type Figure = (&'static str, fn(&JudgeSummary) -> String);

const FIGURES: &[Figure] = &[
    ("unread", |judge| match judge.unread {
        0 => "0".to_owned(),
        unread => format!("{unread} ({})", reasons(&judge.reasons)),
    }),
    ("calls", |judge| judge.calls.to_string()),
    ("asked twice", |judge| judge.asked_again.to_string()),
    ("from the cache", |judge| judge.cached.to_string()),
    ("stored", |judge| judge.stored.to_string()),
    ("requests", |judge| judge.requests.to_string()),
    ("input tokens", |judge| or_dash(judge.usage.input_tokens)),
    ("output tokens", |judge| or_dash(judge.usage.output_tokens)),
    ("cost", |judge| or_dash(judge.usage.cost_usd.map(Usd))),
    ("latency, mean", |judge| {
        or_dash(judge.latency_s.map(|latency| Seconds(latency.mean)))
    }),
    ("models", |judge| counts(judge.models.iter())),
    ("forms", |judge| counts(judge.forms.iter())),
    ("human labels", |judge| {
        or_dash(judge.calibration.as_ref().map(JudgeCalibration::summary))
    }),
];

fn counts<'a>(counts: impl Iterator<Item = (&'a String, &'a u64)>) -> String {
    let counts: Vec<_> = counts
        .map(|(name, count)| format!("{name}: {count}"))
        .collect();
    match &*counts {
        [] => "-".to_owned(),
        counts => counts.join(", "),
    }
}

/// Reasons for missing verdicts, with counts.
fn reasons(reasons: &std::collections::BTreeMap<String, u64>) -> String {
    let reasons = reasons.iter();
    let reasons = reasons.map(|(reason, count)| format!("{count} {}", reason.replace('_', " ")));
    reasons.collect::<Vec<_>>().join(", ")
}

/// Number and cost of a judge's requests, and the number of answers (or items, or pairs) without a verdict.
fn judge_line(judge: &JudgeSummary, noun: &str) -> String {
    let calls = counted(judge.calls, "call");
    let mut calls = format!("{calls} on {}", counted(judge.samples, noun));
    let parts = [
        (judge.asked_again, "asked twice"),
        (judge.cached, "from the cache"),
        (judge.stored, "stored"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<_> = parts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if !parts.is_empty() {
        calls = format!("{calls} ({})", parts.join(", "));
    }
    let mut figures = vec![calls];
    figures.extend(judge.latency_s.as_ref().and_then(latencies));
    figures.extend(
        judge
            .usage
            .tokens()
            .map(|tokens| format!("{tokens} tokens")),
    );
    figures.extend(judge.usage.cost_usd.map(|cost| Usd(cost).to_string()));
    if judge.unread > 0 {
        figures.push(format!(
            "{} unread ({})",
            judge.unread,
            reasons(&judge.reasons)
        ));
    }
    figures.extend(judge.calibration.as_ref().map(JudgeCalibration::summary));
    figures.join(", ")
}

/// The means corrected by human labels, one line each: first a description, then the assumption that the judge's
/// errors are the same here, and doubts about the labels.
pub fn corrected_lines(calibration: Option<&JudgeCalibration>) -> Vec<String> {
    let Some(calibration) = calibration else {
        return Vec::new();
    };
    let line = |(name, of): (&String, &CorrectedFigure), how: &str| {
        let by_judge = of
            .judge
            .map(|mean| format!("{} by the judge, ", Value(mean)));
        format!(
            "{name}: {}{} {how} ({}; {}, {})",
            by_judge.unwrap_or_default(),
            Value(of.value),
            Interval(of.ci95.map(Value)).ci95(),
            counted(of.labels, "label"),
            counted(of.items, "answer")
        )
    };
    let own = calibration.corrected.iter();
    let own = own.map(|figure| line(figure, "corrected"));
    let others = calibration.corrected_if_alike.iter();
    let others = others.map(|figure| {
        line(
            figure,
            "corrected, if the judge errs on this agent as on the labelled one",
        )
    });
    let mut lines: Vec<String> = own.chain(others).collect();
    if !lines.is_empty() {
        let doubts = calibration.doubts.iter();
        lines.extend(doubts.map(|doubt| format!("its labels: {doubt}")));
    }
    lines
}

/// The same as a chart with its lines.
fn corrected(name: &str, calibration: Option<&JudgeCalibration>, blocks: &mut Vec<Block>) {
    let lines = corrected_lines(calibration);
    let Some(calibration) = calibration.filter(|_| !lines.is_empty()) else {
        return;
    };
    let figures = calibration.corrected.iter();
    let figures = figures.chain(&calibration.corrected_if_alike);
    let (mut rows, mut ends) = (Vec::new(), Vec::new());
    for (figure, of) in figures {
        ends.extend(of.judge.iter().chain(&of.ci95).chain([&of.value]).copied());
        if let Some(value) = of.judge {
            rows.push(IntervalRow {
                label: format!("{figure}, by the judge"),
                value: Some(value),
                figures: Scale(value, 3).to_string(),
                note: counted(of.items, "answer"),
                ..IntervalRow::default()
            });
        }
        let ci95 = Interval(of.ci95.map(|end| Scale(end, 3)));
        rows.push(IntervalRow {
            label: format!("{figure}, corrected by labels"),
            value: Some(of.value),
            interval: Some(of.ci95),
            figures: format!("{} ({ci95})", Scale(of.value, 3)),
            note: counted(of.labels, "label"),
            ..IntervalRow::default()
        });
    }
    blocks.push(Block::Intervals(Intervals {
        caption: format!("Means of {name}, corrected by human labels"),
        heads: ["", ci95!("mean, "), "count"].map(str::to_owned),
        scale: around(&ends),
        rows,
    }));
    blocks.extend(list(lines));
}

/// A scale that contains all of these values; from 0 to 1 if they are shares.
fn around(ends: &[f64]) -> IntervalScale {
    let low = ends.iter().copied().fold(0.0, f64::min);
    let high = ends.iter().copied().fold(1.0, f64::max);
    IntervalScale {
        low,
        high: if high > 1.0 { high.ceil() } else { 1.0 },
        unit: AxisUnit::Number,
        ..IntervalScale::SHARES
    }
}

/// Agreement of judges and juries with people.
fn agreement_chart(judge: &JudgeSummary, blocks: &mut Vec<Block>) {
    let scorers = judge.scorers.iter();
    let scorers = scorers.map(|(name, judge)| (name, judge.calibration.as_ref()));
    let juries = judge.juries.iter();
    let juries = juries.map(|(name, jury)| (name, jury.calibration.as_ref()));
    let rows = scorers.chain(juries).filter_map(|(name, calibration)| {
        let calibration = calibration?;
        let kappa = calibration.kappa?;
        let interval = calibration.kappa_ci95;
        let ci95 = interval.map(|ends| format!(" ({})", Interval(ends.map(|end| Scale(end, 2)))));
        Some(IntervalRow {
            label: name.clone(),
            value: Some(kappa),
            interval,
            figures: format!("{kappa:.2}{}", ci95.unwrap_or_default()),
            note: counted(calibration.n, "label"),
            ..IntervalRow::default()
        })
    });
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        blocks.push(Block::Intervals(Intervals {
            caption: "Agreement with people: 1 is full, 0 is chance".to_owned(),
            heads: ["", ci95!("kappa, "), "count"].map(str::to_owned),
            scale: IntervalScale {
                low: -1.0,
                high: 1.0,
                mark: Some(0.0),
                marked: "chance",
                unit: AxisUnit::Number,
            },
            rows,
        }));
    }
}

fn jury_blocks(name: &str, jury: &JurySummary, noun: &str, blocks: &mut Vec<Block>) {
    let mut heads = vec!["judge", "judged", "unread", "outlier"];
    if jury.panel.is_some() {
        heads.push("agreement with labels");
    }
    let mut table = Table::of_numbers(heads);
    for judge in &jury.judges {
        let cells = [
            judge.name.clone(),
            judge.judged.to_string(),
            judge.unread.to_string(),
            outliers(judge),
        ];
        table.row(
            cells
                .into_iter()
                .chain(judge.labels.as_ref().map(agreement)),
        );
    }
    if let Some(panel) = &jury.panel {
        table.row([
            "(panel)".to_owned(),
            (jury.samples - jury.unread).to_string(),
            jury.unread.to_string(),
            "-".to_owned(),
            agreement(panel),
        ]);
    }
    let mut pairs = Table::of_numbers(["judges", "accept the same answers"]);
    for pair in &jury.pairs {
        let judges = format!("{}, {}", pair.one, pair.other);
        pairs.row([judges, pair_agreement(pair)]);
    }
    blocks.push(Block::Heading(3, format!("Jury `{name}`")));
    blocks.push(Block::paragraph(jury_line(jury, noun)));
    blocks.extend(table.block());
    blocks.extend(labels_line(jury).map(Block::paragraph));
    corrected(name, jury.calibration.as_ref(), blocks);
    blocks.extend(pairs.block());
}

/// Agreement within a jury, and the number of answers without a verdict.
fn jury_line(jury: &JurySummary, noun: &str) -> String {
    let answers = counted(jury.samples, noun);
    let mut figures = vec![format!("{} judges on {answers}", jury.judges.len())];
    figures.extend(jury.alpha.map(|alpha| format!("alpha {}", Scale(alpha, 2))));
    let shares = jury.pairs.iter().filter_map(|pair| pair.agreement);
    let ends = shares.clone().reduce(f64::min).zip(shares.reduce(f64::max));
    if let Some((low, high)) = ends {
        let [low, high] = [low, high].map(|share| Share(share).to_string());
        figures.push(if low == high {
            format!("any two judges agree on {low} of {noun}s")
        } else {
            format!("any two judges agree on {low} to {high} of {noun}s")
        });
    }
    if jury.unread > 0 {
        let reasons = reasons(&jury.reasons);
        figures.push(format!("{} without a verdict ({reasons})", jury.unread));
    }
    figures.extend(jury.calibration.as_ref().map(JudgeCalibration::summary));
    figures.join(", ")
}

/// Agreement of each judge and the panel with people; `None` without labels.
fn labels_line(jury: &JurySummary) -> Option<String> {
    let panel = jury.panel.as_ref()?;
    let of = |name: &str, labels: &LabelAgreement| format!("{name} {}", agreement(labels));
    let judges = jury.judges.iter();
    let judges = judges.filter_map(|judge| Some(of(&judge.name, judge.labels.as_ref()?)));
    let all: Vec<_> = std::iter::once(of("panel", panel)).chain(judges).collect();
    let what = match panel.agreement {
        Some(_) => "agreement",
        None => "mean distance",
    };
    let labels = counted(jury.labelled, "label");
    let what = match jury.compared {
        // Choices always cover all.
        0 => what.to_owned(),
        compared if compared == jury.labelled => what.to_owned(),
        compared => format!("{what} on the {compared} judged by all"),
    };
    Some(format!("{labels}, {what}: {}", all.join(", ")))
}

/// A judge's agreement with human labels, with its interval.
fn agreement(labels: &LabelAgreement) -> String {
    match (labels.agreement, labels.distance) {
        (Some(share), _) => {
            let share = Share(share);
            let ci95 = labels.agreement_ci95;
            ci95.map_or_else(|| share.to_string(), |ci95| share.with_interval(ci95))
        }
        (None, Some(distance)) => {
            let ci95 = labels.distance_ci95;
            let ci95 = ci95.map(|ends| format!(" ({})", Interval(ends.map(|end| Scale(end, 2)))));
            format!("{distance:.2} points{}", ci95.unwrap_or_default())
        }
        (None, None) => "-".to_owned(),
    }
}

/// How often a judge is an outlier.
fn outliers(judge: &JurorSummary) -> String {
    let share = judge.outlier_share.map(Share);
    or_dash(share.map(|share| format!("{} ({share})", judge.outliers)))
}

/// How often two judges accept the same answers, and kappa.
fn pair_agreement(pair: &ScorerPair) -> String {
    let share = or_dash(pair.agreement.map(Share));
    let kappa = pair
        .kappa
        .map(|kappa| format!(", kappa {}", Scale(kappa, 2)));
    format!("{share} of {}{}", pair.judged, kappa.unwrap_or_default())
}

fn signed(value: f64) -> String {
    format!("{:+}", Scale(value, 2))
}

/// Pairwise comparisons by a judge: counts, win rate with its interval, effects of order and length, and conclusions.
pub fn pair_lines(pairs: &PairsSummary) -> Vec<String> {
    let inconsistent = pairs.inconsistent;
    let mut counts = format!(
        "{} of {}: {}, {inconsistent} inconsistent (the verdict changes with the order); ties and inconsistent pairs \
         count half",
        counted(pairs.n.saturating_sub(pairs.unreadable), "pair"),
        counted(pairs.items, "item"),
        wins_ties_losses(pairs)
    );
    if pairs.unreadable > 0 {
        counts = format!("{counts}; {} more unreadable (skipped)", pairs.unreadable);
    }
    let mut lines = vec![counts];
    if let (Some(rate), Some(ci95)) = (pairs.win_rate, pairs.ci95) {
        lines.push(format!(
            "win rate {}, {}: {}",
            Share(rate),
            Interval(ci95.map(Share)).ci95(),
            match pairs.outcome {
                Some(Outcome::Above) => "above one half",
                Some(Outcome::Below) => "below one half",
                _ => "not significantly different from one half",
            }
        ));
    }
    if let Some(bias) = pairs.position_bias {
        lines.push(format!(
            "position bias {}: the text shown first was preferred both times in {} of {inconsistent} \
             inconsistent pairs",
            Share(bias),
            pairs.first_shown_wins
        ));
    }
    if let Some(length) = pairs.length_coefficient {
        let ci95 = pairs.length_ci95.map_or_else(
            || "without an interval".to_owned(),
            |ends| Interval(ends.map(signed)).ci95(),
        );
        lines.push(format!(
            "length coefficient {}, {ci95}: gain in win rate where the answer is much longer than the other",
            signed(length)
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::section::Detail;
    use crate::report::section::tests::{in_markdown, on_terminal};
    use crate::verdict::judged::pairs::JudgedPair;
    use crate::verdict::judged::winrate::Preferred;
    use crate::verdict::summary::{Latency, Summary, UsageTotal};

    /// A run with these judges, by scorer name.
    fn with(judges: &[(&str, &JudgeSummary)]) -> Summary {
        let mut summary = Summary::of("e", &[]);
        let scorers = judges.iter();
        let scorers = scorers.map(|&(name, judge)| (name.to_owned(), judge.clone()));
        summary.judge = (!judges.is_empty()).then(|| JudgeSummary {
            scorers: scorers.collect(),
            ..JudgeSummary::default()
        });
        summary
    }

    #[test]
    fn a_line_has_what_there_is() {
        let mut judge = JudgeSummary {
            calls: 47,
            samples: 45,
            asked_again: 2,
            ..JudgeSummary::default()
        };
        assert_eq!(
            judge_line(&judge, "answer"),
            "47 calls on 45 answers (2 asked twice)"
        );
        judge.cached = 5;
        judge.unread = 3;
        judge.reasons = [("conflicting", 2), ("truncated", 1)]
            .map(|(reason, count)| (reason.to_owned(), count))
            .into();
        judge.usage = UsageTotal {
            input_tokens: Some(50_000),
            output_tokens: Some(1_200),
            cost_usd: Some(0.0123),
            samples: 47,
            ..UsageTotal::default()
        };
        judge.latency_s = Some(Latency {
            mean: 1.0,
            p50: 1.0,
            p90: 2.0,
            p95: 2.0,
            p99: 2.0,
            max: 2.0,
        });
        assert_eq!(
            judge_line(&judge, "answer"),
            "47 calls on 45 answers (2 asked twice, 5 from the cache), latency median 1.0 s, p95 2.0 s, 51200 tokens, \
             0.0123 USD, 3 unread (2 conflicting, 1 truncated)"
        );
    }

    #[test]
    fn the_sentence_is_of_the_interval() {
        let pairs: Vec<_> = (0..20)
            .map(|item| JudgedPair {
                item: item.to_string(),
                preferred: [Preferred::A, Preferred::B],
                lengths: [10, 10],
            })
            .collect();
        assert_eq!(
            pair_lines(&PairsSummary::of(&pairs, 1)),
            [
                "20 pairs of 20 items: 0 wins, 0 ties, 0 losses, 20 inconsistent (the verdict changes with the order); ties \
                 and inconsistent pairs count half; 1 more unreadable (skipped)",
                "win rate 50.0 %, 95 % interval 41.0 % to 59.0 %: not significantly different from one half",
                "position bias 100.0 %: the text shown first was preferred both times in 20 of 20 inconsistent pairs",
            ]
        );
    }

    #[test]
    fn there_is_a_column_for_each_judge() {
        let rendered = |summary: &Summary| in_markdown(judges(&Source::of(summary, Detail::Full)));
        assert_eq!(rendered(&with(&[])), "");
        let one = JudgeSummary {
            calls: 12,
            samples: 11,
            unread: 1,
            reasons: [("refusal".to_owned(), 1)].into(),
            models: [("m|1".to_owned(), 12)].into(),
            self_agreement: Some(0.93),
            ..JudgeSummary::default()
        };
        let rendered = rendered(&with(&[("a", &one), ("b", &JudgeSummary::default())]));
        for line in [
            "| figure | a | b |",
            "| unread | 1 (refusal) | 0 |",
            "| models | m\\|1: 12 | - |",
            "judge `a`: its repeats give the same",
        ] {
            let line = line.replace("1 (refusal)", "1 (1 refusal)");
            assert!(rendered.contains(&line), "{line} is not in {rendered}");
        }
    }

    #[test]
    fn each_judge_is_a_line_of_its_own() {
        let rendered = |summary: &Summary| on_terminal(judges(&Source::of(summary, Detail::Brief)));
        assert_eq!(rendered(&with(&[])), "");
        let one = JudgeSummary {
            calls: 1,
            samples: 1,
            ..JudgeSummary::default()
        };
        assert_eq!(
            rendered(&with(&[("first", &one), ("sec\u{1b}ond", &one)])),
            "  judge `first`: 1 call on 1 answer\n  judge `sec\\u{1b}ond`: 1 call on 1 answer\n"
        );
    }
}
