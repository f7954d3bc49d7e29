//! `gsm8k`: the number at the end of a worked solution, and how it is parsed.

use std::sync::LazyLock;

use regex::Regex;

use super::number;
use crate::data::FoundBy;

const MARKER: &str = "####";
/// The marker of the published model solutions, at the start of a line.
const SHORT_MARKER: &str = "A:";

/// The number at the start of a text, after calculator annotations, emphasis and a currency sign.
static LEADING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^(?:<<[^<>\n]*>>|\\boxed\{|[\s*_`$£€¥(\[\\])*",
        r"([+\-−]?)[$£€¥\\]*([0-9](?:[0-9,]|\{,\}|\\[,!])*)?(?:\.([0-9]*))?",
    ))
    .expect("a constant pattern")
});

/// What makes a number part of something else: `1/5`, `10:30`, `1.2.3`, `1e5`.
static GOES_ON: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:[/:.][0-9]|[eE][+-]?[0-9])").expect("a constant pattern"));

/// The rest of the last line with a number after `####`; else after an `A:` at the start of a line; else the text after
/// the last of these markers, whatever it is. Without a marker, an answer that is nothing but a number.
pub(super) fn answer(raw: &str) -> Option<(&str, FoundBy)> {
    let mut marked = None;
    let mut short = None;
    let mut any = None;
    for line in raw.lines() {
        let line = line.trim_end();
        let closed = line.trim_end_matches('#');
        let (best, rest) = if let Some(place) = closed.rfind(MARKER) {
            (&mut marked, &closed[place + MARKER.len()..])
        } else if let Some(rest) = closed
            .trim_start_matches([' ', '\t', '*', '_', '>'])
            .strip_prefix(SHORT_MARKER)
        {
            (&mut short, rest)
        } else {
            continue;
        };
        let rest = rest.trim();
        any = Some(rest);
        if leading_number(rest).is_some() {
            *best = any;
        }
    }
    if let Some(found) = marked.or(short).or(any) {
        return Some((found, FoundBy::Marker));
    }
    // A sentence without a marker has no answer, as in the program published with the questions.
    let only = number::only(raw).filter(|_| !raw.contains(char::is_alphabetic))?;
    Some((only, FoundBy::WholeAnswer))
}

/// The number at the start of a text, in its shortest decimal form: `1234.5` for `$1,234.50 a day`. Commas are ignored,
/// as in the program published with the questions, also in the braces of LaTeX.
pub(crate) fn leading_number(text: &str) -> Option<String> {
    let found = LEADING.captures(text)?;
    let part = |group: usize| found.get(group).map_or("", |part| part.as_str());
    let (sign, whole, fraction) = (part(1), part(2), part(3));
    if whole.is_empty() && fraction.is_empty() || GOES_ON.is_match(&text[found[0].len()..]) {
        return None;
    }
    let mut number = if sign.is_empty() || sign == "+" {
        String::new()
    } else {
        "-".to_owned()
    };
    let digits = whole.trim_start_matches(|c: char| c == '0' || !c.is_ascii_digit());
    let fraction = fraction.trim_end_matches('0');
    if digits.is_empty() {
        if fraction.is_empty() {
            return Some("0".to_owned());
        }
        number.push('0');
    }
    number.extend(digits.chars().filter(char::is_ascii_digit));
    if !fraction.is_empty() {
        number.push('.');
        number.push_str(fraction);
    }
    Some(number)
}

/// A solution without the calculator annotations of the dataset: `3*4=<<3*4=12>>12` is `3*4=12`.
pub(crate) fn without_annotations(solution: &str) -> String {
    static ANNOTATION: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"<<[^<>\n]*>>").expect("a constant pattern"));
    ANNOTATION.replace_all(solution, "").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marked_line_is_taken() {
        let check = |raw: &str, expect: Option<&str>| {
            assert_eq!(answer(raw).map(|found| found.0), expect, "{raw:?}");
        };
        check("2*9=<<2*9=18>>18\n#### 18", Some("18"));
        check("so 18.\nA: 18", Some("18"));
        check("#### 1\n#### 2 ####\n", Some("2"));
        check("A: 1\n#### 2\nA: 3", Some("2"));
        check("A: 1\n**A:** $2", Some("** $2"));
        check("#### Step 1\nthree\n#### 4\n#### Done", Some("4"));
        check("#### Answer\n5 of 6", Some("Answer"));
        check("Part A: 5\nof 6", None);
        check("A: 1/5", Some("1/5"));
        check("She has 18 dollars.", None);
        check("$18.", Some("18"));
        check("-1,800", Some("-1,800"));
        check("16 - 3 = 13", None);
        check("I do not know", None);
        check("", None);
        check("####", None);
    }

    #[test]
    fn numbers_are_read_from_the_start() {
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(leading_number(text).as_deref(), expect, "{text:?}");
        };
        check("18", Some("18"));
        check("018.50 dollars", Some("18.5"));
        check("18.", Some("18"));
        check("18.00%", Some("18"));
        check("1,234,567", Some("1234567"));
        check("5, 6", Some("5"));
        check("** $1,234.50 a day", Some("1234.5"));
        check("-$5", Some("-5"));
        check("\\$−5", Some("-5"));
        check("+.50", Some("0.5"));
        check("-0.0", Some("0"));
        check("\\boxed{7}", Some("7"));
        check("<<3*4=12>>12", Some("12"));
        check("0,012", Some("12"));
        check("-1.8 billion", Some("-1.8"));
        for none in [
            "", ".", "-", ",", "about 5", "1/5", "10:30", "1.2.3", "1e5", "x = 5", "١", "<<5",
            "five",
        ] {
            check(none, None);
        }
    }

    #[test]
    fn annotations_go() {
        let text = "She has 3*4=<<3*4=12>>12 eggs and <<2+2=4>>4, a << b";
        assert_eq!(
            without_annotations(text),
            "She has 3*4=12 eggs and 4, a << b"
        );
    }
}
