//! Files of a run that are not what the run wrote, and run directories from elsewhere.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::damages::{BELIEVERS, damages};
use crate::journal::answered;
use crate::process::peak_kib;
use crate::project::{Project, all_files, change_manifest};
use crate::requested;
use crate::table::{Row, Table};
use crate::watched::{self, Ended};

/// Further commands that read a run.
const READERS: [&str; 6] = [
    "show DIR",
    "show DIR q001",
    "score DIR --scorer exact",
    "scorers DIR --scorer exact --scorer gaia",
    "run --resume DIR",
    "repair DIR",
];

/// No command that hangs takes less.
const LONGEST: Duration = Duration::from_secs(15);
/// A device has no end.
const LARGEST_KIB: u32 = 512 * 1024;
/// The exit code of `kill -9`.
const KILLED: i32 = 137;

/// What a killed run has not written yet.
const RECORDS: [&str; 4] = [
    "samples.jsonl",
    "errors.jsonl",
    "summary.json",
    "summary.md",
];

pub(crate) fn all(table: &mut Table) -> io::Result<()> {
    let fault = "samples.jsonl cut short, doubled or edited";
    table.row(fault, || edited_records(fault))?;
    let fault = "one line of a journal is damaged";
    table.row(fault, || damaged_journal(fault))?;
    let fault = "kill -9 of the run, read by the gate, not resumed";
    table.row(fault, || read_when_killed(fault))?;
    let fault = "run directory from elsewhere is accepted";
    table.row(fault, || foreign(fault))?;
    let fault = "pipe or device in place of a stored file";
    table.row(fault, || pipes(fault))
}

/// The command for this run.
fn on(project: &Project, command: &str, dir: &Path) -> io::Result<Ended> {
    let dir = dir.display().to_string();
    watched::run(project, &command.replace("DIR", &dir))
}

/// The same; it is killed when it hangs or reads without end.
fn patiently(project: &Project, command: &str, dir: &Path) -> io::Result<Ended> {
    let dir = dir.display().to_string();
    let started = Instant::now();
    watched::with(project, &command.replace("DIR", &dir), |child| {
        let is_endless = peak_kib(&child.id().to_string()) > LARGEST_KIB;
        if is_endless || started.elapsed() > LONGEST {
            child.kill()?;
        }
        Ok(())
    })
}

/// Files below a folder with what stands in them.
type Files = BTreeMap<PathBuf, Vec<u8>>;

fn snapshot_of(folder: &Path) -> io::Result<Files> {
    let files = all_files(folder).into_iter();
    files
        .map(|path| Ok((path.clone(), fs::read(path)?)))
        .collect()
}

/// Puts files back, and nothing else.
fn put_back(folder: &Path, files: &Files) -> io::Result<()> {
    fs::remove_dir_all(folder)?;
    for (path, content) in files {
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, content)?;
    }
    fs::set_permissions(
        folder.join("agent.sh"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
}

/// How many files there are that were not, or are not as they were, or are no more.
fn changed(before: &Files, after: &Files, is_match: impl Fn(&Path) -> bool) -> usize {
    let new = after.keys().filter(|path| !before.contains_key(*path));
    let old = before
        .iter()
        .filter(|(path, content)| after.get(*path) != Some(content));
    let old = old.map(|(path, _)| path);
    new.chain(old).filter(|path| is_match(path)).count()
}

/// A run of which every second answer is wrong, so that its gate fails: no damage may turn it green.
fn edited_records(fault: &str) -> io::Result<Row> {
    let project = requested::project(20, "", "gates: [accuracy >= 0.9]\n");
    let mut ended = watched::run(&project, "run eval.yaml")?;
    let dir = project.last_run();
    let path = dir.join("samples.jsonl");
    let whole = fs::read_to_string(&path)?;
    let (mut refused, mut tried, mut passed) = (0, 0, Vec::new());
    // That of all that follow, unless one has another.
    ended.code = Some(2);
    for (number, text) in damages(&whole).iter().enumerate() {
        fs::write(&path, text)?;
        for command in BELIEVERS {
            let one = on(&project, command, &dir)?;
            let is_refused =
                one.code == Some(2) && one.err.contains("samples.jsonl changed after the run");
            tried += 1;
            refused += usize::from(is_refused);
            if !is_refused {
                passed.push(format!("{command}, damage {number}: {:?}", one.code));
            }
            ended.add(one);
        }
    }
    let repaired = on(&project, "repair DIR", &dir)?;
    let is_whole = fs::read_to_string(&path)? == whole;
    ended.join(repaired);
    let gated = on(&project, "gate DIR", &dir)?;
    let (code, asks) = (gated.code, requested::requested(&project).len());
    ended.join(gated);
    let mut row = Row::of(fault, "refused by every command, repaired", &ended);
    row.exits(2)
        .lost(usize::from(!is_whole))
        .twice(asks - 20)
        .check(passed.is_empty(), format!("not refused: {passed:?}"))
        .check(code == Some(1), format!("repaired, the gate exits {code:?}"))
        .note(format!(
            "refused by {refused} of {tried} commands ({} damages); `repair` makes the {} bytes again",
            damages(&whole).len(),
            whole.len()
        ));
    Ok(row)
}

/// As `kill -9` leaves a run: there is nothing but the journal, and a manifest that says that it goes on.
fn as_killed(dir: &Path, journal: &str) -> io::Result<()> {
    for name in RECORDS {
        match fs::remove_file(dir.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    change_manifest(dir, |manifest| {
        manifest["status"] = json!("running");
        manifest["artifacts"] = json!({});
    });
    fs::write(dir.join("events.jsonl"), journal)
}

/// The answer to one sample is not as it was written; the run is resumed.
fn damaged_journal(fault: &str) -> io::Result<Row> {
    const SAMPLES: usize = 20;
    let project = requested::project(20, "", "");
    let mut ended = watched::run(&project, "run eval.yaml")?;
    let dir = project.last_run();
    let records = fs::read(dir.join("samples.jsonl"))?;
    let journal = fs::read_to_string(dir.join("events.jsonl"))?;
    let is_answer = |line: &&str| line.contains("\"answered\"") && line.contains("\"q004\"");
    let line = journal.lines().find(is_answer).unwrap_or_default();
    let damages = [
        line.replace("\"text\":\"004", "\"text\":\"005"),
        line.replace("\"q004\"", "\"q005\""),
        line.replace('{', ""),
        line[..line.len() / 2].to_owned(),
        "\0".repeat(line.len()),
        "\u{fffd}".to_owned(),
    ];
    let mut again = Vec::new();
    let (mut codes, mut unreported, mut unequal) = (Vec::new(), 0, 0);
    for damage in &damages {
        as_killed(&dir, &journal.replace(line, damage))?;
        let before = requested::requested(&project).len();
        let resumed = on(&project, "run --resume DIR", &dir)?;
        again.push(requested::requested(&project).len() - before);
        codes.push(resumed.code);
        let manifest: Value = serde_json::from_slice(&fs::read(dir.join("manifest.json"))?)?;
        let skipped = manifest["journal_lines_skipped"].as_array().map(Vec::len);
        let is_reported = resumed
            .err
            .contains("events.jsonl: lines that are not as they were written");
        unreported += usize::from(!is_reported || skipped != Some(1));
        let answers = |bytes: &[u8]| -> io::Result<Vec<Value>> {
            let lines = bytes
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty());
            let records = lines.map(serde_json::from_slice::<Value>);
            records
                .map(|record| Ok(record?["result"]["output"]["text"].take()))
                .collect()
        };
        let own = fs::read(dir.join("samples.jsonl"))?;
        unequal += usize::from(answers(&own)? != answers(&records)?);
        ended.add(resumed);
    }
    let mut row = Row::of(fault, "its sample is asked again, and no other", &ended);
    row.check(
        again.iter().all(|times| *times == 1),
        format!("asked again: {again:?}"),
    )
    .check(
        codes.iter().all(|code| *code == Some(0)),
        format!("resumed: {codes:?}"),
    )
    .check(
        unreported == 0,
        format!("{unreported} times the line is not named"),
    )
    .check(unequal == 0, format!("{unequal} times the answers differ"))
    .note(format!(
        "asked again: {} of {SAMPLES} samples, with each of {} damages; the line is named",
        again.iter().max().unwrap_or(&0),
        damages.len()
    ));
    Ok(row)
}

fn read_when_killed(fault: &str) -> io::Result<Row> {
    const SAMPLES: usize = 60;
    let project = requested::project(
        60,
        "sleep 0.03",
        "limits: { concurrency: 4 }\ngates: [accuracy >= 0.1]\n",
    );
    let mut ended = watched::with(&project, "run eval.yaml", |child| {
        let dirs = project.runs();
        if dirs.iter().any(|dir| answered(dir).len() >= 20) {
            child.kill()?;
        }
        Ok(())
    })?;
    let killed = ended.code;
    let dir = project.last_run();
    let (files, answers) = (snapshot_of(&dir)?, answered(&dir).len());
    let before = requested::requested(&project).len();
    let message = format!(
        "was killed: it is read from its journal with {answers} of its {SAMPLES} questions"
    );
    let mut read = Vec::new();
    for (command, code) in [
        ("gate DIR", 3),
        ("summarize DIR", 0),
        ("rescore DIR --scorer exact", 0),
        ("export DIR --format gaia --output there", 0),
        ("show DIR", 0),
        ("run eval.yaml --failed DIR --dry-run", 0),
        ("accept DIR", 2),
    ] {
        let one = on(&project, command, &dir)?;
        let is_reported = one.err.contains(&message) || code == 2;
        read.push((command, one.code == Some(code) && is_reported));
        if command.starts_with("gate") {
            ended.code = one.code;
        }
        ended.join(one);
    }
    let wrong: Vec<_> = read.iter().filter(|(_, is_so)| !is_so).collect();
    let touched = changed(&files, &snapshot_of(&dir)?, |_| true);
    let mut row = Row::of(fault, "exit 3, from its journal, nothing asked", &ended);
    row.exits(3)
        .twice(requested::requested(&project).len() - before)
        .check(killed == Some(KILLED), format!("killed: {killed:?}"))
        .check(answers < SAMPLES, "it was killed too late")
        .check(wrong.is_empty(), format!("not as expected: {wrong:?}"))
        .check(touched == 0, format!("{touched} of its files were changed"))
        .note(format!(
            "{answers} of {SAMPLES} answers read by gate, summarize, rescore, export, show, --failed; accept refuses it"
        ));
    Ok(row)
}

/// Its manifest points to the snapshots of another project, by each of its keys, and through a link.
fn foreign(fault: &str) -> io::Result<Row> {
    let victim = Project::new();
    let own = "---\nsource: evaltest\nexpression: \"x\"\n---\n";
    victim.write("ab/old.snap", own);
    victim.write("ab/old.snap.new", own);
    victim.write("_baseline.json", "{}\n");
    victim.write(
        "eval.yaml",
        "name: e\nbenchmark: { type: custom, samples: [] }\nagent: echo\nsnapshot: { path: . }\n",
    );
    let there = snapshot_of(victim.path())?;
    let folder = victim.path().display().to_string();
    let name = victim.path().file_name().unwrap_or_default();
    let out = format!("../{}", name.display());
    let spec = |spec: Value, inside: Value| [("spec", spec), ("spec_in_project", inside)];
    let (mut tried, mut refused, mut touched, mut strewn) = (0, 0, 0, 0);
    let mut all: Option<Ended> = None;
    for change in [
        spec(Value::Null, Value::Null),
        spec(json!(format!("{folder}/eval.yaml")), Value::Null),
        spec(Value::Null, json!(format!("{out}/eval.yaml"))),
    ] {
        for (eval, through) in [("e", &*folder), ("another", &folder), ("e", "link")] {
            let project = requested::project(10, "", "");
            watched::run(&project, "run eval.yaml")?;
            std::os::unix::fs::symlink(victim.path(), project.file("link"))?;
            let dir = project.last_run();
            change_manifest(&dir, |manifest| {
                for (key, value) in &change {
                    manifest[*key] = value.clone();
                }
                manifest["eval"] = json!(eval);
                manifest["snapshots"] = json!(project.path().join(through));
                manifest["snapshots_in_project"] =
                    json!(if through == "link" { "link" } else { &out });
            });
            fs::remove_file(project.file("link"))?;
            let before = snapshot_of(project.path())?;
            std::os::unix::fs::symlink(victim.path(), project.file("link"))?;
            let accepted = on(&project, "accept DIR", &dir)?;
            tried += 1;
            refused += usize::from(accepted.code == Some(2));
            touched += changed(&there, &snapshot_of(victim.path())?, |_| true);
            fs::remove_file(project.file("link"))?;
            let snapshots = project.file("snapshots");
            strewn += changed(&before, &snapshot_of(project.path())?, |path| {
                !path.starts_with(&snapshots)
            });
            match &mut all {
                Some(all) => all.add(accepted),
                None => all = Some(accepted),
            }
        }
    }
    let ended = all.ok_or_else(|| io::Error::other("nothing was tried"))?;
    let mut row = Row::of(fault, "nothing written or removed elsewhere", &ended);
    row.check(touched == 0, format!("{touched} files were changed elsewhere"))
        .check(strewn == 0, format!("{strewn} files were changed beside the snapshots"))
        .check(refused == tried, format!("{refused} of {tried} are refused"))
        .note(format!(
            "files written or removed outside the project's snapshot folder: {}; refused {refused} of {tried}",
            touched + strewn
        ));
    Ok(row)
}

/// Each stored file in turn, and each command that may read it.
fn pipes(fault: &str) -> io::Result<Row> {
    let more = "cache: true\ngates: [accuracy >= 0.1, no_regression(alpha=0.05)]\n";
    let project = requested::project(8, "", more);
    let mut ended = watched::run(&project, "run eval.yaml --ignore-baseline")?;
    let dir = project.last_run();
    ended.add(on(&project, "accept DIR", &dir)?);
    let whole = snapshot_of(project.path())?;
    let is_answer = |path: &Path| path.extension().is_some_and(|end| end == "answer");
    let mut files = vec![dir.join("manifest.json"), dir.join("events.jsonl")];
    files.extend(RECORDS.map(|name| dir.join(name)));
    files.extend(whole.keys().find(|path| is_answer(path)).cloned());
    let is_baseline = |path: &&PathBuf| path.ends_with("_baseline.json");
    files.extend(whole.keys().find(is_baseline).cloned());
    let (mut tried, mut slowest, mut hangs, mut wrong) = (0, 0.0_f64, Vec::new(), Vec::new());
    for path in &files {
        for is_pipe in [true, false] {
            let others = ["run eval.yaml"];
            for command in BELIEVERS.iter().chain(&READERS).chain(&others) {
                fs::remove_file(path)?;
                if is_pipe {
                    Command::new("mkfifo").arg(path).status()?;
                } else {
                    std::os::unix::fs::symlink("/dev/zero", path)?;
                }
                let one = patiently(&project, command, &dir)?;
                let name = path.file_name().unwrap_or_default().display();
                tried += 1;
                slowest = slowest.max(one.seconds);
                match one.code {
                    None | Some(KILLED) => hangs.push(format!("{name}: {command}")),
                    Some(0..=3) => {}
                    code => wrong.push(format!("{name}: {command}: {code:?}")),
                }
                ended.add(one);
                put_back(project.path(), &whole)?;
            }
        }
    }
    let mut row = Row::of(fault, "no command hangs", &ended);
    row.check(hangs.is_empty(), format!("these hang: {hangs:?}"))
        .check(wrong.is_empty(), format!("exit codes: {wrong:?}"))
        .check(files.len() == 8, format!("there are {} files", files.len()))
        .note(format!(
            "{} of {tried} commands hang ({} files); the slowest takes {:.0} ms",
            hangs.len(),
            files.len(),
            slowest * 1000.0
        ));
    Ok(row)
}
