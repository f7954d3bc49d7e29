//! The fingerprints of the built-in agents.

use std::collections::{BTreeMap, HashSet};

use crate::agent::Agent;
use crate::agent::command::{Command, Cwd, Input, Reply};
use crate::agent::demo::Demo;
use crate::agent::echo::Echo;
use crate::agent::worker::Worker;
use crate::system::sandbox::{Network, Sandbox, Ulimits};

/// Asserts that every agent differs from all others, and stays itself.
fn check(agents: &[(&str, Box<dyn Agent>)]) {
    let mut seen = HashSet::new();
    for (what, agent) in agents {
        let fingerprint = agent.fingerprint().unwrap();
        assert_eq!(agent.fingerprint().unwrap(), fingerprint, "{what}");
        assert!(seen.insert(fingerprint), "{what}");
    }
}

fn value(text: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("EVALTEST_UNSET_VARIABLE".to_owned(), text.to_owned())])
}

#[test]
fn every_setting_of_a_program_that_can_change_its_answer_counts() {
    let new = || Command::new(["sh", "a.sh"], "evals").env(["EVALTEST_UNSET_VARIABLE"]);
    check(&[
        ("usual", Box::new(new())),
        ("other", Box::new(Command::new(["sh", "b.sh"], "evals"))),
        ("program", Box::new(Command::new(["cat", "a.sh"], "evals"))),
        ("split", Box::new(Command::new(["sh", "a", ".sh"], "evals"))),
        ("folder", Box::new(Command::new(["sh", "a.sh"], "other"))),
        ("input", Box::new(new().input(Input::Json))),
        ("output", Box::new(new().output(Reply::Json))),
        ("cwd", Box::new(new().cwd(Cwd::Scratch))),
        ("variable", Box::new(new().vars(value("1")))),
        ("its value", Box::new(new().vars(value("2")))),
        ("sandbox", Box::new(new().sandbox(Sandbox::new()))),
        (
            "network",
            Box::new(new().sandbox(Sandbox::new().network(Network::Off))),
        ),
        (
            "ulimits",
            Box::new(new().ulimits(Ulimits {
                cpu_s: Some(1),
                ..Ulimits::default()
            })),
        ),
        ("worker", Box::new(Worker::new(["sh", "a.sh"], "evals"))),
        (
            "scratch",
            Box::new(Worker::new(["sh", "a.sh"], "evals").scratch()),
        ),
        (
            "its sandbox",
            Box::new(Worker::new(["sh", "a.sh"], "evals").sandbox(Sandbox::new())),
        ),
        ("echo", Box::new(Echo::new(None))),
        ("text", Box::new(Echo::new(Some("a".to_owned())))),
        ("demo", Box::new(Demo)),
    ]);
    let same = |one: &dyn Agent, other: &dyn Agent| {
        assert_eq!(one.fingerprint(), other.fingerprint());
    };
    // Concurrency and output limits do not change answers.
    same(&new(), &new().max_output_bytes(7));
    let worker = || Worker::new(["sh", "a.sh"], "evals");
    same(&worker(), &worker().processes(3).in_flight(2));
}

#[cfg(feature = "http")]
#[test]
fn every_setting_of_an_endpoint_that_can_change_its_answer_counts() {
    use crate::agent::http::{Http, Places};
    use crate::agent::openai::{FileKind, OpenAi, Price, Unsendable};
    use serde_json::json;

    let at = |port: u16| OpenAi::new(&format!("http://127.0.0.1:{port}/v1"), "m").unwrap();
    let new = || at(1);
    let extra = json!({"top_p": 0.5}).as_object().unwrap().clone();
    let places = Places {
        messages: "/log".to_owned(),
        ..Places::default()
    };
    let http = || Http::new("http://127.0.0.1:1/v1/chat/completions").unwrap();
    check(&[
        ("usual", Box::new(new())),
        ("address", Box::new(at(2))),
        (
            "model",
            Box::new(OpenAi::new("http://127.0.0.1:1/v1", "n").unwrap()),
        ),
        ("key", Box::new(new().api_key("sk-12345678"))),
        ("another key", Box::new(new().api_key("sk-87654321"))),
        ("header", Box::new(new().header("X-Org", "a", ".").unwrap())),
        ("system", Box::new(new().system("Be brief."))),
        ("temperature", Box::new(new().temperature(0.5))),
        ("seed", Box::new(new().seed(1))),
        ("max_tokens", Box::new(new().max_tokens(1))),
        ("extra body", Box::new(new().extra_body(extra))),
        ("files", Box::new(new().files([FileKind::Text]))),
        (
            "unsendable",
            Box::new(new().unsendable_files(Unsendable::Fail)),
        ),
        ("price", Box::new(new().price(Price::default()))),
        ("http", Box::new(http())),
        ("places", Box::new(http().places(places))),
        (
            "body",
            Box::new(http().body(&json!({"q": "{prompt}"})).unwrap()),
        ),
        (
            "method",
            Box::new(Http::with_method("GET", "http://127.0.0.1:1/v1/chat/completions").unwrap()),
        ),
    ]);
    let fingerprint = new().api_key("sk-12345678").fingerprint().unwrap();
    assert!(!fingerprint.contains("sk-"), "{fingerprint}");
}
