//! What a command runs: specs, and test targets for evals without a spec.

use std::path::Path;

use evaltest::engine::data::Variant;
use evaltest::engine::eval::spec;
use evaltest::engine::run::drive::Drive;
use evaltest::engine::store::Manifest;
use evaltest::engine::system::project::display;
use evaltest::engine::text::clean;
use evaltest::{Error, Eval, Registry, Result};

use super::RunArgs;
use super::options::absolute;
use super::tiers::keep_tier;
use crate::console;
use crate::discover::{self, Discovered, TestTarget};
use crate::runs::open_run;
use crate::target::evals_in;

/// What a command runs.
pub(in crate::command) struct Work {
    pub(in crate::command) evals: Vec<Eval>,
    pub(in crate::command) tests: Vec<TestTarget>,
}

/// A spec that uses kinds that are not built in.
struct Unregistered {
    /// Its evals.
    names: Vec<String>,
    benchmark: String,
    error: Error,
}

impl RunArgs {
    /// Collects everything to run. Reads every spec before anything starts.
    pub(in crate::command) fn work(&self, drive: &mut Drive) -> Result<Work> {
        drive.destination.default_output_root =
            Some(discover::root()?.join(evaltest::engine::store::DEFAULT_OUTPUT_ROOT));
        if self.names_data(drive) {
            return self.of_flags(drive);
        }
        // The run whose inputs are reused, for `--resume` and `--failed`.
        let earlier = self.resume.as_deref().or(self.failed.as_deref());
        let earlier = earlier.map(|dir| open_run(dir)?.manifest()).transpose()?;
        let earlier_name = earlier.as_ref().map(|manifest| manifest.eval.clone());
        let mut named = self.specs.clone();
        if let Some(manifest) = &earlier {
            if self.resume.is_some() {
                // Apply the options of the earlier run first, then those typed now.
                drive
                    .overrides
                    .splice(0..0, manifest.overrides.iter().cloned());
                drive.redact.extend(manifest.redact.iter().cloned());
                keep_tier(manifest, drive)?;
            }
            if named.is_empty() {
                match spec::spec_of_run(manifest) {
                    Some(spec) => named.push(spec),
                    None if manifest.config.get("agent").is_some() => {
                        return from_config(manifest, drive);
                    }
                    None => {}
                }
            }
        }
        let names_specs = !named.is_empty();
        let found = if named.is_empty() {
            discover::find()?
        } else {
            discover::named(&named)?
        };
        found.note_excluded();
        if found.is_empty() {
            return match &self.benchmark {
                Some(_) => self.of_flags(drive),
                None => Err(discover::nothing_found()),
            };
        }
        let (mut evals, unregistered) = load(&found, drive)?;
        let names = evals.iter();
        let names = names.map(|eval| (eval.name(), eval.spec_path().unwrap_or(Path::new(""))));
        discover::check_names(names)?;
        let wanted = |name: &str, benchmark: &str| {
            let is_match =
                |wanted: &str| [name, benchmark, Variant::family_of(name)].contains(&wanted);
            self.benchmark.as_deref().is_none_or(is_match)
        };
        drive.evals.skip = evals.iter().map(|eval| eval.name().to_owned()).collect();
        evals.retain(|eval| wanted(eval.name(), eval.benchmark_name()));
        let is_earlier = |eval: &Eval| earlier_name.as_ref().is_none_or(|name| name == eval.name());
        // If a spec is given, keep only the variant that the earlier run used.
        evals.retain(|eval| names_specs && eval.name() == eval.family() || is_earlier(eval));
        let tests = if names_specs && !unregistered.is_empty() {
            discover::find()?.tests
        } else {
            found.tests
        };
        let mut remaining = Vec::new();
        let mut known = Vec::new();
        for test in tests {
            let is_ours = |name: &String| {
                let spec = unregistered.iter().find(|spec| spec.names.contains(name));
                !drive.evals.skip.contains(name)
                    && wanted(name, spec.map_or(name, |spec| &spec.benchmark))
                    && (spec.is_some() || !names_specs || found.names.contains(name))
                    && earlier_name.as_ref().is_none_or(|wanted| wanted == name)
            };
            let names = match &test.evals {
                Some(names) => names.clone(),
                None => evals_in(&test, drive)?,
            };
            known.extend(names.iter().cloned());
            if names.iter().any(is_ours) {
                drive.evals.only.extend(names.into_iter().filter(is_ours));
                remaining.push(test);
            }
        }
        // No test binary knows it: most likely a typo.
        let lost = |spec: &Unregistered| {
            let mut names = spec.names.iter();
            names.any(|name| !known.contains(name) && wanted(name, &spec.benchmark))
        };
        if let Some(spec) = unregistered.into_iter().find(lost) {
            return Err(spec.error);
        }
        if evals.is_empty() && remaining.is_empty() {
            return self.of_flags(drive);
        }
        Ok(Work {
            evals,
            tests: remaining,
        })
    }
}

/// The evals of specs, and the specs that use kinds only a test binary may know.
fn load(found: &Discovered, drive: &Drive) -> Result<(Vec<Eval>, Vec<Unregistered>)> {
    let mut evals = Vec::new();
    let mut unregistered = Vec::new();
    for path in &found.specs {
        let path = absolute(path)?;
        let display = clean(&display(&path));
        let what = format!("{display}: still fetching or reading the dataset");
        let load = || spec::load_all(&path, &Registry::new(), &drive.overrides);
        match console::waiting(&what, load) {
            Ok(all) => {
                for eval in all.into_iter().filter(|it| found.wants(&path, it.name())) {
                    evals.push(drive.adapt(eval)?);
                }
            }
            Err(error) if error.is_unregistered() => {
                let names = spec::names(&path)?;
                let evals = names.evals.iter();
                let evals = evals.filter(|names| found.wants(&path, &names.eval));
                unregistered.push(Unregistered {
                    names: evals.map(|names| names.eval.clone()).collect(),
                    benchmark: names.benchmark,
                    error,
                });
            }
            Err(error) => return Err(error),
        }
    }
    Ok((evals, unregistered))
}

/// The eval of a run made from flags only: its manifest serves as the spec.
fn from_config(manifest: &Manifest, drive: &Drive) -> Result<Work> {
    let eval = spec::of_config(manifest, &Registry::new(), &drive.overrides)?;
    Ok(Work {
        evals: vec![drive.adapt(eval)?],
        tests: Vec::new(),
    })
}
