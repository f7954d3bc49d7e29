//! Datasets of the Hub, from a Hub on this machine.

mod faults;
mod server;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use needs::needs;
use serde_json::json;

use crate::project::{Project, Ran, all_files};
use crate::trials;
use server::{COMMIT, Hub, TOKEN, checksum};

const SPEC: &str = "\
name: e
benchmark: { type: gaia, path: \"hf://datasets/acme/toy\" }
prompt: none
agent: { type: demo }
snapshot: { answers: plain }
";

fn row(id: &str, level: u32, file: &str) -> String {
    json!({
        "task_id": id, "Question": "What is 2 + 2?", "Level": level, "Final answer": "4", "file_name": file,
    })
    .to_string()
}

fn metadata() -> String {
    let rows = [
        row("a", 1, "small.txt"),
        row("b", 1, "large file.csv"),
        row("c", 2, "other.txt"),
    ];
    rows.join("\n") + "\n"
}

fn large() -> String {
    let lines = (1..100).map(|n| format!("{n},{}", n * n));
    lines.collect::<Vec<_>>().join("\n")
}

/// A dataset in the layout of GAIA; its metadata is large storage.
fn toy() -> Hub {
    let (metadata, large) = (metadata(), large());
    Hub::new(&[
        ("README.md", "# toy\n"),
        ("2023/test/metadata.jsonl", "{}"),
        ("2023/validation/metadata.jsonl", &metadata),
        ("2023/validation/small.txt", "small"),
        ("2023/validation/large file.csv", &large),
        ("2023/validation/other.txt", "other"),
        ("2023/validation/unused.bin", "unused"),
    ])
}

fn project() -> Project {
    let project = Project::new();
    project.write("eval.yaml", SPEC);
    project
}

fn with_hub(project: &Project, hub: &Hub, arguments: &str) -> Command {
    let mut command = project.command(arguments);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("HF_") {
            command.env_remove(name);
        }
    }
    command
        .env("HF_ENDPOINT", &hub.url)
        .env("HF_HOME", project.file("hf"));
    command
}

fn run(project: &Project, hub: &Hub, arguments: &str) -> Ran {
    Ran::of(&with_hub(project, hub, arguments).output().unwrap())
}

fn run_with(project: &Project, hub: &Hub, variable: (&str, &str)) -> Ran {
    let mut command = with_hub(project, hub, "run eval.yaml");
    Ran::of(&command.env(variable.0, variable.1).output().unwrap())
}

fn cached(project: &Project) -> PathBuf {
    project.file("hf/hub/datasets--acme--toy")
}

/// The files that were fetched, by the requests for them.
fn fetched(hub: &Hub) -> Vec<String> {
    let requested = hub.requested();
    let is_file = |line: &&String| line.starts_with("GET /datasets");
    let name = |line: &String| line.rsplit('/').next().unwrap_or_default().to_owned();
    let mut names: Vec<_> = requested.iter().filter(is_file).map(name).collect();
    names.sort_unstable();
    names
}

#[test]
fn only_the_files_of_selected_samples_are_fetched_and_only_once() {
    let (hub, project) = (toy(), project());
    run(&project, &hub, "run eval.yaml --limit 1").exits(0);
    assert_eq!(fetched(&hub), ["metadata.jsonl", "small.txt"]);
    let level = "run eval.yaml --benchmark-option levels=[1]";
    run(&project, &hub, level).exits(0);
    assert_eq!(fetched(&hub), ["large%20file.csv"]);
    let address = format!("hf://datasets/acme/toy@{COMMIT}");
    run(&project, &hub, "run eval.yaml").exits(0).says(&address);
    assert_eq!(fetched(&hub), ["other.txt"]);
    assert_eq!(project.last_json("manifest.json")["dataset"], address);
    run(&project, &hub, "run eval.yaml").exits(0);
    run(&project, &hub, "list eval.yaml --stats").exits(0);
    assert!(hub.requested().is_empty());

    // The cache is that of `huggingface_hub`.
    let folder = cached(&project);
    assert_eq!(
        fs::read_to_string(folder.join("refs/main")).unwrap(),
        COMMIT
    );
    let snapshot = folder.join("snapshots").join(COMMIT);
    let link = fs::read_link(snapshot.join("2023/validation/small.txt")).unwrap();
    let blob = Path::new("../../../../blobs").join(checksum(b"small"));
    assert_eq!(link, blob);
    let link = fs::read_link(snapshot.join("2023/validation/large file.csv")).unwrap();
    assert!(link.ends_with(checksum(large().as_bytes())));
    let blobs = fs::read_dir(folder.join("blobs")).unwrap().count();
    assert_eq!(blobs, 4, "nothing incomplete is left");
    let lock = format!(
        "hf/hub/.locks/datasets--acme--toy/{}.lock",
        checksum(b"small")
    );
    assert!(project.file(&lock).is_file());
}

#[test]
fn the_dataset_is_the_same_as_from_a_folder() {
    let (hub, project) = (toy(), project());
    run(&project, &hub, "run eval.yaml").exits(0);
    let of_hub = project.last_json("manifest.json");
    let folder = "data/2023/validation";
    project.write(&format!("{folder}/metadata.jsonl"), metadata());
    project.write(&format!("{folder}/small.txt"), "small");
    project.write(&format!("{folder}/large file.csv"), large());
    project.write(&format!("{folder}/other.txt"), "other");
    project.write("eval.yaml", SPEC.replace("hf://datasets/acme/toy", "data"));
    project.run("run eval.yaml").exits(0);
    let of_folder = project.last_json("manifest.json");
    assert_eq!(of_hub["dataset_hash"], of_folder["dataset_hash"]);
    assert!(of_folder.get("dataset").is_none());
    // A path into the cache is as good, and needs no Hub.
    let snapshot = cached(&project).join("snapshots").join(COMMIT);
    let path = snapshot.display().to_string();
    project.write("eval.yaml", SPEC.replace("hf://datasets/acme/toy", &path));
    project
        .run("run eval.yaml")
        .exits(0)
        .says_nothing_of("symbolic link");
    assert_eq!(
        project.last_json("manifest.json")["dataset_hash"],
        of_hub["dataset_hash"]
    );
    let summary = project.last_json("summary.json");
    assert_eq!(
        (&summary["scored"], &summary["errors"]),
        (&json!(3), &json!(0))
    );
}

#[test]
fn a_branch_stays_the_commit_that_the_cache_has() {
    let (hub, project) = (toy(), project());
    run(&project, &hub, "run eval.yaml --limit 1").exits(0);
    hub.set(|state| state.commit = Some("f".repeat(40)));
    run(&project, &hub, "run eval.yaml").exits(0).says(COMMIT);
    // A commit needs no looking up; a revision of its own is kept apart.
    let pinned = SPEC.replace("toy", &format!("toy@{COMMIT}"));
    project.write("eval.yaml", pinned);
    hub.requested();
    run(&project, &hub, "run eval.yaml").exits(0);
    assert!(hub.requested().is_empty());
    hub.set(|state| state.commit = None);
    project.write("eval.yaml", SPEC.replace("toy", "toy@refs/pr/1"));
    run(&project, &hub, "run eval.yaml").exits(0);
    let stored = cached(&project).join("refs/refs/pr/1");
    assert_eq!(fs::read_to_string(stored).unwrap(), COMMIT);
}

#[test]
fn offline_the_cache_is_enough_or_the_error_says_why() {
    let (hub, project) = (toy(), project());
    let offline = ("HF_HUB_OFFLINE", "1");
    run_with(&project, &hub, offline)
        .exits(2)
        .says("eval.yaml:2:32: `hf://datasets/acme/toy` is not in")
        .says("hint: unset `HF_HUB_OFFLINE` once");
    run(&project, &hub, "run eval.yaml --limit 2").exits(0);
    hub.requested();
    run_with(&project, &hub, offline)
        .exits(2)
        .says("`hf://datasets/acme/toy/2023/validation/other.txt` is not in");
    run(&project, &hub, "run eval.yaml").exits(0);
    hub.requested();
    run_with(&project, &hub, offline).exits(0);
    // As Python leaves it, which keeps no listing of everything.
    fs::remove_dir_all(cached(&project).join("trees")).unwrap();
    run_with(&project, &hub, offline).exits(0);
    assert!(hub.requested().is_empty());
    // No Hub at all.
    project.write("eval.yaml", SPEC.replace("toy", "toy@v2"));
    run_with(&project, &hub, ("HF_ENDPOINT", "http://127.0.0.1:9"))
        .exits(3)
        .says("`hf://datasets/acme/toy@v2`: `http://127.0.0.1:9` cannot be reached");
}

#[test]
fn the_token_goes_to_the_hub_and_to_no_other_host() {
    let (hub, project) = (toy().gated(), project());
    run(&project, &hub, "run eval.yaml")
        .exits(2)
        .says(
            "is gated, and no token was sent (it says: Access to dataset acme/toy is restricted.)",
        )
        .says(&format!(
            "hint: accept its terms at {}/datasets/acme/toy",
            hub.url
        ))
        .says("set `HF_TOKEN`");
    run_with(&project, &hub, ("HF_TOKEN", "hf_another_0123456"))
        .exits(2)
        .says("is gated, and the token of `HF_TOKEN` has no access")
        .says_nothing_of("hf_another");
    hub.requested();
    run_with(&project, &hub, ("HF_TOKEN", TOKEN)).exits(0);
    let requested = hub.requested();
    let of_cdn = requested.iter().filter(|line| line.contains("/cdn/"));
    assert_eq!(of_cdn.filter(|line| !line.contains("token")).count(), 2);
    let of_hub = requested.iter().filter(|line| !line.contains("/cdn/"));
    assert!(of_hub.clone().count() > 5);
    assert!(
        of_hub.clone().all(|line| line.ends_with("with token")),
        "{requested:?}"
    );
    // From the file that `hf auth login` writes.
    fs::remove_dir_all(cached(&project)).unwrap();
    project.write("hf/token", format!("{TOKEN}\n"));
    run(&project, &hub, "run eval.yaml").exits(0);
    // From `.env`, where the variables of specs are.
    fs::remove_dir_all(project.file("hf")).unwrap();
    project.write(".env", "HF_TOKEN=hf_wrong_0123456\n");
    run(&project, &hub, "run eval.yaml")
        .exits(2)
        .says("the token of `HF_TOKEN` in `.env` has no access");
    project.write(".env", format!("OTHER=1\nHF_TOKEN={TOKEN}\n"));
    run(&project, &hub, "run eval.yaml").exits(0);
    for file in all_files(&project.file("evaltest-runs")) {
        let text = fs::read(&file).unwrap();
        let holds = text
            .windows(TOKEN.len())
            .any(|part| part == TOKEN.as_bytes());
        assert!(!holds, "{}", file.display());
    }
}

#[test]
fn what_is_not_there_is_named_with_the_place_in_the_spec() {
    let (hub, project) = (toy(), project());
    let check = |path: &str, expect: &str, code: i32| {
        project.write("eval.yaml", SPEC.replace("acme/toy", path));
        run(&project, &hub, "run eval.yaml")
            .exits(code)
            .says(expect);
    };
    check(
        "acme/none",
        "eval.yaml:2:32: `hf://datasets/acme/none`: there is no such dataset, or it is private",
        2,
    );
    check(
        "acme/toy@v9",
        "eval.yaml:2:32: `hf://datasets/acme/toy@v9`: there is no such revision",
        2,
    );
    check(
        "acme/toy/x.jsonl",
        "`hf://datasets/acme/toy/x.jsonl`: there is no such file",
        2,
    );
    check(
        "acme/toy/../x",
        "eval.yaml:2:32: `hf://datasets/acme/toy/../x` is not the address of a dataset",
        2,
    );
    check("acme", "the name of a dataset has two parts", 2);
    project.write(
        "eval.yaml",
        SPEC.replace("hf://", "https://huggingface.co/"),
    );
    run(&project, &hub, "run eval.yaml")
        .exits(2)
        .says("is a page, not a dataset's address")
        .says("hint: write `hf://datasets/acme/toy`");
    check(
        "acme/toy@a/b",
        "a `/` in the name of one is written `%2F`",
        2,
    );
    let split = SPEC.replace("toy\"", "toy\", split: dev");
    project.write("eval.yaml", split);
    run(&project, &hub, "run eval.yaml")
        .exits(2)
        .says("no metadata of split `dev`")
        .says("splits found: `test`, `validation`");
    // A sample's own file that is not there is that sample's failure.
    let broken = row("a", 1, "gone.txt");
    let hub = Hub::new(&[("metadata.jsonl", &broken)]);
    project.write("eval.yaml", SPEC);
    fs::remove_dir_all(project.file("hf")).unwrap();
    run(&project, &hub, "run eval.yaml")
        .says("1 of 1 samples will fail because their attachment cannot be read");
}

#[test]
fn other_benchmarks_read_one_file_of_a_dataset() {
    let rows = "{\"question\": \"What is 2 + 2?\", \"answer\": \"4\", \"files\": [\"a/x.txt\"]}\n";
    let hub = Hub::new(&[
        ("data/test.jsonl", rows),
        ("data/a/x.txt", "attached"),
        ("y", "unused"),
    ]);
    let project = project();
    let path = "path: \"hf://datasets/acme/toy@main/data/test.jsonl\"";
    let spec = |benchmark: &str| {
        let benchmark = format!("benchmark: {{ type: {benchmark}, {path} }}");
        let gaia = "benchmark: { type: gaia, path: \"hf://datasets/acme/toy\" }";
        project.write("eval.yaml", SPEC.replace(gaia, &benchmark));
    };
    spec("gsm8k");
    run(&project, &hub, "run eval.yaml").exits(0);
    assert_eq!(fetched(&hub), ["test.jsonl"]);
    spec("qa, columns: { files: [files] }");
    run(&project, &hub, "run eval.yaml").exits(0);
    assert_eq!(fetched(&hub), ["x.txt"]);
    let manifest = project.last_json("manifest.json");
    assert_eq!(
        manifest["dataset"],
        format!("hf://datasets/acme/toy@{COMMIT}")
    );
    let of_file = project.read("eval.yaml");
    project.write("eval.yaml", of_file.replace("/test.jsonl", ""));
    run(&project, &hub, "run eval.yaml")
        .exits(2)
        .says("`hf://datasets/acme/toy@main/data` is a folder, but one file of rows is needed");
    spec("bfcl");
    let whole = |spec: String| spec.replace("@main/data/test.jsonl", "");
    project.write("eval.yaml", whole(project.read("eval.yaml")));
    run(&project, &hub, "run eval.yaml")
        .exits(2)
        .says("`hf://datasets/acme/toy`: of the Hub, this benchmark reads one file")
        .says("hint: the leaderboard's data is in its package: `pip download");
    // Of a dataset with one file of rows that is meant.
    project.write("eval.yaml", whole(of_file));
    run(&project, &hub, "run eval.yaml").exits(0);
    let (hub, project) = (toy(), self::project());
    let spec = project.read("eval.yaml").replace("gaia", "qa");
    project.write("eval.yaml", spec);
    run(&project, &hub, "run eval.yaml")
        .exits(2)
        .says("`hf://datasets/acme/toy` is a dataset with 3 files of rows, but one is needed")
        .says("hint: name the file: `path: hf://datasets/acme/toy/2023/test/metadata.jsonl`");
}

/// Problems of our own in the columns of `math-ai/aime25`, which has nothing but ids beside them, and as a table by years.
#[test]
fn sets_of_problems_are_read_as_they_are_published() {
    let rows = "{\"problem\": \"6 * 7?\", \"answer\": \"42\", \"id\": \"0\"}\n{\"problem\": \"6 * 8?\", \"answer\": \"48\", \"id\": \"1\"}\n";
    let table = "Year,Question,Answer\n1983,6 * 7?,042\n2024,6 * 8?,48\n";
    let hub = Hub::new(&[("README.md", "# aime25\n"), ("test.jsonl", rows)]);
    hub.set(|state| state.called = Some("acme/aime25"));
    let project = project();
    let spec = |name: &str| {
        format!(
            "name: e\nbenchmark: {{ type: aime, path: \"hf://datasets/{name}\" }}\nagent: none\nscorer: includes\n\
             snapshot: {{ answers: plain }}\n"
        )
    };
    project.write("eval.yaml", spec("acme/aime25"));
    run(&project, &hub, "list eval.yaml")
        .exits(0)
        .says("e::year2025::0");
    run(&project, &hub, "run eval.yaml").exits(0);
    let records = project.last_lines("samples.jsonl");
    assert_eq!(records[1]["slices"], json!({"year": "2025"}));
    let text = &records[1]["result"]["output"]["text"];
    assert_eq!(text, "Problem:\n6 * 8?\n\nAnswer: 48");
    // The same set as items.
    let items = spec("acme/aime25").replace("type: aime", "type: items");
    project.write("eval.yaml", items);
    run(&project, &hub, "run eval.yaml").exits(0);
    assert_eq!(
        project.last_lines("samples.jsonl")[1]["result"]["output"]["text"],
        *text
    );

    let hub = Hub::new(&[("data/table.csv", table)]);
    hub.set(|state| state.called = Some("acme/aime-1983-2025"));
    let project = self::project();
    project.write("eval.yaml", spec("acme/aime-1983-2025"));
    run(&project, &hub, "list eval.yaml")
        .exits(0)
        .says("e::year1983::aime_1983_0")
        .says("e::year2024::aime_2024_1");
}

#[test]
fn gaia_without_a_path_is_the_published_dataset() {
    let (hub, project) = (toy(), project());
    project.write(
        "eval.yaml",
        SPEC.replace(", path: \"hf://datasets/acme/toy\"", ""),
    );
    run(&project, &hub, "run eval.yaml")
        .exits(2)
        .says("eval.yaml:2:20: `hf://datasets/gaia-benchmark/GAIA`: there is no such dataset");
    // Of flags alone it is the same, and no file is blamed.
    let flags = "run --benchmark gaia --agent echo";
    run(&Project::new(), &hub, flags)
        .exits(2)
        .says("`hf://datasets/gaia-benchmark/GAIA`: there is no such dataset")
        .says_nothing_of(".yaml");
    run(&Project::new(), &hub, "run --benchmark gaia")
        .exits(2)
        .says("add `--agent echo`; it uses the published questions");
}

#[test]
fn tests_are_listed_and_run_from_the_cache() {
    let (hub, project) = (toy(), Project::new());
    project.write(trials::SPEC, SPEC);
    let home = project.file("hf");
    let run = |arguments: &str, offline: &str| {
        let variables = [
            ("HF_ENDPOINT", &*hub.url),
            ("HF_HOME", home.to_str().unwrap()),
            ("HF_HUB_OFFLINE", offline),
        ];
        trials::run_with(&project, arguments, &variables)
    };
    let names = "e::level1::a: test\ne::level1::b: test\ne::level2::c: test\n";
    run("--list", "1")
        .exits(1)
        .says("`hf://datasets/acme/toy` is not in");
    assert!(hub.requested().is_empty());
    run("--list", "0").exits(0).says(names);
    assert!(!hub.requested().is_empty());
    run("--list", "1").exits(0).says(names);
    // One test in a process of its own, as nextest does it.
    let one = run("e::level1::b --exact", "0");
    assert_eq!(trials::tests(&one).len(), 1);
    assert!(hub.requested().is_empty());
}

#[needs(bwrap)]
#[test]
fn a_sandboxed_agent_sees_nothing_of_the_cache() {
    let (hub, project) = (toy(), Project::new());
    let script = "#!/bin/sh\ncd \"${0%/*}\"\nls hf\ngrep -rsl 'Final answer' hf\ncat hf/hub/*/*/*/*/*/*\necho done\n";
    project.script("agent.sh", script);
    let agent = "{ type: command, command: [./agent.sh], sandbox: { type: bwrap, read: [hf] } }";
    project.write("eval.yaml", SPEC.replace("{ type: demo }", agent));
    run(&project, &hub, "run eval.yaml").exits(0);
    let snapshot = cached(&project).join("snapshots").join(COMMIT);
    let check = || {
        for record in project.last_lines("samples.jsonl") {
            assert_eq!(record["result"]["output"]["text"], "hub\ndone", "{record}");
        }
    };
    check();
    // Nor when the spec names a path into it.
    let spec = project.read("eval.yaml");
    let path = snapshot.display().to_string();
    project.write("eval.yaml", spec.replace("hf://datasets/acme/toy", &path));
    run(&project, &hub, "run eval.yaml").exits(0);
    check();
}
