use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::store::cache::CacheUse;
use crate::{Agent, AgentError, Benchmark, Eval, Output, Result, Run, Sample, Score, Task};

/// Five samples.
struct Five;

impl Benchmark for Five {
    fn name(&self) -> &'static str {
        "five"
    }

    fn samples(&self) -> Result<Vec<Sample>> {
        let sample = |n: u32| Sample::new(n.to_string(), "?").target("yes");
        Ok((0..5).map(sample).collect())
    }

    fn score(&self, _: &Sample, output: &Output) -> Result<Score> {
        Ok(Score::binary(output.text.as_deref() == Some("yes")))
    }
}

/// Counts its calls. Becomes another agent after this many.
#[derive(Clone)]
struct Changing {
    requests: Arc<AtomicUsize>,
    after: usize,
}

impl Agent for Changing {
    fn answer(&self, _: &Task) -> Result<Output, AgentError> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        Ok("yes".into())
    }

    fn fingerprint(&self) -> Option<String> {
        let is_other = self.requests.load(Ordering::SeqCst) >= self.after;
        Some(format!("version {}", u8::from(is_other)))
    }
}

fn run(agent: impl Agent + 'static, folder: &Path) -> Run {
    let eval = Eval::new(Five, agent)
        .concurrency(1)
        .output_root(folder)
        .snapshots(folder.join("snapshots"))
        .cache(CacheUse::On);
    eval.run().unwrap()
}

#[test]
fn agent_that_changes_midrun_is_cached_up_to_the_change() {
    let folder = tempfile::tempdir().unwrap();
    let requests = Arc::<AtomicUsize>::default();
    let agent = |after| Changing {
        requests: Arc::clone(&requests),
        after,
    };
    // The third answer may already come from the new agent.
    let first = run(agent(3), folder.path());
    assert_eq!(first.notices.len(), 1, "{:?}", first.notices);
    assert!(first.notices[0].contains("changed during the run"));
    let second = run(agent(usize::MAX), folder.path());
    assert_eq!(second.summary.cached, 2);
    assert_eq!(requests.load(Ordering::SeqCst), 5 + 3);
    assert_eq!(second.notices, [""; 0]);
}

#[test]
fn closure_without_fingerprint_is_not_cached() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let run = run(|_: &Task| Ok(Output::text("yes")), folder.path());
        assert!(
            run.notices[0].contains("the cache is off"),
            "{:?}",
            run.notices
        );
        assert_eq!(run.summary.cached, 0);
    }
    assert!(!folder.path().join(".cache").exists());
}

#[test]
fn what_an_agent_must_not_see_includes_its_answers() {
    let eval = Eval::new(Five, |_: &Task| Ok(Output::default())).cached_in("elsewhere/answers");
    assert!(crate::eval::plan::hidden(&eval).contains(&"elsewhere/answers".into()));
}
