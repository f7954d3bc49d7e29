//! `report` in words: what it tells developers, product and users, and that it is true of runs of every kind.

use std::fmt::Write;

use crate::project::Project;
use crate::requested;

const COMMAND: &str = "{ type: command, command: [./agent.sh] }";

/// A project with these questions (id, level, answer), whose agent says `right` to all.
fn project(
    questions: impl IntoIterator<Item = (String, u32, &'static str)>,
    more: &str,
) -> Project {
    let project = Project::new();
    let mut lines = String::new();
    for (id, level, answer) in questions {
        let question = format!("How is {id}?");
        let line =
            serde_json::json!({"id": id, "level": level, "question": question, "answer": answer});
        writeln!(lines, "{line}").unwrap();
    }
    project.write("questions.jsonl", lines);
    project.write(
        "eval.yaml",
        format!(
            "name: sums\nbenchmark: {{ type: qa, path: questions.jsonl, slices: [level] }}\n\
             agent: {{ type: echo, text: right }}\nscorer: exact\n{more}"
        ),
    );
    project
}

fn report(project: &Project, arguments: &str) -> String {
    project.run(&format!("report {arguments}")).exits(0).out
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[track_caller]
fn has_not(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(!text.contains(part), "`{part}` is in:\n{text}");
    }
}

/// `right` questions to which the agent has the answer, then `wrong` ones, all of a level.
fn of_level(level: u32, right: u32, wrong: u32) -> Vec<(String, u32, &'static str)> {
    let answer = move |n| if n < right { "right" } else { "wrong" };
    let all = 0..right + wrong;
    all.map(|n| (format!("q{level}-{n}"), level, answer(n)))
        .collect()
}

#[test]
fn a_developer_reads_all_of_a_red_run() {
    let questions = of_level(1, 20, 0).into_iter().chain(of_level(2, 2, 18));
    let project = project(questions, "gates: [accuracy >= 0.9]\n");
    project.run("run eval.yaml --run-id one").exits(1);
    let out = report(&project, "one");
    has(
        &out,
        &[
            "# sums\n\n**Failed**: `accuracy >= 0.9`.\n",
            "| accuracy | 55.0 %, 95 % interval 39.8 % to 69.3 % (22 of 40) |",
            "1. **90.0 % of the accuracy is lost from level 1 to 2 (95 % interval",
            "the first: `cargo evaltest show one q2-2`\n",
            &format!(
                "\n    {} level 1: 100.0 % (83.9 % to 100.0 %), 20 of 20\n",
                "█".repeat(50)
            ),
            &format!(
                "\n    {}{} level 2: 10.0 % (2.8 % to 30.1 %), 2 of 20\n",
                "█".repeat(5),
                "░".repeat(45)
            ),
            "| mismatch | 18 | q2-2, q2-3, q2-4, q2-5, q2-6 and 13 more |",
            "\n## First samples\n\n| sample | question | expected | got | verdict | why |\n|---|---|---|---|---|---|\n\
             | q1-0 | How is q1-0? | right | right | **correct** |  |\n",
            "\n| q2-19 | How is q2-19? | wrong | right | **wrong** | mismatch |\n",
        ],
    );
    // Ten first, and all that failed.
    assert_eq!(out.matches("\n| q1-").count(), 10, "{out}");
    assert_eq!(out.matches("\n| q2-").count(), 18, "{out}");
    // One answer to all is one cause, which is said once.
    assert_eq!(out.matches("one cause").count(), 1, "{out}");
}

#[test]
fn the_exact_and_the_partial_stand_side_by_side() {
    let project = Project::new();
    let answers = ["right", "right", "the right one", "wrong"];
    let lines = answers.iter().enumerate().map(|(n, answer)| {
        let level = n / 2 + 1;
        format!("{{\"id\": \"q{n}\", \"question\": \"?\", \"answer\": \"{answer}\", \"level\": {level}}}\n")
    });
    project.write("questions.jsonl", lines.collect::<String>());
    project.write(
        "eval.yaml",
        "name: gaia\nbenchmark: { type: qa, path: questions.jsonl, slices: [level] }\n\
         agent: { type: echo, text: right }\nscorer: quasi_exact\n",
    );
    project.run("run eval.yaml --run-id one");
    let out = report(&project, "one");
    has(
        &out,
        &[
            "level = 1: 100.00 % exact / 100.00 % partial (2/2), 95 % interval 34.2 % to 100.0 % of exact",
            "level = 2: 0.00 % exact / 50.00 % partial (0/2)",
        ],
    );
    // The bars are of the scorer that decides, whatever another one tells.
    let spec = project.read("eval.yaml");
    project.write(
        "eval.yaml",
        spec.replace("scorer: quasi_exact", "scorers: [includes, quasi_exact]"),
    );
    project.run("run eval.yaml --run-id two");
    let out = report(&project, "two");
    has(
        &out,
        &[
            "0.0 % (0.0 % to 65.8 %), 0 of 2\n",
            "\n- level = 1 by quasi\\_exact: 100.00 % exact / 100.00 % partial (2/2)\n",
            "\n- level = 2 by quasi\\_exact: 0.00 % exact / 50.00 % partial (0/2)\n",
            &format!(
                "\n    {} level 1: 100.0 % (34.2 % to 100.0 %), 2 of 2",
                "█".repeat(50)
            ),
            &format!("\n    {} level 2: ", "░".repeat(50)),
        ],
    );
    let page = report(&project, "one --format html");
    has(
        &page,
        &[
            "<h3>By level</h3>",
            "<li>level = 2: 0.00 % exact / 50.00 % partial (0/2)",
            "<p>Relative loss of accuracy from one level to the next (0 % is ideal, a gain is negative):</p>",
            "<li>from level 1 to 2: 100.0 %",
        ],
    );
}

#[test]
fn praise_waits_for_the_interval() {
    for (right, wrong, says, not) in [
        (
            5,
            0,
            "With 5 answers the accuracy is only known to lie between 56.6 % and 100.0 %",
            "Excellent",
        ),
        (40, 0, "Excellent; harder questions", "is only known"),
        (
            98,
            2,
            "Excellent; read the remaining wrong",
            "More than half",
        ),
        (80, 15, "Good; ", "Excellent"),
        (1, 30, "More than half of the answers are wrong", "Good; "),
    ] {
        let project = project(of_level(1, right, wrong), "");
        project.run("run eval.yaml --run-id one");
        let out = report(&project, "one");
        has(&out, &[says]);
        has_not(&out, &[not]);
    }
    // The threshold of a gate is the one that matters.
    let project = project(of_level(1, 5, 0), "gates: [accuracy >= 0.9]\n");
    project.run("run eval.yaml --run-id one");
    let expect = "With 5 answers it is unclear whether the true accuracy is above 90 %: about 35 independent samples";
    has(&report(&project, "one"), &[expect]);
}

#[test]
fn product_reads_what_it_decides_by_and_users_plain_words() {
    let then = "test ! -f worse || { echo no; exit; }";
    let project = requested::project(24, then, "");
    project.spec(COMMAND, "gates: [no_regression]\n");
    project.run("run eval.yaml --run-id before");
    project.run("accept before").exits(0);
    project.write("worse", "");
    project.run("run eval.yaml --run-id after").exits(1);
    let out = report(&project, "after --audience product");
    has(
        &out,
        &[
            "**Failed**: `no_regression`.",
            "**0.0 %** correct: 0 of 24, 95 % interval 0.0 % to 13.8 %.",
            "**−50.0 points** since the baseline (95 % interval",
            "12 became wrong, 0 became correct, of 24 compared.",
            " baseline: 50.0 %, 24 compared\n",
            "\nNot known: cost of 1,000 answers (the agent does not report it).\n",
            "| requests without an answer | 0 of 24 requests (0.0 %, 95 % interval 0.0 % to 13.8 %) |",
            ", half within",
            "- 12 of 24 answers became wrong.\n- None got better.\n",
            "- level = 1: 4 worse, 0 better.\n",
            "- Of 100 answers to questions like these, 86 to 100 would be wrong (95 % interval).\n",
            "- Worse than the baseline: −50.0 points",
            "- A gate failed, `no_regression`: 12 became wrong, 0 became correct, p &lt; 0.001.\n",
        ],
    );
    has_not(&out, &["First samples", "cargo evaltest"]);
    let out = report(&project, "after --audience user");
    has(
        &out,
        &[
            ": how good are the answers?\n\nAsked on ",
            ": 24 questions. Checked: 24 answers.\n",
            "**None of 24 answers was right.** With other questions of this kind, very likely at most 14 of 100 would be.",
            "**Never in 24 requests.** In the long run it would very likely happen in at most 14 of 100 requests.",
            "## How long does an answer take?\n\n**95 of 100 answers came within ",
        ],
    );
    has_not(&out, &["q0", "95 %", "interval", "gate", "|"]);
    assert!(out.lines().count() < 30, "{out}");
    // A page for a browser says the same.
    let page = report(&project, "after --audience user --format html");
    has(
        &page,
        &["<p><strong>None of 24 answers was right.</strong> With other questions"],
    );
    has_not(&page, &["<script", "q0", "gate"]);
    let page = report(&project, "after --audience product --format html");
    has(
        &page,
        &[
            "<div class=\"box failed\">\n<p><strong>Failed</strong>: <code>no_regression</code>.</p>",
            "<li><span class=\"soft\">requests without an answer</span> <b>0 of 24 requests (0.0 %",
            "<li>level = 1: 4 worse, 0 better.</li>",
        ],
    );
    let page = report(&project, "after --format html");
    has(
        &page,
        &["<h3>Recommendations</h3>\n<ol>\n<li><strong>Accuracy changed by −50.0 points"],
    );
}

#[test]
fn too_many_errors_are_shown_before_wrong_answers() {
    let then = "case $EVALTEST_SAMPLE_ID in q011) exit 7;; esac";
    let project = requested::project(12, then, "");
    project.spec(COMMAND, "gates: [error_rate <= 0.05]\n");
    project.run("run eval.yaml --run-id one").exits(3);
    has(
        &report(&project, "one"),
        &["- show a sample in full: `cargo evaltest show one q011`\n"],
    );
}

#[test]
fn what_lacks_a_verdict_leaves_figures_open() {
    let then = "case $EVALTEST_SAMPLE_ID in q001|q002|q003) exit 7;; esac";
    let project = requested::project(12, then, "");
    project.spec(COMMAND, "gates: [error_rate <= 0.5, accuracy >= 0.5]\n");
    project.run("run eval.yaml --run-id one").exits(3);
    let out = report(&project, "one");
    has(
        &out,
        &[
            "**Inconclusive**: `accuracy >= 0.5`.",
            "| accuracy | 41.7 % to 66.7 % (5 of the 9 scored, 3 of 12 without an answer) |",
            "1. **3 of 12 answers (25.0 %, 95 % interval 8.9 % to 53.2 %) are missing (all: exited).** Read the first error",
            "| exited | 3 | q001, q002, q003 | exited with code 7 |",
            "▒",
            "- from level 1 to 2: undecided: some samples have no verdict\n",
            "| q001 | What is 1? | something else | exited with code 7 | **error** | exited |",
        ],
    );
    let out = report(&project, "one --audience user");
    has(
        &out,
        &[
            "**5 of 12 answers were right**; 3 could not be checked. That is 42 to 67 of 100.",
            "**3 times in 12 requests.**",
        ],
    );
    let out = report(&project, "one --audience product");
    has(&out, &["The accuracy is 41.7 % to 66.7 %"]);
    // Of one gate that failed and one that is open each is called what it is.
    project.spec(COMMAND, "gates: [error_rate <= 0.1, accuracy >= 0.5]\n");
    project.run("run eval.yaml --run-id two").exits(3);
    for arguments in ["two", "two --audience product"] {
        let out = report(&project, arguments);
        let ended = "**Failed**: `error_rate <= 0.1`; **inconclusive**: `accuracy >= 0.5`.\n";
        has(&out, &[ended]);
    }
    let page = report(&project, "two --format html");
    let ended = "<p><strong>Failed</strong>: <code>error_rate &lt;= 0.1</code>; <strong>inconclusive</strong>: \
                 <code>accuracy &gt;= 0.5</code>.</p>";
    has(&page, &[ended]);

    requested::agent(&project, "exit 7");
    project.run("run eval.yaml --run-id none").exits(3);
    for audience in ["developer", "product", "user"] {
        let out = report(&project, &format!("none --audience {audience}"));
        has(&out.to_lowercase(), &["known"]);
        has_not(&out, &["NaN", "inf", "0 to 100"]);
    }
}

#[test]
fn what_was_recorded_before_tells_no_outages_and_no_times() {
    let project = project(of_level(1, 12, 0), "");
    let spec = project.read("eval.yaml");
    project.write(
        "eval.yaml",
        spec.replace(
            "{ type: echo, text: right }",
            "{ type: replay, path: answers.jsonl }",
        ),
    );
    // The last one has no answer.
    let lines = (0..11).map(|n| format!("{{\"id\": \"q1-{n}\", \"answer\": \"right\"}}\n"));
    project.write("answers.jsonl", lines.collect::<String>());
    project.run("run eval.yaml --run-id one").exits(3);
    let out = report(&project, "one --audience product");
    has(
        &out,
        &["requests without an answer and latency (the answers are recorded)."],
    );
    has_not(&out, &["No answer in"]);
    let page = report(&project, "one --format html");
    has_not(&page, &["Slowest"]);
}

#[test]
fn repeats_and_several_runs_are_told() {
    // It is wrong when it is asked for the second time.
    let then =
        "test $(grep -c $EVALTEST_SAMPLE_ID \"${0%/*}/asked.log\") -ne 2 || { echo no; exit; }";
    let project = requested::project(12, then, "limits: { concurrency: 1 }\n");
    project.run("run eval.yaml --epochs 3 --run-id one");
    let out = report(&project, "one");
    has(
        &out,
        &[
            "| samples | 12, asked 3 times each: 36 answers |",
            "### Flaky samples\n\n6 of 12 samples (50.0 %, 95 % interval 25.4 % to 74.6 %) are correct in some \
             epochs and wrong in others.",
            "| q000 | 2 of 3 |",
            "a gate on `pass^k`: `cargo evaltest show one q000`",
            "| q000 (epoch 1) | What is 0? | 000 | no | **wrong** | mismatch |",
        ],
    );
    let page = report(&project, "one --format html");
    has(
        &page,
        &[
            ">pass@3</th>",
            ">pass^3</th>",
            ">majority</th>",
            "<h4>Flaky samples</h4>",
            ">q000</th><td class=\"n\" data-label=\"correct\">2 of 3</td>",
        ],
    );
    // They are told with their figures, and not once more among what went wrong.
    has_not(&page, &["wrong in others</span>"]);
    let out = report(&project, "one --audience user");
    has(&out, &["12 questions, 3 times each. Checked: 36 answers."]);
    project.run("run eval.yaml --run-id two");
    let out = report(&project, "one two");
    has(
        &out,
        &[
            "# 2 runs\n\n| eval | run | agent |",
            "The paired test shows which is better: `cargo evaltest compare one two`",
            "\n## ",
            "\n### Recommendations",
            "\n#### Flaky samples",
        ],
    );
    assert_eq!(
        out.matches("\n# ").count() + usize::from(out.starts_with("# ")),
        1,
        "{out}"
    );
    let out = report(&project, "one two --audience user");
    assert_eq!(out.matches("how good are the answers?").count(), 2, "{out}");
}

#[test]
fn a_text_of_somebody_else_is_no_more_than_a_text() {
    let hostile = [
        "a|b",
        "`rm`",
        "<script>",
        "[x](http://y.example)",
        "![i](http://y.example/a.png)",
        "@octocat",
        "#12",
        "GH-12",
        "two\nlines",
        "\u{202e}evil",
        "::error::x",
        "www.y.example",
        "- item",
        "x|\\",
        "~~x~~",
        "$x$",
        "me@y.example",
    ];
    let questions = hostile.iter().map(|id| ((*id).to_owned(), 1, "wrong"));
    let project = project(questions, "");
    let spec = project
        .read("eval.yaml")
        .replace("slices: [level]", "slices: [id, level]");
    project.write("eval.yaml", spec);
    project.run("run eval.yaml --run-id one");
    let out = report(&project, "one");
    let rows = out
        .lines()
        .filter(|line| line.contains("| mismatch |") && line.ends_with("mismatch |"));
    let rows: Vec<&str> = rows.collect();
    assert_eq!(rows.len(), 10 + hostile.len(), "{out}");
    for row in rows {
        let bars = row
            .replace("\\\\", "")
            .replace("\\|", "")
            .matches('|')
            .count();
        assert_eq!(bars, 7, "{row}");
    }
    // What is indented is letters and nothing else.
    let written: String = out
        .lines()
        .filter(|line| !line.starts_with("    "))
        .fold(String::new(), |all, line| all + line + "\n");
    has_not(
        &written,
        &[
            "<script", "](http:", "http://", "@octocat", "#12", "GH-12", "\u{202e}", "::error",
            "www.y", "me@y", " `rm`", "~~x",
        ],
    );
    for line in out.lines() {
        assert!(!line.trim_start().starts_with("::"), "{line}");
    }
}

#[test]
fn what_is_masked_is_in_no_report() {
    let project = project(of_level(1, 1, 3), "snapshot: { answers: masked }\n");
    project.run("run eval.yaml --run-id one");
    for audience in ["developer", "product", "user"] {
        let out = report(&project, &format!("one --audience {audience}"));
        has_not(&out, &["How is", "right |", "wrong |", "“right”"]);
    }
    let out = report(&project, "one");
    has(
        &out,
        &[
            "> Questions, answers and expected answers are hidden",
            "| q1-3 | **wrong** | mismatch |",
        ],
    );
    let out = report(&project, "one --show-texts");
    has(
        &out,
        &["| q1-3 | How is q1-3? | wrong | right | **wrong** | mismatch |"],
    );
}
