use serde_json::{Map, json};

use super::side::RunSideBuilder;
use super::*;
use crate::data::{Record, Score, Status};
use crate::verdict::baseline::{BaselineSample, CurrentSample};
use crate::verdict::check::ComparedVerdict;
use crate::verdict::facts::Facts;
use crate::verdict::gate::Gate;
use crate::verdict::gather::Gathered;
use crate::verdict::summary::SummaryBuilder;
use crate::verdict::summary::tests::record;

/// The records of a run, a word per sample and a letter per answer: `C` correct, `W` wrong, `E` errored, `U` without
/// expected verdict, `-` absent.
fn run(samples: &str, change: impl Fn(usize, &mut Record)) -> Vec<Record> {
    let mut records = Vec::new();
    for (place, answers) in samples.split(' ').enumerate() {
        for (epoch, c) in answers.chars().enumerate().filter(|(_, c)| *c != '-') {
            let status = match c {
                'E' => Status::TimedOut,
                'U' => Status::Unscored,
                _ => Status::Scored,
            };
            let level = if place % 2 == 0 { "1" } else { "2" };
            let mut record = record(&format!("s{place}"), status, c == 'C', level);
            record.epoch = u32::try_from(epoch).unwrap();
            change(place, &mut record);
            records.push(record);
        }
    }
    records
}

/// Sample ids by what happened to them.
type Fates = BTreeMap<String, SampleFate>;

fn compare(a: &[Record], b: &[Record]) -> (RunsComparison, Fates) {
    let mut names = SideNames::default();
    let [(before, first), (now, second)] = [a, b].map(|records| {
        let mut side = RunSideBuilder::new("e", None, 2);
        let mut samples = Vec::new();
        for record in records {
            samples.extend(side.add(record, &mut names));
        }
        let (last, summary) = side.finish();
        samples.extend(last);
        (samples, summary)
    });
    let is_grouped = now.iter().any(|sample| sample.cluster.is_some());
    let mut comparing = Comparing::new(&names, None, true, is_grouped);
    let mut fates = Fates::new();
    for sample in &now {
        if let Some(known) = before.iter().find(|known| known.id == sample.id) {
            fates.insert(sample.id.clone(), comparing.add(known, sample));
        }
    }
    let compared = comparing.finish([&first, &second], ["A", "B"]);
    (compared, fates)
}

/// The run as an accepted baseline.
fn baseline(records: &[Record]) -> Baseline {
    let mut samples = BTreeMap::<String, BaselineSample>::new();
    for record in records {
        let sample = samples.entry(record.sample_id.clone()).or_default();
        let outcome = &record.result;
        let is_scored = outcome.status == Status::Scored;
        sample.answers.push(is_scored.then(|| outcome.is_correct()));
        let now = CurrentSample::of(record);
        let question = now.marks.questions.last();
        sample.input_hash = question.unwrap_or(&now.input_hash).clone();
        sample.target_hash = now.target_hash;
    }
    Baseline {
        samples: samples.into_iter().collect(),
        digest_matches: true,
        ..Baseline::default()
    }
}

fn facts<'a>(records: &[Record], baseline: &'a Baseline) -> Facts<'a> {
    let summary = SummaryBuilder::new("e").epochs(2);
    let mut gathered = Gathered::new(summary, &[Gate::no_regression()], Some(baseline));
    for record in records {
        gathered.add(record);
    }
    gathered.finish(Map::new()).0
}

#[test]
fn the_figures_are_those_of_the_gate_with_the_run_as_its_baseline() {
    let check = |a: &str, b: &str, clustered: bool| {
        let change = |place: usize, record: &mut Record| {
            // The last ones belong to no group.
            record.cluster = (clustered && place < 4).then(|| (place / 2).to_string());
        };
        let (a, b) = (run(a, change), run(b, change));
        let (compared, fates) = compare(&a, &b);
        let baseline = baseline(&a);
        let facts = facts(&b, &baseline);
        for (gate, figures) in [
            (Gate::no_regression(), &compared.whole),
            (
                "no_regression[level=1]".parse().unwrap(),
                &compared.slices["level"]["1"],
            ),
        ] {
            let regression = gate.check(&facts).regression.unwrap();
            assert_eq!(figures.p, Some(regression.p));
            assert_eq!(figures.difference, regression.difference);
            assert_eq!(figures.difference_ci95, regression.difference_ci95);
            assert_eq!(
                (figures.worse, figures.better),
                (regression.worse, regression.better)
            );
            assert_eq!(figures.n, regression.pairs);
        }
        let regression = Gate::no_regression().check(&facts).regression.unwrap();
        assert_eq!(compared.seen.smallest_drop, regression.smallest_drop);
        assert_eq!(compared.seen.assumption, regression.assumption);
        let worse = fates.iter().filter(|(_, fate)| **fate == SampleFate::Worse);
        let worse: Vec<_> = worse.map(|(id, _)| id.clone()).collect();
        assert_eq!(worse, regression.became_wrong);
    };
    for clustered in [false, true] {
        check("C C C C C W", "W W W W C C", clustered);
        check("CC CC CW CC CC WW", "CW WW WW WC CE CC", clustered);
        check("CC CU CW CC", "CW UW WW WC", clustered);
        check("C C C W", "E W C -", clustered);
        check("CCC CWC WWW CCW C", "CWE WWW C WCWC W", clustered);
    }
}

#[test]
fn errors_are_wrong_and_right_as_in_the_gate() {
    let none = |_: usize, _: &mut Record| {};
    let (a, b) = (run("C C C C C W", none), run("W W E E C C", none));
    let (compared, _) = compare(&a, &b);
    let bounds = compared.error_bounds.unwrap();
    assert_eq!((bounds.errors_a, bounds.errors_b), (0, 2));
    let baseline = baseline(&a);
    let message = Gate::no_regression().check(&facts(&b, &baseline)).message;
    let regression =
        [bounds.lowest.p, bounds.highest.p].map(|p| crate::figure::P(p.unwrap()).to_string());
    let expect = format!(
        "{} if errored and skipped samples count as wrong, {} if they count as correct",
        regression[0], regression[1]
    );
    assert!(message.contains(&expect), "{message}");
    assert_eq!(bounds.lowest.worse, 4);
    assert_eq!(bounds.highest.worse, 2);
    // Errors of A count in reverse; a sample that errored only in A counts, too.
    let (compared, _) = compare(&run("E W", none), &run("W E", none));
    assert_eq!(compared.whole.verdict, ComparedVerdict::NothingToCompare);
    let bounds = compared.error_bounds.unwrap();
    assert_eq!((bounds.errors_a, bounds.errors_b), (1, 1));
    assert_eq!(bounds.lowest.difference, Some(-0.5));
    assert_eq!(bounds.highest.difference, Some(0.5));
    // A sample for which no verdict is expected is not an error.
    let (compared, _) = compare(&run("U CU C", none), &run("C CC C", none));
    assert_eq!(compared.error_bounds, None);
}

#[test]
fn unpaired_samples_are_reported() {
    let a = run("C C C C - E", |_, _| {});
    let b = run("C - C E C C", |place, record| {
        if place == 2 {
            record.target_hash = "other".to_owned();
        }
    });
    let (compared, fates) = compare(&a, &b);
    assert_eq!(compared.whole.n, 1);
    let expect = [
        ("s0", SampleFate::Same),
        ("s2", SampleFate::Changed),
        ("s3", SampleFate::WithoutVerdict),
        ("s5", SampleFate::WithoutVerdict),
    ];
    let expect = expect.map(|(id, fate)| (id.to_owned(), fate));
    assert_eq!(fates, Fates::from(expect));
}

#[test]
fn means_are_compared_over_the_samples_that_have_them_in_both() {
    let with = |numbers: &'static [f64]| {
        move |place: usize, record: &mut Record| {
            let score = Score::binary(numbers[place] > 0.5).detail("f1", numbers[place]);
            let scores = Map::from_iter([("other".to_owned(), json!(score.clone()))]);
            record.result.score = Some(score);
            // One sample is judged by another scorer.
            if place == 3 {
                record.result.scores = scores;
            }
        }
    };
    let (compared, _) = compare(
        &run("C C C C", with(&[0.9, 0.8, 0.7, 0.1])),
        &run("C C W C", with(&[0.7, 0.7, 0.2, 0.2])),
    );
    let f1 = &compared.means["scorer"]["f1"];
    assert_eq!((f1.n, f1.is_share), (3, false));
    let close = |found: Option<f64>, expect: f64| {
        assert!((found.unwrap() - expect).abs() < 1e-9, "{found:?} {expect}");
    };
    close(f1.mean_a, 0.8);
    close(f1.mean_b, 1.6 / 3.0);
    close(f1.difference, -0.8 / 3.0);
    // Student's quantile of 2 degrees of freedom, and the spread of -0.2, -0.1 and -0.5.
    let half = 4.302_652_73 * (0.26_f64 / 3.0 / 6.0).sqrt();
    close(f1.difference_ci95.map(|[low, _]| low), -0.8 / 3.0 - half);
    assert_eq!(compared.means["other"]["f1"].n, 1);
    assert_eq!(compared.means["other"]["f1"].difference_ci95, None);
    // Numbers that are all 0 or 1 have the interval of shares.
    let value = &compared.means["scorer"]["value"];
    assert!(value.is_share && value.n == 3);
    let none = |_: usize, _: &mut Record| {};
    let (plain, _) = compare(&run("C C C W", none), &run("W C C C", none));
    let value = &plain.means["scorer"]["value"];
    assert_eq!(value.difference_ci95, plain.whole.difference_ci95);
}

#[test]
fn several_comparisons_are_adjusted_together() {
    let [worst, same] = [("C C C C C C C C", "W W W W W W W W"), ("C W", "C W")];
    let none = |_: usize, _: &mut Record| {};
    let compared = [worst, same].map(|(a, b)| compare(&run(a, none), &run(b, none)).0);
    assert_eq!(compared[0].whole.verdict, ComparedVerdict::Worse);
    let p = compared[0].whole.p_two_sided.unwrap();
    let [first, second] = &compared;
    assert_eq!(holm(&[first, second]), [Some(2.0 * p), Some(1.0)]);
    let (nothing, _) = compare(&run("C", none), &run("- C", none));
    assert_eq!(holm(&[first, &nothing]), [Some(p), None]);
}
