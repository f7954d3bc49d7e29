//! A cache of embeddings, by model and text: in memory, and in a folder if one is set.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::error::Result;
use crate::store::cache::Buckets;
use crate::system::lock;
use crate::text::hash::Hasher;

/// The first bytes of a file; the last one is the version.
///
/// - 1: these bytes, the numbers as little-endian `f32`, and the SHA-256 (hex) of the file's name and everything
///   before.
const MAGIC: [u8; 8] = *b"evtemb\0\x01";
/// The length of the hash at the end, in bytes.
const HASH_BYTES: usize = 64;
/// The maximum size of a file; longer ones are not ours.
const LONGEST_FILE: u64 = 1 << 20;
/// About how many numbers are cached in memory: 64 MiB.
const NUMBERS: usize = 16 << 20;

/// What is kept.
#[derive(Default)]
pub(super) struct Cache {
    memory: Mutex<Memory>,
    files: Option<Buckets>,
}

/// Two generations: used entries move to the young one. When it holds half of the limit, the old one is dropped.
#[derive(Default)]
struct Memory {
    young: HashMap<String, Arc<[f32]>>,
    old: HashMap<String, Arc<[f32]>>,
    /// The count of numbers in `young`.
    numbers: usize,
}

impl Memory {
    fn get(&mut self, key: &str) -> Option<Arc<[f32]>> {
        if let Some(vector) = self.young.get(key) {
            return Some(Arc::clone(vector));
        }
        let (key, vector) = self.old.remove_entry(key)?;
        self.put(key, Arc::clone(&vector));
        Some(vector)
    }

    fn put(&mut self, key: String, vector: Arc<[f32]>) {
        let numbers = vector.len();
        if self.young.insert(key, vector).is_none() {
            self.numbers += numbers;
        }
        if self.numbers > NUMBERS / 2 {
            self.old = std::mem::take(&mut self.young);
            self.numbers = 0;
        }
    }
}

impl Cache {
    pub(super) fn in_folder(folder: PathBuf) -> Self {
        Self {
            memory: Mutex::default(),
            files: Some(Buckets::new(folder, "embedding", LONGEST_FILE)),
        }
    }

    pub(super) fn get(&self, model: &str, text: &str) -> Option<Arc<[f32]>> {
        let key = key(model, text);
        if let Some(vector) = self.memory().get(&key) {
            return Some(vector);
        }
        // A missing or damaged file counts as no entry, and is written again.
        let content = self.files.as_ref()?.read(&key).ok()??;
        let vector: Arc<[f32]> = read(&content, &key)?.into();
        self.memory().put(key, Arc::clone(&vector));
        Some(vector)
    }

    /// Stores a vector.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(super) fn put(&self, model: &str, text: &str, vector: &Arc<[f32]>) -> Result<()> {
        let key = key(model, text);
        if let Some(files) = &self.files {
            files.write(&key, &file(&key, vector))?;
        }
        self.memory().put(key, Arc::clone(vector));
        Ok(())
    }

    /// Locks the map; a panic cannot leave it half changed.
    fn memory(&self) -> MutexGuard<'_, Memory> {
        lock(&self.memory)
    }
}

fn key(model: &str, text: &str) -> String {
    Hasher::default().part(model).part(text).hex()
}

fn file(key: &str, vector: &[f32]) -> Vec<u8> {
    let mut content = MAGIC.to_vec();
    content.extend(vector.iter().flat_map(|number| number.to_le_bytes()));
    let hash = Hasher::default().part(key).part(&content).hex();
    content.extend_from_slice(hash.as_bytes());
    content
}

/// The numbers of a file, if it is intact.
fn read(content: &[u8], key: &str) -> Option<Vec<f32>> {
    let numbers = content.get(MAGIC.len()..content.len().checked_sub(HASH_BYTES)?)?;
    let vector: Vec<f32> = numbers
        .as_chunks::<4>()
        .0
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes))
        .collect();
    (file(key, &vector) == content).then_some(vector)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn vector(numbers: &[f32]) -> Arc<[f32]> {
        numbers.into()
    }

    #[test]
    fn stored_vectors_round_trip_exactly() {
        let folder = tempfile::tempdir().unwrap();
        let stored = vector(&[0.1, -2.5e-38, 3.4e38, f32::MIN_POSITIVE]);
        let cache = Cache::in_folder(folder.path().join("deep/er"));
        assert_eq!(cache.get("m", "a"), None);
        cache.put("m", "a", &stored).unwrap();
        assert_eq!(cache.get("m", "a").as_deref(), Some(&*stored));
        let next = Cache::in_folder(folder.path().join("deep/er"));
        assert_eq!(next.get("m", "a").as_deref(), Some(&*stored));
        // Another text, another model, and parts that look the same when joined.
        assert_eq!(next.get("m", "b"), None);
        assert_eq!(next.get("n", "a"), None);
        assert_eq!(next.get("ma", ""), None);
    }

    #[test]
    fn a_damaged_file_is_none_and_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let stored = vector(&[1.0, 2.0]);
        let cache = || Cache::in_folder(folder.path().to_owned());
        cache().put("m", "a", &stored).unwrap();
        let path = cache().files.unwrap().path(&key("m", "a"));
        let good = fs::read(&path).unwrap();
        let mut flipped = good.clone();
        flipped[9] ^= 1;
        let mut newer = good.clone();
        newer[7] = 2;
        let mut longer = good.clone();
        longer.push(0);
        let huge = vec![0; (1 << 20) + 1];
        let other = file(&key("m", "b"), &stored);
        for damaged in [
            &b""[..],
            b"evtemb",
            &good[..good.len() - 1],
            &flipped,
            &newer,
            &longer,
            &huge,
            &other,
        ] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(cache().get("m", "a"), None, "{} bytes", damaged.len());
        }
        cache().put("m", "a", &stored).unwrap();
        assert_eq!(fs::read(&path).unwrap(), good);
        let entries: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(entries.len(), 1, "no temporary file stays");
    }

    #[test]
    fn memory_is_bounded_and_what_is_used_stays() {
        let cache = Cache::default();
        let long = vector(&vec![1.0; NUMBERS / 8]);
        cache.put("m", "used", &long).unwrap();
        for number in 0..20 {
            cache.put("m", &number.to_string(), &long).unwrap();
            assert!(cache.get("m", "used").is_some(), "{number}");
        }
        assert_eq!(cache.get("m", "0"), None);
        let memory = cache.memory();
        let stored = memory.young.len() + memory.old.len();
        assert!(stored <= 10, "{stored}");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let cache = Cache::in_folder(folder.path().join("file"));
        let error = cache.put("m", "a", &vector(&[1.0])).unwrap_err();
        assert!(error.message().contains("cannot make `"), "{error}");
    }
}
