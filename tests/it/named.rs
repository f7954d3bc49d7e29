//! What is typed where a spec is asked for: files, folders, names of evals; and where a project begins.

use std::fs;

use crate::project::{Project, Ran};

const AGENT: &str = "{ type: echo, text: '1' }";

/// `evals/one.yaml` (eval `one`), `evals/more/other.yaml` (eval `two`), no cargo project.
fn project() -> Project {
    let project = Project::new();
    project.questions(&[("a", 1, "One?", "1")]);
    let spec = |name: &str, data: &str| {
        format!("name: {name}\nbenchmark: {{ type: gaia, path: {data} }}\nagent: {AGENT}\n")
    };
    project.write("evals/one.yaml", spec("one", "../data.jsonl"));
    project.write("evals/more/other.yaml", spec("two", "../../data.jsonl"));
    project
}

/// The program in a folder of the project.
fn below(project: &Project, folder: &str, arguments: &str) -> Ran {
    fs::create_dir_all(project.file(folder)).unwrap();
    let mut command = project.command(arguments);
    Ran::of(&command.current_dir(project.file(folder)).output().unwrap())
}

#[test]
fn an_eval_runs_by_its_name() {
    let project = project();
    let ran = project.run("run two").exits(0).says("two: 1 of 1 correct");
    ran.says_nothing_of("one:");
    project.run("two").exits(0).says("two: 1 of 1 correct");
    project.run("run two one").exits(0).says("2 evals");
    // What is typed twice runs once.
    project
        .run("run two evals/more/other.yaml evals/more")
        .exits(0)
        .says_nothing_of("2 evals");
    project.run("list two").exits(0).says("two::level1::a");
    project
        .run("doctor two")
        .exits(0)
        .says("evals/more/other.yaml");
    project.run("cache stats two").exits(0);
    project
        .run("run two --dry-run")
        .exits(0)
        .says("two: 1 sample");
}

#[test]
fn a_path_wins_over_a_name() {
    let project = project();
    let one = project.read("evals/one.yaml").replace("../data", "data");
    project.write("two", one.replace("name: one", "name: three"));
    project
        .run("run two")
        .exits(0)
        .says("three: 1 of 1 correct");
    project.write(
        "one/a.yaml",
        one.replace("name: one", "name: four")
            .replace("data.", "../data."),
    );
    project.run("run one").exits(0).says("four: 1 of 1 correct");
}

#[test]
fn show_names_the_other_evals_of_the_last_command_once() {
    let project = project();
    project.questions(&[("sample-1", 1, "One?", "1")]);
    project.run("run one two").exits(0);
    let shown = project.run("show sample-1").exits(0);
    let note = "the last command ran 2 evals; this is `";
    assert_eq!(shown.err.matches(note).count(), 1, "{}", shown.err);
    shown.says("`: cargo evaltest show ").says(" sample-1\n");
    project
        .run("show sample-2")
        .exits(2)
        .says("an eval with runs, or a sample of the last run");
}

#[test]
fn unknown_names_list_what_there_is() {
    let project = project();
    project
        .run("run twoo")
        .exits(2)
        .says("`twoo` is not an eval, a spec or a folder of specs")
        .says("did you mean `two`? the evals of this project: `one`, `two`");
    project.run("lisst").exits(2).says("did you mean `list`?");
    project
        .run("list evals/none.yaml")
        .exits(2)
        .says("cannot read the spec `evals/none.yaml`: no such file or folder")
        .says("did you mean `evals/one.yaml`?")
        .says("`evals/more/other.yaml`");
    let empty = Project::new();
    empty.run("run x").exits(2).says("cargo evaltest init");
}

#[test]
fn a_folder_is_all_its_specs() {
    let project = project();
    project.write("evals/compose.yaml", "services: { web: { image: x } }\n");
    project.write("evals/.hidden/x.yaml", "agent: [");
    project
        .run("run evals")
        .exits(0)
        .says("\none ")
        .says("\ntwo ")
        .says("note: `evals/compose.yaml` is not an eval spec and is skipped");
    project
        .run("")
        .exits(0)
        .says("`evals/compose.yaml` is not an eval spec");
    project
        .run("list evals/more")
        .exits(0)
        .says("two::")
        .says_nothing_of("one::");
    project.run("doctor evals/more").exits(0).says("other.yaml");
    // A broken spec is not left out.
    project.write("evals/more/third.yaml", "benchmrk: gaia\nagent: echo\n");
    project
        .run("run evals")
        .exits(2)
        .says("unknown key `benchmrk`");
    project.write("evals/more/third.yaml", "agent: [\n");
    project.run("run evals").exits(2).says("third.yaml:");
    project.write("evals/more/third.yaml", "name: x\nlist: [\n");
    project.run("run evals").exits(2).says("third.yaml:");
    fs::create_dir(project.file("empty")).unwrap();
    project
        .run("run empty")
        .exits(2)
        .says("no eval spec found in `empty`");
}

#[test]
fn a_project_in_a_folder_is_left_to_itself() {
    let project = project();
    project.write("all/inner/Cargo.toml", "[workspace]\n");
    project.write("all/inner/evals/x.yaml", "agent: strange\n");
    project.write("all/one.yaml", project.read("evals/one.yaml"));
    project
        .run("run all")
        .exits(0)
        .says("one: 1 of 1 correct")
        .says("`all/inner` is a separate project and is skipped: cd all/inner");
}

#[test]
fn specs_are_found_from_a_subfolder() {
    let project = project();
    let ran = below(&project, "src/deep", "").exits(0);
    ran.says("\none ").says("\ntwo ");
    assert_eq!(project.runs().len(), 2, "they are in the project's folder");
    below(&project, "src/deep", "run two")
        .exits(0)
        .says("two: 1");
    below(&project, "evals/more", "list one")
        .exits(0)
        .says("one::");
    // A repository of its own ends the search.
    fs::create_dir_all(project.file("src/other/.git")).unwrap();
    below(&project, "src/other", "")
        .exits(2)
        .says("no evals found");
}

#[test]
fn a_variable_stands_in_the_file_of_the_project() {
    let project = project();
    let agent = "{ type: command, shell: 'echo $OF_TEST', env: [OF_TEST] }";
    project.write(
        "evals/one.yaml",
        project.read("evals/one.yaml").replace(AGENT, agent),
    );
    project.write(".env", "OF_TEST=1\n");
    project.run("run one").exits(0).says("1 correct");
    below(&project, "src", "run one").exits(0).says("1 correct");
}

#[test]
fn an_eval_without_a_name_is_called_after_its_file() {
    let project = project();
    let spec = project.read("evals/one.yaml").replace("name: one\n", "");
    project.write("evals/my sums (v2).yaml", spec);
    let name = "my-sums--v2";
    project
        .run("list")
        .exits(0)
        .says(&format!("{name}::level1::a"));
    project
        .run(&format!("run {name}"))
        .exits(0)
        .says(&format!("{name}: 1 of 1 correct"));
    assert!(project.last_run().to_string_lossy().contains(name));
    project.run("accept").exits(0);
    assert!(project.file(&format!("evals/snapshots/{name}")).is_dir());
    let spec = project.read("evals/my sums (v2).yaml");
    project.write("evals/().yaml", spec);
    project
        .run("list")
        .exits(2)
        .says("the eval has no name")
        .says("hint: add `name: NAME`");
}

#[test]
fn a_benchmark_of_flags_blames_no_file() {
    let project = project();
    project
        .run("run --benchmark foo --benchmark-option path=data.jsonl --agent echo")
        .exits(2)
        .says("`foo` is neither an eval nor a kind of benchmark")
        .says("`--benchmark NAME` takes")
        .says("`gaia`, `qa`")
        .says_nothing_of("foo.yaml");
    project
        .run("run --benchmark gaiaa")
        .exits(2)
        .says("did you mean `--benchmark gaia`?");
    project
        .run("run --benchmark gaia --benchmark-option path=none.jsonl --agent echo")
        .exits(2)
        .says("none.jsonl")
        .says("hint: correct `--benchmark-option path=…`")
        .says_nothing_of("gaia.yaml");
    project
        .run("run --benchmark gaia --benchmark-option shuffle=true --agent echo")
        .exits(2)
        .says("`--shuffle`");
    project
        .run("run --benchmark gaia --benchmark-option path=data.jsonl --agent ecko")
        .exits(2)
        .says("unknown agent `ecko`")
        .says_nothing_of("gaia.yaml");
    project
        .run("run --benchmark gaia --benchmark-option pth=data.jsonl --benchmark-option path=data.jsonl --agent echo")
        .exits(2)
        .says("unknown key `pth`")
        .says_nothing_of("gaia.yaml");
    project
        .run("run --benchmark qa --agent echo")
        .exits(2)
        .says("--benchmark-option path=FILE");
}

#[test]
fn a_run_is_the_last_one_of_an_eval() {
    let project = project();
    project.run("run evals").exits(0);
    project.run("run one").exits(0);
    project.run("show two").exits(0).says("a  ");
    project.run("summarize two").exits(0).says("two");
    project.run("gate two").exits(0);
    project.run("plan two --detect 10").says("two");
    project.run("rescore two --scorer exact").exits(0);
    project.run("accept one").exits(0).says("one: ");
    project
        .run("show three")
        .exits(2)
        .says("`three` is not a run directory")
        .says("hint: ")
        .says("an eval of this project: `one`, `two`");
}

#[test]
fn a_test_without_a_harness_of_its_own_is_told() {
    let project = Project::new();
    let manifest = |more: &str| {
        format!(
            "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n{more}"
        )
    };
    project.write("src/lib.rs", "");
    let code = "fn main() -> evaltest::Result<evaltest::Conclusion> {\n    evaltest::run([])\n}\n";
    project.write("tests/mine.rs", code);
    project.write("tests/plain.rs", "#[test]\nfn t() {}\n");
    project.write("data.csv", "question,answer\nOne?,1\n");
    let spec = "benchmark: { type: qa, path: ../data.csv }\nagent: echo\n";
    project.write("evals/one.yaml", spec);
    project.write("Cargo.toml", manifest(""));
    let add = "`[[test]]` with `name = \"mine\"` and `harness = false`";
    project
        .run("list")
        .exits(0)
        .says("note: `tests/mine.rs` calls `evaltest::run`, but its `main` is not called")
        .says(&format!("add {add} to Cargo.toml"))
        .says_nothing_of("plain");
    let named = "\n[package.metadata.evaltest]\ntests = [{ name = \"mine\", evals = [\"one\"] }]\n";
    project.write("Cargo.toml", manifest(named));
    project
        .run("list")
        .exits(2)
        .says("Cargo.toml: the test target `mine` has no `harness = false`")
        .says(&format!("hint: add {add}"));
    let test = "\n[[test]]\nname = \"mine\"\nharness = false\n";
    project.write("Cargo.toml", manifest(&format!("{test}{named}")));
    project.run("list").exits(0).says_nothing_of("note:");
}

#[test]
fn a_mistake_in_the_manifest_is_told_with_its_place() {
    let project = Project::new();
    project.write("src/lib.rs", "");
    let check = |table: &str, expect: &[&str]| {
        let package = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n";
        project.write("Cargo.toml", package.to_owned() + table);
        let ran = project.run("list").exits(2).says_nothing_of("at line");
        expect.iter().fold(ran, |ran, text| ran.says(text));
    };
    check(
        "[package.metadata.evaltest]\nspecs = []\n  test = [\"mine\"]\n",
        &[
            "error: Cargo.toml:8:3: unknown key `test` in `[package.metadata.evaltest]`: the keys are `specs` and `tests`",
            "hint: ",
        ],
    );
    check(
        "[package.metadata]\nevaltest = { tests = \"mine\" }\n",
        &[
            "error: Cargo.toml:7:14: `tests`",
            "hint: tests = [\"NAME\"]",
        ],
    );
    check(
        "[package.metadata]\nevaltest = 3\n",
        &["error: Cargo.toml: `package.metadata.evaltest` is not a table"],
    );
}

#[test]
fn a_spec_with_a_mistake_is_told_by_its_name() {
    let project = project();
    let good = project.read("evals/one.yaml");
    let broken = |end: &str| {
        let spec = good.replace("name: one", "name: three # it is");
        project.write("evals/third.yaml", format!("{spec}{end}\n"));
    };
    for (end, expect) in [
        ("run_id: 3", "evals/third.yaml:4:1: unknown key `run_id`"),
        (
            "gates: [accuracy[level=1] >= 0.5]",
            "quote it: `gates: ['accuracy[level=1] >= 0.5']`",
        ),
        ("limits: {", "evals/third.yaml:5:1: "),
    ] {
        broken(end);
        project.run("run three").exits(2).says(expect);
        project.run("list third").exits(2).says(expect);
        fs::create_dir_all(project.file("three")).unwrap();
        project.run("doctor three").exits(2).says(expect);
        fs::remove_dir(project.file("three")).unwrap();
        project
            .run("run others")
            .exits(2)
            .says("the evals of this project: `one`, `two`; `evals/third.yaml` cannot be read");
        project
            .run("run thre")
            .exits(2)
            .says("did you mean `three`?");
        project.run("run one").exits(0).says("one: 1 of 1 correct");
    }
    project.write("evals/fourth.yaml", "agent: [");
    project
        .run("run others")
        .exits(2)
        .says("`evals/fourth.yaml` and 1 more cannot be read");
}

#[test]
fn a_folder_or_file_of_other_things_does_not_hide_an_eval() {
    let project = project();
    project.write("one/data.jsonl", "");
    project.write("two", "#!/bin/sh\necho 1\n");
    project.run("run one").exits(0).says("one: 1 of 1 correct");
    project.run("run two").exits(0).says("two: 1 of 1 correct");
    project.run("show one").exits(0).says("a  ");
    project.run("run one/").exits(0).says("one: 1 of 1 correct");
    project.write("evals/one/data.jsonl", "");
    below(&project, "evals", "run one")
        .exits(0)
        .says("one: 1 of 1 correct");
    project
        .run("show evals/one")
        .exits(2)
        .says("`evals/one` is not a run directory");
}

#[test]
fn evals_in_targets_of_one_name_are_all_run() {
    let project = Project::new();
    project.write(
        "Cargo.toml",
        "[workspace]\nmembers = [\"a\", \"b\"]\nresolver = \"2\"\n",
    );
    for package in ["a", "b"] {
        let name = format!("of_{package}_{}", std::process::id());
        project.write(
            &format!("{package}/Cargo.toml"),
            format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
                 [[test]]\nname = \"evals\"\nharness = false\n\n\
                 [package.metadata.evaltest]\ntests = [{{ name = \"evals\", evals = [\"e{package}\"] }}]\n"
            ),
        );
        project.write(&format!("{package}/src/lib.rs"), "");
        project.write(
            &format!("{package}/tests/evals.rs"),
            "fn main() {\n    std::fs::write(\"ran\", \"\").unwrap();\n}\n",
        );
    }
    let mut command = project.command("run ea eb");
    command.env("CARGO_TARGET_DIR", project.file("target"));
    Ran::of(&command.output().unwrap()).exits(0);
    for package in ["a", "b"] {
        assert!(
            project.file(&format!("{package}/ran")).exists(),
            "{package}"
        );
    }
}

#[test]
fn hidden_files_are_no_specs() {
    let project = project();
    project.write("evals/._one.yaml", "\u{0}\u{5}\u{16}agent benchmark");
    project.run("run").exits(0).says("2 evals");
}

#[test]
fn a_run_is_shown_without_its_path() {
    let project = project();
    project
        .run("show")
        .exits(2)
        .says("no run found in `evaltest-runs`");
    // A random id could hold the letter that is looked for.
    project.run("run one --run-id 1").exits(0);
    project.run("show").exits(0).says("a  ");
    project.run("show a").exits(0).says("sample: a of eval one");
    project
        .run("show b")
        .exits(2)
        .says("`b` is not a run directory");
}

#[test]
fn specs_need_no_cargo() {
    let project = project();
    let spec = project.read("evals/one.yaml");
    let third = spec.replace("name: one", "name: three");
    project.write(
        "m/inner/evals/three.yaml",
        third.replace("../data", "../../../data"),
    );
    project.write("more/four.yml", spec.replace("name: one", "name: four"));
    project.write(
        "Cargo.toml",
        "[workspace]\nmembers = [\"m/*\"]\n\n[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [package.metadata.evaltest]\nspecs = [\"more/*.yml\"]\n",
    );
    project.write(
        "m/inner/Cargo.toml",
        "[package]\nname = \"q\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    );
    let without_cargo = |arguments: &str| {
        let mut command = project.command(arguments);
        let command = command.env_remove("CARGO").env("PATH", project.path());
        Ran::of(&command.output().unwrap())
    };
    let note = "note: cargo is not installed: specs are found without it";
    without_cargo("run")
        .exits(0)
        .says("4 evals")
        .says(note)
        .says_nothing_of("skipped");
    without_cargo("run three")
        .exits(0)
        .says("three: 1 of 1 correct");
    project.write(
        "m/inner/Cargo.toml",
        format!(
            "{}\n[package.metadata.evaltest]\ntests = [\"mine\"]\n",
            project.read("m/inner/Cargo.toml")
        ),
    );
    without_cargo("list")
        .exits(0)
        .says("three::level1::a")
        .says("evals in test targets are skipped");
}

#[test]
fn paths_are_shown_as_they_are_typed_there() {
    let project = project();
    let top = project.path().display().to_string();
    project.write("evals/third.yaml", "benchmrk: gaia\nagent: echo\n");
    project
        .run("doctor")
        .exits(2)
        .says("WRONG spec     evals/third.yaml:1:1: ")
        .says_nothing_of(&top);
    below(&project, "evals", "doctor")
        .exits(2)
        .says("\none.yaml\n")
        .says("WRONG spec     third.yaml:1:1: ")
        .says_nothing_of(&top);
    below(&project, "src/deep", "doctor")
        .exits(2)
        .says("../../evals/one.yaml")
        .says("WRONG spec     ../../evals/third.yaml:1:1: ")
        .says_nothing_of(&top);
    below(&project, "src/deep", "run third")
        .exits(2)
        .says("error: ../../evals/third.yaml:1:1: ");
    // What an agent says keeps its words.
    let agent = format!("{{ type: echo, text: 'x {top}/y cargo evaltest' }}");
    let spec = project.read("evals/one.yaml").replace(AGENT, &agent);
    project.write("evals/one.yaml", spec);
    project
        .run("doctor one")
        .exits(0)
        .says(&format!("x {top}/y cargo evaltest"));
}
