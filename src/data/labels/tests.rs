use serde_json::json;

use super::*;

fn read(text: &str) -> Result<Vec<ItemLabels>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labels.jsonl");
    std::fs::write(&path, text).unwrap();
    read_labels(&path)
}

fn classes(values: &Value) -> Vec<LabelClass> {
    let values = values.as_array().unwrap().iter();
    values.filter_map(LabelClass::of).collect()
}

#[test]
fn labels_are_of_the_whole_or_of_dimensions_by_one_or_by_several() {
    let text = r#"{"id": "q1", "label": 4, "chosen": "random", "seed": 7}

{"id": "q2", "labels": [4, null, "5"], "chosen": "all", "run": "r"}
{"id": 3, "label": {"clarity": 4, "tone": null}}
{"id": "q4", "labels": {"clarity": [4, 3], "tone": [true, null]}}
{"id": "q5", "label": null}
"#;
    let found = read(&format!("\u{feff}{text}")).unwrap();
    let ids: Vec<_> = found.iter().map(|item| (&*item.id, item.line)).collect();
    assert_eq!(ids, [("q1", 1), ("q2", 3), ("3", 4), ("q4", 5), ("q5", 6)]);
    assert_eq!(found[0].whole, classes(&json!([4])));
    assert_eq!(
        (found[0].chosen, found[0].seed),
        (LabelChoice::Random, Some(7))
    );
    assert_eq!(found[1].whole, classes(&json!([4, "5"])));
    assert_eq!(found[1].run.as_deref(), Some("r"));
    assert_eq!(found[2].chosen, LabelChoice::Picked);
    assert_eq!(found[2].dimensions["clarity"], classes(&json!([4])));
    assert_eq!(found[2].dimensions.len(), 1);
    assert_eq!(found[3].dimensions["clarity"], classes(&json!([4, 3])));
    assert_eq!(found[3].dimensions["tone"], classes(&json!([true])));
    assert!(found[4].is_empty());
}

#[test]
fn several_lines_of_one_id_are_several_people() {
    let found = read(
        "{\"id\":\"a\",\"label\":4}\n{\"id\":\"b\",\"label\":1}\n{\"id\":\"a\",\"label\":5}\n",
    );
    let found = found.unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].whole, classes(&json!([4, 5])));
}

#[test]
fn agreeing_people_are_distinguished_by_name() {
    let found = read(
        "{\"id\":\"a\",\"label\":4,\"person\":\"anna\"}\n{\"id\":\"a\",\"label\":4,\"person\":\"ben\"}\n\
         {\"id\":\"a\",\"label\":{\"tone\":4},\"person\":\"ben\"}\n{\"id\":\"b\",\"label\":null}\n\
         {\"id\":\"b\",\"label\":null}\n{\"id\":\"b\",\"labels\":[3,3]}\n",
    );
    let found = found.unwrap();
    assert_eq!(found[0].whole, classes(&json!([4, 4])));
    assert_eq!(found[1].whole, classes(&json!([3, 3])));
}

#[test]
fn errors_report_their_place() {
    for (text, expect) in [
        ("{\"label\": 1}", ":1: the line has no `id`"),
        (
            "{\"id\": \"a\"}",
            ":1: the line has neither `label` nor `labels`",
        ),
        (
            "{\"id\": \"a\", \"label\": 1, \"labels\": []}",
            ":1: the line has both",
        ),
        (
            "\n{\"id\": \"a\", \"label\": [1]}",
            ":2: `label` must be a number",
        ),
        (
            "{\"id\": \"a\", \"labels\": 1}",
            ":1: `labels` must be an array",
        ),
        (
            "{\"id\": \"a\", \"labels\": {\"c\": 1}}",
            ":1: `labels.c` must be an array",
        ),
        (
            "{\"id\": \"a\", \"label\": {\"c\": []}}",
            ":1: `label.c` must be a number",
        ),
        (
            "{\"id\": \"a\", \"label\": 1, \"chosen\": \"some\"}",
            ":1: `chosen` must be `random`",
        ),
        (
            "{\"id\": \"a\", \"label\": 1, \"seed\": -1}",
            ":1: `seed` must be a whole",
        ),
        (
            "{\"id\": \"a\", \"label\": 1, \"run\": 1}",
            ":1: `run` must be the id",
        ),
        (
            "{\"id\":\"a\",\"label\":1}\n{\"id\":\"a\",\"label\":1,\"chosen\":\"all\"}",
            ":2: `chosen` of id `a` differs from line 1",
        ),
        (
            "{\"id\":\"a\",\"label\":1}\n{\"id\":\"b\",\"label\":1}\n{\"label\": 1, \"id\":\"a\"}",
            ":3: the id `a` occurs twice, first in line 1",
        ),
        (
            "{\"id\":\"a\",\"label\":1,\"person\":\"p\"}\n{\"id\":\"a\",\"label\":2,\"person\":\"p\"}",
            ":2: `p` has a label of id `a` in line 1, too",
        ),
        (
            "{\"id\":\"a\",\"label\":1,\"person\":7}",
            ":1: `person` must be the name",
        ),
        ("{\"id\":\"a\",\"label\":null}", "has no label"),
        ("", "has no label"),
        ("{", ":1:"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.to_string().contains(expect), "{text}: {error}");
    }
}

#[test]
fn what_evaltest_wrote_of_a_line_is_not_changed() {
    let given = GivenLabel {
        id: "q1",
        chosen: LabelChoice::Random,
        seed: Some(7),
        run: Some("e-1"),
        reviewed_at: None,
    };
    let line = |label: &str, more: &str| {
        let sum = given.checksum();
        format!(
            r#"{{"id": "q1", "label": {label}, "chosen": "random", "seed": 7, "run": "e-1", "sum": "{sum}"{more}}}"#
        )
    };
    // Both are for people to fill in.
    read(&line("4", r#", "person": "anna""#)).unwrap();
    for (old, new) in [
        ("q1", "q2"),
        ("random", "all"),
        (": 7", ": 8"),
        ("e-1", "e-2"),
    ] {
        let text = line("4", "").replacen(old, new, 1);
        let error = read(&text).unwrap_err();
        assert!(
            error
                .message()
                .contains("its `sum` is that of another line"),
            "{error}"
        );
    }
}
