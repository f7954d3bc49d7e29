//! Forms of numbers that are accepted, and ones that are not.

use serde_json::{Value, json};

use crate::scorer::tests::check::{judge, scorer};

/// The number that a scorer reads from a text.
fn read(spec: &str, text: &str) -> Option<String> {
    let score = judge(&*scorer(spec), Some(text), &json!(1)).expect("a verdict");
    match serde_json::to_value(score.normalized_prediction).expect("JSON") {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn check(text: &str, expect: &str) {
    assert_eq!(read("numeric", text).as_deref(), Some(expect), "{text:?}");
}

fn refuse(text: &str) {
    assert_eq!(read("numeric", text), None, "{text:?}");
}

#[test]
fn digits() {
    check("42", "42.0");
    check(" 0042.00\n", "42.0");
    check("+.5", "0.5");
    check("5.", "5.0");
    check("-0", "0.0");
    check("－５．２５", "-5.25");
    check("−٣", "-3.0");
    check("– 7", "-7.0");
    check("\u{feff} 7\u{200b}", "7.0");
    check("1e400", "1e+400");
    check("12345678901234567890123", "12345678901234567890123");
    check(
        "0.1000000000000000055511151231257827",
        "0.1000000000000000055511151231257827",
    );
    for text in [
        "", " ", ".", "-", "1.2.3", "--1", "1-2", "inf", "nan", "∞", "5²", "five5", "0x10", "1:30",
        "½½",
    ] {
        refuse(text);
    }
}

#[test]
fn groups() {
    check("1,234,567.5", "1234567.5");
    check("12,34,567", "1234567.0");
    check("1 234 567", "1234567.0");
    check("1\u{202f}234", "1234.0");
    check("1'234'567.25", "1234567.25");
    check("1’234", "1234.0");
    check("1_000", "1000.0");
    check(r"1{,}234", "1234.0");
    check(r"1,\!234", "1234.0");
    for text in [
        "1,2",
        "1,23",
        "12,3456",
        "0,123",
        "1234,567",
        "1,234 567",
        "1,,234",
        ",123",
        "1,23,4567",
        "1,2,3",
    ] {
        refuse(text);
    }
    let comma = |text| read("{ type: numeric, decimal: comma }", text);
    assert_eq!(comma("1.234,5").as_deref(), Some("1234.5"));
    assert_eq!(comma(",5").as_deref(), Some("0.5"));
    assert_eq!(comma("1 234,5 €").as_deref(), Some("1234.5"));
    assert_eq!(comma("1234.5"), None);
    assert_eq!(comma("1,234,5"), None);
}

#[test]
fn powers_of_ten() {
    check("1.2e3", "1200.0");
    check("1.2E-3", "0.0012");
    check("1.2 x 10^3", "1200.0");
    check("1.2×10³", "1200.0");
    check("1.2 · 10⁻³", "0.0012");
    check(r"1.2 \times 10^{-3}", "0.0012");
    check(r"1.2\cdot10^{ 3 }", "1200.0");
    check("1.2*10**3", "1200.0");
    check("10^3", "1000.0");
    check("10⁶", "1000000.0");
    check("-10^-2", "-0.01");
    check("1e000000000000000000003", "1000.0");
    for text in [
        "1e",
        "e5",
        "1e5.5",
        "1x10",
        "2^10",
        "10^",
        "1 x 10^{3",
        "1e9999999999",
        "10^^3",
    ] {
        refuse(text);
    }
}

#[test]
fn fractions() {
    check("3/4", "0.75");
    check("-3 / 4", "-0.75");
    check("3⁄4", "0.75");
    check("1 1/2", "1.5");
    check("1 500/1000", "1.5");
    check("½", "0.5");
    check("-1½", "-1.5");
    check("1 ½", "1.5");
    check(r"\frac{3}{4}", "0.75");
    check(r"-\dfrac{3}{4}", "-0.75");
    check(r"2\tfrac34", "2.75");
    check(r"\frac{ 1 }3", "1/3");
    check("2/6", "1/3");
    check("1,000/3", "1000/3");
    for text in [
        "3/4/5",
        "3/",
        "/3",
        "1/0",
        "3/-4",
        "1.5/2",
        r"\frac{1}{0}",
        r"\frac{x}{2}",
        r"\frac{1}",
        "1 2/3 4",
    ] {
        refuse(text);
    }
}

#[test]
fn english_words() {
    check("forty-two", "42.0");
    check("Forty Two.", "42.0");
    check("zero", "0.0");
    check("a hundred", "100.0");
    check("hundred and one", "101.0");
    check("one hundred five thousand", "105000.0");
    check("nineteen hundred and five", "1905.0");
    check("two thousand and five", "2005.0");
    check("one thousand, two hundred and thirty-four", "1234.0");
    check("five hundred thousand million", "500000000000.0");
    check("a thousand million", "1000000000.0");
    check(
        "two trillion three billion four million five thousand six",
        "2003004005006.0",
    );
    check("minus three", "-3.0");
    check("negative  seven", "-7.0");
    check("point five", "0.5");
    check("three point one four", "3.14");
    check("zero point zero five", "0.05");
    check("two point five million", "2500000.0");
    check("half", "0.5");
    check("a half", "0.5");
    check("half a million", "500000.0");
    check("one and a half", "1.5");
    check("one and a half million", "1500000.0");
    check("a hundred and three quarters", "100.75");
    check("two thousand and a half", "2000.5");
    check("three quarters", "0.75");
    check("two and two thirds", "8/3");
    check("a third", "1/3");
    check("2.5 million", "2500000.0");
    check("$3 billion", "3000000000.0");
    check("½ million", "500000.0");
    for text in [
        "a",
        "and",
        "one and",
        "five six",
        "nineteen ninety",
        "one hundred two hundred",
        "twenty eleven",
        "one thousand two million",
        "zero thousand",
        "first",
        "twenty-first",
        "two third",
        "point",
        "one point",
        "point ten",
        "hundredth",
        "a cat",
        "minus",
        "one-",
        "and five",
        "an five",
        "forty--two",
    ] {
        refuse(text);
    }
}

#[test]
fn currencies_percent_and_units() {
    check("$5", "5.0");
    check("-$5", "-5.0");
    check("$-5", "-5.0");
    check("US$ 5", "5.0");
    check("5 €", "5.0");
    check("EUR 1,000", "1000.0");
    check("5usd", "5.0");
    check(r"\$5", "5.0");
    check("50%", "50.0");
    check("50 percent", "50.0");
    check(r"50\%", "50.0");
    check("５０％", "50.0");
    check("fifty per cent", "50.0");
    check("$5 USD", "5.0");
    for text in [
        "$", "$$5", "5 $ €", "%", "50%%", "%50", "5 km", "5¢", "EURO 5", "percent",
    ] {
        refuse(text);
    }
    let scale = |text| read("{ type: numeric, percent: scale }", text);
    assert_eq!(scale("50%").as_deref(), Some("0.5"));
    assert_eq!(scale("5‰").as_deref(), Some("0.005"));
    assert_eq!(scale("1/3 %").as_deref(), Some("1/300"));
    assert_eq!(scale("50").as_deref(), Some("50.0"));
    let unit = |text| read("{ type: numeric, units: ignore }", text);
    for text in [
        "42 km",
        "42km",
        "42 km/h",
        "42 m/s^2",
        "42 m s-1",
        "42 m²",
        "42 °C",
        r"42^\circ",
        r"42\text{ cm}",
        "42 people in all",
        "42-year-old",
        "forty-two kilometres",
        "$42 in cash",
        "42% of them",
        "42 CO2",
    ] {
        assert_eq!(unit(text).as_deref(), Some("42.0"), "{text:?}");
    }
    for text in [
        "42 or 43",
        "42 or -43",
        "42 or six",
        "42nd",
        "km 42",
        "42 (km)",
        "42, 43",
        "42: a",
    ] {
        assert_eq!(unit(text), None, "{text:?}");
    }
}
