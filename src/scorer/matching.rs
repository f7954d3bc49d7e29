//! Pairs of things that fit: as many as there can be.

/// The largest matching. `fits` says for each left thing which right ones it fits, out of `right`; the result,
/// which right one it is paired with.
///
/// Left things are added one by one, each along a path on which earlier pairs change (Kuhn, Berge). The search
/// for a path visits every right thing once and keeps its own stack: the lists come from an agent.
pub(super) fn largest(fits: &[Vec<usize>], right: usize) -> Vec<Option<usize>> {
    let mut pairs: Vec<Option<usize>> = vec![None; fits.len()];
    let mut owner: Vec<Option<usize>> = vec![None; right];
    // From which left thing the search came to a right one, and in which search.
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
        // Along the path back, each left thing takes the place that was found for it and leaves its old one.
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
        /// By trying everything.
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
        // The worst order for taking the first that fits: every left thing makes all others move.
        let fits: Vec<Vec<usize>> = (0..500).map(|left| (0..=left).rev().collect()).collect();
        assert_eq!(largest(&fits, 500).into_iter().flatten().count(), 500);
    }
}
