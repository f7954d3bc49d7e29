//! `cargo evaltest`, watched to its end.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::process::peak_kib;
use crate::project::Project;

/// No fault may hold a run up for longer.
const TIMEOUT: Duration = Duration::from_mins(2);
/// How long what was killed may take to be gone.
const GRACE: Duration = Duration::from_millis(500);
/// How often it is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A file in the project's folder with the id of the process whose memory counts, if that is not the command itself.
pub(crate) const WATCHED: &str = "watched";

/// How a command ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) err: String,
    pub(crate) seconds: f64,
    pub(crate) peak_kib: u32,
    /// Processes that are still there, which were killed then.
    pub(crate) orphans: Vec<String>,
}

impl Ended {
    /// Adds another command; the exit code is that of both, or of none.
    pub(crate) fn add(&mut self, other: Self) {
        self.code = self.code.filter(|code| other.code == Some(*code));
        self.join(other);
    }

    /// The same, with the exit code of this one.
    pub(crate) fn join(&mut self, other: Self) {
        self.err += &other.err;
        self.seconds += other.seconds;
        self.peak_kib = self.peak_kib.max(other.peak_kib);
        self.orphans.extend(other.orphans);
    }
}

/// Runs `cargo evaltest` with these arguments.
pub(crate) fn run(project: &Project, arguments: &str) -> io::Result<Ended> {
    with(project, arguments, |_| Ok(()))
}

/// The same; `during` is called again and again while it runs.
pub(crate) fn with(
    project: &Project,
    arguments: &str,
    during: impl FnMut(&mut Child) -> io::Result<()>,
) -> io::Result<Ended> {
    follow(project, project.command(arguments), during)
}

/// Follows a command that runs in a project.
pub(crate) fn follow(
    project: &Project,
    mut command: Command,
    mut during: impl FnMut(&mut Child) -> io::Result<()>,
) -> io::Result<Ended> {
    // Files, not pipes: whoever is left behind would keep a pipe open.
    let log = tempfile::NamedTempFile::new()?;
    command.stdout(File::options().append(true).open(log.path())?);
    command.stderr(File::options().append(true).open(log.path())?);
    let started = Instant::now();
    let mut child = command.spawn()?;
    let id = child.id().to_string();
    let mut peak = 0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if started.elapsed() > TIMEOUT {
            child.kill()?;
            child.wait()?;
            break None;
        }
        let other = fs::read_to_string(project.file(WATCHED)).ok();
        let watched = other.as_deref().map_or(&*id, str::trim);
        peak = peak.max(peak_kib(watched));
        during(&mut child)?;
        sleep(POLL_INTERVAL);
    };
    let seconds = started.elapsed().as_secs_f64();
    Ok(Ended {
        // As a shell has it.
        code: status.and_then(|status| status.code().or_else(|| Some(128 + status.signal()?))),
        err: fs::read_to_string(log.path())?,
        seconds,
        peak_kib: peak,
        orphans: orphans(project),
    })
}

/// Who runs in the project's folder still, after a moment; they are killed.
fn orphans(project: &Project) -> Vec<String> {
    let until = Instant::now() + GRACE;
    loop {
        let remaining = in_folder(project.path());
        if remaining.is_empty() {
            return Vec::new();
        }
        if Instant::now() >= until {
            for (pid, _) in &remaining {
                let _ = kill("KILL", pid);
            }
            return remaining.into_iter().map(|(_, name)| name).collect();
        }
        sleep(POLL_INTERVAL);
    }
}

/// The living processes, id and command line, whose working folder is this one.
pub(crate) fn in_folder(folder: &Path) -> Vec<(String, String)> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let of = |entry: fs::DirEntry| {
        let folder_of = fs::read_link(entry.path().join("cwd")).ok()?;
        // Nobody has its command line once it is a zombie.
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let is_one = folder_of.starts_with(folder) && !line.is_empty();
        is_one.then(|| (entry.file_name().to_string_lossy().into_owned(), line))
    };
    processes.flatten().filter_map(of).collect()
}

/// Sends a signal.
pub(crate) fn kill(signal: &str, pid: &str) -> io::Result<bool> {
    let output = Command::new("kill").args(["-s", signal, pid]).output()?;
    Ok(output.status.success())
}
