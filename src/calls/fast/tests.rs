use super::derived_texts::derived;
use super::switch::{both_ways, without};
use super::*;
use crate::calls::decode::{CallFormat, DecodeFault, prompt};
use crate::calls::python::{PlainCall, literal_eval, nesting, plain_calls};
use crate::calls::syntax_tree::TreeReader;
use crate::calls::syntax_tree::tests::LANGUAGES;

/// Reads a text in every way that calls have, with the shortcuts and without.
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
    compare(&|| literal_eval(text));
    let plain = |call: PlainCall| {
        let named = call.named.into_iter();
        let named = named.map(|(name, value)| Value::Tuple(vec![Value::Str(name), value]));
        let name = Value::Str(call.name);
        Value::List(
            call.positional
                .into_iter()
                .chain(named)
                .chain([name])
                .collect(),
        )
    };
    compare(&|| {
        let calls = plain_calls(text)?;
        Ok(Value::List(calls.into_iter().map(plain).collect()))
    });
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
            cannot_follow(Last::Operand, Next::Name),
            is_no_java("Here's how"),
            is_no_javascript("this function, you see"),
            begins_lost(lost, &reader.lost),
            is_lost(outlook),
        ]
    };
    assert_eq!(told(), [true; 9]);
    assert_eq!(without(told), [false; 9]);
    assert_eq!(told(), [true; 9]);
}

/// `EVALTEST_FUZZ_CASES=1000000` makes it a million.
#[test]
fn the_parsers_of_whole_languages_say_the_same() {
    crate::tests::fuzz::fuzz(|dice| {
        check(&match dice.below(4) {
            0 => derived(dice),
            1 => plain_python::tests::text(dice),
            2 => nesting::tests::text(dice),
            _ => dice.text(crate::bfcl::checker::fuzz_tests::PIECES, 14),
        });
    });
}
