//! What `compare` says besides: of runs in another order, of errors, of means, and as a page.

use std::fs;

use serde_json::{Value, json};

use crate::compare::{compared, is_the_gates, project, regression, run_with};
use crate::project::{Project, json_lines};
use crate::requested;

#[test]
fn the_order_of_a_run_changes_no_figure() {
    for cluster in ["", " --set benchmark.cluster=Level"] {
        let project = project("gates: [no_regression(min_pairs=0.5)]\nepochs: 2\n");
        let data = project.read("data.jsonl");
        run_with(&project, &[], &format!("--run-id before{cluster}"));
        project.run("accept before").exits(0);
        let turned: Vec<_> = data.lines().rev().collect();
        project.write("data.jsonl", turned.join("\n"));
        let flags = format!("--run-id after{cluster}");
        run_with(&project, &["wrong", "right"], &flags);
        let gate = regression(&project);
        let found = compared(&project, "before after");
        is_the_gates(&found, &gate);
        let lines = json_lines(&project.last_run().join("samples.jsonl"));
        assert_eq!(lines[0]["sample_id"], "q011");
        assert_eq!(found["flips"]["worse"].as_array().unwrap().len(), 4);
        // Some of them alone.
        let flags = format!("--limit 8 --run-id some{cluster}");
        run_with(&project, &["wrong", "right"], &flags);
        let found = compared(&project, "before some");
        assert_eq!(found["n"], 8);
        let missing = found["unpaired"]["only_in_a"].as_array().unwrap();
        assert_eq!(missing.len(), 4);
        assert!(missing.is_sorted_by_key(Value::to_string), "{missing:?}");
        let back = compared(&project, "some before");
        assert_eq!(back["unpaired"]["only_in_b"].as_array().unwrap().len(), 4);
        assert_eq!(back["p_two_sided"], found["p_two_sided"]);
    }
}

#[test]
fn what_errors_could_change_is_told() {
    let project = project("gates: [no_regression]\n");
    run_with(&project, &[], "--run-id before");
    project.run("accept before").exits(0);
    requested::agent(
        &project,
        "case $EVALTEST_SAMPLE_ID in q000|q002|q004|q006) exit 3;; esac",
    );
    run_with(&project, &[], "--run-id after");
    let found = compared(&project, "before after");
    let bounds = &found["error_bounds"];
    assert_eq!(
        (&bounds["errors_a"], &bounds["errors_b"]),
        (&json!(0), &json!(4))
    );
    assert_eq!(bounds["lowest"]["worse"], 4);
    assert_eq!(bounds["highest"]["worse"], 0);
    // As the gate says it.
    let summary = fs::read(project.last_run().join("summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    let [wrong, right] = ["lowest", "highest"].map(|end| bounds[end]["p"].as_f64().unwrap());
    assert!((wrong - 0.025_746_745).abs() < 1e-8, "{wrong}");
    assert!(right >= 1.0, "{right}");
    let expected = "p = 0.026 if errored and skipped samples count as wrong, p = 1.00 if they count as correct";
    let message = summary["gates"][0]["message"].as_str().unwrap();
    assert!(message.contains(expected), "{expected}\n{message}");
    project
        .run("compare before after")
        .exits(0)
        .says("4 answers have no verdict (4 in B). Counted as wrong or as correct, the difference is between −33.3 points (")
        .says("; the conclusion could change: B worse");
    let back = compared(&project, "after before");
    assert_eq!(back["error_bounds"]["errors_a"], 4);
    assert_eq!(back["error_bounds"]["highest"]["better"], 4);
    // Nothing in common but errors.
    requested::agent(&project, "exit 3");
    run_with(&project, &[], "--run-id outage --ignore-baseline");
    project
        .run("compare before outage")
        .exits(0)
        .says("nothing to compare")
        .says("12 in B");
}

#[test]
fn means_of_scorers_are_compared() {
    let project = project("scorers: [fuzzy, gaia]\n");
    run_with(&project, &[], "--run-id before");
    run_with(&project, &["wrong"], "--run-id after");
    let found = compared(&project, "before after");
    let value = &found["means"]["fuzzy"]["value"];
    assert_eq!(value["n"], 12);
    let close = |value: &Value, expect: f64| {
        let found = value.as_f64().unwrap();
        assert!((found - expect).abs() < 1e-9, "{value}");
    };
    close(&value["difference"], -4.0 / 12.0);
    assert!(value["difference_ci95"][1].as_f64().unwrap() < 0.0);
    let share = &found["means"]["gaia"]["value"];
    assert_eq!(
        share["difference_ci95"],
        found["scorers"]["gaia"]["difference_ci95"]
    );
    project
        .run("compare before after")
        .exits(0)
        .says("\nOther scores\n  score ")
        .says("fuzzy similarity");
}

#[test]
fn a_page_marks_the_words_in_which_two_answers_differ() {
    let answers = |surely: &str, two: &str| {
        format!(
            "case $EVALTEST_SAMPLE_ID in q000) echo \"{surely}, it is 000.\"; exit;; q002) echo \"I get {two} at last\"; exit;; esac"
        )
    };
    let project = requested::project(5, &answers("I think", "002"), "scorer: includes\n");
    project.run("run eval.yaml --run-id before");
    requested::agent(&project, &answers("I am sure", "<3>"));
    project.run("run eval.yaml --run-id after");
    let whole = page(&project, "before after");
    has(
        &whole,
        &[
            // The right answer is green, and the wrong one red.
            "<pre>I get <mark class=\"right\">002</mark> at last</pre>",
            "<pre>I get <mark class=\"wrong\">&lt;3&gt;</mark> at last</pre>",
            "<h2>Different answer, same verdict: 1</h2>\n<details><summary>Both answers</summary>\n\
             <details open><summary><code>q000</code>",
            "<pre>I <mark class=\"other\">think</mark>, it is 000.</pre>",
            "<pre>I <mark class=\"other\">am sure</mark>, it is 000.</pre>",
        ],
    );
    let places = [
        "<h2>Became wrong: 1</h2>",
        "<h2>Different answer",
        "<h2>Run details</h2>",
    ];
    let places = places.map(|part| whole.find(part));
    assert!(
        places.is_sorted() && places[0].is_some(),
        "{places:?} in\n{whole}"
    );
    // A terminal has what flipped, and no marks.
    let out = project.run("compare before after").exits(0).out;
    assert!(
        out.contains("I get <3> at last") && !out.contains("Different answer"),
        "{out}"
    );
}

/// The page of a comparison.
fn page(project: &Project, arguments: &str) -> String {
    let expected = format!("compare {arguments} --html pages/page.html");
    let out = project.run(&expected).exits(0).out;
    assert_eq!(out.trim(), "pages/page.html");
    project.read("pages/page.html")
}

#[track_caller]
fn has(page: &str, expected: &[&str]) {
    for expect in expected {
        assert!(page.contains(expect), "`{expect}` is not in:\n{page}");
    }
}

#[test]
fn a_page_has_prompts_and_answers_beside_each_other() {
    let project = project("scorers: [fuzzy, gaia]\n");
    run_with(&project, &[], "--run-id before");
    run_with(&project, &["wrong", "right"], "--run-id after");
    let whole = page(&project, "before after");
    has(
        &whole,
        &[
            "<title>e: no significant difference between A and B</title>",
            "<h1>e: no significant difference between A and B</h1>\n",
            "<li><strong>A</strong>: before of e, ",
            "<div class=\"box inconclusive\">\n<p><strong>B − A: −25.0 points",
            "4 became wrong, 1 became correct",
            "<th scope=\"row\">level = 1</th>",
            "<th scope=\"row\">scorer: gaia</th>",
            "<th scope=\"row\">fuzzy similarity</th>",
            "<th scope=\"row\">latency p95</th>",
            // A short question stands in the title.
            "<h2>Became wrong: 4</h2>\n<details open><summary><code>q000</code> <span class=\"soft\">What is 0?</span></summary>\n\
             <ul class=\"facts\">\n<li><span class=\"soft\">expected</span> <b>000</b></li>\n\
             <li><span class=\"soft\">A</span> <b>000 (<span class=\"good\">correct</span>)</b></li>\n\
             <li><span class=\"soft\">B</span> <b>99 (<span class=\"bad\">wrong</span>, mismatch)</b></li>",
            "<h2>Became correct: 1</h2>",
        ],
    );
    // It stands for itself, and is the same text whenever it is written.
    for not in [
        "<script", "http:", "https:", "src=", "url(", " style=", "@import",
    ] {
        assert!(!whole.contains(not), "`{not}` is in:\n{whole}");
    }
    assert_eq!(page(&project, "before after"), whole);
    let few = page(&project, "before after --flips 1");
    has(
        &few,
        &["<details><summary>All by name</summary>\n<p><code>q000</code>, <code>q002</code>"],
    );
    assert_eq!(few.matches("<details open><summary><code>q0").count(), 2);
    project
        .run("compare before after --html page.html --json")
        .exits(2);
    // What another run was asked otherwise stands with its answer.
    let prompt = "prompt={ template: 'Think: {prompt}' }";
    project.write("wrong", "");
    project.run_of(&["run", "eval.yaml", "--run-id", "asked", "--set", prompt]);
    has(
        &page(&project, "before asked"),
        &[
            "<p class=\"warn\">different prompts",
            "<pre>What is 0?</pre>\n<pre>000</pre>\n</div>",
            "<p><span class=\"soft\">asked as</span></p>\n<pre>Think: What is 0?</pre>\n<pre>99</pre>",
        ],
    );
    project
        .run("compare before asked")
        .exits(0)
        .says("    B question  Think: What is 0?\n");
}

#[test]
fn a_page_of_three_runs_has_all_pairs_and_what_they_leave_out() {
    let project = project("");
    run_with(&project, &[], "--run-id one");
    run_with(&project, &["wrong"], "--run-id two");
    run_with(&project, &["right"], "--run-id three --limit 8");
    has(
        &page(&project, "one two three"),
        &[
            "<title>e: 3 runs</title>",
            "<h2>Answers side by side</h2>\n<div class=\"filtered\">\n\
             <label class=\"tools\"><input type=\"checkbox\"> Only where the models disagree (5)</label>",
            "<tr><th scope=\"row\"><code>q000</code></th><td data-label=\"question\">What is 0?</td>\
             <td data-label=\"expected\">000</td><td data-label=\"A one\"><span class=\"good\">✓</span> 000</td>\
             <td data-label=\"B two\"><span class=\"bad\">✗</span> 99</td>\
             <td data-label=\"C three\"><span class=\"good\">✓</span> 000</td></tr>",
            // All three are alike, or one lacks it: hidden by the switch.
            "<tr class=\"other\"><th scope=\"row\"><code>q008</code></th>",
            "<td data-label=\"C three\">-</td></tr>",
            "<th scope=\"row\">C − B</th>",
            "12 pairs, p = 0.051, adjusted 0.10: not significantly different",
            "<li>C − A leaves out 4 samples (only in A)</li>",
        ],
    );
}

#[test]
fn a_page_shows_nothing_of_a_masked_eval_and_runs_nothing_that_an_agent_said() {
    let text = "</pre><script>alert(1)</script>\u{202e}";
    let project = Project::with_eval(&[("<b>q", 1, text, text)], "echo", "scorer: exact\n");
    run_with(&project, &[], "--run-id before");
    let other = "agent={ type: command, command: [echo, '<img src=x>'] }";
    project.run_of(&["run", "eval.yaml", "--run-id", "after", "--set", other]);
    let open = page(&project, "before after");
    has(
        &open,
        &[
            "<code>&lt;b&gt;q</code>",
            "<span class=\"soft\">&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;\\u{202e}</span></summary>",
            "<b>&lt;img src=x&gt; (<span class=\"bad\">",
        ],
    );
    assert!(
        !open.contains("<script") && !open.contains("<img"),
        "{open}"
    );
    let masked = "snapshot.answers=masked";
    project.run_of(&[
        "run",
        "eval.yaml",
        "--run-id",
        "masked",
        "--set",
        other,
        "--set",
        masked,
    ]);
    let hidden = page(&project, "before masked");
    has(
        &hidden,
        &[
            "<h2>Became wrong: 1</h2>",
            "masks its snapshots",
            "&lt;b&gt;q",
        ],
    );
    let beside = page(&project, "before after masked");
    has(
        &beside,
        &[
            "<span class=\"bad\">✗</span></td></tr>",
            "<code>&lt;b&gt;q</code>",
        ],
    );
    for not in ["alert", "img src", ">question<"] {
        assert!(!hidden.contains(not), "`{not}` is in:\n{hidden}");
        assert!(!beside.contains(not), "`{not}` is in:\n{beside}");
    }
    let open = page(&project, "before after masked --show-texts");
    has(
        &open,
        &["<span class=\"bad\">✗</span> &lt;img src=x&gt;</td>"],
    );
    assert!(
        !open.contains("<script") && !open.contains("<img"),
        "{open}"
    );
    has(
        &page(&project, "before masked --show-texts"),
        &["img src=x"],
    );
}
