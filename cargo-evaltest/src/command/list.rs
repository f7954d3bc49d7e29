//! `cargo evaltest list`.

use std::path::PathBuf;

use clap::Args;
use evaltest::drive::Drive;
use evaltest::listing::Listing;
use evaltest::report::terminal::clean;
use evaltest::spec;
use evaltest::{Error, Registry, Result};

use super::run::target::{evals_in, trials_in};
use crate::console;
use crate::discover::{self, Found, TestTarget};

/// List evals and the test names of their samples
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Specs to list; every eval of the project when none is named
    #[arg(value_name = "SPEC")]
    specs: Vec<PathBuf>,

    /// Show columns, counts by slice and attachments instead of names
    #[arg(long)]
    stats: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ListArgs) -> Result<u8> {
    let Found { specs, tests } = if args.specs.is_empty() {
        discover::find()?
    } else {
        Found {
            specs: args.specs.clone(),
            tests: Vec::new(),
        }
    };
    if specs.is_empty() && tests.is_empty() {
        return Err(discover::nothing_found());
    }
    let mut listings = Vec::new();
    let mut unregistered = Vec::new();
    for path in specs {
        match spec::load(&path, &Registry::new(), &[]) {
            Ok(eval) => listings.push(Listing::of(&eval)?),
            // A test binary may know the name, and lists the eval then.
            Err(error) if error.is_unregistered() && args.specs.is_empty() => {
                unregistered.push((spec::names(&path)?.0, error));
            }
            Err(error) => return Err(error),
        }
    }
    let listed: Vec<String> = listings
        .iter()
        .map(|listing| listing.eval.clone())
        .collect();
    let (known, trials) = of_tests(&tests, &listed)?;
    let lost = |(name, _): &(String, Error)| !known.contains(name);
    if let Some((_, error)) = unregistered.into_iter().find(lost) {
        return Err(error);
    }
    if args.json {
        console::print_json(&listings)?;
        return Ok(0);
    }
    console::print(|out| {
        for listing in &listings {
            if args.stats {
                stats(listing, out)?;
                continue;
            }
            for sample in &listing.samples {
                writeln!(out, "{}", clean(&sample.name))?;
            }
            for gate in &listing.gates {
                writeln!(out, "{}", clean(gate))?;
            }
        }
        if !args.stats {
            for name in &trials {
                writeln!(out, "{}", clean(name))?;
            }
        }
        Ok(())
    })?;
    Ok(0)
}

/// The evals of test targets, and the names of the tests of those that are not `listed`.
fn of_tests(tests: &[TestTarget], listed: &[String]) -> Result<(Vec<String>, Vec<String>)> {
    let (mut known, mut trials) = (Vec::new(), Vec::new());
    for test in tests {
        let evals = match &test.evals {
            Some(evals) => evals.clone(),
            None => evals_in(test, &Drive::default())?,
        };
        if evals.iter().any(|eval| !listed.contains(eval)) {
            let is_new = |name: &String| {
                let eval = name.split("::").next().unwrap_or_default();
                !listed.iter().any(|listed| listed == eval)
            };
            trials.extend(trials_in(test)?.into_iter().filter(is_new));
        }
        known.extend(evals);
    }
    Ok((known, trials))
}

fn stats(listing: &Listing, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    let stats = &listing.stats;
    writeln!(
        out,
        "{} (benchmark {})",
        clean(&listing.eval),
        clean(&listing.benchmark)
    )?;
    writeln!(
        out,
        "  samples: {}, with ground truth: {}",
        stats.samples, stats.with_ground_truth
    )?;
    let columns: Vec<_> = stats.columns.iter().map(|name| clean(name)).collect();
    writeln!(
        out,
        "  columns besides prompt, ground truth and id: {}",
        columns.join(", ")
    )?;
    for (dimension, values) in &stats.slices {
        let counts: Vec<_> = values
            .iter()
            .map(|(value, count)| format!("{}: {count}", clean(value)))
            .collect();
        writeln!(out, "  {}: {}", clean(dimension), counts.join(", "))?;
    }
    let total: usize = stats.attachments.values().sum();
    let kinds: Vec<_> = stats
        .attachments
        .iter()
        .map(|(kind, count)| format!("{}: {count}", clean(kind)))
        .collect();
    writeln!(out, "  attachments: {total} ({})", kinds.join(", "))?;
    for (id, reason) in &stats.missing_attachments {
        writeln!(out, "  missing: {}: {}", clean(id), clean(reason))?;
    }
    for notice in &listing.notices {
        writeln!(out, "  note: {}", clean(notice))?;
    }
    Ok(())
}
