//! Programs that misbehave, as `command` and as `worker`.

use std::io;

use crate::journal::counts;
use crate::project::Project;
use crate::requested;
use crate::table::{Row, Table};
use crate::watched;
use crate::worker::{self, BAD};

const SAMPLES: usize = 12;

/// A fault, what the shell does for it, and whether the sample is answered all the same.
const FAULTS: [(&str, &str, bool); 5] = [
    (
        "floods stdout, 1 GiB",
        "head -c 1073741824 /dev/zero",
        false,
    ),
    (
        "floods stderr, 1 GiB",
        "head -c 1073741824 /dev/zero >&2",
        true,
    ),
    ("hangs", "sleep 300 & sleep 300", false),
    (
        "ignores SIGTERM",
        "trap '' TERM; while :; do sleep 0.1; done",
        false,
    ),
    (
        "double-forks a daemon",
        "setsid sh -c 'sleep 300 & exit' < /dev/null",
        true,
    ),
];

pub(crate) fn all(table: &mut Table) -> io::Result<()> {
    for (fault, script, is_answered) in FAULTS {
        let name = format!("command agent {fault}");
        table.row(&name, || {
            let then = format!("case $EVALTEST_SAMPLE_ID in {BAD}) {script};; esac");
            let project = requested::project(12, &then, &limits(fault));
            run(&name, &project, is_answered)
        })?;
    }
    for (fault, _, is_answered) in FAULTS {
        let name = format!("worker agent {fault}");
        table.row(&name, || {
            let project = Project::new();
            requested::write_questions(&project, 12);
            project.spec(
                &worker::agent(fault, ", processes: 2, in_flight: 2")?,
                &limits(fault),
            );
            run(&name, &project, is_answered)
        })?;
    }
    Ok(())
}

/// A flood comes to its end, if slowly in a debug build; what hangs does not.
fn limits(fault: &str) -> String {
    let timeout_s = if fault.starts_with("floods") { 60 } else { 5 };
    format!("limits: {{ timeout_s: {timeout_s}, retries: 0 }}\ngates: [error_rate <= 0.1]\n")
}

fn run(fault: &str, project: &Project, is_answered: bool) -> io::Result<Row> {
    let ended = watched::run(project, "run eval.yaml")?;
    let counts = counts(&project.last_run());
    let (expected, errors) = if is_answered {
        ("all answered, nothing left", 0)
    } else {
        ("one error, nothing left", 1)
    };
    let mut row = Row::of(fault, expected, &ended);
    row.exits(0)
        .within(60.0)
        .counts(&counts, SAMPLES - errors, errors)
        .lost(counts.lost);
    Ok(row)
}
