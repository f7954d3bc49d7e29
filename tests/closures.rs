//! Agents and scorers in Rust that panic, fail, hang: each fault stays with its sample.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use evaltest::{
    Agent, AgentError, Answer, Benchmark, Error, Errors, Eval, Exit, FailureKind, Gate, Output,
    Record, Result, Run, Sample, Score, Scorer, Status, Task, Verdict,
};

/// Samples `0`, `1`, …, each with its id for an answer.
struct Numbers(usize);

impl Benchmark for Numbers {
    fn name(&self) -> &'static str {
        "numbers"
    }

    fn samples(&self) -> Result<Vec<Sample>> {
        let sample =
            |n: usize| Sample::new(n.to_string(), format!("Say {n}.")).target(n.to_string());
        Ok((0..self.0).map(sample).collect())
    }

    fn score(&self, sample: &Sample, output: &Output) -> Result<Score> {
        let target = sample.target.as_ref().and_then(|target| target.0.as_str());
        Ok(Score::binary(output.text.as_deref() == target))
    }
}

/// Runs an eval in a folder of its own, and reads the records with their outputs back.
fn run(eval: Eval) -> (Run, Vec<Record>) {
    let folder = tempfile::tempdir().unwrap();
    let eval = eval
        .output_root(folder.path())
        .snapshots(folder.path().join("snapshots"));
    let run = eval.run().unwrap();
    let records = run
        .whole_records()
        .unwrap()
        .collect::<Result<Vec<_>>>()
        .unwrap();
    assert_eq!(records.len(), run.records.len());
    (run, records)
}

/// Tries with this much time and, where that was too little for what has to happen first, with twice as much.
fn given_time<T>(first: Duration, mut attempt: impl FnMut(Duration) -> Option<T>) -> T {
    let mut time = first;
    loop {
        if let Some(done) = attempt(time) {
            return done;
        }
        assert!(time < Duration::from_mins(2), "not even {time:?} is enough");
        time *= 2;
    }
}

fn status(records: &[Record], id: &str) -> Status {
    let record = records.iter().find(|record| record.sample_id == id);
    record.unwrap().result.status
}

fn with_status(records: &[Record], status: Status) -> usize {
    records
        .iter()
        .filter(|record| record.result.status == status)
        .count()
}

/// The agent that answers well.
#[expect(clippy::unnecessary_wraps, reason = "so are agents shaped")]
fn says_id(task: &Task) -> Result<Output, AgentError> {
    Ok(task.id().into())
}

#[test]
fn an_agent_that_panics_fails_its_sample() {
    let agent = |task: &Task| {
        assert!(task.id() != "2", "no way to say {}", task.id());
        says_id(task)
    };
    let (run, records) = run(Eval::new(Numbers(5), agent).concurrency(2));
    assert_eq!((run.summary.correct, run.summary.errors), (4, 1));
    let error = records[2].result.error.as_ref().unwrap();
    assert_eq!(error.kind, FailureKind::Panicked);
    assert!(error.message.contains("no way to say 2"), "{error:?}");
    // One of five is more than the gate on errors allows that every eval has.
    assert_eq!(run.summary.exit_code, Exit::Infrastructure);
}

#[test]
fn an_agent_that_keeps_deadlines_and_panics_fails_its_sample() {
    struct Panics;
    impl Agent for Panics {
        fn answer(&self, task: &Task) -> Result<Output, AgentError> {
            assert!(task.id() != "1", "on the worker's own thread");
            says_id(task)
        }
        fn keeps_deadline(&self) -> bool {
            true
        }
    }
    let (run, records) = run(Eval::new(Numbers(3), Panics).concurrency(1));
    assert_eq!(run.summary.correct, 2);
    assert_eq!(status(&records, "1"), Status::AgentFailed);
}

#[test]
fn a_panic_is_repeated_and_a_wrong_answer_is_not() {
    let requested = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&requested);
    let agent = move |task: &Task| {
        count.fetch_add(1, Ordering::SeqCst);
        assert!(task.id() != "0" || task.attempt() == 2, "not yet");
        Ok::<Output, AgentError>(if task.id() == "1" {
            "wrong".into()
        } else {
            task.id().into()
        })
    };
    let (run, records) = run(Eval::new(Numbers(2), agent).retries(3, Duration::ZERO));
    assert_eq!(requested.load(Ordering::SeqCst), 3);
    assert_eq!(records[0].result.attempts, 2);
    assert_eq!(records[1].result.attempts, 1);
    assert_eq!((run.summary.correct, run.summary.errors), (1, 0));
}

/// Judges well, but for the samples of which the answer says otherwise.
struct Moody;

impl Scorer for Moody {
    fn name(&self) -> &'static str {
        "moody"
    }

    fn score(&self, answer: &Answer<'_>) -> Result<Score> {
        match answer.prediction {
            Some("1") => Err(Error::usage("cannot judge this")),
            Some("2") => panic!("out of my mind"),
            Some("3") => Ok(Score::new(f64::NAN, true, "exact_match")),
            other => Ok(Score::binary(other == answer.target.0.as_str())),
        }
    }
}

#[test]
fn a_scorer_that_fails_makes_no_wrong_answer() {
    let eval = Eval::new(Numbers(5), says_id).scorer(Moody).concurrency(1);
    let (run, records) = run(eval
        .gate("error_rate <= 0.02".parse().unwrap())
        .gate(Gate::accuracy(0.9)));
    for (id, message) in [
        ("1", "cannot judge this"),
        ("2", "out of my mind"),
        ("3", "is not a number"),
    ] {
        let record = records
            .iter()
            .find(|record| record.sample_id == id)
            .unwrap();
        assert_eq!(record.result.status, Status::ScorerFailed);
        assert_eq!(record.result.score, None);
        let error = record.result.error.as_ref().unwrap();
        assert!(error.message.starts_with("scorer `moody`: "), "{error:?}");
        assert!(error.message.contains(message), "{error:?}");
        let text = record
            .result
            .output
            .as_ref()
            .and_then(|output| output.text.as_deref());
        assert_eq!(text, Some(id), "the answer is kept");
    }
    assert_eq!(
        (run.summary.scored, run.summary.correct, run.summary.errors),
        (2, 2, 3)
    );
    assert_eq!(
        run.summary.accuracy,
        Some(1.0),
        "errors are in no denominator"
    );
    let verdicts: Vec<_> = run.summary.gates.iter().map(|gate| gate.verdict).collect();
    assert_eq!(verdicts, [Verdict::Failed, Verdict::Inconclusive]);
    assert_eq!(run.summary.exit_code, Exit::Infrastructure);
}

#[test]
fn a_scorer_that_does_not_decide_fails_nothing() {
    struct Plain;
    impl Scorer for Plain {
        fn name(&self) -> &'static str {
            "plain"
        }
        fn score(&self, answer: &Answer<'_>) -> Result<Score> {
            Ok(Score::binary(answer.prediction == answer.target.0.as_str()))
        }
    }
    let (run, records) = run(Eval::new(Numbers(4), says_id).scorer(Plain).scorer(Moody));
    assert_eq!((run.summary.correct, run.summary.errors), (4, 0));
    assert!(
        records[2].result.scores["moody"]["error"]
            .as_str()
            .unwrap()
            .contains("out of my mind")
    );
}

#[test]
fn an_agent_that_hangs_times_out() {
    // Sample 1 works for ever, but asks whether it may.
    let agent = |task: &Task| {
        while task.id() == "1" && !task.is_cancelled() {
            std::thread::sleep(Duration::from_millis(5));
        }
        says_id(task)
    };
    let (run, records) = given_time(Duration::from_millis(100), |time| {
        let eval = Eval::new(Numbers(6), agent).timeout(time).concurrency(2);
        let (run, records) = run(eval.retries(3, Duration::ZERO));
        // The others have time, however busy the machine is.
        (with_status(&records, Status::TimedOut) == 1).then_some((run, records))
    });
    assert_eq!(status(&records, "1"), Status::TimedOut);
    assert_eq!(records[1].result.attempts, 1, "a timeout is not repeated");
    assert_eq!(with_status(&records, Status::Scored), 5);
    assert_eq!(
        (run.stop_reason, run.summary.exit_code),
        (None, Exit::Infrastructure)
    );
}

#[test]
fn more_hanging_attempts_than_concurrency_stop_the_run() {
    let release = Arc::new(AtomicBool::new(false));
    let hold = Arc::clone(&release);
    let agent = move |task: &Task| {
        // Deaf to `is_cancelled`.
        while task.id() != "0" && !hold.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
        }
        says_id(task)
    };
    let agent = Arc::new(agent);
    let (run, records) = given_time(Duration::from_millis(50), |time| {
        let agent = Arc::clone(&agent);
        let agent = move |task: &Task| agent(task);
        let (run, records) = run(Eval::new(Numbers(20), agent).timeout(time).concurrency(2));
        (status(&records, "0") == Status::Scored).then_some((run, records))
    });
    // Nobody waited for those that hang: they would until now.
    release.store(true, Ordering::SeqCst);
    assert_eq!(run.summary.exit_code, Exit::Infrastructure);
    assert!(
        run.stop_reason
            .unwrap()
            .contains("a closure cannot be killed")
    );
    assert_eq!(status(&records, "0"), Status::Scored);
    let timed_out = with_status(&records, Status::TimedOut);
    assert!((3..=4).contains(&timed_out), "{timed_out} timed out");
    assert_eq!(with_status(&records, Status::Skipped), 19 - timed_out);
}

#[test]
fn an_answer_that_is_too_long_fails_its_sample() {
    let agent = |task: &Task| {
        Ok::<Output, AgentError>(if task.id() == "1" {
            "x".repeat(2 << 20).into()
        } else {
            task.id().into()
        })
    };
    let (run, records) = run(Eval::new(Numbers(3), agent));
    assert_eq!(
        records[1].result.error.as_ref().unwrap().kind,
        FailureKind::OutputTooLarge
    );
    assert_eq!((run.summary.correct, run.summary.errors), (2, 1));
}

#[test]
fn an_agent_that_is_asked_too_often_is_left_alone_and_loses_no_sample() {
    // Three at a time; the fourth is refused.
    let (at_once, refusals) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&refusals);
    // When each was asked first, and when it answered, if it was refused in between.
    let spans: Arc<Mutex<HashMap<String, (Instant, Duration)>>> = Arc::default();
    let noted = Arc::clone(&spans);
    let agent = move |task: &Task| {
        let requested = Instant::now();
        let others = at_once.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(5));
        at_once.fetch_sub(1, Ordering::SeqCst);
        if others >= 3 {
            counted.fetch_add(1, Ordering::SeqCst);
            let mut spans = noted.lock().unwrap();
            let first = (requested, Duration::ZERO);
            spans.entry(task.id().to_owned()).or_insert(first);
            let pause = Some(Duration::from_millis(20));
            return Err(AgentError::rate_limited("429", pause));
        }
        if let Some((first, span)) = noted.lock().unwrap().get_mut(task.id()) {
            *span = first.elapsed();
        }
        says_id(task)
    };
    // One retry: a refusal does not count as one.
    let eval = Eval::new(Numbers(60), agent)
        .concurrency(32)
        .retries(1, Duration::from_millis(1));
    let (run, records) = run(eval);
    assert_eq!((run.summary.correct, run.summary.errors), (60, 0));
    let refusals = refusals.load(Ordering::SeqCst);
    let attempts: u32 = records.iter().map(|record| record.result.attempts).sum();
    assert_eq!(attempts as usize, 60 + refusals);
    assert!((3..200).contains(&refusals), "it backs off: {refusals}");
    let spans = spans.lock().unwrap();
    let is_short = |record: &Record| {
        let span = spans.get(&record.sample_id).map(|(_, span)| span);
        span.is_some_and(|span| record.result.latency_s < span.as_secs_f64())
    };
    assert!(records.iter().any(is_short), "waiting is no latency");
}

#[test]
fn what_a_closure_fails_at_may_count_as_wrong() {
    let agent = |task: &Task| match task.id() {
        "1" => panic!("lost"),
        "2" => Err(AgentError::new("no key")),
        "3" => Err(AgentError::of(FailureKind::Unreachable, "nobody there")),
        _ => says_id(task),
    };
    let eval = Eval::new(Numbers(40), agent).errors(Errors::Wrong);
    let (run, records) = run(eval);
    let summary = &run.summary;
    assert_eq!(
        (summary.scored, summary.correct, summary.errors),
        (39, 37, 1)
    );
    assert_eq!(summary.failed_as_wrong, 2);
    assert_eq!(status(&records, "3"), Status::AgentFailed);
    let result = &records[1].result;
    assert_eq!(result.status, Status::Scored);
    assert_eq!(result.score.as_ref().unwrap().reason, "agent_failed");
    assert_eq!(result.error.as_ref().unwrap().kind, FailureKind::Panicked);
    assert_eq!(summary.exit_code, Exit::Passed);
}

#[test]
fn a_closure_that_fails_alike_from_the_start_stops_the_run() {
    let broken = |_: &Task| Err(AgentError::new("no key"));
    let (run, _) = run(Eval::new(Numbers(40), broken).concurrency(1));
    let reason = run.stop_reason.unwrap();
    assert!(
        reason.contains("the first 10 attempts failed in the same way: no key"),
        "{reason}"
    );
    assert_eq!(run.summary.attempts, 10);
}

/// The body of a POST to a model's API.
#[cfg(feature = "http")]
fn post(base_url: &str) -> std::io::Result<String> {
    use std::io::{Read, Write};

    let rest = base_url.trim_start_matches("http://");
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = std::net::TcpStream::connect(host)?;
    let request = format!(
        "POST /{path}/chat/completions HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{{}}"
    );
    stream.write_all(request.as_bytes())?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply)?;
    Ok(reply
        .split("\r\n\r\n")
        .nth(1)
        .unwrap_or_default()
        .to_owned())
}

#[cfg(feature = "http")]
#[test]
fn calls_of_a_closure_are_recorded_and_replayed() {
    use std::io::{Read, Write};

    use evaltest::agent::{Provider, RecordMode, RecordedCalls};

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let called = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&called);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let number = count.fetch_add(1, Ordering::SeqCst).to_string();
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let length = number.len();
            let reply = format!(
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{number}"
            );
            let _ = stream.write_all(reply.as_bytes());
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let calls = RecordedCalls::new()
        .path(folder.path())
        .upstream(Provider::OpenAi, url);
    let answers = |mode: RecordMode| {
        let agent = |task: &Task| {
            let url = task.base_url("openai").expect("a base URL");
            Ok(Output::text(post(url)?))
        };
        let eval = Eval::new(Numbers(8), agent).record(calls.clone().mode(mode));
        let (_, records) = run(eval);
        let text = |record: &Record| {
            let output = record.result.output.as_ref();
            (
                output.and_then(|output| output.text.clone()),
                record.result.recorded,
            )
        };
        records.iter().map(text).collect::<Vec<_>>()
    };
    let recorded = answers(RecordMode::Record);
    assert!(
        recorded
            .iter()
            .all(|(text, recorded)| text.is_some() && !recorded)
    );
    let replayed = answers(RecordMode::Replay);
    assert_eq!(called.load(Ordering::SeqCst), 8);
    for ((before, _), (now, is_recorded)) in recorded.iter().zip(&replayed) {
        assert_eq!((before, is_recorded), (now, &true));
    }
}
