//! Runs that are killed, and continued.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::project::{Project, json_lines};
use crate::requested::{self, requested, times};
use crate::wait::until;

/// Moments that differ from run to run, and can be had again.
struct Moments(u64);

impl Moments {
    #[expect(
        clippy::print_stdout,
        reason = "a test that fails says how to repeat it"
    )]
    fn new() -> Self {
        let given = std::env::var("RESUME_SEED")
            .ok()
            .and_then(|text| text.parse().ok());
        let now = || std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() & 0xffff_ffff;
        let seed = given.unwrap_or_else(|| u64::try_from(now()).unwrap());
        println!("again with RESUME_SEED={seed}");
        Self(seed | 1)
    }

    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// The ids with an `answered` line; a torn last line does not count.
fn answered(dir: &Path) -> Vec<String> {
    let text = fs::read_to_string(dir.join("events.jsonl")).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let events = whole
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    events
        .filter(|event| event["kind"] == "answered")
        .map(|event| event["sample_id"].as_str().unwrap().to_owned())
        .collect()
}

/// What a run said of its samples, in order.
fn verdicts(dir: &Path) -> Vec<(String, String, Value, Value)> {
    let verdict = |record: &Value| {
        let result = &record["result"];
        (
            record["sample_id"].as_str().unwrap().to_owned(),
            result["status"].as_str().unwrap().to_owned(),
            result["prediction"].clone(),
            result["score"]["correct"].clone(),
        )
    };
    json_lines(&dir.join("samples.jsonl"))
        .iter()
        .map(verdict)
        .collect()
}

fn start(project: &Project, arguments: &str) -> Child {
    let mut command = project.command(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// How many lines the journal of the run has that is not among these; 0 before it has one.
fn journal(project: &Project, before: &[PathBuf]) -> usize {
    let new = project.runs().into_iter().find(|run| !before.contains(run));
    let text = new.and_then(|dir| fs::read_to_string(dir.join("events.jsonl")).ok());
    text.map_or(0, |text| text.matches('\n').count())
}

/// Waits until nobody is left whom a killed run had started: what it had asked and not heard may still be asked for a
/// moment, beside those who ask again.
fn until_nobody_is_left(run: &Child) {
    let mark = format!("EVALTEST_PID={}", run.id());
    let watch = ["__evaltest_watch", &run.id().to_string()].join("\0");
    until("nobody is left", || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let has = |path: PathBuf, text: &str| {
            let content = fs::read(path).unwrap_or_default();
            let content = String::from_utf8_lossy(&content).into_owned() + "\0";
            content.contains(&format!("{text}\0"))
        };
        let mut processes = processes.map(|process| process.path());
        !processes.any(|process| {
            has(process.join("environ"), &mark) || has(process.join("cmdline"), &watch)
        })
    });
}

/// Nothing is begun of what has an answer.
#[track_caller]
fn check_journal(dir: &Path) {
    let mut done = Vec::new();
    for event in json_lines(&dir.join("events.jsonl")) {
        match event["kind"].as_str() {
            Some("answered") => done.push(event["sample_id"].clone()),
            Some("started") => assert!(!done.contains(&event["sample_id"]), "{event}"),
            _ => {}
        }
    }
}

#[test]
fn killed_at_any_moment_nothing_answered_is_lost_or_asked_again() {
    const KILLS: u32 = 24;
    const SAMPLES: u32 = 160;
    let mut moments = Moments::new();
    let project = requested::project(SAMPLES, "sleep 0.02", "limits: { concurrency: 4 }\n");
    project.run("run eval.yaml").exits(0);
    let whole = verdicts(&project.last_run());
    assert_eq!(whole.len(), SAMPLES as usize);
    let (mut kills, mut torn, mut between) = (0, 0, 0);
    while kills < KILLS {
        fs::remove_file(project.file("asked.log")).unwrap();
        let before = project.runs();
        let mut child = start(&project, "run eval.yaml");
        // The asks that had led to an answer by the time of a kill.
        let mut settled: BTreeMap<String, usize> = BTreeMap::new();
        let dir = loop {
            // Some moments after some lines, however long these take; now and then before the first.
            let more = usize::try_from(moments.next(90)).unwrap();
            let lines = journal(&project, &before) + more;
            until("it goes on", || {
                more < 8
                    || journal(&project, &before) >= lines
                    || child.try_wait().unwrap().is_some()
            });
            std::thread::sleep(Duration::from_millis(moments.next(40)));
            child.kill().unwrap();
            let status = child.wait().unwrap();
            until_nobody_is_left(&child);
            kills += u32::from(!status.success());
            let new = project.runs().into_iter().find(|run| !before.contains(run));
            let Some(dir) = new else {
                // Killed before there was a run directory: nothing was asked.
                assert_eq!(requested(&project), [""; 0]);
                child = start(&project, "run eval.yaml");
                continue;
            };
            let requested = requested(&project);
            let done = answered(&dir);
            between += usize::from(!done.is_empty() && done.len() < SAMPLES as usize);
            for id in done {
                let times = times(&requested, &id);
                assert!(times > 0, "{id} was answered and not asked");
                let earlier = *settled.entry(id.clone()).or_insert(times);
                assert_eq!(times, earlier, "{id} was answered and asked again");
            }
            if status.success() {
                break dir;
            }
            if kills % 3 == 0 {
                // What a torn write leaves.
                let log = fs::OpenOptions::new()
                    .append(true)
                    .open(dir.join("events.jsonl"));
                log.unwrap()
                    .write_all(br#"{"sample_id":"q000","event_index":9"#)
                    .unwrap();
                torn += 1;
            }
            child = start(&project, &format!("run --resume {}", dir.display()));
        };
        assert_eq!(verdicts(&dir), whole);
        check_journal(&dir);
        let requested = requested(&project);
        for (id, earlier) in settled {
            assert_eq!(
                times(&requested, &id),
                earlier,
                "{id} was answered and asked again"
            );
        }
        let summary: Value =
            serde_json::from_slice(&fs::read(dir.join("summary.json")).unwrap()).unwrap();
        assert_eq!(summary["correct"], SAMPLES / 2);
        for (place, event) in json_lines(&dir.join("events.jsonl")).iter().enumerate() {
            assert_eq!(event["event_index"], place, "the journal has no gap");
        }
    }
    assert!(torn > 0 && between > KILLS as usize / 3, "{torn} {between}");
}

#[test]
fn a_finished_run_is_resumed_without_asking_and_a_torn_line_is_cut() {
    let project = requested::project(6, ":", "");
    // One at a time, so that the journal ends with the last sample's answer and verdict.
    project.run("run eval.yaml --concurrency 1").exits(0);
    let dir = project.last_run();
    let before = verdicts(&dir);
    let events = fs::read_to_string(dir.join("events.jsonl")).unwrap();
    // The verdict of the last sample and half of its answer are lost.
    let end = events.rfind("{\"sample_id\"").unwrap();
    let end = events[..end].rfind("{\"sample_id\"").unwrap() + 60;
    assert!(events[end..].contains("answered"), "{}", &events[end..]);
    fs::write(dir.join("events.jsonl"), &events[..end]).unwrap();
    project
        .run(&format!("run --resume {}", dir.display()))
        .exits(0)
        .says("5 samples were answered before");
    assert_eq!(verdicts(&dir), before);
    assert_eq!(
        requested(&project).len(),
        7,
        "the torn answer is asked again, alone"
    );
    project
        .run(&format!("run --resume {}", dir.display()))
        .exits(0);
    assert_eq!(requested(&project).len(), 7);
    // A line broken in the middle is no torn end: it is told, and costs nothing but itself.
    fs::write(dir.join("events.jsonl"), format!("oops\n{events}")).unwrap();
    project
        .run(&format!("run --resume {}", dir.display()))
        .exits(0)
        .says("events.jsonl: damaged lines are skipped: 1;");
    assert_eq!(
        project.last_json("manifest.json")["journal_lines_skipped"],
        serde_json::json!([1])
    );
}

#[test]
fn failed_samples_are_asked_again() {
    let fails =
        "test -f fixed || case $EVALTEST_SAMPLE_ID in q001|q004) echo broken >&2; exit 3;; esac";
    let project = requested::project(6, fails, "gates: [error_rate <= 0.0]\n");
    project.run("run eval.yaml").exits(3);
    assert_eq!(project.last_lines("errors.jsonl").len(), 2);
    project.write("fixed", "");
    let dir = project.last_run();
    project
        .run(&format!("run --resume {}", dir.display()))
        .exits(0);
    let requested = requested(&project);
    assert_eq!(requested.len(), 8);
    assert_eq!(
        (times(&requested, "q001"), times(&requested, "q004")),
        (2, 2)
    );
    assert_eq!(project.last_lines("errors.jsonl"), [Value::Null; 0]);
    let records = project.last_lines("samples.jsonl");
    assert_eq!(records[1]["result"]["attempts"], 2, "every attempt is kept");
    assert_eq!(project.last_json("manifest.json")["status"], "finished");
}

#[test]
fn another_question_prompt_agent_or_scorer_is_refused() {
    let project = requested::project(4, ":", "gates: [accuracy >= 0.1]\n");
    project.run("run -v eval.yaml").exits(0);
    let dir = project.last_run();
    let spec = project.read("eval.yaml");
    let data = project.read("data.jsonl");
    let resume = format!("run --resume {}", dir.display());
    let refuses = |what: &str| {
        project
            .run(&resume)
            .exits(2)
            .says("cannot be resumed")
            .says(what);
        project.write("eval.yaml", &spec);
        project.write("data.jsonl", &data);
    };
    project.write("data.jsonl", data.replace("What is 2?", "What is two?"));
    refuses("the dataset or the prompt");
    project.write("data.jsonl", data.replace("\"002\"", "\"003\""));
    refuses("the dataset or the prompt");
    project.write("eval.yaml", spec.replace("prompt: none", "prompt: concise"));
    refuses("the dataset or the prompt");
    project.write(
        "eval.yaml",
        spec.replace("[./agent.sh]", "[./agent.sh, -v]"),
    );
    refuses("the agent");
    project.write("eval.yaml", format!("{spec}extract: none\n"));
    refuses("the scorer or the extraction");
    assert_eq!(requested(&project).len(), 4, "nothing was started");
    // What does not change the questions may change.
    let other =
        spec.replace(">= 0.1", ">= 0.9") + "limits: { concurrency: 1, timeout_s: 9, retries: 2 }\n";
    project.write("eval.yaml", other);
    project.run(&resume).exits(1).says("✗ accuracy >= 0.9");
    assert_eq!(requested(&project).len(), 4);
    project
        .run(&format!(
            "{resume} --concurrency 2 --timeout-s 5 --retries 1"
        ))
        .exits(1);
}

#[test]
fn a_run_directory_has_one_writer() {
    let project = requested::project(3, "while test ! -f go; do sleep 0.02; done", "");
    let mut first = start(&project, "run eval.yaml");
    until("all are asked", || requested(&project).len() == 3);
    let dir = project.last_run();
    project
        .run(&format!("run --resume {}", dir.display()))
        .exits(2)
        .says("another process is writing");
    project.write("go", "");
    assert_eq!(first.wait().unwrap().code(), Some(0));
    assert_eq!(verdicts(&dir).len(), 3);
    assert_eq!(requested(&project).len(), 3);
}

#[test]
fn a_part_stays_a_part_when_it_is_resumed() {
    let project = requested::project(6, ":", "");
    for part in ["--limit 2", "--filter q001"] {
        project.run(&format!("run eval.yaml {part}")).exits(0);
        let dir = project.last_run();
        let before = verdicts(&dir);
        project
            .run(&format!("run --resume {}", dir.display()))
            .exits(0);
        assert_eq!(verdicts(&dir), before, "{part}");
        assert_eq!(project.last_json("manifest.json")["whole"], false, "{part}");
        project.run("accept").exits(2).says("asked only a part");
    }
    assert_eq!(requested(&project).len(), 3);
}

#[test]
fn a_changed_agent_is_refused_or_makes_the_run_mixed() {
    let fails = "test $EVALTEST_SAMPLE_ID != q001 -o -f fixed || exit 3";
    let project = requested::project(4, fails, "");
    project.spec(
        "{ type: command, command: [./agent.sh], input: json }",
        "gates: [error_rate <= 0.0]\n",
    );
    project.run("run eval.yaml").exits(3);
    let dir = project.last_run();
    let resume = format!("run --resume {}", dir.display());
    let refused = |more: &str| {
        project
            .run(&format!("{resume} {more}"))
            .exits(2)
            .says("the agent, its program or an option has changed since")
            .says("--allow-changed-agent");
    };
    let script = project.read("agent.sh");
    refused("--agent-option depth=2");
    project.script("agent.sh", &format!("{script}# changed\n"));
    refused("");
    assert_eq!(requested(&project).len(), 4, "nothing was asked");
    assert_eq!(project.last_json("manifest.json").get("mixed"), None);
    project
        .run("run eval.yaml --allow-changed-agent")
        .exits(2)
        .says("--resume");

    project.write("fixed", "");
    let mixed = "this run cannot become a baseline: its agent changed since it began";
    project
        .run(&format!("{resume} --allow-changed-agent"))
        .exits(0)
        .says(mixed);
    assert_eq!(requested(&project).len(), 5);
    // It goes on with the agent that it has now, and stays what it is.
    project.run(&resume).exits(0).says(mixed);
    assert_eq!(project.last_json("manifest.json")["mixed"], true);
    project.script("agent.sh", &script);
    refused("");
}
