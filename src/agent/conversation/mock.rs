//! `MockTools`: tools whose results are written down.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::environment::{Environment, Session, ToolReply};
use crate::data::AgentError;
use crate::error::{Error, Result, nearest};
use crate::system::file;
use crate::text::hash::Fingerprint;
use crate::text::yaml;

/// Tools whose results are written down: an environment without a program.
///
/// Each tool has a `name`, a `description` and `parameters` (JSON schema) as the agent sees them, and `returns`: a list
/// of `{when, result}` or `{when, error}`. The first whose `when` agrees with the arguments gives the result; one
/// without `when` agrees with all.
#[derive(Debug)]
pub struct MockTools {
    tools: Vec<MockTool>,
    /// The whole description.
    written: Value,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MockTool {
    name: String,
    #[serde(default)]
    description: String,
    /// The JSON schema of its arguments.
    #[serde(default)]
    parameters: Option<Value>,
    returns: Vec<MockReply>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MockReply {
    #[serde(default)]
    when: Map<String, Value>,
    #[serde(default, deserialize_with = "given")]
    result: Option<Value>,
    #[serde(default, deserialize_with = "given")]
    error: Option<Value>,
}

/// A value that is there, also `null`.
fn given<'de, D: serde::Deserializer<'de>>(
    value: D,
) -> std::result::Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

impl MockTools {
    /// Reads a YAML file with a list of tools.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = file::read_given(path).map_err(|error| {
            Error::io("read the tools", path, &error)
                .hint("write a YAML file with a list of tools next to the spec")
        })?;
        let text = String::from_utf8(bytes).map_err(|_| {
            Error::usage(format!("{}: the file is not UTF-8", path.display()))
                .hint("save it as UTF-8")
        })?;
        let read = yaml::read_json(&text)
            .map_err(|error| Error::usage(format!("{}: {error}", path.display())).hint(EXAMPLE))?;
        Self::new(read).map_err(|error| error.at(path.display()))
    }

    /// The same from a list of tools.
    pub fn new(tools: Value) -> Result<Self> {
        let Value::Array(list) = &tools else {
            return Err(Error::usage("the tools are not a list").hint(EXAMPLE));
        };
        let mut made: Vec<MockTool> = Vec::with_capacity(list.len());
        for (place, tool) in list.iter().enumerate() {
            let tool = MockTool::deserialize(tool).map_err(|error| {
                Error::usage(format!("tool {}: {error}", place + 1)).hint(EXAMPLE)
            })?;
            if made.iter().any(|other| other.name == tool.name) {
                let message = format!("two tools have the name `{}`", tool.name.escape_debug());
                return Err(Error::usage(message).hint("give every tool a unique name"));
            }
            if tool.name.trim().is_empty() {
                let error = Error::usage(format!("tool {} has a blank name", place + 1));
                return Err(error.hint(EXAMPLE));
            }
            tool.check()?;
            made.push(tool);
        }
        if made.is_empty() {
            return Err(Error::usage("there are no tools").hint(EXAMPLE));
        }
        Ok(Self {
            tools: made,
            written: tools,
        })
    }
}

/// A hint.
const EXAMPLE: &str =
    "write `- { name: weather, returns: [{ when: { city: Oslo }, result: rain }] }`";

impl MockTool {
    /// Whether each reply can be given.
    fn check(&self) -> Result<()> {
        let tool = self.name.escape_debug();
        let properties = self
            .parameters
            .as_ref()
            .and_then(|schema| schema.get("properties")?.as_object());
        let mut covers_all = false;
        if self
            .parameters
            .as_ref()
            .is_some_and(|schema| !schema.is_object())
        {
            return Err(
                Error::usage(format!("`parameters` of the tool `{tool}` is not a map"))
                    .hint("write a JSON schema: `parameters: { type: object, properties: {} }`"),
            );
        }
        if self.returns.is_empty() {
            return Err(
                Error::usage(format!("the tool `{tool}` has an empty `returns`"))
                    .hint("write what it returns: `returns: [{ result: ok }]`"),
            );
        }
        for (place, reply) in self.returns.iter().enumerate() {
            let number = place + 1;
            if reply.result.is_some() == reply.error.is_some() {
                return Err(Error::usage(format!(
                    "reply {number} of the tool `{tool}` needs either `result` or `error`"
                ))
                .hint("write one of them"));
            }
            if covers_all {
                return Err(Error::usage(format!(
                    "reply {number} of the tool `{tool}` is never used: an earlier one \
                                                 has no `when`"
                ))
                .hint("write the reply without `when` last"));
            }
            covers_all = reply.when.is_empty();
            let Some(properties) = properties else {
                continue;
            };
            for (name, value) in &reply.when {
                let Some(schema) = properties.get(name) else {
                    let known = properties.keys().map(String::as_str);
                    let error = Error::usage(format!(
                        "`when` of reply {number} of the tool `{tool}` never matches: the tool has no parameter `{}`",
                        name.escape_debug()
                    ));
                    return Err(error.hint(match nearest(name, known) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => "name one of its `parameters`".to_owned(),
                    }));
                };
                let allowed = schema.get("enum").and_then(Value::as_array);
                if allowed.is_some_and(|allowed| !allowed.contains(value)) {
                    let error = Error::usage(format!(
                        "`when` of reply {number} of the tool `{tool}` never matches: `{name}` cannot be {value}"
                    ));
                    return Err(error.hint("write one of the values in its `enum`"));
                }
            }
        }
        Ok(())
    }

    fn function(&self) -> Value {
        let mut function = serde_json::json!({"name": self.name});
        if !self.description.is_empty() {
            function["description"] = self.description.as_str().into();
        }
        let none = || serde_json::json!({"type": "object", "properties": {}});
        function["parameters"] = self.parameters.clone().unwrap_or_else(none);
        function
    }
}

impl Environment for MockTools {
    fn open(&self, _: &Session<'_>, _: Option<&Value>) -> Result<Vec<Value>, AgentError> {
        Ok(self.tools.iter().map(MockTool::function).collect())
    }

    fn call(
        &self,
        _: &Session<'_>,
        name: &str,
        arguments: &Value,
    ) -> Result<ToolReply, AgentError> {
        let unknown = || ToolReply::Error(format!("error: there is no tool `{name}`").into());
        let Some(tool) = self.tools.iter().find(|tool| tool.name == name) else {
            return Ok(unknown());
        };
        let agrees = |reply: &&MockReply| {
            let mut wanted = reply.when.iter();
            wanted.all(|(key, value)| arguments.get(key) == Some(value))
        };
        let Some(reply) = tool.returns.iter().find(agrees) else {
            let message = format!("error: `{name}` has no result for these arguments");
            return Ok(ToolReply::Error(message.into()));
        };
        Ok(match (&reply.result, &reply.error) {
            (Some(result), _) => ToolReply::Result(result.clone()),
            (None, error) => ToolReply::Error(error.clone().unwrap_or_default()),
        })
    }

    fn tool_names(&self) -> Option<Vec<String>> {
        Some(self.tools.iter().map(|tool| tool.name.clone()).collect())
    }

    fn fingerprint(&self) -> Option<String> {
        Some(Fingerprint::of("mock").part("tools", &self.written).hex())
    }
}
