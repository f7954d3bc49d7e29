//! Processes of a stopped attempt that left its group, as `setsid` does.
//!
//! They inherited the attempt's environment, in which the scratch folder is that of no other attempt. The
//! search reads all of `/proc`, so it is made only when an attempt is stopped, not when it ends by itself.
//! A process that also changed its environment is not found.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

/// Kills what is left of an attempt with this scratch folder.
pub(super) fn kill(scratch: &Path) {
    let mark = [b"EVALTEST_SCRATCH=", scratch.as_os_str().as_encoded_bytes()].concat();
    let Ok(processes) = fs::read_dir("/proc") else {
        return;
    };
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
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}
