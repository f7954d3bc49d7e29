//! The flags as keys of a spec.

use std::path::Path;

use evaltest::engine::generate::per_minute;
use evaltest::engine::text::Override;
use evaltest::{Error, Result};
use serde_json::Value;

use super::{Disagreement, GenerateArgs};
use crate::command::run::options::absolute;

impl GenerateArgs {
    /// The flags that `run` does not have.
    pub(super) fn overrides(&self) -> Result<Vec<Override>> {
        let mut changes = Vec::new();
        let mut set = |key: &str, value: Option<Value>| {
            changes.extend(value.map(|value| Override::new(key, value)));
        };
        set("benchmark.count", self.count.map(Value::from));
        set("benchmark.seed", self.seed.map(Value::from));
        let reference = self.reference.as_deref().map(place).transpose()?;
        set("benchmark.reference", reference.map(Value::from));
        if !self.topics.is_empty() {
            let topics = self.topics.iter().map(|topic| topic.trim());
            if topics.clone().any(str::is_empty) {
                return Err(Error::usage("`--topics` has a topic without a name")
                    .hint("separate them with commas: --topics Algebra,Geometry"));
            }
            set("benchmark.topics", Some(topics.collect::<Vec<_>>().into()));
        }
        let solver = self.solver.as_deref().map(Override::value).transpose()?;
        set("benchmark.solver.agent", solver);
        set("benchmark.solver.votes", self.votes.map(Value::from));
        let disagreement = self.on_disagreement.map(|it| match it {
            Disagreement::Refuse => "refuse",
            Disagreement::Note => "note",
        });
        set(
            "benchmark.solver.on_disagreement",
            disagreement.map(Value::from),
        );
        set(
            "limits.requests_per_minute",
            self.delay_s.map(per_minute).transpose()?,
        );
        set("limits.budget.cost_usd", self.budget_usd.map(Value::from));
        set("limits.budget.tokens", self.budget_tokens.map(Value::from));
        Ok(changes)
    }
}

/// What is typed in a shell means what it means there.
fn place(path: &Path) -> Result<String> {
    let typed = path.to_string_lossy();
    if typed.starts_with("hf://") {
        return Ok(typed.into_owned());
    }
    Ok(absolute(path)?.to_string_lossy().into_owned())
}
