//! Disks that are full, at each file of a run in turn.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::journal::{answered, counts};
use crate::project::Project;
use crate::requested;
use crate::table::{Row, Table};
use crate::watched::{self, Ended, WATCHED};

const SAMPLES: usize = 24;

/// How a disk is made too small; `$SIZE` counts up.
struct Disk {
    fault: &'static str,
    /// Before the run.
    small: &'static str,
    /// Before it is resumed.
    large: &'static str,
    /// From here on, until it is large enough.
    from: u32,
    step: u32,
}

/// Nothing is larger.
const LARGEST: u32 = 400;

const DISKS: [Disk; 3] = [
    Disk {
        fault: "full disk",
        small: "mount -t tmpfs -o size=${SIZE}k none runs || exit 77",
        large: "mount -o remount,size=8m runs || exit 77",
        from: 4,
        step: 4,
    },
    Disk {
        fault: "disk without inodes",
        small: "mount -t tmpfs -o size=8m,nr_inodes=$SIZE none runs || exit 77",
        large: "mount -o remount,nr_inodes=1000 runs || exit 77",
        from: 2,
        step: 1,
    },
    Disk {
        fault: "limit on the size of a file",
        small: "trap '' XFSZ; HARD=$(ulimit -H -f); ulimit -S -f $SIZE || exit 77",
        large: "ulimit -S -f $HARD",
        from: 1,
        step: 4,
    },
];

/// When a run stopped, and did not say where.
const NO_FILE: &str = "no file is named";

/// What happened at one size.
struct Tried {
    /// The file at which it stopped; none if everything had its place.
    file: Option<String>,
    ended: Ended,
    lost: usize,
    twice: usize,
    wrong: Vec<String>,
}

pub(crate) fn all(table: &mut Table) -> io::Result<()> {
    for disk in DISKS {
        table.rows(disk.fault, || of_disk(&disk))?;
    }
    Ok(())
}

/// A row for each file at which a run stopped.
fn of_disk(disk: &Disk) -> io::Result<Vec<Row>> {
    let mut files: BTreeMap<String, Vec<(u32, Tried)>> = BTreeMap::new();
    for size in (disk.from..LARGEST).step_by(disk.step as usize) {
        let tried = try_at(disk, size)?;
        let file = tried.file.clone();
        let is_enough = file.is_none();
        let file = file.unwrap_or_else(|| "large enough".to_owned());
        files.entry(file).or_default().push((size, tried));
        if is_enough {
            break;
        }
    }
    let row = |(file, tried): (String, Vec<(u32, Tried)>)| {
        let is_full = tried.iter().all(|(_, tried)| tried.file.is_some());
        let (expected, code) = if is_full {
            ("exit 2 or 3, resumed: nothing lost", None)
        } else {
            ("exit 0", Some(0))
        };
        let fault = format!("{}: {file} ({} times)", disk.fault, tried.len());
        let mut row = Row::of(fault, expected, &tried[0].1.ended);
        for (size, tried) in tried {
            let own = tried.ended.code;
            let is_expected = code.map_or(matches!(own, Some(2 | 3)), |code| own == Some(code));
            row.check(
                is_expected,
                format!("size {size}: exit code {own:?}: {}", tried.ended.err),
            );
            for wrong in tried.wrong {
                row.check(false, format!("size {size}: {wrong}: {}", tried.ended.err));
            }
            row.lost(tried.lost).twice(tried.twice);
        }
        row
    };
    Ok(files.into_iter().map(row).collect())
}

/// A run on a disk of this size, resumed on a larger one.
fn try_at(disk: &Disk, size: u32) -> io::Result<Tried> {
    let answer = "head -c 400 /dev/zero | tr '\\0' x; echo; printf 'FINAL ANSWER: '";
    let project = requested::project(
        24,
        answer,
        "limits: { concurrency: 2 }\noutput_root: runs\n",
    );
    let script = format!(
        "mkdir -p runs\n{}\nsh -c 'echo $$ > {WATCHED}; exec \"$EVALTEST\" evaltest run eval.yaml' 2> said\n\
         echo $? > code; rm {WATCHED}\n\
         cp -r runs full\n{}\n\
         for run in runs/*_e-*; do test -f $run/manifest.json && RUN=$run; done\n\
         \"$EVALTEST\" evaltest run ${{RUN:+--resume $RUN}} eval.yaml; echo $? > resumed\n\
         cp -r runs whole; cat said >&2; exit $(cat code)",
        disk.small, disk.large
    );
    // The mount lives and dies with the namespace of this one shell.
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .current_dir(project.path())
        .env("EVALTEST", env!("CARGO_BIN_EXE_cargo-evaltest"))
        .env("SIZE", size.to_string())
        .stdin(Stdio::null());
    crate::project::without_surroundings(&mut command);
    let ended = watched::follow(&project, command, |_| Ok(()))?;
    let (full, whole) = (run_in(&project, "full"), run_in(&project, "whole"));
    let mut wrong = Vec::new();
    let resumed = fs::read_to_string(project.file("resumed")).unwrap_or_default();
    if resumed.trim() != "0" {
        wrong.push(format!("resumed, it exits with {resumed:?}"));
    }
    let before = full.as_deref().map(answered).unwrap_or_default();
    let counts = whole.as_deref().map(counts).unwrap_or_default();
    if counts.scored != SAMPLES {
        wrong.push(format!("resumed, {} samples are scored", counts.scored));
    }
    let requested = requested::requested(&project);
    let twice = before
        .iter()
        .filter(|id| requested::times(&requested, id) != 1);
    let after = whole.as_deref().map(answered).unwrap_or_default();
    Ok(Tried {
        file: file_named(&ended),
        lost: before.difference(&after).count(),
        twice: twice.count() + counts.twice,
        wrong,
        ended,
    })
}

/// The run directory with a manifest.
fn run_in(project: &Project, folder: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(project.file(folder)).ok()?.flatten();
    let mut runs = entries.map(|entry| entry.path());
    runs.find(|run| run.join("manifest.json").is_file())
}

/// The file that could not be written, by what was said.
fn file_named(ended: &Ended) -> Option<String> {
    if ended.code == Some(0) {
        return None;
    }
    // "cannot write `runs/…/samples.jsonl.part`: No space left on device"
    let complaint = ended.err.split("cannot ").nth(1);
    let path = complaint.and_then(|text| text.split('`').nth(1));
    let name = path.unwrap_or(NO_FILE);
    let name = name.rsplit('/').next().unwrap_or(name);
    let is_run = name.contains("_e-");
    Some(if is_run { "run directory" } else { name }.to_owned())
}
