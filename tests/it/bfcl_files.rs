//! The function-calling leaderboard's files: exported, imported, and judged by the official program, for which a
//! script stands in.

mod official;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::project::{Project, all_files, json_lines};

const FUNCTION: &str = r#"{"name": "weather.get", "description": "Tells it.", "parameters": {"type": "dict", "required": ["city"], "properties": {"city": {"type": "string", "description": "Where."}, "share": {"type": "float", "description": "Of what."}}}}"#;

fn entry(id: &str) -> String {
    format!(
        r#"{{"id": "{id}", "question": [[{{"role": "user", "content": "How warm is Rome, é?"}}]], "function": [{FUNCTION}]}}"#
    )
}

fn truth(id: &str, count: usize) -> String {
    let call = r#"{"weather.get": {"city": ["Rome"], "share": [1e-05, ""]}}"#;
    let calls = vec![call; count].join(", ");
    format!(r#"{{"id": "{id}", "ground_truth": [{calls}]}}"#)
}

/// Data of three categories, and a run with right and wrong answers as texts and native calls. One sample has no
/// answer. Ids are not in the order of their numbers.
pub(super) fn project() -> Project {
    let project = Project::new();
    let write = |category: &str, numbers: &[u32], calls: usize| {
        let ids: Vec<_> = numbers.iter().map(|n| format!("{category}_{n}")).collect();
        let entries: Vec<_> = ids.iter().map(|id| entry(id)).collect();
        let name = format!("BFCL_v4_{category}.json");
        project.write(&format!("data/{name}"), entries.join("\n"));
        if calls > 0 {
            let truths: Vec<_> = ids.iter().map(|id| truth(id, calls)).collect();
            project.write(&format!("data/possible_answer/{name}"), truths.join("\n"));
        }
    };
    write("simple_python", &[10, 2, 3], 1);
    write("parallel", &[0], 2);
    write("irrelevance", &[0, 1], 0);
    project.write(
        "answers.jsonl",
        concat!(
            "{\"id\":\"simple_python_10\",\"answer\":\"[weather.get(city='rome')]\"}\n",
            "{\"id\":\"simple_python_2\",\"answer\":\"[weather.get(city='Rome', share=0.00001, a=(1, 'é'))]\"}\n",
            "{\"id\":\"parallel_0\",\"answer\":\"I look.\",\"tool_calls\":[",
            "{\"type\":\"function\",\"function\":{\"name\":\"weather_get\",\"arguments\":\"{\\\"city\\\": \\\"Rome\\\"}\"}},",
            "{\"type\":\"function\",\"function\":{\"name\":\"weather_get\",\"arguments\":\"{\\\"city\\\": \\\"Rome\\\"}\"}}]}\n",
            "{\"id\":\"irrelevance_0\",\"answer\":\"None fits.\"}\n",
            "{\"id\":\"irrelevance_1\",\"answer\":\"f(x=1)\"}\n",
        ),
    );
    project.write(
        "bfcl.yaml",
        "benchmark: { type: bfcl, path: data }\n\
         agent: { type: replay, path: answers.jsonl, fields: { id: id, answer: answer } }\n\
         limits: { retries: 0 }\ngates: [error_rate <= 1]\n",
    );
    project
}

/// The run directory of the project, relative to it.
pub(super) fn requested(project: &Project) -> String {
    project.run("run bfcl.yaml").exits(0);
    let run = project.last_run();
    run.strip_prefix(project.path())
        .unwrap()
        .display()
        .to_string()
}

#[test]
fn all_calls_of_all_answers_are_exported() {
    let project = project();
    let run = requested(&project);
    let ran = project
        .run(&format!(
            "export --format bfcl {run} --model-name org/m-FC --output out"
        ))
        .exits(0)
        .says("1 sample skipped (no answer): `simple_python_3` (agent_failed)");
    assert_eq!(ran.out, "out\n");
    let results = |path: &str| -> Vec<Value> {
        let lines = json_lines(&project.file(&format!("out/result/org_m-FC/{path}_result.json")));
        let results = lines.into_iter();
        results
            .map(|line| json!([line["id"], line["result"]]))
            .collect()
    };
    assert_eq!(
        results("non_live/BFCL_v4_simple_python"),
        [
            json!([
                "simple_python_2",
                "[weather.get(city='Rome', share=0.00001, a=(1, 'é'))]"
            ]),
            json!(["simple_python_10", "[weather.get(city='rome')]"]),
        ],
        "in the order of their numbers"
    );
    let call = json!({"weather_get": "{\"city\": \"Rome\"}"});
    assert_eq!(
        results("non_live/BFCL_v4_parallel"),
        [json!(["parallel_0", [call, call]])]
    );
    // Byte for byte what the official program writes, floats and tuples included.
    let score = project.read("out/score/org_m-FC/non_live/BFCL_v4_simple_python_score.json");
    let expect = format!(
        "{}\n{}{}{}{}{}\n",
        r#"{"accuracy": 0.5, "correct_count": 1, "total_count": 2}"#,
        r#"{"id": "simple_python_2", "model_name": "org_m-FC", "test_category": "simple_python", "valid": false, "#,
        r#""error": ["Unexpected parameter: 'a'."], "error_type": "simple_function_checker:unexpected_param", "#,
        format_args!(r#""prompt": {}, "#, entry("simple_python_2")),
        r#""model_result_raw": "[weather.get(city='Rome', share=0.00001, a=(1, 'é'))]", "model_result_decoded": [{"weather.get": {"city": "Rome", "share": 1e-05, "a": [1, "é"]}}], "#,
        r#""possible_answer": [{"weather.get": {"city": ["Rome"], "share": [1e-05, ""]}}]}"#,
    );
    assert_eq!(score, expect);
    let table = project.read("out/score/data_non_live.csv");
    assert_eq!(
        table.lines().nth(1),
        Some("1,org/m-FC,29.17%,N/A,N/A,50.00%,N/A,N/A,N/A,100.00%,N/A,50.00%")
    );
    let guide = project.read("out/submission.md");
    for text in [
        "5 answers of eval `bfcl`",
        "| simple_python | 2 | 1 |",
        "--test-category simple_python,parallel,irrelevance",
        "`simple_python_3` (agent_failed)",
    ] {
        assert!(guide.contains(text), "`{text}` is missing in\n{guide}");
    }
}

#[test]
fn an_export_needs_a_model_and_a_folder_of_its_own() {
    let project = project();
    let run = requested(&project);
    let fails = |arguments: &str, expect: &str| {
        let ran = project.run(&format!("export --format bfcl {run} {arguments}"));
        ran.exits(2).says(expect);
    };
    fails("", "no model is named");
    fails("--model-name ..", "`..` cannot be the name of a model");
    fails(
        "--model-name m --model-field site=x",
        "a model has no field `site`",
    );
    fails(
        "--model-name m --no-trace",
        "`--no-trace` does not apply to this format",
    );
    project.write("full/score/x", "");
    fails("--model-name m --output full", "score` exists already");
    project.write("file", "");
    fails("--model-name m --output file/x", "cannot create");
    assert!(
        project
            .run(&format!("export --format gaia {run} --model-name m"))
            .code
            == Some(2)
    );
    // Twice in a second: two folders.
    for _ in 0..2 {
        project
            .run(&format!("export --format bfcl {run} --model-name m"))
            .exits(0);
    }
    let names = fs::read_dir(project.path()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.starts_with("bfcl_m_")).count(), 2);
    // A run of another benchmark.
    let other = Project::with_eval(&[("a", 1, "q", "q")], "echo", "");
    other.run("run eval.yaml").exits(0);
    let run = other.last_run();
    other
        .run(&format!(
            "export --format bfcl {} --model-name m --output out",
            run.display()
        ))
        .exits(2)
        .says("sample `a` has no category");
    assert!(!other.file("out").exists(), "nothing is left");
}

fn contents(folder: &Path) -> Vec<(String, String)> {
    let files = all_files(folder).into_iter();
    let mut files: Vec<_> = files
        .map(|path| {
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            (name, fs::read_to_string(path).unwrap())
        })
        .filter(|(name, _)| name != "submission.md")
        .collect();
    files.sort();
    files
}

#[test]
fn what_was_exported_can_be_imported_gated_and_exported_again() {
    let project = project();
    let run = requested(&project);
    project
        .run(&format!(
            "export --format bfcl {run} --model-name m --output one"
        ))
        .exits(0);
    let ran = project
        .run("import -v --format bfcl one --data data --json")
        .exits(0)
        .says("cannot become a baseline")
        .json();
    assert_eq!(ran["model"], "m");
    assert_eq!(ran["summary"]["samples"], 5);
    assert_eq!(ran["summary"]["correct"], 3);
    // All answers of a model are read alike: with calls in one, texts are answers without calls.
    let records = project.last_lines("samples.jsonl");
    assert_eq!(records[0]["metadata"]["mode"], "fc");
    let reason = &records[0]["result"]["score"]["reason"];
    assert_eq!(reason, "ast_decoder:decoder_failed");
    // With the gates and snapshots of a spec.
    let spec = project.read("bfcl.yaml");
    let spec = spec.replace(
        "error_rate <= 1",
        "error_rate <= 1, accuracy >= 0.4, no_regression(max_drop=0.3)",
    );
    project.write("bfcl.yaml", spec);
    let import =
        "import --format bfcl one --data data --mode prompt --partial-eval --spec bfcl.yaml";
    project.run(import).exits(0).says("✓ accuracy >= 0.4");
    let imported = project.last_run();
    let files: Vec<_> = fs::read_dir(&imported).unwrap().collect();
    assert!(files.len() >= 6, "it is a whole run directory: {files:?}");
    let gate = |gate: &str, code: i32| {
        let run = imported.display().to_string();
        let arguments = ["gate", &run, "--gate", gate];
        let status = project.command_of(&arguments).output().unwrap().status;
        assert_eq!(status.code(), Some(code), "{gate}");
    };
    gate("accuracy >= 0.4", 0);
    gate("accuracy[category=simple_python] >= 0.6", 1);
    project
        .run(&format!("rescore -v {}", imported.display()))
        .exits(0);
    project
        .run(&format!("show {} irrelevance_1", imported.display()))
        .exits(0)
        .says("f(x=1)");
    project
        .run(&format!("accept {}", imported.display()))
        .exits(0)
        .says("is now the baseline, ");
    let answers = project.read("one/result/m/non_live/BFCL_v4_simple_python_result.json");
    let worse = answers.replace("city='rome')", "city='Oslo')");
    project.write(
        "one/result/m/non_live/BFCL_v4_simple_python_result.json",
        worse,
    );
    project.run(import).exits(1).says("simple_python_10");
}

#[test]
fn what_was_imported_without_the_data_cannot_have_all_score_files() {
    let project = project();
    let run = requested(&project);
    project
        .run(&format!(
            "export --format bfcl {run} --model-name m --output one"
        ))
        .exits(0);
    project.run("import --format bfcl one").exits(0);
    let imported = project.last_run();
    let export = format!(
        "export --format bfcl {} --model-name m --output two",
        imported.display()
    );
    project
        .run(&export)
        .exits(0)
        .says("`simple_python` has no score file: ")
        .says("an `import` with `--data`");
}

#[test]
fn texts_come_back_byte_for_byte() {
    let project = project();
    let answers = project.read("answers.jsonl");
    let texts = answers.lines().filter(|line| !line.contains("parallel"));
    project.write("answers.jsonl", texts.collect::<Vec<_>>().join("\n"));
    let run = requested(&project);
    project
        .run(&format!(
            "export --format bfcl {run} --model-name m --output one"
        ))
        .exits(0);
    project
        .run("import --format bfcl one/result/m --data data")
        .exits(0);
    let run = project.last_run();
    project
        .run(&format!(
            "export --format bfcl {} --model-name m --output two",
            run.display()
        ))
        .exits(0);
    assert_eq!(
        contents(&project.file("one")),
        contents(&project.file("two"))
    );
}

/// Conversations, one right and one wrong to the official program.
fn conversations(project: &Project) {
    project.write(
        "there/result/m/multi_turn/BFCL_v4_multi_turn_base_result.json",
        concat!(
            "{\"id\": \"multi_turn_base_0\", \"result\": [[\"[go(a=1)]\", \"Done.\"], []], \"latency\": [[1, 2], []]}\n",
            "{\"id\": \"multi_turn_base_1\", \"result\": [[[{\"go\": \"{}\"}]]]}\n",
        ),
    );
}

const VERDICTS: &str = concat!(
    "{\"accuracy\": 0.5, \"correct_count\": 1, \"total_count\": 2}\n",
    "{\"id\": \"multi_turn_base_1\", \"valid\": false, \"error\": {\"error_message\": [\"It ended early.\"], ",
    "\"error_type\": \"multi_turn:force_terminated\"}}\n",
);

#[test]
fn conversations_keep_the_official_verdicts() {
    let project = Project::new();
    conversations(&project);
    let scores = "there/score/m/multi_turn/BFCL_v4_multi_turn_base_score.json";
    project
        .run("import -v --format bfcl there")
        .exits(0)
        .says("2 answers of `multi_turn_base` are unscored")
        .says("cargo evaltest bfcl official RUN_DIR");
    project.write(scores, VERDICTS);
    project
        .run("import -v --format bfcl there")
        .exits(0)
        .says("2 samples, 1 correct");
    let records = project.last_lines("samples.jsonl");
    let score = &records[1]["result"]["score"];
    assert_eq!(score["reason"], "multi_turn:force_terminated");
    assert_eq!(score["details"]["judged_by"], "bfcl_official");
    assert_eq!(records[0]["result"]["latency_s"], 3.0);
    // Scoring again leaves them as they are, and they are exported.
    let run = project.last_run();
    project
        .run(&format!("rescore -v {} --scorer bfcl", run.display()))
        .exits(0)
        .says("2 samples, 1 correct");
    project
        .run(&format!(
            "export --format bfcl {} --model-name m --output out",
            run.display()
        ))
        .exits(0);
    let file = "multi_turn/BFCL_v4_multi_turn_base";
    let results = |root: &str| -> Vec<Value> {
        let lines = json_lines(&project.file(&format!("{root}/result/m/{file}_result.json")));
        lines
            .into_iter()
            .map(|line| line["result"].clone())
            .collect()
    };
    assert_eq!(results("out"), results("there"));
    let score = json_lines(&project.file(&format!("out/score/m/{file}_score.json")));
    assert_eq!(score[0]["correct_count"], 1);
    assert_eq!(
        score[1]["error"]["error_type"],
        "multi_turn:force_terminated"
    );
    // A failure is told and comes back as it was.
    project.write(
        "failed/result/m/multi_turn/BFCL_v4_multi_turn_base_result.json",
        "{\"id\": \"multi_turn_base_0\", \"result\": \"Error during inference: no credit\"}\n",
    );
    project
        .run("import -v --format bfcl failed")
        .exits(0)
        .says("1 results report a failure");
    let run = project.last_run();
    project
        .run(&format!(
            "export --format bfcl {} --model-name m --output again",
            run.display()
        ))
        .exits(0);
    assert_eq!(results("again"), results("failed"));
    // Verdicts on other results are no verdicts on these.
    project.write(scores, VERDICTS.replace("base_1", "base_9"));
    project
        .run("import -v --format bfcl there")
        .exits(2)
        .says("which is not in the results");
}

#[test]
fn broken_files_are_named() {
    let project = project();
    let check = |name: &str, text: &str, more: &str, expect: &str| {
        let path = format!("in/result/m/non_live/BFCL_v4_{name}_result.json");
        project.write(&path, text);
        let ran = project.run(&format!("import --format bfcl in {more}"));
        ran.exits(2).says(expect);
        fs::remove_file(project.file(&path)).unwrap();
    };
    let line = r#"{"id": "simple_python_2", "result": "f()"}"#;
    check(
        "simple_python",
        "{",
        "--data data",
        "_result.json:1: broken JSON in column",
    );
    check(
        "simple_python",
        "\u{1}\n",
        "--data data",
        "_result.json:1: broken JSON",
    );
    check(
        "simple_python",
        "",
        "--data data",
        "_result.json: the result files are empty",
    );
    let twice = format!("{line}\n{line}");
    check(
        "simple_python",
        &twice,
        "--data data",
        "_result.json:2: the id `simple_python_2` comes twice",
    );
    let unknown = line.replace("python_2", "python_7");
    check(
        "simple_python",
        &unknown,
        "--data data",
        "_result.json:1: `data` has no entry `simple_python_7`",
    );
    check(
        "simple_python",
        line,
        "",
        "name the leaderboard's data: `--data DIR`",
    );
    check(
        "multiple",
        line,
        "--data data",
        "no category `multiple`, but there are results",
    );
    check(
        "simple_python",
        line,
        "--data nowhere",
        "cannot open `nowhere`",
    );
    check(
        "simple_python",
        line,
        "--data data --model x",
        "no model `x`",
    );
    assert!(project.runs().is_empty(), "nothing is left");
    project
        .run("import --format bfcl data")
        .exits(2)
        .says("no file `BFCL_v4_<category>_result.json`");
}
