//! Test targets that hold evals: listed and run through cargo.

use std::process::Stdio;

use evaltest::drive::{self, Drive};
use evaltest::{Error, Result};

use crate::discover::{self, TestTarget};

/// Runs the evals of a test target as we run specs.
pub(super) fn run_test(test: &TestTarget, drive: &Drive, json: bool) -> Result<u8> {
    let mut cargo = test_command(test, drive)?;
    if json {
        cargo.stdout(Stdio::null());
    }
    let status = cargo
        .status()
        .map_err(|error| Error::usage(format!("cannot run cargo: {error}")))?;
    // Cargo hands the binary's exit code on; its own failures (a build that fails) are usage errors.
    Ok(match status.code() {
        Some(code @ (0 | 1 | 3 | 130)) => u8::try_from(code).unwrap_or(2),
        _ => 2,
    })
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
pub(super) fn evals_in(test: &TestTarget, drive: &Drive) -> Result<Vec<String>> {
    let drive = Drive {
        names_only: true,
        ..drive.clone()
    };
    let output = test_command(test, &drive)?
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
    Ok(String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect())
}
