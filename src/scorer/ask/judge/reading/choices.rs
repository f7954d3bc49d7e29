//! Reads replies that name one of several choices.

use serde_json::{Map, Value};

use super::FoundObject;
use super::JudgeReply;
use super::label::{Label, Labels, Other};
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
    for found in found.iter().chain(&quoted) {
        claims.of_same_members(found, names);
    }
    if found.len() + quoted.len() > 1 {
        for found in found.iter().chain(&quoted) {
            claims.of_nested(found, names)?;
        }
    }
    match whole.map(|json| (json.value, json.repaired, json.overwritten)) {
        Some((Value::Object(map), repaired, overwritten)) => {
            let found = FoundObject::whole(map, repaired, overwritten);
            claims.of_object(&found, names)?;
            claims.of_same_members(&found, names);
        }
        // A string in quotes.
        Some((Value::String(text), ..)) => claims.of_text(&text, &[], names, true)?,
        // `[[1]]`
        Some(_) => {
            if let Some(choice) = lines::whole(body, names) {
                claims.add(Claim {
                    choice,
                    label: None,
                    is_certain: true,
                })?;
            }
        }
        None => claims.of_text(body, &found, names, true)?,
    }
    if !doubtful.is_empty() {
        claims.of_text(&doubtful, &quoted, names, false)?;
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
    /// The labels before the choice.
    labels: Labels,
    /// The members with the choice, in objects without a verdict.
    chosen: Vec<String>,
    /// Whether there is a verdict that was not offered.
    has_other: bool,
    /// Values that were not offered, which may be verdicts.
    others: Vec<Other>,
    comments: Map<String, Value>,
    repaired: u32,
}

impl Claims {
    fn add(&mut self, claim: Claim) -> Result<(), Unread> {
        if self.choice.is_some_and(|choice| choice != claim.choice) {
            return Err(Unread::Conflicting);
        }
        self.choice = Some(claim.choice);
        if let Some(label) = claim.label {
            self.labels.insert(label);
        }
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
        let stated = lines::stated(text, objects, self.choice, names);
        for mut claim in stated.claims {
            claim.is_certain &= is_certain;
            self.add(claim)?;
        }
        self.has_other |= stated.takes_back;
        self.others.extend(stated.others);
        Ok(())
    }

    fn of_object(&mut self, found: &FoundObject, names: &Names<'_>) -> Result<(), Unread> {
        let mut chosen = None;
        let overwritten = found.overwritten.iter().map(|(name, value)| (name, value));
        let decides = found.map.contains_key(VERDICT);
        for (name, value) in found.map.iter().chain(overwritten) {
            let is_verdict = name == VERDICT;
            let label = Label::of_member(name);
            if decides && !is_verdict && !label.is_some_and(Label::is_strong) {
                continue;
            }
            match value.as_str().and_then(|text| names.find(trimmed(text))) {
                None if is_verdict => self.has_other = true,
                None => self.of_member(label, value),
                Some(choice) => {
                    if !decides {
                        chosen = Some(name);
                        self.chosen.push(name.clone());
                    } else if is_verdict {
                        chosen = Some(name);
                    }
                    self.add(Claim {
                        choice,
                        label,
                        is_certain: found.is_certain && (is_verdict || !decides),
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

    /// A value that was not offered.
    fn of_member(&mut self, label: Option<Label>, value: &Value) {
        let Some(label) = label else {
            return;
        };
        let other = match value {
            Value::String(text) => Other::of_member(label, text),
            Value::Number(number) => Other::of_member(label, &number.to_string()),
            _ => None,
        };
        self.others.extend(other);
    }

    /// Whether a member that has the choice elsewhere has another value here.
    fn of_same_members(&mut self, found: &FoundObject, names: &Names<'_>) {
        let overwritten = found.overwritten.iter().map(|(name, value)| (name, value));
        for (name, value) in found.map.iter().chain(overwritten) {
            let is_choice = || value.as_str().and_then(|text| names.find(trimmed(text)));
            self.has_other |= self.chosen.contains(name) && is_choice().is_none();
        }
    }

    fn of_nested(&mut self, found: &FoundObject, names: &Names<'_>) -> Result<(), Unread> {
        let given = found.nested(VERDICT).into_iter().filter_map(Value::as_str);
        for text in given {
            let Some(choice) = names.find(trimmed(text)) else {
                self.has_other = true;
                continue;
            };
            self.add(Claim {
                choice,
                label: Some(Label::VERDICT),
                is_certain: false,
            })?;
        }
        Ok(())
    }

    fn conclude(self, names: &Names<'_>) -> Result<Reading, Unread> {
        let is_other = |choice| {
            let mut others = self.others.iter();
            others.any(|other| other.contradicts(names.name(choice), self.labels, names))
        };
        match self.choice {
            Some(choice) if self.has_other || is_other(choice) => Err(Unread::Conflicting),
            Some(choice) if self.is_certain => Ok(Reading {
                comments: self.comments,
                repaired: self.repaired,
                ..Reading::of_verdict(names.name(choice))
            }),
            _ => Err(Unread::InvalidResponseFormat),
        }
    }
}
