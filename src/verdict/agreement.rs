//! How several scorers judge the same answers: the matrix of `cargo evaltest scorers`.
//!
//! Pure. Each sample is a row of votes, one per scorer: correct, wrong, or none if its rule does not apply. Two scorers
//! are compared over the samples that both can judge.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::figure::Points;
use crate::stats;

/// The verdict of a scorer on an answer; `None` if its rule does not apply.
pub type Vote = Option<bool>;

/// How far several scorers agree on the same answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Number of samples.
    pub samples: u64,
    /// Samples on which the scorers that can judge disagree.
    pub disagreements: u64,
    /// The scorers, in the order given.
    pub scorers: Vec<ScorerFigures>,
    /// All pairs of scorers.
    pub pairs: Vec<ScorerPair>,
}

/// The figures of one scorer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScorerFigures {
    /// Its name.
    pub name: String,
    /// Samples it can judge.
    pub judged: u64,
    /// Samples it accepts.
    pub correct: u64,
    /// Samples its rule does not apply to.
    pub cannot_judge: u64,
    /// correct / judged, 0 to 1; `null` if it judged nothing.
    pub accuracy: Option<f64>,
    /// Its 95 % Wilson interval `[low, high]`.
    pub accuracy_ci95: Option<[f64; 2]>,
}

/// Two scorers, over the samples that both can judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScorerPair {
    /// One of them.
    pub one: String,
    /// The other.
    pub other: String,
    /// Samples that both can judge.
    pub judged: u64,
    /// Both accept.
    pub both: u64,
    /// Both reject.
    pub neither: u64,
    /// `one` accepts what `other` rejects.
    pub only_one: u64,
    /// `other` accepts what `one` rejects.
    pub only_other: u64,
    /// (both + neither) / judged, 0 to 1; `null` without samples.
    pub agreement: Option<f64>,
    /// Cohen's kappa: agreement beyond chance given the two acceptance rates, at most 1. `null` if both accept
    /// everything or both reject everything.
    pub kappa: Option<f64>,
}

/// A scorer compared with the reference, over the samples that both can judge: how much of its score is leniency.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Leniency {
    /// The scorer.
    pub scorer: String,
    /// The reference scorer.
    pub reference: String,
    /// Answers that it accepts and the reference rejects.
    pub more: u64,
    /// Answers that the reference rejects.
    pub rejected: u64,
    /// Answers that it rejects and the reference accepts.
    pub fewer: u64,
    /// Answers that the reference accepts.
    pub accepted: u64,
    /// Its accuracy minus that of the reference, -1 to 1; `null` without common samples.
    pub difference: Option<f64>,
}

/// As a sentence without its full stop.
impl fmt::Display for Leniency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            scorer, reference, ..
        } = self;
        let Some(difference) = self.difference else {
            return write!(f, "`{scorer}` and `{reference}` have no sample in common");
        };
        if self.more + self.fewer == 0 {
            return write!(f, "`{scorer}` and `{reference}` agree on every answer");
        }
        write!(
            f,
            "`{scorer}` accepts {} of {} answers that `{reference}` rejects and rejects {} of {} that \
             `{reference}` accepts: {} points",
            self.more,
            self.rejected,
            self.fewer,
            self.accepted,
            Points(difference)
        )
    }
}

impl Agreement {
    /// Each other scorer compared with the one at `reference`.
    pub fn leniency(&self, reference: usize) -> Vec<Leniency> {
        let Some(reference) = self.scorers.get(reference).map(|scorer| &scorer.name) else {
            return Vec::new();
        };
        let against = |pair: &ScorerPair| {
            let (scorer, more, fewer) = if pair.one == *reference {
                (&pair.other, pair.only_other, pair.only_one)
            } else if pair.other == *reference {
                (&pair.one, pair.only_one, pair.only_other)
            } else {
                return None;
            };
            let gain = stats::ratio(more, pair.judged);
            let loss = stats::ratio(fewer, pair.judged);
            Some(Leniency {
                scorer: scorer.clone(),
                reference: reference.clone(),
                more,
                rejected: pair.neither + more,
                fewer,
                accepted: pair.both + fewer,
                difference: gain.zip(loss).map(|(gain, loss)| gain - loss),
            })
        };
        self.pairs.iter().filter_map(against).collect()
    }
}

/// Counts votes.
#[derive(Clone, Debug)]
pub struct Ballot {
    names: Vec<String>,
    samples: u64,
    disagreements: u64,
    /// By scorer: accepted, rejected.
    single: Vec<[u64; 2]>,
    /// By pair, in the order (0, 1), (0, 2), …, (1, 2), …: both, neither, only the first, only the second.
    pairs: Vec<[u64; 4]>,
}

impl Ballot {
    /// No votes yet; the names of the scorers must differ.
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let count = names.len();
        Self {
            samples: 0,
            disagreements: 0,
            single: vec![[0; 2]; count],
            pairs: vec![[0; 4]; count * count.saturating_sub(1) / 2],
            names,
        }
    }

    /// Adds `samples` samples with these votes, in the order of the scorers; returns whether the votes differ.
    pub fn add(&mut self, votes: &[Vote], samples: u64) -> bool {
        self.samples += samples;
        for (counts, vote) in self.single.iter_mut().zip(votes) {
            if let Some(accepts) = vote {
                counts[usize::from(!accepts)] += samples;
            }
        }
        let count = self.names.len();
        let pairs = (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other)));
        let vote = |scorer: usize| votes.get(scorer).copied().flatten();
        let mut differ = false;
        for ((one, other), counts) in pairs.zip(&mut self.pairs) {
            let place = match (vote(one), vote(other)) {
                (Some(true), Some(true)) => 0,
                (Some(false), Some(false)) => 1,
                (Some(true), Some(false)) => 2,
                (Some(false), Some(true)) => 3,
                _ => continue,
            };
            counts[place] += samples;
            differ |= place > 1;
        }
        self.disagreements += if differ { samples } else { 0 };
        differ
    }

    /// The figures.
    pub fn finish(&self) -> Agreement {
        let judged = |(name, [correct, wrong]): (&String, &[u64; 2])| {
            let judged = correct + wrong;
            ScorerFigures {
                name: name.clone(),
                judged,
                correct: *correct,
                cannot_judge: self.samples - judged,
                accuracy: stats::ratio(*correct, judged),
                accuracy_ci95: stats::wilson95(*correct, judged),
            }
        };
        let names = self.names.iter().enumerate();
        let names = names.flat_map(|(place, one)| {
            let others = self.names[place + 1..].iter();
            others.map(move |other| (one, other))
        });
        Agreement {
            samples: self.samples,
            disagreements: self.disagreements,
            scorers: self.names.iter().zip(&self.single).map(judged).collect(),
            pairs: names
                .zip(&self.pairs)
                .map(|((one, other), counts)| pair(one, other, *counts))
                .collect(),
        }
    }
}

fn pair(one: &str, other: &str, [both, neither, only_one, only_other]: [u64; 4]) -> ScorerPair {
    let judged = both + neither + only_one + only_other;
    ScorerPair {
        one: one.to_owned(),
        other: other.to_owned(),
        judged,
        both,
        neither,
        only_one,
        only_other,
        agreement: stats::ratio(both + neither, judged),
        kappa: kappa(both, neither, only_one, only_other),
    }
}

/// `None` also if both are constant and equal, as chance agreement is then 1.
fn kappa(both: u64, neither: u64, only_one: u64, only_other: u64) -> Option<f64> {
    let cells = [
        (1, 1, both),
        (0, 0, neither),
        (1, 0, only_one),
        (0, 1, only_other),
    ];
    stats::Kappas::of(cells.into_iter(), 2).nominal
}

#[cfg(test)]
mod tests {
    use super::*;

    const YES: Vote = Some(true);
    const NO: Vote = Some(false);

    /// The figures of two scorers with these counts.
    fn two(both: u64, only_one: u64, only_other: u64, neither: u64) -> Agreement {
        let mut ballot = Ballot::new(["a", "b"]);
        let kinds = [
            (both, [YES, YES]),
            (only_one, [YES, NO]),
            (only_other, [NO, YES]),
            (neither, [NO, NO]),
        ];
        for (count, votes) in kinds {
            ballot.add(&votes, count);
        }
        ballot.finish()
    }

    #[test]
    fn kappa_matches_published_values() {
        let check = |both, only_one, only_other, neither, expect: Option<f64>| {
            let found = two(both, only_one, only_other, neither).pairs[0].kappa;
            match (found, expect) {
                (Some(found), Some(expect)) => assert!((found - expect).abs() < 1e-12, "{found}"),
                other => assert_eq!(other.0, other.1),
            }
        };
        // 50 grant proposals, two readers: 0.7 agreement, 0.5 by chance.
        check(20, 5, 10, 15, Some(0.4));
        // 0.6 agreement both times; by chance 0.54 and 0.46.
        check(45, 15, 25, 15, Some(0.06 / 0.46));
        check(25, 35, 5, 35, Some(0.14 / 0.54));
        check(3, 0, 0, 2, Some(1.0));
        check(0, 1, 1, 0, Some(-1.0));
        // One scorer accepts everything: all agreement is chance.
        check(3, 2, 0, 0, Some(0.0));
        check(5, 0, 0, 0, None);
        check(0, 0, 0, 0, None);
    }

    #[test]
    fn counts_who_judges_and_who_differs() {
        let mut ballot = Ballot::new(["strict", "lenient", "numeric"]);
        let votes = [
            [YES, YES, YES],
            [NO, YES, None],
            [NO, YES, NO],
            [NO, NO, None],
            [YES, NO, None],
            [None, YES, None],
        ];
        let differ = votes.map(|votes| ballot.add(&votes, 1));
        assert_eq!(differ, [false, true, true, false, true, false]);
        let agreement = ballot.finish();
        assert_eq!((agreement.samples, agreement.disagreements), (6, 3));
        let figures: Vec<_> = agreement
            .scorers
            .iter()
            .map(|scorer| (scorer.correct, scorer.judged, scorer.cannot_judge))
            .collect();
        assert_eq!(figures, [(2, 5, 1), (4, 6, 0), (1, 2, 4)]);
        assert_eq!(agreement.scorers[0].accuracy, Some(0.4));
        let pairs: Vec<_> = agreement
            .pairs
            .iter()
            .map(|pair| {
                (
                    &*pair.one,
                    &*pair.other,
                    pair.judged,
                    pair.only_one,
                    pair.only_other,
                )
            })
            .collect();
        let expect = [
            ("strict", "lenient", 5, 1, 2),
            ("strict", "numeric", 2, 0, 0),
            ("lenient", "numeric", 2, 1, 0),
        ];
        assert_eq!(pairs, expect);
        assert_eq!(agreement.pairs[0].agreement, Some(0.4));
    }

    #[test]
    fn leniency_in_a_sentence() {
        let check = |agreement: Agreement, reference: usize, expect: &str| {
            let [against] = &agreement.leniency(reference)[..] else {
                panic!("one scorer against the other");
            };
            assert_eq!(against.to_string(), expect);
        };
        let lenient = "`b` accepts 7 of 17 answers that `a` rejects and rejects 1 of 28 that `a` accepts: \
                       +13.3 points";
        check(two(27, 1, 7, 10), 0, lenient);
        let strict = "`a` accepts 1 of 11 answers that `b` rejects and rejects 7 of 34 that `b` accepts: \
                      −13.3 points";
        check(two(27, 1, 7, 10), 1, strict);
        check(two(2, 0, 0, 1), 0, "`b` and `a` agree on every answer");
        check(two(0, 0, 0, 0), 0, "`b` and `a` have no sample in common");
        assert_eq!(two(1, 0, 0, 0).leniency(2), []);
    }
}
