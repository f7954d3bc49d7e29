//! [`Readers`]: the versions of the rules that read answers, and the replies of judges.
//!
//! A baseline of another version is compared: most answers are read alike by both, and what is not shows as a flip. It is
//! no part of the scorer's fingerprint, which would refuse the baseline.

use std::sync::Arc;

use crate::scorer::Scorer;
use crate::scorer::ask;
use crate::scorer::extract::{self, Extraction};
use crate::store::Manifest;

/// The versions by which the answers of a run or baseline were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readers {
    /// That of the extractions.
    pub answers: u32,
    /// That of judges' replies.
    pub verdicts: u32,
}

/// Which of them an eval uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UsedReaders {
    answers: bool,
    verdicts: bool,
}

/// Those of versions that did not record them.
impl Default for Readers {
    fn default() -> Self {
        Self {
            answers: 1,
            verdicts: 1,
        }
    }
}

impl Readers {
    /// Those of this program.
    pub(crate) const CURRENT: Self = Self {
        answers: extract::VERSION,
        verdicts: ask::READING_VERSION,
    };

    /// As recorded in a file.
    pub(crate) fn recorded(answers: Option<u32>, verdicts: Option<u32>) -> Self {
        let unknown = Self::default();
        Self {
            answers: answers.unwrap_or(unknown.answers),
            verdicts: verdicts.unwrap_or(unknown.verdicts),
        }
    }

    /// Those of a run.
    pub(crate) fn of_run(manifest: &Manifest) -> Self {
        Self::recorded(manifest.reader, manifest.judge_reader)
    }

    /// The older ones of both.
    #[must_use]
    pub(crate) fn min(self, other: Self) -> Self {
        Self {
            answers: self.answers.min(other.answers),
            verdicts: self.verdicts.min(other.verdicts),
        }
    }

    /// The notice that a baseline with these was read otherwise than a run with the readers `now`; `None` if it was
    /// not.
    pub(crate) fn notice(self, now: Self, used: UsedReaders) -> Option<String> {
        let versions = [
            (self.answers, now.answers, used.answers),
            (self.verdicts, now.verdicts, used.verdicts),
        ];
        let is_any = |is: fn(u32, u32) -> bool| {
            let mut used = versions.iter().filter(|(.., is_used)| *is_used);
            used.any(|(then, now, _)| is(*then, *now))
        };
        if is_any(|then, now| then > now) {
            return Some(if self.is_newer() {
                "a newer evaltest extracted the answers of the baseline: update with `cargo install cargo-evaltest`"
                    .to_owned()
            } else {
                "an older evaltest extracted the answers of this run: extract them again with `cargo evaltest rescore RUN_DIR`"
                    .to_owned()
            });
        }
        is_any(|then, now| then < now).then(|| {
            "an older evaltest extracted the answers of the baseline: `cargo evaltest rescore RUN_DIR` for its run, then \
             `cargo evaltest accept`"
                .to_owned()
        })
    }

    fn is_newer(self) -> bool {
        self.answers > Self::CURRENT.answers || self.verdicts > Self::CURRENT.verdicts
    }
}

impl UsedReaders {
    /// Those of an eval with these.
    pub(crate) fn of(extraction: &Extraction, scorers: &[Arc<dyn Scorer>]) -> Self {
        let mut scorers = scorers.iter();
        Self {
            answers: extraction.extract.reads(),
            verdicts: scorers.any(|scorer| scorer.judge_rule().is_some()),
        }
    }

    /// Those of a finished run.
    pub(crate) fn of_run(manifest: &Manifest) -> Self {
        let extract = manifest.extract.as_ref();
        Self {
            answers: extract.is_some_and(|extract| *extract != extract::Extract::none().to_value()),
            verdicts: manifest.judges.values().any(|judge| !judge.solves),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_reader_is_reported_where_it_is_used() {
        let check = |then: [u32; 2], now: [u32; 2], used: [bool; 2], expect: Option<&str>| {
            let [then, now] = [then, now].map(|[answers, verdicts]| Readers { answers, verdicts });
            let [answers, verdicts] = used;
            let notice = then.notice(now, UsedReaders { answers, verdicts });
            match (&notice, expect) {
                (Some(notice), Some(expect)) => assert!(notice.contains(expect), "{notice}"),
                (notice, expect) => assert_eq!(notice.as_deref(), expect, "{then:?} {now:?}"),
            }
        };
        let (both, none) = ([true; 2], [false; 2]);
        check(
            [1, 1],
            [2, 2],
            both,
            Some(
                "an older evaltest extracted the answers of the baseline: `cargo evaltest rescore RUN_DIR`",
            ),
        );
        check([2, 1], [2, 2], both, Some("an older evaltest"));
        check([2, 1], [2, 2], [true, false], None);
        check([1, 2], [2, 2], [false, true], None);
        check([1, 1], [2, 2], none, None);
        check([2, 2], [2, 2], both, None);
        check([99, 2], [2, 2], both, Some("cargo install cargo-evaltest"));
        check(
            [2, 2],
            [1, 2],
            both,
            Some("an older evaltest extracted the answers of this run"),
        );
    }

    #[test]
    fn what_is_not_recorded_is_the_first() {
        assert_eq!(Readers::recorded(None, None), Readers::default());
        let now = Readers::CURRENT;
        assert_eq!(
            Readers::recorded(Some(now.answers), Some(now.verdicts)),
            now
        );
        assert_eq!(now.min(Readers::default()), Readers::default());
    }
}
