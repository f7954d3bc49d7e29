use super::derived_texts::derived;
use super::switch::{both_ways, without};
use super::*;
use crate::calls::decode::{CallFormat, DecodeFault, prompt};
use crate::calls::syntax_tree::TreeReader;
use crate::calls::syntax_tree::tests::LANGUAGES;

/// Reads a text in every call format, with the shortcuts and without.
fn check(text: &str) {
    let shown = |got: &DecodeResult<Value>| {
        (
            text.to_owned(),
            got.as_ref().map(Value::repr).map_err(DecodeFault::clone),
        )
    };
    let compare = |work: &dyn Fn() -> DecodeResult<Value>| drop(both_ways(work, shown));
    for format in [CallFormat::Python, CallFormat::Java, CallFormat::JavaScript] {
        let bracketed = format!("[{text}]");
        compare(&|| prompt(text, format, false));
        compare(&|| prompt(&bracketed, format, false));
    }
}

#[test]
fn switched_off_nothing_is_told() {
    let lost = "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>";
    let mut reader = TreeReader::new(&LANGUAGES[0]()).unwrap();
    assert!(reader.tree(lost).is_none());
    let mut outlook = Outlook::default();
    outlook.hear("process version:0, version_count:1, state:0, row:0");
    let told = || {
        [
            python_calls("[f(a=1)]").is_some(),
            python_calls("[1]").is_some(),
            java_call("f(a=1);").is_some(),
            javascript_call("f(a=1)").is_some(),
            is_no_java("Here's how"),
            is_no_javascript("this function, you see"),
            begins_lost(lost, &reader.lost),
            is_lost(outlook),
        ]
    };
    assert_eq!(told(), [true; 8]);
    assert_eq!(without(told), [false; 8]);
    assert_eq!(told(), [true; 8]);
}

/// `EVALTEST_FUZZ_CASES=1000000` makes it a million.
#[test]
fn the_parsers_of_whole_languages_say_the_same() {
    crate::tests::fuzz::fuzz(|dice| {
        check(&match dice.below(3) {
            0 => derived(dice),
            1 => plain_python::tests::text(dice),
            _ => dice.text(crate::bfcl::checker::fuzz_tests::PIECES, 14),
        });
    });
}
