//! `Shard`: one part of an eval that is run on several machines.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::error::{Error, Result};
use crate::text::hash::Hasher;

/// One shard of several, displayed as `2/8`. Numbers start from 1.
///
/// The shard of a sample depends on a hash of its id, so that adding or removing samples does not move others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard {
    index: u32,
    of: u32,
}

impl Shard {
    /// Maximum number of shards.
    pub const MOST: u32 = 100_000;

    /// Shard number `index` (from 1) of `of`.
    ///
    /// # Errors
    /// If there is no such shard.
    pub fn new(index: u32, of: u32) -> Result<Self> {
        if of == 0 || of > Self::MOST {
            return Err(Error::usage(format!(
                "the number of shards must be from 1 to {}, not {of}",
                Self::MOST
            )));
        }
        if index == 0 || index > of {
            return Err(
                Error::usage(format!("there is no shard {index} of {of}")).hint(format!(
                    "shards count from 1: `1/{of}` is the first, `{of}/{of}` the last"
                )),
            );
        }
        Ok(Self { index, of })
    }

    /// Its number, from 1.
    pub fn index(self) -> u32 {
        self.index
    }

    /// The number of shards.
    pub fn of(self) -> u32 {
        self.of
    }

    /// Whether it contains the sample with this id.
    pub fn has(self, id: &str) -> bool {
        self.has_hash(shard_hash(id))
    }

    /// Whether samples with this [`shard_hash`] are in the shard.
    pub(crate) fn has_hash(self, hash: u64) -> bool {
        u64::from(self.index - 1) == hash % u64::from(self.of)
    }
}

/// The hash that determines a sample's shard. Must never change.
pub(crate) fn shard_hash(id: &str) -> u64 {
    u64::from_be_bytes(Hasher::default().part("shard").part(id).first_bytes())
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let number = |text: &str| {
            let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            is_plain.then(|| text.parse::<u32>().ok()).flatten()
        };
        let numbers = text.split_once('/');
        let numbers = numbers.and_then(|(index, of)| Some((number(index)?, number(of)?)));
        let Some((index, of)) = numbers else {
            return Err(
                Error::usage(format!("`{}` is not a shard", text.escape_debug()))
                    .hint("write which of how many, from 1: `2/8`"),
            );
        };
        Self::new(index, of)
    }
}

impl Serialize for Shard {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Shard {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse()
            .map_err(|error: Error| de::Error::custom(error.message()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shard_display_round_trips() {
        for text in ["1/1", "2/8", "100000/100000"] {
            assert_eq!(text.parse::<Shard>().unwrap().to_string(), text);
        }
        for text in [
            "", "/", "2", "0/4", "5/4", "1/0", "1/100001", "+1/4", "1/ 4", "1/4/4", "-1/4",
        ] {
            let error = text.parse::<Shard>().unwrap_err();
            assert!(!error.message().is_empty(), "{text}");
        }
        let shard: Shard = serde_json::from_str("\"2/8\"").unwrap();
        assert_eq!((shard.index(), shard.of()), (2, 8));
        assert_eq!(serde_json::to_string(&shard).unwrap(), "\"2/8\"");
    }

    #[test]
    fn each_sample_is_in_one_shard_which_never_changes() {
        let all: Vec<Shard> = (1..=7).map(|index| Shard::new(index, 7).unwrap()).collect();
        let mut sizes = [0_u32; 7];
        for number in 0..7_000 {
            let id = format!("sample-{number}");
            let own: Vec<usize> = (0..7).filter(|&at| all[at].has(&id)).collect();
            assert_eq!(own.len(), 1, "{id}");
            sizes[own[0]] += 1;
        }
        assert!(
            sizes.iter().all(|size| (850..1150).contains(size)),
            "{sizes:?}"
        );
        // Existing data was sharded with these hashes.
        let known = ["a", "e1fc63a2-da7a-432f-be78-7c4a95598703", "ü/2"];
        assert_eq!(known.map(|id| shard_hash(id) % 8), [5, 4, 1]);
    }
}
