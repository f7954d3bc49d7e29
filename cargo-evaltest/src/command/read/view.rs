//! `cargo evaltest view`.

use std::path::PathBuf;

use clap::Args;
use evaltest::engine::report::reported::MaskedTexts;
use evaltest::engine::serve::LocalServer;
use evaltest::engine::system::signal;
use evaltest::engine::view::RunsView;
use evaltest::{Cancel, Error, Exit, Result};

use crate::console;
use crate::run_ids::typed_folder;
use crate::runs::{WatchedRuns, watched_runs};

/// Show runs in a browser, live during a run
///
/// Without a run, opens an index: each eval with its latest verdict, accuracy, change, history and cost, with links to its
/// runs and to comparisons. A run is shown as the page of `report --format html`.
///
/// Serves on 127.0.0.1 until Ctrl-C. The printed address has a random secret after the
/// `#`, new each time: whoever has the address can see the runs.
#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// Run directories, parts of their names, or names of evals (their last runs); default: the run in progress, else
    /// the index
    #[arg(value_name = "RUN_DIR", value_parser = typed_folder())]
    runs: Vec<PathBuf>,

    /// The port; default: any free port
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    port: u16,

    /// Show questions and answers even if the eval's snapshots are masked
    #[arg(long)]
    show_texts: bool,
}

pub(crate) fn run(args: &ViewArgs) -> Result<Exit> {
    let texts = if args.show_texts {
        MaskedTexts::Visible
    } else {
        MaskedTexts::Hidden
    };
    let WatchedRuns { named, roots } = watched_runs(&args.runs)?;
    let view = RunsView::new(named, roots, texts)?;
    let cancel = Cancel::new();
    signal::cancel_on_signals(&cancel).map_err(|error| Error::refused("handle signals", &error))?;
    let server = LocalServer::bind(args.port)?;
    console::print(|out| writeln!(out, "{}", server.url()))?;
    console::note("open this address in a browser on this machine; Ctrl-C ends it");
    server.serve(view, &cancel)?;
    Ok(Exit::Passed)
}
