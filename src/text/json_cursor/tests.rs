//! What is accepted, what is rejected and where, and how strings are decoded.

use super::*;
use crate::error::Result;

fn read(text: &str) -> Result<()> {
    let mut cursor = Cursor::new(text, Vec::new());
    cursor
        .value()
        .map_err(|unexpected| cursor.expected(unexpected))?;
    if cursor.at_end() {
        Ok(())
    } else {
        Err(cursor.expected("the end"))
    }
}

#[test]
fn reads_what_python_reads() {
    for text in [
        "0",
        "-0",
        "12.50e+7",
        "1E-3",
        "true",
        "null",
        "NaN",
        "-Infinity",
        "Infinity",
        "\"\"",
        r#""é\n\"\u00e9\ud800""#,
        "[]",
        "[ ]",
        "{ }",
        "[1,[2 , {}],{\"a\" :\t[]}]",
        "{\"a\":{\"b\":[NaN,-Infinity]},\"a\":1}",
    ] {
        assert!(read(text).is_ok(), "{text}");
    }
    let deep = 100_000;
    assert!(read(&format!("{}{}", "[".repeat(deep), "]".repeat(deep))).is_ok());
}

#[test]
fn names_the_column_of_a_fault() {
    let check = |text: &str, expect: &str| {
        let error = read(text).expect_err(text);
        assert_eq!(error.message(), format!("broken JSON in column {expect}"));
    };
    check("", "1: expected a value");
    check("[1,]", "4: expected a value");
    check("[1 2]", "4: expected `,` or `]`");
    check("[1}", "3: expected `,` or `]`");
    check("{\"é\":1]", "7: expected `,` or `}`");
    check("{\"a\":1,}", "8: expected a key in double quotes");
    check("{a:1}", "2: expected a key in double quotes");
    check("{\"a\"}", "5: expected `:`");
    check("\"a", "3: expected `\"`");
    check("\"\t\"", "2: expected a control character to be escaped");
    check(r#""\x""#, "3: expected an escape such as `\\n` or `\\\\`");
    check(
        r#""\u00g0""#,
        "6: expected four hexadecimal digits after `\\u`",
    );
    check("01", "2: expected the end");
    check("1.", "3: expected a digit");
    check("-", "2: expected a digit");
    check("1e+", "4: expected a digit");
    check("-NaN", "2: expected a digit");
    check("nul", "1: expected a value");
    check("'a'", "1: expected a value");
}

#[test]
fn decodes_strings() {
    let check = |text: &str, expect: &str, replaced: bool| {
        let string = Cursor::new(text, Vec::new()).string().expect("a string");
        assert_eq!(string.text(), Some((expect.into(), replaced)));
        assert!(string.is(expect));
    };
    check(r#""é\"\\\/\b\f\n\r\tx""#, "é\"\\/\x08\x0c\n\r\tx", false);
    check(r#""\u00e9\u0000\uD83D\ude00!""#, "é\0😀!", false);
    check(r#""\ud83d\u0041\ude00x""#, "\u{fffd}A\u{fffd}x", true);
    check(r#""\ud83d\\ude00\ud83d""#, "\u{fffd}\\ude00\u{fffd}", true);
}

#[test]
fn a_number_ends_before_what_breaks_off() {
    let check = |text: &str, expect: &str, is_integer: bool, rest: &str| {
        let mut cursor = Cursor::new(text, Vec::new());
        let number = cursor.number().expect("a number");
        let start = cursor.between(0, number.end);
        let found = (start, number.is_integer, &text[cursor.place()..]);
        assert_eq!(found, (expect, is_integer, rest), "{text}");
        assert_eq!(number.breaks_off, text.len() > expect.len() + rest.len());
    };
    check("-12,", "-12", true, ",");
    check("01", "0", true, "1");
    check("1.5E+3]", "1.5E+3", false, "]");
    check("1.x", "1", true, "x");
    check("1.e5", "1", true, "e5");
    check("1e+x", "1", true, "x");
    check("1.5e", "1.5", false, "");
    check("-Infinity1", "-Infinity", false, "1");
}
