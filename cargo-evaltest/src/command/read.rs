//! Commands that show what runs and specs have. None asks an agent.

pub(crate) mod compare;
pub(crate) mod list;
pub(crate) mod report;
pub(crate) mod runs;
pub(crate) mod scorers;
pub(crate) mod show;
pub(crate) mod summarize;
pub(crate) mod trend;
pub(crate) mod view;
