//! Scorers made of other scorers.

pub(crate) mod all;
pub(crate) mod any;
pub(crate) mod any_of;
pub(crate) mod forward;
pub(super) mod maker;
pub(crate) mod not;
pub(super) mod parts;
pub(crate) mod per_sample;
pub(crate) mod recorded;
pub(crate) mod turns;
pub(crate) mod weighted;
