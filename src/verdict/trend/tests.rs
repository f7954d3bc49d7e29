use super::*;
use crate::data::history::HistoryGate;

/// A run with this accuracy, at a minute.
fn run(minute: i64, accuracy: f64) -> HistoryLine {
    HistoryLine {
        id: format!("e-{minute}"),
        eval: "e".to_owned(),
        time: jiff::Timestamp::from_second(1_700_000_000 + 60 * minute).unwrap(),
        dataset_hash: "d".to_owned(),
        scorer_hash: "s".to_owned(),
        samples: 100,
        scored: 100,
        accuracy: Some(accuracy),
        ..HistoryLine::default()
    }
}

#[test]
fn runs_that_can_be_compared_are_a_line() {
    let mut history: Vec<_> = (0..6).map(|minute| run(minute, 0.5)).collect();
    history[2].tier = Some("quick".to_owned());
    history[3].dataset_hash = "other".to_owned();
    history[4].accuracy = None;
    history[5].accuracy = Some(0.75);
    let mut accepted = run(9, 0.5);
    accepted.kind = HistoryKind::Accept;
    history.push(accepted);
    let trend = Trend::of(&history);
    let lines: Vec<_> = trend.lines.iter().map(|line| line.runs).collect();
    assert_eq!(lines, [4, 1, 1]);
    assert_eq!(trend.lines[1].tier, Some("quick"));
    let of: Vec<_> = trend.entries.iter().map(|entry| entry.line).collect();
    assert_eq!(of, [0, 0, 1, 2, 0, 0, 0]);
    let deltas: Vec<_> = trend.entries.iter().map(|entry| entry.delta).collect();
    assert_eq!(
        deltas,
        [None, Some(0.0), None, None, None, Some(0.25), None]
    );
    // To another dataset and back; the tier in between is unrelated.
    let marks: Vec<_> = trend.entries.iter().map(|entry| &*entry.marks).collect();
    assert_eq!(marks[3], [TrendMark::Dataset]);
    assert_eq!(marks[4], [TrendMark::Dataset]);
    assert!([0, 1, 2, 5, 6].iter().all(|place| marks[*place].is_empty()));
    assert_eq!(trend.runs(), 6);
    let firsts = [0, 1, 2, 6, 7].map(|runs| trend.first_of_last(runs));
    assert_eq!(firsts, [0, 5, 4, 0, 0]);
}

#[test]
fn what_changed_stays_on_the_line_and_is_marked() {
    let check = |change: &dyn Fn(&mut HistoryLine), expect: &[TrendMark]| {
        let mut known = run(0, 0.5);
        known.agent_hash = Some("a".to_owned());
        known.served_models = vec!["m@1".to_owned(), "n".to_owned()];
        let mut after = HistoryLine {
            id: "e-1".to_owned(),
            ..known.clone()
        };
        change(&mut after);
        let history = [known, after];
        let trend = Trend::of(&history);
        assert_eq!(trend.entries[1].marks, expect);
        assert_eq!(trend.lines.len(), 1);
    };
    check(&|_| (), &[]);
    check(&|run| run.served_models.reverse(), &[]);
    check(&|run| run.agent_hash = None, &[]);
    check(&|run| run.served_models.clear(), &[]);
    check(
        &|run| run.agent_hash = Some("b".to_owned()),
        &[TrendMark::Agent],
    );
    let [before, after] = [["m@1", "n"], ["m@2", "n"]].map(|two| two.map(str::to_owned).to_vec());
    let model = TrendMark::Model {
        before,
        after: after.clone(),
    };
    check(&|run| run.served_models.clone_from(&after), &[model]);
    check(
        &|run| run.prompt = Some("p".to_owned()),
        &[TrendMark::Prompt {
            before: None,
            after: Some("p".to_owned()),
        }],
    );
    check(
        &|run| {
            let gate = |verdict: &str| HistoryGate {
                verdict: verdict.to_owned(),
                ..HistoryGate::default()
            };
            run.gates = ["failed", "passed", "ignored"].map(gate).to_vec();
            run.cached = 100;
        },
        &[
            TrendMark::Gates {
                failed: 1,
                inconclusive: 0,
            },
            TrendMark::Cached,
        ],
    );
}

#[test]
fn another_level_is_marked_where_it_begins() {
    let accuracy = |minute: i64| {
        let level = if minute < 12 { 0.6 } else { 0.5 };
        #[expect(clippy::cast_precision_loss, reason = "a few")]
        let scatter = (minute * 7 % 5) as f64 / 100.0;
        level + scatter
    };
    let mut history: Vec<_> = (0..24)
        .map(|minute| run(minute, accuracy(minute)))
        .collect();
    let trend = Trend::of(&history);
    let [change] = &*trend.lines[0].changes else {
        panic!("{:?}", trend.lines);
    };
    assert_eq!(change.run, "e-12");
    assert!((change.before - change.after - 0.1).abs() < 0.02);
    let marked = trend
        .entries
        .iter()
        .position(|entry| !entry.marks.is_empty());
    assert_eq!(marked, Some(12));
    // The same from the cache is not evidence.
    for run in &mut history[12..] {
        run.cached = 100;
    }
    assert_eq!(Trend::of(&history).lines[0].changes, []);
    // Nor is it if the runs stopped early.
    for run in &mut history[12..] {
        run.cached = 0;
        run.early = true;
    }
    assert_eq!(Trend::of(&history).lines[0].changes, []);
    // Nor is a level of other questions.
    for run in &mut history[12..] {
        run.early = false;
        run.dataset_hash = "other".to_owned();
    }
    let trend = Trend::of(&history);
    assert!(trend.lines.iter().all(|line| line.changes.is_empty()));
}

#[test]
fn with_errors_an_accuracy_is_a_range() {
    let mut line = run(0, 0.5);
    (line.scored, line.correct, line.errors) = (80, 40, 20);
    let history = [line];
    let trend = Trend::of(&history);
    assert_eq!(trend.entries[0].bounds(), Some([0.4, 0.6]));
}
