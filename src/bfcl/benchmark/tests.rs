use std::fs;

use serde_json::json;

use super::*;
use crate::benchmark::prompt::Prompt;
use crate::bfcl::data::CategoryGroup;
use crate::tests::{needs, parity};

const ENTRIES: &str = r#"{"id": "simple_java_0", "question": [[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Résumé?"}]], "function": [{"name": "Cv.read", "description": "Reads é.", "parameters": {"type": "dict", "required": ["lines"], "properties": {"lines": {"type": "ArrayList", "description": "Which.", "items": {"type": "integer"}}}}}], "ground_truth": [{"Cv.read": {"lines": [[1]]}}]}
{"id": "simple_java_1", "question": "?", "function": [{"name": "f", "description": "F.", "parameters": {"type": "dict", "required": [], "properties": {}}}], "ground_truth": [{"f": {"x": [1]}}]}
"#;
const PYTHON: &str = r#"{"id": "simple_python_0", "question": "?", "function": [{"name": "a.b", "description": "B.", "parameters": {"type": "dict", "required": [], "properties": {"x": {"type": "float", "description": "X."}, "t": {"type": "tuple", "description": "T.", "items": {"type": "float"}}, "d": {"type": "dict", "description": "D.", "properties": {"any": {"type": "any"}}}}}}], "ground_truth": [{"a.b": {"x": [1.0]}}]}"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (category, text) in [
        ("simple_java", ENTRIES),
        ("simple_python", PYTHON),
        ("multi_turn_base", "{}\n{}\n"),
    ] {
        fs::write(folder.path().join(format!("BFCL_v4_{category}.json")), text).unwrap();
    }
    folder
}

#[test]
fn entries_become_samples() {
    let folder = folder();
    let bfcl = Bfcl::open(folder.path()).unwrap();
    let samples = bfcl.samples().unwrap();
    let ids: Vec<&str> = samples.iter().map(|sample| &*sample.id).collect();
    assert_eq!(ids, ["simple_python_0", "simple_java_0", "simple_java_1"]);
    let java = &samples[1];
    assert_eq!(java.prompt, "Be brief.\n\nRésumé?");
    assert_eq!(java.slices, [("category".into(), "simple_java".into())]);
    assert_eq!(java.metadata["function"][0]["name"], "Cv.read");
    let prompt = Prompt::Default.render(&bfcl, java);
    assert!(prompt.starts_with("You are an expert in composing functions.You are"));
    let functions = "[\n    {\n        \"name\": \"Cv.read\",\n        \"description\": \"Reads \\u00e9. Note that \
                     the provided function is in Java 8 SDK syntax.\",";
    assert!(prompt.contains(functions), "{prompt}");
    assert!(prompt.ends_with("]\n\n\nBe brief.\n\nRésumé?"), "{prompt}");
    assert_eq!(
        bfcl.notices(),
        ["no answer can be right for `simple_java_1`: see their metadata"]
    );
    assert_eq!(
        samples[2].metadata["unsatisfiable"],
        "`x` is expected, but is not a parameter of `f`"
    );
}

#[test]
fn tools_are_json_schema() {
    let folder = folder();
    let samples = Bfcl::open(folder.path()).unwrap().samples().unwrap();
    let parameters = |sample: usize| &samples[sample].tools[0]["function"]["parameters"];
    assert_eq!(samples[0].tools[0]["function"]["name"], "a_b");
    assert_eq!(
        *parameters(0),
        json!({"type": "object", "required": [], "properties": {
            "x": {"type": "number", "description": "X. This is a float type value.", "format": "float"},
            "t": {"type": "array", "description": "T.", "items": {"type": "number"}},
            "d": {"type": "object", "description": "D.", "properties": {"any": {"type": "string"}}},
        }})
    );
    assert_eq!(
        *parameters(1),
        json!({"type": "object", "required": ["lines"], "properties": {"lines": {
            "type": "string",
            "description": "Which. This is Java ArrayList type parameter in string representation. The list \
                            elements are of type integer; they are not in string representation.",
        }}})
    );
}

#[test]
fn unsupported_categories_are_reported() {
    let folder = folder();
    let open = |categories: &[&str]| {
        Bfcl::open(folder.path())
            .unwrap()
            .categories(categories.iter().copied())
    };
    let bfcl = open(&["all"]);
    assert_eq!(bfcl.samples().unwrap().len(), 3);
    assert!(
        bfcl.notices()[0]
            .starts_with("`multi_turn_base` (2 entries): not judged here and skipped;")
    );
    let error = open(&["multi_turn"]).samples().unwrap_err();
    assert!(error.message().contains("not judged here"), "{error}");
    let error = open(&["parallel"]).samples().unwrap_err();
    assert!(
        error
            .message()
            .ends_with("there is no category `parallel` (`BFCL_v4_parallel.json`)")
    );
    let counts = Benchmark::categories(&bfcl).unwrap();
    let counts: Vec<(&str, usize, bool)> = counts
        .iter()
        .map(|count| (&*count.category, count.entries, count.native))
        .collect();
    assert_eq!(
        counts,
        [
            ("simple_python", 1, true),
            ("simple_java", 2, true),
            ("multi_turn_base", 2, false)
        ]
    );
    assert_eq!(open(&["python"]).samples().unwrap().len(), 1);
}

/// The rows of the table in the documentation.
fn documented() -> Vec<Vec<&'static str>> {
    let rows = include_str!("categories.md").lines();
    let rows = rows.filter(|line| line.starts_with("| `"));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

#[test]
fn the_documentation_lists_every_category_and_who_judges_it() {
    let known = Category::official().map(|category| {
        let group = match category.group {
            CategoryGroup::NonLive => "non-live",
            CategoryGroup::Live => "live",
            CategoryGroup::MultiTurn => "multi-turn",
            CategoryGroup::Memory => "memory",
            CategoryGroup::WebSearch => "web search",
            CategoryGroup::FormatSensitivity => "format sensitivity",
            CategoryGroup::Own => "own",
        };
        let judged = if category.is_native() {
            "here"
        } else if category.is_multi_turn() {
            "with the package"
        } else {
            "official tool"
        };
        format!("`{}` {group}: {judged}", category.name)
    });
    let documented = documented().into_iter();
    let documented = documented.map(|row| format!("{} {}: {}", row[0], row[1], row[3]));
    assert_eq!(documented.collect::<Vec<_>>(), known.collect::<Vec<_>>());
}

#[needs(data = "bfcl/data")]
#[test]
fn the_documentation_has_the_sizes_of_the_official_data() {
    let official = Bfcl::open(parity::path("bfcl/data")).unwrap();
    let counts = Benchmark::categories(&official).unwrap().into_iter();
    let counts = counts.map(|count| (format!("`{}`", count.category), count.entries.to_string()));
    let documented = documented().into_iter();
    let documented = documented.map(|row| (row[0].to_owned(), row[2].to_owned()));
    assert_eq!(documented.collect::<Vec<_>>(), counts.collect::<Vec<_>>());
}
