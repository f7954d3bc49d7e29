//! Figures of the whole run: the drop of accuracy between levels and by perturbed questions, and answers recovered by
//! retries.

use super::figures::Figures;
use super::{Measured, UpperEnds};
use crate::data::record::perturb::PerturbKind;
use crate::figure::{Interval, Share, counted};
use crate::stats;
use crate::verdict::gate::LevelStep;
use crate::verdict::summary::{Group, PerturbFigures};

/// The confidence of the interval of a drop by perturbation.
pub(super) const CONFIDENCE: f64 = 0.95;

/// Why there is no drop.
const UNDEFINED: &str = "no drop can be measured: each easier level has accuracy 0 or no verdict";

/// A drop, and its bounds if every sample had a verdict.
struct DropRange {
    step: String,
    value: Option<f64>,
    low: f64,
    high: f64,
}

impl Figures<'_> {
    /// The relative drop of accuracy between two levels, or the largest of all.
    pub(super) fn difficulty_drop(&self, step: Option<&LevelStep>) -> Result<Measured, String> {
        let summary = &self.facts.summary;
        let steps = summary.difficulty_drop.iter();
        let known: Vec<_> = steps
            .map(|drop| format!("{}->{}", drop.from, drop.to))
            .collect();
        let wanted = summary.difficulty_drop.iter().filter(|drop| {
            step.is_none_or(|step| (&*step.from, &*step.to) == (&*drop.from, &*drop.to))
        });
        let level = |level: &String| summary.slices.get("level")?.get(level);
        let drops = wanted.filter_map(|drop| {
            let step = format!("{}->{}", drop.from, drop.to);
            Some(DropRange::of(
                step,
                drop.drop,
                level(&drop.from)?,
                level(&drop.to)?,
            ))
        });
        let drops: Vec<_> = drops.collect();
        let none = |why: String| self.nothing_scored().unwrap_or(why);
        if drops.is_empty() {
            return Err(none(if known.is_empty() {
                "the samples have no two `level` values that are whole numbers".to_owned()
            } else {
                format!(
                    "no such levels; the steps between levels are {}",
                    known.join(", ")
                )
            }));
        }
        let largest = drops
            .iter()
            .filter_map(|drop| Some((drop.value?, &drop.step)));
        let largest = largest.max_by(|one, other| one.0.total_cmp(&other.0));
        let (value, step) = largest.ok_or_else(|| none(UNDEFINED.to_owned()))?;
        let most =
            |end: fn(&DropRange) -> f64| drops.iter().map(end).fold(f64::NEG_INFINITY, f64::max);
        Ok(Measured {
            value,
            low: most(|drop| drop.low),
            high: most(|drop| drop.high),
            from: format!("of accuracy from level {}", step.replace("->", " to ")),
        })
    }

    /// How much accuracy a kind of perturbation costs.
    pub(super) fn perturbed_drop(&self, kind: &str) -> Result<Measured, String> {
        let figures = self
            .perturbed(kind)
            .ok_or_else(|| format!("no question was asked with `{kind}`"))?;
        let (Some(value), Some(ci95)) = (figures.drop, figures.drop_ci95) else {
            let unchanged = figures.unchanged;
            return Err(format!(
                "no question has a verdict both as it is and with `{kind}`; `{kind}` leaves {} unchanged",
                counted(unchanged, "question")
            ));
        };
        let [low, high] = figures.drop_bounds.unwrap_or([value; 2]);
        Ok(Measured {
            value,
            low,
            high,
            from: format!(
                "{}, {} became wrong and {} correct, {}",
                counted(figures.pairs, "pair"),
                figures.b,
                figures.c,
                Interval(ci95.map(Share)).ci95()
            ),
        })
    }

    /// The figures of a kind of perturbation.
    pub(in crate::verdict) fn perturbed(&self, kind: &str) -> Option<&PerturbFigures> {
        let kind: PerturbKind = kind.parse().ok()?;
        self.facts.summary.perturb.get(&kind)
    }

    /// The upper ends of the interval of that drop.
    pub(in crate::verdict) fn perturbed_ends(&self, kind: &str) -> Option<UpperEnds> {
        let figures = self.perturbed(kind)?;
        let [_, upper] = figures.drop_ci95?;
        Some(UpperEnds {
            ends: figures.drop_upper_bounds.unwrap_or([upper; 2]),
            upper,
            confidence: CONFIDENCE,
        })
    }

    /// The share of the requested answers that only a retry obtained.
    pub(super) fn recovered(&self) -> Result<Measured, String> {
        let recovered = self.facts.summary.recovered_by_retry;
        let requested = self.group.scored + self.group.errors + self.group.unscored;
        let value = stats::ratio(recovered.recovered, requested)
            .ok_or_else(|| self.nothing("no sample was asked", "no sample is finished"))?;
        let all = requested + self.group.skipped;
        let most = recovered.recovered + self.group.skipped;
        Ok(Measured {
            value,
            low: stats::ratio(recovered.recovered, all).unwrap_or(value),
            high: stats::ratio(most, all).unwrap_or(value),
            from: format!(
                "{} of {requested} asked, {} of them more than once",
                recovered.recovered, recovered.retried
            ),
        })
    }
}

impl DropRange {
    /// Samples without a verdict may be right on the easy level and wrong on the hard one, or vice versa.
    fn of(step: String, value: Option<f64>, from: &Group, to: &Group) -> Self {
        let ends = |group: &Group| group.accuracy_bounds.unwrap_or([0.0, 1.0]);
        let ([from_low, from_high], [to_low, to_high]) = (ends(from), ends(to));
        let is_known = from_low >= from_high && to_low >= to_high;
        let drop = |easier: f64, harder: f64, undefined: f64| {
            if easier > 0.0 {
                (easier - harder) / easier
            } else {
                undefined
            }
        };
        let [low, high] = match value {
            Some(value) if is_known => [value, value],
            // Undefined, whatever the unknown verdicts are.
            None if is_known => [f64::NEG_INFINITY; 2],
            _ => [
                drop(from_low, to_high, f64::NEG_INFINITY),
                drop(from_high, to_low, f64::NEG_INFINITY),
            ],
        };
        Self {
            step,
            value,
            low,
            high,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{Record, Status};
    use crate::verdict::facts::Facts;
    use crate::verdict::gate::Gate;
    use crate::verdict::result::Verdict::{self, Failed, Inconclusive, Passed};
    use crate::verdict::summary::Summary;
    use crate::verdict::summary::tests::record;

    #[track_caller]
    fn check(gate: &str, records: &[Record], verdict: Verdict, value: Option<f64>, message: &str) {
        let gate: Gate = gate.parse().unwrap();
        let result = gate.check(&Facts::of(Summary::of("test", records)));
        assert_eq!(
            (result.verdict, result.value),
            (verdict, value),
            "{gate}: {}",
            result.message
        );
        assert!(result.message.contains(message), "{}", result.message);
    }

    /// Right, wrong and errored samples of each level: `C`, `W`, `E`.
    fn levels(kinds: &[(&str, &str)]) -> Vec<Record> {
        let kinds = kinds
            .iter()
            .flat_map(|(level, kinds)| kinds.chars().map(move |kind| (level, kind)));
        let record = |(place, (level, kind)): (usize, (&&str, char))| {
            let status = if kind == 'E' {
                Status::TimedOut
            } else {
                Status::Scored
            };
            record(&place.to_string(), status, kind == 'C', level)
        };
        kinds.enumerate().map(record).collect()
    }

    #[test]
    fn a_drop_is_relative_and_the_largest_counts_unless_one_is_named() {
        let all = levels(&[("1", "CCCC"), ("2", "CCCW"), ("3", "CWWWWW")]);
        let largest = (0.75 - 1.0 / 6.0) / 0.75;
        check(
            "difficulty_drop <= 0.3",
            &all,
            Failed,
            Some(largest),
            "from level 2 to 3",
        );
        check(
            "difficulty_drop(1->2) <= 25%",
            &all,
            Passed,
            Some(0.25),
            "from level 1 to 2",
        );
        check("difficulty_drop(1->2) < 0.25", &all, Failed, Some(0.25), "");
        check(
            "difficulty_drop(1->3) <= 1",
            &all,
            Inconclusive,
            None,
            "the steps between levels are 1->2, 2->3",
        );
        check(
            "difficulty_drop <= 1",
            &levels(&[("easy", "C")]),
            Inconclusive,
            None,
            "no two `level` values",
        );
        let wrong_way = levels(&[("1", "W"), ("2", "C")]);
        check(
            "difficulty_drop <= 0.3",
            &wrong_way,
            Inconclusive,
            None,
            "no drop can be measured",
        );
    }

    #[test]
    fn samples_without_a_verdict_leave_a_drop_open() {
        let all = levels(&[("1", "CCCCE"), ("2", "CCCE")]);
        // At least 1 - 1 / 0.8, at most 1 - 0.75.
        check(
            "difficulty_drop <= 0.2",
            &all,
            Inconclusive,
            Some(0.0),
            "between −25.0 % and 25.0 %",
        );
        check("difficulty_drop <= 0.25", &all, Passed, Some(0.0), "");
        check("difficulty_drop <= -0.3", &all, Failed, Some(0.0), "");
    }

    #[test]
    fn recovered_is_a_share_of_all_requests() {
        let mut records = levels(&[("1", "CCWE")]);
        check(
            "recovered_by_retry <= 0",
            &records,
            Passed,
            Some(0.0),
            "0 of 4 asked",
        );
        records[0].result.attempts = 2;
        records[3].result.attempts = 3;
        check(
            "recovered_by_retry <= 25%",
            &records,
            Passed,
            Some(0.25),
            "1 of 4 asked, 2 of them more than once",
        );
        check(
            "recovered_by_retry <= 0.1",
            &records,
            Failed,
            Some(0.25),
            "",
        );
        records.push(record("s", Status::Skipped, false, "1"));
        check(
            "recovered_by_retry <= 0.3",
            &records,
            Inconclusive,
            Some(0.25),
            "between 20.0 % and 40.0 %",
        );
    }
}
