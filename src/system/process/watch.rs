//! A watchdog process that kills running agents if this program is killed.
//!
//! It is this program, started again in its own process group; a foreign program, such as a test binary, would repeat
//! its own work, so a shell is the watchdog there. It waits until the pipe it reads is closed, which happens however
//! this program dies, and then kills all processes with this program's mark.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use super::escapees;
use crate::system::lock;

/// The variable that marks all child processes: the process id of the program that started them.
const MARK: &str = "EVALTEST_PID";
/// The first argument of the watchdog, followed by the process id.
const WATCH: &str = "__evaltest_watch";
/// Sent to a watchdog that is no longer needed.
const DISMISSAL: u8 = b'.';

/// The watchdog as a shell script. Without `/proc`, as on macOS, it finds no processes: agents of a killed test binary
/// stay there. Processes that removed the mark from their environment stay everywhere.
const SHELL_WATCH: &str = r#"
IFS= read -r said
[ "$said" = . ] && exit 0
for round in 1 2 3 4 5 6 7 8 9 10; do
    found=
    for file in $(grep -ls "EVALTEST_PID=$1" /proc/[0-9]*/environ 2>/dev/null); do
        tr '\0' '\n' <"$file" 2>/dev/null | grep -qx "EVALTEST_PID=$1" || continue
        pid=${file#/proc/}
        found=yes
        kill -9 "${pid%/environ}" 2>/dev/null
    done
    [ "$found" ] || break
    sleep 0.05
done
for folder in "${TMPDIR:-/tmp}/evaltest-worker-$1-"* "${TMPDIR:-/tmp}/evaltest-$1-"??????; do
    case "${folder##*-}" in *[!0-9A-Za-z]*) continue ;; esac
    [ -d "$folder" ] && [ ! -L "$folder" ] && rm -rf "$folder"
done
"#;

/// Whether this program starts with [`watch_if_requested`].
static CAN_WATCH: AtomicBool = AtomicBool::new(false);
/// The watchdog, started with the first agent.
static WATCHER: OnceLock<Mutex<Option<Child>>> = OnceLock::new();

/// If this program was started as a watchdog: waits for the end of the other program, kills what it left running, and
/// returns the exit code. Otherwise `None`. A program that calls it first, as `cargo evaltest` does, leaves no agents
/// behind even if it is killed by `SIGKILL`; for sandboxed agents the sandbox ensures that. For other programs a shell
/// is the watchdog, which does the same if there is a `/proc`, so not on macOS.
pub fn watch_if_requested() -> Option<ExitCode> {
    CAN_WATCH.store(true, Ordering::Relaxed);
    let mut args = std::env::args_os().skip(1);
    if args.next()? != WATCH {
        return None;
    }
    let pid = args.next()?.into_string().ok()?;
    watch(&pid);
    Some(ExitCode::SUCCESS)
}

fn watch(pid: &str) {
    let mut input = Vec::new();
    let _ = std::io::stdin().read_to_end(&mut input);
    if input.ends_with(&[DISMISSAL]) {
        return;
    }
    // A process that was being started also held the pipe, and closed it on `exec`, when it already had its mark.
    escapees::kill(MARK, OsStr::new(pid));
    let entries = std::fs::read_dir(std::env::temp_dir())
        .into_iter()
        .flatten();
    for entry in entries.flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && is_folder_of(&entry.file_name().to_string_lossy(), pid) {
            // Created by the killed program, which removes it itself when it ends normally.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether a temporary folder belongs to the program with this process id: the name of a
/// [`TemporaryFolder`](crate::system::file::TemporaryFolder) ends in six letters and digits, that of a
/// worker's folder in a number.
fn is_folder_of(name: &str, pid: &str) -> bool {
    let end = |start: &str| {
        name.strip_prefix(start)?
            .strip_prefix(pid)?
            .strip_prefix('-')
    };
    let is_number = |end: &str| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit());
    let is_random =
        |end: &str| end.len() == 6 && end.bytes().all(|byte| byte.is_ascii_alphanumeric());
    end("evaltest-worker-").is_some_and(is_number) || end("evaltest-").is_some_and(is_random)
}

/// Starts the watchdog if possible; returns the mark for child processes.
pub(crate) fn mark() -> (&'static OsStr, OsString) {
    WATCHER.get_or_init(|| Mutex::new(start()));
    (OsStr::new(MARK), std::process::id().to_string().into())
}

/// Whether this is the process id of the watchdog, while it is needed.
pub(crate) fn is_watchdog(pid: u32) -> bool {
    let watcher = WATCHER.get().map(lock);
    watcher.is_some_and(|it| it.as_ref().is_some_and(|child| child.id() == pid))
}

/// Called when the program ends by itself. Returns the mark of its child processes, if it started any.
pub(crate) fn dismiss() -> Option<(&'static str, OsString)> {
    let watcher = lock(WATCHER.get()?).take();
    if let Some(mut watcher) = watcher {
        if let Some(mut pipe) = watcher.stdin.take() {
            let _ = pipe.write_all(&[DISMISSAL]);
        }
        let _ = watcher.wait();
    }
    Some((MARK, std::process::id().to_string().into()))
}

fn start() -> Option<Child> {
    let pid = std::process::id().to_string();
    let mut command = if CAN_WATCH.load(Ordering::Relaxed) {
        let mut command = Command::new(std::env::current_exe().ok()?);
        command.args([WATCH, &pid]);
        command
    } else {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SHELL_WATCH, "evaltest-watch", &pid]);
        command
    };
    let started = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Do not block the removal of the current folder.
        .current_dir("/")
        // It survives an interrupt from the terminal.
        .process_group(0)
        .spawn();
    // Without it, agents may survive a `kill -9` of this program.
    started.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_that_a_program_names_so_are_its_own() {
        let check = |name: &str, expect| assert_eq!(is_folder_of(name, "12"), expect, "{name}");
        check("evaltest-12-aB3xY9", true);
        check("evaltest-worker-12-0", true);
        check("evaltest-12-notes", false);
        check("evaltest-12-my-run", false);
        check("evaltest-123-aB3xY9", false);
        check("evaltest-worker-12-", false);
        check("evaltest-worker-12-notes", false);
    }
}
