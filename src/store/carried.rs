//! `Carried`: a parsed line together with its text, which may have members unknown to this version.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::text::json_line;
use crate::text::splice::{Members, unknown::with_unknown};

/// A parsed line. Unknown members are preserved.
#[derive(Clone, Debug)]
pub struct Carried<T> {
    /// The known members.
    pub known: T,
    /// The text, if it may have unknown members.
    line: Option<Box<str>>,
}

impl<T> From<T> for Carried<T> {
    fn from(known: T) -> Self {
        Self { known, line: None }
    }
}

impl<T: Serialize + DeserializeOwned> Carried<T> {
    pub(super) fn parse(line: &[u8]) -> serde_json::Result<Self> {
        Ok(Self::of(serde_json::from_slice(line)?, line))
    }

    /// From a parsed line.
    pub(super) fn of(known: T, line: &[u8]) -> Self {
        let text = std::str::from_utf8(line.trim_ascii());
        Self {
            known,
            line: text.ok().map(Into::into),
        }
    }

    /// Drops the text if this version would write the same.
    pub(super) fn lean(mut self) -> Self {
        let written = json_line(&self.known).ok();
        if self.line().map(str::as_bytes) == written.as_deref() {
            self.line = None;
        }
        self
    }

    /// The text, unless this version would write the same.
    pub(super) fn line(&self) -> Option<&str> {
        self.line.as_deref()
    }

    /// The raw text of a member, unless this version would write the same line.
    pub(super) fn member(&self, name: &str) -> Option<Box<str>> {
        let members: Members<'_> = serde_json::from_str(self.line()?).ok()?;
        members.get(name).map(Into::into)
    }

    /// All members, as JSON.
    ///
    /// # Errors
    /// When the known members cannot be serialised.
    pub fn to_value(&self) -> serde_json::Result<Value> {
        match self.line() {
            Some(line) => {
                let known = serde_json::to_string(&self.known)?;
                serde_json::from_str(&with_unknown(&known, line))
            }
            None => serde_json::to_value(&self.known),
        }
    }
}
