//! Properties of every reader of replies: whatever happens to a reply on its way, no outage is an answer, and no answer
//! is lost.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use serde_json::{Value, json};
use ureq::http::{HeaderMap, StatusCode};

use crate::agent::command::Reply;
use crate::agent::{Http, OpenAi, Places};
use crate::data::{AgentError, Finish, Output};
use crate::system::http::HttpReply;
use crate::tests::fuzz::{Dice, fuzz};

/// A reader and a reply of its dialect.
struct Case {
    reader: Reader,
    reply: Value,
    /// Where the answer stands.
    answer: &'static str,
    /// Where an error can stand.
    errors: &'static [&'static str],
    /// Where a word says how it ended, and the words for an outage, the limit of tokens and a refusal.
    word: &'static str,
    words: [&'static str; 3],
}

enum Reader {
    OpenAi(OpenAi),
    Http(Http),
    Command,
}

fn http(answer: &str) -> Reader {
    let places = Places {
        answer: Some(answer.to_owned()),
        ..Places::default()
    };
    Reader::Http(Http::new("http://127.0.0.1:1/").unwrap().places(places))
}

fn cases() -> Vec<Case> {
    let openai = json!({"id": "c", "model": "m", "choices": [{"index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": ""}}], "usage": {"prompt_tokens": 1, "completion_tokens": 2}});
    let responses = json!({"object": "response", "status": "completed", "error": null, "incomplete_details": {"reason": ""},
        "output": [{"type": "message", "content": [{"type": "output_text", "text": ""}]}]});
    let anthropic = json!({"type": "message", "role": "assistant", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": ""}], "usage": {"input_tokens": 1, "output_tokens": 2}});
    let gemini =
        json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": ""}]}}]});
    let ollama =
        json!({"model": "m", "done": true, "done_reason": "stop", "message": {"content": ""}});
    let cohere = json!({"finish_reason": "COMPLETE", "message": {"content": [{"type": "text", "text": ""}]}});
    let chat = ["error", "length", "content_filter"];
    let case = |reader, reply: &Value, answer, errors, word, words| Case {
        reader,
        reply: reply.clone(),
        answer,
        errors,
        word,
        words,
    };
    let (content, finish) = ("/choices/0/message/content", "/choices/0/finish_reason");
    let in_choice: &[&str] = &["/error", "/choices/0/error"];
    let top: &[&str] = &["/error"];
    let agent = Reader::OpenAi(OpenAi::new("http://127.0.0.1:1/v1", "m").unwrap());
    let (text, parts) = ("/content/0/text", "/candidates/0/content/parts/0/text");
    let own = json!({"answer": "", "usage": {"input_tokens": 1}});
    vec![
        case(agent, &openai, content, in_choice, finish, chat),
        case(http(content), &openai, content, in_choice, finish, chat),
        case(
            http("/output/0/content/0/text"),
            &responses,
            "/output/0/content/0/text",
            top,
            "/incomplete_details/reason",
            ["failed", "max_output_tokens", "content_filter"],
        ),
        case(
            http(text),
            &anthropic,
            text,
            top,
            "/stop_reason",
            ["error", "max_tokens", "refusal"],
        ),
        case(
            http(parts),
            &gemini,
            parts,
            top,
            "/candidates/0/finishReason",
            ["MALFORMED_FUNCTION_CALL", "MAX_TOKENS", "SAFETY"],
        ),
        case(
            http("/message/content"),
            &ollama,
            "/message/content",
            top,
            "/done_reason",
            chat,
        ),
        case(
            http("/message/content/0/text"),
            &cohere,
            "/message/content/0/text",
            top,
            "/finish_reason",
            ["ERROR", "MAX_TOKENS", "ERROR_TOXIC"],
        ),
        case(
            http("/answer"),
            &own,
            "/answer",
            &[],
            "/finish_reason",
            chat,
        ),
        case(
            Reader::Command,
            &own,
            "/answer",
            &[],
            "/finish_reason",
            chat,
        ),
    ]
}

impl Case {
    fn read(&self, status: u16, headers: HeaderMap, body: &[u8]) -> Result<Output, AgentError> {
        let status = StatusCode::from_u16(status).unwrap();
        let reply = || {
            let reply = HttpReply::of(status, headers, body.to_vec(), 1 << 20);
            reply.map_err(|failure| AgentError::new(failure.message))
        };
        match &self.reader {
            Reader::OpenAi(agent) => agent.read(&agent.endpoint.accept(reply()?)?),
            Reader::Http(agent) => agent.read(&agent.endpoint.accept(reply()?)?),
            Reader::Command => Reply::Json.decode(body),
        }
    }

    fn is_http(&self) -> bool {
        !matches!(self.reader, Reader::Command)
    }
}

/// Sets a value at a pointer whose parents exist, but for the last member.
fn set(reply: &mut Value, pointer: &str, value: Value) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = reply.pointer_mut(parent).unwrap();
    match parent.as_array_mut() {
        Some(items) => items[name.parse::<usize>().unwrap()] = value,
        None => parent[name] = value,
    }
}

/// An error as gateways write one.
fn error(dice: &mut Dice) -> Value {
    [
        json!({"code": 502, "message": "upstream"}),
        json!({"code": "server_error"}),
        json!({"type": "overloaded_error", "message": "Overloaded"}),
        json!({"status": "RESOURCE_EXHAUSTED"}),
        json!("model crashed"),
        json!(true),
        json!([{"message": "broken"}]),
    ][dice.below(7)]
    .clone()
}

/// What is no error, though it has the place of one.
fn no_error(dice: &mut Dice) -> Value {
    [json!(null), json!({}), json!(false), json!(""), json!([])][dice.below(5)].clone()
}

/// The body as it may come over the wire: with a mark, white space, or packed, with the header or without.
fn sent(dice: &mut Dice, body: &[u8]) -> (HeaderMap, Vec<u8>) {
    let mut headers = HeaderMap::new();
    let mut name = |headers: &mut HeaderMap, name: &'static str| {
        if dice.below(2) == 0 {
            headers.insert("content-encoding", name.parse().unwrap());
        }
        dice.below(4)
    };
    let kind = name(&mut headers, "gzip");
    let packed = match kind {
        0 => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(body).unwrap();
            encoder.finish().unwrap()
        }
        1 => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(body).unwrap();
            encoder.finish().unwrap()
        }
        2 => [b"\xEF\xBB\xBF\r\n ", body].concat(),
        _ => body.to_vec(),
    };
    (headers, packed)
}

#[test]
fn no_answer_is_lost() {
    let cases = cases();
    fuzz(|dice| {
        let case = &cases[dice.below(cases.len())];
        let mut reply = case.reply.clone();
        let pieces = ["4", " ", "\"", "\\", "é", "{", "NaN", "\u{1d400}", "\n"];
        let text = format!("4{}", dice.wild(&pieces));
        set(&mut reply, case.answer, text.clone().into());
        let expect = match dice.below(3) {
            0 => Finish::Truncated,
            1 => Finish::Refused,
            _ => Finish::Answer,
        };
        match expect {
            Finish::Truncated => set(&mut reply, case.word, case.words[1].into()),
            Finish::Refused => set(&mut reply, case.word, case.words[2].into()),
            Finish::Answer | Finish::Outage => {}
        }
        for place in case.errors {
            if dice.below(2) == 0 {
                set(&mut reply, place, no_error(dice));
            }
        }
        if dice.below(2) == 0 {
            set(&mut reply, "/new", dice.json(&["a"], 2));
        }
        // Half a pair within the answer, and numbers that are none.
        let mut body = reply.to_string();
        let mut text = text;
        if dice.below(2) == 0 {
            let quoted = Value::from(&*text).to_string();
            let half = format!("{}\\ud835\"", quoted.strip_suffix('"').unwrap());
            body = body.replacen(&quoted, &half, 1);
            text.push('\u{fffd}');
        }
        if dice.below(2) == 0 {
            body = format!("{{\"cost_usd\": NaN, {}", &body[1..]);
        }
        let (headers, sent) = if case.is_http() {
            sent(dice, body.as_bytes())
        } else {
            (HeaderMap::new(), body.clone().into_bytes())
        };
        let output = case.read(200 + u16::try_from(dice.below(2)).unwrap(), headers, &sent);
        let output = output.unwrap_or_else(|error| panic!("{error:?}: {body}"));
        assert_eq!(output.text.as_deref(), Some(&*text), "{body}");
        assert_eq!(output.finish(), expect, "{body}");
    });
}

#[test]
fn no_outage_is_an_answer() {
    let cases = cases();
    fuzz(|dice| {
        let case = &cases[dice.below(cases.len())];
        let mut reply = case.reply.clone();
        let text = dice.pick(&["", "4", "The answer is"]);
        set(&mut reply, case.answer, text.into());
        let mut status = 200;
        let mut is_half = false;
        match dice.below(5) {
            0 if case.is_http() => {
                status = [400, 401, 404, 408, 429, 500, 502, 503, 529][dice.below(9)];
            }
            1 if !case.errors.is_empty() => {
                let place = dice.pick(case.errors);
                let error = error(dice);
                set(&mut reply, place, error);
            }
            2 => is_half = true,
            3 => {
                // An agent's own reply with an error and no answer.
                let error = error(dice);
                set(
                    &mut reply,
                    case.answer,
                    [json!(null), json!("")][dice.below(2)].clone(),
                );
                set(&mut reply, "/error", error);
            }
            _ => set(&mut reply, case.word, case.words[0].into()),
        }
        let mut body = reply.to_string().into_bytes();
        if is_half {
            body.truncate(dice.below(body.len()));
        }
        let (headers, sent) = if case.is_http() {
            sent(dice, &body)
        } else {
            (HeaderMap::new(), body.clone())
        };
        let read = case.read(status, headers, &sent);
        let body = String::from_utf8_lossy(&body);
        assert!(read.is_err(), "{status} {body}: {read:?}");
    });
}

#[test]
fn no_reply_breaks_a_reader() {
    let cases = cases();
    let names = [
        "choices",
        "message",
        "content",
        "error",
        "finish_reason",
        "usage",
        "answer",
        "output",
        "text",
    ];
    fuzz(|dice| {
        let case = &cases[dice.below(cases.len())];
        let mut reply = case.reply.clone();
        let place = dice.pick(&[case.answer, case.word]);
        let value = dice.json(&names, 2);
        set(&mut reply, place, value);
        let mut body = reply.to_string().into_bytes();
        let place = dice.below(body.len());
        body[place] = dice.pick(&["\"", "{", "]", "0", "\\", "\u{7f}"]).as_bytes()[0];
        let _ = case.read(200, HeaderMap::new(), &body);
    });
}
