//! `score --scorer bfcl`: answers to entries of the Berkeley Function Calling Leaderboard.
//!
//! These lines have their own fields, because a model's answer is a text or a list of calls and must be parsed as
//! Python does ([`Calls`]). The ground truth is on the line, or is looked up in the data by category and id.

use std::hash::{Hash as _, Hasher as _};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Mutex;

use evaltest::engine::leaderboard::bfcl::checker::{
    AnswerKey, BfclVerdict, CRASH, CheckRequest, ModelAnswer, Report, VerdictMessage, check,
};
use evaltest::engine::leaderboard::bfcl::data::{BfclQuestion, Data, Index};
use evaltest::engine::leaderboard::calls::{CallFormat, JsonFault, JsonValue as _, Value};
use evaltest::engine::system::lock::lock;
use evaltest::{Error, Result, Score};
use rustc_hash::FxHasher;

use crate::answers::{Calls, Fields};

/// Scores function-calling answers.
pub(super) struct CallChecker {
    /// Never dropped: the process is about to exit, and freeing memory allocated by other threads is slow.
    index: ManuallyDrop<Option<Index>>,
    fields: Fields,
    /// Whether a line may already have a score.
    replace: bool,
    memo: ManuallyDrop<Memo>,
}

impl CallChecker {
    /// With the data in a folder, or for lines with their own ground truth.
    pub(super) fn new(data: Option<&Path>, replace: bool) -> Result<Self> {
        let data = data.map(Data::open).transpose()?;
        Ok(Self {
            index: ManuallyDrop::new(data.map(Index::new)),
            fields: Calls::fields(),
            replace,
            memo: ManuallyDrop::new(Memo::new()),
        })
    }

    /// Writes a line with its score. `open` is a reusable buffer.
    pub(super) fn line(&self, text: &str, open: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<()> {
        let (line, calls) = Calls::parse(text, &self.fields, "score", open)?;
        if line.has_old() && !self.replace {
            return Err(Error::usage("the line already has a `score`")
                .hint("add `--replace` to write a new `score`"));
        }
        let found = self.entry(&calls)?;
        line.splice("score", out, |out| {
            match found {
                // Elsewhere the category is the id of an entry.
                FoundQuestion::Data(question) if question.category.name == calls.category => {
                    let (answer, is_text) = calls.raw_result();
                    let way = MemoKey {
                        question: question.into(),
                        format: calls.format,
                        flags: [
                            is_text,
                            calls.is_native,
                            calls.underscore_to_dot,
                            calls.has_tool_call_tag,
                        ],
                    };
                    self.memo.score(way, answer, out, |out| {
                        judge(&calls, &question.entry, |report| report.write(out));
                    });
                }
                FoundQuestion::Data(question) => {
                    judge(&calls, &question.entry, |report| report.write(out));
                }
                FoundQuestion::Inline(entry) => judge(&calls, &entry, |report| report.write(out)),
            }
            Ok(())
        })
    }

    /// Explains the score of one line.
    pub(super) fn explained(&self, text: &str) -> Result<Explained> {
        let (_, calls) = Calls::parse(text, &self.fields, "score", &mut Vec::new())?;
        let found = self.entry(&calls)?;
        let (entry, of_data) = match &found {
            FoundQuestion::Data(question) => (&question.entry, question.ground_truth.as_ref()),
            FoundQuestion::Inline(entry) => (entry, None),
        };
        let ground_truth = calls.ground_truth.as_ref().or(of_data);
        let id = calls.id.as_deref().unwrap_or("without id");
        let mode = if calls.is_native { "fc" } else { "prompt" };
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method is for one lifetime only"
        )]
        let score = judge(&calls, entry, |report| report.score());
        Ok(Explained {
            entry: format!("{id}, category {}, mode {mode}", calls.category),
            answer: calls.model_result().ok().map(|result| {
                result
                    .as_str()
                    .map_or_else(|| result.to_json().to_string(), str::to_owned)
            }),
            ground_truth: ground_truth.map(|calls| calls.to_json().to_string()),
            score,
        })
    }

    /// The ground truth for an answer.
    fn entry(&self, calls: &Calls<'_>) -> Result<FoundQuestion<'_>> {
        if calls.function.is_none() && calls.ground_truth.is_none() {
            return self.question(calls).map(FoundQuestion::Data);
        }
        let has_calls = !calls.category.contains("relevance");
        let (functions, ground_truth) = match (&calls.function, &calls.ground_truth) {
            (Some(functions), Some(expected)) => (functions, Some(expected)),
            (Some(functions), None) if !has_calls => (functions, None),
            (Some(functions), None) => (functions, self.question(calls)?.ground_truth.as_ref()),
            (None, expected) => (&self.question(calls)?.functions, expected.as_ref()),
        };
        AnswerKey::new(functions, ground_truth.filter(|_| has_calls))
            .map(FoundQuestion::Inline)
            .map_err(Error::usage)
    }

    fn question(&self, calls: &Calls<'_>) -> Result<&BfclQuestion> {
        let Some(index) = &*self.index else {
            return Err(
                Error::usage("the line has no `function` and `ground_truth`")
                    .hint("name the data that has them: `--data DIR`"),
            );
        };
        let id = calls.id.as_deref();
        let id = id.ok_or_else(|| Error::usage("`id` is missing"))?;
        index.get(&calls.category, id)
    }
}

enum FoundQuestion<'a> {
    Data(&'a BfclQuestion),
    Inline(AnswerKey),
}

/// A line with its verdict.
pub(super) struct Explained {
    /// The entry and how the answer was parsed.
    pub(super) entry: String,
    pub(super) answer: Option<String>,
    pub(super) ground_truth: Option<String>,
    pub(super) score: Score,
}

fn judge<T>(calls: &Calls<'_>, entry: &AnswerKey, with_report: impl FnOnce(&Report<'_>) -> T) -> T {
    let read = calls.model_result();
    let nothing = Value::None;
    let result = read.as_ref().unwrap_or(&nothing);
    let answer = if calls.is_native {
        ModelAnswer::Native(result)
    } else {
        ModelAnswer::Prompt(result)
    };
    let request = CheckRequest {
        underscore_to_dot: calls.underscore_to_dot,
        format: calls.format,
        has_tool_call_tag: calls.has_tool_call_tag,
        ..CheckRequest::new(entry, &calls.category, answer)
    };
    let verdict = match read {
        Ok(_) => check(&request),
        Err(fault) => unreadable(fault),
    };
    with_report(&Report::new(&request, &verdict))
}

/// The verdict on an answer that the official program could not parse.
fn unreadable(fault: JsonFault) -> BfclVerdict {
    let message = match fault {
        JsonFault::TooDeep => "RecursionError: maximum recursion depth exceeded",
        JsonFault::TooManyDigits => {
            "ValueError: Exceeds the limit (4300 digits) for integer string conversion"
        }
        JsonFault::Syntax => "JSONDecodeError: no JSON",
    };
    BfclVerdict {
        valid: false,
        error_type: Some(CRASH),
        error: vec![VerdictMessage::Text(message.to_owned())],
        decoded: None,
        fits: Vec::new(),
        limit: None,
    }
}

// Cache of scores, because models often give the same answer to a question.
//
// In results of twelve models every fifth answer equals one of another model. A score depends only on the entry, the
// answer and how it is parsed, so the cache never changes a result.

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
