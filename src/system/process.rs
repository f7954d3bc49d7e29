//! External programs: shared by agents and scorers that are programs.
//!
//! [`launch`] finds and starts a program with the variables that `environment` allows. A program leads its own process
//! [`group`], with which its children are killed; `escapees` finds processes that left it, `watch` those that this
//! program could not kill. [`tail`] stores the end of stderr, and `excerpt` formats output for messages. A [`child`]
//! runs to its end; a [`worker`] is a long-running program that answers a line with a line.

pub(crate) mod child;
pub(crate) mod environment;
pub(crate) mod escapees;
pub(crate) mod excerpt;
pub(crate) mod group;
pub(crate) mod launch;
pub(crate) mod mark;
pub(crate) mod named;
pub(crate) mod native;
mod piece;
pub(crate) mod tail;
pub(crate) mod watch;
pub(crate) mod worker;
