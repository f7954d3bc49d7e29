//! Shortcuts to what the parsers of whole languages say.

#[cfg(test)]
pub(super) mod derived_texts;
pub(super) mod hopeless;
pub(super) mod outlook;
pub(super) mod plain_call;
pub(super) mod plain_python;
