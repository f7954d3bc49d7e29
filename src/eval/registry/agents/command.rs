#![doc = include_str!("command.md")]

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::agent::command::{Command, Cwd, Input, PROMPT, Reply};
use crate::error::{Error, Result, Under};
use crate::eval::registry::agents;
use crate::eval::registry::confinement::{SandboxKeys, UlimitKeys};
use crate::eval::registry::recipe::{Recipe, Surroundings};
use crate::eval::registry::{BuiltIn, KeepKey, MadeAgent};
use crate::system::variables;

pub(super) const ENTRY: Recipe<CommandKeys, MadeAgent> = Recipe {
    about: BuiltIn {
        name: "command",
        summary: "a program, started for each sample",
        page: include_str!("command.md"),
    },
    make,
};

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct CommandKeys {
    #[serde(default)]
    command: Vec<String>,
    /// A line for `sh -c`, instead of `command`.
    shell: Option<String>,
    #[serde(default)]
    input: Form,
    #[serde(default)]
    output: Form,
    #[serde(default)]
    env: Vec<String>,
    #[serde(default)]
    plain_env: Vec<String>,
    #[serde(default)]
    cwd: CwdKey,
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

/// How a prompt goes in or an answer comes out.
#[derive(Clone, Copy, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum Form {
    #[default]
    Text,
    Json,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum CwdKey {
    /// The spec's folder.
    #[default]
    Spec,
    Scratch,
}

fn make(keys: CommandKeys, surroundings: &Surroundings<'_>) -> Result<MadeAgent> {
    let wrong = |message: &str, hint: &str| Error::usage(message).hint(hint);
    let argv = match (keys.command.is_empty(), keys.shell) {
        (false, None) => keys.command,
        (true, Some(line)) => vec!["/bin/sh".to_owned(), "-c".to_owned(), line],
        (true, None) => {
            return Err(wrong(
                "agent.command is missing",
                "write `command: [python3, agent.py]`",
            )
            .under("command"));
        }
        (false, Some(_)) => {
            return Err(
                wrong("agent has both `command` and `shell`", "remove one of them").of_key("shell"),
            );
        }
    };
    let input = match keys.input {
        Form::Text => Input::Text,
        Form::Json => Input::Json,
    };
    if argv
        .iter()
        .skip(1)
        .any(|argument| argument.contains(PROMPT))
    {
        let who = format!("agent `command` with `{PROMPT}` in an argument has an empty stdin and");
        let hint =
            format!("take `{PROMPT}` out and add `input: json`, which has prompt and options");
        agents::refuse(&who, &keys.options, &hint)?;
    } else if let Input::Text = input {
        let hint = "add `input: json`, in which they reach the program";
        agents::refuse("agent `command` with text input", &keys.options, hint)?;
    }
    let output = match keys.output {
        Form::Text => Reply::Text,
        Form::Json => Reply::Json,
    };
    let cwd = match keys.cwd {
        CwdKey::Spec => Cwd::Folder(surroundings.folder.to_owned()),
        CwdKey::Scratch => Cwd::Scratch,
    };
    let mut vars = variables::from_dot_env(&keys.env, surroundings.folder).under("env")?;
    vars.extend(variables::from_dot_env(&keys.plain_env, surroundings.folder).under("plain_env")?);
    let command = Command::new(argv, surroundings.folder)
        .input(input)
        .output(output)
        .env(keys.env)
        .plain_env(keys.plain_env)
        .vars(vars)
        .cwd(cwd)
        .max_output_bytes(surroundings.max_output_bytes)
        .ulimits(keys.ulimits.limits()?);
    let command = match keys.sandbox {
        Some(sandbox) => command.sandbox(sandbox.sandbox(surroundings.folder)?),
        None => command,
    };
    Ok(MadeAgent {
        options: keys.options,
        secrets: command.secret_values(),
        keep_scratch: keys.keep_scratch.map(Into::into),
        worker: None,
        concurrency: None,
        agent: Arc::new(command),
    })
}
