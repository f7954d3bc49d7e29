//! Searches `/proc`.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, kill_process};

/// Maximum number of pauses while waiting for a killed process, or for the environment of a process in `exec`. A count
/// rather than a duration, because on a busy machine everything is slower, including pauses.
const MAX_PAUSES: u32 = 10_000;
/// The same for programs that may have no environment at all, if the system cannot distinguish the two.
const MAX_PAUSES_UNKNOWN: u32 = 5;
const PAUSE: Duration = Duration::from_millis(1);
/// Maximum number of consecutive rounds that find only unrelated new processes, which busy machines always have.
const MOST_ROUNDS: u32 = 20;
/// How often to read an empty environment before it is considered to have no variables.
const MAX_READS: u32 = 3;
/// Index of `endcode` in a process's `stat`, counted from the state, which follows the name. The kernel sets it after
/// the environment.
const CODE_END: usize = 24;

/// Kills every process except this one whose environment has this value of the variable, until there are none.
pub(crate) fn kill(variable: &str, value: &OsStr) {
    let mark = [variable.as_bytes(), b"=", value.as_encoded_bytes()].concat();
    let max_pauses = max_pauses();
    let mut strangers = HashSet::from([getpid()]);
    let (mut rounds, mut pauses) = (0, 0);
    // A process may have started another and ended while the list was read, so repeat until the list has no new
    // processes.
    loop {
        let (mut is_new, mut is_found) = (false, false);
        for pid in processes()
            .filter(|pid| !strangers.contains(pid))
            .collect::<Vec<_>>()
        {
            is_new = true;
            match environment(pid) {
                Environment::Of(environment) if has(&environment, &mark) => {
                    is_found = true;
                    // It may have ended in the meantime.
                    let _ = kill_process(pid, Signal::KILL);
                }
                Environment::Coming if pauses < max_pauses => is_found = true,
                _ => _ = strangers.insert(pid),
            }
        }
        rounds = if is_found { 0 } else { rounds + 1 };
        if !is_new || rounds > MOST_ROUNDS || pauses >= MAX_PAUSES {
            return;
        }
        if is_found {
            thread::sleep(PAUSE);
            pauses += 1;
        }
    }
}

/// All processes in `/proc`.
fn processes() -> impl Iterator<Item = Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|process| process.file_name().to_str()?.parse().ok());
    pids.filter_map(Pid::from_raw)
}

fn has(environment: &[u8], mark: &[u8]) -> bool {
    variables(environment).any(|variable| variable == mark)
}

/// The complete variables of an environment. An unterminated one is ignored: the kernel truncates the environment of a
/// process that is ending, and a truncated mark could match another one.
fn variables(environment: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ended = environment.split_inclusive(|&byte| byte == 0);
    ended.filter_map(|variable| variable.strip_suffix(&[0]))
}

/// The environment of a process, as far as known.
enum Environment {
    Of(Vec<u8>),
    /// It is in `exec`, and its environment is not set up yet.
    Coming,
    /// It has none, has ended, or belongs to another user.
    None,
}

/// The value of a variable in a process's initial environment.
pub(crate) fn value_of(pid: Pid, variable: &str) -> Option<Vec<u8>> {
    let start = format!("{variable}=");
    let max_pauses = max_pauses();
    let mut pauses = 0;
    let environment = loop {
        match environment(pid) {
            Environment::Of(environment) => break environment,
            Environment::Coming if pauses < max_pauses => {
                thread::sleep(PAUSE);
                pauses += 1;
            }
            Environment::Coming | Environment::None => return None,
        }
    };
    value_in(&environment, &start)
}

/// The value of the variable with this prefix (`NAME=`).
fn value_in(environment: &[u8], start: &str) -> Option<Vec<u8>> {
    variables(environment)
        .find_map(|variable| variable.strip_prefix(start.as_bytes()))
        .map(<[u8]>::to_vec)
}

fn environment(pid: Pid) -> Environment {
    let process = Path::new("/proc").join(pid.as_raw_pid().to_string());
    for _ in 0..MAX_READS {
        match fs::read(process.join("environ")) {
            Ok(environment) if !environment.is_empty() => return Environment::Of(environment),
            // Kernel threads and zombies have no program.
            Ok(_) if fs::read_link(process.join("exe")).is_ok() => {}
            Ok(_) | Err(_) => return Environment::None,
        }
        // Without code there is no environment yet. With code it may have appeared since it was read.
        if code_end(&process) == Some(0) {
            return Environment::Coming;
        }
    }
    Environment::None
}

/// The end of a process's code; 0 if it has none, or if the system hides it.
fn code_end(process: &Path) -> Option<u64> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // The process name may contain any character.
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(CODE_END)?.parse().ok()
}

fn max_pauses() -> u32 {
    if code_end(Path::new("/proc/self")).is_some_and(|end| end > 0) {
        MAX_PAUSES
    } else {
        MAX_PAUSES_UNKNOWN
    }
}

#[cfg(test)]
mod tests {
    use super::{has, value_in};

    #[test]
    fn half_an_environment_bears_nobody_elses_mark() {
        let whole = b"A=1\0MARK=/tmp/12\0B=2\0";
        for end in 0..=whole.len() {
            let read = &whole[..end];
            let is_found = end >= b"A=1\0MARK=/tmp/12\0".len();
            let value = is_found.then(|| b"/tmp/12".to_vec());
            assert_eq!(value_in(read, "MARK="), value, "{end}");
            assert_eq!(has(read, b"MARK=/tmp/12"), is_found, "{end}");
            assert!(!has(read, b"MARK=/tmp/1"), "{end}");
        }
    }
}
