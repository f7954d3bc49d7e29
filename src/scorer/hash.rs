//! Hashes that distinguish verdicts of different rules.

use std::borrow::Cow;
use std::sync::Arc;

use super::Scorer;
use super::extract::Extraction;
use crate::text::hash::Hasher;

/// Hash of the extraction and the deciding scorer; see `Manifest::scorer_hash`.
pub(crate) fn scorer_hash(extraction: &Extraction, scorers: &[Arc<dyn Scorer>]) -> String {
    scorers_hash(extraction, &scorers[..scorers.len().min(1)])
}

/// Hash of the extraction and all scorers; see `Manifest::scorers_hash`.
pub(crate) fn scorers_hash(extraction: &Extraction, scorers: &[Arc<dyn Scorer>]) -> String {
    let start = Hasher::default().part(extraction.extract.to_string());
    scorers
        .iter()
        .fold(start, |hash, scorer| {
            let hash = hash.part(scorer.fingerprint());
            match extraction.of(&**scorer) {
                Cow::Borrowed(_) => hash,
                Cow::Owned(own) => hash.part(own.to_string()),
            }
        })
        .short()
}
