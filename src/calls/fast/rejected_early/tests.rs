use std::io::Write as _;

use super::super::derived_texts::derived;
use super::*;
use crate::calls::syntax_tree::TreeReader;
use crate::calls::syntax_tree::tests::{LANGUAGES, is_read};

#[test]
fn rejected_java() {
    for text in [
        "{\"tool_calls\": [{\"name\": \"f\"}]}",
        "f\n{'a': 1}",
        "Here's how",
        "f(a='x\n')",
        "f(a='')",
        "use `f` now",
        "f(a=\"it's\", b=\"`\") # done",
        "f(a=[1, 2])",
        "f(a=[\"x\", g(y, z)]).h",
        "f(a=1))",
        "x }",
        "f(a=\"\\\"#\") #",
    ] {
        assert!(in_java(text), "{text:?}");
    }
}

#[test]
fn ambiguous_java_needs_the_parser() {
    for text in [
        "",
        "f(a=\"x\", b='y', c=\"`#'\");",
        "To use the function you need a key",
        "f(a=[1])",
        "a[new B<C, D>(e)]",
        "f(x[g(y, z)])",
        "x = {\"a\", \"b\"}",
        "{ \"a\"::length; }",
        "switch (x) { case \"a\": y(); }",
        "// it's\nf();",
        "/* ` */ f();",
        "f(a=\"\"\"\n it's ` \"\"\");",
        "f(a=\"\\{x}\") #",
        "é #",
    ] {
        assert!(!in_java(text), "{text:?}");
    }
}

#[test]
fn rejected_javascript() {
    for text in [
        "To look for changes",
        "the value\nif any",
        "use it with care, please",
        "for x in y:",
        "use the `f` function to go",
        "this function, you see",
        "a class named C that",
        "from flask import Flask\nimport x",
        "import a.b",
        "import a, b",
        "try this",
        "x = {}\nfor y in z: w",
        "### Note",
        "f(a=\"#\") # done",
        "python\n  [{'a': 1}]\n  ```\n\n  This is",
        "here's\nthe list",
        "here's\n# the list",
        "f(a=\"{\"b\": 1}\")",
        "[f\"x\"]",
        "(see below)",
        "f(a=1))",
        "x, for example, if you like it for free",
    ] {
        assert!(in_javascript(text), "{text:?}");
    }
}

#[test]
fn ambiguous_javascript_needs_the_parser() {
    for text in [
        "",
        "f(a=1, b='x', c=[1, {d: 2}])",
        "{\"a\": [1, 2]}",
        "to use the key",
        "for (x of y) z",
        "for await (x of y) z",
        "if (x) y",
        "x, for",
        "f(for, if)",
        "a.for.if",
        "[.5.a]",
        "({for: 1, get if() {}})",
        "{get for() {}}",
        "let for = 1",
        "function f() {}",
        "function* f() {}",
        "class C {}",
        "class C extends D {}",
        "import a from 'b'",
        "import a, {b} from 'c'",
        "`a ${b} # c` # d",
        "/#/ ",
        "a = /'/",
        "x / y",
        "const x /a b ['#]/",
        "<a>it's # for x</a>",
        "// it's # for x\nf()",
        "--> it's # for x",
        "#!x for y",
        "#x in y",
        "'a\n' + b",
        "\u{a0}# x",
        "here's\n- a list",
    ] {
        assert!(!in_javascript(text), "{text:?}");
    }
}

/// `EVALTEST_FUZZ_CASES=1000000` makes it a million.
#[test]
fn every_rejected_text_has_an_error_node() {
    let mut readers = LANGUAGES.map(|language| TreeReader::new(&language()).unwrap());
    let (mut rejected_early, mut read, mut all) = (0, 0, 0);
    crate::tests::fuzz::fuzz(|dice| {
        let text = derived(dice);
        let verdicts = [in_java(&text), in_javascript(&text)];
        for (reader, is_rejected) in readers.iter_mut().zip(verdicts) {
            all += 1;
            rejected_early += u32::from(is_rejected);
            // Parse a share of the others, to see how good the texts are.
            if is_rejected || all % 16 == 0 {
                let is_read = is_read(reader, &text);
                assert!(!(is_read && is_rejected), "{text:?}");
                read += u32::from(is_read);
            }
        }
    });
    let _ = writeln!(
        std::io::stderr(),
        "{all} texts, {rejected_early} hopeless, {read} read"
    );
    assert!(rejected_early > all / 5 && read > all / 500);
}
