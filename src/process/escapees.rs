//! Processes that left the group of a program that is stopped, as `setsid` does.
//!
//! They inherited the program's environment, in which one variable has a value of its own (an agent's: its
//! scratch folder). The search reads all of `/proc`, so it is made only when a program is stopped, not when
//! it ends by itself.
//! A process that also changed its environment is not found.

use std::ffi::OsStr;
use std::fs;

use rustix::process::{Pid, Signal, kill_process};

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
        let Ok(environment) = fs::read(process.path().join("environ")) else {
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
