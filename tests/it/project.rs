//! `Project`: a temporary folder with specs and data, in which the program is run.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// A temporary project; removed when dropped.
pub(crate) struct Project {
    folder: TempDir,
}

/// What a command printed and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Asserts the exit code, and shows everything if it is another.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.out,
            self.err
        );
        self
    }

    /// Asserts that a text stands in what was printed.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(
            self.out.contains(text) || self.err.contains(text),
            "`{text}` is missing in\nstdout:\n{}\nstderr:\n{}",
            self.out,
            self.err
        );
        self
    }

    /// Asserts that a text does not stand in what was printed.
    #[track_caller]
    pub(crate) fn says_nothing_of(self, text: &str) -> Self {
        assert!(
            !self.out.contains(text) && !self.err.contains(text),
            "`{text}` stands in\nstdout:\n{}\nstderr:\n{}",
            self.out,
            self.err
        );
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error} in\n{}\nstderr:\n{}", self.out, self.err))
    }
}

/// This repository.
pub(crate) fn root() -> PathBuf {
    let member = Path::new(env!("CARGO_MANIFEST_DIR"));
    member.parent().unwrap().to_owned()
}

/// The target folder of this build.
pub(crate) fn target() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_cargo-evaltest"));
    program.ancestors().nth(2).unwrap().to_owned()
}

/// The cargo that runs the tests.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// The tests run under cargo, perhaps under nextest, perhaps in CI; what they start must not notice.
pub(crate) fn without_surroundings(command: &mut Command) {
    let starts = ["CARGO_PKG", "INSTA_", "NEXTEST", "EVALTEST_", "GITHUB_"];
    let names = [
        "CI",
        "CI_PROJECT_DIR",
        "TF_BUILD",
        "RUST_TEST_THREADS",
        "CARGO_MANIFEST_DIR",
    ];
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let is_theirs =
            starts.iter().any(|start| text.starts_with(start)) && text != "EVALTEST_PORTABLE";
        if is_theirs || names.contains(&&*text) {
            command.env_remove(&name);
        }
    }
}

/// Nothing is fetched, and what cargo builds for one project serves all others: in the target folder of this build, and
/// with the profile of its dependencies.
pub(crate) fn build_once(command: &mut Command) {
    let folder = command.get_current_dir().unwrap();
    let config = folder.join(".cargo/config.toml");
    if folder.join("Cargo.toml").exists() && !config.exists() {
        let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
        let (_, profiles) = manifest.split_once("\n[profile.dev]\n").unwrap();
        let (profile, _) = profiles.split_once("\n[profile.release]\n").unwrap();
        fs::create_dir_all(config.parent().unwrap()).unwrap();
        fs::write(config, format!("[profile.dev]\n{profile}")).unwrap();
    }
    command
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_TARGET_DIR", target())
        .env("CARGO_INCREMENTAL", "0");
}

/// The lines of a JSONL file.
pub(crate) fn json_lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The SHA-256 of a file, as another program sees it.
pub(crate) fn sha256(path: &Path) -> String {
    let digest = Sha256::digest(fs::read(path).unwrap());
    digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Has the manifest of a run say that its files are what the run wrote.
pub(crate) fn sign(dir: &Path) {
    change_manifest(dir, |manifest| {
        for (name, hash) in manifest["artifacts"].as_object_mut().unwrap() {
            *hash = sha256(&dir.join(name)).into();
        }
    });
}

/// Changes the manifest of a run, and writes it as a version did that knew no checksum.
pub(crate) fn change_manifest(dir: &Path, change: impl FnOnce(&mut Value)) {
    let path = dir.join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut manifest);
    manifest["format_version"] = 1.into();
    manifest.as_object_mut().unwrap().remove("checksum");
    fs::write(&path, manifest.to_string()).unwrap();
}

/// The same by its text.
pub(crate) fn replace_in_manifest(dir: &Path, old: &str, new: &str) {
    change_manifest(dir, |manifest| {
        let text = manifest.to_string();
        assert!(text.contains(old), "{old}");
        *manifest = serde_json::from_str(&text.replace(old, new)).unwrap();
    });
}

/// The lines of a journal without their checksums, as older versions wrote them.
pub(crate) fn unsealed(journal: &str) -> String {
    let seal = r#","journal":"01234567","sum":"01234567"}"#.len();
    let line = |line: &str| {
        let at = line.len().saturating_sub(seal);
        match line.get(at..) {
            Some(end) if end.starts_with(r#","journal":""#) => format!("{}}}\n", &line[..at]),
            _ => format!("{line}\n"),
        }
    };
    journal.lines().map(line).collect()
}

impl Project {
    /// An empty folder, outside every cargo project.
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// A folder with a GAIA-shaped dataset of `questions` (id, level, question, answer) in `data.jsonl`, and
    /// `eval.yaml` with this agent and these further lines.
    pub(crate) fn with_eval(
        questions: &[(&str, u32, &str, &str)],
        agent: &str,
        more: &str,
    ) -> Self {
        let project = Self::new();
        project.questions(questions);
        project.spec(agent, more);
        project
    }

    /// Writes `data.jsonl`.
    pub(crate) fn questions(&self, questions: &[(&str, u32, &str, &str)]) {
        let line = |&(id, level, question, answer): &(&str, u32, &str, &str)| {
            serde_json::json!({
                "task_id": id, "Question": question, "Level": level, "Final answer": answer,
                "file_name": "",
            })
            .to_string()
        };
        let lines: Vec<_> = questions.iter().map(line).collect();
        self.write("data.jsonl", &(lines.join("\n") + "\n"));
    }

    /// Writes `eval.yaml`.
    pub(crate) fn spec(&self, agent: &str, more: &str) {
        self.write(
            "eval.yaml",
            format!(
                "name: e\nbenchmark: {{ type: gaia, path: data.jsonl }}\nprompt: none\nagent: {agent}\n\
                 snapshot: {{ answers: plain }}\n{more}"
            ),
        );
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// A path in it as people are shown it.
    pub(crate) fn display(&self, path: impl AsRef<Path>) -> String {
        let path = path.as_ref();
        let inside = path.strip_prefix(self.path()).unwrap_or(path);
        inside.display().to_string()
    }

    /// Writes a file and the folders above it.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.file(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Writes a file that can be executed.
    pub(crate) fn script(&self, name: &str, content: &str) {
        use std::os::unix::fs::PermissionsExt;
        self.write(name, content);
        fs::set_permissions(self.file(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// `cargo evaltest` with arguments split at white space, not started yet.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let arguments: Vec<_> = arguments.split_whitespace().collect();
        self.command_of(&arguments)
    }

    /// `cargo evaltest` with these arguments, not started yet.
    pub(crate) fn command_of(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-evaltest"));
        command
            .arg("evaltest")
            .args(arguments)
            .current_dir(self.path())
            .stdin(Stdio::null());
        without_surroundings(&mut command);
        // It may call cargo.
        build_once(&mut command);
        command
    }

    /// `cargo` in the project, with this repository's target folder so that dependencies are built once.
    pub(crate) fn cargo(&self, arguments: &str) -> Ran {
        Ran::of(&self.cargo_command(arguments).output().unwrap())
    }

    /// As [`Project::cargo`], not started yet.
    pub(crate) fn cargo_command(&self, arguments: &str) -> Command {
        let mut command = Command::new(cargo());
        command
            .args(arguments.split_whitespace())
            .current_dir(self.path())
            .stdin(Stdio::null());
        without_surroundings(&mut command);
        build_once(&mut command);
        command
    }

    /// The same dependency versions as this repository, so that nothing is resolved over the network.
    pub(crate) fn lock_file(&self) {
        self.write("Cargo.lock", fs::read(root().join("Cargo.lock")).unwrap());
    }

    /// Runs `cargo evaltest` with arguments split at white space.
    pub(crate) fn run(&self, arguments: &str) -> Ran {
        Ran::of(&self.command(arguments).output().unwrap())
    }

    /// Runs `cargo evaltest` with these arguments.
    pub(crate) fn run_of(&self, arguments: &[&str]) -> Ran {
        Ran::of(&self.command_of(arguments).output().unwrap())
    }

    /// The run directories, the oldest first.
    pub(crate) fn runs(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.file("evaltest-runs")) else {
            return Vec::new();
        };
        let mut runs: Vec<_> = entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.join("manifest.json").is_file())
            .collect();
        let started = |path: &PathBuf| {
            let manifest: Value =
                serde_json::from_slice(&fs::read(path.join("manifest.json")).unwrap()).unwrap();
            manifest["started_at"].as_str().unwrap().to_owned()
        };
        runs.sort_by_key(started);
        runs
    }

    /// The last run directory.
    pub(crate) fn last_run(&self) -> PathBuf {
        self.runs().pop().expect("there is a run")
    }

    /// A JSON file of the last run.
    pub(crate) fn last_json(&self, name: &str) -> Value {
        serde_json::from_slice(&fs::read(self.last_run().join(name)).unwrap()).unwrap()
    }

    /// The lines of a JSONL file of the last run.
    pub(crate) fn last_lines(&self, name: &str) -> Vec<Value> {
        json_lines(&self.last_run().join(name))
    }
}

/// Every file below a folder.
pub(crate) fn all_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found
}
