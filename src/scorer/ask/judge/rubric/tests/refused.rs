//! What is rejected before any request: message, place and hint.

use super::*;

#[test]
fn keys_that_are_none() {
    check(
        "rubric:\n  dimension: [{ name: a }]\n",
        "option `rubric`: unknown key `dimension`, expected one of `instructions`, `dimensions`, `choices`, `pass`, `excellent`",
        "2:3",
        "did you mean `dimensions`?",
    );
    check(
        "rubric: { dimensions: [{ name: a, wieght: 2 }] }",
        "option `rubric`: dimension `a`: unknown key `wieght`, expected one of `name`, `description`, `weight`, `scale`, `examples`",
        "1:35",
        "did you mean `weight`?",
    );
    check(
        "rubric: { dimensions: [{ nmae: a }] }",
        "option `rubric`: unknown key `nmae`, expected one of `name`, `description`, `weight`, `scale`, `examples`",
        "1:26",
        "did you mean `name`?",
    );
    check(
        "rubric: { dimensions: [{ name: a, examples: [{ scor: 1 }] }] }",
        "option `rubric`: dimension `a`: unknown key `scor`, expected one of `score`, `answer`, `reason`",
        "1:48",
        "did you mean `score`?",
    );
    check(
        "choices: { a: { valu: 1 }, b: 0 }",
        "option `choices`: choice `a`: unknown key `valu`, expected one of `value`, `description`",
        "1:17",
        "did you mean `value`?",
    );
}

#[test]
fn rubrics_that_are_none() {
    let dimensions = "write a list of maps: `dimensions: [{ name: clarity, description: … }]`";
    check(
        "rubric: [a]",
        "option `rubric`: a rubric is a map, not a list",
        "1:9",
        "write `{ dimensions:",
    );
    check(
        "rubric: 3",
        "option `rubric`: a rubric is a map, not the number 3",
        "1:9",
        "write `{ dimensions:",
    );
    check(
        "rubric: {}",
        "option `rubric`: a rubric needs `dimensions` or `choices`",
        "1:9",
        "write `{ dimensions:",
    );
    check(
        "rubric: ' '",
        "option `rubric`: the name of the rubric is blank",
        "1:9",
        "`rubric: aime`",
    );
    check(
        "rubric: { dimensions: [] }",
        "option `rubric`: `dimensions` are empty: there is nothing to grade",
        "1:23",
        dimensions,
    );
    check(
        "rubric: { dimensions: { a: 1 } }",
        "option `rubric`: `dimensions` are a list, not a map",
        "1:23",
        dimensions,
    );
    check(
        "rubric: { dimensions: [{ name: a }, b] }",
        "option `rubric`: a dimension is a map, not a text",
        "1:37",
        dimensions,
    );
    check(
        "rubric: { dimensions: [{}] }",
        "option `rubric`: a dimension needs a `name`",
        "1:24",
        "name: clarity",
    );
    check(
        "rubric: { instructions: 3, dimensions: [{ name: a }] }",
        "option `rubric`: `instructions` is a text, not the number 3",
        "1:25",
        "`instructions: '…'`",
    );
    check(
        "rubric: { dimensions: [{ name: a, description: '' }] }",
        "option `rubric`: dimension `a`: `description` is a text, not a blank text",
        "1:48",
        "in quotes",
    );
    let error = read("{ pass: 3 }").unwrap_err();
    let expect = "scorer `judge` needs the option `rubric`, a ready rubric, a file, a map with `dimensions`, or `choices` \
        instead of it\n\nhint: write `{ type: judge, rubric: … }`";
    assert_eq!(error.to_string(), expect);
}

#[test]
fn names_that_no_reply_or_gate_could_have() {
    let name = |name: &str, message: &str, hint: &str| {
        let options = json!({ "rubric": { "dimensions": [{ "name": name }] } }).to_string();
        check(
            &options,
            &format!("option `rubric`: {message}"),
            "1:34",
            hint,
        );
    };
    let legal = "letters, digits, `_`, `-` and spaces";
    name("", "the name of a dimension is blank", legal);
    name(" ", "the name of a dimension is blank", legal);
    name(" a", "the name ` a` begins or ends with a space", legal);
    for c in [".", "(", ")", "[", "]", "\"", "{", ",", "=", "\\n", "`"] {
        let given = c.replace("\\n", "\n");
        let c = given.escape_debug();
        let message = format!(
            "`{c}` cannot be in the name of a dimension, which gates name as `mean(judge.NAME)`"
        );
        name(&format!("a{given}b"), &message, legal);
    }
    for taken in [
        "total",
        "excellent",
        "comments",
        "value",
        "reason",
        "verdict",
        "repeats",
        "self_agreement",
        "Total",
    ] {
        let detail = taken.to_lowercase();
        let message = format!(
            "a dimension cannot be called `{taken}`: `{detail}` is a detail of every judge"
        );
        name(taken, &message, "choose another name");
    }
    let long = "x".repeat(65);
    name(
        &long,
        &format!("the name `{long}` is longer than 64 characters"),
        "`description`",
    );
    check(
        "rubric: { dimensions: [{ name: a b }, { name: a b }] }",
        "option `rubric`: two dimensions are called `a b`",
        "1:47",
        "a unique name",
    );
    check(
        "rubric: { dimensions: [{ name: a }, { name: A }] }",
        "option `rubric`: two dimensions are called `a` and `A`",
        "1:45",
        "more than case",
    );
    check(
        "rubric: { dimensions: [{ name: 3 }] }",
        "option `rubric`: `name` is a text, not the number 3",
        "1:32",
        "quotes",
    );
}

#[test]
fn scales_and_weights_that_are_none() {
    let of = |key: &str, value: &str, message: &str, hint: &str| {
        let options = format!("rubric: {{ dimensions: [{{ name: a, {key}: {value} }}] }}");
        let place = format!("1:{}", 37 + key.len());
        check(
            &options,
            &format!("option `rubric`: dimension `a`: {message}"),
            &place,
            hint,
        );
    };
    of(
        "scale",
        "[5, 1]",
        "the scale [5, 1] is reversed",
        "write `scale: [1, 5]`",
    );
    of(
        "scale",
        "[3, 3]",
        "the scale [3, 3] has only one point",
        "`scale: [1, 5]`",
    );
    for scale in [
        "[1,5.5]",
        "[1,2,3]",
        "[1]",
        "5",
        "\"1-5\"",
        "[\"1\",5]",
        "[1.0,5]",
        "null",
        "[1,null]",
    ] {
        let message = format!("the scale {scale} is not two whole numbers");
        of("scale", scale, &message, "`scale: [1, 5]`");
    }
    of(
        "scale",
        "[0, 1000001]",
        "the scale [0, 1000001] goes beyond 1000000",
        "`scale: [1, 5]`",
    );
    let ends = format!("[{}, {}]", i64::MIN, i64::MAX);
    of(
        "scale",
        &ends,
        &format!("the scale {ends} goes beyond 1000000"),
        "`scale: [1, 5]`",
    );
    for weight in ["0", "0.0", "-1", "\"2\"", "null", "true", "1e-320"] {
        let value: Value = yaml::read_json(weight).unwrap();
        let message = format!("the weight {value} is not a finite number above 0");
        of(
            "weight",
            weight,
            &message,
            "delete a dimension that must not count",
        );
    }
    // JSON's replacement for infinity.
    of(
        "weight",
        ".inf",
        "the weight null is not a finite number above 0",
        "",
    );
    check(
        "rubric: { dimensions: [{ name: a, weight: 1.0e+308 }, { name: b, weight: 1.0e+308 }] }",
        "option `rubric`: the weights have no finite sum",
        "1:23",
        "smaller",
    );
    of(
        "examples",
        "x",
        "`examples` are a list, not a text",
        "`examples: [{ score: 4",
    );
}

#[test]
fn examples_that_are_none() {
    let of = |example: &str, message: &str, column: usize, hint: &str| {
        let options = format!("rubric: {{ dimensions: [{{ name: a, examples: [{example}] }}] }}");
        let message = format!("option `rubric`: dimension `a`: {message}");
        check(&options, &message, &format!("1:{column}"), hint);
    };
    of(
        "3",
        "an example is a text or a map, not the number 3",
        46,
        "write texts or maps",
    );
    of(
        "' '",
        "an example is a text or a map, not a blank text",
        46,
        "write texts or maps",
    );
    of(
        "{ answer: x }",
        "an example needs a `score`",
        46,
        "`score: 5`",
    );
    of(
        "'10: greets, helps, ends'",
        "an example has 10 points, on a scale from 1 to 5",
        46,
        "or another `scale`",
    );
    of(
        "{ score: 6, answer: x }",
        "the score 6 of an example is not a whole number from 1 to 5",
        55,
        "`score: 5`",
    );
    of(
        "{ score: 4.5, answer: x }",
        "the score 4.5 of an example is not a whole number from 1 to 5",
        55,
        "`score: 5`",
    );
    of(
        "{ score: 4 }",
        "an example needs an `answer` or a `reason`",
        46,
        "`{ score: 4, answer",
    );
}

#[test]
fn limits_that_no_answer_reaches() {
    let aime = |key: &str, value: &str, message: &str, hint: &str| {
        let options = format!("{{ rubric: aime, {key}: {value} }}");
        let place = format!("1:{}", 19 + key.len());
        check(
            &options,
            &format!("option `{key}`: {message}"),
            &place,
            hint,
        );
    };
    aime(
        "pass",
        "5.5",
        "`pass` 5.5 is off the scale, which goes from 1 to 5",
        "a number from 1 to 5",
    );
    aime(
        "excellent",
        "0",
        "`excellent` 0 is off the scale, which goes from 1 to 5",
        "a number from 1 to 5",
    );
    aime(
        "pass",
        "high",
        "`pass` \"high\" is not a number",
        "`pass: 4`",
    );
    check(
        "rubric: { dimensions: [{ name: a, scale: [0, 10] }], pass: 11 }",
        "option `rubric`: `pass` 11 is off the scale, which goes from 0 to 10",
        "1:60",
        "from 0 to 10",
    );
    check(
        "rubric: { dimensions: [{ name: a, scale: [0, 1] }] }",
        "option `rubric`: the default `pass` 3.5 is off the scale, which goes from 0 to 1",
        "1:9",
        "write `pass:` and a number from 0 to 1",
    );
    check(
        "{ choices: { a: 0.9, b: 0 } }",
        "option `choices`: no choice reaches the default `pass` 1: the highest value is 0.9",
        "1:12",
        "write `pass: 0.9`",
    );
    check(
        "{ choices: { a: 0.9, b: 0 }, pass: 0.95 }",
        "option `pass`: no choice reaches `pass` 0.95: the highest value is 0.9",
        "1:36",
        "write `pass: 0.9`",
    );
    check(
        "{ rubric: qa, pass: 3.5 }",
        "option `pass`: `pass` 3.5 is off the scale, which goes from 0 to 1",
        "1:21",
        "`pass: 1`",
    );
    check(
        "{ rubric: qa, excellent: 1 }",
        "option `excellent`: `excellent` is a total of points, but choices have no points",
        "1:26",
        "remove it",
    );
    // Given before it is known what is graded.
    check(
        "{ rubric: { pass: 3 }, choices: { a: 1, b: 0 } }",
        "option `rubric`: `pass` 3 is off the scale, which goes from 0 to 1",
        "1:19",
        "`pass: 1`",
    );
}

#[test]
fn choices_that_are_none() {
    let of = |choices: &str, message: &str, column: usize, hint: &str| {
        let options = format!("choices: {choices}");
        check(
            &options,
            &format!("option `choices`: {message}"),
            &format!("1:{column}"),
            hint,
        );
    };
    let two = "write at least two";
    of("[a, b]", "`choices` are a map, not a list", 10, two);
    of(
        "{}",
        "`choices` are empty: there is no verdict to give",
        10,
        two,
    );
    of(
        "{ a: 1 }",
        "`choices` has only one, so every answer would get it",
        10,
        two,
    );
    of(
        "{ a: 1.5, b: 0 }",
        "the value 1.5 of the choice `a` is not a number from 0 to 1",
        15,
        "`a: 1` for what is right",
    );
    of(
        "{ a: 1, b: -0.1 }",
        "the value -0.1 of the choice `b` is not a number from 0 to 1",
        21,
        "`b: 0` for what is wrong",
    );
    of(
        "{ a: '1', b: 0 }",
        "the value \"1\" of the choice `a` is not a number from 0 to 1",
        15,
        "`a: 1`",
    );
    of(
        "{ a: { value: 2 }, b: 0 }",
        "the value 2 of the choice `a` is not a number from 0 to 1",
        24,
        "`a: 1`",
    );
    of(
        "{ a: { description: x }, b: 0 }",
        "the choice `a` has no `value`",
        15,
        "`a: { value: 1",
    );
    of(
        "{ ' ': 1, b: 0 }",
        "the name of a choice is blank",
        12,
        "`correct: 1`",
    );
    of(
        "{ ' a': 1, b: 0 }",
        "` a` cannot be the name of a choice",
        12,
        "`correct: 1`",
    );
    of(
        "{ '+': 1, b: 0 }",
        "`+` cannot be the name of a choice",
        12,
        "`correct: 1`",
    );
    of(
        "{ yes: 1, YES: 0 }",
        "two choices are called `yes` and `YES`",
        20,
        "more than case",
    );
    check(
        "{ rubric: aime, choices: { a: 1, b: 0 } }",
        "option `choices`: `choices` and `dimensions` are both set: an answer gets either a verdict or points",
        "1:26",
        "keep one of the two",
    );
    check(
        "rubric: { dimensions: [{ name: a }], choices: { a: 1, b: 0 } }",
        "option `rubric`: `choices` and `dimensions` are both set: an answer gets either a verdict or points",
        "1:47",
        "keep one of the two",
    );
    check(
        "{ rubric: qa, choices: { a: 1, b: 0 } }",
        "option `choices`: `choices` is set, but the rubric has its own `choices`",
        "1:24",
        "remove them",
    );
}
