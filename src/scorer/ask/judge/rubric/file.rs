//! A rubric in a separate file. Errors have the file's name, line and column.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::name::did_you_mean;
use super::read::RubricDraft;
use super::ready::READY;
use crate::data::yaml_places::{Position, YamlPlaces};
use crate::error::{Error, KeyPath, Result};
use crate::text::yaml::{self, YamlError};

/// A file that was read.
pub(super) struct RubricFile {
    path: PathBuf,
    text: String,
}

impl RubricFile {
    /// Reads the file named in an option, relative to the folder.
    pub(super) fn open(given: &str, folder: &Path) -> Result<Self> {
        let path = folder.join(given);
        if !path.exists() {
            let names: Vec<_> = READY.iter().map(|ready| ready.name).collect();
            let near = did_you_mean(given, names.iter().copied());
            let message = format!(
                "`{given}` is not a ready rubric, and there is no file `{}`",
                path.display()
            );
            let names = names.join("`, `");
            let hint = format!(
                "{near}the ready rubrics are `{names}`; a path starts in the folder of the spec"
            );
            return Err(Error::usage(message).hint(hint));
        }
        let read = std::fs::read_to_string(&path);
        let read = read.map_err(|error| Error::io("read", &path, &error));
        let text =
            read.map_err(|error| error.hint("name a YAML file with `dimensions` or `choices`"))?;
        let text = text
            .strip_prefix('\u{feff}')
            .map(str::to_owned)
            .unwrap_or(text);
        Ok(Self { path, text })
    }

    /// The rubric in the file.
    pub(super) fn draft(&self) -> Result<RubricDraft> {
        let value = yaml::read_json(&self.text);
        if let Some((key, place)) = YamlPlaces::of(&self.text).repeated_key() {
            let error = Error::usage(format!("the key `{key}` is there twice"));
            return Err(self.at(place, &error.hint("keep one of the two")));
        }
        let value = value.map_err(|error| self.not_yaml(&error))?;
        if is_spec(&value) {
            let error = Error::usage("this is a spec, not a rubric");
            let hint = "name a YAML file with `dimensions` or `choices`; a path starts in the folder of the spec, so that a \
                        rubric next to `evals/` is `../tone.yaml`";
            return Err(self.at(Position::START, &error.hint(hint)));
        }
        RubricDraft::of(&value).map_err(|error| self.explain(&error))
    }

    /// Adds the position in this file to an error about one of its keys.
    pub(super) fn explain(&self, error: &Error) -> Error {
        let places = YamlPlaces::of(&self.text);
        let place = places.at(error.key_path().unwrap_or(&KeyPath::default()));
        self.at(place.unwrap_or(Position::START), error)
    }

    fn not_yaml(&self, error: &YamlError) -> Error {
        let given = error.place.map(|(line, column)| Position { line, column });
        let second = || YamlPlaces::of(&self.text).second_document();
        let place = given.or_else(second).unwrap_or(Position::START);
        let message = error.to_string();
        // Cut off the position, which is put in front, and the parser's context.
        let end = message.find(" at line ").unwrap_or(message.len());
        let error = Error::usage(format!("not YAML: {}", &message[..end]));
        let hint = "write a map with `dimensions` or `choices`, and texts that have `: ` or `#` between quotes";
        self.at(place, &error.hint(hint))
    }

    /// The error at a position in this file. Drops the key, which does not belong to the spec that names the file.
    fn at(&self, place: Position, error: &Error) -> Error {
        let bare =
            Error::usage(error.message()).at(format_args!("{}:{place}", self.path.display()));
        match error.hint_text() {
            Some(hint) => bare.hint(hint),
            None => bare,
        }
    }
}

/// Whether a file is the spec of an eval: it has a benchmark or an agent, and no grading.
fn is_spec(value: &Value) -> bool {
    let has = |key: &&str| value.get(*key).is_some();
    ["benchmark", "agent"].iter().any(has) && !["dimensions", "choices"].iter().any(has)
}
