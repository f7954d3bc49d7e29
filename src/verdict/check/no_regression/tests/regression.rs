//! Why test and interval disagree, and the smallest drop, as text.

use super::several::{accepted, facts, says};
use super::*;

#[test]
fn where_test_and_interval_point_different_ways_it_says_why() {
    // A loss one-sided at 5 %, but not two-sided at 95 %.
    let baseline = accepted(&["C"; 40]);
    let mut now = ["C"; 40];
    now[..5].fill("W");
    let result = Gate::no_regression()
        .conditional()
        .check(&facts(&baseline, &now, 40));
    let regression = result.regression.clone().unwrap();
    let sees = regression.difference_ci95.unwrap()[1] < 0.0;
    assert_eq!(
        result.message.contains("; the interval "),
        !sees,
        "{}",
        result.message
    );
    // At this alpha the test needs more than the interval.
    now[5] = "W";
    let facts = facts(&baseline, &now, 39);
    let strict = Gate::no_regression()
        .conditional()
        .alpha(0.01)
        .check(&facts);
    says(
        &strict,
        Verdict::Passed,
        &[
            "; the test is one-sided at 0.01, the interval has 0.025 on each side, and the test decides",
        ],
    );
}

#[test]
fn where_test_and_interval_differ_the_line_says_why() {
    let check = |gate: &str, before: &str, after: &str, part: &str| {
        let result = compare(&gate.parse().unwrap(), before, after, true);
        assert!(result.message.contains(part), "{}", result.message);
    };
    check(
        "no_regression(alpha=0.3, exact=conditional)",
        &"C".repeat(20),
        &format!("WW{}", "C".repeat(18)),
        "; the test is one-sided at 0.3, the interval has 0.025 on each side, and the test decides\n",
    );
    check(
        "no_regression(alpha=0.01, exact=conditional)",
        &"C".repeat(40),
        &format!("WWWWWW{}", "C".repeat(34)),
        "; the test is one-sided at 0.01, the interval has 0.025 on each side, and the test decides\n",
    );
    let baseline = accepted(&["C"; 48]);
    let mut facts = facts(&baseline, &["C"; 48], 48);
    facts.current.change(|i, sample| {
        sample.cluster = Some((i / 8).to_string());
        let lost = [3, 4, 4, 5, 3, 4][i / 8];
        sample.answers = vec![Some(i % 8 >= lost)];
    });
    let result = Gate::no_regression().check(&facts);
    says(
        &result,
        Verdict::Failed,
        &[
            "; the interval assumes that the samples of a group change together and may be too wide; the test, ",
            "if groups flip by chance as they did here, a regression breaks single samples of any group, and 0 % of samples \
             flip by chance in each direction",
        ],
    );
    // A single group is not informative, and does not claim to be.
    facts
        .current
        .change(|_, sample| sample.cluster = Some("all".to_owned()));
    let result = Gate::no_regression().check(&facts);
    says(
        &result,
        Verdict::Inconclusive,
        &[
            "powerless",
            "\n48 pairs cannot detect any drop with 80 % power, ",
        ],
    );
}

#[test]
fn mid_p_sees_smaller_drops() {
    let gate = "no_regression(alpha=0.1, mid_p=true)".parse().unwrap();
    let result = compare(
        &gate,
        &"C".repeat(20),
        &format!("WWW{}", "C".repeat(17)),
        true,
    );
    says(
        &result,
        Verdict::Failed,
        &["20 pairs can detect a drop of 15.0 points or more"],
    );
}
