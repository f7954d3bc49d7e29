//! The runner: one run of one eval, from its plan to the finished [`Run`](crate::verdict::run::Run).
//!
//! # The story of a question
//!
//! A `Session` is one run of one eval. It can be driven from any thread, in any order: `cargo evaltest` by its own pool
//! (`Session::run`), `cargo test` by that of the harness (`Session::run_sample`).
//!
//! 1. A question is a sample in one epoch. Which of them are asked, and in which order, was
//!    selected when the run began.
//! 2. The ledger in `record` knows whether an earlier part of the run had the answer, or even the verdict. Then nobody is asked.
//! 3. Else `ask` finds it: in the cache, or in one or several attempts. Each waits for the
//!    `throttle`, is made by the caller in a folder of its own, on a thread that may be
//!    left behind where the agent cannot be stopped, and is repeated if it failed and may be. What was said is
//!    in the ledger's journal before anything else happens to it.
//! 4. The answer is judged, and its record goes into the ledger, redacted, and leaves the memory. Records have
//!    slots, side by side those of a sample: that of epoch `e` of the sample at `place` is `place * epochs + e`.
//! 5. The emitter of the session tells whoever watches. The runner never prints.
//!
//! Before each of them the stopper says whether the run goes on: everyone reports to it what may end the run, and
//! nobody else decides. When all questions are through, or it says no, the session finishes: the ledger puts the
//! records into order, and what the run amounts to is worked out from them as they are seen.
//!
//! Who knows whom: session → ask → caller → ledger, emitter → stopper.

pub(crate) mod ask;
pub(crate) mod record;
pub(crate) mod shard;

pub mod drive;
mod dry_run;
mod history;
pub(crate) mod judge;
pub mod listing;
pub(crate) mod rescore;
mod session;

pub(crate) use session::Session;
pub use session::options::CiPolicy;
pub(crate) use session::options::{FrontDoor, Home, RunOptions, Scope};
