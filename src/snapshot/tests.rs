//! Masked snapshots reveal nothing: a search with the right answers among the candidates finds none.

use std::collections::BTreeSet;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::{Acceptance, accept};
use crate::agent::replay::Replay;
use crate::benchmark::qa::Qa;
use crate::eval::Answers;
use crate::store::RunDir;
use crate::text::hash::{Hasher, hex};
use crate::verdict::gate::Gate;
use crate::verdict::result::Verdict;
use crate::{Agent, Eval, Run};

/// Id, question, ground truth, answer.
const ROWS: [[&str; 4]; 4] = [
    [
        "one",
        "Which city is the capital of Norway?",
        "Oslo",
        "Oslo",
    ],
    ["two", "How many legs has a crab?", "10", "crab legs: ten"],
    ["three", "Which metal is liquid?", "mercury", "Mercury"],
    ["four", "Who wrote Emma?", "Austen", "not Austen"],
];

fn run(folder: &Path, rows: &[[&str; 4]], answers: Answers, change: impl Fn(Qa) -> Qa) -> Run {
    let line = |[id, question, truth, _]: &[&str; 4]| {
        format!("{{\"id\":\"{id}\",\"question\":\"{question}\",\"answer\":\"{truth}\"}}\n")
    };
    let answer = |[id, .., answer]: &[&str; 4]| {
        format!("{{\"sample_id\":\"{id}\",\"text\":\"{answer}\"}}\n")
    };
    let [data, recorded] = ["rows.jsonl", "said.jsonl"].map(|name| folder.join(name));
    std::fs::write(&data, rows.iter().map(line).collect::<String>()).unwrap();
    std::fs::write(&recorded, rows.iter().map(answer).collect::<String>()).unwrap();
    let agent = Replay::open(&recorded, None, None).unwrap();
    let eval = Eval::new(change(Qa::open(&data).unwrap()), agent)
        .answers(answers)
        .snapshots(folder.join("snapshots"))
        .output_root(folder.join("runs"))
        .gate("no_regression(alpha=0.05)".parse::<Gate>().unwrap());
    eval.run().unwrap()
}

fn accepted(folder: &Path, rows: &[[&str; 4]], answers: Answers) -> Run {
    let run = run(folder, rows, answers, |qa| qa);
    let dirs = [RunDir::open(&run.dir).unwrap()];
    accept(&dirs, &folder.join("snapshots"), &Acceptance::default()).unwrap();
    run
}

/// All committed texts, and the manifest.
fn published(folder: &Path, run: &Run) -> String {
    let mut text = std::fs::read_to_string(run.dir.join("manifest.json")).unwrap();
    for entry in walkdir::WalkDir::new(folder.join("snapshots")) {
        let path = entry.unwrap().into_path();
        if path.is_file() {
            text += &path.to_string_lossy();
            text += &std::fs::read_to_string(path).unwrap();
        }
    }
    text
}

/// The hashes that an attacker could form from these texts: of one, two or three of them, in our form or concatenated.
fn guesses(known: &[&str]) -> impl Iterator<Item = String> {
    let choices = |n: usize| known.len().pow(u32::try_from(n).unwrap());
    (1..=3).flat_map(move |n| {
        (0..choices(n)).flat_map(move |mut choice| {
            let parts: Vec<_> = (0..n)
                .map(|_| {
                    let part = known[choice % known.len()];
                    choice /= known.len();
                    part
                })
                .collect();
            let ours = parts.iter().fold(Hasher::default(), Hasher::part).hex();
            let joined = ["", "\n", ":"].map(|by| hex(&Sha256::digest(parts.join(by))));
            joined.into_iter().chain([ours])
        })
    })
}

/// The answers that the search finds.
fn found(published: &str) -> BTreeSet<&'static str> {
    let candidates = [
        "Oslo", "Bergen", "10", "8", "mercury", "gallium", "Austen", "Brontë",
    ];
    let is_hash = |word: &&str| word.len() >= 8 && word.bytes().all(|c| c.is_ascii_hexdigit());
    let words = published.split(|c: char| !c.is_ascii_alphanumeric());
    let hashes: BTreeSet<&str> = words.filter(is_hash).collect();
    let is_published = |hash: String| {
        [8, 12, 16, 32, 64]
            .iter()
            .any(|n| hashes.contains(&hash[..*n]))
    };
    let is_found = |candidate: &&str| {
        let json = format!("\"{candidate}\"");
        let lower = candidate.to_lowercase();
        let gives_it_away = |[id, question, ..]: &[&str; 4]| {
            let known = [
                id,
                question,
                candidate,
                &*json,
                &*lower,
                "target",
                "prediction",
            ];
            // A hash without any candidate in it is no guess.
            let without = [id, question, "target", "prediction"];
            let without: BTreeSet<_> = guesses(&without).collect();
            guesses(&known).any(|hash| !without.contains(&hash) && is_published(hash))
        };
        ROWS.iter().any(gives_it_away)
    };
    candidates.into_iter().filter(is_found).collect()
}

#[test]
fn a_search_with_the_right_answers_among_the_candidates_finds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // The search works: in plain snapshots it finds everything.
    let plain = accepted(folder.path(), &ROWS, Answers::Plain);
    let all = BTreeSet::from(["Oslo", "10", "mercury", "Austen"]);
    assert_eq!(found(&published(folder.path(), &plain)), all);

    let folder = tempfile::tempdir().unwrap();
    let masked = accepted(folder.path(), &ROWS, Answers::Masked);
    let published = published(folder.path(), &masked);
    assert_eq!(found(&published), BTreeSet::new());
    let text = published.to_lowercase();
    for word in ROWS
        .iter()
        .flat_map(|row| &row[1..])
        .filter(|text| text.len() > 2)
    {
        assert!(!text.contains(&word.to_lowercase()), "{word}");
    }
    // A recording is identified by a hash of all answers, which is keyed, too.
    let recording = Replay::open(&folder.path().join("said.jsonl"), None, None).unwrap();
    let [name]: [String; 1] = recording.recordings().try_into().unwrap();
    let hash = name.strip_prefix("recording ").unwrap();
    assert!(published.contains("\"masked recording ") && !published.contains(hash));
    // Nor does a run of one sample, whose dataset hash is that of the sample.
    let one = run(folder.path(), &ROWS, Answers::Masked, |qa| qa.ids(["one"]));
    let manifest = std::fs::read_to_string(one.dir.join("manifest.json")).unwrap();
    assert_eq!(found(&manifest), BTreeSet::new());
}

#[test]
fn a_part_of_a_masked_dataset_has_the_key_of_the_whole_and_another_dataset_has_another() {
    let folder = tempfile::tempdir().unwrap();
    accepted(folder.path(), &ROWS, Answers::Masked);
    let gate = |run: &Run| {
        let gate = &run.summary.gates[0];
        let pairs = gate.regression.as_ref().map(|found| found.pairs);
        (gate.verdict, pairs, gate.message.clone())
    };
    let part = run(folder.path(), &ROWS, Answers::Masked, |qa| {
        qa.ids(["two", "four"])
    });
    assert_eq!(gate(&part).1, Some(2), "{}", gate(&part).2);
    // Plain, while the snapshots are masked.
    let plain = run(folder.path(), &ROWS, Answers::Plain, |qa| qa);
    assert_eq!(gate(&plain).1, Some(4), "{}", gate(&plain).2);

    let mut changed = ROWS;
    changed[3][2] = "Jane Austen";
    let changed = run(folder.path(), &changed, Answers::Masked, |qa| qa);
    let (verdict, pairs, message) = gate(&changed);
    assert_eq!((verdict, pairs), (Verdict::Inconclusive, Some(0)));
    assert!(message.contains("cargo evaltest accept"), "{message}");
}
