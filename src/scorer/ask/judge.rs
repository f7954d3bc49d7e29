//! `judge`: a model grades an answer by a rubric.

#![cfg_attr(
    not(test),
    expect(dead_code, reason = "the scorer that asks is made of these")
)]

pub(crate) mod form;
pub(crate) mod prompt;
pub(crate) mod reading;
pub(crate) mod rubric;
pub(crate) mod schema;
