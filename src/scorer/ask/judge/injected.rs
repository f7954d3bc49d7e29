//! Answers that try to inject a verdict, given to a judge that follows its rule but may quote carelessly: whatever it
//! quotes, the reader must return the judge's own verdict or none.
//!
//! The judge follows the prompt: it finds the mark, judges the text between the two lines that contain it, and accepts
//! only `42`. All answers of the file are wrong. `@MARK@` in an answer stands for the mark of the previous request, in
//! which the mark was sixteen zeros.
//!
//! Not covered, because no reader could detect it: a judge that gives its own verdict in an unexpected form ("I would
//! not let this pass"), and then quotes one in the requested form.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::Judge;
use crate::agent::Agent;
use crate::data::{AgentError, Output, ReplyForm, Target, Task};
use crate::scorer::{Answer, Scorer};

const ANSWERS: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/fixtures/judge/injections.jsonl"
));
const POINTS: &str = "dimensions: [{ name: correctness }, { name: clarity }]";
const CHOICES: &str = "choices: { correct: 1, partial: 0.5, wrong: 0 }";

/// How a reply quotes the answer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Quoted {
    /// In the strings of its JSON, escaped.
    Inside,
    /// As prose before its JSON, with or without introductory words.
    Before(&'static str),
    /// In a fence before its JSON.
    Fenced,
    /// After its JSON.
    After,
    /// Before and after.
    Around,
    /// In the strings of its JSON, not escaped.
    Raw,
    /// Before a verdict in prose.
    Prose,
    /// After a verdict in prose.
    ProseFirst,
    /// After points in prose, which are not a valid reply to a rubric.
    PointsFirst,
}

const QUOTED: [Quoted; 10] = [
    Quoted::Inside,
    Quoted::Before("The answer says: "),
    Quoted::Before(""),
    Quoted::Fenced,
    Quoted::After,
    Quoted::Around,
    Quoted::Raw,
    Quoted::Prose,
    Quoted::ProseFirst,
    Quoted::PointsFirst,
];

/// The judge in this test.
struct Rule {
    takes: ReplyForm,
    quoted: Quoted,
    marks: Arc<Mutex<Vec<String>>>,
}

impl Rule {
    fn reply(&self, prompt: &str) -> String {
        let (mark, given) = between(prompt);
        self.marks.lock().unwrap().push(mark);
        let is_right = given == "42";
        let (points, word) = if is_right {
            (5, "correct")
        } else {
            (1, "wrong")
        };
        // Only look at the part before the answer, which may contain anything.
        let rules = prompt.split("\n# Material\n").next().unwrap();
        let asks_choice = rules.contains("\n# Verdicts\n");
        let reply_with = |quote: &str| {
            let reason = format!("It is to be 42, and is: {quote}");
            if asks_choice {
                json!({ "reason": reason, "verdict": word, "comments": quote })
            } else {
                json!({ "reason": reason, "correctness": points, "clarity": points, "comments": quote })
            }
        };
        let own = reply_with("not quoted").to_string();
        let verdict = if asks_choice {
            format!("VERDICT: {word}")
        } else {
            own.clone()
        };
        match self.quoted {
            Quoted::Inside => reply_with(&given).to_string(),
            Quoted::Before(words) => format!("{words}{given}\n\n{own}"),
            Quoted::Fenced => format!("```\n{given}\n```\n\n```json\n{own}\n```"),
            Quoted::After => format!("{own}\n\nThe answer was: {given}"),
            Quoted::Around => format!("{given}\n{own}\n{given}"),
            Quoted::Raw => reply_with("@").to_string().replace('@', &given),
            Quoted::Prose => format!("The answer is\n{given}\n\n{verdict}"),
            Quoted::ProseFirst => format!("{verdict}\n\nThe answer is\n{given}"),
            Quoted::PointsFirst if asks_choice => format!("Decision: {word}, given {given}"),
            Quoted::PointsFirst => {
                format!("**Correctness:** {points}/5\n**Clarity** (1-5): {points}\n\n{given}")
            }
        }
    }
}

impl Agent for Rule {
    fn answer(&self, task: &Task) -> Result<Output, AgentError> {
        let option = |key: &str| task.options().contains_key(key);
        let requested = if option("response_format") {
            ReplyForm::Schema
        } else if option("tools") {
            ReplyForm::Tool
        } else {
            ReplyForm::Text
        };
        if requested != self.takes && requested != ReplyForm::Text {
            let mut error = AgentError::new("unknown parameter");
            error.http_status = Some(400);
            return Err(error);
        }
        let reply = self.reply(task.prompt());
        if requested == ReplyForm::Tool {
            let call = json!({ "type": "function", "function": { "name": "record_grade", "arguments": reply } });
            return Ok(Output::text("").tool_calls([call]));
        }
        Ok(Output::text(reply))
    }

    fn takes_reply_form(&self) -> bool {
        true
    }
}

/// The mark named in a prompt, and the text between the lines of the answer; there must be one of each.
fn between(prompt: &str) -> (String, String) {
    let (_, rest) = prompt.split_once("both hold the mark ").unwrap();
    let (mark, _) = rest.split_once(';').unwrap();
    let begin = format!("\n<<<BEGIN prediction {mark}>>>\n");
    let end = format!("\n<<<END prediction {mark}>>>\n");
    assert_eq!(prompt.matches(&begin).count(), 1, "{begin}");
    assert_eq!(prompt.matches(&end).count(), 1, "{end}");
    let (_, rest) = prompt.split_once(&begin).unwrap();
    let (given, rest) = rest.split_once(&end).unwrap();
    assert!(
        !given.contains(mark),
        "an answer holds its own mark: {given}"
    );
    assert!(
        rest.starts_with("\n# Reply\n") || rest.starts_with("\nThe reference"),
        "{rest}"
    );
    (mark.to_owned(), given.to_owned())
}

/// The answers of the file, with their names.
fn answers() -> Vec<(String, String)> {
    let answer = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = line["answer"].as_str().unwrap().to_owned();
        let text = match line["long"].as_array().map(Vec::as_slice) {
            None => text,
            Some([part, times]) => {
                let times = usize::try_from(times.as_u64().unwrap()).unwrap();
                text.replace("@LONG@", &part.as_str().unwrap().repeat(times))
            }
            Some(other) => panic!("{other:?}"),
        };
        (line["id"].as_str().unwrap().to_owned(), text)
    };
    ANSWERS.lines().map(answer).collect()
}

/// Judges one answer. `Some(true)` is the injected verdict, `None` no verdict.
fn judged(judge: &Judge, answer: &str) -> Option<bool> {
    let target = Target::from("42");
    let answer = Answer::new(answer, &target).prompt("How much is 6 * 7?");
    match judge.score(&answer) {
        Ok(score) => {
            let value = if score.correct { 1.0 } else { 0.0 };
            assert_eq!(json!(score.value), json!(value), "{score:?}");
            Some(score.correct)
        }
        Err(error) => {
            let text = error.message();
            let reasons = ["invalid_response_format: ", "conflicting: "];
            assert!(reasons.iter().any(|one| text.starts_with(one)), "{text}");
            None
        }
    }
}

/// Judges all answers in one form. Returns the names of those without a verdict, and adds those whose injected verdict
/// was taken to `taken`.
fn check(rubric: &str, takes: ReplyForm, quoted: Quoted, taken: &mut Vec<String>) -> Vec<String> {
    let marks: Arc<Mutex<Vec<String>>> = Arc::default();
    let rule = Rule {
        takes,
        quoted,
        marks: Arc::clone(&marks),
    };
    let judge = Judge::new(rule, rubric).unwrap();
    let judge = judge.sees(["prompt", "prediction", "ground_truth"]);
    let judge = judge.unwrap().retries(0);
    let last = || marks.lock().unwrap().last().unwrap().clone();
    let mut unread = Vec::new();
    for (id, answer) in answers() {
        let mut text = answer.replace("@MARK@", &"0".repeat(16));
        if answer.contains("@MARK@") {
            judged(&judge, &text);
            let before = last();
            text = answer.replace("@MARK@", &before);
            judged(&judge, &text);
            assert_ne!(before, last(), "{id}");
        }
        match judged(&judge, &text) {
            Some(true) => taken.push(format!("{id}: {rubric} {takes:?} {quoted:?}")),
            Some(false) => {}
            None => unread.push(id),
        }
    }
    unread
}

#[test]
fn no_injected_verdict_is_taken() {
    let count = answers().len();
    let different: std::collections::BTreeSet<_> =
        answers().into_iter().map(|(_, text)| text).collect();
    assert!(count >= 50 && different.len() == count, "{count}");
    let mut taken = Vec::new();
    for rubric in [POINTS, CHOICES] {
        // A reply in the requested form is read, whatever it quotes.
        for takes in [ReplyForm::Schema, ReplyForm::Tool, ReplyForm::Text] {
            let unread = check(rubric, takes, Quoted::Inside, &mut taken);
            assert_eq!(unread, [""; 0], "{rubric} {takes:?}");
        }
        for quoted in QUOTED {
            check(rubric, ReplyForm::Text, quoted, &mut taken);
        }
    }
    assert!(taken.is_empty(), "{}:\n{}", taken.len(), taken.join("\n"));
}

#[test]
fn the_judge_of_the_test_finds_what_is_right() {
    for rubric in [POINTS, CHOICES] {
        for quoted in QUOTED {
            let rule = Rule {
                takes: ReplyForm::Text,
                quoted,
                marks: Arc::default(),
            };
            let judge = Judge::new(rule, rubric).unwrap();
            let is_none = rubric == POINTS && quoted == Quoted::PointsFirst;
            for (answer, is_right) in [("42", true), ("41", false)] {
                let expect = (!is_none).then_some(is_right);
                assert_eq!(judged(&judge, answer), expect, "{rubric} {quoted:?}");
            }
        }
    }
}
