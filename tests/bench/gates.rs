//! What the verdict of `no_regression` costs: the exact test over all answers, and its line with intervals and the
//! smallest drop that is seen.
//!
//! `cargo bench --bench gates [-- SAMPLES]`: CPU time of one gate over as many samples as the largest benchmark has.

mod figure;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use evaltest::engine::verdict::{
    AnswerFigures, Baseline, BaselineRun, BaselineSample, CurrentSample, CurrentSamples, Facts,
};
use evaltest::{Gate, Record, Score, Summary};
use figure::{Figure, is_bench, report};
use rustix::time::{ClockId, clock_gettime};

/// Samples of a proper run.
const SAMPLES: usize = 3_641;

/// Samples of a group, where they come in groups.
const GROUP: usize = 8;

/// Each measurement is the fastest of so many.
const TIMES: u32 = 5;

/// The most that a verdict may take.
const TARGET_MS: f64 = 100.0;

/// The most that four gates on figures may take.
const FIGURES_TARGET_MS: f64 = 500.0;

fn main() -> io::Result<ExitCode> {
    let default = if is_bench() { SAMPLES } else { 40 };
    let samples = std::env::args().find_map(|arg| arg.parse().ok());
    let samples = samples.unwrap_or(default);
    let mut figures = Vec::new();
    for (counts, grouped) in [
        ([1, 1], false),
        ([5, 5], false),
        ([10, 10], false),
        ([5, 1], true),
        ([1, 5], true),
    ] {
        let (baseline, current) = runs(samples, counts, grouped);
        let summary = Summary::of("bench", &[Record::scored("", Score::binary(true))]);
        let facts = Facts {
            baseline: Some(&baseline),
            current,
            ..Facts::of(summary)
        };
        let gates = [Gate::no_regression()];
        let [before, now] = counts;
        let groups = if grouped { " in groups of 8" } else { "" };
        let mut figure = |what: &str, measured: f64| {
            figures.push(Figure {
                what: format!("{what}, {samples} samples{groups}, {before} + {now} answers"),
                measured,
                unit: "ms of CPU",
                target: 0.0..=TARGET_MS,
                decides: true,
            });
        };
        figure("verdict", fastest_ms(|| drop(facts.verdicts(&gates))));
        figure(
            "verdict and line",
            fastest_ms(|| drop(gates[0].check(&facts))),
        );
    }
    figures.push(of_figures(samples));
    report(&figures)
}

/// Four gates on figures beside `no_regression`, with five answers on each side.
fn of_figures(samples: usize) -> Figure {
    const NAMES: [&str; 4] = ["tokens", "cost_usd", "output_length", "judge.total"];
    let (mut baseline, mut current) = runs(samples, [5, 5], false);
    let mut seed = 7_u64;
    let mut figures = |verdicts: &[Option<bool>]| {
        let mut values = || -> Vec<f64> {
            let value = |_: &Option<bool>| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                f64::from(u32::try_from((seed >> 33) % 1_000 + 1).unwrap_or(1))
            };
            verdicts.iter().map(value).collect()
        };
        let first = AnswerFigures::simulated("steps", verdicts, &values());
        NAMES
            .iter()
            .fold(first, |figures, name| figures.with(*name, &values()))
    };
    let accepted = &mut baseline.samples;
    accepted.change(|_, sample| sample.figures = figures(&sample.answers));
    current.change(|_, sample| sample.figures = figures(&sample.answers));
    let summary = Summary::of("bench", &[Record::scored("", Score::binary(true))]);
    let facts = Facts {
        baseline: Some(&baseline),
        current,
        ..Facts::of(summary)
    };
    let gates = NAMES.map(Gate::no_increase);
    Figure {
        what: format!("four gates on figures, {samples} samples, 5 + 5 answers"),
        measured: fastest_ms(|| drop(facts.verdicts(&gates))),
        unit: "ms of CPU",
        target: 0.0..=FIGURES_TARGET_MS,
        decides: true,
    }
}

fn fastest_ms(work: impl Fn()) -> f64 {
    let time = || Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default();
    let once = |_| {
        let started = time();
        work();
        time().saturating_sub(started).as_secs_f64() * 1e3
    };
    (0..TIMES).map(once).fold(f64::INFINITY, f64::min)
}

/// Two sets of runs of an agent that is flaky everywhere: the test has to sum over all samples.
fn runs(samples: usize, counts: [usize; 2], grouped: bool) -> (Baseline, CurrentSamples) {
    let mut seed = 1_u64;
    let mut answers = |count: usize| -> Vec<Option<bool>> {
        let mut answer = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            Some((seed >> 33) % 100 < 62)
        };
        (0..count).map(|_| answer()).collect()
    };
    let id = |i: usize| format!("s{i:05}");
    let before = (0..samples).map(|i| {
        let sample = BaselineSample {
            answers: answers(counts[0]),
            ..BaselineSample::default()
        };
        (id(i), sample)
    });
    let run = |i: usize| BaselineRun {
        run_id: i.to_string(),
        epochs: 1,
    };
    let baseline = Baseline {
        runs: (0..counts[0]).map(run).collect(),
        samples: before.collect(),
        digest_matches: true,
        ..Baseline::default()
    };
    let current = (0..samples).map(|i| CurrentSample {
        id: id(i),
        answers: answers(counts[1]),
        cluster: grouped.then(|| (i / GROUP).to_string()),
        ..CurrentSample::default()
    });
    let current = current.collect();
    (baseline, current)
}
