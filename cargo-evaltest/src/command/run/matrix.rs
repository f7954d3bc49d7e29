//! The ranking of what a command ran of a spec that names several agents or prompts.

use std::path::Path;

use evaltest::engine::report::matrix::{Ranking, document, matrices, rank};
use evaltest::engine::report::render::terminal;
use evaltest::engine::report::reported::{MaskedTexts, ReportedRun};
use evaltest::engine::store::RunDir;
use evaltest::{Exit, Result};
use serde_json::{Value, json};

use crate::{colour, console};

/// Tells of all runs of a command at its end: as JSON, or the rankings alone. What came of the runs does not depend on it.
pub(in crate::command) fn tell(runs: &[Value], exit: Exit, json: bool) -> Result<()> {
    let rankings = rankings(runs).unwrap_or_else(|error| {
        console::note(&format!("the runs are not ranked: {}", error.message()));
        Vec::new()
    });
    if json {
        let mut printed = json!({ "runs": runs, "exit_code": exit });
        if !rankings.is_empty() {
            printed["matrix"] = json!(rankings);
        }
        return console::print_json(&printed);
    }
    let mut rankings = rankings.iter();
    rankings.try_for_each(|ranking| {
        let ranking = document(ranking);
        console::print(|out| terminal::document(&ranking, colour::paint(), out))
    })
}

/// One for each spec of which several variants ran, in the order in which they did.
fn rankings(runs: &[Value]) -> Result<Vec<Ranking>> {
    let mut ran = Vec::new();
    for run in runs {
        let dir = RunDir::open(Path::new(run["run_dir"].as_str().unwrap_or_default()))?;
        // Others have no ranking, and need no second look; parts are ranked when they are put together.
        let manifest = dir.manifest()?;
        if manifest.variant.is_some() && manifest.part.is_none() {
            ran.push(ReportedRun::read(dir, MaskedTexts::Hidden)?);
        }
    }
    Ok(matrices(&ran).iter().map(|runs| rank(runs)).collect())
}
