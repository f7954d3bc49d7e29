//! Tests the embedder against a local server that misbehaves in many ways.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::time::Instant;

use serde_json::json;

use super::*;
use crate::eval::registry::scorers::{Context, from_value};
use crate::scorer::ask::semantic::tests::judge;
use crate::system::lock;
use crate::tests::wait::{LONG, given_time};

/// A request to the server, head and body.
type ReceivedRequest = (String, Value);

/// A server that gives these replies, one per connection, and then stops.
struct Server {
    url: String,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Server {
    fn new(replies: Vec<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<ReceivedRequest>>> = Arc::default();
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            for reply in replies {
                let Ok((stream, _)) = listener.accept() else {
                    return;
                };
                let request = read(&stream);
                lock(&seen).extend(request);
                let _ = (&stream).write_all(&reply);
            }
        });
        Self { url, requests }
    }

    fn requests(&self) -> Vec<ReceivedRequest> {
        lock(&self.requests).clone()
    }

    fn embedder(&self) -> HttpEmbedder {
        let embedder = HttpEmbedder::new(&self.url, "mini").unwrap();
        embedder.retries(2, Duration::from_millis(1))
    }
}

fn read(stream: &TcpStream) -> Option<ReceivedRequest> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.to_lowercase();
    let (_, length) = length.split_once("content-length: ")?;
    let length: usize = length.lines().next()?.trim().parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((head, serde_json::from_slice(&body).ok()?))
}

fn reply(status: &str, head: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{head}\r\n{body}"
    )
    .into_bytes()
}

fn ok(body: &Value) -> Vec<u8> {
    reply(
        "200 OK",
        "Content-Type: application/json\r\n",
        &body.to_string(),
    )
}

fn good() -> Vec<u8> {
    // Out of order, which the standard allows.
    ok(
        &json!({"object": "list", "model": "mini", "usage": {}, "data": [
            {"object": "embedding", "index": 1, "embedding": [0, 2.5]},
            {"object": "embedding", "index": 0, "embedding": [1, 0]},
        ]}),
    )
}

fn embed(server: &Server) -> Result<Vec<Vec<f32>>> {
    server.embedder().embed(&["a", "b"])
}

#[track_caller]
fn check_error(replies: Vec<Vec<u8>>, expect: &str) {
    let number = replies.len();
    let server = Server::new(replies);
    let error = embed(&server).unwrap_err();
    assert_eq!(
        error.message(),
        expect.replace("URL", &format!("{}/embeddings", server.url))
    );
    assert_eq!(
        (error.exit(), server.requests().len()),
        (crate::Exit::Infrastructure, number)
    );
}

#[test]
fn texts_go_out_and_vectors_come_back() {
    let server = Server::new(vec![good()]);
    let vectors = server
        .embedder()
        .api_key("sk-secret-1")
        .embed(&["a", "b\n\"c\""])
        .unwrap();
    assert_eq!(vectors, [vec![1.0, 0.0], vec![0.0, 2.5]]);
    let (head, body) = server.requests().remove(0);
    assert!(
        head.starts_with("POST /v1/embeddings HTTP/1.1\r\n"),
        "{head}"
    );
    let head = head.to_lowercase();
    assert!(
        head.contains("\r\nauthorization: bearer sk-secret-1\r\n"),
        "{head}"
    );
    assert!(
        head.contains("\r\ncontent-type: application/json\r\n"),
        "{head}"
    );
    assert_eq!(body, json!({"model": "mini", "input": ["a", "b\n\"c\""]}));
    // Without a key none is sent; without `index` the order counts.
    let plain = ok(&json!({"data": [{"embedding": [1]}, {"embedding": [2]}]}));
    let server = Server::new(vec![plain]);
    assert_eq!(embed(&server).unwrap(), [[1.0], [2.0]]);
    assert!(
        !server.requests()[0]
            .0
            .to_lowercase()
            .contains("authorization")
    );
}

#[test]
fn busy_or_broken_endpoint_is_retried() {
    let broken = || reply("500 Internal Server Error", "", "");
    let server = Server::new(vec![broken(), reply("503 Busy", "", "later"), good()]);
    assert_eq!(embed(&server).unwrap().len(), 2);
    // A gateway that reports an error within a success.
    let server = Server::new(vec![ok(&json!({"error": {"code": 502}})), good()]);
    assert_eq!(embed(&server).unwrap().len(), 2);
    // A connection that breaks, and one with another protocol.
    let server = Server::new(vec![Vec::new(), b"SSH-2.0-x\r\n\r\n".to_vec(), good()]);
    assert_eq!(embed(&server).unwrap().len(), 2);
    // No more often than allowed.
    check_error(
        vec![
            broken(),
            broken(),
            reply("502 Bad Gateway", "", "<h1>no</h1>\n"),
        ],
        "`URL` answered 502 Bad Gateway: <h1>no</h1> (asked 3 times)",
    );
    let none = Server::new(vec![broken()]);
    let error = none
        .embedder()
        .retries(0, Duration::ZERO)
        .embed(&["a"])
        .unwrap_err();
    assert!(
        error
            .message()
            .ends_with("answered 500 Internal Server Error"),
        "{error}"
    );
}

#[test]
fn retry_after_is_respected_within_bounds() {
    let busy = |after: &str| {
        reply(
            "429 Too Many Requests",
            &format!("Retry-After: {after}\r\n"),
            "",
        )
    };
    let server = Server::new(vec![
        busy("1"),
        busy("Wed, 21 Oct 2026 07:28:00 GMT"),
        good(),
    ]);
    let started = Instant::now();
    assert_eq!(embed(&server).unwrap().len(), 2);
    let took = started.elapsed();
    assert!(
        (Duration::from_millis(900)..LONG).contains(&took),
        "{took:?}"
    );
    check_error(
        vec![busy("3600")],
        "`URL` answered 429 Too Many Requests; it asks to wait 3600 s",
    );
}

#[test]
fn mistakes_are_not_repeated() {
    check_error(
        vec![reply(
            "401 Unauthorized",
            "",
            r#"{"error": {"message": "bad key\nreally"}}"#,
        )],
        "`URL` answered 401 Unauthorized: bad key\\nreally",
    );
    check_error(
        vec![reply("404 Not Found", "", "")],
        "`URL` answered 404 Not Found",
    );
    check_error(
        vec![reply("302 Found", "Location: http://127.0.0.1:1/\r\n", "")],
        "`URL` answered 302 Found",
    );
}

#[test]
fn replies_that_are_no_vectors() {
    let garbage = |body: &str| vec![reply("200 OK", "", body)];
    check_error(
        garbage("hello\x1b[2J"),
        "`URL` did not answer with a list of embeddings (expected value at line 1 column 1): `hello\\u{1b}[2J`",
    );
    for body in [
        "",
        "{}",
        r#"{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [1]}]}"#,
        r#"{"data": [{"index": 0, "embedding": [1e39]}, {"index": 1, "embedding": [1]}]}"#,
        r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [null]}]}"#,
        r#"{"data": [{"index": 0, "embedding": "AACAPw=="}, {"index": 1, "embedding": [1]}]}"#,
        r#"{"data": [{"index": -1, "embedding": [1]}, {"index": 1, "embedding": [1]}]}"#,
    ] {
        let error = embed(&Server::new(garbage(body))).unwrap_err();
        assert!(
            error
                .message()
                .contains("did not answer with a list of embeddings"),
            "{error}"
        );
    }
    let data = |data: Value| vec![ok(&json!({ "data": data }))];
    let one = json!({"index": 0, "embedding": [1]});
    check_error(
        data(json!([one])),
        "`URL` answered with 1 embeddings for 2 texts",
    );
    check_error(
        data(json!([one, one, one])),
        "`URL` answered with 3 embeddings for 2 texts",
    );
    let index = "`URL` answered with embeddings with an unknown or repeated `index`";
    check_error(data(json!([one, one])), index);
    check_error(data(json!([one, {"index": 2, "embedding": [1]}])), index);
    // Truncated: the connection ends before the body does.
    let mut short = good();
    short.truncate(short.len() - 5);
    let server = Server::new(vec![short.clone(), short.clone(), short]);
    let error = embed(&server).unwrap_err();
    assert!(error.message().contains("(asked 3 times)"), "{error}");
    // Longer than any list of embeddings.
    let long = format!("[{}]", " ".repeat(17 << 20));
    let error = embed(&Server::new(garbage(&long))).unwrap_err();
    assert!(
        error
            .message()
            .ends_with("answered with more than 16777216 bytes"),
        "{error}"
    );
}

#[test]
fn vectors_of_other_lengths_and_empty_ones_are_scorer_errors() {
    let message = |one: Value, other: Value| {
        let data = json!([{"index": 0, "embedding": one}, {"index": 1, "embedding": other}]);
        let server = Server::new(vec![ok(&json!({ "data": data }))]);
        let scorer = Semantic::new(server.embedder());
        judge(&scorer, Some("a"), &"b".into())
            .unwrap_err()
            .message()
            .to_owned()
    };
    assert_eq!(
        message(json!([1]), json!([1, 2])),
        "model `mini` gave vectors of 1 and of 2 numbers"
    );
    let zero = "model `mini` gave a vector without direction, all 0";
    assert_eq!(message(json!([]), json!([])), zero);
}

#[test]
fn a_slow_endpoint_is_not_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let embed = || {
        let embed = |time| {
            let embedder = HttpEmbedder::new(&url, "mini").unwrap();
            let error = embedder.retries(0, PAUSE).timeout(time).embed(&["a"]);
            let message = error.unwrap_err().message().to_owned();
            // If there was not even time to connect.
            (!message.ends_with("no connection in time")).then_some(message)
        };
        given_time(Duration::from_millis(200), embed)
    };
    // The remaining time depends on the machine.
    let late = format!("`{url}/embeddings` did not answer in ");
    let message = embed();
    assert!(message.starts_with(&late), "{message}");
    // A server that sends slowly.
    std::thread::spawn(move || {
        let Ok((stream, _)) = listener.accept() else {
            return;
        };
        // The first connection is the previous one.
        let Ok((mut next, _)) = listener.accept() else {
            return;
        };
        let _ = next.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
        while next.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(stream);
    });
    let message = embed();
    assert!(message.starts_with(&late), "{message}");
}

#[test]
fn an_endpoint_that_is_not_there_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/", listener.local_addr().unwrap());
    drop(listener);
    let embedder = HttpEmbedder::new(&url, "mini")
        .unwrap()
        .retries(1, Duration::from_millis(1));
    let scorer = Semantic::new(embedder);
    let error = judge(&scorer, Some("a"), &"b".into()).unwrap_err();
    let expect = format!("`{url}embeddings` cannot be reached: Connection refused");
    assert!(error.message().starts_with(&expect), "{error}");
    assert!(error.message().ends_with(" (asked 2 times)"), "{error}");
    // The same text needs no request.
    assert!(judge(&scorer, Some("b"), &"b".into()).unwrap().correct);
}

#[test]
fn a_key_stands_in_no_message() {
    let body = r#"{"error": {"message": "Incorrect API key provided: sk-secret-1"}}"#;
    let server = Server::new(vec![reply("401 Unauthorized", "", body)]);
    let embedder = server.embedder().api_key("sk-secret-1");
    assert_eq!(embedder.secrets(), ["sk-secret-1"]);
    let error = embedder.embed(&["a"]).unwrap_err();
    assert!(
        error
            .message()
            .ends_with("Incorrect API key provided: [REDACTED]"),
        "{error}"
    );
}

fn scorer(folder: &std::path::Path, options: Value) -> Result<Arc<dyn Scorer>> {
    let mut spec =
        json!({"type": "semantic", "base_url": "http://127.0.0.1:1/v1", "model": "mini"});
    if let (Value::Object(spec), Value::Object(options)) = (&mut spec, options) {
        spec.extend(options);
    }
    let context = Context {
        folder,
        registry: None,
        item_parts: None,
    };
    from_value(&spec, &context)
}

#[test]
fn a_spec_says_it_all() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join(".env"),
        "EMBED_KEY_OF_TEST='sk-from-file'\n",
    )
    .unwrap();
    let server = Server::new(vec![good()]);
    let options = json!({
        "base_url": server.url, "api_key_env": "EMBED_KEY_OF_TEST", "threshold": 0.25, "cache": "kept",
        "timeout_s": 5, "retries": 0,
    });
    let made = scorer(folder.path(), options).unwrap();
    assert_eq!(made.secrets(), ["sk-from-file"]);
    assert_eq!(made.fingerprint(), r#"semantic ["mini",0.25]"#);
    let score = judge(&*made, Some("a"), &"b".into()).unwrap();
    assert_eq!((score.value, score.correct), (0.0, false));
    let head = server.requests()[0].0.to_lowercase();
    assert!(
        head.contains("authorization: bearer sk-from-file"),
        "{head}"
    );
    assert_eq!(
        std::fs::read_dir(folder.path().join("kept"))
            .unwrap()
            .count(),
        2
    );
}

#[test]
fn options_that_are_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let message = |options: Value| {
        let error = scorer(folder.path(), options).err().unwrap();
        assert_eq!(error.exit(), crate::Exit::Usage);
        error.message().to_owned()
    };
    for url in [
        "127.0.0.1:80",
        "ftp://host/v1",
        "http://",
        "http:// x",
        "http://h/v1?a=b",
    ] {
        assert_eq!(
            message(json!({"base_url": url})),
            format!("scorer `semantic`: `{url}` is not the URL of an endpoint")
        );
    }
    assert_eq!(
        message(json!({"base_url": "http://me:secret@host/v1"})),
        "scorer `semantic`: the URL of the endpoint contains a password"
    );
    assert_eq!(
        message(json!({"base_url": null})),
        "scorer `semantic` needs the option `base_url`, the URL of an endpoint"
    );
    assert_eq!(
        message(json!({"model": ""})),
        "scorer `semantic` needs the option `model`, the name of an embedding model"
    );
    let at = |key: &str, text: &str| format!("scorer `semantic`, option `{key}`: {text}");
    assert_eq!(
        message(json!({"threshold": 1.5})),
        at("threshold", "`1.5` is not a number from 0 to 1")
    );
    assert_eq!(
        message(json!({"retries": 11})),
        at("retries", "`11` is not a whole number from 0 to 10")
    );
    assert_eq!(
        message(json!({"cache": 1})),
        at("cache", "`1` is not a text")
    );
    assert_eq!(
        message(json!({"api_key_env": "NO_SUCH_KEY_OF_TEST"})),
        "scorer `semantic`: `api_key_env: NO_SUCH_KEY_OF_TEST` is set neither in the environment nor in `.env`"
    );
    std::fs::write(
        folder.path().join(".env"),
        "ODD_KEY_OF_TEST='schlüssel-geheim'\n",
    )
    .unwrap();
    let odd = message(json!({"api_key_env": "ODD_KEY_OF_TEST"}));
    assert!(
        odd.contains("cannot be a key") && !odd.contains("geheim"),
        "{odd}"
    );
}
