//! The local rules of this repository.

use std::fs;
use std::path::{Path, PathBuf};

mod imports;
mod rooms;
mod tokens;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// Every Rust source below a folder, with its path relative to the repository.
fn sources(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let name = path.strip_prefix(root()).unwrap().display().to_string();
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(!found.is_empty());
    found
}

/// Files outside `allowed` whose code (not comments) holds `word`.
fn check_only(word: &str, allowed: &[&str]) {
    for (name, text) in sources("src") {
        let named = text.lines().any(|line| {
            let code = line.trim_start();
            !code.starts_with("//") && code.contains(word)
        });
        assert!(
            !named || allowed.iter().any(|start| name.starts_with(start)),
            "{name} names `{word}`"
        );
    }
}

#[test]
fn one_file_names_each_framework() {
    check_only("libtest_mimic", &["src/harness.rs"]);
    check_only("insta::", &["src/snapshot.rs"]);
    check_only(
        "serde_yaml",
        &[
            "src/spec.rs",
            "src/spec/",
            "src/snapshot/baseline.rs",
            "src/text/setting.rs",
        ],
    );
}

/// How an exit code looks that is not an `Exit`, without spaces; `#` stands for a digit.
const BARE_EXITS: &[&str] = &[
    "ExitCode::from(#",
    "exit_code=#",
    "exit_code==#",
    "exit_code!=#",
    "exit_code:#",
    "code()==#",
    "code()!=#",
    "exit:u8",
    "code:u8",
    "exit_code()->u8",
    "exit_code(&self)->u8",
    "exit_code(self)->u8",
    "->Result<u8>",
    "=>71",
    "=71",
    "=>101",
    "=101",
    "Ok(130)",
    "=>130",
    "=130",
    "{130}",
];

/// What of these stands in a line of code; comments and texts do not count.
fn bare_exit(line: &str) -> Option<&'static str> {
    let line = line.replace("\\\"", "");
    // Every other piece is a text.
    let code: String = line.split('"').step_by(2).collect();
    let code = code.split("//").next().unwrap_or_default();
    let code = code.replace(' ', "");
    let stands = |mark: &&&str| {
        let wants_digit = mark.ends_with('#');
        let start = mark.trim_end_matches('#');
        code.match_indices(start).any(|(place, _)| {
            let rest = &code[place + start.len()..];
            // `= 1300` and `= 130_000` are no exit codes.
            rest.starts_with(|c: char| c.is_ascii_digit() || c == '_' && !wants_digit)
                == wants_digit
        })
    };
    BARE_EXITS.iter().find(stands).copied()
}

#[test]
fn exit_codes_are_an_exit() {
    fn check(line: &str, expect: bool) {
        assert_eq!(bare_exit(line).is_some(), expect, "{line}");
    }
    check("        return Ok(130);", true);
    check("        _ if interrupted => 130,", true);
    check(
        "    let mut code = if interrupted { 130 } else { code };",
        true,
    );
    check("    pub exit_code: u8,", true);
    check("            exit_code: 0,", true);
    check("    if error.exit_code == 2 {", true);
    check("    ExitCode::from(3)", true);
    check("pub(crate) fn run(args: &RunArgs) -> Result<u8> {", true);
    check("    if run.exit().code() != 0 { // \"", true);
    check("    // exit_code: u8", false);
    check(
        "    help = \"an `exit_code == 2` and \\\"=> 130\\\"\",",
        false,
    );
    check("    assert_eq!(failure.exit_code, Some(3));", false);
    check("    const MOST: usize = 130_000;", false);
    check("    ExitCode::from(exit)", false);
    for folder in ["src", "cargo-evaltest/src"] {
        for (name, text) in sources(folder) {
            if name == "src/exit.rs" {
                continue;
            }
            for (number, line) in (1..).zip(text.lines()) {
                if let Some(mark) = bare_exit(line) {
                    panic!("{name}:{number}: `{mark}`: write an `Exit` (src/exit.rs)");
                }
            }
        }
    }
}

#[test]
fn no_file_is_too_long_to_read() {
    for folder in ["src", "cargo-evaltest/src", "tests"] {
        for (name, text) in sources(folder) {
            let lines = text.lines().count();
            assert!(
                lines <= 500,
                "{name} has {lines} lines: is it still one noun?"
            );
        }
    }
}

#[test]
fn every_spec_of_the_fixtures_parses() {
    let mut specs = 0;
    for entry in fs::read_dir(root().join("fixtures")).unwrap() {
        let folder = entry.unwrap().path();
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "yaml") {
                let eval = evaltest::spec::load(&path, &evaltest::Registry::new(), &[]);
                eval.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                specs += 1;
            }
        }
    }
    assert!(specs > 0);
}
