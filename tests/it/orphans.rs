//! What a run takes for the orphans of its agents, and what not.

use crate::asked;
use crate::project::Ran;

/// A program that is being started bears the environment of whoever starts it until it is another program.
#[test]
fn a_run_that_is_an_agent_itself_ends_none_of_its_own_agents() {
    let project = asked::project(
        400,
        ":",
        "gates: []\nlimits: { concurrency: 8, retries: 0 }\n",
    );
    let mut command = project.command("run eval.yaml");
    command.env("EVALTEST_SCRATCH", project.path());
    let ran = Ran::of(&command.output().unwrap());
    ran.exits(0).says(", 0 errors");
}
