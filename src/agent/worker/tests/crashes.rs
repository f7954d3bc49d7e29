//! Processes that end during a request.

use super::*;

#[test]
fn one_sample_that_crashes_the_program_takes_no_other_with_it() {
    let project = Project::new();
    let script = "echo >> started; while take; do \
        case $id in bad*) echo \"no memory for $id\" >&2; exit 3;; esac; answer $id; done";
    let worker = project.sh(script).processes(2).in_flight(4);
    let ids: Vec<_> = (0..24)
        .map(|number| match number {
            3 | 17 => format!("bad{number}"),
            _ => format!("t{number}"),
        })
        .collect();
    let reply = std::thread::scope(|scope| {
        let worker = &worker;
        let ask = |id: &String| {
            let task = task(id);
            scope.spawn(move || ask_until_replied(worker, &task))
        };
        let requests: Vec<_> = ids.iter().map(ask).collect();
        let reply = requests.into_iter().map(|thread| thread.join().unwrap());
        reply.collect::<Vec<_>>()
    });
    for (id, (reply, lost)) in ids.iter().zip(reply) {
        assert!(lost <= 1, "{id} was lost {lost} times");
        if id.starts_with("bad") {
            let failure = check_error(reply, FailureKind::Exited, "exited with code 3");
            assert_eq!(failure.exit_code, Some(3));
            assert_eq!(failure.stderr_tail, Some(format!("no memory for {id}\n")));
        } else {
            check_text(&reply, "4");
        }
    }
    // Twice for each that crashes it, and for each slot.
    assert!(project.lines("started") <= 6);
}

#[test]
fn a_process_that_is_killed_is_started_again() {
    let project = Project::new();
    // The first one hangs.
    let script = "echo $$ > pid; while take; do [ -e asked ] || { echo > asked; sleep 1000; }; answer $id; done";
    let worker = project.sh(script);
    std::thread::scope(|scope| {
        let requests = scope.spawn(|| ask_until_replied(&worker, &task("a")));
        until("it was asked", || project.path("asked").exists());
        let pid = project.read("pid");
        let kill = std::process::Command::new("kill")
            .args(["-9", pid.trim()])
            .status();
        assert!(kill.unwrap().success());
        let (reply, lost) = requests.join().unwrap();
        check_text(&reply, "4");
        assert_eq!(lost, 1);
    });
    // And also while idle.
    let pid = project.read("pid");
    let kill = std::process::Command::new("kill")
        .args(["-9", pid.trim()])
        .status();
    assert!(kill.unwrap().success());
    project.assert_dead("pid");
    let (reply, _) = ask_until_replied(&worker, &task("b"));
    check_text(&reply, "4");
}

#[test]
fn a_program_may_end_after_every_answer() {
    let project = Project::new();
    let worker = project.sh("echo >> started; take; answer $id");
    for number in 0..5 {
        let (reply, _) = ask_until_replied(&worker, &task(&format!("t{number}")));
        check_text(&reply, "4");
    }
    // The last line may lack its end.
    let worker = project.sh(r#"take; printf '{"id":"%s","answer":"5"}' $id"#);
    let (reply, lost) = ask_until_replied(&worker, &task("a"));
    check_text(&reply, "5");
    assert_eq!(lost, 0);
}

#[test]
fn a_program_that_only_crashes_is_given_up() {
    let project = Project::new();
    let worker = project
        .sh("echo >> started; take; echo broken >&2; exit 1")
        .in_flight(4);
    let mut kinds = Vec::new();
    for number in 0..10 {
        let (reply, _) = ask_until_replied(&worker, &task(&format!("t{number}")));
        kinds.push(reply.unwrap_err());
    }
    let exited = AgentError {
        exit_code: Some(1),
        stderr_tail: Some("broken\n".to_owned()),
        ..AgentError::of(FailureKind::Exited, "exited with code 1")
    };
    assert_eq!(
        kinds[..4],
        [
            exited.clone(),
            exited.clone(),
            exited.clone(),
            exited.clone()
        ]
    );
    let message = "the program ended on 5 samples in a row; the last time it exited with code 1";
    let unusable = AgentError {
        kind: FailureKind::Unusable,
        message: message.to_owned(),
        ..exited
    };
    assert_eq!(kinds[4], unusable);
    // It is reported once; for the others the run is over.
    assert!(
        kinds[5..]
            .iter()
            .all(|failure| failure.kind == FailureKind::Cancelled)
    );
    assert_eq!(project.lines("started"), 10);
    // The next run tries it again.
    assert!(worker.check().is_ok());
    check_error(
        ask_until_replied(&worker, &task("a")).0,
        FailureKind::Exited,
        "exited with code 1",
    );
}

#[test]
fn a_program_that_only_chatters_is_given_up() {
    let project = Project::new();
    let worker = project.sh("echo >> started; while take; do echo $id comes; answer $id; done");
    for number in 0..4 {
        let failure = worker.answer(&task(&format!("t{number}"))).unwrap_err();
        assert_eq!(failure.kind, FailureKind::BadOutput);
    }
    let failure = worker.answer(&task("last")).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unusable);
    let start =
        "the program ended on 5 samples in a row; the last time it printed `last comes` to stdout";
    assert!(failure.message.starts_with(start), "{}", failure.message);
    assert_eq!(project.lines("started"), 5);
}

#[test]
fn a_program_that_never_greets_is_given_up() {
    let project = Project::new();
    let worker = project
        .sh("echo >> started; echo no model >&2; exit 1")
        .handshake(LONG);
    let failure = worker.answer(&task("a")).unwrap_err();
    let message = "exited with code 1 before it said hello";
    assert_eq!(
        (failure.kind, failure.message.as_str()),
        (FailureKind::Unusable, message)
    );
    assert_eq!(failure.stderr_tail.as_deref(), Some("no model\n"));
    assert_eq!(project.lines("started"), 3);
    let error = worker.check().unwrap_err().to_string();
    assert!(
        error.contains("exited with code 1 before it said hello; stderr ends with `no model`"),
        "{error}"
    );

    let worker = project
        .sh("sleep 1000")
        .handshake(Duration::from_millis(50));
    check_error(
        worker.answer(&task("a")),
        FailureKind::Unusable,
        "did not print its hello in 50 ms (does it flush its stdout?)",
    );
    let worker = project
        .sh(r#"echo '{"type":"hello","protocol":2}'; sleep 1000"#)
        .handshake(LONG);
    let message = "speaks version 2 of the protocol, but this evaltest speaks version 1";
    let failure = worker.answer(&task("a")).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Misconfigured);
    assert!(failure.message.ends_with(message), "{}", failure.message);
    let error = worker.check().unwrap_err();
    assert!(error.to_string().contains(message), "{error}");
    assert_eq!(error.exit(), crate::Exit::Usage);
}

#[test]
fn a_program_that_is_not_there_is_a_mistake_in_the_spec() {
    let worker = Worker::new(["./gone.sh"], "/tmp");
    let error = worker.check().unwrap_err();
    let message = "agent `worker`: command not found: `./gone.sh`, looked for from `/tmp`";
    assert_eq!(
        (error.message(), error.exit()),
        (message, crate::Exit::Usage)
    );
    let failure = worker.answer(&task("a")).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unusable);
}
