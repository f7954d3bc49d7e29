//! `Carried`: what a line of a file says, and the line, which may say more than this version knows.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::text::json_line;
use crate::text::splice::{Members, unknown::with_unknown};

/// What a line says. Members that this version does not know are carried on with it.
#[derive(Clone, Debug)]
pub struct Carried<T> {
    /// What this version knows.
    pub known: T,
    /// The line, where it may say more.
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

    /// What was read of a line.
    pub(super) fn of(known: T, line: &[u8]) -> Self {
        let text = std::str::from_utf8(line.trim_ascii());
        Self {
            known,
            line: text.ok().map(Into::into),
        }
    }

    /// Drops the line if this version would write it so.
    pub(super) fn lean(mut self) -> Self {
        let written = json_line(&self.known).ok();
        if self.line().map(str::as_bytes) == written.as_deref() {
            self.line = None;
        }
        self
    }

    /// The line, unless this version would write it so.
    pub(super) fn line(&self) -> Option<&str> {
        self.line.as_deref()
    }

    /// The text of a member, unless this version would write the line so.
    pub(super) fn member(&self, name: &str) -> Option<Box<str>> {
        let members: Members<'_> = serde_json::from_str(self.line()?).ok()?;
        members.get(name).map(Into::into)
    }

    /// All members, as JSON.
    ///
    /// # Errors
    /// When what is known cannot be written.
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
