//! `ReviewWindow`: a review that is served, and asked as its page asks.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::project::{Project, Ran};
use crate::signals::send;

/// A server of a review that is ended when dropped.
pub(crate) struct ReviewWindow {
    program: Child,
    pub(crate) url: String,
}

/// An answer: its status and its body.
pub(crate) type Answered = (u16, String);

impl ReviewWindow {
    /// Opens one, on a port that is free where none is named.
    pub(crate) fn open(project: &Project, arguments: &str) -> Self {
        let port = if arguments.contains("--port") {
            ""
        } else {
            " --port 0"
        };
        let mut program = project
            .command(&format!("review {arguments} --no-open{port}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(program.stdout.take().unwrap())
            .read_line(&mut url)
            .unwrap();
        if url.is_empty() {
            let mut err = String::new();
            program
                .stderr
                .take()
                .unwrap()
                .read_to_string(&mut err)
                .unwrap();
            panic!("nobody listens: {err}");
        }
        let url = url.trim().to_owned();
        Self { program, url }
    }

    /// `127.0.0.1:PORT`.
    pub(crate) fn host(&self) -> &str {
        let rest = self.url.strip_prefix("http://").unwrap_or_default();
        rest.split('/').next().unwrap()
    }

    pub(crate) fn token(&self) -> &str {
        self.url.split("#token=").nth(1).unwrap()
    }

    /// What comes back for these lines of a head, and a body.
    pub(crate) fn ask(&self, head: &[&str], body: &str) -> Answered {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        let length = format!("Content-Length: {}", body.len());
        let mut head = head.to_vec();
        if !body.is_empty() {
            head.push(&length);
        }
        let request = head.join("\r\n") + "\r\n\r\n" + body;
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let status = reply.split(' ').nth(1).unwrap().parse().unwrap();
        let body = reply.split_once("\r\n\r\n").unwrap().1;
        (status, body.to_owned())
    }

    /// What the page's own script is answered.
    pub(crate) fn get(&self, path: &str) -> Value {
        let (host, token) = (self.host(), self.token());
        let head = [
            &*format!("GET {path} HTTP/1.1"),
            &format!("Host: {host}"),
            &format!("evaltest-token: {token}"),
            "Sec-Fetch-Site: same-origin",
        ];
        let (status, body) = self.ask(&head, "");
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    /// What it is answered when it sends something.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Answered {
        let (host, token) = (self.host(), self.token());
        let head = [
            &*format!("POST {path} HTTP/1.1"),
            &format!("Host: {host}"),
            &format!("Origin: http://{host}"),
            &format!("evaltest-token: {token}"),
            "Content-Type: application/json",
        ];
        self.ask(&head, &body.to_string())
    }

    /// Submits a word on the item of this id, as it stands by now; all dimensions of the usual rubric get these points.
    pub(crate) fn says(&self, id: &str, points: u8, status: &str) -> Value {
        let state = self.get("/state");
        let items = state["items"].as_array().unwrap();
        let index = items.iter().position(|item| item["id"] == id).unwrap();
        let item = self.get(&format!("/item?index={index}"));
        let word = word(id, item["version"].as_u64().unwrap(), points, status);
        let (code, body) = self.post("/submit", &word);
        assert_eq!(code, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    /// The status of what is answered to a word; `None` where the server is gone.
    pub(crate) fn tries(&self, word: &Value) -> Option<u16> {
        let mut stream = TcpStream::connect(self.host()).ok()?;
        let (host, token, body) = (self.host(), self.token(), word.to_string());
        let request = format!(
            "POST /submit HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nevaltest-token: {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut reply = String::new();
        stream.read_to_string(&mut reply).ok()?;
        reply.split(' ').nth(1)?.parse().ok()
    }

    /// The server is gone at once, while others may be talking to it.
    pub(crate) fn kill(&self) {
        send("KILL", &self.program);
    }

    /// The server is gone at once, as when its machine fails.
    pub(crate) fn killed(mut self) {
        self.program.kill().unwrap();
        self.program.wait().unwrap();
    }

    /// Ends it as Ctrl-C does.
    pub(crate) fn ends(mut self) -> Ran {
        send("INT", &self.program);
        let status = self.program.wait().unwrap();
        let mut err = String::new();
        let mut stderr = self.program.stderr.take().unwrap();
        stderr.read_to_string(&mut err).unwrap();
        Ran {
            code: status.code(),
            out: String::new(),
            err,
        }
    }
}

impl Drop for ReviewWindow {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// What is sent to submit a word.
pub(crate) fn word(id: &str, version: u64, points: u8, status: &str) -> Value {
    json!({
        "id": id, "version": version, "status": status, "comments": format!("{points} points"),
        "scores": {"correctness": points, "clarity": points, "difficulty_match": points, "completeness": points},
    })
}

/// A project with so many items in `items.json`.
pub(crate) fn items(count: u32) -> Project {
    let project = Project::new();
    let items = (1..=count).map(|number| {
        json!({
            "id": format!("gen_aime_{number}"), "problem": format!("What is ${number}+1$?"), "answer": number + 1,
            "solution": format!("It is {}.", number + 1), "topic": (if number % 2 == 0 { "Algebra" } else { "Geometry" }),
            "reference_id": "aime_1983_1", "model": "small",
        })
    });
    let items: Vec<Value> = items.collect();
    project.write("items.json", serde_json::to_string_pretty(&items).unwrap());
    project
}
