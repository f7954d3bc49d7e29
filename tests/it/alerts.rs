//! Alerts of an eval, judged where a run is a point of its history.

use std::fs;

use serde_json::{Value, json};

use crate::project::{Project, Ran};
use crate::requested;
use crate::server::{Server, fine, refusal};

const COMMAND: &str = "{ type: command, command: [./agent.sh], input: json }";

/// Forty questions that the agent knows, but for most of them while `wrong` exists.
fn project(more: &str) -> Project {
    let then = "test ! -f wrong || { echo 99; exit; }";
    let project = requested::project(40, then, "");
    project.spec(COMMAND, more);
    project
}

fn alerts(project: &Project) -> Vec<Value> {
    let summary = project.last_json("summary.json");
    summary["alerts"].as_array().cloned().unwrap_or_default()
}

#[test]
fn an_alert_fails_the_run_that_raises_it() {
    let project = project(
        "alerts:\n  - drop(accuracy)\n  - 'drop(accuracy, against=median(5))'\n  - trend(accuracy, runs=8)\n  \
         - stale(days=7)\n  - accuracy < 0.2 twice\n  - looks: 20\n",
    );
    // A run that is no point of the history judges none.
    project.run("run eval.yaml").exits(0);
    assert_eq!(alerts(&project), Vec::<Value>::new());
    project
        .run("run eval.yaml --history")
        .exits(0)
        .says("silent: the history has no accepted baseline");
    project.run("accept").exits(0);
    project
        .run("run eval.yaml --history")
        .exits(0)
        .says("alert drop(accuracy): quiet");
    project.write("wrong", "");
    let ran = project.run("run eval.yaml --history");
    ran.exits(1)
        .says("alert drop(accuracy): RAISED: accuracy 0.0 %");
    let raised = alerts(&project);
    // Whether it is stale is no matter of a run.
    assert_eq!(raised.len(), 4, "{raised:?}");
    assert_eq!(raised[0]["alert"], "drop(accuracy)");
    assert_eq!(raised[0]["verdict"], "raised");
    assert_eq!(raised[1]["verdict"], "silent");
    assert!(
        raised[0]["p"].as_f64() < raised[0]["p_needed"].as_f64(),
        "{raised:?}"
    );
    assert_eq!(raised[3]["verdict"], "quiet");
    let summary = project.last_json("summary.json");
    assert_eq!(summary["exit_code"], 1);
    let manifest = project.last_json("manifest.json");
    assert_eq!(raised[0]["since"], manifest["run_id"]);
    let page = fs::read_to_string(project.last_run().join("summary.md")).unwrap();
    assert!(page.contains("| `drop(accuracy)` | **raised** |"), "{page}");
    project
        .run("run eval.yaml --history")
        .exits(1)
        .says("accuracy < 0.2 twice: RAISED: accuracy is 0.0 %, < 20 % in 2 of 2 runs in a row");
    // What was accepted begins anew.
    project.run("accept").exits(0);
    project
        .run("run eval.yaml --history")
        .says("alert drop(accuracy): quiet: accuracy 0.0 %, 0.0 % in the baseline");
}

#[test]
fn rules_that_make_no_sense_name_their_line() {
    let project = project("alerts:\n  - drop(accuracy)\n  - trend(accuracy, runs=3)\n");
    project
        .run("run eval.yaml --history")
        .exits(2)
        .says("alert `trend(accuracy, runs=3)`: it can never be raised")
        .says("runs=7");
    let text = fs::read_to_string(project.file("eval.yaml")).unwrap();
    project.write(
        "eval.yaml",
        text.replace("trend(accuracy, runs=3)", "error_rate > 2"),
    );
    let ran = project.run("run eval.yaml");
    ran.exits(2)
        .says("eval.yaml:")
        .says("`error_rate` is between 0 and 1");
    project.write(
        "eval.yaml",
        text.replace("trend(accuracy, runs=3)", "{ looks: 0 }"),
    );
    project
        .run("run eval.yaml")
        .exits(2)
        .says("0 is not a valid number of looks");
}

#[test]
fn a_webhook_is_told_and_a_dead_one_stops_nothing() {
    let more = "alerts: [accuracy < 0.2]\nwebhook: { url_env: HOOK, template: { said: ['{eval}', '{alert}', '{accuracy}'], id: '{run}' } }\n";
    let project = project(more);
    let server = Server::new(|_, number| match number {
        // Busy once.
        0 => refusal("503 Service Unavailable", "busy"),
        _ => fine(&json!({})),
    });
    let run = |address: &str| {
        let mut command = project.command("run eval.yaml --history");
        command.env("HOOK", address);
        Ran::of(&command.output().unwrap())
    };
    let address = server.url("/secret-of-the-hook");
    // Nothing is raised, and nobody is told.
    run(&address).exits(0).says_nothing_of("webhook");
    assert_eq!(server.requested().len(), 0);
    project.write("wrong", "");
    run(&address).exits(1).says_nothing_of("webhook");
    let requested = server.requested();
    assert_eq!(requested.len(), 2);
    let id = project.last_json("manifest.json")["run_id"].clone();
    let expect = json!({ "said": ["e", "accuracy < 0.2", "0.0 %"], "id": id });
    assert!(
        requested.iter().all(|requested| requested.body == expect),
        "{requested:?}"
    );
    assert!(requested[0].line.starts_with("POST /secret-of-the-hook"));
    // Refused, gone, no address at all: the run is over and stays so.
    let refusing = Server::new(|_, _| refusal("404 Not Found", "no such hook"));
    let address = refusing.url("/secret-of-the-hook");
    for (address, why) in [
        (&*address, "it answered 404"),
        (
            "http://127.0.0.1:1/secret-of-the-hook",
            "could not send the alerts to the webhook",
        ),
        ("nonsense", "the value of `HOOK` is not a URL"),
        ("", "is set neither in the environment"),
    ] {
        let ran = run(address).exits(1).says(why);
        ran.says_nothing_of("secret-of-the-hook");
        assert_eq!(alerts(&project)[0]["verdict"], "raised");
    }
    assert_eq!(refusing.requested().len(), 2);
    // A template that names what there is not.
    let text = project.read("eval.yaml").replace("{run}", "{rum}");
    project.write("eval.yaml", text);
    project
        .run("run eval.yaml")
        .exits(2)
        .says("`{rum}`")
        .says("did you mean `{run}`");
}
