//! The gates are honest: an unchanged agent fails `no_regression` no more often than alpha, and a worse one
//! is caught as often as the power that is printed. Simulated with a fixed seed.

use evaltest::engine::stats;
use evaltest::engine::verdict::Counts;
use evaltest::engine::verdict::Facts;
use evaltest::engine::verdict::{Baseline, BaselineSample};
use evaltest::engine::verdict::{CurrentSample, Marks, Standing};
use evaltest::{Gate, Record, Score, Summary, Verdict};

const ALPHA: f64 = 0.05;
const SAMPLES: usize = 165;

/// `SplitMix64` (G. Steele, D. Lea, C. Flood, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform from 0 to 1.
    fn share(&mut self) -> f64 {
        let high = u32::try_from(self.next() >> 32).unwrap_or(u32::MAX);
        f64::from(high) / (f64::from(u32::MAX) + 1.0)
    }
}

/// An agent with 15 % flaky samples, each correct in half of the runs; of the rest 60 % are always correct.
fn run_of_a_flaky_agent(random: &mut Random) -> Vec<bool> {
    (0..SAMPLES)
        .map(|i| match i % 20 {
            0..3 => random.share() < 0.5,
            3..13 => true,
            _ => false,
        })
        .collect()
}

fn count(before: &[bool], after: &[bool]) -> Counts {
    let pairs = || before.iter().zip(after);
    Counts {
        pairs: pairs().count() as u64,
        worse: pairs()
            .filter(|(before, after)| **before && !**after)
            .count() as u64,
        better: pairs()
            .filter(|(before, after)| !**before && **after)
            .count() as u64,
    }
}

/// How often `fails` in so many runs.
fn share_of(runs: u32, mut fails: impl FnMut() -> bool) -> f64 {
    let failed: u32 = (0..runs).map(|_| u32::from(fails())).sum();
    f64::from(failed) / f64::from(runs)
}

/// Four standard deviations of a share that is simulated with so many runs.
fn tolerance(share: f64, runs: u32) -> f64 {
    4.0 * (share * (1.0 - share) / f64::from(runs)).sqrt()
}

#[test]
fn an_unchanged_flaky_agent_fails_no_more_often_than_alpha() {
    const RUNS: u32 = 4_000;
    let mut random = Random(1);
    let failed = share_of(RUNS, || {
        let before = run_of_a_flaky_agent(&mut random);
        let after = run_of_a_flaky_agent(&mut random);
        count(&before, &after).fails(ALPHA, None)
    });
    assert!(failed <= ALPHA + tolerance(ALPHA, RUNS), "{failed}");
    // Not because it never fails.
    assert!(failed > 0.005, "{failed}");
}

#[test]
fn a_drop_is_caught_as_often_as_the_power_says() {
    fn check(noise: f64, drop: f64) {
        const RUNS: u32 = 4_000;
        let mut random = Random(2);
        let caught = share_of(RUNS, || {
            let mut counts = Counts {
                pairs: SAMPLES as u64,
                ..Counts::default()
            };
            for _ in 0..SAMPLES {
                let share = random.share();
                counts.worse += u64::from(share < noise + drop);
                counts.better += u64::from(share >= 1.0 - noise);
            }
            counts.fails(ALPHA, None)
        });
        let power = stats::power(SAMPLES as u64, noise, drop, ALPHA);
        assert!(
            (caught - power).abs() <= tolerance(power, RUNS),
            "noise {noise}, drop {drop}: caught {caught}, power {power}"
        );
    }
    // The noise of the flaky agent: 15 % of the samples, a quarter of which flips in either direction.
    check(0.0375, 0.10);
    check(0.0375, 0.05);
    check(0.0375, 0.0);
    check(0.0, 0.10);
    check(0.10, 0.10);
    // What a message prints as detected with 80 % power is.
    let printed = stats::smallest_detectable_drop(SAMPLES as u64, 0.0375, ALPHA, 0.8);
    check(0.0375, printed.unwrap());
}

/// Unlike in the model of the power, what broke is fixed, and so are the flaky samples.
#[test]
fn a_flaky_agent_that_lost_ten_points_is_caught() {
    const RUNS: u32 = 4_000;
    let mut random = Random(3);
    let caught = share_of(RUNS, || {
        let before = run_of_a_flaky_agent(&mut random);
        let mut after = run_of_a_flaky_agent(&mut random);
        // Two of every twenty samples that always went well.
        for (i, correct) in after.iter_mut().enumerate() {
            *correct &= !matches!(i % 20, 3 | 4);
        }
        count(&before, &after).fails(ALPHA, None)
    });
    let power = stats::power(SAMPLES as u64, 0.0375, 0.10, ALPHA);
    assert!(
        caught >= power - tolerance(power, RUNS),
        "caught {caught}, power {power}"
    );
}

#[test]
fn the_whole_gate_decides_like_its_counts() {
    let mut random = Random(4);
    for _ in 0..50 {
        let before = run_of_a_flaky_agent(&mut random);
        let mut after = run_of_a_flaky_agent(&mut random);
        for correct in &mut after {
            *correct &= random.share() < 0.9;
        }
        let records: Vec<_> = after.iter().map(|correct| record(*correct)).collect();
        let baseline = baseline(&before);
        let facts = Facts {
            baseline: Some(&baseline),
            current: after.iter().enumerate().map(current).collect(),
            ..Facts::of(Summary::of("test", &records))
        };
        let result = Gate::no_regression().check(&facts);
        let counts = count(&before, &after);
        let failed = result.verdict == Verdict::Failed;
        assert_eq!(failed, counts.fails(ALPHA, None), "{}", result.message);
        assert_eq!(result.value, Some(counts.p()));
        let flipped = result
            .regression
            .map(|regression| regression.became_wrong.len() as u64);
        assert_eq!(flipped, Some(counts.worse));
    }
}

fn baseline(verdicts: &[bool]) -> Baseline {
    let samples = verdicts
        .iter()
        .enumerate()
        .map(|(i, correct)| (i.to_string(), BaselineSample::once(Some(*correct))));
    Baseline {
        samples: samples.collect(),
        digest_matches: true,
        changed_files: Vec::new(),
        ..Baseline::default()
    }
}

fn current((i, correct): (usize, &bool)) -> CurrentSample {
    CurrentSample {
        id: i.to_string(),
        epoch: 0,
        standing: if *correct {
            Standing::Correct
        } else {
            Standing::Wrong
        },
        input_hash: String::new(),
        target_hash: String::new(),
        marks: Marks::default(),
        slices: Vec::new(),
        latency_s: None,
    }
}

fn record(correct: bool) -> Record {
    let mut record = Record::scored("", Score::binary(correct));
    record.result.latency_s = 1.0;
    record
}
