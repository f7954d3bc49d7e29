//! What it costs to import traces as questions: 100,000 spans, of which each trace has five that lie apart, and a whole
//! object of OTLP that is as large as the memory of a small machine.
//!
//! `cargo bench --bench traces`

mod figure;
mod process;
#[expect(dead_code, reason = "the other benchmarks use the rest")]
mod program;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::{Command, ExitCode};

use figure::{Figure, is_bench, report};

/// Spans of a trace.
const SPANS: usize = 5;

/// Bytes of what is asked in the large file.
const LONG: usize = 64 << 10;

fn main() -> io::Result<ExitCode> {
    let (spans, large) = if is_bench() {
        (100_000, 16 << 10)
    } else {
        (500, 200)
    };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let home = folder.path();
    lines(&home.join("lines.jsonl"), spans)?;
    object(&home.join("object.json"), large)?;
    let mut figures = Vec::new();
    let times = if is_bench() { 3 } else { 1 };
    for (file, what, cpu_s, memory) in [
        ("lines.jsonl", format!("{spans} spans in lines"), 2.0, 64.0),
        (
            "object.json",
            format!("an object of {} MiB", (large * LONG) >> 20),
            f64::INFINITY,
            64.0,
        ),
    ] {
        let mut best: Option<program::Usage> = None;
        for _ in 0..times {
            let output = home.join("questions.jsonl");
            let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-evaltest"));
            command
                .current_dir(home)
                .args([
                    "evaltest",
                    "import",
                    "--as",
                    "questions",
                    "--format",
                    "otel",
                ])
                .args([file, "--output", "questions.jsonl"])
                .env_remove("CI");
            let used = program::used(&mut command, &home.join("import"))?;
            std::fs::remove_file(output)?;
            best = Some(match best {
                Some(best) => best.better(&used),
                None => used,
            });
        }
        let best = best.ok_or_else(|| io::Error::other("nothing was measured"))?;
        let figure = |label: &str, measured, unit, limit: f64| Figure {
            what: format!("{what}, {label}"),
            measured,
            unit,
            target: if limit < f64::INFINITY {
                0.0..=limit
            } else {
                f64::NEG_INFINITY..=limit
            },
            decides: limit < f64::INFINITY,
        };
        figures.push(figure("CPU", best.cpu_s, "s", cpu_s));
        figures.push(figure("peak memory", best.peak_mib, "MiB", memory));
    }
    report(&figures)
}

/// Spans in the order in which they end: those of an agent lie among those of the others.
fn lines(path: &Path, spans: usize) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let traces = spans / SPANS;
    for number in 0..spans {
        let (trace, place) = (number % traces, number / traces);
        let question = format!(
            r#"{{\"role\":\"user\",\"parts\":[{{\"type\":\"text\",\"content\":\"Where is my order {trace}?\"}}]}}"#
        );
        let call = r#"{\"role\":\"assistant\",\"parts\":[{\"type\":\"tool_call\",\"id\":\"c1\",\"name\":\"find_order\",\"arguments\":{\"number\":17}}]}"#;
        let reply = r#"{\"role\":\"tool\",\"parts\":[{\"type\":\"tool_call_response\",\"id\":\"c1\",\"response\":\"shipped on Monday\"}]}"#;
        let (operation, content) = match place {
            0 => ("chat", format!(r#","gen_ai.input.messages":"[{question}]","gen_ai.output.messages":"[{call}]""#)),
            1 => ("execute_tool", r#","gen_ai.tool.name":"find_order","gen_ai.tool.call.id":"c1","gen_ai.tool.call.result":"shipped on Monday""#.to_owned()),
            2 => ("chat", format!(
                r#","gen_ai.input.messages":"[{question},{call},{reply}]","gen_ai.output.messages":"[{{\"role\":\"assistant\",\"parts\":[{{\"type\":\"text\",\"content\":\"It was shipped on Monday.\"}}]}}]""#
            )),
            3 => ("embeddings", String::new()),
            _ => ("invoke_agent", String::new()),
        };
        let attributes = format!(
            r#"{{"gen_ai.operation.name":"{operation}","gen_ai.request.model":"shop-model","server.address":"api.example.com"{content}}}"#
        );
        let attributes = as_list(&attributes)?;
        let parent = if place == 4 {
            String::new()
        } else {
            format!(r#""parentSpanId":"{:016x}","#, trace * SPANS + 5)
        };
        writeln!(
            file,
            r#"{{"resourceSpans":[{{"resource":{{"attributes":[{{"key":"service.name","value":{{"stringValue":"shop"}}}}]}},"scopeSpans":[{{"scope":{{"name":"shop"}},"spans":[{{"traceId":"{trace:032x}","spanId":"{:016x}",{parent}"name":"{operation}","kind":1,"startTimeUnixNano":"{}","endTimeUnixNano":"{}","attributes":{attributes},"status":{{}}}}]}}]}}]}}"#,
            trace * SPANS + place + 1,
            1_793_523_600_000_000_000_u64 + number as u64,
            1_793_523_601_000_000_000_u64 + number as u64,
        )?;
    }
    file.flush()
}

/// Attributes as OTLP has them.
fn as_list(object: &str) -> io::Result<String> {
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(object)?;
    let list = object
        .into_iter()
        .map(|(key, value)| serde_json::json!({ "key": key, "value": { "stringValue": value } }));
    Ok(list.collect::<serde_json::Value>().to_string())
}

/// One object with all spans in a single line.
fn object(path: &Path, spans: usize) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    write!(file, r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":["#)?;
    for number in 0..spans {
        let mut text = format!("{number}: ");
        while text.len() < LONG {
            text.push_str("In what year were all the rooms counted, of which there are ");
            text.push_str(&(number * 7_919 + text.len()).to_string());
            text.push_str("? ");
        }
        let comma = if number == 0 { "" } else { "," };
        write!(
            file,
            r#"{comma}{{"traceId":"{number:032x}","spanId":"{number:016x}","name":"chat","startTimeUnixNano":"1793523600000000000","attributes":[{{"key":"gen_ai.operation.name","value":{{"stringValue":"chat"}}}},{{"key":"gen_ai.prompt.0.role","value":{{"stringValue":"user"}}}},{{"key":"gen_ai.prompt.0.content","value":{{"stringValue":"{text}"}}}}]}}"#
        )?;
    }
    write!(file, "]}}]}}]}}")?;
    file.flush()
}
