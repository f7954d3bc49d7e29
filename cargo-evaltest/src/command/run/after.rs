//! Output after runs: reports, and files and annotations for CI services.
//!
//! A report is written after each run. CI output is written once at the end of the command and covers all of its runs,
//! also if gates failed, the command was interrupted, or an eval could not start (reported as an error). Texts of
//! masked evals are hidden, because artifacts and comments are public.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use evaltest::engine::report::format::ReportAudience;
use evaltest::engine::report::formats::ci::UnstartedEval;
use evaltest::engine::report::formats::format_named;
use evaltest::engine::report::formats::github::annotations::annotations;
use evaltest::engine::report::formats::github::{self, SUMMARY_ROOM, summary};
use evaltest::engine::report::formats::junit::WrongAnswers;
use evaltest::engine::report::formats::{gitlab, junit};
use evaltest::engine::report::reported::{MaskedTexts, ReportedRun};
use evaltest::engine::store::RunDir;
use evaltest::engine::system::file::NewFile;
use evaltest::engine::system::project::{display, workspace};
use evaltest::{Error, Exit, Result};
use serde_json::{Value, json};

use crate::command::read::report::to_file;
use crate::console;

/// The folder of reports.
const REPORTS: &str = "evaluation_reports/";
/// The variable with the file of a step's summary on GitHub.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// What is to be written when runs are over.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
pub(crate) struct AfterArgs {
    /// Write a report of each run into `evaluation_reports/`, as `report` does; also if gates fail or the run stops
    /// early
    #[arg(long)]
    report: bool,

    /// Write samples and gates as JUnit XML, also if the run stops early. As in `cargo test`, a wrong answer is a
    /// failure only if a gate fails because of it
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Report every wrong answer as a failure in the JUnit file
    #[arg(long, requires = "junit")]
    junit_strict: bool,

    /// Write a GitHub Actions step summary with gates and flips, and annotate lines of specs and datasets. On by
    /// default if `GITHUB_ACTIONS` is `true`
    #[arg(long, conflicts_with = "no_github")]
    github: bool,

    /// Disable GitHub Actions output
    #[arg(long)]
    no_github: bool,

    /// Write a pull request comment, as `report --format pr-comment` does, with the evals that could not start
    #[arg(long, value_name = "FILE")]
    pr_comment: Option<PathBuf>,

    /// Write failed gates and samples that became wrong as a GitLab code quality report (JSON)
    #[arg(long, value_name = "FILE")]
    gitlab: Option<PathBuf>,
}

impl AfterArgs {
    fn notifies_github(&self) -> bool {
        let is_there = || std::env::var("GITHUB_ACTIONS").is_ok_and(|is| is == "true");
        self.github || !self.no_github && is_there()
    }

    /// The flags and whether each is set.
    pub(super) fn requested(&self) -> [(bool, &'static str); 5] {
        [
            (self.report, "--report"),
            (self.junit.is_some(), "--junit"),
            (self.github, "--github"),
            (self.pr_comment.is_some(), "--pr-comment"),
            (self.gitlab.is_some(), "--gitlab"),
        ]
    }

    /// The files to write at the end.
    fn files(&self) -> impl Iterator<Item = &Path> {
        let files = self
            .junit
            .iter()
            .chain(&self.pr_comment)
            .chain(&self.gitlab);
        files.map(PathBuf::as_path)
    }
}

/// Collects the results of a command's evals.
pub(in crate::command) struct After<'a> {
    args: &'a AfterArgs,
    /// Whether there is nothing to report to CI.
    is_dry: bool,
    runs: Vec<PathBuf>,
    /// The evals that ran.
    names: Vec<String>,
    unstarted: Vec<UnstartedEval>,
}

impl<'a> After<'a> {
    /// Checks that the output can be written, before anything runs.
    pub(in crate::command) fn new(args: &'a AfterArgs, is_dry: bool) -> Result<Self> {
        for file in args.files() {
            if file.is_dir() || file.file_name().is_none() {
                let message = format!("`{}` is a folder, not a file", display(file));
                return Err(Error::usage(message).hint("name the file to write"));
            }
        }
        Ok(Self {
            args,
            is_dry,
            runs: Vec::new(),
            names: Vec::new(),
            unstarted: Vec::new(),
        })
    }

    /// Handles a finished run: writes its report if requested and adds the path to its result.
    pub(in crate::command) fn ran(&mut self, result: &mut Value, is_json: bool) -> Result<()> {
        let dir = PathBuf::from(result["run_dir"].as_str().unwrap_or_default());
        self.names
            .push(result["eval"].as_str().unwrap_or_default().to_owned());
        self.runs.push(dir.clone());
        if !self.args.report {
            return Ok(());
        }
        let run = read(&dir)?;
        let markdown = format_named("md")?;
        let audience = ReportAudience::Developer;
        let file = to_file(&[run], markdown, audience, Path::new(REPORTS))?;
        if !is_json {
            console::print(|out| writeln!(out, "  report: {}", display(&file)))?;
        }
        result["report"] = json!(file);
        Ok(())
    }

    /// Records an eval that could not start or finish.
    pub(in crate::command) fn add_unstarted(&mut self, eval: &str, error: &Error) {
        self.unstarted.push(UnstartedEval {
            eval: eval.to_owned(),
            error: console::for_people(&error.to_string()),
        });
    }

    /// Records which of these evals did not run because their test target ended early.
    pub(in crate::command) fn report_missing(&mut self, evals: &[String]) {
        for eval in evals {
            let mut names = self.unstarted.iter().map(|other| &other.eval);
            if !self.names.contains(eval) && !names.any(|other| other == eval) {
                let error = Error::usage("its test target ended before it ran");
                self.add_unstarted(eval, &error);
            }
        }
    }

    /// Writes the CI output. The exit code is at least as bad as `ended`.
    pub(in crate::command) fn end(mut self, ended: Result<Exit>) -> Result<Exit> {
        let writes = self.args.files().next().is_some() || self.args.notifies_github();
        if self.is_dry || !writes {
            return ended;
        }
        if let (Err(error), true) = (&ended, self.unstarted.is_empty()) {
            self.add_unstarted("evaltest", error);
        }
        let mut runs = Vec::new();
        for dir in std::mem::take(&mut self.runs) {
            match read(&dir) {
                Ok(run) => runs.push(run),
                Err(error) => self.add_unstarted(&display(&dir), &error),
            }
        }
        let written = [
            self.args.junit.as_deref().map_or(Ok(()), |file| {
                let wrong = if self.args.junit_strict {
                    WrongAnswers::Fail
                } else {
                    WrongAnswers::AsTests
                };
                into(file, |out| junit::write(&runs, &self.unstarted, wrong, out))
            }),
            self.args.pr_comment.as_deref().map_or(Ok(()), |file| {
                into(file, |out| {
                    github::write_comment(&runs, &self.unstarted, out)
                })
            }),
            self.args.gitlab.as_deref().map_or(Ok(()), |file| {
                into(file, |out| gitlab::write(&runs, &workspace(), out))
            }),
            self.notify_github(&runs),
        ];
        let mut worst = Exit::Passed;
        for error in written.into_iter().filter_map(Result::err) {
            console::complain(&error);
            worst = worst.max(error.exit());
        }
        // Report the runs first, so that a write error does not hide them.
        ended.map(|exit| exit.max(worst))
    }

    fn notify_github(&self, runs: &[ReportedRun]) -> Result<()> {
        if !self.args.notifies_github() {
            return Ok(());
        }
        let mut lines = annotations(runs, &self.unstarted, &workspace())?;
        lines.push(String::new());
        // GitHub reads commands from stderr too, and stdout stays pure JSON.
        console::pass_on(&lines.join("\n"));
        let Some(file) = std::env::var_os(STEP_SUMMARY).map(PathBuf::from) else {
            console::note(&format!(
                "`{STEP_SUMMARY}` names no file: no summary is written"
            ));
            return Ok(());
        };
        // Content that other programs wrote in this step counts towards the limit.
        let there = fs::metadata(&file).map_or(0, |about| about.len());
        let there = usize::try_from(there).unwrap_or(usize::MAX);
        let room = SUMMARY_ROOM.saturating_sub(there);
        if room < 1000 {
            console::note("the summary of this step is full: there is no room for the gates");
            return Ok(());
        }
        let text = summary(runs, &self.unstarted, room - 1)?;
        let io = |error: std::io::Error| Error::io("write", &file, &error);
        let mut out = File::options()
            .append(true)
            .create(true)
            .open(&file)
            .map_err(io)?;
        // Write in one piece; existing content may not end in a line feed.
        let start = if there > 0 { "\n" } else { "" };
        out.write_all(format!("{start}{text}").as_bytes())
            .map_err(io)
    }
}

fn read(dir: &Path) -> Result<ReportedRun> {
    ReportedRun::read(RunDir::open(dir)?, MaskedTexts::Hidden)
}

/// Writes a file atomically.
fn into(file: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, &error))?;
    let mut out = NewFile::for_path(file)?;
    write(&mut out)?;
    out.put(file)
}
