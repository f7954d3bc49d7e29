//! The benchmarks `qa`, `gsm8k`, `aime` and `bfcl`, from their keys.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use super::build::Placed;
use crate::benchmark::Benchmark;
use crate::benchmark::aime::Aime;
#[cfg(feature = "bfcl")]
use crate::benchmark::bfcl::Bfcl;
use crate::benchmark::gsm8k::Gsm8k;
use crate::benchmark::qa::Qa;
use crate::data::dataset::Columns;
use crate::data::hub;
use crate::error::{Error, Result};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QaKeys {
    path: PathBuf,
    #[serde(default)]
    columns: QaColumnKeys,
    template: Option<String>,
    separator: Option<String>,
    slices: Option<Vec<String>>,
    #[serde(default)]
    visible: Vec<String>,
    ids: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct QaColumnKeys {
    prompt: Option<String>,
    #[serde(alias = "target", alias = "targets")]
    ground_truth: Option<String>,
    id: Option<String>,
    files: Option<Vec<String>>,
    metadata: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Gsm8kKeys {
    path: PathBuf,
    #[serde(default)]
    columns: Gsm8kColumnKeys,
    ids: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Gsm8kColumnKeys {
    prompt: Option<String>,
    ground_truth: Option<String>,
    id: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AimeKeys {
    path: PathBuf,
    #[serde(default)]
    columns: AimeColumnKeys,
    #[serde(default)]
    years: Vec<u16>,
    ids: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct AimeColumnKeys {
    prompt: Option<String>,
    ground_truth: Option<String>,
    id: Option<String>,
    year: Option<String>,
}

/// Needs the cargo feature `bfcl`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(
    not(feature = "bfcl"),
    expect(dead_code, reason = "read to tell mistakes in keys all the same")
)]
pub(super) struct BfclKeys {
    path: PathBuf,
    categories: Option<Vec<String>>,
    ids: Option<Vec<String>>,
    #[serde(default)]
    weights: BTreeMap<String, f64>,
}

/// The file of a benchmark; an error is about its name in the spec.
fn open<T>(path: &Path, folder: &Path, open: impl Fn(PathBuf) -> Result<T>) -> Placed<T> {
    let shown = path.display().to_string();
    open(hub::resolve(path, folder)).map_err(|error: Error| (error, shown))
}

pub(super) fn qa(keys: QaKeys, folder: &Path) -> Placed<Qa> {
    let mut qa = open(&keys.path, folder, Qa::open)?;
    let QaColumnKeys {
        prompt,
        ground_truth,
        id,
        files,
        metadata,
    } = keys.columns;
    if let Some(column) = prompt {
        qa = qa.prompt_column(column);
    }
    if let Some(column) = ground_truth {
        qa = qa.ground_truth_column(column);
    }
    if let Some(column) = id {
        qa = qa.id_column(column);
    }
    if let Some(columns) = files {
        qa = qa.file_columns(columns);
    }
    if let Some(columns) = metadata {
        qa = qa.metadata_columns(columns);
    }
    if let Some(template) = keys.template {
        qa = qa
            .template(&template)
            .map_err(|error| (error, "template".to_owned()))?;
    }
    if let Some(separator) = keys.separator {
        qa = qa.separator(separator);
    }
    if let Some(slices) = keys.slices {
        qa = qa.slices(slices);
    }
    if let Some(ids) = keys.ids {
        qa = qa.ids(ids);
    }
    Ok(qa.visible(keys.visible))
}

pub(super) fn gsm8k(keys: Gsm8kKeys, folder: &Path) -> Placed<Gsm8k> {
    let gsm8k = open(&keys.path, folder, Gsm8k::open)?.columns(Columns {
        prompt: keys.columns.prompt,
        ground_truth: keys.columns.ground_truth,
        id: keys.columns.id,
        ..Columns::default()
    });
    Ok(match keys.ids {
        Some(ids) => gsm8k.ids(ids),
        None => gsm8k,
    })
}

#[cfg(feature = "bfcl")]
pub(super) fn bfcl(keys: BfclKeys, folder: &Path) -> Placed<Arc<dyn Benchmark>> {
    let mut bfcl = open(&keys.path, folder, Bfcl::open)?;
    if let Some(categories) = keys.categories {
        // Found here, so that the error has the line in the spec.
        for name in &categories {
            bfcl.check(name).map_err(|error| (error, name.clone()))?;
        }
        bfcl = bfcl.categories(categories);
    }
    if let Some(ids) = keys.ids {
        bfcl = bfcl.ids(ids);
    }
    bfcl = bfcl.weights(keys.weights);
    bfcl.check_weights()?;
    Ok(Arc::new(bfcl))
}

#[cfg(not(feature = "bfcl"))]
pub(super) fn bfcl(_: BfclKeys, _: &Path) -> Placed<Arc<dyn Benchmark>> {
    let error = Error::usage("benchmark `bfcl` needs the cargo feature `bfcl` of evaltest");
    let error = error.hint("`cargo add --dev evaltest --features bfcl`, or use `cargo evaltest`");
    Err((error, "bfcl".to_owned()))
}

pub(super) fn aime(keys: AimeKeys, folder: &Path) -> Placed<Aime> {
    let mut aime = open(&keys.path, folder, Aime::open)?
        .years(keys.years)
        .columns(Columns {
            prompt: keys.columns.prompt,
            ground_truth: keys.columns.ground_truth,
            id: keys.columns.id,
            ..Columns::default()
        });
    if let Some(column) = keys.columns.year {
        aime = aime.year_column(column);
    }
    Ok(match keys.ids {
        Some(ids) => aime.ids(ids),
        None => aime,
    })
}
