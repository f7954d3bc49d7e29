use super::*;
use crate::stats::as_f64;

fn hash(number: u64) -> u64 {
    shard_hash(&format!("sample-{number}"))
}

#[test]
fn the_longest_come_first_and_equals_by_their_hash() {
    fn check(took: &[Option<u64>], of: u32, expect: &[u32]) {
        let samples: Vec<_> = (0..).zip(took).map(|(hash, took)| (hash, *took)).collect();
        assert_eq!(assigned(&samples, of), expect, "{took:?}");
    }
    let known = |took: &[u64]| took.iter().copied().map(Some).collect::<Vec<_>>();
    check(&known(&[7, 6, 5, 4, 3]), 2, &[0, 1, 1, 0, 0]);
    check(&known(&[1, 1, 1, 10]), 2, &[1, 1, 1, 0]);
    check(&known(&[1, 1, 1, 1]), 2, &[0, 1, 0, 1]);
    // Unknown latencies count as the mean.
    check(&[Some(9), None, Some(1)], 2, &[0, 1, 1]);
    check(&[None, None, None], 2, &[0, 1, 0]);
    check(&known(&[u64::MAX, u64::MAX, u64::MAX]), 1, &[0, 0, 0]);
    check(&[], 3, &[]);
    check(&known(&[5]), 3, &[0]);
}

#[test]
fn shards_do_not_depend_on_sample_order() {
    let samples: Vec<_> = (0..500)
        .map(|number| (hash(number), (number % 7 > 0).then_some(1 + number % 40)))
        .collect();
    let shards = assigned(&samples, 8);
    let mut turned = samples.clone();
    turned.reverse();
    let mut again = assigned(&turned, 8);
    again.reverse();
    assert_eq!(shards, again);
}

#[test]
fn latencies_are_whole_numbers() {
    let check = |seconds: f64, expect: u64| assert_eq!(microseconds(seconds), expect, "{seconds}");
    check(1.5, 1_500_000);
    check(0.000_001, 1);
    check(0.0, 0);
    // Values that no run writes.
    for odd in [-1.0, f64::NAN, f64::INFINITY] {
        check(odd, 0);
    }
    check(1e18, u64::MAX);
}

/// A random source that is the same everywhere.
struct Draws(u64);

impl Draws {
    /// Any number, like the hash of an id.
    fn hash(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Uniform in the open interval (0, 1).
    fn share(&mut self) -> f64 {
        (as_f64(self.hash() >> 32) + 0.5) / 4_294_967_296.0
    }

    /// Log-normal: most answers take a second, some a minute.
    fn latency(&mut self) -> u64 {
        let [one, other] = [self.share(), self.share()];
        let normal = (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos();
        microseconds(normal.exp())
    }
}

/// The largest of some sums relative to their mean.
fn largest(sums: &[u64]) -> f64 {
    let most = sums.iter().copied().max().unwrap();
    as_f64(most) * as_f64(sums.len() as u64) / as_f64(sums.iter().sum())
}

/// The largest shard relative to the mean: the average over draws of ids and latencies and, in brackets, the 95th
/// percentile. In samples, in time, and in time when balanced by another run of the same samples, in which each took up
/// to a fifth more or less.
#[test]
fn shards_are_of_about_one_size() {
    const DRAWS: usize = 200;
    let check = |samples: u64, of: u32, expect: [&str; 3]| {
        let mut found = [const { Vec::new() }; 3];
        let mut chance = Draws(samples + u64::from(of));
        for _ in 0..DRAWS {
            let (mut all, mut earlier) = (Vec::new(), Vec::new());
            for _ in 0..samples {
                let (hash, took) = (chance.hash(), chance.latency());
                let other = as_f64(took) * (0.8 + 0.4 * chance.share());
                all.push((hash, took));
                earlier.push((hash, Some(microseconds(other / 1e6))));
            }
            let balanced = assigned(&earlier, of);
            let mut sums = [const { Vec::new() }; 3];
            for sums in &mut sums {
                sums.resize(of as usize, 0);
            }
            for ((hash, took), shard) in all.iter().zip(balanced) {
                let by_id = usize::try_from(hash % u64::from(of)).unwrap();
                sums[0][by_id] += 1;
                sums[1][by_id] += took;
                sums[2][shard as usize] += took;
            }
            for (found, sums) in found.iter_mut().zip(&sums) {
                found.push(largest(sums));
            }
        }
        let figures = found.map(|mut found| {
            found.sort_by(f64::total_cmp);
            let mean = found.iter().sum::<f64>() / as_f64(DRAWS as u64);
            format!("{mean:.2} ({:.2})", found[DRAWS * 95 / 100])
        });
        assert_eq!(figures, expect, "{samples} samples in {of} shards");
    };
    check(165, 4, ["1.17 (1.31)", "1.28 (1.54)", "1.03 (1.06)"]);
    check(165, 8, ["1.33 (1.55)", "1.58 (2.08)", "1.06 (1.11)"]);
    check(4441, 4, ["1.03 (1.06)", "1.05 (1.10)", "1.01 (1.01)"]);
    check(4441, 8, ["1.06 (1.10)", "1.10 (1.17)", "1.01 (1.02)"]);
}
