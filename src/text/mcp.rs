//! What a server of the Model Context Protocol says on stdio, in both eras. Pure: a line in, what to do out.
//!
//! Older clients begin with `initialize` (up to 2025-11-25). Newer ones (2026-07-28) shake no hands: each request names
//! the version in its `_meta`, and each result says that it is complete.

use serde_json::{Map, Value, json};

use super::json_rpc::{INVALID_PARAMS, RpcError, RpcMessage};

/// The versions that begin with `initialize`, the latest last.
const WITH_HANDSHAKE: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// The version without.
const WITHOUT_HANDSHAKE: &str = "2026-07-28";
/// Where a request names its version.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// Where a result names its server.
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";
/// The version of a request is unknown.
const UNSUPPORTED_VERSION: i64 = -32022;

/// What a server is, apart from its tools.
#[derive(Clone, Debug)]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// How to use it, for the model.
    pub instructions: String,
}

/// What a line asks for.
#[derive(Debug)]
pub enum McpRequest {
    /// Nothing more than this line.
    Reply(Vec<u8>),
    /// The tools, to be returned by [`McpReply::tools`].
    Tools(McpReply),
    /// A call of a tool, to be returned by [`McpReply::result`].
    Call {
        /// How to reply.
        reply: McpReply,
        /// The name of the tool.
        name: String,
        /// Its arguments.
        arguments: Map<String, Value>,
    },
    /// Nobody waits for the reply to this request any more.
    Cancel {
        /// The request's id.
        id: Value,
    },
    /// Nothing.
    Nothing,
}

/// How to reply to a request.
#[derive(Clone, Debug)]
pub struct McpReply {
    /// The request's id.
    pub id: Value,
    /// Whether the client is of the newer era.
    is_newer: bool,
}

impl McpServer {
    /// Takes a line.
    pub fn take(&self, line: &[u8]) -> McpRequest {
        if line.trim_ascii().is_empty() {
            return McpRequest::Nothing;
        }
        match RpcMessage::read(line) {
            Ok(RpcMessage::Request { id, method, params }) => self.request(id, &method, &params),
            Ok(RpcMessage::Notification { method, params })
                if method == "notifications/cancelled" =>
            {
                McpRequest::Cancel {
                    id: params["requestId"].clone(),
                }
            }
            Ok(RpcMessage::Notification { .. } | RpcMessage::Response { .. }) => {
                McpRequest::Nothing
            }
            Err(error) => refuse(Value::Null, error),
        }
    }

    fn request(&self, id: Value, method: &str, params: &Value) -> McpRequest {
        let version = params["_meta"].get(VERSION_KEY);
        if let Some(version) = version.filter(|version| *version != WITHOUT_HANDSHAKE) {
            let data = json!({"supported": [WITHOUT_HANDSHAKE], "requested": version});
            let message = "unsupported protocol version";
            let error = RpcError {
                data,
                ..RpcError::new(UNSUPPORTED_VERSION, message)
            };
            return refuse(id, error);
        }
        let is_newer = version.is_some() || method == "server/discover";
        let reply = McpReply { id, is_newer };
        let about = json!({"name": self.name, "version": env!("CARGO_PKG_VERSION")});
        let result = match method {
            "initialize" => {
                let asked = params["protocolVersion"].as_str().unwrap_or_default();
                let known = WITH_HANDSHAKE.iter().find(|known| **known == asked);
                let version = known.or(WITH_HANDSHAKE.last());
                json!({
                    "protocolVersion": version,
                    "capabilities": {"tools": {}},
                    "serverInfo": about,
                    "instructions": self.instructions,
                })
            }
            "server/discover" => json!({
                "supportedVersions": [WITHOUT_HANDSHAKE],
                "capabilities": {"tools": {}},
                "instructions": self.instructions,
                "ttlMs": 0,
                "cacheScope": "private",
                "_meta": {SERVER_KEY: about},
            }),
            "ping" => json!({}),
            "tools/list" => return McpRequest::Tools(reply),
            "tools/call" => {
                let arguments = match &params["arguments"] {
                    Value::Null => Map::new(),
                    Value::Object(arguments) => arguments.clone(),
                    _ => {
                        let message = "`arguments` is not an object";
                        return refuse(reply.id, RpcError::new(INVALID_PARAMS, message));
                    }
                };
                let Some(name) = params["name"].as_str() else {
                    let message = "`name` is missing: that of the tool";
                    return refuse(reply.id, RpcError::new(INVALID_PARAMS, message));
                };
                return McpRequest::Call {
                    reply,
                    name: name.to_owned(),
                    arguments,
                };
            }
            _ => return refuse(reply.id, RpcError::unknown(method)),
        };
        McpRequest::Reply(reply.line(Ok(result)))
    }
}

fn refuse(id: Value, error: RpcError) -> McpRequest {
    let response = RpcMessage::Response {
        id,
        result: Err(error),
    };
    McpRequest::Reply(response.line())
}

impl McpReply {
    /// The line with these tools.
    pub fn tools(self, tools: &[Value]) -> Vec<u8> {
        let mut result = json!({"tools": tools});
        if self.is_newer {
            result["ttlMs"] = 0.into();
            result["cacheScope"] = "private".into();
        }
        self.line(Ok(result))
    }

    /// The line with what a call gave: a text, and the same for programs if it is an object.
    pub fn result(self, text: &str, structured: Option<Value>, is_error: bool) -> Vec<u8> {
        let mut result = json!({"content": [{"type": "text", "text": text}], "isError": is_error});
        if let Some(structured) = structured {
            result["structuredContent"] = structured;
        }
        self.line(Ok(result))
    }

    /// The line that there is no such tool.
    pub fn unknown_tool(self, name: &str) -> Vec<u8> {
        let message = format!("there is no tool `{name}`");
        self.line(Err(RpcError::new(INVALID_PARAMS, message)))
    }

    fn line(self, result: Result<Value, RpcError>) -> Vec<u8> {
        let result = result.map(|mut result| {
            if self.is_newer {
                result["resultType"] = "complete".into();
            }
            result
        });
        let response = RpcMessage::Response {
            id: self.id,
            result,
        };
        response.line()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> McpServer {
        McpServer {
            name: "evaltest".into(),
            instructions: "Asks.".into(),
        }
    }

    #[track_caller]
    fn reply(request: &Value) -> Value {
        let line = match server().take(request.to_string().as_bytes()) {
            McpRequest::Reply(line) => line,
            McpRequest::Tools(reply) => reply.tools(&[]),
            McpRequest::Call { reply, name, .. } => reply.result(&name, None, false),
            other => panic!("{other:?}"),
        };
        let reply: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(reply["id"], request["id"]);
        reply
    }

    #[test]
    fn both_eras_are_answered() {
        let meta = |version: &str| json!({"_meta": {VERSION_KEY: version}});
        let ask = |method: &str, params: Value| {
            reply(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
        };
        let began = ask("initialize", json!({"protocolVersion": "2025-06-18"}));
        assert_eq!(began["result"]["protocolVersion"], "2025-06-18");
        assert_eq!(began["result"]["resultType"], Value::Null);
        let began = ask("initialize", json!({"protocolVersion": "2099-01-01"}));
        assert_eq!(began["result"]["protocolVersion"], "2025-11-25");
        let found = ask("server/discover", meta(WITHOUT_HANDSHAKE));
        assert_eq!(
            found["result"]["supportedVersions"],
            json!([WITHOUT_HANDSHAKE])
        );
        for key in ["resultType", "ttlMs", "cacheScope"] {
            assert!(!found["result"][key].is_null(), "{key}");
        }
        assert_eq!(ask("ping", json!({}))["result"], json!({}));
        assert_eq!(ask("tools/list", json!({}))["result"], json!({"tools": []}));
        let listed = ask("tools/list", meta(WITHOUT_HANDSHAKE));
        assert_eq!(listed["result"]["resultType"], "complete");
        let refused = ask("tools/list", meta("2027-01-01"));
        assert_eq!(refused["error"]["code"], UNSUPPORTED_VERSION);
        assert_eq!(
            refused["error"]["data"]["supported"],
            json!([WITHOUT_HANDSHAKE])
        );
        assert_eq!(ask("resources/list", json!({}))["error"]["code"], -32601);
        assert_eq!(
            ask("tools/call", json!({}))["error"]["code"],
            INVALID_PARAMS
        );
        let called = ask("tools/call", json!({"name": "a"}));
        assert_eq!(called["result"]["content"][0]["text"], "a");
    }

    #[test]
    fn lines_that_are_no_requests() {
        let take = |line: &str| server().take(line.as_bytes());
        assert!(matches!(take(""), McpRequest::Nothing));
        let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert!(matches!(take(note), McpRequest::Nothing));
        let cancel =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        assert!(matches!(take(cancel), McpRequest::Cancel { id } if id == 7));
        let McpRequest::Reply(line) = take("{") else {
            panic!("no reply")
        };
        let reply: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(reply["error"]["code"], -32700);
        assert_eq!(reply["id"], Value::Null);
    }
}
