use super::*;

/// How many series raise an alarm, with an independent seed.
fn alarms(
    seed: u64,
    analyses: usize,
    fall: impl Fn(usize) -> f64,
    alarm: impl Fn(&[f64], f64) -> bool,
) -> f64 {
    let mut normals = Normals {
        random: SplitMix64(seed),
        spare: None,
    };
    let count = 4_000;
    let raised = (0..count).filter(|_| {
        let reference = normals.next();
        let runs: Vec<f64> = (0..analyses)
            .map(|analysis| normals.next() - fall(analysis))
            .collect();
        alarm(&runs, reference)
    });
    as_f64(raised.count() as u64) / as_f64(count)
}

#[test]
fn all_analyses_together_raise_alpha() {
    for (analyses, alpha, answers) in [(30, 0.05, 1.0), (30, 0.05, 5.0), (10, 0.2, 0.5)] {
        let threshold = FixedReference::new(analyses).threshold(alpha, answers);
        let raised = alarms(
            7,
            analyses,
            |_| 0.0,
            |runs, reference| {
                let reference = reference / answers.sqrt();
                (1..=analyses).any(|analysis| {
                    windows(analysis).any(|window| {
                        let size = as_f64(window.runs as u64);
                        let deviation = (1.0 / answers + 1.0 / size).sqrt();
                        let now = mean(&runs[analysis - window.runs..analysis]);
                        normal::below((now - reference) / deviation) < threshold * window.part
                    })
                })
            },
        );
        assert!((raised - alpha).abs() < 0.25 * alpha, "{raised} of {alpha}");
        assert!(threshold < alpha && threshold > alpha / 60.0, "{threshold}");
    }
    let threshold = MovingReference::new(30).threshold(0.05);
    assert!(threshold > 0.0005 && threshold < 0.005, "{threshold}");
}

#[test]
#[ignore = "prints thresholds"]
#[expect(clippy::print_stderr, reason = "a measurement")]
fn thresholds() {
    let now = std::time::Instant::now();
    let fixed = FixedReference::new(30);
    let moving = MovingReference::new(30);
    eprintln!("{:?}", now.elapsed());
    for alpha in [0.05, 0.05 / 3.0, 0.001] {
        for answers in [1.0, 2.0, 3.0, 5.0, 10.0] {
            let c = fixed.threshold(alpha, answers);
            eprintln!("{alpha} {answers}: {c} z {}", -normal::percentile(c));
        }
        let c = moving.threshold(alpha);
        eprintln!("moving {alpha}: {c} z {}", -normal::percentile(c));
    }
    eprintln!("{:?}", now.elapsed());
    for runs in 4..12 {
        let steady = SteadyFalls::new(runs, 30).unwrap();
        eprintln!(
            "{runs}: {:?} {:?}",
            steady.threshold(0.05),
            steady.threshold(0.05 / 3.0)
        );
    }
    eprintln!("{:?}", now.elapsed());
}
