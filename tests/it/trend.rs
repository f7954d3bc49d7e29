//! `trend`: where evals go, from their histories alone.

use needs::needs;
use regex::Regex;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::project::{Project, Ran};
use crate::trials;

const FILE: &str = "evals/snapshots/gaia/history.jsonl";

/// What somebody may have called a model.
const HOSTILE: &str = "</title><img src=x onerror=alert(1)>\u{1b}[2J\u{202e}";

/// A run of 100 samples, a day after the one before.
fn line(day: u32) -> Value {
    let correct = if day < 25 { 60 } else { 45 } + day * 7 % 5;
    let share = f64::from(correct) / 100.0;
    let slice = json!({"scored": 50, "correct": 25, "accuracy": 0.5, "accuracy_ci95": [0.4, 0.6]});
    json!({
        "format_version": 1, "kind": "run", "id": format!("gaia-{day:02}"), "eval": "gaia",
        "time": format!("2026-{:02}-{:02}T07:51:00Z", 9 + day / 28, 1 + day % 28),
        "commit": format!("{:07x}{:033}", 0x0abc_d000 + day, 0), "dirty": false,
        "dataset_hash": "d", "scorer_hash": "s", "agent_hash": if day < 25 { "a" } else { "b" },
        "served_models": ["small@1"], "samples": 100, "scored": 100, "correct": correct, "errors": 0,
        "accuracy": share, "accuracy_ci95": [share - 0.1, share + 0.1], "error_rate": 0.0,
        "slices": {"level": {"1": slice, "<2>": slice}},
        "cost_usd": 1.25, "latency_s": {"mean": 2.0, "p50": 1.5, "p95": 6.0}, "exit_code": 0,
        "gates": [{"gate": "accuracy >= 0.5", "verdict": if day < 25 { "passed" } else { "failed" }}],
        "answers": {"samples": "h", "count": 3, "runs": [{"right": "oA=="}]},
    })
}

/// An eval with this history.
fn project(lines: &[Value]) -> Project {
    let project = Project::new();
    project.write(
        "evals/gaia.yaml",
        "name: gaia\nbenchmark: { type: qa, path: nowhere.jsonl }\nagent: { type: echo }\n",
    );
    let text: Vec<_> = lines.iter().map(|line| format!("{line}\n")).collect();
    project.write(FILE, text.concat());
    project
}

/// Forty runs, of which some were accepted, of another tier, of another dataset, or served by another model.
fn many() -> Vec<Value> {
    let mut lines: Vec<_> = (0..40).map(line).collect();
    let mut accepted = line(20);
    accepted["kind"] = "accept".into();
    accepted["id"] = "accept-1".into();
    accepted["runs"] = json!(["gaia-19", "gaia-20"]);
    lines.push(accepted);
    lines[30]["tier"] = "quick".into();
    for later in &mut lines[35..40] {
        later["served_models"] = json!([HOSTILE]);
        later["dataset_hash"] = "other".into();
    }
    lines[38]["errors"] = 25.into();
    // Whatever order git left them in.
    lines.reverse();
    lines
}

#[test]
fn a_table_says_where_an_eval_goes_and_where_that_changed() {
    let project = project(&many());
    let text = project.run("trend gaia").exits(0).out;
    let rows: Vec<&str> = text.lines().collect();
    let expect =
        "gaia: 40 runs since 2026-09-01, 1 baseline accepted (evals/snapshots/gaia/history.jsonl)";
    assert_eq!(rows[0], expect);
    let row = |day: &str| {
        let row = rows.iter().position(|row| row.contains(day));
        row.unwrap_or_else(|| panic!("{day} is not in\n{text}"))
    };
    // Of 2026-09-26, and so on: the newest twenty, the last at the end.
    let changed = rows[row(" 2026-09-26 07:51")];
    for expected in [
        "abcd019",
        "45.0 % (35.0 % to 55.0 %)",
        "−18.0",
        "1.2500 USD",
        "1.5 s",
        "agent changed; 1 gate failed; ▼ 14.8 points",
        " 45 of 100 ",
    ] {
        assert!(changed.contains(expected), "{expected}: {text}");
    }
    assert!(rows[row("10-03 07:51")].contains("  quick  "), "{text}");
    let other = rows[row("10-08 07:51")];
    for expected in [
        "other dataset: not compared with older runs; ",
        "served </title><img",
    ] {
        assert!(other.contains(expected), "{expected}: {text}");
    }
    assert!(
        !text.contains('\u{1b}') && !text.contains('\u{202e}'),
        "{text:?}"
    );
    // What has errors may be anything between.
    assert!(rows[row("10-11 07:51")].contains("% to "), "{text}");
    assert_eq!(row("10-12 07:51") + 2, rows.len(), "{text}");
    let fell = "accuracy fell by 14.8 points";
    assert!(rows[rows.len() - 1].contains(fell), "{text}");
    assert!(
        rows[rows.len() - 1].contains(
            "with run gaia-25 of 2026-09-26 07:51, commit abcd019; in the same run: agent changed"
        ),
        "{text}"
    );
    project
        .run("trend")
        .exits(0)
        .says("20 older: `cargo evaltest trend --last 0`");
    let all = project
        .run("trend --last 0")
        .exits(0)
        .says("baseline accepted `gaia-19`, `gaia-20`");
    assert!(!all.err.contains("older"), "{}", all.err);
    assert_eq!(all.out.lines().count(), 40 + 1 + rows.len() - 20);
}

#[test]
fn as_json_a_trend_has_lines_and_marks() {
    let project = project(&many());
    let json = project.run("trend gaia --json --last 0").exits(0).json();
    assert_eq!(json["format_version"], 1);
    let eval = &json["evals"][0];
    assert_eq!(eval["runs"], 40);
    let lines = eval["lines"].as_array().unwrap();
    let runs: Vec<_> = lines.iter().map(|line| &line["runs"]).collect();
    assert_eq!(runs, [34, 1, 5]);
    assert_eq!(lines[1]["tier"], "quick");
    let change = &lines[0]["changes"][0];
    assert_eq!(change["run"], "gaia-25");
    assert!(change["p"].as_f64() < Some(0.05), "{change}");
    let entries = eval["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 41);
    assert!(entries.iter().all(|entry| entry.get("answers").is_none()));
    let last = &entries[40];
    assert_eq!((&last["id"], &last["line"]), (&json!("gaia-39"), &json!(2)));
    let errors = &entries[39];
    assert_eq!(errors["accuracy_bounds"].as_array().unwrap().len(), 2);
    let marks = entries
        .iter()
        .flat_map(|entry| entry["marks"].as_array().unwrap());
    let marks: Vec<_> = marks.filter_map(|mark| mark["mark"].as_str()).collect();
    let count = |name: &str| marks.iter().filter(|mark| **mark == name).count();
    assert_eq!(
        [
            count("agent"),
            count("level"),
            count("dataset"),
            count("model")
        ],
        [1; 4]
    );
    let one = project.run("trend gaia --json --last 1").exits(0).json();
    assert_eq!(one["evals"][0]["older"], 39);
    assert_eq!(one["evals"][0]["entries"].as_array().unwrap().len(), 1);
}

#[test]
fn what_is_no_history_is_told() {
    let project = project(&many());
    // What cannot be read is left out by name; the rest counts.
    let whole = project.read(FILE);
    let foreign = whole
        .lines()
        .next()
        .unwrap()
        .replace("\"gaia\"", "\"other\"");
    let damaged = format!("<<<<<<< HEAD\n{whole}{foreign}\n{{\"format_vers");
    project.write(FILE, &damaged);
    let ran = project.run("trend").exits(0).says("gaia: 40 runs");
    for expected in [
        "history.jsonl:1: ",
        "history.jsonl:43: ",
        "belongs to eval `other`",
        "history.jsonl:44: ",
        "it is cut off",
    ] {
        assert!(ran.err.contains(expected), "{expected}: {}", ran.err);
    }
    assert_eq!(project.read(FILE), damaged);
    project.write(FILE, "nonsense\n");
    project.run("trend").exits(2).says("has no readable line");
    project.write(FILE, "");
    project
        .run("trend gaia")
        .exits(2)
        .says("cargo evaltest run gaia --history");
    std::fs::remove_file(project.file(FILE)).unwrap();
    project
        .run("trend gaia")
        .exits(2)
        .says("eval `gaia` has no history yet");
    project
        .run("trend")
        .exits(2)
        .says("eval `gaia` has no history yet");
    project
        .run("trend gaya")
        .exits(2)
        .says("did you mean `gaia`?");
    project.run("trend --last none").exits(2);
    project.run("trend --json --html x.html").exits(2);
    Project::new().run("trend").exits(2).says("no evals found");
}

#[test]
fn alerts_are_judged_as_the_history_stands_now() {
    let project = project(&many());
    let spec = project.read("evals/gaia.yaml");
    let with =
        |alerts: &str| project.write("evals/gaia.yaml", format!("{spec}alerts: [{alerts}]\n"));
    // The runs of the tests are of 2026.
    with("stale(days=100000), cost_usd > 2");
    let quiet = project.run("trend").exits(0);
    quiet.says("quiet: cost_usd > 2").says_nothing_of("ALERT");
    with("accuracy < 0.5 twice, stale(days=100000)");
    project
        .run("trend")
        .exits(1)
        .says("ALERT: accuracy < 0.5 twice");
    let json = project.run("trend --json").exits(1).json();
    let alerts = &json["evals"][0]["alerts"];
    assert_eq!(alerts[0]["verdict"], "raised", "{alerts}");
    project.run("trend --html page.html").exits(1);
    assert!(project.read("page.html").contains(
        "<div class=\"box failed\">\n<p><span class=\"bad\">ALERT: accuracy &lt; 0.5 twice"
    ));
    with("accuracy < 0");
    for command in ["trend", "trend gaia"] {
        project.run(command).exits(2).says("evals/gaia.yaml:4:");
    }
}

#[test]
fn a_page_has_all_of_it_and_nothing_from_elsewhere() {
    let project = project(&many());
    project
        .run("trend --html page.html")
        .exits(0)
        .says("page.html");
    let page = project.read("page.html");
    let without = Regex::new("(?s)<style>.*?</style>").unwrap();
    let text = without.replace_all(&page, "");
    for expect in [
        "<title>Trend of gaia</title>",
        "<h1>gaia: 40 runs since 2026-09-01, 1 baseline accepted</h1>",
        "accuracy fell by 14.8 points",
        "level = &lt;2&gt;",
        "<polygon class=\"band\" ",
        "Tier quick",
        "<strong>A</strong><span class=\"soft\"> agent changed</span>",
        "served &lt;/title&gt;&lt;img src=x onerror=alert(1)&gt;\\u{1b}[2J\\u{202e}",
        "other dataset: not compared with older runs",
        "<strong>baseline accepted</strong> <code>gaia-19</code>, <code>gaia-20</code>",
    ] {
        assert!(text.contains(expect), "`{expect}` is not in\n{text}");
    }
    let elsewhere = Regex::new(r#"(?i)<[a-z][^>]*\s(on\w+|style|src|srcset|action)=|href="[^#]|@import|url\(|<script|<(img|iframe|object|link|base)\b"#).unwrap();
    if let Some(found) = elsewhere.find(&text) {
        panic!("`{}` is in\n{text}", found.as_str());
    }
}

#[needs(browser)]
#[test]
fn a_browser_shows_a_page_on_any_screen() {
    let project = project(&many());
    project.run("trend --html page.html").exits(0);
    let url = format!("file://{}", project.file("page.html").display());
    let mut tab = Browser::open(&url, 1200);
    for width in [1200, 320] {
        tab.width(width);
        let wider =
            tab.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(wider, 0, "at {width}");
        // The pictures are as wide as there is room, and none stands over its edge.
        let lost = tab.eval("[...document.querySelectorAll('svg.series circle, svg.series text')].filter((it) => { const at = it.getBoundingClientRect(); return at.left < 0 || at.right > innerWidth; }).length");
        assert_eq!(lost, 0, "at {width}");
    }
    let pictures = tab.accessible();
    let expected = "Accuracy with its 95 % interval, the newest run: 2026-10-12 07:51, abcd027: ";
    assert!(
        pictures
            .iter()
            .any(|(role, name)| role == "image" && name.starts_with(expected)),
        "{pictures:?}"
    );
    assert_eq!(tab.complaints(), [""; 0]);
}

#[test]
fn a_test_target_says_where_its_evals_have_their_histories() {
    // As one answers that has evals of its own.
    let ours = trials::project(2, ":", "");
    let requested = [("EVALTEST_DRIVE", "{\"errand\": \"place\"}")];
    let ran = trials::run_with(&ours, "", &requested);
    let expected = ran.exits(0).out;
    let place = expected
        .lines()
        .find_map(|line| line.strip_prefix("evaltest> {"));
    let place: Value = serde_json::from_str(&format!("{{{}", place.unwrap())).unwrap();
    assert_eq!(place["eval"], "e");
    let path = place["path"].as_str().unwrap();
    assert!(
        path.ends_with("fixtures/gaia/snapshots/e/history.jsonl"),
        "{path}"
    );

    let project = Project::new();
    let name = format!("trend_{}", std::process::id());
    let package =
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n");
    let target = "[[test]]\nname = \"mine\"\nharness = false\n\n[package.metadata.evaltest]\ntests = [\"mine\"]\n";
    project.write("Cargo.toml", package + target);
    project.write("src/lib.rs", "");
    let main = "fn main() {\n    println!(\"evaltest> \");\n    let name = std::env::var(\"EVALTEST_DRIVE\").unwrap().contains(\"name\");\n    let text = if name { \"gaia\" } else { r#\"{\"eval\":\"gaia\",\"path\":\"kept/history.jsonl\"}\"# };\n    println!(\"evaltest> {text}\");\n}\n";
    project.write("tests/mine.rs", main);
    project.write("kept/history.jsonl", format!("{}\n", line(3)));
    for command in ["trend", "trend gaia"] {
        let mut command = project.command(command);
        command.env("CARGO_TARGET_DIR", project.file("target"));
        let ran = Ran::of(&command.output().unwrap());
        ran.exits(0)
            .says("gaia: 1 run since 2026-09-04 (kept/history.jsonl)");
    }
    // What cannot be built is told, and hides no other.
    project.write("tests/mine.rs", "fn main( {\n");
    project.write(
        "evals/gaia.yaml",
        "name: other\nbenchmark: { type: qa, path: nowhere.jsonl }\nagent: { type: echo }\n",
    );
    project.write(
        "evals/snapshots/other/history.jsonl",
        line(3).to_string().replace("\"gaia\"", "\"other\""),
    );
    let mut command = project.command("trend");
    command.env("CARGO_TARGET_DIR", project.file("target"));
    let ran = Ran::of(&command.output().unwrap());
    ran.exits(0)
        .says("other: 1 run")
        .says("test target `mine` cannot be built");
}

#[test]
fn without_a_history_the_runs_that_are_there_are_shown() {
    let project = Project::with_eval(
        &[("a", 1, "One?", "1"), ("b", 1, "Two?", "2")],
        "{ type: command, command: [sh, -c, 'echo 1'] }",
        "",
    );
    for run in ["one", "two"] {
        project.run(&format!("run eval.yaml --run-id {run}"));
    }
    let trend = |arguments: &str| {
        project
            .run(&format!("trend eval.yaml {arguments}"))
            .exits(0)
    };
    trend("")
        .says("has no committed history, so these are the runs on this machine")
        .says("(evaltest-runs)\n")
        .says("50.0 %");
    let entries = trend("--json").json()["evals"][0]["entries"].clone();
    let ids: Vec<_> = entries
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["id"])
        .collect();
    assert_eq!(ids, ["one", "two"]);
}
