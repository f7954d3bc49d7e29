//! `Server`: an endpoint on this machine that behaves, or misbehaves, as a test says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Method and path.
    pub(crate) line: String,
    /// In lower case.
    pub(crate) headers: String,
    pub(crate) body: Value,
}

impl Request {
    /// The last message of a chat.
    pub(crate) fn prompt(&self) -> &str {
        let messages = self.body["messages"].as_array();
        let last = messages.and_then(|messages| messages.last());
        last.and_then(|message| message["content"].as_str())
            .unwrap_or_default()
    }
}

/// What comes back.
pub(crate) enum Answer {
    /// A status line's rest, headers, a body.
    Status(&'static str, String, String),
    /// Bytes, and the end of the connection.
    Raw(Vec<u8>),
    /// A reply of success, after which the connection is closed without a word.
    ThenClose(Value),
    /// Nothing for so long, then the end of the connection.
    Never(Duration),
    /// A body of so many bytes and no announced length.
    Flood(u64),
    /// A reply of success, a byte at a time with this pause.
    Slowly(Value, Duration),
}

/// A reply of success.
pub(crate) fn fine(body: &Value) -> Answer {
    let headers = "Content-Type: application/json\r\n".to_owned();
    Answer::Status("200 OK", headers, body.to_string())
}

/// A chat completion with this text.
pub(crate) fn chat(text: &str) -> Value {
    json!({
        "id": "c", "object": "chat.completion", "model": "tiny-2026", "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
    })
}

/// A refusal in the form of `OpenAI`.
pub(crate) fn refusal(status: &'static str, message: &str) -> Answer {
    let body = json!({"error": {"message": message}});
    Answer::Status(status, String::new(), body.to_string())
}

type Act = dyn Fn(&Request, usize) -> Answer + Send + Sync;

/// Listens until the test ends.
pub(crate) struct Server {
    address: String,
    requested: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Gives each request, the first being number 0, the answer of `act`.
    pub(crate) fn new(act: impl Fn(&Request, usize) -> Answer + Send + Sync + 'static) -> Self {
        Self::resetting(0, act)
    }

    /// The same, but resets the first connections.
    pub(crate) fn resetting(
        first: usize,
        act: impl Fn(&Request, usize) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let requested: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (seen, act): (_, Arc<Act>) = (Arc::clone(&requested), Arc::new(act));
        thread::spawn(move || {
            for (number, stream) in listener.incoming().flatten().enumerate() {
                if number < first {
                    // Closed with something unread, a connection is reset.
                    let _ = stream.peek(&mut [0]);
                    continue;
                }
                let (seen, act) = (Arc::clone(&seen), Arc::clone(&act));
                thread::spawn(move || serve(stream, &seen, &*act));
            }
        });
        Self { address, requested }
    }

    /// Answers each chat with its last message in capitals.
    pub(crate) fn shouting() -> Self {
        Self::new(|requested, _| fine(&chat(&requested.prompt().to_uppercase())))
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The smallest `openai` agent of a spec, with further keys.
    pub(crate) fn openai(&self, more: &str) -> String {
        let url = self.url("/v1");
        format!("{{ type: openai, base_url: \"{url}\", model: local{more} }}")
    }

    pub(crate) fn requested(&self) -> Vec<Request> {
        self.requested
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

fn serve(mut stream: TcpStream, seen: &Mutex<Vec<Request>>, act: &Act) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(requested) = read(&mut reader) {
        let number = {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.push(requested.clone());
            seen.len() - 1
        };
        let whole = |status: &str, headers: &str, body: &str| {
            let length = body.len();
            format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n{body}")
        };
        let sent = match act(&requested, number) {
            Answer::Status(status, headers, body) => {
                stream.write_all(whole(status, &headers, &body).as_bytes())
            }
            Answer::ThenClose(body) => {
                let _ = stream.write_all(whole("200 OK", "", &body.to_string()).as_bytes());
                return;
            }
            Answer::Raw(bytes) => {
                let _ = stream.write_all(&bytes);
                return;
            }
            Answer::Never(pause) => {
                thread::sleep(pause);
                return;
            }
            Answer::Flood(bytes) => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
                let _ = std::io::copy(&mut std::io::repeat(b'x').take(bytes), &mut stream);
                return;
            }
            Answer::Slowly(body, pause) => {
                let reply = whole("200 OK", "", &body.to_string());
                reply.as_bytes().chunks(1).try_for_each(|byte| {
                    thread::sleep(pause);
                    stream.write_all(byte)
                })
            }
        };
        if sent.is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let (line, headers) = head.split_once("\r\n")?;
    let headers = headers.to_lowercase();
    let length = headers
        .split_once("content-length: ")
        .map_or("0", |(_, rest)| rest);
    let length: usize = length.lines().next()?.trim().parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request {
        line: line.trim_end_matches(" HTTP/1.1").to_owned(),
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    })
}
