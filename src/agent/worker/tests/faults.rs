//! Programs that violate the protocol, and programs that hang.

use super::*;

/// The failure of a program that prints this for each task.
fn fault(print: &str) -> AgentError {
    let project = Project::new();
    let worker = project.each(print).max_output_bytes(50_000);
    worker.answer(&task("a")).unwrap_err()
}

#[track_caller]
fn check_fault(print: &str, kind: FailureKind, message: &str) {
    let failure = fault(print);
    assert_eq!((failure.kind, failure.message.as_str()), (kind, message));
}

#[test]
fn lines_that_are_no_answers() {
    let bad = FailureKind::BadOutput;
    check_fault(
        "echo Loading... && echo why >&2",
        bad,
        "printed `Loading...` to stdout, which is not a JSON object (expected value at line 1 column 1); \
         hint: print only answers to stdout, everything else to stderr",
    );
    check_fault(
        r#"echo '{"answer": "4"}'"#,
        bad,
        "printed `{\"answer\": \"4\"}` to stdout, which has no `id`: write the `id` of the task; \
         hint: print only answers to stdout, everything else to stderr",
    );
    check_fault(
        r#"echo '{"id": "a", "text": "4"}'"#,
        bad,
        "the reply has no key `answer`; the line begins with `{\"id\": \"a\", \"text\": \"4\"}`",
    );
    check_fault(
        r#"echo '{"id": "a", "error": "no model"}'"#,
        FailureKind::Failed,
        "no model",
    );
}

#[test]
fn figures_that_cannot_be_cost_no_answer() {
    let project = Project::new();
    let reply = r#"echo '{"id": "a", "answer": "4", "total_usage": 3, "cost_usd": NaN}'"#;
    let output = project.each(reply).answer(&task("a")).unwrap();
    assert_eq!((output.text.as_deref(), output.usage), (Some("4"), None));
    assert!(output.metadata.contains_key("figures_dropped"));
}

#[test]
fn unsolicited_reply_fails_a_sample_only_when_repeated() {
    let project = Project::new();
    let worker = project.each(r#"echo '{"id": "b", "answer": "4"}'"#);
    let (reply, lost) = ask_until_replied(&worker, &task("a"));
    check_error(
        reply,
        FailureKind::BadOutput,
        "printed `{\"id\": \"b\", \"answer\": \"4\"}`, a reply to `b`, which was not asked or is already answered",
    );
    assert_eq!(lost, 1);
    // The late second answer of another sample does not affect the current one.
    let project = Project::new();
    let worker = project
        .each("test -f late && { rm late; answer a wrong; sleep 1; }; answer $id; touch late");
    check_text(&worker.answer(&task("a")), "4");
    let (reply, lost) = ask_until_replied(&worker, &task("b"));
    check_text(&reply, "4");
    assert_eq!(lost, 1);
}

#[test]
fn an_error_of_one_task_leaves_the_process_alone() {
    let project = Project::new();
    let script = r#"echo >> started; while take; do case $id in b) echo '{"id":"b","error":"no"}';; *) answer $id;; esac; done"#;
    let worker = project.sh(script);
    check_text(&worker.answer(&task("a")), "4");
    check_error(worker.answer(&task("b")), FailureKind::Failed, "no");
    check_text(&worker.answer(&task("c")), "4");
    assert_eq!(project.lines("started"), 1);
}

#[test]
fn a_second_answer_is_given_to_nobody() {
    let project = Project::new();
    let worker = project.each("answer $id; answer $id wrong").in_flight(2);
    for number in 0..6 {
        let (reply, _) = ask_until_replied(&worker, &task(&format!("t{number}")));
        match reply {
            Ok(output) => assert_eq!(output.text.as_deref(), Some("4")),
            Err(failure) => assert_eq!(failure.kind, FailureKind::BadOutput),
        }
    }
}

#[test]
fn floods_are_truncated() {
    let too_large = |begins: &str| {
        format!(
            "printed more than 50000 bytes for one answer; the output begins with `{begins}`; \
             hint: raise `limits.max_output_bytes`"
        )
    };
    let failure = fault("exec yes | tr -d '\\n'");
    assert_eq!(failure.kind, FailureKind::OutputTooLarge);
    assert!(
        failure
            .message
            .starts_with("printed more than 50000 bytes for one answer")
    );
    // Line by line, each of them well-formed.
    let progress = r#"{"id":"a","progress":"half"}"#;
    check_fault(
        &format!("exec yes '{progress}'"),
        FailureKind::OutputTooLarge,
        &too_large(progress),
    );
    let progress = r#"{"type":"progress"}"#;
    check_fault(
        &format!("exec yes '{progress}'"),
        FailureKind::OutputTooLarge,
        &too_large(progress),
    );
    check_fault("exec yes ''", FailureKind::OutputTooLarge, &too_large(""));
    // Also from an idle process.
    let project = Project::new();
    let worker = project
        .sh("echo $$ > pid; take; answer $id; exec yes ''")
        .max_output_bytes(50_000);
    check_text(&worker.answer(&task("a")), "4");
    project.assert_dead("pid");
}

#[test]
fn endless_stderr_is_no_fault_and_only_its_tail_is_stored() {
    let failure = fault("yes | head -c 3000000 >&2; echo end >&2; exit 1");
    let stderr = failure.stderr_tail.unwrap();
    assert!(stderr.ends_with("y\nend\n") && stderr.len() <= 8 * 1024);
}

#[test]
fn a_failure_shows_what_was_written_since_its_task_came() {
    let project = Project::new();
    let worker = project.each(r#"echo "at $id" >&2; sleep 0.05; [ $id = a ] && answer a || printf '{"id":"%s","error":"no"}\n' $id"#);
    check_text(&worker.answer(&task("a")), "4");
    let failure = check_error(worker.answer(&task("b")), FailureKind::Failed, "no");
    assert_eq!(failure.stderr_tail.as_deref(), Some("at b\n"));
}

#[test]
fn hanging_task_kills_its_process_and_others_are_retried() {
    let script = "echo >> started; while take; do case $id in hangs) echo > has; sleep 1000;; esac; answer $id; done";
    // The other one must be there before the timeout.
    let (project, hangs, reply) = given_time(SHORT, |time| {
        let project = Project::new();
        let worker = project.sh(script).in_flight(2);
        let (hangs, (reply, lost)) = std::thread::scope(|scope| {
            let hangs = scope.spawn(|| worker.answer(&task_within("hangs", time)));
            until("it hangs", || {
                project.path("has").exists() || hangs.is_finished()
            });
            let other = ask_until_replied(&worker, &task("a"));
            (hangs.join().unwrap(), other)
        });
        (lost == 1).then_some((project, hangs, reply))
    });
    check_text(&reply, "4");
    check_late(hangs);
    assert_eq!(project.lines("started"), 2);
}

#[test]
fn a_program_that_greeted_may_give_a_task_up() {
    let project = Project::new();
    // Answers the line after the one that hangs, which is the cancel message.
    let script = r#"printf '{"type":"hello","protocol":1}\n'; read -r hello; echo >> started; while take; do
        case $id in hangs) read -r cancel; echo "$cancel" > cancel; answer hangs late;; *) answer $id;; esac; done"#;
    let worker = project.sh(script).handshake(LONG);
    check_late(ask_in_vain(&worker, "hangs"));
    check_text(&worker.answer(&task("a")), "4");
    assert_eq!(project.lines("started"), 1);
    assert_eq!(
        project.read("cancel").trim(),
        r#"{"type":"cancel","id":"hangs"}"#
    );
    // One that does not is ended.
    let script = r#"printf '{"type":"hello","protocol":1}\n'; echo >> again; read -r hello; take; sleep 1000"#;
    let worker = project.stubborn(script).handshake(LONG);
    check_late(ask_in_vain(&worker, "hangs"));
}

#[test]
fn a_stopped_run_waits_for_nobody() {
    let project = Project::new();
    let worker = project.sh("echo $$ > pid; take; sleep 1000").in_flight(2);
    let (one, two) = (task("a"), task("b"));
    std::thread::scope(|scope| {
        let requests = [
            scope.spawn(|| worker.answer(&one)),
            scope.spawn(|| worker.answer(&two)),
        ];
        until("it runs", || !project.read("pid").is_empty());
        let started = Instant::now();
        one.cancel.cancel();
        two.cancel.cancel();
        for reply in requests {
            check_error(
                reply.join().unwrap(),
                FailureKind::Cancelled,
                "the run was interrupted",
            );
        }
        worker.close();
        assert!(started.elapsed() < LONG);
    });
    project.assert_dead("pid");
    assert_eq!(
        worker.answer(&one).unwrap_err().kind,
        FailureKind::Cancelled
    );
}
