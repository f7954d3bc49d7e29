//! The Function Calling Leaderboard: imports its results as runs, and has its own program judge a run.

mod import;
pub mod official;

pub use import::{Import, Imported, Mode};

/// Calls of tools, read from text.
pub mod calls {
    pub use crate::calls::{CallFormat, Dict, Int, JsonFault, JsonValue, TooManyDigits, Value};

    /// Whether a model's answer in this format contains calls.
    pub fn can_be_read(text: &str, format: CallFormat) -> bool {
        crate::calls::decode::prompt(text, format, false).is_ok()
    }
}

/// The Berkeley Function Calling Leaderboard.
pub mod bfcl {
    /// Files as the leaderboard's own program writes them.
    pub mod export {
        pub use crate::bfcl::export::{
            BfclExport, ExportOptions, Model, ModelFiles, WrittenCategory, find, write,
        };
    }
    /// The official checker.
    pub mod checker {
        pub use crate::bfcl::checker::{
            AnswerKey, BfclVerdict, CRASH, CheckRequest, ModelAnswer, OfficialVerdict, Report,
            TriedCall, VerdictMessage, check,
        };
    }
    /// The prompt variants of `format_sensitivity`.
    pub mod form {
        pub use crate::bfcl::form::PromptForm;
    }
    /// The files of the leaderboard.
    pub mod data {
        pub use crate::bfcl::data::{BfclQuestion, Category, CategoryGroup, Data, Index};
    }
}
