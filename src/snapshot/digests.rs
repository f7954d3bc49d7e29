//! [`Digests`]: 8-byte digests of the snapshots of a baseline.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Content;
use super::content::digits;
use crate::text::hash::{Hasher, hex};

/// Digests of snapshots by sample: verdicts, question and ground truth. `None` for a text that is not a valid digest.
#[derive(Clone, Debug, Default)]
pub(super) struct Digests(Vec<(Box<str>, Option<[u8; 8]>)>);

impl Digests {
    /// Adds a snapshot; [sort](Self::sorted) afterwards.
    pub(super) fn add(&mut self, id: Box<str>, content: &Content) {
        let digest = Some(digest(&id, content));
        self.0.push((id, digest));
    }

    /// Sorts by id.
    #[must_use]
    pub(super) fn sorted(mut self) -> Self {
        // For a duplicate id the last one counts.
        self.0.reverse();
        self.0.sort_by(|one, other| one.0.cmp(&other.0));
        self.0.dedup_by(|next, one| next.0 == one.0);
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Ids with their digests as text.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, String)> {
        let text = |digest: &Option<[u8; 8]>| digest.map(|digest| hex(&digest));
        self.0
            .iter()
            .map(move |(id, digest)| (&**id, text(digest).unwrap_or_default()))
    }

    /// Whether a snapshot has the digest of the sample.
    pub(super) fn has(&self, id: &str, content: &Content) -> bool {
        let place = self.0.binary_search_by(|(own, _)| (**own).cmp(id));
        place.is_ok_and(|place| self.0[place].1 == Some(digest(id, content)))
    }
}

fn digest(id: &str, content: &Content) -> [u8; 8] {
    let hash = Hasher::default().part(id).part(content.verdict());
    let hash = hash.part(digits(&content.answers));
    hash.part(content.input_hash())
        .part(&content.target_hash)
        .first_bytes()
}

fn parse(text: &str) -> Option<[u8; 8]> {
    let bytes = u64::from_str_radix(text, 16).ok()?.to_be_bytes();
    (hex(&bytes) == text).then_some(bytes)
}

impl Serialize for Digests {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Digests {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfMap;

        impl<'de> Visitor<'de> for OfMap {
            type Value = Digests;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("digests by sample")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Digests, A::Error> {
                let mut digests = Vec::new();
                while let Some((id, digest)) = map.next_entry::<Box<str>, String>()? {
                    digests.push((id, parse(&digest)));
                }
                Ok(Digests(digests).sorted())
            }
        }

        deserializer.deserialize_map(OfMap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_read_as_they_were_written() {
        let text = r#"{"a":"0123456789abcdef","b":"00000000000000ff"}"#;
        let digests: Digests = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&digests).unwrap(), text);
        // Out of order, duplicated, and edited by hand.
        let other = r#"{"b":"no digest","a":"x","b":"00000000000000ff","a":"0123456789ABCDEF"}"#;
        let digests: Digests = serde_json::from_str(other).unwrap();
        let read: Vec<_> = digests.iter().collect();
        let expect = [("a", String::new()), ("b", "00000000000000ff".to_owned())];
        assert_eq!(read, expect);
    }
}
