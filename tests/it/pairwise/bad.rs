//! What cannot be compared is told before anybody is asked.

use super::{Duel, always, eval};

fn duel() -> Duel {
    Duel::new(3, "echo good", "echo bad", &always("first"))
}

fn check(duel: &Duel, spec: &str, expect: &str) {
    duel.project
        .write("c.yaml", eval("c", 3, "echo c >> asked.log; echo c", spec));
    duel.project.run("run c.yaml").exits(2).says(expect);
    assert!(!duel.project.file("asked.log").exists(), "{spec}");
    assert_eq!(duel.requested(), 0, "{spec}");
}

#[test]
fn options_that_make_no_sense() {
    let duel = duel();
    let agent = "agent: { type: command, command: [sh, ./judge.sh] }";
    let dir = duel.dir("a");
    let dir = dir.display();
    for (options, expect) in [
        (
            agent.to_owned(),
            "scorer `pairwise` needs the option `against`, what answers are compared with",
        ),
        (
            format!("against: {{ run: {dir} }}"),
            "scorer `pairwise` needs the option `agent`, the model that judges",
        ),
        (
            format!("{agent}, against: {{ run: nowhere }}"),
            "scorer `pairwise`, option `against`: there is no run `",
        ),
        (
            format!("{agent}, against: {{ path: nowhere.jsonl }}"),
            "cannot read `",
        ),
        (
            format!("{agent}, against: {{ }}"),
            "it must name exactly one of `run`, `path` and `benchmark`",
        ),
        (
            format!("{agent}, against: {{ rum: {dir} }}"),
            "unknown key `rum`\n\nhint: did you mean `run`?",
        ),
        (
            format!("{agent}, against: {{ run: {dir}, text: prompt }}"),
            "`text` applies only to `benchmark`",
        ),
        (
            format!("{agent}, pairs: 0, against: {{ run: {dir} }}"),
            "scorer `pairwise`, option `pairs`: `0` is not a whole number from 1 on",
        ),
        (
            format!("{agent}, criteria: ' ', against: {{ run: {dir} }}"),
            "scorer `pairwise`, option `criteria`: it is empty",
        ),
        (
            format!("{agent}, sees: [prediction], against: {{ run: {dir} }}"),
            "scorer `pairwise`, option `sees`: both texts are always shown",
        ),
    ] {
        check(
            &duel,
            &format!("scorers: [{{ type: pairwise, {options} }}]\n"),
            expect,
        );
    }
}

#[test]
fn an_against_that_shares_no_item() {
    let duel = duel();
    duel.project
        .write("other.jsonl", "{\"id\": \"x\", \"answer\": \"X\"}\n");
    let scorer = "{ type: pairwise, agent: { type: command, command: [sh, ./judge.sh] }, against: { path: other.jsonl } }";
    let expect = "scorer `pairwise`: `against` shares no item with the judged answers: here are `secret-id-000`, \
    `secret-id-001`, \
                  `secret-id-002`, there `x`";
    check(&duel, &format!("scorers: [{scorer}]\n"), expect);
    // In a composition, and where answers are scored anew.
    check(
        &duel,
        &format!("scorers: [{{ type: all, scorers: [{scorer}] }}]\n"),
        "`against` shares no item with the judged answers",
    );
    let dir = duel.dir("a").display().to_string();
    for arguments in [&["--dry-run"][..], &[]] {
        duel.project
            .run_of(&[&["rescore", &dir, "--scorer", scorer][..], arguments].concat())
            .exits(2)
            .says("`against` shares no item with the judged answers");
    }
    assert_eq!(duel.requested(), 0);
}

#[test]
fn lines_that_are_no_answers() {
    let duel = duel();
    for (line, expect) in [
        ("{\"answer\": \"X\"}", "other.jsonl:2: the line has no `id`"),
        (
            "{\"id\": \"secret-id-001\"}",
            "other.jsonl:2: the line has neither `answer` nor `prediction`",
        ),
        (
            "{\"id\": \"secret-id-001\", \"answer\": 3}",
            "other.jsonl:2: `3` is not a text",
        ),
        (
            "{\"id\": \"secret-id-000\", \"answer\": \"Y\"}",
            "other.jsonl:2: `secret-id-000` is there twice",
        ),
    ] {
        let first = "{\"id\": \"secret-id-000\", \"answer\": \"X\"}";
        duel.project
            .write("other.jsonl", format!("{first}\n{line}\n"));
        check(
            &duel,
            "scorers: [{ type: pairwise, agent: { type: command, command: [sh, ./judge.sh] }, against: { path: other.jsonl } }]\n",
            expect,
        );
    }
}

#[test]
fn a_run_is_not_compared_with_itself() {
    let duel = duel();
    let dir = duel.dir("a").display().to_string();
    duel.project
        .run(&format!("winrate {dir} {dir} --judge better.yaml"))
        .exits(2)
        .says("`against` is the run that is judged: its answers are the same");
    // Nor with its own answers, scored anew.
    let again = duel
        .project
        .run(&format!("rescore {dir} --scorer qa_f1 --json"))
        .json();
    let again = again["run_dir"].as_str().unwrap();
    duel.project
        .run(&format!("winrate {dir} {again} --judge better.yaml"))
        .exits(2)
        .says("its answers are the same");
    assert_eq!(duel.requested(), 0);
}

#[test]
fn a_damaged_run_is_not_believed() {
    let duel = duel();
    let path = duel.dir("b").join("samples.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("bad", "mad")).unwrap();
    duel.winrate("")
        .exits(2)
        .says("samples.jsonl changed after the run");
    assert_eq!(duel.requested(), 0);
}

#[test]
fn a_file_for_the_judge_that_is_none() {
    let duel = duel();
    for (text, expect) in [
        ("[]\n", "better.yaml:1:1: this is no map"),
        (
            "criteria: Which?\n",
            "scorer `pairwise` needs the option `agent`, the model that judges",
        ),
        (
            "agent: { type: command, command: [sh, ./judge.sh] }\ncriterion: Which?\n",
            "better.yaml:2:1: ",
        ),
        (
            "benchmark: { type: qa }\nscorers: [gaia]\n",
            "better.yaml:1:1: the spec has no scorer `pairwise`",
        ),
        ("type: judge\n", "is not `pairwise`"),
        ("agent: {\n", "better.yaml:"),
    ] {
        duel.project.write("better.yaml", text);
        duel.winrate("").exits(2).says(expect);
    }
    std::fs::remove_file(duel.project.file("better.yaml")).unwrap();
    duel.winrate("").exits(2).says("cannot read `better.yaml`");
}
