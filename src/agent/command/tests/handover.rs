//! What the program gets: stdin, arguments, variables, folder.

use serde_json::{Value, json};

use super::*;
use crate::data::task::Visible;
use crate::data::{Sample, TaskFile};

#[test]
fn the_prompt_is_on_stdin() {
    assert_eq!(Project::new().text("cat"), "2+2?");
}

#[test]
fn the_prompt_can_be_an_argument() {
    let project = Project::new();
    let script = r#"printf '%s|' "$@"; cat"#;
    let command = project.command(&["sh", "-c", script, "sh", "--ask={prompt}", "{prompt}"]);
    // Shell syntax, another placeholder and a line ending arrive unchanged.
    let output = command.answer(&project.task("a'; $(b) {prompt}\n"));
    let expected = "--ask=a'; $(b) {prompt}\n|a'; $(b) {prompt}\n|";
    assert_eq!(output, Ok(expected.into()));
}

#[test]
fn a_json_task_is_one_line() {
    let project = Project::new();
    let mut task = project.task("Answer briefly.\n2+2?");
    let mut sample = Sample::new("s/1", "2+2?");
    sample.metadata = [("level", json!(1)), ("hidden", json!("solution"))]
        .map(|(key, value)| (key.to_owned(), value))
        .into_iter()
        .collect();
    sample.visible = vec!["level".into()];
    sample.tools = vec![json!({"name": "add"})];
    task.visible = Arc::new(Visible::of(&sample));
    task.options = Arc::new([("fast".to_owned(), json!(true))].into_iter().collect());
    task.files = vec![TaskFile {
        name: "a.csv".into(),
        path: "/data/a.csv".into(),
    }];
    task.epoch = 2;
    task.attempt = 3;

    let command = project.sh("cat; printf x").input(Input::Json);
    let text = command.answer(&task).unwrap().text.unwrap();
    let line = text.strip_suffix("\nx").unwrap();
    assert!(!line.contains('\n'));
    let value: Value = serde_json::from_str(line).unwrap();
    let expected = json!({
        "id": "s/1",
        "prompt": "Answer briefly.\n2+2?",
        "question": "2+2?",
        "files": [{"name": "a.csv", "path": "/data/a.csv"}],
        "metadata": {"level": 1},
        "tools": [{"name": "add"}],
        "options": {"fast": true},
        "epoch": 2,
        "attempt": 3,
        "scratch": project.path("scratch"),
    });
    assert_eq!(value, expected);
}

#[test]
fn a_json_reply_is_read() {
    let project = Project::new();
    let command = project
        .sh(r#"echo '{"answer": 4, "usage": {"input_tokens": 7}}'"#)
        .output(Reply::Json);
    let output = command.answer(&project.task("2+2?")).unwrap();
    assert_eq!(output.text.as_deref(), Some("4"));
    assert_eq!(output.usage.unwrap().input_tokens, Some(7));
}

#[test]
fn the_environment_is_exact() {
    let project = Project::new();
    let mut command = project
        .command(&["env"])
        .env(["MY_KEY", "FROM_FILE", "NOWHERE"])
        .vars(BTreeMap::from([("FROM_FILE".into(), "f".into())]));
    let more = [
        ("HOME", "/h"),
        ("LD_PRELOAD", "x"),
        ("MY_KEY", "k"),
        ("OTHER_API_KEY", "no"),
    ];
    let more = more.map(|(name, value)| (name.into(), value.into()));
    command.program.environment.ambient.extend(more);

    let text = command.answer(&project.task("")).unwrap().text.unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let scratch = format!("EVALTEST_SCRATCH={}", project.path("scratch").display());
    let path = format!("PATH={}", search_path().display());
    let watched = format!("EVALTEST_PID={}", std::process::id());
    let expected = [
        "EVALTEST_ATTEMPT=1",
        "EVALTEST_EPOCH=0",
        &watched,
        "EVALTEST_SAMPLE_ID=sample-1",
        &scratch,
        "FROM_FILE=f",
        "HOME=/h",
        "MY_KEY=k",
        &path,
    ];
    assert_eq!(lines, expected);
}

#[test]
fn the_folder_is_the_specs_or_the_scratch_folder() {
    let project = Project::new();
    fs::create_dir(project.path("sub")).unwrap();
    let pwd = |command: Command| command.answer(&project.task("")).unwrap().text;
    let expected_path = |name: &str| {
        let path = project.path(name).canonicalize().unwrap();
        Some(path.display().to_string())
    };
    let command = || project.sh("pwd -P");
    assert_eq!(pwd(command()), expected_path(""));
    assert_eq!(
        pwd(command().cwd(Cwd::Folder("sub".into()))),
        expected_path("sub")
    );
    assert_eq!(pwd(command().cwd(Cwd::Scratch)), expected_path("scratch"));
}

#[test]
fn a_relative_program_is_found_from_the_specs_folder() {
    let project = Project::new();
    project.file("agent", "#!/bin/sh\necho here", 0o755);
    let command = project.command(&["./agent"]).cwd(Cwd::Scratch);
    assert_eq!(command.answer(&project.task("")), Ok("here".into()));
}

#[test]
fn a_bare_name_is_found_in_the_allowed_path() {
    let project = Project::new();
    project.file("not-executable", "#!/bin/sh\necho wrong", 0o644);
    fs::create_dir(project.path("first")).unwrap();
    fs::create_dir(project.path("second")).unwrap();
    project.file("first/agent", "#!/bin/sh\necho wrong", 0o644);
    project.file("second/agent", "#!/bin/sh\necho right", 0o755);
    let mut command = project.command(&["agent"]);
    let path = std::env::join_paths([project.path("first"), project.path("second")]).unwrap();
    command
        .program
        .environment
        .ambient
        .insert("PATH".into(), path);
    assert_eq!(command.answer(&project.task("")), Ok("right".into()));
}

#[test]
fn output_is_streamed() {
    let project = Project::new();
    let seen: Arc<std::sync::Mutex<Vec<(StreamKind, String)>>> = Arc::default();
    let sink = Arc::clone(&seen);
    let expected_path = project.path("shown");
    let command = project
        .sh("echo note >&2; until [ -e shown ]; do sleep 0.01; done; echo answer")
        .stream(Arc::new(move |kind, bytes| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            fs::write(&expected_path, "").unwrap();
            sink.lock().unwrap().push((kind, text));
        }));
    assert_eq!(command.answer(&project.task("")), Ok("answer".into()));
    let expected = [
        (StreamKind::Stderr, "note\n".to_owned()),
        (StreamKind::Stdout, "answer\n".to_owned()),
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[cfg(feature = "http")]
#[test]
fn packed_output_is_unpacked() {
    let project = Project::new();
    let output = project.run("echo 42 | gzip").unwrap();
    assert_eq!(output.text.as_deref(), Some("42"));
    let agent = project.sh("head -c 4000 /dev/zero | tr '\\0' x | gzip");
    let error = agent
        .max_output_bytes(1000)
        .answer(&project.task("?"))
        .unwrap_err();
    assert_eq!(error.kind, FailureKind::OutputTooLarge);
}
