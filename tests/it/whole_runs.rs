//! Whole runs and partial ones, what is refused before anything is asked, and groups of samples.

use crate::project::{Project, Ran, all_files};
use crate::requested::{self, requested};

/// Eight samples, of which the agent knows four.
fn project(gates: &str) -> Project {
    requested::project(8, "", &format!("gates: [{gates}]\n"))
}

/// With `CI` set.
fn in_ci(project: &Project, arguments: &str) -> Ran {
    let mut command = project.command(arguments);
    Ran::of(&command.env("CI", "true").output().unwrap())
}

#[test]
fn a_partial_run_asks_no_gate() {
    let project = project("accuracy >= 0.9");
    project.run("run -v eval.yaml").exits(1);
    let dir = project.last_run();
    let failed = format!("--failed {}", dir.display());
    // The limit of the spec is the size of the eval, one of the command line is not.
    for part in [
        "--limit 3",
        "--filter q001",
        failed.as_str(),
        "--set limits.limit=3",
    ] {
        let run = format!("run -v eval.yaml {part}");
        project
            .run(&run)
            .exits(0)
            .says("e: partial run, ")
            .says("gate accuracy >= 0.9: ignored: ");
        assert_eq!(project.last_json("summary.json")["partial"], true, "{part}");
        assert!(project.last_run().join("summary.md").exists());
        let gate = format!("gate -v {}", project.last_run().display());
        project.run(&gate).exits(0).says("e: partial run, ");
        for run in [run, gate] {
            let why = "gates were ignored (exit code 3)";
            in_ci(&project, &run)
                .exits(3)
                .says("ignored: ")
                .says(why)
                .says("pass `--allow-ignored`");
            in_ci(&project, &format!("{run} --allow-ignored"))
                .exits(0)
                .says_nothing_of(why);
            project.run(&run).says_nothing_of(why);
        }
    }
    // All of it is not less than the eval.
    project
        .run("run -v eval.yaml --limit 8")
        .says("partial run (`--limit`)");
    let spec = project.read("eval.yaml") + "limits: { limit: 3 }\n";
    project.write("limited.yaml", spec.replace("name: e\n", "name: limited\n"));
    project
        .run("run -v limited.yaml")
        .exits(1)
        .says("limited: 3 samples")
        .says(": accuracy ");
    assert!(project.last_json("summary.json")["partial"].is_null());
}

#[test]
fn what_the_limit_of_the_spec_leaves_out_is_gone() {
    let project = project("no_regression(max_drop=0.4)");
    project.run("run -v eval.yaml").exits(0);
    project.run("accept").exits(0);
    let limited = project.read("eval.yaml") + "limits: { limit: 4 }\n";
    project.write("eval.yaml", limited);
    let short = "only 4 of the baseline's 8 samples can be compared, fewer than 90 % (4 gone): remove `limits.limit: 4` \
                 from the spec";
    project.run("run -v eval.yaml").exits(3).says(short);
    let dir = project.last_run();
    let dir = dir.display();
    project.run(&format!("gate -v {dir}")).exits(3).says(short);
    project
        .run(&format!("rescore -v {dir}"))
        .exits(0)
        .says(short);
    // A baseline of this size has nothing else.
    project.run("accept").exits(0);
    project
        .run("run -v eval.yaml")
        .says("0 of 4 compared samples became wrong")
        .says_nothing_of("gone");
}

#[test]
fn what_left_its_slice_is_missing_there() {
    let project = Project::new();
    let sample = |id, level| (id, level, "6 * 7?", "42");
    let ids = ["a", "b", "c", "d", "e", "f"];
    project.questions(&ids.map(|id| sample(id, 1)));
    project.spec("demo", "gates: ['no_regression[level=1]']\n");
    project.run("run -v eval.yaml").exits(0);
    project.run("accept").exits(0);
    project.run("run -v eval.yaml").exits(0);
    let short = |row: &str| {
        format!(
            "only 5 of the baseline's 6 samples of `level=1` can be compared, fewer than 90 % (1 {row}): accept a run"
        )
    };
    let moved = ids.map(|id| sample(id, if id == "b" { 2 } else { 1 }));
    project.questions(&moved);
    project
        .run("run -v eval.yaml")
        .exits(3)
        .says(&short("in another slice"))
        .says("not compared, in another slice: b");
    project.questions(&ids[..5].iter().map(|id| sample(id, 1)).collect::<Vec<_>>());
    project
        .run("run -v eval.yaml")
        .exits(3)
        .says(&short("gone"))
        .says("not compared, gone: f");
}

#[test]
fn a_slice_without_a_sample_is_told_in_ci() {
    // The last sample alone is of the second level.
    let project = Project::new();
    project.questions(&[
        ("a", 1, "6 * 7?", "42"),
        ("b", 1, "6 * 8?", "48"),
        ("c", 2, "6 * 9?", "54"),
    ]);
    project.spec(
        "demo",
        "limits: { limit: 2 }\ngates: ['accuracy[level=2] >= 0.1']\n",
    );
    project
        .run("run eval.yaml")
        .exits(0)
        .says("no sample of this run belongs to `accuracy[level=2]`")
        .says_nothing_of("partial run");
    in_ci(&project, "run eval.yaml").exits(3);
    in_ci(&project, "run eval.yaml --allow-ignored").exits(0);
}

#[test]
fn gates_that_cannot_hold_are_refused_before_anything_is_asked() {
    let check = |gate: &str, message: &str, hint: &str| {
        let project = project(gate);
        project
            .run("run eval.yaml")
            .exits(2)
            .says(message)
            .says(hint);
        assert!(requested(&project).is_empty(), "{gate}");
    };
    check(
        "min_samples >= 9",
        "gate `min_samples >= 9` can never pass: the eval has 8 samples",
        "write `min_samples >= 8`",
    );
    check(
        "macro_f1 >= 0.5",
        "judges no labels",
        "use `choice`, or `exact` with `labels`",
    );
    check("mean(foo) >= 0.5", "no score has `foo`", "(scores have `");
    // A limit of the command line makes no mistake of a gate that it ignores.
    let project = project("min_samples >= 8");
    project.run("run eval.yaml --limit 2").exits(0);
}

#[test]
fn samples_of_one_group_count_once() {
    let project = Project::new();
    let rows: String = (0..40)
        .map(|i| {
            let row = serde_json::json!({
                "id": format!("q{i:02}"), "question": format!("{i}?"), "answer": i.to_string(),
                "passage": {"title": format!("p{}", i / 10)},
            });
            row.to_string() + "\n"
        })
        .collect();
    project.write("rows.jsonl", rows);
    project.script("agent.sh", "#!/bin/sh\ntr -dc 0-9\n");
    let spec = "name: e\nbenchmark: { path: rows.jsonl, cluster: passage.title, type: qa }\n\
                scorer: exact\nprompt: none\n\
                agent: { type: command, command: [./agent.sh] }\n\
                gates: [accuracy >= 0.1, no_regression]\n";
    project.write("eval.yaml", spec);
    project.run("run -v eval.yaml").exits(0);
    let record = &project.last_lines("samples.jsonl")[11];
    assert_eq!(record["cluster"], "p1");
    project.run("accept").exits(0);
    // All questions on one passage turn wrong, which is one event.
    project.script(
        "agent.sh",
        "#!/bin/sh\nn=$(tr -dc 0-9); test ${#n} -lt 2 && echo no || echo $n\n",
    );
    let ran = project.run("run -v eval.yaml").exits(3);
    ran.says("40 samples, 30 correct, accuracy 75.0 % (95 % interval ")
        .says("powerless")
        .says("the samples come in 4 groups, and only groups are independent");
    let [low, high] = [0, 1].map(|end| {
        let interval = &project.last_json("summary.json")["accuracy_ci95"];
        interval[end].as_f64().unwrap()
    });
    assert!(low < 0.5 && high > 0.9, "{low} to {high}");
    project
        .run("run -v eval.yaml --benchmark-option cluster=pasage")
        .exits(2)
        .says("`benchmark.cluster` names `pasage`, which no sample has")
        .says("did you mean `passage`?");
}

#[test]
fn a_part_reads_nothing_else_of_the_baseline() {
    let project = requested::project(8, "", "tiers: { full: {}, quick: { limit: 3 } }\n");
    project.write(
        "eval.yaml",
        project.read("eval.yaml") + "gates: [accuracy >= 0.1]\n",
    );
    project.run("run eval.yaml").exits(0);
    let accepted = project.last_run().display().to_string();
    project.run(&format!("accept {accepted}")).exits(0);
    let snapshots = || all_files(&project.file("snapshots/e"));
    let of = |id: &str| {
        let mut files = snapshots().into_iter();
        let name = format!("{id}.snap");
        files.find(|path| path.ends_with(&name)).unwrap()
    };
    let parts = ["--limit 2", "--filter q00", "--shard 1/2", "--tier quick"];
    for part in parts {
        let part = part.replace("q00", "q001");
        let run = format!("run eval.yaml {part}");
        project.run(&run).exits(0);
        let records = project.last_lines("samples.jsonl");
        let asked: Vec<_> = records
            .iter()
            .map(|it| it["sample_id"].as_str().unwrap())
            .collect();
        assert!(asked.len() < 8, "{part}");
        let summary = project.last_json("summary.json");
        assert_eq!(summary["account"]["baseline"], asked.len(), "{part}");
        assert_eq!(
            summary["account"]["rows"]["compared"],
            asked.len(),
            "{part}"
        );
        assert!(summary["account"]["rows"].get("gone").is_none(), "{part}");
        let all = (0..8).map(|n| format!("q{n:03}"));
        let others: Vec<_> = all
            .filter(|id| !asked.contains(&&**id))
            .map(|id| of(&id))
            .collect();
        let texts: Vec<_> = others
            .iter()
            .map(|path| std::fs::read(path).unwrap())
            .collect();
        for path in &others {
            std::fs::write(path, "no snapshot").unwrap();
        }
        project.run(&run).exits(0);
        for (path, text) in others.iter().zip(texts) {
            std::fs::write(path, text).unwrap();
        }
        let own = of(asked[0]);
        let text = std::fs::read(&own).unwrap();
        std::fs::write(&own, "no snapshot").unwrap();
        project.run(&run).exits(2).says("not a snapshot");
        std::fs::write(&own, text).unwrap();
    }
    // A gate that compares the tier needs to know whether anything was changed.
    project.write(
        "eval.yaml",
        project
            .read("eval.yaml")
            .replace("accuracy >= 0.1", "'no_regression(alpha=0.05)[tier=quick]'"),
    );
    let changed = of("q007");
    let text = std::fs::read_to_string(&changed).unwrap();
    std::fs::write(&changed, text.replace("target: ", "target: 0")).unwrap();
    project
        .run("run -v eval.yaml --tier quick")
        .says("q007.snap");
}
