//! Damages to the records of a run, and who must not believe them.

/// Commands that believe the records of a run.
pub(crate) const BELIEVERS: [&str; 6] = [
    "gate DIR",
    "summarize DIR",
    "rescore DIR --scorer exact",
    "export DIR --format gaia --output there",
    "accept DIR",
    "run eval.yaml --failed DIR",
];

/// The records of a run in which some answers are wrong, damaged in each way.
pub(crate) fn damages(whole: &str) -> [String; 8] {
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let flipped = whole.replacen("\"correct\":false", "\"correct\":true", 1);
    assert_ne!(flipped, whole);
    [
        lines[..lines.len() / 2].concat(),
        lines[..1].concat(),
        String::new(),
        whole[..whole.len() / 2].to_owned(),
        whole.to_owned() + lines[1],
        whole.replace('\n', "\r\n"),
        flipped,
        whole.replace("\"correct\":false", "\"correct\":true"),
    ]
}
