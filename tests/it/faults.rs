//! Agents that misbehave, attachments that are not there: each fault stays with its sample, and the others
//! are scored as ever.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::project::{Project, Ran};
use crate::signals::is_alive;
use crate::wait::{given_time, late, until};

mod retries;

const AGENT: &str = "{ type: command, command: [./agent.sh] }";

/// A project with these samples, each of which the agent treats as the shell commands say; beside them
/// two that are answered well.
fn project(samples: &[(&str, &str)], more: &str) -> Project {
    let good = "echo 'FINAL ANSWER: 1'";
    let all: Vec<_> = [("first", good)]
        .iter()
        .chain(samples)
        .chain(&[("last", good)])
        .copied()
        .collect();
    let questions: Vec<_> = all.iter().map(|(id, _)| (*id, 1, "What?", "1")).collect();
    let project = Project::with_eval(&questions, AGENT, more);
    let cases: Vec<_> = all
        .iter()
        .map(|(id, script)| format!("{id}) {script};;"))
        .collect();
    let cases = cases.join("\n");
    project.script(
        "agent.sh",
        &format!("#!/bin/sh\necho x >> \"asked-$EVALTEST_SAMPLE_ID\"\ncase $EVALTEST_SAMPLE_ID in\n{cases}\nesac\n"),
    );
    project
}

/// The outcome of a sample, after checking that the two good ones are correct.
#[track_caller]
fn outcome(project: &Project, id: &str) -> Value {
    let records = project.last_lines("samples.jsonl");
    let result = |id: &str| {
        let found = records.iter().find(|record| record["sample_id"] == id);
        found.unwrap_or_else(|| panic!("no record of {id}"))["result"].clone()
    };
    for id in ["first", "last"] {
        assert_eq!(
            result(id)["score"]["correct"],
            true,
            "{id} is scored as ever"
        );
    }
    result(id)
}

/// Asserts how a sample failed, and that it is among the errors.
#[track_caller]
fn failed(project: &Project, id: &str, status: &str, kind: &str, message: &str) -> Value {
    let result = outcome(project, id);
    assert_eq!(result["status"], status, "{result}");
    assert_eq!(result["score"], Value::Null, "an error is no wrong answer");
    let error = result["error"].clone();
    assert_eq!(error["kind"], kind, "{error}");
    assert!(
        error["message"].as_str().unwrap().contains(message),
        "{error}"
    );
    let errors = project.last_lines("errors.jsonl");
    assert!(errors.iter().any(|record| record["sample_id"] == id));
    error
}

fn request_count(project: &Project, id: &str) -> usize {
    fs::read_to_string(project.file(&format!("asked-{id}"))).map_or(0, |text| text.lines().count())
}

#[test]
fn failures_stay_with_their_samples() {
    let project = project(
        &[
            ("exits", "echo some progress; echo the reason >&2; exit 7"),
            ("silent", "true"),
            ("blank", "echo; echo ' '"),
            ("dies", "kill -9 $$"),
            ("wrong", "echo 'FINAL ANSWER: 2'"),
        ],
        "gates:\n  - error_rate <= 0.1\n  - accuracy >= 0.5\n",
    );
    project
        .run("run -v eval.yaml")
        .exits(3)
        .says("exited with code 7")
        .says("gate error_rate <= 0.1: FAILED")
        .says("gate accuracy >= 0.5: INCONCLUSIVE")
        .says("7 samples, 2 correct")
        .says("4 errors");
    let error = failed(
        &project,
        "exits",
        "agent_failed",
        "exited",
        "exited with code 7",
    );
    assert_eq!(error["exit_code"], 7);
    assert_eq!(error["stderr_tail"], "the reason\n");
    failed(
        &project,
        "silent",
        "agent_failed",
        "no_output",
        "printed nothing",
    );
    failed(
        &project,
        "blank",
        "agent_failed",
        "no_output",
        "printed nothing",
    );
    failed(&project, "dies", "agent_failed", "exited", "signal: 9");
    assert_eq!(outcome(&project, "wrong")["status"], "scored");
    let dir = project.last_run();
    project
        .run(&format!("show {} exits", dir.display()))
        .exits(0)
        .says("exit code: 7")
        .says("the reason");
}

#[test]
fn a_program_that_cannot_be_started_is_a_mistake_before_the_run() {
    for (command, message) in [
        ("./none.sh", "command not found: `./none.sh`"),
        ("no-such-agent", "`no-such-agent` is not in `PATH`"),
        ("./plain.txt", "is not executable"),
        ("sh, agent.sh", "it is one folder up: write `../agent.sh`"),
        ("sh, ../agnt.py", "`../agnt.py` does not exist (seen from `"),
    ] {
        let project = Project::new();
        project.script("agent.sh", "echo 1\n");
        project.write(
            "evals/eval.yaml",
            format!(
                "name: e\nbenchmark: {{ type: custom, samples: [{{ id: a, prompt: What?, ground_truth: '1' }}] }}\n\
                 agent: {{ type: command, command: [{command}] }}\nscorer: exact\n"
            ),
        );
        project.write("evals/plain.txt", "no program");
        project
            .run("run evals/eval.yaml")
            .exits(2)
            .says(message)
            .says_nothing_of("panicked");
        assert!(!project.path().join("evaltest-runs").exists());
    }
}

#[test]
fn an_agent_whose_interpreter_is_missing() {
    let project = Project::with_eval(
        &[("a", 1, "What?", "1"), ("b", 1, "What?", "1")],
        "{ type: command, command: [./no-interpreter] }",
        "",
    );
    project.script("no-interpreter", "#!/no/such/interpreter\n");
    project
        .run("run eval.yaml")
        .exits(3)
        .says("no-interpreter")
        .says_nothing_of("panicked");
    for record in project.last_lines("samples.jsonl") {
        let result = &record["result"];
        assert_eq!(result["status"], "agent_failed");
        assert_eq!(result["error"]["kind"], "not_found", "{result}");
        assert_eq!(result["score"], Value::Null);
    }
}

#[test]
fn a_gibibyte_is_held_neither_in_memory_nor_on_disk() {
    let project = project(
        &[
            ("out", "head -c 1073741824 /dev/zero"),
            ("err", "head -c 1073741824 /dev/zero >&2; exit 1"),
            ("lines", "yes 'FINAL ANSWER: 1' | head -c 1073741824"),
        ],
        "",
    );
    let mut child = project
        .command("run eval.yaml")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or_default());
        std::thread::sleep(Duration::from_millis(5));
    }
    Ran::of(&child.wait_with_output().unwrap())
        .exits(3)
        .says("3 errors");
    assert!(peak > 0 && peak < 128 * 1024, "peak of {peak} KiB");
    for id in ["out", "lines"] {
        failed(
            &project,
            id,
            "agent_failed",
            "output_too_large",
            "limits.max_output_bytes",
        );
    }
    failed(&project, "err", "agent_failed", "exited", "code 1");
    let sizes = crate::project::all_files(&project.last_run());
    let size: u64 = sizes
        .iter()
        .map(|path| fs::metadata(path).unwrap().len())
        .sum();
    assert!(size < 200_000, "{size} bytes on disk");
}

#[test]
fn nothing_of_an_agent_outlives_its_attempt() {
    let agents = [
        ("hangs", "echo $$ > pid-hangs; exec sleep 1000"),
        (
            "stubborn",
            "trap '' TERM; echo $$ > pid-stubborn; while :; do sleep 0.1; done",
        ),
        (
            "parent",
            "sleep 1000 >&- 2>&- & echo $! > pid-parent; echo 'FINAL ANSWER: 1'",
        ),
        (
            "holder",
            "sleep 1000 & echo $! > pid-holder; echo 'FINAL ANSWER: 1'",
        ),
        (
            "nested",
            "(trap '' TERM; sleep 1000) & echo $! > pid-nested; wait",
        ),
    ];
    let hang = ["hangs", "stubborn", "nested"];
    let project = given_time(0.5, |timeout| {
        let limits = format!("limits: {{ timeout_s: {timeout}, retries: 3, backoff_s: 0 }}\n");
        let project = project(&agents, &limits);
        project
            .run("run eval.yaml")
            .exits(3)
            .says("did not answer in");
        let has_pid = |(id, _): &(&str, &str)| {
            let pid = fs::read_to_string(project.file(&format!("pid-{id}")));
            pid.is_ok_and(|pid| pid.ends_with('\n'))
        };
        (late(&project) == hang && agents.iter().all(has_pid)).then_some(project)
    });
    for id in hang {
        failed(
            &project,
            id,
            "timed_out",
            "timed_out",
            // How much time is left when it is started depends on the machine.
            "did not answer in ",
        );
        assert_eq!(request_count(&project, id), 1, "a timeout is not repeated");
    }
    for id in ["parent", "holder"] {
        assert_eq!(outcome(&project, id)["score"]["correct"], true);
    }
    for (id, _) in agents {
        let pid = project.read(&format!("pid-{id}"));
        until(&format!("{id} is gone"), || !is_alive(pid.trim()));
    }
}

#[test]
fn what_an_agent_prints_does_not_act_on_the_terminal() {
    let noise = r"\033[2J\033]0;title\007\302\233m\342\200\256\377\000\r\b";
    let project = project(
        &[
            (
                "answers",
                &format!("printf '{noise}FINAL ANSWER: {noise}1'"),
            ),
            ("fails", &format!("printf '{noise}reason' >&2; exit 1")),
            (
                "both",
                &format!("printf '{noise}\\n' >&2; printf '{noise}\\n'"),
            ),
        ],
        "",
    );
    project.questions(&[
        ("first", 1, "What?", "1"),
        ("answers", 1, "\u{1b}[31mWhat?\u{9b}", "\u{1b}[31m1"),
        ("fails", 1, "What?", "1"),
        ("both", 1, "What?", "1"),
        ("last", 1, "What?", "1"),
    ]);
    let check = |arguments: &str| {
        let output = project.command(arguments).output().unwrap();
        for (name, bytes) in [("stdout", output.stdout), ("stderr", output.stderr)] {
            let text = String::from_utf8(bytes)
                .unwrap_or_else(|error| panic!("{name} of {arguments}: {error}"));
            let raw = text
                .chars()
                .find(|&c| (c.is_control() && c != '\n') || c == '\u{202e}');
            assert_eq!(raw, None, "in {name} of `{arguments}`: {text:?}");
        }
    };
    check("run eval.yaml");
    check("run eval.yaml --stream");
    check("run eval.yaml --json");
    let dir = project.last_run();
    let dir = dir.display();
    check(&format!("show {dir}"));
    for id in ["answers", "fails", "both"] {
        check(&format!("show {dir} {id}"));
        check(&format!("show {dir} {id} --json"));
    }
    check(&format!("summarize {dir}"));
    check(&format!("accept {dir}"));
    check("list eval.yaml");
    let error = failed(&project, "fails", "agent_failed", "exited", "code 1");
    assert!(error["stderr_tail"].as_str().unwrap().ends_with("reason"));
}

#[test]
fn attachments_that_may_not_be_read() {
    let project = project(
        &[
            ("there", "cat \"$EVALTEST_SCRATCH/there.txt\""),
            ("missing", ""),
            ("up", ""),
            ("absolute", ""),
            ("link", ""),
            ("folder", ""),
        ],
        "",
    );
    let outside = Project::new();
    outside.write("secret.txt", "FINAL ANSWER: 1");
    project.write("data/there.txt", "FINAL ANSWER: 1");
    fs::create_dir_all(project.file("data/sub")).unwrap();
    std::os::unix::fs::symlink(outside.file("secret.txt"), project.file("data/link.txt")).unwrap();
    let absolute = outside.file("secret.txt").display().to_string();
    let row = |id: &str, file: &str| {
        json!({ "task_id": id, "Question": "What?", "Final answer": "1", "file_name": file })
            .to_string()
    };
    let rows = [
        row("first", ""),
        row("there", "there.txt"),
        row("missing", "none.csv"),
        row("up", "../data.jsonl"),
        row("absolute", &absolute),
        row("link", "link.txt"),
        row("folder", "sub"),
        row("last", ""),
    ];
    project.write("data/metadata.jsonl", rows.join("\n"));
    let spec = project.read("eval.yaml").replace("data.jsonl", "data");
    project.write("eval.yaml", spec);
    project
        .run("run -v eval.yaml")
        .exits(3)
        .says("8 samples, 3 correct")
        .says("5 errors");
    assert_eq!(outcome(&project, "there")["score"]["correct"], true);
    let folder = fs::canonicalize(project.path()).unwrap();
    let looked_for = folder.join("data/none.csv").display().to_string();
    for (id, message) in [
        ("missing", looked_for.as_str()),
        ("up", "only a relative path without `..`"),
        ("absolute", "only a relative path without `..`"),
        ("link", "leaves the dataset's folder"),
        ("folder", "not a regular file"),
    ] {
        failed(&project, id, "agent_failed", "attachment", message);
        assert_eq!(request_count(&project, id), 0, "the agent was not asked");
    }
    assert!(!project.last_run().join("scratch").exists());
}

#[test]
fn variables_are_passed_by_name_only() {
    let project = project(&[("fails", "exit 1"), ("shows", "env | sort")], "");
    let agent = AGENT.replace(
        " }",
        ", env: [NAMED, FROM_FILE, NOWHERE], plain_env: [NAMED, FROM_FILE] }",
    );
    project.spec(&agent, "");
    project.write(".env", "FROM_FILE=file-value\nNAMED=other\nUNNAMED=no\n");
    let run = |project: &Project| {
        let mut command = project.command("run eval.yaml");
        command
            .env("NAMED", "named-value")
            .env("UNNAMED", "unnamed-value")
            .env("LC_TIME", "C")
            .env("ONE_API_KEY", "one-value-1")
            .env("TWO_API_KEY", "two-value-2");
        Ran::of(&command.output().unwrap())
    };
    run(&project)
        .exits(3)
        .says("`ONE_API_KEY`, `TWO_API_KEY`")
        .says("add `env: [ONE_API_KEY, TWO_API_KEY]`")
        .says("`NOWHERE`")
        .says_nothing_of("one-value-1");
    failed(
        &project,
        "fails",
        "agent_failed",
        "exited",
        "not passed to the agent: `ONE_API_KEY`, `TWO_API_KEY`",
    );
    let output = outcome(&project, "shows")["output"]["text"]
        .as_str()
        .unwrap()
        .to_owned();
    for line in [
        "NAMED=named-value",
        "FROM_FILE=file-value",
        "LC_TIME=C",
        "PATH=",
        "EVALTEST_SAMPLE_ID=shows",
    ] {
        assert!(
            output.lines().any(|output| output.starts_with(line)),
            "{line} is missing in {output}"
        );
    }
    for name in ["UNNAMED", "API_KEY", "CARGO", "RUST"] {
        assert!(!output.contains(name), "{name} in {output}");
    }
}

#[test]
fn scratch_folders_stay_as_asked() {
    let write = "echo note > \"$EVALTEST_SCRATCH/note.txt\"";
    let project = project(
        &[
            ("fails", &format!("{write}; exit 1")),
            ("works", &format!("{write}; echo 1")),
        ],
        "",
    );
    let remaining = |how: &str| {
        project.spec(AGENT, &format!("keep_scratch: {how}\n"));
        project.run("run eval.yaml").exits(3);
        let scratch = project.last_run().join("scratch");
        let note = |id: &str| scratch.join(format!("{id}.1/note.txt")).is_file();
        (note("fails"), note("works"), scratch.exists())
    };
    assert_eq!(remaining("never"), (false, false, false));
    assert_eq!(remaining("failed"), (true, false, true));
    assert_eq!(remaining("always"), (true, true, true));
}

#[test]
fn a_folder_that_cannot_be_written_is_no_fault_of_the_samples() {
    let project = project(&[], "output_root: file\n");
    project.write("file", "in the way");
    project
        .run("run eval.yaml")
        .exits(2)
        .says("--output-root")
        .says_nothing_of("panicked");
    assert_eq!(request_count(&project, "first"), 0);
}
