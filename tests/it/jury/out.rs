//! Judges that cannot judge at all: the others of their jury go on, as long as there are enough.

use serde_json::json;

use super::{Court, MERIT, juror, points};
use crate::server::{Answer, Server, chat, fine, refusal};

/// A jury of two programs and of judges behind a server.
fn court(questions: u32, server: &Server, behind: usize) -> Court {
    let judges = [("a", &*points("4")), ("b", &points("5"))];
    let court = Court::new(questions, MERIT, &judges, "");
    let last = juror("b", MERIT);
    let agent = server.openai("");
    let others = (0..behind).map(|number| {
        format!("{{ type: judge, name: far{number}, sees: [prediction], {MERIT}, agent: {agent} }}")
    });
    let list: Vec<_> = std::iter::once(last.clone()).chain(others).collect();
    court.edit(&last, &list.join(", "));
    court.edit("retries: 0", "retries: 0, concurrency: 1");
    court
}

#[test]
fn a_wrong_key_leaves_a_judge_out_and_is_told() {
    // The key is right from the second request on.
    let server = Server::new(|_, n| match n {
        0 => refusal("401 Unauthorized", "Incorrect API key provided"),
        _ => fine(&chat("{\"merit\": 3}")),
    });
    let court = court(6, &server, 1);
    court
        .run("eval.yaml")
        .exits(0)
        .says("judge `jury/far0`: ")
        .says("Incorrect API key provided")
        .says("it is no longer called, and its jury continues without it")
        .says("judge `jury/far0` gave no verdict on any of 6 answers (6 misconfigured)");
    assert_eq!((server.requested().len(), court.judged()), (1, 12));
    for result in court.results() {
        let details = &result["score"]["details"];
        assert_eq!(details["total"], 4.5);
        assert_eq!(details["judges"]["far0"]["unread"], "failed");
    }
    assert_eq!(court.jury()["judges"][2]["unread"], 6);
    // As the hint says, it alone is asked for what it missed.
    let dir = court.dir();
    court
        .project
        .run(&format!("rescore {dir} --spec eval.yaml"))
        .exits(0)
        .says_nothing_of("no verdict");
    assert_eq!((server.requested().len(), court.judged()), (7, 12));
    for result in court.results() {
        assert_eq!(result["score"]["details"]["total"], 4.0);
    }
}

#[test]
fn the_run_ends_where_too_few_are_left() {
    let wrong = || -> Server {
        Server::new(|_, _| -> Answer { refusal("401 Unauthorized", "Incorrect API key provided") })
    };
    // Two of four may be out, and the third is one too many.
    let server = wrong();
    let court = court(6, &server, 2);
    court.run("eval.yaml").exits(0);
    assert_eq!(court.jury()["judges"][3]["unread"], 6);
    assert_eq!(server.requested().len(), 2);
    let server = wrong();
    let court = self::court(6, &server, 2);
    court.edit(" }]\nlimits", ", min_judges: 4 }]\nlimits");
    court
        .run("eval.yaml")
        .exits(2)
        .says("judge `jury/far0`")
        .says("Incorrect API key provided");
    assert_eq!(server.requested().len(), 1);
}

#[test]
fn so_it_does_where_too_many_fail_alike() {
    let judges = [("a", &*points("4")), ("b", "exit 3"), ("c", "exit 4")];
    let court = Court::new(25, MERIT, &judges, "");
    court.edit("retries: 0", "retries: 0, concurrency: 1");
    court
        .run("eval.yaml")
        .exits(3)
        .says("its first 10 requests failed in the same way");
    assert!(court.judged() < 40, "{}", court.judged());
    assert_eq!(court.jury()["reasons"], json!({ "too_few_judges": 10 }));
}
