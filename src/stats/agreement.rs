//! Agreement between raters, and correlation.

pub(crate) mod alpha;
pub(crate) mod kappa;
pub(crate) mod slope;
pub(crate) mod spearman;
