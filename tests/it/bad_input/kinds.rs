//! `type`, which names the kind in its map.

use super::{GOOD, check_flags, check_more, check_spec, project};
use crate::project::Ran;

#[test]
fn it_stands_anywhere() {
    let project = project();
    let mut spec = GOOD.replacen(
        "type: gaia, path: data.jsonl",
        "path: data.jsonl, type: gaia",
        1,
    );
    spec = spec.replacen("type: command, ", "input: text, type: command, ", 1);
    spec += "scorers: [ { scorers: [ { compat: true, type: substring }, gaia ], type: any } ]\n";
    project.write("eval.yaml", &spec);
    project.run("run -v eval.yaml").exits(0).says("1 correct");
    let mut command = project.command_of(&[
        "run",
        "-v",
        "eval.yaml",
        "--set",
        "agent={ text: '1', type: echo }",
    ]);
    Ran::of(&command.output().unwrap())
        .exits(0)
        .says("1 correct");
    // What follows is no other text for that: a key may be wrong behind it and before it.
    check_spec(
        "type: gaia, path: data.jsonl",
        "pfad: data.jsonl, type: gaia",
        "eval.yaml:2:14: ",
        "unknown key `benchmark.pfad`",
        "legal keys: `path`",
    );
    check_spec(
        "type: gaia, path: data.jsonl",
        "path: data.jsonl, type: gaja",
        "eval.yaml:2:38: ",
        "unknown benchmark `gaja`",
        "did you mean `gaia`?",
    );
}

#[test]
fn it_stands_once() {
    check_spec(
        "type: gaia, path",
        "typ: gaia, path",
        "eval.yaml:2:12: ",
        "benchmark: missing key `type`",
        "did you mean `type` where it says `typ`? legal names: `gaia`, `qa`,",
    );
    check_spec(
        "type: command, ",
        "",
        "eval.yaml:4:8: ",
        "agent: missing key `type`",
        "add `type: NAME`; legal names: `command`, `worker`,",
    );
    check_spec(
        "{ type: command, command: [./agent.sh] }",
        "{}",
        "eval.yaml:4:8: ",
        "agent: missing key `type`",
        "add `type: NAME`; legal names: `command`",
    );
    check_more(
        "scorer: { compat: true }",
        "eval.yaml:5:9: ",
        "scorer: missing key `type`",
        "add `type: NAME`; legal names: `aime`, `all`",
    );
    check_more(
        "scorer: { type: all, scorers: [ { compat: true } ] }",
        "eval.yaml:5:33: ",
        "is not a scorer: missing key `type`",
        "legal names: `aime`, `all`",
    );
    check_spec(
        "./agent.sh] }",
        "./agent.sh], type: echo }",
        "eval.yaml:4:48: ",
        "agent: duplicate key `type`",
        "keep one",
    );
    check_flags(
        &["--scorer", "{ type: any, type: gaia }"],
        "`{ type: any, type: gaia }`: ",
        "duplicate key `type`",
        "keep one",
    );
}
