//! A spec that nests without end, and a run directory that is taken away.

use std::io;

use crate::project::Project;
use crate::requested;
use crate::table::{Row, Table};
use crate::watched::{self, Ended};

pub(crate) fn all(table: &mut Table) -> io::Result<()> {
    let fault = "spec of 200 KB of `[`";
    table.row(fault, || deep(fault))?;
    let fault = "run directory is removed during the run";
    table.row(fault, || vanished(fault))
}

fn deep(fault: &str) -> io::Result<Row> {
    let project = Project::with_eval(&[("a", 1, "One?", "1")], "echo", "");
    let good = project.read("eval.yaml");
    let (mut all, mut slowest): (Option<Ended>, _) = (None, 0.0_f64);
    for text in [
        "[".repeat(200_000),
        format!("{good}gates: {}", "[".repeat(200_000)),
        format!("{good}gates: {}", "{a: ".repeat(50_000)),
    ] {
        project.write("deep.yaml", text);
        let ended = watched::run(&project, "run deep.yaml")?;
        slowest = slowest.max(ended.seconds);
        add(&mut all, ended);
    }
    let ended = all.ok_or_else(|| io::Error::other("nothing was tried"))?;
    let mentions = ended.err.matches("nest too deeply").count();
    let mut row = Row::of(fault, "exit 2 in milliseconds", &ended);
    row.exits(2)
        .within(3.0)
        .check(mentions >= 3, format!("it is said {mentions} times of 3"))
        .note(format!("refused in {:.0} ms at the most", slowest * 1000.0));
    Ok(row)
}

fn vanished(fault: &str) -> io::Result<Row> {
    let ways = [
        "rm -rf evaltest-runs",
        "rm -rf evaltest-runs/*",
        "mv evaltest-runs elsewhere",
    ];
    let mut all = None;
    for gone in ways {
        let project = requested::project(
            12,
            &format!("test $EVALTEST_SAMPLE_ID != q003 || {gone}"),
            "limits: { concurrency: 2 }\n",
        );
        add(&mut all, watched::run(&project, "run eval.yaml")?);
    }
    let ended = all.ok_or_else(|| io::Error::other("nothing was tried"))?;
    let mentions = ended.err.matches("was removed or moved during the run");
    let mentions = mentions.count();
    let mut row = Row::of(fault, "exit 3, and told", &ended);
    row.exits(3)
        .check(
            mentions >= ways.len(),
            format!("it is said {mentions} times"),
        )
        .note(format!("exit 3 in each of {} ways", ways.len()));
    Ok(row)
}

fn add(all: &mut Option<Ended>, ended: Ended) {
    match all {
        Some(all) => all.add(ended),
        None => *all = Some(ended),
    }
}
