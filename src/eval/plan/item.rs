//! `Item`: a sample with derived values, and `Packed`: its compact form in memory.
//!
//! A JSON tree takes several times the memory of its text, so a plan holds texts; for a row of a large file, only its
//! position. An item is unpacked when it is asked and dropped when its record is on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::data::dataset::{FileRow, SamplePlace};
use crate::data::{Attachment, Sample, Target};
use crate::error::Result;
use crate::text::hash;

/// A sample with derived values.
pub(crate) struct Item {
    pub(crate) sample: Sample,
    pub(crate) input_hash: String,
    pub(crate) target_hash: String,
    /// The same as versions had it that rounded numbers; empty if it does not differ.
    pub(crate) older_target_hash: String,
    pub(crate) question_hash: String,
}

/// A sample that waits to be asked.
pub(crate) struct Packed {
    pub(crate) id: Box<str>,
    pub(crate) slices: Arc<[(String, String)]>,
    pub(crate) files: Box<[Attachment]>,
    visible: Arc<[String]>,
    body: Body,
    pub(super) hashes: Hashes,
}

/// The first bytes of the hashes of the agent's input, of the ground truth, and of the question with its files but
/// without the prompt around it.
#[derive(Clone, Copy, Default)]
pub(super) struct Hashes {
    pub(super) input: [u8; 8],
    pub(super) target: [u8; 8],
    /// That of the ground truth as older versions read it; mostly the same.
    pub(super) older_target: [u8; 8],
    pub(super) question: [u8; 8],
}

/// The values of each slice dimension.
pub(super) type Slices = BTreeMap<String, BTreeSet<String>>;

/// Prompt, target, metadata and tools.
enum Body {
    /// As a JSON array.
    Text(Box<str>),
    /// A sample that does not survive a round trip through JSON.
    Whole(Box<Sample>),
    /// A position in the dataset's file.
    Placed(SamplePlace),
}

/// The content of a [`Body::Text`]. A target of `null` differs from none.
type BodyParts = (String, Option<[Value; 1]>, Map<String, Value>, Vec<Value>);

/// Packs samples; common values are shared.
#[derive(Default)]
pub(super) struct Packer {
    visible: Shared<String>,
    slices: Shared<(String, String)>,
}

impl Packer {
    /// `place` is where the sample can be read again, if anywhere.
    pub(super) fn pack(
        &mut self,
        mut sample: Sample,
        place: Option<SamplePlace>,
        hashes: Hashes,
    ) -> Packed {
        Packed {
            id: std::mem::take(&mut sample.id).into(),
            slices: self.slices.share(std::mem::take(&mut sample.slices)),
            files: std::mem::take(&mut sample.files).into(),
            visible: self.visible.share(std::mem::take(&mut sample.visible)),
            body: place.map_or_else(|| Body::of(sample), Body::Placed),
            hashes,
        }
    }

    /// The values of each slice dimension so far.
    pub(super) fn slices(&self) -> Slices {
        slices_in(&self.slices.0)
    }
}

/// The values of each slice dimension in these lists.
pub(super) fn slices_in<'a>(
    lists: impl IntoIterator<Item = &'a Arc<[(String, String)]>>,
) -> Slices {
    let mut slices = Slices::new();
    for (dimension, value) in lists.into_iter().flat_map(|list| list.iter()) {
        let values = slices.entry(dimension.clone()).or_default();
        values.insert(value.clone());
    }
    slices
}

impl Packed {
    /// A sample without files, in a row with these hashes, slices and visible columns.
    pub(super) fn of_row(
        id: Box<str>,
        slices: &Arc<[(String, String)]>,
        visible: &Arc<[String]>,
        place: SamplePlace,
        hashes: Hashes,
    ) -> Self {
        Self {
            id,
            slices: Arc::clone(slices),
            files: Box::default(),
            visible: Arc::clone(visible),
            body: Body::Placed(place),
            hashes,
        }
    }

    /// The row that it is read from, if it is one.
    pub(super) fn row(&self) -> Option<FileRow> {
        self.place()?.row()
    }

    /// Where it can be read again, if anywhere.
    pub(super) fn place(&self) -> Option<SamplePlace> {
        match &self.body {
            Body::Placed(place) => Some(place.clone()),
            Body::Text(_) | Body::Whole(_) => None,
        }
    }

    /// The metadata that an agent may see.
    pub(super) fn visible(&self) -> &Arc<[String]> {
        &self.visible
    }

    /// In hex: of the agent's input, and of the ground truth.
    pub(super) fn hashes(&self) -> [String; 2] {
        [
            hash::hex(&self.hashes.input),
            hash::hex(&self.hashes.target),
        ]
    }

    /// Unpacks the sample.
    ///
    /// # Errors
    /// When it is a row of a file that has changed.
    pub(crate) fn sample(&self) -> Result<Sample> {
        let body = match &self.body {
            // What was written here can be read here.
            Body::Text(text) => {
                let (prompt, target, metadata, tools): BodyParts =
                    serde_json::from_str(text).unwrap_or_default();
                Sample {
                    prompt,
                    target: target.map(|[target]| Target(target)),
                    metadata,
                    tools,
                    ..Sample::default()
                }
            }
            Body::Whole(sample) => (**sample).clone(),
            Body::Placed(place) => place.sample()?,
        };
        Ok(self.around(body))
    }

    /// A sample with this one's data except its texts.
    fn around(&self, body: Sample) -> Sample {
        Sample {
            id: self.id.to_string(),
            slices: self.slices.to_vec(),
            files: self.files.to_vec(),
            visible: self.visible.to_vec(),
            ..body
        }
    }

    /// The sample with its files; its texts are missing if they are in a file.
    pub(super) fn with_files(&self) -> Result<Sample> {
        match &self.body {
            Body::Placed(_) => Ok(self.around(Sample::default())),
            _ => self.sample(),
        }
    }

    /// Unpacks the item.
    ///
    /// # Errors
    /// See [`Packed::sample`].
    pub(crate) fn unpack(&self) -> Result<Item> {
        Ok(self.item(self.sample()?))
    }

    #[cfg(test)]
    pub(super) fn is_placed(&self) -> bool {
        matches!(self.body, Body::Placed(_))
    }

    /// The item without question and ground truth, if those cannot be read again.
    pub(crate) fn shell(&self) -> Item {
        self.item(self.around(Sample::default()))
    }

    fn item(&self, sample: Sample) -> Item {
        let [input_hash, target_hash] = self.hashes();
        let older = Some(self.hashes.older_target).filter(|older| *older != self.hashes.target);
        Item {
            sample,
            input_hash,
            target_hash,
            older_target_hash: older.map(|older| hash::hex(&older)).unwrap_or_default(),
            question_hash: hash::hex(&self.hashes.question),
        }
    }
}

impl Body {
    fn of(sample: Sample) -> Self {
        let Sample {
            prompt,
            target,
            metadata,
            tools,
            ..
        } = &sample;
        let values = target.iter().map(|target| &target.0);
        let mut values = values.chain(metadata.values()).chain(tools);
        if !values.all(|value| is_plain(value, DEEPEST)) {
            return Self::Whole(Box::new(sample));
        }
        let target = target.as_ref().map(|target| [&target.0]);
        match serde_json::to_string(&(prompt, target, metadata, tools)) {
            Ok(text) => Self::Text(text.into()),
            Err(_) => Self::Whole(Box::new(sample)),
        }
    }
}

/// The depth that every JSON reader supports; serde's limit is 128.
const DEEPEST: u32 = 100;

/// Whether a value survives a round trip through JSON: it is not too deep, and has no key that is special to serde.
fn is_plain(value: &Value, depth: u32) -> bool {
    match value {
        Value::Array(_) | Value::Object(_) if depth == 0 => false,
        Value::Array(values) => values.iter().all(|value| is_plain(value, depth - 1)),
        Value::Object(map) => map
            .iter()
            .all(|(key, value)| !key.starts_with("$serde_json") && is_plain(value, depth - 1)),
        _ => true,
    }
}

/// Lists common to many samples, each stored once.
struct Shared<T>(BTreeSet<Arc<[T]>>);

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(BTreeSet::new())
    }
}

impl<T: Ord> Shared<T> {
    fn share(&mut self, list: Vec<T>) -> Arc<[T]> {
        if let Some(known) = self.0.get(list.as_slice()) {
            return Arc::clone(known);
        }
        let list: Arc<[T]> = list.into();
        self.0.insert(Arc::clone(&list));
        list
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(sample: &Sample) -> Packed {
        let packed = Packer::default().pack(sample.clone(), None, Hashes::default());
        let unpacked = packed.sample().unwrap();
        assert_eq!(format!("{unpacked:?}"), format!("{sample:?}"));
        packed
    }

    #[test]
    fn a_packed_sample_is_given_back_as_it_was() {
        let mut sample = Sample::new("a \"b\"", "first\nsecond \u{0}\u{2028}")
            .target(json!(null))
            .slice("level", "1")
            .file(Attachment {
                name: "a.csv".into(),
                path: "2023/a.csv".into(),
                root: "/data".into(),
            });
        sample.visible = vec!["level".into()];
        sample.tools = vec![json!({"name": "f", "parameters": {"z": 1, "a": [1.0, -0.0, 1e300]}})];
        sample.metadata = [
            ("z", json!(0.1)),
            ("a", json!({"n": u64::MAX, "m": i64::MIN})),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into_iter()
        .collect();
        assert!(matches!(check(&sample).body, Body::Text(_)));
        sample.target = None;
        check(&sample);
        check(&Sample::default());
    }

    #[test]
    fn what_json_would_not_give_back_stays_a_tree() {
        let deep = (0..200).fold(json!(1), |value, _| json!([value]));
        let mut sample = Sample::new("a", "?").target(deep);
        assert!(matches!(check(&sample).body, Body::Whole(_)));
        sample.target = Some(json!({"$serde_json::private::RawValue": "1"}).into());
        assert!(matches!(check(&sample).body, Body::Whole(_)));
    }

    #[test]
    fn what_samples_have_in_common_is_held_once() {
        let mut packer = Packer::default();
        let sample = Sample::new("a", "?").slice("level", "1");
        let [a, b] =
            [sample.clone(), sample].map(|sample| packer.pack(sample, None, Hashes::default()));
        assert!(Arc::ptr_eq(&a.slices, &b.slices));
    }
}
