use serde_json::{Map, json};

use super::*;
use crate::data::{AgentError, Normalized, Outcome, Score, Usage};
use crate::eval::registry::Registry;
use crate::eval::registry::scorers::Context;
use crate::scorer::Answer;
use crate::scorer::compose::per_sample::PerSample;
use crate::scorer::extract::Extract;
use crate::scorer::gaia::GaiaScorer;
use crate::verdict::summary::tests::record;

/// Outputs everything it sees.
#[expect(clippy::unnecessary_wraps, reason = "it is a scorer")]
fn nosy(answer: &Answer<'_>) -> Result<Score> {
    let is = |key: &str| answer.metadata.get(key).cloned();
    let score = Score::new(0.25, false, "nosy").normalized(
        answer.prediction.unwrap_or("(none)"),
        answer.target.as_text().unwrap_or_default(),
    );
    let score = score.detail("messages", answer.output.messages.len());
    Ok(score.detail("rule", is("rule").unwrap_or_default()))
}

fn judge(scorers: Vec<Arc<dyn Scorer>>, extract: Extract) -> Rejudge {
    Rejudge {
        scorers,
        extraction: Extraction {
            extract,
            is_given: false,
        },
        official: HashMap::new(),
        clients: Clients::None,
        redactor: LateRedactor::default(),
    }
}

fn gaia() -> Rejudge {
    judge(vec![Arc::new(GaiaScorer)], Extract::final_answer())
}

/// A record with every field set.
fn full() -> Record {
    let mut full = record("q\"1\u{e9}", Status::Scored, false, "1");
    full.prompt = "What \\ is\nit?".into();
    full.ground_truth = "17".into();
    full.metadata
        .insert("rule".to_owned(), json!({"a": [1.50, null]}));
    full.result.output = Some(Output {
        text: Some("FINAL ANSWER: 17".to_owned()),
        messages: vec![json!({"role": "user", "content": 1e-7})],
        tool_calls: vec![json!({"name": "f"})],
        usage: Some(Usage {
            cost_usd: Some(0.1),
            ..Usage::default()
        }),
        steps: Some(3),
        metadata: Map::from_iter([("model".to_owned(), "m-1".into())]),
        conversation: None,
    });
    full.result.usage = full.result.output.as_ref().and_then(|output| output.usage);
    full.result.steps = Some(3);
    full.annotated_steps = Some(2);
    full.result.latency_s = 0.123_456_789;
    full.result.attempts = 2;
    full.result.redacted = 1;
    full
}

/// Rescores a record: the new line and what was seen of it.
fn line(judge: &Rejudge, record: &Record) -> (Seen, String) {
    let text = serde_json::to_vec(record).expect("JSON");
    text_of(judge, &text).expect("a record")
}

fn text_of(judge: &Rejudge, text: &[u8]) -> Result<(Seen, String)> {
    let mut out = Vec::new();
    let seen = judge.line(text, &mut out)?;
    Ok((seen, String::from_utf8(out).expect("UTF-8")))
}

#[test]
fn a_line_is_what_the_whole_record_would_be() {
    let record = full();
    let (seen, text) = line(&gaia(), &record);
    let agent_facts = |of: &Outcome| (of.usage, of.attempts, of.latency_s, of.cached, of.redacted);
    assert_eq!(
        agent_facts(&seen.record.result),
        agent_facts(&record.result)
    );
    assert_eq!(seen.record.result.prediction.as_deref(), Some("17"));
    assert!(seen.record.result.is_correct() && !seen.retained);
    let mut expect = record;
    expect.result = Outcome {
        output: expect.result.output,
        ..seen.record.result.clone()
    };
    assert_eq!(text, serde_json::to_string(&expect).expect("JSON") + "\n");
    let slices = &seen.record.slices;
    assert_eq!(
        (&seen.record.sample_id, slices),
        (&expect.sample_id, &expect.slices)
    );
    // Rescoring again changes nothing.
    let again = text_of(&gaia(), text.as_bytes()).expect("a record").1;
    assert_eq!(again, text);
}

#[test]
fn several_scorers_see_metadata_and_messages() {
    let scorers: Vec<Arc<dyn Scorer>> = vec![Arc::new(("nosy", nosy)), Arc::new(GaiaScorer)];
    let (_, text) = line(&judge(scorers, Extract::none()), &full());
    let record: Record = serde_json::from_str(&text).expect("a record");
    let result = &record.result;
    assert_eq!(result.scores["gaia"]["correct"], false);
    assert_eq!(result.scores["nosy"]["details"]["messages"], 1);
    let score = result.score.as_ref().expect("the first decides");
    assert_eq!(score.details.get("rule"), Some(&json!({"a": [1.50, null]})));
    let prediction = Normalized::Text("FINAL ANSWER: 17".to_owned());
    assert_eq!(score.normalized_prediction, prediction);
    assert_eq!(result.prediction.as_deref(), Some("FINAL ANSWER: 17"));
    // Going from several scorers to one removes the other verdicts.
    assert!(!line(&gaia(), &record).1.contains("nosy"));
}

#[test]
fn a_scorer_that_cannot_judge_leaves_an_error() {
    let fails = |_: &Answer<'_>| -> Result<Score> { Err(Error::usage("cannot")) };
    let (seen, text) = line(
        &judge(vec![Arc::new(("mine", fails))], Extract::none()),
        &full(),
    );
    assert_eq!(seen.record.result.status, Status::ScorerFailed);
    assert!(text.contains("scorer `mine`: cannot"), "{text}");
}

#[test]
fn what_was_lost_keeps_its_verdict() {
    let check = |change: fn(&mut Record), retained: bool| {
        let mut record = full();
        change(&mut record);
        let (seen, text) = line(&gaia(), &record);
        let same = text.trim_end() == serde_json::to_string(&record).expect("JSON");
        assert_eq!((seen.retained, same), (retained, retained), "{text}");
    };
    check(|_| {}, false);
    check(|record| record.prompt = "the [REDACTED]".into(), false);
    check(|record| record.ground_truth = "[REDACTED]".into(), true);
    check(
        |record| {
            let text = "x [REDACTED]".into();
            record.metadata.insert("k".to_owned(), text);
        },
        true,
    );
    let lose = |record: &mut Record| {
        record.result.output = Some(Output::text("FINAL ANSWER: [REDACTED]"));
    };
    check(lose, true);
    let says_so = |record: &mut Record| {
        record.result.output = Some(Output::text("FINAL ANSWER: [REDACTED]"));
        record.result.redacted = 0;
    };
    check(says_so, false);
}

#[test]
fn what_has_no_answer_stays_as_it_is() {
    for status in [Status::AgentFailed, Status::TimedOut, Status::Skipped] {
        let mut record = record("a", status, false, "1");
        record.result.error = Some(AgentError::new("gone"));
        let (seen, text) = line(&gaia(), &record);
        assert_eq!(
            text.trim_end(),
            serde_json::to_string(&record).expect("JSON")
        );
        assert_eq!((seen.record.result.status, seen.retained), (status, false));
    }
    let mut hidden = full();
    hidden.ground_truth = Value::Null;
    let (seen, _) = line(&gaia(), &hidden);
    assert_eq!(seen.record.result.status, Status::Unscored);
    assert_eq!(seen.record.result.prediction.as_deref(), Some("17"));
}

#[test]
fn lines_of_other_versions_are_read_all_the_same() {
    let mut value = serde_json::to_value(full()).expect("JSON");
    let map = value.as_object_mut().expect("an object");
    map.shift_remove("slices");
    map.shift_remove("input_hash");
    map.insert("later".to_owned(), json!({"x": 1}));
    let text = value.to_string() + "\r\n";
    let (seen, text) = text_of(&gaia(), text.as_bytes()).expect("a record");
    assert!(seen.record.result.is_correct());
    serde_json::from_str::<Record>(&text).expect("a record");
    for broken in ["", "{}", "[1]", "{\"sample_id\":", "\u{0}"] {
        let error = text_of(&gaia(), broken.as_bytes()).err().expect("an error");
        assert!(error.message().starts_with("not a record: "), "{error}");
    }
}

#[test]
fn secrets_of_a_sample_s_own_scorer_are_blanked() {
    struct Chatty;
    impl Scorer for Chatty {
        fn name(&self) -> &'static str {
            "chatty"
        }
        fn score(&self, _: &Answer<'_>) -> Result<Score> {
            Ok(Score::binary(true).detail("key", "open-sesame-17"))
        }
        fn secrets(&self) -> Vec<String> {
            vec!["open-sesame-17".to_owned()]
        }
    }
    let registry = Registry::new().scorer("chatty", |_| Ok(Chatty));
    let context = Context {
        registry: Some(&registry),
        ..Context::here()
    };
    let mut record = full();
    record.metadata.insert("scorer".to_owned(), "chatty".into());
    let judge = judge(
        vec![Arc::new(PerSample::new(&context.maker()))],
        Extract::none(),
    );
    let (seen, text) = line(&judge, &record);
    assert!(seen.record.result.is_correct());
    assert!(
        text.contains(REDACTED) && !text.contains("sesame"),
        "{text}"
    );
}
