//! Verdicts and decoded values of the official program, for each vector.

use std::collections::BTreeMap;
use std::io::Write as _;

use super::decode::{self, Format};
use super::value::Value;
use crate::parity;

/// The lines of a file of the parity data, read as Python reads them.
fn lines(name: &str) -> Option<Vec<Value>> {
    let text = parity::text(name)?;
    let read = |line| Value::from_json(line).expect("parity data is JSON");
    Some(text.lines().map(read).collect())
}

fn get<'a>(line: &'a Value, key: &str) -> &'a Value {
    line.as_dict().and_then(|dict| dict.get_str(key)).unwrap_or(&Value::None)
}

fn text<'a>(line: &'a Value, key: &str) -> &'a str {
    get(line, key).as_str().unwrap_or_default()
}

fn note(message: &str) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

#[test]
fn decoded_values_are_those_of_the_official_program() {
    let Some(lines) = lines("vectors/bfcl_decode.jsonl") else {
        return;
    };
    let mut wrong = 0;
    let mut messages = BTreeMap::new();
    for line in &lines {
        let answer = text(line, "model_result");
        let got = decode::prompt(answer, Format::Python, false);
        let repr = got.as_ref().ok().map(|value| value.repr().unwrap());
        let expect = get(line, "decoded_repr").as_str();
        if repr.as_deref() != expect {
            wrong += 1;
            note(&format!("{answer:?}\n  got    {repr:?} {got:?}\n  expect {expect:?} {:?}", get(line,"decode_message")));
        }
        if let Err(fault) = got {
            let same = fault.message() == text(line, "decode_message");
            *messages.entry((text(line, "decode_exception"), same)).or_insert(0) += 1;
        }
    }
    note(&format!("{} decoded, {wrong} wrong; messages {messages:?}", lines.len()));
    assert_eq!(wrong, 0);
}
