//! Compares verdicts and decoded values with the official program for each test vector, with and without the shortcuts
//! of `fast`.

use std::collections::{BTreeMap, HashMap};
use std::io::Write as _;

use super::*;
use crate::calls::DecodeFault;
use crate::calls::fast::switch::both_ways;
use crate::calls::{CallFormat, Value, decode};
use crate::tests::{needs, parity};

/// The lines of a file of the parity data, parsed as Python does.
#[track_caller]
fn lines(name: &str) -> Vec<Value> {
    let read = |line| Value::from_json(line).expect("parity data is JSON");
    parity::text(name).lines().map(read).collect()
}

pub(super) fn get<'a>(line: &'a Value, key: &str) -> &'a Value {
    let entry = line.as_dict().and_then(|dict| dict.get_str(key));
    entry.unwrap_or(&Value::None)
}

pub(super) fn text<'a>(line: &'a Value, key: &str) -> &'a str {
    get(line, key).as_str().unwrap_or_default()
}

pub(super) fn note(message: &str) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

const CATEGORIES: [&str; 13] = [
    "simple_python",
    "simple_java",
    "simple_javascript",
    "multiple",
    "parallel",
    "parallel_multiple",
    "irrelevance",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
    "live_irrelevance",
    "live_relevance",
];

/// All entries of the single-turn categories by id.
pub(super) fn entries() -> HashMap<String, AnswerKey> {
    let mut entries = HashMap::new();
    for category in CATEGORIES {
        let answers = if category.contains("relevance") {
            Vec::new()
        } else {
            lines(&format!(
                "bfcl/data/possible_answer/BFCL_v4_{category}.json"
            ))
        };
        let answers: HashMap<&str, &Value> = answers
            .iter()
            .map(|line| (text(line, "id"), get(line, "ground_truth")))
            .collect();
        for line in lines(&format!("bfcl/data/BFCL_v4_{category}.json")) {
            let id = text(&line, "id");
            let entry = AnswerKey::new(get(&line, "function"), answers.get(id).copied()).expect(id);
            entries.insert(id.to_owned(), entry);
        }
    }
    entries
}

#[derive(Debug, Default)]
struct Tally {
    lines: usize,
    wrong: usize,
    wrong_decoded: usize,
    /// Numbers of equal and of all messages, by their origin in the program.
    messages: BTreeMap<&'static str, (usize, usize)>,
}

impl Tally {
    fn compare(&mut self, line: &Value, entry: &AnswerKey) {
        self.lines += 1;
        let result = get(line, "model_result");
        let answer = match text(line, "mode") {
            "fc" => ModelAnswer::Native(result),
            _ => ModelAnswer::Prompt(result),
        };
        let request = CheckRequest {
            underscore_to_dot: get(line, "underscore_to_dot") == &Value::Bool(true),
            format: CallFormat::by_name(text(line, "return_format")),
            has_tool_call_tag: get(line, "has_tool_call_tag") == &Value::Bool(true),
            ..CheckRequest::new(entry, text(line, "category"), answer)
        };
        let verdict = both_ways(
            || check(&request),
            |verdict| {
                let decoded = verdict.decoded.as_ref().map(Value::repr);
                let error = verdict.error_value(entry).to_json_text();
                (verdict.valid, verdict.error_type, error, decoded)
            },
        );
        let crashed = get(line, "exception").as_str().is_some();
        let valid = get(line, "valid") == &Value::Bool(true) && !crashed;
        let error_type = if crashed {
            Some(CRASH)
        } else {
            get(line, "error_type").as_str()
        };
        if (verdict.valid, verdict.error_type) != (valid, error_type) {
            self.wrong += 1;
            if self.wrong <= 20 {
                note(&format!(
                    "{} {result:?}\n  got    {:?} {:?} {:?}\n  expect {error_type:?} {:?}",
                    text(line, "id"),
                    verdict.error_type,
                    verdict.error,
                    verdict.decoded,
                    get(line, "error").repr()
                ));
            }
        }
        if let Some(expect) = get(line, "decoded_repr").as_str() {
            let got = verdict.decoded.as_ref().map(|value| value.repr().unwrap());
            if got.as_deref() != Some(expect) {
                self.wrong_decoded += 1;
                if self.wrong_decoded <= 20 {
                    note(&format!(
                        "{result:?}\n  decoded {got:?}\n  expect  {expect:?}"
                    ));
                }
            }
        }
        if verdict.error_type == error_type && !verdict.valid {
            let part = match error_type {
                Some(CRASH) => "crash",
                Some(kind) if kind.contains("decoder_failed") => "decoder",
                _ => "checker",
            };
            let expect = if crashed {
                Value::List(vec![get(line, "exception").clone()])
            } else {
                get(line, "error").clone()
            };
            let count = self.messages.entry(part).or_default();
            let got = verdict.error_value(entry);
            // NaN does not equal itself, so compare the text too.
            let same = got == expect || got.to_json_text() == expect.to_json_text();
            count.0 += usize::from(same);
            count.1 += 1;
            if part == "checker" && !same && count.1 - count.0 < 5 {
                note(&format!(
                    "{result:?}\n  error  {:?}\n  expect {:?}",
                    got.repr(),
                    expect.repr()
                ));
            }
        }
    }

    fn finish(&self, name: &str) {
        note(&format!("{name}: {self:?}"));
        assert_eq!((self.wrong, self.wrong_decoded), (0, 0), "{name}");
    }
}

#[needs(data = "vectors/bfcl.jsonl", data = "bfcl/data")]
#[test]
fn verdicts_on_made_up_answers() {
    let (lines, entries) = (lines("vectors/bfcl.jsonl"), entries());
    let mut tally = Tally::default();
    for line in &lines {
        tally.compare(line, &entries[text(line, "id")]);
    }
    tally.finish("bfcl.jsonl");
}

#[needs(data = "vectors/bfcl_adversarial.jsonl")]
#[test]
fn verdicts_on_adversarial_answers() {
    let mut tally = Tally::default();
    for line in &lines("vectors/bfcl_adversarial.jsonl") {
        let entry = AnswerKey::new(get(line, "function"), Some(get(line, "ground_truth"))).unwrap();
        tally.compare(line, &entry);
    }
    tally.finish("bfcl_adversarial.jsonl");
}

/// Models with answers in the parity data.
const MODELS: [&str; 12] = [
    "NousResearch_Hermes-2-Pro-Llama-3-8B",
    "Salesforce_xLAM-1b-fc-r",
    "THUDM_glm-4-9b-chat",
    "claude-3-5-sonnet-20240620-FC",
    "claude-3-5-sonnet-20240620",
    "claude-instant-1.2",
    "command-r-plus",
    "deepseek-ai_deepseek-coder-6.7b-instruct",
    "firefunction-v2-FC",
    "gpt-4-0613",
    "gpt-4o-2024-08-06-FC",
    "meetkai_functionary-medium-v3.1-FC",
];

#[needs(data = "realworld/bfcl", data = "bfcl/data")]
#[test]
fn verdicts_on_real_answers() {
    let entries = entries();
    let mut tally = Tally::default();
    for model in MODELS {
        for line in lines(&format!("realworld/bfcl/{model}.jsonl")) {
            tally.compare(&line, &entries[text(&line, "id")]);
        }
    }
    tally.finish("realworld/bfcl");
}

#[needs(data = "vectors/bfcl_decode.jsonl")]
#[test]
fn decoded_values_are_those_of_the_official_program() {
    let lines = lines("vectors/bfcl_decode.jsonl");
    let mut wrong = 0;
    let mut messages = BTreeMap::new();
    for line in &lines {
        let answer = text(line, "model_result");
        let got = both_ways(
            || decode::prompt(answer, CallFormat::Python, false),
            |got| got.as_ref().map(Value::repr).map_err(DecodeFault::clone),
        );
        let repr = got.as_ref().ok().map(|value| value.repr().unwrap());
        let expect = get(line, "decoded_repr").as_str();
        if repr.as_deref() != expect {
            wrong += 1;
            note(&format!(
                "{answer:?}\n  got    {repr:?} {got:?}\n  expect {expect:?} {:?}",
                get(line, "decode_message")
            ));
        }
        if let Err(fault) = got {
            let same = fault.message() == text(line, "decode_message");
            *messages
                .entry((text(line, "decode_exception"), same))
                .or_insert(0) += 1;
        }
    }
    note(&format!(
        "{} decoded, {wrong} wrong; messages {messages:?}",
        lines.len()
    ));
    assert_eq!(wrong, 0);
}

/// Run `cargo test --release … -- --ignored speed` to measure the time per pair.
#[test]
#[ignore = "measures, and says nothing in a debug build"]
fn speed() {
    use rustix::time::{ClockId, clock_gettime};
    use std::time::Duration;
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
    let entries = entries();
    let texts = MODELS.map(|model| parity::text(&format!("realworld/bfcl/{model}.jsonl")));
    let start = now();
    let lines: Vec<Value> = texts
        .iter()
        .flat_map(|text| text.lines())
        .map(|line| Value::from_json(line).unwrap())
        .collect();
    let reading = now().saturating_sub(start);
    let mut by_category: BTreeMap<&str, (u32, Duration)> = BTreeMap::new();
    for line in &lines {
        let result = get(line, "model_result");
        let answer = match text(line, "mode") {
            "fc" => ModelAnswer::Native(result),
            _ => ModelAnswer::Prompt(result),
        };
        let start = now();
        let verdict = check(&CheckRequest {
            underscore_to_dot: get(line, "underscore_to_dot") == &Value::Bool(true),
            ..CheckRequest::new(&entries[text(line, "id")], text(line, "category"), answer)
        });
        drop(verdict);
        let sum = by_category.entry(text(line, "category")).or_default();
        sum.0 += 1;
        sum.1 += now().saturating_sub(start);
    }
    let total: Duration = by_category.values().map(|sum| sum.1).sum();
    let count = u32::try_from(lines.len()).unwrap();
    for (category, (count, time)) in by_category {
        note(&format!("{category:24} {count:6} {:?}", time / count));
    }
    note(&format!(
        "{count} answers: reading {:?}, checking {:?} each",
        reading / count,
        total / count
    ));
}
