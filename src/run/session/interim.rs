//! `Looks`: pauses a run for interim analyses that may end it early.
//!
//! Gates with `early_stop` analyse the samples so far up to four times. An analysis covers exactly the samples before
//! it, so no later one starts until it is taken: questions in flight finish first.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::select::Selected;
use crate::eval::plan::Plan;
use crate::stats;
use crate::system::lock::lock;
use crate::verdict::check::LookFindings;
use crate::verdict::gate::Gate;
use crate::verdict::look::EarlyLook;

/// How often a waiter checks whether the run was stopped.
const PATIENCE: Duration = Duration::from_millis(50);

/// The interim analyses of a run, except the last.
pub(in crate::run) struct Looks {
    /// The seed of the order in which samples are asked.
    pub(in crate::run) seed: u32,
    stops: Vec<LookStop>,
    state: Mutex<LookState>,
    taken: Condvar,
}

/// The position of an interim analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LookStop {
    look: EarlyLook,
    /// Taken when this many questions are through.
    questions: usize,
}

#[derive(Default)]
struct LookState {
    /// How many questions are through.
    through: usize,
    /// How many interim analyses were taken.
    taken: usize,
    /// The analysis at which every gate was sure.
    sure: Option<EarlyLook>,
    /// Gates that were green at an interim analysis.
    green: Vec<String>,
}

impl Looks {
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
        Some(Self::at(seed, &ends, plan.eval.epochs as usize))
    }

    /// Places the analyses at the ends of groups; `ends` has the number of samples up to each.
    fn at(seed: u32, ends: &[usize], epochs: usize) -> Self {
        let all = ends.last().copied().unwrap_or(0);
        let mut stops: Vec<LookStop> = Vec::new();
        for (place, look) in stats::places_of_looks(all as u64).into_iter().zip(looks()) {
            let place = usize::try_from(place).unwrap_or(all);
            let end = ends[ends.partition_point(|end| *end < place)];
            let questions = end * epochs;
            // Of two analyses of the same samples, the later knows more.
            stops.pop_if(|last| last.questions == questions);
            if end < all {
                stops.push(LookStop { look, questions });
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
    pub(in crate::run) fn admit(&self, turn: usize, is_stopped: impl Fn() -> bool) -> bool {
        let mut state = lock(&self.state);
        loop {
            if state.sure.is_some() || is_stopped() {
                return false;
            }
            let next = self.stops.get(state.taken);
            if next.is_none_or(|stop| turn < stop.questions) {
                return true;
            }
            let waited = self.taken.wait_timeout(state, PATIENCE);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Counts a finished question. A caller that gets an analysis must run it and report with [`take`](Self::take).
    pub(in crate::run) fn through(&self) -> Option<EarlyLook> {
        let mut state = lock(&self.state);
        state.through += 1;
        let next = self.stops.get(state.taken)?;
        (state.through == next.questions).then_some(next.look)
    }

    /// Records a finished analysis; the run continues unless every gate was sure.
    pub(in crate::run) fn take(&self, look: EarlyLook, found: LookFindings) {
        let mut state = lock(&self.state);
        state.taken += 1;
        if found.is_sure {
            state.sure = Some(look);
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
    pub(in crate::run) fn last(&self) -> EarlyLook {
        let sure = lock(&self.state).sure;
        sure.unwrap_or_else(last)
    }
}

/// All analyses, the last of them at all samples.
fn looks() -> impl Iterator<Item = EarlyLook> {
    let of = last().of;
    (1..=of).map(move |number| EarlyLook::new(number, of))
}

/// The analysis of all samples.
pub(in crate::run) fn last() -> EarlyLook {
    let of = u32::try_from(stats::LOOKS).unwrap_or(u32::MAX);
    EarlyLook::new(of, of)
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
        let looks = Looks::at(0, ends, epochs);
        let stops = looks.stops.iter();
        stops
            .map(|stop| (stop.look.number, stop.questions))
            .collect()
    }

    #[test]
    fn looks_are_at_the_ends_of_groups() {
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
    fn nobody_passes_a_look_that_was_not_taken() {
        let looks = Looks::at(0, &(1..=20).collect::<Vec<_>>(), 1);
        let going = || false;
        assert!(looks.admit(0, going) && looks.admit(8, going));
        // Stopped meanwhile.
        assert!(!looks.admit(9, || true));
        let through = |count| (0..count).find_map(|_| looks.through());
        assert_eq!(through(8), None);
        let look = through(1).unwrap();
        assert_eq!(look.number, 1);
        let open = |green: &[&str]| LookFindings {
            is_sure: false,
            green: green.iter().map(|&name| name.to_owned()).collect(),
        };
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| looks.admit(9, going));
            looks.take(look, open(&["b"]));
            assert!(waits.join().unwrap());
        });
        assert_eq!(looks.last(), last());
        looks.take(through(3).unwrap(), open(&["a", "b"]));
        assert_eq!(looks.green(), ["a", "b"]);
        let look = through(3).unwrap();
        let found = LookFindings {
            is_sure: true,
            ..open(&["c"])
        };
        looks.take(look, found);
        assert!(!looks.admit(15, going) && !looks.admit(19, going));
        assert_eq!((looks.last().number, looks.green().len()), (3, 2));
    }
}
