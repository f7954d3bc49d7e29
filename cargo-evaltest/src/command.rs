//! One module per subcommand.

pub(crate) mod accept;
pub(crate) mod bfcl;
pub(crate) mod cache;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod export;
mod foreseen;
pub(crate) mod gate;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod judge;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod plan;
pub(crate) mod reference;
pub(crate) mod repair;
pub(crate) mod report;
pub(crate) mod rescore;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod schema;
pub(crate) mod score;
pub(crate) mod scorers;
pub(crate) mod show;
pub(crate) mod summarize;
pub(crate) mod winrate;
