//! `format_sensitivity`: two entries asked in 26 forms, answered well in most of them, and exported.

use std::fmt::Write as _;

use evaltest::engine::leaderboard::bfcl::form::PromptForm;
use serde_json::{Value, json};

use crate::project::{Project, json_lines};

const SIMPLE: &str = r#"{"id": "simple_python_4", "question": [[{"role": "user", "content": "How warm is Rome?"}]], "function": [{"name": "weather.get", "description": "Tells it.", "parameters": {"type": "dict", "required": ["city"], "properties": {"city": {"type": "string", "description": "Where."}, "days": {"type": "integer", "description": "How many."}}}}], "ground_truth": [{"weather.get": {"city": ["Rome"], "days": [2, ""]}}]}"#;
const PARALLEL: &str = r#"{"id": "live_parallel_2-1-0", "question": [[{"role": "user", "content": "Wake Ann and Bo."}]], "function": [{"name": "wake", "description": "Wakes.", "parameters": {"type": "dict", "required": ["who"], "properties": {"who": {"type": "string", "description": "Whom."}}}}], "ground_truth": [{"wake": {"who": ["Ann"]}}, {"wake": {"who": ["Bo"]}}]}"#;

/// What the official program (bfcl-eval 2026.3.23) wrote of the same answers: the first line of the score file, and
/// the row of its table.
const HEADER: &str = r#"{"accuracy": 0.8846153846153846, "correct_count": 46, "total_count": 52, "accuracy_max_delta": 100.0, "accuracy_variance": 861.54, "accuracy_std": 29.35, "ret_fmt=python&tool_call_tag=True&func_doc_fmt=python&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=python&tool_call_tag=True&func_doc_fmt=xml&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=python&tool_call_tag=True&func_doc_fmt=json&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=python&tool_call_tag=False&func_doc_fmt=python&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=python&tool_call_tag=False&func_doc_fmt=xml&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=python&tool_call_tag=False&func_doc_fmt=json&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=json&tool_call_tag=True&func_doc_fmt=python&prompt_fmt=plaintext&style=classic": {"accuracy": 0.5, "correct_count": 1, "total_count": 2}, "ret_fmt=json&tool_call_tag=True&func_doc_fmt=xml&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=json&tool_call_tag=True&func_doc_fmt=json&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=json&tool_call_tag=False&func_doc_fmt=python&prompt_fmt=plaintext&style=classic": {"accuracy": 0.5, "correct_count": 1, "total_count": 2}, "ret_fmt=json&tool_call_tag=False&func_doc_fmt=xml&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=json&tool_call_tag=False&func_doc_fmt=json&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=verbose_xml&tool_call_tag=True&func_doc_fmt=python&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=verbose_xml&tool_call_tag=True&func_doc_fmt=xml&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=verbose_xml&tool_call_tag=True&func_doc_fmt=json&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=verbose_xml&tool_call_tag=False&func_doc_fmt=python&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=verbose_xml&tool_call_tag=False&func_doc_fmt=xml&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=verbose_xml&tool_call_tag=False&func_doc_fmt=json&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=concise_xml&tool_call_tag=True&func_doc_fmt=python&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=concise_xml&tool_call_tag=True&func_doc_fmt=xml&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=concise_xml&tool_call_tag=True&func_doc_fmt=json&prompt_fmt=plaintext&style=classic": {"accuracy": 0.0, "correct_count": 0, "total_count": 2}, "ret_fmt=concise_xml&tool_call_tag=False&func_doc_fmt=python&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=concise_xml&tool_call_tag=False&func_doc_fmt=xml&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=concise_xml&tool_call_tag=False&func_doc_fmt=json&prompt_fmt=plaintext&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=python&tool_call_tag=False&func_doc_fmt=json&prompt_fmt=markdown&style=classic": {"accuracy": 1.0, "correct_count": 2, "total_count": 2}, "ret_fmt=python&tool_call_tag=False&func_doc_fmt=json&prompt_fmt=plaintext&style=experimental": {"accuracy": 0.0, "correct_count": 0, "total_count": 2}}"#;
const TABLE: &str = "\
1,m,100.0,29.35,100.00%,100.00%,100.00%,100.00%,100.00%,100.00%,50.00%,100.00%,100.00%,50.00%,100.00%,100.00%,100.00%,100.00%,100.00%,100.00%,100.00%,100.00%,100.00%,100.00%,0.00%,100.00%,100.00%,100.00%,100.00%,0.00%";

type Call = (
    &'static str,
    &'static [(&'static str, &'static str, &'static str)],
);

const RIGHT: [&[Call]; 2] = [
    &[
        ("wake", &[("who", "Ann", "string")]),
        ("wake", &[("who", "Bo", "string")]),
    ],
    &[(
        "weather.get",
        &[("city", "rome", "string"), ("days", "2", "integer")],
    )],
];

/// Calls as a form wants them.
fn written(form: PromptForm, calls: &[Call]) -> String {
    let form = form.to_string();
    let value = |text: &str, kind: &str| match kind {
        "string" => Value::from(text),
        _ => text.parse::<i64>().unwrap().into(),
    };
    let mut out = String::new();
    if form.contains("ret_fmt=python") {
        let calls = calls.iter().map(|(name, arguments)| {
            let arguments = arguments.iter();
            let arguments =
                arguments.map(|(key, text, kind)| format!("{key}={}", value(text, kind)));
            format!("{name}({})", arguments.collect::<Vec<_>>().join(", "))
        });
        out = format!("[{}]", calls.collect::<Vec<_>>().join(", "));
    } else if form.contains("ret_fmt=json") {
        let calls = calls.iter().map(|(name, arguments)| {
            let arguments = arguments.iter();
            let arguments: serde_json::Map<_, _> = arguments
                .map(|&(key, text, kind)| (key.to_owned(), value(text, kind)))
                .collect();
            json!({"function": name, "parameters": arguments})
        });
        out = Value::from(calls.collect::<Vec<_>>()).to_string();
    } else {
        let is_verbose = form.contains("verbose");
        for (name, arguments) in calls {
            let _ = write!(out, "<function name=\"{name}\">");
            let _ = write!(out, "{}", if is_verbose { "<params>" } else { "" });
            for (key, text, kind) in *arguments {
                let _ = if is_verbose {
                    write!(
                        out,
                        "<param name=\"{key}\" value=\"{text}\" type=\"{kind}\"/>"
                    )
                } else {
                    write!(out, "<param name=\"{key}\" type=\"{kind}\">{text}</param>")
                };
            }
            let _ = write!(
                out,
                "{}</function>",
                if is_verbose { "</params>" } else { "" }
            );
        }
        out = format!("<functions>{out}</functions>");
    }
    let has_tag = form.contains("tool_call_tag=True");
    // A mistake of one form.
    if has_tag && !form.contains("ret_fmt=concise_xml&tool_call_tag=True&func_doc_fmt=json") {
        out = format!("Well: <TOOLCALL>{out}</TOOLCALL>.");
    }
    out
}

/// The answer to an entry, which not every form has right.
fn answer(place: usize, form: PromptForm) -> String {
    let calls = RIGHT[place];
    let name = form.to_string();
    if name.ends_with("experimental") {
        return "I cannot.".to_owned();
    }
    let is_short = name.contains("ret_fmt=json") && name.contains("func_doc_fmt=python");
    written(form, if is_short { &calls[..1] } else { calls })
}

#[test]
fn every_form_is_asked_read_judged_and_exported() {
    let project = Project::new();
    project.write("data/BFCL_v4_simple_python.json", SIMPLE);
    project.write("data/BFCL_v4_live_parallel.json", PARALLEL);
    project.write(
        "data/BFCL_v4_format_sensitivity.json",
        r#"{"live_parallel": ["live_parallel_2-1-0"], "simple_python": ["simple_python_4"]}"#,
    );
    let mut answers = String::new();
    let mut results = String::new();
    for (place, original) in ["live_parallel_2-1-0", "simple_python_4"]
        .iter()
        .enumerate()
    {
        for (at, form) in PromptForm::all().enumerate() {
            let id = format!("format_sensitivity_{}:{form}:{original}", 26 * place + at);
            let answer = answer(place, form);
            writeln!(answers, "{}", json!({"id": id, "answer": answer})).unwrap();
            let line = json!({"id": id, "category": "format_sensitivity", "model_result": answer});
            writeln!(results, "{line}").unwrap();
        }
    }
    project.write("answers.jsonl", &answers);
    project.write("stored.jsonl", &results);
    project.write(
        "forms.yaml",
        "benchmark: { type: bfcl, path: data, categories: [format_sensitivity] }\n\
         agent: { type: replay, path: answers.jsonl, fields: { id: id, answer: answer } }\n\
         gates:\n  - accuracy[return_format=verbose_xml] >= 1\n  - accuracy[prompt_format=markdown] >= 1\n  \
         - metric(format_sensitivity_max_delta) <= 1\n  - metric(format_sensitivity_std) <= 0.3\n",
    );
    let listed = project.run("list --categories forms.yaml").exits(0);
    listed
        .says("format_sensitivity          52  52 in this eval")
        .says("not in this eval");
    let ran = project.run("run -v forms.yaml").exits(0);
    ran.says("52 samples, 46 correct")
        .says("return_format concise_xml");
    let metrics = &project.last_json("summary.json")["metrics"];
    assert_eq!(metrics["prompt_forms"].as_array().unwrap().len(), 26);
    assert_eq!(metrics["format_sensitivity_max_delta"], 1.0);
    assert_eq!(metrics.get("counted_as_zero"), None);
    let run = project.last_run();
    let run = run
        .strip_prefix(project.path())
        .unwrap()
        .display()
        .to_string();
    project
        .run(&format!(
            "export --format bfcl --model-name m --output out {run}"
        ))
        .exits(0);
    let scores =
        project.read("out/score/m/format_sensitivity/BFCL_v4_format_sensitivity_score.json");
    let overall = project.read("out/score/data_overall.csv");
    assert_eq!(scores.lines().next().unwrap(), HEADER);
    let table = project.read("out/score/data_format_sensitivity.csv");
    assert_eq!(table.lines().last(), Some(TABLE));
    assert!(overall.contains(",N/A,100.0,29.35,N/A,"), "{overall}");

    // Stored answers, and the files of the export, get the same verdicts.
    let scored = project
        .run("score --scorer bfcl --data data stored.jsonl")
        .exits(0);
    project.write("scored.jsonl", &scored.out);
    let right = json_lines(&project.file("scored.jsonl")).into_iter();
    assert_eq!(
        right
            .filter(|line| line["score"]["correct"] == true)
            .count(),
        46
    );
    project
        .run("import -v --format bfcl --data data out/result/m")
        .exits(0)
        .says("52 samples, 46 correct");
    // Without the entries the official verdicts count.
    project
        .run("import -v --format bfcl out")
        .exits(0)
        .says("52 samples, 46 correct");
}

#[test]
fn lists_of_ids_that_cannot_be_are_told() {
    let project = Project::new();
    project.write("data/BFCL_v4_simple_python.json", SIMPLE);
    project.write(
        "forms.yaml",
        "benchmark: { type: bfcl, path: data, categories: [format_sensitivity] }\nagent: { type: demo }\n",
    );
    let check = |ids: &str, expect: &str| {
        project.write("data/BFCL_v4_format_sensitivity.json", ids);
        project.run("run forms.yaml").exits(2).says(expect);
    };
    check("[]", "not an object with lists of ids");
    check("{}", "there is no id");
    check(
        r#"{"simple_python": 5}"#,
        "`simple_python` is not a list of ids",
    );
    check(r#"{"simple_java": []}"#, "`simple_java` has no other forms");
    check(
        r#"{"multi_turn_base": []}"#,
        "`multi_turn_base` has no other forms",
    );
    check(
        r#"{"simple_python": ["simple_python_4", "simple_python_4"]}"#,
        "`simple_python_4` comes twice",
    );
    check(
        r#"{"simple_python": ["simple_python_5"]}"#,
        "no entry `simple_python_5`",
    );
    check(
        r#"{"multiple": ["multiple_0"]}"#,
        "no entries of category `multiple`",
    );
    project.write("forms.yaml", "benchmark: { type: bfcl, path: data/BFCL_v4_format_sensitivity.json }\nagent: { type: demo }\n");
    project
        .run("run forms.yaml")
        .exits(2)
        .says("name its folder");
    project.write(
        "mine.jsonl",
        SIMPLE.replace("\"id\"", "\"category\": \"format_sensitivity\", \"id\""),
    );
    project.write(
        "forms.yaml",
        "benchmark: { type: bfcl, path: mine.jsonl }\nagent: { type: demo }\n",
    );
    project
        .run("run forms.yaml")
        .exits(2)
        .says("category `format_sensitivity` has no entries of its own");
}
