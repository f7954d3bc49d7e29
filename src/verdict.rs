//! From records to a verdict: figures, gates, exit code. Pure: no clock, no environment, no file.
//!
//! What is asked ([`gate`]) lies below what came of it: the baseline, the summary, the gates [`check`]ed, and all of it
//! as one [`Run`](run::Run).

pub mod gate;

pub mod baseline;
pub mod poll;

pub mod agreement;
pub mod summary;

pub mod check;
pub(crate) mod conclude;
pub mod run;
