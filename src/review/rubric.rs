//! `ReviewDimension`: the dimensions that people give points for.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::run_items::RunItems;
use crate::data::reviews::POINTS;
use crate::error::{Error, Result};
use crate::scorer::ask::judge::{Dimension, Grading};
use crate::store::Manifest;

/// The default rubric of items.
const USUAL: &str = "aime";
/// Scores are typed as digits 1 to 9, and nobody remembers more dimensions.
const MOST: usize = 9;

/// A dimension of a rubric.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ReviewDimension {
    pub(super) name: String,
    pub(super) description: String,
}

/// The dimensions of the judge of a run, so that points of people can be compared with its; else the default ones.
pub(super) fn of_run(run: &RunItems) -> Result<Vec<ReviewDimension>> {
    let manifest = run.manifest();
    let judge = run
        .judge()
        .and_then(|name| Some((name, manifest.judges.get(name)?)));
    let judge = judge.filter(|(_, judge)| !judge.rule.weights.is_empty());
    let Some((name, judge)) = judge else {
        return dimensions(None);
    };
    let names = &judge.rule.weights;
    let refusal = |why: String| {
        Error::usage(format!(
            "people cannot review by the rubric of `{name}`: {why}"
        ))
        .hint("name another one: `--rubric aime`")
    };
    let bounds = manifest.detail_bounds.get(name);
    let ends = |dimension: &String| bounds.and_then(|bounds| bounds.get(dimension)).copied();
    let usual = POINTS.map(f64::from);
    let other = names.keys().find_map(|name| {
        let ends = ends(name)?;
        let pairs = ends.iter().zip(&usual);
        let is_usual = pairs.fold(true, |is, (one, usual)| is && one.total_cmp(usual).is_eq());
        (!is_usual).then_some((name, ends))
    });
    if let Some((dimension, [lowest, highest])) = other {
        let why = format!("`{dimension}` has points from {lowest} to {highest}");
        return Err(refusal(why));
    }
    if names.len() > MOST {
        return Err(refusal(format!("it has {} dimensions", names.len())));
    }
    let found = dimensions_of(manifest, name).into_iter();
    let mut found: Vec<ReviewDimension> =
        found.filter(|one| names.contains_key(&one.name)).collect();
    for name in names.keys() {
        if !found.iter().any(|one| one.name == *name) {
            found.push(ReviewDimension {
                name: name.clone(),
                description: String::new(),
            });
        }
    }
    Ok(found)
}

/// The dimensions of a judge as its spec describes them; empty if its rubric cannot be read.
fn dimensions_of(manifest: &Manifest, judge: &str) -> Vec<ReviewDimension> {
    let scorers = [
        manifest.config.get("scorer"),
        manifest.config.get("scorers"),
    ];
    let scorers = scorers
        .into_iter()
        .flatten()
        .flat_map(|scorers| match scorers {
            Value::Array(scorers) => scorers.as_slice(),
            one => std::slice::from_ref(one),
        });
    let is_it = |scorer: &&Value| {
        let name = scorer.get("name").or_else(|| scorer.get("type"));
        name.and_then(Value::as_str) == Some(judge)
    };
    let rubric = scorers
        .filter(is_it)
        .find_map(|scorer| scorer.get("rubric"));
    let folder = manifest.spec_folder().unwrap_or_default();
    let grading = match rubric {
        Some(Value::String(name)) => Grading::given(name, &folder).ok(),
        Some(map) => Grading::of_text(&map.to_string()).ok(),
        None => None,
    };
    match grading {
        Some(Grading::Rubric(rubric)) => described(rubric.dimensions),
        _ => Vec::new(),
    }
}

fn described(dimensions: Vec<Dimension>) -> Vec<ReviewDimension> {
    let dimensions = dimensions.into_iter().map(|one| ReviewDimension {
        name: one.name,
        description: one.description,
    });
    dimensions.collect()
}

/// The dimensions of a rubric.
pub(super) fn dimensions(rubric: Option<&str>) -> Result<Vec<ReviewDimension>> {
    let name = rubric.unwrap_or(USUAL);
    let refusal = |why: String| {
        Error::usage(format!("people cannot review by the rubric `{name}`: {why}"))
            .hint("name one with at most nine dimensions on a scale of [1, 5]: `--rubric aime`, or a file")
    };
    let Grading::Rubric(rubric) = Grading::given(name, Path::new(""))? else {
        return Err(refusal("it has choices instead of dimensions".to_owned()));
    };
    if rubric.dimensions.len() > MOST {
        let count = rubric.dimensions.len();
        return Err(refusal(format!("it has {count} dimensions")));
    }
    let other = rubric
        .dimensions
        .iter()
        .find(|one| one.scale != POINTS.map(i64::from));
    if let Some(other) = other {
        let (name, [lowest, highest]) = (&other.name, other.scale);
        return Err(refusal(format!(
            "`{name}` has points from {lowest} to {highest}"
        )));
    }
    Ok(described(rubric.dimensions))
}
