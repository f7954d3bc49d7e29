//! `cargo evaltest repair`.

use std::path::PathBuf;

use clap::Args;
use evaltest::engine::report::document::Document;
use evaltest::engine::run::restored::{Repaired, repair};
use evaltest::engine::store::RunStatus;
use evaltest::engine::system::project::display;
use evaltest::engine::text::{clean, shell_word};
use evaltest::{Exit, Result};

use crate::console;
use crate::run_ids::typed_folder;
use crate::runs::open_run;

/// Rebuild a run's files from its journal, without calling the agent
///
/// Commands refuse a run whose files no longer match the hashes in its manifest. `repair` rebuilds them from `events.jsonl`,
/// which has all replies, and from the dataset and scorers of the run's spec, which must be unchanged. It skips and reports
/// damaged lines of the journal. A sample whose result was in such a line counts as not answered: `run --resume` asks it.
#[derive(Debug, Args)]
pub(crate) struct RepairArgs {
    /// The run directory
    #[arg(value_parser = typed_folder())]
    run_dir: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &RepairArgs) -> Result<Exit> {
    let dir = open_run(&args.run_dir)?;
    let repaired = repair(&dir)?;
    let Repaired {
        ended,
        questions,
        skipped_lines,
        status,
        notices,
        ..
    } = &repaired;
    for notice in notices {
        console::note(&clean(notice));
    }
    if args.json {
        console::print_json(&repaired)?;
        return Ok(Exit::Passed);
    }
    let name = display(dir.path());
    let mut text = Document::new(format!(
        "{name}: rebuilt from its journal, with {ended} of {questions} questions"
    ));
    if !skipped_lines.is_empty() {
        let lines: Vec<_> = skipped_lines.iter().map(u64::to_string).collect();
        let lines = lines.join(", ");
        text.paragraph(format!(
            "lines of events.jsonl that cannot be read: {lines}"
        ));
    }
    if *status != RunStatus::Finished {
        let name = shell_word(&name);
        text.paragraph(format!("next: cargo evaltest run --resume {name}"));
    }
    console::print_document(&text)?;
    Ok(Exit::Passed)
}
