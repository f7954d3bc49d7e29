//! A flow: items are generated, judged, compared with real ones, and one report says what came of it.
//!
//! Each stage is an eval like any other, with a run directory of its own below the folder of the flow. What they found is
//! gathered as plain data ([`figures`]); what is said of it stands in one table, whose rows are tied to gates and to where
//! intervals lie ([`sentences`]); the reports are these, as the blocks that Markdown and HTML render ([`told`]).

mod basics;
mod driver;
pub(crate) mod figures;
mod found;
mod generation;
mod plan;
mod rating;
mod reviews;
#[cfg(feature = "schema")]
mod schema;
mod sentences;
mod spec;
mod stages;
mod state;
mod told;
mod written;

pub use driver::{Flow, FlowEnd, FlowHost, FlowNews};
pub use plan::FlowPlan;
#[cfg(feature = "schema")]
pub use schema::flow_schema;
pub use spec::{FlowFlags, READY_FLOW};
pub use state::{FlowState, StageState, StageStatus};
