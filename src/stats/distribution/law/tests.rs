use super::*;

#[test]
fn draws_are_hypergeometric() {
    fn check(law: &Law, first: i64, weights: &[f64]) {
        assert_eq!(law.first, first);
        assert_eq!(law.weights.len(), weights.len(), "{law:?}");
        for (got, expect) in law.weights.iter().zip(weights) {
            assert!((got - expect).abs() < 1e-15, "{law:?}");
        }
    }
    check(
        &Law::hypergeometric(2, 3, 4),
        0,
        &[6.0 / 21.0, 12.0 / 21.0, 3.0 / 21.0],
    );
    check(&Law::hypergeometric(5, 5, 1), 4, &[5.0 / 6.0, 1.0 / 6.0]);
    check(&Law::hypergeometric(0, 5, 1), 0, &[1.0]);
    check(&Law::hypergeometric(9, 5, 1), 5, &[1.0]);
    let large = Law::hypergeometric(50_000, 60_000, 40_000);
    let (mean, spread) = large.moments(1.0);
    let mean = mean + f64::from(u32::try_from(large.first).unwrap());
    assert!((mean - 30_000.0).abs() < 1e-6, "{mean}");
    let variance = 5e4 * 0.6 * 0.4 * (5e4 / 99_999.0);
    assert!((spread - variance).abs() < 1e-6, "{spread}");
}

#[test]
fn tails_have_their_digits_however_small() {
    // The chance of at most 20 heads of 400 coins, in rational arithmetic.
    let coins = [(Law::new(0, vec![1.0, 1.0]), 400)];
    let SumTail { less, same } = lower_tail(&coins, 20, WORK).unwrap();
    let expect = 1.139_459_752_954_055_3e-87;
    assert!(
        ((less + same) - expect).abs() < 1e-11 * expect,
        "{less} {same}"
    );
    for (observed, expect) in [(-1, 0.0), (400, 1.0), (401, 1.0), (500, 1.0)] {
        let SumTail { less, same } = lower_tail(&coins, observed, WORK).unwrap();
        assert!(((less + same) - expect).abs() < 1e-15, "{observed}");
    }
    assert_eq!(lower_tail(&coins, 200, 100), None, "too much work");
    assert_eq!(
        lower_tail(&[], 0, WORK),
        Some(SumTail {
            less: 0.0,
            same: 1.0
        })
    );
}

#[test]
fn both_tails_make_one() {
    let dice = || (Law::new(1, vec![1.0, 2.0, 0.5, 0.0, 3.0, 1.0]), 50);
    let loaded = || (Law::new(-3, vec![4.0, 0.0, 1.0]), 31);
    let mirrored = |(law, count): (Law, u64)| {
        let weights = law.weights.iter().rev().copied().collect();
        (Law::new(-law.last(), weights), count)
    };
    let laws = [dice(), loaded()];
    let mirror = [mirrored(dice()), mirrored(loaded())];
    for observed in [-42, -40, 0, 60, 100, 140, 200, 260] {
        let low = lower_tail(&laws, observed, WORK).unwrap();
        let high = lower_tail(&mirror, -observed, WORK).unwrap();
        assert!(
            (low.same - high.same).abs() <= 1e-14,
            "{observed}: {low:?} {high:?}"
        );
        let all = low.less + low.same + high.less;
        assert!((all - 1.0).abs() < 1e-11, "{observed}: {all}");
    }
}
