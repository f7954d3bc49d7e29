//! Threads that work on items side by side and give their results in the order of the items.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use crate::error::{Error, Result};

/// Items that wait for a worker, or their results for the caller.
const WAITING: usize = 4;

/// Applies `work` to all items on all processors; `take` is given the results in order, on this thread. The
/// first error of either iterator or `take` ends it. A fixed number of items is in memory.
pub(crate) fn in_order<I, O>(
    mut items: impl Iterator<Item = Result<I>>,
    work: impl Fn(I) -> O + Sync,
    mut take: impl FnMut(O) -> Result<()>,
) -> Result<()>
where
    I: Send,
    O: Send,
{
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let mut workers: Vec<(SyncSender<I>, Receiver<O>)> = Vec::new();
        for _ in 0..threads {
            let (input, todo) = sync_channel::<I>(WAITING);
            let (done, output) = sync_channel::<O>(WAITING);
            let work = &work;
            let worker = move || {
                for item in todo {
                    if done.send(work(item)).is_err() {
                        return;
                    }
                }
            };
            if thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                break;
            }
            workers.push((input, output));
        }
        if workers.is_empty() {
            return items.try_for_each(|item| take(work(item?)));
        }
        let mut take = |turn: usize| match workers[turn % workers.len()].1.recv() {
            Ok(result) => take(result),
            Err(_) => Err(Error::infrastructure("a thread has panicked")),
        };
        // What each worker was dealt less what was taken from it never exceeds the room in its queues.
        let most = workers.len() * WAITING;
        let (mut dealt, mut taken) = (0, 0);
        for item in items {
            if dealt - taken == most {
                take(taken)?;
                taken += 1;
            }
            // A worker that is gone is noticed when its results are taken.
            let _ = workers[dealt % workers.len()].0.send(item?);
            dealt += 1;
        }
        (taken..dealt).try_for_each(take)
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let slow_at_times = |item: u64| {
            thread::sleep(Duration::from_micros(item * 7919 % 300));
            item * 2
        };
        let mut got = Vec::new();
        let take = |result| {
            got.push(result);
            Ok(())
        };
        in_order((0..100).map(Ok), slow_at_times, take).expect("no error");
        assert_eq!(got, (0..100).map(|item| item * 2).collect::<Vec<_>>());
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
}
