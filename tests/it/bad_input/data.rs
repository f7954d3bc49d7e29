//! Datasets that cannot be used.

use std::fs;
use std::path::Path;

use super::{GOOD, check_spec, project, refused};

/// A dataset with this content.
#[track_caller]
fn check_data(name: &str, content: impl AsRef<[u8]>, place: &str, error: &str, hint: &str) {
    let project = project();
    project.write(name, content);
    project.write("eval.yaml", GOOD.replace("data.jsonl", name));
    let place = format!("eval `e`: {place}");
    refused(&project, project.run("run eval.yaml"), &place, error, hint);
}

#[test]
fn datasets_that_cannot_be_used() {
    let row = r#"{"task_id":"a","Question":"q","Final answer":"1"}"#;
    check_data(
        "x.jsonl",
        format!("{row}\n{{\"task_id\":\n"),
        "x.jsonl:2:",
        "broken JSON",
        "one JSON object per line",
    );
    check_data(
        "x.jsonl",
        format!("{row}\n\n[1]\n"),
        "x.jsonl:3: ",
        "a row is an object",
        "`{…}` per line",
    );
    check_data(
        "x.jsonl",
        format!("{row}\n{row}\n"),
        "x.jsonl:2: ",
        "the id `a` is taken by the row at x.jsonl:1",
        "id",
    );
    check_data(
        "x.jsonl",
        b"{\"Question\":\"q\"}\n{\"Question\":\"\xff\"}\n",
        "x.jsonl:2:14: ",
        "invalid UTF-8",
        "iconv",
    );
    check_data(
        "x.csv",
        b"question,answer\nq,\xff\n",
        "x.csv:2:3: ",
        "invalid UTF-8",
        "iconv",
    );
    check_data(
        "x.jsonl",
        "",
        "`x.jsonl`: ",
        "the dataset is empty",
        "at least one row",
    );
    check_data(
        "x.csv",
        "question,answer\n",
        "`x.csv`: ",
        "the dataset is empty",
        "at least one row",
    );
    check_data(
        "x.jsonl",
        "{\"id\":1,\"frage\":\"q\"}\n",
        "`x.jsonl`: ",
        "found `id`, `frage`",
        "columns:",
    );
    check_data(
        "x.txt",
        "q",
        "`x.txt`: ",
        "a dataset is a `.jsonl`",
        ".jsonl",
    );
    check_spec(
        "data.jsonl",
        "none.jsonl",
        "eval.yaml:2:32: ",
        "none.jsonl`: No such file",
        "benchmark.path",
    );
    check_spec(
        "type: command, command: [./agent.sh]",
        "type: replay, path: none.jsonl",
        "eval.yaml:4:30: ",
        "none.jsonl`: No such file",
        "folder of the spec",
    );
}

#[test]
fn a_damaged_parquet_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let whole = fs::read(root.join("fixtures/gaia/2023/validation/metadata.parquet")).unwrap();
    for length in [0, 3, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
        check_data(
            "x.parquet",
            &whole[..length],
            "`x.parquet`: ",
            "damaged or unreadable parquet",
            "fetch",
        );
    }
    // Every byte in turn would take too long. The metadata, at the end, is where damage has most to say.
    let metadata = whole.len() - 1500;
    let body = (0..metadata).step_by(metadata / 20);
    for place in body.chain((metadata..whole.len()).step_by(17)) {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x55;
        let project = project();
        project.write("x.parquet", &damaged);
        project.write("eval.yaml", GOOD.replace("data.jsonl", "x.parquet"));
        let ran = project
            .run("run eval.yaml --dry-run")
            .says_nothing_of("panicked at");
        assert!(matches!(ran.code, Some(0 | 2)), "byte {place}: {ran:?}");
    }
}
