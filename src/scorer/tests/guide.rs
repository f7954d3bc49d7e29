//! Checks what `guide.md` says about how the scorers differ from `gaia`.

use super::check::scorer;
use crate::scorer::{Answer, Target};

fn is_correct(spec: &str, prediction: &str, ground_truth: &str) -> bool {
    let target = Target::from(ground_truth);
    let score = scorer(spec).score(&Answer::new(prediction, &target));
    score
        .unwrap_or_else(|error| panic!("{spec}: {error}"))
        .correct
}

/// Pairs of prediction and ground truth that the scorer accepts and `gaia` rejects, and vice versa.
fn check(spec: &str, accepts: &[(&str, &str)], rejects: &[(&str, &str)]) {
    let accepts = accepts.iter().map(|pair| (pair, true));
    let rejects = rejects.iter().map(|pair| (pair, false));
    for ((prediction, truth), expect) in accepts.chain(rejects) {
        let got = [spec, "gaia"].map(|spec| is_correct(spec, prediction, truth));
        assert_eq!(
            got,
            [expect, !expect],
            "{spec}: {prediction:?} for {truth:?}"
        );
    }
}

#[test]
fn scorers_depart_from_gaia_as_the_guide_says() {
    check(
        "quasi_exact",
        &[
            ("b, a", "a, b"),
            ("the fox", "fox"),
            ("€5", "5"),
            ("£5", "5"),
        ],
        &[
            ("1.0", "1"),
            ("1,000", "1000"),
            ("a; b", "a, b"),
            ("(yes) it is", "yes it is"),
        ],
    );
    check(
        "substring",
        &[
            ("1", "1927"),
            ("It is Paris", "Paris"),
            ("-5", "5"),
            ("314", "3.14"),
        ],
        &[("1e3", "1000"), ("a;b", "a, b"), ("sea gull", "seagull")],
    );
    check(
        "{ type: substring, compat: true }",
        &[("東京", "Paris")],
        &[("1e3", "1000")],
    );
    check(
        "qa_f1",
        &[("fox in the wood", "fox in wood"), ("-5", "5")],
        &[("1.0", "1"), ("sea gull", "seagull")],
    );
    check(
        "exact",
        &[("e\u{301}", "é"), ("nan", "nan")],
        &[
            ("paris", "Paris"),
            ("Paris.", "Paris"),
            ("19.0", "19"),
            ("sea gull", "seagull"),
        ],
    );
    check(
        "includes",
        &[("It is Paris", "Paris")],
        &[("1,000", "1000")],
    );
    check("regex", &[("It is Paris", "Paris")], &[("19.5", "19.50")]);
    check(
        "{ type: numeric, units: ignore }",
        &[("19 eggs", "19"), ("nineteen", "19"), ("1/2", "0.5")],
        &[],
    );
    check("fuzzy", &[("colour", "color")], &[("19.00000", "19")]);
    check(
        "{ type: token_f1, threshold: 0.5 }",
        &[("red fox", "red")],
        &[("19.0", "19")],
    );
}
