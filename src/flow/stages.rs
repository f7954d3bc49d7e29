//! Builds the evals that the stages of a flow consist of.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::figures::FlowStage;
use super::spec::FlowSpec;
use crate::error::{Error, Result};
use crate::eval::Eval;
use crate::eval::registry::Registry;
use crate::eval::spec::of_flags;

impl FlowSpec {
    /// The eval of the generating stage.
    pub(super) fn generation(&self) -> Result<Eval> {
        let mut benchmark = self.generate.clone();
        benchmark.insert("type".to_owned(), "generate".into());
        let parts = json!({
            "name": format!("gen-{}", self.name),
            "benchmark": benchmark,
            "agent": self.agent,
            "gates": self.gates_of(FlowStage::Generate),
        });
        self.eval(FlowStage::Generate.as_str(), parts)
    }

    /// The eval of a stage that reads a file of `count` items.
    pub(super) fn of_stage(&self, stage: FlowStage, items: &Path, count: u64) -> Result<Eval> {
        let scorer = match (stage, &self.winrate) {
            (FlowStage::Winrate, Some(pairwise)) => {
                let mut pairwise = compares(pairwise);
                // Avoids a notice that there are fewer.
                pairwise.insert("pairs".to_owned(), self.pairs().min(count).into());
                pairwise
            }
            (FlowStage::Winrate, None) => {
                return Err(Error::usage("no real items to compare with"));
            }
            _ => judges(&self.judge),
        };
        let name = format!("{}-{}", self.name, stage.as_str());
        // No agent is asked: the item itself is the answer.
        let parts = json!({
            "name": name,
            "benchmark": { "type": "items", "path": items },
            "agent": "none",
            "scorers": [scorer],
            "gates": self.gates_of(stage),
        });
        self.eval(stage.as_str(), parts)
    }

    /// An eval with the scorers of all stages, built before there are items to find errors in their keys.
    pub(super) fn rehearsal(&self) -> Result<Eval> {
        let is_run = |stage| self.skip_reason(stage).is_none();
        let judge = is_run(FlowStage::Judge).then(|| judges(&self.judge));
        let pairwise = self.winrate.as_ref().map(compares);
        let scorers: Vec<_> = [judge, pairwise.filter(|_| is_run(FlowStage::Winrate))]
            .into_iter()
            .flatten()
            .collect();
        let samples = json!([{ "id": "an item", "prompt": "an item" }]);
        let parts = json!({
            "name": self.name,
            "benchmark": { "type": "custom", "samples": samples },
            "agent": "echo",
            "scorers": scorers,
        });
        self.eval("scorers", parts)
    }

    /// An eval of these parts and the settings that all stages share.
    fn eval(&self, what: &str, mut parts: Value) -> Result<Eval> {
        parts["limits"] = self.limits.clone().into();
        parts["redact"] = json!(self.redact);
        if let Some(cache) = &self.cache {
            parts["cache"] = cache.clone();
        }
        // Not the path of the spec: errors must not name a file that does not exist, and commands must not take the
        // spec of the flow for that of an eval.
        let path = self.folder.join(format!("{}.{what}", self.name));
        let eval = of_flags(&parts.to_string(), &path, &Registry::new(), &[]);
        eval.map_err(|error| {
            let error = error.at(format_args!("`{what}`"));
            match &self.path {
                Some(path) => error.at(path.display()),
                None => error,
            }
        })
    }

    /// The folder of flows, if the spec names one.
    pub(super) fn root(&self) -> Option<PathBuf> {
        self.output_root.as_ref().map(|root| self.folder.join(root))
    }
}

/// The scorer of the stage `judge`.
fn judges(keys: &Map<String, Value>) -> Map<String, Value> {
    let mut judge = keys.clone();
    judge.insert("type".to_owned(), "judge".into());
    if !judge.contains_key("rubric") && !judge.contains_key("choices") {
        judge.insert("rubric".to_owned(), "aime".into());
    }
    judge.entry("sees").or_insert_with(|| json!(["prediction"]));
    judge
}

/// The scorer of the stage `winrate`.
fn compares(keys: &Map<String, Value>) -> Map<String, Value> {
    let mut pairwise = keys.clone();
    pairwise.insert("type".to_owned(), "pairwise".into());
    pairwise
}
