//! The stages of a flow as evals: the one place that says what each is made of.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::figures::FlowStage;
use super::spec::FlowSpec;
use crate::error::{Error, Result};
use crate::eval::Eval;
use crate::eval::registry::Registry;
use crate::eval::spec::of_flags;

impl FlowSpec {
    /// The eval that generates.
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

    /// The eval of a stage that looks at the items of a file, of which there are so many.
    pub(super) fn of_stage(&self, stage: FlowStage, items: &Path, count: u64) -> Result<Eval> {
        let scorer = match (stage, &self.winrate) {
            (FlowStage::Winrate, Some(pairwise)) => {
                let mut pairwise = compares(pairwise);
                // Nobody needs to be told that there are fewer.
                pairwise.insert("pairs".to_owned(), self.pairs().min(count).into());
                pairwise
            }
            (FlowStage::Winrate, None) => {
                return Err(Error::usage("there are no real items to compare with"));
            }
            _ => judges(&self.judge),
        };
        let name = format!("{}-{}", self.name, stage.as_str());
        // Nobody answers: the item is the answer.
        let parts = json!({
            "name": name,
            "benchmark": { "type": "items", "path": items },
            "agent": "none",
            "scorers": [scorer],
            "gates": self.gates_of(stage),
        });
        self.eval(stage.as_str(), parts)
    }

    /// An eval with the scorers of all stages, before there are items: whoever builds it finds what is wrong with their keys.
    pub(super) fn rehearsal(&self) -> Result<Eval> {
        let pairwise = self.winrate.as_ref().map(compares);
        let scorers: Vec<_> = [Some(judges(&self.judge)), pairwise]
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

    /// An eval of these parts, with what all stages have in common.
    fn eval(&self, what: &str, mut parts: Value) -> Result<Eval> {
        parts["limits"] = self.limits.clone().into();
        parts["redact"] = json!(self.redact);
        if let Some(cache) = &self.cache {
            parts["cache"] = cache.clone();
        }
        // No file is blamed that nobody wrote, and no command takes the flow's for that of an eval.
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

    /// The folder of flows, where the spec names one.
    pub(super) fn root(&self) -> Option<PathBuf> {
        self.output_root.as_ref().map(|root| self.folder.join(root))
    }
}

/// The scorer that gives points.
fn judges(keys: &Map<String, Value>) -> Map<String, Value> {
    let mut judge = keys.clone();
    judge.insert("type".to_owned(), "judge".into());
    if !judge.contains_key("rubric") && !judge.contains_key("choices") {
        judge.insert("rubric".to_owned(), "aime".into());
    }
    judge.entry("sees").or_insert_with(|| json!(["prediction"]));
    judge
}

/// The scorer that compares.
fn compares(keys: &Map<String, Value>) -> Map<String, Value> {
    let mut pairwise = keys.clone();
    pairwise.insert("type".to_owned(), "pairwise".into());
    pairwise
}
