#![doc = include_str!("worker.md")]

use std::sync::Arc;
use std::time::Duration;

use crate::agent::worker::Worker;
use crate::error::{Error, Result, Under};
use crate::eval::registry::confinement::{SandboxKeys, UlimitKeys};
use crate::eval::registry::recipe::{Recipe, Surroundings};
use crate::eval::registry::{BuiltIn, KeepKey, MadeAgent};
use crate::system::variables;
use serde::Deserialize;
use serde_json::Map;
use serde_json::Value;

pub(super) const ENTRY: Recipe<WorkerKeys, MadeAgent> = Recipe {
    about: BuiltIn {
        name: "worker",
        summary: "a long-running program that answers lines with lines",
        page: include_str!("worker.md"),
    },
    make,
};

/// The most processes of a `worker`, and the most samples that one of them has at once.
pub(super) const MOST_AT_ONCE: usize = 1024;
/// The timeout for a `worker` to greet.
const START_TIMEOUT: Duration = Duration::from_mins(1);

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct WorkerKeys {
    #[serde(default)]
    command: Vec<String>,
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = 1024)))]
    processes: Option<usize>,
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = 1024)))]
    in_flight: Option<usize>,
    #[serde(default)]
    handshake: bool,
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 86400)))]
    start_timeout_s: Option<f64>,
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 86400)))]
    close_timeout_s: Option<f64>,
    #[serde(default)]
    env: Vec<String>,
    #[serde(default)]
    plain_env: Vec<String>,
    #[serde(default)]
    scratch: bool,
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

/// Checks keys that are seconds.
pub(super) fn check_times(times: &[(&str, Option<f64>)]) -> Result<()> {
    for (key, value) in times {
        if value.is_some_and(|value| !(0.0..=86_400.0).contains(&value)) {
            let message = format!("agent.{key} is not a number of seconds from 0 to 86400");
            let error = Error::usage(message).hint(format!("write seconds: `{key}: 30`"));
            return Err(error.under(*key));
        }
    }
    Ok(())
}

fn make(keys: WorkerKeys, surroundings: &Surroundings<'_>) -> Result<MadeAgent> {
    let wrong = |key: &str, message: String, hint: &str| {
        let error = Error::usage(message).hint(hint);
        Err(error.under(key))
    };
    if keys.command.is_empty() {
        let message = "agent.command is missing".to_owned();
        return wrong("command", message, "write `command: [python3, worker.py]`");
    }
    for (key, value) in [("processes", keys.processes), ("in_flight", keys.in_flight)] {
        if value.is_some_and(|value| !(1..=MOST_AT_ONCE).contains(&value)) {
            let message = format!("agent.{key} is not a whole number from 1 to {MOST_AT_ONCE}");
            return wrong(key, message, &format!("write `{key}: 2`"));
        }
    }
    let times = [
        ("start_timeout_s", keys.start_timeout_s),
        ("close_timeout_s", keys.close_timeout_s),
    ];
    check_times(&times)?;
    if keys.start_timeout_s.is_some() && !keys.handshake {
        let message = "agent.start_timeout_s does nothing without `handshake: true`".to_owned();
        let hint = "add `handshake: true`, and let the program send hello when it is ready";
        return wrong("start_timeout_s", message, hint).of_key("start_timeout_s");
    }
    if keys.scratch && keys.sandbox.is_some() {
        let message =
            "agent.scratch: a folder outside of the sandbox is not visible in it".to_owned();
        let hint =
            "remove `scratch`: in a sandbox each process has its own `/tmp` and `$HOME` in memory";
        return wrong("scratch", message, hint).of_key("scratch");
    }
    let mut vars = variables::from_dot_env(&keys.env, surroundings.folder).under("env")?;
    vars.extend(variables::from_dot_env(&keys.plain_env, surroundings.folder).under("plain_env")?);
    let mut worker = Worker::new(keys.command, surroundings.folder)
        .processes(keys.processes.unwrap_or(1))
        .in_flight(keys.in_flight.unwrap_or(1))
        .env(keys.env)
        .plain_env(keys.plain_env)
        .vars(vars)
        .ulimits(keys.ulimits.limits()?)
        .max_output_bytes(surroundings.max_output_bytes);
    if let Some(sandbox) = keys.sandbox {
        worker = worker.sandbox(sandbox.sandbox(surroundings.folder)?);
    }
    if keys.handshake {
        let timeout = keys.start_timeout_s.map(Duration::from_secs_f64);
        worker = worker.handshake(timeout.unwrap_or(START_TIMEOUT));
    }
    if let Some(seconds) = keys.close_timeout_s {
        worker = worker.close_grace(Duration::from_secs_f64(seconds));
    }
    if keys.scratch {
        worker = worker.scratch();
    }
    let worker = Arc::new(worker);
    Ok(MadeAgent {
        options: keys.options,
        secrets: worker.secret_values(),
        keep_scratch: keys.keep_scratch.map(Into::into),
        concurrency: Some(worker.capacity()),
        worker: Some(Arc::clone(&worker)),
        agent: worker,
    })
}
