//! `ItemTally`: collects the checks of one item, and builds the score.

use serde_json::{Map, Value};

use super::checks::{self, CheckMode, ItemChecks};
use super::fields::ItemFields;
use super::kind::FieldKind;
use super::references::ReferenceItems;
use super::reply::{COMPLETE, ItemReply, READABLE, lacks};
use crate::data::{Details, Normalized, Score};
use crate::scorer::extract::Extract;
use crate::text::unquoted;

/// The reason of an accepted item.
pub(crate) const ACCEPTED: &str = "accepted";

/// The detail that says why an item is refused, for people and for the model that is asked again; the text follows
/// `it`.
pub(crate) const WHY: &str = "why";

/// The results for an item so far.
pub(super) struct ItemTally<'a> {
    checks: &'a ItemChecks,
    pub(super) item: Map<String, Value>,
    pub(super) details: Details,
    /// The first check that refused it, and why.
    refused: Option<(String, String)>,
}

impl<'a> ItemTally<'a> {
    /// Checks the fields of a reply.
    pub(super) fn of(reply: &ItemReply, fields: &ItemFields, checks: &'a ItemChecks) -> Self {
        let read = fields.read(&reply.map);
        let mut details = Details::new();
        details.insert(READABLE, 1);
        let mut tally = Self {
            checks,
            item: read.item,
            details,
            refused: None,
        };
        tally.check(COMPLETE, read.missing.is_empty(), || lacks(&read.missing));
        for field in &fields.0 {
            if !tally.item.contains_key(&field.name) {
                continue;
            }
            let wrong = read.wrong.iter().find(|(name, _)| *name == field.name);
            tally.check(&field.check_name(), wrong.is_none(), || {
                let why = wrong.map_or("is wrong", |(_, why)| why);
                format!("had a mistake: `{}` {why}", field.name)
            });
        }
        if reply.repaired > 0 {
            tally.details.insert("repaired", reply.repaired);
        }
        tally
    }

    /// Records a check; the first one that fails and refuses becomes the reason.
    pub(super) fn check(&mut self, name: &str, passes: bool, why: impl FnOnce() -> String) {
        self.check_as(name, self.checks.mode(name), passes, why);
    }

    /// The same, with an explicit mode.
    pub(super) fn check_as(
        &mut self,
        name: &str,
        mode: CheckMode,
        passes: bool,
        why: impl FnOnce() -> String,
    ) {
        if mode == CheckMode::Off {
            return;
        }
        self.details.insert(name.to_owned(), u8::from(passes));
        if !passes && mode == CheckMode::Refuse && self.refused.is_none() {
            self.refused = Some((name.to_owned(), why()));
        }
    }

    pub(super) fn is_refused(&self) -> bool {
        self.refused.is_some()
    }

    /// Checks for near copies of references; `given_id` is the id of the reference that the model saw.
    pub(super) fn compare(&mut self, references: &ReferenceItems, given_id: Option<&str>) {
        let Some(text) = self
            .checks
            .copy_of
            .as_ref()
            .and_then(|name| self.item.get(name))
        else {
            return;
        };
        if self.checks.mode(checks::NO_COPY_OF_REFERENCE) == CheckMode::Off {
            return;
        }
        let near = references.nearest(&unquoted(text));
        let share = near.as_ref().map_or(0.0, |near| near.share);
        let is_copy = share >= self.checks.near_copy;
        self.check(checks::NO_COPY_OF_REFERENCE, !is_copy, || {
            let which = match near.as_ref().map(|near| near.id.as_str()) {
                id if id == given_id => "the reference that it was shown",
                _ => "a text that is known",
            };
            format!("was a near copy of {which}: write one of your own")
        });
        if let Some(near) = near {
            self.details.insert("nearest", near.id);
        }
        self.details.insert("nearest_share", share);
    }

    /// Checks that the configured field differs from the reference's.
    pub(super) fn differs(&mut self, reference: &Map<String, Value>, fields: &ItemFields) {
        let Some(name) = self.checks.differs_in.clone() else {
            return;
        };
        let (Some(own), Some(theirs)) = (self.item.get(&name), reference.get(&name)) else {
            return;
        };
        let theirs = fields
            .get(&name)
            .and_then(|field| field.kind.normal(theirs).ok());
        let differs = theirs.as_ref() != Some(own);
        self.check(&checks::differs_name(&name), differs, || {
            format!("had the `{name}` of the reference that it was shown")
        });
    }

    /// Checks that fields end in others, such as a solution in the answer.
    pub(super) fn ends(&mut self, fields: &ItemFields) {
        for (name, end) in &self.checks.ends_in {
            let (Some(text), Some(value)) = (self.item.get(name), self.item.get(end)) else {
                continue;
            };
            let ends = fields
                .get(end)
                .is_some_and(|field| ends_in(&unquoted(text), value, &field.kind));
            self.check(&checks::ends_in_name(name, end), ends, || {
                format!("had a `{name}` that did not end in its `{end}`")
            });
        }
    }

    /// Checks that the topic is the requested one.
    pub(super) fn topic(&mut self, fields: &ItemFields, requested: Option<&str>) {
        let Some(reached) = fields.topic().and_then(|field| self.item.get(&field.name)) else {
            return;
        };
        let reached = reached.clone();
        if let Some(requested) = requested {
            let is_same = reached.as_str() == Some(requested);
            self.check(checks::TOPIC_AS_REQUESTED, is_same, || {
                format!("was about another topic than `{requested}`")
            });
        }
        self.details.insert("topic", reached);
    }

    /// The score.
    pub(super) fn score(self) -> Score {
        let mut score = match self.refused {
            None => Score::new(1.0, true, ACCEPTED),
            Some((check, why)) => {
                let score = Score::new(0.0, false, check);
                let mut details = self.details;
                details.insert(WHY, why);
                let item = Value::Object(self.item).to_string();
                return Score { details, ..score }.normalized(item, Normalized::None);
            }
        };
        score.details = self.details;
        score.normalized(Value::Object(self.item).to_string(), Normalized::None)
    }
}

/// Whether a text ends in this value: in its last box, or as its last number or words.
fn ends_in(text: &str, value: &Value, kind: &FieldKind) -> bool {
    let is_it = |found: String| kind.normal(&Value::String(found)).as_ref() == Ok(value);
    if Extract::boxed()
        .apply(text)
        .is_some_and(|found| is_it(found.into_owned()))
    {
        return true;
    }
    let without_end = |c: char| !c.is_alphanumeric();
    if value.is_number() {
        let number = Extract::number().apply(text);
        return number.is_some_and(|number| is_it(number.replace(',', "")));
    }
    let (text, value) = (
        super::kind::folded(text),
        super::kind::folded(&unquoted(value)),
    );
    let (text, value) = (
        text.trim_end_matches(without_end),
        value.trim_end_matches(without_end),
    );
    let before = text.strip_suffix(value);
    before.is_some_and(|before| !value.is_empty() && !before.ends_with(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use std::borrow::Borrow;

    use serde_json::json;

    use super::super::fields::tests::fields;
    use super::*;

    #[test]
    fn a_solution_ends_in_its_answer_however_it_is_written() {
        #[track_caller]
        fn check(text: &str, value: impl Borrow<Value>, kind: &str, expect: bool) {
            let fields = fields(&format!("[{{ name: a, {kind} }}]")).unwrap();
            assert_eq!(
                ends_in(text, value.borrow(), &fields.0[0].kind),
                expect,
                "{text}"
            );
        }
        let integer = "type: integer, range: [0, 999]";
        check(
            r"So $x = 3$, and the sum is $\boxed{042}$.",
            json!(42),
            integer,
            true,
        );
        check(
            r"$\boxed{42}$ as 6 * 7 = 42 has 2 factors",
            json!(42),
            integer,
            true,
        );
        check("Thus the answer is 42.", json!(42), integer, true);
        check("Thus the answer is 42.00", json!(42), integer, true);
        check("42 is 6 times 7", json!(42), integer, false);
        check(r"$\boxed{41}$", json!(42), integer, false);
        check("no number", json!(42), integer, false);
        check("", json!(42), integer, false);
        check("Hence it is Paris.", json!("Paris"), "type: text", true);
        check("Hence it is Comparis", json!("Paris"), "type: text", false);
        check(
            "Hence: YES!",
            json!("yes"),
            "type: choice, choices: [yes!, no!]",
            true,
        );
    }
}
