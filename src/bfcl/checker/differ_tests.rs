//! Mutated answers whose verdicts once differed from the official ones: counts how many still do, by file.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read as _;

use flate2::read::GzDecoder;

use super::parity_tests::{entries, get, note, text};
use super::*;
use crate::calls::fast::switch::both_ways;
use crate::calls::{CallFormat, Value};
use crate::tests::{needs, parity};

/// Lines that may differ, with the reason.
const MAY_DIFFER: [(&str, &[usize], &str); 1] = [(
    "differ_python",
    &[277],
    "a text has the address of a function in it",
)];

/// Number of further lines per file that may differ, until their causes are fixed.
const STILL: [(&str, usize); 8] = [
    ("differ_java", 0),
    ("differ_javascript", 0),
    ("differ_javascript2", 0),
    ("differ_json_xml", 0),
    ("differ_natural_js", 0),
    ("differ_python", 0),
    ("differ_python_java2", 0),
    ("differ_repetition", 0),
];

/// The lines of a compressed file of the parity data.
#[track_caller]
fn packed(name: &str) -> Vec<Value> {
    let path = parity::path(&format!("vectors/bfcl_differ/{name}.jsonl.gz"));
    let mut text = String::new();
    let file = File::open(path).unwrap();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let read = |line| Value::from_json(line).expect("parity data is JSON");
    text.lines().map(read).collect()
}

/// The comparable part of a verdict, as text.
fn outcome(valid: bool, error_type: Option<&str>) -> String {
    error_type.map_or_else(|| valid.to_string(), str::to_owned)
}

fn official(line: &Value) -> String {
    let verdict = get(line, "official").as_list().unwrap();
    outcome(verdict[0] == Value::Bool(true), verdict[1].as_str())
}

fn own(line: &Value, entries: &HashMap<String, AnswerKey>) -> String {
    let case = get(line, "case");
    let result = get(case, "model_result");
    let answer = match text(case, "mode") {
        "fc" => ModelAnswer::Native(result),
        _ => ModelAnswer::Prompt(result),
    };
    let request = CheckRequest {
        underscore_to_dot: get(case, "underscore_to_dot") == &Value::Bool(true),
        format: CallFormat::by_name(text(case, "return_format")),
        has_tool_call_tag: get(case, "has_tool_call_tag") == &Value::Bool(true),
        ..CheckRequest::new(&entries[text(case, "id")], text(case, "category"), answer)
    };
    let verdict = both_ways(
        || check(&request),
        |verdict| (verdict.valid, verdict.error_type),
    );
    outcome(verdict.valid, verdict.error_type)
}

#[needs(data = "vectors/bfcl_differ", data = "bfcl/data")]
#[test]
fn verdicts_on_answers_that_differed() {
    let entries = entries();
    let mut more = Vec::new();
    for (name, still) in STILL {
        let may_differ = |number: usize| {
            MAY_DIFFER
                .iter()
                .any(|(file, numbers, _)| *file == name && numbers.contains(&number))
        };
        let lines = packed(name);
        let mut differ: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
        for (number, line) in (1..).zip(&lines) {
            let verdicts = (official(line), own(line, &entries));
            if verdicts.0 != verdicts.1 && !may_differ(number) {
                differ.entry(verdicts).or_default().push(number);
            }
        }
        let count: usize = differ.values().map(Vec::len).sum();
        note(&format!("{name}: {count} of {} differ", lines.len()));
        for ((official, own), numbers) in &differ {
            let first = &numbers[..numbers.len().min(12)];
            note(&format!(
                "  {official}, not {own}: {} {first:?}",
                numbers.len()
            ));
        }
        if count > still {
            more.push((name, count));
        }
    }
    assert!(more.is_empty(), "{more:?}");
}
