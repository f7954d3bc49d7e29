//! Tests when rows apply.

use super::*;
use crate::stats::wilson95;

/// The text of the row that applies to this figure.
fn advice_for(of: &str, sort: &str, interval: Option<[f64; 2]>) -> Option<&'static str> {
    let is_of = |topic: &&AdviceTopic| topic.rows.iter().any(|row| row.todo.starts_with(of));
    let topic = TABLE.iter().find(is_of).unwrap();
    let figure = AdvisedFigure {
        text: String::new(),
        interval,
        sort: sort.to_owned(),
        weight: 0.0,
        next: None,
    };
    let row = topic.rows.iter().find(|row| row.is_about(&figure))?;
    Some(&row.todo)
}

#[test]
fn every_topic_of_the_table_has_its_figure() {
    let topics: Vec<&str> = TABLE.iter().map(|topic| &*topic.figure).collect();
    let known: Vec<&str> = figures::FIGURES.iter().map(|(name, _)| *name).collect();
    assert_eq!(topics, known);
}

#[test]
fn an_accuracy_is_called_what_its_whole_interval_is() {
    let check = |right: u64, of: u64, expect: Option<&str>| {
        let found = advice_for("Excellent", "", wilson95(right, of));
        let begins = found.map(|todo| &todo[..todo.find([';', ',']).unwrap_or(todo.len())]);
        assert_eq!(begins, expect, "{right} of {of}");
    };
    check(5, 5, Some("More correct than wrong"));
    check(35, 35, Some("Excellent"));
    check(95, 100, Some("Good"));
    check(97, 100, Some("Excellent"));
    check(55, 100, None);
    check(70, 100, Some("More correct than wrong"));
    check(41, 100, None);
    check(40, 100, Some("More than half of the answers are wrong"));
    check(0, 0, None);
}

#[test]
fn only_certain_advice_is_given() {
    let check = |of: &str, interval: [f64; 2], expect: bool| {
        assert_eq!(
            advice_for(of, "", Some(interval)).is_some(),
            expect,
            "{of} {interval:?}"
        );
    };
    check("The agent often fails on the harder", [0.3, 0.5], true);
    check("The agent often fails on the harder", [0.1, 0.9], false);
    check("Compare both answers", [-0.2, -0.01], true);
    check("Compare both answers", [-0.2, 0.01], false);
    check("Weaker than the whole", [0.01, 0.3], true);
    check("Weaker than the whole", [-0.01, 0.3], false);
    check("Use more samples", [0.4, 0.7], true);
    check("Use more samples", [0.5, 0.6], false);
    assert_eq!(advice_for("Probably one cause", "", None), None);
}

#[test]
fn advice_depends_on_error_kind() {
    let todo = |kind: &str| advice_for("Fix the agent", kind, None).unwrap();
    assert!(todo("timed_out").contains("`limits.timeout_s`"));
    assert!(todo("unreachable").starts_with("Fix the agent"));
    assert!(todo("exited").starts_with("Read the first error"));
}
