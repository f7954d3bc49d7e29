//! Several answers per sample, several gates, groups, and inconclusive comparisons.

use super::*;
use crate::verdict::gate::Slice;

/// Answers as letters, a word per sample: `C` correct, `W` wrong, `E` errored. All samples are of `level=1`, those from
/// `split` on of `level=2`.
pub(super) fn facts<'a>(baseline: &'a Baseline, now: &[&str], split: usize) -> Facts<'a> {
    let current = now.iter().enumerate().map(|(i, letters)| CurrentSample {
        id: format!("s{i:02}"),
        answers: answers(letters),
        slices: [Slice::new("level", if i < split { "1" } else { "2" })].into(),
        ..CurrentSample::default()
    });
    let records = [
        record("a", Status::Scored, true, "1"),
        record("b", Status::Scored, true, "2"),
    ];
    Facts {
        baseline: Some(baseline),
        current: current.collect(),
        ..Facts::of(Summary::of("test", &records))
    }
}

fn answers(letters: &str) -> Vec<Option<bool>> {
    let read = |letter| (letter != 'E').then_some(letter == 'C');
    letters.chars().map(read).collect()
}

/// Runs of one epoch each.
pub(super) fn accepted(before: &[&str]) -> Baseline {
    let sample = |(i, letters): (usize, &&str)| {
        let sample = BaselineSample {
            answers: answers(letters),
            ..BaselineSample::default()
        };
        (format!("s{i:02}"), sample)
    };
    let requested = before.first().map_or(0, |letters| letters.len());
    Baseline {
        runs: (1..=requested).map(|i| run(&format!("r{i}"), 1)).collect(),
        samples: before.iter().enumerate().map(sample).collect(),
        digest_matches: true,
        ..Baseline::default()
    }
}

fn run(id: &str, epochs: usize) -> BaselineRun {
    BaselineRun {
        run_id: id.to_owned(),
        epochs: u32::try_from(epochs).unwrap(),
    }
}

#[track_caller]
pub(super) fn says(result: &GateResult, verdict: Verdict, parts: &[&str]) {
    assert_eq!(result.verdict, verdict, "{}", result.message);
    for part in parts {
        assert!(
            result.message.contains(part),
            "`{part}` is not in:\n{}",
            result.message
        );
    }
}

#[test]
fn all_answers_are_compared() {
    // Always right, and now in three of five: no sample flips, and yet the agent is worse.
    let baseline = accepted(&["CCCCC"; 40]);
    let facts = facts(&baseline, &["CWCWC"; 40], 40);
    let result = Gate::no_regression().check(&facts);
    says(
        &result,
        Verdict::Failed,
        &[
            "0 of 40 compared samples became wrong, 0 became correct, p < 0.001 < alpha 0.05\n",
            "\nall answers are compared; 5 answers per sample in the baseline (5 runs), 5 now; a sample",
            "\npaired difference: −40.0 points (95 % interval −",
            "\nfell most: s00, s01, s02, s03, s04, s05, s06, s07, s08, s09\n",
        ],
    );
    let regression = result.regression.unwrap();
    assert_eq!(regression.fell_most.len(), 10);
    assert_eq!(regression.baseline_runs, ["r1", "r2", "r3", "r4", "r5"]);
    assert_eq!(regression.drop, Some(0.4));
    assert!((regression.difference.unwrap() + 0.4).abs() < 1e-12);
}

#[test]
fn answers_need_not_be_as_many_and_an_outage_counts_both_ways() {
    let check = |before: [&str; 6], now: [&str; 6], verdict: Verdict, p: f64| {
        let baseline = accepted(&before);
        let result = Gate::no_regression().check(&facts(&baseline, &now, 6));
        says(&result, verdict, &[]);
        let value = result.value.unwrap();
        assert!((value - p).abs() < 1e-12, "{value}, not {p}");
    };
    // Of six answers, the wrong one is that of now with probability one sixth.
    let (c, w) = ("CCCCC", "W");
    check([c; 6], ["C"; 6], Verdict::Passed, 1.0);
    // Questions that are always right are not informative.
    check(
        [c; 6],
        [w, w, w, "C", "C", "C"],
        Verdict::Failed,
        (1.0 / 6.0_f64).powi(3),
    );
    check(
        [c; 6],
        [w, w, "E", "C", "C", "C"],
        Verdict::Failed,
        1.0 / 36.0,
    );
    check(
        [c; 6],
        [w, "E", "C", "C", "C", "C"],
        Verdict::Inconclusive,
        1.0 / 6.0,
    );
    // An epoch without an answer, on both sides.
    check(
        ["CCCCE"; 6],
        ["WE", "WE", "C", "C", "C", "C"],
        Verdict::Inconclusive,
        1.0 / 25.0,
    );
}

#[test]
fn epochs_that_repeat_each_other_count_as_one() {
    let check = |epochs: [usize; 2], before: &[&str], now: &[&str], parts: &[&str]| {
        let mut baseline = accepted(before);
        baseline.runs = vec![run("r1", epochs[0]), run("r2", epochs[1])];
        let result = Gate::no_regression().check(&facts(&baseline, now, 40));
        says(&result, result.verdict, parts);
        result
    };
    let of = |flips: &[(&'static str, usize)]| -> Vec<&'static str> {
        let all = flips.iter().flat_map(|(word, times)| vec![*word; *times]);
        all.collect()
    };
    let one = "\nall answers to a sample within a run are the same (as at temperature 0), so only the first of each run is tested";
    // Always alike within a run: four became wrong and two correct, as many as by chance.
    let before = of(&[("CCC", 20), ("WWW", 20)]);
    let now = of(&[("CCC", 16), ("WWW", 4), ("CCC", 2), ("WWW", 18)]);
    let result = check(
        [3, 0],
        &before,
        &now,
        &[
            "4 of 40 compared samples became wrong, 2 became correct",
            one,
        ],
    );
    assert!((result.value.unwrap() - 0.234_002_643_5).abs() < 1e-8);
    // By the runs of the baseline, which differ from each other, and the epochs of an errored sample.
    let before = of(&[("CCCWW", 10), ("WWWCC", 10), ("CCCCC", 20)]);
    let now = of(&[("CC", 10), ("WE", 10), ("WW", 1), ("CC", 19)]);
    let result = check([3, 2], &before, &now, &[one]);
    assert!(result.value.is_some_and(|p| p > 0.2), "{}", result.message);
    // A flaky sample shows that epochs are independent, and samples that broke do not tell otherwise.
    let before = of(&[("CCWCW", 2), ("CCCCC", 20), ("WWWWW", 18)]);
    let now = of(&[("CWCWW", 2), ("WWWWW", 3), ("CCCCC", 17), ("WWWWW", 18)]);
    let result = check([5, 0], &before, &now, &["\nall answers are compared"]);
    assert_eq!(result.verdict, Verdict::Failed, "{}", result.message);
    // As many that became correct do.
    let now = of(&[
        ("CWCWW", 2),
        ("WWWWW", 6),
        ("CCCCC", 14),
        ("CCCCC", 3),
        ("WWWWW", 15),
    ]);
    let some =
        "in 3 % of cases within a run and in 16.6 % between runs, so epochs repeat each other";
    let result = check([5, 0], &before, &now, &[some]);
    assert_eq!(result.verdict, Verdict::Passed, "{}", result.message);
}

#[test]
fn several_gates_are_adjusted_together() {
    let baseline = accepted(&["C"; 12]);
    let mut now = ["C"; 12];
    now[..5].fill("W");
    let gates =
        |texts: &[&str]| -> Vec<Gate> { texts.iter().map(|text| text.parse().unwrap()).collect() };
    let facts = facts(&baseline, &now, 6);
    let alone = facts.check(&gates(&["no_regression(exact=conditional)"]));
    says(&alone[0], Verdict::Failed, &["p = 0.031 < alpha 0.05"]);
    assert_eq!(alone[0].value, Some(0.031_25));
    let both = facts.check(&gates(&[
        "no_regression(exact=conditional)",
        "accuracy >= 0.1",
        "no_regression(exact=conditional)[level=1]",
    ]));
    for result in [&both[0], &both[2]] {
        says(
            result,
            Verdict::Passed,
            &[
                "p = 0.031, 0.062 corrected for the other gates against the baseline (Holm) >= alpha 0.05",
            ],
        );
        assert_eq!(result.value, Some(0.0625));
        let found = result.regression.as_ref().unwrap();
        assert_eq!((found.p, found.p_adjusted), (0.031_25, Some(0.0625)));
    }
    // Alone 41.7 points suffice, five of twelve; twice that p takes six.
    let smallest = |result: &GateResult| result.regression.as_ref().unwrap().smallest_drop;
    assert_eq!(
        [&alone[0], &both[0]].map(smallest),
        [Some(5.0 / 12.0), Some(0.5)]
    );
    says(
        &both[0],
        Verdict::Passed,
        &[
            "a drop of 50.0 points or more with 80 % power at the strictest level for 2 gates against the baseline \
             (alpha / 2, Holm), if",
            "; the interval covers this gate alone, and the test covers all gates against the baseline (Holm)\n",
        ],
    );
    // Each gate has its own alpha.
    let own = facts.check(&gates(&[
        "no_regression(alpha=0.1, exact=conditional)",
        "no_regression(exact=conditional)[level=1]",
    ]));
    assert_eq!(
        [own[0].verdict, own[1].verdict],
        [Verdict::Failed, Verdict::Passed]
    );
}

#[test]
fn with_errors_both_ends_are_adjusted() {
    let baseline = accepted(&["C"; 14]);
    let mut now = ["C"; 14];
    now[..5].fill("W");
    now[5] = "E";
    let facts = facts(&baseline, &now, 7);
    let gates: [Gate; 2] = [
        Gate::no_regression().conditional(),
        Gate::no_regression().conditional().slice("level", "1"),
    ];
    // As wrong p is 1/64, and twice that is below alpha; as right it is 1/32, and twice that is not.
    assert_eq!(facts.verdicts(&gates[..1]), [Verdict::Failed]);
    let results = facts.check(&gates);
    for result in &results {
        says(
            result,
            Verdict::Inconclusive,
            &["p = 0.031 if errored and skipped samples count as wrong, p = 0.062 if they"],
        );
    }
}

#[test]
fn what_could_not_fail_is_powerless() {
    let check = |gate: &str, before: &str, verdict: Verdict, part: &str| {
        let gate: Gate = gate.parse().unwrap();
        says(
            &compare(&gate, before, &"W".repeat(before.len()), true),
            verdict,
            &[part],
        );
        let verdict = if verdict == Verdict::Failed {
            Verdict::Passed
        } else {
            verdict
        };
        says(&compare(&gate, before, before, true), verdict, &[]);
    };
    let powerless = "powerless: the gate would pass even if every answer were wrong now (p = 0.062 >= alpha 0.05): 4 \
                     samples are compared, and 4 were correct in the baseline";
    check("no_regression", "CCCC", Verdict::Inconclusive, powerless);
    check(
        "no_regression",
        "CCCWWWWWWWWW",
        Verdict::Inconclusive,
        "12 samples are compared, and 3 were correct in the baseline",
    );
    check(
        "no_regression",
        "CCCCC",
        Verdict::Failed,
        "p = 0.031 < alpha",
    );
    check(
        "no_regression(alpha=0.1)",
        "CCCC",
        Verdict::Failed,
        "p = 0.062 < alpha",
    );
    check(
        "no_regression(max_drop=0.5)",
        "CCCC",
        Verdict::Failed,
        "drop 100.0 % > max_drop 50 %",
    );
    check(
        "no_regression(mid_p=true)",
        "CCCC",
        Verdict::Failed,
        "p = 0.031 < alpha",
    );
    // With other gates more is needed.
    let baseline = accepted(&["C"; 10]);
    let facts = facts(&baseline, &["C"; 10], 5);
    let of = |value: &str| Gate::no_regression().slice("level", value);
    assert_eq!(facts.verdicts(&[of("1")]), [Verdict::Passed]);
    assert_eq!(
        facts.verdicts(&[of("1"), of("2")]),
        [Verdict::Inconclusive; 2]
    );
}

#[test]
fn too_few_baseline_samples_are_inconclusive() {
    let check = |gate: &str, before: &str, after: &str, verdict: Verdict| {
        let gate: Gate = gate.parse().unwrap();
        let result = compare(&gate, before, after, true);
        let part = if verdict == Verdict::Inconclusive {
            "of the baseline's 10 samples can be compared, fewer than 90 % (2 gone): accept a run on the current samples"
        } else {
            "became wrong"
        };
        says(&result, verdict, &[part]);
    };
    let gate = "no_regression";
    check(gate, "CCCCCCCCCC", "CCCCCCCCCC", Verdict::Passed);
    check(gate, "CCCCCCCCCC", "CCCCCCCCC-", Verdict::Passed);
    check(gate, "CCCCCCCCCC", "CCCCCCCC--", Verdict::Inconclusive);
    check(gate, "CCCCCCCCCC", "WWWWWWWW--", Verdict::Inconclusive);
    check(
        "no_regression(min_pairs=80%)",
        "CCCCCCCCCC",
        "CCCCCCCC--",
        Verdict::Passed,
    );
    // Samples without a baseline verdict are not compared, nor are new ones.
    check(gate, "CCCCCCCCEE", "CCCCCCCC--", Verdict::Passed);
    check(gate, "CCCCCCCC----", "CCCCCCCCCCCC", Verdict::Passed);
    // An outage is a pair, and none without a verdict is evidence.
    check(gate, "CCCCCCCCCC", "CCCCCCCCCE", Verdict::Passed);
    let outage = compare(&gate.parse().unwrap(), "CCCCCCCCCC", "CCCCCCCCEE", true);
    let open = ", undecided: 2 errored or skipped samples; ask again with";
    says(&outage, Verdict::Inconclusive, &[open]);
}

#[test]
fn in_ci_a_baseline_must_be_what_was_accepted() {
    let mut baseline = accepted(&["C"; 8]);
    baseline.digest_matches = false;
    baseline.changed_files = vec!["ab/s01.snap".to_owned(), "_baseline.json".to_owned()];
    let mut facts = facts(&baseline, &["C"; 8], 8);
    let warning = "the snapshots changed since run `r1` was accepted (ab/s01.snap, _baseline.json)";
    let result = Gate::no_regression().check(&facts);
    says(
        &result,
        Verdict::Passed,
        &[&format!("\nwarning: {warning}")],
    );
    facts.ci = true;
    let result = Gate::no_regression().check(&facts);
    says(
        &result,
        Verdict::Inconclusive,
        &[warning, "(and `CI` is set)"],
    );
    assert_eq!(result.message.matches(warning).count(), 1);
}

#[test]
fn in_ci_a_comparison_of_cached_answers_alone_is_inconclusive() {
    let baseline = accepted(&["C"; 8]);
    let mut facts = facts(&baseline, &["C"; 8], 8);
    facts.current.change(|_, sample| sample.cached = 1);
    let gate = Gate::no_regression();
    says(&gate.check(&facts), Verdict::Passed, &[]);
    facts.ci = true;
    let parts = ["every answer came from the cache", "`--allow-cached`"];
    says(&gate.check(&facts), Verdict::Inconclusive, &parts);
    let allowed = Facts {
        allow_cached: true,
        ..facts.clone()
    };
    says(&gate.check(&allowed), Verdict::Passed, &[]);
    facts
        .current
        .change(|place, sample| sample.cached = u32::from(place != 3));
    says(&gate.check(&facts), Verdict::Passed, &[]);
}

#[test]
fn groups_change_sides_as_a_whole() {
    // Ten samples on two passages; all of one become wrong at once.
    let baseline = accepted(&["C"; 20]);
    let mut now = ["C"; 20];
    now[..10].fill("W");
    let mut facts = facts(&baseline, &now, 20);
    says(
        &Gate::no_regression().check(&facts),
        Verdict::Failed,
        &["p < 0.001"],
    );
    facts
        .current
        .change(|i, sample| sample.cluster = Some((i / 2).to_string()));
    // Five of ten groups fell.
    let result = Gate::no_regression().check(&facts);
    says(
        &result,
        Verdict::Failed,
        &["p = 0.031", "come in 10 groups"],
    );
    facts
        .current
        .change(|i, sample| sample.cluster = Some((i / 5).to_string()));
    let result = Gate::no_regression().check(&facts);
    says(&result, Verdict::Inconclusive, &["powerless"]);
}

#[test]
fn another_prompt_is_noted_and_compared() {
    let prompt = |name: &str| Some(name.to_owned());
    let check = |before: Option<String>, now: Option<String>, noted: bool| {
        let mut baseline = accepted(&["C"; 6]);
        baseline.prompt = before;
        let mut facts = facts(&baseline, &["W"; 6], 6);
        facts.prompt = now;
        let result = Gate::no_regression().check(&facts);
        says(&result, Verdict::Failed, &[]);
        let note = "\nthe prompt changed since the baseline: official before, concise now";
        assert_eq!(result.message.contains(note), noted, "{}", result.message);
    };
    check(prompt("official"), prompt("concise"), true);
    check(prompt("official"), prompt("official"), false);
    check(None, prompt("official"), false);
    check(prompt("official"), None, false);
}

#[test]
fn one_verdict_of_several_epochs_is_held_against_the_majority_of_now() {
    let gate: Gate = "no_regression".parse().unwrap();
    let mut baseline = accepted(&["C"; 6]);
    baseline.majorities = true;
    let check = |now: &str, verdict, parts: &[&str]| {
        says(&gate.check(&facts(&baseline, &[now; 6], 6)), verdict, parts);
    };
    // Counted as answers, they would be fewer than before.
    let found = "stored only majority verdicts, so only these are compared";
    check("CCCWW", Verdict::Passed, &["p = 1.00", found]);
    check("CCWWW", Verdict::Failed, &["p = 0.016"]);
    check(
        "CCWWE",
        Verdict::Inconclusive,
        &["p = 0.016 if errored and skipped samples count as wrong, p = 1.00 if"],
    );
}

#[test]
fn analyses_decide_by_their_own_bounds_and_green_stays_green() {
    use crate::verdict::result::InterimAnalysis;
    let gate: Gate = "no_regression(early_stop=true)".parse().unwrap();
    let gates = std::slice::from_ref(&gate);
    // Twenty samples that were all right; some of them were not asked.
    let baseline = accepted(&["C"; 20]);
    let run = |number: u32, wrong: usize, requested: usize, errored: usize| {
        let letters: Vec<&str> = (0..20)
            .map(|i| {
                if i < wrong {
                    "W"
                } else if i < wrong + errored || i >= requested {
                    "E"
                } else {
                    "C"
                }
            })
            .collect();
        let mut facts = facts(&baseline, &letters, 20);
        facts
            .current
            .change(|i, sample| sample.skipped = i >= requested);
        facts.analysis = Some(InterimAnalysis::new(number, 4));
        facts
    };
    let check =
        |facts: &Facts<'_>, verdict, parts: &[&str]| says(&gate.check(facts), verdict, parts);
    // 1/256 is below the first bound, 1/64 is not, and 1/16 waits for more samples.
    let red = [
        "8 of 9 compared samples became wrong",
        "p = 0.0039 at look 1 of 4",
        "for all looks together < alpha",
    ];
    check(&run(1, 8, 9, 0), Verdict::Failed, &red);
    check(
        &run(1, 6, 9, 0),
        Verdict::Inconclusive,
        &["p = 0.016 at look 1 of 4"],
    );
    check(&run(1, 0, 9, 0), Verdict::Passed, &[]);
    // An error leaves the analysis undecided, like the gate.
    check(&run(1, 7, 9, 2), Verdict::Inconclusive, &[]);
    // The third is never red, and the last is almost as strict as a single test.
    check(&run(3, 12, 15, 0), Verdict::Inconclusive, &[]);
    check(
        &run(4, 5, 20, 0),
        Verdict::Failed,
        &["p = 0.031 at look 4 of 4"],
    );
    let later = Facts {
        green: vec![gate.name()],
        ..run(4, 5, 20, 0)
    };
    check(
        &later,
        Verdict::Passed,
        &["it passed an earlier look and stays passed"],
    );
    let found = run(1, 0, 9, 0).interim_findings(gates);
    assert_eq!((found.is_sure, found.green), (true, vec![gate.name()]));
    // Too many errors so far may become few; too few right answers cannot.
    let with = |other: &str| [gate.clone(), other.parse().unwrap()];
    let sure = |other: &str| {
        let mut facts = run(1, 0, 9, 0);
        let requested = (0..9).map(|i| record(&format!("a{i}"), Status::Scored, i > 4, "1"));
        let skipped = (0..11).map(|i| record(&format!("b{i}"), Status::Skipped, false, "1"));
        let failed = [record("c", Status::TimedOut, false, "1")];
        let records: Vec<_> = requested.chain(skipped).chain(failed).collect();
        facts.summary = Summary::of("test", &records);
        facts.interim_findings(&with(other)).is_sure
    };
    assert!(!sure("error_rate <= 0.05") && sure("error_rate <= 0.2"));
    assert!(!sure("accuracy >= 0.5") && sure("accuracy >= 0.9"));
    assert!(sure("accuracy >= 0.15") && !sure("min_samples >= 15"));
}
