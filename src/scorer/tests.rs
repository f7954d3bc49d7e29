//! What all scorers have in common, and the examples of their guide.

pub(crate) mod check;
mod guide;
