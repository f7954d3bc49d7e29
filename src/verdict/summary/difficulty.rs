//! `DifficultyDrop`: the drop of accuracy from one level to the next.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::group::Group;

/// The drop of accuracy between two adjacent levels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DifficultyDrop {
    /// The easier level.
    pub from: String,
    /// The harder one.
    pub to: String,
    /// The relative drop, (accuracy of `from` - accuracy of `to`) / accuracy of `from`; negative if the harder level
    /// went better. `null` if either accuracy is, or if that of `from` is 0.
    pub drop: Option<f64>,
}

/// The drops between adjacent integer levels, in numeric order.
pub(super) fn difficulty_drops(levels: &BTreeMap<String, Group>) -> Vec<DifficultyDrop> {
    let mut levels: Vec<(i64, &String, Option<f64>)> = levels
        .iter()
        .filter_map(|(name, group)| Some((name.trim().parse().ok()?, name, group.accuracy)))
        .collect();
    levels.sort_by_key(|(number, ..)| *number);
    levels
        .windows(2)
        .filter_map(|pair| {
            let [(_, from, easier), (_, to, harder)] = pair else {
                return None;
            };
            let drop = easier
                .filter(|easier| *easier > 0.0)
                .zip(*harder)
                .map(|(easier, harder)| (easier - harder) / easier);
            Some(DifficultyDrop {
                from: (*from).clone(),
                to: (*to).clone(),
                drop,
            })
        })
        .collect()
}
