//! The names of a spec and its evals, read without building anything.

use std::path::{Path, PathBuf};

use super::matrix::SpecMatrix;
use super::{build, problem, read, text_of, without_mark};
use crate::data::yaml_places::YamlPlaces;
use crate::error::{Error, Result};
use crate::eval::plan;
use crate::system::file;
use crate::text::yaml;
use crate::verdict::alert::Alerts;

/// The names in a spec.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SpecNames {
    /// The eval, or the common name of its variants.
    pub eval: String,
    /// The eval, or its variants.
    pub evals: Vec<EvalNames>,
    /// Its benchmark.
    pub benchmark: String,
}

/// The names and settings of one eval of a spec.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EvalNames {
    /// The eval.
    pub eval: String,
    /// The folder of its snapshots.
    pub snapshots: PathBuf,
    /// The alerts on its history.
    pub alerts: Alerts,
}

impl SpecNames {
    /// The eval of this name, if the spec has it.
    pub fn of(&self, eval: &str) -> Option<&EvalNames> {
        self.evals.iter().find(|names| names.eval == eval)
    }
}

/// Reads the names in a spec, even if it names unregistered kinds.
pub fn names(path: &Path) -> Result<SpecNames> {
    let text = text_of(path)?;
    let text = without_mark(&text);
    let (spec, _) = read(text).map_err(|error| problem::explain(path, text, &error))?;
    let eval = match spec.name {
        Some(ref name) => name.clone(),
        None => name_of(path)?,
    };
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    let places = YamlPlaces::of(text);
    let placed = |error: Error| {
        let place = error.key_path().and_then(|key| places.at(key));
        let place = place.map_or_else(String::new, |place| format!(":{place}"));
        error.at(format_args!("{}{place}", path.display()))
    };
    let matrix = SpecMatrix::of(&spec).map_err(placed)?;
    let alerts = spec.alerts.checked().map_err(placed)?;
    let evals = matrix.variants().into_iter().map(|variant| EvalNames {
        snapshots: build::snapshots(folder, spec.snapshot.path.clone(), &eval, &variant),
        eval: format!("{eval}{variant}"),
        alerts: alerts.clone(),
    });
    Ok(SpecNames {
        evals: evals.collect(),
        eval,
        benchmark: spec.benchmark.name,
    })
}

/// Possible names of the eval of a spec that cannot be read: its `name:`, if it has one, and that of its file.
pub fn likely_names(path: &Path) -> Vec<String> {
    let bytes = file::read_plain(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let text = without_mark(&text);
    let given = match yaml::read_json(text) {
        Ok(value) => value["name"].as_str().map(str::to_owned),
        Err(_) => text.lines().find_map(|line| {
            let value = line.strip_prefix("name:")?.split(" #").next()?;
            Some(value.trim().trim_matches(['"', '\'']).to_owned())
        }),
    };
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    let names = given.into_iter().chain(name_of(path).ok()).chain(stem);
    names.filter(|name| !name.is_empty()).collect()
}

/// The name of an eval whose spec has none: that of its file, with `-` for characters that are not allowed.
pub(super) fn name_of(path: &Path) -> Result<String> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let legal = |c: char| if plan::is_name_part(c) { c } else { '-' };
    let name: String = stem.chars().map(legal).collect();
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() {
        return Err(
            Error::usage("the eval has no name, and its file's name makes none")
                .hint("add `name: NAME`, of letters, digits, `-`, `_` and `.`"),
        );
    }
    Ok(name.to_owned())
}
