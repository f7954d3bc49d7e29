//! Finds the score of a scorer in a record.

use serde_json::Value;

use crate::data::Record;

/// The score of this name in its JSON form: one of several, or a part of a composition; not that of the only scorer.
pub(super) fn of_name<'a>(record: &'a Record, scorer: &str) -> Option<&'a Value> {
    let outcome = &record.result;
    let part = |details: &'a Value| details.get("parts")?.get(scorer);
    let own = || outcome.scores.get(scorer);
    let of_others = || {
        let mut others = outcome.scores.values();
        others.find_map(|it| part(it.get("details")?))
    };
    let of_first = || {
        let score = outcome.score.as_ref()?;
        score.details.get("parts")?.get(scorer)
    };
    own().or_else(of_others).or_else(of_first)
}
