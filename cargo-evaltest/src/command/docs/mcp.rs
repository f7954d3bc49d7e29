//! `cargo evaltest mcp`: a server of the Model Context Protocol, for coding agents.
//!
//! One thread reads lines, each call of a tool has its own. A tool is this program with `--json`, in a process of its own:
//! it cannot print between the messages, and ends when its call is cancelled or when stdin does.

mod bounded;
mod schema;
mod tools;

use std::io::{self, BufRead, Read};
use std::sync::Arc;

use clap::Args;
use evaltest::engine::text::{McpRequest, McpServer};
use evaltest::{Error, Exit, Result};

use crate::console;
use tools::Tools;

/// Serve coding agents over MCP (Model Context Protocol)
///
/// A server on stdin and stdout. Its tools list evals, run one, show summaries and samples, compare runs, and score texts.
/// One run at a time, with limits; no tool accepts a baseline. Ground truths are hidden unless `--show-truth` is set. The
/// server and a run in progress end when stdin closes.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Maximum number of samples of a run, epochs included
    #[arg(long, value_name = "N", default_value_t = 50)]
    max_samples: u64,

    /// Maximum cost of a run, even if the spec's budget is higher
    #[arg(long, value_name = "USD")]
    max_cost_usd: Option<f64>,

    /// Show ground truths, and the scorers' remarks on them
    #[arg(long)]
    show_truth: bool,
}

/// The longest line that is read.
const LONGEST_LINE: u64 = 16 * 1024 * 1024;

pub(crate) fn run(args: &McpArgs) -> Result<Exit> {
    let is_cost = |usd: &f64| usd.is_finite() && *usd > 0.0;
    if args.max_cost_usd.as_ref().is_some_and(|usd| !is_cost(usd)) {
        let error = Error::usage("`--max-cost-usd` must be above 0");
        return Err(error.hint("write `--max-cost-usd 0.50`"));
    }
    let server = McpServer {
        name: "evaltest".to_owned(),
        instructions: "Evaluates LLM agents. `list_evals` lists the evals, `run_eval` runs some samples of one, and \
                       `show` shows what went wrong with a sample. `compare` shows whether a later run is worse."
            .to_owned(),
    };
    let tools = Arc::new(Tools::new(args)?);
    let mut input = io::stdin().lock();
    let mut calls = Vec::new();
    loop {
        let mut line = Vec::new();
        let read = input
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line);
        let length = read.map_err(|error| {
            Error::infrastructure(format!("cannot read standard input: {error}"))
        })?;
        if length == 0 {
            break;
        }
        match server.take(&line) {
            McpRequest::Nothing => {}
            McpRequest::Reply(line) => send(&line)?,
            McpRequest::Tools(reply) => send(&reply.tools(&schema::tools(args.max_samples)))?,
            McpRequest::Cancel { id } => tools.cancel(&id),
            McpRequest::Call {
                reply,
                name,
                arguments,
            } => {
                let tools = Arc::clone(&tools);
                tools.open(&reply.id);
                calls.push(std::thread::spawn(move || {
                    let done = tools.call(&reply.id, &name, &arguments);
                    if tools.close(&reply.id) {
                        // The client wants no answer to what it cancelled.
                        return Ok(());
                    }
                    let Some(done) = done else {
                        return send(&reply.unknown_tool(&name));
                    };
                    let (text, structured) = (done.text, done.structured);
                    send(&reply.result(&text, structured, done.is_error))
                }));
                calls.retain(|call| !call.is_finished());
            }
        }
    }
    tools.end();
    for call in calls {
        // Nobody reads what it says now.
        let _ = call.join();
    }
    Ok(Exit::Passed)
}

fn send(line: &[u8]) -> Result<()> {
    console::print_data(|out| out.write_all(line))
}
