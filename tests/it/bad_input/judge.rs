//! Mistakes about a judge: each has its place in the spec, and neither the agent nor the judge is asked.

use super::{GOOD, project, refused};
use crate::schema::equal::refused_too;
use crate::server::{Server, chat, fine};

const AIME: &str = "rubric: aime";

/// A judge with these options, the first of which is on line 8 of the spec; `AGENT` is one that nobody may ask.
#[track_caller]
fn check(options: &[&str], place: &str, error: &str, hint: &str) {
    let mut lines = vec!["type: judge", "agent: AGENT"];
    lines.extend(options);
    let judge = lines.join("\n    ");
    check_scorers(&format!("scorers:\n  - {judge}\n"), &[], place, error, hint);
}

/// The same of whatever scorers, which begin on line 5, and files beside the spec.
#[track_caller]
fn check_scorers(scorers: &str, files: &[(&str, &[u8])], place: &str, error: &str, hint: &str) {
    let server = Server::new(|_, _| fine(&chat("{\"clarity\": 4, \"verdict\": \"correct\"}")));
    let agent = server.openai("");
    let project = project();
    for (name, content) in files {
        project.write(name, content);
    }
    project.write(
        "eval.yaml",
        format!("{GOOD}{}", scorers.replace("AGENT", &agent)),
    );
    let ran = project.run("run eval.yaml");
    refused(&project, ran, &format!("eval.yaml:{place}"), error, hint);
    assert_eq!(server.requested().len(), 0, "the judge was asked");
}

/// A rubric with one dimension of this text.
#[track_caller]
fn check_dimension(dimension: &str, error: &str, hint: &str) {
    let rubric = format!("rubric: {{ dimensions: [{{ name: clarity }}, {{ {dimension} }}] }}");
    check(&[&rubric], "8:", error, hint);
}

#[test]
fn keys_that_are_none() {
    let unknown = "scorer `judge`: unknown option";
    check(
        &[AIME, "rubrik: x"],
        "9:5: ",
        unknown,
        "did you mean `rubric`?",
    );
    for (key, owner) in [
        ("temperature: 0", "`agent: { temperature: … }`"),
        ("seed: 1", "`agent: { seed: … }`"),
        ("api_key_env: KEY", "`agent: { api_key_env: … }`"),
        ("dimensions: []", "`rubric: { dimensions: … }`"),
    ] {
        check(&[AIME, key], "9:5: ", unknown, owner);
    }
    check(
        &["rubric: { dimension: [{ name: a }] }"],
        "8:15: ",
        "option `rubric`: unknown key `dimension`",
        "did you mean `dimensions`?",
    );
    check(
        &["rubric: { ready: aime }"],
        "8:15: ",
        "unknown key `ready`",
        "remove `ready`",
    );
    check_dimension("name: a, wieght: 2", "unknown key `wieght`", "`weight`");
    for twice in [
        &[AIME, "rubric: qa"][..],
        &["rubric: { dimensions: [{ name: a }], dimensions: [{ name: b }] }"],
        &["rubric: { dimensions: [{ name: a, name: b }] }"],
        &["choices: { a: 1, a: 0, b: 1 }"],
    ] {
        check(twice, "", "duplicate key", "keep one of the two");
    }
}

#[test]
fn dimensions_that_are_none() {
    check(
        &["rubric: { dimensions: [{ name: a, scale: [5, 1] }] }"],
        "8:46: ",
        "the scale [5, 1] is reversed",
        "write `scale: [1, 5]`",
    );
    for scale in [
        "[3, 3]",
        "[1.5, 5]",
        "[.nan, 5]",
        "[1, .inf]",
        "[1]",
        "[1, 2, 3]",
        "5",
        "'1,5'",
        "[-9223372036854775808, 1]",
        "[1, 1e300]",
    ] {
        let dimension = format!("name: a, scale: {scale}");
        check_dimension(&dimension, "the scale ", "`scale: [1, 5]`");
    }
    for weight in ["0", "-1", "0.0", ".nan", ".inf", "'2'", "true"] {
        let dimension = format!("name: a, weight: {weight}");
        let error = "is not a finite number above 0";
        check_dimension(&dimension, error, "`weight: 2`");
    }
    check(
        &["rubric: { dimensions: [{ name: a, weight: 0 }, { name: b, weight: 0 }] }"],
        "8:47: ",
        "dimension `a`: the weight 0",
        "`weight: 2`",
    );
    check_dimension(
        "name: clarity",
        "two dimensions are called `clarity`",
        "a unique name",
    );
    check_dimension("name: ''", "the name of a dimension is blank", "`clarity`");
    for name in [
        "total",
        "excellent",
        "comments",
        "reason",
        "value",
        "verdict",
    ] {
        let error = format!("a dimension cannot be called `{name}`");
        check_dimension(&format!("name: {name}"), &error, "choose another name");
    }
    check_dimension("description: d", "a dimension needs a `name`", "name: ");
}

#[test]
fn limits_and_choices_that_are_none() {
    let one = "rubric: { dimensions: [{ name: a }], pass: 4, excellent: 3 }";
    let hint = "a number that is at least `pass`";
    check(&[one], "8:", "`excellent` 3 is below `pass` 4", hint);
    let thresholds = &[AIME, "pass: 4.5", "excellent: 4"];
    check(thresholds, "", "`excellent` 4 is below `pass` 4.5", hint);
    check(
        &[AIME, "pass: 6"],
        "9:11: ",
        "`pass` 6 is off the scale",
        "from 1 to 5",
    );
    check(
        &[AIME, "excellent: 0"],
        "9:16: ",
        "off the scale",
        "from 1 to 5",
    );
    let both = "choices: { right: 1, wrong: 0 }";
    let inside = "rubric: { dimensions: [{ name: a }], choices: { right: 1, wrong: 0 } }";
    let error = "`choices` and `dimensions` are both set";
    check(&[inside], "8:", error, "keep one of the two");
    check(&[AIME, both], "9:", error, "keep one of the two");
    let qa = &["rubric: qa", both];
    check(
        qa,
        "9:",
        "`choices` is set, but the rubric has",
        "remove them",
    );
    check(&[], "6:5: ", "needs the option `rubric`", "rubric: …");
    let hint = "`choices: { correct: 1, partial: 0.5, wrong: 0 }`";
    for (choices, error) in [
        ("{}", "are empty"),
        ("[a, b]", "are a map, not a list"),
        ("{ a: 1 }", "has only one"),
        ("{ a: 1, b: 1 }", "all `choices` have the value 1"),
        ("{ a: 0, b: 0.0 }", "all `choices` have the value 0"),
    ] {
        check(&[&format!("choices: {choices}")], "8:14: ", error, hint);
    }
    for value in ["x", "2", "-1", ".nan", "true", "null"] {
        let choices = format!("choices: {{ a: {value}, b: 0 }}");
        let error = "of the choice `a` is not a number from 0 to 1";
        check(&[&choices], "8:", error, "write `a: 1`");
    }
}

#[test]
fn rubric_files_that_are_none() {
    let file = |content: &[u8], error: &str, hint: &str| {
        let scorers = "scorers: [{ type: judge, agent: AGENT, rubric: r.yaml }]\n";
        check_scorers(scorers, &[("r.yaml", content)], "5:", error, hint);
    };
    file(
        b"\0\xff\xfe\x80",
        "cannot read `r.yaml`",
        "name a YAML file",
    );
    file(b"", "r.yaml:1:1: the rubric is empty", "dimensions");
    file(
        b"- a\n",
        "r.yaml:1:1: a rubric is a map, not a list",
        "dimensions",
    );
    file(b"a: &a [*a]\n", "r.yaml:1:4: not YAML", "write a map");
    file(b"dimensions: [\n", "r.yaml:2:1: not YAML", "write a map");
    let upside = b"dimensions:\n  - name: a\n    scale: [5, 1]\n";
    file(
        upside,
        "r.yaml:3:12: dimension `a`: the scale [5, 1]",
        "[1, 5]",
    );
    file(
        b"rubric: aime\n",
        "r.yaml:1:1: unknown key `rubric`",
        "remove",
    );
    for (name, error, hint) in [
        (
            "none.yaml",
            "there is no file `none.yaml`",
            "the ready rubrics are",
        ),
        (".", "cannot read `.`", "name a YAML file"),
        (
            "aimee",
            "`aimee` is not a ready rubric",
            "did you mean `aime`?",
        ),
        (
            "creative-writing",
            "is not a ready rubric",
            "did you mean `creative_writing`?",
        ),
        ("''", "the name of the rubric is blank", "`rubric: aime`"),
    ] {
        check(&[&format!("rubric: {name}")], "8:13: ", error, hint);
    }
}

#[test]
fn agents_that_are_none() {
    let agent = |agent: &str, column: usize, error: &str, hint: &str| {
        let scorers = format!("scorers:\n  - type: judge\n    rubric: aime\n    agent: {agent}\n");
        check_scorers(&scorers, &[], &format!("8:{column}: "), error, hint);
    };
    let missing = "scorers:\n  - type: judge\n    rubric: aime\n";
    let needs = "scorer `judge` needs the option `agent`";
    check_scorers(missing, &[], "6:5: ", needs, "agent: …");
    agent(
        "{ type: opnai }",
        20,
        "unknown agent `opnai`",
        "did you mean `openai`?",
    );
    agent("nobody", 12, "unknown agent `nobody`", "`openai`");
    agent("none", 12, "cannot be called", "type: openai");
    agent("{}", 12, "missing key `type`", "type: openai");
    agent("[a]", 12, "expected a map for `agent`", "type: openai");
    agent(
        "openai",
        12,
        "missing field `base_url`",
        "add the key `base_url`",
    );
    let url = "{ type: openai, base_url: 'http://127.0.0.1:1/v1', model: m";
    let column = 12 + url.len() + 2;
    agent(
        &format!("{url}, temprature: 0 }}"),
        column,
        "`temprature`",
        "`temperature`?",
    );
    let value = column + "temperature: ".len();
    agent(
        &format!("{url}, temperature: hot }}"),
        value,
        "\"hot\"",
        "write a number",
    );
    let unset = "`api_key_env: HOSTILE_UNSET` is set neither";
    let value = column + "api_key_env: ".len();
    let key = format!("{url}, api_key_env: HOSTILE_UNSET }}");
    agent(&key, value, unset, "`HOSTILE_UNSET=…`");
}

#[test]
fn what_is_shown_and_how_often() {
    let twice = "`sees` has `prompt` twice";
    check(
        &[AIME, "sees: [prompt, prompt]"],
        "9:11: ",
        twice,
        "remove one",
    );
    check(
        &[AIME, "sees: []"],
        "9:11: ",
        "`sees` is empty",
        "[prompt, prediction]",
    );
    check(&[AIME, "sees: [prompt, '']"], "9:", "is empty", "sees: [");
    for other in ["prediction", "[7]", "{ a: 1 }"] {
        let sees = format!("sees: {other}");
        check(
            &[AIME, &sees],
            "9:11: ",
            "is not a list of texts",
            "sees: [",
        );
    }
    let no_field = "sample `a`: `sees` of the judge names the field";
    check(
        &[AIME, "sees: [prediciton]"],
        "9:11: ",
        no_field,
        "`prediction`?",
    );
    check(
        &[AIME, "sees: [nothing]"],
        "9:11: ",
        no_field,
        "`ground_truth`",
    );
    for (option, hint) in [
        ("repeats: 0", "`repeats: 3`"),
        ("repeats: -1", "`repeats: 3`"),
        ("repeats: 1.5", "`repeats: 3`"),
        ("repeats: 1000000000", "`repeats: 3`"),
        ("retries: x", "`retries: 4`"),
        ("retries: -1", "`retries: 4`"),
        ("retries: 99999999999", "`retries: 4`"),
        ("timeout_s: 0", "`timeout_s: 120`"),
        ("timeout_s: x", "`timeout_s: 120`"),
        ("requests_per_minute: 0", "`requests_per_minute: 60`"),
        ("tokens_per_minute: -1", "`tokens_per_minute: 100000`"),
    ] {
        let name = option.split(':').next().unwrap();
        let error = format!("scorer `judge`, option `{name}`: ");
        check(&[AIME, option], "9:", &error, hint);
    }
}

#[test]
fn gates_on_what_a_judge_does_not_tell() {
    let gate = |rubric: &str, gate: &str, error: &str, hint: &str| {
        let scorers = format!(
            "scorers: [{{ type: judge, agent: AGENT, rubric: {rubric} }}]\ngates: ['{gate}']\n"
        );
        check_scorers(&scorers, &[], "6:9: ", error, hint);
    };
    let found = "no score has `judge.totl`, did you mean `judge.total`?";
    gate("aime", "mean(judge.totl) >= 4", found, "");
    let found = "no score has `judge.comments`";
    gate("aime", "mean(judge.comments) >= 4", found, "");
    gate(
        "qa",
        "mean(judge.total) >= 4",
        "no score has `judge.total`",
        "",
    );
    let found = "no scorer is called `juge`";
    gate(
        "aime",
        "accuracy(juge) >= 1",
        found,
        "did you mean `judge`?",
    );
}

#[test]
fn judges_within_scorers_and_beside_others() {
    let needs = "scorer `judge` needs the option `agent`";
    for (scorers, place) in [
        ("scorers: [judge]", "5:11: "),
        ("scorer: judge", "5:9: "),
        ("scorers: [{ type: all, scorers: [gaia, judge] }]", "5:40: "),
        ("scorers: [{ type: not, scorer: judge }]", "5:32: "),
        ("scorers: [{ type: per_sample, default: judge }]", "5:40: "),
    ] {
        check_scorers(scorers, &[], place, needs, "agent: …");
    }
    let upside =
        "{ type: judge, rubric: { dimensions: [{ name: a, scale: [5, 1] }] }, agent: AGENT }";
    for (scorers, before) in [
        (
            format!("scorers: [{{ type: any, scorers: [gaia, {upside}] }}]"),
            39,
        ),
        (format!("scorers: [{{ type: not, scorer: {upside} }}]"), 31),
    ] {
        let place = format!("5:{}: ", before + 57);
        check_scorers(&scorers, &[], &place, "is reversed", "scale: [1, 5]");
    }
    let unseen = "{ type: judge, rubric: aime, sees: [nothing], agent: AGENT }";
    let inner = format!("scorers: [gaia, {{ type: all, scorers: [gaia, {unseen}] }}]");
    check_scorers(&inner, &[], "5:17: ", "names the field `nothing`", "");
    let two = "scorers:\n  - { type: judge, agent: AGENT, rubric: aime }\n  - { type: judge, agent: AGENT, rubric: qa }\n";
    let error = "two scorers are called `judge`";
    check_scorers(two, &[], "7:5: ", error, "`{ type: …, name: other }`");
}

/// What the program refuses before it reads data, the schema of specs refuses where a schema can.
#[test]
fn the_schema_knows_the_options() {
    let judge = "scorers: [{ type: judge, agent: echo, rubric: aime, rubrik: 1 }]\n";
    refused_too(&format!("{GOOD}{judge}"), "unknown option `rubrik`");
}
