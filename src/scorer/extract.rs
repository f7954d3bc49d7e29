//! Answer extraction: takes the prediction that scorers compare from an agent's answer.
//!
//! A separate step, the same for every scorer; its result is recorded next to the raw answer. Each method takes time
//! linear in the length of the answer, because answers are hostile input.

mod aime;
mod boxed;
mod choice;
mod final_answer;
mod first_answer;
pub(crate) mod gsm8k;
mod json;
mod labels;
mod last_number;
mod number;
mod numbers;
pub(crate) mod thoughts;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use regex::Regex;
use serde_json::{Map, Value};

use crate::data::FoundBy;
use crate::error::{Error, Result, Under, nearest};
use crate::scorer::Scorer;
use crate::text::{MatchScope, compile};

pub(in crate::scorer) use final_answer::{reference_value, undressed};
pub(crate) use json::find as find_json;

/// How the prediction is extracted from the raw answer.
///
#[doc = include_str!("extract.md")]
#[derive(Clone, Debug)]
pub struct Extract {
    way: Way,
    strip_think: bool,
}

#[derive(Clone, Debug)]
enum Way {
    None,
    FinalAnswer,
    FirstAnswer,
    LastLine,
    After(String),
    Regex {
        pattern: Regex,
        group: Option<usize>,
    },
    Boxed,
    Number,
    JsonPointer(String),
    Choice(Option<String>),
    Gsm8k,
    Aime,
}

/// The version of the rules of this module. Increment it when some answer is read differently. It is no part of
/// fingerprints: a baseline of another version is compared, with a notice.
///
/// * 1: labels in few forms; what was not found was taken whole, and nobody recorded how.
/// * 2: answers are read as claims, and records say how ([`FoundBy`]).
pub(crate) const VERSION: u32 = 2;

/// The documentation of all extractions, in Markdown.
pub const PAGE: &str = include_str!("extract.md");

/// The names in specs.
pub(crate) const NAMES: &[&str] = &[
    "after",
    "aime",
    "boxed",
    "choice",
    "final_answer",
    "gsm8k",
    "json_pointer",
    "last_line",
    "none",
    "number",
    "regex",
];

impl Extract {
    fn new(way: Way) -> Self {
        Self {
            way,
            strip_think: false,
        }
    }

    /// The whole answer, unchanged.
    pub fn none() -> Self {
        Self::new(Way::None)
    }

    /// The text that the answer calls final; without any, the whole answer.
    pub fn final_answer() -> Self {
        Self::new(Way::FinalAnswer)
    }

    /// The text after the first `FINAL ANSWER:`, with the fallbacks of `HelloAgents`.
    pub fn first_answer() -> Self {
        Self::new(Way::FirstAnswer)
    }

    /// The last line that is not blank.
    pub fn last_line() -> Self {
        Self::new(Way::LastLine)
    }

    /// The text after the last occurrence of this marker.
    pub fn after(marker: impl Into<String>) -> Self {
        Self::new(Way::After(marker.into()))
    }

    /// The first match of a regular expression, or of its first group if it has one.
    ///
    /// # Errors
    /// When the pattern is invalid, or too large to be matched in bounded time.
    pub fn regex(pattern: &str) -> Result<Self> {
        Self::from_regex(pattern, None)
    }

    /// The content of the last `\boxed{…}`; nothing if that is not closed.
    pub fn boxed() -> Self {
        Self::new(Way::Boxed)
    }

    /// The number that the answer claims; without a claim, its last one.
    pub fn number() -> Self {
        Self::new(Way::Number)
    }

    /// The member of the answer's JSON at a pointer such as `/answer`.
    pub fn json_pointer(pointer: impl Into<String>) -> Self {
        Self::new(Way::JsonPointer(pointer.into()))
    }

    /// The letter that the answer chooses.
    pub fn choice() -> Self {
        Self::new(Way::Choice(None))
    }

    /// The number at the end of a worked solution, after `####` or `A:`.
    pub fn gsm8k() -> Self {
        Self::new(Way::Gsm8k)
    }

    /// The integer in the last `\boxed{…}`, with fallbacks.
    pub fn aime() -> Self {
        Self::new(Way::Aime)
    }

    /// Whether it takes anything but the whole answer.
    pub(crate) fn reads(&self) -> bool {
        self.strip_think || !matches!(self.way, Way::None)
    }

    /// Takes the thoughts of a model off first, as extractions that read claims always do.
    #[must_use]
    pub fn strip_think(mut self) -> Self {
        self.strip_think = true;
        self
    }

    /// The prediction in `raw`; `None` if nothing is found.
    pub fn apply<'a>(&self, raw: &'a str) -> Option<Cow<'a, str>> {
        self.read(raw).0
    }

    /// The prediction in `raw`, and how it was found.
    pub fn read<'a>(&self, raw: &'a str) -> (Option<Cow<'a, str>>, FoundBy) {
        let found = match self.cleaned(raw) {
            Cow::Borrowed(text) => self.way.read(text),
            Cow::Owned(text) => self
                .way
                .read(&text)
                .map(|(found, by)| (Cow::Owned(found.into_owned()), by)),
        };
        match found {
            Some((found, by)) => (Some(found), by),
            None => (None, FoundBy::Nothing),
        }
    }

    /// The text without thoughts, and without what is struck through, where the extraction reads claims.
    fn cleaned<'a>(&self, raw: &'a str) -> Cow<'a, str> {
        if !self.strips_thoughts() {
            return Cow::Borrowed(raw);
        }
        match thoughts::strip(raw) {
            text if !self.reads_claims() => text,
            Cow::Borrowed(text) => thoughts::without_struck(text),
            Cow::Owned(text) => match thoughts::without_struck(&text) {
                Cow::Borrowed(_) => Cow::Owned(text),
                Cow::Owned(text) => Cow::Owned(text),
            },
        }
    }

    /// Whether the thoughts of a model are taken off first.
    pub(crate) fn strips_thoughts(&self) -> bool {
        self.strip_think || self.reads_claims()
    }

    /// Whether it looks for what the answer claims, and not for a place in its text.
    fn reads_claims(&self) -> bool {
        match &self.way {
            Way::FinalAnswer | Way::Boxed | Way::Number | Way::Choice(_) | Way::Aime => true,
            Way::None
            | Way::FirstAnswer
            | Way::LastLine
            | Way::After(_)
            | Way::Regex { .. }
            | Way::JsonPointer(_)
            | Way::Gsm8k => false,
        }
    }
}

/// What an extraction found, and how.
type FoundText<'a> = Option<(Cow<'a, str>, FoundBy)>;

impl Way {
    fn read<'a>(&self, raw: &'a str) -> FoundText<'a> {
        let (slice, by) = match self {
            Self::None => (raw, FoundBy::WholeAnswer),
            Self::FinalAnswer => final_answer::last(raw),
            Self::FirstAnswer => first_answer::first(raw),
            Self::LastLine => {
                let mut lines = raw.lines().map(str::trim);
                (lines.rfind(|line| !line.is_empty())?, FoundBy::LastLine)
            }
            Self::After(marker) => {
                let place = raw.rfind(marker.as_str())?;
                let line = raw[place + marker.len()..].trim_start().lines().next()?;
                (line.trim(), FoundBy::Marker)
            }
            // A single search takes linear time; finding all matches of an untrusted pattern may not.
            Self::Regex { pattern, group } => {
                let group = group.unwrap_or(usize::from(pattern.captures_len() > 1));
                (
                    pattern.captures(raw)?.get(group)?.as_str(),
                    FoundBy::Pattern,
                )
            }
            Self::Boxed => match boxed::last(raw) {
                boxed::LastBox::Closed(found) => (found.content, FoundBy::Box),
                _ => return None,
            },
            Self::Number => number::answer(raw)?,
            Self::JsonPointer(pointer) => {
                return json::member(raw, pointer).map(|found| (found.into(), FoundBy::Json));
            }
            Self::Choice(letters) => choice::letter(raw, letters.as_deref())?,
            Self::Gsm8k => gsm8k::answer(raw)?,
            Self::Aime => aime::answer(raw)?,
        };
        Some((slice.into(), by))
    }
}

/// The extraction of an eval, which applies to each of its scorers.
#[derive(Clone, Debug)]
pub struct Extraction {
    /// The extraction set by the eval or its benchmark.
    pub extract: Extract,
    /// Whether the eval sets it. Then it also applies to scorers with their own extraction.
    pub is_given: bool,
}

impl Extraction {
    /// The extraction for a scorer.
    pub fn of(&self, scorer: &dyn Scorer) -> Cow<'_, Extract> {
        let own = scorer.extract().filter(|_| !self.is_given);
        own.map_or(Cow::Borrowed(&self.extract), Cow::Owned)
    }

    /// The extraction of the deciding scorer, as in a spec.
    pub(crate) fn of_first(&self, scorers: &[Arc<dyn Scorer>]) -> Option<Value> {
        let first = scorers.first()?;
        Some(self.of(&**first).to_value())
    }

    /// The same if it is the scorer's own.
    pub(crate) fn own_of_first(&self, scorers: &[Arc<dyn Scorer>]) -> Option<Value> {
        let own = scorers.first()?.extract();
        own.filter(|_| !self.is_given)
            .map(|extract| extract.to_value())
    }
}

/// Reading and writing extractions in specs.
impl Extract {
    /// Parses an extraction as written in a spec: `final_answer`, `{ after: "####" }`,
    /// `{ type: regex, regex: '…', group: 2 }`.
    pub fn from_value(value: &Value) -> Result<Self> {
        match value {
            Value::String(name) => Self::by_name(name, &Map::new()),
            Value::Object(map) => {
                // `{ after: "####" }` is short for `{ type: after, after: "####" }`.
                let name = match map.get("type") {
                    Some(name) => name.as_str(),
                    None => map
                        .keys()
                        .map(String::as_str)
                        .find(|key| NAMES.contains(key)),
                };
                let name = name.ok_or_else(|| illegal(value))?;
                let mut options = map.clone();
                options.shift_remove("type");
                Self::by_name(name, &options)
            }
            _ => Err(illegal(value)),
        }
    }

    /// Makes an extraction from its name and the other keys.
    pub(crate) fn by_name(name: &str, given: &Map<String, Value>) -> Result<Self> {
        let at = |error: Error| error.at(format_args!("extraction `{name}`"));
        let legal = options(name).ok_or_else(|| unknown(name))?;
        let is_legal = |key: &&String| legal.contains(&key.as_str()) || *key == "strip_think";
        if let Some(key) = given.keys().find(|key| !is_legal(key)) {
            let legal: Vec<_> = legal.iter().copied().chain(["strip_think"]).collect();
            let message = format!(
                "unknown option `{key}`, expected one of `{}`",
                legal.join("`, `")
            );
            let error = at(Error::usage(message)).of_key(key);
            if key == name {
                return Err(error.hint(format!("write `{{ type: {name}, {}: … }}`", legal[0])));
            }
            return Err(match nearest(key, legal.iter().copied()) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error,
            });
        }
        let flag = |key: &str| match given.get(key) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(on)) => Ok(*on),
            Some(other) => Err(at(Error::usage(format!(
                "`{key}: {other}` is not true or false"
            )))
            .under(key)),
        };
        let text = |key: &str| match given.get(key) {
            Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
            Some(Value::Null) => Err(at(Error::usage(format!("`{key}` is empty")).hint(format!(
                "quote it, `#` begins a comment: `{{ {key}: \"#\" }}`"
            )))),
            Some(other) => Err(at(Error::usage(format!("`{key}: {other}` is not a text"))
                .hint(format!("write `{{ {key}: \"…\" }}`")))),
            None => Err(at(Error::usage(format!("`{key}` is missing"))
                .hint(format!("write `extract: {{ {name}: \"…\" }}`")))),
        };
        let text = |key: &str| text(key).under(key);
        let mut extract = match name {
            "after" => Self::after(text("after")?),
            "aime" => Self::aime(),
            "boxed" => Self::boxed(),
            "choice" => Self::new(Way::Choice(match given.get("letters") {
                None => None,
                Some(Value::String(letters)) if is_letters(letters) => Some(letters.clone()),
                Some(other) => {
                    let message = format!("`letters: {other}` are not letters from A to Z");
                    let error = at(Error::usage(message).hint("write `letters: ABCD`"));
                    return Err(error.under("letters"));
                }
            })),
            "final_answer" if flag("first")? => Self::first_answer(),
            "final_answer" => Self::final_answer(),
            "gsm8k" => Self::gsm8k(),
            "json_pointer" => {
                let pointer = text("json_pointer")?;
                if !pointer.starts_with('/') {
                    let message = format!("`{pointer}` is not a JSON pointer");
                    let error = at(Error::usage(message).hint(format!("write `/{pointer}`")));
                    return Err(error.under("json_pointer"));
                }
                Self::json_pointer(pointer)
            }
            "last_line" => Self::last_line(),
            "number" => Self::number(),
            "regex" => {
                let group = match given.get("group") {
                    None => None,
                    Some(group) => Some(
                        group
                            .as_u64()
                            .and_then(|n| usize::try_from(n).ok())
                            .ok_or_else(|| {
                                at(Error::usage(format!(
                                    "`group: {group}` is not the number of a group"
                                )))
                                .under("group")
                            })?,
                    ),
                };
                Self::from_regex(&text("regex")?, group).map_err(at)?
            }
            _ => Self::none(),
        };
        extract.strip_think = flag("strip_think")?;
        Ok(extract)
    }

    fn from_regex(text: &str, group: Option<usize>) -> Result<Self> {
        let pattern = compile(text, MatchScope::Part, false).under("regex")?;
        let groups = pattern.captures_len() - 1;
        if let Some(group) = group.filter(|group| *group > groups) {
            let message = format!("group {group} is not in `{text}`, which has {groups}");
            let error = Error::usage(message).hint("group 0 is the whole match");
            return Err(error.under("group"));
        }
        Ok(Self::new(Way::Regex { pattern, group }))
    }

    /// The extraction as written in a spec.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        let mut set = |key: &str, value: Value| drop(map.insert(key.to_owned(), value));
        let name = match &self.way {
            Way::None => "none",
            Way::FinalAnswer => "final_answer",
            Way::FirstAnswer => {
                set("first", true.into());
                "final_answer"
            }
            Way::LastLine => "last_line",
            Way::After(marker) => {
                set("after", marker.as_str().into());
                "after"
            }
            Way::Regex { pattern, group } => {
                set("regex", pattern.as_str().into());
                if let Some(group) = group {
                    set("group", (*group).into());
                }
                "regex"
            }
            Way::Boxed => "boxed",
            Way::Number => "number",
            Way::JsonPointer(pointer) => {
                set("json_pointer", pointer.as_str().into());
                "json_pointer"
            }
            Way::Choice(letters) => {
                if let Some(letters) = letters {
                    set("letters", letters.as_str().into());
                }
                "choice"
            }
            Way::Gsm8k => "gsm8k",
            Way::Aime => "aime",
        };
        if self.strip_think {
            set("strip_think", true.into());
        }
        if map.is_empty() {
            return name.into();
        }
        let tag = ("type".to_owned(), Value::from(name));
        Value::Object(std::iter::once(tag).chain(map).collect())
    }
}

/// The keys of the extraction with this name, besides `type` and `strip_think`; `None` if there is no such extraction.
pub(crate) fn options(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "after" => &["after"],
        "json_pointer" => &["json_pointer"],
        "regex" => &["regex", "group"],
        "final_answer" => &["first"],
        "choice" => &["letters"],
        "aime" | "boxed" | "gsm8k" | "last_line" | "none" | "number" => &[],
        _ => return None,
    })
}

fn unknown(name: &str) -> Error {
    let legal = NAMES.join("`, `");
    let message = format!("unknown extraction `{name}`, expected one of `{legal}`");
    let error = Error::usage(message).under("type");
    match nearest(name, NAMES.iter().copied()) {
        Some(name) => error.hint(format!("did you mean `{name}`?")),
        None => error,
    }
}

fn illegal(value: &Value) -> Error {
    let legal = NAMES.join("`, `");
    Error::usage(format!(
        "`{value}` is not an extraction, expected one of `{legal}`"
    ))
    .hint("write a name such as `final_answer`, or a map such as `{ after: \"####\" }`")
}

fn is_letters(letters: &str) -> bool {
    !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_uppercase())
}

impl Default for Extract {
    fn default() -> Self {
        Self::none()
    }
}

impl PartialEq for Extract {
    fn eq(&self, other: &Self) -> bool {
        self.to_value() == other.to_value()
    }
}

/// Scorer hashes include this text.
impl fmt::Display for Extract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_value() {
            Value::String(name) => f.write_str(&name),
            map => write!(f, "{map}"),
        }
    }
}

#[cfg(test)]
mod tests;
