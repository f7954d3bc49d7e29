//! Names and texts that are nearly right: the hint says what to type.

use crate::project::Project;

fn project() -> Project {
    let questions = [("num-1", 1, "one", "ONE"), ("num-2", 1, "two", "TWO")];
    let agent = "{ type: command, command: [sh, -c, 'echo ONE'] }";
    Project::with_eval(&questions, agent, "")
}

#[test]
fn a_run_of_an_eval_that_is_not_there_lists_those_that_are() {
    let project = Project::new();
    project.write(
        "evals/facts.yaml",
        "name: facts\nbenchmark: { type: gaia, path: ../data.jsonl }\nagent: echo\n",
    );
    project.questions(&[("q1", 1, "What?", "17")]);
    for command in [
        "show",
        "summarize",
        "gate",
        "rescore",
        "accept",
        "repair",
        "compare",
    ] {
        project
            .run(&format!("{command} nofacts"))
            .exits(2)
            .says("`nofacts` is not a run directory")
            .says("an eval of this project: `facts`");
        project
            .run(&format!("{command} facts"))
            .exits(2)
            .says("eval `facts` has no run yet: cargo evaltest run facts");
    }
}

#[test]
fn a_file_of_a_run_stands_for_its_folder() {
    let project = project();
    project.run("run eval.yaml");
    let dir = project.display(project.last_run());
    for command in ["repair", "show", "summarize", "gate"] {
        let whole = project.run(&format!("{command} {dir}"));
        let file = project.run(&format!("{command} {dir}/samples.jsonl"));
        assert_eq!(
            (file.code, &file.out),
            (whole.code, &whole.out),
            "{}",
            file.err
        );
    }
    // Beside no manifest it is a file.
    project
        .run("repair data.jsonl")
        .exits(2)
        .says("`data.jsonl` is not a run directory");
}

#[test]
fn a_filter_is_no_pattern() {
    let project = project();
    for filter in ["num-*", "^num-", "num-[12]"] {
        let arguments = ["run", "eval.yaml", "--filter", filter];
        project
            .run_of(&arguments)
            .exits(2)
            .says("no sample is selected")
            .says("hint: `--filter` is part of a test's name, not a pattern: --filter num-\n");
    }
    let ran = project.run("run eval.yaml --filter number").exits(2);
    ran.says(
        "`--filter` searches the names of tests, not the questions; names: cargo evaltest list",
    );
}

#[test]
fn one_error_is_one() {
    let agent =
        "{ type: command, command: [sh, -c, 'test \"$EVALTEST_SAMPLE_ID\" = num-1 && echo ONE'] }";
    let project = project();
    project.spec(agent, "limits: { retries: 0, concurrency: 1 }\n");
    project
        .run("run -v eval.yaml")
        .says(", 1 error, ")
        .says("+1 error")
        .says_nothing_of("1 errors");
}
