//! Tables of the book that tell what the program knows.

use std::fs;

use needs::needs;
use serde_json::json;

use super::page::{Step, steps};
use crate::project::{Project, Ran, root};
use crate::server::{Server, chat, fine};

fn page(name: &str) -> String {
    fs::read_to_string(root().join("docs/src").join(name)).unwrap()
}

/// Help is wrapped.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The cells of a row of a table.
fn cells(row: &str) -> Vec<&str> {
    row.trim_matches('|').split('|').map(str::trim).collect()
}

/// The book, `--help` and the crate's page tell the same of how scorers depart from the official rule.
#[test]
fn the_departures_are_told_everywhere() {
    let guide = page("guides/scorers.md");
    let help = Project::new().run("scorers --help").exits(0).out;
    let rows = evaltest::engine::scorers::GUIDE
        .lines()
        .filter(|line| line.starts_with('|'));
    let departures: Vec<&str> = rows
        .skip_while(|line| !line.contains("accepts what"))
        .collect();
    assert!(departures.len() > 8);
    for line in &departures {
        assert!(guide.contains(line), "`{line}` is missing in the book");
    }
    // Help has a list in place of the table, and nothing of the table's signs.
    let titles = cells(departures[0]);
    for row in departures.iter().skip(2).map(|line| cells(line)) {
        let expected = format!(
            "{} {}: {} {}: {}",
            row[0], titles[1], row[1], titles[2], row[2]
        );
        assert!(
            on_one_line(&help).contains(&expected),
            "`{expected}` is missing in\n{help}"
        );
    }
    assert!(!help.contains("\n|"), "{help}");
}

/// The specs `{ type: … }` in the table of agents.
fn agents(page: &str) -> Vec<&str> {
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let spans = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
    spans.filter(|span| span.starts_with("{ type: ")).collect()
}

#[test]
fn the_smallest_spec_of_each_agent_works_as_it_stands() {
    let page = page("guides/agents.md");
    smallest_specs(&page, |spec| !spec.contains("python3"));
    let mut kinds: Vec<_> = agents(&page).into_iter().map(kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let built_in = evaltest::engine::eval::agents::BUILT_IN.iter();
    let mut built_in: Vec<_> = built_in.map(|kind| kind.name).collect();
    built_in.sort_unstable();
    assert_eq!(kinds, built_in);
}

#[needs(python3)]
#[test]
fn the_smallest_spec_of_each_agent_in_python_works_as_it_stands() {
    smallest_specs(&page("guides/agents.md"), |spec| spec.contains("python3"));
}

/// The type of an agent.
fn kind(spec: &str) -> &str {
    let kind = spec["{ type: ".len()..].split([',', ' ']).next();
    kind.unwrap()
}

/// Runs those of the page's agents, as they stand there.
fn smallest_specs(page: &str, which: fn(&str) -> bool) {
    // Whatever is asked, the right answer is the question.
    let server = Server::new(|requested, _| {
        let question = requested.body["question"].as_str();
        match question {
            Some(question) => fine(&json!({ "answer": question })),
            None => fine(&chat(requested.prompt())),
        }
    });
    let project = Project::with_eval(&[("q1", 1, "ONE", "ONE")], "{ type: echo }", "");
    for step in steps(page) {
        if let Step::Block(block) = step
            && let Some(name) = &block.file
        {
            project.write(name, &block.text);
        }
    }
    let documented: Vec<_> = agents(page)
        .into_iter()
        // Nobody is no agent for questions.
        .filter(|spec| which(spec) && kind(spec) != "none")
        .collect();
    assert!(documented.len() > 2);
    for spec in documented {
        // But for the address: here somebody else may listen there.
        let spec = spec.replace("http://127.0.0.1:8102", &server.url(""));
        project.spec(&spec, "");
        let mut command = project.command("run eval.yaml");
        let ran = Ran::of(&command.env("MY_KEY", "sk-of-nobody").output().unwrap()).exits(0);
        // The demo agent works things out, and there is nothing to work out.
        if kind(&spec) != "demo" {
            ran.says("1 of 1 correct");
        }
        let mut command = project.command("doctor eval.yaml");
        Ran::of(&command.env("MY_KEY", "sk-of-nobody").output().unwrap()).exits(0);
    }
}

#[test]
fn each_benchmark_is_told_of() {
    let page = page("guides/questions.md");
    for kind in evaltest::engine::eval::benchmarks::BUILT_IN {
        let row = format!("\n| `{}` |", kind.name);
        assert!(page.contains(&row), "{}", kind.name);
    }
}
