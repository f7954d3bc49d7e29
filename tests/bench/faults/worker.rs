//! This program as a worker that misbehaves.

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::process::{Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

/// The argument, followed by a fault, that makes this program a worker.
pub(crate) const ARGUMENT: &str = "--worker";
/// The sample that is not answered well.
pub(crate) const BAD: &str = "q003";

/// The agent of a spec, with further keys.
pub(crate) fn agent(fault: &str, more: &str) -> io::Result<String> {
    let program = std::env::current_exe()?;
    let program = program.display();
    // A signal that is ignored stays so.
    let script = match fault {
        "ignores SIGTERM" => format!("trap '' TERM; exec '{program}' {ARGUMENT} hangs"),
        _ => format!("exec '{program}' {ARGUMENT} '{fault}'"),
    };
    Ok(format!(
        "{{ type: worker, command: [sh, -c, \"{script}\"]{more} }}"
    ))
}

/// Answers as the server does; what was asked is noted in `asked.log`.
pub(crate) fn answer(fault: &str) -> io::Result<ExitCode> {
    // In a sandbox there is no place for it.
    let mut log = File::options()
        .create(true)
        .append(true)
        .open("asked.log")
        .ok();
    let mut out = io::stdout();
    for line in io::stdin().lock().lines() {
        let task: Value = serde_json::from_str(&line?)?;
        let id = task["id"].as_str().unwrap_or_default();
        if let Some(log) = &mut log {
            log.write_all(format!("{id}\n").as_bytes())?;
        }
        match (fault, id) {
            ("slow", _) => sleep(Duration::from_millis(15)),
            ("stands", _) => sleep(Duration::from_secs(6)),
            ("hangs", BAD) | ("hangs at once", _) => sleep(Duration::from_mins(5)),
            ("floods stdout, 1 GiB", BAD) => flood(&mut out)?,
            ("floods stderr, 1 GiB", BAD) => flood(&mut io::stderr())?,
            ("double-forks a daemon", BAD) => {
                Command::new("setsid")
                    .args(["sh", "-c", "sleep 300 & exit"])
                    .stdin(Stdio::null())
                    .spawn()?
                    .wait()?;
            }
            _ => {}
        }
        writeln!(out, "{}", json!({"id": id, "answer": &id[1..]}))?;
        out.flush()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One GiB.
fn flood(to: &mut dyn Write) -> io::Result<()> {
    let piece = vec![b'x'; 1 << 20];
    (0..1024).try_for_each(|_| to.write_all(&piece))
}
