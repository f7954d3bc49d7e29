//! `no_increase`, `no_decrease` and `no_change`: is a figure of the agent worse than in the accepted baseline, or is the
//! difference chance?
//!
//! Answers are compared sample by sample, by [`permutation_test`]: if nothing changed, a sample's answers are equally
//! likely in any order. Amounts such as tokens are compared by their logarithms: they see a common rise best, and a few
//! samples that run away nearly as well as sums do. The baseline's values are moved by the margin `by` first, so that an
//! agent that rose by exactly that is red in at most alpha of its runs.
//!
//! Both sides are rounded to the digits that a snapshot has. Samples without an answer leave the pairs. Epochs that repeat
//! each other count as one, by the rule of [`Repetition`](super::no_regression::Repetition) on the figure's values.

mod message;
mod pair;
mod pairs;

use std::collections::{BTreeMap, BTreeSet};

use crate::stats::{self, PERMUTATIONS, PermutationP, SplitMix64, permutation_test};
use crate::text::hash::Hasher;
use crate::verdict::baseline::Baseline;
use crate::verdict::check::no_regression::{As, CACHED, FamilyMember, ServedJudges, changed_since};
use crate::verdict::facts::Facts;
use crate::verdict::gate::figure::{FigureScale, LATENCY, OfAnswers, TRAJECTORY, VALUE};
use crate::verdict::gate::{Gate, NO_DECREASE};
use crate::verdict::result::{FigureChange, GateResult, Verdict};
use pairs::{FigurePairs, ValueType};

/// A gate on a figure with its comparison.
pub(super) struct FigureComparison<'a> {
    gate: &'a Gate,
    baseline: &'a Baseline,
    facts: &'a Facts<'a>,
    pairs: FigurePairs<'a>,
    /// The p's, adjusted for the other gates: one for each way in which these count errors.
    p: [f64; As::ALL.len()],
    tested: Option<PermutationP>,
    /// The number of gates, including this one, that the p's are adjusted for.
    together: usize,
    /// Why nothing can be concluded, whatever p is.
    open: Option<String>,
}

/// What is compared.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    /// The name as in snapshots, `SCORER.NAME` for a figure of a scorer.
    pub(super) name: String,
    pub(super) scale: FigureScale,
    pub(super) of: OfAnswers,
    /// 1 if a rise is red, -1 for a fall.
    pub(super) sign: f64,
    pub(super) by: f64,
}

impl Compared {
    /// Of a figure of this name.
    fn new(name: &str, facts: &Facts<'_>) -> Self {
        let scorer = facts.summary.scorer.as_deref().unwrap_or_default();
        Self {
            name: match name {
                VALUE => format!("{scorer}.{VALUE}"),
                name => name.to_owned(),
            },
            scale: FigureScale::of(name),
            of: OfAnswers::All,
            sign: 1.0,
            by: 0.0,
        }
    }

    fn of_gate(gate: &Gate, facts: &Facts<'_>) -> Self {
        Self {
            of: gate.of_answers(),
            sign: if gate.metric().is(NO_DECREASE) {
                -1.0
            } else {
                1.0
            },
            by: gate.by.unwrap_or_default(),
            ..Self::new(gate.figure().unwrap_or_default(), facts)
        }
    }

    fn is_trajectory(&self) -> bool {
        self.name == TRAJECTORY
    }

    /// A value as it is compared.
    fn scaled(&self, value: f64) -> f64 {
        self.scale.scaled(value).unwrap_or_default()
    }

    /// A value of the baseline, moved by the margin.
    fn moved(&self, value: f64) -> f64 {
        let by = self.sign * self.by;
        match self.scale {
            FigureScale::Difference => self.scaled(value + by),
            FigureScale::Ratio | FigureScale::RatioFromZero => self.scaled(value * (1.0 + by)),
        }
    }
}

impl<'a> FigureComparison<'a> {
    pub(super) fn of(gate: &'a Gate, baseline: &'a Baseline, facts: &'a Facts<'_>) -> Self {
        let compared = Compared::of_gate(gate, facts);
        let pairs = FigurePairs::of(compared, gate.slice.as_ref(), baseline, facts);
        let mut comparison = Self {
            gate,
            baseline,
            facts,
            pairs,
            p: [1.0; As::ALL.len()],
            tested: None,
            together: 1,
            open: None,
        };
        comparison.open = comparison.unfit();
        if comparison.open.is_none() {
            match comparison.pairs.test(PERMUTATIONS) {
                Ok(tested) => {
                    comparison.p = [tested.p; As::ALL.len()];
                    comparison.p[As::Lost as usize] = tested.least;
                    comparison.tested = Some(tested);
                }
                Err(why) => comparison.open = Some(why),
            }
        }
        comparison
    }

    /// Why these answers cannot be compared.
    fn unfit(&self) -> Option<String> {
        if let Some(hidden) = self.baseline.hidden_from(&self.facts.mask_ids) {
            return Some(hidden);
        }
        if self.facts.ci
            && let Some(warning) = changed_since(self.baseline)
        {
            return Some(format!("{warning} (and `CI` is set)"));
        }
        if let Some((scorer, _)) = self.pairs.compared.name.split_once('.') {
            let judges = ServedJudges::of(self.facts.summary.judge_models());
            let other = judges.other_than(self.baseline, |name| name != scorer);
            if other.is_some() {
                return other;
            }
        }
        if let Some(missing) = self
            .pairs
            .missing(self.facts, self.baseline.mask_id.is_some())
        {
            return Some(missing);
        }
        if self.facts.ci && !self.facts.allow_cached && !self.pairs.has_fresh {
            return Some(CACHED.to_owned());
        }
        self.pairs.short(self.gate)
    }

    /// Whether it would pass whatever is answered.
    fn is_powerless(&self) -> bool {
        self.p[As::Lost as usize] >= self.gate.level()
    }

    pub(super) fn verdict(&self) -> Verdict {
        if self.open.is_some() || self.is_powerless() {
            return Verdict::Inconclusive;
        }
        let fails = |errors: As| self.p[errors as usize] < self.gate.level();
        match [As::Wrong, As::Right].map(fails) {
            [true, true] => Verdict::Failed,
            [false, false] => Verdict::Passed,
            _ => Verdict::Inconclusive,
        }
    }

    /// Builds the result with message and figures.
    pub(super) fn result(self) -> GateResult {
        let verdict = self.verdict();
        let value = self.tested.map(|_| self.p[As::Nothing as usize]);
        let change = self.pairs.change(&self.baseline.run_ids());
        let change = change.map(|change| FigureChange {
            p: self.tested.map(|tested| tested.p),
            p_adjusted: value,
            // Whatever the other gates say: the strictest level of Holm's procedure.
            smallest_change: self
                .pairs
                .smallest_change(self.gate.level() / stats::as_f64(self.together as u64)),
            ..change
        });
        let message = self.message(verdict, change.as_ref());
        GateResult {
            figure: change,
            ..GateResult::of(self.gate, verdict, value, message)
        }
    }
}

impl FamilyMember for FigureComparison<'_> {
    fn p(&mut self, errors: As) -> Option<&mut f64> {
        self.tested.is_some().then(|| &mut self.p[errors as usize])
    }

    fn set_family_size(&mut self, together: usize) {
        self.together = together;
    }
}

/// What became of each figure that a baseline has, without margins, as gates would compare it.
pub(super) fn changes(baseline: &Baseline, facts: &Facts<'_>) -> BTreeMap<String, FigureChange> {
    let mut names: BTreeSet<_> = baseline.samples.figure_names().collect();
    // The parts of what is there as a whole.
    for part in ["cached_tokens", "output_length", LATENCY] {
        names.remove(part);
    }
    let change = |name: &str| {
        let gate = Gate::no_increase(name);
        let compared = Compared {
            of: gate.of_answers(),
            ..Compared::new(name, facts)
        };
        let pairs = FigurePairs::of(compared, None, baseline, facts);
        let change = pairs.change(&baseline.run_ids())?;
        let tested = pairs.test(PERMUTATIONS / 10).ok();
        Some(FigureChange {
            p: tested.map(|tested| tested.p),
            ..change
        })
    };
    let changes = names.into_iter();
    changes
        .filter_map(|name| Some((name.to_owned(), change(name)?)))
        .collect()
}

impl FigurePairs<'_> {
    /// The test; an error is the reason that there is none.
    fn test(&self, permutations: usize) -> Result<PermutationP, String> {
        let mut seed = Hasher::default().part(&self.compared.name);
        for pair in &self.pairs {
            seed = seed.part(pair.id);
        }
        // The same answers give the same p.
        let mut random = SplitMix64(u64::from_be_bytes(seed.first_bytes()));
        let arrangements = self.arrangements(&mut random)?;
        permutation_test(&arrangements, permutations, &mut random)
            .ok_or_else(|| "no sample can be compared".to_owned())
    }

    /// The smallest change that is seen in four of five runs.
    fn smallest_change(&self, alpha: f64) -> Option<f64> {
        let ValueType::Numbers = self.value_type else {
            return None;
        };
        let beyond = stats::seen_difference(&self.differences(self.compared.scale), alpha)?;
        let compared = &self.compared;
        Some(if compared.scale.is_ratio() {
            (1.0 + compared.by) * beyond.exp() - 1.0
        } else {
            compared.by + beyond
        })
    }
}
