//! Draws answers at random for people to label, and checks whether labels come from such a draw.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Value, json};

use super::JudgeOfRun;
use crate::data::labels::{GivenLabel, ItemLabels, LabelChoice};
use crate::error::{Error, Result};
use crate::stats::SplitMix64;

/// If at least this percentage of the answers of a draw have a label, the others were left out rather than passed over.
const MOST: usize = 80;

impl JudgeOfRun {
    /// Lines for people to fill in, for randomly drawn answers. A larger draw with the same seed starts with the
    /// smaller one.
    ///
    /// # Errors
    ///
    /// When there are fewer answers.
    pub fn draw(&self, number: usize, seed: u64) -> Result<Vec<Value>> {
        let ids = self.in_lot(number, seed);
        let all = self.answered().count();
        if all == 0 {
            let message = format!("run `{}` has no answer to sample", self.run_id());
            return Err(Error::usage(message)
                .hint("use a run with answers: `cargo evaltest runs` lists runs"));
        }
        if number == 0 {
            return Err(Error::usage("`--draw 0` samples nothing").hint(format!(
                "write a number of answers: `--draw {}`",
                all.min(100)
            )));
        }
        if number > all {
            let answers = if all == 1 { "answer" } else { "answers" };
            let message = format!("`--draw {number}`, and the run has {all} {answers}");
            return Err(Error::usage(message).hint(format!("`--draw {all}` takes all of them")));
        }
        let line = |id: &&str| {
            let given = GivenLabel {
                id,
                chosen: LabelChoice::Random,
                seed: Some(seed),
                run: Some(self.run_id()),
                reviewed_at: None,
            };
            let (chosen, run, sum) = (given.chosen, given.run, given.checksum());
            json!({ "id": id, "label": null, "chosen": chosen, "seed": seed, "run": run, "sum": sum })
        };
        Ok(ids.iter().map(line).collect())
    }

    fn answered(&self) -> impl Iterator<Item = &str> {
        let answered = self.items.iter().filter(|item| item.answer.is_some());
        answered.map(|item| item.id.as_str())
    }

    /// The first `number` answers in random order.
    fn in_lot(&self, number: usize, seed: u64) -> Vec<&str> {
        let mut ids: Vec<&str> = self.answered().collect();
        let number = number.min(ids.len());
        let mut random = SplitMix64(seed);
        for place in 0..number {
            let other = place + random.below(ids.len() - place);
            ids.swap(place, other);
        }
        ids.truncate(number);
        ids
    }

    /// Why labels that claim to be drawn at random from this run cannot be verified.
    pub(super) fn doubts(&self, labels: &[ItemLabels]) -> Vec<String> {
        let answered: HashSet<&str> = self.answered().collect();
        let drawn = labels.iter().filter(|item| {
            item.chosen == LabelChoice::Random
                && !item.is_empty()
                && answered.contains(item.id.as_str())
        });
        let mut lots = BTreeMap::<Option<u64>, Vec<&str>>::new();
        for item in drawn {
            lots.entry(item.seed).or_default().push(&item.id);
        }
        let mut doubts = Vec::new();
        if lots.len() > 1 {
            let seeds = lots.keys().flatten().map(u64::to_string);
            let mut seeds: Vec<String> = seeds.collect();
            if lots.contains_key(&None) {
                seeds.push("none".to_owned());
            }
            doubts.push(format!(
                "they were sampled with several seeds ({})",
                seeds.join(", ")
            ));
        }
        for (seed, ids) in &lots {
            doubts.extend(match seed {
                None => Some(format!(
                    "{} of randomly sampled answers have no `seed`, so the sample cannot be repeated",
                    count(ids.len())
                )),
                Some(seed) => self.doubt(*seed, ids),
            });
        }
        doubts
    }

    /// Why these answers are not the draw of a seed.
    fn doubt(&self, seed: u64, labelled: &[&str]) -> Option<String> {
        let number = labelled.len();
        let order = self.in_lot(usize::MAX, seed);
        let places: HashMap<&str, usize> = order.iter().copied().zip(1..).collect();
        let last = labelled.iter().filter_map(|id| places.get(id)).max()?;
        if *last <= number {
            return None;
        }
        if number * 100 >= last * MOST {
            return Some(format!(
                "{number} of the first {last} answers that `--draw` gives with seed {seed} have a label: corrections assume \
                 that nobody chose which"
            ));
        }
        let first: HashSet<&str> = order.into_iter().take(number).collect();
        let strangers: Vec<&&str> = labelled.iter().filter(|id| !first.contains(**id)).collect();
        Some(format!(
            "`judge calibrate --draw {number} --seed {seed}` of this run does not give {} of the {number} labelled answers, \
             first `{}`: corrections assume that another random sample drew them from this run",
            strangers.len(),
            strangers.first()?
        ))
    }
}

/// Formats a number of labels.
pub(super) fn count(number: usize) -> String {
    match number {
        1 => "1 label".to_owned(),
        number => format!("{number} labels"),
    }
}
