//! `ItemChecks`: the checks of an item, and what a failure means.
//!
//! Each check has a name, under which scores have 1 or 0, and a mode: a failure refuses the item, is recorded, or the
//! check is off. The fields determine which checks exist.

use serde_json::{Map, Value, json};

use super::fields::{ItemField, ItemFields};
use super::kind::FieldKind;
use super::reply::COMPLETE;
use crate::error::{Error, Result, Under, nearest};
use crate::text::quoted;

/// The item is not a near copy of a reference.
pub(crate) const NO_COPY_OF_REFERENCE: &str = "no_copy_of_reference";
/// The item is not a near copy of another item.
pub(crate) const NO_COPY_OF_ITEM: &str = "no_copy_of_item";
/// The topic is the requested one.
pub(crate) const TOPIC_AS_REQUESTED: &str = "topic_as_asked";

/// The default number of new requests after a refusal.
const AGAIN: u32 = 3;
/// The maximum number of new requests.
const MOST_AGAIN: u64 = 100;
/// The default minimum share of a near copy.
const NEAR_COPY: f64 = 0.5;

/// The keys that are not names of checks.
const KEYS: [&str; 4] = ["again", "near_copy", "copy_of", "differs_in"];
/// The suffix of a key that starts with a field's name; its value is another field.
const ENDS_IN: &str = "_ends_in";

/// What a failed check means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckMode {
    /// The item is refused.
    Refuse,
    /// It is recorded, and the item is accepted.
    Note,
    /// The check is not made.
    Off,
}

impl CheckMode {
    /// As written in specs. YAML reads a bare `off` as false.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(word) if word == "refuse" => Some(Self::Refuse),
            Value::String(word) if word == "note" => Some(Self::Note),
            Value::String(word) if word == "off" => Some(Self::Off),
            Value::Bool(false) => Some(Self::Off),
            _ => None,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Note => "note",
            Self::Off => "off",
        }
    }
}

/// The checks of items with certain fields.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ItemChecks {
    /// How often a new reply is requested after a refusal.
    pub(crate) again: u32,
    /// The minimum share of a near copy.
    pub(crate) near_copy: f64,
    /// The field whose text must not be a near copy.
    pub(crate) copy_of: Option<String>,
    /// The field that should differ from the reference's.
    pub(crate) differs_in: Option<String>,
    /// Fields, each with the field that it should end in.
    pub(crate) ends_in: Vec<(String, String)>,
    /// The checks by name, in the order they are made.
    modes: Vec<(String, CheckMode)>,
}

impl ItemChecks {
    /// Reads the checks of a spec.
    ///
    /// # Errors
    /// When it names an unknown field or check.
    pub(crate) fn of(given: &Map<String, Value>, fields: &ItemFields) -> Result<Self> {
        let field = |key: &str| match given.get(key).filter(|value| !value.is_null()) {
            None => Ok(None),
            Some(Value::String(name)) => {
                fields.require(name).under(key)?;
                Ok(Some(name.clone()))
            }
            Some(other) => {
                let error = Error::usage(format!("`{other}` is not the name of a field"));
                Err(error.hint(format!("write `{key}: answer`")).under(key))
            }
        };
        let again = match given.get("again").filter(|value| !value.is_null()) {
            None => AGAIN,
            Some(value) => {
                let number = value.as_u64().filter(|number| *number <= MOST_AGAIN);
                let number = number.and_then(|number| u32::try_from(number).ok());
                number.ok_or_else(|| {
                    let range = format!("a whole number from 0 to {MOST_AGAIN}");
                    let error = Error::usage(format!("`{value}` is not {range}"));
                    error
                        .hint("write the number of repeats, such as `again: 3`")
                        .under("again")
                })?
            }
        };
        let near_copy = match given.get("near_copy").filter(|value| !value.is_null()) {
            None => NEAR_COPY,
            Some(value) => {
                let share = value.as_f64().filter(|share| *share > 0.0 && *share <= 1.0);
                share.ok_or_else(|| {
                    let error =
                        Error::usage(format!("`{value}` is not a share above 0 and up to 1"));
                    let hint =
                        "write `near_copy: 0.5`; `no_copy_of_item: off` does without the check";
                    error.hint(hint).under("near_copy")
                })?
            }
        };
        let is_text = |field: &&ItemField| matches!(field.kind, FieldKind::Text(_));
        let copy_of = match field("copy_of")? {
            Some(name) => Some(name),
            None if given.get("copy_of").is_some() => None,
            None => fields
                .0
                .iter()
                .find(is_text)
                .map(|field| field.name.clone()),
        };
        let mut ends_in = Vec::new();
        for key in given.keys() {
            if let Some(name) = key.strip_suffix(ENDS_IN) {
                fields.require(name).of_key(key)?;
                ends_in.extend(field(key)?.map(|end| (name.to_owned(), end)));
            }
        }
        let mut checks = Self {
            again,
            near_copy,
            copy_of,
            differs_in: field("differs_in")?,
            ends_in,
            modes: Vec::new(),
        };
        checks.modes = checks.usual(fields);
        let is_key = |key: &str| KEYS.contains(&key) || key.ends_with(ENDS_IN);
        for (key, value) in given.iter().filter(|(key, _)| !is_key(key)) {
            let Some(place) = checks.modes.iter().position(|(name, _)| name == key) else {
                return Err(checks.unknown(key));
            };
            let mode = CheckMode::of(value).ok_or_else(|| {
                let error = Error::usage(format!("`{value}` is not `refuse`, `note` or `off`"));
                error.hint(format!("write `{key}: note`")).under(&**key)
            })?;
            checks.modes[place].1 = mode;
        }
        Ok(checks)
    }

    /// All checks for these fields, with their default modes.
    fn usual(&self, fields: &ItemFields) -> Vec<(String, CheckMode)> {
        let refuse = |name: &str| (name.to_owned(), CheckMode::Refuse);
        let mut modes = vec![refuse(COMPLETE)];
        modes.extend(fields.0.iter().map(|field| refuse(&field.check_name())));
        if self.copy_of.is_some() {
            modes.extend([NO_COPY_OF_REFERENCE, NO_COPY_OF_ITEM].map(refuse));
        }
        let notes = self
            .ends_in
            .iter()
            .map(|(name, end)| ends_in_name(name, end));
        let notes = notes.chain(self.differs_in.as_deref().map(differs_name));
        let topic = fields.topic().map(|_| TOPIC_AS_REQUESTED.to_owned());
        modes.extend(notes.chain(topic).map(|name| (name, CheckMode::Note)));
        modes
    }

    /// The error for an unknown key.
    fn unknown(&self, key: &str) -> Error {
        let legal = || KEYS.into_iter().chain(self.names());
        let error = Error::usage(format!("unknown check `{}`", key.escape_debug()));
        let hint = match nearest(key, legal()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the checks of these fields are {}", quoted(legal())),
        };
        error.hint(hint).of_key(key)
    }

    /// The names of all checks, including those that are off.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.modes.iter().map(|(name, _)| name.as_str())
    }

    /// The mode of a check.
    pub(crate) fn mode(&self, name: &str) -> CheckMode {
        let mode = self.modes.iter().find(|(known, _)| known == name);
        mode.map_or(CheckMode::Off, |(_, mode)| *mode)
    }

    /// Everything that affects a verdict. The number of new requests does not.
    pub(crate) fn canonical(&self) -> Value {
        let modes = self.modes.iter();
        let modes = modes.map(|(name, mode)| (name.clone(), mode.as_str().into()));
        json!([
            self.near_copy,
            self.copy_of,
            self.differs_in,
            self.ends_in,
            modes.collect::<Map<_, _>>(),
        ])
    }
}

/// The name of the check that a field ends in another one.
pub(super) fn ends_in_name(name: &str, end: &str) -> String {
    format!("{name}{ENDS_IN}_{end}")
}

/// The name of the check that a field differs from the reference's.
pub(super) fn differs_name(name: &str) -> String {
    format!("{name}_differs_from_reference")
}

#[cfg(test)]
mod tests {
    use super::super::fields::tests::fields;
    use super::*;

    fn checks(yaml: &str) -> Result<ItemChecks> {
        let fields = "[{ name: problem, type: text }, { name: answer, type: integer },
            { name: solution, type: text }, { name: topic, type: choice, choices: topics }]";
        let value = crate::text::setting::Override::value(yaml).unwrap();
        ItemChecks::of(value.as_object().unwrap(), &fields_of(fields))
    }

    fn fields_of(yaml: &str) -> ItemFields {
        fields(yaml).unwrap()
    }

    #[test]
    fn checks_follow_from_the_fields() {
        let checks =
            checks("{ solution_ends_in: answer, differs_in: answer, no_copy_of_item: off }")
                .unwrap();
        let modes = checks.modes.iter();
        let modes = modes.map(|(name, mode)| format!("{name} {}", mode.as_str()));
        let modes: Vec<_> = modes.collect();
        assert_eq!(
            modes,
            [
                "complete refuse",
                "problem_in_form refuse",
                "answer_in_range refuse",
                "solution_in_form refuse",
                "topic_in_list refuse",
                "no_copy_of_reference refuse",
                "no_copy_of_item off",
                "solution_ends_in_answer note",
                "answer_differs_from_reference note",
                "topic_as_asked note",
            ]
        );
        assert_eq!(checks.copy_of.as_deref(), Some("problem"));
        assert_eq!((checks.again, checks.near_copy), (3, 0.5));
    }

    #[test]
    fn a_mistake_is_named_with_what_to_write() {
        fn check(yaml: &str, expect: &str, hint: &str) {
            let error = checks(yaml).unwrap_err();
            assert_eq!(error.message(), expect);
            assert!(error.hint_text().unwrap().contains(hint), "{error}");
        }
        check(
            "{ copy_of: problm }",
            "unknown field `problm`",
            "did you mean `problem`?",
        );
        check(
            "{ answr_ends_in: answer }",
            "unknown field `answr`",
            "did you mean `answer`?",
        );
        check(
            "{ solution_ends_in: x }",
            "unknown field `x`",
            "`problem`, `answer`",
        );
        check(
            "{ differs_in: 3 }",
            "`3` is not the name of a field",
            "differs_in: answer",
        );
        check(
            "{ compleet: note }",
            "unknown check `compleet`",
            "did you mean `complete`?",
        );
        check(
            "{ complete: maybe }",
            "`\"maybe\"` is not `refuse`, `note` or `off`",
            "complete: note",
        );
        check(
            "{ again: -1 }",
            "`-1` is not a whole number from 0 to 100",
            "again: 3",
        );
        check(
            "{ near_copy: 0 }",
            "`0` is not a share above 0 and up to 1",
            "near_copy: 0.5",
        );
    }
}
