//! What is on the screen after a run: verdict, gates, and the answers that became wrong.

use crate::project::Project;

/// Six questions, which an agent answers from a file.
fn project(more: &str) -> Project {
    let project = Project::new();
    let rows = (1..=7).map(|n| format!("q{n},What is {n} times ten?,{}\n", n * 10));
    project.write(
        "q.csv",
        format!("id,question,answer\n{}", rows.collect::<String>()),
    );
    answer(&project, |n| (n * 10).to_string());
    project.write(
        "sums.yaml",
        format!(
            "name: sums\nbenchmark: {{ type: qa, path: q.csv }}\nagent: {{ type: replay, path: answers.jsonl }}\n{more}\n"
        ),
    );
    project
}

fn answer(project: &Project, answer: impl Fn(u32) -> String) {
    let lines = (1..=7).map(|n| format!("{{\"id\": \"q{n}\", \"answer\": \"{}\"}}\n", answer(n)));
    project.write("answers.jsonl", lines.collect::<String>());
}

#[test]
fn a_red_run_shows_question_expected_and_given_answer() {
    let project = project("gates: [accuracy >= 0.5, no_regression]");
    let ran = project.run("run sums.yaml").exits(0);
    assert!(
        ran.out.starts_with("✓ sums: 7 of 7 correct, 100.0 %\n"),
        "{}",
        ran.out
    );
    ran.says("  - no_regression       not checked: no baseline yet\n")
        .says("  next: cargo evaltest accept sums\n");
    project
        .run("gate -v")
        .exits(0)
        .says("gate no_regression: not checked: there is no baseline yet");
    project.run("accept").exits(0);
    answer(&project, |n| {
        if n == 1 {
            "10".to_owned()
        } else {
            format!("{n}0 and a half")
        }
    });
    let ran = project.run("run sums.yaml").exits(1);
    let expect = "\
✗ sums: 1 of 7 correct, 14.3 % (was 100.0 %), −85.7 points, 95 % −97.4 to −19.9
  ✗ accuracy >= 0.5     14.3 %
  ✗ no_regression       6 became wrong, 0 became correct, p = 0.0097
  ✓ error_rate <= 0.05  0.0 %
  became wrong (6):
    q2  What is 2 times ten?  expected 20  got 20 and a half
";
    assert!(ran.out.starts_with(expect), "{}", ran.out);
    let mut below = ran.out.lines().skip(1);
    assert!(below.all(|line| line.chars().count() <= 80), "{}", ran.out);
    ran.says("    … and 1 more: cargo evaltest show sums --failures\n")
        .says("  next: cargo evaltest show sums q2\n")
        .says_nothing_of("80 % power");
    // The command that it names shows them all, and the statistics are one option away.
    project
        .run("show sums --failures")
        .exits(0)
        .says("6 not_a_number:\n")
        .says("    q7  What is 7 times ten?  expected 70  got 70 and a half\n");
    project
        .run("gate -v")
        .exits(1)
        .says("7 pairs can detect a drop of")
        .says("gate accuracy >= 0.5: FAILED: accuracy 14.3 % (1 of 7 correct");
}

#[test]
fn ids_that_differ_early_leave_room_to_the_question() {
    let project = Project::new();
    project.write(
        "sums.yaml",
        "name: sums\nbenchmark: { type: qa, path: q.csv }\nagent: { type: echo, text: unknown to me }\n\
         gates: [accuracy >= 0.5]\n",
    );
    let rows = |ids: [&str; 2]| {
        let rows = ids.map(|id| format!("{id},How many boats moor in the harbour in winter?,12\n"));
        project.write("q.csv", format!("id,question,answer\n{}", rows.concat()));
        project.run("run sums.yaml").exits(1)
    };
    rows([
        "048d2172-9b51-4282-8683-a0f574e92b53",
        "09f04951-af4c-4503-8778-15fd30f98e3a",
    ])
    .says("    048d2172-9b5…  How many boats moor in the h…  expected 12  got unknown to me\n")
    .says("    09f04951-af4…  How many boats moor in the h…  expected 12  got unknown to me\n");
    rows([
        "harbour-winter-boats-that-moor-1",
        "harbour-winter-boats-that-moor-2",
    ])
    .says("    harbour-winter-boats-th…  How many boats mo…  expected 12  got unknown to me\n");
}

#[test]
fn a_sample_without_a_ground_truth_is_not_wrong() {
    let project = project("gates: [accuracy >= 1 (min_scored=0.5)]");
    let questions = project.read("q.csv").replace("ten?,70", "ten?,");
    project.write("q.csv", questions);
    let ran = project.run("run sums.yaml").exits(0);
    let expect = "✓ sums: 6 of 6 correct, 100.0 %, 1 unscored\n";
    assert!(ran.out.starts_with(expect), "{}", ran.out);
    // Without any, nothing can be compared.
    project.write("q.csv", "id,question,answer\nq1,How many?,\n");
    project.write(
        "sums.yaml",
        project
            .read("sums.yaml")
            .replace("accuracy >= 1 (min_scored=0.5)", ""),
    );
    project.run("run sums.yaml");
    project
        .run("accept")
        .exits(2)
        .says("has no verdict to compare with: its samples are unscored");
}

#[test]
fn a_change_is_that_of_the_compared_samples() {
    let project = project("gates: [no_regression(min_pairs=0.5), accuracy >= 0.9]");
    project.run("run sums.yaml").exits(0);
    project.run("accept").exits(0);
    // One question is new, and another answer wrong.
    project.write(
        "q.csv",
        project.read("q.csv").replace("7 times", "seven times"),
    );
    answer(&project, |n| {
        if n == 3 {
            "x".to_owned()
        } else {
            (n * 10).to_string()
        }
    });
    let ran = project.run("run sums.yaml");
    ran.says("6 of 7 correct, 85.7 %, of 6 compared 83.3 % (was 100.0 %), −16.7 points")
        .says("1 became wrong, 0 became correct, p = 0.34: may be chance");
    // The run failed a gate of its own, so that it is accepted by an option.
    project.run("report -o report.md").exits(0);
    assert!(project.read("report.md").contains(" --failed-gates"));
}

#[test]
fn a_masked_eval_shows_ids_alone() {
    let project = project("snapshot: { answers: masked }\ngates: [no_regression]");
    project.run("run sums.yaml").exits(0);
    project.run("accept").exits(0);
    answer(&project, |_| "SECRET".to_owned());
    let ran = project.run("run sums.yaml").exits(1);
    ran.says("  became wrong (7):\n    q1\n    q2\n")
        .says_nothing_of("SECRET")
        .says_nothing_of("times ten");
}

#[test]
fn without_a_baseline_wrong_answers_explain_a_failed_gate() {
    let project = project("gates: [accuracy >= 0.85714]");
    answer(&project, |n| {
        if n == 3 {
            "x".to_owned()
        } else {
            (n * 10).to_string()
        }
    });
    // Rounding does not hide on which side of the threshold a figure is.
    project
        .run("run sums.yaml")
        .exits(0)
        .says("✓ accuracy >= 0.85714  accuracy 85.7143 % (6 of 7 correct")
        .says_nothing_of("wrong (");
    project.write(
        "sums.yaml",
        project.read("sums.yaml").replace("0.85714", "0.9"),
    );
    project
        .run("run sums.yaml")
        .exits(1)
        .says("  wrong (1):\n    q3  What is 3 times ten?  expected 30  got x\n");
}
