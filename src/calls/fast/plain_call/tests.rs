use std::io::Write as _;

use tree_sitter::{Parser, Tree};

use super::super::derived_texts::derived;
use super::*;
use crate::calls::DecodeResult;
use crate::calls::syntax_tree::has_error_node;

fn check(language: fn(&str) -> Option<Value>, text: &str, expect: &str) {
    let got = language(text).map_or("other".to_owned(), |value| value.repr().unwrap());
    assert_eq!(got, expect, "{text:?}");
}

#[test]
fn plain_java() {
    let check = |text: &str, expect: &str| check(java, text, expect);
    check("f(a=1);", "[{'f': {'a': '1'}}]");
    check(
        "f(to=A.class, a=\"\\\"x\\\"\");",
        "[{'f': {'to': 'A.class', 'a': '\\\\\"x\\\\\"'}}]",
    );
    check("f.class(a=1);", "other");
    check("A.b.c(x = \"it's\",\n y='', z=Zone.UTC, on=true)", "other");
    check(
        "A.b.c(x = \"it's\",\n y='\"', z=Zone.UTC, on=true, n=-2.5)",
        "[{'A.b.c': {'x': \"it's\", 'y': '\"', 'z': 'Zone.UTC', 'on': 'true', 'n': '-2.5'}}]",
    );
}

#[test]
fn plain_javascript() {
    let check = |text: &str, expect: &str| check(javascript, text, expect);
    check("f(a=1)", "[{'f': {'a': '1'}}]");
    check(
        "a.b(x='é', y=\"\", z=[1, {k: 'v'}], n=null);",
        "[{'a.b': {'x': 'é', 'y': '', 'z': \"[1, {k: 'v'}]\", 'n': 'null'}}]",
    );
    check("{\"a\": [{\"b\": -1.5}]}", "None");
    check("f\n{\"a\": {b: 'c'}}", "None");
}

#[test]
fn ambiguous_text_needs_the_parser() {
    for text in [
        "",
        "f()",
        "f(1)",
        "f(a)",
        "f(a=1,)",
        "f(a=1, a=2)",
        "f(a=1)()",
        "f (a=1)",
        "f(a=1) ",
        "f(a==1)",
        "f(a=01)",
        "f(a=1.)",
        "f(a=1e5)",
        "f(a=5L)",
        "f(a=x y)",
        "f(a=x+1)",
        "f(a=g())",
        "f(a=x[0])",
        "f(a='\\u0041')",
        "f(a='x\n')",
        "f(a=`x`)",
        "f(a=/x/)",
        "f(a=new X())",
        "f(for=1)",
        "f(a=this)",
        "new(a=1)",
        "f(é=1)",
        "f(a=\u{a0}1)",
        "f(a=1) // x",
        "f(a=1); g(b=2)",
        "{a: 1}",
        "{}",
        "{'a': 1}",
    ] {
        check(java, text, "other");
        check(javascript, text, "other");
    }
    check(java, "f(a=1)", "other");
    check(java, "f(a=\"é\");", "other");
    check(java, "f(a=\"\"\"x\"\"\");", "other");
    check(java, "f(a=[1]);", "other");
    check(java, "f(open=record);", "other");
    check(javascript, "f(a={1: 2})", "other");
    check(javascript, "f(a=[1,])", "other");
    check(javascript, "f(a={b})", "other");
    let deep = format!("f(a={}{})", "[".repeat(9), "]".repeat(9));
    check(javascript, &deep, "other");
}

/// `EVALTEST_FUZZ_CASES=1000000` makes it a million.
#[test]
fn the_syntax_tree_holds_the_same() {
    type Sides = (
        fn(&str) -> Option<Value>,
        fn(&Tree, &str) -> DecodeResult<Value>,
        Parser,
    );
    let sides = |language, plain, read| -> Sides {
        let mut parser = Parser::new();
        parser.set_language(&language).unwrap();
        (plain, read, parser)
    };
    let mut sides = [
        sides(
            tree_sitter_java::language(),
            java as fn(&str) -> Option<Value>,
            crate::calls::java::calls_in as fn(&Tree, &str) -> DecodeResult<Value>,
        ),
        sides(
            evaltest_javascript_grammar::LANGUAGE.into(),
            javascript,
            crate::calls::javascript::calls_in,
        ),
    ];
    let (mut plain, mut all) = (0, 0);
    crate::tests::fuzz::fuzz(|dice| {
        let text = derived(dice);
        for (fast, read, parser) in &mut sides {
            all += 1;
            let Some(got) = fast(&text) else {
                continue;
            };
            plain += 1;
            let tree = parser.parse(&text, None).unwrap();
            assert!(!has_error_node(tree.root_node()), "{text:?}");
            let expect = read(&tree, &text).map(|value| value.repr());
            assert_eq!(Ok(got.repr()), expect, "{text:?}");
        }
    });
    let _ = writeln!(std::io::stderr(), "{all} texts, {plain} plain");
    assert!(plain > all / 50);
}
