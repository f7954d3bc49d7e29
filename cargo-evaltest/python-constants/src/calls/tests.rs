//! What call text means, rule by rule.

use super::*;

fn check(text: &str, expect: Option<&str>) {
    let got = calls(text);
    let repr = got.as_ref().ok().map(|value| value.repr().unwrap());
    assert_eq!(repr.as_deref(), expect, "{text:?} {got:?}");
}

/// The value of one argument.
fn value(text: &str, expect: Option<&str>) {
    let expect = expect.map(|value| format!("[{{'f': {{'x': {value}}}}}]"));
    check(&format!("[f(x={text})]"), expect.as_deref());
}

#[test]
fn calls_and_names() {
    check("f()", Some("[{'f': {}}]"));
    check(
        "[f(), a.b.c(x=1)]",
        Some("[{'f': {}}, {'a.b.c': {'x': 1}}]"),
    );
    check("(f(), g())", Some("[{'f': {}}, {'g': {}}]"));
    check("{f()}", Some("[{'f': {}}]"));
    check("[f(1, 'a', x=2)]", Some("[{'f': {'x': 2}}]"));
    check("[f(*a, **k)]", Some("[{'f': {None: 'k'}}]"));
    check("[f()(x=1)]", Some("[{'': {'x': 1}}]"));
    check(
        "[a().b(x=1), x[0].g(y=2)]",
        Some("[{'b': {'x': 1}}, {'g': {'y': 2}}]"),
    );
    check("[f(x=1, y=2, x=3)]", Some("[{'f': {'x': 3, 'y': 2}}]"));
    check("[f(ﬁ=1)]", Some("[{'f': {'fi': 1}}]"));
    check("[f(x=1),\n# comment\n]", Some("[{'f': {'x': 1}}]"));
    check("[]", Some("[]"));
    for text in [
        "",
        "[1]",
        "{'a': 1}",
        "f",
        "f() g()",
        "[f()\ng()]",
        "f(x=1",
        "[f(x=1) # c]",
        "f(class=1)",
        "f(True=1)",
        "f(x=1, 2)",
        "f(x=*a)",
        "f(\u{a0}x=1)",
        "\u{feff}f()",
        "f(x=‘a’)",
        "f(x='\0')",
        "x = f()",
        "f(x=)",
    ] {
        check(text, None);
    }
}

#[test]
fn values() {
    value("'a' \"b\"", Some("'ab'"));
    value("'\\n\\x41\\u00e9\\101\\q'", Some("'\\nAéA\\\\q'"));
    value(
        "'\\ud800\\ufffd\\\n\\N{BULLET}\\q\\udfff'",
        Some("'\\ud800\u{fffd}•\\\\q\\udfff'"),
    );
    value("'''a\r\nb'''", Some("'a\\nb'"));
    value("b'a\\xff'", Some("b'a\\xff'"));
    value("[1, (2,), {'a': None}]", Some("[1, (2,), {'a': None}]"));
    value("{1: 'a', True: 'b', 1.0: 'c'}", Some("{1: 'c'}"));
    value("true", Some("'true'"));
    value("...", Some("'...'"));
    value("1_000", Some("1000"));
    value("0x1F", Some("31"));
    value(
        "123456789012345678901234567890",
        Some("123456789012345678901234567890"),
    );
    value("1e400", Some("inf"));
    value("2j", Some("2j"));
    value("g(y=1)", Some("{'g': {'y': 1}}"));
    for text in [
        "{[]: 1}",
        "{**a}",
        "a.b",
        "{1}",
        "f'{x}'",
        "1 < 2",
        "x and y",
        "x if y else z",
        "[i for i in y]",
        "lambda: 1",
        "(y := 1)",
        "0123",
        "1__0",
        "'a' b'b'",
        "'\\N{NO SUCH NAME}'",
        "'\\x4'",
    ] {
        value(text, None);
    }
}

#[test]
fn every_unary_operator_negates() {
    value("-5", Some("-5"));
    value("+5", Some("-5"));
    value("~5", Some("-5"));
    value("not True", Some("-1"));
    value("-0.0", Some("-0.0"));
    value("-2j", Some("(-0-2j)"));
    value("-9223372036854775808", Some("-9223372036854775808"));
    for text in ["--5", "-x", "-(1+2)", "-'a'", "-None", "-...", "-a.b"] {
        value(text, None);
    }
}

#[test]
fn arithmetic_of_constants() {
    value("2+3*4", Some("14"));
    value("5/2", Some("2.5"));
    value("-7//2", Some("-4"));
    value("-7%3", Some("2"));
    value("7.5%-2", Some("-0.5"));
    value("2**10", Some("1024"));
    value("2**-1", Some("0.5"));
    value("1<<70", Some("1180591620717411303424"));
    value("6&3|8^1", Some("11"));
    value("~5+0", Some("-6"));
    value("True+True", Some("2"));
    value("'a'+'b'*2", Some("'abb'"));
    value("[1]*2+[3]", Some("[1, 1, 3]"));
    value("{'a': 1}|{'b': 2}", Some("{'a': 1, 'b': 2}"));
    value("'%s-%d' % ('a', 5)", Some("'a-5'"));
    value("int('15')+0", Some("15"));
    value("len('abc')+abs(-3)", Some("6"));
    value("MAXIMUM_STEP_LIMIT+1", Some("21"));
    value("10**17/3", Some("3.3333333333333332e+16"));
    value("(2**70)/(2**69)", Some("2.0"));
    for text in [
        "x+1",
        "1/0",
        "1%0",
        "1.0//0",
        "'a'+1",
        "[1]+(1,)",
        "1@2",
        "1<<-1",
        "open('x')+1",
        "__import__('os')+1",
        "'a'+'b'.upper",
        "range(3)+[1]",
        "[1][5]+1",
        "sorted([1, 'a'])+[]",
        "int('9', 8)+0",
        "'a'[::0]+''",
        "0**-1",
        "2**0.5**-5000",
        "1.5|2",
    ] {
        value(text, None);
    }
}

#[test]
fn arithmetic_bombs_are_refused() {
    for text in [
        "10**10**10",
        "'a'*10**12",
        "[0]*10**9",
        "1<<10**10",
        "9**99999*9**99999",
        "'%99999999d' % 1",
        "(9**9999)**9999",
        "[[[0]*1000]*1000]*1000",
    ] {
        value(text, None);
    }
    value(&"9".repeat(4300), Some(&"9".repeat(4300)));
    value(&"9".repeat(4301), None);
    value(&format!("0x{}", "f".repeat(3500)), Some(&hex(3500)));
    value(&format!("{}1", "1+".repeat(400)), None);
    value(&format!("{}1", "1+".repeat(200)), Some("201"));
}

/// 16ⁿ - 1 in decimal digits.
fn hex(digits: u32) -> String {
    let value = num_bigint::BigInt::from(16).pow(digits) - num_bigint::BigInt::from(1);
    value.to_string()
}

#[test]
fn positional_calls_and_subscripts_are_written_anew() {
    let text = |text: &str, expect: &str| {
        let expect = crate::Value::from(expect).repr().unwrap();
        value(text, Some(&expect));
    };
    text("g( 1,\"a\" )", "g(1, 'a')");
    text("a.b . c()", "a.b.c()");
    text(
        "g(-1, not x, (1+2)*3, 2**-1)",
        "g(-1, not x, (1 + 2) * 3, 2 ** (-1))",
    );
    text(
        "g((1), (1,), [1,2], {1:2, **a}, {1})",
        "g(1, (1,), [1, 2], {1: 2, **a}, {1})",
    );
    text(
        "g(lambda x, *a, y=1, **k: x)",
        "g(lambda x, *a, y=1, **k: x)",
    );
    text(
        "g(x if y else z, a and b or c, a<b!=c)",
        "g(x if y else z, a and b or c, a < b != c)",
    );
    text(
        "g([i for i in y if z], *a, (q := 1))",
        "g([i for i in y if z], *a, (q := 1))",
    );
    text(
        "g(1e400, 1.0, 2j, ..., u'u', b'b')",
        "g(1e309, 1.0, 2j, ..., u'u', b'b')",
    );
    text(
        "g(5 .real, f'a{x!r:>{w}}b', f\"{'a'}\")",
        "g(5 .real, f'a{x!r:>{w}}b', f\"{'a'}\")",
    );
    text("a[1:2, ::3]", "a[(1:2, ::3)]");
    text("g(a[(1,2)])", "g(a[1, 2])");
    text("(a+b)[0]", "a + b[0]");
}

#[test]
fn nesting() {
    let nested = |count: usize| format!("{}{}", "[".repeat(count), "]".repeat(count));
    // One bracket for the list of calls, one for the call.
    value(&nested(198), Some(&nested(198)));
    value(&nested(199), None);
    for deep in [
        "-",
        "not ",
        "[",
        "(",
        "{1:",
        "f(",
        "a.",
        "lambda:",
        "x if y else ",
        "1**",
        "a[",
    ] {
        value(&format!("{}1", deep.repeat(10_000)), None);
    }
    value(
        &format!("f({})", "a.".repeat(300) + "b"),
        Some(&format!("'f({})'", "a.".repeat(300) + "b")),
    );
    value(&format!("f({})", "a.".repeat(400) + "b"), None);
}
