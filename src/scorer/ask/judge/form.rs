//! `ReplyForm`: how the judge is held to the form of its reply.

use serde::{Deserialize, Serialize};

/// How an endpoint is told what a reply looks like. Each is tried where the one before it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReplyForm {
    /// By a JSON schema that the endpoint enforces.
    Schema,
    /// As the arguments of a tool that must be called.
    Tool,
    /// By the prompt alone.
    Text,
}

impl ReplyForm {
    /// What is tried when an endpoint refuses this one.
    pub(crate) fn next(self) -> Option<Self> {
        match self {
            Self::Schema => Some(Self::Tool),
            Self::Tool => Some(Self::Text),
            Self::Text => None,
        }
    }
}
