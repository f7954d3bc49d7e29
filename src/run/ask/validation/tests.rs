use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::benchmark::{AnswerValidator, ValidationClient};
use crate::run::{RunOptions, RunOrigin, Session};
use crate::store::cache::CacheUse;
use crate::store::files::JOURNAL;
use crate::system::lock;
use crate::{
    Agent, AgentError, Benchmark, Eval, Output, Record, Result, Run, Sample, Score, Task, Usage,
};

/// Asks for words: `bad` is not allowed, and no two may be equal.
struct Words;

/// The words accepted so far.
#[derive(Default)]
struct FreshWords(Mutex<Vec<String>>);

impl Benchmark for Words {
    fn name(&self) -> &'static str {
        "words"
    }

    fn samples(&self) -> Result<Vec<Sample>> {
        let sample = |n: u32| Sample::new(format!("w{n}"), "A word?");
        Ok((0..8).map(sample).collect())
    }

    fn scorer(&self) -> Option<Box<dyn crate::Scorer>> {
        struct NotBad;
        impl crate::Scorer for NotBad {
            fn name(&self) -> &'static str {
                "not_bad"
            }

            fn score(&self, answer: &crate::Answer<'_>) -> Result<Score> {
                Ok(match answer.prediction {
                    Some("bad") | None => Score::new(0.0, false, "bad"),
                    Some(_) => Score::binary(true),
                })
            }

            fn needs_target(&self) -> bool {
                false
            }
        }
        Some(Box::new(NotBad))
    }

    fn validator(&self) -> Option<ValidationClient> {
        Some(ValidationClient(Arc::<FreshWords>::default()))
    }
}

impl AnswerValidator for FreshWords {
    fn again(&self) -> u32 {
        2
    }

    fn note(&self, refused: &Score, again: u32) -> Option<String> {
        Some(format!("Not again ({again}): {}", refused.reason))
    }

    fn second_verdict(&self, _: &Sample, output: &Output, _: &Score) -> Option<Score> {
        let known = lock(&self.0).contains(output.text.as_ref()?);
        known.then(|| Score::new(0.0, false, "known"))
    }

    fn stays(&self, _: &Sample, output: &Output) {
        lock(&self.0).extend(output.text.clone());
    }
}

/// Replies with words. The third and fifth sample reply with a bad word first, the seventh always, and the last first
/// repeats the word of another sample, which is slower.
#[derive(Clone, Default)]
struct Speaker {
    requests: Arc<AtomicUsize>,
    prompts: Arc<Mutex<Vec<String>>>,
}

impl Agent for Speaker {
    fn answer(&self, task: &Task) -> Result<Output, AgentError> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        lock(&self.prompts).push(format!("{} {}", task.id(), task.prompt()));
        let word = match (task.id(), task.again) {
            ("w2" | "w4", 0) | ("w6", _) => "bad",
            ("w7", 0) => "w1",
            (id, _) => id,
        };
        if task.id() == "w1" {
            std::thread::sleep(Duration::from_millis(30));
        }
        Ok(Output::text(word).usage(Usage::tokens(10, 1)))
    }

    fn fingerprint(&self) -> Option<String> {
        Some("speaker".to_owned())
    }
}

fn eval(agent: &Speaker, folder: &Path) -> Eval {
    Eval::new(Words, agent.clone())
        .output_root(folder)
        .snapshots(folder.join("snapshots"))
}

fn resumed(eval: &Eval, path: PathBuf) -> Run {
    let options = RunOptions {
        origin: RunOrigin::Resume {
            path,
            allow_changed_agent: false,
        },
        ..RunOptions::default()
    };
    let session = Session::start(eval, options, Arc::new(|_| {}));
    session.unwrap().run().unwrap()
}

/// Id, whether it is correct, why, attempts, and the refused attempts with reasons.
type AnswerSummary = (String, bool, String, u32, Vec<(u32, String)>);

/// The parts of the answers that do not depend on the clock.
fn answers(run: &Run) -> Vec<AnswerSummary> {
    let of = |record: &Record| {
        let result = &record.result;
        let refused = result.refused.iter();
        let refused = refused.map(|refused| (refused.attempt, refused.reason.to_string()));
        (
            record.sample_id.clone(),
            result.is_correct(),
            result.score.as_ref().unwrap().reason.to_string(),
            result.attempts,
            refused.collect(),
        )
    };
    run.records.iter().map(of).collect()
}

#[test]
fn refused_answers_are_retried_alike_at_any_concurrency() {
    let folder = tempfile::tempdir().unwrap();
    let agent = Speaker::default();
    let run = eval(&agent, folder.path()).concurrency(1).run().unwrap();
    let first = answers(&run);
    assert!(first[0].1 && first[0].4.is_empty());
    assert_eq!(first[2].4, [(1, "bad".to_owned())]);
    assert!(first[2].1 && first[2].3 == 2);
    // The last one counts.
    let bad = [(1, "bad".to_owned()), (2, "bad".to_owned())];
    assert_eq!(
        first[6],
        ("w6".to_owned(), false, "bad".to_owned(), 3, bad.to_vec())
    );
    assert_eq!(first[7].4, [(1, "known".to_owned())]);
    assert_eq!(run.summary.refused, 5);
    assert_eq!(run.summary.correct, 7);
    // Refused answers are paid for, and are no retries.
    assert_eq!(run.summary.usage.output_tokens, Some(13));
    assert_eq!(run.summary.attempts, 13);
    assert_eq!(run.summary.recovered_by_retry.retried, 0);
    let prompts = lock(&agent.prompts).clone();
    assert!(
        prompts.contains(&"w6 A word?\n\nNot again (2): bad".to_owned()),
        "{prompts:?}"
    );
    for concurrency in [3, 8] {
        let run = eval(&agent, folder.path()).concurrency(concurrency).run();
        assert_eq!(answers(&run.unwrap()), first);
    }
}

#[test]
fn a_run_that_was_killed_anywhere_asks_for_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let agent = Speaker::default();
    let run = eval(&agent, folder.path()).concurrency(1).run().unwrap();
    let journal = std::fs::read_to_string(run.dir.join(JOURNAL)).unwrap();
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    for count in 0..=lines.len() {
        let known = lines[..count].concat();
        std::fs::write(run.dir.join(JOURNAL), &known).unwrap();
        let answered = known.matches(r#""kind":"answered""#).count();
        agent.requests.store(0, Ordering::SeqCst);
        let again = resumed(&eval(&agent, folder.path()).concurrency(3), run.dir.clone());
        assert_eq!(answers(&again), answers(&run), "after {count} lines");
        assert_eq!(agent.requests.load(Ordering::SeqCst), 13 - answered);
        assert_eq!(again.summary.usage, run.summary.usage);
    }
}

#[test]
fn the_cache_has_each_answer_in_its_turn() {
    let folder = tempfile::tempdir().unwrap();
    let agent = Speaker::default();
    let eval = || eval(&agent, folder.path()).cache(CacheUse::On);
    let first = eval().run().unwrap();
    assert_eq!(agent.requests.load(Ordering::SeqCst), 13);
    let second = eval().run().unwrap();
    assert_eq!(agent.requests.load(Ordering::SeqCst), 13);
    let without_attempts = |run: &Run| -> Vec<_> {
        let answers = answers(run).into_iter();
        answers
            .map(|(id, correct, reason, _, refused)| (id, correct, reason, refused.len()))
            .collect()
    };
    assert_eq!(without_attempts(&first), without_attempts(&second));
    assert_eq!(second.summary.usage.output_tokens, Some(0));
}
