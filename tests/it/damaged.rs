//! Run directories whose files are changed after the run.

mod foreign;
mod inputs;
mod journal;
mod matrix;

use std::fs;
use std::path::{Path, PathBuf};

use crate::damages::{BELIEVERS, damages};
use crate::project::{Project, Ran, change_manifest};
use crate::requested::{self, requested};

/// A run of 20 questions, of which the agent answers every second rightly, and a gate that fails.
fn red() -> (Project, PathBuf) {
    let project = requested::project(20, "", "gates: [accuracy >= 0.9]\n");
    project.run("run eval.yaml").exits(1);
    let dir = project.last_run();
    (project, dir)
}

fn on(project: &Project, command: &str, dir: &Path) -> Ran {
    let words: Vec<_> = command.split(' ').collect();
    let dir = dir.display().to_string();
    let words: Vec<&str> = words
        .iter()
        .map(|it| if *it == "DIR" { &*dir } else { it })
        .collect();
    project.run_of(&words)
}

#[test]
fn a_run_that_was_cut_short_is_not_believed() {
    let (project, dir) = red();
    let path = dir.join("samples.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let requests_before = requested(&project).len();
    for text in damages(&whole) {
        fs::write(&path, text).unwrap();
        for command in BELIEVERS {
            on(&project, command, &dir)
                .exits(2)
                .says("samples.jsonl changed after the run")
                .says("cargo evaltest repair evaltest-runs/");
        }
        // Whoever looks at it is told.
        on(&project, "show DIR q000", &dir).says("samples.jsonl changed after the run");
        on(&project, "repair DIR", &dir)
            .exits(0)
            .says("rebuilt from its journal, with 20 of 20 questions");
        assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    }
    // What stands before the damage is shown.
    fs::write(&path, &whole[..whole.len() - 20]).unwrap();
    let shown = on(&project, "show DIR", &dir).exits(2);
    assert_eq!(shown.out.lines().count(), 19, "{}", shown.out);
    fs::remove_file(&path).unwrap();
    on(&project, "gate DIR", &dir)
        .exits(2)
        .says("samples.jsonl changed after the run: it is missing");
    assert_eq!(requested(&project).len(), requests_before);
    assert_eq!(project.runs().len(), 1, "nothing new is left");

    on(&project, "repair DIR", &dir)
        .exits(0)
        .says("rebuilt from its journal, with 20 of 20 questions");
    assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    on(&project, "gate DIR", &dir).exits(1);
    assert_eq!(requested(&project).len(), requests_before);
}

#[test]
fn a_manifest_that_was_changed_is_refused_and_made_again() {
    let (project, dir) = red();
    let path = dir.join("manifest.json");
    let whole = fs::read_to_string(&path).unwrap();
    // One bit: a run without gates would pass.
    let without_gates = whole.replacen("\"gates\": [", "\"fates\": [", 1);
    assert_ne!(without_gates, whole);
    for text in [without_gates, whole.replace('\n', "\r\n"), whole + "\n"] {
        fs::write(&path, text).unwrap();
        for command in BELIEVERS {
            on(&project, command, &dir)
                .exits(2)
                .says("manifest.json: it changed after the run: its checksum")
                .says("cargo evaltest repair evaltest-runs/");
        }
        on(&project, "show DIR q000", &dir)
            .exits(0)
            .says("manifest.json: it changed after the run");
        on(&project, "repair DIR", &dir)
            .exits(0)
            .says("manifest.json: changed after the run; gates and settings");
        on(&project, "gate DIR", &dir).exits(1);
    }
}

#[test]
fn errors_and_what_was_not_asked_are_made_again_as_they_were() {
    // One fails in the middle of the others; with `fail_fast` the rest is not asked.
    let then = "if [ $EVALTEST_SAMPLE_ID = q004 ]; then exit 7; fi";
    for more in [
        "gates: [error_rate <= 0.01]\nlimits: { retries: 0 }\n",
        "gates: [error_rate <= 0.01]\nlimits: { retries: 0, fail_fast: true, concurrency: 1 }\n",
        "gates: [accuracy >= 0.9]\nerrors: wrong\nlimits: { retries: 0 }\n",
    ] {
        let project = requested::project(20, then, more);
        let code = project.run("run eval.yaml").code;
        assert_ne!(code, Some(0), "{more}");
        let dir = project.last_run();
        let names = [
            "samples.jsonl",
            "errors.jsonl",
            "summary.json",
            "summary.md",
        ];
        let read = || names.map(|name| fs::read_to_string(dir.join(name)).unwrap());
        let whole = read();
        let gated = on(&project, "gate DIR", &dir);
        let lines: Vec<_> = whole[0].split_inclusive('\n').collect();
        let truncated = [
            &lines[..3].concat(),
            &(whole[0].clone() + lines[4]),
            "",
            &whole[0],
        ];
        for text in truncated {
            fs::write(dir.join("samples.jsonl"), text).unwrap();
            on(&project, "repair DIR", &dir).exits(0);
            assert_eq!(read(), whole, "{more}");
        }
        let again = on(&project, "gate DIR", &dir).exits(gated.code.unwrap());
        assert_eq!(again.out, gated.out);
    }
}

#[test]
fn records_that_the_journal_does_not_know_are_not_lost() {
    let (project, dir) = red();
    let journal = fs::read_to_string(dir.join("events.jsonl")).unwrap();
    let others = journal.lines().filter(|line| !line.contains("\"q003\""));
    let others: Vec<_> = others.map(|line| format!("{line}\n")).collect();
    fs::write(dir.join("events.jsonl"), others.concat()).unwrap();
    let whole = fs::read(dir.join("samples.jsonl")).unwrap();
    on(&project, "repair DIR", &dir)
        .exits(2)
        .says("lacks the end of `q003` whose records are in `samples.jsonl`");
    assert_eq!(fs::read(dir.join("samples.jsonl")).unwrap(), whole);
}

#[test]
fn each_other_file_is_looked_at_and_a_journal_alone_is_a_notice() {
    let (project, dir) = red();
    for name in ["errors.jsonl", "summary.json", "summary.md"] {
        let path = dir.join(name);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, [&whole[..], b"\n"].concat()).unwrap();
        on(&project, "gate DIR", &dir)
            .exits(2)
            .says(&format!("{name} changed after the run"));
        fs::write(&path, whole).unwrap();
        on(&project, "gate DIR", &dir)
            .exits(1)
            .says_nothing_of("changed after the run");
    }
    let journal = dir.join("events.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replacen("started", "Started", 1)).unwrap();
    on(&project, "gate DIR", &dir)
        .exits(1)
        .says("events.jsonl changed after the run; the records of the run are complete");
    on(&project, "repair DIR", &dir)
        .exits(0)
        .says("lines of events.jsonl that cannot be read: 1");
    let manifest = project.last_json("manifest.json");
    assert_eq!(manifest["journal_lines_skipped"], serde_json::json!([1]));
    on(&project, "gate DIR", &dir)
        .exits(1)
        .says_nothing_of("changed after the run");
}

#[test]
fn a_killed_run_is_read_from_its_journal_by_all_but_accept() {
    let (project, dir) = red();
    let before = requested(&project).len();
    // As `kill -9` leaves it: the journal up to some answer, no records, and the manifest of a run that goes on.
    let journal = fs::read_to_string(dir.join("events.jsonl")).unwrap();
    let half = journal.split_inclusive('\n').take(30).collect::<String>();
    // Several are in flight at a time.
    let answers = half.matches("\"kind\":\"answered\"").count();
    fs::write(dir.join("events.jsonl"), half).unwrap();
    for name in [
        "samples.jsonl",
        "errors.jsonl",
        "summary.json",
        "summary.md",
    ] {
        fs::remove_file(dir.join(name)).unwrap();
    }
    change_manifest(&dir, |manifest| manifest["status"] = "running".into());
    let files = || crate::project::all_files(&dir).len();
    let there = files();
    for (command, code) in [
        ("gate DIR", 3),
        ("summarize DIR", 0),
        ("rescore DIR --scorer exact", 0),
        ("export DIR --format gaia --output there", 0),
        ("show DIR", 0),
        ("run eval.yaml --failed DIR --dry-run", 0),
    ] {
        on(&project, command, &dir).exits(code).says(&format!(
            "was killed: it is read from its journal with {answers} of its 20 questions"
        ));
        assert_eq!(files(), there, "{command}");
    }
    on(&project, "accept DIR", &dir)
        .exits(2)
        .says("did not finish: it was killed");
    assert_eq!(requested(&project).len(), before);
    on(&project, "run --resume DIR", &dir).exits(1);
    assert_eq!(requested(&project).len(), before + 20 - answers);
}

#[test]
fn a_run_is_made_again_by_what_it_was_made_of_alone() {
    let (project, dir) = red();
    let questions = project.read("data.jsonl");
    project.write(
        "data.jsonl",
        questions.replacen("What is 1?", "What is one?", 1),
    );
    fs::remove_file(dir.join("samples.jsonl")).unwrap();
    on(&project, "repair DIR", &dir)
        .exits(2)
        .says("cannot be rebuilt from its journal: the dataset or the prompt has changed since")
        .says("hint: undo the change: ");
    assert!(!dir.join("samples.jsonl").exists());
    project.write("data.jsonl", questions);
    on(&project, "repair DIR", &dir).exits(0);
}

#[test]
fn the_last_run_is_never_passed_over_in_silence() {
    let (project, old) = red();
    requested::agent(&project, "");
    let data = project.read("data.jsonl").replace("something else", "1");
    project.write("data.jsonl", data);
    project.run("run eval.yaml");
    let new = project.runs().into_iter().find(|run| *run != old).unwrap();
    // Names tell the time by the second.
    let new = {
        let later = new.with_file_name("29991231T235959Z_later");
        fs::rename(&new, &later).unwrap();
        later
    };
    let path = new.join("manifest.json");
    let whole = fs::read_to_string(&path).unwrap();
    let commands = ["gate", "summarize", "accept", "show"];
    fs::write(&path, &whole[..whole.len() - 3]).unwrap();
    for command in commands {
        project
            .run(command)
            .exits(2)
            .says("not a manifest")
            .says("copy it again from");
    }
    fs::remove_file(&path).unwrap();
    for command in commands {
        project
            .run(command)
            .exits(2)
            .says("lacks its `manifest.json`")
            .says("to discard them: rm -r evaltest-runs/");
    }
    // Killed: it has no records, and began later.
    fs::write(&path, whole).unwrap();
    change_manifest(&new, |manifest| {
        manifest["status"] = "running".into();
        manifest["artifacts"] = serde_json::json!({});
        manifest["started_at"] = "2999-12-31T23:59:59.000Z".into();
    });
    for name in [
        "samples.jsonl",
        "errors.jsonl",
        "summary.json",
        "summary.md",
    ] {
        fs::remove_file(new.join(name)).unwrap();
    }
    project
        .run("accept")
        .exits(2)
        .says("did not finish: it was killed");
    for words in ["gate", "gate e", "summarize", "show"] {
        project
            .run(words)
            .says("29991231T235959Z_later` was killed: it is read from its journal");
    }
    // One that goes on is not the last one, which is told.
    let journal = fs::OpenOptions::new()
        .append(true)
        .open(new.join("events.jsonl"))
        .unwrap();
    journal.lock().unwrap();
    project
        .run("gate")
        .exits(1)
        .says("29991231T235959Z_later` is in progress: skipped");
    on(&project, "accept DIR", &new)
        .exits(2)
        .says("is still running");
    drop(journal);
    // An older one that cannot be read is in nobody's way.
    fs::write(old.join("manifest.json"), "{").unwrap();
    project
        .run("show")
        .exits(0)
        .says_nothing_of("not a manifest");
}

#[test]
fn a_journal_that_is_gone_is_no_reason_to_pay_for_all_of_it_again() {
    let (project, dir) = red();
    let before = requested(&project).len();
    fs::remove_file(dir.join("events.jsonl")).unwrap();
    let ran = on(&project, "run --resume DIR", &dir).exits(2);
    ran.says("`events.jsonl` is missing, so every sample would be asked again")
        .says("run --failed evaltest-runs/");
    on(&project, "gate DIR", &dir)
        .exits(1)
        .says("events.jsonl is missing; the records of the run are complete");
    assert_eq!(requested(&project).len(), before);
}

#[test]
fn a_dry_run_of_a_run_that_goes_on_counts_what_is_left() {
    let (project, dir) = red();
    on(&project, "run --resume DIR --dry-run", &dir)
        .exits(0)
        .says("20 samples, 20 of 20 questions answered, 0 requests");
    let journal = fs::read_to_string(dir.join("events.jsonl")).unwrap();
    let half: String = journal.split_inclusive('\n').take(30).collect();
    let answers = half.matches("\"kind\":\"answered\"").count();
    fs::write(dir.join("events.jsonl"), half).unwrap();
    on(&project, "run --resume DIR --dry-run", &dir)
        .exits(0)
        .says(&format!(
            "{answers} of 20 questions answered, {} requests",
            20 - answers
        ));
}

#[test]
fn a_manifest_may_name_anything_and_nothing_else_is_opened() {
    let (project, dir) = red();
    let path = dir.join("manifest.json");
    let whole = fs::read(&path).unwrap();
    for name in ["../outside", "/etc/passwd", "other.txt"] {
        fs::write(&path, &whole).unwrap();
        change_manifest(&dir, |manifest| manifest["artifacts"][name] = "0".into());
        on(&project, "gate DIR", &dir).exits(2).says(&format!(
            "{name} changed after the run: no run writes such a file"
        ));
    }
}

/// A run directory may come from elsewhere, and of where it was there may be a rest.
#[test]
fn the_spec_of_a_run_is_that_of_the_checkout_in_which_it_is_looked_at() {
    let (project, dir) = red();
    let (moved, other) = (Project::new(), Project::new());
    let copied = std::process::Command::new("cp")
        .args(["-r", "evaltest-runs", "eval.yaml", "data.jsonl", "agent.sh"])
        .arg(moved.path())
        .current_dir(project.path())
        .status();
    assert!(copied.unwrap().success());
    let data = project.read("data.jsonl");
    project.write("data.jsonl", data.replace("q019", "q999"));
    fs::remove_file(moved.last_run().join("samples.jsonl")).unwrap();
    on(&moved, "repair DIR", &moved.last_run()).exits(0);
    on(&moved, "gate DIR", &moved.last_run()).exits(1);
    // A spec of another eval is none of the run, whatever the file is called.
    project.write("data.jsonl", data);
    other.write(
        "eval.yaml",
        moved.read("eval.yaml").replace("name: e", "name: other"),
    );
    fs::remove_file(dir.join("samples.jsonl")).unwrap();
    on(&other, "repair DIR", &dir).exits(0);
}

#[test]
fn a_killed_run_took_until_its_last_event() {
    let (project, dir) = red();
    change_manifest(&dir, |manifest| {
        manifest["status"] = "running".into();
        manifest["started_at"] = "2026-01-01T00:00:00.000Z".into();
        manifest["ended_at"] = serde_json::Value::Null;
        manifest["duration_s"] = serde_json::Value::Null;
    });
    let journal = crate::project::unsealed(&fs::read_to_string(dir.join("events.jsonl")).unwrap());
    let time = regex::Regex::new("\"time\":\"[^\"]*\"").unwrap();
    let journal = time.replace_all(&journal, "\"time\":\"2026-01-01T00:01:30.000Z\"");
    fs::write(dir.join("events.jsonl"), &*journal).unwrap();
    on(&project, "report DIR", &dir)
        .exits(0)
        .says("| time | 90.0 s; ");
    on(&project, "report DIR --format html", &dir)
        .exits(0)
        .says("time</span> <b>90.0 s; ");
    // Before anything was asked nobody knows.
    fs::write(dir.join("events.jsonl"), "").unwrap();
    on(&project, "report DIR", &dir).exits(0).says("| time | -");
}
