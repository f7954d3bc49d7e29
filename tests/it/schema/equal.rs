//! What the one takes the other takes: all specs there are, and a value of each shape at each place.

use std::fs;
use std::path::{Path, PathBuf};

use evaltest::engine::text::Override;
use serde_json::{Map, Value, json};

use super::{Folder, VALIDATOR, WHOLE, editor, root, whole};

/// Refusals that only the program can know of, by what it says, with the reason.
pub(crate) const ONLY_THE_PROGRAM: &[(&str, &str)] = &[
    (
        "is not the URL of an endpoint",
        "an address is read by the parser of URLs",
    ),
    ("is not a JSON pointer", "a text that begins with a slash"),
    (
        "judges answers, which no agent gives",
        "the agent `none` needs a scorer of the spec",
    ),
    (
        "option `against`: invalid type",
        "what stands in a scorer has its type already, and is no plain scalar of YAML",
    ),
    (
        "option `against`: sample `a` has no field",
        "which fields there are the data say",
    ),
    (
        "duplicate key",
        "a key that is there twice is there once to who reads JSON",
    ),
    (
        ", expected a string",
        "the keys of an environment are read as JSON, where `true` is not text",
    ),
    ("neither `path` nor `environment`", "one of two keys"),
    (
        "lacks the package `bfcl-eval`",
        "without `path` the package is asked for the data",
    ),
    (
        "` cannot be run: ",
        "without `path` the package is asked for the data",
    ),
    (
        "`mcp: true` is for the agents",
        "which agent can be given a server is no matter of its keys",
    ),
    ("two gates are called", "gates are compared by their names"),
    ("two gates of `", "gates are compared by their names"),
    ("the spec has no agent `", "what a gate names"),
    ("the spec has no prompt `", "what a gate names"),
    ("differ only in case", "names are compared without case"),
    (
        "two scorers are called",
        "scorers are compared by their names",
    ),
    (
        "two samples have the id",
        "samples are compared by their ids",
    ),
    (
        "are the same one",
        "labels are compared as the scorer compares them",
    ),
    (
        "accuracy[level=1] >= 150%",
        "what a number means to a metric",
    ),
    (
        "is not a regular expression",
        "regular expressions are compiled",
    ),
    (
        "it can never be raised",
        "what alerts need is counted together with those beside them",
    ),
    (" is not in `", "groups of a regular expression are counted"),
    ("option `weights`", "there are as many weights as parts"),
    ("has an entry `scorer`", "metadata are a user's own"),
    ("`visible` names", "metadata are a user's own"),
    ("is not a file below", "where files are"),
    ("No such file", "which files there are"),
    ("a dataset is", "which files there are"),
    ("command not found", "which programs there are"),
    ("`ground_truth`", "what a scorer makes of a ground truth"),
    (
        "the sample has no ground truth",
        "what a scorer makes of a ground truth",
    ),
    (
        "does nothing without `handshake",
        "one key is about another",
    ),
    ("outside of the sandbox", "one key is about another"),
    ("in the spec's folder", "which files there are"),
    ("is no name of a variable", "how variables can be called"),
    (
        "is not the name of a variable",
        "how variables can be called",
    ),
    (
        "cannot be the scorer of a sample",
        "a name that is legal elsewhere",
    ),
    (
        "cannot be the name of an eval",
        "which names are names of files, too",
    ),
    ("has no official prompt", "which prompts a benchmark has"),
    ("receives no options", "which agents receive options"),
    ("is set neither", "which variables are set"),
    (
        "asks for a stream",
        "the keys of a request are the endpoint's",
    ),
    ("is not an HTTP method", "which methods HTTP has"),
    ("with this method cannot have a", "one key is about another"),
    ("agent `openai`: ", "addresses and headers are parsed"),
    ("agent `http`: ", "addresses and headers are parsed"),
    ("scorer `semantic`: ", "addresses are parsed"),
    ("begins with an empty name", "which programs there are"),
    (
        "does not show the place of a call's name",
        "a pattern says where a call is",
    ),
    ("is a folder, but", "which files there are"),
    ("is not a run directory", "which files there are"),
    ("no file `BFCL_v4", "which files there are"),
    (": no field `", "which fields a file has"),
    ("unknown category `", "which categories the data have"),
    ("`weights` names", "which categories are asked"),
    ("the sum of `weights` is 0", "weights are added up"),
    ("the weight of `", "weights are added up"),
    ("matches no sample", "which samples there are"),
    ("no sample has a `", "which samples there are"),
    (
        "no scorer is called",
        "which scorers there are, by their names",
    ),
    ("has no metric", "which metrics a benchmark has"),
    ("answers per sample", "one key is about another"),
    ("between 0 and 1", "what a number means to a metric"),
    ("needs the option `rubric`", "one key is about another"),
    ("is not a ready rubric", "which files there are"),
    ("option `calibration`: there is no", "which files there are"),
    ("is off the scale", "one key is about another"),
    ("unknown field `", "one key is about another"),
    ("unknown check `", "one key is about another"),
    (
        "needs topics, but there are none",
        "one key is about another",
    ),
    ("a choice needs the texts", "one key is about another"),
    ("a field of type `", "one key is about another"),
    ("there are no fields", "one key is about another"),
    ("two fields are called", "keys are compared"),
    ("` is there twice", "keys are compared"),
    ("is not a name for items", "a number is read as a text"),
    ("is not a range", "numbers are compared"),
    ("whole numbers, up to 2^53", "one key is about another"),
    ("no length is from", "numbers are compared"),
    ("but there are no topics", "one key is about another"),
    ("has no fields of an item", "one key is about another"),
    (
        "has no template to request items",
        "one key is about another",
    ),
    ("the template is blank", "what a text means"),
    ("is reversed", "numbers are compared"),
    ("no choice reaches", "one key is about another"),
    (
        "of an example is not a whole number from",
        "one key is about another",
    ),
];

/// Asserts that a spec which the program refuses is refused by its schema, too, or that only the program can know.
#[track_caller]
pub(crate) fn refused_too(text: &str, message: &str) {
    // What is no YAML has no shape.
    if Override::value(text).is_ok() && editor(text).is_ok() {
        assert!(
            reason(message).is_some(),
            "only the program refuses this: {message}\n{text}"
        );
    }
}

pub(crate) fn reason(message: &str) -> Option<&'static str> {
    let of = |(text, why): &(&str, &'static str)| message.contains(text).then_some(*why);
    ONLY_THE_PROGRAM.iter().find_map(of)
}

fn specs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            specs(&path, found);
        } else if path.extension().is_some_and(|end| end == "yaml") {
            found.push(path);
        }
    }
}

#[test]
fn every_spec_of_the_fixtures_is_one() {
    let mut found = Vec::new();
    specs(&root().join("fixtures"), &mut found);
    assert!(found.len() > 8);
    for path in found {
        let text = fs::read_to_string(&path).unwrap();
        if text.contains("\ngenerate:\n") {
            let flow = Override::value(&text).unwrap();
            let schema = jsonschema::validator_for(&evaltest::engine::flow::flow_schema()).unwrap();
            assert!(schema.is_valid(&flow), "{}", path.display());
        } else if let Err(error) = editor(&text) {
            // It names kinds of its own, which its test binary registers.
            let is_own = path.ends_with("projects/custom/evals/riddles.yaml");
            assert!(is_own, "{}: {error}", path.display());
        }
    }
}

#[test]
fn every_example_of_a_page_is_one() {
    use evaltest::engine::eval::{agents, benchmarks};
    let both = [
        (benchmarks::BUILT_IN, "agent: echo\n"),
        (agents::BUILT_IN, "benchmark: gaia\n"),
    ];
    for (kinds, rest) in both {
        for kind in kinds {
            for block in kind.page.split("```yaml\n").skip(1) {
                let block = block.split("```").next().unwrap();
                // Some are whole specs.
                let is_whole = block.starts_with("benchmark:") && block.contains("\nagent:");
                let text = format!("{block}{}", if is_whole { "" } else { rest });
                editor(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            }
        }
    }
}

/// The good specs of `mutations`, and each of them with one mistake.
#[test]
fn a_mistake_of_shape_is_one_to_both() {
    let folder = root().join("src/eval/spec/mutations");
    let cases = fs::read_to_string(folder.join("cases.txt")).unwrap();
    let mut spec = String::new();
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for case in cases.lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = case.strip_prefix("= ") {
            let text = fs::read_to_string(folder.join(format!("{name}.yaml"))).unwrap();
            spec = text.replacen("HEAD\n", "", 1);
            editor(&spec).unwrap_or_else(|error| panic!("{name}: {error}"));
            continue;
        }
        let case = case.replace("\\n", "\n");
        let Some((from, rest)) = case.split_once(" => ") else {
            continue;
        };
        let (to, message) = rest.rsplit_once(" | ").unwrap();
        let text = spec.replacen(from, &to.replacen('¦', "", 1), 1);
        // What is no YAML, or has a key twice, no schema sees.
        if Override::value(&text).is_err() {
            continue;
        }
        checked += 1;
        if editor(&text).is_ok() && reason(message).is_none() {
            wrong.push(format!("{from} => {to}\n  {message}"));
        }
    }
    assert!(checked > 100, "{checked}");
    assert!(
        wrong.is_empty(),
        "{} of {checked}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Values of each shape.
fn shapes() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(3),
        json!(-1),
        json!(0.5),
        json!(""),
        json!("word"),
        json!([]),
        json!(["word"]),
        json!({ "word": 1 }),
    ]
}

/// All specs that have a value of some shape in one place.
fn changed(value: &Value, change: &mut dyn FnMut(Value, String)) {
    match value {
        Value::Object(map) => map.keys().for_each(|key| changed_at(map, key, change)),
        Value::Array(items) => {
            for (item, inner) in items.iter().enumerate() {
                for shape in shapes() {
                    let mut items = items.clone();
                    items[item] = shape;
                    change(items.into(), format!("[{item}]"));
                }
                changed(inner, &mut |inner, place| {
                    let mut items = items.clone();
                    items[item] = inner;
                    change(items.into(), format!("[{item}].{place}"));
                });
            }
        }
        _ => {}
    }
}

/// All specs that have a value of some shape in this key.
fn changed_at(map: &Map<String, Value>, key: &str, change: &mut dyn FnMut(Value, String)) {
    for shape in shapes() {
        let mut map = map.clone();
        map[key] = shape;
        change(map.into(), key.to_owned());
    }
    changed(&map[key], &mut |inner, place| {
        let mut map = map.clone();
        map[key] = inner;
        change(map.into(), format!("{key}.{place}"));
    });
}

/// The spec reduced to this key and those that every spec needs, which is read faster; all of it if that is not valid.
fn with_key(folder: &Folder, spec: &Value, key: &str) -> Map<String, Value> {
    let all = spec.as_object().unwrap();
    let mut few = all.clone();
    few.retain(|other, _| [key, "name", "benchmark", "agent", "agents"].contains(&&**other));
    let text = Value::from(few.clone());
    let is_spec = VALIDATOR.is_valid(&text) && folder.program(&text.to_string()).is_ok();
    if is_spec { few } else { all.clone() }
}

#[test]
fn a_value_of_each_shape_is_the_same_to_both() {
    let folder = Folder::new();
    let (mut wrong, mut checked) = (Vec::new(), 0);
    // The others are there for keys that all kinds have.
    for (number, spec) in whole()
        .iter()
        .enumerate()
        .take(WHOLE.matches("---\n").count() + 1)
    {
        let mut check = |spec: Value, place: String| {
            // Without a path the dataset of the Hub is meant.
            if spec["benchmark"]["type"] == "gaia" && spec["benchmark"]["path"].is_null() {
                return;
            }
            checked += 1;
            let text = spec.to_string();
            let value = place.split('.').fold(&spec, |value, step| {
                let item = step
                    .strip_prefix('[')
                    .and_then(|step| step.strip_suffix(']'));
                item.map_or_else(
                    || &value[step],
                    |item| &value[item.parse::<usize>().unwrap()],
                )
            });
            let taken = VALIDATOR.is_valid(&spec);
            match (folder.program(&text), taken) {
                (Ok(()), true) | (Err(_), false) => {}
                // It is read as the text `null`, which nobody means.
                (Ok(()), false) if value.is_null() => {}
                (Ok(()), false) => {
                    wrong.push(format!(
                        "{number} {place}: {value}: only the schema refuses it"
                    ));
                }
                (Err(message), true) if reason(&message).is_some() => {}
                (Err(message), true) => wrong.push(format!("{number} {place}: {value}: {message}")),
            }
        };
        for key in spec.as_object().unwrap().keys() {
            changed_at(&with_key(&folder, spec, key), key, &mut check);
        }
    }
    assert!(checked > 3000, "{checked}");
    assert!(
        wrong.is_empty(),
        "{} of {checked}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
