//! How far raters agree, and how numbers go together.

pub(crate) mod alpha;
pub(crate) mod kappa;
pub(crate) mod slope;
pub(crate) mod spearman;
