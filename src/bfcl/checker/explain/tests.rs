use super::*;
use crate::bfcl::checker::{ModelAnswer, check};
use crate::calls::JsonValue as _;

fn explained(category: &str, answer: &str) -> Explanation {
    let functions = r#"[{"name": "weather.get", "parameters": {"required": ["city"], "properties": {
        "city": {"type": "string"}, "unit": {"type": "string"}, "days": {"type": "integer"}
    }}}]"#;
    let call =
        r#"{"weather.get": {"city": ["Rome", "Roma"], "unit": ["celsius", "c", ""], "days": [3]}}"#;
    let ground_truth = match category {
        "parallel" => {
            format!(r#"[{call}, {{"weather.get": {{"city": ["Oslo"], "days": [1, ""]}}}}]"#)
        }
        _ => format!("[{call}]"),
    };
    let read = |text: &str| Value::from_json(text).unwrap();
    let entry = AnswerKey::new(&read(functions), Some(&read(&ground_truth))).unwrap();
    let answer = Value::from(answer);
    let request = CheckRequest::new(&entry, category, ModelAnswer::Prompt(&answer));
    explain(&request, &check(&request))
}

#[test]
fn differences() {
    fn check(category: &str, answer: &str, expect: Option<&str>) {
        let got = explained(category, answer).difference;
        assert_eq!(got.as_deref(), expect, "{answer}");
    }
    let simple = |answer, expect| check("simple_python", answer, expect);
    simple("weather.get(city='rome', days=3)", None);
    simple(
        "weather.get(city='Rome', days=3, unit='kelvin')",
        Some("`unit`: got `kelvin`, accepted `celsius`, `c` or nothing"),
    );
    simple(
        "weather.get(city='Oslo', days=3)",
        Some("`city`: got `Oslo`, accepted `Rome` or `Roma`"),
    );
    simple(
        "weather.get(city='Rome', days='3')",
        Some("`days`: got `3` (text), accepted `3` (integer)"),
    );
    simple(
        "weather.get(city='Rome')",
        Some("`days`: is missing, accepted `3`"),
    );
    simple(
        "weather.get(city='Rome', day=3)",
        Some("`day`: is not an argument of `weather.get` here"),
    );
    // `city` is required: the official program reports it first, too.
    simple(
        "weather.get(town='Rome', days=7)",
        Some("`city`: is missing, accepted `Rome` or `Roma`"),
    );
    simple(
        "news.get()",
        Some("no call of `weather.get`, but of `news.get`"),
    );
    simple("[]", Some("no call of `weather.get`"));
    simple("Sunny.", Some("the answer has no readable calls"));
    check(
        "parallel",
        "weather.get(city='Oslo'), weather.get(city='Roma', days=3)",
        None,
    );
    check(
        "parallel",
        "weather.get(city='Roma', days=3), weather.get(city='Bern')",
        Some("`city`: got `Bern`, accepted `Oslo`"),
    );
    check(
        "live_irrelevance",
        "f(a=1)",
        Some("no call was expected, the answer has one"),
    );
    check(
        "live_relevance",
        "[]",
        Some("a call was expected, the answer has none"),
    );
}

#[test]
fn wrong_count_is_reported_first() {
    let difference = |category: &str, answer: &str| explained(category, answer).difference.unwrap();
    let call = "weather.get(city='Rome', days=3)";
    assert_eq!(
        difference("simple_python", &format!("{call}, {call}")),
        "2 calls, expected 1"
    );
    assert_eq!(
        difference("parallel", "weather.get(city='Rome', days=7)"),
        "1 call, expected 2; `days`: got `7`, accepted `3`"
    );
}

#[test]
fn what_is_right_of_a_wrong_answer() {
    fn check(
        category: &str,
        answer: &str,
        calls: [u64; 3],
        parameters: [u64; 3],
        wrong: &[(&str, Problem)],
    ) {
        let partial = explained(category, answer).partial.unwrap();
        let share = |share: Share| [share.right, share.expected, share.given];
        assert_eq!(share(partial.calls), calls, "{answer}");
        assert_eq!(share(partial.parameters), parameters, "{answer}");
        let found = partial.wrong.iter();
        let found: Vec<_> = found
            .map(|wrong| (&*wrong.parameter, wrong.problem))
            .collect();
        assert_eq!(found, wrong, "{answer}");
    }
    let simple = "simple_python";
    // Right, expected, given.
    check(
        simple,
        "weather.get(city='Rome', unit='kelvin', day=3)",
        [0, 1, 1],
        [1, 3, 3],
        &[
            ("unit", Problem::Value),
            ("day", Problem::Unexpected),
            ("days", Problem::Missing),
        ],
    );
    check(simple, "news.get(a=1, b=2)", [0, 1, 1], [0, 2, 2], &[]);
    check(simple, "Sunny.", [0, 1, 0], [0, 2, 0], &[]);
    check(
        "parallel",
        "weather.get(city='Bern'), weather.get(city='Rome', days=3), f(x=1)",
        [1, 2, 3],
        [2, 3, 4],
        &[("city", Problem::Value)],
    );
    assert_eq!(
        explained(simple, "weather.get(city='Rome', days=3)").partial,
        None
    );
    assert_eq!(explained("irrelevance", "f(x=1)").partial, None);
}

#[test]
fn options_met() {
    let explanation = explained(
        "parallel",
        "weather.get(city='Oslo'), weather.get(city='roma', days=3)",
    );
    let matched: Vec<(usize, &str, usize)> = explanation
        .matched
        .iter()
        .map(|matched| (matched.call, &*matched.argument, matched.option))
        .collect();
    assert_eq!(matched, [(1, "city", 1), (1, "days", 0), (0, "city", 0)]);
}
