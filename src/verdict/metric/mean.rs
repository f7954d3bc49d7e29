//! Resolves the scorer and detail of a gate `mean(NAME)`, if there are several scorers.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::data::DetailBounds;
use crate::error::nearest;
use crate::verdict::judged::items::CORRECT;
use crate::verdict::summary::{Summary, VALUE};

/// How many legal values an error lists at most.
pub(in crate::verdict) const LISTED: usize = 20;

/// The means of a finished run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownMeans {
    /// Details of the deciding scorer.
    pub first: BTreeSet<String>,
    /// Details of each scorer by name, the deciding one included.
    pub(crate) by_scorer: BTreeMap<String, BTreeSet<String>>,
}

/// A resolved mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::verdict) struct Found {
    /// The scorer; `None` is the deciding one.
    pub(in crate::verdict) scorer: Option<String>,
    pub(in crate::verdict) detail: String,
}

impl KnownMeans {
    /// The means of a summary, including those of scorers that could not judge.
    pub(crate) fn of(summary: &Summary, bounds: &DetailBounds) -> Self {
        let mut of_first: BTreeSet<String> = summary.means.keys().cloned().collect();
        let message = |scorer: &str| bounds.get(scorer).into_iter().flat_map(BTreeMap::keys);
        // If nothing was scored, there are no details.
        if let Some(first) = summary.scorer.as_deref().filter(|_| summary.scored > 0) {
            of_first.extend(message(first).cloned());
        }
        let all = summary.scorers.iter().map(|(name, scorer)| {
            let means = scorer.means.keys().chain(message(name));
            (name.clone(), means.cloned().collect())
        });
        let mut by_scorer: BTreeMap<_, _> = all.collect();
        if let Some(first) = &summary.scorer {
            by_scorer.insert(first.clone(), of_first.clone());
        }
        Self {
            first: of_first,
            by_scorer,
        }
    }

    /// The means that scores may have, from the declared details of all scorers; `None` unless all declare them.
    pub(crate) fn of_details(scorers: &[(String, Option<Vec<Cow<'static, str>>>)]) -> Option<Self> {
        let mut by_scorer = BTreeMap::new();
        for (scorer, details) in scorers {
            let names = details.as_ref()?.iter().map(AsRef::as_ref).chain([VALUE]);
            by_scorer.insert(scorer.clone(), names.map(str::to_owned).collect());
        }
        let (first, _) = scorers.first()?;
        Some(Self {
            first: by_scorer.get(first).cloned()?,
            by_scorer,
        })
    }

    /// What `mean(NAME)` means: a detail of the deciding scorer; else a detail that one other scorer has;
    /// else `SCORER.DETAIL`. `value` alone is the score of the deciding scorer, since all have one.
    pub(in crate::verdict) fn find(&self, name: &str) -> Result<Found, String> {
        let found = |scorer: Option<&str>, detail: &str| Found {
            scorer: scorer.map(str::to_owned),
            detail: detail.to_owned(),
        };
        if self.first.contains(name) {
            return Ok(found(None, name));
        }
        let has = |(_, means): &(&String, &BTreeSet<String>)| name != VALUE && means.contains(name);
        let owners: Vec<&str> = self
            .by_scorer
            .iter()
            .filter(has)
            .map(|(scorer, _)| scorer.as_str())
            .collect();
        match owners.as_slice() {
            [] => {}
            [owner] => return Ok(found(Some(owner), name)),
            [first, ..] => {
                let owners = owners.join("` and `");
                return Err(format!(
                    "`{owners}` each have `{name}`: write `mean({first}.{name})`"
                ));
            }
        }
        // Names of scorers and details may contain dots.
        let parted = name.match_indices('.').find_map(|(dot, _)| {
            let (scorer, detail) = (&name[..dot], &name[dot + 1..]);
            let means = self.by_scorer.get(scorer)?;
            means.contains(detail).then(|| found(Some(scorer), detail))
        });
        parted.ok_or_else(|| self.unknown(name))
    }

    /// What `corrected(NAME)` means: the accuracy of the judge of that name, also as `JUDGE.correct`, which is how the
    /// lines of a run call it; or else what `mean(NAME)` does.
    pub(in crate::verdict) fn find_corrected(&self, name: &str) -> Result<Found, String> {
        let accuracy_of = |judge: &str| {
            self.by_scorer.contains_key(judge).then(|| Found {
                scorer: Some(judge.to_owned()),
                detail: CORRECT.to_owned(),
            })
        };
        if let Some(found) = accuracy_of(name) {
            return Ok(found);
        }
        self.find(name).or_else(|why| {
            let parts = name.rsplit_once('.');
            let judge = parts.filter(|(_, detail)| *detail == CORRECT);
            judge.and_then(|(judge, _)| accuracy_of(judge)).ok_or(why)
        })
    }

    fn unknown(&self, name: &str) -> String {
        let others = self
            .by_scorer
            .iter()
            .filter(|(_, means)| **means != self.first);
        let others = others
            .flat_map(|(scorer, means)| means.iter().map(move |mean| format!("{scorer}.{mean}")));
        let mut all: Vec<String> = self.first.iter().cloned().chain(others).collect();
        let bare = self.by_scorer.values().flatten();
        // A composition, such as that of benchmark `custom`, has the details of its parts under its own name.
        let inner = name
            .match_indices('.')
            .map(|(dot, _)| &name[dot + 1..])
            .find(|detail| self.first.contains(*detail));
        // A detail in addition to the name of its scorer.
        let of_others = || {
            name.match_indices('.').find_map(|(dot, _)| {
                let (scorer, means) = self.by_scorer.get_key_value(&name[..dot])?;
                let near = nearest(&name[dot + 1..], means.iter().map(String::as_str))?;
                Some(format!("{scorer}.{near}"))
            })
        };
        let near = inner
            .map(str::to_owned)
            .or_else(of_others)
            .or_else(|| nearest(name, bare.chain(&all).map(String::as_str)).map(str::to_owned))
            .map(|near| format!(", did you mean `{near}`?"))
            .unwrap_or_default();
        let more = match all.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        all.truncate(LISTED);
        let all = all.join("`, `");
        format!("no score has `{name}`{near} (scores have `{all}`{more})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_accuracy_of_a_judge_is_named_by_the_judge_or_as_its_lines_call_it() {
        let set = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let known = KnownMeans {
            by_scorer: BTreeMap::from([
                ("strict".to_owned(), set(&["value"])),
                ("own".to_owned(), set(&["value", "correct"])),
            ]),
            first: set(&["value"]),
        };
        let check = |name: &str, scorer: Option<&str>, detail: &str| {
            let found = known.find_corrected(name).unwrap();
            assert_eq!((found.scorer.as_deref(), &*found.detail), (scorer, detail));
        };
        check("strict", Some("strict"), "correct");
        check("strict.correct", Some("strict"), "correct");
        check("own.correct", Some("own"), "correct");
        check("strict.value", Some("strict"), "value");
        assert!(known.find_corrected("nobody.correct").is_err());
    }

    #[test]
    fn a_name_is_looked_for_in_turn() {
        let set = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let first: BTreeSet<String> = set(&["value", "partial"]);
        let known = KnownMeans {
            by_scorer: BTreeMap::from([
                ("quasi".to_owned(), first.clone()),
                ("qa".to_owned(), set(&["value", "f1", "em"])),
                ("v1.5".to_owned(), set(&["value", "em", "a.b"])),
            ]),
            first,
        };
        let check = |name: &str, expect: Result<(Option<&str>, &str), &str>| {
            let found = known.find(name);
            let found = found.as_ref().map_err(String::as_str);
            let found = found.map(|found| (found.scorer.as_deref(), found.detail.as_str()));
            assert_eq!(found, expect, "{name}");
        };
        check("value", Ok((None, "value")));
        check("partial", Ok((None, "partial")));
        check("quasi.partial", Ok((Some("quasi"), "partial")));
        check("f1", Ok((Some("qa"), "f1")));
        check("qa.value", Ok((Some("qa"), "value")));
        check("v1.5.a.b", Ok((Some("v1.5"), "a.b")));
        check("a.b", Ok((Some("v1.5"), "a.b")));
        check(
            "mine.partial",
            Err(
                "no score has `mine.partial`, did you mean `partial`? (scores have `partial`, `value`, `qa.em`, \
                 `qa.f1`, `qa.value`, `v1.5.a.b`, `v1.5.em`, `v1.5.value`)",
            ),
        );
        check(
            "em",
            Err("`qa` and `v1.5` each have `em`: write `mean(qa.em)`"),
        );
        check(
            "qa.f2",
            Err(
                "no score has `qa.f2`, did you mean `qa.f1`? (scores have `partial`, `value`, `qa.em`, \
                 `qa.f1`, `qa.value`, `v1.5.a.b`, `v1.5.em`, `v1.5.value`)",
            ),
        );
    }
}
