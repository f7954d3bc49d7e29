//! Cache of scores, because models often give the same answer to a question.
//!
//! In results of twelve models every fifth answer equals one of another model. A score depends only on the entry, the
//! answer and how it is parsed, so the cache never changes a result.

use std::hash::{Hash as _, Hasher as _};
use std::sync::Mutex;

use evaltest::engine::leaderboard::bfcl::data::BfclQuestion;
use evaltest::engine::leaderboard::calls::CallFormat;
use evaltest::engine::system::lock::lock;
use rustc_hash::FxHasher;

/// Number of cache slots. A key maps to one slot, which holds the latest score.
const PLACES: usize = 1 << 14;

/// Maximum bytes of an answer with its score, which limits memory to 24 MiB. Longer answers are rarely equal.
const LONGEST: usize = 1536;

/// The inputs of a score besides the answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct MemoKey {
    pub(super) question: Id,
    pub(super) format: Option<CallFormat>,
    /// The other fields of the line that affect how the answer is parsed.
    pub(super) flags: [bool; 4],
}

/// Address of an entry, which is stable while answers are scored.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Id(usize);

impl From<&BfclQuestion> for Id {
    fn from(question: &BfclQuestion) -> Self {
        Self(std::ptr::from_ref(question).addr())
    }
}

/// The cache.
pub(super) struct Memo {
    places: Box<[Mutex<Option<MemoEntry>>]>,
}

struct MemoEntry {
    way: MemoKey,
    /// Offset of the score, after the answer.
    score: usize,
    bytes: Box<[u8]>,
}

impl Memo {
    pub(super) fn new() -> Self {
        Self {
            places: (0..PLACES).map(|_| Mutex::default()).collect(),
        }
    }

    /// Writes the score of an answer, from the cache or else by `judge`.
    pub(super) fn score(
        &self,
        way: MemoKey,
        answer: &str,
        out: &mut Vec<u8>,
        judge: impl FnOnce(&mut Vec<u8>),
    ) {
        let answer = answer.as_bytes();
        if answer.len() > LONGEST {
            return judge(out);
        }
        let place = &self.places[place(way, answer)];
        if let Some(entry) = &*lock(place)
            && entry.way == way
            && entry.bytes[..entry.score] == *answer
        {
            out.extend_from_slice(&entry.bytes[entry.score..]);
            return;
        }
        let start = out.len();
        judge(out);
        let score = &out[start..];
        if answer.len() + score.len() <= LONGEST {
            let entry = MemoEntry {
                way,
                score: answer.len(),
                bytes: [answer, score].concat().into(),
            };
            *lock(place) = Some(entry);
        }
    }
}

fn place(way: MemoKey, answer: &[u8]) -> usize {
    let mut hasher = FxHasher::default();
    hasher.write(answer);
    way.question.hash(&mut hasher);
    way.flags.hash(&mut hasher);
    // The highest bits are the best mixed.
    usize::try_from(hasher.finish() >> (64 - PLACES.ilog2())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAY: MemoKey = MemoKey {
        question: Id(1),
        format: None,
        flags: [false; 4],
    };

    fn score(memo: &Memo, way: MemoKey, answer: &str, judged: &str) -> String {
        let mut out = b"before ".to_vec();
        memo.score(way, answer, &mut out, |out| {
            out.extend_from_slice(judged.as_bytes());
        });
        String::from_utf8(out).expect("a text")
    }

    #[test]
    fn a_score_is_given_again_for_the_same_answer_alone() {
        let memo = Memo::new();
        assert_eq!(score(&memo, WAY, "f()", "1"), "before 1");
        assert_eq!(score(&memo, WAY, "f()", "2"), "before 1");
        assert_eq!(score(&memo, WAY, "f( )", "3"), "before 3");
        let others = [
            MemoKey {
                question: Id(2),
                ..WAY
            },
            MemoKey {
                format: Some(CallFormat::Json),
                ..WAY
            },
            MemoKey {
                flags: [false, true, false, false],
                ..WAY
            },
        ];
        for way in others {
            assert_eq!(score(&memo, way, "f()", "4"), "before 4");
        }
    }

    #[test]
    fn long_answers_are_not_cached() {
        let memo = Memo::new();
        let long = "a".repeat(LONGEST + 1);
        for judged in ["1", "2"] {
            let expect = format!("before {judged}");
            assert_eq!(score(&memo, WAY, &long, judged), expect);
            assert_eq!(score(&memo, WAY, &long[2..], judged), "before 1");
        }
        assert_eq!(score(&memo, WAY, "f()", &long), format!("before {long}"));
        assert_eq!(score(&memo, WAY, "f()", "2"), "before 2");
    }

    #[test]
    fn places_are_used_evenly() {
        let places: std::collections::HashSet<usize> = (0..PLACES)
            .map(|number| place(WAY, format!("[f(a={number})]").as_bytes()))
            .collect();
        assert!(places.len() > PLACES / 2, "{}", places.len());
    }
}
