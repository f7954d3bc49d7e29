//! A killed test binary leaves no processes.

use std::process::Stdio;

use crate::agent::{Agent, Command};
use crate::data::Task;
use crate::tests::wait::until;

/// Makes the first test below hang; the value says how.
const NAP: &str = "TEST_OF_A_KILLED_BINARY";

#[test]
fn hangs_until_its_binary_is_killed() {
    if let Ok(nap) = std::env::var(NAP) {
        let agent = Command::new(["sh", "-c", &format!("sleep {nap} & sleep {nap}")], ".");
        let _ = agent.answer(&Task::for_test("?"));
    }
}

#[test]
fn agents_end_with_a_killed_test_binary() {
    let nap = format!("3600.{}", std::process::id());
    let mut binary = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "agent::command::tests::killed::hangs_until_its_binary_is_killed",
        ])
        .env(NAP, &nap)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let naps = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let command = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).ok();
        let is_nap = |words: &Vec<u8>| *words == format!("sleep\0{nap}\0").into_bytes();
        processes.filter_map(command).filter(is_nap).count()
    };
    until("the agent runs", || naps() == 2);
    binary.kill().unwrap();
    binary.wait().unwrap();
    until("nobody is left", || naps() == 0);
}
