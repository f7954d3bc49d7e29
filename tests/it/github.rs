//! `run --github`: annotations at lines, the summary of the step; the comment below a pull request.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::project::{Project, Ran};
use crate::requested;

/// A project whose baseline has everything right, and whose agent then fails the odd ones of the levels 1 and 2.
fn worse(number: u32, more: &str) -> Project {
    let project = requested::project(number, "", "");
    project.spec("{ type: command, command: [./agent.sh] }", more);
    let questions = requested::questions(number);
    let right: Vec<_> = questions
        .iter()
        .map(|(id, level, question, _)| (&**id, *level, &**question, &id[1..]))
        .collect();
    project.questions(&right);
    project.run("run eval.yaml").exits(0);
    project.run("accept").exits(0);
    requested::agent(
        &project,
        "case $EVALTEST_SAMPLE_ID in *[13579]) echo '::error::wrong|<b>'; exit;; esac",
    );
    project
}

/// Runs it as a step of GitHub Actions does.
fn step(project: &Project, arguments: &str) -> Ran {
    let mut command: Command = project.command(arguments);
    command
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_WORKSPACE", project.path())
        .env("GITHUB_STEP_SUMMARY", project.file("step.md"));
    Ran::of(&command.output().unwrap())
}

fn annotations<'a>(ran: &'a Ran, kind: &str) -> Vec<&'a str> {
    assert!(!ran.out.contains("\n::"), "{}", ran.out);
    let start = format!("::{kind} ");
    ran.err
        .lines()
        .filter(|line| line.starts_with(&start))
        .collect()
}

#[test]
fn an_inconclusive_gate_has_its_sign() {
    let project = worse(9, "gates: ['no_regression(alpha=0.0001)']\n");
    step(&project, "run eval.yaml").exits(3);
    let summary = project.read("step.md");
    assert!(
        summary.starts_with("# evaltest: ⚠️ 1 gate inconclusive\n"),
        "{summary}"
    );
    assert!(summary.contains("| ⚠️ inconclusive | e |"), "{summary}");
}

#[test]
fn gates_and_flips_are_at_their_lines() {
    let project = worse(
        9,
        "gates:\n  - accuracy >= 0.3\n  - 'no_regression(alpha=0.5)' # mine\n",
    );
    let ran = step(&project, "run eval.yaml").exits(1);
    let errors = annotations(&ran, "error");
    assert_eq!(errors.len(), 5, "{errors:?}");
    let gate = "::error file=eval.yaml,line=8,title=e%3A gate no_regression(alpha=0.5) failed::";
    assert!(errors[0].starts_with(gate), "{errors:?}");
    assert_eq!(
        errors[1],
        "::error file=data.jsonl,line=2,title=e%3A q001 became wrong::mismatch: got `::error::wrong|<b>`, \
         expected `001`"
    );
    assert!(errors[4].starts_with("::error file=data.jsonl,line=8,title=e%3A q007 "));
    let summary = project.read("step.md");
    let places: Vec<_> = [
        "# evaltest: ❌ 1 gate failed\n\n`e` got worse: 100.0 % → 55.6 %, 4 became wrong, 0 became correct.\n\n\
         ## Became wrong (4)\n\n| sample | question | expected | got | why |\n|---|---|---|---|---|\n\
         | q001 | What is 1? | 001 | \\:\\:error\\:\\:wrong\\|&lt;b&gt; | mismatch |\n",
        "## Gates\n\n|  | eval | gate | result |",
        "| ❌ failed | e | `no_regression(alpha=0.5)` | 4 of 9 compared samples became wrong, 0 became correct, p = ",
        "## Evals",
        "\n<details><summary>Other gates: 2 passed</summary>\n\n",
        "| ✅ passed | e | `accuracy >= 0.3`",
        "\n</details>\n",
        "\n<details><summary>Statistics</summary>\n\n",
        "| e | `no_regression(alpha=0.5)` | accuracy of the compared samples: ",
    ]
    .iter()
    .map(|text| {
        summary
            .find(text)
            .unwrap_or_else(|| panic!("{text} in {summary}"))
    })
    .collect();
    assert!(places.is_sorted(), "{summary}");
    assert!(!summary.contains("&#"), "{summary}");
    // A step that goes on writes behind it, and JSON stays JSON.
    let ran = step(&project, "run eval.yaml --json").exits(1);
    assert_eq!(annotations(&ran, "error").len(), 5);
    assert!(ran.json()["runs"][0]["run_dir"].is_string());
    assert_eq!(project.read("step.md").matches("## Gates").count(), 2);
    let ran = step(&project, "run eval.yaml --no-github").exits(1);
    assert_eq!(annotations(&ran, "error").len(), 0);
    project
        .run("run -v eval.yaml")
        .exits(1)
        .says_nothing_of("::error");
    let alone = project.run("run -v eval.yaml --github").exits(1);
    alone
        .says("::error file=eval.yaml")
        .says("no summary is written");
}

#[test]
fn of_many_ten_are_shown_and_the_others_counted() {
    let project = worse(90, "gates: [no_regression]\n");
    let ran = step(&project, "run eval.yaml").exits(1);
    let errors = annotations(&ran, "error");
    assert_eq!(errors.len(), 10);
    // Gates are listed in one line of the spec.
    assert!(errors[0].starts_with("::error file=eval.yaml,line=6,title=e%3A gate no_regression "));
    assert_eq!(
        errors[9],
        "::error title=evaltest::and 37 more: see the summary"
    );
}

#[test]
fn a_masked_dataset_is_not_named_and_its_texts_are_not_told() {
    let project = worse(9, "gates: [no_regression(alpha=0.5)]\n");
    let spec = project
        .read("eval.yaml")
        .replace("answers: plain", "answers: masked");
    project.write("eval.yaml", spec);
    fs::remove_dir_all(project.file("snapshots")).unwrap();
    requested::agent(&project, "");
    project.run("run eval.yaml").exits(0);
    project.run("accept").exits(0);
    requested::agent(
        &project,
        "case $EVALTEST_SAMPLE_ID in *[13579]) echo wrong; exit;; esac",
    );
    let ran = step(&project, "run eval.yaml").exits(1);
    let flip = annotations(&ran, "error")[1];
    assert_eq!(
        flip,
        "::error file=eval.yaml,line=6,title=e%3A q001 became wrong::mismatch"
    );
    for text in [
        project.read("step.md"),
        project.run("report --format pr-comment").exits(0).out,
    ] {
        assert!(text.contains("q001") && !text.contains("What is"), "{text}");
        assert!(!text.contains("| wrong |"), "{text}");
        assert!(text.contains("| sample | why |"), "{text}");
    }
}

#[test]
fn what_an_agent_said_of_a_masked_question_is_not_why_a_run_stopped() {
    let project = requested::project(2, "echo \"what is $EVALTEST_SAMPLE_ID\" >&2; exit 7", "");
    project.spec(
        "{ type: command, command: [./agent.sh] }",
        "limits: { fail_fast: true, retries: 0 }\n",
    );
    let summary_of = |project: &Project| {
        let ran = step(
            project,
            "run eval.yaml --pr-comment comment.md --junit junit.xml",
        )
        .exits(3);
        let warnings = annotations(&ran, "warning").join("\n");
        let files = ["step.md", "comment.md", "junit.xml"].map(|file| project.read(file));
        assert!(
            warnings.contains("title=e%3A stopped early::"),
            "{warnings}"
        );
        warnings + &files.concat()
    };
    let plain = summary_of(&project);
    assert!(plain.contains("what is q00"), "{plain}");
    let spec = project.read("eval.yaml");
    project.write(
        "eval.yaml",
        spec.replace("answers: plain", "answers: masked"),
    );
    fs::remove_file(project.file("step.md")).unwrap();
    let masked = summary_of(&project);
    assert!(!masked.contains("what is"), "{masked}");
}

#[test]
fn what_could_not_start_is_told_at_its_line() {
    let project = requested::project(2, "", "gatez: []\n");
    let ran = step(&project, "run eval.yaml --pr-comment out/comment.md").exits(2);
    let comment = project.read("out/comment.md");
    assert!(
        comment.starts_with("<!-- evaltest:all -->\n# evaltest: ❌ evaltest did not run\n"),
        "{comment}"
    );
    let errors = annotations(&ran, "error");
    assert!(
        errors[0].starts_with("::error file=eval.yaml,line=6,title=evaltest did not run::"),
        "{errors:?}"
    );
    assert!(
        project
            .read("step.md")
            .starts_with("# evaltest: ❌ evaltest did not run\n")
    );
}

#[test]
fn a_summary_ends_where_github_drops_it() {
    let project = Project::new();
    let text = "é|&<".repeat(100);
    let ids = 0..800;
    let row =
        |id| json!({"id": format!("::error::{id}"), "question": text, "answer": text}).to_string();
    let rows: Vec<_> = ids.map(row).collect();
    project.write("data.jsonl", rows.join("\n"));
    let spec = "name: e\nbenchmark: { type: qa, path: data.jsonl }\nprompt: none\nscorer: exact\n\
                snapshot: { answers: plain }\nlimits: { concurrency: 8 }\n";
    project.write("eval.yaml", format!("{spec}agent: echo\n"));
    project.run("run eval.yaml").exits(0);
    project.run("accept").exits(0);
    project.write("step.md", "before\n".repeat(50_000));
    let recorded: Vec<_> = (0..800)
        .map(|id| {
            json!({"id": format!("::error::{id}"), "answer": format!("no {text}")}).to_string()
        })
        .collect();
    project.write("recorded.jsonl", recorded.join("\n"));
    project.write(
        "eval.yaml",
        format!("{spec}agent: {{ type: replay, path: recorded.jsonl }}\n"),
    );
    let ran = step(&project, "run eval.yaml").exits(1);
    assert!(
        ran.err
            .lines()
            .all(|line| !line.trim_start().starts_with("::error::"))
    );
    let summary = project.read("step.md");
    assert!(
        summary.len() <= 900_000 && summary.len() > 890_000,
        "{}",
        summary.len()
    );
    let (table, rest) = summary.split_once("\n\n… and ").unwrap();
    let (more, rest) = rest.split_once('\n').unwrap();
    // However many samples there are, gates and figures follow.
    for part in ["\n## Gates\n", "\n## Evals\n"] {
        assert!(rest.contains(part), "{rest}");
    }
    let rows = table
        .lines()
        .filter(|line| line.starts_with("| \\:\\:error"))
        .count();
    assert_eq!(more, format!("{} more", 800 - rows));
    assert!(table.ends_with(" |"));
    // Once it is full, nothing is added.
    project.write("step.md", "x".repeat(899_500));
    step(&project, "run eval.yaml").exits(1).says("is full");
    assert_eq!(project.read("step.md").len(), 899_500);
    let comment = project.run("report --format pr-comment").exits(0).out;
    assert!(
        comment.starts_with("<!-- evaltest:e -->\n# evaltest: "),
        "{comment}"
    );
    assert!(
        comment.len() <= 65_536 && comment.len() > 60_000,
        "{}",
        comment.len()
    );
}
