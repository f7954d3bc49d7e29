//! Commands that print documentation and what shells and editors read.

pub(crate) mod completions;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod reference;
pub(crate) mod schema;
