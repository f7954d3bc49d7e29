//! Locates the histories of the project's evals: `history.jsonl` next to the snapshots of each.

use std::collections::BTreeMap;
use std::path::PathBuf;

use evaltest::engine::eval::spec;
use evaltest::engine::history::HISTORY_FILE;
use evaltest::engine::system::project::display;
use evaltest::engine::text::{clean, shell_word};
use evaltest::engine::verdict::Alerts;
use evaltest::{Error, Result};

use crate::console;
use crate::discover::{self, Discovered};
use crate::target;

/// The history of an eval.
#[derive(Debug)]
pub(crate) struct EvalHistory {
    /// The eval's name.
    pub(crate) eval: String,
    /// The file.
    pub(crate) path: PathBuf,
    /// Its alert settings.
    pub(crate) alerts: Alerts,
}

/// The histories of these evals, or of all that have one; if no eval has one, the files that are missing.
///
/// # Errors
/// If a spec is broken, or there is no eval.
pub(crate) fn histories(typed: &[PathBuf]) -> Result<Vec<EvalHistory>> {
    let found = if typed.is_empty() {
        discover::find()?
    } else {
        discover::named(typed)?
    };
    let mut places: BTreeMap<String, Vec<(PathBuf, Alerts)>> = BTreeMap::new();
    let mut broken = None;
    for path in &found.specs {
        let names = match spec::names(path) {
            Ok(names) => names,
            Err(error) if !typed.is_empty() => return Err(error),
            // Continue with the histories of the others.
            Err(error) => {
                if let Some(before) = broken.replace(error) {
                    console::note(&before.to_string());
                }
                continue;
            }
        };
        let wanted = names.evals.into_iter();
        for names in wanted.filter(|names| found.wants(path, &names.eval)) {
            let places = places.entry(names.eval).or_default();
            places.push((names.snapshots.join(HISTORY_FILE), names.alerts));
        }
    }
    of_tests(&found, &mut places)?;
    let mut there = Vec::new();
    let mut without = Vec::new();
    for (eval, mut paths) in places {
        paths.sort_by(|(one, _), (other, _)| one.cmp(other));
        paths.dedup_by(|(one, _), (other, _)| one == other);
        let is_there = |(path, _): &(PathBuf, Alerts)| path.symlink_metadata().is_ok();
        let (paths, missing): (Vec<_>, Vec<_>) = paths.into_iter().partition(is_there);
        let history = |(path, alerts)| EvalHistory {
            eval: eval.clone(),
            path,
            alerts,
        };
        if paths.is_empty() {
            without.extend(missing.into_iter().take(1).map(history));
        }
        there.extend(paths.into_iter().map(history));
    }
    match without.is_empty() {
        false if !typed.is_empty() => {
            there.extend(without);
            Ok(there)
        }
        _ if there.is_empty() && broken.is_some() => broken.map_or_else(|| Ok(there), Err),
        _ if there.is_empty() && found.is_empty() => Err(discover::nothing_found()),
        _ if there.is_empty() => Ok(without),
        _ => {
            if let Some(error) = broken {
                console::note(&error.to_string());
            }
            Ok(there)
        }
    }
}

/// The error for an eval that has no history.
pub(crate) fn none_of(eval: &str) -> Error {
    let name = clean(eval);
    Error::usage(format!("eval `{name}` has no history yet")).hint(format!(
        "cargo evaltest run {} --history",
        shell_word(&name)
    ))
}

/// Adds the histories of evals in test targets, which know their paths.
///
/// # Errors
/// If an eval was named and its target cannot be built.
fn of_tests(
    found: &Discovered,
    places: &mut BTreeMap<String, Vec<(PathBuf, Alerts)>>,
) -> Result<()> {
    let known: Vec<String> = places.keys().cloned().collect();
    let is_wanted = |eval: &String| found.names.is_empty() || found.names.contains(eval);
    for test in &found.tests {
        let mut evals = test.evals.iter().flatten();
        let is_covered =
            test.evals.is_some() && !evals.any(|eval| is_wanted(eval) && !known.contains(eval));
        if is_covered {
            continue;
        }
        match target::places(test, &known) {
            Ok(listed) => {
                for place in listed.into_iter().filter(|place| is_wanted(&place.eval)) {
                    let alerts = place.alerts()?;
                    let places = places.entry(place.eval).or_default();
                    places.push((place.path, alerts));
                }
            }
            Err(error) if !found.names.is_empty() => return Err(error),
            // Continue with the histories of the others.
            Err(error) => console::note(&error.to_string()),
        }
    }
    Ok(())
}

/// Path of the file for display.
pub(crate) fn text(history: &EvalHistory) -> String {
    clean(&display(&history.path))
}
