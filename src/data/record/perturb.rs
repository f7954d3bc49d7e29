//! `Perturb`: which questions are asked once more in another form.
//!
//! A perturbed answer is a trial of its sample behind its epochs: with two epochs, the epochs 2 and 3 of its record are those
//! of the first kind, 4 and 5 those of the second.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, nearest};
use crate::text::quoted;

/// In what way a question is perturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PerturbKind {
    /// A letter of some words is swapped, dropped or doubled.
    Typos,
    /// A sentence that has nothing to do with it stands before the question.
    IrrelevantContext,
    /// The options of a multiple-choice question stand in another order.
    ReorderedOptions,
    /// The first call of a tool in one turn of a conversation fails once.
    ToolError,
    /// The same, as if it had taken too long.
    ToolTimeout,
}

impl PerturbKind {
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [
        Self::Typos,
        Self::IrrelevantContext,
        Self::ReorderedOptions,
        Self::ToolError,
        Self::ToolTimeout,
    ];

    /// The word in specs and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Typos => "typos",
            Self::IrrelevantContext => "irrelevant_context",
            Self::ReorderedOptions => "reordered_options",
            Self::ToolError => "tool_error",
            Self::ToolTimeout => "tool_timeout",
        }
    }

    /// Whether it is about the calls of tools, and not about the question.
    pub(crate) fn is_of_tools(self) -> bool {
        matches!(self, Self::ToolError | Self::ToolTimeout)
    }
}

impl fmt::Display for PerturbKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for PerturbKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let words = Self::ALL.iter().map(|kind| kind.as_str());
        let found = Self::ALL.iter().find(|kind| kind.as_str() == text);
        found.copied().ok_or_else(|| {
            let error = Error::usage(format!(
                "`{}` is not a kind of `perturb`",
                text.escape_debug()
            ));
            error.hint(match nearest(text, words.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the kinds are {}", quoted(words)),
            })
        })
    }
}

/// Which samples are asked once more in which ways, so that a run says how much accuracy each costs.
///
/// ```
/// use evaltest::dataset::{Perturb, PerturbKind};
///
/// let perturb = Perturb::new(7, [PerturbKind::Typos, PerturbKind::IrrelevantContext]).rate(0.2);
/// # let _ = perturb;
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Perturb {
    /// What the texts depend on, with the kind and the sample's id.
    pub(crate) seed: u64,
    /// Each kind once.
    pub(crate) kinds: Vec<PerturbKind>,
    /// The share of the words that get a typo, 0 to 1.
    pub(crate) rate: f64,
}

impl Perturb {
    /// The default share of words.
    const RATE: f64 = 0.1;

    /// Asks each sample once more in each of these ways and each epoch.
    pub fn new(seed: u64, kinds: impl IntoIterator<Item = PerturbKind>) -> Self {
        Self {
            seed,
            kinds: kinds.into_iter().collect(),
            rate: Self::RATE,
        }
    }

    /// Sets the share of a question's words that get a typo; 0.1 by default, and at least one word.
    #[must_use]
    pub fn rate(mut self, rate: f64) -> Self {
        self.rate = rate;
        self
    }

    /// Refuses what cannot be asked.
    pub(crate) fn check(&self) -> Result<()> {
        if self.kinds.is_empty() {
            let error = Error::usage("`kinds` of `perturb` is empty");
            return Err(error.hint("write `kinds: [typos]`").of_key("kinds"));
        }
        let mut kinds = self.kinds.iter().enumerate();
        if let Some((place, twice)) =
            kinds.find(|(place, kind)| self.kinds[..*place].contains(kind))
        {
            let error = Error::usage(format!("`kinds` of `perturb` has `{twice}` twice"));
            return Err(error.hint("write it once").of_key("kinds").or_under(place));
        }
        if !(self.rate > 0.0 && self.rate <= 1.0) {
            let error = Error::usage("`rate` of `perturb` must be above 0 and at most 1");
            return Err(error.hint("write `rate: 0.1`").of_key("rate"));
        }
        Ok(())
    }

    /// The kind of a trial of a sample with so many epochs; `None` for the epochs themselves.
    pub(crate) fn kind_of(&self, trial: usize, epochs: usize) -> Option<PerturbKind> {
        let place = (trial / epochs.max(1)).checked_sub(1)?;
        self.kinds.get(place).copied()
    }
}

/// How often a sample is asked: in each epoch as it is, and once more in each of the ways.
pub(crate) fn trials(epochs: u32, perturb: Option<&Perturb>) -> u32 {
    let kinds = perturb.map_or(0, |perturb| perturb.kinds.len());
    epochs.saturating_mul(1 + u32::try_from(kinds).unwrap_or(u32::MAX - 1))
}

/// The call of a tool that fails on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ToolFault {
    /// The turn whose first call it is, from 1.
    pub(crate) turn: u32,
    /// What the agent hears.
    pub(crate) message: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_stand_behind_the_epochs() {
        let perturb = Perturb::new(7, [PerturbKind::Typos, PerturbKind::ToolError]);
        let kinds: Vec<_> = (0..6).map(|trial| perturb.kind_of(trial, 2)).collect();
        let [typos, error] = [PerturbKind::Typos, PerturbKind::ToolError].map(Some);
        assert_eq!(kinds, [None, None, typos, typos, error, error]);
        assert_eq!(trials(2, Some(&perturb)), 6);
        assert_eq!(trials(2, None), 2);
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        let typos = PerturbKind::Typos;
        assert!(Perturb::new(1, [typos]).check().is_ok());
        for wrong in [
            Perturb::new(1, []),
            Perturb::new(1, [typos, typos]),
            Perturb::new(1, [typos]).rate(0.0),
            Perturb::new(1, [typos]).rate(1.5),
            Perturb::new(1, [typos]).rate(f64::NAN),
        ] {
            let error = wrong.check().unwrap_err();
            assert!(error.hint_text().is_some(), "{error}");
        }
        let error = "typo".parse::<PerturbKind>().unwrap_err();
        assert_eq!(error.hint_text(), Some("did you mean `typos`?"));
    }
}
