//! What a run takes for the orphans of its agents, and what not.

use crate::project::{Project, Ran};
use crate::requested;

/// A program that is being started bears the environment of whoever starts it until it is another program.
#[test]
fn a_run_that_is_an_agent_itself_ends_none_of_its_own_agents() {
    let project = requested::project(
        400,
        ":",
        "gates: []\nlimits: { concurrency: 8, retries: 0 }\n",
    );
    let mut command = project.command("run eval.yaml");
    command.env("EVALTEST_SCRATCH", project.path());
    let ran = Ran::of(&command.output().unwrap());
    ran.exits(0).says(", 0 errors");
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "nobody adopts orphans there")]
fn what_is_adopted_and_dead_does_not_pile_up() {
    let questions: Vec<_> = (0..40).map(|n| (format!("q{n}"), 1, "?", "1")).collect();
    let questions: Vec<_> = questions
        .iter()
        .map(|(id, level, question, answer)| (&**id, *level, *question, *answer))
        .collect();
    let agent = "{ type: command, command: [./agent.sh] }";
    let project = Project::with_eval(&questions, agent, "limits: { concurrency: 1 }\n");
    // The group of an agent is killed with it, and what stood in it is then the run's.
    project.script(
        "agent.sh",
        "#!/bin/sh\nwhile read -r _; do :; done\nsleep 100 >/dev/null 2>&1 &\n\
         cat /proc/[0-9]*/stat 2>/dev/null | grep -c \") Z $PPID \" >> \"${0%/*}/dead.log\"\n\
         echo 1\n",
    );
    project.run("run eval.yaml").exits(0);
    let log = project.read("dead.log");
    let dead: Vec<u32> = log.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(dead.len(), 40);
    assert!(dead.iter().all(|&dead| dead <= 8), "{dead:?}");
}
