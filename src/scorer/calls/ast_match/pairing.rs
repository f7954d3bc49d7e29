//! Pairs each expected call with a call that was made.

use std::collections::HashMap;

use super::super::matching;
use super::known::{AcceptedValues, ExpectedCall, Made, Text};

/// The maximum number of comparison steps. This covers 300 calls of one function that are all wrong, and any number of
/// right ones.
const MOST_STEPS: usize = 60_000_000;

/// Weights are integers, so that their sums are exact. 720,720 is divisible by all numbers up to 16.
const WHOLE: i64 = 720_720 << 20;

/// The comparison rule.
#[derive(Clone, Copy, Debug)]
pub(in crate::scorer) struct Rule {
    pub(in crate::scorer) ordered: bool,
    pub(in crate::scorer) allow_extra_arguments: bool,
}

/// How far two calls of one function agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallOverlap {
    /// Arguments that agree.
    pub(super) right: usize,
    /// Arguments that are expected, or present but not expected.
    pub(super) all: usize,
}

impl CallOverlap {
    fn is_whole(self) -> bool {
        self.right == self.all
    }

    /// The share that agrees, counting the name as one more argument.
    fn weight(self) -> i64 {
        let part = |count: usize| i64::try_from(count + 1).unwrap_or(i64::MAX);
        // A full match wins over one that is full only by rounding.
        WHOLE / part(self.all) * part(self.right) + i64::from(self.is_whole())
    }

    /// The share that agrees, counting the name as one more argument.
    pub(super) fn share(self) -> f64 {
        ratio(self.right + 1, self.all + 1)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// The result of pairing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::scorer) struct CallPairing {
    /// The maximum number of full matches.
    pub(in crate::scorer) matched: usize,
    /// Indices of the expected and the made call, in the order of the expected ones. Their arguments agree as far as
    /// possible.
    pub(super) pairs: Vec<(usize, usize, CallOverlap)>,
    /// Whether only equal calls were paired, because more would have taken too long.
    pub(super) is_incomplete: bool,
}

impl CallPairing {
    /// The expected calls, out of `expected`, that no call matches fully.
    pub(in crate::scorer) fn missing(&self, expected: usize) -> Vec<usize> {
        let mut is_matched = vec![false; expected];
        for (place, _, overlap) in &self.pairs {
            is_matched[*place] = overlap.right == overlap.all;
        }
        (0..expected).filter(|&place| !is_matched[place]).collect()
    }
}

impl Rule {
    /// Pairs the calls.
    pub(in crate::scorer) fn pair(self, expected: &[ExpectedCall], made: &[Made]) -> CallPairing {
        let mut pairing = if self.ordered {
            self.in_order(expected, made)
        } else {
            self.as_a_set(expected, made)
        };
        pairing.pairs.sort_unstable_by_key(|pair| pair.0);
        pairing
    }

    /// How far two calls agree; `None` if their functions differ.
    fn overlap(self, expected: &ExpectedCall, made: &Made) -> Option<CallOverlap> {
        if expected.name != made.name {
            return None;
        }
        let mut overlap = CallOverlap { right: 0, all: 0 };
        let mut there = made.arguments.iter().peekable();
        for (name, accepted) in &expected.arguments {
            let mut value = None;
            while let Some((other, found)) = there.next_if(|(other, _)| other <= name) {
                if other == name {
                    value = Some(*found);
                } else if !self.allow_extra_arguments {
                    overlap.all += 1;
                }
            }
            match value {
                Some(value) => {
                    overlap.all += 1;
                    overlap.right += usize::from(accepted.has(value));
                }
                None if accepted.is_optional => {}
                None => overlap.all += 1,
            }
        }
        if !self.allow_extra_arguments {
            overlap.all += there.count();
        }
        Some(overlap)
    }

    /// Pairs that keep the order. Full matches at both ends are part of some optimal choice.
    fn in_order(self, expected: &[ExpectedCall], made: &[Made]) -> CallPairing {
        let shorter = expected.len().min(made.len());
        let whole = |e: usize, m: usize| {
            let overlap = self.overlap(&expected[e], &made[m]);
            overlap.filter(|overlap| overlap.is_whole())
        };
        let mut pairing = CallPairing::default();
        let mut head = 0;
        while head < shorter
            && let Some(overlap) = whole(head, head)
        {
            pairing.pairs.push((head, head, overlap));
            head += 1;
        }
        let mut tail = 0;
        while tail < shorter - head
            && let (e, m) = (expected.len() - 1 - tail, made.len() - 1 - tail)
            && let Some(overlap) = whole(e, m)
        {
            pairing.pairs.push((e, m, overlap));
            tail += 1;
        }
        pairing.matched = head + tail;
        let rows = head..expected.len() - tail;
        let columns = head..made.len() - tail;
        if rows.len() * columns.len() > MOST_STEPS / 16
            || steps(&expected[rows.clone()], &made[columns.clone()]) > MOST_STEPS
        {
            pairing.is_incomplete = true;
            return pairing;
        }
        let cell = |e: usize, m: usize| self.overlap(&expected[head + e], &made[head + m]);
        let (count, pairs) = aligned(rows.len(), columns.len(), |e, m| {
            cell(e, m).map_or((0, 0), |overlap| {
                (overlap.weight(), usize::from(overlap.is_whole()))
            })
        });
        pairing.matched += count;
        let pairs = pairs.into_iter();
        pairing
            .pairs
            .extend(pairs.filter_map(|(e, m)| Some((head + e, head + m, cell(e, m)?))));
        pairing
    }

    /// Pairs in any order. Equal calls are paired first, in linear time. Then, for each function, full matches are
    /// counted, and pairs are chosen to maximise agreement.
    fn as_a_set(self, expected: &[ExpectedCall], made: &[Made]) -> CallPairing {
        let mut pairing = CallPairing::default();
        let mut places: HashMap<&Made, Vec<usize>> = HashMap::new();
        for (place, call) in made.iter().enumerate().rev() {
            places.entry(call).or_default().push(place);
        }
        let mut is_unmatched = vec![true; made.len()];
        let mut groups: HashMap<Text, (Vec<usize>, Vec<usize>)> = HashMap::new();
        for (e, call) in expected.iter().enumerate() {
            let only = call.only();
            match only.and_then(|only| places.get_mut(&only)?.pop()) {
                Some(m) => {
                    is_unmatched[m] = false;
                    let all = call.arguments.len();
                    pairing.pairs.push((e, m, CallOverlap { right: all, all }));
                }
                None => groups.entry(call.name).or_default().0.push(e),
            }
        }
        pairing.matched = pairing.pairs.len();
        for (m, call) in made.iter().enumerate().filter(|(m, _)| is_unmatched[*m]) {
            if let Some(group) = groups.get_mut(&call.name) {
                group.1.push(m);
            }
        }
        let cost = |(rows, columns): &(Vec<usize>, Vec<usize>)| {
            let of_made: usize = columns.iter().map(|&m| made[m].arguments.len() + 1).sum();
            let of_expected: usize = rows.iter().map(|&e| expected[e].arguments.len() + 1).sum();
            let compare = rows.len() * of_made + columns.len() * of_expected;
            let match_up = rows.len() * columns.len() * rows.len().min(columns.len());
            compare.saturating_add(match_up)
        };
        if groups.values().map(cost).fold(0, usize::saturating_add) > MOST_STEPS {
            pairing.is_incomplete = true;
            return pairing;
        }
        for (rows, columns) in groups.into_values() {
            let overlaps: Vec<Vec<CallOverlap>> = rows
                .iter()
                .map(|&e| {
                    let overlaps = columns
                        .iter()
                        .filter_map(|&m| self.overlap(&expected[e], &made[m]));
                    overlaps.collect()
                })
                .collect();
            let fits: Vec<Vec<usize>> = overlaps
                .iter()
                .map(|row| (0..row.len()).filter(|&m| row[m].is_whole()).collect())
                .collect();
            pairing.matched += matching::largest(&fits, columns.len())
                .iter()
                .flatten()
                .count();
            let weights: Vec<Vec<i64>> = overlaps
                .iter()
                .map(|row| row.iter().map(|overlap| overlap.weight()).collect())
                .collect();
            for (row, column) in heaviest(&weights, columns.len()).into_iter().enumerate() {
                let pair = column.map(|column| (rows[row], columns[column], overlaps[row][column]));
                pairing.pairs.extend(pair);
            }
        }
        pairing
    }
}

impl AcceptedValues {
    fn has(&self, value: Text) -> bool {
        self.values.binary_search(&value).is_ok()
    }
}

/// The cost of comparing all with all.
fn steps(expected: &[ExpectedCall], made: &[Made]) -> usize {
    let of_made: usize = made.iter().map(|call| call.arguments.len() + 1).sum();
    let of_expected: usize = expected.iter().map(|call| call.arguments.len() + 1).sum();
    (expected.len() * of_made).saturating_add(made.len() * of_expected)
}

/// The pairs of largest weight among those that keep the order of both sides, and the maximum number of pairs with a
/// set flag. `cell` returns the weight and the flag (1 or 0) of a left and a right item. Items without weight are not
/// paired.
///
/// The weighted longest common subsequence, in time and memory proportional to the product of the sides.
fn aligned(
    left: usize,
    right: usize,
    cell: impl Fn(usize, usize) -> (i64, usize),
) -> (usize, Vec<(usize, usize)>) {
    let width = right + 1;
    let mut weights = vec![0_i64; (left + 1) * width];
    let mut counts = vec![0; width];
    for row in 0..left {
        let mut diagonal = 0;
        for column in 0..right {
            let (weight, count) = cell(row, column);
            let here = (row + 1) * width + column + 1;
            weights[here] = weights[here - 1]
                .max(weights[here - width])
                .max(weights[here - width - 1] + weight);
            let above = counts[column + 1];
            counts[column + 1] = above.max(counts[column]).max(diagonal + count);
            diagonal = above;
        }
    }
    let mut pairs = Vec::new();
    let (mut row, mut column) = (left, right);
    while row > 0 && column > 0 {
        let here = row * width + column;
        if weights[here] == weights[here - width] {
            row -= 1;
        } else if weights[here] == weights[here - 1] {
            column -= 1;
        } else {
            row -= 1;
            column -= 1;
            pairs.push((row, column));
        }
    }
    (counts[right], pairs)
}

/// Pairs left and right items with the largest sum of weights, none of which is negative. `weights` has a row for each
/// left item and a column for each of the `right` ones; the result gives the right item that each is paired with. As
/// many as possible are paired.
///
/// The Hungarian method with potentials (Kuhn, Munkres; adding rows one by one as in Jonker and Volgenant). Time is the
/// square of the shorter side times the longer one.
fn heaviest(weights: &[Vec<i64>], right: usize) -> Vec<Option<usize>> {
    let left = weights.len();
    if left > right {
        let turned: Vec<Vec<i64>> = (0..right)
            .map(|column| weights.iter().map(|row| row[column]).collect())
            .collect();
        let mut pairs = vec![None; left];
        for (column, row) in heaviest(&turned, left).into_iter().enumerate() {
            if let Some(row) = row {
                pairs[row] = Some(column);
            }
        }
        return pairs;
    }
    // Minimises costs. Rows and columns are counted from 1; 0 is where a search starts.
    let mut row_potential = vec![0_i64; left + 1];
    let mut column_potential = vec![0_i64; right + 1];
    let mut owner = vec![0; right + 1];
    for row in 1..=left {
        owner[0] = row;
        let mut column = 0;
        let mut least = vec![i64::MAX; right + 1];
        let mut came_from = vec![0; right + 1];
        let mut is_used = vec![false; right + 1];
        while owner[column] != 0 {
            is_used[column] = true;
            let from = owner[column];
            let mut delta = i64::MAX;
            let mut next = 0;
            for other in 1..=right {
                if is_used[other] {
                    continue;
                }
                let cost = -weights[from - 1][other - 1];
                let reduced = cost - row_potential[from] - column_potential[other];
                if reduced < least[other] {
                    least[other] = reduced;
                    came_from[other] = column;
                }
                if least[other] < delta {
                    delta = least[other];
                    next = other;
                }
            }
            for other in 0..=right {
                if is_used[other] {
                    row_potential[owner[other]] += delta;
                    column_potential[other] -= delta;
                } else if other > 0 {
                    least[other] -= delta;
                }
            }
            column = next;
        }
        while column != 0 {
            let before = came_from[column];
            owner[column] = owner[before];
            column = before;
        }
    }
    let mut pairs = vec![None; left];
    for (column, &row) in owner.iter().enumerate().skip(1) {
        if row > 0 {
            pairs[row - 1] = Some(column - 1);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fuzz::{Dice, fuzz};

    /// By brute force.
    fn best(cells: &[Vec<i64>], from: usize) -> i64 {
        let Some((row, rest)) = cells.split_first() else {
            return 0;
        };
        let with = (from..row.len()).map(|place| row[place] + best(rest, place + 1));
        with.max().unwrap_or(0).max(best(rest, from))
    }

    #[test]
    fn it_is_the_heaviest_in_order() {
        fuzz(|dice: &mut Dice| {
            let (left, right) = (dice.below(6), dice.below(6));
            let cells: Vec<Vec<i64>> = (0..left)
                .map(|_| {
                    (0..right)
                        .map(|_| i64::try_from(dice.below(5)).unwrap())
                        .collect()
                })
                .collect();
            let (count, pairs) = aligned(left, right, |row, column| {
                (cells[row][column], usize::from(cells[row][column] == 4))
            });
            let sum: i64 = pairs.iter().map(|&(row, column)| cells[row][column]).sum();
            assert_eq!(sum, best(&cells, 0), "{cells:?}");
            assert!(
                pairs.is_sorted_by(|a, b| a.0 > b.0 && a.1 > b.1),
                "{pairs:?}"
            );
            let fours: Vec<Vec<i64>> = cells
                .iter()
                .map(|row| row.iter().map(|&cell| i64::from(cell == 4)).collect())
                .collect();
            assert_eq!(i64::try_from(count), Ok(best(&fours, 0)), "{cells:?}");
        });
    }
}

#[cfg(test)]
mod heaviest_tests {
    use super::*;
    use crate::tests::fuzz::{Dice, fuzz};

    /// By brute force.
    fn best(weights: &[Vec<i64>], taken: u32) -> i64 {
        let Some((row, rest)) = weights.split_first() else {
            return 0;
        };
        let free = (0..row.len()).filter(|place| taken >> place & 1 == 0);
        let with = free.map(|place| row[place] + best(rest, taken | 1 << place));
        with.max().unwrap_or(0).max(best(rest, taken))
    }

    #[test]
    fn it_is_the_heaviest() {
        fuzz(|dice: &mut Dice| {
            let (left, right) = (dice.below(6), dice.below(6));
            let weights: Vec<Vec<i64>> = (0..left)
                .map(|_| {
                    (0..right)
                        .map(|_| i64::try_from(dice.below(7)).unwrap())
                        .collect()
                })
                .collect();
            let pairs = heaviest(&weights, right);
            let mut taken: Vec<usize> = pairs.iter().flatten().copied().collect();
            let sum: i64 = pairs
                .iter()
                .zip(&weights)
                .filter_map(|(pair, row)| Some(row[(*pair)?]))
                .sum();
            assert_eq!(sum, best(&weights, 0), "{weights:?}");
            assert_eq!(taken.len(), left.min(right));
            taken.sort_unstable();
            taken.dedup();
            assert_eq!(taken.len(), left.min(right), "one for two: {pairs:?}");
        });
    }
}
