//! `Sees`: which parts of a sample and its answer a judge is shown.

use std::borrow::Cow;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::prompt::Exhibit;
use super::rubric::Grading;
use crate::data::{Attachment, Sample};
use crate::error::{Error, Result};
use crate::scorer::{Answer, OptionReader};
use crate::text::hash::Hasher;

/// The name of the option.
pub(in crate::scorer::ask) const KEY: &str = "sees";

/// The maximum size of a file shown as text, in bytes.
const LONGEST_TEXT: u64 = 1 << 20;

/// What a judge is shown, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::scorer::ask) struct Sees {
    list: Vec<See>,
    /// Also the ground truth, if there is one.
    truth_if_there: bool,
}

/// One thing shown to a judge.
#[derive(Clone, Debug, PartialEq, Eq)]
enum See {
    Prompt,
    Prediction,
    GroundTruth,
    Files,
    /// A field of the item.
    Field(String),
}

/// What a judge is shown of one answer.
#[derive(Default)]
pub(in crate::scorer::ask) struct JudgeMaterial<'a> {
    pub(in crate::scorer::ask) exhibits: Vec<Exhibit<'a>>,
    /// Files that are not part of an exhibit: images, and others that are not text.
    pub(in crate::scorer::ask) files: Vec<Attachment>,
    /// Characters of the answer.
    pub(in crate::scorer::ask) length: u64,
    /// Names and content hashes of files, for the key.
    attached: Vec<(String, String)>,
}

impl JudgeMaterial<'_> {
    /// Adds everything shown to a hash.
    pub(in crate::scorer::ask) fn parts(&self, hash: Hasher) -> Hasher {
        let hash = self.exhibits.iter().fold(hash, |hash, exhibit| {
            let hash = hash
                .part(exhibit.name())
                .part([u8::from(exhibit.text().is_some())]);
            hash.part(exhibit.text().unwrap_or_default())
        });
        let attached = self.attached.iter();
        attached.fold(hash, |hash, (name, content)| hash.part(name).part(content))
    }
}

impl See {
    fn of(name: &str) -> Self {
        match name {
            "prompt" => Self::Prompt,
            "prediction" => Self::Prediction,
            "ground_truth" => Self::GroundTruth,
            "files" => Self::Files,
            field => Self::Field(field.to_owned()),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Prompt => "prompt",
            Self::Prediction => "prediction",
            Self::GroundTruth => "ground_truth",
            Self::Files => "files",
            Self::Field(field) => field,
        }
    }
}

impl Sees {
    /// The default: the prompt and the answer; for a rubric that compares with a reference answer also that, if there
    /// is one.
    pub(in crate::scorer::ask) fn usual(grading: &Grading) -> Self {
        Self {
            list: vec![See::Prompt, See::Prediction],
            truth_if_there: grading.sees_truth(),
        }
    }

    /// The default for items: the item, which contains question and answer.
    fn items() -> Self {
        Self {
            list: vec![See::Prediction],
            truth_if_there: false,
        }
    }

    /// The named parts.
    ///
    /// # Errors
    /// When no names are given, or a name is repeated.
    pub(in crate::scorer::ask) fn named<'a>(
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self> {
        let mut list: Vec<See> = Vec::new();
        for name in names {
            let see = See::of(name);
            if name.trim().is_empty() {
                return Err(Error::usage("a name in `sees` is empty")
                    .hint("write `sees: [prompt, prediction, ground_truth]`"));
            }
            if list.contains(&see) {
                return Err(Error::usage(format!("`sees` has `{name}` twice")).hint("remove one"));
            }
            list.push(see);
        }
        if list.is_empty() {
            return Err(
                Error::usage("`sees` is empty, so the judge would see nothing")
                    .hint("write `sees: [prompt, prediction]`"),
            );
        }
        Ok(Self {
            list,
            truth_if_there: false,
        })
    }

    /// As set in the options.
    pub(in crate::scorer::ask) fn of_options(
        options: &OptionReader<'_>,
        grading: &Grading,
    ) -> Result<Self> {
        let names = options.texts(KEY).map_err(|error| {
            error.hint("write a list of names: `sees: [prompt, prediction, ground_truth]`")
        });
        match names? {
            None if options.maker().item_parts().is_some() => Ok(Self::items()),
            None => Ok(Self::usual(grading)),
            Some(names) => Self::named(names).map_err(|error| options.of(KEY, error)),
        }
    }

    /// For the fingerprint.
    pub(in crate::scorer::ask) fn names(&self) -> Value {
        // What is shown of files has changed, so the text differs from the one used before.
        let names = self.list.iter().map(|see| match see {
            See::Files => "files, and the text of each",
            other => other.name(),
        });
        json!([names.collect::<Vec<_>>(), self.truth_if_there])
    }

    /// Whether a ground truth is required.
    pub(in crate::scorer::ask) fn needs_target(&self) -> bool {
        self.list.contains(&See::GroundTruth)
    }

    /// A notice, if there is one.
    pub(in crate::scorer::ask) fn notice(&self) -> Option<String> {
        (!self.list.contains(&See::Prediction))
            .then(|| "the judge never sees the answer: `sees` has no `prediction`".to_owned())
    }

    /// The fields that affect the verdict on a sample.
    ///
    /// # Errors
    /// When the sample lacks one of them.
    pub(in crate::scorer::ask) fn criterion(&self, sample: &Sample) -> Result<Option<String>> {
        let fields = self.list.iter().filter_map(|see| match see {
            See::Field(name) => Some(name),
            _ => None,
        });
        let values = fields.map(|name| {
            let there = sample.metadata.get(name);
            there.ok_or_else(|| no_field(name, sample).under(KEY))
        });
        let values: Vec<&Value> = values.collect::<Result<_>>()?;
        Ok((!values.is_empty()).then(|| json!(values).to_string()))
    }

    /// What is shown of an answer.
    ///
    /// # Errors
    /// When something to be shown is missing.
    pub(in crate::scorer::ask) fn material<'a>(
        &self,
        answer: &Answer<'a>,
    ) -> Result<JudgeMaterial<'a>> {
        let mut exhibits = Vec::with_capacity(self.list.len() + 1);
        let mut attached: &[Attachment] = &[];
        let mut files = Vec::new();
        for see in &self.list {
            let text = match see {
                See::Prompt => Some(question(answer)?.into()),
                See::Prediction => answer.prediction.map(Cow::Borrowed),
                See::GroundTruth => Some(text(&answer.target.0)),
                See::Files => {
                    attached = attachments(answer)?;
                    let names = attached.iter().map(|file| file.name.as_str());
                    Some(names.collect::<Vec<_>>().join("\n").into())
                }
                See::Field(name) => answer.metadata.get(name).map(text),
            };
            exhibits.push(Exhibit::new(see.name().to_owned(), text));
            if *see == See::Files {
                for file in attached {
                    match text_of(file)? {
                        Some(text) => exhibits.push(Exhibit::of_file(&file.name, text)),
                        None => files.push(file.clone()),
                    }
                }
            }
        }
        if self.truth_if_there && !answer.target.0.is_null() {
            exhibits.push(Exhibit::new("ground_truth", Some(text(&answer.target.0))));
        }
        let length = answer.prediction.map_or(0, |text| text.chars().count());
        Ok(JudgeMaterial {
            exhibits,
            attached: contents(attached)?,
            files,
            length: length as u64,
        })
    }
}

/// The text of a file, to be shown as part of the material. An endpoint would append an attached file to the request
/// itself.
fn text_of(file: &Attachment) -> Result<Option<String>> {
    let path = path_of(file)?;
    let unread = |error: std::io::Error| Error::io("read", &path, &error);
    if std::fs::metadata(&path).map_err(unread)?.len() > LONGEST_TEXT {
        return Ok(None);
    }
    let bytes = std::fs::read(&path).map_err(unread)?;
    // A NUL is valid UTF-8, but not text.
    let text = String::from_utf8(bytes).ok();
    Ok(text.filter(|text| !text.contains('\0')))
}

fn path_of(file: &Attachment) -> Result<PathBuf> {
    let path = file.resolve();
    path.map_err(|error| Error::infrastructure(error.message))
}

/// Names and content hashes of files.
fn contents(files: &[Attachment]) -> Result<Vec<(String, String)>> {
    let content = |file: &Attachment| {
        let path = path_of(file)?;
        let hash = crate::system::file::hash(&path);
        let hash = hash.map_err(|error| Error::io("read", &path, &error))?;
        Ok((file.name.clone(), hash))
    };
    files.iter().map(content).collect()
}

/// A string unchanged, anything else as JSON.
fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// What was asked.
fn question<'a>(answer: &Answer<'a>) -> Result<&'a str> {
    let member = |name: &str| answer.metadata.get(name)?.as_str();
    let there = answer
        .prompt
        .or_else(|| member("prompt"))
        .or_else(|| member("question"));
    there.ok_or_else(|| {
        Error::usage("the judge needs the question, but it is not available here")
            .hint("add `\"metadata\": {\"prompt\": …}` to each line, or set `sees: [prediction, ground_truth]`")
    })
}

fn attachments<'a>(answer: &Answer<'a>) -> Result<&'a [Attachment]> {
    let sample = answer.sample.map(|sample| sample.files.as_slice());
    sample.ok_or_else(|| {
        Error::usage("the judge needs the sample's files, but they are not available here")
            .hint("run the eval, or let the judge see less: `sees: [prompt, prediction]`")
    })
}

/// The error for a sample without a field named in `sees`.
fn no_field(name: &str, sample: &Sample) -> Error {
    let there: Vec<&str> = sample.metadata.keys().map(String::as_str).collect();
    let error = Error::usage(format!(
        "`sees` of the judge names the field `{name}`, which does not exist"
    ));
    let own = ["prompt", "prediction", "ground_truth", "files"];
    let legal = there.iter().copied().chain(own);
    match crate::error::nearest(name, legal) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None if there.is_empty() => error.hint(format!(
            "samples of this benchmark have no fields; available: `{}`",
            own.join("`, `")
        )),
        None => error.hint(format!(
            "available: `{}`, `{}`",
            own.join("`, `"),
            there.join("`, `")
        )),
    }
}
