//! The built-in kinds of benchmarks, as specs name them: one file with its page for each.
//!
//! To add one, write a file with its keys and its `ENTRY`, a page of Markdown with the same name, and add the name to
//! the list below.

// An entry missing from the list must be an error.
#![deny(dead_code)]

use std::sync::Arc;

use serde_json::{Map, Value};

use super::Options;
use super::recipe::{Surroundings, entries, missing_feature, unknown};
use crate::benchmark::Benchmark;
use crate::error::{Result, Under};

pub mod aime;
#[cfg(feature = "bfcl")]
pub mod bfcl;
pub mod conversations;
pub mod custom;
pub mod gaia;
#[cfg(feature = "judge")]
pub mod generate;
pub mod gsm8k;
pub mod items;
pub mod qa;

entries!(
    Arc<dyn Benchmark>, of_own: gaia, qa, gsm8k, aime, items,
    #[cfg(feature = "bfcl")] bfcl,
    conversations,
    #[cfg(feature = "judge")] generate,
    custom,
);

/// A registered benchmark.
fn of_own(
    name: &str,
    keys: Map<String, Value>,
    surroundings: &Surroundings<'_>,
) -> Result<Arc<dyn Benchmark>> {
    if let Some(error) = missing_feature("benchmark", name) {
        return Err(error);
    }
    let registry = surroundings.registry;
    let options = Options::new(format!("benchmark `{name}`"), keys, surroundings.folder);
    registry
        .make_benchmark(name, &options)
        .ok_or_else(|| unknown("benchmark", name, BUILT_IN, registry.benchmark_names()))?
        .or_under("type")
}

#[cfg(test)]
mod tests {
    use super::super::pages::{check_row, keys_of};
    use super::*;

    #[test]
    fn rows_name_the_columns_that_can_be_named() {
        check_row::<aime::AimeColumnKeys>(&aime::ENTRY.about, "columns");
        check_row::<gaia::GaiaColumnKeys>(&gaia::ENTRY.about, "columns");
        check_row::<gsm8k::Gsm8kColumnKeys>(&gsm8k::ENTRY.about, "columns");
        check_row::<items::ItemColumnKeys>(&items::ENTRY.about, "columns");
        check_row::<qa::QaColumnKeys>(&qa::ENTRY.about, "columns");
    }

    #[test]
    fn a_sample_has_a_table_of_its_own() {
        let page = custom::ENTRY.about.page;
        let (_, table) = page.split_once("| key of a sample | meaning |\n").unwrap();
        let rows = table.lines().skip(1);
        let keys: Vec<_> = rows
            .map_while(|row| Some(row.strip_prefix("| `")?.split_once('`')?.0))
            .collect();
        assert_eq!(keys, keys_of::<custom::SampleKeys>());
    }
}
