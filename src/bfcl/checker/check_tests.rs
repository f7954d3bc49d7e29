//! Tests each rule of the check on made-up functions.

use super::*;
use crate::calls::{Dict, Value};

/// A function `f` with one parameter `x` of this type, and its accepted values.
fn entry(kind: &str, options: &str) -> AnswerKey {
    let (kind, items) = kind.split_once('/').unwrap_or((kind, ""));
    let items = if items.is_empty() {
        String::new()
    } else {
        format!(r#", "items": {{"type": "{items}"}}"#)
    };
    let functions = format!(
        r#"[{{"name": "f", "parameters": {{"required": [], "properties": {{"x": {{"type": "{kind}"{items}}}}}}}}}]"#
    );
    let read = |text: &str| Value::from_json(text).unwrap();
    AnswerKey::new(
        &read(&functions),
        Some(&read(&format!(r#"[{{"f": {{"x": {options}}}}}]"#))),
    )
    .unwrap()
}

fn python(kind: &str, options: &str, value: &str, expect: Option<&str>) {
    let entry = entry(kind, options);
    let answer = Value::Str(format!("f(x={value})"));
    let verdict = check(&CheckRequest::new(
        &entry,
        "simple_python",
        ModelAnswer::Prompt(&answer),
    ));
    assert_eq!(
        verdict.error_type, expect,
        "{kind} {options} {value} {:?}",
        verdict.error
    );
}

#[test]
fn scalars() {
    python("integer", "[1, 2]", "2", None);
    python("integer", "[1]", "True", Some("type_error:simple"));
    python("integer", "[1]", "1.0", Some("type_error:simple"));
    python("integer", "[1]", "3", Some("value_error:others"));
    python("float", "[1.0]", "1", None);
    python("float", "[1.5]", "1.5", None);
    python(
        "float",
        "[1.0]",
        &format!("1{}", "0".repeat(400)),
        Some(CRASH),
    );
    python("boolean", "[true]", "True", None);
    python("boolean", "[true]", "1", Some("type_error:simple"));
    python("string", "[\"New York\"]", "'new-york.'", None);
    python(
        "string",
        "[\"New York\"]",
        "'York'",
        Some("value_error:string"),
    );
    python("string", "[\"a\", \"\"]", "'-'", None);
    python("any", "[5]", "5", None);
    python("integer", "[\"size\"]", "size", None);
    python(
        "integer",
        "[\"size\"]",
        "'Size'",
        Some("value_error:others"),
    );
    python("integer", "[\"\"]", "5", Some("value_error:others"));
    python("integer", "[null, 5]", "None", None);
    python("number", "[5]", "5", Some(CRASH));
    python("integer", "[1]", "10**5000", Some(CRASH));
}

#[test]
fn lists() {
    python("array/string", "[[\"a b\", \"c\"]]", "['A-B', 'c']", None);
    python(
        "array/string",
        "[[\"a\", \"b\"]]",
        "['b', 'a']",
        Some("value_error:list/tuple"),
    );
    python(
        "array/integer",
        "[[1, 2]]",
        "(1, 2)",
        Some("type_error:simple"),
    );
    python("tuple/integer", "[[1, 2]]", "(1, 2)", None);
    python("tuple/integer", "[[1, 2]]", "[1, 2]", None);
    python(
        "array/float",
        "[[1.0, 2.0]]",
        "[1, 2]",
        Some("type_error:nested"),
    );
    python("array/float", "[[1, 2]]", "[1, 2]", None);
    python("array/integer", "[\"\", [1]]", "[]", None);
    python(
        "array/array",
        "[[[\"a\"]]]",
        "[['A']]",
        Some("value_error:list/tuple"),
    );
    python("array", "[[1]]", "[1]", Some(CRASH));
}

#[test]
fn dictionaries() {
    let options = r#"[{"a": [1, 2], "b": ["X y", ""]}]"#;
    python("dict", options, "{'a': 2}", None);
    python("dict", options, "{'b': 'x-Y', 'a': 1}", None);
    python(
        "dict",
        options,
        "{'b': 'x y'}",
        Some("value_error:dict_key"),
    );
    python("dict", options, "{'a': 3}", Some("value_error:dict_value"));
    python(
        "dict",
        options,
        "{'a': 1, 'c': 1}",
        Some("value_error:dict_key"),
    );
    python("dict", options, "{'b': 'q'}", Some("value_error:dict_key"));
    python("dict", "[\"\"]", "{}", Some("dict_checker:unclear"));
    python("dict", r#"[{"a": [1]}, {"b": [2]}]"#, "{'b': 2}", None);
    python(
        "array/dict",
        r#"[[{"a": [1]}, {"a": [2]}]]"#,
        "[{'a': 1}, {'a': 2}]",
        None,
    );
    python(
        "array/dict",
        r#"[[{"a": [1]}, {"a": [2]}]]"#,
        "[{'a': 2}, {'a': 1}]",
        Some("value_error:dict_value"),
    );
    python(
        "array/dict",
        r#"[[{"a": [1]}]]"#,
        "[]",
        Some("value_error:list_dict_count"),
    );
    python("array/dict", r#"["", [{"a": [1]}]]"#, "[]", None);
    python("array/dict", "[[\"a\"]]", "['a']", Some(CRASH));
}

#[test]
fn typed_languages() {
    fn check(category: &str, kind: &str, options: &str, value: &str, expect: Option<&str>) {
        let entry = entry(kind, options);
        let arguments = Value::Dict(Dict::of(
            "x".into(),
            Value::from_json(value).unwrap_or(value.into()),
        ));
        let call = Dict::of("f".into(), Value::Str(arguments.to_json_text()));
        let answer = Value::List(vec![Value::Dict(call)]);
        let verdict = super::check(&CheckRequest::new(
            &entry,
            category,
            ModelAnswer::Native(&answer),
        ));
        assert_eq!(
            verdict.error_type, expect,
            "{kind} {value} {:?}",
            verdict.error
        );
    }
    let java = |kind, options, value, expect| check("simple_java", kind, options, value, expect);
    java("integer", "[5]", "\"5\"", None);
    java("integer", "[5]", "5", Some("type_error:java"));
    java("integer", "[5]", "5L", Some("type_error:simple"));
    java("long", "[5]", "5L", None);
    java("Array/String", "[[\"a\"]]", "new String[]{a}", None);
    java(
        "ArrayList/integer",
        "[[1, 2]]",
        "new ArrayList<>(Arrays.asList(1, 2))",
        None,
    );
    java(
        "HashMap",
        "[{\"k\": [1]}]",
        "new HashMap<>() {{ put(\"k\", 1); }}",
        None,
    );
    java("Queue", "[[1]]", "x", Some(CRASH));
    let js =
        |kind, options, value, expect| check("simple_javascript", kind, options, value, expect);
    js("integer", "[5]", "true", Some("type_error:js"));
    js("Bigint", "[5]", "5n", None);
    js("array/String", "[[\"a\"]]", "['a']", None);
    js("dict", "[{\"k\": [1]}]", "{k: 1}", None);
    js("String", "[\"a\"]", "'A'", None);
}

#[test]
fn calls() {
    fn check(category: &str, answer: &str, expect: Option<&str>) {
        let functions = r#"[
            {"name": "a.f", "parameters": {"required": ["x"], "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}}},
            {"name": "g", "parameters": {"required": [], "properties": {"x": {"type": "integer"}}}}
        ]"#;
        let one = r#"{"a.f": {"x": [1], "y": [2, 3]}}"#;
        let ground_truth = match category {
            "parallel" => {
                format!(r#"[{one}, {{"g": {{"x": [1, 2, ""]}}}}, {{"g": {{"x": [1]}}}}]"#)
            }
            "multiple" => r#"[{"g": {"x": [1]}}]"#.to_owned(),
            _ => format!("[{one}]"),
        };
        let read = |text: &str| Value::from_json(text).unwrap();
        let entry = AnswerKey::new(&read(functions), Some(&read(&ground_truth))).unwrap();
        let answer = Value::from(answer);
        for underscore_to_dot in [false, true] {
            let answer = match (underscore_to_dot, &answer) {
                (true, Value::Str(text)) => Value::Str(text.replace("a.f", "a_f")),
                (_, answer) => answer.clone(),
            };
            let verdict = super::check(&CheckRequest {
                underscore_to_dot,
                ..CheckRequest::new(&entry, category, ModelAnswer::Prompt(&answer))
            });
            assert_eq!(verdict.error_type, expect, "{answer:?}");
            assert_eq!(verdict.valid, expect.is_none());
        }
    }
    let simple = |answer, expect| check("simple_python", answer, expect);
    simple("a.f(x=1, y=3)", None);
    simple(
        "b(x=1, y=3)",
        Some("simple_function_checker:wrong_func_name"),
    );
    simple("a.f(y=3)", Some("simple_function_checker:missing_required"));
    simple("a.f(x=1)", Some("simple_function_checker:missing_optional"));
    simple(
        "a.f(x=1, y=2, z=3)",
        Some("simple_function_checker:unexpected_param"),
    );
    simple(
        "a.f(x=1, y=2), a.f(x=1, y=2)",
        Some("simple_function_checker:wrong_count"),
    );
    simple("[]", Some("simple_function_checker:wrong_count"));
    simple("What do you mean?", Some("ast_decoder:decoder_failed"));
    check("multiple", "g(x=1)", None);
    check(
        "multiple",
        "[]",
        Some("multiple_function_checker:wrong_count"),
    );
    check("parallel", "g(x=1), g(x=1), a.f(x=1, y=2)", None);
    // No backtracking: the first `g` takes `x=1`, and only `x=2` is left for the second.
    let no_match = Some("parallel_function_checker_no_order:cannot_find_match");
    check("parallel", "g(x=1), g(x=2), a.f(x=1, y=2)", no_match);
    check("parallel", "g(x=2), g(x=1), a.f(x=1, y=2)", None);
    check(
        "parallel",
        "g(x=1)",
        Some("parallel_function_checker_no_order:wrong_count"),
    );
    check(
        "live_irrelevance",
        "a.f(x=1)",
        Some("irrelevance_error:decoder_success"),
    );
    check("live_irrelevance", "No.", None);
    check("live_irrelevance", "```python\na.f(x=1)\n```", None);
    check("irrelevance", "[]", None);
    check("live_relevance", "b()", None);
    check(
        "live_relevance",
        "[]",
        Some("relevance_error:decoder_failed"),
    );
}

#[test]
fn malformed_data_is_named() {
    let read = |text: &str| Value::from_json(text).unwrap();
    for (functions, ground_truth) in [
        ("1", "[]"),
        ("[{}]", "[]"),
        ("[]", "1"),
        ("[]", "[1]"),
        ("[]", "[{}]"),
        ("[]", r#"[{"f": {"x": 1}}]"#),
    ] {
        assert!(AnswerKey::new(&read(functions), Some(&read(ground_truth))).is_err());
    }
    let entry = AnswerKey::new(&read(r#"[{"name": "f"}]"#), Some(&read(r#"[{"f": {}}]"#))).unwrap();
    let answer = Value::from("f()");
    let verdict = check(&CheckRequest::new(
        &entry,
        "simple_python",
        ModelAnswer::Prompt(&answer),
    ));
    assert_eq!(verdict.error_type, Some(CRASH));
}
