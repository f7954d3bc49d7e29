//! Alerts are honest: thirty runs of an agent that does not change raise a statistical one in no more than alpha of all
//! histories, and one that got worse is seen. Simulated with fixed seeds, by what judges real histories.
//!
//! Most runs are far from any alarm: those of which no window is lower than its reference are not asked about, but every
//! tenth is all the same. `EVALTEST_FUZZ_CASES=2000 cargo test --release --test simulations alerts:: -- --nocapture` makes the
//! tables of the guide.

#![expect(
    clippy::cast_precision_loss,
    clippy::print_stdout,
    reason = "counts of samples, and tables for the guide"
)]

use evaltest::engine::history::{AnswerRow, HistoryAnswers, HistoryKind, HistoryLine};
use evaltest::engine::verdict::{AlertJudge, AlertResult, Alerts};

use crate::random::Random;

const ANALYSES: usize = 30;

#[derive(Clone, Copy, Debug)]
enum Agent {
    /// So many in 100 are right half of the time, of the others 60 % always and 40 % never.
    Flaky(usize),
    /// All at 0.62.
    Even,
}

impl Agent {
    /// How often each sample is right after accuracy fell by so much: of those that are always right some never are, or
    /// where none is, all are less often.
    fn rates(self, samples: usize, fall: f64) -> Vec<f64> {
        let size = |share: f64| {
            let below = |i: &usize| (*i as f64 + 0.5) < share * samples as f64;
            (0..samples).filter(below).count()
        };
        let percent = match self {
            Self::Even => return vec![(0.62 - fall).max(0.0); samples],
            Self::Flaky(percent) => percent as f64 / 100.0,
        };
        let flaky = size(percent);
        let right = flaky + size((1.0 - percent) * 0.6);
        let broken = flaky + size(fall);
        let rate = |i: usize| match i {
            _ if i < flaky => 0.5,
            _ if i < broken && i < right => 0.0,
            _ if i < right => 1.0,
            _ => 0.0,
        };
        (0..samples).map(rate).collect()
    }
}

fn line(kind: HistoryKind, minute: usize, rows: Vec<Vec<bool>>) -> HistoryLine {
    let count = rows[0].len();
    let right = rows.iter().flatten().filter(|right| **right).count();
    let all = count * rows.len();
    let row = |row: Vec<bool>| AnswerRow::of(&row.into_iter().map(Some).collect::<Vec<_>>());
    HistoryLine {
        kind,
        id: format!("{kind:?}-{minute:04}"),
        time: format!("2026-11-23T{:02}:{:02}:00Z", minute / 60, minute % 60)
            .parse()
            .unwrap(),
        samples: all as u64,
        scored: all as u64,
        correct: right as u64,
        accuracy: Some(right as f64 / all as f64),
        answers: Some(HistoryAnswers {
            samples: "these".to_owned(),
            count,
            runs: rows.into_iter().map(row).collect(),
        }),
        ..HistoryLine::default()
    }
}

fn answers(rates: &[f64], random: &mut Random) -> Vec<bool> {
    rates.iter().map(|rate| random.share() < *rate).collect()
}

/// A history: a baseline of so many runs, and runs of which accuracy fell by `fall(analysis)`, from 0.
struct Simulated<'a> {
    agent: Agent,
    samples: usize,
    baseline: usize,
    fall: &'a dyn Fn(usize) -> f64,
}

impl Simulated<'_> {
    /// The look at which the first alert is raised, from 0, of those from `from` up to `to`.
    fn raised(&self, judge: &AlertJudge<'_>, seed: u64, from: usize, to: usize) -> Option<usize> {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9) + 7);
        let before = self.agent.rates(self.samples, 0.0);
        let rows = (0..self.baseline).map(|_| answers(&before, &mut random));
        let mut lines = vec![line(HistoryKind::Accept, 0, rows.collect())];
        for analysis in 0..to {
            let rates = self.agent.rates(self.samples, (self.fall)(analysis));
            let row = answers(&rates, &mut random);
            lines.push(line(HistoryKind::Run, analysis + 1, vec![row]));
            if analysis >= from
                && (may_alarm(&lines) || random.share() < 0.1)
                && judge
                    .judge(&lines, &lines[analysis + 1])
                    .iter()
                    .any(AlertResult::is_raised)
            {
                return Some(analysis);
            }
        }
        None
    }
}

/// Whether anything is so low that it could be one: the last run, or the last five together, below what there was.
fn may_alarm(lines: &[HistoryLine]) -> bool {
    let accuracy = |line: &HistoryLine| line.accuracy.unwrap();
    let mean = |lines: &[HistoryLine]| lines.iter().map(accuracy).sum::<f64>() / lines.len() as f64;
    let runs = &lines[1..];
    let deviation = (0.24 / lines[0].answers.as_ref().unwrap().count as f64).sqrt();
    let last = |count: usize| &runs[runs.len().saturating_sub(count)..];
    let before = &runs[..runs.len().saturating_sub(5)];
    let before = &before[before.len().saturating_sub(5)..];
    let steady = last(8)
        .windows(2)
        .filter(|two| accuracy(&two[1]) < accuracy(&two[0]));
    accuracy(&lines[0]) - mean(last(5)) > 0.5 * deviation
        || accuracy(&lines[0]) - mean(last(1)) > deviation
        || !before.is_empty() && mean(before) - mean(last(5)) > 0.5 * deviation
        || runs.len() > 5
            && mean(&runs[..runs.len() - 1][runs.len() - 6..]) - mean(last(1)) > deviation
        || steady.count() > 4
}

fn alerts(texts: &[&str]) -> Alerts {
    Alerts::of(texts.iter().copied()).unwrap()
}

/// How many histories of each cell are drawn.
fn cases(usual: u64) -> u64 {
    let more = std::env::var("EVALTEST_FUZZ_CASES").ok();
    more.and_then(|count| count.parse().ok()).unwrap_or(usual)
}

const ALONE: &[&str] = &["drop(accuracy)"];
const MEDIAN: &[&str] = &["drop(accuracy, against=median(5))"];
const THREE: &[&str] = &[
    "drop(accuracy)",
    "drop(accuracy, against=median(5))",
    "trend(accuracy, runs=8)",
];

/// The share of histories in which an alert is raised.
fn share(simulated: &Simulated<'_>, alerts: &Alerts, analyses: [usize; 2], usual: u64) -> f64 {
    let judge = AlertJudge::new(alerts);
    let count = cases(usual);
    let raised = (0..count).filter(|seed| {
        let raised = simulated.raised(&judge, *seed, analyses[0], analyses[1]);
        raised.is_some()
    });
    raised.count() as f64 / count as f64
}

const AGENTS: [Agent; 3] = [Agent::Flaky(15), Agent::Flaky(30), Agent::Even];

#[test]
fn an_agent_that_does_not_change_raises_hardly_any() {
    for rules in [ALONE, MEDIAN, THREE] {
        let alerts = alerts(rules);
        for samples in [40, 165] {
            for agent in AGENTS {
                let simulated = Simulated {
                    agent,
                    samples,
                    baseline: 1,
                    fall: &|_| 0.0,
                };
                let count = cases(30) as f64;
                let found = share(&simulated, &alerts, [0, ANALYSES], 30);
                println!(
                    "{rules:?} {samples} {agent:?} unchanged: {:.1} %",
                    found * 100.0
                );
                // Three standard deviations of what is drawn beside the 6 %.
                let bound = 0.06 + 3.0 * (0.06 * 0.94 / count).sqrt();
                assert!(found <= bound, "{rules:?} {samples} {agent:?}: {found}");
            }
        }
    }
}

#[test]
fn one_that_got_worse_is_seen() {
    let drop = |from: usize| move |analysis: usize| if analysis < from { 0.0 } else { 0.1 };
    let creep = |analysis: usize| 0.01 * (analysis + 1) as f64;
    let cells: [(&[&str], Agent, usize, usize, f64); 10] = [
        (ALONE, Agent::Flaky(15), 1, 0, 0.8),
        (ALONE, Agent::Flaky(30), 1, 0, 0.8),
        (ALONE, Agent::Even, 1, 0, 0.4),
        (ALONE, Agent::Even, 3, 0, 0.8),
        (MEDIAN, Agent::Flaky(15), 1, 5, 0.8),
        (MEDIAN, Agent::Flaky(30), 1, 5, 0.8),
        (MEDIAN, Agent::Even, 1, 5, 0.8),
        (THREE, Agent::Flaky(15), 1, 5, 0.8),
        (THREE, Agent::Flaky(30), 1, 5, 0.8),
        (THREE, Agent::Even, 1, 5, 0.8),
    ];
    for (rules, agent, baseline, from, least) in cells {
        let alerts = alerts(rules);
        let count = cases(15) as f64;
        let slack = 3.0 * (0.2 * 0.8 / count).sqrt();
        let fall = drop(from);
        let simulated = Simulated {
            agent,
            samples: 165,
            baseline,
            fall: &fall,
        };
        let found = share(&simulated, &alerts, [from, from + 5], 15);
        println!(
            "{rules:?} {agent:?}, baseline of {baseline}, 10 points from look {from}: {:.0} %",
            found * 100.0
        );
        assert!(found >= least - slack, "{rules:?} {agent:?}: {found}");
        if from > 0 && rules == MEDIAN {
            continue;
        }
        let simulated = Simulated {
            fall: &creep,
            ..simulated
        };
        let found = share(&simulated, &alerts, [0, 20], 15);
        println!(
            "{rules:?} {agent:?}, baseline of {baseline}, a point a look: {:.0} %",
            found * 100.0
        );
        assert!(found >= 0.8 - slack, "{rules:?} {agent:?}: {found}");
    }
}
