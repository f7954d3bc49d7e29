//! An eval defined by flags only: `--benchmark gaia --agent echo`.

use std::path::Path;

use evaltest::engine::eval::{benchmarks, spec};
use evaltest::engine::run::drive::Drive;
use evaltest::engine::text::{clean, nearest};
use evaltest::{Error, Registry, Result};

use super::RunArgs;
use super::work::Work;
use crate::discover;

/// Benchmarks that download their data if no path is given.
const PUBLISHED: &[&str] = &["gaia"];

impl RunArgs {
    /// Whether the flags name a benchmark with its data, so that no spec is needed.
    pub(super) fn names_data(&self, drive: &Drive) -> bool {
        let mut overrides = drive.overrides.iter();
        self.specs.is_empty()
            && self.benchmark.is_some()
            && overrides.any(|change| change.key == "benchmark.path")
    }

    /// Defines the eval from flags, if no eval of the project has the name in `--benchmark`.
    pub(super) fn of_flags(&self, drive: &mut Drive) -> Result<Work> {
        let name = self.benchmark.as_deref().unwrap_or_default();
        let kinds: Vec<&str> = benchmarks::BUILT_IN.iter().map(|kind| kind.name).collect();
        if !kinds.contains(&name) {
            return Err(unknown(name, &kinds));
        }
        let has_path = self.names_data(drive);
        if !has_path && (!self.specs.is_empty() || !PUBLISHED.contains(&name)) {
            return Err(Error::usage(format!(
                "no eval has the name or the benchmark `{name}`"
            ))
            .hint(format!(
                "without a spec, name its data and an agent: cargo evaltest run --benchmark {name} \
                 --benchmark-option path=FILE --agent echo"
            )));
        }
        if self.agent.is_none() {
            let data = if has_path {
                ""
            } else {
                "; it uses the published questions"
            };
            return Err(Error::usage(format!(
                "an eval without a spec needs an agent, and no spec has the name or the benchmark `{name}`"
            ))
            .hint(format!("add `--agent echo`{data}")));
        }
        let file = discover::root()?.join("evals").join(format!("{name}.yaml"));
        let folder = std::env::current_dir().unwrap_or_default();
        let text = if has_path {
            format!("benchmark: {{ type: {name}, path: . }}\nagent: echo\n")
        } else {
            format!("benchmark: {name}\nagent: echo\n")
        };
        // If there is a folder of specs, snapshots go where those of a spec would.
        let has_folder = file.parent().is_some_and(Path::is_dir);
        let path = if file.exists() || !has_folder {
            folder.join(format!("{name}.yaml"))
        } else {
            file
        };
        let eval = spec::of_flags(&text, &path, &Registry::new(), &drive.overrides)?;
        // There is no spec, so a limit makes the run partial.
        drive.samples.partial = self.limit.is_some();
        Ok(Work {
            evals: vec![drive.adapt(eval)?],
            tests: Vec::new(),
        })
    }
}

/// The error for a name that is neither an eval nor a benchmark.
fn unknown(name: &str, kinds: &[&str]) -> Error {
    let name = clean(name);
    let error = Error::usage(format!(
        "`{name}` is neither an eval nor a kind of benchmark"
    ));
    let near = nearest(&name, kinds.iter().copied());
    let near = near.map_or_else(String::new, |near| {
        format!("did you mean `--benchmark {near}`? ")
    });
    error.hint(format!(
        "{near}`--benchmark NAME` takes the name of an eval (cargo evaltest list) or a kind: `{}`",
        kinds.join("`, `")
    ))
}
