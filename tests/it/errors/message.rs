//! How errors are told.

use super::project;

#[test]
fn failures_that_differ_in_digits_are_one_line() {
    let script = "[ $n -lt 2 ] && right || { echo \"at $n: no module named x\" >&2; exit 7; }";
    for (more, title) in [
        ("", "ended without a verdict (8):"),
        ("errors: wrong\n", "failed, which counts as wrong (8):"),
    ] {
        let ran = project(10, script, more).run("run eval.yaml");
        let ran = ran.says(title);
        let (_, listed) = ran.out.split_once(title).unwrap();
        let first = listed.trim_start().lines().next().unwrap();
        assert_eq!(
            first,
            "q002 and 7 more: exited with code 7; stderr: at 2: no module named x"
        );
        assert_eq!(listed.matches("no module").count(), 1, "{listed}");
    }
    // Another exit code is another failure.
    let ran = project(10, "echo x >&2; exit $((n % 2 + 1))", "").run("run eval.yaml");
    ran.says("q000 and 4 more: ").says("q001 and 4 more: ");
}

#[test]
fn a_baseline_of_other_errors_names_the_key() {
    let project = project(4, "right", "gates: [no_regression]\n");
    project.run("run eval.yaml").exits(0);
    project.run("accept").exits(0);
    let other = project.run("run eval.yaml --set errors=wrong");
    other.exits(2).says("or with another `errors` or `user`");
}

#[test]
fn with_epochs_errors_are_of_answers() {
    let script = "[ $EVALTEST_EPOCH = 1 ] && exit 3; right";
    let project = project(3, script, "epochs: 2\n");
    let message = "error rate 50.0 % (3 of 6 answers)";
    project.run("run -v eval.yaml").exits(3).says(message);
    // Without a name they are of the last run.
    project.run("gate -v").exits(3).says(message);
    project.run("summarize").exits(0).says(message);
}
