//! Properties of all scorers, and the examples of their guide.

pub(crate) mod check;
mod guide;

/// A reference answer may be written like a reply: boxed, emphasised or, where a text is no value, behind a label.
#[test]
fn a_boxed_or_emphasised_ground_truth_counts_as_its_value() {
    use serde_json::json;

    use check::{judge, scorer};

    let boxed = |value: &str| format!("$\\boxed{{{value}}}$");
    let all = |value: &str| [boxed(value), format!("**{value}**")];
    let solution = |value: &str| format!("So 6 · 7 is it. The answer is {}.", boxed(value));
    let check = |spec: &str, right: &str, wrong: &str, truths: &[String]| {
        for truth in truths {
            let verdict = |text| judge(&*scorer(spec), Some(text), &json!(truth)).unwrap();
            assert!(verdict(right).correct, "{spec} {truth}");
            assert!(!verdict(wrong).correct, "{spec} {truth}");
            // As it was before.
            assert!(
                !spec.contains("exact") || verdict(truth).correct,
                "{spec} {truth}"
            );
        }
    };
    for spec in ["numeric", "aime", "gsm8k"] {
        check(spec, "42", "6", &all("42"));
        check(spec, "42", "6", &[solution("42")]);
    }
    check("choice", "B", "A", &all("B"));
    check("choice", "B", "A", &[solution("B"), "Answer: B".to_owned()]);
    for spec in ["exact", "includes", "token_f1", "fuzzy", "qa"] {
        check(spec, "Paris", "Rome", &all("Paris"));
        check(spec, "42", "6", &all("42"));
    }
    let among = json!(["\\boxed{4}", "four"]);
    assert!(judge(&*scorer("exact"), Some("4"), &among).unwrap().correct);
    // A text that merely begins or ends so is taken as it is.
    let two = json!("**a** and **b**");
    assert!(!judge(&*scorer("exact"), Some("a"), &two).unwrap().correct);
}
