//! `cargo evaltest schema`: the JSON schema of specs, of flows, and of items.

use clap::Args;
use evaltest::engine::eval::spec::{OwnKinds, schema, schema_text};
use evaltest::engine::flow::flow_schema;
use evaltest::engine::generate::generated_schema;
use evaltest::{Exit, Result};
use serde_json::{Map, Value, json};

use crate::console;

/// Print the JSON schema of specs, for completion and validation in editors
///
/// Draft 2020-12, generated from the types that read specs. Editors with yaml-language-server (VS Code's YAML extension,
/// Neovim, Helix, …) use it if the first line of a spec is `# yaml-language-server: $schema=evaltest.schema.json`
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Print the schema of the items file that `generate` writes instead
    #[arg(long, conflicts_with_all = ["benchmarks", "agents", "scorers"])]
    items: bool,

    /// Print the schema of the flows that `flow` reads instead
    #[arg(long, conflicts_with_all = ["items", "benchmarks", "agents", "scorers"])]
    flow: bool,

    /// Print it in draft 07, the form that the public schema store takes
    #[arg(long, conflicts_with_all = ["items", "flow"])]
    store: bool,

    /// A benchmark that your test binary registers; specs may use it with any keys
    #[arg(long = "own-benchmark", value_name = "NAME")]
    benchmarks: Vec<String>,

    /// An agent that your test binary registers
    #[arg(long = "own-agent", value_name = "NAME")]
    agents: Vec<String>,

    /// A scorer that your test binary registers
    #[arg(long = "own-scorer", value_name = "NAME")]
    scorers: Vec<String>,
}

pub(crate) fn run(args: &SchemaArgs) -> Result<Exit> {
    if args.items {
        let schema = generated_schema();
        console::print_data(|out| writeln!(out, "{schema:#}"))?;
        return Ok(Exit::Passed);
    }
    if args.flow {
        let schema = flow_schema();
        console::print_data(|out| writeln!(out, "{schema:#}"))?;
        return Ok(Exit::Passed);
    }
    let own = OwnKinds {
        benchmarks: args.benchmarks.clone(),
        agents: args.agents.clone(),
        scorers: args.scorers.clone(),
    };
    if args.store {
        let schema = draft_07(schema(&own));
        console::print_data(|out| writeln!(out, "{schema:#}"))?;
        return Ok(Exit::Passed);
    }
    console::print_data(|out| out.write_all(schema_text(&own).as_bytes()))?;
    Ok(Exit::Passed)
}

/// The same schema in draft 07, which has another name for definitions and ignores what stands next to a reference.
fn draft_07(schema: Value) -> Value {
    let Value::Object(mut schema) = older(schema) else {
        return Value::Null;
    };
    let draft = "http://json-schema.org/draft-07/schema#";
    schema.insert("$schema".to_owned(), json!(draft));
    let id = "https://json.schemastore.org/evaltest.json";
    schema.insert("$id".to_owned(), json!(id));
    schema.into()
}

fn older(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(older).collect(),
        Value::Object(members) => {
            let mut changed = Map::new();
            for (key, value) in members {
                match (&*key, value) {
                    ("$ref", Value::String(path)) => {
                        let path = path.replacen("#/$defs/", "#/definitions/", 1);
                        changed.insert("allOf".to_owned(), json!([{ "$ref": path }]));
                    }
                    ("$defs", value) => {
                        changed.insert("definitions".to_owned(), older(value));
                    }
                    (_, value) => {
                        changed.insert(key, older(value));
                    }
                }
            }
            changed.into()
        }
        value => value,
    }
}
