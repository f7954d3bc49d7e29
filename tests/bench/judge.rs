//! How many replies `cargo evaltest judge read` reads per CPU second, and whether long ones take time in proportion.
//!
//! `cargo bench --bench judge [-- LINES]`

mod figure;
#[expect(
    dead_code,
    reason = "what memory it takes is measured for `score`, which works alike"
)]
mod process;

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use figure::{Figure, is_bench, report};
use process::children_cpu_s;
use serde_json::json;

/// Lines of a proper run.
const LINES: u32 = 1_000_000;

/// What a judge says before its verdict, about 200 bytes.
const REASON: &str = "The answer states the relation $a \\neq b$ and derives the bound in two steps.\nIts second step leaves out the \
                      case of equality, and the notation changes halfway; the result is the one that was asked for.";

const RUBRIC: [&str; 8] = [
    "--dimension",
    "correctness",
    "--dimension",
    "clarity",
    "--dimension",
    "difficulty_match",
    "--dimension",
    "completeness",
];

const CHOICES: [&str; 6] = [
    "--choice", "correct", "--choice", "partial", "--choice", "wrong",
];

const PATTERNS: [&str; 5] = [
    "--pattern",
    r"1=Output \(a\) is better",
    "--pattern",
    r"2=Output \(b\) is better",
    "--first-match",
];

/// What a judge replies the n-th time.
type Reply = fn(u32) -> String;

fn main() -> io::Result<ExitCode> {
    let default = if is_bench() { LINES } else { 2_000 };
    let lines = std::env::args()
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(default);
    let forms: [(&str, &[&str], Reply); 6] = [
        ("a rubric", &RUBRIC, points),
        ("a rubric in a fence", &RUBRIC, |n| {
            format!("Here it is:\n```json\n{}\n```", points(n))
        }),
        ("choices in JSON", &CHOICES, |n| {
            json!({"reason": REASON, "verdict": verdict(n)}).to_string()
        }),
        ("choices in text", &CHOICES, |n| {
            format!("{REASON}\n\n**Verdict:** {}", verdict(n))
        }),
        ("patterns", &PATTERNS, |n| {
            format!(
                "{REASON} So Output ({}) is better.",
                ["a", "b"][n as usize % 2]
            )
        }),
        ("ratings", &["--rating"], |n| {
            format!("{REASON} Rating: [[{}]]", n % 10)
        }),
    ];
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("replies");
    let mut figures = Vec::new();
    for (name, options, reply) in forms {
        write(&file, lines, reply)?;
        let cpu_s = (0..3).try_fold(f64::INFINITY, |best, _| {
            read(options, &file).map(|cpu_s| best.min(cpu_s))
        })?;
        figures.push(Figure {
            what: format!("judge read, {name}, lines per CPU second"),
            measured: f64::from(lines) / cpu_s,
            unit: "lines",
            target: 200_000.0..=f64::INFINITY,
            decides: true,
        });
    }
    for (name, options, piece) in [
        (
            "texts of a rubric",
            &RUBRIC[..],
            "\\frac{1}{2} $a \\neq b$ ",
        ),
        ("prose", &CHOICES[..], "The answer is not correct. "),
        ("objects", &CHOICES[..], "{\"verdict\": \"wrong\"}\n"),
        ("broken objects", &RUBRIC[..], "{\"clarity\": 1, "),
    ] {
        let (short, long) = if is_bench() {
            (1 << 18, 1 << 20)
        } else {
            (1 << 10, 1 << 12)
        };
        // As many bytes in all.
        let of = |size: usize, count: u32| {
            write(&file, count, |_| {
                let text = piece.repeat(size / piece.len());
                if options == RUBRIC && !piece.starts_with('{') {
                    points(1).replace("\"comments\":\"", &format!("\"comments\":\"{text}"))
                } else {
                    text
                }
            })?;
            (0..3).try_fold(f64::INFINITY, |best, _| {
                read(options, &file).map(|cpu_s| best.min(cpu_s))
            })
        };
        let ratio = of(long, 16)? / of(short, 64)?;
        figures.push(Figure {
            what: format!("judge read, {name} of 1 MiB, times what four of 256 KiB take"),
            measured: ratio,
            unit: "",
            target: 0.0..=1.5,
            decides: true,
        });
    }
    report(&figures)
}

fn verdict(n: u32) -> &'static str {
    ["correct", "partial", "wrong"][n as usize % 3]
}

fn points(n: u32) -> String {
    let points = |by: u32| 1 + n / by % 5;
    json!({"comments": REASON, "correctness": points(1), "clarity": points(5), "difficulty_match": points(25), "completeness": points(125)})
        .to_string()
}

fn write(file: &Path, lines: u32, reply: impl Fn(u32) -> String) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, File::create(file)?);
    for n in 0..lines {
        writeln!(out, "{}", json!({"id": n, "reply": reply(n)}))?;
    }
    out.flush()
}

/// CPU seconds that a file takes.
fn read(options: &[&str], file: &Path) -> io::Result<f64> {
    let before = children_cpu_s()?;
    let status = Command::new(env!("CARGO_BIN_EXE_cargo-evaltest"))
        .args(["evaltest", "judge", "read", "--threads", "1"])
        .args(options)
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()?;
    if !status.success() {
        return Err(io::Error::other("judge read failed"));
    }
    Ok(children_cpu_s()? - before)
}
