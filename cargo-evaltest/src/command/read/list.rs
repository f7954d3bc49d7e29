//! `cargo evaltest list`.

use std::path::PathBuf;

use clap::Args;
use evaltest::engine::eval::spec;
use evaltest::engine::report::document::{Block, Document, list};
use evaltest::engine::report::render::terminal::{self, Paint, truncate};
use evaltest::engine::run::drive::{Drive, Errand, SampleChoice};
use evaltest::engine::run::listing::Listing;
use evaltest::engine::text::{clean, unquoted};
use evaltest::{Error, Exit, Registry, Result};

use crate::console::{self, for_people};
use crate::{discover, target};

/// Maximum width of a value in a line.
const WIDTH: usize = 81;

/// List evals and the test names of their samples
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Specs, folders of specs or names of evals to list; default: every eval of the project
    #[arg(value_name = "SPEC|FOLDER|NAME")]
    specs: Vec<PathBuf>,

    /// List only this tier of the spec's `tiers`
    #[arg(long, value_name = "NAME")]
    tier: Option<String>,

    /// Show columns, counts by slice and attachments instead of names
    #[arg(long)]
    stats: bool,

    /// With `--stats`: show the first N samples as parsed, without ground truths that must not be published
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        requires = "stats",
        hide_default_value = true
    )]
    rows: usize,

    /// Show categories and their sizes instead of names, for benchmarks that have categories
    #[arg(long, conflicts_with = "stats")]
    categories: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ListArgs) -> Result<Exit> {
    let found = if args.specs.is_empty() {
        discover::find()?
    } else {
        discover::named(&args.specs)?
    };
    found.note_excluded();
    if found.is_empty() {
        return Err(discover::nothing_found());
    }
    let drive = Drive {
        errand: Errand::List { rows: args.rows },
        samples: SampleChoice {
            tier: args.tier.clone(),
            ..SampleChoice::default()
        },
        ..Drive::default()
    };
    let mut listings: Vec<Listing> = Vec::new();
    let mut paths = Vec::new();
    let mut unregistered = Vec::new();
    for path in found.specs.clone() {
        match spec::load_all(&path, &Registry::new(), &[]) {
            Ok(evals) => {
                for eval in evals {
                    if !found.wants(&path, eval.name()) {
                        continue;
                    }
                    let eval = drive.adapt(eval)?;
                    listings.push(Listing::of(&eval, args.rows)?);
                    paths.push(path.clone());
                }
            }
            // A test target may know the name, and then lists the eval.
            Err(error) if error.is_unregistered() => {
                let evals = spec::names(&path)?.evals.into_iter();
                let evals = evals.filter(|names| found.wants(&path, &names.eval));
                unregistered.push((evals.map(|names| names.eval).collect::<Vec<_>>(), error));
            }
            Err(error) => return Err(error),
        }
    }
    let names = listings.iter().map(|listing| listing.eval.as_str());
    discover::check_names(names.zip(paths.iter().map(PathBuf::as_path)))?;
    let known: Vec<String> = listings
        .iter()
        .map(|listing| listing.eval.clone())
        .collect();
    let names_specs = !args.specs.is_empty();
    let tests = if names_specs && !unregistered.is_empty() {
        discover::find()?.tests
    } else {
        found.tests
    };
    // If a target has some of the evals, do not ask it for the others.
    let is_wanted = |name: &String| {
        !names_specs
            || found.names.contains(name)
            || unregistered.iter().any(|(others, _)| others.contains(name))
    };
    for test in &tests {
        let covered = test.evals.as_ref().is_some_and(|evals| {
            let mut remaining = evals.iter().filter(|eval| !known.contains(eval));
            !remaining.any(is_wanted)
        });
        if !covered {
            let listed = target::listings(test, &known, &drive)?.into_iter();
            listings.extend(listed.filter(|listing| is_wanted(&listing.eval)));
        }
    }
    let is_unknown = |(names, _): &(Vec<String>, Error)| {
        let mut listed = listings.iter().map(|listing| &listing.eval);
        !listed.any(|listed| names.contains(listed))
    };
    if let Some((_, error)) = unregistered.into_iter().find(is_unknown) {
        return Err(error);
    }
    if args.json {
        console::print_json(&listings)?;
        return Ok(Exit::Passed);
    }
    console::print_data(|out| {
        for listing in &listings {
            if args.categories {
                terminal::document(&categories(listing), Paint::Plain, out)?;
                continue;
            }
            if args.stats {
                terminal::document(&stats(listing), Paint::Plain, out)?;
                continue;
            }
            for sample in &listing.samples {
                writeln!(out, "{}", clean(&sample.name))?;
            }
            for gate in &listing.gates {
                writeln!(out, "{}", clean(gate))?;
            }
        }
        Ok(())
    })?;
    Ok(Exit::Passed)
}

fn categories(listing: &Listing) -> Document {
    let mut text = Document::new(format!(
        "{} (benchmark {})",
        listing.eval, listing.benchmark
    ));
    if listing.categories.is_empty() {
        text.paragraph("no categories");
    }
    let selected = listing.stats.slices.get("category");
    text.list(listing.categories.iter().map(|known| {
        let requested = selected.and_then(|counts| counts.get(&known.category));
        let note = match requested {
            _ if !known.native => "needs the official tool".to_owned(),
            None => "not in this eval".to_owned(),
            Some(requested) => format!("{requested} in this eval"),
        };
        format!("{:24} {:5}  {note}", known.category, known.entries)
    }));
    text
}

fn stats(listing: &Listing) -> Document {
    let stats = &listing.stats;
    let mut text = Document::new(format!(
        "{} (benchmark {})",
        listing.eval, listing.benchmark
    ));
    text.paragraph(format!(
        "samples: {}, with ground truth: {}",
        stats.samples, stats.with_ground_truth
    ));
    if !listing.tiers.is_empty() {
        text.paragraph(format!(
            "tiers: {}",
            counts(listing.tiers.iter().map(|(name, count)| (name, count)))
        ));
    }
    let columns = match &*stats.columns.join(", ") {
        "" => "none".to_owned(),
        columns => columns.to_owned(),
    };
    text.paragraph(format!("other columns: {columns}"));
    let slices = stats.slices.iter();
    text.list(slices.map(|(dimension, values)| format!("{dimension}: {}", counts(values))));
    let total: usize = stats.attachments.values().sum();
    text.paragraph(match &*counts(&stats.attachments) {
        "" => "attachments: none".to_owned(),
        kinds => format!("attachments: {total} ({kinds})"),
    });
    let missing = stats.missing_attachments.iter();
    text.list(missing.map(|(id, reason)| format!("missing: {id}: {reason}")));
    for notice in &listing.notices {
        text.note(for_people(notice));
    }
    for (number, row) in (1..).zip(&listing.rows) {
        let columns = row.columns.iter().map(|(column, value)| {
            let value = unquoted(value);
            format!("{column}: {}", truncate(&clean(&value), WIDTH))
        });
        let masked = row.is_masked.then(|| {
            "(ground truth and metadata not shown: the benchmark's answers must not be published)"
                .to_owned()
        });
        let columns = list(columns.chain(masked));
        text.blocks
            .push(Block::group(format!("row {number}"), columns));
    }
    text
}

/// `a: 2, b: 1`.
fn counts<'a>(of: impl IntoIterator<Item = (&'a String, &'a usize)>) -> String {
    let counts = of
        .into_iter()
        .map(|(name, count)| format!("{name}: {count}"));
    counts.collect::<Vec<_>>().join(", ")
}
