//! Properties of all scorers, and the examples of their guide.

pub(crate) mod check;
mod guide;
