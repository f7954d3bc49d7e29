//! Workflows that gate pull requests. They install the command from where this program came from.

use evaltest::engine::text::shell_word;

use super::provenance::Provenance;

const GITHUB: &str = include_str!("ci/github.yml");
const GITHUB_RUST: &str = include_str!("ci/github_rust.yml");
const GITHUB_PYTHON: &str = include_str!("ci/github_python.yml");
const GITLAB: &str = include_str!("ci/gitlab.yml");

/// How a machine of a CI service comes to the command.
struct Install {
    /// A line to type.
    command: String,
    /// What to know of that line, if anything.
    note: Vec<&'static str>,
    /// It is built there, and needs Rust.
    builds: bool,
}

impl Install {
    fn of(origin: &Provenance) -> Self {
        // Not the toolchain that a project asks for.
        const CARGO: &str = "cargo +stable install --locked";
        const PIP: &str = "python3 -m pip install";
        let version = env!("CARGO_PKG_VERSION");
        let built = |command: String, note: &[&'static str]| Self {
            command,
            note: note.to_vec(),
            builds: true,
        };
        match origin {
            Provenance::Path(folder) => built(
                format!(
                    "{CARGO} --path {}",
                    shell_word(&folder.join("cargo-evaltest").to_string_lossy())
                ),
                &[
                    "This path is of the machine on which `init` was typed: it runs where that folder is. On others, name",
                    "an address: cargo +stable install --locked --git ADDRESS cargo-evaltest",
                ],
            ),
            Provenance::Git {
                address,
                rev: Some(rev),
            } => built(
                format!(
                    "{CARGO} --git {} --rev {rev} cargo-evaltest",
                    shell_word(address)
                ),
                &[],
            ),
            Provenance::Git { address, rev: None } => built(
                format!("{CARGO} --git {} cargo-evaltest", shell_word(address)),
                &["The newest there; `--tag` or `--rev` behind the address holds one."],
            ),
            Provenance::Registry => {
                built(format!("{CARGO} --version {version} cargo-evaltest"), &[])
            }
            Provenance::Index => Self {
                command: format!("{PIP} evaltest=={version}"),
                note: Vec::new(),
                builds: false,
            },
            Provenance::Wheel(file) => Self {
                command: format!("{PIP} {}", shell_word(file)),
                note: if file.contains("://") {
                    Vec::new()
                } else {
                    vec![
                        "This path is of the machine on which `init` was typed: put the wheel where the runner finds it, such as",
                        "into the repository, and name it here.",
                    ]
                },
                builds: false,
            },
        }
    }

    /// The name under which it is there then.
    fn name(&self) -> &'static str {
        if self.builds {
            "cargo evaltest"
        } else {
            "evaltest"
        }
    }

    fn comments(&self, indent: &str) -> String {
        let line = |note: &&str| format!("{indent}# {note}\n");
        self.note.iter().map(line).collect()
    }
}

/// A template with parts in place of its words. What a part says is no word of the template.
fn filled(template: &str, parts: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    let next = |rest: &str| {
        let places = parts.iter();
        let places = places.filter_map(|(word, part)| Some((rest.find(word)?, word.len(), *part)));
        places.min_by_key(|(place, ..)| *place)
    };
    while let Some((place, length, part)) = next(rest) {
        text.push_str(&rest[..place]);
        text.push_str(part);
        rest = &rest[place + length..];
    }
    text + rest
}

/// The line that installs the command.
pub(super) fn install(origin: &Provenance) -> String {
    Install::of(origin).command
}

/// A path or pattern as YAML takes it.
fn scalar(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/_-.*".contains(c);
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_plain) {
        name.to_owned()
    } else {
        serde_json::Value::from(name).to_string()
    }
}

/// What says in which folder of the repository a step runs; nothing at its top.
pub(super) fn github_folder(inside: &str) -> String {
    if inside.is_empty() {
        return String::new();
    }
    format!("        working-directory: {}\n", scalar(inside))
}

/// The same of a job's script.
pub(super) fn gitlab_folder(inside: &str) -> String {
    if inside.is_empty() {
        return String::new();
    }
    format!("    - |\n      cd {}\n", shell_word(inside))
}

/// A path below a folder; empty is here.
fn below(inside: &str) -> String {
    if inside.is_empty() {
        String::new()
    } else {
        format!("{inside}/")
    }
}

/// A workflow of GitHub Actions, for the folder `inside` of the repository.
pub(super) fn github(origin: &Provenance, inside: &str) -> String {
    let install = Install::of(origin);
    let (setup, outside) = if install.builds {
        (
            GITHUB_RUST.replace("KEY", env!("CARGO_PKG_VERSION")),
            "        # Outside the checkout, which may ask for another toolchain.\n        working-directory: ${{ runner.temp }}\n",
        )
    } else {
        (GITHUB_PYTHON.to_owned(), "")
    };
    let step = format!(
        "      - name: Install\n{outside}{}        run: |\n          {}\n",
        install.comments("        "),
        install.command
    );
    filled(
        GITHUB,
        &[
            ("SETUP\n", &setup),
            ("INSTALL\n", &step),
            ("FOLDER\n", &github_folder(inside)),
            ("BELOW", &below(inside)),
            ("COMMAND", install.name()),
        ],
    )
}

/// A job of GitLab CI, for the folder `inside` of the repository.
pub(super) fn gitlab(origin: &Provenance, inside: &str) -> String {
    let install = Install::of(origin);
    let image = if install.builds { "rust:1" } else { "python:3" };
    let line = if install.builds {
        // The image has its own toolchain, and not under that name.
        format!(
            "rustup toolchain install stable --profile minimal --no-self-update\n      (cd / && {})",
            install.command
        )
    } else {
        install.command.clone()
    };
    let step = format!("{}    - |\n      {line}\n", install.comments("    "));
    let kept = |name: &str| scalar(&format!("{}evaltest-runs/{name}", below(inside)));
    let shell = if inside.is_empty() {
        String::new()
    } else {
        format!("{}/", shell_word(inside))
    };
    filled(
        GITLAB,
        &[
            ("IMAGE", image),
            ("INSTALL\n", &step),
            ("FOLDER\n", &gitlab_folder(inside)),
            ("SHELL", &shell),
            ("KEPT_JSON", &kept("*/summary.json")),
            ("KEPT_MD", &kept("*/summary.md")),
            ("KEPT_JUNIT", &kept("junit.xml")),
            ("KEPT_PATCH", &kept("baseline.patch")),
            ("KEPT_HISTORY", &kept("history.patch")),
            ("KEPT_QUALITY", &kept("quality.json")),
            ("COMMAND", install.name()),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 9] = [
        "SETUP", "INSTALL", "COMMAND", "IMAGE", "KEY\n", "FOLDER", "BELOW", "SHELL", "KEPT",
    ];

    #[test]
    fn each_origin_is_installed_in_its_own_way() {
        let check = |origin: &Provenance, install: &str, command: &str| {
            for text in [github(origin, ""), gitlab(origin, "")] {
                assert!(text.contains(install), "`{install}` is missing in\n{text}");
                assert!(
                    text.contains(&format!(" {command} run ${{HISTORY:+--history}} --junit ")),
                    "{text}"
                );
                for word in WORDS {
                    assert!(!text.contains(word), "{word} is left in\n{text}");
                }
                let whole: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
                assert!(whole.is_mapping());
            }
        };
        let version = env!("CARGO_PKG_VERSION");
        check(
            &Provenance::Path("/u/me/my tools".into()),
            "\n          cargo +stable install --locked --path '/u/me/my tools/cargo-evaltest'\n"
                .trim_matches(['\n', ' ']),
            "cargo evaltest",
        );
        let address = "https://example.org/evaltest".to_owned();
        check(
            &Provenance::Git {
                address: address.clone(),
                rev: Some("a1b2".to_owned()),
            },
            "cargo +stable install --locked --git https://example.org/evaltest --rev a1b2 cargo-evaltest",
            "cargo evaltest",
        );
        check(
            &Provenance::Git { address, rev: None },
            "cargo +stable install --locked --git https://example.org/evaltest cargo-evaltest",
            "cargo evaltest",
        );
        check(
            &Provenance::Registry,
            &format!("cargo +stable install --locked --version {version} cargo-evaltest"),
            "cargo evaltest",
        );
        check(
            &Provenance::Index,
            &format!("python3 -m pip install evaltest=={version}\n"),
            "evaltest",
        );
        check(
            &Provenance::Wheel("/tmp/a.whl".to_owned()),
            "python3 -m pip install /tmp/a.whl\n",
            "evaltest",
        );
    }

    #[test]
    fn a_path_of_a_machine_is_called_so() {
        let check = |origin: &Provenance, expect: bool| {
            for text in [github(origin, ""), gitlab(origin, "")] {
                assert_eq!(
                    text.contains("# This path is of the machine"),
                    expect,
                    "{text}"
                );
            }
        };
        check(&Provenance::Path("/u/me/evaltest".into()), true);
        check(&Provenance::Wheel("/tmp/a.whl".to_owned()), true);
        check(
            &Provenance::Wheel("https://example.org/a.whl".to_owned()),
            false,
        );
        check(&Provenance::Index, false);
        check(&Provenance::Registry, false);
    }

    #[test]
    fn it_runs_in_the_folder_of_the_project() {
        let check = |inside: &str, path: &str| {
            let text = github(&Provenance::Registry, inside);
            let whole: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
            let steps = whole["jobs"]["evaltest"]["steps"].as_sequence().unwrap();
            for name in ["Evaluate", "Baseline"] {
                let step = steps
                    .iter()
                    .find(|step| step["name"].as_str() == Some(name));
                assert_eq!(step.unwrap()["working-directory"].as_str(), Some(inside));
            }
            let kept = steps.last().unwrap()["with"]["path"].as_str().unwrap();
            let lines: Vec<_> = kept.lines().collect();
            assert_eq!(lines[0], format!("{inside}/evaltest-runs/*/summary.json"));
            assert_eq!(lines[1], format!("{inside}/evaltest-runs/*/summary.md"));
            assert_eq!(lines[2], format!("{inside}/evaltest-runs/junit.xml"));

            let text = gitlab(&Provenance::Index, inside);
            let whole: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
            let job = &whole["evaltest"];
            let cd = job["script"][1].as_str().unwrap();
            assert_eq!(cd.trim(), format!("cd {path}"));
            let after = job["after_script"][0].as_str().unwrap();
            let cat = format!("cat {path}/evaltest-runs/*/summary.md || true");
            assert_eq!(after.trim(), cat);
            let accept = job["after_script"][1].as_str().unwrap();
            assert!(accept.contains(&format!("cd {path}/. && ")), "{accept}");
            let junit = job["artifacts"]["reports"]["junit"].as_str();
            assert_eq!(
                junit,
                Some(format!("{inside}/evaltest-runs/junit.xml").as_str())
            );
            let kept = job["artifacts"]["paths"][0].as_str();
            let expect = format!("{inside}/evaltest-runs/*/summary.json");
            assert_eq!(kept, Some(expect.as_str()));
        };
        check("crates/m", "crates/m");
        check("my evals: new", "'my evals: new'");
    }

    #[test]
    fn words_of_a_path_are_no_words_of_the_template() {
        let folder = "/u/COMMAND/SETUP/BELOW IMAGE";
        let origin = Provenance::Wheel(format!("{folder}/a.whl"));
        let word = shell_word(&format!("{folder}/a.whl"));
        for text in [github(&origin, ""), gitlab(&origin, "")] {
            assert!(text.contains(&word), "{text}");
        }
        let inside = github(&Provenance::Index, "COMMAND");
        assert!(inside.contains("working-directory: COMMAND\n"), "{inside}");
    }

    /// A toolchain that the project asks for is not the one that builds evaltest.
    #[test]
    fn it_is_built_outside_the_checkout_by_the_stable_toolchain() {
        let text = github(&Provenance::Registry, "m");
        let whole: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
        let steps = whole["jobs"]["evaltest"]["steps"].as_sequence().unwrap();
        let install = steps.iter().find(|step| step["name"] == "Install").unwrap();
        let folder = install["working-directory"].as_str();
        assert_eq!(folder, Some("${{ runner.temp }}"));
        let text = gitlab(&Provenance::Registry, "m");
        assert!(text.contains("(cd / && cargo +stable install"), "{text}");
        assert!(text.contains("rustup toolchain install stable"), "{text}");
    }
}
