//! Memory that does not grow with what is stored.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::project::{Project, Ran};

const SAMPLES: usize = 1_500;

/// A project of long questions, which the agent says again.
fn project(samples: usize) -> Project {
    let project = Project::new();
    let words = "What is said is said again. ".repeat(300);
    let mut questions = String::new();
    for number in 0..samples {
        let question = serde_json::json!({
            "task_id": format!("q{number}"), "Question": format!("{words}FINAL ANSWER: {number}"), "Level": 1,
            "Final answer": number.to_string(), "file_name": "",
        });
        writeln!(questions, "{question}").unwrap();
    }
    project.write("data.jsonl", questions);
    project.spec("echo", "gates: [error_rate <= 0.0]\n");
    project
}

/// Runs a command to its end, its output into a file; the most memory that it ever had, in MiB.
fn peak_mib(project: &Project, arguments: &str) -> u64 {
    let out = fs::File::create(project.file("out")).unwrap();
    let mut command = project.command(arguments);
    let child = command.stdout(out).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or_default());
        std::thread::sleep(Duration::from_millis(1));
    }
    Ran::of(&child.wait_with_output().unwrap()).exits(0);
    assert!(peak > 0, "`{arguments}` was gone at once");
    peak.div_ceil(1024)
}

fn run_of(project: &Project) -> String {
    let dirs = fs::read_dir(project.file("evaltest-runs")).unwrap();
    let dirs = dirs.map(|entry| entry.unwrap().path());
    let is_run = |path: &PathBuf| path.join("manifest.json").exists();
    let mut dirs: Vec<PathBuf> = dirs.filter(is_run).collect();
    assert_eq!(dirs.len(), 1, "{dirs:?}");
    dirs.remove(0).display().to_string()
}

#[test]
fn what_is_stored_is_read_from_its_place() {
    // Some 13 MiB of questions, and more than that again in the journal and in the records.
    let project = project(SAMPLES);
    let run = peak_mib(&project, "run eval.yaml");
    let dir = run_of(&project);
    let records = fs::read(Path::new(&dir).join("samples.jsonl")).unwrap();
    let resumed = peak_mib(&project, &format!("run --resume {dir}"));
    assert!(
        resumed <= run + 16,
        "{resumed} MiB, where the run took {run}"
    );
    assert_eq!(
        fs::read(Path::new(&dir).join("samples.jsonl")).unwrap(),
        records
    );
    for arguments in ["", " --json", " q1499", " q1499 --json"] {
        let arguments = format!("show {dir}{arguments}");
        let output = peak_mib(&project, &arguments);
        assert!(output <= 56, "`{arguments}` took {output} MiB");
    }
    // Nothing is left out of a list, and it is JSON.
    let output = project.run(&format!("show {dir} --json")).exits(0).json();
    let output = output.as_array().unwrap();
    assert_eq!(output.len(), SAMPLES);
    let text = serde_json::to_string_pretty(output).unwrap();
    assert!(project.run(&format!("show {dir} --json")).out == text + "\n");
}

#[test]
fn an_empty_list_is_a_list() {
    let project = project(1);
    project.run("run eval.yaml").exits(0);
    let dir = run_of(&project);
    let records = Path::new(&dir).join("samples.jsonl");
    fs::write(records, "").unwrap();
    assert_eq!(
        project.run(&format!("show {dir} --json")).exits(0).out,
        "[]\n"
    );
}

#[test]
fn accept_and_gate_take_little_memory_for_many_samples() {
    let used = |samples: usize| {
        let project = Project::new();
        let questions = (0..samples).fold(String::new(), |mut questions, number| {
            let words = "Half is said. ".repeat(60);
            writeln!(
                questions,
                r#"{{"id":"q{number}","question":"{words}FINAL ANSWER: {number}","answer":"{number}"}}"#
            )
            .unwrap();
            questions
        });
        project.write("data.jsonl", questions);
        project.write(
            "eval.yaml",
            "name: e\nbenchmark: { type: qa, path: data.jsonl }\nscorer: exact\nagent: echo\n\
             snapshot: { answers: plain, path: snapshots }\n",
        );
        project.run("run eval.yaml");
        ["accept", "gate"].map(|what| {
            let command = format!("{what} {}", run_of(&project));
            // A short process may end before its peak is seen: the largest counts.
            let starts = if samples < 100 { 10 } else { 1 };
            let peaks = (0..starts).map(|_| peak_mib(&project, &command));
            peaks.max().unwrap()
        })
    };
    let (few, many) = (used(10), used(8000));
    for (few, many, most) in [(few[0], many[0], 8), (few[1], many[1], 4)] {
        assert!(
            many <= few + most,
            "{many} MiB, where 10 samples took {few}"
        );
    }
}
