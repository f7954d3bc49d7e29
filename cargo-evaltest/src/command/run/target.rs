//! Test targets that hold evals: listed and run through cargo.

use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::Duration;

use evaltest::drive::{self, Drive};
use evaltest::signal::Interrupt;
use evaltest::{Error, Result};

use crate::discover::{self, TestTarget};

/// How often a running test target is looked after.
const GLANCE: Duration = Duration::from_millis(30);

/// Runs the evals of a test target as we run specs. An interrupt lets it end well.
pub(super) fn run_test(
    test: &TestTarget,
    drive: &Drive,
    json: bool,
    interrupt: &Interrupt,
) -> Result<u8> {
    let drive = Drive {
        watched: true,
        ..drive.clone()
    };
    let mut cargo = test_command(test, &drive)?;
    if json {
        cargo.stdout(Stdio::null());
    }
    // Cargo would die of a Ctrl-C and leave the binary to itself. In a group of their own neither sees it;
    // what stops the run is the end of its standard input, also when we are killed.
    let child = cargo.stdin(Stdio::piped()).process_group(0).spawn();
    let failed = |error: std::io::Error| Error::usage(format!("cannot run cargo: {error}"));
    let mut child = child.map_err(failed)?;
    let mut lifeline = child.stdin.take();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        if interrupt.is_set() {
            drop(lifeline.take());
        }
        std::thread::sleep(GLANCE);
    };
    // Cargo hands the binary's exit code on; its own failures (a build that fails) are usage errors.
    Ok(
        match status.code().and_then(|code| u8::try_from(code).ok()) {
            Some(drive::GATE_FAILED) => 1,
            Some(code @ (0 | 3 | 130)) => code,
            _ => 2,
        },
    )
}

fn test_command(test: &TestTarget, drive: &Drive) -> Result<std::process::Command> {
    let text = serde_json::to_string(drive)
        .map_err(|error| Error::infrastructure(format!("options cannot be passed on: {error}")))?;
    let mut cargo = discover::cargo();
    cargo
        .args([
            "test",
            "--quiet",
            "--package",
            &test.package,
            "--test",
            &test.name,
            "--manifest-path",
        ])
        .arg(&test.manifest)
        .env(drive::VARIABLE, text)
        .stdin(Stdio::null());
    Ok(cargo)
}

/// The names of the evals in a test target.
pub(crate) fn evals_in(test: &TestTarget, drive: &Drive) -> Result<Vec<String>> {
    let drive = Drive {
        names_only: true,
        ..drive.clone()
    };
    lines_of(test, &mut test_command(test, &drive)?)
}

/// The names of all tests of a test target.
pub(crate) fn trials_in(test: &TestTarget) -> Result<Vec<String>> {
    let mut cargo = test_command(test, &Drive::default())?;
    cargo.env_remove(drive::VARIABLE).args(["--", "--list"]);
    let names = lines_of(test, &mut cargo)?.into_iter();
    Ok(names
        .filter_map(|line| Some(line.strip_suffix(": test")?.to_owned()))
        .collect())
}

fn lines_of(test: &TestTarget, cargo: &mut std::process::Command) -> Result<Vec<String>> {
    let output = cargo
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Error::usage(format!("cannot run cargo: {error}")))?;
    if !output.status.success() {
        return Err(Error::usage(format!(
            "test target `{}` does not list its evals",
            test.name
        ))
        .hint(format!("cargo test --test {}", test.name)));
    }
    let out = String::from_utf8_lossy(&output.stdout);
    Ok(out.lines().map(str::to_owned).collect())
}
