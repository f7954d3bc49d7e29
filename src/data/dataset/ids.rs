//! Detects duplicate ids.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use crate::error::Error;

/// Hashes of ids with their positions: needs a fraction of the memory of the ids.
#[derive(Default)]
pub(super) struct Ids {
    state: RandomState,
    seen: Vec<(u64, usize)>,
}

impl Ids {
    pub(super) fn add(&mut self, id: &str) {
        self.seen.push((self.state.hash_one(id), self.seen.len()));
    }

    /// The first duplicate id with both positions. `id` reads the id at a position again.
    pub(super) fn twice(
        mut self,
        mut id: impl FnMut(usize) -> Result<String, Error>,
    ) -> Result<Option<(String, usize, usize)>, Error> {
        self.seen.sort_unstable();
        let mut found: Option<(String, usize, usize)> = None;
        for same_hash in self
            .seen
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|same_hash| same_hash.len() > 1)
        {
            let mut firsts = HashMap::new();
            for &(_, place) in same_hash {
                let id = id(place)?;
                let Some(&first) = firsts.get(&id) else {
                    firsts.insert(id, place);
                    continue;
                };
                if found.as_ref().is_none_or(|(_, _, second)| place < *second) {
                    found = Some((id, first, place));
                }
                break;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_whose_hashes_are_equal_are_no_duplicates() {
        let ids = Ids {
            seen: vec![(7, 0), (7, 1), (3, 2), (7, 3)],
            ..Ids::default()
        };
        let names = ["a", "b", "c", "b"];
        let twice = ids.twice(|place| Ok(names[place].to_owned())).unwrap();
        assert_eq!(twice, Some(("b".to_owned(), 1, 3)));
    }
}
