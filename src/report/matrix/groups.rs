//! Groups of runs that are not told apart, as letters.

use std::collections::BTreeSet;

/// The letters of `count` runs, of which `known` have verdicts and these pairs are told apart: two have a letter in common
/// where they are not. `a` is that of the first.
///
/// Source: H.-P. Piepho, *An algorithm for a letter-based representation of all-pairwise comparisons*, Journal of
/// Computational and Graphical Statistics 13 (2004): a group that holds both of a pair becomes two, and what lies in
/// another group goes.
pub(super) fn letters(count: usize, known: &[usize], apart: &[[usize; 2]]) -> Vec<Vec<String>> {
    let mut groups = vec![known.iter().copied().collect::<BTreeSet<usize>>()];
    for &[one, other] in apart {
        let (split, kept): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|group| group.contains(&one) && group.contains(&other));
        groups = kept;
        for group in split {
            for gone in [one, other] {
                let mut group = group.clone();
                group.remove(&gone);
                groups.retain(|other| !other.is_subset(&group));
                if !groups.iter().any(|other| group.is_subset(other)) {
                    groups.push(group);
                }
            }
        }
    }
    groups.sort();
    let groups = groups.iter().filter(|group| !group.is_empty()).enumerate();
    let mut letters = vec![Vec::new(); count];
    for (place, group) in groups {
        for &run in group {
            letters[run].push(letter(place));
        }
    }
    letters
}

/// `a`, `b`, … `z`, `a2`, …
fn letter(place: usize) -> String {
    let letters: Vec<char> = ('a'..='z').collect();
    let letter = letters[place % letters.len()];
    match place / letters.len() {
        0 => letter.to_string(),
        more => format!("{letter}{}", more + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_share_a_letter_where_they_are_not_told_apart() {
        fn check(known: &[usize], apart: &[[usize; 2]], expect: &str) {
            let found: Vec<_> = letters(4, known, apart)
                .iter()
                .map(|it| it.concat())
                .collect();
            assert_eq!(found.join(" "), expect, "{apart:?}");
        }
        let all = [0, 1, 2, 3];
        check(&all, &[], "a a a a");
        check(&all, &[[0, 3]], "a ab ab b");
        check(&all, &[[0, 2], [0, 3], [1, 3]], "a ab bc c");
        check(
            &all,
            &[[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]],
            "a b c d",
        );
        check(&all, &[[0, 2], [0, 3], [1, 2], [1, 3]], "a a b b");
        check(&[0, 2, 3], &[[0, 3], [2, 3]], "a  a b");
        check(&[], &[], "   ");
    }

    #[test]
    fn a_pair_shares_a_letter_if_and_only_if_it_is_not_told_apart() {
        // All graphs on five runs.
        let pairs: Vec<[usize; 2]> = (0..5)
            .flat_map(|a| (a + 1..5).map(move |b| [a, b]))
            .collect();
        for chosen in 0..1_u32 << pairs.len() {
            let apart = pairs.iter().enumerate();
            let apart: Vec<_> = apart
                .filter(|(at, _)| chosen >> at & 1 == 1)
                .map(|(_, pair)| *pair)
                .collect();
            let letters = letters(5, &[0, 1, 2, 3, 4], &apart);
            for pair in &pairs {
                let shares = letters[pair[0]]
                    .iter()
                    .any(|it| letters[pair[1]].contains(it));
                assert_eq!(shares, !apart.contains(pair), "{apart:?}");
            }
        }
    }
}
