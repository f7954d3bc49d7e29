//! Formats figures for people: each kind is a type, and only its `Display` rounds.
//!
//! | type | is | written |
//! |---|---|---|
//! | [`Share`] | a part of a whole, 0 to 1 | `62.2 %`, `more than 99.9 %` |
//! | [`Of100`] | the same in whole hundredths | `62`, `more than 99` |
//! | [`Points`] | a difference of two shares | `+2.5`, `-0.03` |
//! | [`Usd`] | money | `12.35 USD`, `0.0012 USD` |
//! | [`Seconds`] | a time | `48 ms`, `4.2 s`, `3 min 5 s` |
//! | [`Count`] | how many, where there may be millions | `950`, `12.3k` |
//! | [`Value`] | the value of a metric, as gates have it | `0.8333` |
//! | [`Interval`] | two of these | `51.2 % to 72.0 %` |
//! | [`P`] | a p-value | `p = 0.031`, `p < 0.001` |
//!
//! Rounding never suggests an exact value: only 100 % is written as 100 %, and a difference other than zero has a
//! non-zero digit. JSON has the exact numbers.

mod count;
mod interval;
mod money;
mod p_value;
mod points;
mod share;
mod time;
mod value;

use std::fmt::Display;

pub use count::{Count, counted};
pub(crate) use interval::ci95;
pub use interval::{CI95, Interval, Scale};
pub use money::Usd;
pub use p_value::P;
pub use points::Points;
pub(crate) use share::{Of100, share_cell};
pub use share::{Share, part_of};
pub use time::Seconds;
pub(crate) use value::Value;

/// Placeholder for a missing figure.
pub(crate) const NONE: &str = "-";

/// The figure, or `-` if missing.
pub fn or_dash(figure: Option<impl Display>) -> String {
    figure.map_or_else(|| NONE.to_owned(), |figure| figure.to_string())
}
