//! Texts and numbers as Python treats them: white space, lower case, the digits of all scripts, `float(text)` and the
//! `repr` of a float.
//!
//! The crate `evaltest-python-constants` includes this file by a link.

use std::borrow::Cow;

/// Python's `str.isspace`, which is the same as `\s` of its regular expressions and what `str.strip()` and
/// `str.split()` remove.
///
/// Unlike [`char::is_whitespace`] it includes the four ASCII separators U+001C to U+001F.
pub(crate) fn is_py_space(c: char) -> bool {
    matches!(c, '\x1c'..='\x1f') || c.is_whitespace()
}

/// Python's `str.lower`: Unicode's full mapping, with a final sigma where the context requires one.
///
/// [`str::to_lowercase`] is the same algorithm on newer tables, so the 55 letters that got a lower case after Unicode
/// 14 (Python 3.11) are left unchanged.
pub(crate) fn py_lower(text: &str) -> String {
    if !text.contains(is_newer) {
        return text.to_lowercase();
    }
    // To Python these letters are unassigned: neither cased nor ignorable. For a sigma's context they end a word like
    // the end of the text does, so the parts can be lowered separately.
    let mut lower = String::with_capacity(text.len());
    for part in text.split_inclusive(is_newer) {
        let newer = part.chars().next_back().filter(|&c| is_newer(c));
        let known = &part[..part.len() - newer.map_or(0, char::len_utf8)];
        lower.push_str(&known.to_lowercase());
        lower.extend(newer);
    }
    lower
}

/// Appends Python's `str.lower` of a single character. Within a text a `Σ` at the end of a word maps to a different
/// letter.
pub(crate) fn push_py_lower(text: &mut String, c: char) {
    if is_newer(c) {
        text.push(c);
    } else {
        text.extend(c.to_lowercase());
    }
}

/// Whether the letter has a lower case in Unicode 15 to 17 but not in Unicode 14.
fn is_newer(c: char) -> bool {
    // Nearly every character is below the first such letter.
    c >= '\u{1c89}'
        && matches!(c,
            '\u{1c89}' | '\u{a7cb}' | '\u{a7cc}' | '\u{a7ce}' | '\u{a7d2}' | '\u{a7d4}' | '\u{a7da}'
            | '\u{a7dc}' | '\u{10d50}'..='\u{10d65}' | '\u{16ea0}'..='\u{16eb8}')
}

/// The zeros of the 65 sets of decimal digits beyond ASCII (category Nd of Unicode 14). The digits one to nine follow
/// each.
const ZEROS: [u32; 65] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6,
    0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50,
    0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650,
    0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50,
    0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// The value of a decimal digit of any script, as accepted by Python's `int()` and `float()` and by `\d` of its regular
/// expressions.
pub(crate) fn py_digit(c: char) -> Option<u8> {
    if c.is_ascii() {
        return c.is_ascii_digit().then(|| c as u8 - b'0');
    }
    let code = u32::from(c);
    let zero = ZEROS[..ZEROS.partition_point(|&zero| zero <= code)].last()?;
    u8::try_from(code - zero).ok().filter(|&value| value < 10)
}

/// Python's `float(text)`: the number, or `None` where Python raises `ValueError`.
///
/// Accepts surrounding white space, digits of any script, single underscores between digits, `inf`, `infinity` and
/// `nan`. A number beyond the range of a double is infinite.
///
/// `" 1_000.5\n"` is 1000.5, `"١٢"` is 12, `"1e400"` is infinite, `"1,000"` is not a number.
pub(crate) fn py_float(text: &str) -> Option<f64> {
    // Most texts are words: check the first letter. Spaces and digits beyond ASCII are handled below.
    if let Some(first) = text.bytes().next()
        && first.is_ascii_alphabetic()
        && !matches!(first, b'i' | b'I' | b'n' | b'N')
    {
        return None;
    }
    let ascii = if text.is_ascii() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.chars().map(to_ascii).collect::<Option<String>>()?)
    };
    // Not PY_SPACE: after the translation only C's white space counts, so U+001C is a fault.
    let number = ascii.trim_matches(['\t', '\n', '\x0b', '\x0c', '\r', ' ']);
    let number = without_underscores(number)?;
    // The remaining grammar is that of `f64::from_str`, which also rounds correctly.
    number.parse().ok()
}

fn to_ascii(c: char) -> Option<char> {
    if c < '\x7f' {
        Some(c)
    } else if is_py_space(c) {
        Some(' ')
    } else {
        py_digit(c).map(|value| char::from(b'0' + value))
    }
}

/// Removes the underscores; each must be between two digits.
fn without_underscores(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('_') {
        return Some(Cow::Borrowed(text));
    }
    let bytes = text.as_bytes();
    let is_digit = |place: usize| bytes.get(place).is_some_and(u8::is_ascii_digit);
    let between_digits = |place: usize| place > 0 && is_digit(place - 1) && is_digit(place + 1);
    text.match_indices('_')
        .all(|(place, _)| between_digits(place))
        .then(|| Cow::Owned(text.replace('_', "")))
}

/// Python's `repr` of a float: the shortest text that parses to the same number, as `19.0`, `1e+16`, `1e-05`, `inf` or
/// `nan`.
pub(crate) fn py_repr_float(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.fract() == 0.0 && number.abs() < 1e15 && number.is_sign_positive() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, and from 0 to 1e15"
        )]
        let whole = number as u64;
        // Integers are formatted faster than floats.
        return format!("{whole}.0");
    }
    // Rust's `Debug` gives the same number of digits and switches to exponents at the same sizes, but writes them bare:
    // `1e16`, `1e-5`.
    let text = format!("{number:?}");
    let Some((digits, exponent)) = text.split_once('e') else {
        return match round_tie_to_even(number, &text) {
            Cow::Owned(text) => text,
            Cow::Borrowed(_) => text,
        };
    };
    let digits = round_tie_to_even(number, digits);
    match exponent.strip_prefix('-') {
        Some(exponent) => format!("{digits}e-{exponent:0>2}"),
        None => format!("{digits}e+{exponent:0>2}"),
    }
}

/// The shortest digits, with the last one chosen as in Python when two are equally near: Python writes
/// 562949953421312.25 with `.2`, Rust with `.3`.
fn round_tie_to_even(number: f64, digits: &str) -> Cow<'_, str> {
    let significant = digits.trim_start_matches(['-', '0', '.']);
    let count = significant.bytes().filter(u8::is_ascii_digit).count();
    // A tie needs one more digit, and every decimal of up to 15 digits is a distinct double without a shorter text.
    if count < 15 || digits.ends_with(".0") {
        return Cow::Borrowed(digits);
    }
    // Formatting with a given precision rounds to even. Only the last digit can differ: a carry would give a shorter
    // text.
    let rounded = format!("{number:.*e}", count - 1);
    let last = rounded
        .split('e')
        .next()
        .and_then(|text| text.chars().next_back());
    let (Some(last), Some((start, _))) = (last, digits.char_indices().next_back()) else {
        return Cow::Borrowed(digits);
    };
    if digits.ends_with(last) {
        return Cow::Borrowed(digits);
    }
    // Next to a power of two the other text may parse to the number below.
    if rounded.parse() == Ok(number) {
        Cow::Owned(format!("{}{last}", &digits[..start]))
    } else {
        Cow::Borrowed(digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sigma_and_newer_letters() {
        assert_eq!(py_lower("ΟΔΟΣ ΑΒ"), "οδος αβ");
        assert_eq!(py_lower("ΟΔΟΣΑΒ"), "οδοσαβ");
        assert_eq!(py_lower("ΑΣ.Β ΑΣ. Σ"), "ασ.β ας. σ");
        assert_eq!(py_lower("İ"), "i\u{307}");
        assert_eq!(py_lower("ΑΣ\u{1c89}AΣ\u{10d50}Σ"), "ας\u{1c89}aς\u{10d50}σ");
    }

    fn check(text: &str, expect: Option<&str>) {
        let got = py_float(text).map(py_repr_float);
        assert_eq!(got.as_deref(), expect, "{text:?}");
    }

    #[test]
    fn float_reads_what_python_reads() {
        check("19", Some("19.0"));
        check(" \t19\x0b\x0c\r\n", Some("19.0"));
        check("\u{85}\u{a0}19\u{3000}", Some("19.0"));
        check("+5", Some("5.0"));
        check(".5", Some("0.5"));
        check("1.", Some("1.0"));
        check("-0", Some("-0.0"));
        check("1e400", Some("inf"));
        check("-InFiNiTy", Some("-inf"));
        check("-nAn", Some("nan"));
        check("1e-400", Some("0.0"));
        check("1_000", Some("1000.0"));
        check("1e1_0", Some("10000000000.0"));
        check("１_０.٥", Some("10.5"));
        for fault in [
            "",
            " ",
            ".",
            "1e",
            "e1",
            "0x10",
            "1d0",
            "½",
            "²",
            "1\u{66b}5",
            "_1",
            "1_",
            "1__0",
            "1._5",
            "1_.5",
            "in_f",
            "\x1c1",
            "\x1c١",
            "1\u{200b}",
            "\u{feff}1",
            "1\0",
            "1\x7f",
            "١\x7f",
            "+ 1",
            "1 0",
            "--1",
            "infinit",
            "−1",
        ] {
            check(fault, None);
        }
    }

    #[test]
    fn repr_is_python_s() {
        check("562949953421312.25", Some("562949953421312.2"));
        check("562949953421312.75", Some("562949953421312.8"));
        check("-721372324207594.25", Some("-721372324207594.2"));
        for (number, expect) in [
            (0.0, "0.0"),
            (0.1, "0.1"),
            (0.0001, "0.0001"),
            (0.000_099_9, "9.99e-05"),
            (0.00001, "1e-05"),
            (9_999_999_999_999_998.0, "9999999999999998.0"),
            (1e16, "1e+16"),
            (2_f64.powi(-24), "5.960464477539063e-08"),
            (-1.5e22, "-1.5e+22"),
            (1e100, "1e+100"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::NEG_INFINITY, "-inf"),
            (-f64::NAN, "nan"),
        ] {
            assert_eq!(py_repr_float(number), expect);
        }
    }
}
