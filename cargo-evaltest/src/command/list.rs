//! `cargo evaltest list`.

use std::path::PathBuf;

use clap::Args;
use evaltest::engine::eval::spec;
use evaltest::engine::run::drive::{Drive, Errand, SampleChoice};
use evaltest::engine::run::listing::Listing;
use evaltest::engine::text::clean;
use evaltest::{Error, Exit, Registry, Result};

use crate::console::{self, for_people};
use crate::{discover, target};

/// List evals and the test names of their samples
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Specs, folders of specs or names of evals to list; every eval of the project when none is named
    #[arg(value_name = "SPEC|FOLDER|NAME")]
    specs: Vec<PathBuf>,

    /// List this tier of the spec's `tiers` alone
    #[arg(long, value_name = "NAME")]
    tier: Option<String>,

    /// Show columns, counts by slice and attachments instead of names
    #[arg(long)]
    stats: bool,

    /// With `--stats`, show the first N samples as they were read; ground truths that must not be published are left out
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        requires = "stats",
        hide_default_value = true
    )]
    rows: usize,

    /// Show the categories of the data with their sizes instead of names, for benchmarks that have categories
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
    found.tell_left_out();
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
            // A test target may know the name, and lists the eval then.
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
    // Of a target that is there for some of its evals, the others are not asked for.
    let is_wanted = |name: &String| {
        !names_specs
            || found.names.contains(name)
            || unregistered.iter().any(|(others, _)| others.contains(name))
    };
    for test in &tests {
        let covered = test.evals.as_ref().is_some_and(|evals| {
            let mut left = evals.iter().filter(|eval| !known.contains(eval));
            !left.any(is_wanted)
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
                categories(listing, out)?;
                continue;
            }
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
        Ok(())
    })?;
    Ok(Exit::Passed)
}

fn categories(listing: &Listing, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    let (eval, benchmark) = (clean(&listing.eval), clean(&listing.benchmark));
    writeln!(out, "{eval} (benchmark {benchmark})")?;
    if listing.categories.is_empty() {
        return writeln!(out, "  no categories");
    }
    let selected = listing.stats.slices.get("category");
    for known in &listing.categories {
        let asked = selected.and_then(|counts| counts.get(&known.category));
        let note = match asked {
            _ if !known.native => "needs the official tool".to_owned(),
            None => "not in this eval".to_owned(),
            Some(asked) => format!("{asked} in this eval"),
        };
        writeln!(
            out,
            "  {:24} {:5}  {note}",
            clean(&known.category),
            known.entries
        )?;
    }
    Ok(())
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
    if !listing.tiers.is_empty() {
        let tiers = listing.tiers.iter();
        let tiers = tiers.map(|(name, samples)| format!("{}: {samples}", clean(name)));
        writeln!(out, "  tiers: {}", tiers.collect::<Vec<_>>().join(", "))?;
    }
    let columns: Vec<_> = stats.columns.iter().map(|name| clean(name)).collect();
    let columns = match columns.as_slice() {
        [] => "none".to_owned(),
        columns => columns.join(", "),
    };
    writeln!(
        out,
        "  columns besides prompt, ground truth and id: {columns}"
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
    if kinds.is_empty() {
        writeln!(out, "  attachments: none")?;
    } else {
        writeln!(out, "  attachments: {total} ({})", kinds.join(", "))?;
    }
    for (id, reason) in &stats.missing_attachments {
        writeln!(out, "  missing: {}: {}", clean(id), clean(reason))?;
    }
    for notice in &listing.notices {
        writeln!(out, "  note: {}", clean(&for_people(notice)))?;
    }
    (1..).zip(&listing.rows).try_for_each(|(number, row)| {
        writeln!(out, "  row {number}")?;
        for (column, value) in &row.columns {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            writeln!(out, "    {}: {}", clean(column), cut(&clean(&value)))?;
        }
        if row.is_masked {
            writeln!(
                out,
                "    (ground truth and metadata not shown: the benchmark's answers must not be published)"
            )?;
        }
        Ok(())
    })
}

/// A text in the width of a line.
fn cut(text: &str) -> String {
    const WIDTH: usize = 80;
    let mut short: String = text.chars().take(WIDTH).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
