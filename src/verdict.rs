//! Computes verdicts from records: figures, gates, exit code. Pure: no clock, no environment, no file.
//!
//! Gate definitions ([`gate`]) are independent of results. [`Facts`](facts::Facts) contain everything that gates
//! depend on: they are collected from the records, the gates are [`check`]ed against them, and the conclusion is part
//! of the [`Run`](conclude::Run).

pub(crate) mod gate;

pub(crate) mod result;

pub(crate) mod baseline;
pub(crate) mod poll;

pub(crate) mod agreement;
pub(crate) mod groups;
pub(crate) mod judged;
pub(crate) mod summary;

pub(crate) mod facts;
pub(crate) mod gather;

pub(crate) mod metric;

pub(crate) mod alert;
pub(crate) mod check;
#[cfg(feature = "command")]
pub(crate) mod compare;
pub(crate) mod conclude;

#[cfg(feature = "command")]
pub(crate) mod trend;
