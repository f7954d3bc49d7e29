//! The labels file: reviews in the form that `judge calibrate --labels` reads.
//!
//! How items were chosen for review decides how representative their labels are. If all answers are labelled, labels
//! are of `all`; otherwise those of a random draw are `random`, and any others `picked`.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::{Value, json};

use super::items::ReviewItems;
use crate::data::labels::{GivenLabel, LabelChoice};
use crate::data::reviews::ReviewLine;
use crate::error::{Error, Result};
use crate::system::file::{open_plain, write_atomically_by};
use crate::system::project::display;
use crate::text::json_line;

/// A key that only labels written by reviews have.
const OURS: &str = "reviewed_at";

/// What the labels are about.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelSource {
    /// The id of the run whose answers they are.
    run: Option<String>,
    /// The positions of items.
    pub(super) order: HashMap<String, usize>,
    /// Items with an answer.
    answered: HashSet<String>,
}

impl LabelSource {
    pub(super) fn of(items: &ReviewItems) -> Self {
        let places = 0..items.count();
        let ids = places
            .clone()
            .map(|place| (items.id(place).to_owned(), place));
        let answered = places.filter(|place| items.listed(*place).is_answered);
        Self {
            run: items.run().map(|run| run.run_id().to_owned()),
            order: ids.collect(),
            answered: answered.map(|place| items.id(place).to_owned()).collect(),
        }
    }

    /// Writes one line per person and item, from the current reviews.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write(&self, path: &Path, current: &[&ReviewLine]) -> Result<()> {
        let known = current
            .iter()
            .filter(|line| self.order.contains_key(&line.id));
        let mut known: Vec<&ReviewLine> = known.copied().collect();
        known.sort_by_key(|line| (self.order[&line.id], &line.at, &line.reviewer));
        let labelled: HashSet<&str> = known.iter().map(|line| line.id.as_str()).collect();
        let is_all = self
            .answered
            .iter()
            .all(|id| labelled.contains(id.as_str()));
        // A randomly drawn item counts as such even if it was also picked.
        let mut seeds = HashMap::<&str, u64>::new();
        for line in &known {
            if let (LabelChoice::Random, Some(seed)) = (line.chosen, line.seed) {
                seeds.entry(&line.id).or_insert(seed);
            }
        }
        write_atomically_by(path, |out| {
            for line in &known {
                let seed = seeds.get(line.id.as_str()).filter(|_| !is_all);
                let chosen = match seed {
                    _ if is_all => LabelChoice::All,
                    Some(_) => LabelChoice::Random,
                    None => LabelChoice::Picked,
                };
                let verification = line.verification.as_ref();
                let mut label = json!({
                    "id": line.id,
                    "label": verification.map(|verification| &verification.scores),
                    "person": line.reviewer,
                    "chosen": chosen,
                });
                if let Some(seed) = seed {
                    label["seed"] = (*seed).into();
                }
                if let Some(run) = &self.run {
                    label["run"] = run.as_str().into();
                }
                label[OURS] = line.at.as_str().into();
                let given = GivenLabel {
                    id: &line.id,
                    chosen,
                    seed: seed.copied(),
                    run: self.run.as_deref(),
                    reviewed_at: Some(&line.at),
                };
                label["sum"] = given.checksum().into();
                out.write_all(&json_line(&label)?)?;
                out.write_all(b"\n")?;
            }
            Ok(())
        })
    }
}

/// Refuses a labels file that no review wrote, since it would be overwritten.
pub(super) fn check(path: &Path) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    let io = |error: std::io::Error| Error::io("read", path, &error);
    let file = BufReader::new(open_plain(path).map_err(io)?);
    for (number, line) in (1..).zip(file.lines()) {
        let line = line.map_err(io)?;
        let value: Option<Value> = serde_json::from_str(&line).ok();
        let is_ours = value.is_some_and(|value| value.get(OURS).is_some());
        if !is_ours && !line.trim_ascii().is_empty() {
            let place = format!("{}:{number}", display(path));
            let message = format!("{place}: no review wrote this label");
            let hint = "the file is unchanged: move it away, and use it as separate labels";
            return Err(Error::usage(message).hint(hint));
        }
    }
    Ok(())
}
