//! What reads texts from outside, each given any bytes: whatever they are, nothing panics.

use std::cell::OnceCell;
use std::fs;
use std::path::Path;

use evaltest::Registry;
use evaltest::engine::eval::spec;
use evaltest::engine::judge;
use evaltest::engine::leaderboard::calls::{self, CallFormat};
use evaltest::engine::store::{RunDir, read_carried, read_records};

/// A spec.
pub(crate) fn specs(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = spec::is_spec(&text);
    if let Err(error) = spec::parse_all(&text, Path::new("eval.yaml"), &Registry::default(), &[]) {
        assert!(!error.to_string().is_empty());
    }
}

/// The journal and the records of a run.
pub(crate) fn journals(data: &[u8]) {
    thread_local! {
        static FOLDER: OnceCell<tempfile::TempDir> = const { OnceCell::new() };
    }
    FOLDER.with(|folder| {
        let folder = folder.get_or_init(|| tempfile::tempdir().expect("a folder"));
        let write = |name: &str, content: &[u8]| {
            fs::write(folder.path().join(name), content).expect("room for a file");
        };
        write("manifest.json", b"{}");
        write("events.jsonl", data);
        write("samples.jsonl", data);
        let dir = RunDir::open(folder.path()).expect("a manifest");
        let _ = dir.attempts("a");
        let records = dir.file("samples.jsonl");
        let _ = read_records(&records).map(|records| records.take(1_000).count());
        let _ = read_carried(&records).map(|records| records.take(1_000).count());
    });
}

/// What a judge replied.
pub(crate) fn replies(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = judge::rating(&text);
    let _ = judge::choices(&text, &["A", "B", "yes"]);
    let _ = judge::rubric(&text, &[("a", [1, 5]), ("clarity", [0, 10])]);
    let _ = judge::helloagents_judge(&text);
    let _ = judge::helloagents_winner(&text);
}

/// Calls of tools in all forms: Python, Java and JavaScript (by tree-sitter), JSON, XML.
pub(crate) fn calls(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for name in [
        "python",
        "java",
        "javascript",
        "json",
        "verbose_xml",
        "concise_xml",
    ] {
        let format = CallFormat::by_name(name).expect("a format");
        let _ = calls::can_be_read(&text, format);
    }
}
