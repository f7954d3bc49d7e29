//! The header of a log: what was asked, of which model, and how it ended.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::spool::LogSpool;
use crate::error::{Error, Result};
use crate::figure::counted;

/// The supported log version.
const VERSION: u64 = 2;

/// How many names a notice lists.
const NAMED: usize = 3;

/// The header of a log.
#[derive(Clone, Debug, Default)]
pub(super) struct LogHeader {
    eval: Map<String, Value>,
    status: String,
    error: Option<String>,
    is_invalidated: bool,
}

impl LogHeader {
    pub(super) fn of(members: &Map<String, Value>) -> Result<Self> {
        let version = members.get("version").and_then(Value::as_u64);
        if version.is_some_and(|version| version > VERSION) {
            let version = version.unwrap_or_default();
            return Err(Error::usage(format!(
                "the log has version {version}, but this program reads version {VERSION}"
            ))
            .hint("cargo install cargo-evaltest"));
        }
        let Some(Value::Object(eval)) = members.get("eval") else {
            return Err(Error::usage("this is not an Inspect log: it has no `eval`")
                .hint("name a file that `inspect view` opens: `logs/….eval`, or `.json`"));
        };
        let text = |key: &str| members.get(key).and_then(Value::as_str);
        let error = members.get("error").and_then(|error| error.get("message"));
        Ok(Self {
            eval: eval.clone(),
            status: text("status").unwrap_or("started").to_owned(),
            error: error.and_then(Value::as_str).map(str::to_owned),
            is_invalidated: members.get("invalidated") == Some(&Value::Bool(true)),
        })
    }

    fn text(&self, key: &str) -> Option<&str> {
        let text = self.eval.get(key).and_then(Value::as_str);
        text.filter(|text| !text.is_empty())
    }

    fn config(&self, key: &str) -> Option<&Value> {
        let value = self.eval.get("config")?.get(key);
        value.filter(|value| !value.is_null())
    }

    /// The name of the task, without the package that it is from.
    pub(super) fn task(&self) -> String {
        let task = self.text("task").unwrap_or("inspect");
        let name = task.rsplit('/').next().unwrap_or(task);
        if name.is_empty() { "inspect" } else { name }.to_owned()
    }

    pub(super) fn model(&self) -> String {
        self.text("model").unwrap_or("none/none").to_owned()
    }

    pub(super) fn epochs(&self) -> u32 {
        let epochs = self.config("epochs").and_then(Value::as_u64);
        u32::try_from(epochs.unwrap_or(1))
            .unwrap_or(u32::MAX)
            .max(1)
    }

    /// The ids of the samples in dataset order, if the log has them.
    pub(super) fn ids(&self) -> Vec<String> {
        let ids = self
            .eval
            .get("dataset")
            .and_then(|data| data.get("sample_ids"));
        let ids = ids.and_then(Value::as_array);
        ids.into_iter().flatten().filter_map(id).collect()
    }

    /// The names of the scorers in the order of the task.
    pub(super) fn scorers(&self) -> impl Iterator<Item = &str> {
        let scorers = self.eval.get("scorers").and_then(Value::as_array);
        let names = scorers.into_iter().flatten();
        names.filter_map(|scorer| scorer.get("name")?.as_str())
    }

    pub(super) fn is_finished(&self) -> bool {
        let is_limited = self.config("limit").is_some() || self.config("sample_id").is_some();
        self.status == "success" && !is_limited && !self.is_invalidated
    }

    /// Whether evaltest wrote it.
    pub(super) fn is_ours(&self) -> bool {
        self.eval
            .get("metadata")
            .is_some_and(|metadata| metadata.get("evaltest").is_some())
    }

    /// What identifies this log.
    pub(super) fn identity(&self) -> Map<String, Value> {
        let mut identity = Map::new();
        for key in [
            "task", "eval_id", "run_id", "task_id", "created", "revision",
        ] {
            if let Some(value) = self.eval.get(key).filter(|value| !value.is_null()) {
                identity.insert(key.to_owned(), value.clone());
            }
        }
        let version = self
            .eval
            .get("packages")
            .and_then(|all| all.get("inspect_ai"));
        if let Some(version) = version {
            identity.insert("inspect_ai".to_owned(), version.clone());
        }
        identity.insert("status".to_owned(), self.status.as_str().into());
        identity
    }

    /// The name of the log among the recordings of a baseline.
    pub(super) fn recording(&self) -> String {
        let id = self.text("eval_id").or(self.text("run_id"));
        format!("inspect:{}", id.unwrap_or("unknown"))
    }

    pub(super) fn notices(&self) -> Vec<String> {
        let mut notices = Vec::new();
        let status = &self.status;
        match &self.error {
            _ if status == "success" => {}
            Some(error) => notices.push(format!("the log ended as `{status}`: {error}")),
            None => notices.push(format!("the log ended as `{status}`")),
        }
        if self.is_invalidated {
            notices.push("the log is marked as invalid".to_owned());
        }
        notices
    }

    /// The samples of the dataset without an answer in the log.
    pub(super) fn missing(&self, spool: &LogSpool) -> MissingSamples {
        let there: HashSet<&str> = spool.ids().collect();
        let mut ids = self.ids();
        ids.retain(|id| !there.contains(id.as_str()));
        MissingSamples(ids)
    }
}

/// Samples without an answer in the log.
pub(super) struct MissingSamples(Vec<String>);

impl MissingSamples {
    pub(super) fn is_nothing(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn notice(&self) -> Option<String> {
        let first = self.0.get(..self.0.len().min(NAMED))?;
        if first.is_empty() {
            return None;
        }
        let more = match self.0.len() - first.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!(
            "{} of the dataset missing in the log: `{}`{more}",
            counted(self.0.len() as u64, "sample"),
            first.join("`, `")
        ))
    }
}

/// An id, which is a text or a number.
pub(super) fn id(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
