//! The checker of the Berkeley Function Calling Leaderboard: tool calls against its data, with the
//! verdicts, error types and messages of the official program (bfcl-eval 2026.3.23).
//!
//! ```
//! use evaltest::engine::leaderboard::bfcl::checker::{AnswerKey, CheckRequest, ModelAnswer, check};
//! use evaltest::engine::leaderboard::calls::{JsonValue as _, Value};
//!
//! let functions = r#"[{"name": "math.add", "parameters": {
//!     "type": "dict",
//!     "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
//!     "required": ["a"]
//! }}]"#;
//! let ground_truth = r#"[{"math.add": {"a": [5], "b": [1, ""]}}]"#;
//! let entry = AnswerKey::new(
//!     &Value::from_json(functions).unwrap(),
//!     Some(&Value::from_json(ground_truth).unwrap()),
//! )
//! .unwrap();
//!
//! let answer = Value::from("[math.add(a=2+3)]");
//! let request = CheckRequest::new(&entry, "simple_python", ModelAnswer::Prompt(&answer));
//! assert!(check(&request).valid);
//!
//! let answer = Value::from("[math.add(a=6)]");
//! let verdict = check(&CheckRequest { answer: ModelAnswer::Prompt(&answer), ..request });
//! assert_eq!(verdict.error_type, Some("value_error:others"));
//! ```
//!
//! An [`AnswerKey`] is read once and serves any number of answers. [`check`] decodes an answer
//! ([`decode`](crate::calls::decode)), looks at its shape and checks it, in the order of the official program. Text of
//! a model is parsed, never run; any size and shape of it gives a verdict in linear time and bounded stack.
//!
//! Where the official program dies of an exception (an integer too large for a float, a list where a
//! dictionary is needed) the answer is wrong with [`CRASH`].
//!
//! # Where this differs from the official program
//!
//! * Constant expressions are limited in size, and know the pure functions and the common methods only; Python's `eval`
//!   knows all. The verdict then has a `limit`.
//! * Depth limits that come from Python's recursion limit are near the official ones, not equal: they depend
//!   on how many calls are open there.
//! * A Java or JavaScript text is given up when the parser has come back from more than 8,000 errors that it did not
//!   forgive (of a text of a megabyte, 45,000) and might still find a reading without: it takes quadratic time to go on.
//!   The verdict then has a `limit`.
//! * Messages of parsers are not those of `CPython`.

mod ast;
mod check;
mod compare;
mod entry;
mod explain;
mod kind;
mod official;
mod report;
mod scorer;
mod standard;
mod verdict;

pub use check::{CheckRequest, ModelAnswer, check};
pub use entry::AnswerKey;
pub(crate) use explain::{Explanation, Matched, Share, WrongParameter, explain};
pub(crate) use official::KEY as OFFICIAL;
pub use official::OfficialVerdict;
pub use report::Report;
pub(crate) use scorer::BfclScorer;
pub(crate) use scorer::ENTRY;
pub(crate) use scorer::native_calls;
pub use verdict::{BfclVerdict, CRASH, TriedCall, VerdictMessage};

#[cfg(test)]
mod check_tests;
#[cfg(test)]
mod differ_tests;
#[cfg(test)]
pub(crate) mod fuzz_tests;
#[cfg(test)]
mod parity_tests;
