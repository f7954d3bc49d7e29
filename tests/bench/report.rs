//! Reports of a run of 10,000 samples with conversations: what they cost, how large the page is, how soon a browser has it.
//!
//! `cargo bench --bench report`. The last is told where `chromium-headless-shell` is installed.

#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../it/browser.rs"]
mod browser;
mod figure;
mod process;
#[expect(dead_code, reason = "the other benchmarks use the rest")]
mod program;

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::{Command, ExitCode};

use figure::{Figure, is_bench, report};
use serde_json::json;

fn main() -> io::Result<ExitCode> {
    let samples = if is_bench() { 10_000 } else { 300 };
    let folder = tempfile::tempdir()?;
    let texts = write(folder.path(), samples)?;
    let runs = folder.path().join("runs");
    program::run(&mut evaltest(folder.path(), &["run", "bench.yaml"]), &runs)?;
    let dir = program::last_run(&runs)?;
    let mut figures = Vec::new();
    for format in ["md", "html"] {
        let file = format!("page.{format}");
        let mut command = evaltest(folder.path(), &["report", "--format", format, "-o", &file]);
        let used = program::used(command.arg(&dir), &runs)?;
        let mut push = |of: &str, measured: f64, unit: &'static str, most: f64| {
            figures.push(Figure {
                what: format!("{samples} samples as {format}, {of}"),
                measured,
                unit,
                target: 0.0..=most,
                decides: true,
            });
        };
        push("CPU", used.cpu_s, "s", 1.0);
        push("peak memory", used.peak_mib, "MiB", 64.0);
        if format == "html" {
            let page = fs::metadata(folder.path().join(&file))?.len();
            // As the texts are a few megabytes, no digit is lost.
            #[expect(clippy::cast_precision_loss, reason = "see above")]
            push(
                "size of the page",
                page as f64 / texts as f64,
                "times its texts",
                1.3,
            );
        }
    }
    figures.extend(opened(&folder.path().join("page.html"), samples));
    report(&figures)
}

/// How long it takes a browser from the address to a page that answers.
fn opened(page: &Path, samples: u32) -> Option<Figure> {
    let mut browser = Command::new("chromium-headless-shell");
    browser.arg("--version").output().ok()?;
    let mut tab = browser::Browser::open(&format!("file://{}", page.display()), 1200);
    let rows = tab.eval("document.querySelectorAll('.by-script tbody tr').length");
    assert_eq!(rows, 100, "rows are made as they are needed");
    let navigation = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd";
    Some(Figure {
        what: format!("{samples} samples in a browser, until the page answers (wall)"),
        measured: tab.eval(navigation).as_f64()? / 1000.0,
        unit: "s",
        target: 0.0..=1.0,
        decides: false,
    })
}

/// Writes an eval of so many questions, whose recorded answers have conversations; gives the bytes of all their texts.
fn write(folder: &Path, samples: u32) -> io::Result<u64> {
    fs::write(
        folder.join("bench.yaml"),
        "name: bench\nbenchmark: { type: qa, path: questions.jsonl, slices: [level] }\n\
         agent: { type: replay, path: answers.jsonl }\nscorers: [exact, includes]\n\
         snapshot: { answers: plain }\noutput_root: runs\n",
    )?;
    let mut questions = BufWriter::new(fs::File::create(folder.join("questions.jsonl"))?);
    let mut answers = BufWriter::new(fs::File::create(folder.join("answers.jsonl"))?);
    let mut bytes = 0;
    for number in 0..samples {
        let filler =
            "the lamps of the harbour are lit at dusk, and somebody counts them. ".repeat(6);
        let question = format!("How many lamps has pier {number}?\n{filler}");
        let truth = format!("{number} lamps");
        let answer = format!("{} lamps", number + u32::from(number % 3 == 0));
        let found = format!("pier {number}: \"{answer}\"\n{}", filler.repeat(3));
        let arguments = format!("{{\"pier\":{number}}}");
        let texts = [&question, &truth, &answer, &found, &arguments];
        bytes += texts.iter().map(|text| text.len() as u64).sum::<u64>();
        let id = format!("q{number}");
        let level = number % 4;
        let question_line =
            json!({"id": id, "question": question, "answer": truth, "level": level.to_string()});
        writeln!(questions, "{question_line}")?;
        let messages = json!([
            {"role": "user", "content": question},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "count", "arguments": arguments}}]},
            {"role": "tool", "tool_call_id": "c", "content": found},
            {"role": "assistant", "content": answer},
        ]);
        let usage = json!({"input_tokens": 700, "output_tokens": 9});
        let answer_line = json!({"id": id, "answer": answer, "messages": messages, "usage": usage});
        writeln!(answers, "{answer_line}")?;
    }
    questions.flush()?;
    answers.flush()?;
    Ok(bytes)
}

fn evaltest(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-evaltest"));
    command.current_dir(home).arg("evaltest").args(arguments);
    command.env_remove("CI");
    command
}
