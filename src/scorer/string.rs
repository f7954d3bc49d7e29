//! Scorers that compare texts.

pub(crate) mod choice;
pub(crate) mod exact;
pub(crate) mod folding;
pub(crate) mod fuzzy;
pub(crate) mod includes;
pub(crate) mod list;
pub(crate) mod qa;
pub(crate) mod qa_f1;
pub(crate) mod quasi_exact;
pub(crate) mod regex;
pub(crate) mod substring;
pub(super) mod text_rule;
pub(crate) mod token_f1;
pub(crate) mod unspaced;
