//! The server of a review: how soon its first page is there, and what ten thousand items take.
//!
//! `cargo bench --bench review`.

mod figure;

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Instant;

use figure::{Figure, is_bench, report};
use serde_json::{Value, json};

/// Bytes of the texts of an item.
const TEXTS: usize = 4 << 10;

fn main() -> io::Result<ExitCode> {
    let items = if is_bench() { 10_000 } else { 200 };
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("items.json");
    write(&file, items)?;
    let started = Instant::now();
    let server = ReviewedServer::start(&file)?;
    let page = server.ask("GET / HTTP/1.1", "")?;
    let first = started.elapsed().as_secs_f64() * 1000.0;
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    let started = Instant::now();
    let state = server.ask("GET /state HTTP/1.1", "")?;
    let listed = started.elapsed().as_secs_f64() * 1000.0;
    assert!(
        state.contains(&format!("\"count\":{items}")),
        "{state:.500}"
    );
    let (mut viewed, mut submitted) = (0.0, 0.0);
    let rounds = 50;
    for number in 0..rounds {
        let index = number * items / rounds;
        let started = Instant::now();
        let item = server.ask(&format!("GET /item?index={index} HTTP/1.1"), "")?;
        viewed += started.elapsed().as_secs_f64() * 1000.0;
        assert!(item.starts_with("HTTP/1.1 200"), "{item}");
        let word = json!({
            "id": format!("gen_{index}"), "version": 0, "status": "approved",
            "scores": {"correctness": 5, "clarity": 4, "difficulty_match": 3, "completeness": 5},
        });
        let started = Instant::now();
        let reply = server.ask("POST /submit HTTP/1.1", &word.to_string())?;
        submitted += started.elapsed().as_secs_f64() * 1000.0;
        assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    }
    let of = format!("{items} items of {TEXTS} bytes");
    let wall = |what: &str, measured: f64, most: f64| Figure {
        what: format!("{what}, {of} (wall)"),
        measured,
        unit: "ms",
        target: 0.0..=most,
        decides: false,
    };
    let figures = [
        // With so many items their texts are read before anybody listens.
        wall("from the start to the first page", first, 400.0),
        wall("the list", listed, 100.0),
        wall("an item", viewed / f64::from(rounds), 10.0),
        wall("a word, on the disk", submitted / f64::from(rounds), 50.0),
        Figure {
            what: format!("{of}, peak memory"),
            measured: server.peak_mib()?,
            unit: "MiB",
            target: 0.0..=100.0,
            decides: true,
        },
        few(&folder.path().join("few.json"))?,
    ];
    report(&figures)
}

/// How soon the page of a usual file is there.
fn few(file: &Path) -> io::Result<Figure> {
    write(file, 30)?;
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let started = Instant::now();
        let server = ReviewedServer::start(file)?;
        let page = server.ask("GET / HTTP/1.1", "")?;
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
        best = best.min(started.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(Figure {
        what: "from the start to the first page, 30 items (wall, best of 5)".to_owned(),
        measured: best,
        unit: "ms",
        target: 0.0..=50.0,
        decides: false,
    })
}

fn write(file: &Path, count: u32) -> io::Result<()> {
    let filler =
        "Let $n$ be the least positive integer for which $\\frac{n}{7}$ leaves a remainder. ";
    let filler = filler.repeat(TEXTS / filler.len() / 2);
    let items = (0..count).map(|number| {
        json!({
            "id": format!("gen_{number}"), "problem": format!("{number}. {filler}"), "answer": number % 1000,
            "solution": filler, "topic": "Algebra",
        })
    });
    fs::write(file, serde_json::to_vec(&items.collect::<Vec<Value>>())?)
}

/// A review that is served, and ended when dropped.
struct ReviewedServer {
    program: Child,
    host: String,
    token: String,
}

impl ReviewedServer {
    fn start(file: &Path) -> io::Result<Self> {
        let mut program = Command::new(env!("CARGO_BIN_EXE_cargo-evaltest"))
            .args([
                "evaltest",
                "review",
                "--no-open",
                "--port",
                "0",
                "--reviewer",
                "bench",
            ])
            .arg(file)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut url = String::new();
        if let Some(out) = program.stdout.take() {
            BufReader::new(out).read_line(&mut url)?;
        }
        let rest = url.trim().strip_prefix("http://").unwrap_or_default();
        let (host, token) = rest.split_once("/#token=").unwrap_or_default();
        Ok(Self {
            program,
            host: host.to_owned(),
            token: token.to_owned(),
        })
    }

    fn ask(&self, line: &str, body: &str) -> io::Result<String> {
        let Self { host, token, .. } = self;
        let mut stream = TcpStream::connect(host)?;
        let request = format!(
            "{line}\r\nHost: {host}\r\nOrigin: http://{host}\r\nevaltest-token: {token}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes())?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply)?;
        Ok(reply)
    }

    /// The most memory that it had, where the system tells.
    fn peak_mib(&self) -> io::Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.program.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
        Ok(kib.unwrap_or(f64::NAN) / 1024.0)
    }
}

impl Drop for ReviewedServer {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
