//! The JSON schema of flows.

use serde_json::Value;

use super::spec::FlowFile;

/// The JSON schema of a flow in YAML, draft 2020-12, made of the type that reads it.
pub fn flow_schema() -> Value {
    let mut schema = schemars::schema_for!(FlowFile).to_value();
    schema["title"] = "A flow of `cargo evaltest flow`".into();
    schema["required"] = Value::from(vec!["generate"]);
    schema
}
