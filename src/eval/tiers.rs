//! `Tiers`: the sizes in which an eval can be run, each a subset of the larger.
//!
//! The samples of a tier are chosen by [`tier_order`](crate::data::dataset::tier_order). A run of a tier is a complete
//! run: its gates count, unlike with `--limit`.

use serde_json::{Map, Value, json};

use crate::error::{Error, Result, nearest};
use crate::text::clean;
use crate::verdict::gate::Gate;

/// The tiers of an eval, the smallest first; may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tiers(Vec<Tier>);

/// One tier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tier {
    pub(crate) name: String,
    /// How many samples; `None` means all.
    pub(crate) limit: Option<usize>,
}

/// What a run must meet to continue with the next tier.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Promotion {
    /// `None`: continue in any case.
    pub(crate) gate: Option<Gate>,
}

impl Promotion {
    /// Parses the gate as typed: `accuracy > 0.8`.
    pub(crate) fn parse(text: Option<&str>) -> Result<Self> {
        let parse = |text: &str| {
            let gate: Gate = text.parse()?;
            if gate.needs_baseline() || gate.of_tier().is_some() {
                let error = Error::usage(format!("invalid `--promote {}`", clean(text)));
                return Err(error.hint(
                    "write a figure, an operator and a number, such as `--promote 'accuracy > 0.8'`: it is evaluated at the \
                     end of each tier; `no_regression` always is",
                ));
            }
            Ok(gate)
        };
        let gate = text.map(parse).transpose()?;
        Ok(Self { gate })
    }
}

impl Tier {
    /// Its size in an eval of `samples` samples.
    pub(crate) fn of(&self, samples: usize) -> usize {
        self.limit.map_or(samples, |limit| limit.min(samples))
    }
}

impl Tiers {
    /// The tiers of a spec, in any order.
    ///
    /// # Errors
    /// When there is none, one has no sample, or two are the same.
    pub(crate) fn checked(
        tiers: impl IntoIterator<Item = (String, Option<usize>)>,
    ) -> Result<Self> {
        let mut all = Self::default();
        for (name, limit) in tiers {
            all.add(name, limit);
        }
        if all.is_empty() {
            return Err(Error::usage("`tiers` has no tier")
                .hint("write `tiers: { quick: { limit: 5 }, full: {} }`"));
        }
        all.check()?;
        Ok(all)
    }

    /// Adds a tier without checking it; see [`check`](Self::check).
    pub(crate) fn add(&mut self, name: String, limit: Option<usize>) {
        self.0.push(Tier { name, limit });
        self.0
            .sort_by_key(|tier| (tier.limit.is_none(), tier.limit));
    }

    /// # Errors
    /// When a name is invalid, a tier has no sample, or two have the same name or size. The error is about the tier's
    /// key.
    pub(crate) fn check(&self) -> Result<()> {
        for (place, tier) in self.0.iter().enumerate() {
            let of = |error: Error| Err(error.of_key(&tier.name));
            let name = clean(&tier.name);
            // The same rule as for names of evals.
            let is_part = |c: char| c.is_alphanumeric() || "_-.".contains(c);
            let is_name = !tier.name.starts_with('.') && tier.name.chars().all(is_part);
            if tier.name.is_empty() || !is_name {
                let error = Error::usage(format!("`{name}` cannot be the name of a tier"));
                return of(
                    error.hint("use letters, digits, `-`, `_` and `.`, and begin with no `.`")
                );
            }
            if tier.limit == Some(0) {
                let error = Error::usage(format!("tier `{name}` has no sample: its `limit` is 0"));
                return of(error.hint(format!("write a number: `{name}: {{ limit: 5 }}`")));
            }
            let before = &self.0[..place];
            if before.iter().any(|other| other.name == tier.name) {
                let error = Error::usage(format!("two tiers are called `{name}`"));
                return of(error.hint("give one of them another name"));
            }
            if let Some(other) = before.iter().find(|other| other.limit == tier.limit) {
                let other = clean(&other.name);
                let size = match tier.limit {
                    Some(limit) => format!("have {limit} samples each"),
                    None => "have all samples".to_owned(),
                };
                let error = Error::usage(format!("the tiers `{other}` and `{name}` {size}"));
                return of(error.hint("give one of them another `limit`, or remove it"));
            }
        }
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The smallest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Tier> {
        self.0.iter()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.0.iter().map(|tier| tier.name.clone()).collect()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Tier> {
        self.0.iter().find(|tier| tier.name == name)
    }

    /// The tier of this name.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn named(&self, name: &str, eval: &str) -> Result<&Tier> {
        if let Some(tier) = self.get(name) {
            return Ok(tier);
        }
        let (display, eval) = (clean(name), clean(eval));
        if self.is_empty() {
            let message = format!("eval `{eval}` has no tiers, so no tier `{display}`");
            return Err(Error::usage(message).hint(
                "define them in its spec: `tiers: { quick: { limit: 5 }, full: {} }`; or select evals that have it",
            ));
        }
        let all = self.names().join("`, `");
        let names = self.0.iter().map(|tier| tier.name.as_str());
        let error = Error::usage(format!("eval `{eval}` has no tier `{display}`"));
        Err(error.hint(match nearest(name, names) {
            Some(near) => format!("did you mean `--tier {near}`? its tiers: `{all}`"),
            None => format!("its tiers: `{all}`"),
        }))
    }

    /// The largest tier, for a run that goes through all of them.
    ///
    /// # Errors
    /// When there are fewer than two.
    pub(crate) fn largest(&self, eval: &str) -> Result<&Tier> {
        match &*self.0 {
            [_, .., last] => Ok(last),
            few => {
                let has = if few.is_empty() {
                    "no tiers"
                } else {
                    "one tier"
                };
                let message = format!("eval `{}` has {has}, so there is no next tier", clean(eval));
                Err(Error::usage(message)
                    .hint("define them: `tiers: { quick: { limit: 5 }, full: {} }`"))
            }
        }
    }

    /// The largest tier, if the named one has fewer of `samples` samples.
    pub(crate) fn above(&self, name: &str, samples: usize) -> Option<&Tier> {
        let largest = self.0.last()?;
        let tier = self.get(name)?;
        (tier.of(samples) < largest.of(samples)).then_some(largest)
    }

    /// The tiers as in a spec.
    pub(crate) fn describe(&self) -> Value {
        let tiers = self.0.iter().map(|tier| {
            let keys = tier
                .limit
                .map_or(json!({}), |limit| json!({ "limit": limit }));
            (tier.name.clone(), keys)
        });
        Value::Object(tiers.collect::<Map<_, _>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiers(all: &[(&str, Option<usize>)]) -> Result<Tiers> {
        Tiers::checked(all.iter().map(|(name, limit)| ((*name).to_owned(), *limit)))
    }

    #[test]
    fn the_smallest_comes_first_and_senseless_ones_are_refused() {
        let all = tiers(&[("full", None), ("some", Some(50)), ("quick", Some(5))]).unwrap();
        assert_eq!(all.names(), ["quick", "some", "full"]);
        let above = |name, samples| all.above(name, samples).map(|tier| &*tier.name);
        assert_eq!(above("quick", 60), Some("full"));
        assert_eq!(above("some", 51), Some("full"));
        // A tier as large as the eval is all of it.
        assert_eq!([above("some", 50), above("full", 60)], [None, None]);
        assert_eq!(all.named("quick", "e").unwrap().of(3), 3);
        let message = |error: Error| format!("{error}: {}", error.hint_text().unwrap_or("no hint"));
        let unknown = message(all.named("quik", "e").unwrap_err());
        assert!(unknown.contains("did you mean `--tier quick`"), "{unknown}");
        for (wrong, why) in [
            (&[][..], "has no tier"),
            (&[("a", Some(0))], "its `limit` is 0"),
            (
                &[("a", Some(5)), ("b", Some(5))],
                "`a` and `b` have 5 samples each",
            ),
            (&[("a", None), ("b", None)], "have all samples"),
            (&[("a", None), ("a", Some(1))], "two tiers are called `a`"),
            (&[("a b", None)], "cannot be the name"),
            (&[("", None)], "cannot be the name"),
        ] {
            let error = message(tiers(wrong).unwrap_err());
            assert!(error.contains(why) && !error.contains("no hint"), "{error}");
        }
    }
}
