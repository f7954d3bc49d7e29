//! Programs that are started: what an agent and a scorer that are programs have in common.
//!
//! [`launch`] finds and starts a program with the variables that `environment` lets pass. A program leads a
//! [`group`] of its own, with which its children are killed; `escapees` finds those that left it,
//! `watch` those that this program could not end. Of what it says, [`tail`] keeps the end of stderr, and `excerpt` makes a
//! line for a message. A [`child`] is run to its end; a [`worker`] is a program that stays, and answers a line with a line.

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
