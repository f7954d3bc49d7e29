//! `no_regression`: is the agent worse than the accepted baseline, or is the difference chance?
//!
//! All answers of all baseline runs are compared with all answers of now, sample by sample. If the agent is unchanged,
//! the right answers of now are a random draw from a sample's right answers; p is the probability of this few or fewer
//! ([`conditional_test`](crate::stats::conditional_test)). The gate fails if p < alpha, or if `max_drop` is given and
//! the drop of accuracy over the pairs exceeds it. With one answer on each side and no groups, p is that of the
//! unconditional exact test ordered by mid-p, which sees more with few samples; with several looks the conditional one.
//!
//! Epochs that repeat each other (temperature 0, a cache) are one answer: see [`Repetition`].
//!
//! An answer that errored now counts as wrong and as right; if the results differ, the gate is inconclusive. Also
//! inconclusive: a comparison that could not have failed (except in an early interim analysis, which does not have all
//! answers yet), one of too few of the baseline's samples, and in continuous integration one with a changed baseline, or
//! of nothing but answers from the cache.
//! If the deciding judge is served by another model than in the baseline, the comparison is one of judges, and
//! inconclusive.

mod counted;
mod judges;
mod message;
mod paired;
mod repetition;

use serde::Serialize;

use crate::figure::{P, Percent};
use crate::stats;
use crate::stats::{Decision, ExactTest, RedBelow, StoppingBounds};
use crate::verdict::baseline::{Baseline, Pair, Pairing};
use crate::verdict::facts::Facts;
use crate::verdict::gate::Gate;
use crate::verdict::result::InterimAnalysis;
use crate::verdict::result::{BASELINE_IGNORED, GateResult, NO_BASELINE, Verdict};
use message::{POWER, assumption};
use paired::Paired;

pub(super) use message::at_level;
pub(super) use paired::As;
pub(super) use repetition::{Repetition, runs_of};

pub(crate) use counted::CountedPairs;
pub(crate) use judges::{OTHER_JUDGE, ServedJudges};
pub(crate) use message::power;

/// Why a comparison of nothing but answers from the cache is inconclusive.
pub(super) const CACHED: &str = "every answer came from the cache, so nothing was tested (and `CI` is set): ask the \
                      agent with `cargo evaltest run --refresh`, or allow cached answers with `--allow-cached`";

/// A gate with its comparison.
pub(super) struct BaselineComparison<'a> {
    gate: &'a Gate,
    baseline: &'a Baseline,
    facts: &'a Facts<'a>,
    pairing: Pairing<'a>,
    /// How far epochs repeat each other, if they count as one.
    repetition: Option<Repetition>,
    exact: ExactTest,
    /// The interim analysis, if the gate may stop early.
    analysis: Option<TakenAnalysis>,
    /// The number of gates, including this one, that the p's are adjusted for.
    together: usize,
    /// One for each way to count errors, in the order of [`As::ALL`].
    tests: [Test; As::ALL.len()],
}

/// The pairs with their p, which is adjusted for other gates.
#[derive(Clone, Debug)]
struct Test {
    paired: Paired,
    p: f64,
}

/// An interim analysis with its bounds.
#[derive(Clone, Copy, Debug)]
struct TakenAnalysis {
    at: InterimAnalysis,
    bounds: StoppingBounds,
}

/// A comparison with its verdict.
struct Decided<'a> {
    comparison: BaselineComparison<'a>,
    verdict: Verdict,
    /// Why it is inconclusive, whatever p is.
    open: Option<String>,
}

/// A comparison with the baseline, whose p is adjusted for the other ones of its eval.
pub(super) trait FamilyMember {
    /// Its p where errors count as this; `None` if there is none.
    fn p(&mut self, errors: As) -> Option<&mut f64>;

    /// Sets the number of gates, including this one, that p's are adjusted for.
    fn set_family_size(&mut self, together: usize);
}

impl FamilyMember for BaselineComparison<'_> {
    fn p(&mut self, errors: As) -> Option<&mut f64> {
        let has_pairs = self.pairs() > 0;
        has_pairs.then(|| &mut self.tests[errors as usize].p)
    }

    fn set_family_size(&mut self, together: usize) {
        self.together = together;
    }
}

/// Adjusts the p's of all gates of an eval against the baseline by Holm, since chance is more likely to turn one of
/// several red. Each bound from counting errors is adjusted with the same bound of the others.
pub(super) fn adjust(comparisons: &mut [&mut dyn FamilyMember]) {
    let mut together = 0;
    for errors in As::ALL {
        let mut all: Vec<&mut f64> = comparisons
            .iter_mut()
            .filter_map(|comparison| comparison.p(errors))
            .collect();
        together = all.len();
        let p: Vec<f64> = all.iter().map(|p| **p).collect();
        for (one, p) in all.iter_mut().zip(stats::holm(&p)) {
            **one = p;
        }
    }
    for comparison in comparisons {
        comparison.set_family_size(together.max(1));
    }
}

impl<'a> BaselineComparison<'a> {
    pub(super) fn of(gate: &'a Gate, baseline: &'a Baseline, facts: &'a Facts<'_>) -> Self {
        let taken = |at: InterimAnalysis| {
            let stopping_bounds = stats::stopping_bounds(gate.level());
            let bounds = *stopping_bounds.get(at.index()).or(stopping_bounds.last())?;
            Some(TakenAnalysis { at, bounds })
        };
        let analysis = facts.analysis.filter(|_| gate.early_stop).and_then(taken);
        let early = analysis.is_some_and(|analysis| analysis.at.is_early());
        let pairing = baseline.pair(&facts.current, gate.slice.as_ref(), early);
        let counted = CountedPairs::of(pairing.pairs.iter(), &baseline.runs);
        let exact = gate.exact_test(analysis.is_some() || facts.progressive.is_some());
        let test = |errors: As| {
            let paired = counted.paired(errors);
            let p = sequential_p(paired.p(exact), analysis);
            Test { paired, p }
        };
        let seen = test(As::Nothing);
        let [_, errors] = counted.missing();
        let end = |errors_as: As| {
            if errors > 0 {
                test(errors_as)
            } else {
                seen.clone()
            }
        };
        Self {
            tests: [end(As::Wrong), end(As::Right), test(As::Lost), seen.clone()],
            gate,
            baseline,
            facts,
            exact,
            repetition: counted.repetition(),
            pairing,
            analysis,
            together: 1,
        }
    }

    /// Whether an earlier analysis was green, which is final.
    fn was_green(&self) -> bool {
        self.analysis.is_some() && self.facts.green.contains(&self.gate.name())
    }

    /// The bounds of an analysis before the last.
    fn early(&self) -> Option<StoppingBounds> {
        let analysis = self.analysis.filter(|analysis| analysis.at.is_early())?;
        Some(analysis.bounds)
    }

    /// Red below this p whatever the other gates say: the strictest level of Holm's procedure.
    fn strictness(&self) -> stats::RedBelow {
        let alpha = self.gate.level() / stats::as_f64(self.together as u64);
        let analysis = self.analysis.filter(|_| self.together > 1);
        let stricter = analysis.and_then(|analysis| {
            stats::stopping_bounds(alpha)
                .get(analysis.at.index())
                .copied()
        });
        let bounds = stricter.or(self.analysis.map(|analysis| analysis.bounds));
        stats::RedBelow {
            alpha: bounds.map_or(alpha, |bounds| bounds.red),
            test: self.exact,
        }
    }

    /// Whether the gate would pass even if every answer now were wrong.
    fn is_powerless(&self) -> bool {
        self.test(As::Lost).p >= self.gate.level()
    }

    fn test(&self, errors: As) -> &Test {
        &self.tests[errors as usize]
    }

    /// The observed pairs, without answers that errored.
    fn seen(&self) -> &Paired {
        &self.test(As::Nothing).paired
    }

    fn pairs(&self) -> u64 {
        self.seen().pairs()
    }

    fn fails(&self, errors: As) -> bool {
        let Test { paired, p } = self.test(errors);
        let max_drop = self.gate.max_drop.zip(paired.drop());
        *p < self.gate.level() || max_drop.is_some_and(|(max, drop)| drop > max)
    }

    pub(super) fn verdict(&self) -> Verdict {
        if self.unfit().is_some() {
            return Verdict::Inconclusive;
        }
        if self.lacks_power() {
            // Nobody asked for the default gate, so that it may find the samples too few.
            return if self.gate.is_default() {
                Verdict::Ignored
            } else {
                Verdict::Inconclusive
            };
        }
        let ends = [As::Wrong, As::Right];
        if self.was_green() {
            return Verdict::Passed;
        }
        let is_green = |errors| match self.early() {
            None => !self.fails(errors),
            Some(bounds) => self.test(errors).paired.decide(&bounds) == Decision::Green,
        };
        if ends.iter().all(|errors| self.fails(*errors)) {
            Verdict::Failed
        } else if ends.into_iter().all(is_green) && self.has_enough_verdicts() {
            Verdict::Passed
        } else {
            Verdict::Inconclusive
        }
    }

    /// Why nothing can be concluded from the comparison, whatever p is.
    fn open(&self) -> Option<String> {
        let powerless = || self.lacks_power().then(|| self.powerless());
        self.unfit().or_else(powerless)
    }

    /// Whether it would pass whatever is answered. An early interim analysis does not have all answers.
    fn lacks_power(&self) -> bool {
        self.early().is_none() && !self.fails(As::Lost)
    }

    /// Why these answers cannot be compared.
    fn unfit(&self) -> Option<String> {
        if let Some(hidden) = self.hidden() {
            return Some(hidden);
        }
        if self.pairs() == 0 {
            return Some(self.nothing_to_compare());
        }
        if self.facts.ci
            && let Some(warning) = self.changed_since()
        {
            return Some(format!("{warning} (and `CI` is set)"));
        }
        if let Some(other) = self.judge_change() {
            return Some(other);
        }
        if self.facts.ci
            && !self.facts.allow_cached
            && !self.pairing.has_fresh
            && self.has_verdict()
        {
            return Some(CACHED.to_owned());
        }
        self.short()
    }

    /// Whether this many are enough of the baseline's samples.
    fn is_enough(&self, compared: usize) -> bool {
        let share = stats::ratio(compared as u64, self.pairing.expected as u64);
        share.is_none_or(|share| share >= self.gate.least_pairs())
    }

    /// Whether enough of the baseline's samples have a verdict now. An early interim analysis waits for none.
    fn has_enough_verdicts(&self) -> bool {
        let answered = |pair: &Pair<'_>| pair.now.iter().any(Option::is_some);
        let answered = self.pairing.pairs.iter().filter(answered).count();
        self.early().is_some() || self.is_enough(answered)
    }

    /// Why too few of the baseline's samples can be compared, with what became of the others.
    fn short(&self) -> Option<String> {
        let Pairing {
            pairs,
            removed,
            moved,
            changed,
            unscored,
            expected,
            ..
        } = &self.pairing;
        let compared = pairs.len();
        if self.is_enough(compared) {
            return None;
        }
        let rows = [
            (removed.len(), "gone"),
            (moved.len(), "in another slice"),
            (changed.len(), "changed"),
            (unscored.len(), "without a verdict"),
        ];
        let rows = rows.into_iter().filter(|(count, _)| *count > 0);
        let rows: Vec<_> = rows.map(|(count, row)| format!("{count} {row}")).collect();
        let slice = self.gate.slice.as_ref();
        let slice = slice.map_or_else(String::new, |slice| format!(" of `{slice}`"));
        let cure = match self.facts.limit {
            Some(limit) if !removed.is_empty() => format!(
                "remove `limits.limit: {limit}` from the spec, accept a run on the current samples with `cargo evaltest accept`,"
            ),
            _ => "accept a run on the current samples with `cargo evaltest accept`,".to_owned(),
        };
        Some(format!(
            "only {compared} of the baseline's {expected} samples{slice} can be compared, fewer than {} ({}): {cure} \
             or write `no_regression(min_pairs=SHARE)`",
            Percent(self.gate.least_pairs()),
            rows.join(", ")
        ))
    }

    /// Whether any answer of now has a verdict.
    fn has_verdict(&self) -> bool {
        let mut pairs = self.pairing.pairs.iter();
        pairs.any(|pair| pair.now.iter().any(Option::is_some))
    }

    /// A message if the deciding judge is served by another model than in the baseline.
    fn judge_change(&self) -> Option<String> {
        let summary = &self.facts.summary;
        let decides = |name: &str| summary.scorer.as_deref() == Some(name);
        let at_level = |name: &str| !decides(name) && summary.scorers.contains_key(name);
        ServedJudges::of(summary.judge_models()).other_than(self.baseline, at_level)
    }

    fn nothing_to_compare(&self) -> String {
        let nothing = "no sample was scored both in the baseline and now";
        if self.pairing.changed.is_empty() {
            return nothing.to_owned();
        }
        let why = if self.baseline.of_prompts {
            "an older version made the baseline and stored question and prompt together, and one of them changed"
        } else {
            "questions or ground truths changed"
        };
        format!("{nothing}: {why}; accept a run with `cargo evaltest accept`")
    }

    /// Why no question can be matched with the baseline.
    fn hidden(&self) -> Option<String> {
        self.baseline.hidden_from(&self.facts.mask_ids)
    }

    fn powerless(&self) -> String {
        let right = self.pairing.pairs.iter();
        let right = right
            .filter(|pair| pair.before.contains(&Some(true)))
            .count();
        let compared = match self.pairs() {
            1 => "1 sample is".to_owned(),
            samples => format!("{samples} samples are"),
        };
        format!(
            "powerless: the gate would pass even if every answer were wrong now ({} >= alpha {}): {compared} compared, \
             and {right} {} correct in the baseline; add samples or epochs",
            P(self.test(As::Lost).p).at_level(self.gate.level()),
            self.gate.level(),
            if right == 1 { "was" } else { "were" }
        )
    }

    /// Why the snapshots are not those of the runs they name.
    fn changed_since(&self) -> Option<String> {
        changed_since(self.baseline)
    }

    /// Builds the result with message and figures.
    pub(super) fn result(self) -> GateResult {
        let (verdict, open) = (self.verdict(), self.open());
        let value = (self.pairs() > 0).then(|| self.test(As::Nothing).p);
        let gate = self.gate;
        let decided = Decided {
            comparison: self,
            verdict,
            open,
        };
        let regression = decided.regression();
        let mut message = decided.message(&regression);
        if gate.is_default() && verdict != Verdict::Passed {
            message += "\nthis gate is the default for an eval with a baseline and without `gates`; `gates: []` turns it off";
        }
        GateResult {
            regression: Some(regression),
            ..GateResult::of(gate, verdict, value, message)
        }
    }
}

/// Why the snapshots are not those of the runs they name.
pub(crate) fn changed_since(baseline: &Baseline) -> Option<String> {
    (!baseline.digest_matches).then(|| {
            let files = match &baseline.changed_files[..] {
                [] => String::new(),
                files => format!(" ({})", message::name_some(files)),
            };
            let whose = match &*baseline.run_ids() {
                "" => "`_baseline.json` is missing, so it is unknown which runs the snapshots are from".to_owned(),
                ids => format!(
                    "the snapshots changed since run `{}` was accepted{files}, so the comparison may be biased",
                    message::printable(ids)
                ),
            };
            format!("{whose}: accept one or more whole runs with `cargo evaltest accept`")
        })
}

/// A p adjusted for interim analyses.
fn sequential_p(p: f64, analysis: Option<TakenAnalysis>) -> f64 {
    match analysis {
        None => p,
        Some(analysis) => stats::repeated_p(p, analysis.at.index()),
    }
}

/// The message of a gate that fails for the lack of a baseline.
pub(crate) const NO_BASELINE_IN_CI: &str = "there is no baseline, and `CI` is set: accept a run with `cargo evaltest accept` and commit the snapshots";

pub(super) fn without_baseline(gate: &Gate, facts: &Facts<'_>) -> GateResult {
    let (verdict, message) = if facts.ignores_baseline {
        if facts.ci {
            (
                Verdict::Failed,
                "the baseline was ignored (`--ignore-baseline`), and `CI` is set",
            )
        } else {
            (Verdict::Passed, BASELINE_IGNORED)
        }
    } else if facts.ci {
        (Verdict::Failed, NO_BASELINE_IN_CI)
    } else {
        (Verdict::Passed, NO_BASELINE)
    };
    GateResult::of(gate, verdict, None, message.to_owned())
}

/// The comparison with each answer that errored or was never given counted as wrong and as right, as gates do.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ErrorBounds {
    /// Answers of A without an expected verdict, over the samples that are the same in both.
    pub errors_a: u64,
    /// Answers of B without an expected verdict.
    pub errors_b: u64,
    /// With those of A as right and those of B as wrong: the worst case for B.
    pub lowest: PairedFigures,
    /// With those of A as wrong and those of B as right: the best case for B.
    pub highest: PairedFigures,
}

impl ErrorBounds {
    /// The bounds of pairs whose A may lack verdicts; `None` without errors.
    pub(crate) fn of(pairs: &CountedPairs) -> Option<Self> {
        let [errors_a, errors_b] = pairs.missing();
        (errors_a + errors_b > 0).then(|| Self {
            errors_a,
            errors_b,
            lowest: PairedFigures::of_paired(&pairs.paired_as([As::Right, As::Wrong])),
            highest: PairedFigures::of_paired(&pairs.paired_as([As::Wrong, As::Right])),
        })
    }
}

/// The default alpha of gates.
const ALPHA: f64 = 0.05;

/// The verdict by the interval of a difference; the point estimate alone may be chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ComparedVerdict {
    /// The whole interval lies below 0: B is worse than A.
    Worse,
    /// The whole interval lies above 0: B is better than A.
    Better,
    /// The interval contains 0.
    #[serde(rename = "not_told_apart")]
    Indistinguishable,
    /// No sample has a verdict on both sides.
    NothingToCompare,
}

/// Run B compared with run A over the samples with a verdict in both. Shares and differences are fractions, B minus A.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairedFigures {
    /// Samples with a verdict on both sides, each counted once, however many answers it has.
    pub n: u64,
    /// The verdict by the interval.
    pub verdict: ComparedVerdict,
    /// Accuracy of A over these samples.
    pub accuracy_a: Option<f64>,
    /// Accuracy of B over these samples.
    pub accuracy_b: Option<f64>,
    /// Accuracy of B minus that of A, with equal weight for each sample.
    pub difference: Option<f64>,
    /// Its 95 % confidence interval, which always has a width.
    pub difference_ci95: Option<[f64; 2]>,
    /// The probability of at most this many right answers of B if the two are equal: p of `no_regression`.
    pub p: Option<f64>,
    /// The probability of a difference this large in either direction: twice the smaller one-sided p.
    pub p_two_sided: Option<f64>,
    /// Samples that became wrong.
    pub worse: u64,
    /// Samples that became correct.
    pub better: u64,
    /// The number of groups of these samples, if there are groups: only groups are independent of each other.
    pub groups: Option<u64>,
}

/// The smallest drop that a comparison detects.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SeenDrop {
    /// The smallest drop of accuracy that this many samples detect in four of five runs; `null` if there is none.
    pub smallest_drop: Option<f64>,
    /// Its assumptions, as text.
    pub assumption: String,
}

impl PairedFigures {
    /// The figures of pairs whose `before` is A and whose `now` is B.
    pub(crate) fn of(pairs: &CountedPairs) -> Self {
        Self::of_paired(&pairs.paired(As::Nothing))
    }

    fn of_paired(paired: &Paired) -> Self {
        let [a, b] = paired.shares();
        let difference = paired.difference();
        let interval = difference.map(|difference| difference.ci95);
        let has_pairs = paired.pairs() > 0;
        let p = paired.p(ExactTest::default());
        let other_way = || paired.p_other_way();
        Self {
            n: paired.pairs(),
            verdict: match interval {
                None => ComparedVerdict::NothingToCompare,
                Some([_, high]) if high < 0.0 => ComparedVerdict::Worse,
                Some([low, _]) if low > 0.0 => ComparedVerdict::Better,
                Some(_) => ComparedVerdict::Indistinguishable,
            },
            accuracy_a: a.value,
            accuracy_b: b.value,
            difference: difference.map(|difference| difference.value),
            difference_ci95: interval,
            p: has_pairs.then_some(p),
            p_two_sided: has_pairs.then(|| (2.0 * p.min(other_way())).min(1.0)),
            worse: paired.flips(true),
            better: paired.flips(false),
            groups: paired.group_count().map(|groups| groups as u64),
        }
    }
}

impl SeenDrop {
    /// The smallest drop detectable with these pairs.
    pub(crate) fn of(pairs: &CountedPairs, figures: &PairedFigures) -> Self {
        let paired = pairs.paired(As::Nothing);
        let red = RedBelow {
            alpha: ALPHA,
            test: ExactTest::default(),
        };
        // If even losing everything would not be significant, no drop is detected.
        let sees = pairs.paired(As::Lost).p(ExactTest::default()) < ALPHA;
        let drop = sees.then(|| paired.smallest_drop(red, POWER)).flatten();
        Self {
            smallest_drop: drop,
            assumption: assumption(&paired, figures.worse, figures.better),
        }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod alone_tests {
    use super::*;
    use crate::verdict::baseline::Pair;

    type Answers = Vec<Option<bool>>;

    /// A letter for each answer: `C` correct, `W` wrong, `E` without a verdict.
    fn answers(letters: &str) -> Answers {
        let read = |c| match c {
            'C' => Some(true),
            'W' => Some(false),
            _ => None,
        };
        letters.chars().map(read).collect()
    }

    /// The figures of samples with these answers in A and in B.
    fn figures(samples: &[(&str, &str)]) -> PairedFigures {
        let sides: Vec<(Answers, Answers)> = samples
            .iter()
            .map(|(a, b)| (answers(a), answers(b)))
            .collect();
        let pairs = sides.iter().map(|(before, now)| Pair {
            id: "s",
            before,
            now,
            ..Pair::default()
        });
        PairedFigures::of(&CountedPairs::of(pairs, &[]))
    }

    #[test]
    fn the_verdict_is_that_of_the_interval() {
        let check = |samples: Vec<(&str, &str)>, verdict, p: f64, two_sided: f64| {
            let found = figures(&samples);
            assert_eq!(found.verdict, verdict, "{found:?}");
            assert_eq!(
                (found.p, found.p_two_sided),
                (Some(p), Some(two_sided)),
                "{found:?}"
            );
        };
        let all = |a, b, n| vec![(a, b); n];
        check(
            all("C", "W", 8),
            ComparedVerdict::Worse,
            1.0 / 256.0,
            1.0 / 128.0,
        );
        check(all("W", "C", 8), ComparedVerdict::Better, 1.0, 1.0 / 128.0);
        check(
            all("C", "W", 1),
            ComparedVerdict::Indistinguishable,
            0.5,
            1.0,
        );
        check(
            all("C", "C", 4),
            ComparedVerdict::Indistinguishable,
            1.0,
            1.0,
        );
    }

    #[test]
    fn what_lacks_a_verdict_is_no_pair_either_way() {
        let found = figures(&[("C", "W"), ("C", "E"), ("W", "C")]);
        assert_eq!((found.n, found.worse, found.better), (2, 1, 1));
        assert_eq!((found.p, found.p_two_sided), (Some(1.0), Some(1.0)));
        let none = figures(&[("C", "E")]);
        assert_eq!(none.verdict, ComparedVerdict::NothingToCompare);
        assert_eq!((none.p, none.difference), (None, None));
    }

    #[test]
    fn turned_round_the_figures_are_those_of_the_other_side() {
        let samples = [("CCC", "CWW"), ("CC", "C"), ("WWC", "WWW"), ("C", "WE")];
        let there = figures(&samples);
        let back = figures(&samples.map(|(a, b)| (b, a)));
        assert_eq!(there.p_two_sided, back.p_two_sided);
        assert_eq!(there.difference.map(|value| -value), back.difference);
        assert_eq!((there.worse, there.better), (back.better, back.worse));
    }
}
