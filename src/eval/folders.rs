//! Where an eval's runs and cached answers are, and the files it is made of.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Eval;
use crate::system::process::files_in;

impl Eval {
    /// The folder of run directories.
    pub fn output_folder(&self) -> PathBuf {
        let default = || crate::system::project::root().join(crate::store::DEFAULT_OUTPUT_ROOT);
        self.output_root.clone().unwrap_or_else(default)
    }

    /// The folder of cached answers.
    pub fn cache_folder(&self) -> PathBuf {
        self.cache.folder(&self.output_folder())
    }

    /// Whether the eval sets its own folder of runs.
    pub fn has_output_root(&self) -> bool {
        self.output_root.is_some()
    }

    /// Files and folders that define what is asked and how it is judged: the spec, the dataset, files that the spec
    /// names.
    pub fn sources(&self) -> Vec<PathBuf> {
        let mut paths = self.benchmark.paths();
        paths.extend(self.spec.clone());
        for (key, value) in self.config.as_object().into_iter().flatten() {
            if key != "agent" {
                named(value, &[&self.folder()], &mut paths);
            }
        }
        paths
    }

    /// The files that the agent's keys name, such as its program.
    pub fn agent_files(&self) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        let agent = &self.config["agent"];
        let folder = self.folder();
        let cwd = agent["cwd"].as_str().map(|cwd| folder.join(cwd));
        let folders: Vec<&Path> = [Some(&folder), cwd.as_ref()]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
            .collect();
        named(agent, &folders, &mut paths);
        paths
    }

    /// The folder to which paths in a spec are relative.
    fn folder(&self) -> PathBuf {
        let folder = self.spec.as_deref().and_then(Path::parent);
        folder.map_or_else(crate::system::project::root, Path::to_owned)
    }
}

/// Collects the files that strings in a value name.
fn named(value: &Value, folders: &[&Path], paths: &mut Vec<PathBuf>) {
    match value {
        Value::String(text) => paths.extend(files_in(text, folders)),
        Value::Array(values) => values.iter().for_each(|value| named(value, folders, paths)),
        Value::Object(map) => map.values().for_each(|value| named(value, folders, paths)),
        _ => {}
    }
}
