use super::*;

fn pair(item: usize, preferred: [Preferred; 2], lengths: [u64; 2]) -> JudgedPair {
    JudgedPair {
        item: format!("s{item}"),
        preferred,
        lengths,
    }
}

fn all(count: usize, preferred: [Preferred; 2]) -> Vec<JudgedPair> {
    (0..count)
        .map(|item| pair(item, preferred, [10 + item as u64, 10]))
        .collect()
}

#[test]
fn a_judge_that_always_says_first_tells_nothing() {
    let summary = PairsSummary::of(&all(20, [Preferred::A, Preferred::B]), 0);
    assert_eq!((summary.n, summary.inconsistent, summary.wins), (20, 20, 0));
    assert_eq!(
        (summary.win_rate, summary.position_bias, summary.outcome),
        (Some(0.5), Some(1.0), Some(Outcome::Indistinguishable))
    );
    assert_eq!(
        (summary.length_coefficient, summary.length_ci95),
        (Some(0.0), None)
    );
    // Half wins alone are not certainty; the interval narrows with their number.
    let [low, high] = summary.ci95.unwrap();
    assert!((low - 0.410_2).abs() < 1e-4 && (high - 0.589_8).abs() < 1e-4);
}

#[test]
fn the_outcome_follows_the_interval_and_not_the_point() {
    let check = |wins: usize, losses: usize, expect: Outcome| {
        let mut pairs = all(wins + losses, [Preferred::A; 2]);
        for pair in &mut pairs[wins..] {
            pair.preferred = [Preferred::B; 2];
        }
        let summary = PairsSummary::of(&pairs, 3);
        assert_eq!(summary.outcome, Some(expect), "{wins} {losses}");
        assert_eq!(
            (summary.n, summary.unreadable),
            ((wins + losses + 3) as u64, 3)
        );
    };
    check(12, 8, Outcome::Indistinguishable);
    check(20, 0, Outcome::Above);
    check(0, 20, Outcome::Below);
    check(1, 0, Outcome::Indistinguishable);
    check(15, 5, Outcome::Above);
    check(14, 6, Outcome::Indistinguishable);
    // Four or six heads in a row are not significant.
    check(4, 0, Outcome::Indistinguishable);
    check(6, 0, Outcome::Indistinguishable);
    check(7, 0, Outcome::Above);
}

#[test]
fn ties_and_epochs_do_not_change_the_outcome() {
    let mut pairs = all(40, [Preferred::Tie; 2]);
    for (place, pair) in pairs[..14].iter_mut().enumerate() {
        let better = [Preferred::A, Preferred::B][usize::from(place >= 12)];
        pair.preferred = [better; 2];
    }
    let summary = PairsSummary::of(&pairs, 0);
    assert_eq!(
        (summary.wins, summary.losses, summary.ties, summary.outcome),
        (12, 2, 26, Some(Outcome::Above))
    );
    // Treating 24 half wins as coin flips would give 62.5 % ± 14.
    let [low, high] = summary.ci95.unwrap();
    assert!((low - 0.533_4).abs() < 1e-4 && (high - 0.713_1).abs() < 1e-4);
    for epochs in [2, 3, 10] {
        let often: Vec<_> = (0..epochs).flat_map(|_| pairs.clone()).collect();
        let summary = PairsSummary::of(&often, 0);
        assert_eq!((summary.items, summary.outcome), (40, Some(Outcome::Above)));
        let [l, h] = summary.ci95.unwrap();
        assert!((l - low).abs() < 1e-9 && (h - high).abs() < 1e-9);
    }
}

#[test]
fn epochs_of_a_sample_are_one_item() {
    let mut pairs = Vec::new();
    for item in 0..5 {
        let preferred = if item == 0 {
            Preferred::B
        } else {
            Preferred::A
        };
        pairs.extend((0..8).map(|_| pair(item, [preferred; 2], [10, 10])));
    }
    let summary = PairsSummary::of(&pairs, 0);
    assert_eq!((summary.n, summary.items), (40, 5));
    // 32 of 40 single pairs would be above.
    assert_eq!(summary.outcome, Some(Outcome::Indistinguishable));
}

#[test]
fn length_is_a_coefficient_of_pairs_that_differ_in_it() {
    let longer_wins = |item: usize| {
        let is_longer = item.is_multiple_of(2);
        let preferred = if is_longer {
            Preferred::A
        } else {
            Preferred::B
        };
        pair(
            item,
            [preferred; 2],
            if is_longer { [30, 10] } else { [10, 30] },
        )
    };
    let pairs: Vec<_> = (0..20).map(longer_wins).collect();
    let summary = PairsSummary::of(&pairs, 0);
    // Half a win more at tanh(1), as the deviation equals the difference.
    let expect = 0.5 / 1.0_f64.tanh();
    assert!((summary.length_coefficient.unwrap() - expect).abs() < 1e-12);
    assert_eq!(PairsSummary::of(&pairs[..9], 0).length_coefficient, None);
    let same_lengths: Vec<_> = (0..20)
        .map(|item| pair(item, [Preferred::A; 2], [10, 20]))
        .collect();
    assert_eq!(PairsSummary::of(&same_lengths, 0).length_coefficient, None);
}
