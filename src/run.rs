//! The runner: one run of one eval, from its plan to the finished [`Run`](crate::verdict::conclude::Run).
//!
//! # Processing of a question
//!
//! A `Session` is one run of one eval. It can be driven from any thread, in any order: by its own pool
//! (`Session::run`) for `cargo evaltest`, or by that of the harness (`Session::run_sample`) for `cargo test`.
//!
//! 1. A question is a sample in one epoch. Selection and order are fixed when the run starts.
//! 2. The ledger in `record` knows whether an earlier part of the run has the answer, or even the verdict. Then no
//!    request is sent.
//! 3. Otherwise `ask` gets the answer: from the cache, or in one or more attempts. Each attempt waits for the
//!    `throttle`, is executed by the caller in its own folder (on a thread that can be abandoned if the agent cannot
//!    be stopped), and may be retried on failure. The output is written to the ledger's journal before it is processed
//!    further.
//! 4. The answer is scored, and its redacted record is added to the ledger and dropped from memory. The slots of a
//!    sample's records are adjacent: that of epoch `e` of the sample at `place` is `place * epochs + e`.
//! 5. The session's emitter notifies observers. The runner never prints.
//!
//! Before each question the stopper decides whether the run continues: all modules report reasons to stop to it, and
//! only it decides. When all questions are done, or it stops the run, the session finishes: the ledger orders the
//! records, and the summary is computed from the stream of records.
//!
//! Dependencies: session → ask → caller → ledger, emitter → stopper.

pub(crate) mod ask;
pub(crate) mod record;
pub(crate) mod shard;

pub mod drive;
pub(crate) mod dry_run;
pub(crate) mod history;
pub(crate) mod judge;
pub mod listing;
#[cfg(feature = "command")]
pub(crate) mod rescore;
mod session;

pub(crate) use session::Session;
pub use session::options::CiPolicy;
pub(crate) use session::options::{Caller, RunOptions, RunOrigin, Scope};
