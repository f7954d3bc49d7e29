//! Processes that left the group of a program that is stopped, as `setsid` does.
//!
//! They inherited the program's environment, in which one variable has a value of its own (an agent's: its
//! scratch folder). The search reads all of `/proc`, so it is made only when a program is stopped, not when
//! it ends by itself.
//! A process that also changed its environment is not found.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// So often an environment that is empty is looked at again: some processes have none.
const LOOKS: u32 = 5;

/// Kills every process in whose environment the variable has this value, except this one; tells how many.
pub(crate) fn kill(variable: &str, value: &OsStr) -> usize {
    let mark = [variable.as_bytes(), b"=", value.as_encoded_bytes()].concat();
    let Ok(processes) = fs::read_dir("/proc") else {
        return 0;
    };
    let mut killed = 0;
    let own = std::process::id();
    for process in processes.flatten() {
        let Some(id) = process
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        // Processes of other users cannot be read, nor are they ours.
        let Some(environment) = environment(&process.path()) else {
            continue;
        };
        let is_ours = environment
            .split(|&byte| byte == 0)
            .any(|variable| variable == mark);
        if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw)
            && is_ours
            && id != own
        {
            // It may have ended by itself in between.
            killed += usize::from(kill_process(pid, Signal::KILL).is_ok());
        }
    }
    killed
}

/// The environment of a process, if it may be read. That of one which is just becoming another program is empty for a
/// moment.
fn environment(process: &Path) -> Option<Vec<u8>> {
    let read = || fs::read(process.join("environ")).ok();
    // The kernel's own processes, and those that have ended, have no program.
    let is_between = |environment: &Vec<u8>| {
        environment.is_empty() && fs::read_link(process.join("exe")).is_ok()
    };
    let mut environment = read()?;
    for _ in 0..LOOKS {
        if !is_between(&environment) {
            break;
        }
        thread::sleep(Duration::from_millis(1));
        environment = read()?;
    }
    Some(environment)
}
