//! Two runs in one place, and a user who wants to stop.

use std::fs;
use std::io;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::journal::counts;
use crate::requested;
use crate::table::{Row, Table};
use crate::watched;

pub(crate) fn all(table: &mut Table) -> io::Result<()> {
    let fault = "two runs at once on one output root";
    table.row(fault, || one_output_root(fault))?;
    let fault = "two accepts at once on one snapshot folder";
    table.row(fault, || one_snapshot_folder(fault))?;
    let fault = "SIGINT twice, agent ignores SIGTERM";
    table.row(fault, || interrupted(fault))
}

fn one_output_root(fault: &str) -> io::Result<Row> {
    const ROUNDS: usize = 5;
    let project = requested::project(40, "sleep 0.01", "limits: { concurrency: 4 }\n");
    let mut last = None;
    let mut codes = Vec::new();
    for _ in 0..ROUNDS {
        let mut other = project.command("run eval.yaml");
        let mut other = other.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let mut ended = watched::with(&project, "run eval.yaml", |_| Ok(()))?;
        codes.push(other.wait()?.code());
        // The other one's agents may have run on.
        ended.orphans.clear();
        last = Some(ended);
    }
    let ended = last.ok_or_else(|| io::Error::other("no round"))?;
    let runs = project.runs();
    let mut row = Row::of(fault, "each whole, in a directory of its own", &ended);
    row.exits(0)
        .check(
            codes.iter().all(|code| *code == Some(0)),
            format!("the others: {codes:?}"),
        )
        .check(
            runs.len() == 2 * ROUNDS,
            format!("{} run directories", runs.len()),
        );
    for run in &runs {
        let counts = counts(run);
        row.counts(&counts, 40, 0).lost(counts.lost);
    }
    let requested = requested::requested(&project).len();
    row.check(
        requested == 2 * ROUNDS * 40,
        format!("asked {requested} times"),
    );
    Ok(row)
}

fn one_snapshot_folder(fault: &str) -> io::Result<Row> {
    const ROUNDS: usize = 5;
    let project = requested::project(200, ":", "limits: { concurrency: 4 }\n");
    for _ in 0..2 {
        watched::run(&project, "run eval.yaml")?;
    }
    let runs = project.runs();
    let [first, second] = runs.as_slice() else {
        return Err(io::Error::other("there are not two runs"));
    };
    let mut last = None;
    let (mut codes, mut torn) = (Vec::new(), 0);
    for round in 0..ROUNDS {
        if round % 2 == 0 {
            let _ = fs::remove_dir_all(project.file("snapshots"));
        }
        let mut other = project.command(&format!("accept {}", first.display()));
        let mut other = other.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let ended = watched::run(&project, &format!("accept {}", second.display()))?;
        codes.push((other.wait()?.code(), ended.code));
        let snapshots = crate::project::all_files(&project.file("snapshots"));
        let whole = snapshots
            .iter()
            .filter(|path| path.extension().is_some_and(|end| end == "snap"));
        // Besides them the baseline, the history, and what tells Git of their line ends.
        torn += usize::from(whole.count() != 200 || snapshots.len() != 203);
        last = Some(ended);
    }
    let mut ended = watched::run(&project, "run eval.yaml")?;
    ended.seconds = last.map_or(ended.seconds, |last| last.seconds);
    let counts = counts(&project.last_run());
    let mut row = Row::of(fault, "one or both accept, the snapshots are whole", &ended);
    let is_fine = |codes: &(Option<i32>, Option<i32>)| {
        matches!(codes, (Some(0), Some(0 | 2)) | (Some(2), Some(0)))
    };
    row.exits(0)
        .counts(&counts, 200, 0)
        .lost(counts.lost)
        .check(codes.iter().all(is_fine), format!("exit codes {codes:?}"))
        .check(
            torn == 0,
            format!("{torn} times the snapshots were not whole"),
        )
        .note(format!(
            "both accepted in {} of {ROUNDS} rounds; in others one is refused, and says so",
            codes
                .iter()
                .filter(|both| **both == (Some(0), Some(0)))
                .count()
        ));
    Ok(row)
}

fn interrupted(fault: &str) -> io::Result<Row> {
    let hangs = "case $EVALTEST_SAMPLE_ID in q000|q001|q002) ;; *) trap '' TERM INT; sleep 300 & wait; sleep 300;; esac";
    let project = requested::project(12, hangs, "limits: { concurrency: 3 }\n");
    let (mut sent, mut first) = (0, Instant::now());
    let mut ended = watched::with(&project, "run eval.yaml", |child| {
        let is_time = match sent {
            0 => requested::requested(&project).len() == 6,
            1 => first.elapsed() >= Duration::from_millis(100),
            _ => false,
        };
        if is_time {
            if sent == 0 {
                first = Instant::now();
            }
            watched::kill("INT", &child.id().to_string())?;
            sent += 1;
        }
        Ok(())
    })?;
    ended.seconds = first.elapsed().as_secs_f64();
    let journal = crate::journal::answered(&project.last_run()).len();
    let mut row = Row::of(
        fault,
        "exit 130 at once, nothing left, 3 answers kept",
        &ended,
    );
    row.exits(130)
        .within(5.0)
        .check(sent == 2, "it ended before the second")
        .check(journal == 3, format!("{journal} answers in the journal"))
        .note(format!(
            "at its end the journal has {journal} answers, which the run keeps when it is resumed"
        ));
    let dir = project.last_run();
    let before = requested::requested(&project).len();
    requested::agent(&project, ":");
    let resumed = watched::run(
        &project,
        &format!("run --resume {} --allow-changed-agent", dir.display()),
    )?;
    let counts = crate::journal::counts(&dir);
    let again = requested::requested(&project).len() - before;
    row.check(
        again == 12 - journal,
        format!("resumed, it asks {again} samples"),
    );
    row.counts(&counts, 12, 0).lost(counts.lost).check(
        resumed.code == Some(0),
        format!("resumed: exit code {:?}", resumed.code),
    );
    Ok(row)
}
