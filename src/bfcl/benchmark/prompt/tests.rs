//! Compares all prompt formats with the official program, for entries that use every part of a document.

use std::fs;

use crate::benchmark::Benchmark;
use crate::benchmark::prompt::Prompt;
use crate::bfcl::benchmark::Bfcl;
use crate::bfcl::form::PromptForm;
use crate::tests::{needs, parity};
use crate::text::hash::Hasher;

const PYTHON: &str = r#"{"id": "simple_python_0", "question": [[{"role": "user", "content": "?"}]], "function": [{"name": "none", "description": "None.", "parameters": {"type": "dict", "properties": {}}}], "ground_truth": [{"none": {}}]}
{"id": "simple_python_1", "question": [[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Résumé {functions} {calls}?"}]], "function": [{"name": "cv.read", "description": "Reads é, \"quoted\" <b> {functions}.", "parameters": {"type": "dict", "required": ["lines"], "properties": {"lines": {"type": "array", "description": "Which, and why.", "items": {"type": "array", "items": {"type": "integer"}}}, "kind": {"type": "string", "description": "Kind 😀.", "enum": ["a", "it's", "\"q\"", null, true, 1.5, 1e-05], "default": "it's, too"}, "any": {"type": "any", "default": null}, "pair": {"type": "tuple", "description": "Pair.", "items": {"type": "float"}, "default": [1.0, 2]}, "list": {"type": "array", "description": "Without items."}, "map": {"type": "dict", "description": "Map.", "additionalProperties": {"type": "integer"}}, "loose": {"type": "object", "additionalProperties": {"description": "Anything."}, "default": {"a": [false, "b, c"]}}, "deep": {"type": "dict", "description": "Deep.", "properties": {"share": {"type": "number", "description": "Share.", "default": 1e16}, "inner": {"type": "dict", "required": ["x"], "properties": {"x": {"type": "boolean", "default": true}, "y": {"description": "Untyped."}}}}}}}}], "ground_truth": [{"cv.read": {"lines": [[[1]]], "kind": [""], "any": [""], "pair": [""], "list": [""], "map": [""], "loose": [""], "deep": [""]}}]}
"#;
const BOTH: &str = r#"{"id": "live_parallel_multiple_7-0-0", "question": [[{"role": "user", "content": "Both?"}]], "function": [{"name": "a", "description": "A", "parameters": {"type": "dict", "required": [], "properties": {"x": {"type": "integer", "description": "X"}}}}, {"name": "b", "description": "B", "parameters": {"type": "dict", "required": ["y"], "properties": {"y": {"type": "string", "description": "Y"}, "z": {"type": "list", "description": "Z", "items": {"type": "string", "enum": ["u"]}}}}}], "ground_truth": [{"a": {"x": [1]}}, {"b": {"y": ["u"], "z": [""]}}]}
"#;
const IDS: &str = r#"{"live_parallel_multiple": ["live_parallel_multiple_7-0-0"], "simple_python": ["simple_python_1", "simple_python_0"]}"#;

#[test]
fn prompts_of_all_forms_are_the_official_ones() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("simple_python", PYTHON),
        ("live_parallel_multiple", BOTH),
        ("format_sensitivity", IDS),
    ] {
        fs::write(folder.path().join(format!("BFCL_v4_{name}.json")), text).unwrap();
    }
    let bfcl = Bfcl::open(folder.path()).unwrap();
    assert_eq!(
        bfcl.samples().unwrap().len(),
        3,
        "forms only when asked for"
    );
    let bfcl = bfcl.categories(["format_sensitivity"]);
    let mut all = Hasher::default();
    let samples = bfcl.samples().unwrap();
    for sample in &samples {
        let prompt = Prompt::Default.render(&bfcl, sample);
        all.bytes(format!("{}\n{prompt}\0", sample.id).as_bytes());
    }
    // SHA-256 over ids and messages that `system_prompt_pre_processing_chat_model` gives for these three entries.
    assert_eq!(
        all.hex(),
        "e773113b8fb30e1295b2f7bf9d060c412f54a3cddecb410f2802037ed8c8c97c"
    );
    // The form without anything of its own is that of other categories.
    let plain = samples[5].id.split(':').nth(1).unwrap();
    assert_eq!(
        plain,
        "ret_fmt=python&tool_call_tag=False&func_doc_fmt=json&prompt_fmt=plaintext&style=classic"
    );
    let functions = serde_json::json!([]);
    let plain = super::words::instructions(PromptForm::named(plain).unwrap(), &functions);
    assert_eq!(plain, super::TEMPLATE.replace("{functions}", "[]"));
}

/// SHA-256 over the official program's prompts of a format for its 200 entries, each followed by a NUL.
const OFFICIAL_PROMPTS: [&str; 26] = [
    "291ccfa28d584394e78ad00fb31a61abd5a4059f950026bd59d0a691df8804c7",
    "2ae67bfd8685b88b3c33026585daa5e6d9fd0dbc4b1f334ddd0980f21c8d5acd",
    "12cde0a271c76a33cf012dd83b3e1e751e115530cb9cb53e23da09b10aa85bde",
    "981e55e7bf3ef7eab0347fa9bbf4abdec7daa461bdf097dc063f70fa8ffe94e7",
    "caec78d8fd526df84fa2c99706e030cebe7a7d5bc8cab1dcc74384d84772cef0",
    "f0dfdbaaf4fb3aa8ba5821222b1fdb21365c46b849200475f8b75cc4ccf57004",
    "a8b662f2b17a004653417962f6f6d73c414de4637e3e0b55f2424d54d062e358",
    "b3c7258c9699975376abf8ee1ead8f942f4767ef538f016dd347d337ea8eb9ee",
    "7cdd174a36d5bdd47cb290dc8aee3c3912fd91677ad1f9686544567ce8a92049",
    "6736475309ef092ddeb4ecfc25e6a8a718c9947f4d08b7efb7b3ce0f1230b982",
    "dcf0ca5ff5c456cd881cd7673c6a447ea36f5cc34a55b14e848fe031e6ae47c6",
    "4a9c8c8391497494b4c47c86cb9c63c5994d43e5132225c4ca4b3f1d3cfc18b0",
    "6caefc7dc9375b472d88b0e45539058ddaf56806014fe32eab26251487ed2bc5",
    "90da4b7b4af4fb06aedd5e21bb166b93e1c6c426f754e026b1ad5d36f0c5817a",
    "4bae5052c702961e25c56c4bdf221548950847e78210fb9d4f9be3bf0eb3e4aa",
    "639b257dbd637779149205930fab77ddb112383eeaad94e550e67f3ce25f2a95",
    "19241fda0754e4cbd3314eb52191f39f5adaa19ae75969ced65f488c183b977c",
    "b7d53d92f061eccd96ebb53ea6692a924d7f0bacce2e44717d8929a062392610",
    "466192ab891674d2b8af660d36a71fbe2b2a13935970ce6c2b198bcaadaca7b2",
    "9f4a9e13083c1f1d8990578b2ef6328b9c6530189fbe5e1be2ebd98d3b9e1c41",
    "83184c012a47b33ebc67cedfe65671c638bae601156f61b9a2a688dde3550c3b",
    "ba8d42fa3bf909f186e86b4bbde9657abaaa5acac59e8b8d10867f251834d348",
    "a8f3af672f462e55c99c33e0bd9d690a8530ec76e4469384416bece9f78456a8",
    "bb9d6927cd198c5e73097c03f02eaa617b9c074b89e2008d24caafd615a1dc94",
    "382dfcc2b8233687f1f45e1545bc2280031838a1f64c8a47e2bab69df02d547b",
    "f3ee2014e6cfdc2cca023939bfb566b9054b494014a0a4e91d41f28ea62d1088",
];

#[needs(data = "bfcl/data")]
#[test]
fn all_5200_forms_are_the_official_ones() {
    let bfcl = Bfcl::open(parity::path("bfcl/data")).unwrap();
    let bfcl = bfcl.categories(["format_sensitivity"]);
    let samples = bfcl.samples().unwrap();
    assert_eq!(samples.len(), 5200);
    let mut prompts = vec![Hasher::default(); 26];
    let mut ids = Hasher::default();
    for (place, sample) in samples.iter().enumerate() {
        let prompt = &mut prompts[place % 26];
        prompt.bytes(bfcl.instructions(sample).unwrap().as_bytes());
        prompt.bytes(b"\0");
        ids.bytes(sample.id.as_bytes());
        ids.bytes(b"\n");
        assert!(sample.tools.is_empty());
    }
    assert_eq!(
        ids.hex(),
        "6c7a46e3df906bb5c05bf0cbe8d5494fe393ce8d8feed8c246aa410ebf0cf296"
    );
    for ((prompt, expect), form) in prompts
        .into_iter()
        .zip(OFFICIAL_PROMPTS)
        .zip(PromptForm::all())
    {
        assert_eq!(prompt.hex(), expect, "{form}");
    }
}
