//! Tests the whole scorer with small `/bin/sh` scripts, and the example of the manual.

mod options;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::time::Instant;

use super::*;
use crate::data::{Output, Target};
use crate::eval::registry::scorers::{Context, from_value};
use crate::tests::needs;
use crate::tests::wait::{LONG, given_time, until, until_dead};

/// The timeout for a program that hangs.
const SHORT: Duration = Duration::from_millis(300);

/// A temporary folder in which a test's programs run.
struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn sh(&self, script: &str) -> CommandScorer {
        self.command(&["sh", "-c", script])
    }

    fn command(&self, argv: &[&str]) -> CommandScorer {
        let mut command =
            CommandScorer::new(argv.iter().copied(), self.folder.path()).timeout(LONG);
        // Otherwise the tester's own keys would show in the messages.
        let path = (
            "PATH".into(),
            OsString::from("/usr/local/bin:/usr/bin:/bin"),
        );
        command.program.environment.ambient = BTreeMap::from([path]);
        command
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Waits until the process with the pid in a file is dead.
    #[track_caller]
    fn assert_dead(&self, pid_file: &str) {
        until_dead(&self.path(pid_file));
    }
}

fn judge(scorer: &dyn Scorer, prediction: &str) -> Result<Score> {
    scorer.score(
        &Answer::new(prediction, &Target::from("4"))
            .output(&Output::text("It is 4."))
            .metadata(&Map::from_iter([("level".to_owned(), 1.into())])),
    )
}

#[track_caller]
fn check_error(result: Result<Score>, expect: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.message(), expect);
    assert_eq!(error.exit(), crate::Exit::Infrastructure);
}

/// Runs this script for every line that holds `boom`, and answers all others with the pid.
fn except_boom(script: &str) -> String {
    format!(
        "while read -r line; do case $line in *boom*) {script};; esac; \
         echo '{{\"correct\": true, \"details\": {{\"pid\": '$$'}}}}'; done"
    )
}

#[test]
fn the_example_of_the_manual_works() {
    let project = Project::new();
    let (_, page) = include_str!("../command.md")
        .split_once("```python\n")
        .unwrap();
    let (code, _) = page.split_once("```").unwrap();
    fs::write(project.path("judge.py"), code).unwrap();
    let scorer = project.command(&["python3", "judge.py"]);
    let score = judge(&scorer, " 4").unwrap();
    let expect = json!({
        "value": 1.0, "correct": true, "reason": "accepted", "normalized_prediction": " 4",
        "normalized_ground_truth": "4", "details": {"length": 2},
    });
    assert_eq!(serde_json::to_value(score).unwrap(), expect);
    let score = judge(&scorer, "5").unwrap();
    assert_eq!(
        (score.value, score.correct, score.reason.as_ref()),
        (0.0, false, "rejected")
    );
}

#[test]
fn a_program_reads_one_line_for_each_answer() {
    let project = Project::new();
    let scorer = project.sh(
        "while read -r line; do printf '%s\\n' \"$line\" >> asked; echo '{\"correct\": true, \"value\": 0.5}'; done",
    );
    let score = judge(&scorer, "a\n\"b\"").unwrap();
    assert_eq!((score.value, score.correct), (0.5, true));
    let unasked = Answer::new(None, &Target(Value::Null));
    assert!(scorer.score(&unasked).unwrap().correct);
    let lines: Vec<Value> = project
        .read("asked")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let expect = [
        json!({"id": 1, "prediction": "a\n\"b\"", "ground_truth": "4", "metadata": {"level": 1},
            "output": {"text": "It is 4.", "messages": [], "tool_calls": []}}),
        json!({"id": 2, "prediction": null, "ground_truth": null, "metadata": {},
            "output": {"text": null, "messages": [], "tool_calls": []}}),
    ];
    assert_eq!(lines, expect);
}

#[test]
fn it_starts_late_and_stays() {
    let project = Project::new();
    let scorer = project.sh(&format!("echo > started; {}", except_boom("exit")));
    assert!(!project.path("started").exists());
    let pid = |scorer| judge(scorer, "a").unwrap().details.get("pid").cloned();
    assert_eq!(pid(&scorer), pid(&scorer));
    // A process killed in between is replaced silently.
    let first = pid(&scorer).and_then(|pid| pid.as_i64()).unwrap();
    let first_pid = rustix::process::Pid::from_raw(first.try_into().unwrap()).unwrap();
    rustix::process::kill_process(first_pid, rustix::process::Signal::KILL).unwrap();
    assert_ne!(pid(&scorer), Some(first.into()));
}

#[test]
fn invalid_final_answer_is_requested_once_more() {
    let project = Project::new();
    let script = except_boom("[ -e once ] || { echo > once; kill -9 $$; }");
    let scorer = project.sh(&script);
    assert!(judge(&scorer, "boom").unwrap().correct);

    let script = except_boom("echo >> tries; echo 'no model' >&2; kill -9 $$");
    let scorer = project.sh(&script);
    let expect = format!(
        "`{}` was ended by signal: 9 (SIGKILL) before it replied, and so did the one before it; \
         stderr ends with `no model`",
        beginning(format!("sh -c {script}").as_bytes(), 200)
    );
    check_error(judge(&scorer, "boom"), &expect);
    assert_eq!(project.read("tries").lines().count(), 2);
    // The next answer is judged normally.
    assert!(judge(&scorer, "a").unwrap().correct);
}

#[test]
fn programs_that_end_at_once() {
    let project = Project::new();
    let twice = "before it replied, and so did the one before it";
    check_error(
        judge(&project.sh("exit 3"), "a"),
        &format!("`sh -c exit 3` exited with code 3 {twice}"),
    );
    check_error(
        judge(&project.sh("echo bye >&2; exec >&-; sleep 1000"), "a"),
        &format!(
            "`sh -c echo bye >&2; exec >&-; sleep 1000` closed its stdout {twice}; stderr ends with `bye`"
        ),
    );
    // Replying only once is allowed, also without a line ending.
    let scorer = project.sh("read -r line; printf '{\"correct\": true}'");
    assert!(judge(&scorer, "a").unwrap().correct);
    assert!(judge(&scorer, "b").unwrap().correct);
}

#[test]
fn a_program_that_never_replies_is_killed() {
    let project = Project::new();
    // The child writes its pid last.
    let script = "echo $$ > pid; sh -c 'trap \"\" TERM; echo $$ > part; mv part child; exec sleep 1000' & \
        cat > /dev/null; wait";
    let (error, time) = given_time(SHORT, |time| {
        let error = judge(&project.sh(script).timeout(time), "a");
        project.path("child").exists().then_some((error, time))
    });
    let time = time.as_secs_f64();
    check_error(
        error,
        &format!("`sh -c {script}` did not reply in {time} s (does it flush its stdout?)"),
    );
    project.assert_dead("pid");
    project.assert_dead("child");
}

#[test]
fn invalid_reply_is_quoted_in_error() {
    let project = Project::new();
    let script = except_boom("echo $$ > pid; printf 'oops \\033[2J\\n'; continue");
    let scorer = project.sh(&script);
    let printed = beginning(format!("sh -c {script}").as_bytes(), 200);
    check_error(
        judge(&scorer, "boom"),
        &format!(
            "`{printed}` printed `oops \\u{{1b}}[2J`, which is not a JSON object: expected value at line 1 column 1"
        ),
    );
    project.assert_dead("pid");
    assert!(judge(&scorer, "a").unwrap().correct);

    let scorer = project.sh(
        "read -r line; echo '{\"error\": \"no model\"}'; read -r line; echo '{\"correct\": true}'",
    );
    let error = judge(&scorer, "a").unwrap_err();
    assert!(
        error
            .message()
            .ends_with("cannot judge this answer: no model"),
        "{error}"
    );
    // It is in step, so it is kept.
    assert!(judge(&scorer, "a").unwrap().correct);
}

#[test]
fn a_second_line_is_no_verdict_on_the_next_answer() {
    let project = Project::new();
    let good = "{\"correct\": true}";
    let scorer = project.sh(&format!(
        "read -r line; printf '{good}\\n{good}\\n'; sleep 1000"
    ));
    let error = judge(&scorer, "a").unwrap_err();
    let expect = "printed `{\"correct\": true}\\n` without being asked: stdout is for one reply to each line";
    assert!(error.message().ends_with(expect), "{error}");
    // Nor is a late one.
    let late = format!(
        "read -r line; echo '{good}'; until [ -e go ]; do sleep 0.01; done; echo '{good}'; echo > late; \
         exec sleep 1000"
    );
    let scorer = project.sh(&late);
    assert!(judge(&scorer, "a").unwrap().correct);
    fs::write(project.path("go"), "").unwrap();
    until("it came", || project.path("late").exists());
    let error = judge(&scorer, "a").unwrap_err();
    assert!(error.message().contains("without being asked"), "{error}");
    // Nor the reply to another line.
    let scorer = project.sh("while read -r line; do echo '{\"correct\": true, \"id\": 1}'; done");
    assert!(judge(&scorer, "a").unwrap().correct);
    let error = judge(&scorer, "a").unwrap_err();
    assert!(
        error
            .message()
            .ends_with("the reply to line 1, after line 2"),
        "{error}"
    );
}

#[test]
fn floods_are_stopped() {
    let project = Project::new();
    let scorer = project.sh("echo $$ > pid; read -r line; exec head -c 1073741824 /dev/zero");
    let started = Instant::now();
    let error = judge(&scorer, "a").unwrap_err();
    let message = error.message();
    assert!(
        message
            .contains("printed a line of more than 1048576 bytes, which begins with `\\u{0}\\u{0}"),
        "{error}"
    );
    project.assert_dead("pid");
    // Endless output to either pipe.
    let error = judge(&project.sh("read -r line; exec yes no"), "a").unwrap_err();
    assert!(error.message().contains("printed `no\\nno"), "{error}");
    let error = judge(
        &project.sh("yes no >&2 & read -r line; wait").timeout(SHORT),
        "a",
    )
    .unwrap_err();
    assert!(
        error.message().contains("did not reply in 0.3 s"),
        "{error}"
    );
    assert!(started.elapsed() < LONG);
    // Much output on stderr is harmless.
    let scorer = project.sh(
        "while read -r line; do head -c 1048576 /dev/zero >&2; echo '{\"correct\": true}'; done",
    );
    assert!(judge(&scorer, "a").unwrap().correct && judge(&scorer, "a").unwrap().correct);
}

#[test]
fn long_answers_pass() {
    let project = Project::new();
    let long = "x".repeat(256 << 10);
    let scorer = project.sh("while read -r line; do echo \"{\\\"correct\\\": true, \\\"details\\\": {\\\"n\\\": ${#line}}}\"; done");
    let bytes = judge(&scorer, &long)
        .unwrap()
        .details
        .get("n")
        .and_then(Value::as_u64);
    assert!(bytes > Some(256 << 10), "{bytes:?}");
    // A program that replies before it has read everything is not asked again.
    let scorer = project.sh("head -c 10 >&2; echo '{\"correct\": true}'; exec sleep 1000");
    assert!(judge(&scorer, &long).unwrap().correct);
    assert!(judge(&scorer, &long).unwrap().correct);
}

#[test]
fn several_threads_share_processes() {
    let project = Project::new();
    let script = "echo $$ >> pids; while read -r line; do case $line in \
        *'\"prediction\":\"odd'*) echo '{\"correct\": false}';; *) echo '{\"correct\": true}';; esac; done";
    let scorer = project.sh(script).processes(3);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let scorer = &scorer;
            scope.spawn(move || {
                for number in 0..20 {
                    let is_odd = (thread + number) % 2 == 1;
                    let prediction = if is_odd { "odd" } else { "even" };
                    assert_eq!(judge(scorer, prediction).unwrap().correct, !is_odd);
                }
            });
        }
    });
    assert!((1..=3).contains(&project.read("pids").lines().count()));
}

#[needs(setsid)]
#[test]
fn nothing_outlives_the_scorer() {
    let project = Project::new();
    // It ignores the end of stdin and SIGTERM; a child left its process group.
    let script = "trap '' TERM; echo $$ > pid; \
        setsid sh -c 'echo $$ > escaped; exec sleep 1000' > /dev/null 2>&1 & \
        sh -c 'echo $$ > child; exec sleep 1000' & \
        while [ ! -s escaped ] || [ ! -s child ]; do sleep 0.01; done; \
        read -r line; echo '{\"correct\": true}'; while :; do sleep 1; done";
    let scorer = project.sh(script);
    assert!(judge(&scorer, "a").unwrap().correct);
    let started = Instant::now();
    drop(scorer);
    for file in ["pid", "child", "escaped"] {
        project.assert_dead(file);
    }
    assert!(started.elapsed() < LONG);
    // A well-behaved program may clean up.
    let mut scorer =
        project.sh("while read -r line; do echo '{\"correct\": true}'; done; echo > tidy");
    scorer.grace = LONG;
    assert!(judge(&scorer, "a").unwrap().correct);
    drop(scorer);
    assert!(project.path("tidy").exists());
}

#[test]
fn a_program_that_ends_by_itself_is_not_waited_for() {
    let project = Project::new();
    let mut scorer = project.sh("while read -r line; do echo '{\"correct\": true}'; done");
    scorer.grace = 2 * LONG;
    assert!(judge(&scorer, "a").unwrap().correct);
    let started = Instant::now();
    drop(scorer);
    assert!(started.elapsed() < LONG);
}

#[test]
fn the_environment_is_a_list_and_secrets_are_blanked() {
    let project = Project::new();
    let script = "read -r line; env > env; echo \"key $MY_KEY\" >&2; exit 1";
    let mut scorer = project.sh(script).env(["MY_KEY", "MY_FLAG"]);
    let vars = [("MY_FLAG", "1"), ("LD_PRELOAD", ""), ("OTHER", "no")];
    let vars = vars.map(|(name, value)| (name.into(), value.into()));
    scorer.program.environment.ambient.extend(vars);
    let scorer = scorer.vars(BTreeMap::from([(
        "MY_KEY".into(),
        "from-the-file-1".into(),
    )]));
    assert_eq!(scorer.secrets(), ["from-the-file-1"]);
    let error = judge(&scorer, "a").unwrap_err();
    assert!(
        error
            .message()
            .ends_with("stderr ends with `key [REDACTED]`"),
        "{error}"
    );
    let env = project.read("env");
    let mut names: Vec<_> = env
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name)
        .collect();
    names.retain(|name| !["PWD", "SHLVL", "_", "OLDPWD"].contains(name));
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "EVALTEST_PID",
            "EVALTEST_WORKER",
            "MY_FLAG",
            "MY_KEY",
            "PATH"
        ]
    );

    let mut scorer = project.sh("exit 1").env(["GONE"]);
    let key = ("OPENAI_API_KEY".into(), "sk-1".into());
    scorer.program.environment.ambient.extend([key]);
    let error = judge(&scorer, "a").unwrap_err();
    let expect = "; set neither in the environment nor in `.env`: `GONE`; not passed to the scorer: \
        `OPENAI_API_KEY`; hint: add `env: [OPENAI_API_KEY]` to `scorer`";
    assert!(error.message().ends_with(expect), "{error}");
}

#[test]
fn room_is_waited_for_until_the_run_stops() {
    let (mut starts, mut polls) = (0, 0);
    let short = || {
        starts += 1;
        Err::<(), _>(NotStarted {
            is_shortage: true,
            ..NotStarted::new("no room".to_owned())
        })
    };
    let stops = || {
        polls += 1;
        polls == 3
    };
    assert_eq!(
        when_there_is_room(short, stops).unwrap_err().message,
        "no room"
    );
    assert_eq!((starts, polls), (3, 3));
    // Other errors are reported at once.
    let broken = || Err::<(), _>(NotStarted::new("no program".to_owned()));
    let ended = when_there_is_room(broken, || panic!("nobody waits"));
    assert_eq!(ended.unwrap_err().message, "no program");
}
