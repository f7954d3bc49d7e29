//! `cargo evaltest cache`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};
use evaltest::engine::eval::spec;
use evaltest::engine::figure::counted;
use evaltest::engine::store::DEFAULT_OUTPUT_ROOT;
use evaltest::engine::store::cache::{self, FOLDER};
use evaltest::engine::system::project::{self, display};
use evaltest::engine::text::clean;
use evaltest::{Error, Exit, Registry, Result};
use serde_json::json;

use crate::{console, discover};

/// Show or clear the answer cache
///
/// With `cache: true` in the spec, or `run --cache`, a run stores answers in `.cache` in the folder of runs. It does not ask
/// a question again if nothing changed: the agent, its files and options, the prompt, tools, attached files and epoch.
#[derive(Debug, Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Count cached answers
    Stats(StatsArgs),
    /// Remove cached answers, and no other files
    Clear(ClearArgs),
}

#[derive(Debug, Args)]
struct Which {
    /// Specs whose cache to use; default: every spec of the project
    #[arg(value_name = "SPEC|FOLDER|NAME")]
    specs: Vec<PathBuf>,

    /// The cache folder, instead of those of specs
    #[arg(long, value_name = "DIR", conflicts_with = "specs")]
    path: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct StatsArgs {
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, Args)]
struct ClearArgs {
    #[command(flatten)]
    which: Which,

    /// Only answers that are at least this many days old
    #[arg(long, value_name = "DAYS")]
    older_than: Option<f64>,
}

pub(crate) fn run(args: &CacheArgs) -> Result<Exit> {
    match &args.action {
        Action::Stats(args) => stats(args),
        Action::Clear(args) => clear(args),
    }
}

fn stats(args: &StatsArgs) -> Result<Exit> {
    let mut all = Vec::new();
    for folder in args.which.folders()? {
        let found = cache::contents(&folder)?;
        if !args.which.json {
            let age = |stored_at: Option<SystemTime>| {
                stored_at.and_then(|stored_at| stored_at.elapsed().ok())
            };
            let ages = match (age(found.oldest), age(found.newest)) {
                (Some(oldest), Some(newest)) => {
                    format!(", stored {} to {} days ago", days(newest), days(oldest))
                }
                _ => String::new(),
            };
            let (answers, size) = (counted(found.answers, "answer"), size(found.bytes));
            let folder = clean(&display(&folder));
            console::print(|out| writeln!(out, "{folder}: {answers}, {size}{ages}"))?;
        }
        let seconds = |stored_at: Option<SystemTime>| {
            let since = stored_at?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
            Some(since.as_secs())
        };
        all.push(json!({
            "path": folder,
            "answers": found.answers,
            "bytes": found.bytes,
            "oldest_unix_s": seconds(found.oldest),
            "newest_unix_s": seconds(found.newest),
        }));
    }
    if args.which.json {
        console::print_json(&json!({ "caches": all }))?;
    }
    Ok(Exit::Passed)
}

fn clear(args: &ClearArgs) -> Result<Exit> {
    let older_than = args.older_than.map(|days| {
        Duration::try_from_secs_f64(days * 86_400.0).map_err(|_| {
            Error::usage(format!("`--older-than {days}` is not a number of days"))
                .hint("write `--older-than 30`")
        })
    });
    let older_than = older_than.transpose()?;
    let mut all = Vec::new();
    for folder in args.which.folders()? {
        let cleared = cache::clear(&folder, older_than)?;
        if !args.which.json {
            let (answers, size) = (counted(cleared.answers, "answer"), size(cleared.bytes));
            let folder = clean(&display(&folder));
            console::print(|out| writeln!(out, "{folder}: {answers} removed, {size}"))?;
        }
        all.push(json!({ "path": folder, "answers": cleared.answers, "bytes": cleared.bytes }));
    }
    if args.which.json {
        console::print_json(&json!({ "caches": all }))?;
    }
    Ok(Exit::Passed)
}

impl Which {
    /// The cache folders, without duplicates.
    fn folders(&self) -> Result<BTreeSet<PathBuf>> {
        if let Some(path) = &self.path {
            return Ok(BTreeSet::from([path.clone()]));
        }
        let specs = if self.specs.is_empty() {
            discover::find()?.specs
        } else {
            discover::typed_specs(&self.specs, "cache")?
        };
        let mut folders = BTreeSet::new();
        for path in &specs {
            match spec::load_any(path, &Registry::new(), &[]) {
                Ok(eval) => drop(folders.insert(eval.cache_folder())),
                // A spec may be broken, or use kinds that only a test binary registers.
                Err(_) if self.specs.is_empty() => {}
                Err(error) => return Err(error),
            }
        }
        if self.specs.is_empty() {
            let usual = project::root().join(DEFAULT_OUTPUT_ROOT).join(FOLDER);
            folders.insert(usual);
        }
        Ok(folders)
    }
}

fn days(age: Duration) -> u64 {
    age.as_secs() / 86_400
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes / 1_048_576),
    }
}
