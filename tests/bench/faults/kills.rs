//! `kill -9`, of the run and of its workers.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::journal::{answered, counts, summary};
use crate::project::Project;
use crate::requested;
use crate::server::{Server, fine};
use crate::servers::{agent, good};
use crate::table::{Row, Table};
use crate::watched::{self, Ended};
use crate::worker;

/// A mere test of this benchmark makes do with fewer.
fn kills() -> usize {
    let is_bench = std::env::args().any(|arg| arg == "--bench");
    if is_bench { 50 } else { 5 }
}

const SAMPLES: usize = 3000;
/// The exit code of `kill -9`.
const KILLED: i32 = 137;
const AT_ONCE: usize = 50;
/// An answer that was given so long before a kill, and stands in no journal, is lost. Later ones were on their way.
const ON_ITS_WAY: Duration = Duration::from_millis(400);

pub(crate) fn all(table: &mut Table) -> io::Result<()> {
    let fault = format!(
        "kill -9 of the run, {} times, concurrency {AT_ONCE}",
        kills()
    );
    table.row(&fault, || of_the_run(&fault))?;
    let fault = "kill -9 of workers, 30 times";
    table.row(fault, || of_workers(fault))?;
    let program = std::env::current_exe()?;
    let read = format!(
        ", sandbox: {{ type: bwrap, read: ['{}'] }}",
        program.display()
    );
    for (fault, keys) in [
        ("kill -9 of the run, workers", ""),
        ("kill -9 of the run, workers in a sandbox", &read),
    ] {
        if !keys.is_empty() && !can_sandbox() {
            table.skip(fault, "bubblewrap cannot run here")?;
            continue;
        }
        table.row(fault, || with_workers(fault, keys))?;
    }
    Ok(())
}

fn can_sandbox() -> bool {
    let mut bwrap = std::process::Command::new("bwrap");
    let made = bwrap
        .args(["--ro-bind", "/", "/", "--unshare-pid", "true"])
        .output();
    made.is_ok_and(|output| output.status.success())
}

/// A run that is killed while its workers have tasks, and resumed.
fn with_workers(fault: &str, keys: &str) -> io::Result<Row> {
    let project = Project::new();
    requested::write_questions(&project, 400);
    let agent = worker::agent("slow", &format!(", processes: 4, in_flight: 4{keys}"))?;
    project.spec(&agent, "");
    let started = Instant::now();
    let ended = watched::with(&project, "run eval.yaml", |child| {
        let dirs = project.runs();
        if dirs.iter().any(|dir| answered(dir).len() > 40) {
            child.kill()?;
        }
        Ok(())
    })?;
    let dir = project.last_run();
    let before = answered(&dir).len();
    let resumed = watched::run(&project, &format!("run --resume {}", dir.display()))?;
    let mut row = Row::of(fault, "no process left, resumed: nothing lost", &ended);
    let counts = counts(&dir);
    row.exits(KILLED)
        .counts(&counts, 400, 0)
        .lost(counts.lost)
        .check(
            before > 40 && before < 400,
            format!("{before} answers at the kill"),
        )
        .check(
            resumed.code == Some(0),
            format!("resumed: {:?}", resumed.code),
        )
        .check(
            resumed.orphans.is_empty(),
            format!("resumed, left behind: {:?}", resumed.orphans),
        )
        .check(
            started.elapsed() < Duration::from_mins(1),
            "more than a minute",
        );
    Ok(row)
}

/// Moments and pauses that differ from run to run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new() -> Self {
        let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
        Self(u64::from(now.subsec_nanos()) | 1)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// When the server was asked, and gave its answers.
#[derive(Default)]
struct Ledger {
    requested: BTreeMap<String, usize>,
    /// Whose answer, when it was asked and when it was given.
    given: Vec<(String, Instant, Instant)>,
}

type Shared = Arc<Mutex<Ledger>>;

fn open(ledger: &Shared) -> std::sync::MutexGuard<'_, Ledger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

fn asks(ledger: &Shared) -> usize {
    open(ledger).requested.values().sum()
}

/// What the kills did.
#[derive(Default)]
struct Toll {
    kills: usize,
    runs: usize,
    given: usize,
    lost: usize,
    twice: usize,
    /// Samples that were asked again because their answer was on its way.
    in_flight: usize,
    /// Answers that were given right before a kill and are in no journal, of all kills and the most of one.
    on_their_way: usize,
    most_on_their_way: usize,
    unequal: usize,
    peak_kib: u32,
    orphans: Vec<String>,
}

fn of_the_run(fault: &str) -> io::Result<Row> {
    let ledger = Shared::default();
    let own = Arc::clone(&ledger);
    let server = Server::new(move |requested, number| {
        let id = requested.body["id"].as_str().unwrap_or_default();
        let came = Instant::now();
        *open(&own).requested.entry(id.to_owned()).or_default() += 1;
        sleep(Duration::from_millis(30 + number as u64 * 37 % 90));
        open(&own).given.push((id.to_owned(), came, Instant::now()));
        fine(&good(id))
    });
    let project = Project::new();
    requested::write_questions(&project, 3000);
    let more = format!("limits: {{ concurrency: {AT_ONCE} }}\ngates: [accuracy >= 0.4]\n");
    project.spec(&agent(&server), &more);
    let started = Instant::now();
    let mut last = watched::run(&project, "run eval.yaml")?;
    let whole = summary(&project.last_run());
    let (mut dice, mut toll) = (Dice::new(), Toll::default());
    while toll.kills < kills() {
        *open(&ledger) = Ledger::default();
        last = killed_until_done(&project, &ledger, &mut dice, &mut toll)?;
        toll.unequal += usize::from(summary(&project.last_run()) != whole);
        toll.runs += 1;
    }
    let ended = Ended {
        seconds: started.elapsed().as_secs_f64(),
        peak_kib: toll.peak_kib,
        orphans: std::mem::take(&mut toll.orphans),
        ..last
    };
    let mut row = Row::of(
        fault,
        "nothing lost, only what was in flight asked again",
        &ended,
    );
    let counts = counts(&project.last_run());
    row.exits(0)
        .counts(&counts, SAMPLES, 0)
        .lost(toll.lost)
        .twice(toll.twice)
        .check(
            toll.unequal == 0,
            format!("{} summaries differ from that of the run without kills", toll.unequal),
        )
        .check(
            toll.in_flight <= AT_ONCE * toll.kills && toll.most_on_their_way <= AT_ONCE,
            "more was asked again than was in flight",
        )
        .note(format!(
            "{} kills in {} runs of {SAMPLES} samples, whose summaries are equal to that of a run without kills",
            toll.kills,
            toll.runs - toll.unequal
        ))
        .note(format!(
            "asked again: {} samples that were in flight at a kill; {} of them the server had just answered",
            toll.in_flight, toll.on_their_way
        ));
    Ok(row)
}

/// One run, killed and resumed until a session comes to its end.
fn killed_until_done(
    project: &Project,
    ledger: &Shared,
    dice: &mut Dice,
    toll: &mut Toll,
) -> io::Result<Ended> {
    let before = project.runs();
    let new_run = || -> Option<PathBuf> {
        let mut runs = project.runs().into_iter();
        runs.find(|run| !before.contains(run))
    };
    // What had been answered by the last kill, and how often it had been asked.
    let mut settled: BTreeMap<String, usize> = BTreeMap::new();
    loop {
        let dir = new_run();
        let arguments = dir.as_ref().map_or("run eval.yaml".to_owned(), |dir| {
            format!("run --resume {}", dir.display())
        });
        let requests_before = asks(ledger);
        let began = Instant::now();
        let (mut first_ask, mut killed) = (None, None);
        let moment = Duration::from_millis(dice.below(1500));
        let ended = watched::with(project, &arguments, |child| {
            if first_ask.is_none() && asks(ledger) > requests_before {
                first_ask = Some(Instant::now());
            }
            let is_time = first_ask.is_some_and(|at| at.elapsed() >= moment);
            if killed.is_none() && toll.kills < kills() && is_time {
                killed = Some(Instant::now());
                child.kill()?;
            }
            Ok(())
        })?;
        toll.peak_kib = toll.peak_kib.max(ended.peak_kib);
        toll.orphans.extend(ended.orphans.iter().cloned());
        toll.kills += usize::from(ended.code == Some(KILLED));
        let Some(dir) = new_run() else { continue };
        let journal = answered(&dir);
        let mut ledger = open(ledger);
        let times = |id: &String| ledger.requested.get(id).copied().unwrap_or_default();
        toll.twice += settled
            .iter()
            .filter(|(id, before)| times(id) != **before)
            .count();
        settled = journal.iter().map(|id| (id.clone(), times(id))).collect();
        let until = killed.unwrap_or_else(Instant::now);
        // What the server says to a run that was killed is nobody's any more.
        let is_heard = |came: Instant, at: Instant| came >= began && at <= until;
        let given: Vec<(&String, Instant)> = ledger
            .given
            .iter()
            .filter(|(_, came, at)| is_heard(*came, *at))
            .map(|(id, _, at)| (id, *at))
            .collect();
        let missing = given.iter().filter(|(id, _)| !journal.contains(*id));
        let missing: Vec<Instant> = missing.map(|(_, at)| *at).collect();
        toll.given += given.len();
        let is_lost = |at: &&Instant| until.saturating_duration_since(**at) > ON_ITS_WAY;
        toll.lost += missing.iter().filter(is_lost).count();
        toll.on_their_way += missing.len();
        toll.most_on_their_way = toll.most_on_their_way.max(missing.len());
        // What was on its way is given once more.
        ledger.given.clear();
        if ended.code != Some(KILLED) {
            toll.in_flight += ledger
                .requested
                .values()
                .map(|times| times - 1)
                .sum::<usize>();
            return Ok(ended);
        }
    }
}

/// A run whose workers are killed, one after the other.
fn of_workers(fault: &str) -> io::Result<Row> {
    const KILLS: usize = 30;
    let project = Project::new();
    requested::write_questions(&project, 900);
    let agent = worker::agent("slow", ", processes: 4, in_flight: 4")?;
    project.spec(&agent, "limits: { retries: 5, backoff_s: 0.01 }\n");
    let (mut dice, mut kills) = (Dice::new(), 0);
    let mut next = Instant::now();
    let ended = watched::with(&project, "run eval.yaml", |child| {
        if kills == KILLS || Instant::now() < next {
            return Ok(());
        }
        let own = child.id().to_string();
        let mut workers = watched::in_folder(project.path());
        workers.retain(|(pid, line)| *pid != own && line.contains(worker::ARGUMENT));
        if !workers.is_empty() {
            let chosen = usize::try_from(dice.below(workers.len() as u64)).unwrap_or(0);
            kills += usize::from(watched::kill("KILL", &workers[chosen].0)?);
        }
        next = Instant::now() + Duration::from_millis(30 + dice.below(60));
        Ok(())
    })?;
    let counts = counts(&project.last_run());
    let again = requested::requested(&project).len().saturating_sub(900);
    let mut row = Row::of(
        fault,
        "all answered, only what was in flight asked again",
        &ended,
    );
    row.exits(0)
        .counts(&counts, 900, 0)
        .lost(counts.lost)
        .check(kills == KILLS, format!("only {kills} kills"))
        .check(
            again <= KILLS * 4,
            format!("{again} samples were asked again"),
        )
        .note(format!(
            "{again} samples in flight at a kill were asked again"
        ));
    Ok(row)
}
