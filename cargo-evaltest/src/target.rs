//! Test targets with evals: lists and runs them through cargo.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use evaltest::engine::run::drive::{self, Audience, Drive, Errand, EvalChoice, HistoryPlace};
use evaltest::engine::run::listing::Listing;
use evaltest::engine::system::signal::{self, Interrupt};
use evaltest::{Error, Exit, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::console;
use crate::discover::{self, TestTarget};

/// Prefix of an error returned by `main`.
const MAINS_ERROR: &str = "Error: ";
/// Polling interval for a running test target.
const POLL_INTERVAL: Duration = Duration::from_millis(30);

/// Runs the evals of a test target like specs. On interrupt it is stopped gracefully.
pub(crate) fn run_test(
    test: &TestTarget,
    drive: &Drive,
    json: bool,
    interrupt: &Interrupt,
) -> Result<Exit> {
    let drive = Drive {
        audience: Audience {
            watched: true,
            ..drive.audience
        },
        ..drive.clone()
    };
    let mut command = test_command(test, &drive)?;
    if json {
        command.stdout(Stdio::null());
    }
    // In its own process group it gets no Ctrl-C; closing its standard input stops the run, also if this process is
    // killed.
    let child = signal::shield(command.stdin(Stdio::piped())).spawn();
    let failed = |error: std::io::Error| Error::usage(format!("cannot run test target: {error}"));
    let mut child = child.map_err(failed)?;
    let mut lifeline = child.stdin.take();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        if interrupt.is_set() {
            drop(lifeline.take());
        }
        std::thread::sleep(POLL_INTERVAL);
    };
    Ok(Exit::of_driven(status.code()))
}

/// The command for the built test binary, as cargo would start it; not through cargo, which prints messages of its own
/// if a run fails.
fn test_command(test: &TestTarget, drive: &Drive) -> Result<Command> {
    let text = serde_json::to_string(drive)
        .map_err(|error| Error::infrastructure(format!("options cannot be passed on: {error}")))?;
    let folder = test.manifest.parent().unwrap_or(Path::new("."));
    let mut command = Command::new(build(test)?);
    command
        .current_dir(folder)
        .env("CARGO_MANIFEST_DIR", folder)
        .env(drive::VARIABLE, text)
        .stdin(Stdio::null());
    Ok(command)
}

/// Builds a test target and returns the path of its binary.
fn build(test: &TestTarget) -> Result<PathBuf> {
    #[derive(Deserialize)]
    struct CargoMessage {
        executable: Option<PathBuf>,
        target: Option<Target>,
    }
    #[derive(Deserialize)]
    struct Target {
        name: String,
    }
    let output = discover::cargo()
        .args([
            "test",
            "--quiet",
            "--no-run",
            "--message-format",
            "json-render-diagnostics",
        ])
        .args([
            "--package",
            &test.package,
            "--test",
            &test.name,
            "--manifest-path",
        ])
        .arg(&test.manifest)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| {
            Error::usage(format!("cannot run cargo: {error}"))
                .hint("evals in test targets need it: https://rustup.rs")
        })?;
    let messages = output.stdout.split(|&byte| byte == b'\n');
    let messages = messages.filter_map(|line| serde_json::from_slice::<CargoMessage>(line).ok());
    let is_ours = |message: &CargoMessage| {
        message
            .target
            .as_ref()
            .is_some_and(|target| target.name == test.name)
    };
    let built = messages
        .filter(is_ours)
        .filter_map(|message| message.executable)
        .next_back();
    built.filter(|_| output.status.success()).ok_or_else(|| {
        Error::usage(format!("test target `{}` cannot be built", test.name)).hint(format!(
            "cargo test --package {} --test {} --no-run",
            test.package, test.name
        ))
    })
}

/// The names of the evals in a test target.
pub(crate) fn evals_in(test: &TestTarget, drive: &Drive) -> Result<Vec<String>> {
    let drive = Drive {
        errand: Errand::Name,
        ..drive.clone()
    };
    ask(test, &drive)
}

/// Runs a test target and returns the lines it prints for this program, without their prefix.
fn ask(test: &TestTarget, drive: &Drive) -> Result<Vec<String>> {
    let output = test_command(test, drive)?
        .stderr(Stdio::piped())
        .output()
        .map_err(|error| Error::usage(format!("cannot run test target: {error}")))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if let Some((before, error)) = stderr.split_once(MAINS_ERROR)
        && !output.status.success()
    {
        console::pass_on(before);
        // The text includes its hint.
        return Err(Error::usage(error.trim_end()));
    }
    console::pass_on(&stderr);
    let out = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<_> = out
        .lines()
        .filter_map(|line| line.strip_prefix(drive::MARK))
        .collect();
    // A target with libtest's harness prints lines too, but none with the prefix.
    if !output.status.success() || lines.is_empty() {
        return Err(Error::usage(format!(
            "test target `{}` does not list its evals",
            test.name
        ))
        .hint("it needs `harness = false` and a `main` that calls `evaltest::run`"));
    }
    Ok(lines
        .into_iter()
        .map(str::to_owned)
        .filter(|line| !line.is_empty())
        .collect())
}

/// Listings of the evals in a test target, except `skip`.
pub(crate) fn listings(test: &TestTarget, skip: &[String], drive: &Drive) -> Result<Vec<Listing>> {
    query(test, skip, drive)
}

/// Paths of the histories of the evals in a test target, except `skip`.
pub(crate) fn places(test: &TestTarget, skip: &[String]) -> Result<Vec<HistoryPlace>> {
    let drive = Drive {
        errand: Errand::Place,
        ..Drive::default()
    };
    query(test, skip, &drive)
}

/// A value for each eval in a test target, except `skip`.
fn query<T: DeserializeOwned>(test: &TestTarget, skip: &[String], drive: &Drive) -> Result<Vec<T>> {
    let drive = Drive {
        evals: EvalChoice {
            skip: skip.to_vec(),
            ..EvalChoice::default()
        },
        ..drive.clone()
    };
    let parse = |line: &String| {
        serde_json::from_str(line).map_err(|error| {
            Error::usage(format!(
                "test target `{}` was built with another version of evaltest: {error}",
                test.name
            ))
        })
    };
    ask(test, &drive)?.iter().map(parse).collect()
}
