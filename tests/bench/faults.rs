//! What happens when something breaks: one line for each fault, with what was lost, asked twice and left behind.
//!
//! `cargo bench --bench faults`, or some of them: `cargo bench --bench faults -- disk agent`. A few minutes; the exit
//! code is 1 if a line is not `ok`. The servers are on this machine, and nothing is asked elsewhere. Linux only.

#[path = "../it/judged/court.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod court;
#[path = "../it/damages.rs"]
mod damages;
#[path = "../it/parts.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod parts;
#[path = "../it/project.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod project;
#[path = "../it/puzzles.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod puzzles;
#[path = "../it/requested.rs"]
mod requested;
#[path = "../it/reviewing.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod reviewing;
#[path = "../it/server.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod server;

/// What the tests have, of which a window of a review sends a signal.
mod signals {
    pub(crate) fn send(signal: &str, child: &std::process::Child) {
        let _ = crate::watched::kill(signal, &child.id().to_string());
    }
}

#[path = "process.rs"]
#[expect(dead_code, reason = "the other benchmarks use the rest")]
mod process;

#[path = "faults/agents.rs"]
mod agents;
#[path = "faults/corners.rs"]
mod corners;
#[path = "faults/disks.rs"]
mod disks;
#[path = "faults/journal.rs"]
mod journal;
#[path = "faults/kills.rs"]
mod kills;
#[path = "faults/machine.rs"]
mod machine;
#[path = "faults/neighbours.rs"]
mod neighbours;
#[path = "faults/secrets.rs"]
mod secrets;
#[path = "faults/servers.rs"]
mod servers;
#[path = "faults/stored.rs"]
mod stored;
#[path = "faults/table.rs"]
mod table;
#[path = "faults/watched.rs"]
mod watched;
#[path = "faults/worker.rs"]
mod worker;
#[path = "faults/writers.rs"]
mod writers;

use std::io;
use std::process::ExitCode;

use table::Table;

fn main() -> io::Result<ExitCode> {
    if let Some(tested) = machine::tests() {
        return tested;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, fault] = arguments.as_slice()
        && first == worker::ARGUMENT
    {
        return worker::answer(fault);
    }
    let names = arguments
        .into_iter()
        .filter(|word| !word.starts_with('-'))
        .collect();
    let mut table = Table::start(names)?;
    kills::all(&mut table)?;
    writers::all(&mut table)?;
    servers::all(&mut table)?;
    agents::all(&mut table)?;
    disks::all(&mut table)?;
    neighbours::all(&mut table)?;
    stored::all(&mut table)?;
    secrets::all(&mut table)?;
    machine::all(&mut table)?;
    corners::all(&mut table)?;
    table.end()
}
