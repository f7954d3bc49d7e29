//! An accuracy compared with its threshold, and how chance affects an agent that is just good enough.

use std::collections::BTreeMap;

use crate::stats::{AnswerCounts, accuracy_interval, chance_of_less};
use crate::verdict::baseline::CurrentSample;
use crate::verdict::facts::Facts;
use crate::verdict::gate::{ACCURACY, CORRECTED, Gate, Op};
use crate::verdict::metric::{Figures, UpperEnds};

/// The answers of an accuracy by independent groups: samples, or groups of samples.
struct Groups {
    /// Right answers, answers with a verdict, and answers that errored or were never given.
    groups: Vec<[u32; 3]>,
}

impl Gate {
    /// The upper ends of the interval, if the gate uses one.
    pub(super) fn upper_ends(
        &self,
        facts: &Facts<'_>,
        figures: &Figures<'_>,
        threshold: f64,
    ) -> Option<UpperEnds> {
        let confidence = self.confidence?;
        if self.metric.is(CORRECTED) {
            let name = self.metric.argument();
            return figures.corrected_ends(name, self.slice.as_ref(), confidence, threshold);
        }
        let groups = Groups::of(self, facts, figures)?;
        let upper = |errors: Option<bool>| {
            let [_, high] = accuracy_interval(&groups.answers(errors), confidence)?;
            Some(high)
        };
        Some(UpperEnds {
            ends: [upper(Some(false))?, upper(Some(true))?],
            text: UpperEnds::text(confidence, upper(None)?, threshold),
        })
    }

    /// The probability that an agent fails whose accuracy is exactly the threshold, as text; `None` if the gate allows
    /// for chance, or is about something else.
    pub(super) fn chance(&self, facts: &Facts<'_>, figures: &Figures<'_>) -> Option<String> {
        let (op, threshold) = self.bound?;
        let is_plain = self.confidence.is_none() && op == Op::AtLeast;
        let groups = is_plain.then(|| Groups::of(self, facts, figures))??;
        let chance = chance_of_less(&groups.answers(None), threshold)?;
        (chance > 0.0).then(|| {
            let percent = match (chance * 100.0).round() {
                0.0 => "less than 1".to_owned(),
                percent => percent.to_string(),
            };
            format!(
                "an agent whose accuracy is exactly {threshold} fails in {percent} % of such runs, unless the gate \
                 says `(confidence=0.95)`"
            )
        })
    }
}

impl Groups {
    /// The groups for a gate on an accuracy.
    fn of(gate: &Gate, facts: &Facts<'_>, figures: &Figures<'_>) -> Option<Self> {
        if !gate.metric.is(ACCURACY) {
            return None;
        }
        let scorer = gate.metric.scorer();
        let other = scorer.filter(|scorer| figures.decides() != Some(*scorer));
        let mut groups = BTreeMap::<(bool, &str), [u32; 3]>::new();
        let samples = facts.current.iter();
        for sample in samples.filter(|sample| sample.is_in(gate.slice.as_ref())) {
            let own = (false, sample.id.as_str());
            let name = sample.cluster.as_deref().map_or(own, |name| (true, name));
            let group = groups.entry(name).or_default();
            for answer in answers(sample, other) {
                group[0] += u32::from(answer == Some(true));
                group[1] += u32::from(answer.is_some());
                group[2] += u32::from(answer.is_none());
            }
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        if groups.is_empty() && other.is_none() {
            // Samples were not stored: each answer is independent.
            let [right, wrong, unknown] = figures.counts();
            groups.extend((0..right).map(|_| [1, 1, 0]));
            groups.extend((0..wrong).map(|_| [0, 1, 0]));
            groups.extend((0..unknown).map(|_| [0, 0, 1]));
        }
        Some(Self { groups })
    }

    /// The answers, with errors as wrong or right, or ignored.
    fn answers(&self, errors: Option<bool>) -> Vec<AnswerCounts> {
        let groups = self.groups.iter().map(|[right, of, unknown]| match errors {
            None => AnswerCounts::new(*right, *of),
            Some(as_right) => {
                AnswerCounts::new(right + unknown * u32::from(as_right), of + unknown)
            }
        });
        groups.collect()
    }
}

/// The verdicts of the deciding or another scorer on the answers to a sample.
fn answers(sample: &CurrentSample, other: Option<&str>) -> Vec<Option<bool>> {
    let Some(scorer) = other else {
        return sample.answers.clone();
    };
    let mut answers = sample.by_scorer.get(scorer).cloned().unwrap_or_default();
    // Answers that errored have no scorer name.
    let all = answers.len().max(sample.answers.len());
    answers.resize(all, None);
    answers
}
