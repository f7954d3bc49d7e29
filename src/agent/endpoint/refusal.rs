//! `Refusal`: whether a reply without an answer concerns one sample, or all of them.

use serde_json::{Value, json};

use crate::agent::reply::marks::is_error;
use crate::agent::reply::read;
use crate::data::judged::OF_A_FILTER;
use crate::data::{AgentError, FailureKind};
use crate::system::http::{HttpReply, retry_after};
use crate::system::process::excerpt::beginning;
use crate::text::unquoted;

/// How many bytes of an error's code are shown.
const CODE_BYTES: usize = 60;
/// How many bytes of an endpoint's message are shown.
const EXCERPT_BYTES: usize = 500;
/// This many requests called wrong, with none answered, are the fault of the eval.
const REFUSALS: u32 = 3;

/// Phrases for problems of one sample only: it is too long, or has a picture that the model cannot see. Those of content
/// filters are [`OF_A_FILTER`].
const OF_A_SAMPLE: [&str; 9] = [
    "context length",
    "context_length",
    "context size",
    "context_size",
    "context window",
    "maximum context",
    "too long",
    "too many tokens",
    "image",
];
/// Phrases for an account without credit. Endpoints reply 429 then, and waiting does not help.
const OF_AN_EMPTY_ACCOUNT: [&str; 4] = [
    "insufficient_quota",
    "insufficient balance",
    "billing_hard_limit",
    "credit balance is too low",
];

/// Codes and types of errors with their equivalent status, for errors that come with a status of success.
pub(crate) const CODES: &[(&str, u16)] = &[
    ("invalid_api_key", 401),
    ("authentication_error", 401),
    ("unauthenticated", 401),
    ("unauthorized", 401),
    ("billing_error", 402),
    ("accessdeniedexception", 403),
    ("permission_error", 403),
    ("permission_denied", 403),
    ("model_not_found", 404),
    ("not_found", 404),
    ("not_found_error", 404),
    ("modeltimeoutexception", 408),
    ("request_too_large", 413),
    ("insufficient_quota", 429),
    ("rate_limit_exceeded", 429),
    ("rate_limit_error", 429),
    ("resource_exhausted", 429),
    ("throttlingexception", 429),
    ("too_many_requests", 429),
    ("content_filter", 400),
    ("context_length_exceeded", 400),
    ("failed_precondition", 400),
    ("invalid_argument", 400),
    ("invalid_prompt", 400),
    ("invalid_request_error", 400),
    ("validationexception", 400),
    ("api_error", 500),
    ("internal", 500),
    ("internalserverexception", 500),
    ("server_error", 500),
    ("modelstreamerrorexception", 502),
    ("serviceunavailableexception", 503),
    ("unavailable", 503),
    ("deadline_exceeded", 504),
    ("timeout_error", 504),
    ("overloaded_error", 529),
];

/// The equivalent status of an error in a reply's body; by default, an upstream failure.
pub(super) fn status_within(error: &Value) -> u16 {
    let code = error.get("code");
    let number = code.and_then(|code| match code {
        Value::String(text) => text.parse().ok(),
        code => code.as_u64(),
    });
    let reported = number.and_then(|number| u16::try_from(number).ok());
    let words = [code, error.get("type"), error.get("status")];
    let words: Vec<String> = words
        .into_iter()
        .filter_map(|word| Some(word?.as_str()?.to_lowercase()))
        .collect();
    let known = CODES
        .iter()
        .find(|(code, _)| words.iter().any(|word| word == code));
    reported
        .filter(|status| (400..600).contains(status))
        .or(known.map(|(_, status)| *status))
        .unwrap_or(502)
}

/// What a status and the words of its error mean. `count` counts a request that was called wrong before the first answer.
pub(crate) fn kind_of(
    status: u16,
    words: &str,
    has_answered: bool,
    count: impl FnOnce() -> u32,
) -> FailureKind {
    let has = |list: &[&str]| list.iter().any(|word| words.contains(word));
    match status {
        402 => FailureKind::Misconfigured,
        _ if has(&OF_AN_EMPTY_ACCOUNT) => FailureKind::Misconfigured,
        429 => FailureKind::RateLimited,
        408 | 409 | 425 | 500.. => FailureKind::Busy,
        413 => FailureKind::Refused,
        401 => FailureKind::Misconfigured,
        400.. if has(&OF_A_SAMPLE) || has(&OF_A_FILTER) => FailureKind::Refused,
        403 => FailureKind::Misconfigured,
        _ if has_answered => FailureKind::Refused,
        400 | 422 => {
            if count() < REFUSALS {
                FailureKind::Refused
            } else {
                FailureKind::Misconfigured
            }
        }
        _ => FailureKind::Misconfigured,
    }
}

/// A reply that is not an answer.
pub(super) struct Refusal<'a> {
    pub(super) status: u16,
    pub(super) reply: &'a HttpReply,
    /// The error in the body of a success.
    pub(super) within: Option<&'a Value>,
    /// Whether a key was sent.
    pub(super) has_key: bool,
    /// Whether the endpoint has answered before.
    pub(super) has_answered: bool,
}

impl Refusal<'_> {
    /// The failure. `count` counts a request that was called wrong before the first answer.
    pub(super) fn error(&self, count: impl FnOnce() -> u32) -> AgentError {
        let json: Option<Value> = match self.within {
            Some(error) => Some(json!({ "error": error })),
            None => read(&self.reply.body).ok(),
        };
        let message = message(json.as_ref(), &self.reply.body);
        let words = format!("{} {message}", codes(json.as_ref())).to_lowercase();
        let kind = kind_of(self.status, &words, self.has_answered, count);
        let reported = if message.is_empty() {
            message
        } else {
            format!(": {message}")
        };
        let location = self.reply.location();
        let location =
            location.map(|place| format!(" to `{}`", beginning(place.as_bytes(), EXCERPT_BYTES)));
        let name = self.reply.status.canonical_reason();
        let name = name.map_or(String::new(), |reason| format!(" {reason}"));
        let within = match self.within {
            Some(error) => format!(" with an error{}", code(error)),
            None => String::new(),
        };
        let details = json.as_ref().and_then(details).unwrap_or_default();
        let mut error = AgentError::of(
            kind,
            format!(
                "answered {}{name}{}{within}{reported}{details}",
                self.reply.status.as_u16(),
                location.unwrap_or_default()
            ),
        );
        if kind == FailureKind::Misconfigured {
            let hint = self.hint(&words);
            error.message = format!("{}; hint: {hint}", error.message);
        }
        error.http_status = Some(self.status);
        let asks_for_time = matches!(kind, FailureKind::Busy | FailureKind::RateLimited);
        if asks_for_time {
            let after = retry_after(&self.reply.headers);
            error.retry_after_s = after.map(|after| after.as_secs_f64());
        }
        if !error.is_transient() && asks_for_time {
            let seconds = error.retry_after_s.unwrap_or_default();
            error.message = format!("{}; it asks to wait {seconds} s", error.message);
        }
        error
    }

    fn hint(&self, words: &str) -> &'static str {
        match self.status {
            401 | 403 if !self.has_key => {
                "name the variable that holds the key: `api_key_env: MY_KEY`, or send it in `headers`"
            }
            401 | 403 => "check the value of the variable that holds the key",
            402 | 429 => "the account has no credit left",
            300..=399 => "write the address that it points to",
            404 if words.contains("model") => "check `model`",
            404 | 405 => "check the address; a `base_url` often ends in `/v1`",
            _ => "check `model` and the other values that the spec sends",
        }
    }
}

/// The code of an error within a success, in brackets.
fn code(error: &Value) -> String {
    let code = ["code", "type", "status"]
        .iter()
        .find_map(|key| match error.get(key)? {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
    code.map_or_else(String::new, |code| {
        format!(" ({})", beginning(code.as_bytes(), CODE_BYTES))
    })
}

/// What an error says beyond its message, such as the provider behind a gateway.
fn details(json: &Value) -> Option<String> {
    let error = json.get("error").unwrap_or(json);
    let details = ["details", "metadata"]
        .iter()
        .find_map(|key| error.get(key));
    let details = details.filter(|details| is_error(details))?;
    let details = unquoted(details);
    Some(format!(
        "; details: {}",
        beginning(details.as_bytes(), EXCERPT_BYTES)
    ))
}

/// The endpoint's message, safe to display.
fn message(json: Option<&Value>, body: &[u8]) -> String {
    // `OpenAI` and compatible servers; partly compatible ones; FastAPI; others.
    const PLACES: [&str; 9] = [
        "/error/message",
        "/error/status_msg",
        "/error",
        "/message",
        "/detail/message",
        "/detail/0/msg",
        "/detail",
        "/errors/0/message",
        "/0/error/message",
    ];
    let text = json.and_then(|json| {
        PLACES
            .iter()
            .find_map(|place| json.pointer(place)?.as_str())
    });
    beginning(text.map_or(body, str::as_bytes).trim_ascii(), EXCERPT_BYTES)
}

/// Codes and types, which are more reliable than words.
fn codes(json: Option<&Value>) -> String {
    let places = [
        "/error/code",
        "/error/type",
        "/error/innererror/code",
        "/code",
        "/type",
    ];
    let found = places
        .iter()
        .filter_map(|place| json?.pointer(place)?.as_str());
    found.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use ureq::http::{HeaderMap, StatusCode};

    use super::*;

    fn judge(status: u16, body: &str, has_answered: bool, refusals: u32) -> AgentError {
        let reply = HttpReply {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::new(),
            body: body.into(),
        };
        let refusal = Refusal {
            status,
            reply: &reply,
            within: None,
            has_key: true,
            has_answered,
        };
        refusal.error(|| refusals)
    }

    #[test]
    fn fatal_errors_differ_from_sample_errors() {
        use FailureKind::{Busy, Misconfigured, RateLimited, Refused};
        let check = |status, body: &str, before, after| {
            assert_eq!(
                judge(status, body, false, 1).kind,
                before,
                "{status} {body}"
            );
            assert_eq!(
                judge(status, body, true, 1).kind,
                after,
                "{status} {body}, later"
            );
        };
        check(401, "", Misconfigured, Misconfigured);
        check(402, "", Misconfigured, Misconfigured);
        check(403, "", Misconfigured, Misconfigured);
        check(
            403,
            r#"{"error": {"message": "your input was flagged"}}"#,
            Refused,
            Refused,
        );
        check(
            404,
            r#"{"error": {"message": "no model x"}}"#,
            Misconfigured,
            Refused,
        );
        check(405, "", Misconfigured, Refused);
        check(302, "", Misconfigured, Refused);
        check(
            400,
            r#"{"error": {"message": "bad temperature"}}"#,
            Refused,
            Refused,
        );
        check(
            422,
            r#"{"detail": [{"msg": "field required"}]}"#,
            Refused,
            Refused,
        );
        check(413, "", Refused, Refused);
        check(429, "", RateLimited, RateLimited);
        for status in [408, 409, 425, 500, 501, 502, 503, 504, 505, 529] {
            check(status, "", Busy, Busy);
        }
        let empty =
            r#"{"error": {"code": "insufficient_quota", "message": "You exceeded your quota"}}"#;
        check(429, empty, Misconfigured, Misconfigured);
        // The third in a row.
        assert_eq!(judge(400, "no", false, 3).kind, Misconfigured);
        let long = r#"{"error": {"code": 400, "type": "exceed_context_size_error", "message": "too much"}}"#;
        assert_eq!(judge(400, long, false, 9).kind, Refused);
    }

    #[test]
    fn error_in_success_reply_is_found_by_code() {
        use serde_json::json;
        for (error, status) in [
            (json!({"code": 429}), 429),
            (json!({"code": "503"}), 503),
            (
                json!({"code": "invalid_api_key", "type": "invalid_request_error"}),
                401,
            ),
            (json!({"type": "rate_limit_error"}), 429),
            (json!({"code": null, "type": "invalid_request_error"}), 400),
            (json!({"code": 7}), 502),
            (json!({"code": 99_999_999_999_u64}), 502),
            (json!("no luck"), 502),
        ] {
            assert_eq!(status_within(&error), status, "{error}");
        }
        let reply = HttpReply {
            status: StatusCode::OK,
            headers: HeaderMap::new(),
            body: Vec::new(),
        };
        let error =
            json!({"message": "upstream broke", "code": 502, "metadata": {"provider": "p"}});
        let refusal = Refusal {
            status: 502,
            reply: &reply,
            within: Some(&error),
            has_key: true,
            has_answered: true,
        };
        let error = refusal.error(|| 1);
        assert_eq!(
            error.message,
            "answered 200 OK with an error (502): upstream broke; details: {\"provider\":\"p\"}"
        );
        assert_eq!(
            (error.kind, error.http_status),
            (FailureKind::Busy, Some(502))
        );
    }

    #[test]
    fn messages_have_reply_and_hint() {
        let check = |status, body: &str, expect: &str| {
            assert_eq!(judge(status, body, false, 3).message, expect);
        };
        check(
            401,
            r#"{"error": {"message": "bad key\u001b[2J"}}"#,
            "answered 401 Unauthorized: bad key\\u{1b}[2J; hint: check the value of the variable that holds the key",
        );
        check(
            404,
            r#"{"detail": "Not Found"}"#,
            "answered 404 Not Found: Not Found; hint: check the address; a `base_url` often ends in `/v1`",
        );
        check(
            500,
            " <h1>oh</h1>\n",
            "answered 500 Internal Server Error: <h1>oh</h1>",
        );
        check(529, "", "answered 529");
        check(413, "", "answered 413 Payload Too Large");
    }
}
