//! What a snapshot file holds, how it is read, and what it is compared by.

mod exact;

use std::path::PathBuf;

use crate::project::{Project, all_files};

/// What version 1 wrote: an accepted run with the prompt `concise`, of two epochs.
const VERSION_1: &[(&str, &str)] = &[
    (
        "ae/a.snap",
        "---\nsource: evaltest\nexpression: \"a\"\n---\nverdict: correct\nanswer: \"2.0\"\n\
         input: f1f2dfe4b0e01329\ntarget: 2a032d5b60ea6a4c\n",
    ),
    (
        "1a/b.snap",
        "---\nsource: evaltest\nexpression: \"b\"\n---\nverdict: incorrect\nanswer: \"9.0\"\n\
         input: f0f9401c66050192\ntarget: c2a57ed65f5fd770\n",
    ),
    (
        "ec/c.snap",
        "---\nsource: evaltest\nexpression: \"c\"\n---\nverdict: unscored\nanswer: \"4\"\n\
         input: 18651b2ad464db13\ntarget: e3436fcab7e4d7ad\n",
    ),
    (
        "_baseline.json",
        "{\n  \"format_version\": 1,\n  \"run_id\": \"old-42c3f0\",\n  \
         \"scorer_hash\": \"b24d572f9f20a8b5\",\n  \"epochs\": 2,\n  \
         \"verdict_digest\": \"71cfabcbf6b3c530\",\n  \"samples\": 3,\n  \"correct\": 1\n}\n",
    ),
];

/// Three questions, the last without an answer to compare with, and an agent that answers as the file says.
fn project(epochs: u32, more: &str) -> Project {
    let project = Project::new();
    project.write(
        "q.jsonl",
        "{\"id\":\"a\",\"question\":\"What is 2?\",\"answer\":\"2\"}\n\
         {\"id\":\"b\",\"question\":\"What is 3?\",\"answer\":\"3\"}\n\
         {\"id\":\"c\",\"question\":\"What is 4?\"}\n",
    );
    answers(&project, ["2", "9", "4"]);
    let spec = format!(
        "name: old\nbenchmark: {{ type: qa, path: q.jsonl }}\nagent: {{ type: replay, path: r.jsonl }}\n\
         prompt: concise\nepochs: {epochs}\nscorer: gaia\nsnapshot: {{ answers: plain }}\n\
         gates: [no_regression(max_drop=0.4)]\n{more}"
    );
    project.write("e.yaml", spec);
    project
}

fn answers(project: &Project, [a, b, c]: [&str; 3]) {
    let line = |(id, text)| format!("{{\"sample_id\":\"{id}\",\"text\":\"{text}\"}}\n");
    project.write("r.jsonl", [("a", a), ("b", b), ("c", c)].map(line).concat());
}

/// An older version wrote `con.snap`, which no colleague with Windows could check out.
#[test]
fn a_name_that_windows_reserves_is_read_and_renamed() {
    let project = Project::with_eval(
        &[("con", 1, "1", "1"), ("a", 1, "1", "1")],
        "echo",
        "gates: [no_regression(max_drop=0.1)]\n",
    );
    project.run("run -v eval.yaml --ignore-baseline").exits(0);
    project.run("accept").exits(0);
    let snapshot = || {
        let mut files = all_files(&project.file("snapshots")).into_iter();
        let is_con = |path: &PathBuf| {
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with("con")
        };
        let found = files.find(is_con).unwrap();
        assert!(!files.any(|path| is_con(&path)));
        found
    };
    let new = snapshot();
    let old = new.with_file_name("con.snap");
    assert_ne!(new, old);
    std::fs::rename(&new, &old).unwrap();
    project
        .run("run -v eval.yaml")
        .exits(0)
        .says("no_regression(max_drop=0.1): passed")
        .says_nothing_of("the snapshots changed");
    project
        .run("accept")
        .exits(0)
        .says("snapshots: 1 written, 0 removed");
    assert_eq!(snapshot(), new);
}

fn edit(project: &Project, file: &str, from: &str, to: &str) {
    let text = project.read(file);
    assert!(text.contains(from), "{file}: {text}");
    project.write(file, text.replace(from, to));
}

fn with_version_1() -> Project {
    let project = project(2, "");
    for (name, text) in VERSION_1 {
        project.write(&format!("snapshots/old/{name}"), text);
    }
    project
}

fn of(project: &Project, name: &str) -> String {
    project.read(&format!("snapshots/old/{name}"))
}

/// What `no_regression` found in the last run.
fn regression(project: &Project) -> serde_json::Value {
    project.last_json("summary.json")["gates"][0]["regression"].clone()
}

#[test]
fn a_snapshot_holds_what_was_said_and_tells_people_what_was_asked() {
    let project = project(2, "");
    project.run("run e.yaml").exits(0);
    project.run("accept").exits(0);
    assert_eq!(
        of(&project, "1a/b.snap"),
        "---\nsource: evaltest\ndescription: \"What is 3?\"\nexpression: \"b\"\ninfo:\n  ground_truth: \"3\"\n  \
         verdict: incorrect\n  correct: \"0 of 2\"\n---\nverdict: incorrect\nanswers: \"00\"\n\
         prediction: \"9\"\nnormalized_prediction: \"9.0\"\noutput_length: 1 1\nquestion: 08499fd5612fcb1b\n\
         target: c2a57ed65f5fd770\n"
    );
    let unscored = of(&project, "ec/c.snap");
    assert!(
        unscored.contains(
            "verdict: unscored\nanswers: \"..\"\nprediction: \"4\"\nnormalized_prediction: null\n"
        ),
        "{unscored}"
    );
    assert!(of(&project, "ae/a.snap").contains("answers: \"11\"\n"));
    assert!(of(&project, "_baseline.json").contains("\"prompt\": \"concise "));
    assert_eq!(
        of(&project, ".gitattributes"),
        "*.snap text eol=lf\n_baseline.json text eol=lf\n_index.jsonl text eol=lf -diff\nhistory.jsonl text eol=lf merge=union\n"
    );
    project
        .run("run e.yaml")
        .exits(0)
        .says_nothing_of("no longer");
    assert_eq!(regression(&project)["pairs"], 2);
}

#[test]
fn a_baseline_of_version_1_is_compared_by_what_it_has_until_the_next_is_accepted() {
    let project = with_version_1();
    project
        .run("run -v e.yaml")
        .exits(0)
        .says_nothing_of("no longer");
    let found = regression(&project);
    assert_eq!(
        (&found["pairs"], &found["changed"]),
        (&2.into(), &serde_json::json!([]))
    );
    // As it was: what knew the whole prompt alone cannot tell that the question is the same.
    edit(&project, "e.yaml", "prompt: concise", "prompt: none");
    project.run("run -v e.yaml");
    assert_eq!(
        regression(&project)["changed"],
        serde_json::json!(["a", "b", "c"])
    );
    // A verdict edited by hand is noticed in these files too.
    edit(&project, "e.yaml", "prompt: none", "prompt: concise");
    edit(&project, "snapshots/old/1a/b.snap", "incorrect", "correct");
    project
        .run("run e.yaml")
        .exits(1)
        .says("note: the snapshots changed since run");
    let verdicts = "1 of 2 samples correct in most of their answers, 1 without a verdict";
    project.run("accept").exits(0).says(verdicts);
    assert!(of(&project, "1a/b.snap").contains("answers: \"00\""));
    assert!(of(&project, "_baseline.json").contains("\"format_version\": 4"));
}

#[test]
fn another_prompt_than_that_of_version_1_is_told_as_a_reason() {
    let project = with_version_1();
    edit(&project, "e.yaml", "prompt: concise", "prompt: none");
    project
        .run("run -v e.yaml")
        .exits(3)
        .says("stored question and prompt together, and one of them changed")
        .says("`cargo evaltest accept`")
        .says("not compared, input, prompt or ground truth changed: a, b");
    project.run("accept").exits(0);
    project.run("run -v e.yaml").exits(0);
}

#[test]
fn a_masked_dataset_that_changed_is_told_and_its_order_is_none() {
    let project = project(1, "");
    edit(&project, "e.yaml", "answers: plain", "answers: masked");
    project.run("run -v e.yaml").exits(0);
    project.run("accept").exits(0);
    let text = project.read("q.jsonl");
    let turned: Vec<_> = text
        .lines()
        .rev()
        .map(|line| line.to_owned() + "\n")
        .collect();
    project.write("q.jsonl", turned.concat());
    project
        .run("run -v e.yaml")
        .exits(0)
        .says("0 of 2 compared samples");
    edit(&project, "q.jsonl", "What is 3?", "What is 1 + 2?");
    project
        .run("run -v e.yaml")
        .exits(3)
        .says("so its samples cannot be matched")
        .says_nothing_of("not compared,");
}

#[test]
fn a_baseline_without_its_file_says_so() {
    let project = project(1, "");
    project.run("run -v e.yaml").exits(0);
    project.run("accept").exits(0);
    std::fs::remove_file(project.file("snapshots/old/_baseline.json")).unwrap();
    project
        .run("run -v e.yaml")
        .exits(0)
        .says("`_baseline.json` is missing")
        .says_nothing_of("``");
}

#[test]
fn exact_compares_a_snapshot_of_version_1_by_what_it_has() {
    let project = with_version_1();
    edit(
        &project,
        "e.yaml",
        "answers: plain",
        "answers: plain, assert: exact",
    );
    project.run("run e.yaml").exits(0);
    answers(&project, ["2", "8", "4"]);
    project.run("run e.yaml").exits(1);
}

#[test]
fn a_changed_prompt_is_compared_and_noted() {
    let project = project(1, "");
    project.run("run e.yaml").exits(0);
    project.run("accept").exits(0);
    let before = project.last_json("manifest.json")["prompt"].clone();
    edit(
        &project,
        "e.yaml",
        "prompt: concise",
        "prompt: { template: \"Please: {prompt}\" }",
    );
    project.run("run e.yaml").exits(0);
    let found = regression(&project);
    assert_eq!(
        (&found["pairs"], &found["changed"]),
        (&2.into(), &serde_json::json!([]))
    );
    let after = &project.last_json("manifest.json")["prompt"];
    assert_ne!(*after, before);
    assert!(after.as_str().unwrap().starts_with("template "), "{after}");
    // The question, a file and the ground truth decide what a pair is.
    edit(&project, "q.jsonl", "What is 2?", "What is 1 + 1?");
    project
        .run("run e.yaml")
        .exits(3)
        .says("only 1 of the baseline's 2 samples");
    assert_eq!(regression(&project)["changed"], serde_json::json!(["a"]));
}

#[test]
fn exact_means_that_neither_the_prediction_nor_its_normalised_form_changed() {
    let project = project(1, "");
    edit(
        &project,
        "e.yaml",
        "answers: plain",
        "answers: plain, assert: exact",
    );
    // Both are no number, and normalise to `inf`.
    answers(&project, ["2", "banana", "4"]);
    project.run("run e.yaml --ignore-baseline");
    project.run("accept").exits(0);
    assert!(
        of(&project, "1a/b.snap")
            .contains("prediction: \"banana\"\nnormalized_prediction: \"inf\"")
    );
    project.run("run e.yaml").exits(0);
    answers(&project, ["2", "apple", "4"]);
    project.run("run e.yaml").exits(1).says("b");
}

#[test]
fn what_cannot_be_read_ends_the_run_before_anything_is_asked_and_accept_rewrites_it() {
    let project = project(1, "");
    project.run("run e.yaml").exits(0);
    project.run("accept").exits(0);
    let good = of(&project, "1a/b.snap");
    let runs = project.runs().len();
    let check = |file: &str, text: &str, says: &str| {
        let whole = of(&project, file);
        project.write(&format!("snapshots/old/{file}"), text);
        let ran = project.run("run e.yaml").exits(2);
        ran.says(&file.replace('/', std::path::MAIN_SEPARATOR_STR))
            .says(says)
            .says("--ignore-baseline");
        assert_eq!(project.runs().len(), runs, "nothing was asked");
        project.run("accept").exits(0);
        assert_eq!(of(&project, file), whole, "{text}");
    };
    let conflict = good.replace(
        "verdict: incorrect",
        "<<<<<<< HEAD\nverdict: correct\n=======\nverdict: incorrect\n>>>>>>> other",
    );
    check("1a/b.snap", &conflict, "the marks of a merge conflict");
    check("1a/b.snap", "verdict: correct\n", "it has no header");
    check("1a/b.snap", "", "it has no header");
    check(
        "1a/b.snap",
        &good.replace("verdict: incorrect", "verdict: fine"),
        "`fine` is not a verdict",
    );
    check(
        "1a/b.snap",
        &good.replace("verdict: incorrect", "verdict: correct\nverdict: incorrect"),
        "the line `verdict` twice",
    );
    check(
        "1a/b.snap",
        &good.replace("answers: \"0\"", "answers: \"2\""),
        "expected verdicts such as",
    );
    check(
        "1a/b.snap",
        &good.replace("expression", "expr"),
        "`expression`",
    );
    check(
        "1a/b.snap",
        &good.replace("target:", "nontarget:"),
        "it has no `target`",
    );
    let baseline = of(&project, "_baseline.json");
    check(
        "_baseline.json",
        &format!("<<<<<<< HEAD\n{baseline}=======\n"),
        "not a baseline",
    );
}

#[test]
fn a_checkout_with_crlf_reads_as_one_with_lf() {
    let project = project(2, "");
    edit(
        &project,
        "e.yaml",
        "answers: plain",
        "answers: plain, assert: exact",
    );
    project.run("run e.yaml --ignore-baseline");
    project.run("accept").exits(0);
    let files: Vec<PathBuf> = all_files(&project.file("snapshots/old"));
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replace('\n', "\r\n")).unwrap();
    }
    project
        .run("run e.yaml")
        .exits(0)
        .says_nothing_of("no longer");
    assert_eq!(regression(&project)["pairs"], 2);
}

#[test]
fn a_dataset_with_crlf_is_the_same_as_one_with_lf() {
    for answers in ["plain", "masked"] {
        let project = project(1, "");
        edit(
            &project,
            "e.yaml",
            "answers: plain",
            &format!("answers: {answers}"),
        );
        edit(
            &project,
            "e.yaml",
            "path: q.jsonl",
            "path: q.csv, columns: { files: [file] }",
        );
        let files = [
            (
                "q.csv",
                "id,question,answer,file\na,\"What\nis 2?\",\"2\n\",t.txt\nb,3?,3,\n",
            ),
            ("t.txt", "first\nsecond\n"),
        ];
        for (name, text) in files {
            project.write(name, text);
        }
        project.run("run -v e.yaml").exits(0);
        project.run("accept").exits(0);
        for (name, text) in files {
            project.write(name, text.replace('\n', "\r\n"));
        }
        project
            .run("run -v e.yaml")
            .exits(0)
            .says_nothing_of("dataset");
        let found = regression(&project);
        let pairs = (&found["pairs"], &found["changed"]);
        assert_eq!(pairs, (&2.into(), &serde_json::json!([])), "{answers}");
        // What is no text no checkout changes.
        for other in ["first\r\nother\r\n", "first\r\nsecond\r\n\0"] {
            project.write("t.txt", other);
            project.run("run -v e.yaml").says("not compared");
            assert_eq!(regression(&project)["changed"], serde_json::json!(["a"]));
        }
    }
}

#[test]
fn what_an_outage_leaves_in_a_masked_baseline_is_masked_too() {
    let plain = project(2, "");
    plain.run("run e.yaml").exits(0);
    plain.run("accept").exits(0);
    for (project, stored) in [(plain, "\"00\""), (with_version_1(), "\".0\"")] {
        edit(&project, "e.yaml", "answers: plain", "answers: masked");
        let whole = project.read("r.jsonl");
        let line = whole.lines().nth(1).unwrap();
        project.write("r.jsonl", whole.replace(line, ""));
        // It waited for review when its sample left the dataset.
        let waits = "---\nsource: evaltest\n---\nprediction: \"9\"\n";
        project.write("snapshots/old/00/gone.snap.new", waits);
        project.run("run e.yaml --ignore-baseline").exits(3);
        project.run("accept --partial").exits(0);
        let masked = of(&project, "1a/b.snap");
        let start = format!(
            "---\nsource: evaltest\nexpression: \"b\"\n---\nverdict: incorrect\nanswers: {stored}\nprediction: (masked) "
        );
        assert!(masked.starts_with(&start), "{masked}");
        for file in all_files(&project.file("snapshots/old")) {
            let text = std::fs::read_to_string(file).unwrap();
            // What was asked, said and right, and the hashes that plain snapshots have of it.
            for text_part in [
                "What is", "\"9\"", "\"9.0\"", "\"3\"", "f0f9401c", "08499fd5", "c2a57ed6",
            ] {
                assert!(!text.contains(text_part), "{text_part}: {text}");
            }
        }
        // It is known again.
        project.write("r.jsonl", whole);
        project.run("run e.yaml").exits(0);
        let found = regression(&project);
        let pairs = (&found["pairs"], &found["changed"]);
        assert_eq!(pairs, (&2.into(), &serde_json::json!([])));
    }
}

#[test]
fn a_masked_run_shows_no_samples_of_its_spec_in_its_manifest() {
    let project = project(1, "");
    for (answers, shows) in [("plain", true), ("masked", false)] {
        project.write(
            "e.yaml",
            format!(
                "name: own\nbenchmark:\n  type: custom\n  samples:\n    - {{ id: a, prompt: Which fruit?, \
                 ground_truth: quince }}\nscorer: exact\nagent: {{ type: replay, path: r.jsonl }}\nsnapshot: {{ \
                 answers: {answers} }}\n"
            ),
        );
        let set = r#"--set benchmark.samples=[{"id":"a","prompt":"Pear?","ground_truth":"pear"}]"#;
        for (set, texts) in [("", ["Which fruit?", "quince"]), (set, ["Pear?", "pear"])] {
            project.run(&format!("run e.yaml --ignore-baseline {set}"));
            let manifest = project.last_json("manifest.json").to_string();
            for text in texts {
                assert_eq!(manifest.contains(text), shows, "{text}: {manifest}");
            }
        }
    }
    let run = project.last_run();
    project.run(&format!("rescore {}", run.display())).exits(0);
    project.run("accept").exits(0);
    assert!(
        !project
            .read("snapshots/own/_baseline.json")
            .contains("pear")
    );
}
