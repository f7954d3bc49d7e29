//! Epochs: combines several answers to the same question into one verdict.
//!
//! A sample with `k` epochs has `k` records. Wherever one verdict is needed (its snapshot, the gate `majority`, its
//! test), the majority counts; `no_regression` compares all answers:
//!
//! * Answers vote by their normalised prediction if the scorer gives one, else by their prediction, else by their
//!   verdict. The answer with the most votes wins.
//! * Among answers with equally many votes the earliest wins. Epochs are exchangeable, so this is a fair draw, and yet
//!   reproducible.
//! * Answers that normalise equally may have different verdicts if a model judges; the winner is correct if most of its
//!   votes are, and at a tie if the first is.
//!
//! With one epoch the majority is the answer.
//!
//! An epoch without its expected verdict (an outage, never asked) does not vote. `Poll::extremes` says whether it could
//! have changed the verdict.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

use serde_json::Value;

use crate::data::{Normalized, Outcome, Record, Status};
use crate::error::Result;

/// More epochs are considered a mistake.
pub(crate) const MOST: u32 = 1000;

/// The votes of a sample's epochs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Poll {
    answers: HashMap<String, Votes>,
    scored: u64,
    correct: u64,
    unknown: u64,
}

#[derive(Clone, Copy, Debug)]
struct Votes {
    count: u64,
    correct: u64,
    /// The index of the first vote for this answer.
    first: u64,
    first_correct: bool,
}

impl Votes {
    fn is_correct(&self) -> bool {
        let wrong = self.count - self.correct;
        self.correct > wrong || self.correct == wrong && self.first_correct
    }
}

impl Poll {
    /// The votes of one sample's records, in the order of their epochs, by the deciding scorer.
    pub(crate) fn of(records: &[Record]) -> Self {
        let mut poll = Self::default();
        for record in records {
            poll.add(&record.result);
        }
        poll
    }

    /// Adds the verdict of the deciding scorer.
    pub(crate) fn add(&mut self, outcome: &Outcome) {
        match (outcome.status, &outcome.score) {
            (Status::Scored, Some(score)) => {
                let answer = match &score.normalized_prediction {
                    Normalized::Text(text) => Cow::Borrowed(text.as_str()),
                    Normalized::List(items) => Value::from(items.as_slice()).to_string().into(),
                    Normalized::None => raw_answer(outcome, score.correct),
                };
                self.vote(&answer, score.correct);
            }
            (Status::Unscored, _) => {}
            _ => self.miss(1),
        }
    }

    /// Adds the verdict of one of several scorers, in its JSON form.
    pub(crate) fn add_json(&mut self, score: &Value, outcome: &Outcome) {
        let Some(correct) = score.get("correct").and_then(Value::as_bool) else {
            return self.miss(1);
        };
        let answer = match score.get("normalized_prediction") {
            Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
            Some(list @ Value::Array(_)) => list.to_string().into(),
            _ => raw_answer(outcome, correct),
        };
        self.vote(&answer, correct);
    }

    /// Adds a vote for an answer.
    pub(crate) fn vote(&mut self, answer: &str, correct: bool) {
        let first = self.scored;
        self.scored += 1;
        self.correct += u64::from(correct);
        let votes = match self.answers.get_mut(answer) {
            Some(votes) => votes,
            None => self.answers.entry(answer.to_owned()).or_insert(Votes {
                count: 0,
                correct: 0,
                first,
                first_correct: correct,
            }),
        };
        votes.count += 1;
        votes.correct += u64::from(correct);
    }

    /// Adds epochs whose expected verdict is missing.
    pub(crate) fn miss(&mut self, epochs: u64) {
        self.unknown += epochs;
    }

    /// Epochs with a verdict.
    pub(crate) fn scored(&self) -> u64 {
        self.scored
    }

    /// Epochs that are correct.
    pub(crate) fn correct(&self) -> u64 {
        self.correct
    }

    /// Epochs whose expected verdict is missing.
    pub(crate) fn unknown(&self) -> u64 {
        self.unknown
    }

    /// The number of distinct answers.
    pub(crate) fn answers(&self) -> u64 {
        self.answers.len() as u64
    }

    /// Whether the verdict differs between epochs.
    pub(crate) fn is_flaky(&self) -> bool {
        self.correct > 0 && self.correct < self.scored
    }

    fn winner(&self) -> Option<&Votes> {
        let votes = self.answers.values();
        votes.max_by_key(|votes| (votes.count, Reverse(votes.first)))
    }

    /// Whether the majority's answer is correct; `None` without a vote.
    pub(crate) fn majority(&self) -> Option<bool> {
        self.winner().map(Votes::is_correct)
    }

    /// The index of the first vote for the majority's answer.
    pub(crate) fn spokesman(&self) -> Option<u64> {
        self.winner().map(|votes| votes.first)
    }

    /// The majority verdict with all unknown epochs as wrong, and as correct.
    pub(crate) fn extremes(&self) -> (bool, bool) {
        let most = |correct: bool| {
            let votes = self.answers.values();
            let votes = votes.filter(|votes| votes.is_correct() == correct);
            votes.map(|votes| votes.count).max().unwrap_or(0)
        };
        match (self.unknown, self.majority()) {
            (0, majority) => (majority == Some(true), majority == Some(true)),
            // A missing epoch may also have been the first with its answer.
            (unknown, _) => (
                most(true) > most(false) + unknown,
                most(true) + unknown >= most(false),
            ),
        }
    }
}

/// The prediction, or the verdict if there is none, if no scorer normalises it.
fn raw_answer(outcome: &Outcome, correct: bool) -> Cow<'_, str> {
    match &outcome.prediction {
        Some(prediction) => Cow::Borrowed(prediction.trim()),
        None if correct => Cow::Borrowed("\u{0}correct"),
        None => Cow::Borrowed("\u{0}wrong"),
    }
}

/// The record that represents a sample: the first with the majority's answer, else the first that should have a
/// verdict. `None` without records.
pub(crate) fn representative(records: &[Record]) -> Option<&Record> {
    let scored = records
        .iter()
        .filter(|record| record.result.status == Status::Scored);
    let first = Poll::of(records).spokesman();
    let place = first.and_then(|first| usize::try_from(first).ok());
    place
        .and_then(|place| scored.clone().nth(place))
        .or(records.first())
}

/// Whether an answer is missing: some epoch errored or was never asked.
pub(crate) fn is_open(records: &[Record]) -> bool {
    let mut statuses = records.iter().map(|record| record.result.status);
    statuses.any(|status| status == Status::Skipped || status.is_error())
}

/// Groups the records of a file by sample: neighbours with the same id. Stops at the first error.
pub(crate) fn samples(
    records: impl Iterator<Item = Result<Record>>,
) -> impl Iterator<Item = Result<Vec<Record>>> {
    let mut records = records.peekable();
    std::iter::from_fn(move || {
        let first = match records.next()? {
            Ok(first) => first,
            Err(error) => return Some(Err(error)),
        };
        let mut sample = vec![first];
        let is_same = |next: &Result<Record>| {
            let next = next.as_ref();
            next.is_ok_and(|next| next.sample_id == sample[0].sample_id)
        };
        let mut others = Vec::new();
        while let Some(Ok(next)) = records.next_if(is_same) {
            others.push(next);
        }
        sample.append(&mut others);
        Some(Ok(sample))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A poll of answers, upper case for correct ones, `?` for an epoch without a verdict.
    fn poll(answers: &str) -> Poll {
        let mut poll = Poll::default();
        for answer in answers.chars() {
            match answer {
                '?' => poll.miss(1),
                _ => poll.vote(&answer.to_string(), answer.is_uppercase()),
            }
        }
        poll
    }

    #[test]
    fn the_answer_with_the_most_votes_wins_and_at_a_tie_the_first() {
        fn check(answers: &str, expect: Option<bool>, spokesman: Option<u64>) {
            let poll = poll(answers);
            assert_eq!(poll.majority(), expect, "{answers}");
            assert_eq!(poll.spokesman(), spokesman, "{answers}");
        }
        check("", None, None);
        check("?", None, None);
        check("A", Some(true), Some(0));
        check("bA", Some(false), Some(0));
        check("Ab", Some(true), Some(0));
        check("bAA", Some(true), Some(1));
        // Three of five are wrong, but with different answers.
        check("bcAdA", Some(true), Some(2));
        check("bAbA", Some(false), Some(0));
        check("?bAA", Some(true), Some(1));
    }

    #[test]
    fn answers_with_mixed_verdicts_count_by_majority() {
        let mut poll = Poll::default();
        for correct in [true, false, false] {
            poll.vote("x", correct);
        }
        assert_eq!(poll.majority(), Some(false));
        poll.vote("x", true);
        assert_eq!(
            poll.majority(),
            Some(true),
            "a tie, and the first was correct"
        );
        assert!(poll.is_flaky() && poll.answers() == 1);
    }

    #[test]
    fn an_epoch_without_a_verdict_opens_the_majority_only_where_it_could_change_it() {
        fn check(answers: &str, expect: (bool, bool)) {
            assert_eq!(poll(answers).extremes(), expect, "{answers}");
        }
        check("?", (false, true));
        check("A?", (false, true));
        check("AA?", (true, true));
        check("AAb?", (false, true));
        check("AAAb?", (true, true));
        check("bb?", (false, false));
        check("bbA?", (false, true));
        check("bbb??", (false, false));
        check("bc??", (false, true));
    }

    #[test]
    fn votes_are_taken_from_records() {
        use crate::verdict::summary::tests::record;
        let mut records: Vec<_> = [true, false, true]
            .map(|correct| record("a", Status::Scored, correct, "1"))
            .into();
        for (record, text) in records.iter_mut().zip(["17", "18", " 17 "]) {
            record.result.prediction = Some(text.to_owned());
        }
        records.insert(0, record("a", Status::TimedOut, false, "1"));
        let poll = Poll::of(&records);
        let counts = (
            poll.scored(),
            poll.correct(),
            poll.unknown(),
            poll.answers(),
        );
        assert_eq!(counts, (3, 2, 1, 2));
        let raw_answer = representative(&records).unwrap();
        assert_eq!(raw_answer.result.prediction.as_deref(), Some("17"));
        assert_eq!(representative(&records[..1]), Some(&records[0]));
    }
}
