use super::derived_texts::derived;
use super::switch::{both_ways, without};
use super::*;
use crate::calls::decode::{CallFormat, DecodeFault, prompt};
use crate::calls::syntax_tree::TreeReader;
use crate::calls::syntax_tree::tests::LANGUAGES;

/// Reads a text in every call format, with the shortcuts and without.
fn check(text: &str) {
    let render = |got: &DecodeResult<Value>| {
        (
            text.to_owned(),
            got.as_ref().map(Value::repr).map_err(DecodeFault::clone),
        )
    };
    let compare = |work: &dyn Fn() -> DecodeResult<Value>| drop(both_ways(work, render));
    for format in [CallFormat::Python, CallFormat::Java, CallFormat::JavaScript] {
        let bracketed = format!("[{text}]");
        compare(&|| prompt(text, format, false));
        compare(&|| prompt(&bracketed, format, false));
    }
}

#[test]
fn disabled_fast_path_accepts_nothing() {
    let lost = "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>";
    let mut reader = TreeReader::new(&LANGUAGES[0]()).unwrap();
    assert!(reader.tree(lost).is_none());
    let mut feasibility = Feasibility::default();
    feasibility.observe("process version:0, version_count:1, state:0, row:0");
    let results = || {
        [
            python_calls("[f(a=1)]").is_some(),
            python_calls("[1]").is_some(),
            java_call("f(a=1);").is_some(),
            javascript_call("f(a=1)").is_some(),
            is_no_java("Here's how"),
            is_no_javascript("this function, you see"),
            begins_lost(lost, &reader.lost),
            is_lost(feasibility),
        ]
    };
    assert_eq!(results(), [true; 8]);
    assert_eq!(without(results), [false; 8]);
    assert_eq!(results(), [true; 8]);
}

/// `EVALTEST_FUZZ_CASES=1000000` makes it a million.
#[test]
fn full_parsers_agree() {
    crate::tests::fuzz::fuzz(|dice| {
        check(&match dice.below(3) {
            0 => derived(dice),
            1 => plain_python::tests::text(dice),
            _ => dice.text(crate::bfcl::checker::fuzz_tests::PIECES, 14),
        });
    });
}
