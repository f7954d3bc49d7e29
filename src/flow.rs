//! A flow: items are generated, judged, compared with real ones, and one report says what came of it.
//!
//! Each stage is an eval like any other, with a run directory of its own below the folder of the flow. What they found is
//! gathered as plain data ([`figures`]); what is said of it stands in `sentences.yaml`, by gates and by where intervals lie
//! ([`findings`]); the reports are these, as the blocks that Markdown and HTML render ([`report`]).

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
