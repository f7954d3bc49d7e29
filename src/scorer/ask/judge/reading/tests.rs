use serde_json::{Value, json};

use super::*;
use crate::tests::fuzz::{fuzz, in_time, megabyte};
use crate::tests::{needs, parity};
use crate::text::{MatchScope, compile};

/// Handmade replies, and how they are read.
const READINGS: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/fixtures/judge/readings.jsonl"
));

fn read(case: &Value) -> Reading {
    let reply = case["reply"].as_str().expect("a reply");
    let texts = |value: &Value| -> Vec<String> {
        let texts = value.as_array().into_iter().flatten();
        texts
            .map(|text| text.as_str().expect("a text").to_owned())
            .collect()
    };
    if let Some(scale) = case.get("scale") {
        let scale = [0, 1].map(|end| scale[end].as_i64().expect("a number"));
        let names = texts(&case["dimensions"]);
        let dimensions: Vec<_> = names.iter().map(|name| (&**name, scale)).collect();
        return rubric(reply, &dimensions);
    }
    if let Some(given) = case["patterns"].as_array() {
        let given = given.iter().map(texts).map(|pair| {
            let pattern = compile(&pair[1], MatchScope::Part, false).expect("a pattern");
            (pair[0].clone(), pattern)
        });
        return patterns(
            reply,
            &given.collect::<Vec<_>>(),
            case["first_match"] == true,
        );
    }
    if case["rating"] == true {
        return rating(reply);
    }
    let offered = texts(&case["choices"]);
    let offered: Vec<_> = offered.iter().map(String::as_str).collect();
    choices(reply, &offered)
}

#[test]
fn replies_parse_as_written() {
    let mut wrong = Vec::new();
    for line in READINGS.lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        let reading = read(&case);
        let got = match reading.status {
            ReadStatus::Unreadable(reason) => json!(reason.as_str()),
            ReadStatus::Read => reading.values.map_or_else(
                || json!({"verdict": reading.verdict}),
                |values| json!({"values": values}),
            ),
        };
        if got != case["expect"] {
            wrong.push(format!("{got}: {line}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(READINGS.lines().count() >= 200);
}

#[test]
fn words_of_reasons() {
    use Unread::{Conflicting, InvalidResponseFormat, NoResponse, Refusal, Truncated};
    for reason in [
        InvalidResponseFormat,
        Conflicting,
        Refusal,
        Truncated,
        NoResponse,
    ] {
        assert_eq!(json!(reason), reason.as_str());
    }
}

#[test]
fn comments_are_the_texts_around_the_verdict() {
    let reading = rubric(
        r#"{"why": "$\frac12 \neq 1$", "comments": "fine", "a": 4, "b": 5.0, "more": ["x"]}"#,
        &[("a", [1, 5]), ("b", [1, 9])],
    );
    assert_eq!(reading.values, json!({"a": 4, "b": 5}).as_object().cloned());
    let expect = json!({"why": r"$\frac12 \neq 1$", "comments": "fine"});
    assert_eq!(Value::Object(reading.comments.clone()), expect);
    assert_eq!(reading.repaired, 2);
    let reading = choices(r#"{"reason": "as \it is", "verdict": "C"}"#, &["C", "I"]);
    assert_eq!(
        Value::Object(reading.comments.clone()),
        json!({"reason": r"as \it is"})
    );
    assert_eq!((reading.repaired, reading.reason()), (1, None));
    assert_eq!(reading.verdict, Some(json!("C")));
}

/// Parts of two verdicts never make one, and only offered verdicts are read.
#[test]
fn any_reply_is_read_without_a_guess() {
    const PIECES: &[&str] = &[
        "GRADE",
        ": ",
        "C",
        "I",
        "\n",
        "{\"verdict\": \"C\"}",
        "{\"verdict\": \"I\"}",
        "{\"verdict\": ",
        "}",
        "\"",
        "```",
        "<think>",
        "</think>",
        "[[",
        "]]",
        "**",
        "\u{200b}",
        " or ",
        "\\",
        "：",
        ">",
        "not ",
        "{",
        "[",
        "<thinking>",
        "</thinking>",
        "GRADE: Z",
        "assistantfinal",
        "? No: ",
    ];
    fuzz(|dice| {
        let reply = dice.wild(PIECES) + &dice.text(PIECES, 4);
        let reading = choices(&reply, &["C", "I"]);
        let verdict = reading.verdict.as_ref().and_then(Value::as_str);
        assert_eq!(verdict.is_some(), reading.reason().is_none());
        let folded = reply.to_lowercase();
        if let Some(verdict) = verdict {
            assert!(folded.contains(&verdict.to_lowercase()), "{reply:?}");
        }
        // Followed by the other verdict in the plainest form, there are two.
        for (own, other) in [("C", "I"), ("I", "C")] {
            let is_thought = ["<think", "assistantfinal"]
                .iter()
                .any(|mark| reply.contains(mark));
            if verdict == Some(own) && !is_thought {
                let both = format!("{reply}\nGRADE: {other}");
                let read = choices(&both, &["C", "I"]).verdict;
                assert_ne!(read, Some(json!(own)), "{both:?}");
                // So are there if it was not offered.
                let both = format!("{reply}\nGRADE: C\nGRADE: Z");
                assert_eq!(choices(&both, &["C", "I"]).verdict, None, "{both:?}");
            }
        }
    });
}

#[test]
fn hostile_replies_take_linear_time() {
    for piece in [
        "{",
        "[",
        "{\"a\":",
        "{\"a\":1},",
        "{\"a\":[",
        "[{",
        "{ \"",
        "{}",
        "\"",
        "\\",
        "{\"a\" b ",
        "<think>",
        "</think>",
        "GRADE: ",
        "GRADE: C ",
        "C\n",
        "[[C",
        "[[C]]",
        "[[",
        "C or ",
        "> ",
        " ",
        "\n",
        "\u{200b}",
        "GRADE:\n",
        "correct ",
        "{\"verdict\":\"C\"}",
        "```",
        "[8",
        "[[8]",
        "{\"correctness\":4}",
        "{          ",
        "*",
        "\"GRADE: correct ",
        "[[*",
        "x GRADE: correct\n",
        "conclusion: ",
        "so GRADE: correct. ",
        "wrong GRADE: correct\n",
        "GRADE: Z ",
        "GRADE: Z\n",
        "GRADE: C? No: ",
        "wait, ",
        "## Grade\n",
        "{\"verdict\": \"",
        "{'a': ",
        "[[Z]]",
        "<thinking>",
        "\n<thinking>",
        "<think></think>",
        "[THINK]",
        "assistantfinal",
        "<|channel|>final",
        "{\"grade\":\"Z\"}",
    ] {
        for start in [
            "",
            "<think>",
            "analysis",
            "{\"verdict\": \"",
            "GRADE: C",
            "GRADE: ",
        ] {
            let reply = format!("{start}{}", megabyte(piece));
            in_time(format_args!("{start}{piece}"), || {
                drop(choices(&reply, &["C", "I", "correct", "wrong"]));
                drop(rubric(&reply, &[("correctness", [1, 5]), ("a", [1, 5])]));
                drop(rating(&reply));
                drop(helloagents_judge(&reply));
                drop(helloagents_winner(&reply));
            });
        }
    }
}

#[needs(data = "vectors/hello.jsonl")]
#[test]
fn hello_vectors() {
    let (mut judged, mut compared) = (0, 0);
    for line in parity::text("vectors/hello.jsonl").lines() {
        // Python writes `NaN`, which is null in the reading.
        let line = line.replace(": NaN", ": null");
        let case: Value = serde_json::from_str(&line).expect("a case");
        if let Some(reply) = case["judge_response"].as_str() {
            let mut expect = case["scores"].clone();
            expect["total"] = case["total_score"].clone();
            let values = helloagents_judge(reply).values.map(Value::Object);
            assert_eq!(values, Some(expect), "{line}");
            judged += 1;
        } else if let Some(reply) = case["winrate_response"].as_str() {
            let reading = helloagents_winner(reply);
            assert_eq!(reading.verdict.as_ref(), Some(&case["winner"]), "{line}");
            if let Some(reason) = reading.comments.get("reason") {
                assert_eq!(*reason, case["reason"], "{line}");
            }
            compared += 1;
        }
    }
    assert_eq!((judged, compared), (734, 754));
}
