//! `cargo evaltest review`.

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use evaltest::engine::report::reported::MaskedTexts;
use evaltest::engine::review::{Review, ReviewChoice, ReviewOnly, ReviewOptions, ReviewServed};
use evaltest::engine::serve::LocalServer;
use evaltest::engine::system::{orphans, signal};
use evaltest::engine::text::clean;
use evaltest::{Cancel, Error, Exit, Result};

use crate::console;
use crate::runs::read_run;

/// Default random seed.
const SEED: u64 = 0;

/// Review items one by one in a local web page
///
/// Serves the page on 127.0.0.1 until Ctrl-C. A reviewer gives each item points for each dimension of the rubric, a status
/// and a comment; nothing is preset. Each submission is on disk before the page confirms it: in the reviewer's journal and
/// in `NAME_verifications.json` next to the file.
#[derive(Debug, Args)]
pub(crate) struct ReviewArgs {
    /// A JSON array of items, or a JSON lines file; or a run directory, a part of its name, or the name of an eval (its
    /// last run)
    #[arg(value_name = "FILE|RUN_DIR")]
    source: PathBuf,

    /// The port; 0 = any free port
    #[arg(long, value_name = "PORT", default_value_t = 7860)]
    port: u16,

    /// Do not open a browser
    #[arg(long)]
    no_open: bool,

    /// The reviewer; default: the user name
    #[arg(long, value_name = "NAME")]
    reviewer: Option<String>,

    /// The rubric: a built-in one or a file, with at most nine dimensions; default: that of the run's judge, else
    /// `aime`
    #[arg(long, value_name = "RUBRIC")]
    rubric: Option<String>,

    /// Review N items, sampled at random
    #[arg(long, value_name = "N", conflicts_with = "only")]
    sample: Option<usize>,

    /// Random seed, also for the order of a judged run's answers; default: 0
    #[arg(long, value_name = "S", conflicts_with = "only")]
    seed: Option<u64>,

    /// Review only these samples of a run; their labels are marked `picked`
    #[arg(long, value_name = "WHICH")]
    only: Option<OnlyThese>,

    /// Show questions and answers even if the eval's snapshots are masked
    #[arg(long)]
    show_texts: bool,
}

/// Answers that are worth a look.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum OnlyThese {
    /// Samples that flipped since the baseline
    Flipped,
    /// Samples where another scorer contradicts the deciding one
    Disagreeing,
    /// Samples that are wrong or ended in an error
    Failed,
}

pub(crate) fn run(args: &ReviewArgs) -> Result<Exit> {
    if args.sample == Some(0) {
        let error = Error::usage("`--sample 0` leaves nothing to review");
        return Err(error.hint("give a number from 1"));
    }
    let options = ReviewOptions {
        reviewer: args.reviewer.clone().unwrap_or_else(user),
        rubric: args.rubric.clone(),
        choice: choice(args),
    };
    // Bind before reading or writing: another process on this port may be reviewing the same items.
    let server = bound(args.port)?;
    let review = Arc::new(opened(args, &options)?);
    let cancel = Cancel::new();
    signal::cancel_on_signals(&cancel).map_err(|error| Error::refused("handle signals", &error))?;
    for notice in review.notices() {
        console::note(&clean(&notice));
    }
    let url = server.url();
    console::print(|out| writeln!(out, "{url}"))?;
    let port = server.port();
    console::note(&clean(&format!(
        "{} of {} reviewed by {}, saved to {}; Ctrl-C ends it",
        review.reviewed(),
        review.count(),
        options.reviewer,
        review.saved_to()
    )));
    console::note(&format!(
        "from another machine: ssh -L {port}:127.0.0.1:{port} HOST, and the same address there"
    ));
    if !args.no_open {
        open(&url);
    }
    server.serve(ReviewServed(Arc::clone(&review)), &cancel)?;
    console::note(&clean(&format!(
        "{} of {} reviewed, saved to {}",
        review.reviewed(),
        review.count(),
        review.saved_to()
    )));
    if let Some(agreement) = review.agreement() {
        console::note(&agreement);
    }
    Ok(Exit::Passed)
}

/// Opens the source: a file if it exists, otherwise a run.
fn opened(args: &ReviewArgs, options: &ReviewOptions) -> Result<Review> {
    let end = args.source.extension().and_then(OsStr::to_str);
    let is_named_so = matches!(end, Some("json" | "jsonl" | "ndjson"));
    if args.source.is_file() || is_named_so && !args.source.is_dir() {
        return Review::of_file(args.source.clone(), options);
    }
    let texts = if args.show_texts {
        MaskedTexts::Visible
    } else {
        MaskedTexts::Hidden
    };
    Review::of_run(&read_run(&args.source)?, texts, options)
}

fn choice(args: &ReviewArgs) -> ReviewChoice {
    let seed = args.seed.unwrap_or(SEED);
    match (args.only, args.sample) {
        (Some(only), _) => ReviewChoice::Only(match only {
            OnlyThese::Flipped => ReviewOnly::Flipped,
            OnlyThese::Disagreeing => ReviewOnly::Disagreeing,
            OnlyThese::Failed => ReviewOnly::Failed,
        }),
        (None, Some(count)) => ReviewChoice::Sample { count, seed },
        (None, None) => ReviewChoice::All { seed },
    }
}

/// Binds the port. A port in use is a usage error, not a system error.
fn bound(port: u16) -> Result<LocalServer> {
    LocalServer::bind(port).map_err(|error| {
        Error::usage(error.message()).hint("name another port; `--port 0` takes any free one")
    })
}

/// The user name from the environment.
fn user() -> String {
    let names = ["USER", "LOGNAME", "USERNAME"].into_iter();
    let mut names = names.filter_map(|name| std::env::var(name).ok());
    let name = names.find(|name| !name.trim().is_empty());
    name.unwrap_or_else(|| "reviewer".to_owned())
}

/// Opens the page in a browser if there is a display; otherwise the user has the printed URL.
fn open(url: &str) {
    let has = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_far = has("SSH_CONNECTION") && !has("DISPLAY");
    if is_far || has("CI") || !std::io::stderr().is_terminal() {
        return;
    }
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if has("DISPLAY") || has("WAYLAND_DISPLAY") {
        "xdg-open"
    } else {
        return;
    };
    // Keep the browser running when this process ends, also by Ctrl-C.
    orphans::leave();
    let mut command = Command::new(program);
    command.arg(url).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    signal::shield(&mut command);
    let _ = command.spawn();
}
