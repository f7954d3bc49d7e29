//! `semantic`: how similar two texts are in meaning.

#[cfg(feature = "http")]
pub(crate) mod http;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::data::Score;
use crate::error::{Error, Result};
use crate::scorer::{Answer, Entry, Example, Reads, Scorer};
use crate::store::cache::Buckets;
use crate::system::lock;
use crate::text::hash::Hasher;
use crate::text::is_py_space;

/// The default minimum similarity of a correct answer.
const THRESHOLD: f64 = 0.7;

pub(crate) const ENTRY: Entry = Entry {
    name: "semantic",
    summary: "embeddings of prediction and ground truth are similar",
    rule: include_str!("semantic.md"),
    options: &[
        (
            "base_url",
            "the endpoint without `/embeddings`, such as `http://127.0.0.1:8080/v1`; `${NAME}` stands for a variable",
        ),
        ("model", "the embedding model, as the endpoint calls it"),
        (
            "api_key_env",
            "the variable that holds the key, from the environment or `.env`; no key by default",
        ),
        (
            "threshold",
            "the similarity that is correct, from 0 to 1; 0.7 by default",
        ),
        (
            "cache",
            "a folder in which embeddings are kept; only in memory by default",
        ),
        (
            "timeout_s",
            "seconds that a request may take; 30 by default",
        ),
        (
            "retries",
            "how often a failed request is repeated; 3 by default",
        ),
    ],
    // Both work without an endpoint.
    examples: &[
        Example {
            options: "{ base_url: 'http://127.0.0.1:8080/v1', model: all-MiniLM-L6-v2 }",
            prediction: "Paris ",
            ground_truth: "Paris",
            correct: true,
            note: "the same text, which needs no embedding",
        },
        Example {
            options: "{ base_url: 'http://127.0.0.1:8080/v1', model: all-MiniLM-L6-v2 }",
            prediction: " ",
            ground_truth: "Paris",
            correct: false,
            note: "nothing is similar to nothing",
        },
    ],
    make: |options| {
        #[cfg(feature = "http")]
        return http::make(options);
        #[cfg(not(feature = "http"))]
        {
            let _ = options;
            Err(Error::without_feature(
                "scorer `semantic` in a spec",
                "http",
            ))
        }
    },
};

/// Makes embeddings: vectors that are close to each other if the texts have the same meaning.
///
/// A named closure is one, too: `("my-model", |texts: &[&str]| …)`.
///
/// ```
/// use evaltest::Result;
/// use evaltest::scorer::{Embedder, Semantic};
///
/// struct Lengths;
///
/// impl Embedder for Lengths {
///     fn model(&self) -> &str {
///         "lengths"
///     }
///
///     fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
///         Ok(texts.iter().map(|text| vec![1.0, text.len() as f32]).collect())
///     }
/// }
///
/// let scorer = Semantic::new(Lengths).threshold(0.9);
/// # let _: Box<dyn evaltest::Scorer> = Box::new(scorer);
/// ```
pub trait Embedder: Send + Sync {
    /// The model. Vectors are cached under its name, and runs with different models are not compared.
    fn model(&self) -> &str;

    /// A vector for each text, in order, all of the same length.
    ///
    /// # Errors
    /// When there are none. The answer is then not scored, and does not count as wrong.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>>;

    /// Values that must not reach a record, such as an API key.
    fn secrets(&self) -> Vec<String> {
        Vec::new()
    }
}

impl<F> Embedder for (&'static str, F)
where
    F: Fn(&[&str]) -> Result<Vec<Vec<f32>>> + Send + Sync,
{
    fn model(&self) -> &str {
        self.0
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        self.1(texts)
    }
}

/// Compares embeddings.
///
/// ```
/// use evaltest::scorer::Semantic;
///
/// let letters = |texts: &[&str]| {
///     let count = |text: &str, letter: char| text.matches(letter).count() as f32;
///     let vector = |text: &&str| ('a'..='z').map(|letter| count(text, letter)).collect();
///     Ok(texts.iter().map(vector).collect::<Vec<Vec<f32>>>())
/// };
/// let near = Semantic::new(("letters", letters)).threshold(0.8);
/// # let _: Box<dyn evaltest::Scorer> = Box::new(near);
/// ```
///
#[doc = include_str!("semantic.md")]
pub struct Semantic {
    embedder: Box<dyn Embedder>,
    threshold: f64,
    cache: Cache,
}

impl Semantic {
    /// Uses this embedder. Similarities from 0.7 are correct.
    pub fn new(embedder: impl Embedder + 'static) -> Self {
        Self {
            embedder: Box::new(embedder),
            threshold: THRESHOLD,
            cache: Cache::default(),
        }
    }

    /// Sets the minimum similarity of a correct answer.
    #[must_use]
    pub fn threshold(mut self, similarity: f64) -> Self {
        self.threshold = similarity;
        self
    }

    /// Sets a folder that caches embeddings for later runs.
    #[must_use]
    pub fn cache(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache = Cache::in_folder(folder.into());
        self
    }

    /// The embeddings of two texts. Unknown ones are requested together.
    fn vectors(&self, texts: [&str; 2]) -> Result<[Arc<[f32]>; 2]> {
        let model = self.embedder.model();
        let mut known = texts.map(|text| self.cache.get(model, text));
        let unknown = texts
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none());
        let unknown: Vec<&str> = unknown.map(|(text, _)| *text).collect();
        if !unknown.is_empty() {
            let vectors = self.embedder.embed(&unknown)?;
            if vectors.len() != unknown.len() {
                let (sent, got) = (unknown.len(), vectors.len());
                let message = format!("model `{model}` gave {got} vectors for {sent} texts");
                return Err(Error::infrastructure(message));
            }
            let mut vectors = vectors.into_iter();
            for (text, known) in texts.iter().zip(&mut known) {
                if known.is_none()
                    && let Some(vector) = vectors.next()
                {
                    check(&vector).map_err(|reason| {
                        Error::infrastructure(format!("model `{model}` {reason}"))
                    })?;
                    let vector: Arc<[f32]> = vector.into();
                    self.cache.put(model, text, &vector)?;
                    *known = Some(vector);
                }
            }
        }
        match known {
            [Some(one), Some(other)] if one.len() == other.len() => Ok([one, other]),
            [one, other] => {
                let length = |vector: Option<Arc<[f32]>>| vector.map_or(0, |vector| vector.len());
                let message = format!(
                    "model `{model}` gave vectors of {} and of {} numbers",
                    length(one),
                    length(other)
                );
                let error = Error::infrastructure(message);
                Err(error.hint("has the model changed? then give it another `cache`"))
            }
        }
    }
}

/// Rejects vectors without a direction.
fn check(vector: &[f32]) -> std::result::Result<(), &'static str> {
    if vector.iter().any(|number| !number.is_finite()) {
        return Err("gave a vector with a part that is not a number");
    }
    if vector.iter().all(|number| *number == 0.0) {
        return Err("gave a vector without direction, all 0");
    }
    Ok(())
}

/// The cosine of the angle between two vectors of the same length, from -1 to 1.
fn cosine(one: &[f32], other: &[f32]) -> f64 {
    let dot = |one: &[f32], other: &[f32]| -> f64 {
        let pairs = one.iter().zip(other);
        pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let cosine = dot(one, other) / (dot(one, one).sqrt() * dot(other, other).sqrt());
    cosine.clamp(-1.0, 1.0)
}

impl Scorer for Semantic {
    fn name(&self) -> &'static str {
        "semantic"
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        let Some(truth) = answer.target.as_text() else {
            return Err(
                Error::usage("`ground_truth` must be a string for scorer `semantic`")
                    .hint("wrap it in `any_of` for several accepted answers"),
            );
        };
        let truth = truth.trim_matches(is_py_space);
        if truth.is_empty() {
            return Err(Error::usage(
                "`ground_truth` is blank, so no similarity can be computed",
            ));
        }
        let prediction = answer.prediction.unwrap_or_default();
        let prediction = prediction.trim_matches(is_py_space);
        if prediction.is_empty() {
            let score = Score::new(0.0, false, "no_prediction");
            return Ok(score.normalized(prediction, truth));
        }
        let (similarity, is_same) = if prediction == truth {
            (1.0, true)
        } else {
            let [one, other] = self.vectors([prediction, truth])?;
            (cosine(&one, &other), false)
        };
        let correct = similarity >= self.threshold;
        let reason = match (is_same, correct) {
            (true, _) => "exact_match",
            (false, true) => "similar",
            (false, false) => "dissimilar",
        };
        let score = Score::new(similarity.max(0.0), correct, reason);
        let score = score.detail("similarity", similarity);
        Ok(score.normalized(prediction, truth))
    }

    fn reads(&self) -> Reads {
        Reads::Text
    }

    fn fingerprint(&self) -> String {
        let options = serde_json::json!([self.embedder.model(), self.threshold]);
        format!("semantic {options}")
    }

    fn secrets(&self) -> Vec<String> {
        self.embedder.secrets()
    }
}

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
struct Cache {
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
    fn in_folder(folder: PathBuf) -> Self {
        Self {
            memory: Mutex::default(),
            files: Some(Buckets::new(folder, "embedding", LONGEST_FILE)),
        }
    }

    fn get(&self, model: &str, text: &str) -> Option<Arc<[f32]>> {
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
    fn put(&self, model: &str, text: &str, vector: &Arc<[f32]>) -> Result<()> {
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
mod cache_tests {
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
