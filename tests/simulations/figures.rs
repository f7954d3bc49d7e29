//! Gates on figures, simulated: how often they are red for an agent that did not change, and for one that did.
//!
//! The agents are those of the pages: questions differ (standard deviation of the logarithm 0.8), and so do the answers to
//! one question, by 0.5, or by 0.3 with 8 % that take 3 to 8 times as much.

use evaltest::engine::verdict::{
    AnswerFigures, Baseline, BaselineRun, BaselineSample, CurrentSample, CurrentSamples, Facts,
};
use evaltest::{Gate, Record, Score, Summary, Verdict};

use crate::random::{Random, on_all};

const ALPHA: f64 = 0.05;

impl Random {
    /// Standard normal, by Box and Muller.
    fn normal(&mut self) -> f64 {
        let (one, other) = (self.share().max(1e-12), self.share());
        (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
    }
}

/// How the answers to one question differ.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Noise {
    Usual,
    Loops,
    /// Points of a judge, 1 to 5.
    Points,
    /// A quarter of the answers take other tools.
    Tools,
}

/// What became of the agent.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// All answers take so many times as much, or lose so many points.
    All(f64),
    /// Each question takes four times as much with a probability of a seventh.
    Seventh,
    /// This share of the questions takes other tools.
    Tools(f64),
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    noise: Noise,
    gate: &'static str,
    questions: usize,
    /// Runs of the baseline, and epochs of now.
    answers: [usize; 2],
    change: Change,
    /// The epochs of a run are the same answer; the baseline is one run.
    repeats: bool,
    /// Questions of a group rise and fall together.
    groups: bool,
}

const CELL: Cell = Cell {
    noise: Noise::Usual,
    gate: "no_increase(tokens)",
    questions: 40,
    answers: [1, 1],
    change: Change::All(1.0),
    repeats: false,
    groups: false,
};

impl Cell {
    /// The figures of the answers to a question on one side.
    fn figures(
        self,
        question: usize,
        effect: f64,
        count: usize,
        now: bool,
        random: &mut Random,
    ) -> AnswerFigures {
        let verdicts = vec![Some(true); count];
        let change = if now {
            self.change
        } else {
            Change::All(if self.noise == Noise::Points {
                0.0
            } else {
                1.0
            })
        };
        if self.noise == Noise::Tools {
            let is_changed = match change {
                Change::Tools(share) => {
                    share_of(question * 37 % self.questions, self.questions) < share
                }
                _ => false,
            };
            let tools: Vec<Vec<String>> = (0..count)
                .map(|_| {
                    let tools: &[&str] = match (is_changed, random.share() < 0.25) {
                        (false, false) => &["search", "open"],
                        (false, true) => &["search", "search", "open"],
                        (true, false) => &["open", "search", "pay"],
                        (true, true) => &["open", "pay"],
                    };
                    tools.iter().map(|tool| (*tool).to_owned()).collect()
                })
                .collect();
            return AnswerFigures::simulated_tools(&verdicts, &repeated(tools, self.repeats));
        }
        let runs_away = now && random.share() < 1.0 / 7.0;
        let values: Vec<f64> = (0..count)
            .map(|_| {
                let (noise, often) = match self.noise {
                    Noise::Usual => (0.5, 0.0),
                    Noise::Loops => (0.3, 0.08),
                    Noise::Points | Noise::Tools => {
                        let lost = match change {
                            Change::All(lost) => lost,
                            _ => 0.0,
                        };
                        return (4.0 + 0.5 * effect - lost + 0.5 * random.normal()).clamp(1.0, 5.0);
                    }
                };
                let factor = match change {
                    Change::All(factor) => factor,
                    Change::Seventh if runs_away => 4.0,
                    _ => 1.0,
                };
                let loops = if random.share() < often {
                    3.0 + 5.0 * random.share()
                } else {
                    1.0
                };
                1000.0 * (0.8 * effect + noise * random.normal()).exp() * factor * loops
            })
            .collect();
        let name = if self.noise == Noise::Points {
            "judge.total"
        } else {
            "tokens"
        };
        AnswerFigures::simulated(name, &verdicts, &repeated(values, self.repeats))
    }

    /// Whether the gate is red for one draw.
    fn is_red(self, gate: &Gate, summary: &Summary, random: &mut Random) -> bool {
        let id = |question: usize| format!("{question:04}");
        let [before, now] = self.answers;
        let mut baseline = Baseline {
            runs: vec![
                BaselineRun {
                    run_id: "r".to_owned(),
                    epochs: 1
                };
                before
            ],
            digest_matches: true,
            ..Baseline::default()
        };
        if self.repeats {
            baseline.runs = vec![BaselineRun {
                run_id: "r".to_owned(),
                epochs: u32::try_from(before).unwrap(),
            }];
        }
        let mut samples = Vec::new();
        let mut current = CurrentSamples::default();
        let mut shift = [0.0; 2];
        for question in 0..self.questions {
            let effect = random.normal();
            if self.groups && question.is_multiple_of(4) {
                shift = [0.4 * random.normal(), 0.4 * random.normal()];
            }
            let [was, is] = shift.map(|shift| effect + shift);
            let sample = BaselineSample {
                answers: vec![Some(true); before],
                figures: self.figures(question, was, before, false, random),
                ..BaselineSample::default()
            };
            samples.push((id(question), sample));
            current.push(CurrentSample {
                id: id(question),
                answers: vec![Some(true); now],
                figures: self.figures(question, is, now, true, random),
                cluster: self.groups.then(|| (question / 4).to_string()),
                ..CurrentSample::default()
            });
        }
        baseline.samples = samples.into_iter().collect();
        let facts = Facts {
            current,
            baseline: Some(&baseline),
            ..Facts::of(summary.clone())
        };
        facts.verdicts(std::slice::from_ref(gate)) == [Verdict::Failed]
    }

    /// The share of red draws.
    fn red(self, draws: u32, random: &mut Random) -> f64 {
        let gate: Gate = self.gate.parse().unwrap();
        let summary = Summary::of("e", &[Record::scored("", Score::binary(true))]);
        let reds = (0..draws)
            .filter(|_| self.is_red(&gate, &summary, random))
            .count();
        f64::from(u32::try_from(reds).unwrap()) / f64::from(draws)
    }
}

fn share_of(part: usize, whole: usize) -> f64 {
    let [part, whole] = [part, whole].map(|count| f64::from(u32::try_from(count).unwrap()));
    part / whole
}

fn repeated<T: Clone>(values: Vec<T>, repeats: bool) -> Vec<T> {
    if repeats {
        vec![values[0].clone(); values.len()]
    } else {
        values
    }
}

/// Cells of agents that did not change.
fn unchanged() -> Vec<(Cell, f64)> {
    let points = Cell {
        noise: Noise::Points,
        gate: "no_decrease(judge.total)",
        change: Change::All(0.0),
        ..CELL
    };
    let tools = Cell {
        noise: Noise::Tools,
        gate: "no_change(trajectory)",
        answers: [2, 1],
        ..CELL
    };
    let plain = [
        CELL,
        Cell {
            answers: [5, 5],
            ..CELL
        },
        Cell {
            answers: [5, 1],
            ..CELL
        },
        Cell {
            noise: Noise::Loops,
            ..CELL
        },
        Cell {
            noise: Noise::Loops,
            answers: [5, 5],
            ..CELL
        },
        Cell {
            answers: [3, 3],
            repeats: true,
            ..CELL
        },
        Cell {
            groups: true,
            ..CELL
        },
        Cell {
            groups: true,
            answers: [2, 2],
            ..CELL
        },
        points,
        Cell {
            answers: [3, 3],
            ..points
        },
        tools,
        Cell {
            answers: [3, 3],
            ..tools
        },
        Cell {
            answers: [3, 3],
            repeats: true,
            ..tools
        },
        Cell {
            gate: "no_increase(tokens, by=10%)",
            change: Change::All(1.1),
            ..CELL
        },
    ];
    plain.map(|cell| (cell, ALPHA)).to_vec()
}

/// Cells of agents that changed, with the share of red runs that was simulated for the design.
fn changed() -> Vec<(Cell, f64)> {
    let loops = Cell {
        noise: Noise::Loops,
        gate: "no_increase(tokens, by=10%)",
        ..CELL
    };
    let tools = Cell {
        noise: Noise::Tools,
        gate: "no_change(trajectory)",
        ..CELL
    };
    let mut cells = Vec::new();
    let changes = [
        Change::All(1.1),
        Change::All(1.2),
        Change::All(1.5),
        Change::Seventh,
    ];
    for (cell, answers, measured) in [
        (CELL, [1, 1], [0.198, 0.478, 0.97, 0.467]),
        (CELL, [5, 5], [0.588, 0.972, 1.0, 0.878]),
        (CELL, [5, 1], [0.293, 0.69, 0.998, 0.69]),
        (loops, [1, 1], [0.06, 0.167, 0.775, 0.185]),
        (loops, [5, 5], [0.038, 0.483, 1.0, 0.507]),
    ] {
        for (change, measured) in changes.into_iter().zip(measured) {
            cells.push((
                Cell {
                    answers,
                    change,
                    ..cell
                },
                measured,
            ));
        }
    }
    for (share, measured) in [(0.1, 0.11), (0.2, 0.26), (0.4, 0.8)] {
        let change = Change::Tools(share);
        cells.push((
            Cell {
                answers: [2, 1],
                change,
                ..tools
            },
            measured,
        ));
    }
    cells
}

fn check_unchanged(cells: &[(Cell, f64)], draws: u32) {
    // Three standard errors.
    let beyond = 3.0 * (ALPHA * (1.0 - ALPHA) / f64::from(draws)).sqrt();
    on_all(cells, |(cell, alpha), random| {
        let red = cell.red(draws, random);
        assert!(red <= alpha + beyond, "{cell:?}: red in {red}");
    });
}

#[test]
fn an_unchanged_agent_is_red_no_more_often_than_alpha() {
    check_unchanged(&unchanged(), 60);
}

#[test]
#[ignore = "minutes unless optimised"]
fn an_unchanged_agent_is_red_no_more_often_than_alpha_in_many_draws() {
    check_unchanged(&unchanged(), 1_000);
}

#[test]
#[ignore = "minutes unless optimised"]
#[expect(clippy::print_stderr, reason = "a measurement")]
fn a_changed_agent_is_red_as_often_as_measured() {
    on_all(&changed(), |(cell, measured), random| {
        let red = cell.red(1_000, random);
        eprintln!("{cell:?}: {red}, measured {measured}");
        let is_tools = cell.noise == Noise::Tools;
        // Three standard errors, as the other was measured by 300 draws.
        let beyond =
            3.0 * (measured * (1.0 - measured) / 300.0 + red * (1.0 - red) / 1_000.0).sqrt();
        // What tools a changed question takes is not said with the measured powers.
        assert!(
            (red - measured).abs() <= beyond.max(0.04) || is_tools && red >= measured,
            "{cell:?}: {red}, measured {measured}"
        );
    });
}

#[test]
fn a_common_rise_and_other_tools_are_seen() {
    let rise = Cell {
        answers: [5, 5],
        change: Change::All(1.5),
        ..CELL
    };
    let tools = Cell {
        noise: Noise::Tools,
        gate: "no_change(trajectory)",
        answers: [3, 3],
        change: Change::Tools(0.4),
        ..CELL
    };
    let points = Cell {
        noise: Noise::Points,
        gate: "no_decrease(judge.total)",
        answers: [3, 3],
        change: Change::All(0.5),
        ..CELL
    };
    on_all(
        &[(rise, 0.9), (tools, 0.9), (points, 0.9)],
        |(cell, least), random| {
            let red = cell.red(20, random);
            assert!(red >= least, "{cell:?}: {red}");
        },
    );
}
