//! A watch for the case that this program is killed at once: then nobody is left to end the agents that run.
//!
//! It is this same program, started again, in a process group of its own; a program of somebody else, such as a test
//! binary, would do all its own work again, and is watched by a shell. It waits until the pipe that it reads is
//! closed, which the system does however the other end dies, and then kills whatever bears this program's mark.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use super::escapees;
use crate::system::lock::lock;

/// The variable that tells every program whose it is: the process id of the one that started it.
const MARK: &str = "EVALTEST_PID";
/// The first argument of the program when it is started to watch; the process id follows.
const WATCH: &str = "__evaltest_watch";
/// What is written to a watch that is needed no more.
const DISMISSAL: u8 = b'.';

/// The same watch in the words of a shell. Where there is no `/proc`, as on macOS, it finds nobody: agents of a test
/// binary that is killed there stay. Those that dropped the mark from their environment stay everywhere.
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

/// Whether this program begins with [`watch_if_asked`].
static CAN_WATCH: AtomicBool = AtomicBool::new(false);
/// The watch; it is started with the first agent.
static WATCHER: OnceLock<Mutex<Option<Child>>> = OnceLock::new();

/// When this program was started to watch another: waits for its end, kills what it left running, and gives the exit
/// code. Else `None`. A program that calls it first, as `cargo evaltest` does, leaves no agent behind even when it is
/// killed by `SIGKILL`; for sandboxed agents the sandbox sees to that. Any other
/// program is watched by a shell, which does the same where there is a `/proc`, and not on macOS.
pub fn watch_if_asked() -> Option<ExitCode> {
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
    let mut said = Vec::new();
    let _ = std::io::stdin().read_to_end(&mut said);
    if said.ends_with(&[DISMISSAL]) {
        return;
    }
    // What was being started held the pipe as well, and let go of it when it became a program that has its mark.
    escapees::kill(MARK, OsStr::new(pid));
    let entries = std::fs::read_dir(std::env::temp_dir())
        .into_iter()
        .flatten();
    for entry in entries.flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && is_folder_of(&entry.file_name().to_string_lossy(), pid) {
            // That program made it, is gone, and removes it itself when it ends as it should.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether the program with this process id gives such a name to a folder among the temporary files: a
/// [`TemporaryFolder`](crate::system::temporary_folder::TemporaryFolder) ends in six letters and digits, a folder of a worker in
/// a number.
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

/// Has this program watched from now on, if it can be; gives the mark of what it starts.
pub(crate) fn mark() -> (&'static OsStr, OsString) {
    WATCHER.get_or_init(|| Mutex::new(start()));
    (OsStr::new(MARK), std::process::id().to_string().into())
}

/// The program ends by itself. Gives the mark of what it started, if it started anything.
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
        // It holds no folder that others may want to remove.
        .current_dir("/")
        // It outlives an interrupt from the terminal.
        .process_group(0)
        .spawn();
    // Without it agents may outlive a `kill -9`, as they would without this program.
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
