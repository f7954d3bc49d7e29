//! Runs that share a cache share the questions that are in flight.

use crate::project::Project;

#[test]
fn six_runs_with_one_cold_cache_ask_each_question_once() {
    let ids: Vec<_> = (0..50).map(|number| format!("q{number}")).collect();
    let prompts: Vec<_> = ids.iter().map(|id| format!("{id}?")).collect();
    let questions = ids.iter().zip(&prompts);
    let questions: Vec<_> = questions
        .map(|(id, prompt)| (&**id, 1, &**prompt, "1"))
        .collect();
    let agent = "{ type: command, command: [./agent.sh] }";
    let project = Project::with_eval(
        &questions,
        agent,
        "cache: true\nlimits: { concurrency: 8 }\n",
    );
    project.script(
        "agent.sh",
        "#!/bin/sh\necho x >> asked\nsleep 0.1\necho 1\n",
    );
    let runs: Vec<_> = (0..6)
        .map(|_| project.command("run eval.yaml").spawn().unwrap())
        .collect();
    for mut run in runs {
        assert!(run.wait().unwrap().success());
    }
    assert_eq!(project.read("asked").lines().count(), 50);
}
