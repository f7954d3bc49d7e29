//! Requests and replies when all is well.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::*;
use crate::Usage;
use crate::data::task::Live;

#[test]
fn a_process_answers_many_tasks() {
    let project = Project::new();
    let worker = project.sh("echo >> started; while take; do answer $id is-$id; done");
    for id in ["a", "b", "c"] {
        check_text(&worker.answer(&task(id)), &format!("is-{id}"));
    }
    assert_eq!(project.lines("started"), 1);
}

#[test]
fn a_task_is_the_line_that_a_command_gets() {
    let project = Project::new();
    let worker = project
        .each("printf '%s\\n' \"$line\" > asked; answer $id")
        .scratch();
    let scratch = project.path("scratch");
    let task = Task {
        scratch: Some(scratch.clone()),
        ..task("a")
    };
    check_text(&worker.answer(&task), "4");
    assert!(worker.needs_scratch());
    let requests: Value = serde_json::from_str(&project.read("asked")).unwrap();
    let expect = json!({
        "id": "a", "prompt": "2+2?", "question": "2+2?", "files": [], "metadata": {}, "tools": [],
        "options": {}, "epoch": 0, "attempt": 1, "scratch": scratch,
    });
    assert_eq!(requests, expect);
}

#[test]
fn answers_find_their_tasks_in_any_order() {
    let project = Project::new();
    // Answers four at once, the last one first.
    let script = "while take && a=$id && take && b=$id && take && c=$id && take; do \
        answer $id $id; answer $c $c; answer $b $b; answer $a $a; done";
    let worker = project.sh(script).in_flight(4);
    let tasks: Vec<_> = (0..16).map(|number| task(&format!("t{number}"))).collect();
    for (task, reply) in tasks.iter().zip(ask_all(&worker, &tasks)) {
        check_text(&reply, task.id());
    }
}

#[test]
fn no_more_is_in_flight_than_allowed_and_every_process_gets_its_share() {
    let project = Project::new();
    // No answer before everything is asked: otherwise a slot could be reused.
    let script = "echo >> started; while take && a=$id && take; do echo >> pairs; \
        until [ $(grep -c ^ pairs) = 3 ]; do sleep 0.01; done; answer $id; answer $a; done";
    let worker = project.sh(script).processes(3).in_flight(2);
    assert_eq!(worker.capacity(), 6);
    let tasks: Vec<_> = (0..6).map(|number| task(&format!("t{number}"))).collect();
    for reply in ask_all(&worker, &tasks) {
        check_text(&reply, "4");
    }
    assert_eq!(project.lines("started"), 3);
    // Those without a slot wait their turn.
    let script = "echo >> again; while take; do answer $id; done";
    let worker = project.sh(script).processes(3).in_flight(2);
    let tasks: Vec<_> = (0..30).map(|number| task(&format!("t{number}"))).collect();
    for reply in ask_all(&worker, &tasks) {
        check_text(&reply, "4");
    }
    assert!(project.lines("again") <= 3);
}

#[test]
fn one_id_is_in_a_process_once() {
    let project = Project::new();
    // A second task with the same id would come before the answer.
    let worker = project.sh(
        "while take; do echo $id >> asked; while [ ! -f go ]; do sleep 0.01; done; answer $id; done",
    );
    let worker = worker.in_flight(4);
    std::thread::scope(|scope| {
        let requests: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| worker.answer(&task("same"))))
            .collect();
        std::thread::sleep(Duration::from_millis(100));
        fs::write(project.path("go"), "").unwrap();
        for reply in requests {
            check_text(&reply.join().unwrap(), "4");
        }
    });
    assert_eq!(project.lines("asked"), 3);
}

#[test]
fn greeting_program_gets_requests_once_ready() {
    let project = Project::new();
    // The start-up time does not count for the task.
    let (worker, reply) = given_time(SHORT, |time| {
        let start = format!("sleep {}", (time * 2).as_secs_f64());
        let hello = r#"printf '%s\n' "$line" > hello"#;
        let ready = r#"printf '{"type":"hello","protocol":1}\n'"#;
        let script =
            format!("read -r line; {hello}; {start}; {ready}; while take; do answer $id; done");
        let worker = project.sh(&script).handshake(LONG).in_flight(3);
        let reply = worker.answer(&task_within("a", time));
        (!is_late(&reply)).then_some((worker, reply))
    });
    check_text(&reply, "4");
    let hello: Value = serde_json::from_str(&project.read("hello")).unwrap();
    assert_eq!(
        hello,
        json!({"type": "hello", "protocol": 1, "in_flight": 3})
    );
    assert!(worker.check().is_ok());
}

#[test]
fn progress_is_displayed_and_not_an_answer() {
    let project = Project::new();
    let progress = r#"printf '{"id":"%s","type":"progress","message":"half"}\n{"id":"%s","progress":1}\n\n' $id $id"#;
    let worker = project.each(&format!("{progress}; echo said >&2; sleep 0.1; answer $id"));
    let lines = Arc::new(Mutex::new(Vec::new()));
    let collected = Arc::new(Mutex::new(Vec::new()));
    let into = |lines: &Arc<Mutex<Vec<String>>>| {
        let own = Arc::clone(lines);
        Some(Live(Arc::new(move |line: &str| {
            own.lock().unwrap().push(line.to_owned());
        })))
    };
    let task = Task {
        live: into(&lines),
        progress: into(&collected),
        ..task("a")
    };
    check_text(&worker.answer(&task), "4");
    // Its stderr lines may be about any task.
    assert_eq!(*collected.lock().unwrap(), ["half", "1"]);
    let mut lines = lines.lock().unwrap().clone();
    lines.sort();
    assert_eq!(lines, ["1", "half", "said"]);
}

#[test]
fn what_a_program_used_in_all_is_what_the_answers_cost() {
    let project = Project::new();
    let reply = r#"printf '{"id":"%s","answer":"4","total_usage":{"input_tokens":%s,"cost_usd":%s.5}}\n' $id $n $n"#;
    let worker = project.sh(&format!("n=0; while take; do n=$((n + 10)); {reply}; done"));
    let used = |input, cost| {
        Some(Usage {
            cached_tokens: None,
            input_tokens: Some(input),
            output_tokens: None,
            cost_usd: Some(cost),
        })
    };
    assert_eq!(worker.answer(&task("a")).unwrap().usage, used(10, 10.5));
    assert_eq!(worker.answer(&task("b")).unwrap().usage, used(10, 10.0));
    // A new process counts from zero.
    worker.close();
    assert_eq!(worker.answer(&task("c")).unwrap().usage, used(10, 10.5));
}

#[test]
fn a_long_task_and_a_long_answer_pass_each_other() {
    let project = Project::new();
    let blanks = "printf '%200000s' ''";
    let script = format!(
        r#"{blanks} | tr ' ' '\n' | head -c 100000; take; answer "$id" "$({blanks} | tr ' ' x)""#
    );
    let worker = project.sh(&script);
    let task = Task {
        prompt: "y".repeat(400_000).into(),
        ..task("a")
    };
    check_text(&worker.answer(&task), &"x".repeat(200_000));
}
