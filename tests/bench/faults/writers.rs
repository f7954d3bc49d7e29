//! Commands that write, beside `run`: killed at any moment, short of disk or descriptors, two of them on one folder.
//!
//! Each begins in the same folder every time. Whatever happened, the same command again, or `--resume`, ends with the
//! files of a command that nothing happened to; nothing paid for is asked twice but what was in flight; and nothing
//! that is half written is believed meanwhile.

mod kinds;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::kills::Dice;
use crate::project::{Project, all_files, without_surroundings};
use crate::reviewing::{self, ReviewWindow};
use crate::server::Server;
use crate::table::{Row, Table};
use crate::watched::{self, Ended};
use kinds::KINDS;

/// A mere test of this benchmark makes do with fewer.
fn kills() -> usize {
    let is_bench = std::env::args().any(|arg| arg == "--bench");
    if is_bench { 100 } else { 4 }
}

/// Requests that are in flight at once.
const IN_FLIGHT: usize = 2;

/// What was written, by name, without what differs from one time to the next.
type Contents = BTreeMap<String, String>;

/// A command in a folder that is ready for it.
struct Writer {
    project: Project,
    /// The folder as it is before the command.
    before: TempDir,
    /// A line of shell.
    command: &'static str,
    /// The same after it was killed.
    goes_on: &'static str,
    /// The endpoint that costs money.
    paid: Option<Server>,
    /// What is to be the same every time.
    result: fn(&Path) -> Contents,
    /// A command that passes if it believes what is there.
    believes: &'static str,
}

/// A writer that nothing happened to.
struct Whole {
    ended: Ended,
    contents: Contents,
    requests: usize,
}

impl Writer {
    /// Copies the folder of the project as it is now.
    fn of(
        project: Project,
        command: &'static str,
        result: fn(&Path) -> Contents,
    ) -> io::Result<Self> {
        let before = tempfile::tempdir()?;
        copy(project.path(), before.path())?;
        Ok(Self {
            project,
            before,
            command,
            goes_on: command,
            paid: None,
            result,
            believes: "exit 2",
        })
    }

    /// Everything is as before the command.
    fn reset(&self) -> io::Result<()> {
        for entry in fs::read_dir(self.project.path())? {
            let path = entry?.path();
            if path.is_dir() {
                fs::remove_dir_all(path)?;
            } else {
                fs::remove_file(path)?;
            }
        }
        copy(self.before.path(), self.project.path())
    }

    /// A shell in the project, which calls the program `$EVALTEST`.
    fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        self.place(&mut command);
        command
    }

    fn place(&self, command: &mut Command) {
        command
            .current_dir(self.project.path())
            .stdin(Stdio::null());
        without_surroundings(command);
        command.env("EVALTEST", env!("CARGO_BIN_EXE_cargo-evaltest"));
    }

    fn follow(&self, script: &str) -> io::Result<Ended> {
        watched::follow(&self.project, self.shell(script), |_| Ok(()))
    }

    fn requests(&self) -> usize {
        self.paid.as_ref().map_or(0, |paid| paid.requested().len())
    }

    fn contents(&self) -> Contents {
        (self.result)(self.project.path())
    }

    fn whole(&self) -> io::Result<Whole> {
        let before = self.requests();
        let ended = self.follow(self.command)?;
        if ended.code != Some(0) {
            return Err(io::Error::other(format!("{}: {}", self.command, ended.err)));
        }
        Ok(Whole {
            ended,
            contents: self.contents(),
            requests: self.requests() - before,
        })
    }

    /// What is wrong after a fault, before and after the command goes on.
    fn check(&self, whole: &Whole, asked_before: usize, wrong: &mut Vec<String>) -> io::Result<()> {
        wrong.extend(halves(self.project.path()));
        let found = self.contents();
        let believed = self.follow(self.believes)?;
        if believed.code == Some(0) && found != whole.contents {
            wrong.push(format!("`{}` believes it", self.believes));
        }
        let again = self.follow(self.goes_on)?;
        if again.code != Some(0) {
            wrong.push(format!("again: exit code {:?}: {}", again.code, again.err));
        }
        for ended in [believed, again] {
            if ended.err.contains("panicked") || !matches!(ended.code, Some(0..=3)) {
                wrong.push(ended.err);
            }
        }
        wrong.extend(unlike(&whole.contents, &self.contents()));
        wrong.extend(leavings(self.project.path()));
        let extra = (self.requests() - asked_before).saturating_sub(whole.requests);
        if extra > IN_FLIGHT {
            wrong.push(format!("{extra} requests too many"));
        }
        Ok(())
    }
}

/// What differs, for people.
fn unlike(whole: &Contents, found: &Contents) -> Option<String> {
    let names = whole.keys().chain(found.keys());
    let mut names: Vec<_> = names
        .filter(|name| whole.get(*name) != found.get(*name))
        .collect();
    names.sort();
    names.dedup();
    (!names.is_empty()).then(|| format!("these differ: {names:?}"))
}

/// Files that are to be put whole and are not.
fn halves(folder: &Path) -> Vec<String> {
    let is_json = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
    let files = all_files(folder).into_iter().filter(is_json);
    let is_half = |path: &PathBuf| {
        let text = fs::read(path).unwrap_or_default();
        // An empty file only keeps a name for what is written next.
        !text.is_empty() && serde_json::from_slice::<serde_json::Value>(&text).is_err()
    };
    let halves = files.filter(is_half);
    halves
        .map(|path| format!("{} is half a file", path.display()))
        .collect()
}

/// What a dead process left in the way.
fn leavings(folder: &Path) -> Option<String> {
    let mut left = all_files(folder);
    // In the directory of a killed run it does no harm: nobody reads it, and it goes with the run.
    let is_run = |path: &Path| path.starts_with(folder.join("evaltest-runs"));
    let is_left = |path: &PathBuf| {
        let name = path.to_string_lossy();
        let is_unfinished = name.ends_with(".tmp") || name.contains("part~");
        is_unfinished && !is_run(path)
    };
    left.retain(is_left);
    (!left.is_empty()).then(|| format!("left behind: {left:?}"))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut copy = Command::new("cp");
    let copied = copy.arg("-a").arg(from.join(".")).arg(to).status()?;
    if copied.success() {
        Ok(())
    } else {
        Err(io::Error::other("the folder cannot be copied"))
    }
}

pub(crate) fn all(table: &mut Table) -> io::Result<()> {
    for (name, make) in KINDS {
        let fault = format!("kill -9 of {name}, {} times", kills());
        table.row(&fault, || killed(&fault, &make()?))?;
        let fault = format!("two at once: {name}");
        table.row(&fault, || twice(&fault, &make()?))?;
        let fault = format!("few descriptors: {name}");
        table.row(&fault, || few_descriptors(&fault, &make()?))?;
        let fault = format!("full disk: {name}");
        table.row(&fault, || full_disk(&fault, &make()?))?;
    }
    let fault = format!("kill -9 of saves of a review, {} times", kills());
    table.row(&fault, || review(&fault))
}

/// The row of a fault, with a few of all that was wrong.
fn row(fault: &str, whole: &Whole, tried: usize, mut wrong: Vec<String>) -> Row {
    let expected = "nothing lost, nothing half is believed";
    let mut row = Row::of(fault, expected, &whole.ended);
    row.note(format!("{tried} times; {} things are wrong", wrong.len()));
    wrong.truncate(6);
    for wrong in wrong {
        row.check(false, wrong);
    }
    row
}

fn killed(fault: &str, writer: &Writer) -> io::Result<Row> {
    let whole = writer.whole()?;
    let mut dice = Dice::new();
    let mut wrong = Vec::new();
    let took = Duration::from_secs_f64(whole.ended.seconds).as_micros();
    let took = u64::try_from(took).unwrap_or(1).max(1);
    let mut dead = 0;
    for _ in 0..kills() {
        writer.reset()?;
        let before = writer.requests();
        let moment = Duration::from_micros(dice.below(took));
        let mut child = writer
            .shell(writer.command)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let until = Instant::now() + moment;
        sleep(until.saturating_duration_since(Instant::now()));
        child.kill()?;
        dead += usize::from(child.wait()?.code().is_none());
        let mut found = Vec::new();
        writer.check(&whole, before, &mut found)?;
        wrong.extend(
            found
                .into_iter()
                .map(|it| format!("after {moment:?}: {it}")),
        );
    }
    let mut row = row(fault, &whole, kills(), wrong);
    row.note(format!("{dead} were killed before their end"));
    Ok(row)
}

/// Saves of a review, until its server is killed amid one of them.
fn review(fault: &str) -> io::Result<Row> {
    const ITEMS: u64 = 8;
    let id = |number: u64| format!("gen_aime_{}", number % ITEMS + 1);
    let project = reviewing::items(8);
    let command = "items.json --reviewer anna";
    // How often each item was saved, as its version says.
    let mut versions = BTreeMap::<String, u64>::new();
    let (mut dice, mut wrong, mut all) = (Dice::new(), Vec::new(), 0);
    for _ in 0..kills() {
        let window = ReviewWindow::open(&project, command);
        for (name, version) in &versions {
            let place = name.trim_start_matches("gen_aime_").parse().unwrap_or(1) - 1;
            let found = window.get(&format!("/item?index={place}"))["version"].as_u64();
            if found != Some(*version) {
                wrong.push(format!("{name} is at {found:?}, not {version}"));
            }
        }
        let moment = Duration::from_micros(dice.below(60_000));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                sleep(moment);
                window.kill();
            });
            for number in 0.. {
                let version = versions.entry(id(number)).or_default();
                let word = reviewing::word(&id(number), *version, 3, "approved");
                if window.tries(&word) != Some(200) {
                    break;
                }
                *version += 1;
                all += 1;
            }
        });
        drop(window);
        // What was on its way may be saved, and nothing else.
        let window = ReviewWindow::open(&project, command);
        let mut on_its_way = 0;
        for (name, version) in &mut versions {
            let place = name.trim_start_matches("gen_aime_").parse().unwrap_or(1) - 1;
            let found = window.get(&format!("/item?index={place}"))["version"].as_u64();
            let found = found.unwrap_or_default();
            on_its_way += usize::from(found == *version + 1);
            if found != *version && found != *version + 1 {
                wrong.push(format!("{name} is at {found}, not {version}"));
            }
            *version = found;
        }
        if on_its_way > 1 {
            wrong.push(format!("{on_its_way} were on their way"));
        }
        wrong.extend(halves(project.path()));
        wrong.extend(leavings(project.path()));
    }
    let whole = Whole {
        ended: watched::run(&project, "runs")?,
        contents: Contents::new(),
        requests: 0,
    };
    let mut row = row(fault, &whole, kills(), wrong);
    row.note(format!("{all} were saved"));
    Ok(row)
}

/// Two on one folder, from the start and a moment apart.
fn twice(fault: &str, writer: &Writer) -> io::Result<Row> {
    const ROUNDS: u64 = 8;
    let whole = writer.whole()?;
    let mut wrong = Vec::new();
    let mut codes = Vec::new();
    for round in 0..ROUNDS {
        writer.reset()?;
        let before = writer.requests();
        let mut other = writer
            .shell(writer.command)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        sleep(Duration::from_millis(round * 10));
        let own = writer.follow(writer.command)?;
        let other = other.wait()?;
        if own.err.contains("panicked")
            || !matches!(
                (own.code, other.code()),
                (Some(0 | 2), Some(0)) | (Some(0), Some(2))
            )
        {
            wrong.push(format!(
                "exit codes {:?} and {:?}: {}",
                own.code,
                other.code(),
                own.err
            ));
        }
        codes.push((own.code, other.code()));
        // Both pay for what they ask.
        let before = (before + whole.requests).min(writer.requests());
        writer.check(&whole, before, &mut wrong)?;
    }
    let mut row = row(fault, &whole, codes.len(), wrong);
    row.note(format!("exit codes {codes:?}"));
    Ok(row)
}

/// So few files may be open that the command stops, then more.
fn few_descriptors(fault: &str, writer: &Writer) -> io::Result<Row> {
    let whole = writer.whole()?;
    let (mut wrong, mut tried, mut enough) = (Vec::new(), 0, None);
    for files in (3..16).chain((16..256).step_by(6)) {
        writer.reset()?;
        let before = writer.requests();
        let script = format!("ulimit -n {files}; {}", writer.command);
        let ended = writer.follow(&script)?;
        tried += 1;
        let mut found = Vec::new();
        short(&ended, &mut found);
        writer.check(&whole, before, &mut found)?;
        wrong.extend(found.into_iter().map(|it| format!("{files} files: {it}")));
        if ended.code == Some(0) {
            enough = Some(files);
            break;
        }
    }
    let mut row = row(fault, &whole, tried, wrong);
    row.note(format!("enough: {enough:?}"));
    Ok(row)
}

/// Whether a command that was short of something ended as it should.
fn short(ended: &Ended, wrong: &mut Vec<String>) {
    // The loader of the program needs some, too, and says so with 127.
    let is_loader = ended.code == Some(127) || ended.err.contains("shared librar");
    if ended.err.contains("panicked") || !matches!(ended.code, Some(0 | 2 | 3)) && !is_loader {
        wrong.push(format!("exit code {:?}: {}", ended.code, ended.err));
    }
}

/// A disk with so little space left that the command stops, then with more.
fn full_disk(fault: &str, writer: &Writer) -> io::Result<Row> {
    let whole = writer.whole()?;
    let (mut wrong, mut tried, mut enough) = (Vec::new(), 0, None);
    for size in (0..4096).step_by(4) {
        let size = if size > 200 { size * 4 } else { size };
        writer.reset()?;
        let before = writer.requests();
        let folder = writer.project.path().display();
        let from = writer.before.path().display();
        let out = tempfile::tempdir()?;
        // The mount lives and dies with the namespace of this one shell.
        let script = format!(
            "mount -t tmpfs -o size=24m none '{folder}' || exit 77\ncp -a '{from}/.' '{folder}'; cd '{folder}'\n\
             cat /dev/zero > filler 2> /dev/null; truncate -s -{size}K filler\n\
             ({command}); CODE=$?\nrm filler; mkdir '{out}/full'; cp -a . '{out}/full'\n\
             ({goes_on}) > '{out}/log' 2>&1; echo $? > '{out}/code'\nmkdir '{out}/whole'; cp -a . '{out}/whole'; exit $CODE",
            command = writer.command,
            goes_on = writer.goes_on,
            out = out.path().display(),
        );
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]);
        writer.place(&mut command);
        let ended = watched::follow(&writer.project, command, |_| Ok(()))?;
        tried += 1;
        let mut found = Vec::new();
        short(&ended, &mut found);
        found.extend(halves(&out.path().join("full")));
        let code = fs::read_to_string(out.path().join("code")).unwrap_or_default();
        if code.trim() != "0" {
            let log = fs::read_to_string(out.path().join("log")).unwrap_or_default();
            found.push(format!("again: exit code {code:?}: {log}"));
        }
        let result = out.path().join("whole");
        found.extend(unlike(&whole.contents, &(writer.result)(&result)));
        found.extend(leavings(&result));
        let extra = (writer.requests() - before).saturating_sub(whole.requests);
        if extra > IN_FLIGHT {
            found.push(format!("{extra} requests too many"));
        }
        wrong.extend(found.into_iter().map(|it| format!("{size} KiB: {it}")));
        if ended.code == Some(0) {
            enough = Some(size);
            break;
        }
    }
    let mut row = row(fault, &whole, tried, wrong);
    row.note(format!("enough: {enough:?} KiB"));
    Ok(row)
}
