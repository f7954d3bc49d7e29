//! What an eval consists of, without running it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::benchmark::CategoryCount;
use crate::data::Sample;
use crate::error::Result;
use crate::eval::Eval;
use crate::eval::plan::{BaselineUse, Packed, Plan};

/// The samples of an eval and their common properties.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Listing {
    /// The eval's name.
    pub eval: String,
    /// The benchmark's name.
    pub benchmark: String,
    /// The listed tier, if it is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// All tiers, the smallest first, with their numbers of samples.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<(String, usize)>,
    /// Every sample, in run order.
    pub samples: Vec<ListedSample>,
    /// The names of the gates' tests.
    pub gates: Vec<String>,
    /// The categories of the data, for a benchmark that has some.
    #[serde(default)]
    pub categories: Vec<CategoryCount>,
    /// Figures over all samples.
    pub stats: Stats,
    /// Notices about the dataset.
    pub notices: Vec<String>,
    /// The first samples, as many as requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<ListedRow>,
}

/// A sample as it was read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ListedRow {
    /// The values read, by role or column: prompt, ground truth, the other columns.
    pub columns: Vec<(String, Value)>,
    /// Whether the ground truth is hidden: the benchmark's answers are not to be published.
    pub is_masked: bool,
}

impl ListedRow {
    fn of(sample: &Sample, is_masked: bool) -> Self {
        let mut columns = vec![
            ("id".to_owned(), Value::from(&*sample.id)),
            ("prompt".to_owned(), Value::from(&*sample.prompt)),
        ];
        if let Some(target) = sample.target.as_ref().filter(|_| !is_masked) {
            let target = target.0.clone();
            columns.push(("ground truth".to_owned(), target));
        }
        let files = sample.files.iter().map(|file| Value::from(&*file.name));
        let files: Vec<_> = files.collect();
        if !files.is_empty() {
            columns.push(("files".to_owned(), files.into()));
        }
        // The columns of a published benchmark also tell how its answers are found.
        let others = sample.metadata.iter().filter(|_| !is_masked);
        columns.extend(others.map(|(name, value)| (name.clone(), value.clone())));
        Self {
            columns,
            is_masked: is_masked && sample.target.is_some(),
        }
    }
}

/// One sample of a listing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ListedSample {
    /// The name of its test.
    pub name: String,
    /// Its id.
    pub id: String,
    /// Its slices.
    pub slices: BTreeMap<String, String>,
    /// The names of its attachments.
    pub files: Vec<String>,
}

/// Figures over the samples of an eval.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Stats {
    /// How many samples.
    pub samples: usize,
    /// How many of them have a ground truth.
    pub with_ground_truth: usize,
    /// The columns other than prompt, ground truth and id, in dataset order.
    pub columns: Vec<String>,
    /// Samples by slice.
    pub slices: BTreeMap<String, BTreeMap<String, usize>>,
    /// Attachments by file extension.
    pub attachments: BTreeMap<String, usize>,
    /// Attachments that cannot be read, as (sample id, reason).
    pub missing_attachments: Vec<(String, String)>,
}

impl Listing {
    /// Loads the dataset of an eval, to show `rows` samples in full. No agent starts and no baseline is read.
    pub fn of(eval: &Eval, rows: usize) -> Result<Self> {
        let plan = Plan::load(eval, BaselineUse::Ignore)?;
        let mut stats = Stats {
            samples: plan.items.len(),
            ..Stats::default()
        };
        let mut samples = Vec::with_capacity(plan.items.len());
        let first = plan.items.iter().take(rows);
        let row = |item: &Packed| Ok(ListedRow::of(&item.sample()?, eval.masks_answers()));
        let rows = first.map(row).collect::<Result<_>>()?;
        for (item, name) in plan.items.iter().zip(plan.trial_names()) {
            let sample = item.sample()?;
            stats.with_ground_truth += usize::from(sample.target.is_some());
            for (dimension, value) in &sample.slices {
                *stats
                    .slices
                    .entry(dimension.clone())
                    .or_default()
                    .entry(value.clone())
                    .or_default() += 1;
            }
            for column in sample.metadata.keys() {
                if !stats.columns.contains(column) {
                    stats.columns.push(column.clone());
                }
            }
            for file in &sample.files {
                let extension = Path::new(&file.name).extension().unwrap_or_default();
                let extension = extension.to_string_lossy().to_lowercase();
                *stats.attachments.entry(extension).or_default() += 1;
                if let Err(error) = plan.truths.resolve(file) {
                    stats
                        .missing_attachments
                        .push((sample.id.clone(), error.message));
                }
            }
            samples.push(ListedSample {
                name,
                id: sample.id,
                slices: sample.slices.into_iter().collect(),
                files: sample.files.into_iter().map(|file| file.name).collect(),
            });
        }
        Ok(Self {
            gates: plan.gate_names(),
            eval: plan.eval.name.clone(),
            tier: plan.eval.requested_tier.clone(),
            tiers: plan.tiers(),
            benchmark: plan.eval.benchmark.name().to_owned(),
            categories: plan.eval.benchmark.categories()?,
            samples,
            stats,
            notices: plan.notices,
            rows,
        })
    }
}
