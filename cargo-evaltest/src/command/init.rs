//! `cargo evaltest init`.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum as _, value_parser};
use evaltest::engine::eval::spec::{OwnKinds, schema_text};
use evaltest::engine::report::document::{Block, Line, list};
use evaltest::engine::snapshot::{ATTRIBUTES, ATTRIBUTES_FILE};
use evaltest::engine::system::project::display;
use evaltest::engine::text::clean;
use evaltest::{Error, Exit, Result};
use serde_json::Value;

use crate::called::spoken;
use crate::{console, discover};
use ci::Ci;
use data::{OwnData, Tried};
use provenance::{InstallFrom, Provenance};
use starter::{KnownBenchmark, Starter};

mod ci;
mod data;
mod manifest;
mod provenance;
mod starter;
mod workflow;

/// Write an eval: an example, or one for your own questions and program
///
/// In a cargo project, also writes a test target and the settings of nextest. Leaves existing files as they are.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The eval's name; default: `example`, or the benchmark's name
    #[arg(long)]
    name: Option<String>,

    /// Write the spec of this benchmark instead of the example
    #[arg(long, value_name = "KIND")]
    benchmark: Option<KnownBenchmark>,

    /// Use these questions: a file with a question and an answer in each row. Tries one of them. Default, with a
    /// PROGRAM: a file such as `questions.csv` in the current folder
    #[arg(
        long,
        value_name = "FILE",
        requires = "command",
        conflicts_with = "benchmark"
    )]
    data: Option<PathBuf>,

    /// Evaluate this program instead of the built-in demo agent: it reads the prompt on stdin and prints the answer
    #[arg(last = true, value_name = "PROGRAM")]
    command: Vec<String>,

    /// Also write a workflow that gates pull requests; only the workflow if there are evals already
    #[arg(long)]
    ci: Option<Ci>,

    /// Split the workflow's evals into N shards, one job each, and merge them in another job
    #[arg(long, value_name = "N", requires = "ci", value_parser = value_parser!(u32).range(2..=workflow::MOST_SHARDS.into()))]
    shards: Option<u32>,

    /// Where the workflow, and a cargo project, install evaltest from; default: the source of this program
    #[arg(long)]
    from: Option<InstallFrom>,
}

const TEST: &str = include_str!("init/test.rs.txt");
const NEXTEST: &str = include_str!("init/nextest.toml");

/// Name of the schema file in `evals/`, for editors.
const SCHEMA_FILE: &str = "evaltest.schema.json";

/// Writes files and records the result for each.
struct Writer {
    root: PathBuf,
    report: Vec<String>,
}

impl Writer {
    /// Writes a file unless it exists.
    fn create(&mut self, name: &str, content: &str) -> Result<()> {
        let path = self.root.join(name);
        if path.exists() {
            self.report
                .push(format!("kept     {name} (already exists)"));
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, &error))?;
        }
        fs::write(&path, content).map_err(|error| Error::io("write", &path, &error))?;
        self.report.push(format!("created  {name}"));
        Ok(())
    }

    /// Writes a file; overwrites an existing one only if `is_ours`.
    fn renew(&mut self, name: &str, content: &str, is_ours: fn(&str) -> bool) -> Result<()> {
        let path = self.root.join(name);
        let old = fs::read_to_string(&path).unwrap_or_default();
        if old == content || !is_ours(&old) {
            return self.create(name, content);
        }
        fs::write(&path, content).map_err(|error| Error::io("write", &path, &error))?;
        self.report
            .push(format!("changed  {name} (was from another version)"));
        Ok(())
    }

    /// Appends the lines that a file lacks.
    fn append(&mut self, name: &str, lines: &[&str]) -> Result<()> {
        let path = self.root.join(name);
        let (is_there, mut text) = match fs::read_to_string(&path) {
            Ok(text) => (true, text),
            Err(error) if error.kind() == ErrorKind::NotFound => (false, String::new()),
            // Do not overwrite a file that cannot be read.
            Err(error) => return Err(Error::io("read", &path, &error)),
        };
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
        let done = if is_there { "changed" } else { "created" };
        self.report.push(format!("{done}  {name}"));
        Ok(())
    }
}

pub(crate) fn run(args: &InitArgs) -> Result<Exit> {
    let own = own_data(args)?;
    let name = name(args, own.as_ref())?;
    let root = std::env::current_dir()
        .map_err(|error| Error::usage(format!("there is no current folder: {error}")))?;
    let starter = Starter::of(args.benchmark);
    // Check this before writing any file.
    let origin = match (args.ci, args.from) {
        (None, None) => None,
        (_, from) => Some(Provenance::of(from)?),
    };
    let mut writer = Writer {
        root: root.clone(),
        report: Vec::new(),
    };
    // If there are evals, CI runs those: add no example unless requested.
    let asks_for_eval = args.name.is_some() || args.benchmark.is_some() || !args.command.is_empty();
    if let (Some(ci), Some(origin), false) = (args.ci, &origin, asks_for_eval)
        && (discover::has_specs(&root) || manifest::names_evals(&root)?)
    {
        let next = ci::write(&mut writer, ci, origin, args.shards)?;
        return print_report(&writer, &next);
    }
    write_eval(&mut writer, &starter, &name, &args.command, own.as_ref())?;
    let missing = missing(&args.command);
    let missing = missing.map(|word| format!("note     {} does not exist yet", clean(word)));
    writer.report.extend(missing);
    let mut next: Vec<String> = Vec::new();
    if args.command.is_empty() {
        next.extend(starter.before.iter().map(|&line| line.to_owned()));
    }
    if starter.demo || own.is_some() {
        next.push("cargo evaltest              # runs it".to_owned());
    } else {
        next.push("cargo evaltest run --limit 5   # tries it on a few questions".to_owned());
        // A partial run cannot be a baseline.
        next.push("cargo evaltest              # asks all of them".to_owned());
    }
    next.push("cargo evaltest accept       # makes that run the baseline".to_owned());
    let manifest = root.join("Cargo.toml");
    let library = (origin.clone()).or_else(|| Provenance::of(None).ok());
    if !manifest.is_file() || !manifest::is_package(&manifest)? {
        // Only the eval is written.
    } else if !manifest::can_have_library(&manifest, library.as_ref())? {
        writer.report.push(
            "note     Cargo.toml is unchanged: it is unknown from where cargo can install the library `evaltest`"
                .to_owned(),
        );
        next.push(format!(
            "for `cargo test`: cargo add --dev evaltest --git ADDRESS (or --path FOLDER), then the same `init` with --name \
             {name}"
        ));
    } else {
        writer.create(&format!("tests/{name}.rs"), &TEST.replace("NAME", &name))?;
        writer.create(".config/nextest.toml", NEXTEST)?;
        let test = manifest::ExampleTest {
            name: &name,
            is_free: starter.demo && args.command.is_empty(),
            // The demo agent needs its feature; the user's program needs none.
            features: if args.command.is_empty() {
                starter.features
            } else {
                starter.features_of_data()
            },
            origin: library,
        };
        if manifest::add_test(&manifest, &test)? {
            writer
                .report
                .push("changed  Cargo.toml (dev-dependency, test target, metadata)".to_owned());
            if let Some(Provenance::Path(folder)) = &test.origin {
                writer.report.push(format!(
                    "note     the dev-dependency `evaltest` points to {}; other machines need a version or a git \
                     address there",
                    folder.display()
                ));
            }
        } else {
            writer
                .report
                .push("kept     Cargo.toml (already has the test target)".to_owned());
        }
        next.push(format!(
            "cargo test --test {name}   # the same samples as tests"
        ));
    }
    if let (Some(ci), Some(origin)) = (args.ci, &origin) {
        next.extend(ci::write(&mut writer, ci, origin, args.shards)?);
    }
    let tried = match own {
        Some(_) => data::ask_one(&root.join(format!("evals/{name}.yaml")))?,
        None => Tried::default(),
    };
    if let Some(what) = tried.fix {
        fix_first(&mut next, what, &name);
    }
    print_all(&writer, tried.lines, &next)
}

/// The next steps if nothing answers in eval `name`.
fn fix_first(next: &mut Vec<String>, what: &str, name: &str) {
    next.retain(|step| !step.starts_with("cargo evaltest"));
    let fix = format!("correct {what} in evals/{name}.yaml, then cargo evaltest doctor");
    next.insert(0, fix);
}

/// The user's own questions: the named ones, or for a program those in a file that is found.
fn own_data(args: &InitArgs) -> Result<Option<OwnData>> {
    let found = || data::found_in(Path::new(""));
    let path = match &args.data {
        Some(path) => Some(path.clone()),
        None if !args.command.is_empty() && args.benchmark.is_none() => found(),
        None => None,
    };
    path.map(|path| OwnData::read(&path)).transpose()
}

/// Prints what happened to each file, and the next steps.
fn print_report(writer: &Writer, next: &[String]) -> Result<Exit> {
    print_all(writer, Vec::new(), next)
}

/// The same with the answer to a question.
fn print_all(writer: &Writer, tried: Vec<Line>, next: &[String]) -> Result<Exit> {
    let lines = |title: String, lines: &[String]| {
        Block::group(title, list(lines.iter().map(String::as_str)))
    };
    let mut blocks = vec![lines(
        format!("in {}:", display(&writer.root)),
        &writer.report,
    )];
    if let Some(tried) = list(tried) {
        blocks.push(Block::group("tried one question:", [tried]));
    }
    if !next.is_empty() {
        blocks.push(lines("next:".to_owned(), next));
    }
    console::print_blocks(&blocks)?;
    Ok(Exit::Passed)
}

/// The name of the eval.
fn name(args: &InitArgs, own: Option<&OwnData>) -> Result<String> {
    let kind = args.benchmark.and_then(|kind| kind.to_possible_value());
    let of_data = own.map(OwnData::name);
    let name = match (&args.name, &kind, &of_data) {
        (None, Some(kind), _) => kind.get_name(),
        (Some(name), ..) | (None, None, Some(name)) => name,
        (None, None, None) => "example",
    };
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(legal) {
        return Err(
            Error::usage(format!("`{name}` cannot be the name of an eval"))
                .hint("use small letters, digits, `-` and `_`"),
        );
    }
    Ok(name.to_owned())
}

/// Writes the spec and its files.
fn write_eval(
    writer: &mut Writer,
    starter: &Starter,
    name: &str,
    program: &[String],
    own: Option<&OwnData>,
) -> Result<()> {
    let folder = format!("evals/{name}");
    let spec = match own {
        Some(own) => own.spec(name, &from_spec(program)),
        None => starter.spec(name, program)?,
    };
    writer.report.extend(own.map(OwnData::note));
    let spec = format!(
        "# yaml-language-server: $schema={SCHEMA_FILE}\n{}",
        spoken(&spec)
    );
    let file = format!("{folder}.yaml");
    writer.create(&file, &spec)?;
    let text = fs::read_to_string(writer.root.join(&file)).unwrap_or_default();
    let mut agents = spec.lines().filter(|line| line.starts_with("agent:"));
    if !program.is_empty() && !agents.any(|agent| text.lines().any(|line| line == agent)) {
        writer.report.push(format!(
            "note     {file} keeps its `agent`: write the new program there, or remove the file"
        ));
    }
    let files = starter.files.iter().filter(|_| own.is_none());
    for (file, content) in files {
        writer.create(&format!("{folder}/{file}"), content)?;
    }
    let schema = schema_text(&OwnKinds::default());
    writer.renew(&format!("evals/{SCHEMA_FILE}"), &schema, is_ours)?;
    let attributes = format!("evals/snapshots/{name}/{ATTRIBUTES_FILE}");
    writer.create(&attributes, ATTRIBUTES)?;
    writer.append(".gitignore", &["/evaltest-runs/", "*.snap.new"])
}

/// Extensions of files run by an interpreter.
const SCRIPTS: &[&str] = &["py", "js", "mjs", "ts", "rb", "sh"];

/// The words relative to the spec: the program runs in the spec's folder but was typed in its parent.
fn from_spec(words: &[String]) -> Vec<String> {
    let word = |(at, word): (usize, &String)| {
        if is_file(at, word) {
            format!("../{}", inside(word))
        } else {
            word.clone()
        }
    };
    words.iter().enumerate().map(word).collect()
}

/// The words that name missing files.
fn missing(words: &[String]) -> impl Iterator<Item = &str> {
    let words = words.iter().enumerate();
    words
        .filter(|(at, word)| is_file(*at, word) && !Path::new(word.as_str()).exists())
        .map(|(_, word)| inside(word))
}

fn inside(word: &str) -> &str {
    word.strip_prefix("./").unwrap_or(word)
}

/// Whether a word is a relative file path, existing or not. A single `/` is enough only for the first word, because
/// models are named `ORG/NAME`.
fn is_file(at: usize, word: &str) -> bool {
    if word.starts_with(['/', '-']) || word.contains("://") {
        return false;
    }
    let path = Path::new(word);
    let end = path.extension().and_then(|end| end.to_str());
    let is_script = end.is_some_and(|end| SCRIPTS.contains(&end)) && !word.contains(' ');
    let is_relative = word.starts_with("./") || word.starts_with("../");
    is_script || is_relative || (at == 0 && word.contains('/')) || path.is_file()
}

/// Whether `init` wrote this schema. One with the user's own kinds was written by `cargo evaltest schema --own-…`.
fn is_ours(text: &str) -> bool {
    let Ok(schema) = serde_json::from_str::<Value>(text) else {
        return false;
    };
    schema["title"] == "A spec of evaltest" && !names_own_kinds(&schema)
}

/// Built-in kinds have descriptions; the user's kinds have only names.
fn names_own_kinds(schema: &Value) -> bool {
    let forms = ["benchmark", "agent", "scorer"].into_iter();
    let mut forms = forms.filter_map(|kind| schema["$defs"][kind]["anyOf"].as_array());
    forms.any(|forms| {
        forms
            .iter()
            .any(|form| is_bare_name(&form["properties"]["type"]))
    })
}

fn is_bare_name(schema: &Value) -> bool {
    schema.get("const").is_some() && schema.get("description").is_none()
}

#[cfg(test)]
mod program_tests {
    use super::*;

    #[test]
    fn files_are_found_from_the_specs_folder() {
        let check = |line: &str, expect: &str, absent: &[&str]| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(from_spec(&words).join(" "), expect);
            assert_eq!(missing(&words).collect::<Vec<_>>(), absent, "{line}");
        };
        check("python3 agent.py", "python3 ../agent.py", &["agent.py"]);
        check("./agent.sh --fast", "../agent.sh --fast", &["agent.sh"]);
        check("bin/agent", "../bin/agent", &["bin/agent"]);
        check("node ../a/b.mjs", "node ../../a/b.mjs", &["../a/b.mjs"]);
        check("cat Cargo.toml", "cat ../Cargo.toml", &[]);
        for line in [
            "python3 -m agent",
            "/opt/agent.py",
            "agent --model org/name",
            "agent --url=https://example.org/a.js https://example.org/a.js",
        ] {
            check(line, line, &[]);
        }
        let words = ["sh".to_owned(), "cat | python3 agent.py".to_owned()];
        assert_eq!(from_spec(&words), words);
    }
}

#[cfg(test)]
mod schema_file_tests {
    use evaltest::engine::eval::spec::{OwnKinds, schema_text};

    use super::*;

    #[test]
    fn a_schema_with_kinds_of_ones_own_is_not_ours() {
        let text = schema_text(&OwnKinds::default());
        assert!(is_ours(&text));
        assert!(is_ours(&text.replace("timeout_s", "deadline_s")));
        for text in ["", "{}", "{\"title\": \"mine\"}"] {
            assert!(!is_ours(text), "{text}");
        }
        let own = || vec!["mine".to_owned()];
        let usual = OwnKinds::default;
        for own in [
            OwnKinds {
                benchmarks: own(),
                ..usual()
            },
            OwnKinds {
                agents: own(),
                ..usual()
            },
            OwnKinds {
                scorers: own(),
                ..usual()
            },
        ] {
            assert!(!is_ours(&schema_text(&own)), "{own:?}");
        }
    }
}
