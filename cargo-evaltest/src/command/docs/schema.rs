//! `cargo evaltest schema`: the JSON schema of specs, of flows, and of items.

use clap::Args;
use evaltest::engine::eval::spec::{OwnKinds, schema_text};
use evaltest::engine::flow::flow_schema;
use evaltest::engine::generate::generated_schema;
use evaltest::{Exit, Result};

use crate::console;

/// Print the JSON schema of specs, for completion and validation in editors
///
/// Draft 2020-12, made of the types that read specs. An editor with yaml-language-server (VS Code's YAML extension, Neovim,
/// Helix, …) takes it by the first line of a spec: `# yaml-language-server: $schema=evaltest.schema.json`
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The schema of the file of items that `generate` writes, in place of that of specs
    #[arg(long, conflicts_with_all = ["benchmarks", "agents", "scorers"])]
    items: bool,

    /// The schema of flows, which `flow` reads, in place of that of specs
    #[arg(long, conflicts_with_all = ["items", "benchmarks", "agents", "scorers"])]
    flow: bool,

    /// A benchmark that a test binary of yours registers; specs may name it with any keys
    #[arg(long = "own-benchmark", value_name = "NAME")]
    benchmarks: Vec<String>,

    /// An agent that a test binary of yours registers
    #[arg(long = "own-agent", value_name = "NAME")]
    agents: Vec<String>,

    /// A scorer that a test binary of yours registers
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
    console::print_data(|out| out.write_all(schema_text(&own).as_bytes()))?;
    Ok(Exit::Passed)
}
