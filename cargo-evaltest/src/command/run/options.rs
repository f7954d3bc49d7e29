//! Converts flags to library options.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use evaltest::CacheUse;
use evaltest::engine::run::drive::{
    Audience, CiPolicy, Destination, Drive, Errand, Resumption, SampleChoice,
};
use evaltest::engine::text::Override;
use evaltest::{Error, Result};
use serde_json::{Value, json};

use super::RunArgs;
use crate::runs::run_folder;
use crate::scorers;

impl RunArgs {
    /// The options for running evals.
    pub(in crate::command) fn drive(&self) -> Result<Drive> {
        if self.resume.is_some() && (self.filter.is_some() || self.failed.is_some()) {
            return Err(
                Error::usage("a resumed run keeps its own selection of samples")
                    .hint("leave `--filter` and `--failed` out"),
            );
        }
        if self.timeout_s.is_some_and(|seconds| !seconds.is_finite()) {
            return Err(Error::usage("`--timeout-s` must be a number of seconds"));
        }
        let history = self.history()?;
        let overrides = self.overrides()?;
        // A run with fewer samples than the spec must not become a baseline by mistake.
        let fewer = ["limits.limit", "benchmark.levels", "benchmark.ids"];
        let partial = overrides
            .iter()
            .any(|change| fewer.contains(&change.key.as_str()));
        let root = match &self.output_root {
            Some(root) => Some(absolute(root)?),
            None => None,
        };
        let stamp = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let stamp = stamp.map(|since| since.as_nanos()).unwrap_or_default();
        let resume = match &self.resume {
            Some(path) => Some(Resumption {
                path: absolute(&run_folder(path)?)?,
                allow_changed_agent: self.allow_changed_agent,
            }),
            None => None,
        };
        let mut samples = SampleChoice {
            tier: self.tiers.tier.clone(),
            progressive: self.tiers.progressive,
            promote: self.tiers.promote.clone(),
            filter: self.filter.clone(),
            partial,
            ..SampleChoice::default()
        };
        self.choose_shard(&mut samples)?;
        if let Some(path) = &self.failed {
            samples.failed = Some(absolute(&run_folder(path)?)?);
        }
        Ok(Drive {
            errand: if self.dry_run {
                Errand::Count
            } else {
                Errand::Run
            },
            samples,
            overrides,
            redact: self.redact_pattern.clone(),
            destination: Destination {
                invocation: format!("{stamp:x}-{}", std::process::id()),
                run_id: self.run_id.clone(),
                output_root: root,
                history,
                ..Destination::default()
            },
            resume,
            ignore_baseline: self.ignore_baseline,
            cache: self.cache(),
            audience: Audience {
                most_usd: self.at_most_usd,
                stream: self.stream,
                ci: CiPolicy {
                    is_set: evaltest::engine::system::project::is_ci(),
                    allow_ignored: self.allow_ignored,
                    allow_cached: self.allow_cached,
                },
                ..Audience::default()
            },
            ..Drive::default()
        })
    }

    /// The cache mode, if a flag sets it.
    fn cache(&self) -> Option<CacheUse> {
        match (self.cache, self.no_cache, self.refresh) {
            (true, ..) => Some(CacheUse::On),
            (_, true, _) => Some(CacheUse::Off),
            (.., true) => Some(CacheUse::Refresh),
            _ => None,
        }
    }

    /// The flags as overrides of spec keys.
    fn overrides(&self) -> Result<Vec<Override>> {
        let mut changes = Vec::new();
        for (key, text) in [("agent", &self.agent), ("extract", &self.extract)] {
            if let Some(text) = text {
                changes.push(Override::new(key, Override::value(text)?));
            }
        }
        scorers::needs_scorer(&self.scorers, &self.scorer_options)?;
        let mut specs = scorers::specs(&self.scorers, &self.scorer_options)?;
        match specs.len() {
            0 => {}
            1 => changes.extend(specs.pop().map(|one| Override::new("scorer", one))),
            _ => changes.push(Override::new("scorers", specs)),
        }
        for pair in &self.benchmark_option {
            let mut change = Override::parse("benchmark.", pair)?;
            if change.key == "benchmark.shuffle" {
                return Err(Error::usage("`shuffle` is not a key of a benchmark")
                    .hint("use the option `--shuffle`, with `--seed N` for a fixed order"));
            }
            let path = change.value.as_str().map(PathBuf::from);
            if change.key == "benchmark.path"
                && let Some(path) = path
            {
                // Paths typed in a shell are relative to the current folder.
                change.value = absolute(&path)?.to_string_lossy().as_ref().into();
            }
            changes.push(change);
        }
        for pair in &self.agent_option {
            changes.push(Override::parse("agent.options.", pair)?);
        }
        let number = |key: &str, value: Option<Value>| value.map(|value| Override::new(key, value));
        changes.extend(number(
            "benchmark.split",
            self.split.clone().map(Value::from),
        ));
        changes.extend(number("epochs", self.epochs.map(Value::from)));
        changes.extend(number("limits.limit", self.limit.map(Value::from)));
        changes.extend(number(
            "limits.concurrency",
            self.concurrency.map(Value::from),
        ));
        changes.extend(number("limits.timeout_s", self.timeout_s.map(Value::from)));
        changes.extend(number("limits.retries", self.retries.map(Value::from)));
        if self.fail_fast {
            changes.push(Override::new("limits.fail_fast", true));
        }
        if self.keep_going {
            changes.push(Override::new("limits.keep_going", true));
        }
        if self.record || self.replay {
            let mode = if self.record { "record" } else { "replay" };
            changes.push(Override::new("record.mode", mode));
        }
        if let Some(seed) = self.seed {
            changes.push(Override::new("shuffle", json!({ "seed": seed })));
        } else if self.shuffle {
            changes.push(Override::new(Override::DRAWN_SEED, drawn_seed()));
        }
        for pair in &self.set {
            changes.push(Override::parse("", pair)?);
        }
        Ok(changes)
    }
}

/// A random seed, short enough to type.
fn drawn_seed() -> u64 {
    // The standard library's source of randomness.
    RandomState::new().hash_one(()) % 1_000_000
}

/// Resolves a typed path relative to the current folder; a dataset of the Hub stays as it is.
pub(in crate::command) fn place(path: &Path) -> Result<String> {
    let typed = path.to_string_lossy();
    if typed.starts_with("hf://") {
        return Ok(typed.into_owned());
    }
    Ok(absolute(path)?.to_string_lossy().into_owned())
}

/// Makes a typed path absolute.
pub(in crate::command) fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path)
        .map_err(|error| Error::usage(format!("`{}` is not a path: {error}", path.display())))
}
