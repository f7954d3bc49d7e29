//! An agent that keeps a log of what it was asked.

use std::fs;

use crate::project::Project;

/// Questions q000, q001, …; the agent knows the answers of the even ones.
pub(crate) fn questions(number: u32) -> Vec<(String, u32, String, String)> {
    let question = |n: u32| {
        let answer = if n.is_multiple_of(2) {
            format!("{n:03}")
        } else {
            "something else".to_owned()
        };
        (
            format!("q{n:03}"),
            n % 3 + 1,
            format!("What is {n}?"),
            answer,
        )
    };
    (0..number).map(question).collect()
}

/// A project with `number` questions and an agent that logs, does what `then` says (a line of shell) and
/// answers with the number in the id.
pub(crate) fn project(number: u32, then: &str, more: &str) -> Project {
    let project = Project::new();
    write_questions(&project, number);
    agent(&project, then);
    project.spec("{ type: command, command: [./agent.sh] }", more);
    project
}

/// Writes the questions.
pub(crate) fn write_questions(project: &Project, number: u32) {
    let questions = questions(number);
    let borrowed: Vec<_> = questions
        .iter()
        .map(|(id, level, question, answer)| (&**id, *level, &**question, &**answer))
        .collect();
    project.questions(&borrowed);
}

/// Writes the agent.
pub(crate) fn agent(project: &Project, then: &str) {
    project.script(
        "agent.sh",
        &format!(
            "#!/bin/sh\necho \"$EVALTEST_SAMPLE_ID\" >> \"${{0%/*}}/asked.log\"\nwhile read -r _; do :; done\n{then}\n\
             echo \"${{EVALTEST_SAMPLE_ID#q}}\"\n"
        ),
    );
}

/// The ids that were asked, in order, repetitions included.
pub(crate) fn requested(project: &Project) -> Vec<String> {
    let log = fs::read_to_string(project.file("asked.log")).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

/// How often an id was asked.
pub(crate) fn times(requested: &[String], id: &str) -> usize {
    requested.iter().filter(|other| *other == id).count()
}
