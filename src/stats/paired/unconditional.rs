//! Of two agents on the same questions: is the second one worse? Exact with few questions too.
//!
//! A flip is a question whose answer turned from right to wrong or back. The conditional test takes the number of flips
//! as given, and few flips leave its p few values to take: it is red far less often than alpha allows. This test leaves
//! the number of flips open. It orders outcomes by the mid-p of the conditional test, and its p is the chance of an
//! outcome at least as extreme, at the chance of a flip that makes it largest.

use std::f64::consts::FRAC_PI_2;

use crate::stats::{as_f64, distribution::binomial};

/// The most pairs that the test takes. So many cost about 10 ms.
pub(crate) const MOST_PAIRS: u64 = 20_000;

/// Mid-p values that differ by no more than this part are one value: by rounding, equal ones differ.
const TIE: f64 = 1e-12;

/// How near the p is to the largest chance, as a part of it.
const CLOSE: f64 = 1e-10;

/// Smaller mid-p values are taken for this one, far from where doubles lose their digits. That can only raise the p.
const SMALLEST: f64 = 1e-290;

/// How many numbers of flips a tail is carried on by recurrence, before it is summed anew.
const CARRIED: u64 = 16;

/// A number of flips this much less likely than the likeliest one is left out, as are all beyond it.
const NEGLIGIBLE: f64 = 1e-19;

/// The p of "no worse than before", one-sided: of `pairs` questions `worse` turned from right to wrong and `better`
/// from wrong to right. `None` above [`MOST_PAIRS`] pairs.
///
/// Each pair flips with the same unknown chance x, as pairs drawn at random do, and without a change a flip is for the
/// worse with chance 1/2. Outcomes are ordered by the mid-p of their `worse` among their flips:
/// P(X > worse) + P(X = worse) / 2 for X ~ Bin(flips, 1/2), and 1/2 where nothing flipped. The p is the largest chance,
/// over all x in [0, 1], of an outcome whose mid-p is at most the one seen. So whatever x is, an unchanged agent has
/// p <= alpha with a chance of at most alpha.
///
/// The p is one of these chances, and none of them is larger by more than a part of 1e-10: see [`Chances::largest`].
/// Counts that exceed `pairs` are cut: first `worse` to `pairs`, then `better` to what is left.
///
/// Source: R. D. Boschloo, *Raised conditional level of significance for the 2 × 2-table when testing the equality of
/// two probabilities* (1970), for ordering by the p of another test and taking the maximum; H. O. Lancaster,
/// *Significance tests in discrete distributions* (1961), for the mid-p; A. Suissa and J. J. Shuster, *The 2 × 2
/// matched-pairs trial: exact unconditional design and analysis* (1991), for pairs.
pub(crate) fn unconditional_p(worse: u64, better: u64, pairs: u64) -> Option<f64> {
    if pairs > MOST_PAIRS {
        return None;
    }
    let worse = worse.min(pairs);
    let better = better.min(pairs - worse);
    if worse <= better {
        // The mid-p is at least 1/2. No flips have 1/2 too, and are sure where x is 0.
        return Some(1.0);
    }
    let seen = Tail::new(worse, worse + better);
    let chances = Chances::new(extreme(&seen, pairs), pairs);
    Some(chances.largest().min(1.0))
}

/// For 0 to `pairs` flips, the chance that the mid-p is at most the one seen, which is below 1/2.
///
/// Of d flips that is P(X >= k) with the smallest k whose mid-p is small enough; k is d + 1 where there is none. The
/// mid-p of k among d + 1 flips is the mean of those of k and of k - 1 among d. So as d rises by 1, k stays or rises by
/// 1.
fn extreme(seen: &Tail, pairs: u64) -> Vec<f64> {
    let limit = seen.mid_p().max(SMALLEST) * (1.0 + TIE);
    let mut chances = Vec::new();
    // With few flips, not even all of them for the worse are enough.
    let mut tail = Tail::new(0, 0);
    while tail.mid_p() > limit {
        chances.push(0.0);
        tail = Tail::new(tail.flips + 1, tail.flips + 1);
    }
    while tail.flips < pairs {
        chances.push(tail.chance);
        let stays = tail.longer();
        tail = if stays.mid_p() <= limit {
            stays
        } else {
            tail.longer_and_higher()
        };
        if tail.flips == seen.flips {
            // What was seen counts, whatever rounding says.
            tail = Tail::new(tail.from.min(seen.from), tail.flips);
        } else if tail.flips.is_multiple_of(CARRIED) {
            tail = Tail::new(tail.from, tail.flips);
        }
    }
    chances.push(tail.chance);
    chances
}

/// The upper tail of X ~ Bin(`flips`, 1/2).
#[derive(Clone, Copy)]
struct Tail {
    from: u64,
    flips: u64,
    /// P(X = `from`).
    point: f64,
    /// P(X >= `from`).
    chance: f64,
}

impl Tail {
    fn new(from: u64, flips: u64) -> Self {
        let point = binomial::point(from, flips, 0.5);
        let chance = binomial::upper_tail(from, flips, 0.5);
        Self {
            from,
            flips,
            point,
            chance,
        }
    }

    fn mid_p(&self) -> f64 {
        self.chance - self.point / 2.0
    }

    /// From the same number on, of one flip more. `from` is at least 1.
    fn longer(&self) -> Self {
        let (k, d) = (as_f64(self.from), as_f64(self.flips));
        // One flip less than `from`, and the next one is for the worse.
        let joins = self.point * k / (d - k + 1.0) / 2.0;
        Self {
            from: self.from,
            flips: self.flips + 1,
            point: self.point / 2.0 + joins,
            chance: self.chance + joins,
        }
    }

    /// From the next number on, of one flip more.
    fn longer_and_higher(&self) -> Self {
        let (k, d) = (as_f64(self.from), as_f64(self.flips));
        Self {
            from: self.from + 1,
            flips: self.flips + 1,
            point: self.point * (d + 1.0) / (k + 1.0) / 2.0,
            // `from` exactly, and the next flip is for the better.
            chance: self.chance - self.point / 2.0,
        }
    }
}

/// f(x) = sum of Bin(d; n, x) r(d) over d: the chance of an extreme outcome if each of n pairs flips with chance x.
struct Chances {
    /// r(d), the chance of an extreme outcome among d flips.
    extreme: Vec<f64>,
    /// How many times as likely as d flips d + 1 are at even odds; and the other way.
    rises: Vec<f64>,
    falls: Vec<f64>,
    /// n.
    pairs: f64,
    /// The largest r(d) less the smallest.
    range: f64,
}

impl Chances {
    fn new(extreme: Vec<f64>, pairs: u64) -> Self {
        let (least, most) = extreme
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(least, most), r| {
                (least.min(*r), most.max(*r))
            });
        let rises: Vec<f64> = (0..pairs)
            .map(|d| as_f64(pairs - d) / as_f64(d + 1))
            .collect();
        let falls = rises.iter().map(|rise| 1.0 / rise).collect();
        Self {
            extreme,
            rises,
            falls,
            pairs: as_f64(pairs),
            range: most - least,
        }
    }

    /// f at x = `odds` / (1 + `odds`).
    ///
    /// From the likeliest number of flips both ways, each term a multiple of the one before. Weights are relative to
    /// the likeliest one's, and their own sum makes chances of them: no logarithm or factorial adds its error.
    fn at(&self, odds: f64) -> f64 {
        let likeliest = self.rises.partition_point(|rise| rise * odds >= 1.0);
        let (mut total, mut sum) = (1.0, self.extreme[likeliest]);
        let mut weight = 1.0;
        for (rise, r) in self.rises[likeliest..]
            .iter()
            .zip(&self.extreme[likeliest + 1..])
        {
            weight *= rise * odds;
            if weight < NEGLIGIBLE {
                break;
            }
            total += weight;
            sum += weight * r;
        }
        weight = 1.0;
        let against = 1.0 / odds;
        for (fall, r) in self.falls[..likeliest].iter().zip(&self.extreme).rev() {
            weight *= fall * against;
            if weight < NEGLIGIBLE {
                break;
            }
            total += weight;
            sum += weight * r;
        }
        sum / total
    }

    /// The largest f(x), by branch and bound.
    ///
    /// Stretches of x that may hold a larger value than the largest one seen are halved, until none can hold one that
    /// is larger by more than a part of [`CLOSE`].
    fn largest(&self) -> f64 {
        // Of one pair, both edges meet in the middle.
        let edge = 1.0 / self.pairs.max(2.0);
        let angle = edge.sqrt().asin();
        let mut open = vec![
            self.stretch(Scale::Chance, 0.0, edge),
            self.stretch(Scale::Angle, angle, FRAC_PI_2 - angle),
            self.stretch(Scale::Rest, 0.0, edge),
        ];
        let mut best = open
            .iter()
            .fold(0.0_f64, |best, s| best.max(s.start.1).max(s.end.1));
        while !open.is_empty() {
            let mut halves = Vec::new();
            for stretch in open {
                if self.at_most(&stretch) <= best * (1.0 + CLOSE) {
                    continue;
                }
                let middle = f64::midpoint(stretch.start.0, stretch.end.0);
                let middle = (middle, self.at(stretch.scale.odds(middle)));
                best = best.max(middle.1);
                halves.push(Stretch {
                    end: middle,
                    ..stretch
                });
                halves.push(Stretch {
                    start: middle,
                    ..stretch
                });
            }
            open = halves;
        }
        best
    }

    fn stretch(&self, scale: Scale, start: f64, end: f64) -> Stretch {
        let point = |at| (at, self.at(scale.odds(at)));
        Stretch {
            scale,
            start: point(start),
            end: point(end),
        }
    }

    /// No f(x) in the stretch is above this.
    ///
    /// With a second derivative of at most M either way, f less its chord is at most M/2 times the product of the
    /// distances to both ends. This is the largest sum of the chord and that parabola.
    fn at_most(&self, stretch: &Stretch) -> f64 {
        let ((from, a), (to, b)) = (stretch.start, stretch.end);
        let bulge = self.curvature(stretch.scale, from, to) * (to - from).powi(2) / 2.0;
        let rise = (b - a).abs();
        if rise >= bulge {
            return a.max(b);
        }
        f64::midpoint(a, b) + bulge / 4.0 + rise * rise / bulge / 4.0
    }

    /// No second derivative of f between two places of a scale is above this, either way.
    fn curvature(&self, scale: Scale, from: f64, to: f64) -> f64 {
        let n = self.pairs;
        match scale {
            // f'' = n (n - 1) E[r(D + 2) - 2 r(D + 1) + r(D)] with D ~ Bin(n - 2, x). Both differences of neighbours in
            // it are at most the range of r.
            Scale::Chance | Scale::Rest => 2.0 * self.range * n * n,
            // x = sin² t, dx/dt = 2 sqrt(v), v = x (1 - x). With s = d - n x, the chance w of d flips has w' = w L, L =
            // 2 s / sqrt(v), and L' = -4 n - 2 s (1 - 2 x) / v. So f'' = E[r(D) G] with G = L² + L' = 4 s² / v - 4 n -
            // 2 s (1 - 2 x) / v. The mean of G is 0, as f'' is for a constant r: taking the middle of its range from r
            // changes nothing, and |f''| <= range/2 E|G| <= range/2 sqrt(E[G²]). With E[s²] = n v, E[s³] = n v (1 - 2
            // x) and E[s⁴] = 3 n² v² + n v (1 - 6 v), E[G²] = 32 n² - 48 n + 4 n / v. That is largest where v = sin²(2
            // t) / 4 is smallest, which is at an end.
            Scale::Angle => {
                let sine = (2.0 * from).sin().min((2.0 * to).sin());
                self.range / 2.0 * (32.0 * n * n + 16.0 * n / (sine * sine)).sqrt()
            }
        }
    }
}

/// What a place in a stretch stands for.
///
/// The angle has f bend about as much everywhere, and is of no use where x nears 0 or 1.
#[derive(Clone, Copy)]
enum Scale {
    /// x.
    Chance,
    /// t, with x = sin² t.
    Angle,
    /// 1 - x.
    Rest,
}

impl Scale {
    /// x / (1 - x) at a place.
    fn odds(self, at: f64) -> f64 {
        match self {
            Self::Chance => at / (1.0 - at),
            Self::Angle => at.tan().powi(2),
            Self::Rest => (1.0 - at) / at,
        }
    }
}

/// A part of a scale, with f at both ends.
#[derive(Clone, Copy)]
struct Stretch {
    scale: Scale,
    start: (f64, f64),
    end: (f64, f64),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(worse: u64, better: u64, pairs: u64) -> f64 {
        unconditional_p(worse, better, pairs).unwrap()
    }

    /// Computed in two ways that agree in 14 digits, neither by this algorithm. scipy 1.17.1: r(d) by `binom.sf` over
    /// all k, f by `binom.pmf` at 4,001 angles, the best 12 refined by `minimize_scalar`. And r(d) by whole numbers, so
    /// that ties are exact, with f in 40 digits of mpmath 1.4.1 and a ternary search.
    #[test]
    fn agrees_with_scipy_and_mpmath() {
        for (worse, better, pairs, expect) in [
            (1, 0, 1, 0.5),
            (4, 0, 5, 0.039_018_442_310_623_4),
            (4, 0, 6, 0.032_448_741_747_553_1),
            (6, 1, 8, 0.042_799_815_703_083_5),
            (8, 2, 20, 0.033_907_165_592_298_1),
            (10, 2, 40, 0.011_619_758_826_732_7),
            (6, 1, 40, 0.040_345_233_875_996_2),
            (25, 12, 100, 0.017_600_100_108_852_4),
            (60, 40, 100, 0.028_443_966_820_490_4),
            (20, 9, 165, 0.022_887_831_367_854_2),
            (48, 22, 165, 0.000_964_070_936_079_013),
            (14, 3, 500, 0.004_130_710_908_491_25),
            (150, 100, 500, 0.000_785_209_174_067_025),
            (30, 20, 3641, 0.081_942_257_368_469_1),
            (1900, 1741, 3641, 0.004_411_775_747_084_53),
        ] {
            let got = p(worse, better, pairs);
            assert!(
                (got / expect - 1.0).abs() <= 1e-9,
                "{worse} and {better} of {pairs}: {got} {expect}"
            );
        }
    }

    #[test]
    fn where_nothing_speaks_for_worse_it_is_1() {
        for (worse, better, pairs) in [
            (0, 0, 0),
            (0, 0, 1),
            (0, 0, 40),
            (0, 7, 40),
            (3, 3, 40),
            (3, 4, 40),
            (0, 0, MOST_PAIRS),
        ] {
            assert_eq!(unconditional_p(worse, better, pairs), Some(1.0));
        }
    }

    #[test]
    fn takes_extremes() {
        // All of them: no other outcome is as extreme, and none is likelier than at x = 1.
        assert!((p(10, 0, 10) - 0.5_f64.powi(10)).abs() < 1e-15);
        let least = p(1_000, 0, 1_000);
        assert!(least > 0.0 && least < 1e-280, "{least}");
        // Counts that cannot be are cut.
        assert_eq!(unconditional_p(9, 0, 6), unconditional_p(6, 0, 6));
        assert_eq!(unconditional_p(4, u64::MAX, 6), unconditional_p(4, 2, 6));
        assert_eq!(unconditional_p(u64::MAX, u64::MAX, 0), Some(1.0));
        assert_eq!(unconditional_p(4, 0, MOST_PAIRS + 1), None);
    }

    #[test]
    fn more_for_the_worse_is_no_larger_p() {
        for pairs in [1, 2, 7, 20] {
            for flips in 1..=pairs {
                let all: Vec<f64> = (0..=flips).map(|k| p(k, flips - k, pairs)).collect();
                // Each is within a part of `CLOSE`.
                let falls = |two: &[f64]| two[1] <= two[0] * (1.0 + 2.0 * CLOSE);
                assert!(all.windows(2).all(falls), "{flips} of {pairs}: {all:?}");
                assert!(all.iter().all(|p| *p > 0.0 && *p <= 1.0));
            }
        }
    }

    /// For each number of flips, the fewest for the worse that have p <= alpha. As p rises with the mid-p, halving
    /// finds the largest mid-p that has.
    fn fewest(pairs: u64, alpha: f64) -> Vec<u64> {
        let outcomes = (0..=pairs).flat_map(|d| (0..=d).map(move |k| Tail::new(k, d)));
        let mut outcomes: Vec<Tail> = outcomes.collect();
        outcomes.sort_by(|a, b| a.mid_p().total_cmp(&b.mid_p()));
        let red = outcomes.partition_point(|t| p(t.from, t.flips - t.from, pairs) <= alpha);
        let mut fewest: Vec<u64> = (1..=pairs + 1).collect();
        for (d, k) in (0..=pairs).zip(&mut fewest) {
            let of_d = outcomes[..red].iter().filter(|t| t.flips == d);
            *k = of_d.map(|t| t.from).min().unwrap_or(d + 1);
        }
        fewest
    }

    #[test]
    fn an_unchanged_agent_is_red_as_often_as_alpha_allows() {
        for (pairs, size) in [(20, 0.039), (40, 0.0499), (100, 0.0496)] {
            let fewest = fewest(pairs, 0.05);
            let red: Vec<(u64, f64)> = (0..=pairs)
                .zip(&fewest)
                .map(|(d, k)| (d, binomial::upper_tail(*k, d, 0.5)))
                .collect();
            let mut most = 0.0_f64;
            for x in (0..=400).map(|i| as_f64(i) / 400.0) {
                let chances = red.iter().map(|(d, r)| binomial::point(*d, pairs, x) * r);
                most = most.max(chances.sum());
            }
            assert!(most <= 0.05, "{pairs}: {most}");
            assert!((most - size).abs() < 5e-4, "{pairs}: {most} {size}");
        }
    }

    #[test]
    fn carried_tails_are_those_of_the_definition() {
        for (worse, better) in [(1, 0), (6, 1), (20, 15), (60, 20), (150, 149)] {
            let seen = Tail::new(worse, worse + better);
            let got = extreme(&seen, 300);
            assert_eq!(got.len(), 301);
            for (d, r) in (0..=300).zip(got).step_by(7) {
                let limit = seen.mid_p() * (1.0 + TIE);
                let k = (0..=d).find(|k| Tail::new(*k, d).mid_p() <= limit);
                let expect = k.map_or(0.0, |k| binomial::upper_tail(k, d, 0.5));
                assert!(
                    (r - expect).abs() <= 1e-13 * expect,
                    "{d} flips: {r} {expect}"
                );
            }
        }
    }

    /// Whatever r is: also the one that bends f most.
    #[test]
    fn no_stretch_holds_more_than_its_bound() {
        for pairs in [1_u64, 2, 3, 10, 60] {
            for kind in 1..=6 {
                let r = (0..=pairs).map(|d| as_f64((d / kind) % 2)).collect();
                let chances = Chances::new(r, pairs);
                for scale in [Scale::Chance, Scale::Angle, Scale::Rest] {
                    for (i, j) in (0..12).flat_map(|i| (i + 1..=12).map(move |j| (i, j))) {
                        let place = |share: f64| scale_end(scale, as_f64(pairs)) * share + 1e-9;
                        let (from, to) = (place(as_f64(i) / 12.0), place(as_f64(j) / 12.0));
                        let stretch = chances.stretch(scale, from, to);
                        let bound = chances.at_most(&stretch);
                        let middle = chances.at(scale.odds(f64::midpoint(from, to)));
                        let bend = (middle - f64::midpoint(stretch.start.1, stretch.end.1)).abs();
                        let most = chances.curvature(scale, from, to) * (to - from).powi(2) / 8.0;
                        assert!(
                            bend <= most + 1e-12,
                            "{pairs} {kind} {from} {to}: {bend} {most}"
                        );
                        for step in 0..=8 {
                            let at = from + (to - from) * as_f64(step) / 8.0;
                            let f = chances.at(scale.odds(at));
                            assert!(
                                f <= bound + 1e-12,
                                "{pairs} {kind} {from} {to}: {f} {bound}"
                            );
                        }
                    }
                }
            }
        }
    }

    fn scale_end(scale: Scale, pairs: f64) -> f64 {
        match scale {
            Scale::Angle => FRAC_PI_2 - 2e-9,
            Scale::Chance | Scale::Rest => 1.0 / pairs.max(2.0),
        }
    }
}
