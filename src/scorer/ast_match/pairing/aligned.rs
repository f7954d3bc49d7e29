//! Order-preserving pairs of largest weight.

/// The pairs of largest weight among those that keep the order of both sides, and the maximum number of pairs with a
/// set flag. `cell` returns the weight and the flag (1 or 0) of a left and a right item. Items without weight are not
/// paired.
///
/// The weighted longest common subsequence, in time and memory proportional to the product of the sides.
pub(super) fn aligned(
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
