//! Reads replies that name one of several choices.

use serde_json::{Map, Value};

use super::FoundObject;
use super::JudgeReply;
use super::lines::{self, Claim};
use super::name::{Names, trimmed};
use super::{Reading, Unread};

/// The member that decides, if present.
const VERDICT: &str = "verdict";

/// Reads the single choice that a reply names, in JSON, on its own line, or after a label.
pub fn choices(reply: &str, offered: &[&str]) -> Reading {
    read(reply, &Names::of(offered)).unwrap_or_else(Reading::unreadable)
}

fn read(reply: &str, names: &Names<'_>) -> Result<Reading, Unread> {
    let JudgeReply {
        body,
        doubtful,
        whole,
        found,
        quoted,
    } = JudgeReply::parse(reply)?;
    let mut claims = Claims::default();
    let is_text = whole.is_none();
    for found in found.iter().chain(&quoted) {
        claims.of_object(found, names)?;
    }
    if found.len() + quoted.len() > 1 {
        for found in found.iter().chain(&quoted) {
            claims.of_nested(found, names)?;
        }
    }
    match whole.map(|json| (json.value, json.repaired, json.overwritten)) {
        Some((Value::Object(map), repaired, overwritten)) => {
            claims.of_object(&FoundObject::whole(map, repaired, overwritten), names)?;
        }
        // A string in quotes.
        Some((Value::String(text), ..)) => claims.of_text(&text, &[], names, true)?,
        // `[[1]]`
        Some(_) => {
            if let Some(choice) = lines::whole(body, names) {
                claims.add(Claim {
                    choice,
                    is_certain: true,
                })?;
            }
        }
        None => claims.of_text(body, &found, names, true)?,
    }
    if !doubtful.is_empty() {
        claims.of_text(doubtful, &quoted, names, false)?;
    }
    if is_text && claims.choice.is_none() && lines::are_several(body, names) {
        return Err(Unread::Conflicting);
    }
    claims.conclude(names)
}

/// The claims so far; never two different choices.
#[derive(Default)]
struct Claims {
    choice: Option<usize>,
    is_certain: bool,
    /// Whether an object has a verdict that was not offered.
    has_other: bool,
    comments: Map<String, Value>,
    repaired: u32,
}

impl Claims {
    fn add(&mut self, claim: Claim) -> Result<(), Unread> {
        if self.choice.is_some_and(|choice| choice != claim.choice) {
            return Err(Unread::Conflicting);
        }
        self.choice = Some(claim.choice);
        self.is_certain |= claim.is_certain;
        Ok(())
    }

    fn of_text(
        &mut self,
        text: &str,
        objects: &[FoundObject],
        names: &Names<'_>,
        is_certain: bool,
    ) -> Result<(), Unread> {
        for mut claim in lines::claims(text, objects, names) {
            claim.is_certain &= is_certain;
            self.add(claim)?;
        }
        Ok(())
    }

    fn of_object(&mut self, found: &FoundObject, names: &Names<'_>) -> Result<(), Unread> {
        let mut chosen = None;
        let overwritten = found.overwritten.iter().map(|(name, value)| (name, value));
        let decides = found.map.contains_key(VERDICT);
        for (name, value) in found.map.iter().chain(overwritten) {
            if decides && name != VERDICT {
                continue;
            }
            match value.as_str().and_then(|text| names.find(trimmed(text))) {
                None if decides => self.has_other = true,
                None => {}
                Some(choice) => {
                    chosen = Some(name);
                    self.add(Claim {
                        choice,
                        is_certain: found.is_certain,
                    })?;
                }
            }
        }
        if let Some(chosen) = chosen.filter(|_| self.comments.is_empty()) {
            let members = found.map.iter();
            let texts = members.filter(|(name, value)| *name != chosen && value.is_string());
            let texts = texts.map(|(name, value)| (name.clone(), value.clone()));
            self.comments = texts.collect();
            self.repaired = found.repaired;
        }
        Ok(())
    }

    fn of_nested(&mut self, found: &FoundObject, names: &Names<'_>) -> Result<(), Unread> {
        let given = found.nested(VERDICT).into_iter().filter_map(Value::as_str);
        for choice in given.filter_map(|text| names.find(trimmed(text))) {
            self.add(Claim {
                choice,
                is_certain: false,
            })?;
        }
        Ok(())
    }

    fn conclude(self, names: &Names<'_>) -> Result<Reading, Unread> {
        match self.choice {
            Some(_) if self.has_other => Err(Unread::Conflicting),
            Some(choice) if self.is_certain => Ok(Reading {
                comments: self.comments,
                repaired: self.repaired,
                ..Reading::of_verdict(names.name(choice))
            }),
            _ => Err(Unread::InvalidResponseFormat),
        }
    }
}
