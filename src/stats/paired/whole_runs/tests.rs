use super::*;
use crate::stats::{ComparedSample, conditional_test};

/// Columns as strings, a character for each sample: `1` right, `0` wrong, `.` no answer; those before, then those now.
fn group(before: &[&str], now: &[&str]) -> RunGroup {
    let column = |letters: &&str| {
        letters
            .chars()
            .map(|letter| AnswerCounts::new(u32::from(letter == '1'), u32::from(letter != '.')))
            .collect()
    };
    RunGroup {
        before: before.iter().map(column).collect(),
        now: now.iter().map(column).collect(),
    }
}

/// Enumerates every choice of the columns of now in every group.
fn by_every_choice(groups: &[RunGroup]) -> (f64, f64) {
    let mut sums = vec![0.0];
    let mut observed = 0.0;
    for group in groups {
        let columns: Vec<_> = group.now.iter().chain(&group.before).collect();
        let score = |column: &[AnswerCounts]| -> f64 {
            let above = column.iter().enumerate().filter(|(_, a)| a.of > 0);
            above
                .map(|(sample, answers)| {
                    let all = columns.iter().map(|column| column[sample]);
                    let (right, of) = all.fold((0, 0), |n, a| (n.0 + a.right, n.1 + a.of));
                    f64::from(answers.right)
                        - f64::from(answers.of) * f64::from(right) / f64::from(of)
                })
                .sum()
        };
        let scores: Vec<_> = columns.iter().map(|column| score(column)).collect();
        observed += scores[..group.now.len()].iter().sum::<f64>();
        let choices: Vec<f64> = (0..1_usize << scores.len())
            .filter(|chosen| chosen.count_ones() as usize == group.now.len())
            .map(|chosen| {
                let chosen = |place: &usize| chosen >> place & 1 == 1;
                (0..scores.len()).filter(chosen).map(|i| scores[i]).sum()
            })
            .collect();
        sums = sums
            .iter()
            .flat_map(|sum| choices.iter().map(move |more| sum + more))
            .collect();
    }
    let share = |margin: f64| {
        let low = sums.iter().filter(|sum| **sum <= observed + margin);
        as_f64(low.count() as u64) / as_f64(sums.len() as u64)
    };
    (share(1e-9), f64::midpoint(share(1e-9), share(-1e-9)))
}

#[track_caller]
fn check(groups: &[RunGroup]) {
    let (p, mid_p) = by_every_choice(groups);
    let tested = whole_runs_test(groups);
    assert!(
        (tested.p - p).abs() < 1e-12 && (tested.mid_p - mid_p).abs() < 1e-12,
        "{groups:?}\n{tested:?}, not {p} and {mid_p}"
    );
    assert_eq!(tested.error.to_bits(), 0);
}

#[test]
fn agrees_with_every_choice() {
    check(&[]);
    check(&[group(&["111"], &["000"])]);
    check(&[group(&["111"], &["000"]), group(&["10"], &["01"])]);
    check(&vec![group(&["1111"], &["0001"]); 6]);
    check(&[
        group(&["110", "111", "101"], &["000", "100"]),
        group(&["11", "11", "01"], &["00", "10"]),
        group(&["1", "1", "0"], &["0", "0"]),
        group(&["11", "11", "01"], &["00", "10"]),
    ]);
    // Missing answers: of one sample, and of whole groups.
    check(&[
        group(&["11.", "111", "101"], &["000", "1.0"]),
        group(&["11", "11", "01"], &["00", "10"]),
        group(&["1", "1", "0"], &["0", "1"]),
    ]);
    check(&[
        group(&["1111", "10.1"], &["0.01"]),
        group(&["1011", "1101"], &["001."]),
        group(&["10", "11"], &["01"]),
    ]);
}

#[test]
fn a_column_without_answers_does_not_count() {
    let full = [group(&["11", "10"], &["00"])];
    let empty = [
        group(&["11", "..", "10"], &["00", ".."]),
        group(&["111"], &["..."]),
    ];
    assert_eq!(whole_runs_test(&full), whole_runs_test(&empty));
    // A run is not worse for lacking an answer to a question that all others get right.
    let missing = [
        group(&["11", "11"], &["1.", ".1"]),
        group(&["10", "01"], &["10", "01"]),
    ];
    let p = whole_runs_test(&missing).p;
    assert!(p > 0.5, "{p}");
}

#[test]
fn groups_of_one_sample_make_it_the_conditional_test() {
    let mut random = SplitMix64(1);
    for (m, k) in [(1, 1), (5, 5), (5, 1), (1, 5), (10, 3)] {
        let mut answers = |count: usize| -> Vec<Vec<AnswerCounts>> {
            let column = |right: usize| vec![AnswerCounts::new(u32::from(right < 6), 1)];
            (0..count).map(|_| column(random.below(10))).collect()
        };
        let groups: Vec<_> = (0..60)
            .map(|_| RunGroup {
                before: answers(m),
                now: answers(k),
            })
            .collect();
        let count = |columns: &[Vec<AnswerCounts>]| {
            let right = columns.iter().map(|column| column[0].right).sum();
            AnswerCounts::new(right, u32::try_from(columns.len()).unwrap())
        };
        let samples: Vec<_> = groups
            .iter()
            .map(|group| ComparedSample {
                before: count(&group.before),
                now: count(&group.now),
            })
            .collect();
        let (whole, single) = (whole_runs_test(&groups), conditional_test(&samples));
        assert!((whole.p - single.p).abs() < 1e-12 && (whole.mid_p - single.mid_p).abs() < 1e-12);
    }
}

/// Runs over `groups` of 8 questions; each run gets all or none of a group right, with this rate.
fn runs(groups: usize, m: usize, k: usize, rate: f64, random: &mut SplitMix64) -> Vec<RunGroup> {
    let mut columns = |count: usize| {
        let column = |right: bool| vec![AnswerCounts::new(u32::from(right), 1); 8];
        (0..count).map(|_| column(random.share() < rate)).collect()
    };
    (0..groups)
        .map(|_| RunGroup {
            before: columns(m),
            now: columns(k),
        })
        .collect()
}

#[test]
fn an_unchanged_agent_whose_groups_flip_together_is_red_no_more_often_than_alpha() {
    const RUNS: u32 = 400;
    let mut random = SplitMix64(2);
    for (m, k) in [(1, 1), (5, 5), (5, 1), (1, 5)] {
        // Treated as independent answers, 1 and 5 of them give 25 % and more.
        for rate in [0.5, 0.8, 0.9, 0.95] {
            let red = (0..RUNS)
                .filter(|_| whole_runs_test(&runs(20, m, k, rate, &mut random)).p < 0.05)
                .count();
            let share = as_f64(red as u64) / f64::from(RUNS);
            // Three standard errors.
            assert!(share <= 0.05 + 0.033, "{m} + {k} at {rate}: {share}");
        }
    }
}

#[test]
fn draws_are_near_the_exact_sum() {
    let mut random = SplitMix64(3);
    for (m, k) in [(1, 1), (5, 5), (1, 5)] {
        let groups = runs(12, m, k, 0.6, &mut random);
        let groups: Vec<_> = groups.iter().filter_map(GroupColumns::of).collect();
        let scores: Vec<_> = groups.iter().map(|group| group.scores(None)).collect();
        let (exact, drawn) = (exact(&scores, &[], 60).unwrap(), drawn(&scores, &[], 60));
        let off = (exact.p - drawn.p)
            .abs()
            .max((exact.mid_p - drawn.mid_p).abs());
        assert!(off <= drawn.error, "{exact:?} {drawn:?}");
    }
}

#[test]
#[ignore = "prints timings; run by hand in release"]
#[expect(clippy::print_stderr, reason = "a measurement")]
fn timings() {
    let mut random = SplitMix64(4);
    for (count, m, k, missing) in [
        (58, 5, 5, 0),
        (58, 5, 5, 20),
        (58, 10, 10, 20),
        (450, 10, 10, 0),
        (450, 10, 10, 20),
        (5_000, 10, 10, 2),
    ] {
        let mut groups = runs(count, m, k, 0.6, &mut random);
        for group in &mut groups {
            for column in group.now.iter_mut().chain(&mut group.before) {
                for answers in column {
                    if random.below(missing.max(1)) == 1 {
                        *answers = AnswerCounts::default();
                    }
                }
            }
        }
        let start = std::time::Instant::now();
        let tested = whole_runs_test(&groups);
        eprintln!(
            "{count} groups, {m} and {k}, 1 of {missing} missing: {:?} {tested:?}",
            start.elapsed()
        );
    }
}
