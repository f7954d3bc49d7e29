mod corpus;

use serde_json::json;

use super::*;
use crate::tests::fuzz::{fuzz, in_time, megabyte};

fn check(spec: &Value, raw: &str, expect: Option<&str>) {
    let extract = Extract::from_value(spec).unwrap_or_else(|error| panic!("{spec}: {error}"));
    assert_eq!(extract.apply(raw).as_deref(), expect, "{spec} {raw:?}");
    // Writing and reading gives the same.
    let again = Extract::from_value(&extract.to_value()).ok();
    assert_eq!(again, Some(extract), "{spec}");
}

fn refuse(spec: &Value, expect: &str) {
    let error = Extract::from_value(spec)
        .err()
        .map(|error| error.to_string());
    assert_eq!(error.as_deref(), Some(expect), "{spec}");
}

#[test]
fn final_answer_takes_the_last_marker_and_unwraps_it() {
    let check = |raw, expect| check(&json!("final_answer"), raw, Some(expect));
    check("thinking\nFINAL ANSWER: 17", "17");
    check("FINAL ANSWER: 1\nno, wait\nfinal answer: 2\nbye", "2");
    check("FINAL ANSWER: [17]", "17");
    check("FINAL ANSWER: **17**", "17");
    check("**FINAL ANSWER:** 17", "17");
    check("**FINAL ANSWER: 17**", "17");
    check("FINAL ANSWER: `[ a, b ]` ", "a, b");
    check("FINAL ANSWER: 17.", "17.");
    check("FINAL ANSWER: [1], [2]", "[1], [2]");
    check("FINAL ANSWER:\n\n  Zürich \nmore", "Zürich");
    check("FINAL ANSWER:", "");
    check("FINAL ANSWER: []", "");
    check("  no marker\nat all ", "no marker\nat all");
    check("日本 Final Answer: 東京", "東京");
}

#[test]
fn lines_and_markers() {
    check(
        &json!("none"),
        " FINAL ANSWER: 1 ",
        Some(" FINAL ANSWER: 1 "),
    );
    check(&json!("last_line"), "a\n b \r\n\n \t", Some("b"));
    check(&json!("last_line"), " \n", None);
    let after = json!({"after": "####"});
    check(&after, "2+2\n#### 4\n", Some("4"));
    check(&after, "#### 3\n####4 apples", Some("4 apples"));
    check(&after, "####\n 5", Some("5"));
    check(&after, "4", None);
    check(&after, "####", None);
    check(
        &json!({"type": "after", "after": "答案："}),
        "答案： 東京 ",
        Some("東京"),
    );
}

#[test]
fn regexes() {
    check(&json!({"regex": r"is (\d+)"}), "it is 3, is 4", Some("3"));
    check(
        &json!({"regex": r"(?s).*is (\d+)"}),
        "it is 3, is 4",
        Some("4"),
    );
    check(
        &json!({"regex": r"(\w) (\d)", "group": 2}),
        "a 1",
        Some("1"),
    );
    check(
        &json!({"regex": r"(\w) (\d)", "group": 0}),
        "a 1",
        Some("a 1"),
    );
    check(&json!({"regex": r"\d+"}), "none", None);
    check(&json!({"regex": r"(a)|b"}), "b", None);
    refuse(
        &json!({"regex": "(", "group": 1}),
        "extraction `regex`: `(` is not a regular expression: error: unclosed group",
    );
    refuse(
        &json!({"regex": "a", "group": 1}),
        "extraction `regex`: group 1 is not in `a`, which has 0\n\nhint: group 0 is the whole match",
    );
    let huge = Extract::regex("(?:(?:a{1000}){1000}){1000}");
    assert!(huge.is_err(), "a pattern that would take all memory");
}

#[test]
fn boxes() {
    let check = |raw, expect| check(&json!("boxed"), raw, expect);
    check(r"so \boxed{42}.", Some("42"));
    check(r"\boxed{1} and \boxed{ \frac{1}{2} }", Some(r"\frac{1}{2}"));
    check(r"\boxed {x^{2}}", Some("x^{2}"));
    check(r"\boxed{\boxed{7}}", Some("7"));
    check(r"\boxed{a\}b}", Some(r"a\}b"));
    check(r"\boxed{1} \boxed{2", None);
    check(r"{ \boxed{3} } }", Some("3"));
    check(r"\boxed 5", Some("5"));
    check("\\", None);
    check("\\é\\boxed{é}", Some("é"));
}

#[test]
fn numbers() {
    let check = |raw, expect| check(&json!("number"), raw, expect);
    check("It costs $1,234.50.", Some("1,234.50"));
    check("1, 2 and 3", None);
    check("It is 3.", Some("3"));
    check("1,2,3", Some("1,2,3"));
    check("x = -3", Some("-3"));
    check("5-3", None);
    check("It is 5 - 3 = 2.", Some("2"));
    check("(2)-3", Some("3"));
    check("about −4.5e-3 m", Some("−4.5e-3"));
    check("It is .5", Some(".5"));
    check("12,34", Some("12,34"));
    check("none", None);
}

#[test]
fn json_members() {
    let answer = json!({"json_pointer": "/answer"});
    check(&answer, r#" {"answer": "42"} "#, Some("42"));
    check(
        &answer,
        "Sure:\n```json\n{\"answer\": 42}\n```\nbye",
        Some("42"),
    );
    check(
        &answer,
        "```\n{\"answer\": 1}\n```\n```\n{\"answer\": [2, \"a\"]}\n```",
        Some("[2,\"a\"]"),
    );
    check(&answer, r#"I say {"answer": true} and leave"#, Some("true"));
    check(&answer, r#"{"answer": null}"#, None);
    check(&answer, r#"{"other": 1}"#, None);
    check(&answer, "42", None);
    check(
        &json!({"json_pointer": "/a/1"}),
        r#"{"a": [1, 2]}"#,
        Some("2"),
    );
    refuse(
        &json!({"json_pointer": "answer"}),
        "extraction `json_pointer`: `answer` is not a JSON pointer\n\nhint: write `/answer`",
    );
}

#[test]
fn choices() {
    let check_all = |raw, expect| check(&json!("choice"), raw, expect);
    check_all("B", Some("B"));
    check_all("(B)", Some("B"));
    check_all(" b.\n", Some("b"));
    check_all("so b", None);
    check_all("**B.**", Some("B"));
    check_all("The answer is B, because I think A is wrong.", Some("B"));
    check_all("Answer: (C)", Some("C"));
    check_all("answer is **D**", Some("D"));
    check_all("A cat and I think\nC\n", Some("C"));
    check_all("I'm sure of (A), not of B", Some("A"));
    check_all("It must be D", Some("D"));
    check_all("The answer is a cat", None);
    check_all("The answer is A cat", None);
    check_all(r"\boxed{E}", Some("E"));
    check_all(r"The answer is $\boxed{\text{E}}$", Some("E"));
    check_all("The answer is b.", Some("b"));
    check_all("A or B?\nFINAL ANSWER: **(c)** \r\nbye", Some("c"));
    check_all("answer: b\nAnswer: C", None);
    check_all("answer: b\nWait, no.\nAnswer: C", Some("C"));
    check_all("option b is wrong", None);
    check_all("no letter", None);
    check_all("USA", None);
    let four = json!({"type": "choice", "letters": "ABCD"});
    check(&four, "Plan E: B", Some("B"));
    check(&four, "E", None);
    check(&four, "e", None);
    check(&four, "Answer: e", None);
    check(&four, "Answer: d", Some("d"));
    refuse(
        &json!({"type": "choice", "letters": "abc"}),
        "extraction `choice`: `letters: \"abc\"` are not letters from A to Z\n\nhint: write `letters: ABCD`",
    );
}

#[test]
fn thoughts_go_first() {
    let strip = json!({"type": "none", "strip_think": true});
    check(&strip, "<think>a</think>\n4", Some("4"));
    check(
        &json!("none"),
        "<think>a</think>4",
        Some("<think>a</think>4"),
    );
    check(&json!("number"), "4 <think>5", Some("4"));
    check(
        &json!("final_answer"),
        "<think>FINAL ANSWER: 5</think>4",
        Some("4"),
    );
}

/// Every extraction, as written in specs.
fn ways() -> Vec<Extract> {
    let ways = json!([
        "none", "final_answer", {"type": "final_answer", "first": true}, "last_line", {"after": "####"},
        {"after": "a"}, {"regex": r"(?s).*is (\w+)"}, {"regex": r"(a*)*b"}, "boxed", "number",
        {"json_pointer": "/a/0"}, "choice", {"type": "choice", "letters": "ABC"},
        {"type": "none", "strip_think": true}, {"type": "number", "strip_think": true},
        "gsm8k", "aime",
    ]);
    let ways = ways.as_array().unwrap().iter();
    ways.map(|way| Extract::from_value(way).unwrap()).collect()
}

/// Random answers made of fragments that the extractions search for. The extracted text is part of the answer, and
/// extracting twice gives the same. `EVALTEST_FUZZ_CASES=1000000` runs a million.
#[test]
fn any_answer_has_a_prediction_or_none() {
    const PIECES: &[&str] = &[
        "FINAL ANSWER:",
        "final answer：",
        "答案：",
        "Answer:",
        "\\boxed{",
        "{",
        "}",
        "[",
        "]",
        "```",
        "json",
        "\n",
        "\r\n",
        " ",
        "\t",
        "\\",
        "<think>",
        "</think>",
        "####",
        "A",
        "B",
        "(C)",
        "I",
        "answer is",
        "1",
        "23",
        ",456",
        ".5",
        "e9",
        "-",
        "−",
        "\"a\":",
        "\"",
        "0",
        "null",
        "é",
        "東京",
        "ſ",
        "ı",
        "\u{85}",
        "\u{1c}",
        "*",
        "`",
        "$",
        "#",
        "is x",
        "\0",
        "\u{feff}",
        "🦀",
    ];
    let ways = ways();
    fuzz(|dice| {
        let raw = dice.text(PIECES, 11);
        for way in &ways {
            if let Some(found) = way.apply(&raw) {
                let is_part = way.cleaned(&raw).contains(&*found);
                let is_made = matches!(way.way, Way::JsonPointer(_));
                assert!(is_part || is_made, "{way} {raw:?} {found:?}");
            }
        }
    });
}

/// Answers for which a naive reader scans everything again for each byte.
#[test]
fn a_megabyte_of_anything_is_read_at_once() {
    let all_ways = ways();
    for piece in [
        "FINAL ANSWER:",
        "FINAL ANSWER: ",
        "\\boxed{",
        "}",
        "{",
        "[",
        "```",
        "```\n{",
        "1",
        "1,",
        "1,111",
        "-",
        "<think>",
        "</think>",
        "<think></think>",
        "\n",
        " ",
        "answer ",
        "answer is (",
        "(A",
        "A ",
        "#",
        "####\n",
        "#### 1,",
        "#### 1\n",
        "A: ",
        "A:\n",
        "<<",
        "answer is ",
        "a",
        "ab",
        "{\"a\":",
        "\"",
        "\\",
        "答案：",
        "*",
        "`",
        "[`",
        "Answer: ",
        "is ",
        "\u{85}",
    ] {
        let raw = megabyte(piece);
        for way in &all_ways {
            in_time(format_args!("{way} {piece:?}"), || drop(way.apply(&raw)));
        }
    }
}

#[test]
fn what_is_illegal_is_answered_with_what_is_legal() {
    refuse(
        &json!("last_lines"),
        "unknown extraction `last_lines`, expected one of `after`, `aime`, `boxed`, `choice`, \
         `final_answer`, `gsm8k`, `json_pointer`, `last_line`, `none`, `number`, `regex`\n\nhint: did you mean `last_line`?",
    );
    refuse(
        &json!({"type": "number", "first": true}),
        "extraction `number`: unknown option `first`, expected one of `strip_think`",
    );
    refuse(
        &json!({"type": "after"}),
        "extraction `after`: `after` is missing\n\nhint: write `extract: { after: \"…\" }`",
    );
    refuse(
        &json!({"type": "final_answer", "first": 1}),
        "extraction `final_answer`: `first: 1` is not true or false",
    );
    refuse(
        &json!({"final_answer": {"first": true}}),
        "extraction `final_answer`: unknown option `final_answer`, expected one of `first`, `strip_think`\n\n\
         hint: write `{ type: final_answer, first: … }`",
    );
    refuse(
        &json!({"type": "final_answer", "frist": true}),
        "extraction `final_answer`: unknown option `frist`, expected one of `first`, `strip_think`\n\n\
         hint: did you mean `first`?",
    );
    refuse(
        &json!({"after": null}),
        "extraction `after`: `after` is empty\n\nhint: quote it, `#` begins a comment: `{ after: \"#\" }`",
    );
    for nothing in [json!({"foo": 1}), json!(3), json!({"strip_think": true})] {
        refuse(
            &nothing,
            &format!(
                "`{nothing}` is not an extraction, expected one of `after`, `aime`, `boxed`, `choice`, \
                 `final_answer`, `gsm8k`, `json_pointer`, `last_line`, `none`, `number`, `regex`\n\n\
                 hint: write a name such as `final_answer`, or a map such as `{{ after: \"####\" }}`"
            ),
        );
    }
}

/// The reader without repair of backslashes.
fn strict(raw: &str) -> Option<Value> {
    let whole = serde_json::from_str(raw.trim()).ok();
    whole.or_else(|| {
        let parts: Vec<&str> = raw.split("```").collect();
        let mut blocks = parts.iter().skip(1).step_by(2).rev();
        let fenced = blocks.find_map(|block| {
            let block = block
                .split_once('\n')
                .map_or(*block, |(_, content)| content);
            serde_json::from_str::<Value>(block.trim()).ok()
        });
        fenced.or_else(|| {
            let mut found = Vec::new();
            let mut rest = raw;
            while let Some(start) = rest.find(['{', '[']) {
                let mut values =
                    serde_json::Deserializer::from_str(&rest[start..]).into_iter::<Value>();
                let value = values.next()?;
                let is_object = rest[start + 1..].trim_start().starts_with('"');
                if is_object
                    && value.as_ref().is_err_and(serde_json::Error::is_eof)
                    && rest[start..].starts_with('{')
                {
                    return None;
                }
                let length = if value.is_ok() {
                    values.byte_offset()
                } else {
                    1
                };
                found.extend(value);
                rest = &rest[start + length..];
            }
            match found.iter().rposition(Value::is_object) {
                Some(object) => Some(found.swap_remove(object)),
                None if found.len() == 1 => found.pop(),
                None => None,
            }
        })
    })
}

#[test]
fn json_without_wrong_backslashes_is_read_as_ever() {
    const PIECES: &[&str] = &[
        "{\"a\": ",
        "}",
        "[",
        "]",
        "1",
        "1.0",
        "-",
        "\"x\"",
        ",",
        ":",
        "```json\n",
        "```",
        "\n",
        " ",
        "null",
        "{\"a\":\"\\n\\\\frac\"}",
        "NaN",
        "{\"a\":1,\"a\":2}",
        "\"",
        "\u{1}",
        "é",
        "text ",
        "1e999",
        "01",
    ];
    let mut found = 0;
    fuzz(|dice| {
        let raw = dice.text(PIECES, 9);
        let expect = strict(&raw);
        found += usize::from(expect.is_some());
        assert_eq!(find_json(&raw), expect, "{raw:?}");
    });
    assert!(found > 100, "{found}");
}

#[test]
fn tex_in_json() {
    let check =
        |raw: &str, expect: Option<&str>| check(&json!({"json_pointer": "/problem"}), raw, expect);
    let text = r#"{"problem": "Is $\frac{a}{b} \neq 1$?", "answer": 7}"#;
    let expect = Some(r"Is $\frac{a}{b} \neq 1$?");
    check(text, expect);
    check(&format!("Here:\n```json\n{text}\n```\n"), expect);
    check(&format!("Here: {text} Good luck \\o/"), expect);
    check(&text.replace('\\', r"\\"), expect);
    check(r#"{"problem": "\"#, None);
}
