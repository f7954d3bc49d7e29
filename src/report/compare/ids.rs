//! `IdList`: a list of ids, the first of which are in memory.

use std::fmt;

use serde::ser::{Error as _, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::error::Result;
use crate::system::file::spill::SpilledRows;

/// Maximum number of ids in memory.
const AT_HAND: usize = 1_000;

/// Ids of samples. The first thousand are in memory, the others in a temporary file; as JSON it is a list of all.
#[derive(Default)]
pub struct IdList {
    first: Vec<String>,
    others: SpilledRows,
    count: u64,
}

impl IdList {
    pub(super) fn push(&mut self, id: &str) -> Result<()> {
        if self.first.len() < AT_HAND {
            self.first.push(id.to_owned());
        } else {
            self.others.push(&[id.as_bytes()])?;
        }
        self.count += 1;
        Ok(())
    }

    /// The number of ids.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether there are no ids.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first thousand ids, or all.
    pub fn first(&self) -> &[String] {
        &self.first
    }

    /// The first `most` ids, or all.
    ///
    /// # Errors
    /// If the temporary file cannot be read.
    pub fn take(&self, most: usize) -> Result<Vec<String>> {
        let mut taken: Vec<_> = self.first.iter().take(most).cloned().collect();
        let (mut rows, mut row) = (self.others.rows()?, Vec::new());
        while taken.len() < most && rows.next_into(&mut row)? {
            taken.push(String::from_utf8_lossy(&row).into_owned());
        }
        Ok(taken)
    }
}

impl Serialize for IdList {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(usize::try_from(self.count).ok())?;
        for id in &self.first {
            list.serialize_element(id)?;
        }
        let mut rows = self.others.rows().map_err(S::Error::custom)?;
        let mut row = Vec::new();
        while rows.next_into(&mut row).map_err(S::Error::custom)? {
            list.serialize_element(&String::from_utf8_lossy(&row))?;
        }
        list.end()
    }
}

impl fmt::Debug for IdList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ids from {:?}", self.count, self.first.first())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_named() {
        for count in [0, 3, 1_000, 100_000] {
            let ids: Vec<_> = (0..count).map(|number| format!("q{number}")).collect();
            let mut list = IdList::default();
            for id in &ids {
                list.push(id).unwrap();
            }
            assert_eq!(list.count(), ids.len() as u64);
            assert_eq!(list.first(), &ids[..ids.len().min(AT_HAND)]);
            for most in [0, 2, 1_500] {
                assert_eq!(list.take(most).unwrap(), &ids[..ids.len().min(most)]);
            }
            assert_eq!(serde_json::to_value(&list).unwrap(), serde_json::json!(ids));
        }
    }
}
