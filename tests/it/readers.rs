//! Exports, imports and reports before programs that others wrote: Inspect, its schema, pyarrow, protobuf, markdown-it.

use std::process::Command;

use needs::needs;
use serde_json::{Value, json};

use crate::imports::{figures, theirs};
use crate::project::{Project, root};

/// Has Python look at files of the project.
fn python(project: &Project, code: &str) -> String {
    let ran = Command::new("python3")
        .args(["-c", code])
        .current_dir(project.path())
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr),
    );
    assert!(ran.status.success(), "{out}\n{err}");
    out.trim().to_owned()
}

/// A run of two scorers, two epochs, one error and one answer without a verdict, in all formats for others.
fn exported() -> Project {
    let project = Project::new();
    theirs(&project);
    project
        .run("import --format inspect capitals.eval")
        .exits(3);
    let run = project.display(project.last_run());
    for format in [
        "inspect --output log.eval",
        "otel --output events.jsonl",
        "parquet --output rows.parquet",
        "csv --output rows.csv",
    ] {
        project
            .run(&format!("export {run} --format {format}"))
            .exits(0);
    }
    project
}

#[needs(inspect_ai)]
#[test]
fn inspect_reads_what_is_exported() {
    let project = exported();
    let code = "import json, zipfile\n\
        from inspect_ai.log import read_eval_log\n\
        log = read_eval_log('log.eval')\n\
        scores = {s.name: [s.scored_samples, s.unscored_samples] + [m.value for m in s.metrics.values()] for s in log.results.scores}\n\
        print(json.dumps([log.status, log.eval.task, log.eval.model, scores, len(log.samples),\n\
            sum(s.error is not None for s in log.samples), log.samples[0].scores['includes'].value,\n\
            [m.role for m in log.samples[0].messages], log.samples[0].output.completion]))";
    let output: Value = serde_json::from_str(&python(&project, code)).unwrap();
    let expect = json!([
        "success", "capitals", "mockllm/model",
        {
            "includes": [4, 0, 0.25, 0.25], "grades": [4, 0, 0.25, 0.375], "length": [3, 1, 1.0, 11.0],
            "manners.kind": [4, 0, 1.0, 1.0], "manners.brief": [4, 0, 0.0, 0.5],
        },
        10, 2, "C", ["user", "assistant"], "It is Paris",
    ]);
    assert_eq!(output, expect);
}

/// Also what it says of itself: each file of the log is as its schema has it.
#[needs(inspect_ai)]
#[test]
fn what_is_exported_is_as_the_schema_of_inspect_has_it() {
    let project = exported();
    let code = "import json, subprocess, sys, zipfile, jsonschema\n\
        ask = [sys.executable, '-m', 'inspect_ai', 'log', 'schema']\n\
        schema = json.loads(subprocess.run(ask, check=True, stdout=subprocess.PIPE).stdout)\n\
        zip = zipfile.ZipFile('log.eval')\n\
        def check(kind, values):\n\
        \x20   schema['$ref'] = '#/components/schemas/' + kind\n\
        \x20   validator = jsonschema.Draft202012Validator(schema)\n\
        \x20   for value in values:\n\
        \x20       validator.validate(value)\n\
        \x20   return len(values)\n\
        read = lambda name: json.loads(zip.read(name))\n\
        samples = [read(name) for name in zip.namelist() if name.startswith('samples/')]\n\
        print(check('EvalLog', [read('header.json')]), check('EvalSampleSummary', read('summaries.json')),\n\
        \x20   check('EvalSample', samples))";
    assert_eq!(python(&project, code), "1 10 10");
}

/// Not only the one that stands among the fixtures: what is installed writes one.
#[needs(inspect_ai)]
#[test]
fn what_inspect_writes_now_is_read() {
    let project = Project::new();
    let made = Command::new("python3")
        .arg(root().join("fixtures/inspect/make.py"))
        .arg(project.path())
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    theirs(&project);
    project
        .run("import --format inspect capitals.eval")
        .exits(3);
    let expect = figures(&project);
    for log in ["new.eval", "new.json"] {
        project
            .run(&format!("import --format inspect {log}"))
            .exits(3)
            .says("2 of 10 answers correct");
        assert_eq!(figures(&project), expect, "{log}");
    }
}

#[needs(opentelemetry_proto)]
#[test]
fn protobuf_reads_the_events() {
    let project = exported();
    // It takes ids for base64, which OTLP has as hex.
    let code = "import base64, json\n\
        from google.protobuf.json_format import ParseDict\n\
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest\n\
        told = []\n\
        for line in open('events.jsonl'):\n\
        \x20   request = json.loads(line)\n\
        \x20   for event in request['resourceLogs'][0]['scopeLogs'][0]['logRecords']:\n\
        \x20       for key in ['traceId', 'spanId']:\n\
        \x20           event[key] = base64.b64encode(bytes.fromhex(event[key])).decode()\n\
        \x20   read = ParseDict(request, ExportLogsServiceRequest())\n\
        \x20   told += read.resource_logs[0].scope_logs[0].log_records\n\
        names = sorted({a.value.string_value for e in told for a in e.attributes if a.key == 'gen_ai.evaluation.name'})\n\
        print(json.dumps([len(told), names, sorted({(len(e.trace_id), len(e.span_id), e.event_name) for e in told})]))";
    let output: Value = serde_json::from_str(&python(&project, code)).unwrap();
    let names = [
        "grades",
        "includes",
        "length",
        "manners.brief",
        "manners.kind",
    ];
    // Eight answers by five scorers, one of which cannot say twice, and two errors.
    let expect = json!([40, names, [[16, 8, "gen_ai.evaluation.result"]]]);
    assert_eq!(output, expect);
}

#[needs(pyarrow)]
#[test]
fn pyarrow_reads_the_table() {
    let project = exported();
    let code = "import json, pyarrow.csv, pyarrow.parquet as p\n\
        rows = p.read_table('rows.parquet')\n\
        types = {f.name: str(f.type) for f in rows.schema}\n\
        print(json.dumps([rows.num_rows, types['epoch'], types['correct'], types['score'], types['prediction'],\n\
            rows.column('prediction').to_pylist()[0], rows.column('correct').to_pylist()[6:8],\n\
            pyarrow.csv.read_csv('rows.csv', parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True)).num_rows]))";
    let output: Value = serde_json::from_str(&python(&project, code)).unwrap();
    let expect = json!([
        10,
        "int64",
        "bool",
        "double",
        "string",
        "It is Paris",
        [null, null],
        10
    ]);
    assert_eq!(output, expect);
}

/// Inspect brings it along. Texts of an agent become no link, no picture and no HTML, and break no table.
#[needs(inspect_ai)]
#[test]
fn markdown_it_reads_the_reports() {
    let project = Project::new();
    let hostile = "a|b `c`\n# d <img src=x onerror=y> ![e](http://x.test/p.png) [f](http://x.test) <http://x.test> &lt; | *g";
    let lines = ["one", hostile].map(|id| {
        json!({"id": id, "question": format!("What? {hostile}"), "answer": hostile, "topic": hostile})
            .to_string()
    });
    project.write("questions.jsonl", lines.join("\n"));
    project.write(
        "eval.yaml",
        format!(
            "benchmark: {{ type: qa, path: questions.jsonl, slices: [topic] }}\n\
             agent: {}\nscorer: exact\ngates: [accuracy >= 0.9]\nsnapshot: {{ answers: plain }}\n",
            json!({"type": "echo", "text": format!("No. {hostile}")})
        ),
    );
    project.run("run eval.yaml").exits(1);
    for report in [
        "--audience developer",
        "--audience product",
        "--audience user",
        "--format pr-comment",
        "--format github",
    ] {
        let out = project.run(&format!("report {report}")).exits(0).out;
        // What the comment is found again by.
        let text = out.strip_prefix("<!-- evaltest:eval -->").unwrap_or(&out);
        project.write("report.md", text);
        let code = "import json, re\n\
            from markdown_it import MarkdownIt\n\
            tokens = MarkdownIt('commonmark').enable('table').parse(open('report.md').read())\n\
            kinds = {t.type for b in tokens for t in [b] + (b.children or [])}\n\
            rows, heads, wrong = 0, 0, 0\n\
            for t in tokens:\n\
            \x20   if t.type == 'thead_open': heads = -1\n\
            \x20   if t.type == 'tr_open': cells = 0\n\
            \x20   if t.type in ('th_open', 'td_open'): cells += 1\n\
            \x20   if t.type == 'tr_close':\n\
            \x20       rows += 1\n\
            \x20       heads = cells if heads < 0 else heads\n\
            \x20       wrong += cells != heads\n\
            html = [t.content for b in tokens for t in b.children or [] if t.type == 'html_inline' and t.content != '<br>']\n\
            blocks = [t.content.strip() for t in tokens if t.type == 'html_block']\n\
            ours = re.compile('<details><summary>[^<>]*</summary>|</details>')\n\
            bad = sorted(kinds & {'link_open', 'image'}) + html + [b for b in blocks if not ours.fullmatch(b)]\n\
            print(json.dumps([rows > 0, wrong, bad]))";
        let output: Value = serde_json::from_str(&python(&project, code)).unwrap();
        let has_tables = output[0] == true || report == "--audience user";
        assert!(has_tables, "{report}: {text}");
        assert_eq!(
            [&output[1], &output[2]],
            [&json!(0), &json!([])],
            "{report}: {text}"
        );
    }
}
