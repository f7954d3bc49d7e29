//! `InterimAnalyses`: pauses a run for interim analyses that may end it early.
//!
//! Gates with `early_stop` analyse the samples so far up to four times. An analysis covers exactly the samples before
//! it, so no later one starts until it is taken: questions in flight finish first.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::select::Selected;
use crate::eval::plan::Plan;
use crate::stats;
use crate::system::lock;
use crate::verdict::check::InterimFindings;
use crate::verdict::gate::Gate;
use crate::verdict::result::InterimAnalysis;

/// How often a waiter checks whether the run was stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The interim analyses of a run, except the last.
pub(in crate::run) struct InterimAnalyses {
    /// The seed of the order in which samples are asked.
    pub(in crate::run) seed: u32,
    stops: Vec<EarlyStop>,
    state: Mutex<InterimState>,
    taken: Condvar,
}

/// The position of an interim analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EarlyStop {
    analysis: InterimAnalysis,
    /// Taken when this many questions are through.
    questions: usize,
}

#[derive(Default)]
struct InterimState {
    /// How many questions are through.
    through: usize,
    /// How many interim analyses were taken.
    taken: usize,
    /// The analysis at which every gate was sure.
    sure: Option<InterimAnalysis>,
    /// Gates that were green at an interim analysis.
    green: Vec<String>,
}

impl InterimAnalyses {
    /// For a run of all samples with a gate that may stop early. Such a run has its own order, by the seed of an
    /// earlier part or a new one. `None` where everything is asked anyway: without a baseline, or if each sample needs
    /// a verdict.
    pub(in crate::run) fn of(
        plan: &Plan,
        selected: &mut Selected,
        seed: Option<u32>,
    ) -> Option<Self> {
        let stops_early = plan.gates.iter().any(Gate::stops_early);
        let is_whole = selected.samples() == plan.items.len() && !plan.is_limited();
        let decides = plan.eval.snapshot.assert.decides();
        if !stops_early || !is_whole || decides || plan.baseline.is_none() {
            return None;
        }
        let seed = seed.unwrap_or_else(random);
        let ends = selected.shuffle_groups(u64::from(seed), |place| {
            // A changed row is reported when it is asked.
            plan.cluster(&plan.items[place].sample().ok()?)
        });
        Some(Self::at(seed, &ends, plan.trials()))
    }

    /// Places the analyses at the ends of groups; `ends` has the number of samples up to each.
    fn at(seed: u32, ends: &[usize], trials: usize) -> Self {
        let all = ends.last().copied().unwrap_or(0);
        let mut stops: Vec<EarlyStop> = Vec::new();
        for (place, analysis) in stats::analysis_points(all as u64)
            .into_iter()
            .zip(analyses())
        {
            let place = usize::try_from(place).unwrap_or(all);
            let end = ends[ends.partition_point(|end| *end < place)];
            let questions = end * trials;
            // Of two analyses of the same samples, the later knows more.
            stops.pop_if(|last| last.questions == questions);
            if end < all {
                stops.push(EarlyStop {
                    analysis,
                    questions,
                });
            }
        }
        Self {
            seed,
            stops,
            state: Mutex::default(),
            taken: Condvar::new(),
        }
    }

    /// Waits until the question at this position may be asked; `false` if it never will.
    pub(in crate::run) fn wait_for_turn(&self, turn: usize, is_stopped: impl Fn() -> bool) -> bool {
        let mut state = lock(&self.state);
        loop {
            if state.sure.is_some() || is_stopped() {
                return false;
            }
            let next = self.stops.get(state.taken);
            if next.is_none_or(|stop| turn < stop.questions) {
                return true;
            }
            let waited = self.taken.wait_timeout(state, POLL_INTERVAL);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Counts a finished question. A caller that gets an analysis must run it and report with [`take`](Self::take).
    pub(in crate::run) fn through(&self) -> Option<InterimAnalysis> {
        let mut state = lock(&self.state);
        state.through += 1;
        let next = self.stops.get(state.taken)?;
        (state.through == next.questions).then_some(next.analysis)
    }

    /// Records a finished analysis; the run continues unless every gate was sure.
    pub(in crate::run) fn take(&self, analysis: InterimAnalysis, found: InterimFindings) {
        let mut state = lock(&self.state);
        state.taken += 1;
        if found.is_sure {
            state.sure = Some(analysis);
        } else {
            // The result of the final analysis is reported on its own.
            state.green.extend(found.green);
            state.green.sort();
            state.green.dedup();
        }
        self.taken.notify_all();
    }

    /// The gates that were green at an analysis, and stay so.
    pub(in crate::run) fn green(&self) -> Vec<String> {
        lock(&self.state).green.clone()
    }

    /// The analysis that the run ended at: the last, unless every gate was sure earlier.
    pub(in crate::run) fn last(&self) -> InterimAnalysis {
        let sure = lock(&self.state).sure;
        sure.unwrap_or_else(last)
    }
}

/// All analyses, the last of them at all samples.
fn analyses() -> impl Iterator<Item = InterimAnalysis> {
    let of = last().of;
    (1..=of).map(move |number| InterimAnalysis::new(number, of))
}

/// The analysis of all samples.
pub(in crate::run) fn last() -> InterimAnalysis {
    let of = u32::try_from(stats::ANALYSES).unwrap_or(u32::MAX);
    InterimAnalysis::new(of, of)
}

fn random() -> u32 {
    use std::hash::{BuildHasher, Hasher};
    // `RandomState` is seeded by the operating system.
    let random = std::hash::RandomState::new().build_hasher().finish();
    u32::try_from(random >> 32).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stops(ends: &[usize], epochs: usize) -> Vec<(u32, usize)> {
        let analyses = InterimAnalyses::at(0, ends, epochs);
        let stops = analyses.stops.iter();
        stops
            .map(|stop| (stop.analysis.number, stop.questions))
            .collect()
    }

    #[test]
    fn analyses_are_at_the_ends_of_groups() {
        let single = |count| (1..=count).collect::<Vec<_>>();
        assert_eq!(stops(&single(165), 1), [(1, 75), (2, 99), (3, 124)]);
        assert_eq!(stops(&single(20), 5), [(1, 45), (2, 60), (3, 75)]);
        assert_eq!(stops(&[8, 16, 24, 32], 1), [(1, 16), (3, 24)]);
        // The second analysis is at the end of the group that contains the first.
        assert_eq!(stops(&[20, 30, 32], 1), [(2, 20), (3, 30)]);
        assert_eq!(stops(&[31, 32], 1), [(3, 31)]);
        assert_eq!(stops(&[32], 1), []);
        assert_eq!(stops(&[1], 3), []);
        assert_eq!(stops(&[1, 2], 1), [(1, 1)]);
    }

    #[test]
    fn questions_wait_for_an_analysis_that_is_due() {
        let analyses = InterimAnalyses::at(0, &(1..=20).collect::<Vec<_>>(), 1);
        let going = || false;
        assert!(analyses.wait_for_turn(0, going) && analyses.wait_for_turn(8, going));
        // Stopped meanwhile.
        assert!(!analyses.wait_for_turn(9, || true));
        let through = |count| (0..count).find_map(|_| analyses.through());
        assert_eq!(through(8), None);
        let analysis = through(1).unwrap();
        assert_eq!(analysis.number, 1);
        let open = |green: &[&str]| InterimFindings {
            is_sure: false,
            green: green.iter().map(|&name| name.to_owned()).collect(),
        };
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| analyses.wait_for_turn(9, going));
            analyses.take(analysis, open(&["b"]));
            assert!(waits.join().unwrap());
        });
        assert_eq!(analyses.last(), last());
        analyses.take(through(3).unwrap(), open(&["a", "b"]));
        assert_eq!(analyses.green(), ["a", "b"]);
        let analysis = through(3).unwrap();
        let found = InterimFindings {
            is_sure: true,
            ..open(&["c"])
        };
        analyses.take(analysis, found);
        assert!(!analyses.wait_for_turn(15, going) && !analyses.wait_for_turn(19, going));
        assert_eq!((analyses.last().number, analyses.green().len()), (3, 2));
    }
}
