//! What specs name: a user's own benchmarks, agents and scorers, and the built-in kinds of [`agents`] and
//! [`benchmarks`].
//!
//! [`Registry`] has what a user registers. The built-in kinds are a file each, with its page, in `agents` and
//! `benchmarks`; `recipe` defines what such a file contains, and is the only way from a spec to either. The built-in
//! scorers are in [`scorers::entries`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use serde_path_to_error::Segment;

use crate::agent::Agent;
use crate::benchmark::Benchmark;
use crate::error::{Error, Result, Step};
use crate::eval::KeepScratch;
use crate::scorer::Scorer;
use crate::system::file;

pub mod agents;
pub mod benchmarks;
mod confinement;
mod kind;
mod made_agent;
#[cfg(test)]
mod pages;
mod recipe;
pub(crate) mod scorers;

#[cfg(feature = "schema")]
pub(in crate::eval) use confinement::LongSandbox;
pub(in crate::eval) use kind::{KindKeys, TYPE, of_value};
pub(crate) use made_agent::MadeAgent;
pub(crate) use recipe::{Chosen, Surroundings};

type Make<T> = Arc<dyn Fn(&Options) -> Result<Arc<T>> + Send + Sync>;

/// What specs may name in addition to the built-in kinds.
///
/// ```no_run
/// # use evaltest::{Agent, AgentError, Eval, Output, Registry, Task};
/// struct Mine;
/// impl Agent for Mine {
///     fn answer(&self, task: &Task) -> Result<Output, AgentError> {
///         Ok(task.question().to_uppercase().into())
///     }
/// }
///
/// fn main() -> evaltest::Result<evaltest::Conclusion> {
///     let registry = Registry::new().agent("mine", |_options| Ok(Mine));
///     evaltest::run([Eval::from_yaml_with("evals/mine.yaml", &registry)?])
/// }
/// ```
#[derive(Clone, Default)]
pub struct Registry {
    agents: BTreeMap<String, Make<dyn Agent>>,
    benchmarks: BTreeMap<String, Make<dyn Benchmark>>,
    scorers: BTreeMap<String, Make<dyn Scorer>>,
}

/// The keys of a spec other than `type`.
#[derive(Clone, Debug)]
pub struct Options {
    what: String,
    values: Map<String, Value>,
    folder: PathBuf,
}

impl Options {
    pub(crate) fn new(what: String, values: Map<String, Value>, folder: &Path) -> Self {
        Self {
            what,
            values,
            folder: folder.to_owned(),
        }
    }

    /// The keys as they are.
    pub fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// The keys as a type of the user's own; use `deny_unknown_fields` on it to detect typing errors.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T> {
        let values = Value::Object(self.values.clone());
        serde_path_to_error::deserialize(values).map_err(|error| {
            let wrong = Error::usage(format!("{}: {}", self.what, error.inner()));
            placed(wrong, error.path())
        })
    }

    /// A path of the spec, resolved against its folder.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        file::tidy(&self.folder.join(relative))
    }
}

/// The error about the key that could not be read.
fn placed(wrong: Error, path: &serde_path_to_error::Path) -> Error {
    let mut steps: Vec<Step> = path.iter().filter_map(step).collect();
    let is_unknown = |key: &str| wrong.message().contains(&format!("unknown field `{key}`"));
    let wrong = match steps.pop() {
        Some(Step::Key(key)) if is_unknown(&key) => wrong.of_key(&key),
        Some(step) => wrong.under(step),
        None => wrong,
    };
    steps.into_iter().rev().fold(wrong, Error::under)
}

/// A step to the value that could not be read.
fn step(segment: &Segment) -> Option<Step> {
    match segment {
        Segment::Map { key } => Some(key.as_str().into()),
        Segment::Seq { index } => Some((*index).into()),
        Segment::Enum { .. } | Segment::Unknown => None,
    }
}

impl Registry {
    /// Only the built-in kinds.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an agent.
    #[must_use]
    pub fn agent<A, F>(mut self, name: &str, make: F) -> Self
    where
        A: Agent + 'static,
        F: Fn(&Options) -> Result<A> + Send + Sync + 'static,
    {
        let make = move |options: &Options| Ok(Arc::new(make(options)?) as Arc<dyn Agent>);
        self.agents.insert(name.to_owned(), Arc::new(make));
        self
    }

    /// Adds a benchmark.
    #[must_use]
    pub fn benchmark<B, F>(mut self, name: &str, make: F) -> Self
    where
        B: Benchmark + 'static,
        F: Fn(&Options) -> Result<B> + Send + Sync + 'static,
    {
        let make = move |options: &Options| Ok(Arc::new(make(options)?) as Arc<dyn Benchmark>);
        self.benchmarks.insert(name.to_owned(), Arc::new(make));
        self
    }

    /// Adds a scorer.
    #[must_use]
    pub fn scorer<S, F>(mut self, name: &str, make: F) -> Self
    where
        S: Scorer + 'static,
        F: Fn(&Options) -> Result<S> + Send + Sync + 'static,
    {
        let make = move |options: &Options| Ok(Arc::new(make(options)?) as Arc<dyn Scorer>);
        self.scorers.insert(name.to_owned(), Arc::new(make));
        self
    }

    pub(crate) fn make_agent(
        &self,
        name: &str,
        options: &Options,
    ) -> Option<Result<Arc<dyn Agent>>> {
        self.agents.get(name).map(|make| make(options))
    }

    pub(crate) fn make_benchmark(
        &self,
        name: &str,
        options: &Options,
    ) -> Option<Result<Arc<dyn Benchmark>>> {
        self.benchmarks.get(name).map(|make| make(options))
    }

    pub(crate) fn make_scorer(
        &self,
        name: &str,
        options: &Options,
    ) -> Option<Result<Arc<dyn Scorer>>> {
        self.scorers.get(name).map(|make| make(options))
    }

    pub(crate) fn agent_names(&self) -> impl Iterator<Item = &str> {
        self.agents.keys().map(String::as_str)
    }

    pub(crate) fn benchmark_names(&self) -> impl Iterator<Item = &str> {
        self.benchmarks.keys().map(String::as_str)
    }

    pub(crate) fn scorer_names(&self) -> impl Iterator<Item = &str> {
        self.scorers.keys().map(String::as_str)
    }
}

// Documentation of a built-in agent or benchmark.
//
// A page of Markdown is the only source: its first block of YAML is the example, its first table the keys. Tests check
// that the example is a spec and that the table lists the keys that are read.

/// A kind of agent or benchmark that specs may name without registration.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BuiltIn {
    /// The name behind `type`.
    pub name: &'static str,
    /// Its purpose, in one line.
    pub summary: &'static str,
    /// The page, in Markdown: purpose, an example, its keys, further notes.
    pub page: &'static str,
}

impl BuiltIn {
    /// The smallest part of a spec that names it.
    pub fn example(&self) -> &'static str {
        let block = self.page.split("```yaml\n").nth(1).unwrap_or_default();
        block.split("```").next().unwrap_or_default()
    }

    /// The keys other than `type`, each with its meaning.
    pub fn options(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let rows = self
            .page
            .lines()
            .skip_while(|line| !line.starts_with("| key |"));
        rows.skip(2).map_while(|row| {
            let (key, meaning) = row.strip_prefix("| `")?.split_once("` | ")?;
            Some((key, meaning.trim_end_matches('|').trim_end()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &'static str, example: &str, options: &[(&str, &str)]) {
        let built_in = BuiltIn {
            name: "any",
            summary: "any",
            page,
        };
        assert_eq!(built_in.example(), example);
        assert_eq!(built_in.options().collect::<Vec<_>>(), options);
    }

    #[test]
    fn a_page_has_the_example_and_the_keys() {
        check("Nothing.", "", &[]);
        let page = "For tests.\n\n```yaml\nagent: any\n```\n\n| key | meaning |\n|---|---|\n\
            | `a` | one, such as `1` |\n| `b_c` | two |\n\nMore.\n\n```yaml\nagent: no\n```\n| key | meaning |\n";
        check(
            page,
            "agent: any\n",
            &[("a", "one, such as `1`"), ("b_c", "two")],
        );
    }
}

/// Which folders of attempts stay on disk.
#[derive(Clone, Copy, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeepKey {
    /// Those of samples whose agent failed.
    Failed,
    /// All.
    Always,
    /// None.
    Never,
}

impl From<KeepKey> for KeepScratch {
    fn from(key: KeepKey) -> Self {
        match key {
            KeepKey::Failed => Self::Failed,
            KeepKey::Always => Self::Always,
            KeepKey::Never => Self::Never,
        }
    }
}
