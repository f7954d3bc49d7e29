//! Flows: generate items, judge them, compare them with real ones, and report the results.
//!
//! Each stage is an eval with its own run directory in the flow's folder. Results are collected as plain data
//! ([`figures`]); conclusions are sentences of `sentences.yaml`, chosen by gates and intervals ([`findings`]); reports
//! consist of blocks rendered as Markdown and HTML ([`report`]).

mod driver;
pub(crate) mod figures;
mod findings;
mod generation;
mod plan;
mod report;
mod reviews;
mod spec;
mod stage_run;
mod stages;
mod state;

pub use driver::{Flow, FlowEnd, FlowHost, FlowNews};
pub use plan::FlowPlan;
#[cfg(feature = "schema")]
pub use spec::flow_schema;
pub use spec::{FlowFlags, READY_FLOW};
pub use state::{FlowState, StageState, StageStatus};
