//! JSON-RPC 2.0, one message a line, in both directions.
//!
//! Pure: lines in, lines out. The agent `acp` is a client of it, the MCP servers are servers; either side may send
//! requests. A line that is no message has the error to reply with.

use serde_json::{Map, Value, json};

use super::escape_line_ends;

/// A line is no JSON.
pub(crate) const PARSE_ERROR: i64 = -32700;
/// It is JSON, but no message.
pub(crate) const INVALID_REQUEST: i64 = -32600;
/// There is no such method.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters are not those of the method.
pub(crate) const INVALID_PARAMS: i64 = -32602;
/// The method failed.
pub(crate) const INTERNAL_ERROR: i64 = -32603;

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RpcMessage {
    /// A request, to be answered under its id.
    Request {
        /// A string or a number.
        id: Value,
        /// The name of the method.
        method: String,
        /// Its parameters; an empty map if there are none.
        params: Value,
    },
    /// A message that is not answered.
    Notification {
        /// The name of the method.
        method: String,
        /// Its parameters; an empty map if there are none.
        params: Value,
    },
    /// The answer to a request.
    Response {
        /// The id of the request; `null` if it could not be read.
        id: Value,
        /// The result or the error.
        result: Result<Value, RpcError>,
    },
}

/// Why a request has no result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RpcError {
    /// A number that JSON-RPC or the protocol on top of it defines.
    pub(crate) code: i64,
    /// One line for people.
    pub(crate) message: String,
    /// More for programs; `null` if there is none.
    pub(crate) data: Value,
}

impl RpcError {
    /// An error without data.
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: Value::Null,
        }
    }

    /// The error for an unknown method.
    pub(crate) fn unknown(method: &str) -> Self {
        Self::new(METHOD_NOT_FOUND, format!("method not found: {method}"))
    }

    fn to_json(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if !self.data.is_null() {
            error["data"] = self.data.clone();
        }
        error
    }

    fn read(error: &Value) -> Self {
        let message = error["message"].as_str().unwrap_or_default().to_owned();
        Self {
            code: error["code"].as_i64().unwrap_or(INTERNAL_ERROR),
            data: error.get("data").cloned().unwrap_or_default(),
            message,
        }
    }
}

impl RpcMessage {
    /// Reads a line.
    ///
    /// # Errors
    /// When it is no message: the error to reply with, under the id `null`.
    pub(crate) fn read(line: &[u8]) -> Result<Self, RpcError> {
        let value: Value = serde_json::from_slice(line).map_err(|error| {
            RpcError::new(PARSE_ERROR, format!("the line is not JSON: {error}"))
        })?;
        let invalid = |message: &str| Err(RpcError::new(INVALID_REQUEST, message));
        let Value::Object(mut message) = value else {
            return invalid("the line is not a JSON object; batches are not supported");
        };
        let id = message.remove("id");
        let Some(method) = message.remove("method") else {
            let id = id.unwrap_or_default();
            return match (message.remove("result"), message.remove("error")) {
                (Some(result), None | Some(Value::Null)) => Ok(Self::Response {
                    id,
                    result: Ok(result),
                }),
                (_, Some(error)) => Ok(Self::Response {
                    id,
                    result: Err(RpcError::read(&error)),
                }),
                (None, None) => invalid("the message has no `method`, `result` or `error`"),
            };
        };
        let Value::String(method) = method else {
            return invalid("`method` is not a string");
        };
        let params = match message.remove("params") {
            None | Some(Value::Null) => Map::new().into(),
            Some(params @ (Value::Object(_) | Value::Array(_))) => params,
            Some(_) => return invalid("`params` is not an object"),
        };
        match id {
            None => Ok(Self::Notification { method, params }),
            Some(id @ (Value::String(_) | Value::Number(_))) => {
                Ok(Self::Request { id, method, params })
            }
            Some(_) => invalid("`id` is neither a string nor a number"),
        }
    }

    /// The message as a line, with its end.
    pub(crate) fn line(&self) -> Vec<u8> {
        let message = match self {
            Self::Request { id, method, params } => {
                json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
            }
            Self::Notification { method, params } => {
                json!({"jsonrpc": "2.0", "method": method, "params": params})
            }
            Self::Response {
                id,
                result: Ok(result),
            } => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Self::Response {
                id,
                result: Err(error),
            } => json!({"jsonrpc": "2.0", "id": id, "error": error.to_json()}),
        };
        let mut line = message.to_string().into_bytes();
        escape_line_ends(&mut line, 0);
        line.push(b'\n');
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fuzz::fuzz;

    #[test]
    fn messages_are_read_as_they_are_written() {
        let messages = [
            RpcMessage::Request {
                id: 7.into(),
                method: "session/prompt".into(),
                params: json!({"text": "a\nb\u{2028}c"}),
            },
            RpcMessage::Notification {
                method: "session/cancel".into(),
                params: json!({}),
            },
            RpcMessage::Response {
                id: "a".into(),
                result: Ok(Value::Null),
            },
            RpcMessage::Response {
                id: Value::Null,
                result: Err(RpcError::unknown("fs/read")),
            },
            RpcMessage::Response {
                id: 1.into(),
                result: Err(RpcError {
                    data: json!({"supported": ["1"]}),
                    ..RpcError::new(-32022, "other version")
                }),
            },
        ];
        for message in messages {
            let line = message.line();
            let end = line.iter().position(|&byte| byte == b'\n');
            assert_eq!(end, Some(line.len() - 1), "{message:?}");
            assert_eq!(RpcMessage::read(&line), Ok(message));
        }
    }

    #[test]
    fn what_is_no_message_has_its_error() {
        let check = |line: &str, code: i64| {
            let read = RpcMessage::read(line.as_bytes());
            assert_eq!(read.map_err(|error| error.code), Err(code), "{line}");
        };
        check("", PARSE_ERROR);
        check("Loading…", PARSE_ERROR);
        check("{\"id\": 1", PARSE_ERROR);
        check(&"[".repeat(100_000), PARSE_ERROR);
        check("[]", INVALID_REQUEST);
        check("4", INVALID_REQUEST);
        check("{\"id\": 1}", INVALID_REQUEST);
        check("{\"id\": null, \"method\": \"a\"}", INVALID_REQUEST);
        check("{\"id\": [], \"method\": \"a\"}", INVALID_REQUEST);
        check("{\"method\": 1}", INVALID_REQUEST);
        check("{\"method\": \"a\", \"params\": 4}", INVALID_REQUEST);
    }

    #[test]
    fn no_line_breaks_the_reader() {
        let words = [
            "jsonrpc", "id", "method", "params", "result", "error", "code",
        ];
        fuzz(|dice| {
            let line = dice.json(&words, 3).to_string();
            if let Ok(message) = RpcMessage::read(line.as_bytes()) {
                assert_eq!(RpcMessage::read(&message.line()), Ok(message));
            }
            let _ = RpcMessage::read(dice.wild(&["{", "\"id\":", "1", "}", "\u{0}"]).as_bytes());
        });
    }
}
