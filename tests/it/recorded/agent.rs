//! An agent that calls a model as clients do: over a connection that it keeps, with streams in pieces. What it does is
//! written in its prompt, and it hides that a call failed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

struct Client {
    stream: BufReader<TcpStream>,
    host: String,
    path: String,
}

impl Client {
    fn new(url: &str) -> Self {
        let rest = url.strip_prefix("http://").expect("a URL");
        let (host, path) = rest.split_once('/').expect("a path");
        Self {
            stream: BufReader::new(TcpStream::connect(host).expect("a connection")),
            host: host.to_owned(),
            path: format!("/{path}"),
        }
    }

    fn call(&mut self, method: &str, path: &str, body: &str) -> std::io::Result<String> {
        let key = std::env::var("OPENAI_API_KEY").unwrap_or_default();
        let (host, base, length) = (&self.host, &self.path, body.len());
        let request = format!(
            "{method} {base}{path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.stream.read_line(&mut head)? == 0 {
                return Ok("closed".to_owned());
            }
        }
        let status = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let head = head.to_lowercase();
        let mut text = Vec::new();
        if head.contains("transfer-encoding: chunked") {
            loop {
                let mut size = String::new();
                if self.stream.read_line(&mut size)? == 0 {
                    text.extend_from_slice(b"(cut)");
                    break;
                }
                let size = usize::from_str_radix(size.trim(), 16).expect("a size");
                let mut piece = vec![0; size + 2];
                self.stream.read_exact(&mut piece)?;
                if size == 0 {
                    break;
                }
                text.extend_from_slice(&piece[..size]);
            }
        } else {
            let length = head.split("content-length: ").nth(1).expect("a length");
            let length = length.lines().next().unwrap().trim().parse().unwrap();
            text = vec![0; length];
            self.stream.read_exact(&mut text)?;
        }
        let text = String::from_utf8_lossy(&text).replace(['\n', '\r'], " ");
        Ok(if status == "200" { text } else { format!("{status}: {text}") })
    }
}

/// Does one step of a prompt.
fn step(client: &mut Client, step: &str, last: &str) -> String {
    let (what, text) = step.trim().split_once(' ').unwrap_or((step, ""));
    let body = |more: &str, text: &str| {
        let text = text.replace('"', "'");
        format!(r#"{{"model":"m",{more}"messages":[{{"role":"user","content":"{text}"}}]}}"#)
    };
    let called = match what {
        "ask" => client.call("POST", "/chat/completions", &body("", text)),
        "stream" => client.call("POST", "/chat/completions", &body(r#""stream":true,"#, text)),
        "tool" => client.call("POST", "/chat/completions", &body("", &format!("{last}{text}"))),
        "day" => {
            let day = std::env::var("DAY").unwrap_or_default();
            client.call("POST", "/chat/completions", &body("", &format!("on {day}")))
        }
        "get" => client.call("GET", text, ""),
        "connect" => return format!("{:?}", TcpStream::connect(text).map(drop).map_err(|it| it.kind())),
        _ => return "?".to_owned(),
    };
    called.unwrap_or_else(|error| error.kind().to_string())
}

fn act(url: &str, prompt: &str) -> String {
    let mut answers: Vec<String> = Vec::new();
    for steps in prompt.split(';') {
        let last = answers.last().cloned().unwrap_or_default();
        // What stands beside `&` is called at once.
        let threads = steps.split('&').map(|one| {
            let (one, last, url) = (one.to_owned(), last.clone(), url.to_owned());
            std::thread::spawn(move || step(&mut Client::new(&url), &one, &last))
        });
        let threads: Vec<_> = threads.collect();
        answers.extend(threads.into_iter().map(|it| it.join().unwrap()));
    }
    // One more by a connection that is kept.
    let mut client = Client::new(url);
    for _ in 0..2 {
        answers.push(step(&mut client, "ask again", ""));
    }
    answers.join(" | ")
}

fn between<'a>(text: &'a str, start: &str) -> &'a str {
    let rest = text.split_once(start).map_or("", |(_, rest)| rest);
    rest.split('"').next().unwrap()
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("worker") {
        for line in std::io::stdin().lines() {
            let line = line.unwrap();
            let answer = act(between(&line, r#""openai":""#), between(&line, r#""prompt":""#));
            let answer = answer.replace(['"', '\\'], "'");
            println!(r#"{{"id":"{}","answer":"{answer}"}}"#, between(&line, r#""id":""#));
        }
        return;
    }
    let mut prompt = String::new();
    std::io::stdin().read_to_string(&mut prompt).unwrap();
    println!("{}", act(&std::env::var("OPENAI_BASE_URL").unwrap(), &prompt));
}
