//! Converts flags to keys of a spec.

use evaltest::engine::generate::per_minute;
use evaltest::engine::store::RunDir;
use evaltest::engine::text::Override;
use evaltest::{Error, Result};
use serde_json::Value;

use super::{Disagreement, GenerateArgs};
use crate::command::run::options::place;
use crate::run_ids;

impl GenerateArgs {
    /// Overrides for the flags that `run` does not have.
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
        let rate = self.delay_s.map(per_minute).transpose()?;
        let rate_of_solver = rate.clone().filter(|_| self.asks_solver());
        set("limits.requests_per_minute", rate);
        set("benchmark.solver.requests_per_minute", rate_of_solver);
        set("limits.budget.cost_usd", self.budget_usd.map(Value::from));
        set("limits.budget.tokens", self.budget_tokens.map(Value::from));
        Ok(changes)
    }

    /// Whether a solver is set: by a flag, in the spec or in the resumed run. Unreadable files count as no here;
    /// reading them for the run reports the error.
    fn asks_solver(&self) -> bool {
        let has_solver = |config: &Value| {
            let solver = config.pointer("/benchmark/solver");
            solver.is_some_and(|solver| !solver.is_null())
        };
        let of_run = || {
            let dir = run_ids::found(self.resume.as_deref()?).ok()?;
            let manifest = RunDir::open(&dir).ok()?.manifest().ok()?;
            Some(has_solver(&manifest.config))
        };
        let of_spec = || {
            let text = std::fs::read_to_string(self.spec.as_deref()?).ok()?;
            Some(has_solver(&Override::value(&text).ok()?))
        };
        let mut keys = self.set.iter();
        self.solver.is_some()
            || keys.any(|pair| pair.trim_start().starts_with("benchmark.solver"))
            || of_run().unwrap_or_default()
            || of_spec().unwrap_or_default()
    }
}
