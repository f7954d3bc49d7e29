//! Threads that work on items side by side and give their results in the order of the items.
//!
//! The items are dealt to the workers in turn, and the results collected in the same turn; that keeps the
//! order without a table of what is outstanding. Every queue holds one item, which bounds the memory.

use std::io;
use std::num::NonZeroUsize;
use std::panic;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{Builder, JoinHandle};

/// The results of several threads.
///
/// Dropped early, it leaves the threads to end by themselves: the one that reads may be blocked for ever
/// in a terminal or a pipe. The work goes with it, and what that holds, such as a process that judges; but a
/// thread that is in the middle of an item ends that first.
pub(crate) struct InOrder<O> {
    workers: Vec<(Receiver<O>, Option<JoinHandle<()>>)>,
    turn: usize,
    /// The threads borrow it for each item.
    _work: Arc<dyn Send + Sync>,
}

/// Applies `work` to all items on as many threads as given, beside one that takes the items. A single one
/// is this thread, which does all of it: nothing is handed over then.
pub(crate) fn in_order<I, O>(
    threads: NonZeroUsize,
    items: impl Iterator<Item = I> + Send + 'static,
    work: impl Fn(I) -> O + Send + Sync + 'static,
) -> io::Result<Box<dyn Iterator<Item = O>>>
where
    I: Send + 'static,
    O: Send + 'static,
{
    if threads == NonZeroUsize::MIN {
        return Ok(Box::new(items.map(work)));
    }
    let work = Arc::new(work);
    let mut inputs = Vec::new();
    let mut workers = Vec::new();
    for _ in 0..threads.get() {
        let (input, items) = sync_channel::<I>(1);
        let (results, output) = sync_channel(1);
        let work = Arc::downgrade(&work);
        let worker = Builder::new().name("score".into()).spawn(move || {
            for item in items {
                let Some(result) = work.upgrade().map(|work| work(item)) else {
                    return;
                };
                if results.send(result).is_err() {
                    return;
                }
            }
        })?;
        inputs.push(input);
        workers.push((output, Some(worker)));
    }
    Builder::new().name("read".into()).spawn(move || {
        for (input, item) in (0..inputs.len()).cycle().zip(items) {
            if inputs[input].send(item).is_err() {
                return;
            }
        }
    })?;
    Ok(Box::new(InOrder {
        workers,
        turn: 0,
        _work: work,
    }))
}

impl<O> Iterator for InOrder<O> {
    type Item = O;

    fn next(&mut self) -> Option<O> {
        let turn = self.turn;
        self.turn = (turn + 1) % self.workers.len();
        let (output, worker) = &mut self.workers[turn];
        if let Ok(result) = output.recv() {
            return Some(result);
        }
        // The worker has ended: either there was no item left for it, or it panicked. A panic that went
        // unnoticed would look like the end of the input.
        self.turn = turn;
        if let Some(Err(panic)) = worker.take().map(JoinHandle::join) {
            panic::resume_unwind(panic);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn threads(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).expect("not zero")
    }

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for count in [1, 2, 3, 8] {
            let slow_at_times = |item: u64| {
                std::thread::sleep(Duration::from_micros(item * 7919 % 300));
                item * 2
            };
            let got: Vec<u64> = in_order(threads(count), 0..100, slow_at_times)
                .expect("threads")
                .collect();
            assert_eq!(got, (0..100).map(|item| item * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_end_comes_once_and_stays() {
        let mut results = in_order(threads(2), 0..3, |item| item).expect("threads");
        assert_eq!(results.by_ref().count(), 3);
        assert_eq!(results.next(), None);
    }

    #[test]
    #[should_panic(expected = "at item 5")]
    fn a_panic_is_not_taken_for_the_end() {
        let work = |item: i32| assert!(item != 5, "at item {item}");
        in_order(threads(2), 0..100, work)
            .expect("threads")
            .for_each(drop);
    }
}
