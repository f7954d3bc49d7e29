//! One module per subcommand.

pub(crate) mod accept;
pub(crate) mod docs;
pub(crate) mod doctor;
pub(crate) mod files;
pub(crate) mod flow;
pub(crate) mod gate;
pub(crate) mod generate;
pub(crate) mod init;
pub(crate) mod judge;
pub(crate) mod plan;
pub(crate) mod read;
pub(crate) mod rescore;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod score;
pub(crate) mod winrate;
