//! What `/proc` tells of processes (Linux only).

use std::fs;
use std::io;

/// The CPU time of all children that have ended, in user and kernel mode, in seconds.
pub(crate) fn children_cpu_s() -> io::Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The second field, the name, may hold spaces; `cutime` and `cstime` are the 16th and 17th.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = fields
        .split_whitespace()
        .skip(13)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok())
        .sum();
    // Linux shows every program a clock of 100 ticks per second here.
    Ok(ticks / 100.0)
}

/// The largest memory that a process (an id, or `self`) ever had resident; 0 when it has ended.
pub(crate) fn peak_kib(process: &str) -> u32 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}
