//! `Facts::check`: evaluates the gates of a finished run. Pure.

mod figures;
mod no_regression;
mod progressive;
mod validate;

use std::collections::BTreeMap;

use crate::figure::{Of100, Percent};
use crate::stats::{AnswerCounts, accuracy_interval, chance_of_less};
use crate::verdict::baseline::{Baseline, CurrentRow, Pairing, flipped, right_of};
use crate::verdict::facts::Facts;
use crate::verdict::gate::{ACCURACY, CORRECTED, DROP, Gate, MEAN, Op};
use crate::verdict::metric::{Figures, UpperEnds};
use crate::verdict::result::{GateResult, Verdict};
use crate::verdict::summary::BaselineChange;
use figures::FigureComparison;
use no_regression::{BaselineComparison, FamilyMember};

pub(crate) use crate::verdict::metric::{BOUNDS, KnownMeans};
pub use no_regression::{ComparedVerdict, ErrorBounds, PairedFigures, SeenDrop};
pub(crate) use no_regression::{
    CountedPairs, NO_BASELINE_IN_CI, OTHER_JUDGE, ServedJudges, changed_since, power,
};
pub(crate) use progressive::CheckpointInput;
pub(crate) use validate::Known;

impl Facts<'_> {
    /// The results of the gates of a finished run, in their order.
    pub(crate) fn check(&self, gates: &[Gate]) -> Vec<GateResult> {
        let requested = self.with_parts(gates);
        let results = self
            .checked(&requested)
            .into_iter()
            .map(CheckedGate::result);
        let described = results.zip(gates);
        described
            .map(|(result, gate)| self.with_alpha_part(result, gate))
            .collect()
    }

    /// The verdicts alone, for simulations: messages and figures take longer than the test itself.
    pub fn verdicts(&self, gates: &[Gate]) -> Vec<Verdict> {
        self.checked(gates)
            .iter()
            .map(CheckedGate::verdict)
            .collect()
    }

    /// An interim analysis of the samples so far.
    pub(crate) fn interim_findings(&self, gates: &[Gate]) -> InterimFindings {
        let verdicts = self.verdicts(gates);
        let checked = || verdicts.iter().zip(gates);
        let is_sure = |(verdict, gate): (&Verdict, &Gate)| match verdict {
            Verdict::Passed | Verdict::Ignored => true,
            Verdict::Inconclusive => false,
            Verdict::Failed => gate.metric().counts_unasked(),
        };
        let green =
            checked().filter(|(verdict, gate)| gate.stops_early() && **verdict == Verdict::Passed);
        InterimFindings {
            is_sure: checked().all(is_sure),
            green: green.map(|(_, gate)| gate.name()).collect(),
        }
    }

    /// The scorer whose verdicts a gate is about; `None` if it is about something else.
    pub(crate) fn decided_by(&self, gate: &Gate) -> Option<String> {
        if !gate.metric().is_of_verdicts() && !gate.needs_baseline() {
            return None;
        }
        let named = gate.metric().scorer().map(str::to_owned);
        let means = || KnownMeans::of(&self.summary, &self.detail_bounds);
        let name = gate.metric().argument();
        let found = match gate.metric().name {
            MEAN => means().find(name).ok(),
            CORRECTED => means().find_corrected(name).ok(),
            _ => None,
        };
        let found = found.and_then(|found| found.scorer);
        named.or(found).or_else(|| self.summary.scorer.clone())
    }

    fn checked<'a>(&'a self, gates: &'a [Gate]) -> Vec<CheckedGate<'a>> {
        let over = |gate: &Gate| {
            let deferred = self.deferred_to_merge(gate);
            let deferred = deferred.or_else(|| self.of_recorded_calls(gate));
            deferred.or_else(|| self.of_other_tier(gate, gates))
        };
        let checked = |gate: &'a Gate| match over(gate) {
            Some(result) => CheckedGate::Over(Box::new(result)),
            None => gate.checked(self),
        };
        let mut all: Vec<_> = gates.iter().map(checked).collect();
        let compared = all.iter_mut().filter_map(|checked| match checked {
            CheckedGate::Over(_) => None,
            CheckedGate::Compared(comparison) => Some(&mut **comparison as &mut dyn FamilyMember),
            CheckedGate::Figure(comparison) => Some(&mut **comparison as &mut dyn FamilyMember),
        });
        no_regression::adjust(&mut compared.collect::<Vec<_>>());
        all
    }
}

/// The result of an interim analysis.
#[derive(Debug, Default)]
pub(crate) struct InterimFindings {
    /// Whether the remaining samples cannot change the verdict of any gate.
    pub(crate) is_sure: bool,
    /// The names of gates with interim analyses that are green; these stay green.
    pub(crate) green: Vec<String>,
}

/// A gate evaluated against a finished run.
enum CheckedGate<'a> {
    Over(Box<GateResult>),
    Compared(Box<BaselineComparison<'a>>),
    Figure(Box<FigureComparison<'a>>),
}

impl CheckedGate<'_> {
    fn verdict(&self) -> Verdict {
        match self {
            Self::Over(result) => result.verdict,
            Self::Compared(comparison) => comparison.verdict(),
            Self::Figure(comparison) => comparison.verdict(),
        }
    }

    fn result(self) -> GateResult {
        match self {
            Self::Over(result) => *result,
            Self::Compared(comparison) => comparison.result(),
            Self::Figure(comparison) => comparison.result(),
        }
    }
}

/// Why a gate of a partial run is not checked.
pub(crate) fn selected_part(selected: u64, all: u64) -> String {
    format!("{selected} of {all} samples selected")
}

impl Gate {
    /// The result of the gate in a finished run, as if it were the only gate.
    pub fn check(&self, facts: &Facts<'_>) -> GateResult {
        let other = facts.deferred_to_merge(self);
        let other = other.or_else(|| facts.of_recorded_calls(self));
        let other = other.or_else(|| facts.of_other_tier(self, std::slice::from_ref(self)));
        other.unwrap_or_else(|| self.checked(facts).result())
    }

    fn checked<'a>(&'a self, facts: &'a Facts<'_>) -> CheckedGate<'a> {
        let result = |verdict, value, message| {
            CheckedGate::Over(Box::new(GateResult::of(self, verdict, value, message)))
        };
        // A part of the samples says little about the agent, but enough about an outage.
        if facts.is_partial() && !(self.is_default() && self.is_error_rate()) {
            let message = if facts.selected < facts.total {
                format!(
                    "not checked: {}",
                    selected_part(facts.selected, facts.total)
                )
            } else {
                "not checked: partial run (`--limit`)".to_owned()
            };
            return result(Verdict::Ignored, None, message);
        }
        let Some(figures) = Figures::of(facts, self.slice.as_ref()) else {
            // Slices were checked against the whole dataset, so the limit excluded it.
            let message = format!("no sample of this run belongs to `{}`", self.name());
            return result(Verdict::Ignored, None, message);
        };
        if let Some((op, threshold)) = self.bound {
            return CheckedGate::Over(Box::new(self.check_bound(facts, &figures, op, threshold)));
        }
        if self.figure().is_none()
            && let Some(why) = figures.nothing_scored()
        {
            return result(Verdict::Inconclusive, None, why);
        }
        match facts.baseline {
            Some(baseline) if self.figure().is_some() => {
                CheckedGate::Figure(Box::new(FigureComparison::of(self, baseline, facts)))
            }
            None => CheckedGate::Over(Box::new(no_regression::without_baseline(self, facts))),
            Some(baseline) => {
                CheckedGate::Compared(Box::new(BaselineComparison::of(self, baseline, facts)))
            }
        }
    }

    /// The verdict on a gate with a threshold.
    fn check_bound(
        &self,
        facts: &Facts<'_>,
        figures: &Figures<'_>,
        op: Op,
        threshold: f64,
    ) -> GateResult {
        let result = |verdict, value, message| GateResult::of(self, verdict, value, message);
        let measured = match figures.measure(self) {
            Ok(measured) => measured,
            Err(why) => return result(Verdict::Inconclusive, None, why),
        };
        if let Some(why) = figures.lacks_truths(self) {
            return result(Verdict::Inconclusive, Some(measured.value), why);
        }
        let upper = self.upper_ends(facts, figures);
        let holds = |value| op.holds(value, threshold);
        let ends = upper
            .as_ref()
            .map_or([measured.low, measured.high], |upper| upper.ends);
        let unit = self.metric.entry().unit;
        let value = unit.alongside(measured.value, threshold);
        let mut is = format!("{} {value}", self.label());
        if !measured.from.is_empty() {
            is = format!("{is} ({})", measured.from);
        }
        if let Some(upper) = &upper {
            is = format!("{is}, {}", upper.text(unit, threshold));
        }
        is = format!("{is}, limit {}", unit.limit(threshold));
        let (verdict, mut message) = match ends.map(holds) {
            [true, true] => (Verdict::Passed, is),
            [false, false] => (Verdict::Failed, is),
            _ => {
                let open = figures.open(self, &measured, threshold);
                (Verdict::Inconclusive, format!("{is}, undecided: {open}"))
            }
        };
        if verdict != Verdict::Inconclusive
            && let Some(unjudged) = figures.unjudged(self, &measured, threshold)
        {
            message = format!("{message}; {unjudged}");
        }
        if let Some(chance) = self.chance(facts, figures) {
            message = format!("{message}; {chance}");
        }
        if verdict == Verdict::Failed && self.is_default() {
            message += "\nthis gate is the default; write another `error_rate <= SHARE` into `gates` to replace it";
        }
        result(verdict, Some(measured.value), message)
    }
}

impl BaselineChange {
    /// The change of a run; `None` without a comparable baseline, or without common samples.
    pub(crate) fn of(
        facts: &Facts<'_>,
        baseline: &Baseline,
        pairing: &Pairing<'_>,
        counted: &CountedPairs,
    ) -> Option<Self> {
        let scorer_hash = facts.scorer_hash.as_deref().unwrap_or_default();
        if !baseline.is_judged_by(scorer_hash) || baseline.hidden_from(&facts.mask_ids).is_some() {
            return None;
        }
        let figures = PairedFigures::of(counted);
        let flips = |worse: bool| {
            let flips = pairing.pairs.iter();
            let flips = flips.filter(|pair| flipped(pair.before, pair.now) == Some(worse));
            flips.map(|pair| pair.id.to_owned()).collect()
        };
        Some(Self {
            runs: baseline.runs.iter().map(|run| run.run_id.clone()).collect(),
            n: figures.n,
            worse: figures.worse,
            better: figures.better,
            accuracy_before: figures.accuracy_a?,
            accuracy_now: figures.accuracy_b?,
            difference: figures.difference?,
            difference_ci95: figures.difference_ci95?,
            p: figures.p?,
            became_wrong: flips(true),
            became_correct: flips(false),
            figures: figures::changes(baseline, facts),
        })
    }
}

impl Facts<'_> {
    /// The result of a gate that is left to the merge of all parts; `None` for a whole run.
    fn deferred_to_merge(&self, gate: &Gate) -> Option<GateResult> {
        let part = self.part.as_ref()?;
        let message = format!("{}: judged by `cargo evaltest merge`", part.description());
        Some(GateResult::of(gate, Verdict::Ignored, None, message))
    }

    /// The result of a gate against the baseline in a run that replayed calls of models: what they answered says nothing
    /// of the agent with its models now.
    fn of_recorded_calls(&self, gate: &Gate) -> Option<GateResult> {
        if self.summary.recorded == 0 || !gate.needs_baseline() {
            return None;
        }
        let message = "recorded calls".to_owned();
        Some(GateResult {
            recorded: true,
            ..GateResult::of(gate, Verdict::Ignored, None, message)
        })
    }
}

/// The answers of an accuracy by independent groups: samples, or groups of samples.
struct Groups {
    /// Right answers, answers with a verdict, and answers that errored or were never given; and how many groups are
    /// alike.
    groups: BTreeMap<[u32; 3], u64>,
}

impl Gate {
    /// The upper ends of the interval, if the gate uses one.
    fn upper_ends(&self, facts: &Facts<'_>, figures: &Figures<'_>) -> Option<UpperEnds> {
        let confidence = self.confidence?;
        if self.metric.is(CORRECTED) {
            let name = self.metric.argument();
            return figures.corrected_ends(name, self.slice.as_ref(), confidence);
        }
        if self.metric.is(DROP) {
            return figures.perturbed_ends(self.metric.argument());
        }
        let groups = Groups::of(self, facts, figures)?;
        let upper = |errors: Option<bool>| {
            let [_, high] = accuracy_interval(groups.answers(errors), confidence)?;
            Some(high)
        };
        Some(UpperEnds {
            ends: [upper(Some(false))?, upper(Some(true))?],
            upper: upper(None)?,
            confidence,
        })
    }

    /// The probability that an agent fails whose accuracy is exactly the threshold, as text; `None` if the gate allows
    /// for chance, or is about something else.
    fn chance(&self, facts: &Facts<'_>, figures: &Figures<'_>) -> Option<String> {
        let (op, threshold) = self.bound?;
        let is_plain = self.confidence.is_none() && op == Op::AtLeast;
        let groups = is_plain.then(|| Groups::of(self, facts, figures))??;
        let chance = chance_of_less(groups.answers(None), threshold)?;
        (chance > 0.0).then(|| {
            let scorer = facts.decided_by(self).unwrap_or_default();
            let share = facts.summary.subject_of(&scorer).share();
            format!(
                "an agent with a true {share} of {} would fail this gate in {} % of runs; to allow for chance, add `(confidence=0.95)`",
                Percent(threshold),
                Of100(chance)
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
        let mut groups = BTreeMap::<_, u64>::new();
        let mut clusters = BTreeMap::<&str, [u32; 3]>::new();
        let samples = facts.current.iter();
        for sample in samples.filter(|sample| sample.is_in(gate.slice.as_ref())) {
            let counts = counts_of(sample, other);
            let Some(cluster) = sample.cluster() else {
                *groups.entry(counts).or_default() += 1;
                continue;
            };
            let cluster = clusters.entry(cluster).or_default();
            for (sum, count) in cluster.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        for cluster in clusters.into_values() {
            *groups.entry(cluster).or_default() += 1;
        }
        if groups.is_empty() && other.is_none() {
            // Samples were not stored: each answer is independent.
            let kinds = [[1, 1, 0], [0, 1, 0], [0, 0, 1]];
            groups.extend(kinds.into_iter().zip(figures.counts()));
        }
        Some(Self { groups })
    }

    /// The answers, with errors as wrong or right, or ignored; each with how many groups have these.
    fn answers(&self, errors: Option<bool>) -> impl Iterator<Item = (AnswerCounts, u64)> {
        let groups = self.groups.iter();
        groups.map(move |([right, of, unknown], times)| {
            let answers = match errors {
                None => AnswerCounts::new(*right, *of),
                Some(as_right) => {
                    AnswerCounts::new(right + unknown * u32::from(as_right), of + unknown)
                }
            };
            (answers, *times)
        })
    }
}

/// The answers to a sample by the verdicts of the deciding or another scorer: right ones, those with a verdict, and those
/// without.
fn counts_of(sample: CurrentRow<'_>, other: Option<&str>) -> [u32; 3] {
    let answers = other.map_or(sample.answers(), |scorer| sample.answers_of(scorer));
    // Answers that errored have no scorer name.
    let all = answers.len().max(sample.answers().len());
    let AnswerCounts { right, of } = right_of(answers);
    let all = u32::try_from(all).unwrap_or(u32::MAX);
    [right, of, all.saturating_sub(of)]
}

#[cfg(test)]
mod tests;
