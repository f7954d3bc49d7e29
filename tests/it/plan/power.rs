//! What is planned, simulated.

use std::fmt::Write as _;

use evaltest::engine::stats::{
    AnswerCounts, ComparedSample, RunGroup, regression_p, whole_runs_test,
};
use serde_json::{Value, json};

use super::{GATES, Random, cheapest, flaky, number, plan, recorded, row};
use crate::project::Project;

/// The rates after a fall: of samples that are always right so many are always wrong, else all rates fall.
fn fallen(rates: &[f64], drop: f64) -> Vec<f64> {
    let lost = drop * as_f64(rates.len());
    if rates.contains(&1.0) {
        let mut lost = lost.round();
        let fall = |rate: &f64| {
            let breaks = rate.to_bits() == 1.0_f64.to_bits() && lost > 0.5;
            lost -= f64::from(u8::from(breaks));
            if breaks { 0.0 } else { *rate }
        };
        return rates.iter().map(fall).collect();
    }
    rates.iter().map(|rate| (rate - drop).max(0.0)).collect()
}

fn as_f64(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

/// How often `no_regression` is red when an agent with these rates falls so far, asked as a row of the plan says.
fn red(rates: &[f64], drop: f64, row: &Value, random: &mut Random) -> f64 {
    const DRAWS: u32 = 400;
    let now = number(&row["epochs"]);
    let before = now * number(&row["baseline_runs"]);
    let fallen = fallen(rates, drop);
    let samples = usize::try_from(number(&row["samples"])).unwrap();
    let mut red = 0;
    for _ in 0..DRAWS {
        let place = |random: &mut Random, at: usize| {
            // Of fewer samples or more than there are each is drawn.
            let place = (random.share() * as_f64(rates.len())).floor();
            (0..rates.len())
                .find(|i| samples != rates.len() && as_f64(*i) >= place)
                .unwrap_or(at)
        };
        let drawn: Vec<_> = (0..samples)
            .map(|at| {
                let at = place(random, at);
                ComparedSample {
                    before: random.draw(before, rates[at]),
                    now: random.draw(now, fallen[at]),
                }
            })
            .collect();
        red += u32::from(regression_p(&drawn) < 0.05);
    }
    f64::from(red) / f64::from(DRAWS)
}

#[test]
fn what_is_planned_is_seen_as_often_as_it_says() {
    let mut random = Random(3);
    let uneven = (0..165).map(|i| 0.89 - f64::from(i % 11) * 0.08).collect();
    for rates in [flaky(), vec![0.62; 165], uneven] {
        let project = recorded(&rates, 5, &mut random);
        project.run("run eval.yaml").exits(0);
        for detect in [5.0, 10.0, 20.0] {
            let planned = plan(&project, &format!("--detect {detect}"));
            let row = cheapest(&planned);
            let seen = red(&rates, detect / 100.0, row, &mut random);
            assert!(seen >= 0.75, "{detect} of {rates:?}: {seen} with {row:#}");
        }
        let planned = plan(&project, "--detect 5");
        for (epochs, runs) in [(1, 1), (1, 5), (3, 1)] {
            let row = row(&planned, epochs, runs);
            let smallest = row["smallest_drop"].as_f64().unwrap();
            let seen = red(&rates, smallest, row, &mut random);
            assert!(seen >= 0.75, "{smallest}: {seen} with {row:#}");
            // A fifth less, and at least two samples, is not seen so often.
            let less = (smallest * 0.8).min(smallest - 2.0 / 165.0);
            let seen = red(&rates, less, row, &mut random);
            assert!(seen < 0.8, "{less}: {seen} with {row:#}");
        }
        let needed = &planned["samples_needed"];
        for place in 0..2 {
            let samples = &needed[place]["samples"];
            let seen = red(&rates, 0.05, &needed[place], &mut random);
            assert!((0.72..0.9).contains(&seen), "{samples}: {seen}");
        }
    }
}

/// So many groups of five samples, of which the first quarter are right or wrong together, and the others always right.
const GROUPS: u32 = 40;
const MEMBERS: u32 = 5;

/// Whether the samples of a group are right in one run, of those that do not break.
fn group(at: u32, random: &mut Random) -> bool {
    at >= GROUPS / 4 || random.is(0.5)
}

/// How often `no_regression` by group is red when so many of the samples that are always right are always wrong.
fn red_of_groups(lost: u32, row: &Value, random: &mut Random) -> f64 {
    const DRAWS: u32 = 200;
    let now = number(&row["epochs"]);
    let before = now * number(&row["baseline_runs"]);
    let is_lost = |at: u32, member: u32| {
        let after = at.checked_sub(GROUPS / 4);
        after.is_some_and(|after| member * (GROUPS - GROUPS / 4) + after < lost)
    };
    let mut red = 0;
    for _ in 0..DRAWS {
        let mut columns = |at: u32, count: u32, breaks: bool| -> Vec<Vec<AnswerCounts>> {
            let mut column = |_| {
                let right = group(at, random);
                let answer = |member| right && !(breaks && is_lost(at, member));
                let answers = (0..MEMBERS).map(|member| u32::from(answer(member)));
                answers.map(|right| AnswerCounts::new(right, 1)).collect()
            };
            (0..count).map(&mut column).collect()
        };
        let groups: Vec<_> = (0..GROUPS)
            .map(|at| RunGroup {
                before: columns(at, before, false),
                now: columns(at, now, true),
            })
            .collect();
        red += u32::from(whole_runs_test(&groups).p < 0.05);
    }
    f64::from(red) / f64::from(DRAWS)
}

#[test]
fn groups_that_flip_together_need_more() {
    let mut random = Random(11);
    let project = Project::new();
    let name = |at: u32, member: u32| format!("g{at}m{member}");
    let all = || (0..GROUPS).flat_map(|at| (0..MEMBERS).map(move |member| (at, member)));
    let mut rows = String::new();
    for (at, member) in all() {
        let row = json!({"id": name(at, member), "question": "?", "answer": "yes", "passage": at.to_string()});
        writeln!(rows, "{row}").unwrap();
    }
    project.write("rows.jsonl", rows);
    let mut lines = String::new();
    for epoch in 0..5 {
        for at in 0..GROUPS {
            let answer = if group(at, &mut random) { "yes" } else { "no" };
            for member in 0..MEMBERS {
                let line = json!({"id": name(at, member), "answer": answer, "epoch": epoch});
                writeln!(lines, "{line}").unwrap();
            }
        }
    }
    project.write("answers.jsonl", lines);
    let planned = |cluster: &str| {
        project.write(
            "eval.yaml",
            format!(
                "name: e\nbenchmark: {{ type: qa, path: rows.jsonl{cluster} }}\nprompt: none\nextract: none\n\
                 agent: {{ type: replay, path: answers.jsonl }}\nscorer: exact\nepochs: 5\n{GATES}"
            ),
        );
        project.run("run eval.yaml").exits(0);
        plan(&project, "--detect 10")
    };
    let apart = planned("");
    let together = planned(", cluster: passage");
    let spread = together["flips"]["spread"].as_f64().unwrap();
    assert!((spread - 5.0).abs() < 0.01, "{spread}");
    for (epochs, runs) in [(1, 1), (1, 5), (3, 1)] {
        let smallest = |planned: &Value| row(planned, epochs, runs)["smallest_drop"].as_f64();
        assert!(smallest(&together) > smallest(&apart));
        let row = row(&together, epochs, runs);
        let lost = smallest(&together).unwrap() * f64::from(GROUPS * MEMBERS);
        let lost = (0..=GROUPS * MEMBERS).find(|count| f64::from(*count) + 0.5 > lost);
        let seen = red_of_groups(lost.unwrap(), row, &mut random);
        assert!(seen >= 0.73, "{lost:?}: {seen} with {row:#}");
        let seen = red_of_groups(lost.unwrap() / 2, row, &mut random);
        assert!(seen < 0.8, "half: {seen} with {row:#}");
    }
}
