//! `cargo evaltest import`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use evaltest::engine::eval::spec;
use evaltest::engine::leaderboard::bfcl::export;
use evaltest::engine::leaderboard::{Import, Mode};
use evaltest::engine::report::terminal;
use evaltest::engine::run::drive::{Destination, Drive, SampleChoice};
use evaltest::engine::system::signal;
use evaltest::engine::text::clean;
use evaltest::{Cancel, Error, Exit, Registry, Result};

use crate::{console, discover};

/// Turn the answers of another program into a run directory, which can then be shown, gated, accepted,
/// scored again and exported like any other. No agent is asked
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The folder with the files: `bfcl` finds `BFCL_v4_<category>_result.json` in it and below it
    folder: PathBuf,

    /// The format
    #[arg(long, value_enum)]
    format: ImportFormat,

    /// The leaderboard's data, against which single-turn answers are judged; without it all verdicts are those
    /// of the score files
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Whose results, where there are those of several models
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// The score files of the official program, whose verdicts `multi_turn`, `memory` and `web_search` keep; by
    /// default `score/<model>` beside `result/<model>`
    #[arg(long, value_name = "DIR")]
    scores: Option<PathBuf>,

    /// How answers are read: as native calls, as texts, or as native calls if any answer of the model is a list
    /// of them
    #[arg(long, value_enum, default_value = "auto")]
    mode: ModeArg,

    /// Whether `a_b` is right for a function `a.b`, as the official registry says of the model
    /// (`underscore_to_dot`); by default for native calls
    #[arg(long, value_name = "true|false")]
    underscore_to_dot: Option<bool>,

    /// A spec with the name, gates and snapshots of the eval; by default its name is `bfcl`, and it has no gates
    #[arg(long, value_name = "SPEC")]
    spec: Option<PathBuf>,

    /// The eval's name
    #[arg(long, conflicts_with = "spec")]
    name: Option<String>,

    /// Take what is there for the whole: gates then count although entries of a category are missing
    #[arg(long)]
    partial_eval: bool,

    /// The folder of run directories
    #[arg(long, value_name = "DIR")]
    output_root: Option<PathBuf>,

    /// The id of the run
    #[arg(long, value_name = "ID")]
    run_id: Option<String>,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Formats of other programs.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ImportFormat {
    /// Result and score files of the Berkeley Function Calling Leaderboard
    Bfcl,
}

/// How answers are read.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ModeArg {
    Auto,
    Fc,
    Prompt,
}

pub(crate) fn run(args: &ImportArgs) -> Result<Exit> {
    let ImportFormat::Bfcl = args.format;
    let import = Import {
        files: export::find(&args.folder, args.model.as_deref(), args.scores.as_deref())?,
        data: args.data.clone(),
        mode: match args.mode {
            ModeArg::Auto => Mode::Auto,
            ModeArg::Fc => Mode::Fc,
            ModeArg::Prompt => Mode::Prompt,
        },
        underscore_to_dot: args.underscore_to_dot,
    };
    let spec = args.spec.as_ref().map(discover::one_spec).transpose()?;
    let base = spec.map(|path| spec::load(&path, &Registry::new(), &[]));
    let imported = import.load(base.transpose()?)?;
    let mut eval = imported.eval;
    if let Some(name) = &args.name {
        eval = eval.named(name);
    }
    let drive = Drive {
        samples: SampleChoice {
            partial: !imported.whole && !args.partial_eval,
            ..SampleChoice::default()
        },
        destination: Destination {
            run_id: args.run_id.clone(),
            output_root: args.output_root.clone(),
            default_output_root: Some(
                discover::root()?.join(evaltest::engine::store::DEFAULT_OUTPUT_ROOT),
            ),
            ..Destination::default()
        },
        ..Drive::default()
    };
    let mut notices = imported.notices;
    if drive.samples.partial {
        notices.push(
            "entries of these categories are missing, so the run is a part of its eval: it cannot become a baseline, \
             unless `--partial-eval` takes it for the whole"
                .to_owned(),
        );
    }
    for notice in &notices {
        console::note(&clean(notice));
    }
    let cancel = Cancel::new();
    let interrupt = signal::cancel_on_signals(&cancel)
        .map_err(|error| Error::refused("handle signals", &error))?;
    let prepared = drive.prepare(&drive.adapt(eval)?)?;
    let run = drive.run(prepared, &cancel, Arc::new(|_: &_| {}))?;
    if args.json {
        console::print_json(&serde_json::json!({
            "run_dir": run.dir,
            "model": import.files.model,
            "summary": run.summary,
            "notices": notices,
        }))?;
    } else {
        console::print(|out| terminal::run(&run, out))?;
    }
    Ok(if interrupt.is_set() {
        Exit::Interrupted
    } else {
        run.summary.exit_code
    })
}
