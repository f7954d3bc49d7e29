//! Every way in which a program fails by itself, or cannot be started.

use super::*;

#[test]
fn exit_code_is_recorded() {
    let error = check_error(
        Project::new().run("echo 4; echo broken >&2; exit 3"),
        FailureKind::Exited,
        "exited with code 3",
    );
    assert_eq!(error.exit_code, Some(3));
    assert_eq!(error.stderr_tail.as_deref(), Some("broken\n"));
}

#[test]
fn a_signal_is_named() {
    let error = check_error(
        Project::new().run("kill -KILL $$"),
        FailureKind::Exited,
        "was ended by signal: 9 (SIGKILL)",
    );
    assert_eq!(error.exit_code, None);
}

#[test]
fn silence_is_a_failure_with_its_stderr() {
    let error = check_error(
        Project::new().run("echo 'no \u{1b}[31mmodel' >&2"),
        FailureKind::NoOutput,
        "exited successfully but printed nothing to stdout",
    );
    assert_eq!(error.stderr_tail.as_deref(), Some("no \u{1b}[31mmodel\n"));
}

#[test]
fn a_reply_that_is_no_json_is_bad_output() {
    let project = Project::new();
    let command = project.sh("printf 'oops\\377'").output(Reply::Json);
    let error = command.answer(&project.task("")).unwrap_err();
    assert_eq!(error.kind, FailureKind::BadOutput);
}

#[test]
fn an_error_reply_is_the_agents_own() {
    let project = Project::new();
    let command = project
        .sh(r#"echo '{"error": "quota"}'"#)
        .output(Reply::Json);
    check_error(
        command.answer(&project.task("")),
        FailureKind::Failed,
        "quota",
    );
}

#[test]
fn bytes_that_are_no_text_do_no_harm() {
    let text = Project::new().text("printf '\\377\\033[2J\\000'");
    assert_eq!(text, "\u{FFFD}\u{1b}[2J\0");
}

#[test]
fn failures_name_the_keys_that_were_not_passed() {
    let project = Project::new();
    let mut command = project.sh("exit 1").env(["GONE"]);
    let key = ("OPENAI_API_KEY".into(), "sk-1".into());
    command.program.environment.ambient.extend([key]);
    check_error(
        command.answer(&project.task("")),
        FailureKind::Exited,
        "exited with code 1; set neither in the environment nor in `.env`: `GONE`; not passed to the \
         agent: `OPENAI_API_KEY`; hint: add `env: [OPENAI_API_KEY]` to `agent`",
    );
}

#[track_caller]
fn check_start(project: &Project, argv: &[&str], kind: FailureKind, message: &str) {
    let message = message.replace("FOLDER", &project.folder.path().display().to_string());
    check_error(
        project.command(argv).answer(&project.task("")),
        kind,
        &message,
    );
}

#[test]
fn programs_that_are_not_there() {
    let project = Project::new();
    project.file("agent.sh", "#!/bin/sh\n", 0o755);
    project.file("orphan", "#!/no/such/interpreter\n", 0o755);
    let check = |name, message| check_start(&project, &[name], FailureKind::NotFound, message);
    check(
        "no-such-agent",
        "command not found: `no-such-agent` is not in `PATH`",
    );
    check(
        "agent.sh",
        "command not found: `agent.sh` is not in `PATH`; hint: write `./agent.sh` for the file in `FOLDER`",
    );
    check(
        "./gone",
        "command not found: `./gone`, looked for from `FOLDER`",
    );
    check(
        "./orphan",
        "the interpreter that `FOLDER/orphan` asks for was not found; hint: see its first line",
    );
}

#[test]
fn programs_that_cannot_be_started() {
    let project = Project::new();
    project.file("plain", "#!/bin/sh\n", 0o644);
    project.file("data", "no program\n", 0o755);
    let check = |argv: &[&str], message| {
        check_start(&project, argv, FailureKind::NotStarted, message);
    };
    check(&[], "the agent's `command` is empty");
    check(&[""], "`command` begins with an empty name");
    check(
        &["./plain"],
        "`FOLDER/plain` is not executable; hint: chmod +x FOLDER/plain",
    );
    check(&["./scratch"], "`FOLDER/scratch` is a folder");
    check(
        &["./data"],
        "`FOLDER/data` is neither a program nor a script; hint: begin it with a line such as `#!/bin/sh`",
    );
    check(
        &["true", "a\0b"],
        "`true` cannot be started: an argument or a variable contains a NUL byte; hint: use stdin: leave \
         `{prompt}` out of `command`",
    );
}

#[test]
fn a_folder_that_is_not_there() {
    let project = Project::new();
    let command = project.sh("true").cwd(Cwd::Folder("gone".into()));
    let message = format!(
        "no such folder to run in: `{}`",
        project.path("gone").display()
    );
    check_error(
        command.answer(&project.task("")),
        FailureKind::NotStarted,
        &message,
    );
}

#[test]
fn a_prompt_too_long_for_an_argument() {
    let project = Project::new();
    let command = project.command(&["true", "{prompt}"]);
    check_error(
        command.answer(&project.task(&"x".repeat(3 << 20))),
        FailureKind::NotStarted,
        "3145732 bytes of arguments exceed the system's limit; hint: use stdin: leave `{prompt}` out \
         of `command` and the agent reads the prompt there",
    );
}

#[test]
fn a_program_still_being_written_is_waited_for() {
    let project = Project::new();
    project.file("agent", "#!/bin/sh\necho ready", 0o755);
    let writer = fs::File::options()
        .append(true)
        .open(project.path("agent"))
        .unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            drop(writer);
        });
        let command = project.command(&["./agent"]);
        assert_eq!(command.answer(&project.task("")), Ok("ready".into()));
    });
}
