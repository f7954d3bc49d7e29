//! Maximum bipartite matching.

/// The largest matching. `fits` lists for each left item the right ones it fits, out of `right`; the result gives the
/// right item that each is paired with.
///
/// Left items are added one by one, each along an augmenting path (Kuhn, Berge). The search for a path visits every
/// right item once and keeps its own stack, as the lists come from an agent.
pub(in crate::scorer) fn largest(fits: &[Vec<usize>], right: usize) -> Vec<Option<usize>> {
    let mut pairs: Vec<Option<usize>> = vec![None; fits.len()];
    let mut owner: Vec<Option<usize>> = vec![None; right];
    // For each right item, the left one from which the search reached it, and the number of that search.
    let mut came_from = vec![0; right];
    let mut visited = vec![usize::MAX; right];
    for start in 0..fits.len() {
        let mut waiting = vec![start];
        let mut free = None;
        'search: while let Some(left) = waiting.pop() {
            for &place in &fits[left] {
                if visited[place] == start {
                    continue;
                }
                visited[place] = start;
                came_from[place] = left;
                match owner[place] {
                    None => {
                        free = Some(place);
                        break 'search;
                    }
                    Some(other) => waiting.push(other),
                }
            }
        }
        // Along the path back, each left item takes the place found for it and frees its old one.
        while let Some(place) = free {
            let left = came_from[place];
            owner[place] = Some(left);
            free = pairs[left].replace(place);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fits: &[&[usize]], right: usize, size: usize) {
        let fits: Vec<Vec<usize>> = fits.iter().map(|row| row.to_vec()).collect();
        let pairs = largest(&fits, right);
        let mut taken: Vec<usize> = pairs.iter().flatten().copied().collect();
        assert_eq!(taken.len(), size, "{pairs:?}");
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(taken.len(), size, "one for two: {pairs:?}");
        for (row, pair) in fits.iter().zip(&pairs) {
            assert!(pair.is_none_or(|place| row.contains(&place)), "{pairs:?}");
        }
    }

    #[test]
    fn pairs_change_to_make_room() {
        check(&[], 0, 0);
        check(&[&[]], 3, 0);
        check(&[&[0, 1], &[0]], 2, 2);
        check(&[&[0, 1, 2], &[0, 1], &[0]], 3, 3);
        check(&[&[0], &[0], &[0, 1]], 2, 2);
        check(&[&[1, 2], &[0, 2], &[0, 1], &[0]], 3, 3);
    }

    #[test]
    fn it_is_the_largest() {
        /// By brute force.
        fn best(fits: &[Vec<usize>], taken: u32) -> usize {
            let Some((row, rest)) = fits.split_first() else {
                return 0;
            };
            let free = row.iter().filter(|place| taken >> **place & 1 == 0);
            let with = free.map(|place| 1 + best(rest, taken | 1 << place));
            with.max().unwrap_or(0).max(best(rest, taken))
        }
        let mut state = 1_u32;
        for _ in 0..500 {
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                state >> 26
            };
            let fits: Vec<Vec<usize>> = (0..6)
                .map(|_| {
                    let row = next();
                    (0..6).filter(|place| row >> place & 1 == 1).collect()
                })
                .collect();
            let found = largest(&fits, 6).into_iter().flatten().count();
            assert_eq!(found, best(&fits, 0), "{fits:?}");
        }
    }

    #[test]
    fn many_are_quick() {
        // The worst case for a greedy start: every left item moves all others.
        let fits: Vec<Vec<usize>> = (0..500).map(|left| (0..=left).rev().collect()).collect();
        assert_eq!(largest(&fits, 500).into_iter().flatten().count(), 500);
    }
}
