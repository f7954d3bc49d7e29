//! Async closures as agents, also inside a runtime.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use evaltest::Gaia;
use evaltest::agent::asynchronous;
use evaltest::{Agent, Assert, Eval, FailureKind, Output, Run, Status, Task};
use tokio::runtime::Builder;

const SAMPLES: u32 = 60;

/// Runs an eval of `SAMPLES` questions that are their own answers, in a folder of its own.
fn run(agent: impl Agent + 'static, change: impl FnOnce(Eval) -> Eval) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let line = |number: u32| {
        format!(
            r#"{{"task_id":"q{number}","Question":"{number}","Level":1,"Final answer":"{number}","file_name":""}}"#
        )
    };
    let lines: Vec<_> = (0..SAMPLES).map(line).collect();
    let data = folder.path().join("data.jsonl");
    std::fs::write(&data, lines.join("\n")).unwrap();
    let eval = Eval::new(Gaia::open(data).unwrap(), agent)
        .assert(Assert::Off)
        .output_root(folder.path().join("runs"))
        .snapshots(folder.path().join("snapshots"));
    change(eval).run().unwrap()
}

async fn slowly(task: &Task) -> Result<Output, evaltest::AgentError> {
    tokio::time::sleep(Duration::from_millis(50)).await;
    Ok(task.question().into())
}

#[test]
fn as_many_are_asked_at_once_as_the_limit_allows() {
    static NOW: AtomicUsize = AtomicUsize::new(0);
    static MOST: AtomicUsize = AtomicUsize::new(0);
    let agent = asynchronous(async |task: &Task| {
        MOST.fetch_max(NOW.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        // Until they are as many, if ever.
        while MOST.load(Ordering::SeqCst) < 20 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let answer = slowly(task).await;
        NOW.fetch_sub(1, Ordering::SeqCst);
        answer
    });
    let run = run(agent, |eval| eval.concurrency(20));
    assert_eq!(run.summary.correct, u64::from(SAMPLES));
    assert_eq!(MOST.load(Ordering::SeqCst), 20);
}

#[test]
fn an_eval_runs_inside_a_runtime() {
    let current = Builder::new_current_thread().enable_all().build().unwrap();
    let many = Builder::new_multi_thread().enable_all().build().unwrap();
    for runtime in [&current, &many] {
        let run = runtime.block_on(async { run(asynchronous(slowly), |eval| eval) });
        assert_eq!(run.summary.correct, u64::from(SAMPLES));
    }
    // Also with the timers of that runtime, as long as it can go on meanwhile.
    let handle = many.handle().clone();
    let run = many.block_on(async { run(asynchronous(slowly).on(handle), |eval| eval) });
    assert_eq!(run.summary.correct, u64::from(SAMPLES));
}

#[test]
fn tasks_that_an_agent_spawns_go_on() {
    let agent = asynchronous(async |task: &Task| {
        let question = task.question().to_owned();
        let spawned = tokio::spawn(async move {
            tokio::task::yield_now().await;
            question
        });
        Ok(spawned.await?.into())
    });
    assert_eq!(run(agent, |eval| eval).summary.correct, u64::from(SAMPLES));
}

#[test]
fn one_that_is_late_or_panics_or_fails_stays_alone() {
    let agent = || {
        asynchronous(async |task: &Task| match task.question() {
            "3" => {
                tokio::time::sleep(Duration::from_mins(10)).await;
                Ok(Output::default())
            }
            // Blocks its thread, which no drop can end.
            "4" => {
                std::thread::sleep(Duration::from_mins(10));
                Ok(Output::default())
            }
            "5" => panic!("as it happens"),
            "6" => Err("no model".into()),
            _ => slowly(task).await,
        })
    };
    let started = Instant::now();
    let mut time = Duration::from_millis(1500);
    let run = loop {
        let run = run(agent(), |eval| eval.timeout(time).concurrency(8));
        let statuses = run.records.iter().map(|record| record.result.status);
        let late = statuses
            .filter(|status| *status == Status::TimedOut)
            .count();
        if late == 2 || time > Duration::from_mins(1) {
            break run;
        }
        // A busy machine needs more.
        time *= 2;
    };
    assert!(started.elapsed() < Duration::from_mins(5));
    let kinds: Vec<_> = run
        .records
        .iter()
        .filter_map(|record| Some((&*record.sample_id, record.result.error.as_ref()?.kind)))
        .collect();
    let expect = [
        ("q3", FailureKind::TimedOut),
        ("q4", FailureKind::TimedOut),
        ("q5", FailureKind::Panicked),
        ("q6", FailureKind::Failed),
    ];
    assert_eq!(kinds, expect);
    let scored = run
        .records
        .iter()
        .filter(|record| record.result.status == Status::Scored);
    assert_eq!(scored.count(), SAMPLES as usize - 4);
}
