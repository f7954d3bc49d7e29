//! The search through `/proc`.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, kill_process};

/// So many pauses are made until one that was killed is gone, or until one that is becoming another program has its
/// environment. They are counted: on a busy machine everything takes longer, and so do they.
const PATIENCE: u32 = 10_000;
/// The same, for programs that may have no environment at all, where the system does not tell the two apart.
const IMPATIENCE: u32 = 5;
const PAUSE: Duration = Duration::from_millis(1);
/// So often in a row nothing but strangers may come up: on a busy machine there are always new ones.
const MOST_ROUNDS: u32 = 20;
/// So often an environment that is empty is looked at before it is taken for one that has no variables.
const LOOKS: u32 = 3;
/// Where a process's `stat` tells the end of its code; counted from its state, the first after the name. It is set
/// after the environment.
const CODE_END: usize = 24;

/// Kills every process in whose environment the variable has this value, except this one. Afterwards there is none.
pub(crate) fn kill(variable: &str, value: &OsStr) {
    let mark = [variable.as_bytes(), b"=", value.as_encoded_bytes()].concat();
    let patience = patience();
    let mut strangers = HashSet::from([getpid()]);
    let (mut rounds, mut pauses) = (0, 0);
    // One that is found may have started another a moment before, and one that ended while the list was read as well.
    // So the list is read again until it has nobody new.
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
                    // It may have ended by itself in between.
                    let _ = kill_process(pid, Signal::KILL);
                }
                Environment::Coming if pauses < patience => is_found = true,
                _ => _ = strangers.insert(pid),
            }
        }
        rounds = if is_found { 0 } else { rounds + 1 };
        if !is_new || rounds > MOST_ROUNDS || pauses >= PATIENCE {
            return;
        }
        if is_found {
            thread::sleep(PAUSE);
            pauses += 1;
        }
    }
}

/// The processes that the system lists.
fn processes() -> impl Iterator<Item = Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|process| process.file_name().to_str()?.parse().ok());
    pids.filter_map(Pid::from_raw)
}

fn has(environment: &[u8], mark: &[u8]) -> bool {
    variables(environment).any(|variable| variable == mark)
}

/// The variables of an environment. What lacks its end is none: the system tells no more of a process that ends while its
/// environment is read, and half a mark would be somebody else's.
fn variables(environment: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ended = environment.split_inclusive(|&byte| byte == 0);
    ended.filter_map(|variable| variable.strip_suffix(&[0]))
}

/// What can be known of a process's environment.
enum Environment {
    Of(Vec<u8>),
    /// It is just becoming another program, and has none yet.
    Coming,
    /// It has none, has ended, or belongs to another user and so is not ours.
    None,
}

/// The value of a variable in the environment with which a process was started.
pub(crate) fn value_of(pid: Pid, variable: &str) -> Option<Vec<u8>> {
    let start = format!("{variable}=");
    let patience = patience();
    let mut pauses = 0;
    let environment = loop {
        match environment(pid) {
            Environment::Of(environment) => break environment,
            Environment::Coming if pauses < patience => {
                thread::sleep(PAUSE);
                pauses += 1;
            }
            Environment::Coming | Environment::None => return None,
        }
    };
    value_in(&environment, &start)
}

/// The rest of the variable that begins so.
fn value_in(environment: &[u8], start: &str) -> Option<Vec<u8>> {
    variables(environment)
        .find_map(|variable| variable.strip_prefix(start.as_bytes()))
        .map(<[u8]>::to_vec)
}

fn environment(pid: Pid) -> Environment {
    let process = Path::new("/proc").join(pid.as_raw_pid().to_string());
    for _ in 0..LOOKS {
        match fs::read(process.join("environ")) {
            Ok(environment) if !environment.is_empty() => return Environment::Of(environment),
            // The kernel's own processes, and those that have ended, have no program.
            Ok(_) if fs::read_link(process.join("exe")).is_ok() => {}
            Ok(_) | Err(_) => return Environment::None,
        }
        // Without code there is no environment either. With code there may be one since the look.
        if code_end(&process) == Some(0) {
            return Environment::Coming;
        }
    }
    Environment::None
}

/// Where the code of a process ends; 0 if it has none, or if the system does not tell.
fn code_end(process: &Path) -> Option<u64> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // The name may hold anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(CODE_END)?.parse().ok()
}

fn patience() -> u32 {
    if code_end(Path::new("/proc/self")).is_some_and(|end| end > 0) {
        PATIENCE
    } else {
        IMPATIENCE
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
            let is_told = end >= b"A=1\0MARK=/tmp/12\0".len();
            let value = is_told.then(|| b"/tmp/12".to_vec());
            assert_eq!(value_in(read, "MARK="), value, "{end}");
            assert_eq!(has(read, b"MARK=/tmp/12"), is_told, "{end}");
            assert!(!has(read, b"MARK=/tmp/1"), "{end}");
        }
    }
}
