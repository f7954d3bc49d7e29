//! `kill -9` of a flow, at any moment: no paid reply is asked for again, and the files are those of one that was not killed.

use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::kills::Dice;
use crate::project::Project;
use crate::puzzles::{EASY, answer, contents, folder, project_of, twice};
use crate::server::Server;
use crate::table::{Row, Table};
use crate::watched;

/// A mere test of this benchmark makes do with fewer.
fn kills() -> usize {
    let is_bench = std::env::args().any(|arg| arg == "--bench");
    if is_bench { 100 } else { 2 }
}

const FLOW: &str = "flow flow.yaml --run-id flow-x-000000";

pub(crate) fn all(table: &mut Table) -> io::Result<()> {
    let fault = format!("kill -9 of a flow, {} times", kills());
    table.row(&fault, || killed(&fault))
}

fn slow() -> Server {
    Server::new(|requested, _| {
        sleep(Duration::from_millis(10));
        answer(requested)
    })
}

fn killed(fault: &str) -> io::Result<Row> {
    let server = slow();
    let whole: Project = project_of(&server, EASY);
    let began = Instant::now();
    let ended = watched::run(&whole, FLOW)?;
    let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(1000);
    let expect = contents(&folder(&whole));
    let mut row = Row::of(
        fault,
        "resumed: the same files, nothing asked twice",
        &ended,
    );
    row.exits(0);
    let mut dice = Dice::new();
    let (mut most, mut all) = (0, 0);
    for _ in 0..kills() {
        let server = slow();
        let project = project_of(&server, EASY);
        let moment = Duration::from_millis(dice.below(took));
        let began = Instant::now();
        watched::with(&project, FLOW, |child| {
            if began.elapsed() >= moment {
                child.kill()?;
            }
            Ok(())
        })?;
        let flows = std::fs::read_dir(project.file("evaltest-runs"));
        let is_started = flows.is_ok_and(|flows| {
            flows
                .flatten()
                .any(|flow| flow.path().join("flow.json").is_file())
        });
        // Killed before there was a folder, it begins anew.
        let command = if is_started {
            format!("flow --resume {}", folder(&project).display())
        } else {
            FLOW.to_owned()
        };
        let resumed = watched::run(&project, &command)?;
        row.check(
            resumed.code == Some(0),
            format!("resumed after {moment:?}: {:?}", resumed.code),
        );
        row.check(
            contents(&folder(&project)) == expect,
            format!("killed after {moment:?}, its files differ"),
        );
        let again = twice(&server);
        (most, all) = (most.max(again), all + again);
        row.check(again <= 1, format!("{again} asked twice after {moment:?}"));
    }
    row.note(format!(
        "{all} in flight asked once more, at most {most} at a kill"
    ));
    Ok(row)
}
