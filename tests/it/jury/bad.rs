//! Juries that cannot be: nobody is asked.

use super::{Court, MERIT, YES_NO, choice, points};

/// The error and its hint, which stands on a line of its own.
#[track_caller]
fn says_all(court: &Court, says: &str) {
    let ran = court.run("eval.yaml").exits(2);
    let parts = says.split("; hint: ");
    parts.fold(ran, |ran, part| ran.says(part));
    assert_eq!(court.judged(), 0);
}

#[track_caller]
fn check(grading: &str, options: &str, says: &str) {
    let does = if grading == MERIT {
        points("4")
    } else {
        choice("yes")
    };
    let court = Court::new(2, grading, &[("a", &does), ("b", &does)], options);
    court
        .project
        .write("labels.jsonl", "{\"id\": \"q000\", \"label\": 4}\n");
    court
        .project
        .write("words.jsonl", "{\"id\": \"q000\", \"label\": \"tie\"}\n");
    court.project.write(
        "others.jsonl",
        "{\"id\": \"x9\", \"label\": 4}\n{\"id\": \"x1\", \"label\": 4}\n",
    );
    says_all(&court, says);
    assert_eq!(crate::requested::requested(&court.project).len(), 0);
}

#[test]
fn options_that_cannot_be() {
    for (options, says) in [
        (
            ", min_judges: 3",
            "scorer `jury`, option `min_judges`: `min_judges` is 3, but the jury has 2 judges; hint: add judges, or \
             write \
             `min_judges: 2`",
        ),
        (", min_judges: 0", "`0` is not a whole number from 1"),
        (
            ", aggregate: vote",
            "unknown value `vote`, expected one of `median`, `mean`, `trimmed_mean`, `majority`, `weighted`",
        ),
        (
            ", aggregate: weighted",
            "scorer `jury`, option `aggregate`: `weighted` needs to know what each judge counts; hint: run the jury once with",
        ),
        (
            ", weights: { a: 1, b: 1 }",
            "option `weights`: it is for `aggregate: weighted`, and this jury has `median`",
        ),
        (
            ", aggregate: weighted, weights: { a: 1 }",
            "option `weights`: judge `b` has no weight; hint: give one to each of `a`, `b`",
        ),
        (
            ", aggregate: weighted, weights: { a: 1, c: 1 }",
            "option `weights`: the jury has no judge `c`; hint: its judges are `a`, `b`",
        ),
        (
            ", aggregate: weighted, weights: { a: 0, b: 0 }",
            "option `weights`: no judge has a weight above 0",
        ),
        (
            ", aggregate: weighted, weights: { a: -1, b: 0 }",
            "`-1` is not a number from 0 to 1000000000",
        ),
        (
            ", aggregate: weighted, weights_from: runs/x",
            "option `weights_from`: weights are learnt from labels, but there are none",
        ),
        (
            ", labels: words.jsonl",
            "words.jsonl:1: id `q000` has the label `tie`, which is not a number from 1 to 5",
        ),
        (", labels: none.jsonl", "none.jsonl"),
        (
            ", labels: others.jsonl",
            "others.jsonl: 2 of its ids match no sample, such as `x1`; hint: use the labels of this eval",
        ),
        (
            ", aggregate: weighted, labels: labels.jsonl, weights_from: evaltest-runs/none",
            "option `weights_from`",
        ),
        (", judge: 1", "unknown option `judge`"),
    ] {
        check(MERIT, options, says);
    }
    check(
        YES_NO,
        ", labels: words.jsonl",
        "words.jsonl:1: id `q000` has the label `tie`, which is not a choice of the judges; hint: write one of `yes`, \
         `no`",
    );
}

#[test]
fn judges_that_cannot_sit_together() {
    let one = super::juror("a", MERIT);
    for (list, says) in [
        (
            "",
            "eval.yaml:6:33: scorer `jury`, option `judges`: a jury without a judge; hint: write `judges: [",
        ),
        ("exact", "`\"exact\"` is no judge"),
        (
            "{ type: exact }",
            "`\"exact\"` is no judge, and a jury is made of such",
        ),
        (
            "{ type: judge, rubric: aime }",
            "scorer `judge` needs the option `agent`",
        ),
        (
            "{ type: judge, rubric: aime, agent: echo, model: m }",
            "unknown option `model`",
        ),
        (&*one, "`min_judges` is 2, but the jury has 1 judge"),
        (
            &format!("{one}, {one}"),
            "two judges are called `a`; hint: give each another `name`",
        ),
        (
            &format!("{one}, {}", super::juror("b", YES_NO)),
            "judge 2 grades by choices, and the first by a rubric: their verdicts cannot be combined",
        ),
        (
            &format!(
                "{one}, {}",
                super::juror("b", &MERIT.replace("merit", "other"))
            ),
            "judge 2 grades by other dimensions than the first",
        ),
        (
            &format!(
                "{one}, {}",
                super::juror("b", &MERIT.replace("merit }", "merit, scale: [1, 7] }"))
            ),
            "judge 2 grades by other dimensions than the first",
        ),
        (
            &format!("{one}, {}", super::juror("b", &format!("{MERIT}, pass: 4"))),
            "judge 2 grades by other weights or limits than the first",
        ),
        (
            &format!(
                "{}, {}",
                super::juror("a", YES_NO),
                super::juror("b", &YES_NO.replace("no:", "never:"))
            ),
            "judge 2 grades by other choices than the first",
        ),
        (
            &format!(
                "{}, {}",
                super::juror("a", &MERIT.replace("merit", "spread")),
                super::juror("b", &MERIT.replace("merit", "spread"))
            ),
            "a dimension of a jury cannot be called `spread`",
        ),
    ] {
        let court = Court::new(1, MERIT, &[("a", &points("4"))], "");
        court.edit(&format!("judges: [{one}]"), &format!("judges: [{list}]"));
        says_all(&court, says);
    }
}

#[test]
fn a_calibration_is_of_the_jury() {
    let court = Court::new(1, MERIT, &[("a", &*points("4")), ("b", &points("4"))], "");
    court.edit("name: a,", "name: a, calibration: a.json,");
    says_all(
        &court,
        "a judge of a jury has no calibration: that is of the verdict of all; hint: write `calibration: FILE` next to `judges`",
    );
}

#[test]
fn labels_of_others_are_refused_where_answers_are_scored_anew() {
    let court = Court::new(3, MERIT, &[("a", &*points("4")), ("b", &points("4"))], "");
    court.run("eval.yaml").exits(0);
    let (dir, judged) = (court.dir(), court.judged());
    court.project.write(
        "labels.jsonl",
        "{\"id\": \"q001\", \"label\": 4}\n{\"id\": \"x1\", \"label\": 4}\n",
    );
    court.edit(" }]\nlimits", ", labels: labels.jsonl }]\nlimits");
    let rescore = |dir: &str| {
        let command = format!("rescore {dir} --spec eval.yaml");
        court.project.run(&command)
    };
    rescore(&dir)
        .exits(2)
        .says("labels.jsonl: 1 of its ids match no sample, such as `x1`");
    assert_eq!((court.dir(), court.judged()), (dir, judged));
    // What the other samples of a part are called is not known.
    court.edit(", labels: labels.jsonl }]\nlimits", " }]\nlimits");
    court.run("eval.yaml --limit 2").exits(0);
    let part = court.dir();
    court.edit(" }]\nlimits", ", labels: labels.jsonl }]\nlimits");
    rescore(&part)
        .exits(0)
        .says("1 label, mean distance: panel");
}
