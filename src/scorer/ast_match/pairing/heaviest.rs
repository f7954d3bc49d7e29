//! Maximum-weight matching.

/// Pairs left and right items with the largest sum of weights, none of which is negative. `weights` has a row for each
/// left item and a column for each of the `right` ones; the result gives the right item that each is paired with. As
/// many as possible are paired.
///
/// The Hungarian method with potentials (Kuhn, Munkres; adding rows one by one as in Jonker and Volgenant). Time is the
/// square of the shorter side times the longer one.
pub(super) fn heaviest(weights: &[Vec<i64>], right: usize) -> Vec<Option<usize>> {
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
