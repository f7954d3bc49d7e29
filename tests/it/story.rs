//! The whole story, on a cargo project of a user.

use crate::project::Project;

/// An agent in Python's place: a shell script that looks answers up in a table.
const AGENT: &str = "#!/bin/sh\nprompt=$(cat)\nwhile IFS='|' read -r question answer; do\n  \
    case \"$prompt\" in *\"$question\"*) echo \"FINAL ANSWER: $answer\"; exit 0;; esac\ndone < answers.txt\n\
    echo 'FINAL ANSWER: unknown'\n";

#[test]
fn init_run_accept_break_see_red_fix_see_green() {
    let project = Project::new();
    project.write(
        "Cargo.toml",
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n",
    );
    project.write("src/lib.rs", "//! A user's crate.\n");
    project.run("init").exits(0).says("cargo evaltest");
    // The same dependency versions as this repository, so that nothing is resolved over the network.
    project.lock_file();
    project
        .run("run -v")
        .exits(0)
        .says("example: 6 samples, 5 correct");

    // The user's own agent and questions.
    let questions: Vec<(String, u32, String, String)> = (0..12)
        .map(|n| {
            (
                format!("q{n:02}"),
                n % 3 + 1,
                format!("Question number {n}?"),
                format!("{}", n * n),
            )
        })
        .collect();
    let table: Vec<_> = questions
        .iter()
        .map(|(_, _, question, answer)| format!("{question}|{answer}"))
        .collect();
    let table = table.join("\n") + "\n";
    let lines: String = questions
        .iter()
        .map(|(id, level, question, answer)| {
            serde_json::json!({"task_id": id, "Question": question, "Level": level, "Final answer": answer})
                .to_string()
                + "\n"
        })
        .collect();
    project.write("evals/example/questions.jsonl", lines);
    project.write("evals/answers.txt", &table);
    project.script("evals/agent.sh", AGENT);
    let spec = project.read("evals/example.yaml");
    let spec = spec.replace(
        "agent: { type: demo }",
        "agent: { type: command, command: [./agent.sh] }",
    );
    let spec = spec.replace(
        "  # - no_regression(alpha=0.05)",
        "  - no_regression(alpha=0.05)",
    );
    project.write("evals/example.yaml", &spec);
    project
        .run("run -v")
        .exits(0)
        .says("example: 12 samples, 12 correct")
        .says("no baseline yet");
    project.run("accept").exits(0).says("12 of 12 correct");
    project
        .cargo("test --offline --test example")
        .exits(0)
        .says("15 passed");

    // The agent gets worse at half of the questions.
    let worse: Vec<_> = questions.iter().step_by(2).collect();
    let broken = worse
        .iter()
        .fold(table.clone(), |table, (_, _, question, answer)| {
            table.replace(
                &format!("{question}|{answer}"),
                &format!("{question}|no idea"),
            )
        });
    project.write("evals/answers.txt", &broken);
    let red = project.cargo("test --offline --test example").exits(101);
    let failed = |id: &str, level: u32| format!("test example::level{level}::{id} ... FAILED");
    let squeezed = red.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for (id, level, ..) in &worse {
        assert!(squeezed.contains(&failed(id, *level)), "{}", red.out);
    }
    let failures = squeezed.matches("... FAILED").count();
    assert_eq!(failures, 8, "six samples and two gates: {}", red.out);
    red.says("was correct in the baseline and is wrong now")
        .says("gate: no_regression: 6 of 12 compared samples became wrong");
    project
        .run("run -v")
        .exits(1)
        .says("became wrong: q00, q02")
        .says("no_regression(alpha=0.05): FAILED: 6 of 12 compared samples became wrong, 0 became correct, p = 0.0064")
        .says("next: cargo evaltest show");

    // And is mended.
    project.write("evals/answers.txt", &table);
    project
        .cargo("test --offline --test example")
        .exits(0)
        .says("15 passed");
    project.run("run -v").exits(0).says_nothing_of("wrong now");

    check_several_evals(&project);
    check_features(&project);
}

/// The evals of one test binary are one baseline, and a mistake in a spec is told as it is, once.
fn check_several_evals(project: &Project) {
    let (test, spec) = (
        project.read("tests/example.rs"),
        project.read("evals/example.yaml"),
    );
    let one = "evaltest::Eval::from_yaml(\"evals/example.yaml\")?";
    assert!(test.contains(one), "{test}");
    let both = format!("{one}, {}", one.replace("example", "second"));
    project.write("tests/example.rs", test.replace(one, &both));
    let second = spec.replace("name: example", "name: second");
    project.write("evals/second.yaml", &second);
    project.cargo("test --offline --test example").exits(0);
    project
        .run("accept")
        .exits(0)
        .says("example: ")
        .says("second: ");

    project.write(
        "evals/example.yaml",
        spec.replace("- accuracy", "- acuracy"),
    );
    project
        .run("run example")
        .exits(2)
        .says("acuracy")
        .says("did you mean `accuracy`?")
        .says_nothing_of("does not list its evals");
    project.write("tests/example.rs", test);
    project.write("evals/example.yaml", spec);
    std::fs::remove_file(project.file("evals/second.yaml")).unwrap();
}

/// The command has every feature of the library, a user's test binary those that it asks for.
fn check_features(project: &Project) {
    let spec = project.read("evals/example.yaml");
    let spec = spec.replace("example/questions.jsonl", "example/questions.parquet");
    project.write("evals/example.yaml", spec);
    project.write("evals/example/questions.parquet", "PAR1");
    project
        .cargo("test --offline --test example")
        .says("questions.parquet")
        .says("feature `parquet`");

    project.write(
        "evals/example.yaml",
        "benchmark: { type: gaia, path: example/questions.jsonl }\nagent: { type: openai, model: m, base_url: \"http://127.0.0.1:9/v1\" }\n",
    );
    project
        .cargo("test --offline --test example")
        .exits(1)
        .says("evals/example.yaml:2:16: agent `openai` in a spec needs the feature `http` of the crate `evaltest`")
        .says("`cargo add --dev evaltest --features http`");

    project.write(
        "evals/example.yaml",
        "benchmark: { type: gaia, path: example/questions.jsonl }\nagent: echo\nscorer: { type: judge, agent: echo }\n",
    );
    project
        .cargo("test --offline --test example")
        .exits(1)
        .says("evals/example.yaml:3:17: scorer `judge` in a spec needs the feature `judge` of the crate `evaltest`");
}
