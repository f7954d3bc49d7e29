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
    let told = PairsSummary::of(&all(20, [Preferred::A, Preferred::B]), 0);
    assert_eq!((told.n, told.inconsistent, told.wins), (20, 20, 0));
    assert_eq!(
        (told.win_rate, told.position_bias, told.standing),
        (Some(0.5), Some(1.0), Some(Standing::NotToldApart))
    );
    assert_eq!(
        (told.length_coefficient, told.length_ci95),
        (Some(0.0), None)
    );
    // Half wins alone are not certainty; the interval narrows with their number.
    let [low, high] = told.ci95.unwrap();
    assert!((low - 0.410_2).abs() < 1e-4 && (high - 0.589_8).abs() < 1e-4);
}

#[test]
fn the_standing_follows_the_interval_and_not_the_point() {
    let check = |wins: usize, losses: usize, expect: Standing| {
        let mut pairs = all(wins + losses, [Preferred::A; 2]);
        for pair in &mut pairs[wins..] {
            pair.preferred = [Preferred::B; 2];
        }
        let told = PairsSummary::of(&pairs, 3);
        assert_eq!(told.standing, Some(expect), "{wins} {losses}");
        assert_eq!((told.n, told.unreadable), ((wins + losses + 3) as u64, 3));
    };
    check(12, 8, Standing::NotToldApart);
    check(20, 0, Standing::Above);
    check(0, 20, Standing::Below);
    check(1, 0, Standing::NotToldApart);
    check(15, 5, Standing::Above);
    check(14, 6, Standing::NotToldApart);
    // Four or six heads in a row are not significant.
    check(4, 0, Standing::NotToldApart);
    check(6, 0, Standing::NotToldApart);
    check(7, 0, Standing::Above);
}

#[test]
fn ties_are_no_coin_flips_and_epochs_do_not_change_what_is_said() {
    let mut pairs = all(40, [Preferred::Tie; 2]);
    for (place, pair) in pairs[..14].iter_mut().enumerate() {
        let better = [Preferred::A, Preferred::B][usize::from(place >= 12)];
        pair.preferred = [better; 2];
    }
    let told = PairsSummary::of(&pairs, 0);
    assert_eq!(
        (told.wins, told.losses, told.ties, told.standing),
        (12, 2, 26, Some(Standing::Above))
    );
    // Treating 24 half wins as coin flips would give 62.5 % ± 14.
    let [low, high] = told.ci95.unwrap();
    assert!((low - 0.533_4).abs() < 1e-4 && (high - 0.713_1).abs() < 1e-4);
    for epochs in [2, 3, 10] {
        let often: Vec<_> = (0..epochs).flat_map(|_| pairs.clone()).collect();
        let told = PairsSummary::of(&often, 0);
        assert_eq!((told.items, told.standing), (40, Some(Standing::Above)));
        let [l, h] = told.ci95.unwrap();
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
    let told = PairsSummary::of(&pairs, 0);
    assert_eq!((told.n, told.items), (40, 5));
    // 32 of 40 single pairs would be above.
    assert_eq!(told.standing, Some(Standing::NotToldApart));
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
    let told = PairsSummary::of(&pairs, 0);
    // Half a win more at tanh(1), as the deviation equals the difference.
    let expect = 0.5 / 1.0_f64.tanh();
    assert!((told.length_coefficient.unwrap() - expect).abs() < 1e-12);
    assert_eq!(PairsSummary::of(&pairs[..9], 0).length_coefficient, None);
    let alike: Vec<_> = (0..20)
        .map(|item| pair(item, [Preferred::A; 2], [10, 20]))
        .collect();
    assert_eq!(PairsSummary::of(&alike, 0).length_coefficient, None);
}
