//! The data of a run: samples, agent outputs, scores and records; and the sources of samples: [`dataset`], `hub`.

pub(crate) mod calibration;
pub(crate) mod history;
pub(crate) mod item_part;
mod judge_rule;
pub(crate) mod judged;
pub(crate) mod labels;
pub(crate) mod output;
pub(crate) mod record;
pub(crate) mod reviews;
pub(crate) mod sample;
pub(crate) mod score;
pub(crate) mod shard;
pub(crate) mod steps;
pub(crate) mod task;

mod attachment;
mod manner;
mod variant;

pub(crate) mod dataset;
pub(crate) mod hub;

pub(crate) mod yaml_places;

pub use judge_rule::JudgeRule;
pub use judged::{JudgeCall, JurorVote, ReplyForm, Unread};
pub(crate) use manner::FailureManner;
pub use output::{AgentError, EndedBy, FailureKind, Output, Usage};
pub use record::{Outcome, Record, RefusedAnswer, Status};
pub use sample::{Attachment, Sample, Target};
pub(crate) use score::DetailBounds;
pub use score::{Details, Normalized, Score, display_prediction};
pub use shard::Shard;
pub(crate) use shard::shard_hash;
pub use task::{Task, TaskFile};
pub use variant::Variant;
