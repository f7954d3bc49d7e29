//! What was paid for is asked once.

use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use super::{Duel, always};
use crate::signals::send;
use crate::wait::until;

#[test]
fn killed_at_any_moment_nothing_is_asked_twice() {
    const PAIRS: u32 = 12;
    let judge = format!("sleep 0.02; {}", always("first"));
    let duel = Duel::new(PAIRS, "echo good", "echo bad", &judge);
    let [a, b] = ["a", "b"].map(|name| duel.dir(name).display().to_string());
    let mut command = duel
        .project
        .command_of(&["winrate", &a, &b, "--judge", "better.yaml"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = command.spawn().unwrap();
    until("some were judged", || duel.requested() >= 9);
    send("KILL", &run);
    run.wait().unwrap();
    sleep(Duration::from_millis(200));
    let before = duel.requested();
    duel.winrate("").exits(0).says("12 inconsistent");
    let all = duel.requested();
    // What the killed one had asked and not written down is asked again: no more than were in flight.
    assert!((24..=24 + 8).contains(&all), "{before} {all}");
}
