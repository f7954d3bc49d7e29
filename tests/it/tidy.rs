//! The local rules of this repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use needs::needs;

mod face;
mod packages;
mod phrases;

mod imports;
mod machine;
mod names;
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
    check_only("insta::", &["src/snapshot/assertion.rs"]);
    check_only(
        "libyaml_safer",
        &["src/data/yaml_places.rs", "src/text/yaml/deep.rs"],
    );
    // The tests of places compare them with what the other parser says.
    check_only(
        "serde_yaml",
        &["src/text/yaml.rs", "src/data/yaml_places/tests.rs"],
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

/// How many lines of code a file has, without comments and without its tests.
fn code_lines(text: &str) -> usize {
    let mut lines = text.lines();
    let mut count = 0;
    while let Some(line) = lines.next() {
        let is_code = |line: &str| !line.trim().is_empty() && !line.trim().starts_with("//");
        if line != "#[cfg(test)]" {
            count += usize::from(is_code(line));
            continue;
        }
        // A module of tests is another file, or ends with its bracket.
        let item = lines.next().unwrap_or_default();
        if item.contains("mod ") && !item.ends_with(';') {
            lines.find(|line| *line == "}");
        }
    }
    count
}

#[test]
fn lines_of_code_are_counted_without_tests() {
    let text = "//! Doc.\n#[cfg(test)]\nmod tests;\n\nfn f() {}\n#[cfg(test)]\nmod more {\n    fn g() {}\n}\nfn h() {}\n";
    assert_eq!(code_lines(text), 2);
}

#[test]
fn no_file_is_too_long_to_read() {
    for folder in ["src", "cargo-evaltest/src", "tests"] {
        for (name, text) in sources(folder) {
            let lines = code_lines(&text);
            assert!(
                lines <= 500,
                "{name} has {lines} lines of code without its tests: is it still one noun?"
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
            // A flow is no spec: a test of its own drives it.
            let is_flow = folder.ends_with("flow");
            if path.extension().is_some_and(|end| end == "yaml") && !is_flow {
                let eval =
                    evaltest::engine::eval::spec::load_all(&path, &evaltest::Registry::new(), &[]);
                eval.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                specs += 1;
            }
        }
    }
    assert!(specs > 0);
}

/// The room that brings questions to their ends, where one object once knew everything.
const RUNNER: &str = "src/run";

/// A struct with named fields: its name, how many fields it has, and how many of them are behind locks.
#[derive(Debug, PartialEq)]
struct Shape<'a> {
    name: &'a str,
    fields: usize,
    locks: usize,
}

/// The structs of a source as rustfmt writes them.
fn shapes(text: &str) -> Vec<Shape<'_>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut found, mut open) = (Vec::new(), None);
    for line in text.lines() {
        let code = line.split("//").next().unwrap().trim_end();
        let indent = code.len() - code.trim_start().len();
        let mut words = code
            .split(|c| !is_word(c))
            .skip_while(|word| *word != "struct");
        if let (Some(_), Some(name)) = (words.next(), words.next()) {
            open = code.ends_with('{').then_some(indent);
            let (fields, locks) = (0, 0);
            found.extend(open.map(|_| Shape {
                name,
                fields,
                locks,
            }));
        } else if let (Some(start), Some(shape)) = (open, found.last_mut()) {
            let is_attribute = code.trim_start().starts_with('#');
            let is_field = indent == start + 4 && !is_attribute && code.contains(": ");
            shape.fields += usize::from(is_field);
            let locks = ["Mutex<", "RwLock<"].map(|lock| code.matches(lock).count());
            shape.locks += locks.iter().sum::<usize>();
            if code.trim_start() == "}" && indent == start {
                open = None;
            }
        }
    }
    found
}

#[test]
fn shapes_are_counted() {
    let text = "struct Unit;\nstruct Few(Mutex<u8>);\n\
        /// A: b\npub(crate) struct Many<'a, T> {\n    /// c: d\n    pub(super) one: Arc<Mutex<T>>,\n    \
        #[serde(default)]\n    two: HashMap<\n        std::string::String,\n        RwLock<&'a str>,\n    >,\n    \
        pub three: fn(u8), // four: x\n}\nfn f() {\n    let x: Mutex<u8>;\n    struct Inner {\n        a: u8,\n    }\n}\n";
    let shape = |name, fields, locks| Shape {
        name,
        fields,
        locks,
    };
    assert_eq!(shapes(text), [shape("Many", 3, 2), shape("Inner", 1, 0)]);
}

#[test]
fn nothing_in_the_runner_knows_everything() {
    let file = format!("{RUNNER}.rs");
    let text = fs::read_to_string(root().join(&file)).unwrap();
    let mut structs = 0;
    for (name, text) in sources(RUNNER).into_iter().chain([(file, text)]) {
        for shape in shapes(&text) {
            let is_small = shape.fields <= 10 && shape.locks <= 2;
            assert!(is_small, "{name}: is it one thing? {shape:?}");
            structs += 1;
        }
    }
    assert!(structs > 0);
}

/// The sources of both packages and the tests of both.
fn all_sources() -> impl Iterator<Item = (String, String)> {
    let folders = ["src", "cargo-evaltest/src", "cargo-evaltest/tests", "tests"];
    folders.into_iter().flat_map(sources)
}

#[test]
fn the_library_neither_prints_nor_exits() {
    // A test binary tells why it does not start; a measurement tells its figures.
    check_only("println!", &["src/harness.rs", "src/stats/"]);
    check_only("process::exit", &[]);
}

#[test]
fn nothing_is_left_for_later() {
    for (name, text) in all_sources() {
        let mut words = text.split(|letter: char| !letter.is_alphanumeric());
        let found = words.find(|word| [concat!("TO", "DO"), concat!("FIX", "ME")].contains(word));
        assert_eq!(found, None, "{name}");
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    let no_nouns =
        ["common", "helpers", "imp", "mod", "util", "utils"].map(|stem| format!("{stem}.rs"));
    for (name, text) in all_sources() {
        let file = name.rsplit('/').next().unwrap();
        assert!(no_nouns.iter().all(|no_noun| no_noun != file), "{name}");
        // The tests of a file are told of by that file.
        assert!(
            text.starts_with("//!") || text.starts_with("#![doc") || file == "tests.rs",
            "{name} begins without module documentation"
        );
    }
}

/// With these attributes the errors of serde say little of what is wrong, and where.
#[test]
fn errors_of_serde_stay_good() {
    check_only("flatten)]", &[]);
    check_only("untagged)]", &[]);
}

/// libtest counts a test that returns early as `ok`: what it needs is said by `#[needs(…)]`, which has it ignored.
#[test]
fn no_test_skips_itself() {
    for folder in ["src", "tests/it", "cargo-evaltest"] {
        for (name, text) in sources(folder) {
            assert!(!text.contains(concat!("\"skip", "ped: ")), "{name}");
        }
    }
}

/// Or nobody would ever run the test.
#[test]
fn what_tests_need_is_looked_for() {
    let looked_for = fs::read_to_string(root().join(".ci/needs")).unwrap();
    for (name, text) in ["src", "tests/it"].into_iter().flat_map(sources) {
        let lines = text.lines().map(str::trim);
        let needs = lines.filter_map(|line| line.strip_prefix("#[needs(")?.strip_suffix(")]"));
        for need in needs.flat_map(|needs| needs.split(", ")) {
            let is_there = ["try", "module"].iter().any(|how| {
                looked_for
                    .lines()
                    .any(|line| format!("{line} ").starts_with(&format!("{how} {need} ")))
            });
            assert!(
                is_there || need.starts_with("data = "),
                "{name}: `.ci/needs` lacks `{need}`"
            );
        }
    }
}

#[needs(clone)]
#[test]
fn no_file_names_the_machine_it_was_written_on() {
    let mut git = Command::new("git");
    let listed = git.args(["ls-files", "-z"]).current_dir(root()).output();
    let listed = listed.expect("git is there");
    assert!(listed.status.success(), "{listed:?}");
    let mut machine = vec![
        concat!("/ho", "me/").to_owned(),
        concat!("/Us", "ers/").to_owned(),
    ];
    // A folder such as `/src` is a word like others.
    if root().components().count() > 2 {
        machine.push(root().display().to_string());
    }
    for name in String::from_utf8(listed.stdout)
        .unwrap()
        .split_terminator('\0')
    {
        // Some files are no text, and one may just be deleted.
        let text = fs::read_to_string(root().join(name)).unwrap_or_default();
        for folder in &machine {
            assert!(!text.contains(folder), "{name} names `{folder}`");
        }
        // Where the data of parity tests may lie is for those who write them.
        let is_page = Path::new(name).extension().is_some_and(|end| end == "md");
        assert!(
            !is_page || !text.contains(concat!("../", "shared")),
            "{name} names a folder that a clone does not have"
        );
    }
}
