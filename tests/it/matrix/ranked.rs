//! The table: who is ahead, by how much, and who is not significantly different from whom.

use serde_json::{Value, json};

use crate::project::Project;

/// Forty questions; each agent knows so many of them, errs where its list says so, and none knows what another does not.
fn project(agents: &[(&str, u32, u32)]) -> Project {
    let project = Project::new();
    let samples: Vec<String> = (0..40)
        .map(|n| format!("  - {{ id: q{n:03}, prompt: '{n}', ground_truth: '{n}' }}"))
        .collect();
    let agent = |&(name, knows, fails): &(&str, u32, u32)| {
        let shell = format!(
            "n=$(cat); test $n -ge {} && exit 3; test $n -lt {knows} && echo $n || echo no",
            40 - fails
        );
        format!("  {name}: {{ type: command, shell: '{shell}' }}")
    };
    let agents: Vec<String> = agents.iter().map(agent).collect();
    project.write(
        "e.yaml",
        format!(
            "benchmark:\n  type: custom\n  samples:\n  {}\nprompt: none\nscorer: exact\nlimits: {{ keep_going: true }}\n\
             gates: [error_rate <= 1]\nagents:\n{}\n",
            samples.join("\n  "),
            agents.join("\n")
        ),
    );
    project
}

fn ranking(project: &Project) -> Value {
    // Of one that never answered the run is an outage.
    project.run("run e.yaml --json").json()["matrix"][0].clone()
}

/// Name, places and letters of each.
fn places(ranking: &Value) -> Vec<(String, [u64; 2], String)> {
    let runs = ranking["runs"].as_array().unwrap().iter();
    runs.map(|run| {
        let groups = run["groups"].as_array().unwrap().iter();
        let groups: Vec<_> = groups.map(|group| group.as_str().unwrap()).collect();
        (
            run["variant"]["agent"].as_str().unwrap().to_owned(),
            [0, 1].map(|at| run["rank"][at].as_u64().unwrap()),
            groups.concat(),
        )
    })
    .collect()
}

#[track_caller]
fn check(project: &Project, expect: &[(&str, [u64; 2], &str)]) -> Value {
    let ranking = ranking(project);
    let expect = expect.iter();
    let expect: Vec<_> = expect
        .map(|(name, rank, groups)| ((*name).to_owned(), *rank, (*groups).to_owned()))
        .collect();
    assert_eq!(places(&ranking), expect, "{ranking:#}");
    ranking
}

#[test]
fn who_is_not_told_apart_shares_a_letter() {
    let project = project(&[
        ("worst", 5, 0),
        ("good", 34, 0),
        ("best", 38, 0),
        ("middle", 20, 0),
    ]);
    let ranking = check(
        &project,
        &[
            ("best", [1, 1], "a"),
            ("good", [2, 2], "a"),
            ("middle", [3, 3], "b"),
            ("worst", [4, 4], "c"),
        ],
    );
    assert_eq!(ranking["eval"], "e");
    let middle = &ranking["runs"][2];
    assert_eq!(middle["accuracy"], 0.5);
    assert_eq!(middle["difference"], json!(-0.45));
    assert!(middle["difference_ci95"][1].as_f64().unwrap() < 0.0);
    assert_eq!(ranking["pairs"].as_array().unwrap().len(), 6);
    // The same figures as `compare`.
    let compared = project
        .run("compare e@best e@good e@middle e@worst --json")
        .exits(0)
        .json();
    for (ours, theirs) in ranking["pairs"]
        .as_array()
        .unwrap()
        .iter()
        .zip(compared["pairs"].as_array().unwrap())
    {
        for key in [
            "n",
            "difference",
            "difference_ci95",
            "p_two_sided",
            "p_holm",
        ] {
            assert_eq!(ours[key], theirs[key], "{key}");
        }
    }
    let output = project.run("run e.yaml").exits(0);
    let output = output
        .says("e: 4 agents, ranked by accuracy")
        .says("adjusted for all 6 pairs (Holm)");
    let row = output
        .out
        .lines()
        .find(|line| line.trim_start().starts_with("middle"))
        .unwrap();
    for cell in ["3", "50.0 %", "−45.0", "b", "0"] {
        assert!(
            row.split("  ").any(|it| it.trim() == cell),
            "{cell} in {row}"
        );
    }
    assert!(!output.out.contains("ranges"), "{}", output.out);
}

#[test]
fn pairs_are_adjusted_together() {
    // Six that only one knows: p is 0.03 alone, and 0.19 beside five other pairs.
    let alone = project(&[("a", 20, 0), ("b", 14, 0)]);
    check(&alone, &[("a", [1, 1], "a"), ("b", [2, 2], "b")]);
    let apart = project(&[("a", 20, 0), ("b", 14, 0), ("c", 14, 0), ("d", 14, 0)]);
    check(
        &apart,
        &[
            ("a", [1, 1], "a"),
            ("b", [2, 2], "a"),
            ("c", [2, 2], "a"),
            ("d", [2, 2], "a"),
        ],
    );
}

#[test]
fn an_outage_makes_nobody_better_or_worse() {
    // What `flaky` answered was all right; what it did not answer nobody knows.
    let project = project(&[
        ("flaky", 10, 30),
        ("solid", 20, 0),
        ("gone", 0, 40),
        ("bad", 2, 0),
    ]);
    let ranking = check(
        &project,
        &[
            ("solid", [1, 3], "a"),
            ("flaky", [1, 3], "a"),
            ("bad", [3, 4], "b"),
            ("gone", [1, 4], ""),
        ],
    );
    let gone = &ranking["runs"][3];
    assert_eq!(gone["accuracy_bounds"], json!([0.0, 1.0]));
    assert_eq!(
        (&gone["accuracy"], &gone["difference"]),
        (&Value::Null, &Value::Null)
    );
    // Of 40 pairs three are between those that answered.
    assert_eq!(ranking["pairs"].as_array().unwrap().len(), 3);
    let output = project.run("run e.yaml").exits(3);
    let output = output
        .says("25.0 % to 100.0 %")
        .says("1 to 4")
        .says("no missing answer could reverse their order");
    // The interval of ten answers says nothing of forty.
    let rows = output.out.lines();
    let row = rows.map(str::trim).find(|row| row.starts_with("flaky"));
    let cells: Vec<_> = row.unwrap().split("  ").map(str::trim).collect();
    let cells: Vec<_> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
    assert_eq!(cells[2..4], ["25.0 % to 100.0 %", "-"]);
}

#[test]
fn a_run_alone_and_other_specs_have_no_table() {
    let project = project(&[("a", 20, 0), ("b", 14, 0)]);
    project
        .run("run e.yaml --filter e@a::")
        .exits(0)
        .says_nothing_of("ranked");
    let output = project
        .run("run e.yaml --filter e@a:: --json")
        .exits(0)
        .json();
    assert_eq!(output["matrix"], Value::Null);
    // Each spec has its own.
    let text = project.read("e.yaml");
    project.write("other.yaml", text);
    let output = project.run("run e.yaml other.yaml --json").exits(0).json();
    let evals: Vec<_> = output["matrix"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["eval"].clone())
        .collect();
    assert_eq!(evals, ["e", "other"]);
}

#[test]
fn a_report_of_several_begins_with_the_table() {
    let project = project(&[("a", 20, 0), ("b", 14, 0)]);
    project.run("run e.yaml").exits(0);
    project
        .run("report e@b e@a")
        .exits(0)
        .says("# e: 2 agents, ranked by accuracy")
        .says("| b | 2 | 35.0 % |")
        .says("Agents that share a letter do not differ significantly. Two differ if");
    project
        .run("report e@b e@a --format html")
        .exits(0)
        .says("<h1>e: 2 agents, ranked by accuracy</h1>")
        .says("<tr><th scope=\"row\">b</th><td class=\"n\" data-label=\"rank\">2</td><td class=\"n\" data-label=\"accuracy\">35.0 %</td>")
        // The questions side by side, above the single reports, in the order of the ranking.
        .says("<th scope=\"col\">a</th>\n<th scope=\"col\">b</th>")
        .says("<input type=\"checkbox\"> Only where the models disagree (6)</label>")
        .says("<details class=\"run\"><summary><h2 id=\"title-0\" class=\"run\">e@a ");
    for others in ["e@a", "e@a e@b --audience user"] {
        project
            .run(&format!("report {others}"))
            .exits(0)
            .says_nothing_of("ranked");
    }
}

#[test]
fn where_answers_are_missing_nothing_is_sure() {
    let project = project(&[
        ("best", 38, 0),
        ("good", 34, 0),
        ("low", 5, 0),
        ("shaky", 14, 16),
    ]);
    let ran = project.run("run e.yaml");
    let row = ran.out.lines().find(|line| line.starts_with("  shaky "));
    let row: Vec<&str> = row.expect("a row").split_whitespace().collect();
    // The range of the accuracy, no interval, no difference and none for that.
    assert_eq!(
        row[2..12],
        ["35.0", "%", "to", "75.0", "%", "-", "-", "-", "b", "16"],
        "{row:?}"
    );
    let three = "compare e@best e@good e@low e@shaky";
    let pairs = project.run(three).exits(0).out;
    let result = |pair: &str| {
        let of_pair = |line: &&str| line.trim_start().starts_with(pair);
        let line = pairs.lines().find(of_pair).unwrap_or_default();
        line.rsplit(": ").next().unwrap_or_default().to_owned()
    };
    let doubt = "worse, unless the missing answers change it";
    assert_eq!(
        [result("C − A"), result("D − B")],
        ["worse", doubt],
        "{pairs}"
    );
}
