//! Each stored file, damaged in each way, and each command that reads it: none hangs, panics, or says nothing and goes on;
//! and where a verdict rests on the file, none ends with 0.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::project::{Project, Ran};

/// No command takes a tenth of it.
const LONGEST: Duration = Duration::from_secs(40);

/// Commands that read a run; the last two look at it or write it again.
const OF_RUNS: [&str; 13] = [
    "gate DIR",
    "compare DIR other",
    "report DIR",
    "summarize DIR",
    "rescore DIR --scorer exact",
    "export DIR --format gaia --output there",
    "accept DIR",
    "score DIR --scorer exact",
    "scorers DIR --scorer exact --scorer gaia",
    "run eval.yaml --failed DIR",
    "run eval.yaml --resume DIR",
    "show DIR",
    "repair DIR",
];

/// Commands that are given what the manifest has a hash of, which is checked in one place.
const SHORT: [&str; 5] = [
    "gate",
    "accept",
    "run eval.yaml --resume",
    "show DIR",
    "repair",
];

/// What became of a file.
enum Damage {
    Content(Vec<u8>),
    Pipe,
    Device,
    Folder,
    Gone,
}

/// Everything that is done to a file of this content. `foreign` is that of another run.
fn damages(content: &[u8], foreign: &[u8]) -> Vec<(String, Damage)> {
    let lines: Vec<&[u8]> = content.split_inclusive(|byte| *byte == b'\n').collect();
    let middle = lines.len() / 2;
    let mut less = lines.clone();
    let mut twice = lines.clone();
    if !lines.is_empty() {
        less.remove(middle);
        twice.insert(middle, lines[middle]);
    }
    let text = String::from_utf8_lossy(content);
    let version = text.replacen("\"format_version\": 1", "\"format_version\": 999", 1);
    let version = version.replacen("\"format_version\": 2", "\"format_version\": 999", 1);
    let mut all = vec![
        ("empty".to_owned(), Vec::new()),
        ("half".to_owned(), content[..content.len() / 2].to_vec()),
        ("a line less".to_owned(), less.concat()),
        ("a line twice".to_owned(), twice.concat()),
        ("CRLF".to_owned(), text.replace('\n', "\r\n").into_bytes()),
        ("another version".to_owned(), version.into_bytes()),
        ("another run's".to_owned(), foreign.to_vec()),
        ("no text".to_owned(), vec![0xff; 300]),
    ];
    for part in [1, 3, 6] {
        let mut flipped = content.to_vec();
        if let Some(byte) = flipped.get_mut(content.len() * part / 7) {
            *byte ^= 1;
        }
        all.push((format!("a bit at {part}/7"), flipped));
    }
    all.retain(|(_, damaged)| damaged != content);
    let mut all: Vec<_> = all
        .into_iter()
        .map(|(how, content)| (how, Damage::Content(content)))
        .collect();
    all.extend([
        ("a pipe".to_owned(), Damage::Pipe),
        ("a device".to_owned(), Damage::Device),
        ("a folder".to_owned(), Damage::Folder),
        ("gone".to_owned(), Damage::Gone),
    ]);
    all
}

fn remove(path: &Path) {
    match path.symlink_metadata() {
        Ok(about) if about.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

fn damage(path: &Path, damage: &Damage) {
    remove(path);
    match damage {
        Damage::Content(content) => fs::write(path, content).unwrap(),
        Damage::Pipe => {
            let made = Command::new("mkfifo").arg(path).status().unwrap();
            assert!(made.success());
        }
        Damage::Device => symlink("/dev/zero", path).unwrap(),
        Damage::Folder => fs::create_dir(path).unwrap(),
        Damage::Gone => {}
    }
}

/// Files below a folder with what stands in them.
fn snapshot_of(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = crate::project::all_files(folder).into_iter();
    files
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}

/// Puts files back, and nothing else.
fn put_back(folder: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) {
    remove(folder);
    for (path, content) in files {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        if content.starts_with(b"#!") {
            fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
        }
    }
}

fn words<'a>(command: &'a str, dir: &'a str) -> Vec<&'a str> {
    let words = command.split(' ');
    words.map(|it| if it == "DIR" { dir } else { it }).collect()
}

/// The command, where what is not known is no green.
fn in_ci(project: &Project, words: &[&str]) -> Command {
    let mut command = project.command_of(words);
    command.env("CI", "1");
    command
}

/// Runs a command, which must come to an end.
fn run(mut command: Command, what: &str) -> Ran {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id().to_string();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(LONGEST) else {
        let _ = Command::new("kill").args(["-9", &pid]).status();
        panic!("{what}: hangs");
    };
    Ran::of(&output.unwrap())
}

fn reports(ran: &Ran, text: &str) -> bool {
    ran.out.contains(text) || ran.err.contains(text)
}

/// What a command says that does not differ from run to run.
fn figures(ran: &Ran) -> (Option<i32>, Vec<String>) {
    let lines = ran
        .out
        .lines()
        .map(|line| match line.split_once(" errors, ") {
            Some((figures, _seconds)) => figures.to_owned(),
            None => line.to_owned(),
        });
    let is_of_one = |line: &String| line.starts_with("  run ") || line.contains("evaltest-runs/");
    (ran.code, lines.filter(|line| !is_of_one(line)).collect())
}

/// What a command may not do, whatever a file is. `decides` says that a verdict rests on it.
fn check(ran: &Ran, what: &str, name: &str, (is_whole, decides): (bool, bool)) {
    let output = format!("{what}: {:?}\n{}\n{}", ran.code, ran.out, ran.err);
    assert!(matches!(ran.code, Some(0..=3)), "{output}");
    assert!(!output.contains("panicked"), "{output}");
    if ran.code == Some(0) && !is_whole {
        assert!(!decides, "{output}");
        let is_reported = [name, "changed after the run"]
            .iter()
            .any(|text| reports(ran, text));
        assert!(is_reported, "{output}");
    }
}

const QUESTIONS: [(&str, u32, &str, &str); 8] = [
    ("q1", 2, "What is 1?", "What is 1?"),
    ("q2", 3, "What is 2?", "2"),
    ("q3", 1, "What is 3?", "What is 3?"),
    ("q4", 2, "What is 4?", "What is 4?"),
    ("q5", 3, "What is 5?", "What is 5?"),
    ("q6", 1, "What is 6?", "What is 6?"),
    ("q7", 2, "What is 7?", "What is 7?"),
    ("q8", 3, "What is 8?", "What is 8?"),
];

/// A project with a baseline and a run that is like it, and passes; and that run.
fn green() -> (Project, PathBuf) {
    let more = "gates: [accuracy >= 0.1, no_regression(alpha=0.05)]\n";
    let project = Project::with_eval(&QUESTIONS, "echo", more);
    project.run("run eval.yaml --ignore-baseline").exits(0);
    let first = project.last_run();
    project
        .run_of(&["accept", &first.display().to_string()])
        .exits(0);
    project.run("run eval.yaml").exits(0);
    let dir = project
        .runs()
        .into_iter()
        .find(|dir| *dir != first)
        .unwrap();
    let other = first.with_file_name("other");
    fs::rename(&first, other).unwrap();
    (project, dir)
}

/// Whether a command judges, accepts, exports or compares by this file of a run.
fn decides(command: &str, name: &str) -> bool {
    let goes_on = ["show", "repair"];
    match name {
        "manifest.json" => !goes_on.iter().any(|it| command.starts_with(it)),
        // The records are whole.
        "events.jsonl" => false,
        // Made again, or read from the records.
        _ => ![goes_on[0], goes_on[1], "report", "run eval.yaml --resume"]
            .iter()
            .any(|it| command.starts_with(it)),
    }
}

/// Damages one file of a run in each way and gives each command the run.
fn file_of_a_run(name: &str) {
    let (project, dir) = green();
    let (_other, foreign) = green();
    let foreign = fs::read(foreign.join(name)).unwrap();
    let whole = snapshot_of(project.path());
    let path = dir.join(name);
    let dir_name = dir.display().to_string();
    let is_short = |command: &&str| SHORT.iter().any(|word| command.starts_with(word));
    let is_asked = |command: &&str| name == "manifest.json" || is_short(command);
    for command in OF_RUNS.into_iter().filter(is_asked) {
        for (how, damaged) in damages(&whole[&path], &foreign) {
            let what = format!("{name}, {how}: {command}");
            damage(&path, &damaged);
            let ran = run(project.command_of(&words(command, &dir_name)), &what);
            // What is made again is what it was.
            let is_whole = fs::symlink_metadata(&path).is_ok_and(|about| about.is_file())
                && fs::read(&path).unwrap() == whole[&path];
            // It goes on by its spec and its own journal.
            let is_named = how == "another run's" && command.ends_with("--resume DIR");
            let decides = decides(command, name) && !is_named;
            check(&ran, &what, name, (is_whole, decides));
            put_back(project.path(), &whole);
        }
    }
}

#[test]
fn the_manifest() {
    file_of_a_run("manifest.json");
}

#[test]
fn the_records() {
    file_of_a_run("samples.jsonl");
}

#[test]
fn the_errors() {
    file_of_a_run("errors.jsonl");
}

#[test]
fn the_journal() {
    file_of_a_run("events.jsonl");
}

#[test]
fn the_summary() {
    file_of_a_run("summary.json");
}

#[test]
fn the_summary_for_people() {
    file_of_a_run("summary.md");
}

/// Damages one of the project's own files in each way; it is found by its end. `harmless` are damages that change no verdict.
pub(super) fn file_of_the_project(
    project: &Project,
    dir: &Path,
    (name, harmless): (&str, &[&str]),
    commands: &[&str],
) {
    let whole = snapshot_of(project.path());
    let path = whole.keys().find(|path| path.ends_with(name)).unwrap();
    let dir_name = dir.display().to_string();
    let foreign = b"{\"format_version\": 2}\n";
    for command in commands {
        let sound = run(in_ci(project, &words(command, &dir_name)), command).exits(0);
        put_back(project.path(), &whole);
        for (how, damaged) in damages(&whole[path], foreign) {
            let what = format!("{name}, {how}: {command}");
            damage(path, &damaged);
            let ran = run(in_ci(project, &words(command, &dir_name)), &what);
            let output = path.file_name().unwrap().to_str().unwrap();
            // Version control may change line ends: then everything is as it was.
            // And who has cleared the cache knows it; what is damaged in it is asked again.
            let is_cleared = how == "gone" && output.ends_with(".answer");
            // What only people read in a snapshot changes no figure.
            let is_figureless = path.extension().is_some_and(|end| end == "snap")
                && figures(&ran) == figures(&sound);
            let is_same = how == "CRLF" && ran.code == sound.code
                || is_cleared
                || is_figureless
                || harmless.contains(&&*how);
            let decides = !output.ends_with(".answer");
            check(&ran, &what, output, (is_same, decides));
            put_back(project.path(), &whole);
        }
    }
}

#[test]
fn the_baseline() {
    let (project, dir) = green();
    let commands = ["gate DIR", "run eval.yaml", "accept DIR --add"];
    file_of_the_project(&project, &dir, ("_baseline.json", &[]), &commands);
}

#[test]
fn an_answer_in_the_cache() {
    let agent = "{ type: command, command: [sh, -c, cat] }";
    let more = "cache: true\ngates: [accuracy >= 0.1]\n";
    let project = Project::with_eval(&QUESTIONS, agent, more);
    project.run("run eval.yaml").exits(0);
    let dir = project.last_run();
    let cached = snapshot_of(&project.file("evaltest-runs/.cache"));
    let sizes = cached.iter().map(|(path, content)| (content.len(), path));
    let (_, answer) = sizes.max().unwrap();
    let name = answer.file_name().unwrap().to_str().unwrap();
    file_of_the_project(&project, &dir, (name, &[]), &["run eval.yaml"]);
}

#[test]
fn a_snapshot() {
    let (project, dir) = green();
    let snapshots = snapshot_of(&project.file("snapshots")).into_keys();
    let mut names = snapshots.filter(|path| path.extension().is_some_and(|end| end == "snap"));
    let name = names.next().unwrap();
    let name = name.file_name().unwrap().to_str().unwrap();
    let commands = ["gate DIR", "run eval.yaml", "accept DIR --add"];
    file_of_the_project(&project, &dir, (name, &[]), &commands);
}

#[test]
fn a_pipe_or_a_device_is_no_dataset_and_no_spec() {
    let (project, dir) = green();
    let whole = snapshot_of(project.path());
    let dir_name = dir.display().to_string();
    let commands = [
        "run eval.yaml",
        "list eval.yaml",
        "doctor eval.yaml",
        "repair DIR",
    ];
    for name in ["data.jsonl", "eval.yaml"] {
        for damaged in [Damage::Pipe, Damage::Device] {
            for command in commands {
                damage(&project.file(name), &damaged);
                let what = format!("{name}: {command}");
                let ran = run(project.command_of(&words(command, &dir_name)), &what);
                let output = format!("{what}: {:?}\n{}\n{}", ran.code, ran.out, ran.err);
                assert!(matches!(ran.code, Some(2 | 3)), "{output}");
                let is_reported = ["is not a file", "is not here", "does not exist here"];
                assert!(
                    is_reported.iter().any(|text| reports(&ran, text)),
                    "{output}"
                );
                put_back(project.path(), &whole);
            }
        }
    }
}
