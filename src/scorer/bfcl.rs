//! The checker of the Berkeley Function Calling Leaderboard: tool calls against its data, with the
//! verdicts, error types and messages of the official program (bfcl-eval 2026.3.23).
//!
//! ```
//! use evaltest::scorer::bfcl::{Answer, Entry, Request, Value, check};
//!
//! let functions = r#"[{"name": "math.add", "parameters": {
//!     "type": "dict",
//!     "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
//!     "required": ["a"]
//! }}]"#;
//! let ground_truth = r#"[{"math.add": {"a": [5], "b": [1, ""]}}]"#;
//! let entry = Entry::new(
//!     &Value::from_json(functions).unwrap(),
//!     Some(&Value::from_json(ground_truth).unwrap()),
//! )
//! .unwrap();
//!
//! let answer = Value::from("[math.add(a=2+3)]");
//! let request = Request::new(&entry, "simple_python", Answer::Prompt(&answer));
//! assert!(check(&request).valid);
//!
//! let answer = Value::from("[math.add(a=6)]");
//! let verdict = check(&Request { answer: Answer::Prompt(&answer), ..request });
//! assert_eq!(verdict.error_type, Some("value_error:others"));
//! ```
//!
//! An [`Entry`] is read once and serves any number of answers. [`check`] decodes an answer ([`decode`]),
//! looks at its shape and checks it, in the order of the official program. Text of a model is parsed, never
//! run; any size and shape of it gives a verdict in linear time and bounded stack.
//!
//! Where the official program dies of an exception (an integer too large for a float, a list where a
//! dictionary is needed) the answer is wrong with [`CRASH`].
//!
//! # Where this differs from the official program
//!
//! * Arithmetic of constants is limited in size, and knows a few builtins only; Python's `eval` knows all.
//! * Depth limits that come from Python's recursion limit are near the official ones, not equal: they depend
//!   on how many calls are open there.
//! * The grammar of JavaScript is one release newer, because the official one cannot be built together with
//!   other C libraries. It reads `import.meta`, and no name that ends in a back quote.
//! * A Java or JavaScript text is given up when the parser has skipped 64 tokens of it and might still forgive all
//!   its faults: it takes quadratic time to go on.
//! * Messages of parsers are not those of `CPython`.

mod check;
mod checker;
mod compare;
mod crash;
pub mod decode;
mod entry;
mod explain;
mod fast;
mod integer;
mod java;
mod java_values;
mod javascript;
mod javascript_values;
mod json;
mod json_calls;
mod kind;
mod official;
mod printable;
pub(crate) mod python;
mod python_regex;
mod report;
mod repr;
mod scorer;
mod standard;
mod syntax_tree;
mod value;
mod verdict;
mod xml;

pub use check::{Answer, Request, check};
pub use decode::{DecodeFault, Format};
pub use entry::Entry;
pub use explain::{Explanation, Matched, Partial, Problem, Share, WrongParameter, explain};
pub use integer::Int;
pub use json::JsonFault;
pub(crate) use official::KEY as OFFICIAL;
pub use official::Official;
pub use report::Report;
pub use repr::TooManyDigits;
pub(crate) use repr::repr_str;
pub use scorer::Bfcl;
pub(super) use scorer::ENTRY;
pub(crate) use scorer::native_calls;
pub use value::{Dict, Value};
pub use verdict::{Attempt, CRASH, Message, Verdict};

#[cfg(test)]
mod check_tests;
#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod parity_tests;
