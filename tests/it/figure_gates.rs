//! Gates on figures against the baseline: tokens, cost, steps, points, and tools in their order.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::project::Project;

/// How many questions there are.
const QUESTIONS: usize = 24;

/// A recording in which every question takes this many steps, each a call of a tool, and tokens and cost in proportion.
/// Values differ a little from question to question.
fn recording(steps: usize, tool: &str) -> String {
    let mut text = String::new();
    for question in 0..QUESTIONS {
        let steps = steps + question % 3;
        let calls = (0..steps).map(|_| {
            let call = json!({"function": {"name": tool, "arguments": "{}"}});
            json!({"role": "assistant", "tool_calls": [call]})
        });
        let messages: Vec<Value> = calls.collect();
        let line = json!({
            "id": format!("q{question:02}"), "answer": "right", "messages": messages, "steps": steps,
            "usage": {"input_tokens": 100 * steps, "output_tokens": 20 * steps, "cost_usd": f64::from(u32::try_from(steps).unwrap()) / 1000.0},
        });
        writeln!(text, "{line}").unwrap();
    }
    text
}

/// An eval of these gates whose agent replays a recording, `b.jsonl`.
fn project(gates: &str) -> Project {
    let project = Project::new();
    let mut questions = "id,question,answer\n".to_owned();
    for question in 0..QUESTIONS {
        writeln!(questions, "q{question:02},Question {question}?,right").unwrap();
    }
    project.write("q.csv", questions);
    project.write("b.jsonl", recording(6, "search"));
    spec(&project, "b.jsonl", gates);
    project
}

fn spec(project: &Project, recording: &str, gates: &str) {
    project.write(
        "eval.yaml",
        format!(
            "name: e\nbenchmark: {{ type: qa, path: q.csv }}\nagent: {{ type: replay, path: {recording} }}\n\
             snapshot: {{ answers: plain }}\ngates: [{gates}]\n"
        ),
    );
}

/// Runs and accepts the recordings, then runs `c.jsonl` with these gates.
fn accepted(project: &Project, recordings: &[&str]) {
    for (place, recording) in recordings.iter().enumerate() {
        spec(project, recording, "");
        project.run("run eval.yaml").exits(0);
        let add = if place == 0 { "" } else { "--add " };
        let dir = project.last_run();
        project
            .run(&format!("accept {add}{}", dir.display()))
            .exits(0);
    }
}

#[test]
fn an_agent_that_takes_more_steps_is_red_and_says_where() {
    let project = project("");
    accepted(&project, &["b.jsonl"]);
    project.write("c.jsonl", recording(21, "search"));
    for (gate, says) in [
        ("no_increase(tokens, by=10%)", "tokens is 3.1"),
        ("no_increase(steps)", "steps is 3.1"),
        ("no_increase(cost_usd)", "cost_usd is 3.1"),
        ("no_regression(tool_calls)", "tool_calls is 3.1"),
    ] {
        spec(&project, "b.jsonl", &format!("'{gate}'"));
        project.run("run -v eval.yaml").exits(0);
        spec(&project, "c.jsonl", &format!("'{gate}'"));
        project
            .run("run -v eval.yaml")
            .exits(1)
            .says(says)
            .says("p < 0.001 < alpha 0.05, 24 compared samples")
            .says("rose most: ")
            .says("or more with 80 % power")
            .says("compare the answers: cargo evaltest show e q");
        // The other direction is better.
        let fall = gate.replace("increase", "decrease");
        if fall != gate {
            spec(&project, "c.jsonl", &format!("'{fall}'"));
            project.run("run -v eval.yaml").exits(0);
        }
    }
    let summary = project.last_json("summary.json");
    let tokens = &summary["change"]["figures"]["tokens"];
    assert_eq!(tokens["n"], QUESTIONS);
    assert!(tokens["ratio"].as_f64().unwrap() > 3.0, "{tokens}");
    assert!(tokens["p"].as_f64().unwrap() < 0.001, "{tokens}");
    assert_eq!(tokens["rose"].as_array().unwrap().len(), 5);
    // A comparison tells the same ratios.
    let baseline = tokens["baseline_run"].as_str().unwrap();
    let now = project.last_run().display().to_string();
    let compared = project.run(&format!("compare {baseline} {now} --json"));
    let figures = compared.exits(0).json()["figures"].clone();
    for name in ["tokens", "steps", "tool_calls"] {
        let of_gate = &summary["change"]["figures"][name]["ratio"];
        let difference = figures[name]["ratio"].as_f64().unwrap() - of_gate.as_f64().unwrap();
        assert!(difference.abs() < 1e-9, "{name}: {figures} {of_gate}");
    }
}

#[test]
fn the_snapshot_keeps_figures_and_an_old_one_is_inconclusive() {
    let project = project("");
    accepted(&project, &["b.jsonl"]);
    let folder = project.file("snapshots/e");
    let mut texts = Vec::new();
    for file in walkdir::WalkDir::new(&folder).into_iter().flatten() {
        if file.path().extension().is_some_and(|end| end == "snap") {
            texts.push((
                file.path().to_owned(),
                fs::read_to_string(file.path()).unwrap(),
            ));
        }
    }
    assert_eq!(texts.len(), QUESTIONS);
    let (_, first) = texts
        .iter()
        .find(|(path, _)| path.ends_with("q00.snap"))
        .unwrap();
    for line in [
        "\ntokens: 720\n",
        "\nsteps: 6\n",
        "\ntools: search,search,search,search,search,search\n",
    ] {
        assert!(first.contains(line), "{line:?} in {first}");
    }
    assert!(!first.contains("latency"), "{first}");
    spec(&project, "b.jsonl", "no_decrease(qa.nope)");
    project
        .run("run eval.yaml")
        .exits(3)
        .says("no score has `qa.nope`, neither in the baseline nor now");
    // As a version wrote them that knew no figures.
    for (path, text) in &texts {
        let is_figure = |line: &&str| {
            let first = line.split(':').next().unwrap_or_default();
            ["tokens", "cost_usd", "steps", "tools"]
                .iter()
                .any(|name| first.ends_with(name))
        };
        let lines: Vec<_> = text.lines().filter(|line| !is_figure(line)).collect();
        fs::write(path, lines.join("\n") + "\n").unwrap();
    }
    spec(&project, "b.jsonl", "no_increase(tokens)");
    project
        .run("run eval.yaml")
        .exits(3)
        .says("no answer of the baseline reports its `tokens`: accept a run that does");
}

#[test]
fn tools_in_another_order_are_seen_with_two_answers_on_one_side() {
    let project = project("");
    accepted(&project, &["b.jsonl"]);
    let gate = "no_change(trajectory)";
    project.write("c.jsonl", recording(6, "open"));
    spec(&project, "c.jsonl", gate);
    project
        .run("run eval.yaml")
        .exits(3)
        .says("one answer per sample and run cannot show chance: accept two runs");
    // Another recording of the same agent.
    project.write(
        "d.jsonl",
        recording(6, "search").replace("\"right\"", "\" right\""),
    );
    accepted(&project, &["b.jsonl", "d.jsonl"]);
    spec(&project, "c.jsonl", gate);
    project
        .run("run eval.yaml")
        .exits(1)
        .says("tools and their order: p < 0.001 < alpha 0.05, 24 compared samples");
    project.write(
        "f.jsonl",
        recording(6, "search").replace("\"right\"", "\"right \""),
    );
    spec(&project, "f.jsonl", gate);
    project.run("run eval.yaml").exits(0);
}

#[test]
fn gates_on_figures_and_verdicts_share_one_alpha() {
    let project = project("");
    accepted(&project, &["b.jsonl"]);
    // Five questions rose and none fell: p is 1 of 32.
    let change = |(place, line): (usize, &str)| match place {
        0..5 => line.replace("\"output_tokens\":", "\"output_tokens\":9") + "\n",
        _ => line.to_owned() + "\n",
    };
    let changed = recording(6, "search");
    project.write(
        "c.jsonl",
        changed.lines().enumerate().map(change).collect::<String>(),
    );
    spec(&project, "c.jsonl", "no_increase(tokens)");
    project
        .run("run eval.yaml")
        .exits(1)
        .says("p = 0.031 < alpha 0.05");
    spec(
        &project,
        "c.jsonl",
        "no_regression(alpha=0.05), no_increase(tokens), no_increase(steps)",
    );
    project.run("run eval.yaml").exits(0).says(
        "p = 0.031, 0.094 corrected for the other gates against the baseline (Holm) >= alpha 0.05",
    );
}

#[test]
fn a_latency_needs_a_margin() {
    let project = project("'no_increase(latency)'");
    project
        .run("run eval.yaml")
        .exits(2)
        .says("a latency gate needs `by` of 25 % or more")
        .says("write `no_increase(latency, by=25%)`");
    // A replayed answer has none of its own.
    spec(&project, "b.jsonl", "'no_increase(latency, by=25%)'");
    project.run("run eval.yaml").exits(0);
    project.run("accept e").exits(0);
    project
        .run("run eval.yaml")
        .exits(3)
        .says("no answer of the baseline has a measured latency: replayed answers have none");
}

#[test]
fn show_puts_both_answers_side_by_side() {
    let project = project("");
    accepted(&project, &["b.jsonl"]);
    project.write("c.jsonl", recording(8, "open"));
    spec(&project, "c.jsonl", "");
    project.run("run eval.yaml").exits(0);
    project
        .run("show e q00 --against baseline")
        .exits(0)
        .says("question: ")
        .says("expected: ")
        .says("left: the baseline")
        .says("search({})")
        .says("open({})")
        .says("6 steps")
        .says("8 steps");
    project
        .run("show q00 --against baseline")
        .exits(0)
        .says("open({})");
    project
        .run("show e --against baseline")
        .exits(2)
        .says("`--epoch` and `--against` need the id of a sample");
    project.run("compare baseline e").exits(0);
    project
        .run("scorers e")
        .exits(0)
        .says(" answers of evaltest-runs/");
    project
        .run("scorers nothing")
        .exits(2)
        .says("cannot read `nothing`: No such file");
    project.run("compare baseline").exits(0);
    let json = project
        .run("show e q00 --against baseline --json")
        .exits(0)
        .json();
    assert_eq!(json["against"]["result"]["steps"], 6);
    fs::remove_dir_all(&project.runs()[0]).unwrap();
    project
        .run("show e q00 --against baseline")
        .exits(2)
        .says("is no longer here");
}

/// An eval with one line of a recording for each question, made of this.
fn of_lines(project: &Project, name: &str, line: impl Fn(usize) -> Value) {
    let mut text = String::new();
    for question in 0..QUESTIONS {
        let mut line = line(question);
        line["id"] = format!("q{question:02}").into();
        writeln!(text, "{line}").unwrap();
    }
    project.write(name, text);
}

#[test]
fn masked_snapshots_hold_nothing_that_tells_an_answer() {
    let project = project("");
    project.write("b.jsonl", recording(6, "secret_tool"));
    let masked = project.read("eval.yaml").replace("plain", "masked");
    project.write("eval.yaml", masked + "scorer: fuzzy\n");
    project.run("run eval.yaml").exits(0);
    project.run("accept").exits(0);
    for file in walkdir::WalkDir::new(project.file("snapshots"))
        .into_iter()
        .flatten()
        .filter(|file| file.path().extension().is_some_and(|end| end == "snap"))
    {
        let text = fs::read_to_string(file.path()).unwrap();
        for hint in ["output_length", "fuzzy.distance", "secret_tool", "right"] {
            assert!(!text.contains(hint), "{hint} in {text}");
        }
        assert!(
            ["steps: ", "tools: ", "fuzzy.similarity: "]
                .iter()
                .all(|stored| text.contains(stored)),
            "{text}"
        );
    }
    let spec = project.read("eval.yaml");
    project.write(
        "eval.yaml",
        spec.replace("gates: []", "gates: [no_increase(output_length)]"),
    );
    project
        .run("run eval.yaml")
        .exits(3)
        .says("masked snapshots do not store `output_length`, which may reveal an answer");
}

#[test]
fn nothing_is_an_amount() {
    let project = project("");
    let costs = |cost: f64| move |_: usize| json!({"answer": "right", "usage": {"input_tokens": 9, "output_tokens": 1, "cost_usd": cost}});
    of_lines(&project, "b.jsonl", costs(0.0));
    accepted(&project, &["b.jsonl"]);
    spec(&project, "b.jsonl", "no_increase(cost_usd)");
    project.run("run -v eval.yaml").exits(0);
    of_lines(&project, "c.jsonl", costs(5.0));
    spec(&project, "c.jsonl", "no_increase(cost_usd)");
    project
        .run("run -v eval.yaml")
        .exits(1)
        .says("rose most: q00 (");
}

#[test]
fn figures_that_no_scorer_gives_are_found_before_the_agent_starts() {
    let project = project("");
    for (gate, says) in [
        ("no_decrease(nobody.value)", "no scorer is called `nobody`"),
        ("no_decrease(fuzzy.nope)", "scorer `fuzzy` gives no `nope`"),
        ("'no_change(trajectory, by=10%)'", "takes no `by`"),
    ] {
        spec(&project, "b.jsonl", gate);
        project
            .run("run eval.yaml --scorer fuzzy")
            .exits(2)
            .says(says);
    }
    assert!(project.runs().is_empty());
}

#[test]
fn a_run_that_ends_at_a_tier_is_compared_with_its_samples() {
    let project = project("");
    let tiers = "tiers: { quick: { limit: 12 }, full: {} }\n";
    let with = |recording: &str, gates: &str| {
        spec(&project, recording, gates);
        let text = project.read("eval.yaml") + tiers;
        project.write("eval.yaml", text);
    };
    with("b.jsonl", "");
    project.run("run -v eval.yaml --tier full").exits(0);
    project.run("accept").exits(0);
    project.write("c.jsonl", recording(21, "search"));
    with(
        "c.jsonl",
        "'no_increase(tokens)[tier=quick]', 'no_regression(alpha=0.05)[tier=quick]'",
    );
    project
        .run("run -v eval.yaml --progressive")
        .exits(1)
        .says("gate no_increase(tokens)[tier=quick]: FAILED: ")
        .says(", 12 compared samples")
        .says("gate no_regression(alpha=0.05)[tier=quick]: passed: ");
}

#[test]
fn alerts_watch_the_same_figures_in_the_history() {
    let project = project("");
    let watched = [
        "tokens",
        "input_tokens",
        "output_tokens",
        "cost_usd",
        "steps",
        "tool_calls",
    ];
    let alerts = watched.map(|figure| format!("'rise({figure}, 0.5)'"));
    let run = |recording: &str| {
        spec(&project, recording, "");
        let text = project.read("eval.yaml");
        project.write(
            "eval.yaml",
            format!("{text}alerts: [{}]\n", alerts.join(", ")),
        );
        project.run("run -v eval.yaml --history")
    };
    run("b.jsonl").exits(0);
    let line = project.read("snapshots/e/history.jsonl");
    let line: Value = serde_json::from_str(line.lines().last().unwrap()).unwrap();
    assert_eq!(line["figures"]["tool_calls"], 7.0);
    assert_eq!(line["figures"]["input_tokens"], 16_800.0);
    for _ in 0..4 {
        run("b.jsonl").exits(0);
    }
    project.write("c.jsonl", recording(21, "search"));
    let ran = run("c.jsonl").exits(1);
    for figure in watched {
        let raised = format!("alert rise({figure}, 0.5): RAISED");
        assert!(ran.out.contains(&raised), "{raised}: {}", ran.out);
    }
    // Absolute bounds, too.
    spec(
        &project,
        "c.jsonl",
        "'tool_calls <= 21', 'output_length <= 5'",
    );
    project
        .run("run -v eval.yaml")
        .exits(1)
        .says("tool calls 22 (the mean of 24 answers), limit 21")
        .says("gate output_length <= 5: passed");
}
