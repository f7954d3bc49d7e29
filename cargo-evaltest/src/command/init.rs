//! `cargo evaltest init`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use evaltest::engine::snapshot::{ATTRIBUTES, ATTRIBUTES_FILE};
use evaltest::engine::system::project::shown;
use evaltest::{Error, Exit, Result};

use crate::console;

mod manifest;

/// Write an example eval that runs at once, and what cargo, nextest and CI need
///
/// Existing files are left as they are.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The name of the eval
    #[arg(long, default_value = "example")]
    name: String,

    /// Evaluate this program instead of the built-in demo agent: the prompt goes to its stdin, the answer
    /// comes from its stdout
    #[arg(last = true, value_name = "PROGRAM")]
    command: Vec<String>,

    /// Also write a workflow that gates pull requests
    #[arg(long)]
    ci: Option<Ci>,
}

/// CI services for which there is a workflow.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Ci {
    /// GitHub Actions
    Github,
}

const SPEC: &str = include_str!("init/spec.yaml");
const QUESTIONS: &str = include_str!("init/questions.jsonl");
const TABLE: &str = include_str!("init/harvest.csv");
const TEST: &str = include_str!("init/test.rs.txt");
const NEXTEST: &str = include_str!("init/nextest.toml");
const WORKFLOW: &str = include_str!("init/github.yml");

/// Writes files and remembers what became of each.
struct Writer {
    root: PathBuf,
    report: Vec<String>,
}

impl Writer {
    /// Writes a file unless it is there.
    fn create(&mut self, name: &str, content: &str) -> Result<()> {
        let path = self.root.join(name);
        if path.exists() {
            self.report.push(format!("kept     {name} (it was there)"));
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, &error))?;
        }
        fs::write(&path, content).map_err(|error| Error::io("write", &path, &error))?;
        self.report.push(format!("created  {name}"));
        Ok(())
    }

    /// Adds lines to a file that lacks them.
    fn append(&mut self, name: &str, lines: &[&str]) -> Result<()> {
        let path = self.root.join(name);
        let mut text = fs::read_to_string(&path).unwrap_or_default();
        let missing: Vec<_> = lines
            .iter()
            .filter(|line| !text.lines().any(|old| old == **line))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        for line in missing {
            text.push_str(line);
            text.push('\n');
        }
        fs::write(&path, text).map_err(|error| Error::io("write", &path, &error))?;
        self.report.push(format!("changed  {name}"));
        Ok(())
    }
}

pub(crate) fn run(args: &InitArgs) -> Result<Exit> {
    let name = &args.name;
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(legal) {
        return Err(
            Error::usage(format!("`{name}` cannot be the name of an eval"))
                .hint("use small letters, digits, `-` and `_`"),
        );
    }
    let root = std::env::current_dir()
        .map_err(|error| Error::usage(format!("there is no current folder: {error}")))?;
    let mut writer = Writer {
        root: root.clone(),
        report: Vec::new(),
    };
    let folder = format!("evals/{name}");
    writer.create(&format!("{folder}.yaml"), &spec(args)?)?;
    writer.create(&format!("{folder}/questions.jsonl"), QUESTIONS)?;
    writer.create(&format!("{folder}/harvest.csv"), TABLE)?;
    let attributes = format!("evals/snapshots/{name}/{ATTRIBUTES_FILE}");
    writer.create(&attributes, ATTRIBUTES)?;
    writer.append(".gitignore", &["/evaltest-runs/", "*.snap.new"])?;
    let mut next = vec!["cargo evaltest              # runs it".to_owned()];
    let mut tests = None;
    let manifest = root.join("Cargo.toml");
    if manifest.is_file() && manifest::is_package(&manifest)? {
        writer.create(&format!("tests/{name}.rs"), &TEST.replace("NAME", name))?;
        writer.create(".config/nextest.toml", NEXTEST)?;
        let agent = if args.command.is_empty() {
            manifest::ExampleAgent::Demo
        } else {
            manifest::ExampleAgent::Program
        };
        if manifest::add_test(&manifest, name, agent)? {
            writer
                .report
                .push("changed  Cargo.toml (dev-dependency, test target, metadata)".to_owned());
            if let Some(folder) = checkout() {
                writer.report.push(format!(
                    "note     the dev-dependency `evaltest` points to {}; other machines need a version or a git \
                     address there",
                    folder.display()
                ));
            }
        } else {
            writer
                .report
                .push("kept     Cargo.toml (the test target was there)".to_owned());
        }
        tests = Some(format!(
            "cargo test --test {name}   # the same samples as tests"
        ));
    }
    next.push("cargo evaltest accept       # makes that run the baseline".to_owned());
    next.extend(tests);
    if let Some(Ci::Github) = args.ci {
        writer.create(".github/workflows/evaltest.yml", WORKFLOW)?;
    }
    console::print(|out| {
        writeln!(out, "in {}:", shown(&root))?;
        writer
            .report
            .iter()
            .try_for_each(|line| writeln!(out, "  {line}"))?;
        writeln!(out, "next:")?;
        next.iter().try_for_each(|line| writeln!(out, "  {line}"))
    })?;
    Ok(Exit::Passed)
}

/// The example spec, with the user's agent if there is one.
fn spec(args: &InitArgs) -> Result<String> {
    let text = SPEC.replace("NAME", &args.name);
    if args.command.is_empty() {
        return Ok(text);
    }
    // The program runs in the spec's folder, and was typed in the one above.
    let from_spec = |word: &String| {
        let inside = word.strip_prefix("./").unwrap_or(word);
        let is_path =
            word.starts_with("./") || (!word.starts_with('/') && Path::new(word).is_file());
        if is_path {
            format!("../{inside}")
        } else {
            word.clone()
        }
    };
    let command: Vec<String> = args.command.iter().map(from_spec).collect();
    let command = serde_json::to_string(&command)
        .map_err(|error| Error::usage(format!("the command cannot be written: {error}")))?;
    Ok(text.replace(
        "agent: { type: demo }",
        &format!("agent: {{ type: command, command: {command} }}"),
    ))
}

/// The folder of evaltest's own sources, if this program was built from a checkout that is still there.
fn checkout() -> Option<&'static Path> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    manifest.contains("name = \"evaltest\"").then_some(folder)
}
