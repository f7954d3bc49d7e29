#![doc = include_str!("acp.md")]

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::command::CwdKey;
use super::worker::{MOST_AT_ONCE, check_times};
use crate::agent::{Acp, Cwd, Permissions};
use crate::error::{Error, Result, Under};
use crate::eval::registry::agents;
use crate::eval::registry::confinement::{SandboxKeys, UlimitKeys};
use crate::eval::registry::recipe::{Recipe, Surroundings};
use crate::eval::registry::{BuiltIn, KeepKey, MadeAgent};
use crate::system::variables;

pub(super) const ENTRY: Recipe<AcpKeys, MadeAgent> = Recipe {
    about: BuiltIn {
        name: "acp",
        summary: "a coding agent that speaks the Agent Client Protocol",
        page: include_str!("acp.md"),
    },
    make,
};

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct AcpKeys {
    #[serde(default)]
    command: Vec<String>,
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = 1024)))]
    processes: Option<usize>,
    #[cfg_attr(feature = "schema", schemars(extend("not" = { "type": "string", "pattern": r"^\s*$" })))]
    auth: Option<String>,
    #[cfg_attr(feature = "schema", schemars(extend("not" = { "type": "string", "pattern": r"^\s*$" })))]
    mode: Option<String>,
    #[serde(default)]
    permissions: PermissionsKey,
    #[serde(default)]
    env: Vec<String>,
    #[serde(default)]
    plain_env: Vec<String>,
    cwd: Option<CwdKey>,
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 86400)))]
    start_timeout_s: Option<f64>,
    #[cfg_attr(
        feature = "schema",
        schemars(schema_with = "crate::eval::spec::schema::fields::sandbox")
    )]
    #[serde(default)]
    sandbox: Option<SandboxKeys>,
    #[serde(default)]
    ulimits: UlimitKeys,
    #[serde(default)]
    options: Map<String, Value>,
    keep_scratch: Option<KeepKey>,
}

/// Whether it may call the tools for which it asks.
#[derive(Clone, Copy, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum PermissionsKey {
    #[default]
    Allow,
    Reject,
}

fn make(keys: AcpKeys, surroundings: &Surroundings<'_>) -> Result<MadeAgent> {
    agents::none_for("acp", &keys.options)?;
    if keys.command.is_empty() {
        let error = Error::usage("agent.command is missing")
            .hint("write `command: [gemini, --acp]`, or another agent that speaks the protocol");
        return Err(error.under("command"));
    }
    let processes = keys.processes.unwrap_or(1);
    if !(1..=MOST_AT_ONCE).contains(&processes) {
        let message = format!("agent.processes is not a whole number from 1 to {MOST_AT_ONCE}");
        let error = Error::usage(message).hint("write `processes: 2`");
        return Err(error.under("processes"));
    }
    check_times(&[("start_timeout_s", keys.start_timeout_s)])?;
    for (key, value) in [("auth", &keys.auth), ("mode", &keys.mode)] {
        if value.as_ref().is_some_and(|value| value.trim().is_empty()) {
            let error = Error::usage(format!("agent.{key} is blank"));
            return Err(error
                .hint(format!("name one, or remove `{key}`"))
                .under(key));
        }
    }
    let mut vars = variables::from_dot_env(&keys.env, surroundings.folder).under("env")?;
    vars.extend(variables::from_dot_env(&keys.plain_env, surroundings.folder).under("plain_env")?);
    let mut acp = Acp::new(keys.command, surroundings.folder)
        .processes(processes)
        .permissions(match keys.permissions {
            PermissionsKey::Allow => Permissions::Allow,
            PermissionsKey::Reject => Permissions::Reject,
        })
        .env(keys.env)
        .plain_env(keys.plain_env)
        .vars(vars)
        .cwd(match keys.cwd {
            Some(CwdKey::Spec) => Cwd::Folder(surroundings.folder.to_owned()),
            Some(CwdKey::Scratch) | None => Cwd::Scratch,
        })
        .ulimits(keys.ulimits.limits()?)
        .max_output_bytes(surroundings.max_output_bytes);
    if let Some(method) = keys.auth {
        acp = acp.auth(method);
    }
    if let Some(mode) = keys.mode {
        acp = acp.mode(mode);
    }
    if let Some(seconds) = keys.start_timeout_s {
        acp = acp.start_timeout(Duration::from_secs_f64(seconds));
    }
    if let Some(sandbox) = keys.sandbox {
        acp = acp.sandbox(sandbox.sandbox(surroundings.folder)?);
    }
    Ok(MadeAgent {
        secrets: acp.secret_values(),
        keep_scratch: keys.keep_scratch.map(Into::into),
        concurrency: Some(acp.capacity()),
        ..MadeAgent::of(Arc::new(acp), keys.options)
    })
}
