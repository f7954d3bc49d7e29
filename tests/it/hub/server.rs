//! A Hub on this machine: a dataset with its listing, small files, large ones on another host, gates and faults.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::json;
use sha1::Digest;

pub(crate) const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
pub(crate) const TOKEN: &str = "hf_0123456789abcdef";

/// What goes wrong with one request for a file.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// This status with these headers, in place of all.
    Status(u16, &'static str),
    /// So many bytes of the body, then nothing.
    Half(usize),
    /// Other bytes of the same length.
    Other,
    /// More bytes than announced.
    More,
    /// The whole file, whatever range was asked for.
    Whole,
}

/// Where requests for files are sent, on the Hub itself.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Moved {
    /// To a path of the same host.
    Elsewhere,
    /// To where they came from.
    Around,
}

#[derive(Default)]
pub(crate) struct State {
    files: BTreeMap<String, Vec<u8>>,
    /// What the dataset `acme/toy` is called as well.
    pub(crate) called: Option<&'static str>,
    /// The token without which nothing is given.
    gate: Option<&'static str>,
    /// Sent in place of the right ones.
    pub(crate) etag: Option<String>,
    pub(crate) commit: Option<String>,
    pub(crate) listed: Vec<String>,
    pub(crate) moved: Option<Moved>,
    /// Before each answer.
    pub(crate) pause: Duration,
    /// What the next requests for a file's content meet.
    faults: HashMap<String, VecDeque<Fault>>,
    /// Method, path, range, whether a token came.
    log: Vec<String>,
    /// The other host.
    cdn: String,
}

pub(crate) struct Hub {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
}

impl Hub {
    /// Files of more than 99 bytes are on the other host.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let cdn = serve(&state, |state, request| content(state, request, true));
        let url = serve(&state, answer);
        let mut locked = state.lock().unwrap();
        locked.cdn = cdn;
        for (path, text) in files {
            let content = text.as_bytes().to_owned();
            locked.files.insert((*path).to_owned(), content);
        }
        drop(locked);
        Self { url, state }
    }

    pub(crate) fn gated(self) -> Self {
        self.set(|state| state.gate = Some(TOKEN));
        self
    }

    pub(crate) fn set(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap());
    }

    pub(crate) fn fault(&self, path: &str, faults: &[Fault]) {
        self.set(|state| {
            let faults = faults.iter().cloned().collect();
            state.faults.insert(path.to_owned(), faults);
        });
    }

    /// What was asked since the last time: the last part of each path.
    pub(crate) fn requested(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().log)
    }
}

struct Request {
    method: String,
    path: String,
    range: Option<usize>,
    token: Option<String>,
}

fn serve(state: &Arc<Mutex<State>>, answer: fn(&mut State, &Request) -> Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let state = Arc::clone(state);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let state = Arc::clone(&state);
            thread::spawn(move || one(stream, &state, answer));
        }
    });
    url
}

fn one(mut stream: TcpStream, state: &Mutex<State>, answer: fn(&mut State, &Request) -> Vec<u8>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if !matches!(reader.read_line(&mut line), Ok(1..)) {
            return;
        }
        if line == "\r\n" {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let header = |name: &str| {
        let mut headers = lines.iter().filter_map(|line| line.split_once(": "));
        let found = headers.find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.to_owned())
    };
    let mut first = lines[0].split(' ').map(str::to_owned);
    let mut request = Request {
        method: first.next().unwrap(),
        path: first.next().unwrap(),
        range: header("range").map(|range| {
            let from = range.strip_prefix("bytes=").unwrap();
            from.strip_suffix('-').unwrap().parse().unwrap()
        }),
        token: header("authorization"),
    };
    let pause = state.lock().unwrap().pause;
    thread::sleep(pause);
    let reply = {
        let mut state = state.lock().unwrap();
        if let Some(name) = state.called {
            request.path = request.path.replace(&format!("/{name}/"), "/acme/toy/");
        }
        let mut noted = format!("{} {}", request.method, request.path);
        if let Some(from) = request.range {
            let _ = write!(noted, " from {from}");
        }
        if request.token.is_some() {
            noted.push_str(" with token");
        }
        state.log.push(noted);
        answer(&mut state, &request)
    };
    let _ = stream.write_all(&reply);
}

fn reply(status: u16, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The checksum of a file as git, or as large storage has it.
pub(crate) fn checksum(content: &[u8]) -> String {
    if is_large(content) {
        return hex(&sha2::Sha256::digest(content));
    }
    let mut hasher = sha1::Sha1::new();
    hasher.update(format!("blob {}\0", content.len()));
    hasher.update(content);
    hex(&hasher.finalize())
}

fn is_large(content: &[u8]) -> bool {
    content.len() > 99
}

fn answer(state: &mut State, request: &Request) -> Vec<u8> {
    let Some(rest) = request.path.strip_prefix("/api/datasets/acme/toy/") else {
        return content(state, request, false);
    };
    let commit = state.commit.clone().unwrap_or_else(|| COMMIT.to_owned());
    if let Some(revision) = rest.strip_prefix("revision/") {
        if !matches!(revision, "main" | "refs%2Fpr%2F1") {
            return reply(404, "X-Error-Code: RevisionNotFound\r\n", b"{}");
        }
        return reply(200, "", json!({ "sha": commit }).to_string().as_bytes());
    }
    // Two pages.
    let is_second = rest.ends_with("&cursor=2");
    let entry = |(path, content): (&String, &Vec<u8>)| {
        let mut entry = json!({
            "type": "file", "path": path, "size": content.len(), "oid": "ab".repeat(20),
        });
        if is_large(content) {
            entry["lfs"] = json!({"oid": checksum(content), "size": content.len()});
        }
        entry
    };
    let mut entries: Vec<_> = state.files.iter().map(entry).collect();
    let named = state.listed.iter();
    entries.extend(named.map(|path| json!({"type": "file", "path": path, "size": 1, "oid": ""})));
    let second = entries.split_off(1);
    if is_second {
        return reply(200, "", json!(second).to_string().as_bytes());
    }
    let link = format!("Link: <{}&cursor=2>; rel=\"next\"\r\n", request.path);
    reply(200, &link, json!(entries).to_string().as_bytes())
}

/// A file from the Hub itself, or from the other host.
fn content(state: &mut State, request: &Request, is_cdn: bool) -> Vec<u8> {
    let named = format!("/datasets/acme/toy/resolve/{COMMIT}/");
    let stored = format!("/api/resolve-cache/datasets/acme/toy/{COMMIT}/");
    let moved = state.moved.filter(|_| !is_cdn);
    let prefix = match moved {
        _ if is_cdn => "/cdn/",
        Some(Moved::Elsewhere) if request.path.starts_with(&stored) => &stored,
        _ => &named,
    };
    if prefix == named && moved.is_some() {
        let around = moved == Some(Moved::Around);
        let start = if around { &named } else { &stored };
        let location = request.path.replace(&named, start);
        return reply(307, &format!("Location: {location}\r\n"), b"");
    }
    let Some(path) = request.path.strip_prefix(prefix) else {
        return reply(401, "X-Error-Code: RepoNotFound\r\n", b"{}");
    };
    if is_cdn && request.token.is_some() {
        return reply(400, "", b"one credential is enough");
    }
    let bearer = state.gate.map(|token| format!("Bearer {token}"));
    if !is_cdn && bearer.is_some() && request.token != bearer {
        let status = if request.token.is_some() { 403 } else { 401 };
        let headers = "X-Error-Code: GatedRepo\r\nX-Error-Message: Access to dataset acme/toy is restricted.\r\n";
        return reply(status, headers, b"");
    }
    let path = path.replace("%20", " ");
    let Some(content) = state.files.get(&path) else {
        return reply(404, "X-Error-Code: EntryNotFound\r\n", b"");
    };
    let is_head = request.method == "HEAD";
    let etag = state.etag.clone().unwrap_or_else(|| checksum(content));
    if is_large(content) && !is_cdn {
        let headers = format!(
            "X-Repo-Commit: {COMMIT}\r\nETag: \"pointer\"\r\nX-Linked-Etag: \"{etag}\"\r\nX-Linked-Size: {}\r\n\
             Location: {}/cdn/{path}\r\n",
            content.len(),
            state.cdn,
            path = path.replace(' ', "%20"),
        );
        return reply(302, &headers, b"");
    }
    let mut fault = None;
    if !is_head {
        fault = state.faults.get_mut(&path).and_then(VecDeque::pop_front);
    }
    let from = request
        .range
        .filter(|_| !matches!(fault, Some(Fault::Whole)));
    let mut body = content[from.unwrap_or(0).min(content.len())..].to_vec();
    let length = body.len();
    match fault {
        Some(Fault::Status(status, headers)) => return reply(status, headers, b""),
        Some(Fault::Half(bytes)) => body.truncate(bytes),
        Some(Fault::Other) => body.iter_mut().for_each(|byte| *byte ^= 1),
        Some(Fault::More) => body.extend([b'x'; 1000]),
        Some(Fault::Whole) | None => {}
    }
    let length = length.max(body.len());
    let mut head = format!(
        "HTTP/1.1 {} X\r\nConnection: close\r\nETag: \"{etag}\"\r\nX-Repo-Commit: {COMMIT}\r\nContent-Length: {length}\r\n",
        if from.is_some() { 206 } else { 200 }
    );
    if let Some(from) = from {
        let last = content.len().saturating_sub(1);
        let _ = write!(
            head,
            "Content-Range: bytes {from}-{last}/{}\r\n",
            content.len()
        );
    }
    head.push_str("\r\n");
    if is_head {
        body.clear();
    }
    [head.as_bytes(), &body].concat()
}
