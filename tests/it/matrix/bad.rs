//! What is no matrix is told with its place, before anybody is asked.

use crate::project::Project;

const HEAD: &str = "benchmark: { type: custom, samples: [{ id: a, prompt: x, ground_truth: x }] }\nscorer: exact\n";

#[track_caller]
fn check(more: &str, place: &str, says: &[&str]) {
    let project = Project::new();
    project.write("e.yaml", format!("{HEAD}{more}"));
    for command in ["run e.yaml", "list e.yaml"] {
        let ran = project
            .run(command)
            .exits(2)
            .says(&format!("e.yaml:{place}: "))
            .says("hint: ");
        says.iter().fold(ran, |ran, text| ran.says(text));
    }
    assert!(project.runs().is_empty());
}

#[test]
fn a_gate_of_nobody_is_told_each_name_once() {
    check(
        "agents: { a: echo, b: echo }\ngates: ['accuracy[agent=zzz] >= 1']\n",
        "4:9",
        &["its agents: `a`, `b`\n"],
    );
}

#[test]
fn names_are_fit_for_files_and_tests() {
    for name in [
        "../x",
        "a/b",
        "a b",
        ".a",
        "''",
        "a@b",
        "a+b",
        "a:b",
        "\"a\\0\"",
        "\"a\\nb\"",
        "'*'",
        "a\\b",
    ] {
        check(
            &format!("agents:\n  ok: echo\n  {name}: echo\n"),
            "5:3",
            &["cannot be the name of an agent"],
        );
    }
    check(
        "agent: echo\nprompts: { ../x: none }\n",
        "4:12",
        &["`../x` cannot be the name of a prompt"],
    );
    check(
        "agents:\n  Small: echo\n  small: echo\n",
        "5:3",
        &["`Small` and `small` differ only in case"],
    );
    check(
        "agents:\n  a: echo\n  a: demo\n",
        "5:3",
        &["duplicate key `a`"],
    );
    let names = ["a", "gpt-4.1", "A_b", "7", "größe"];
    let agents: Vec<String> = names.iter().map(|name| format!("{name}: echo")).collect();
    let project = Project::new();
    project.write(
        "e.yaml",
        format!("{HEAD}agents: {{ {} }}\n", agents.join(", ")),
    );
    project.run("run e.yaml").exits(0).says("5 agents, ranked");
    assert_eq!(project.runs().len(), 5);
}

#[test]
fn there_is_at_least_one_and_only_one_way_to_say_it() {
    check(
        "agents: {}\n",
        "3:9",
        &["`agents` names no agent", "write `agents: {"],
    );
    check(
        "agent: echo\nprompts: {}\n",
        "4:10",
        &["`prompts` names no prompt"],
    );
    check("agents: [echo]\n", "3:9", &["agents", "a map is needed"]);
    check("agents: echo\n", "3:9", &["agents", "a map is needed"]);
    check("agents:\n", "3:8", &["agents"]);
    check(
        "agent: echo\nagents: { a: echo }\n",
        "4:1",
        &["both `agent` and `agents` are given"],
    );
    check(
        "agent: echo\nprompt: none\nprompts: { a: none }\n",
        "5:1",
        &["both `prompt` and `prompts` are given"],
    );
    check("scorers: []\n", "1:1", &["missing key `agent`"]);
    check(
        "agentes: { a: echo }\nagent: echo\n",
        "3:1",
        &["did you mean `agents`?"],
    );
}

#[test]
fn a_mistake_in_one_of_them_is_placed_in_it() {
    check(
        "agents:\n  ok: echo\n  bad:\n    type: command\n    comand: [x]\n",
        "7:5",
        &["unknown key `agents.bad.comand`", "did you mean `command`?"],
    );
    check(
        "agents:\n  ok: echo\n  bad: { text: x }\n",
        "5:8",
        &["missing key `type` of an agent"],
    );
    check(
        "agents:\n  ok: echo\n  bad: { type: ecco }\n",
        "5:16",
        &["unknown agent `ecco`"],
    );
    // What the agent itself finds, when all keys are read.
    check(
        "agents:\n  ok: echo\n  bad: { type: command, command: [] }\n",
        "5:34",
        &["agent.command is missing"],
    );
    check(
        "agent: echo\nprompts:\n  ok: none\n  bad: { template: no place }\n",
        "6:20",
        &["has no `{prompt}`"],
    );
    check(
        "agent: echo\nprompts:\n  ok: none\n  bad: briefly\n",
        "6:8",
        &["unknown value `briefly`"],
    );
}

#[test]
fn a_gate_names_one_that_there_is() {
    let agents = "agents: { small: echo, large: echo }\n";
    check(
        &format!("{agents}gates:\n  - min_samples >= 1\n  - accuracy[agent=smal] >= 0.5\n"),
        "6:5",
        &[
            "the spec has no agent `smal`",
            "did you mean `[agent=small]`? its agents: `small`, `large`",
        ],
    );
    check(
        &format!("{agents}prompts: {{ p: none }}\ngates:\n  - accuracy[prompt=q] >= 0.5\n"),
        "6:5",
        &["the spec has no prompt `q`"],
    );
    check(
        &format!("{agents}gates:\n  - accuracy[agent=small][agent=large] >= 0.5\n"),
        "5:5",
        &["names two agents", "write a gate for each of them"],
    );
    check(
        &format!("{agents}gates:\n  - accuracy >= 0.5\n  - accuracy[agent=small] >= 0.6\n"),
        "6:5",
        &[
            "two gates of `@small` are called `accuracy`",
            "name one variant in each of the two",
        ],
    );
    check(
        &format!(
            "{agents}gates:\n  - accuracy[agent=small] >= 0.5\n  - accuracy[agent=small] >= 0.6\n"
        ),
        "6:5",
        &["two gates are called `accuracy`"],
    );
    // Without `prompts` it is a slice, which the data do not have.
    check(
        &format!("{agents}gates:\n  - accuracy[prompt=p] >= 0.5\n"),
        "5:5",
        &["prompt"],
    );
    check(
        &format!("{agents}gates:\n  - accuracy[agent=large] >= 60\n"),
        "5:5",
        &["did you mean `accuracy"],
    );
}
