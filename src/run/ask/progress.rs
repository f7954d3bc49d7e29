//! `ProgressLog`: journals the progress output of an agent during an attempt.
//!
//! Lines are written as they come, so that the last output of an agent that hangs or is killed is there. To bound the
//! disk space, a limited number of lines is stored per attempt, each up to a maximum length; the rest is counted.
//! Output of an abandoned closure after its time was up is ignored.

use std::sync::{Arc, Mutex};

use crate::data::task::Live;
use crate::system::lock;

/// Lines stored per attempt.
const MOST_LINES: u32 = 100;

/// Bytes stored per line.
pub(in crate::run) const LONGEST_LINE: usize = 1000;

/// What the journal records of an agent's output.
pub(in crate::run) enum ProgressEntry<'a> {
    /// One whole line.
    Line(&'a str),
    /// The number of further lines.
    Omitted(u64),
}

/// Collects an agent's output in one attempt.
pub(in crate::run) struct ProgressLog(Arc<Mutex<ProgressWriter>>);

/// An attempt that is still running.
struct ProgressWriter {
    /// Writes a line; `None` once the attempt is over.
    write: Option<Box<WriteProgress>>,
    written: u32,
    omitted: u64,
}

type WriteProgress = dyn Fn(ProgressEntry<'_>) + Send;

impl ProgressLog {
    pub(in crate::run) fn new(write: impl Fn(ProgressEntry<'_>) + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(ProgressWriter {
            write: Some(Box::new(write)),
            written: 0,
            omitted: 0,
        })))
    }

    /// The channel for the agent's output.
    pub(in crate::run) fn live(&self) -> Live {
        let writer = Arc::clone(&self.0);
        Live(Arc::new(move |text: &str| lock(&writer).push_line(text)))
    }

    /// Ends the attempt: later output is ignored.
    pub(in crate::run) fn end(&self) {
        let mut writer = lock(&self.0);
        if let Some(write) = writer.write.take()
            && writer.omitted > 0
        {
            write(ProgressEntry::Omitted(writer.omitted));
        }
    }
}

impl ProgressWriter {
    fn push_line(&mut self, text: &str) {
        let Some(write) = &self.write else {
            return;
        };
        if self.written >= MOST_LINES {
            self.omitted += 1;
            return;
        }
        write(ProgressEntry::Line(text));
        self.written += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use serde_json::Value;

    use super::*;
    use crate::{AgentError, Benchmark, Eval, Output, Result, Sample, Score, Task};

    struct OneQuestion;

    impl Benchmark for OneQuestion {
        fn name(&self) -> &'static str {
            "one"
        }

        fn samples(&self) -> Result<Vec<Sample>> {
            Ok(vec![Sample::new("q", "?").target("yes")])
        }

        fn score(&self, _: &Sample, output: &Output) -> Result<Score> {
            Ok(Score::binary(output.text.as_deref() == Some("yes")))
        }
    }

    fn eval<F>(agent: F, folder: &Path) -> Eval
    where
        F: Fn(&Task) -> Result<Output, AgentError> + Send + Sync + 'static,
    {
        Eval::new(OneQuestion, agent)
            .output_root(folder)
            .snapshots(folder.join("snapshots"))
    }

    /// The progress lines in the journal of a run.
    fn recorded(dir: &Path) -> Vec<String> {
        let text = fs::read_to_string(dir.join("events.jsonl")).unwrap();
        let events = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        events
            .filter_map(|event| Some(event.get("progress")?.as_str()?.to_owned()))
            .collect()
    }

    #[test]
    fn progress_of_a_closure_is_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let agent = |task: &Task| {
            task.progress("thinks");
            task.progress("of\ntwo lines");
            Ok("yes".into())
        };
        let run = eval(agent, folder.path()).run().unwrap();
        assert_eq!(recorded(&run.dir), ["thinks", "of\ntwo lines"]);
    }

    #[test]
    fn abandoned_closure_reports_no_progress() {
        let folder = tempfile::tempdir().unwrap();
        let [is_over, has_spoken] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let wait = |flag: &AtomicBool| {
            while !flag.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        let agent = {
            let (is_over, has_spoken) = (Arc::clone(&is_over), Arc::clone(&has_spoken));
            move |task: &Task| {
                wait(&is_over);
                task.progress("too late");
                has_spoken.store(true, Ordering::SeqCst);
                Ok("yes".into())
            }
        };
        let eval = eval(agent, folder.path()).timeout(Duration::from_millis(20));
        let run = eval.run().unwrap();
        assert_eq!(run.summary.errors, 1);
        let journal = run.dir.join("events.jsonl");
        let before = fs::read(&journal).unwrap();
        is_over.store(true, Ordering::SeqCst);
        wait(&has_spoken);
        assert_eq!(fs::read(&journal).unwrap(), before);
    }
}
