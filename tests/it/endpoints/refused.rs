//! What an endpoint refuses for all samples.

use super::{THREE, run, run_dir};
use crate::project::Project;
use crate::server::{Answer, Server, chat, fine, refusal};

#[test]
fn what_no_sample_survives_is_told_once() {
    let check = |answer: fn() -> Answer, requests: usize, expect: &str| {
        let questions: Vec<_> = (0..20).map(|number| format!("q{number}")).collect();
        let questions: Vec<_> = questions.iter().map(|id| (&**id, 1, "?", "x")).collect();
        let server = Server::new(move |_, _| answer());
        let project = Project::with_eval(&questions, &server.openai(""), "");
        let ran = run(&project)
            .exits(2)
            .says(expect)
            .says("samples not asked");
        let times = (ran.out + &ran.err).matches("/chat/completions").count();
        assert_eq!(times, 1);
        assert!(
            server.requested().len() <= requests,
            "{}",
            server.requested().len()
        );
    };
    check(
        || refusal("401 Unauthorized", "no such key"),
        2,
        "answered 401 Unauthorized: no such key (20 samples not asked); hint: name the variable that holds the key: `api_key_env: MY_KEY`",
    );
    check(
        || refusal("404 Not Found", "The model `local` does not exist"),
        2,
        "answered 404 Not Found: The model `local` does not exist (20 samples not asked); hint: check `model`",
    );
    check(
        || {
            refusal(
                "429 Too Many Requests",
                "You exceeded your quota: insufficient_quota",
            )
        },
        2,
        "hint: the account has no credit left",
    );
}

#[test]
fn a_request_that_is_always_wrong_stops_the_run_after_three() {
    let questions: Vec<_> = (0..20).map(|number| format!("q{number}")).collect();
    let questions: Vec<_> = questions.iter().map(|id| (&**id, 1, "?", "x")).collect();
    let server = Server::new(|_, _| refusal("400 Bad Request", "temperature must be below 2"));
    let project = Project::with_eval(&questions, &server.openai(", temperature: 3"), "");
    run(&project)
        .exits(2)
        .says("answered 400 Bad Request: temperature must be below 2 (18 samples not asked); hint: check `model` \
               and the other values that the spec sends");
    assert!(
        (3..=4).contains(&server.requested().len()),
        "{}",
        server.requested().len()
    );
    // After an answer, it is the sample's own fault.
    let server = Server::new(|_, number| match number {
        0 => fine(&chat("x")),
        _ => refusal("400 Bad Request", "odd"),
    });
    let project = Project::with_eval(&questions, &server.openai(""), "");
    // One at a time, so that the answer comes first.
    project
        .run("run eval.yaml --output-root runs --concurrency 1")
        .exits(3)
        .says("19 errors");
}

#[test]
fn a_redirect_is_not_followed_and_takes_no_key_along() {
    let other = Server::shouting();
    let target = other.url("/v1/chat/completions");
    let server = Server::new(move |_, _| {
        Answer::Status(
            "307 Temporary Redirect",
            format!("Location: {target}\r\n"),
            String::new(),
        )
    });
    let project = Project::with_eval(&THREE, &server.openai(", api_key_env: KEY_OF_TEST"), "");
    project.write(".env", "KEY_OF_TEST=sk-redirected-1\n");
    run(&project)
        .exits(2)
        .says("answered 307 Temporary Redirect to `http://127.0.0.1:")
        .says("hint: write the address that it points to");
    assert_eq!(other.requested().len(), 0);
}

#[test]
fn a_key_that_expires_stops_the_run_and_resuming_asks_the_rest() {
    let server = Server::new(|requested, number| match number {
        2..4 => refusal("401 Unauthorized", "expired"),
        _ => fine(&chat(&requested.prompt().to_uppercase())),
    });
    let questions = [THREE[0], THREE[1], THREE[2], ("d", 2, "four", "FOUR")];
    let project = Project::with_eval(&questions, &server.openai(""), "");
    project
        .run("run -v eval.yaml --output-root runs --concurrency 1")
        .exits(3)
        .says("stopped early")
        .says("(2 samples not asked)");
    let dir = run_dir(&project);
    project
        .run(&format!("run -v --resume {}", dir.display()))
        .exits(3);
    project
        .run(&format!("run -v --resume {}", dir.display()))
        .exits(0)
        .says("4 samples, 4 correct");
    assert_eq!(server.requested().len(), 6);
}
