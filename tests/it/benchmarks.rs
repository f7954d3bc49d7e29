//! The benchmarks `qa`, `gsm8k`, `aime` and `custom`, from spec to summary, and their fixtures.

use serde_json::{Value, json};

use crate::project::{Project, Ran, json_lines, root};

/// Runs a spec of the fixtures; gives samples, scored and correct ones.
fn figures(project: &Project, spec: &str) -> (Value, Value, Value) {
    let spec = root().join("fixtures").join(spec);
    let output = project.file("evaltest-runs");
    let paths = [spec.to_str().unwrap(), output.to_str().unwrap()];
    let arguments = ["run", paths[0], "--output-root", paths[1], "--json"];
    let ran = Ran::of(&project.command_of(&arguments).output().unwrap()).exits(0);
    let run = &ran.json()["runs"][0];
    let summary = &run["summary"];
    (
        summary["samples"].clone(),
        summary["scored"].clone(),
        summary["correct"].clone(),
    )
}

#[test]
fn the_fixtures_run_and_some_of_their_answers_are_wrong() {
    let project = Project::new();
    let check = |spec: &str, expect: (u32, u32, u32)| {
        let expect = (json!(expect.0), json!(expect.1), json!(expect.2));
        assert_eq!(figures(&project, spec), expect, "{spec}");
    };
    check("qa/reading.yaml", (6, 5, 4));
    check("qa/sums.yaml", (5, 5, 4));
    check("gsm8k/gsm8k.yaml", (8, 8, 6));
    check("aime/aime.yaml", (4, 4, 3));
    check("judge/judge.yaml", (16, 16, 3));
    check("judge/panel.yaml", (16, 16, 3));
    // What a model and a model as its user said is played without them.
    check("conversations/smalltalk.yaml", (10, 10, 3));
    check("custom/stationer.yaml", (10, 10, 8));
    // What judges a sample is in its record, so the last run can be scored again without the spec.
    let run = project.last_run();
    let again = project
        .run(&format!("rescore -v {}", run.display()))
        .exits(0);
    again.says("stationer: 10 samples, 8 correct");
}

/// What a real model replied as a judge, in either form, is read each time anew; its verdicts are those of `labels.jsonl`,
/// of which the comment in the spec tells how far they agree with people.
#[test]
fn a_fixture_is_judged_by_what_a_model_said_in_each_form() {
    let project = Project::new();
    let folder = root().join("fixtures/judge");
    let spec = folder.join("judge.yaml");
    let output = project.file("evaltest-runs");
    let paths = [spec.to_str().unwrap(), output.to_str().unwrap()];
    let ran = project.run_of(&["run", paths[0], "--output-root", paths[1], "--json"]);
    let judges = ran.exits(0).json()["runs"][0]["summary"]["judge"]["scorers"].clone();
    let check = |scorer: &str, calls: u32, again: u32, reasons: &Value| {
        let judge = &judges[scorer];
        assert_eq!(judge["calls"], calls, "{scorer}");
        assert_eq!(judge["asked_again"], again, "{scorer}");
        assert_eq!(judge["reasons"], *reasons, "{scorer}");
        let models = json!({"SmolLM2-135M-Instruct.Q4_1.gguf": calls});
        assert_eq!(judge["models"], models, "{scorer}");
    };
    check("judge", 16, 0, &Value::Null);
    check("points", 16, 0, &Value::Null);
    let unread = json!({"invalid_response_format": 4, "truncated": 7});
    check("in_words", 30, 14, &unread);

    let labels = json_lines(&folder.join("labels.jsonl"));
    for (record, label) in project.last_lines("samples.jsonl").iter().zip(&labels) {
        assert_eq!(record["sample_id"], label["id"]);
        let verdict = &record["result"]["scores"]["judge"]["details"]["verdict"];
        assert_eq!(*verdict, label["judge"], "{}", label["id"]);
    }
    let labels = folder.join("labels.jsonl");
    let ran = project.run_of(&["judge", "agreement", labels.to_str().unwrap(), "--json"]);
    let figures = ran.exits(0).json();
    assert_eq!(figures["agreement"], 7.0 / 16.0);
    assert_eq!(figures["constant_agreement"], figures["agreement"]);
    assert_eq!(figures["kappa"], 0.0);
}

/// The same model as a judge with a calibration, as three judges and as the judge of pairs: what the comment in the spec says.
#[test]
fn a_fixture_has_a_panel_pairs_and_labels_of_people() {
    let project = Project::new();
    let spec = root().join("fixtures/judge/panel.yaml");
    let output = project.file("evaltest-runs");
    let paths = [spec.to_str().unwrap(), output.to_str().unwrap()];
    let ran = project.run_of(&["run", paths[0], "--output-root", paths[1], "--json"]);
    let ran = ran.exits(0).json()["runs"][0].clone();
    let summary = ran["summary"].clone();
    let judges = &summary["judge"]["scorers"];

    let corrected = &judges["judge"]["calibration"]["corrected"]["correct"];
    assert_eq!(corrected["value"], 7.0 / 16.0, "{}", judges["judge"]);
    assert_eq!(corrected["judge"], 1.0);
    let gate = &summary["gates"][1];
    assert_eq!(gate["gate"], "corrected(judge.correct) >= 0.4");
    assert_eq!(gate["verdict"], "passed");
    let message = gate["message"].as_str().unwrap();
    assert!(
        message.contains("uncalibrated (16 human labels"),
        "{message}"
    );

    let jury = &summary["judge"]["juries"]["jury"];
    assert_eq!(jury["panel"]["agreement"], 7.0 / 16.0, "{jury}");
    assert_eq!(judges["jury/one"]["unread"], 1);

    let pairs = &judges["pairwise"]["pairs"];
    assert_eq!(pairs["n"], 16);
    assert_eq!(pairs["inconsistent"], 16);
    assert_eq!(pairs["win_rate"], 0.5);
    assert_eq!(pairs["position_bias"], 1.0);
    assert_eq!(pairs["standing"], "not_told_apart");
    // That a judge which goes by the order says something else is no advice.
    let report = project.run_of(&["report", ran["run_dir"].as_str().unwrap()]);
    report
        .exits(0)
        .says("Recommendations")
        .says_nothing_of("accepts what pairwise rejects in");
    // A page has all that Markdown tells of them.
    let dir = ran["run_dir"].as_str().unwrap();
    let page = project.run_of(&["report", dir, "--format", "html", "-o", "page.html"]);
    page.exits(0);
    let page = project.read("page.html");
    for expect in [
        "<h4>Jury <code>jury</code></h4>",
        "<li>16 pairs",
        "<p class=\"warn\">",
    ] {
        assert!(page.contains(expect), "{expect}: {page}");
    }
}

/// Numbers are compared as numbers and codes as texts, unless the eval names a scorer.
#[test]
fn a_ground_truth_that_is_a_number_is_judged_as_one() {
    let project = Project::new();
    project.write(
        "data.csv",
        "id,question,answer\nsign,?,45\npoint,?,15\nform,?,\"1,500\"\ncode,?,007\nzip,?,02139\ntext,?,New York\n\
         two,?,140|140 men\n",
    );
    let answers = [
        ("sign", "-45"),
        ("point", "1.5"),
        ("form", "FINAL ANSWER: 1500.0"),
        ("code", "7"),
        ("zip", "02139"),
        ("text", "new york!"),
        ("two", "140 men"),
    ];
    let answers = answers.map(|(id, answer)| json!({"id": id, "answer": answer}).to_string());
    project.write("answers.jsonl", answers.join("\n"));
    let spec = |more: &str| {
        let qa = "benchmark: { type: qa, path: data.csv, separator: '|' }";
        let text = format!(
            "name: n\n{qa}\nagent: {{ type: replay, path: answers.jsonl }}\ngates: [no_regression]\n{more}"
        );
        project.write("n.yaml", text);
    };
    let verdicts = || -> Vec<(Value, Value)> {
        let records = project.last_lines("samples.jsonl");
        let verdict = |record: &Value| {
            let score = &record["result"]["score"];
            (score["correct"].clone(), score["details"]["scorer"].clone())
        };
        records.iter().map(verdict).collect()
    };
    spec("scorer: token_f1\n");
    let before = project.run("run -v n.yaml").exits(0);
    before
        .says("7 samples, 5 correct")
        .says_nothing_of("judges");
    let warning = |place: usize| {
        let record = &project.last_lines("samples.jsonl")[place];
        record["result"]["score"]["details"]["warning"].is_string()
    };
    // What the words hide is marked where no number is compared.
    assert_eq!([0, 1, 2, 5].map(warning), [true, true, false, false]);
    project.run("accept").exits(0);
    spec("");
    project
        .run("run -v n.yaml")
        .exits(2)
        .says("was judged by another scorer");
    let ran = project.run("run -v n.yaml --ignore-baseline").exits(0);
    ran.says("7 samples, 4 correct").says(
        "scorer `qa` scores 3 samples with `numeric` (their ground truth is a number), 1 with `numeric` or `token_f1` \
         (whichever fits the accepted answer) and 3 with `token_f1`",
    );
    let expect = [
        (false, "numeric"),
        (false, "numeric"),
        (true, "numeric"),
        (false, "token_f1"),
        (true, "token_f1"),
        (true, "token_f1"),
        (true, "token_f1"),
    ];
    let expect = expect.map(|(correct, rule)| (json!(correct), json!(rule)));
    assert_eq!(verdicts(), expect);
    // The run can be judged again as it was.
    let run = project.last_run();
    let again = project
        .run(&format!("rescore -v {}", run.display()))
        .exits(0);
    again.says("7 samples, 4 correct");
    assert_eq!(verdicts(), expect);
}

const SPEC: &str = "\
name: shop
benchmark:
  type: custom
  samples:
    - { id: a, prompt: What is 2 + 2?, ground_truth: 4 }
    - { id: b, prompt: What is 3 + 4?, ground_truth: 7, scorer: gaia }
    - { id: c, prompt: What is 4 + 5?, ground_truth: 9, scorer: gaia }
agent: { type: demo }
gates: ['no_regression(max_drop=0.9, min_pairs=0.5)']
";

#[test]
fn a_sample_with_another_scorer_counts_as_changed() {
    let project = Project::new();
    project.write("shop.yaml", SPEC);
    project
        .run("run -v shop.yaml")
        .exits(0)
        .says("3 samples, 3 correct");
    project.run("accept").exits(0);
    // The demo agent says `FINAL ANSWER: 7`, which is no letter of a box, and still its only number.
    project.write(
        "shop.yaml",
        SPEC.replacen("7, scorer: gaia", "7, scorer: aime", 1),
    );
    project
        .run("run -v shop.yaml")
        .exits(0)
        .says("of 2 compared samples")
        .says("ground truth changed: b");
    let default = SPEC.replacen("  samples:", "  scorer: gsm8k\n  samples:", 1);
    project.write("shop.yaml", default);
    project
        .run("run -v shop.yaml")
        .exits(0)
        .says("of 2 compared samples")
        .says("ground truth changed: a");
}

#[test]
fn mistakes_are_told_before_anything_is_asked() {
    let project = Project::new();
    project.write("data.csv", "id,question,answer\na,What is 2 + 2?,4\n");
    let check = |spec: &str, expect: &[&str]| {
        project.write("e.yaml", format!("{spec}\nagent: {{ type: demo }}\n"));
        let ran = project.run("run e.yaml").exits(2);
        expect.iter().fold(ran, |ran, text| ran.says(text));
        assert!(project.runs().is_empty());
    };
    check(
        "benchmark: { type: qa, path: data.csv, colums: {} }",
        &[
            "e.yaml:1:",
            "unknown key `benchmark.colums`",
            "did you mean `columns`?",
            "`template`",
        ],
    );
    check(
        "benchmark:\n  type: qa\n  path: data.csv\n  template: 'Q: {question'",
        &["e.yaml:4:13: the template has a `{` that starts no column"],
    );
    check(
        "benchmark: { type: qa, path: data.csv, template: '{questions}' }",
        &[
            "data.csv`: no column `questions` (named by `template`)",
            "did you mean `question`?",
        ],
    );
    check(
        "benchmark: { type: gsm8k, path: none.jsonl }",
        &["e.yaml:1:33: cannot open `", "none.jsonl`"],
    );
    check(
        "benchmark: { type: gsm8k, path: data.csv }\nprompt: official",
        &[
            "e.yaml:2:9: benchmark `gsm8k` has no official prompt",
            "remove `prompt`",
        ],
    );
    check(
        "benchmark: { type: aime, path: data.csv, years: [soon] }",
        &["e.yaml:1:", "a whole number is needed"],
    );
    check(
        "benchmark: { type: aime, path: data.csv, years: [2024] }",
        &["no problem of the year `2024`; no row has a year"],
    );
    check(
        "benchmark:\n  type: custom\n  samples:\n    - id: a\n      ground_truth: x",
        &["e.yaml:4:", "missing key `prompt`"],
    );
    check(
        "scorers: [gaia, { type: substring, name: gaia }]\nbenchmark: { type: qa, path: data.csv }",
        &["e.yaml:1:17: two scorers are called `gaia`"],
    );
    check(
        "benchmark: { type: custom, samples: [] }",
        &["e.yaml:1:37: benchmark `custom` has no samples"],
    );
    check(
        "benchmark: { type: gsm9k }",
        &["unknown benchmark `gsm9k`", "did you mean `gsm8k`?"],
    );
}

#[test]
fn solutions_are_scored_as_they_are() {
    let project = Project::new();
    let line = |prediction: &str, truth: Value| {
        json!({"prediction": prediction, "ground_truth": truth}).to_string() + "\n"
    };
    let lines = line(
        "2 * 9 = <<2*9=18>>18\nA: $18.00",
        json!("16 + 2 = 18\n#### 18"),
    ) + &line("I think 18 or 19", json!(18));
    project.write("solutions.jsonl", lines);
    let ran = project.run("score --scorer gsm8k solutions.jsonl").exits(0);
    let reason = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["score"]["reason"].as_str().unwrap().to_owned()
    };
    let reasons: Vec<_> = ran.out.lines().map(reason).collect();
    assert_eq!(reasons, ["exact_match", "no_answer"]);
    let ran = project.run("score --scorer gsm8k --extract number solutions.jsonl");
    let reasons: Vec<_> = ran.exits(0).out.lines().map(reason).collect();
    // Of `18 or 19` none is the answer.
    assert_eq!(reasons, ["exact_match", "no_answer"]);
}
