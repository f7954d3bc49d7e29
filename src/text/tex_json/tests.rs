use serde_json::{Value, json};

use super::*;
use crate::tests::fuzz::{Dice, fuzz, in_time, megabyte};
use crate::tests::{needs, parity};

#[track_caller]
fn check(text: &str, expect: &Value, repaired: u32) {
    let read = read(text).unwrap_or_else(|| panic!("{text}"));
    assert_eq!((&read.value, read.repaired), (expect, repaired), "{text}");
}

/// Checks a reply with a single string, given as between its quotes.
#[track_caller]
fn check_text(raw: &str, expect: &str, repaired: u32) {
    check(
        &format!("{{\"problem\": \"{raw}\"}}"),
        &json!({"problem": expect}),
        repaired,
    );
}

#[test]
fn what_is_no_escape_is_a_backslash() {
    check_text(r"Find $\frac{a}{b}$", r"Find $\frac{a}{b}$", 1);
    check_text(r"\(x^2\) \{1, 2\} 50\%", r"\(x^2\) \{1, 2\} 50\%", 5);
    check_text(
        r"\underline{x} \u12g4 \u123",
        r"\underline{x} \u12g4 \u123",
        3,
    );
    check_text(
        r"$\beta + \binom{n}{k}$, \fbox{y}",
        r"$\beta + \binom{n}{k}$, \fbox{y}",
        3,
    );
    check_text(r"\é \中 \ ", r"\é \中 \ ", 3);
    check_text(r"\b \f1 \/ \\ \u00e9", "\u{8} \u{c}1 / \\ é", 0);
    check_text(r#"the \"nice\" set"#, "the \"nice\" set", 0);
    check(
        r#"{"\alpha": ["\sum", {"\beta": 1}]}"#,
        &json!({r"\alpha": [r"\sum", {r"\beta": 1}]}),
        3,
    );
}

#[test]
fn escapes_are_commands_only_with_evidence() {
    // No evidence for a command.
    check_text(r"Il est\ne pas", "Il est\ne pas", 0);
    check_text(r"uno\ne due\to tre", "uno\ne due\to tre", 0);
    check_text(r"a\tb\n\nc", "a\tb\n\nc", 0);
    // In a formula there is.
    check_text(r"$a \neq b$", r"$a \neq b$", 1);
    check_text(r"$$\tan x \rightarrow 0$$", r"$$\tan x \rightarrow 0$$", 2);
    check_text(r"for $n\to\infty$", r"for $n\to\infty$", 2);
    check_text(
        r"$\text{a}$ and \textbf{b}",
        r"$\text{a}$ and \textbf{b}",
        2,
    );
    check_text(r"$ x \ne y $", r"$ x \ne y $", 1);
    check_text(r"$x$ and $\nu$th", r"$x$ and $\nu$th", 1);
    check_text(r"\\$5 and $\nu$", r"\$5 and $\nu$", 1);
    check_text(
        r"$$ \\text{if $x \ne 1$} $$",
        r"$$ \text{if $x \ne 1$} $$",
        1,
    );
    check_text(r"\\(a \ne b\\)", r"\(a \ne b\)", 1);
    check_text(r"\\[ \text{a $b$} \\]", r"\[ \text{a $b$} \]", 1);
    // Another literal backslash is evidence too, even elsewhere in the reply.
    check_text(r"\tan x, \sin x", r"\tan x, \sin x", 2);
    check(
        r#"{"a": "\times", "b": ["\sqrt 2"]}"#,
        &json!({"a": r"\times", "b": [r"\sqrt 2"]}),
        2,
    );
    check_text(r"$3 \times 4$ and \tan x", r"$3 \times 4$ and \tan x", 2);
    // The whole run of letters must be a command.
    check_text(r"\sqrt 2\nnot so\nor so", "\\sqrt 2\nnot so\nor so", 1);
}

#[test]
fn amounts_and_lines_are_no_evidence() {
    let untouched = |raw: &str| {
        check_text(
            raw,
            &raw.replace(r"\n", "\n")
                .replace(r"\t", "\t")
                .replace(r"\\", r"\"),
            0,
        );
    };
    untouched(r"It costs $5 or\nless than $7.");
    untouched(r"pay $5\nu and $6");
    untouched(r"a $ sign\nless");
    untouched(r"$5.\n\nu is $x");
    untouched(r"\\$a\nu\\$");
    untouched(r"$a$\nu $b$");
    // A line that starts with a variable, in a display formula.
    untouched(r"$$\ne^x + 1\n$$");
    untouched(r"$$\\begin{aligned}\nu &= 1 \\\\\nu &= 2\\end{aligned}$$");
    untouched(r"\\[\ne^x\\] \\(a\\)\nu \\(b\\)");
    untouched(r"$$x = 1,\n\ni = 2$$");
}

#[test]
fn surrogates() {
    check_text(r"\ud83d\ude00", "😀", 0);
    check_text(r"\ud83d!", "\u{fffd}!", 0);
    check_text(r"\ude00\ud83d\ud83d\ude00", "\u{fffd}\u{fffd}😀", 0);
    check_text(r"\ud83d\n\to", "\u{fffd}\n\to", 0);
}

#[test]
fn what_is_no_json_stays_none() {
    for text in [
        "",
        " ",
        "{",
        "}",
        "{\"a\": \"\\\"}",
        "{\"a\": \"line\nbreak\"}",
        "{\"a\": 1,}",
        "{'a': 1}",
        "{\"a\": NaN}",
        "{} {}",
        "\"\\",
        "\"\\u",
        "[1, 2",
        "{\"a\": 01}",
        "\u{feff}{}",
        "nul",
        "\\",
        "{\\}",
        "\"a\" \\",
    ] {
        assert_eq!(read(text), None, "{text:?}");
    }
}

#[test]
fn duplicate_keys_are_reported() {
    let check = |text: &str, expect: &[(&str, Value)]| {
        let found = read(text).expect(text).overwritten;
        let expect = expect
            .iter()
            .map(|(name, old)| ((*name).to_owned(), old.clone()));
        assert_eq!(found, expect.collect::<Vec<_>>(), "{text}");
    };
    check(r#"{"a": 1, "b": 2, "a": 3}"#, &[("a", json!(1))]);
    check(
        r#"{"a": 1, "\u0061": "x", "a": null}"#,
        &[("a", json!(1)), ("a", json!("x"))],
    );
    check(r#"{"a": [1], "a": [1]}"#, &[]);
    check(r#" {"a": {"b": 1, "b": 2}}"#, &[]);
    check(r#"[{"a": 1, "a": 2}]"#, &[]);
}

#[needs(data = "judging/latex_json_cases.jsonl")]
#[test]
fn every_case_of_the_shared_data() {
    let text = parity::text("judging/latex_json_cases.jsonl");
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        let read = read(case["reply"].as_str().expect("a reply")).expect("JSON");
        assert_eq!(read.value["problem"], case["problem"], "{}", case["name"]);
    }
    assert_eq!(text.lines().count(), 18);
}

/// Handmade texts, with TeX as in problems and solutions.
const TEXTS: &str = include_str!("tests/texts.txt");

fn texts() -> Vec<String> {
    let texts: Vec<_> = TEXTS
        .split("\n---\n")
        .map(|text| text.trim_end_matches('\n').to_owned())
        .collect();
    assert!(texts.len() >= 60, "{}", texts.len());
    texts
}

/// The text as a JSON string in which a backslash before a letter or a delimiter is escaped only if `keeps` returns
/// true.
fn under_escaped(text: &str, mut keeps: impl FnMut() -> bool) -> String {
    let whole = json!({"problem": text, "answer": 7}).to_string();
    let mut reply = String::new();
    let mut rest = whole.as_str();
    while let Some(place) = rest.find('\\') {
        reply.push_str(&rest[..place]);
        let tail = &rest[place..];
        // TeX's `\\`, which breaks a row, and similar ones: models escape these either correctly or not at all.
        let count = tail.bytes().take_while(|&byte| byte == b'\\').count();
        let (taken, is_command) = match count {
            1 => (2, false),
            2 => (
                2,
                tail.as_bytes().get(2).is_some_and(u8::is_ascii_alphabetic),
            ),
            _ => (count, false),
        };
        reply.push_str(if is_command && !keeps() {
            "\\"
        } else {
            &tail[..taken]
        });
        rest = &tail[taken..];
    }
    reply + rest
}

#[test]
fn under_escaped_texts_are_read_as_they_are_meant() {
    let mut dice = Dice::new(7);
    let (mut all, mut exact, mut wrong) = (0, 0, Vec::new());
    for text in texts() {
        let reply = json!({"problem": text, "answer": 7}).to_string();
        check(&reply, &json!({"problem": text, "answer": 7}), 0);
        for round in 0..21 {
            // Escape none, or half of them.
            let reply = under_escaped(&text, || round > 0 && dice.below(2) == 0);
            let read = read(&reply).unwrap_or_else(|| panic!("{reply}"));
            all += 1;
            if read.value["problem"] == text {
                exact += 1;
            } else {
                wrong.push(reply);
            }
        }
    }
    assert!(exact * 1000 >= all * 985, "{exact} of {all}: {wrong:#?}");
}

#[test]
fn what_is_escaped_rightly_is_never_changed() {
    let texts = texts();
    fuzz(|dice| {
        let value = any_value(dice, &texts, 4);
        for reply in [
            value.to_string(),
            serde_json::to_string_pretty(&value).expect("JSON"),
        ] {
            let read = read(&reply).expect("JSON");
            assert_eq!((&read.value, read.repaired), (&value, 0), "{reply}");
        }
    });
}

fn any_value(dice: &mut Dice, texts: &[String], depth: usize) -> Value {
    match dice.below(if depth == 0 { 5 } else { 8 }) {
        0 => json!(null),
        1 => json!(dice.below(1000)),
        2 => json!(0.25 + f64::from(u32::try_from(dice.below(9)).expect("small"))),
        3 => json!(any_text(dice)),
        4 => json!(texts[dice.below(texts.len())]),
        5 => (0..dice.below(4))
            .map(|_| any_value(dice, texts, depth - 1))
            .collect(),
        _ => {
            let members =
                (0..dice.below(4)).map(|_| (any_text(dice), any_value(dice, texts, depth - 1)));
            Value::Object(members.collect())
        }
    }
}

/// Any text without a backspace or form feed before a letter, and without a command in a formula that starts with a
/// line break.
fn any_text(dice: &mut Dice) -> String {
    const PIECES: &[&str] = &[
        "\\",
        "\\\\",
        "\"",
        "\n",
        "\t",
        "\r\n",
        "\\neq",
        "\\nu",
        "\\frac{1}{2}",
        "\\u00e9",
        "\\ud83d",
        "é",
        "😀",
        "{",
        "}",
        "[",
        "a",
        "5",
        " ",
        " and ",
        "not so",
        "\n\n",
        "\u{8} ",
        "\u{c} ",
        "/",
        "\\begin{cases}",
        "```",
        "\u{0}",
        "\\times",
        "line",
    ];
    dice.text(PIECES, 8)
}

#[test]
fn hostile_replies_take_linear_time() {
    for piece in [
        "\\",
        "\\\"",
        "\"",
        "{",
        "[",
        "{\"a\":",
        "\\n",
        "\"\\n\"",
        "\\nu",
        "\\nu$",
        "$",
        "$$",
        "$\\nu",
        "\"$\\ne\",",
        "\\ud83d",
        "\\u",
        "\\nnnnnnnn",
        "}",
        "$a$$",
        "\\\\",
        "\\\\$",
        "{}",
        "{\"\\",
        "\\begin{",
    ] {
        for start in ["", "\"", "{\"a\": \""] {
            for end in ["", "\"", "\"}"] {
                let text = format!("{start}{}{end}", megabyte(piece));
                in_time(format_args!("{start}{piece}{end}"), || {
                    drop(read(&text));
                    let _ = Extents::of(&text).end(0);
                });
            }
        }
    }
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    assert_eq!(read(&deep), None);
}

#[test]
fn extents() {
    let check = |text: &str, expect: Result<usize, usize>| {
        assert_eq!(Extents::of(text).end(0), expect, "{text}");
    };
    check("{} x", Ok(2));
    check(r#"{"a": "\frac{"} {"#, Ok(14 + 1));
    check(r#"{"a": "\"}"} {"#, Ok(12));
    check(r#"{"a": [1, {"b": "\\"}]}}"#, Ok(23));
    check(r#"{"a": see"#, Err(6));
    check(r#"{"a": "#, Err(6));
    check("{\"a\": \"\\\n\"}", Err(8));
}
