//! How the answers to a sample were found: as snapshots write it, and what changed since.
//!
//! A flip whose answer is found another way now, such as without the label that it had, may be one of form alone: a
//! gate that such flips turn red says so.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{Pair, flipped};
use crate::data::{FoundBy, Outcome};

/// The first version of the reader of answers whose baselines store ways.
pub(crate) const FIRST_READER: u32 = 2;

/// A way that is unknown, in a snapshot.
const UNKNOWN: &str = "unknown";

/// How an answer was found; `None` if unknown. An answer that is no text was taken whole.
pub(crate) fn of(outcome: &Outcome) -> Option<FoundBy> {
    let has_text = outcome.prediction.is_some() || outcome.is_failure_as_wrong();
    outcome
        .found_by
        .or((!has_text).then_some(FoundBy::WholeAnswer))
}

/// The name of a way in records.
pub(crate) fn name(way: FoundBy) -> String {
    match serde_json::to_value(way) {
        Ok(Value::String(name)) => name,
        _ => UNKNOWN.to_owned(),
    }
}

/// The way of this name; `None` if it is unknown, as one of a later version is.
fn named(name: &str) -> Option<FoundBy> {
    FoundBy::deserialize(Value::from(name)).ok()
}

/// The ways of answers in a snapshot: one name for all, or a list. `None` if each answer with a verdict was taken
/// whole.
pub(crate) fn text(ways: &[Option<FoundBy>], answers: &[Option<bool>]) -> Option<String> {
    let judged = ways.iter().zip(answers);
    let judged = judged.filter_map(|(way, answer)| answer.map(|_| *way));
    let is_whole = |way| way == Some(FoundBy::WholeAnswer);
    if judged.clone().all(is_whole) {
        return None;
    }
    let named = |way: Option<FoundBy>| way.map_or_else(|| UNKNOWN.to_owned(), name);
    let mut rest = judged.clone();
    let first = rest.next()?;
    if rest.all(|way| way == first) {
        return Some(named(first));
    }
    let all: Vec<_> = ways.iter().map(|way| named(*way)).collect();
    Some(all.join(", "))
}

/// Reads [`text`] for these answers; `None` if it has another number of ways.
pub(crate) fn read(text: &str, answers: &[Option<bool>]) -> Option<Vec<Option<FoundBy>>> {
    let names: Vec<&str> = text.split(',').map(str::trim).collect();
    match names[..] {
        [one] => {
            let way = named(one);
            Some(answers.iter().map(|answer| answer.and(way)).collect())
        }
        _ => (names.len() == answers.len()).then(|| names.iter().map(|name| named(name)).collect()),
    }
}

/// The samples that became wrong and whose answer is found another way now, by both ways.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WayChanges<'a> {
    /// Samples that became wrong.
    flips: usize,
    /// Whether any of them has several answers on a side.
    has_several: bool,
    changes: BTreeMap<[FoundBy; 2], usize>,
    /// The first sample whose way changed.
    example: Option<&'a str>,
}

impl<'a> WayChanges<'a> {
    pub(crate) fn of(pairs: impl Iterator<Item = Pair<'a>>) -> Self {
        let mut found = Self::default();
        let is_worse = |pair: &Pair<'_>| flipped(pair.before, pair.now) == Some(true);
        for pair in pairs.filter(is_worse) {
            found.flips += 1;
            found.has_several |= pair.before.len().max(pair.now.len()) > 1;
            let before = most_frequent(pair.before, pair.before_ways, true);
            let now = most_frequent(pair.now, pair.now_ways, false);
            let Some((before, now)) = before.zip(now) else {
                continue;
            };
            if before != now {
                *found.changes.entry([before, now]).or_default() += 1;
                found.example = found.example.or(Some(pair.id));
            }
        }
        found
    }

    /// What a red gate says of them; `show` gives the command that shows a sample. `None` without any.
    pub(crate) fn message(&self, show: impl FnOnce(&str) -> String) -> Option<String> {
        let example = self.example?;
        let changed: usize = self.changes.values().sum();
        let counted = format!(
            "{changed} of {} {} that became wrong",
            self.flips,
            if self.has_several {
                "samples"
            } else {
                "answers"
            }
        );
        let arrows = self.changes.iter().map(|([before, now], count)| {
            let arrow = format!("`{}` → `{}`", name(*before), name(*now));
            match self.changes.len() {
                1 => arrow,
                _ => format!("{count} {arrow}"),
            }
        });
        let arrows = arrows.collect::<Vec<_>>().join(", ");
        let what = match self.lost() {
            Some(lost) => format!("had {lost} before and have none now"),
            None => "were extracted in another way before".to_owned(),
        };
        Some(format!(
            "{counted} {what}: perhaps only the format changed, not the answers ({arrows}); see one with `{}`",
            show(example)
        ))
    }

    /// What all of them had around the answer before, and none has now.
    fn lost(&self) -> Option<&'static str> {
        let mut lost = self.changes.keys().map(|[before, now]| {
            let is_bare = form(*now).is_none();
            form(*before).filter(|_| is_bare)
        });
        let first = lost.next()??;
        lost.all(|other| other == Some(first)).then_some(first)
    }
}

/// What stands around an answer that is found this way; `None` if nothing does.
fn form(way: FoundBy) -> Option<&'static str> {
    match way {
        FoundBy::Box => Some("a box"),
        FoundBy::Label => Some("a label"),
        FoundBy::Tag => Some("a tag"),
        FoundBy::Json => Some("JSON"),
        FoundBy::Marker => Some("a marker"),
        FoundBy::Pattern => Some("a match of the pattern"),
        FoundBy::Letter
        | FoundBy::LastNumber
        | FoundBy::LastLine
        | FoundBy::WholeAnswer
        | FoundBy::Nothing => None,
    }
}

/// How most of the answers with this verdict were found, the first of equally many; `None` if unknown.
fn most_frequent(
    answers: &[Option<bool>],
    ways: &[Option<FoundBy>],
    correct: bool,
) -> Option<FoundBy> {
    let wanted = answers.iter().zip(ways);
    let wanted = wanted.filter(|(answer, _)| **answer == Some(correct));
    let mut counts = Vec::<(FoundBy, usize)>::new();
    for way in wanted.filter_map(|(_, way)| *way) {
        match counts.iter_mut().find(|(known, _)| *known == way) {
            Some((_, count)) => *count += 1,
            None => counts.push((way, 1)),
        }
    }
    // Of equal counts, `max_by_key` takes the last.
    let most = counts.iter().rev().max_by_key(|(_, count)| *count);
    most.map(|(way, _)| *way)
}

#[cfg(test)]
mod tests {
    use super::*;
    use FoundBy::{Box, Label, LastNumber, Nothing, WholeAnswer};

    const RIGHT: Option<bool> = Some(true);
    const WRONG: Option<bool> = Some(false);

    #[test]
    fn ways_are_written_once_if_equal_and_read_back() {
        let check = |ways: &[Option<FoundBy>], answers: &[Option<bool>], expect: Option<&str>| {
            let written = text(ways, answers);
            assert_eq!(written.as_deref(), expect);
            if let Some(written) = written {
                assert_eq!(read(&written, answers).as_deref(), Some(ways), "{written}");
            }
        };
        check(&[Some(Label)], &[RIGHT], Some("label"));
        check(&[Some(Label), Some(Label)], &[RIGHT, WRONG], Some("label"));
        check(&[Some(Label), None], &[RIGHT, None], Some("label"));
        check(
            &[Some(Label), Some(WholeAnswer), None],
            &[RIGHT, WRONG, WRONG],
            Some("label, whole_answer, unknown"),
        );
        check(&[None], &[RIGHT], Some("unknown"));
        check(&[Some(WholeAnswer), None], &[WRONG, None], None);
        check(&[None], &[None], None);
    }

    #[test]
    fn a_way_of_a_later_version_is_unknown() {
        assert_eq!(read("oracle", &[RIGHT]), Some(vec![None]));
        assert_eq!(
            read("label, oracle", &[RIGHT, RIGHT]),
            Some(vec![Some(Label), None])
        );
        assert_eq!(read("label, box", &[RIGHT]), None);
    }

    /// The message for samples with these answers, each a verdict with its way.
    fn message(samples: &[[(Option<bool>, Option<FoundBy>); 2]]) -> Option<String> {
        let sides: Vec<_> = samples
            .iter()
            .map(|sides| sides.map(|(answer, way)| ([answer], [way])))
            .collect();
        let pairs = sides.iter().map(|[before, now]| Pair {
            id: "s",
            before: &before.0,
            now: &now.0,
            before_ways: &before.1,
            now_ways: &now.1,
            cluster: None,
        });
        WayChanges::of(pairs).message(|id| format!("show {id}"))
    }

    #[test]
    fn a_changed_way_of_a_flip_is_reported() {
        let check = |samples: &[[(Option<bool>, Option<FoundBy>); 2]], expect: Option<&str>| {
            assert_eq!(message(samples).as_deref(), expect);
        };
        let flip = |before, now| [(RIGHT, before), (WRONG, now)];
        let bare = flip(Some(Label), Some(WholeAnswer));
        check(
            &[bare, bare],
            Some(
                "2 of 2 answers that became wrong had a label before and have none now: perhaps only the format changed, not \
                 the answers (`label` → `whole_answer`); see one with `show s`",
            ),
        );
        check(
            &[
                bare,
                flip(Some(Label), Some(Nothing)),
                flip(Some(Label), Some(Label)),
                flip(None, Some(Box)),
            ],
            Some(
                "2 of 4 answers that became wrong had a label before and have none now: perhaps only the format changed, not \
                 the answers (1 `label` → `whole_answer`, 1 `label` → `nothing`); see one with `show s`",
            ),
        );
        check(
            &[flip(Some(LastNumber), Some(Box))],
            Some(
                "1 of 1 answers that became wrong were extracted in another way before: perhaps only the format changed, not the \
                 answers (`last_number` → `box`); see one with `show s`",
            ),
        );
        // Unknown, equal, and not flipped.
        check(&[flip(None, Some(Label))], None);
        check(&[flip(Some(Label), None)], None);
        check(&[flip(Some(Label), Some(Label))], None);
        check(&[[(RIGHT, Some(Label)), (RIGHT, Some(Box))]], None);
        check(&[[(WRONG, Some(Label)), (RIGHT, Some(Box))]], None);
    }

    #[test]
    fn of_several_answers_those_that_made_the_flip_count() {
        let (before, now) = ([RIGHT, RIGHT, WRONG], [WRONG, RIGHT, WRONG]);
        let before_ways = [Some(Label), Some(Label), Some(Nothing)];
        let now_ways = [Some(Nothing), Some(Label), Some(Nothing)];
        let pair = Pair {
            id: "s",
            before: &before,
            now: &now,
            before_ways: &before_ways,
            now_ways: &now_ways,
            cluster: None,
        };
        let message = WayChanges::of([pair].into_iter())
            .message(str::to_owned)
            .unwrap();
        assert!(
            message.starts_with("1 of 1 samples that became wrong had a label"),
            "{message}"
        );
    }
}
