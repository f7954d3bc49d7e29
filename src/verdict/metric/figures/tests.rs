mod unjudged;

use serde_json::{Value, json};

use super::*;
use crate::data::{Record, Status, Usage};
use crate::verdict::check::Known;
use crate::verdict::result::Verdict::{self, Failed, Inconclusive, Passed};
use crate::verdict::summary::Summary;
use crate::verdict::summary::tests::{judged, labelled, record};

#[track_caller]
fn check(gate: &str, records: &[Record], scorer: Option<&str>, verdict: Verdict, message: &str) {
    let gate: Gate = gate.parse().unwrap();
    let mut summary = Summary::of("test", records);
    summary.scorer = scorer.map(str::to_owned);
    let result = gate.check(&Facts::of(summary));
    assert_eq!(result.verdict, verdict, "{}", result.message);
    assert!(result.message.contains(message), "{}", result.message);
}

/// Two samples: `gaia` decides, `qa` has `f1` and `em`, `words` has `em` and judges only the first sample.
fn two() -> Vec<Record> {
    let score = |correct: bool, details: Value| json!({"value": f64::from(u8::from(correct)), "correct": correct, "details": details});
    let mut records = vec![
        record("a", Status::Scored, true, "1"),
        record("b", Status::Scored, false, "2"),
    ];
    for (place, record) in records.iter_mut().enumerate() {
        let mut put = |name: &str, score: Value| {
            record.result.scores.insert(name.to_owned(), score);
        };
        let first = place == 0;
        put("gaia", score(first, json!({})));
        let f1 = if first { 1.0 } else { 0.6 };
        put("qa", score(true, json!({"f1": f1, "em": first})));
        put(
            "words",
            if first {
                score(true, json!({"em": 1}))
            } else {
                json!({"error": "no"})
            },
        );
    }
    records
}

#[test]
fn a_mean_is_found_with_whoever_has_it() {
    let check = |gate: &str, verdict, message: &str| {
        check(gate, &two(), Some("gaia"), verdict, message);
    };
    check(
        "mean(value) >= 0.5",
        Passed,
        "mean(value) 0.5 (over 2 samples), limit 0.5",
    );
    check("mean(gaia.value) >= 0.5", Passed, "of `gaia`");
    check(
        "mean(f1) >= 0.8",
        Passed,
        "mean(f1) 0.8 (over 2 samples of `qa`)",
    );
    check("mean(f1)[level=2] >= 0.7", Failed, "mean(f1)[level=2] 0.6");
    check("mean(qa.em) <= 0.5", Passed, "");
    check(
        "mean(em) >= 0.5",
        Inconclusive,
        "`qa` and `words` each have `em`: write `mean(qa.em)`",
    );
    // It judged one of two; the other may be anything.
    check("mean(words.em) >= 0.5", Passed, "over 1 sample of `words`");
    check(
        "mean(words.em) >= 0.6",
        Inconclusive,
        "`words` could not judge 1 answer, so it is between 0.5 and 1; judge again with \
         `cargo evaltest run --resume RUN_DIR` (unreadable replies are not judged again)",
    );
    check(
        "mean(words.em)[level=2] >= 0.6",
        Inconclusive,
        "`words` could not judge 1 answer",
    );
    check("mean(qa.f2) >= 0.5", Inconclusive, "did you mean `qa.f1`?");
}

#[test]
fn a_finished_run_knows_its_means() {
    let summary = Summary::of("test", &two());
    let scorers = ["gaia", "qa", "words"].map(str::to_owned);
    let known = Known::of_run(&summary, &scorers, 1);
    let check = |gate: &str, expect: Option<&str>| {
        let gate: Gate = gate.parse().unwrap();
        let error = gate.validate(&known).err();
        let message = error.as_ref().map(crate::Error::message);
        match (message, expect) {
            (None, None) => {}
            (Some(message), Some(expect)) => assert!(message.contains(expect), "{message}"),
            other => panic!("{gate}: {other:?}"),
        }
    };
    check("mean(f1)[level=2] >= 0.7", None);
    check("mean(em) >= 0.7", Some("write `mean(qa.em)`"));
    check(
        "mean(f3) >= 0.7",
        Some("gate `mean(f3) >= 0.7`: no score has `f3`"),
    );
    check("accuracy(qa)[level=3] >= 0.7", Some("matches no sample"));
    check(
        "macro_f1(quasi) >= 0.7",
        Some("no scorer is called `quasi`"),
    );
}

#[test]
fn macro_f1_of_the_run_and_of_slices() {
    let mut records = labelled(&[
        ("yes", Some("yes")),
        ("no", Some("yes")),
        ("no", Some("no")),
    ]);
    records[2].slices.insert("level".to_owned(), "2".into());
    let run = |records: &[Record], gate: &str, verdict, message: &str| {
        check(gate, records, Some("choice"), verdict, message);
    };
    // yes: precision 1/2, recall 1; no: 1 and 1/2. Both have an F1 of 2/3.
    run(
        &records,
        "macro_f1 >= 0.66",
        Passed,
        "macro-F1 66.7 % (2 labels in 3 samples), limit 66 %",
    );
    run(&records, "macro_f1(choice) > 0.67", Failed, "");
    run(
        &records,
        "macro_f1[level=1] >= 34%",
        Failed,
        "macro-F1[level=1] 33.3 %",
    );
    run(&records, "macro_f1[level=2] >= 1", Passed, "");
    // One more could be right (yes 0.8, no 2/3) or wrong (both 1/2).
    records.push(record("e", Status::TimedOut, false, "1"));
    run(&records, "macro_f1 >= 0.5", Passed, "");
    run(
        &records,
        "macro_f1 >= 0.51",
        Inconclusive,
        "between 50.0 % and 73.3 %",
    );
    run(&records, "macro_f1 >= 0.74", Failed, "");
}

#[test]
fn without_labels_there_is_no_macro_f1() {
    let plain = [judged("a", &[("gaia", Some(true)), ("exact", Some(true))])];
    let none = "no score has the label";
    check("macro_f1 >= 0.5", &plain, Some("gaia"), Inconclusive, none);
    check(
        "macro_f1(exact) >= 0.5",
        &plain,
        Some("gaia"),
        Inconclusive,
        none,
    );
    check(
        "macro_f1(x) >= 0.5",
        &plain,
        Some("gaia"),
        Inconclusive,
        "judged by `x`",
    );
    check(
        "macro_f1 >= 0.5",
        &[],
        None,
        Inconclusive,
        "no sample was scored",
    );
    let texts: Vec<String> = (0..70).map(|number| number.to_string()).collect();
    let many: Vec<_> = texts.iter().map(|text| (&**text, None)).collect();
    check(
        "macro_f1 >= 0.5",
        &labelled(&many),
        None,
        Inconclusive,
        "limited to 64 labels",
    );
}

#[test]
fn a_sum_that_not_every_answer_reports_is_a_lower_bound() {
    let known = |id: &str, usage: Option<Usage>| {
        let mut record = record(id, Status::Scored, true, "1");
        record.result.usage = usage;
        record
    };
    let some = Usage::tokens(8, 2).cost_usd(0.5);
    let partly = Usage {
        output_tokens: None,
        cost_usd: None,
        cached_tokens: None,
        ..some
    };
    let check = |gate: &str, usages: &[Option<Usage>], verdict, message: &str| {
        let ids = ["a", "b", "c"].into_iter();
        let records: Vec<_> = ids
            .zip(usages)
            .map(|(id, usage)| known(id, *usage))
            .collect();
        self::check(gate, &records, None, verdict, message);
    };
    let all = [Some(some), Some(some)];
    check(
        "tokens <= 20",
        &all,
        Passed,
        "tokens 20 (reported by 2 samples), limit 20",
    );
    let lacking = [Some(some), None];
    let open = "tokens 10 (reported by 1 sample), limit 1000, undecided: 1 answer without this figure, so it is 10 or more";
    check("tokens <= 1000", &lacking, Inconclusive, open);
    check("tokens <= 9", &lacking, Failed, "limit 9");
    check("tokens >= 10", &lacking, Passed, "limit 10");
    check("cost_usd <= 1", &lacking, Inconclusive, "cost 0.5000 USD");
    // Of an answer that reports a part, that part counts.
    let parts = [Some(some), Some(partly), None];
    check(
        "input_tokens <= 99",
        &parts,
        Inconclusive,
        "1 answer without",
    );
    check(
        "tokens <= 99",
        &parts,
        Inconclusive,
        "2 answers without this figure, so it is 18 or more",
    );
    check(
        "output_tokens <= 99",
        &parts,
        Inconclusive,
        "2 answers without",
    );
    // Where nobody reports the output, the input is all there is.
    let inputs = [Some(partly), Some(partly)];
    check("tokens <= 16", &inputs, Passed, "tokens 16");
    // What came from the cache took nothing in this run.
    let mut cached = known("b", None);
    cached.result.cached = true;
    let records = [known("a", Some(some)), cached];
    self::check("tokens <= 10", &records, None, Passed, "tokens 10");
    // Each epoch that was not asked lacks it.
    let skipped = |epoch| Record {
        epoch,
        ..record("c", Status::Skipped, false, "1")
    };
    let open = |second: u32| {
        let records = [
            known("a", Some(some)),
            known("b", None),
            skipped(0),
            skipped(second),
        ];
        let says = ["2 skipped samples", "2 skipped answers"][second as usize];
        self::check("tokens <= 99", &records, None, Inconclusive, says);
    };
    open(0);
    open(1);
}
