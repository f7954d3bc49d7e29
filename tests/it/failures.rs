//! `show` groups what went wrong by what it has in common.

use serde_json::json;

use crate::requested;

#[test]
fn failures_are_grouped_below_the_list_and_alone() {
    let then = r#"
case $EVALTEST_SAMPLE_ID in
    q001) echo "it is something else"; exit 0;;
    q005) echo "no network" >&2; exit 7;;
esac"#;
    let more = "scorers: [exact, includes]\ngates: [error_rate <= 0.5]\n";
    let project = requested::project(6, then, more);
    project.run("run -v eval.yaml").exits(0);
    let text = "errors by kind:
  1 exited (first: exited with code 7: no network): q005

wrong answers by reason:
  2 mismatch:
    q001  What is 1?  expected something else  got it is something else
    q003  What is 3?  expected something else  got 003

scorers that disagree:
  1 that `exact` rejects and `includes` accepts: q001

failures by slice:
  1 of 2 wrong in level=1: q003
  1 of 2 wrong in level=2: q001
  1 of 2 without a verdict in level=3: q005
";
    let listed = project.run("show").exits(0).out;
    let (list, below) = listed.split_once("\n\n").unwrap();
    assert_eq!(list.lines().count(), 6, "{list}");
    let short = below.contains("  2 mismatch: q001, q003\n");
    assert!(short, "{below}");
    assert_eq!(project.run("show --failures").exits(0).out, text);
    let groups = project.run("show --failures --json").exits(0).json();
    assert_eq!(groups["errors"][0]["kind"], "exited");
    assert_eq!(groups["errors"][0]["ids"], json!(["q005"]));
    assert_eq!(
        groups["disagreements"],
        json!([{"scorer": "exact", "other": "includes", "accepted": false, "count": 1, "ids": ["q001"]}])
    );
    let slices = groups["slices"].as_array().unwrap();
    assert_eq!(slices.len(), 3);
    assert_eq!(slices[2]["errors"], 1);
    let run = project.run("show --failures e q001").exits(2);
    run.says("--failures");
}

#[test]
fn a_run_without_failures_says_so_and_epochs_name_a_sample_once() {
    let project = requested::project(1, ":", "epochs: 2\n");
    project.run("run -v eval.yaml").exits(0);
    let output = project.run("show --failures").exits(0).out;
    assert_eq!(output, "nothing failed\n");
    assert!(!project.run("show").exits(0).out.contains(':'));
    let flips = r#"
if mkdir "${0%/*}/first" 2> /dev/null; then echo no; exit 0; fi"#;
    let project = requested::project(1, flips, "epochs: 3\n");
    project.run("run -v eval.yaml --concurrency 1").exits(0);
    let output = project.run("show --failures").exits(0).out;
    assert_eq!(
        output,
        "wrong answers by reason:\n  1 mismatch:\n    q000  What is 0?  expected 000  got no\n\nfailures by slice:\n  1 of 3 wrong in level=1: q000\n\n\
         correct in some epochs and wrong in others, 1:\n  q000: 2 of 3 correct\n"
    );
}
