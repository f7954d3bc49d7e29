//! `QuestionOrder`: lets questions through in the order of their tickets, whichever is ready first.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use crate::system::lock;

/// How often a waiter checks whether the wait is over.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Tracks which tickets went through.
#[derive(Default)]
pub(in crate::run) struct QuestionOrder {
    /// The next ticket for callers without a number.
    issued: AtomicUsize,
    through: Mutex<Through>,
}

#[derive(Default)]
struct Through {
    /// All tickets before this one are through,
    next: usize,
    /// and these, which went early.
    early: BTreeSet<usize>,
    /// The waiters: each is woken only for its own turn.
    waiting: BTreeMap<usize, Arc<Condvar>>,
}

/// The right to go through, in turn. Dropping it also counts, so that later tickets never wait for ever.
pub(in crate::run) struct Permit<'a> {
    gate: &'a QuestionOrder,
    number: usize,
}

impl QuestionOrder {
    /// The ticket of this turn, if tickets go by number; otherwise the next one.
    pub(in crate::run) fn permit(&self, turn: Option<usize>) -> Permit<'_> {
        let next = || self.issued.fetch_add(1, Ordering::Relaxed);
        Permit {
            gate: self,
            number: turn.unwrap_or_else(next),
        }
    }
}

impl Permit<'_> {
    /// Waits until all earlier tickets are through; `false` if `is_over` becomes true first.
    pub(in crate::run) fn wait(&self, is_over: impl Fn() -> bool) -> bool {
        let mut through = lock(&self.gate.through);
        if through.next >= self.number {
            return true;
        }
        let turn = Arc::<Condvar>::default();
        through.waiting.insert(self.number, Arc::clone(&turn));
        let is_through = loop {
            if is_over() {
                break false;
            }
            let waited = turn.wait_timeout(through, POLL_INTERVAL);
            through = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
            if through.next >= self.number {
                break true;
            }
        };
        through.waiting.remove(&self.number);
        is_through
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut through = lock(&self.gate.through);
        through.early.insert(self.number);
        while let Some(next) = through.early.first().copied()
            && next <= through.next
        {
            through.early.pop_first();
            through.next = through.next.max(next + 1);
        }
        let next = through.next;
        let whose_turn = through.waiting.range(..=next);
        let whose_turn: Vec<_> = whose_turn.map(|(_, turn)| Arc::clone(turn)).collect();
        drop(through);
        for turn in whose_turn {
            turn.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_go_through_in_order_however_they_come() {
        let gate = QuestionOrder::default();
        let order = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for turn in [3, 1, 2, 0] {
                let (gate, order) = (&gate, &order);
                scope.spawn(move || {
                    let permit = gate.permit(Some(turn));
                    assert!(permit.wait(|| false));
                    lock(order).push(turn);
                });
            }
        });
        assert_eq!(*lock(&order), [0, 1, 2, 3]);
    }

    #[test]
    fn who_waits_for_nobody_any_more_is_let_go() {
        let gate = QuestionOrder::default();
        assert!(!gate.permit(Some(1)).wait(|| true));
        assert!(gate.permit(Some(0)).wait(|| true));
        // A ticket that gave up counts as through.
        assert!(gate.permit(Some(2)).wait(|| true));
        let [first, second] = [gate.permit(None), gate.permit(None)];
        assert_eq!((first.number, second.number), (0, 1));
    }
}
