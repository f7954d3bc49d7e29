//! CI workflows that gate pull requests. They install the command from this program's source.

use evaltest::engine::text::shell_word;

use super::provenance::Provenance;

const GITHUB: &str = include_str!("ci/github.yml");
const GITHUB_RUST: &str = include_str!("ci/github_rust.yml");
/// Keeps the built program, which a job that may write must not take from others.
const GITHUB_CACHE: &str = include_str!("ci/github_cache.yml");
const GITHUB_PYTHON: &str = include_str!("ci/github_python.yml");
const GITLAB: &str = include_str!("ci/gitlab.yml");

/// Each shard runs in its own job; another job merges them.
const GITHUB_SHARDS: &str = include_str!("ci/github_shards.yml");
const GITHUB_MERGE: &str = include_str!("ci/github_merge.yml");
const GITLAB_SHARDS: &str = include_str!("ci/gitlab_shards.yml");

/// Maximum number of shards: a GitHub matrix allows 256 jobs, GitLab's `parallel` allows 200.
pub(super) const MOST_SHARDS: u32 = 200;

/// Template part for a job that runs all evals and sets up their agents.
const GITHUB_AGENT: &str =
    "      # Set up what your agent needs here, such as actions/setup-python.\n";
const GITHUB_KEYS: &str = "          # Keys of your agent, named in `agent.env` of the spec:
          # MY_API_KEY: ${{ secrets.MY_API_KEY }}\n";
const GITLAB_AGENT: &str =
    "  # Set up what your agent needs in `before_script`. Keys of your agent, named in `agent.env` of the spec, are variables
  # of the project: masked, and not in this file.\n";

/// Template part for a job that merges shards. It also runs if a shard failed, to name the missing one.
const GITHUB_NEEDS: &str = "    needs: shard\n    # Also when a shard failed: the merge says which one is missing.\n    if: ${{ !cancelled() }}\n";
const GITLAB_NEEDS: &str = "  needs: [evaltest-shard]\n";
const GITLAB_WHEN: &str =
    "      # Also when a shard failed: the merge says which one is missing.\n      when: always\n";

/// Replaces placeholders in a template. Replacement texts are not searched again.
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

/// The install command line.
pub(super) fn install(origin: &Provenance) -> String {
    Install::of(origin).command
}

/// A path or pattern as a YAML scalar.
fn scalar(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/_-.*".contains(c);
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_plain) {
        name.to_owned()
    } else {
        serde_json::Value::from(name).to_string()
    }
}

/// The line that sets a step's working directory; empty at the top of the repository.
pub(super) fn github_folder(inside: &str) -> String {
    if inside.is_empty() {
        return String::new();
    }
    format!("        working-directory: {}\n", scalar(inside))
}

/// The same for a job's script.
pub(super) fn gitlab_folder(inside: &str) -> String {
    if inside.is_empty() {
        return String::new();
    }
    format!("    - |\n      cd {}\n", shell_word(inside))
}

/// A path below a folder; `.` if empty.
fn below(inside: &str) -> String {
    if inside.is_empty() {
        String::new()
    } else {
        format!("{inside}/")
    }
}

/// The command: run all samples, or merge if the shards ran before.
fn evaluate(shards: Option<u32>) -> &'static str {
    if shards.is_some() {
        "merge evaltest-runs"
    } else {
        "run"
    }
}

/// A GitHub Actions workflow for the folder `inside` of the repository, with this number of shards.
pub(super) fn github(origin: &Provenance, inside: &str, shards: Option<u32>) -> String {
    let install = Install::of(origin);
    let (setup, cache, outside) = if install.builds {
        (
            GITHUB_RUST,
            GITHUB_CACHE.replace("KEY", env!("CARGO_PKG_VERSION")),
            "        # Outside the checkout, which may ask for another toolchain.\n        working-directory: ${{ runner.temp }}\n",
        )
    } else {
        (GITHUB_PYTHON, String::new(), "")
    };
    let cached = format!("{setup}{cache}");
    let step = format!(
        "      - name: Install\n{outside}{}        run: |\n          {}\n",
        install.comments("        "),
        install.command
    );
    let (folder, below) = (github_folder(inside), below(inside));
    let common = [
        ("SETUP\n", &*cached),
        ("UNCACHED\n", setup),
        ("INSTALL\n", &step),
        ("FOLDER\n", &folder),
        ("BELOW", &below),
        ("COMMAND", install.name()),
    ];
    let sharded = shards.map(|count| {
        let numbers: Vec<_> = (1..=count).map(|number| number.to_string()).collect();
        let (count, numbers) = (count.to_string(), numbers.join(", "));
        let parts = [("SHARD_TOTAL", &*count), ("NUMBERS", &numbers)];
        let jobs = filled(GITHUB_SHARDS, &[&common[..], &parts].concat());
        (jobs, filled(GITHUB_MERGE, &common))
    });
    let parts = match &sharded {
        Some((jobs, merge)) => [jobs, GITHUB_NEEDS, "", merge, ""],
        None => ["", "", GITHUB_AGENT, "", GITHUB_KEYS],
    };
    let words = ["SHARDS\n", "NEEDS\n", "AGENT\n", "PARTS\n", "KEYS\n"];
    let parts: Vec<_> = words.into_iter().zip(parts).collect();
    let evaluate = [("EVALUATE", evaluate(shards))];
    filled(GITHUB, &[&common[..], &parts, &evaluate].concat())
}

/// A GitLab CI job for the folder `inside` of the repository, with this number of shards.
pub(super) fn gitlab(origin: &Provenance, inside: &str, shards: Option<u32>) -> String {
    let install = Install::of(origin);
    let image = if install.builds { "rust:1" } else { "python:3" };
    let line = if install.builds {
        // The image has its own toolchain, not named `stable`.
        format!(
            "rustup toolchain install stable --profile minimal --no-self-update\n      (cd / && {})",
            install.command
        )
    } else {
        install.command.clone()
    };
    let step = format!("{}    - |\n      {line}\n", install.comments("    "));
    let artifact = |name: &str| scalar(&format!("{}evaltest-runs/{name}", below(inside)));
    let shell = if inside.is_empty() {
        String::new()
    } else {
        format!("{}/", shell_word(inside))
    };
    let folder = gitlab_folder(inside);
    let common = [
        ("IMAGE", image),
        ("INSTALL\n", &*step),
        ("FOLDER\n", &folder),
        ("COMMAND", install.name()),
    ];
    let count = shards.map(|count| count.to_string()).unwrap_or_default();
    let runs = artifact("");
    let parts = [("SHARD_TOTAL", &*count), ("KEPT_RUNS", &runs)];
    let jobs = filled(GITLAB_SHARDS, &[&common[..], &parts].concat());
    let parts = match shards {
        Some(_) => [&*jobs, GITLAB_NEEDS, GITLAB_WHEN, ""],
        None => ["", "", "", GITLAB_AGENT],
    };
    let words = ["SHARDS\n", "NEEDS\n", "WHEN\n", "AGENT\n"];
    let parts: Vec<_> = words.into_iter().zip(parts).collect();
    let files = [
        "summary.json",
        "summary.md",
        "junit.xml",
        "baseline.patch",
        "history.patch",
        "quality.json",
    ];
    let [json, md, junit, baseline, history, quality] = files.map(|name| {
        if name.starts_with("summary") {
            artifact(&format!("*/{name}"))
        } else {
            artifact(name)
        }
    });
    let own = [
        ("SHELL", &*shell),
        ("KEPT_JSON", &json),
        ("KEPT_MD", &md),
        ("KEPT_JUNIT", &junit),
        ("KEPT_PATCH", &baseline),
        ("KEPT_HISTORY", &history),
        ("KEPT_QUALITY", &quality),
        ("EVALUATE", evaluate(shards)),
    ];
    filled(GITLAB, &[&common[..], &parts, &own].concat())
}

/// How to install the command on a CI machine.
pub(super) struct Install {
    /// The command line.
    pub(super) command: String,
    /// Remarks on the command line.
    note: Vec<&'static str>,
    /// Whether it compiles from source and needs Rust.
    pub(super) builds: bool,
}

impl Install {
    pub(super) fn of(origin: &Provenance) -> Self {
        // `+stable`: do not use the toolchain that the project pins.
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
                    "This path exists only on the machine where `init` ran. For other machines, use",
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
                &["The newest there; add `--tag` or `--rev` after the address to pin one."],
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
                        "This path exists only on the machine where `init` ran: put the wheel where the runner finds \
                         it, such as",
                        "into the repository, and name it here.",
                    ]
                },
                builds: false,
            },
        }
    }

    /// Name of the installed command.
    pub(super) fn name(&self) -> &'static str {
        if self.builds {
            "cargo evaltest"
        } else {
            "evaltest"
        }
    }

    pub(super) fn comments(&self, indent: &str) -> String {
        let line = |note: &&str| format!("{indent}# {note}\n");
        self.note.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 19] = [
        "SETUP",
        "UNCACHED",
        "INSTALL",
        "COMMAND",
        "IMAGE",
        "KEY\n",
        "KEYS",
        "FOLDER",
        "BELOW",
        "SHELL",
        "KEPT",
        "SHARDS",
        "NEEDS",
        "WHEN",
        "AGENT",
        "PARTS",
        "EVALUATE",
        "SHARD_TOTAL",
        "NUMBERS",
    ];

    #[test]
    fn each_origin_is_installed_in_its_own_way() {
        let check = |origin: &Provenance, install: &str, command: &str| {
            for text in [github(origin, "", None), gitlab(origin, "", None)] {
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
            for text in [github(origin, "", None), gitlab(origin, "", None)] {
                assert_eq!(
                    text.contains("# This path exists only on the machine"),
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
            let text = github(&Provenance::Registry, inside, None);
            let whole: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
            let steps = whole["jobs"]["evaltest"]["steps"].as_sequence().unwrap();
            for name in ["Evaluate", "Baseline"] {
                let step = steps
                    .iter()
                    .find(|step| step["name"].as_str() == Some(name));
                assert_eq!(step.unwrap()["working-directory"].as_str(), Some(inside));
            }
            let artifact = steps.last().unwrap()["with"]["path"].as_str().unwrap();
            let lines: Vec<_> = artifact.lines().collect();
            assert_eq!(lines[0], format!("{inside}/evaltest-runs/*/summary.json"));
            assert_eq!(lines[1], format!("{inside}/evaltest-runs/*/summary.md"));
            assert_eq!(lines[2], format!("{inside}/evaltest-runs/junit.xml"));

            let text = gitlab(&Provenance::Index, inside, None);
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
            let artifact = job["artifacts"]["paths"][0].as_str();
            let expect = format!("{inside}/evaltest-runs/*/summary.json");
            assert_eq!(artifact, Some(expect.as_str()));
        };
        check("crates/m", "crates/m");
        check("my evals: new", "'my evals: new'");
    }

    #[test]
    fn words_of_a_path_are_no_words_of_the_template() {
        let folder = "/u/COMMAND/SETUP/BELOW IMAGE";
        let origin = Provenance::Wheel(format!("{folder}/a.whl"));
        let word = shell_word(&format!("{folder}/a.whl"));
        for text in [github(&origin, "", None), gitlab(&origin, "", None)] {
            assert!(text.contains(&word), "{text}");
        }
        let inside = github(&Provenance::Index, "COMMAND", None);
        assert!(inside.contains("working-directory: COMMAND\n"), "{inside}");
    }

    /// evaltest is not built with the toolchain that the project pins.
    #[test]
    fn it_is_built_outside_the_checkout_by_the_stable_toolchain() {
        let text = github(&Provenance::Registry, "m", None);
        let whole: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
        let steps = whole["jobs"]["evaltest"]["steps"].as_sequence().unwrap();
        let install = steps.iter().find(|step| step["name"] == "Install").unwrap();
        let folder = install["working-directory"].as_str();
        assert_eq!(folder, Some("${{ runner.temp }}"));
        let text = gitlab(&Provenance::Registry, "m", None);
        assert!(text.contains("(cd / && cargo +stable install"), "{text}");
        assert!(text.contains("rustup toolchain install stable"), "{text}");
    }

    /// A `dotenv` report, which any job may add to its artifacts, would set variables of jobs that take these.
    #[test]
    fn the_job_of_gitlab_that_may_write_takes_no_artifacts() {
        for shards in [None, Some(3)] {
            let text = gitlab(&Provenance::Index, "m", shards);
            let whole: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
            let (agent, writes) = (&whole["evaltest"], &whole["evaltest-history"]);
            let needs = writes["needs"].as_sequence().unwrap();
            assert!(needs.iter().all(|need| need["artifacts"] == false));
            assert!(writes["dependencies"].is_null());
            for key in ["key", "paths"] {
                assert_eq!(agent["cache"][key], writes["cache"][key]);
            }
            assert_eq!(writes["cache"]["policy"], "pull");
            assert_eq!(writes["environment"]["name"], "evaltest-history");
            assert!(agent["environment"].is_null());
        }
    }

    /// Each service has its own variable for the shard, and its own way to merge after failures.
    #[test]
    fn shards_are_jobs_that_another_one_merges() {
        let text = github(&Provenance::Index, "m", Some(3));
        let whole: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
        let (shard, merge) = (&whole["jobs"]["shard"], &whole["jobs"]["evaltest"]);
        let numbers = &shard["strategy"]["matrix"]["shard"];
        assert_eq!(serde_json::to_string(numbers).unwrap(), "[1,2,3]");
        let steps = shard["steps"].as_sequence().unwrap();
        let step = steps.iter().find(|step| step["name"] == "Shard").unwrap();
        assert_eq!(step["run"], "evaltest run --shard auto");
        assert_eq!(step["env"]["EVALTEST_SHARD"], "${{ matrix.shard }}/3");
        assert_eq!(step["env"]["EVALTEST_GATE"], "defer");
        let artifact = steps.last().unwrap();
        assert_eq!(
            (&artifact["if"], &artifact["with"]["path"]),
            (&"always()".into(), &"m/evaltest-runs".into())
        );
        assert_eq!(merge["needs"], "shard");
        assert_eq!(merge["if"], "${{ !cancelled() }}");
        let steps = merge["steps"].as_sequence().unwrap();
        let had = steps
            .iter()
            .find(|step| step["with"]["merge-multiple"] == true);
        assert_eq!(had.unwrap()["with"]["path"], "m/evaltest-runs");
        let step = steps
            .iter()
            .find(|step| step["name"] == "Evaluate")
            .unwrap();
        let command = step["run"].as_str().unwrap();
        assert!(
            command.starts_with("evaltest merge evaltest-runs "),
            "{command}"
        );

        let other = gitlab(&Provenance::Index, "m", Some(3));
        let whole: serde_yaml::Value = serde_yaml::from_str(&other).unwrap();
        let (shard, merge) = (&whole["evaltest-shard"], &whole["evaltest"]);
        assert_eq!(shard["parallel"], 3);
        assert_eq!(
            shard["script"].as_sequence().unwrap().last().unwrap(),
            "evaltest run --shard auto"
        );
        assert_eq!(shard["artifacts"]["when"], "always");
        assert_eq!(shard["artifacts"]["paths"][0], "m/evaltest-runs/");
        assert_eq!(merge["needs"][0], "evaltest-shard");
        let rules = merge["rules"].as_sequence().unwrap();
        assert!(rules.iter().all(|rule| rule["when"] == "always"), "{other}");
        let command = merge["script"].as_sequence().unwrap().last().unwrap();
        let command = command.as_str().unwrap();
        assert!(
            command.starts_with("evaltest merge evaltest-runs "),
            "{command}"
        );
        for text in [text, other] {
            for word in WORDS {
                assert!(!text.contains(word), "{word} is left in\n{text}");
            }
        }
    }
}
