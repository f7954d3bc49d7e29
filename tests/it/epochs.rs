//! Samples that are asked several times.

use std::fs;

use serde_json::Value;

use crate::project::Project;
use crate::wait::until;

const GATES: &str = "gates: [accuracy >= 0.5, pass@3 >= 0.7, pass^3 >= 0.2, 'majority[level=1] >= 0.5', \
                     min_samples >= 4]\n";

/// Four questions, three epochs, and an agent that knows `q1` always, `q2` from epoch 1 on, `q3` in epoch 1 only,
/// and `q4` unless it breaks down in epoch 1.
fn project(more: &str) -> Project {
    let questions = [
        ("q1", 1, "a?", "1"),
        ("q2", 1, "b?", "2"),
        ("q3", 2, "c?", "3"),
        ("q4", 2, "d?", "4"),
    ];
    let agent = "{ type: command, command: [./agent.sh] }";
    let project = Project::with_eval(&questions, agent, &format!("epochs: 3\n{more}"));
    project.script(
        "agent.sh",
        "#!/bin/sh\nwhile read -r _; do :; done\necho \"$EVALTEST_SAMPLE_ID.$EVALTEST_EPOCH\" >> asked.log\n\
         test -f slow && sleep 0.05\n\
         case $EVALTEST_SAMPLE_ID.$EVALTEST_EPOCH in\n\
         q2.0) echo 9;; q3.1) echo 3;; q3.*) echo 7;;\n\
         q4.1) test -f fixed || { echo broken >&2; exit 3; }; echo 4;;\n\
         *) echo ${EVALTEST_SAMPLE_ID#q};;\nesac\n",
    );
    project.write("fixed", "");
    project
}

fn requested(project: &Project) -> Vec<String> {
    let log = fs::read_to_string(project.file("asked.log")).unwrap_or_default();
    let mut requested: Vec<_> = log.lines().map(str::to_owned).collect();
    requested.sort();
    requested
}

fn epochs_of(records: &[Value], id: &str) -> Vec<u64> {
    let of = records.iter().filter(|record| record["sample_id"] == id);
    of.map(|record| record["epoch"].as_u64().unwrap()).collect()
}

#[test]
fn each_sample_is_asked_so_often_and_its_answers_are_weighed_together() {
    let project = project(GATES);
    project
        .run("run -v eval.yaml")
        .exits(0)
        .says("4 samples, 3 epochs each, 9 of 12 answers correct, accuracy 75.0 %")
        .says("pass@3 100.0 %")
        .says("pass^3 50.0 %, majority 75.0 %")
        .says("flaky: 2 of 4 samples; 33.3 % of the verdicts differ when the agent is asked again; correct: q2 2 of 3, q3 1 of 3")
        .says("gate majority[level=1] >= 0.5: passed: majority[level=1] 100.0 % (2 of 2 samples");
    assert_eq!(requested(&project).len(), 12);
    let records = project.last_lines("samples.jsonl");
    let ids: Vec<_> = records
        .iter()
        .map(|record| record["sample_id"].clone())
        .collect();
    let expect = ["q1", "q2", "q3", "q4"].map(|id| [id; 3]).concat();
    assert_eq!(ids, expect, "in dataset order, the epochs side by side");
    assert_eq!(epochs_of(&records, "q3"), [0, 1, 2]);
    let summary = project.last_json("summary.json");
    let epochs = &summary["epochs"];
    assert_eq!(
        (&epochs["epochs"], &epochs["samples"]),
        (&3.into(), &4.into())
    );
    assert_eq!(epochs["pass_hat"]["2"]["value"], 7.0 / 12.0);
    assert_eq!(summary["flaky"][1]["sample_id"], "q3");
    assert_eq!(
        summary["slices"]["level"]["2"]["epochs"]["majority"]["correct"],
        1
    );
    let text = fs::read_to_string(project.last_run().join("summary.md")).unwrap();
    assert!(
        text.contains("| pass@&#8288;3 | 100.0 % |") && text.contains("| q2 | 2 of 3 | 2 |"),
        "{text}"
    );
    let dir = project.last_run();
    project
        .run(&format!("show {} q3", dir.display()))
        .exits(0)
        .says("correct        q3, epoch 1  3");
    project
        .run(&format!("show {} q3 --epoch 1", dir.display()))
        .exits(0)
        .says("status: scored, correct");
    project
        .run(&format!(
            "export {} --format gaia --output - --epoch 1",
            dir.display()
        ))
        .exits(0)
        .says(r#"{"task_id":"q3","model_answer":"3""#);
    project
        .run(&format!(
            "export {} --format gaia --output - --epoch 3",
            dir.display()
        ))
        .exits(2)
        .says("the run has 3 epochs");
    fs::remove_file(project.file("fixed")).unwrap();
    project.run("run eval.yaml").exits(3);
    project
        .run(&format!("show {} q4", project.last_run().display()))
        .exits(0)
        .says("\nepoch 1 (another with `--epoch N`):\n");
    let (last, first) = (project.last_run(), dir.display());
    let compared = project.run(&format!(
        "show {} q3 --epoch 1 --against {first} --json",
        last.display()
    ));
    let compared: Value = serde_json::from_str(&compared.exits(0).out).unwrap();
    assert_eq!(compared["against"]["epoch"], 1, "the same epoch");
}

#[test]
fn an_outage_in_one_epoch_is_no_wrong_answer_and_is_asked_again_alone() {
    let project = project("gates: [pass^3 >= 0.4, majority >= 0.75, error_rate <= 0.1]\n");
    fs::remove_file(project.file("fixed")).unwrap();
    project
        .run("run -v eval.yaml")
        .exits(3)
        .says("1 of 4 samples lacks a verdict in some epoch")
        .says("q4, epoch 1: exited with code 3")
        // One of three, and with the missing epoch one of four or two of four.
        .says("gate pass^3 >= 0.4: INCONCLUSIVE: pass^3 33.3 %")
        // Two of three epochs agree on the right answer, whatever the third would have said.
        .says("gate majority >= 0.75: passed: majority 75.0 % (3 of 4 samples");
    assert_eq!(project.last_lines("errors.jsonl")[0]["epoch"], 1);
    let dir = project.last_run();
    project.write("fixed", "");
    project
        .run(&format!("run -v eval.yaml --failed {}", dir.display()))
        .exits(0);
    let again: Vec<_> = requested(&project)
        .into_iter()
        .skip_while(|id| id < &"q4".to_owned())
        .collect();
    assert_eq!(again.len(), 6, "q4 as a whole: {again:?}");
    fs::remove_file(project.file("asked.log")).unwrap();
    project
        .run(&format!("run -v --resume {}", dir.display()))
        .exits(0);
    assert_eq!(requested(&project), ["q4.1"]);
}

#[test]
fn killed_in_a_later_epoch_nothing_answered_is_asked_again() {
    let project = project("limits: { concurrency: 1 }\n");
    project.write("slow", "");
    for kill_after in [2, 5, 7] {
        let _ = fs::remove_file(project.file("asked.log"));
        let before = project.runs();
        let mut child = project.command("run eval.yaml").spawn().unwrap();
        until("a later epoch is asked", || {
            requested(&project).len() > kill_after
        });
        child.kill().unwrap();
        child.wait().unwrap();
        let dir = project
            .runs()
            .into_iter()
            .find(|run| !before.contains(run))
            .unwrap();
        let journal = fs::read_to_string(dir.join("events.jsonl")).unwrap();
        let whole = journal.rfind('\n').map_or("", |end| &journal[..end]);
        let events = whole
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let answered: Vec<_> = events
            .filter(|event| event["kind"] == "answered")
            .map(|event| {
                format!(
                    "{}.{}",
                    event["sample_id"].as_str().unwrap(),
                    event["epoch"]
                )
            })
            .collect();
        assert!(answered.len() >= kill_after);
        project
            .run(&format!("run --resume {}", dir.display()))
            .exits(0);
        let requested = requested(&project);
        for id in &answered {
            assert_eq!(
                requested.iter().filter(|other| *other == id).count(),
                1,
                "{id}"
            );
        }
        assert!(
            requested.len() <= 13,
            "at most the one in flight twice: {requested:?}"
        );
        assert_eq!(project.last_json("summary.json")["correct"], 9);
    }
    let dir = project.last_run();
    project
        .run(&format!("run --resume {} --epochs 2", dir.display()))
        .exits(2)
        .says("has 3 epochs and cannot be resumed with 2");
}

#[test]
fn answers_are_compared_however_many_they_are() {
    let project = project("gates: [no_regression(max_drop=0.1)]\n");
    project.run("run -v eval.yaml").exits(0);
    project
        .run("accept")
        .exits(0)
        .says("3 of 4 samples correct in most of their answers\n  snapshots: 4 written");
    project
        .run("run -v eval.yaml")
        .exits(0)
        .says("0 of 4 compared samples became wrong")
        .says(", 3 now; a sample became wrong");
    let agent = project.read("agent.sh");
    // q1 loses one of three answers: its majority stands. q2 loses another: its majority falls.
    let worse = agent.replace("q2.0) echo 9;;", "q1.0) echo 8;; q2.0|q2.2) echo 9;;");
    project.script("agent.sh", &worse);
    project
        .run("run -v eval.yaml")
        .exits(1)
        .says("became wrong: q2")
        .says_nothing_of("wrong now");
    project
        .run("report e --audience product")
        .exits(0)
        .says("1 of 4 samples became wrong by majority.");
    project
        .run("report e --format github")
        .exits(0)
        .says("1 became wrong, 0 became correct by majority");
    project
        .run("run -v eval.yaml --epochs 2")
        .exits(1)
        .says(", 2 now; a sample became wrong");
    project
        .run("run -v eval.yaml --epochs 1 --ignore-baseline")
        .exits(0);
    // An outage in one epoch leaves the snapshot as it was.
    project.script(
        "agent.sh",
        &agent.replace("q2.0) echo 9;;", "q2.0) exit 1;; q2.*) echo 5;;"),
    );
    // As wrong it is a drop of 17 points, as right one of 8.
    project
        .run("run -v eval.yaml")
        .exits(3)
        .says(", undecided: 1 errored or skipped sample");
    project
        .run("accept --partial")
        .exits(0)
        .says("q2 ended in an error; its snapshot stays as it was")
        .says("is now the baseline, 3 of ")
        .says(" samples correct in most of their answers");
}

#[test]
fn gates_that_need_more_epochs_are_refused_before_anything_is_asked() {
    let project = project("");
    let check = |gate: &str, epochs: &str, says: &str| {
        let gates = format!("gates=[\"{gate}\"]");
        let arguments = ["run", "eval.yaml", "--epochs", epochs, "--set", &gates];
        project.run_of(&arguments).exits(2).says(says);
    };
    check(
        "pass@4 >= 0.5",
        "3",
        "needs 4 answers per sample, the eval has 3",
    );
    check(
        "pass^3 >= 0.5",
        "2",
        "needs 3 answers per sample, the eval has 2",
    );
    check("pass@0 >= 0.5", "3", "`0` is not a valid number of answers");
    check("pass@ >= 0.5", "3", "`` is not a valid number of answers");
    check("majority(x) >= 0.5", "3", "no scorer is called `x`");
    project
        .run("run eval.yaml --epochs 0")
        .exits(2)
        .says("--epochs <N>': 0 is not in 1..=1000");
    project
        .run("run eval.yaml --dry-run")
        .exits(0)
        .says("4 samples, 3 epochs each, 12 requests");
    assert_eq!(requested(&project), [""; 0]);
}

#[test]
fn recordings_have_epochs_too() {
    let project = project("");
    project.run("run eval.yaml").exits(0);
    let dir = project.last_run();
    let replay = |agent: &str, epochs: &str| {
        project.run_of(&["run", "eval.yaml", "--agent", agent, "--epochs", epochs])
    };
    let recorded = format!("{{type: replay, path: {}}}", dir.display());
    replay(&recorded, "3")
        .exits(0)
        .says("9 of 12 answers correct")
        .says_nothing_of("same answer");
    replay(&recorded, "4")
        .exits(3)
        .says("no recorded answer for `q1` in epoch 3");
    project.write(
        "lines.jsonl",
        "{\"id\":\"q1\",\"answer\":\"1\"}\n{\"id\":\"q2\",\"answer\":\"2\",\"epoch\":0}\n\
         {\"id\":\"q2\",\"answer\":\"0\",\"epoch\":1}\n{\"id\":\"q3\",\"answer\":\"3\"}\n{\"id\":\"q4\",\"answer\":\"4\"}\n",
    );
    replay("{type: replay, path: lines.jsonl}", "2")
        .exits(0)
        .says("7 of 8 answers correct");
    replay("echo", "2")
        .exits(0)
        .says("the agent gives the same answer each time, so 2 epochs add nothing to one");
}

#[test]
fn under_cargo_test_a_sample_stays_one_test_and_its_epochs_confirm_one_another() {
    use crate::trials;
    // The agent answers with the number in the id, which is right for the even ones, unless told otherwise.
    let then = "wrong=$(cat \"${0%/*}/wrong\" 2> /dev/null || echo none)\n\
                case $EVALTEST_SAMPLE_ID.$EVALTEST_EPOCH in $wrong) echo 99; exit;; esac";
    let more = "epochs: 3\nlimits: { concurrency: 2 }\ngates: [majority >= 0.4, no_regression(max_drop=0.4)]\n";
    let project = trials::accepted(4, then, more);
    trials::edit(&project, "answers: plain", "answers: plain, flips: confirm");
    let of = |wrong: &str| {
        project.write("wrong", wrong);
        trials::forget(&project);
        let ran = trials::run(&project, "");
        (ran, crate::requested::requested(&project).len())
    };
    let (ran, requested) = of("none");
    assert_eq!(trials::tests(&ran).len(), 4 + 3, "{}", ran.out);
    assert_eq!((ran.code, requested), (Some(0), 12), "{}", ran.out);
    assert_eq!(project.last_lines("samples.jsonl").len(), 12);
    // q000 was correct and its majority is wrong now; but not each time, so it may be flaky.
    let (ran, requested) = of("q000.[01]");
    assert_eq!(trials::verdict(&ran, "q000"), "ok", "{}", ran.out);
    assert_eq!(requested, 12, "three answers need no other to confirm them");
    assert_eq!(project.last_json("summary.json")["epochs"]["flaky"], 1);
    // Wrong each time; the epochs have confirmed one another.
    let (ran, requested) = of("q000.*");
    assert_eq!(trials::verdict(&ran, "q000"), "FAILED");
    assert_eq!(requested, 12);
    assert!(
        ran.out.contains("asked 3 times, wrong each time"),
        "{}",
        ran.out
    );
    // With fewer epochs than confirmations only what is missing is asked.
    trials::edit(&project, "flips: confirm", "flips: confirm, confirm: 4");
    let (ran, requested) = of("q000.*");
    assert_eq!(
        (trials::verdict(&ran, "q000").as_str(), requested),
        ("FAILED", 14),
        "{}",
        ran.out
    );
    // Another number of epochs is compared, too.
    project.write("wrong", "none");
    trials::edit(&project, "epochs: 3", "epochs: 2");
    assert_eq!(trials::run(&project, "").code, Some(0));
}

#[test]
fn exact_and_correct_look_at_the_majority() {
    let project = project("");
    project.run("run eval.yaml").exits(0);
    project.run("accept").exits(0);
    project
        .run("run eval.yaml --set snapshot.assert=exact")
        .exits(0);
    project
        .run("run eval.yaml --set snapshot.assert=correct")
        .exits(1)
        .says("failed assertion (1):\n    q3");
    let agent = project.read("agent.sh");
    // Another answer in one epoch is not the majority's; in two it is.
    project.script(
        "agent.sh",
        &agent.replace("q2.0) echo 9;;", "q1.0) echo 9;;"),
    );
    project
        .run("run eval.yaml --set snapshot.assert=exact")
        .exits(0);
    project.script(
        "agent.sh",
        &agent.replace("q3.*) echo 7;;", "q3.*) echo 6;;"),
    );
    project
        .run("run eval.yaml --set snapshot.assert=exact")
        .exits(1)
        .says("failed assertion (1):\n    q3");
}
