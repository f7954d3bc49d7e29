use super::*;
use crate::stats::SplitMix64;

fn compared([b, m, n, k]: [u32; 4]) -> ComparedSample {
    ComparedSample {
        before: AnswerCounts::new(b, m),
        now: AnswerCounts::new(n, k),
    }
}

fn test(samples: &[[u32; 4]]) -> Tested {
    conditional_test(
        &samples
            .iter()
            .map(|sample| compared(*sample))
            .collect::<Vec<_>>(),
    )
}

#[test]
fn known_values() {
    #[track_caller]
    fn check(samples: &[[u32; 4]], p: f64, mid_p: f64) {
        let tested = test(samples);
        let near = |got: f64, expect: f64| (got - expect).abs() <= 1e-12 * expect;
        assert!(
            near(tested.p, p) && near(tested.mid_p, mid_p),
            "{tested:?}, not {p}, {mid_p}"
        );
    }
    // In rational arithmetic, rounded once: right before, of, right now, of.
    check(
        &[
            [5, 5, 3, 5],
            [4, 5, 4, 5],
            [2, 5, 0, 5],
            [5, 5, 5, 5],
            [1, 5, 2, 5],
        ],
        0.233_767_718_335_619_57,
        0.152_434_842_249_657_06,
    );
    let mut five_and_one = vec![[5, 5, 0, 1]; 4];
    five_and_one.extend([[3, 5, 1, 1], [4, 5, 1, 1], [0, 5, 1, 1]]);
    check(
        &five_and_one,
        0.076_574_645_633_287_61,
        0.044_245_827_617_741_2,
    );
    check(
        &[
            [3, 4, 1, 3],
            [1, 1, 0, 1],
            [2, 7, 5, 6],
            [9, 10, 0, 2],
            [1, 1, 0, 1],
            [0, 1, 1, 1],
            [0, 0, 1, 1],
        ],
        0.385_251_869_342_778_44,
        0.280_604_244_240_607_87,
    );
    let mut far = vec![[10, 10, 0, 10]; 8];
    far.extend(vec![[9, 10, 2, 10]; 7]);
    check(&far, 3.249_228_926_650_100_4e-55, 1.637_974_507_092_355e-55);
    let mut better = vec![[1, 5, 4, 5]; 6];
    better.push([0, 5, 5, 5]);
    check(&better, 0.999_999_992_588_615_8, 0.999_999_935_014_364_6);
    check(&[[5, 5, 4, 5]], 0.5, 0.25);
    check(&[], 1.0, 0.5);
    check(&[[5, 5, 5, 5], [0, 3, 0, 1], [1, 2, 0, 0]], 1.0, 0.5);
}

/// Enumerates every choice of each sample's answers of now.
fn by_every_choice(samples: &[[u32; 4]]) -> f64 {
    let observed: u32 = samples.iter().map(|[_, _, n, _]| n).sum();
    let mut sums = vec![(0, 1.0)];
    for [b, m, n, k] in samples {
        let all = 0..1_u32 << (m + k);
        let choices: Vec<u32> = all
            .filter(|chosen| chosen.count_ones() == *k)
            .map(|chosen| (chosen & ((1 << (b + n)) - 1)).count_ones())
            .collect();
        let weight = 1.0 / f64::from(u32::try_from(choices.len()).unwrap());
        sums = sums
            .iter()
            .flat_map(|(sum, p)| choices.iter().map(move |right| (sum + right, p * weight)))
            .collect();
        sums.sort_by_key(|(sum, _)| *sum);
        sums.chunk_by(|a, b| a.0 == b.0)
            .map(|same| (same[0].0, same.iter().map(|(_, p)| p).sum::<f64>()))
            .collect::<Vec<_>>()
            .clone_into(&mut sums);
    }
    let low = sums.iter().filter(|(sum, _)| *sum <= observed);
    low.map(|(_, p)| p).sum()
}

#[test]
fn agrees_with_every_choice() {
    let mut random = SplitMix64(1);
    for _ in 0..300 {
        let mut below = |bound: u32| u32::try_from(random.below(bound as usize)).unwrap();
        let samples: Vec<_> = (0..=below(7))
            .map(|_| {
                let (m, k) = (below(6), below(6));
                [below(m + 1), m, below(k + 1), k]
            })
            .collect();
        let (p, expect) = (test(&samples).p, by_every_choice(&samples));
        assert!(
            (p - expect).abs() <= 1e-11 * expect,
            "{samples:?}: {p}, not {expect}"
        );
    }
}

#[test]
fn with_one_answer_each_it_is_the_sign_test_to_the_last_digit() {
    let mut random = SplitMix64(2);
    for size in [0, 1, 5, 40, 165, 466, 3_000] {
        for _ in 0..20 {
            let samples: Vec<_> = (0..size)
                .map(|_| {
                    let bits = random.next();
                    let now = u32::from(bits & 6 == 0) ^ u32::try_from(bits & 1).unwrap();
                    [u32::try_from(bits & 1).unwrap(), 1, now, 1]
                })
                .collect();
            let count = |before: u32| {
                let changed = samples.iter().filter(|[b, _, n, _]| b != n && *b == before);
                changed.count() as u64
            };
            let p = sign_test_p(count(1), count(0));
            let tested = test(&samples);
            assert_eq!(tested.p.to_bits(), p.to_bits());
            assert!(tested.mid_p <= p);
        }
    }
    // One of two became wrong: P(0) + P(1) / 2 of Bin(2, 1/2).
    let one_each = test(&[[1, 1, 0, 1], [0, 1, 1, 1]]);
    assert_eq!((one_each.p, one_each.mid_p), (0.75, 0.5));
    // Uninformative samples do not change the method.
    let silent = test(&[[1, 1, 0, 1], [0, 1, 1, 1], [5, 5, 5, 5], [0, 2, 0, 3]]);
    assert_eq!(silent, one_each);
}

fn some_samples(count: usize, m: u32, k: u32, seed: u64) -> Vec<[u32; 4]> {
    let mut random = SplitMix64(seed);
    let mut answers = |of: u32, rate: usize| {
        let right = (0..of).filter(|_| random.below(100) < rate).count();
        u32::try_from(right).unwrap()
    };
    (0..count)
        .map(|i| {
            let rate = (i * 37) % 101;
            [answers(m, rate), m, answers(k, rate), k]
        })
        .collect()
}

#[test]
fn an_approximation_keeps_its_bound() {
    for (count, m, k) in [(300, 1, 1), (400, 10, 3), (2_000, 5, 5), (60, 40, 40)] {
        for worse in [0, 3, 8, 15] {
            let mut samples = some_samples(count, m, k, 3);
            for sample in samples.iter_mut().take(count * worse / 100) {
                sample[2] = 0;
            }
            let compared: Vec<_> = samples.iter().map(|sample| compared(*sample)).collect();
            let exact = conditional_test(&compared);
            let observed = compared.iter().map(|both| i64::from(both.now.right)).sum();
            let mut kinds = Kinds::new();
            for ComparedSample { before, now } in &compared {
                let kind = [before.right + now.right, now.of, before.of];
                *kinds.entry(kind).or_default() += 1;
            }
            let near = approximate(&kinds, observed);
            assert!(
                (near.p - exact.p).abs() <= near.error
                    && (near.mid_p - exact.mid_p).abs() <= 2.0 * near.error,
                "{near:?} {exact:?}"
            );
        }
    }
}

#[test]
fn what_is_beyond_the_work_is_approximated() {
    // Ten thousand samples, almost all different, with a thousand answers.
    let samples: Vec<_> = (0..10_000_u32)
        .map(|i| {
            [
                300 + i % 97,
                900 + i % 89,
                300 + i % 97,
                900 + i % 89 - i % 2,
            ]
        })
        .collect();
    let tested = test(&samples);
    assert!(tested.error > 0.0 && tested.error < 2e-5, "{tested:?}");
    assert!(tested.p > 0.0 && tested.p < 1.0);
    // Twice as many samples with ten and ten answers are summed exactly.
    assert_eq!(test(&some_samples(20_000, 10, 10, 4)).error.to_bits(), 0);
}

#[test]
fn an_answer_more_that_is_wrong_now_never_raises_p() {
    let samples = some_samples(40, 5, 5, 5);
    let before = test(&samples).p;
    for place in 0..samples.len() {
        let mut worse = samples.clone();
        if worse[place][2] > 0 {
            worse[place][2] -= 1;
            assert!(test(&worse).p <= before * (1.0 + 1e-12));
        }
    }
}

#[test]
#[ignore = "prints timings; run by hand in release"]
#[expect(clippy::print_stderr, reason = "a measurement")]
fn timings() {
    let uneven: Vec<_> = (0..3_641_u32)
        .map(|i| [3 + i % 7, 10 + i % 11, 2 + i % 5, 8 + i % 13])
        .collect();
    let large: Vec<_> = (0..10_000_u32)
        .map(|i| {
            [
                300 + i % 97,
                900 + i % 89,
                300 + i % 97,
                900 + i % 89 - i % 2,
            ]
        })
        .collect();
    for samples in [
        some_samples(165, 5, 5, 7),
        some_samples(3_641, 10, 10, 7),
        some_samples(100_000, 10, 10, 7),
        uneven,
        large,
    ] {
        let start = std::time::Instant::now();
        let tested = test(&samples);
        eprintln!("{}: {:?} {tested:?}", samples.len(), start.elapsed());
    }
}
