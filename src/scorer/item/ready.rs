//! Built-in kinds of items: their fields, checks and template, in the form of a user's spec.

use serde_json::{Map, Value};

use super::fields::FieldKeys;
use super::keys;
use crate::error::{Error, Result, nearest};
use crate::text::{quoted, yaml};

/// A named kind of items.
#[derive(Debug)]
pub(crate) struct ReadyItems {
    /// The name in specs.
    pub(crate) name: &'static str,
    /// The content of its file.
    keys: Map<String, Value>,
}

/// All of them: each is a part of a spec, in YAML.
const READY: [(&str, &str); 1] = [("aime", include_str!("ready/aime.yaml"))];

/// The available names.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    READY.iter().map(|(name, _)| *name)
}

/// The built-in items with this name.
///
/// # Errors
/// When there are none.
pub(crate) fn of(name: &str) -> Result<ReadyItems> {
    let Some((name, text)) = READY.iter().find(|(known, _)| *known == name) else {
        let legal = quoted(names());
        let error = Error::usage(format!(
            "nothing that is ready is called `{}`",
            name.escape_debug()
        ));
        return Err(error.hint(match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known are {legal}; or write your own `fields` and `template`"),
        }));
    };
    let value = yaml::read_json(text).map_err(|error| Error::infrastructure(error.to_string()))?;
    match value {
        Value::Object(keys) => Ok(ReadyItems { name, keys }),
        _ => Err(Error::infrastructure(format!("`{name}` is not a map"))),
    }
}

impl ReadyItems {
    /// Their fields.
    pub(crate) fn fields(&self) -> Vec<FieldKeys> {
        keys(&self.keys["fields"]).unwrap_or_default()
    }

    /// Their topics.
    pub(crate) fn topics(&self) -> Vec<String> {
        let topics = self.keys["topics"].as_array().into_iter().flatten();
        topics
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    }

    /// Their checks.
    pub(crate) fn checks(&self) -> Map<String, Value> {
        self.keys["checks"].as_object().cloned().unwrap_or_default()
    }

    /// The template of the request.
    pub(crate) fn template(&self) -> &str {
        self.keys["template"].as_str().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::ItemScorer;
    use super::super::checks::ItemChecks;
    use super::super::fields::ItemFields;
    use super::*;

    #[test]
    fn what_is_ready_is_what_a_user_may_write() {
        for name in names() {
            let ready = of(name).unwrap();
            assert!(!ready.template().is_empty(), "{name}");
            let fields = ItemFields::of(ready.fields(), &ready.topics()).unwrap();
            let checks = ItemChecks::of(&ready.checks(), &fields).unwrap();
            drop(ItemScorer::new(fields, checks));
        }
        let error = of("aim").unwrap_err();
        assert_eq!(error.hint_text(), Some("did you mean `aime`?"));
    }
}
