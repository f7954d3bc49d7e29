//! From records to a verdict: figures, gates, exit code. Pure: no clock, no environment, no file.
//!
//! What is asked ([`gate`]) lies below what came of it. In between are the [`Facts`](facts::Facts), all that a run is
//! judged by: they are gathered from its records, the gates are [`check`]ed against them, and the conclusion is part of
//! the [`Run`](run::Run).

pub mod gate;

pub mod regression;
pub mod result;

pub mod baseline;
pub mod poll;

pub mod agreement;
pub mod summary;

pub mod facts;
pub(crate) mod gather;

pub mod check;
pub(crate) mod conclude;
pub mod run;
