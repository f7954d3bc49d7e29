//! Mistakes that are found before anything starts: one clear error, exit 2, no agent asked, no run
//! directory.

use std::fs;

use crate::project::{Project, Ran};
use crate::schema::equal::refused_too;

mod data;
mod judge;
mod kinds;

const GOOD: &str = "name: e
benchmark: { type: gaia, path: data.jsonl }
prompt: none
agent: { type: command, command: [./agent.sh] }
";

/// A project whose agent leaves a mark when it is started.
fn project() -> Project {
    let project = Project::new();
    project.questions(&[("a", 1, "One?", "1"), ("b", 2, "Two?", "2")]);
    project.script("agent.sh", "#!/bin/sh\ntouch started\necho 1\n");
    project.write("eval.yaml", GOOD);
    project
}

/// Asserts that the program refused: `place` stands first, the hint holds `hint`.
#[track_caller]
fn refused(project: &Project, ran: Ran, place: &str, error: &str, hint: &str) {
    let folder = fs::canonicalize(project.path()).unwrap();
    let stderr = ran.err.replace(&format!("{}/", folder.display()), "");
    let ran = ran.exits(2).says_nothing_of("panicked");
    assert_eq!(ran.out, "", "nothing on standard output");
    assert_eq!(stderr.matches("error: ").count(), 1, "{stderr}");
    let (first, rest) = stderr.split_once("\n\nhint: ").expect(&stderr);
    assert!(!first.contains('\n'), "the error is one line: {stderr}");
    assert!(first.starts_with(&format!("error: {place}")), "{stderr}");
    assert!(first.contains(error), "`{error}` is missing in: {stderr}");
    assert!(rest.contains(hint), "`{hint}` is missing in: {stderr}");
    assert!(!project.file("started").exists(), "an agent was started");
    assert!(!project.file("evaltest-runs").exists(), "a run was begun");
}

/// The good spec with one text in it replaced.
#[track_caller]
fn check_spec(from: &str, to: &str, place: &str, error: &str, hint: &str) {
    let project = project();
    assert!(GOOD.contains(from));
    let text = GOOD.replacen(from, to, 1);
    refused_too(&text, error);
    project.write("eval.yaml", text);
    refused(&project, project.run("run eval.yaml"), place, error, hint);
}

/// The good spec with these lines behind it, which begin on line 5.
#[track_caller]
fn check_more(more: &str, place: &str, error: &str, hint: &str) {
    let project = project();
    let text = format!("{GOOD}{more}\n");
    refused_too(&text, error);
    project.write("eval.yaml", text);
    refused(&project, project.run("run eval.yaml"), place, error, hint);
}

/// The good spec with these flags.
#[track_caller]
fn check_flags(flags: &[&str], place: &str, error: &str, hint: &str) {
    let project = project();
    let mut arguments = vec!["run", "eval.yaml"];
    arguments.extend(flags);
    let ran = Ran::of(&project.command_of(&arguments).output().unwrap());
    refused(&project, ran, place, error, hint);
}

#[test]
fn the_good_spec_is_good() {
    let project = project();
    project.run("run -v eval.yaml").exits(0).says("1 correct");
    assert!(project.file("started").exists());
}

#[test]
fn unknown_keys_name_the_nearest() {
    check_more(
        "limts: {}",
        "eval.yaml:5:1: ",
        "unknown key `limts`",
        "did you mean `limits`?",
    );
    check_more(
        "limits:\n  retries: 1\n  concurency: 2",
        "eval.yaml:7:3: ",
        "unknown key `limits.concurency`",
        "did you mean `concurrency`?",
    );
    check_spec(
        "command: [",
        "comand: [",
        "eval.yaml:4:",
        "unknown key `agent.comand`",
        "did you mean `command`?",
    );
    check_spec(
        "command: [",
        "cmd: [",
        "eval.yaml:4:",
        "unknown key `agent.cmd`",
        "did you mean `command`?",
    );
    check_spec(
        "path: data",
        "pfad: data",
        "eval.yaml:2:",
        "unknown key `benchmark.pfad`",
        "legal keys: `path`",
    );
    check_more(
        "name: f",
        "eval.yaml:5:1: ",
        "duplicate key `name`",
        "keep one",
    );
}

#[test]
fn wrong_types_say_what_is_needed() {
    check_more(
        "limits: { concurrency: many }",
        "eval.yaml:5:24: ",
        "limits.concurrency: a whole number is needed, found string \"many\"",
        "such as `4`",
    );
    check_more(
        "gates: 3",
        "eval.yaml:5:8: ",
        "gates: a list is needed, found integer `3`",
        "[a, b]",
    );
    check_more(
        "limits: [1]",
        "eval.yaml:5:",
        "limits: a map is needed",
        "{ key: value }",
    );
    check_more(
        "limits: { fail_fast: 3 }",
        "eval.yaml:5:",
        "limits.fail_fast: a boolean is needed",
        "`true`",
    );
    check_more(
        "snapshot: { assert: exakt }",
        "eval.yaml:5:",
        "snapshot.assert: unknown value `exakt`",
        "`exact`",
    );
    check_spec(
        "prompt: none",
        "prompt: offical",
        "eval.yaml:3:",
        "unknown value `offical`",
        "`official`",
    );
    check_spec(
        GOOD,
        "- 1\n",
        "eval.yaml:1:1: ",
        "a map is needed, found sequence",
        "{ key: value }",
    );
    check_spec(
        GOOD,
        "",
        "eval.yaml:1:1: ",
        "missing key `benchmark`",
        "benchmark: { type: gaia",
    );
    check_spec(
        "agent: ",
        "# ",
        "eval.yaml:1:1: ",
        "missing key `agent`",
        "agent: { type: command",
    );
}

#[test]
fn limits_that_make_no_sense() {
    check_more(
        "limits: { concurrency: 0 }",
        "eval.yaml:5:24: ",
        "at least 1",
        "from 1",
    );
    check_more(
        "limits: { limit: 0 }",
        "eval.yaml:5:18: ",
        "limits.limit must be at least 1",
        "from 1",
    );
    check_more(
        "limits: { timeout_s: -1 }",
        "eval.yaml:5:22: ",
        "is not a number of seconds",
        "timeout_s: 30",
    );
    check_more(
        "limits: { timeout_s: .nan }",
        "eval.yaml:5:22: ",
        "is not a number of seconds",
        "timeout_s: 30",
    );
    check_flags(
        &["--concurrency", "0"],
        "eval.yaml: ",
        "at least 1",
        "from 1",
    );
}

#[test]
fn unknown_names_list_the_legal_ones() {
    check_spec(
        "type: gaia",
        "type: gaja",
        "eval.yaml:2:20: ",
        "unknown benchmark `gaja`",
        "legal names: `gaia`",
    );
    check_spec(
        "type: command",
        "type: comand",
        "eval.yaml:4:16: ",
        "unknown agent `comand`",
        "did you mean `command`? legal names: `command`, `worker`, `acp`, `openai`, `http`, `replay`, `echo`, `demo`",
    );
    check_more(
        "scorer: { type: gaya }",
        "eval.yaml:5:17: ",
        "unknown scorer `gaya`",
        "`gaia`",
    );
    check_more(
        "extract: final_answr",
        "eval.yaml:5:10: ",
        "unknown extraction `final_answr`",
        "did you mean `final_answer`?",
    );
    check_flags(
        &["--agent", "ecko"],
        "eval.yaml: ",
        "unknown agent `ecko`",
        "did you mean `echo`?",
    );
}

#[test]
fn gates_that_cannot_be_checked() {
    let check = |gates: &str, place: &str, error: &str, hint: &str| {
        check_more(
            &format!("gates:\n  - error_rate <= 0.10\n{gates}"),
            place,
            error,
            hint,
        );
    };
    check(
        "  - accuracy is good",
        "eval.yaml:7:5: ",
        "gate `accuracy is good`",
        "`>=`",
    );
    check(
        "  - acuracy >= 0.5",
        "eval.yaml:7:5: ",
        "unknown metric `acuracy`",
        "did you mean `accuracy`?",
    );
    check(
        "  - accuracy >= 0.50\n  - accuracy >= 0.60",
        "eval.yaml:8:5: ",
        "two gates are called `accuracy`",
        "keep one",
    );
    check(
        "  - error_rate <= 0.20",
        "eval.yaml:7:5: ",
        "two gates are called `error_rate`",
        "keep one",
    );
    check(
        "  - accuracy[level=9] >= 0.50",
        "eval.yaml:7:5: ",
        "matches no sample",
        "the values of `level` are `1`, `2`",
    );
    check(
        "  - accuracy[lvl=1] >= 0.5",
        "eval.yaml:7:5: ",
        "no sample has a `lvl`",
        "`level`",
    );
    check(
        "  - accuracy >= 150%",
        "eval.yaml:7:5: ",
        "must be between 0 and 1",
        "",
    );
}

#[test]
fn yaml_that_is_broken() {
    check_more(
        "redact: ['a(']",
        "eval.yaml:5:10: ",
        "`a(` is not a regular expression",
        "corp-[0-9]+",
    );
    check_more("x: [1", "eval.yaml:", "", "");
    check_spec(
        "name: e",
        "name: e\n\tx: 1",
        "eval.yaml:2:1: ",
        "tab",
        "indentation",
    );
    check_spec(
        "prompt: none",
        "prompt: { template: hello }",
        "eval.yaml:3:21: ",
        "no `{prompt}`",
        "{prompt}",
    );
    let project = project();
    project.write("eval.yaml", b"name: e\n# \xff\n");
    refused(
        &project,
        project.run("run eval.yaml"),
        "eval.yaml:2:3: ",
        "not valid UTF-8",
        "iconv",
    );
    refused(
        &project,
        project.run("run none.yaml"),
        "cannot read the spec",
        "`none.yaml`",
        "init",
    );
}

#[test]
fn flags_that_make_no_sense() {
    check_flags(
        &["--set", "nonsense"],
        "`nonsense` is not of the form",
        "",
        "write `nonsense=value`",
    );
    check_flags(
        &["--set", "=3"],
        "`=3` is not of the form",
        "",
        "write `key=value`",
    );
    check_flags(&["--set", "name=[1"], "`[1` is not YAML", "", "quote it");
    check_flags(
        &["--set", "limits.concurency=3"],
        "eval.yaml with `limits.concurency=3`: ",
        "unknown key",
        "`concurrency`",
    );
    check_flags(
        &["--set", "limits.retries=often"],
        "eval.yaml with `limits.retries=",
        "a whole number is needed",
        "such as",
    );
    check_flags(
        &["--set", "name.x=3"],
        "eval.yaml with `name.x=3`: a text is needed, found map",
        "",
        "",
    );
    check_flags(
        &["--agent", "{type:"],
        "`{type:` is not YAML",
        "",
        "quote it",
    );
    check_flags(
        &["--agent", "{path: x}"],
        "eval.yaml with ",
        "missing key `type` of an agent",
        "add `type: NAME`; legal names: `command`",
    );
    check_flags(
        &["--redact-pattern", "a("],
        "redact pattern `a(`",
        "not a regular expression",
        "corp-",
    );
    check_flags(
        &["--run-id", "a/b"],
        "run id `a/b`",
        "not a file name",
        "letters",
    );
    check_flags(
        &["--resume", "none"],
        "there is no run `none`",
        "",
        "cargo evaltest runs",
    );
    check_flags(
        &["--failed", "none"],
        "there is no run `none`",
        "",
        "cargo evaltest runs",
    );
}

#[test]
fn one_broken_eval_keeps_the_others_from_starting() {
    let project = project();
    fs::create_dir(project.file("evals")).unwrap();
    project.write("a.yaml", GOOD);
    let other = GOOD.replace("name: e", "name: f");
    project.write(
        "b.yaml",
        format!("{other}gates: ['accuracy[level=7] >= 0.5']\n"),
    );
    refused(
        &project,
        project.run("run a.yaml b.yaml"),
        "b.yaml:5:9: ",
        "matches no sample",
        "`1`, `2`",
    );
    project.write("broken.jsonl", "{");
    project.write("b.yaml", other.replace("data.jsonl", "broken.jsonl"));
    refused(
        &project,
        project.run("run a.yaml b.yaml"),
        "eval `f`: broken.jsonl:1:",
        "broken JSON",
        "one JSON object",
    );
}
