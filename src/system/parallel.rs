//! Processes items on several threads and returns the results in order.
//!
//! Items are distributed to workers round-robin, and results are collected in the same way, which preserves the order
//! without a table. All queues are bounded, which limits memory.
//!
//! `in_order` borrows its work and waits for its threads; [`detached`] owns it and can be dropped early.

use std::io;
use std::num::NonZeroUsize;
use std::panic;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Builder};

use crate::error::{Error, Result};

/// Queue length per worker of [`in_order`]: keeps workers busy while the caller distributes and collects.
const WAITING: usize = 4;

/// Joins a thread.
type Join<'a> = Box<dyn FnOnce() -> thread::Result<()> + 'a>;

/// Distributes items to the workers round-robin.
struct Dealer<I> {
    inputs: Vec<SyncSender<I>>,
    turn: usize,
}

impl<I> Dealer<I> {
    /// Waits for space in the worker's queue. Returns false if the worker is gone.
    fn deal(&mut self, item: I) -> bool {
        let input = &self.inputs[self.turn];
        self.turn = (self.turn + 1) % self.inputs.len();
        input.send(item).is_ok()
    }
}

/// Iterates over the results of several threads in order.
struct InOrder<'a, O> {
    workers: Vec<(Receiver<O>, Option<Join<'a>>)>,
    turn: usize,
}

impl<O> Iterator for InOrder<'_, O> {
    type Item = O;

    fn next(&mut self) -> Option<O> {
        let turn = self.turn;
        let (output, worker) = &mut self.workers[turn];
        if let Ok(result) = output.recv() {
            self.turn = (turn + 1) % self.workers.len();
            return Some(result);
        }
        // The worker ended: it had no more items, or it panicked. Without this check a panic would look like the end
        // of the input.
        if let Some(Err(panic)) = worker.take().map(|join| join()) {
            panic::resume_unwind(panic);
        }
        None
    }
}

/// Spawns workers by `start`; if a spawn fails, returns fewer and the error.
fn workers<'a, I, O>(
    threads: usize,
    waiting: usize,
    mut start: impl FnMut(Receiver<I>, SyncSender<O>) -> io::Result<Join<'a>>,
) -> (Dealer<I>, InOrder<'a, O>, io::Result<()>) {
    let (mut inputs, mut workers) = (Vec::new(), Vec::new());
    let mut started = Ok(());
    for _ in 0..threads {
        let (input, items) = sync_channel(waiting);
        let (results, output) = sync_channel(waiting);
        match start(items, results) {
            Ok(join) => {
                inputs.push(input);
                workers.push((output, Some(join)));
            }
            Err(error) => {
                started = Err(error);
                break;
            }
        }
    }
    (
        Dealer { inputs, turn: 0 },
        InOrder { workers, turn: 0 },
        started,
    )
}

/// A worker's loop, until there are no more items, results are no longer needed, or the work is dropped.
fn work_off<I, O>(
    items: Receiver<I>,
    results: &SyncSender<O>,
    mut work: impl FnMut(I) -> Option<O>,
) {
    for item in items {
        let Some(result) = work(item) else {
            return;
        };
        if results.send(result).is_err() {
            return;
        }
    }
}

/// Applies `work` to all items on all processors; `take` gets the results in order, on this thread. Stops at the first
/// error of the iterator or of `take`. Only a fixed number of items is in memory.
pub(crate) fn in_order<I, O>(
    items: impl Iterator<Item = Result<I>>,
    work: impl Fn(I) -> O + Sync,
    take: impl FnMut(O) -> Result<()>,
) -> Result<()>
where
    I: Send,
    O: Send,
{
    in_order_on(processors(), items, work, take)
}

/// Number of threads for CPU-bound work.
pub(crate) fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The same on `threads` threads, for work that blocks.
pub(crate) fn in_order_on<I, O>(
    threads: usize,
    mut items: impl Iterator<Item = Result<I>>,
    work: impl Fn(I) -> O + Sync,
    mut take: impl FnMut(O) -> Result<()>,
) -> Result<()>
where
    I: Send,
    O: Send,
{
    thread::scope(|scope| {
        let work = &work;
        let start = |items, results| -> io::Result<Join> {
            let worker = move || work_off(items, &results, |item| Some(work(item)));
            let worker = Builder::new().spawn_scoped(scope, worker)?;
            Ok(Box::new(|| worker.join()))
        };
        // Continue with fewer threads.
        let (mut dealer, mut results, _) = workers(threads, WAITING, start);
        let workers = dealer.inputs.len();
        if workers == 0 {
            return items.try_for_each(|item| take(work(item?)));
        }
        let mut take_next = || match results.next() {
            Some(result) => take(result),
            None => Err(Error::infrastructure("a thread has ended early")),
        };
        // The difference of items sent to and taken from a worker never exceeds the capacity of its queues.
        let mut outstanding = 0;
        for item in items {
            if outstanding == workers * WAITING {
                take_next()?;
                outstanding -= 1;
            }
            // A dead worker is noticed when its results are taken.
            dealer.deal(item?);
            outstanding += 1;
        }
        (0..outstanding).try_for_each(|_| take_next())
    })
}

/// The results of [`detached`], which keep the work alive.
struct Detached<O> {
    results: InOrder<'static, O>,
    /// The threads upgrade a weak reference to it for each item.
    _work: Arc<dyn Send + Sync>,
}

impl<O> Iterator for Detached<O> {
    type Item = O;

    fn next(&mut self) -> Option<O> {
        self.results.next()
    }
}

/// Applies `work` to all items on this many threads, plus one that reads the items. With one thread everything runs on
/// the calling thread.
///
/// If the results are dropped early, the threads end by themselves, because the reader may block forever on a terminal
/// or pipe. The work is dropped with the results, including resources such as a judge process, but a thread finishes
/// its current item first.
pub fn detached<I, O>(
    threads: NonZeroUsize,
    items: impl Iterator<Item = I> + Send + 'static,
    work: impl Fn(I) -> O + Send + Sync + 'static,
) -> Result<Box<dyn Iterator<Item = O>>>
where
    I: Send + 'static,
    O: Send + 'static,
{
    if threads == NonZeroUsize::MIN {
        return Ok(Box::new(items.map(work)));
    }
    let failed = |error| Error::refused("start a thread", &error);
    let work = Arc::new(work);
    let start = |items, results| -> io::Result<Join> {
        let work = Arc::downgrade(&work);
        let apply = move |item| work.upgrade().map(|work| work(item));
        let worker = move || work_off(items, &results, apply);
        let worker = Builder::new().name("work".into()).spawn(worker)?;
        Ok(Box::new(|| worker.join()))
    };
    let (mut dealer, results, started) = workers(threads.get(), 1, start);
    started.map_err(failed)?;
    let read = move || {
        let _ = { items }.all(|item| dealer.deal(item));
    };
    let reader = Builder::new().name("read".into()).spawn(read);
    reader.map_err(failed)?;
    Ok(Box::new(Detached {
        results,
        _work: work,
    }))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn slow_at_times(item: u64) -> u64 {
        thread::sleep(Duration::from_micros(item * 7919 % 300));
        item * 2
    }

    fn threads(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).expect("not zero")
    }

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let expect: Vec<_> = (0..100).map(|item| item * 2).collect();
        let mut got = Vec::new();
        let take = |result| {
            got.push(result);
            Ok(())
        };
        in_order((0..100).map(Ok), slow_at_times, take).expect("no error");
        assert_eq!(got, expect);
        for count in [1, 2, 3, 8] {
            let got = detached(threads(count), 0..100, slow_at_times).expect("threads");
            assert_eq!(got.collect::<Vec<_>>(), expect);
        }
    }

    #[test]
    fn an_error_ends_it() {
        let check = |bad_item: u64, bad_result: u64, expect: &str| {
            let item = |item| (item != bad_item).then_some(item);
            let item = |number| item(number).ok_or_else(|| Error::usage("item"));
            let take = |result| {
                let is_fine = (result != bad_result).then_some(());
                is_fine.ok_or_else(|| Error::usage("result"))
            };
            let ended = in_order((0..1000).map(item), |item| item, take);
            assert_eq!(ended.expect_err("an error").message(), expect);
        };
        check(500, 1000, "item");
        check(1000, 500, "result");
        check(0, 1000, "item");
    }

    #[test]
    fn the_end_comes_once_and_stays() {
        let mut results = detached(threads(2), 0..3, |item| item).expect("threads");
        assert_eq!(results.by_ref().count(), 3);
        assert_eq!(results.next(), None);
    }

    #[test]
    #[should_panic(expected = "at item 5")]
    fn a_panic_is_not_taken_for_the_end() {
        let work = |item: i32| assert!(item != 5, "at item {item}");
        detached(threads(2), 0..100, work)
            .expect("threads")
            .for_each(drop);
    }

    #[test]
    #[should_panic(expected = "at item 5")]
    fn a_panic_of_borrowed_work_goes_on_here() {
        let work = |item: i32| assert!(item != 5, "at item {item}");
        let ended = in_order((0..100).map(Ok), work, |()| Ok(()));
        ended.expect("a panic");
    }
}
