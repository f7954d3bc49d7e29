//! Scripts for shells, and pages of the manual.

use std::fs;
use std::path::Path;
use std::process::Command;

use needs::needs;

use crate::project::Project;

/// What bash completes, with the script sourced as a user does it.
const ASK: &str = r#"
source ./script
ask() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    local by=$(complete -p "$1" | sed -n 's/.* -F \([^ ]*\) .*/\1/p')
    "$by" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
    echo "$* => ${COMPREPLY[*]}"
}
ask evaltest sco
ask cargo-evaltest run --lim
ask cargo evaltest bf
ask cargo evaltest cache cl
ask cargo bui
"#;

#[needs(bash)]
#[test]
fn bash_completes_all_three_names() {
    let project = Project::new();
    project.write("script", project.run("completions bash").exits(0).out);
    let mut bash = Command::new("bash");
    let bash = bash.args(["--norc", "-c", ASK]).current_dir(project.path());
    let output = bash.output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    for line in [
        "evaltest sco => score scorers",
        "cargo-evaltest run --lim => --limit",
        "cargo evaltest bf => bfcl",
        "cargo evaltest cache cl => clear",
    ] {
        assert!(
            stdout.lines().any(|text| text == line),
            "{line}\n{stdout}{errors}"
        );
    }
}

#[test]
fn each_shell_has_a_script_for_both_names() {
    let project = Project::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = project.run(&format!("completions {shell}")).exits(0).out;
        for name in ["evaltest", "cargo-evaltest"] {
            assert!(script.contains(name), "{shell} {name}");
        }
    }
    project.run("completions tcsh").exits(2);
}

#[test]
fn each_command_has_a_page_of_the_manual() {
    let project = Project::new();
    project.run("man pages").exits(0).says("pages in pages");
    let page = |name: &str| fs::read_to_string(project.file("pages").join(name)).unwrap();
    let whole = page("cargo-evaltest.1");
    assert!(whole.contains(".TH CARGO-EVALTEST 1"), "{whole}");
    let run = page("cargo-evaltest-run.1");
    assert!(
        run.contains("cargo\\-evaltest\\-run") && !run.contains(".SH EXTRA"),
        "{run}"
    );
    // Examples as they stand, each on a line of its own.
    let example = ".nf\n\\fBcargo evaltest run evals/gaia.yaml\\fR\n";
    assert!(run.contains(&format!(".SH EXAMPLES\n{example}")), "{run}");
    assert!(run.contains("\n.SH \"EXIT STATUS\"\n"), "{run}");
    // A synopsis in short, and no options but those of its own.
    let usage = ".SH SYNOPSIS\n\\fBcargo evaltest\\fR [OPTIONS] [SPEC]…\n.br\n\\fBcargo evaltest\\fR COMMAND …\n";
    assert!(whole.contains(usage), "{whole}");
    assert!(!whole.contains("\\-\\-limit\\fR"), "{whole}");
    let score = page("cargo-evaltest-score.1");
    assert!(
        score.contains("\\fR [OPTIONS] \\-\\-scorer <NAME|YAML>"),
        "{score}"
    );
    let codes = score.split_once(".SH \"EXIT STATUS\"\n").unwrap().1;
    assert!(codes.starts_with("0 scored, "), "{codes}");
    // Each page that is named is there.
    let mut named = 0;
    for name in names(&project.file("pages")) {
        let text = page(&name).replace('\\', "");
        for word in text.split_whitespace() {
            if let Some(other) = word.strip_suffix("(1)") {
                assert!(
                    project.file(&format!("pages/{other}.1")).is_file(),
                    "{word}"
                );
                named += 1;
            }
        }
    }
    assert!(named > 20);
    page("cargo-evaltest-cache-clear.1");
    assert!(!project.file("pages/cargo-evaltest-reference.1").exists());
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    entries
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}
