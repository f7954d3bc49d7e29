//! What constants, constant expressions and calls of Python are worth.
//!
//! A text is parsed, never run: constants, operators, comprehensions, and the builtins and methods that change nothing,
//! in as much work as an answer may cost. Beyond that a fault says so. Values and faults are those of Python 3.11, as
//! the official checker of the Berkeley Function Calling Leaderboard comes to them.
//!
//! ```
//! use evaltest_python_constants::{calls, literal_eval};
//!
//! let value = calls("[f(x=2**10, y='a'.upper()+'b')]").unwrap();
//! assert_eq!(value.repr().unwrap(), "[{'f': {'x': 1024, 'y': 'Ab'}}]");
//! assert!(literal_eval("[1, (2, None)]").is_ok());
//! ```
//!
//! [`calls`] and [`plain_calls`] → `parse`, behind which `nesting` and `tokens` refuse what Python refuses → values:
//! [`literal_eval`], or `evaluate` with `builtins` and `methods`; what stays text is written anew by `unparse`.

#![warn(missing_docs)]

mod fault;
pub mod half;
mod integer;
mod printable;
mod repr;
#[expect(
    dead_code,
    reason = "evaltest, which has the file too, uses more of it"
)]
mod text;
mod value;

mod nesting;
mod parse;
mod tokens;

mod fstring;
mod literal;
mod precedence;
mod unparse;

mod arithmetic;
mod builtins;
mod complex;
mod conversions;
mod evaluate;
mod layout;
mod methods;
mod order;
mod percent;
mod places;
mod rounding;
mod text_methods;

mod calls;
mod plain;

pub use calls::calls;
pub use fault::{DecodeFault, DecodeResult, no_call};
pub use integer::{Int, MAX_DIGITS};
pub use literal::literal_eval;
pub use nesting::is_keyword;
pub use plain::{PlainCall, plain_calls};
pub use repr::{TooManyDigits, repr_list, repr_str};
pub use value::{Dict, Value};
