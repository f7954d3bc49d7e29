//! The calls of 6,948 conversations, against those of the official program.

use std::fs::File;
use std::io::Read as _;

use flate2::read::MultiGzDecoder;
use serde_json::Value as Json;

use super::calls;
use crate::calls::{JsonValue as _, Value};
use crate::tests::{needs, parity};

#[needs(data = "vectors/bfcl_multi_turn.jsonl.gz")]
#[test]
fn steps_have_the_official_calls() {
    let file = File::open(parity::path("vectors/bfcl_multi_turn.jsonl.gz")).unwrap();
    let mut text = String::new();
    MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    let (mut steps, mut expressions) = (0, 0);
    for line in text.lines() {
        let vector: Json = serde_json::from_str(line).unwrap();
        let is_native = vector["mode"] == "fc";
        let turns = vector["turns"].as_array().unwrap().iter();
        let results = vector["model_result"].as_array().unwrap();
        for (turn, result) in turns.zip(results) {
            let expected = turn["steps"].as_array().unwrap();
            let result = result.as_array().unwrap();
            assert_eq!(expected.len(), result.len(), "{}", vector["id"]);
            for (expected, step) in expected.iter().zip(result) {
                let got = calls(&Value::from_serde(step), is_native);
                let got = got.map(|calls| calls.into_iter().map(|call| call.text).collect());
                let expected: Option<Vec<String>> = if expected.get("empty").is_some() {
                    Some(Vec::new())
                } else {
                    let calls = expected.get("calls");
                    calls.map(|calls| serde_json::from_value(calls.clone()).unwrap())
                };
                assert_eq!(got, expected, "{} {step}", vector["id"]);
                steps += 1;
                expressions += got.map_or(0, |calls| calls.len());
            }
        }
    }
    assert_eq!((steps, expressions), (34_660, 55_381));
}
