//! Nothing is asked of anybody whom the spec does not name: no telemetry, no account, no look for a new version.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::project::{Project, Ran};
use crate::server::{Server, chat, fine};

/// A proxy that keeps the first line of whatever it is asked and passes nothing on.
struct Recorder {
    address: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let captured = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                // It comes in pieces.
                let mut first = String::new();
                let _ = BufReader::new(&stream).read_line(&mut first);
                captured.lock().unwrap().push(first.trim_end().to_owned());
                let _ = stream.write_all(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
            }
        });
        Self { address, seen }
    }

    /// Has everything that is asked over HTTP come by.
    fn watches(&self, mut command: Command) -> Ran {
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            command.env(name, &self.address);
            command.env(name.to_lowercase(), &self.address);
        }
        command.env_remove("NO_PROXY").env_remove("no_proxy");
        Ran::of(&command.output().unwrap())
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

#[test]
fn nobody_is_asked_but_whom_the_spec_names() {
    let recorder = Recorder::new();
    let run = |project: &Project, arguments: &str| recorder.watches(project.command(arguments));
    let questions = [("a", 1, "One?", "1")];
    let project = Project::with_eval(&questions, "{ type: echo, text: '1' }", "");
    for arguments in [
        "run eval.yaml",
        "list eval.yaml --stats",
        "doctor eval.yaml",
        "accept",
        "show e",
        "summarize e",
        "rescore e --scorer exact",
        "cache stats eval.yaml",
        "scorers --list",
        "score --scorer exact --explain --prediction a --ground-truth a",
        "--version",
        "--help",
    ] {
        run(&project, arguments).exits(0);
        assert_eq!(recorder.seen(), [""; 0], "`{arguments}` asked somebody");
    }
    // The recorder does see what is asked: of the named host, and of nobody else.
    let agent = "{ type: openai, base_url: 'http://named.invalid/v1', model: m }";
    let no_retries = Project::with_eval(&questions, agent, "limits: { retries: 0 }\n");
    run(&no_retries, "run eval.yaml");
    let seen = recorder.seen();
    assert!(!seen.is_empty(), "the endpoint was asked");
    let others: Vec<_> = seen
        .iter()
        .filter(|line| !line.contains("named.invalid"))
        .collect();
    assert!(others.is_empty(), "{others:?}");
}

#[test]
fn an_endpoint_is_asked_once_for_each_sample_and_for_nothing_else() {
    let server = Server::new(|_, _| fine(&chat("1")));
    let project = Project::with_eval(
        &[("a", 1, "One?", "1"), ("b", 1, "Two?", "1")],
        &server.openai(""),
        "",
    );
    project.run("list eval.yaml").exits(0);
    assert_eq!(server.requested().len(), 0);
    project.run("run eval.yaml").exits(0);
    assert_eq!(server.requested().len(), 2);
}
