//! What is told while a run goes on.

use needs::needs;

use crate::project::Project;
use crate::server::{Server, chat, fine, refusal};
use crate::terminal::on_terminal;

/// So many questions, each with the answer `ONE`.
fn project(questions: usize, agent: &str, more: &str) -> Project {
    let ids: Vec<_> = (0..questions)
        .map(|number| format!("q{number:02}"))
        .collect();
    let questions: Vec<_> = ids
        .iter()
        .map(|id| (id.as_str(), 1, "one", "ONE"))
        .collect();
    Project::with_eval(&questions, agent, more)
}

/// Adds the same eval by another name.
fn another(project: &Project) {
    let spec = project.read("eval.yaml");
    project.write("other.yaml", spec.replace("name: e", "name: other"));
}

#[test]
fn lines_of_a_pipe_tell_how_far_and_at_what_price() {
    let server = Server::new(|requested, _| fine(&chat(&requested.prompt().to_uppercase())));
    let price = ", price: { input: 1000, output: 1000 }";
    let project = project(20, &server.openai(price), "limits: { concurrency: 1 }\n");
    another(&project);
    let ran = project.run("run eval.yaml other.yaml").exits(0);
    let line = |name: &str| {
        let mut lines = ran.err.lines();
        let line = lines.find(|line| line.starts_with(&format!("{name}: 10 of 20 samples, ")));
        line.unwrap_or_else(|| panic!("{}", ran.err)).to_owned()
    };
    // A tenth of so few would be a line for every other one.
    let first = line("e");
    for says in [
        "10 correct, 0 errors, ",
        " s left, ",
        "0.1200 USD, 120 tokens, ",
        "/s; eval 1 of 2, 10 of 40 in all, ",
    ] {
        assert!(first.contains(says), "`{says}` in {first}");
    }
    let second = line("other");
    let all = "; eval 2 of 2, 30 of 40 in all, 360 tokens, 0.3600 USD";
    assert!(second.ends_with(all), "{second}");
    let lines = ran
        .err
        .lines()
        .filter(|line| line.contains(" of 20 samples"))
        .count();
    assert_eq!(lines, 2, "{}", ran.err);
}

#[test]
fn a_run_begins_with_whom_it_asks_what_and_at_what_price() {
    let server = Server::new(|requested, _| fine(&chat(&requested.prompt().to_uppercase())));
    let check = |agent: &str, limits: &str, expect: &str| {
        let project = project(2, agent, limits);
        let ran = project.run("run eval.yaml").exits(0);
        let first = ran.err.lines().next().unwrap_or_default();
        let expect = format!("e: sending {expect}");
        assert!(first.starts_with(&expect), "{first}\n{expect}");
    };
    let upper = "{ type: command, command: [tr, a-z, A-Z] }";
    check(
        upper,
        "limits: { concurrency: 3, timeout_s: 90, retries: 2, deadline_s: 600, requests_per_minute: 6000 }\n",
        "2 samples of `data.jsonl` to agent `tr`; 3 in parallel, timeout 90 s, 2 retries, 6000 requests a minute, 10 min in all",
    );
    let priced = server.openai(", price: { input: 1000, output: 1000 }, max_tokens: 5");
    let requested = "2 samples of `data.jsonl` to agent `openai` (`local`); 1 in parallel, timeout 60 s, no retries, 0 s of rate limits a sample, ";
    let limits = "limits: { concurrency: 1, retries: 0, timeout_s: 60";
    // Each a few bytes and five tokens.
    let expect = format!("{requested}costs at most 0.0");
    check(&priced, &format!("{limits} }}\n"), &expect);
    let priced = priced.replace("max_tokens: 5", "max_tokens: 500");
    let budget = format!("{limits}, budget: {{ cost_usd: 0.5 }} }}\n");
    let expect = format!("{requested}costs at most 0.5000 USD by its budget");
    check(&priced, &budget, &expect);
    let expect = format!("{requested}with no limit on its cost");
    check(&server.openai(""), &format!("{limits} }}\n"), &expect);
}

#[test]
fn a_run_begins_with_files_that_are_read_and_no_price_of_what_is_replayed() {
    let project = Project::new();
    let row = |id: &str| {
        format!(
            "{{\"task_id\":\"{id}\",\"Question\":\"one\",\"Final answer\":\"ONE\",\"Level\":1}}\n"
        )
    };
    for split in ["test", "validation"] {
        project.write(&format!("data/2023/{split}/metadata.jsonl"), row("a"));
    }
    project.write("said.jsonl", "{\"id\":\"a\",\"output\":\"GRADE: C\"}\n");
    let spec = "name: e\nbenchmark: { type: gaia, path: data }\nagent: echo\nscorer:\n  type: judge\n  rubric: qa\n  \
                agent: { type: replay, path: said.jsonl }\n";
    project.write("eval.yaml", spec);
    let ran = project.run("run eval.yaml");
    ran.says(" sample of `data/2023/validation/metadata.jsonl` to agent `echo`;")
        .says_nothing_of("no limit on its cost");
}

#[test]
fn answers_from_the_cache_promise_nothing() {
    let server = Server::new(|requested, _| fine(&chat(&requested.prompt().to_uppercase())));
    let project = project(20, &server.openai(", seed: 1"), "cache: true\n");
    project.run("run eval.yaml").exits(0);
    let ran = project.run("run eval.yaml").exits(0);
    let ran = ran.says("e: 10 of 20 samples, 10 correct, 0 errors\n");
    assert!(!ran.err.contains(" left"), "{}", ran.err);
}

#[needs(python3)]
#[test]
fn the_same_trouble_is_shown_three_times_and_counted_on_a_terminal_too() {
    let server = Server::new(|_, _| refusal("500 Internal Server Error", "no"));
    let limits = "limits: { retries: 0, keep_going: true, concurrency: 2 }\n";
    let project = project(30, &server.openai(""), limits);
    let check = |seen: &str| {
        assert_eq!(seen.matches("attempt 1 failed").count(), 3, "{seen}");
        let counted = "e: 30 attempts failed with the same error (3 shown): ";
        assert_eq!(seen.matches(counted).count(), 1, "{seen}");
    };
    check(&project.run("run eval.yaml").exits(3).err);
    check(&on_terminal(&project.command("run eval.yaml"), 100));
}

#[needs(python3)]
#[test]
fn a_bar_tells_of_the_eval_and_of_all_and_fits_the_terminal() {
    let server = Server::new(|requested, _| {
        std::thread::sleep(std::time::Duration::from_millis(40));
        fine(&chat(&requested.prompt().to_uppercase()))
    });
    let project = project(12, &server.openai(""), "limits: { concurrency: 1 }\n");
    another(&project);
    let seen = on_terminal(&project.command("run eval.yaml other.yaml"), 50);
    for says in [
        "eval 1 of 2, ",
        "eval 2 of 2, ",
        " of 24 in all",
        "█",
        " correct, 0 errors",
    ] {
        assert!(seen.contains(says), "`{says}` in {seen}");
    }
    // Both lines are drawn at once, each filled with blanks; the cursor went up before, `[1A`.
    let drawn = seen
        .split(['\r', '\n', '\x1b'])
        .map(|line| line.trim_start_matches("[1A"))
        .filter(|line| line.contains("░"));
    for line in drawn {
        assert!(line.chars().count() <= 100, "{line}");
    }
}
