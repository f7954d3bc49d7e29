use super::super::SnapshotHeader;
use super::super::content::{AnswerForm, InputHash};
use super::*;
use crate::data::FoundBy;
use crate::verdict::baseline::figures::AnswerFigures;
use crate::verdict::gate::Slice;

pub(super) fn content(correct: bool) -> Content {
    Content {
        correct: Some(correct),
        answers: vec![Some(correct), Some(true)],
        ways: vec![Some(FoundBy::WholeAnswer); 2],
        figures: AnswerFigures::unknown(&[Some(correct), Some(true)]),
        answer: AnswerForm::Plain {
            prediction: "\"17\"".to_owned(),
            normalized: "\"17\"".to_owned(),
        },
        input: InputHash::Question("00".to_owned()),
        target_hash: "11".to_owned(),
        slices: Vec::new(),
    }
}

/// A folder with an accepted baseline of these samples.
pub(super) fn accepted(folder: &Path) -> BaselineFile {
    let contents: BTreeMap<_, _> = [("a", true), ("b", false), ("c", true)]
        .map(|(id, correct)| (id.to_owned(), content(correct)))
        .into();
    for (id, content) in &contents {
        let header = SnapshotHeader::bare(id);
        content
            .write(&super::super::path(folder, id), &header)
            .unwrap();
    }
    let runs = ["r1", "r2"].map(|id| PooledRun::old(id.to_owned(), 1));
    let mut digests = Digests::default();
    for (id, content) in &contents {
        digests.add(id, content);
    }
    let file = BaselineFile::new(
        runs.into(),
        "s1".to_owned(),
        None,
        Judges::new(),
        digests,
        2,
    );
    write(folder, &file);
    file
}

fn write(folder: &Path, file: &BaselineFile) {
    super::write(&folder.join(FILE), file).unwrap();
}

#[test]
fn what_is_not_as_it_was_accepted_is_named() {
    let snap = |id: &str| {
        let path = super::super::path(Path::new(""), id);
        path.display().to_string()
    };
    let check = |change: &dyn Fn(&Path, &mut BaselineFile), expect: &[String]| {
        let folder = tempfile::tempdir().unwrap();
        let mut file = accepted(folder.path());
        change(folder.path(), &mut file);
        let baseline = read(folder.path()).unwrap().unwrap();
        assert_eq!(baseline.changed_files, expect);
        assert_eq!(baseline.digest_matches, expect.is_empty());
    };
    let edit = |folder: &Path, id: &str, from: &str, to: &str| {
        let path = super::super::path(folder, id);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        std::fs::write(&path, text.replace(from, to)).unwrap();
    };
    check(&|_, _| (), &[]);
    // The answer text is not part of the verdict.
    check(&|folder, _| edit(folder, "a", "17", "18"), &[]);
    check(
        &|folder, _| edit(folder, "b", "verdict: incorrect", "verdict: correct"),
        &[snap("b")],
    );
    check(
        &|folder, _| edit(folder, "b", "\"01\"", "\"11\""),
        &[snap("b")],
    );
    check(
        &|folder, _| edit(folder, "b", "target: 11", "target: 12"),
        &[snap("b")],
    );
    check(
        &|folder, _| std::fs::remove_file(super::super::path(folder, "c")).unwrap(),
        &[snap("c")],
    );
    check(
        &|folder, _| {
            let path = super::super::path(folder, "d");
            let header = SnapshotHeader::bare("d");
            content(true).write(&path, &header).unwrap();
        },
        &[snap("d")],
    );
    // A misplaced file is reported under its own name.
    let copy = |folder: &Path, id: &str, name: &str, edit: bool| {
        let text = std::fs::read_to_string(super::super::path(folder, id)).unwrap();
        let to = if edit { "target: 12" } else { "target: 11" };
        let text = text.replace("target: 11", to);
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let stray = Path::new("zz").join("dup.snap").display().to_string();
    for edited in [false, true] {
        check(
            &|folder, _| copy(folder, "a", "zz/dup.snap", edited),
            std::slice::from_ref(&stray),
        );
        let moved = |folder: &Path, _: &mut BaselineFile| {
            copy(folder, "a", "zz/dup.snap", edited);
            std::fs::remove_file(super::super::path(folder, "a")).unwrap();
        };
        check(&moved, std::slice::from_ref(&stray));
    }
    let unknown = |folder: &Path, _: &mut BaselineFile| {
        let header = SnapshotHeader::bare("nobody");
        let path = folder.join("zz").join("dup.snap");
        content(true).write(&path, &header).unwrap();
    };
    check(&unknown, std::slice::from_ref(&stray));
    check(
        &|folder, _| std::fs::remove_file(folder.join(FILE)).unwrap(),
        &[FILE.to_owned()],
    );
    for change in [
        |file: &mut BaselineFile| file.scorer_hash.push('0'),
        |file: &mut BaselineFile| file.mask_id = Some("0".to_owned()),
        |file: &mut BaselineFile| file.runs.truncate(1),
        |file: &mut BaselineFile| file.runs[0].epochs = 2,
        |file: &mut BaselineFile| file.verdict_digest.push('0'),
    ] {
        let changed = |folder: &Path, file: &mut BaselineFile| {
            change(file);
            write(folder, file);
        };
        check(&changed, &[FILE.to_owned()]);
    }
}

#[test]
fn the_file_of_the_first_version_is_one_run_and_its_digest_holds() {
    let folder = tempfile::tempdir().unwrap();
    let samples = [("a", true), ("b", false)];
    for (id, correct) in samples {
        let content = Content {
            answers: vec![Some(correct)],
            answer: AnswerForm::Normalized("\"17\"".to_owned()),
            input: InputHash::Rendered("00".to_owned()),
            ..content(correct)
        };
        let path = super::super::path(folder.path(), id);
        content.write(&path, &SnapshotHeader::bare(id)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("answers"), "{text}");
    }
    // As version 0.1 wrote it.
    let digest = [("a", "correct"), ("b", "incorrect")]
        .into_iter()
        .fold(Hasher::default(), |hash, (id, verdict)| {
            hash.part(id).part(verdict).part("00").part("11")
        });
    let mut file = serde_json::json!({
        "format_version": 1, "run_id": "e-1", "scorer_hash": "s1", "epochs": 1, "samples": 2, "correct": 1,
        "verdict_digest": digest.short(),
    });
    let mut check = |digest: Option<&str>| {
        if let Some(digest) = digest {
            file["verdict_digest"] = digest.into();
        }
        std::fs::write(folder.path().join(FILE), file.to_string()).unwrap();
        read(folder.path()).unwrap().unwrap()
    };
    let baseline = check(None);
    assert!(baseline.digest_matches && baseline.changed_files.is_empty());
    assert_eq!(baseline.run_ids(), "e-1");
    assert_eq!(baseline.samples.get("b").unwrap().answers(), [Some(false)]);
    let baseline = check(Some("0"));
    // Version 1 cannot name the changed file.
    assert!(!baseline.digest_matches && baseline.changed_files.is_empty());
}

/// The ways of sample `a` in a baseline that was read by a version of the reader.
fn ways_of_a(folder: &Path, readers: Readers) -> Vec<Option<FoundBy>> {
    let file = file(&folder.join(FILE)).unwrap().unwrap();
    write(folder, &file.read_by(readers));
    let baseline = read(folder).unwrap().unwrap();
    assert!(baseline.digest_matches, "{:?}", baseline.changed_files);
    assert_eq!(baseline.readers, readers);
    baseline.samples.get("a").unwrap().to_sample().ways
}

#[test]
fn a_snapshot_without_ways_has_whole_answers_unless_an_older_reader_read_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    accepted(folder);
    let path = super::super::path(folder, "a");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("found_by"), "{text}");
    assert_eq!(ways_of_a(folder, Readers::default()), [None, None]);
    let whole = Some(FoundBy::WholeAnswer);
    assert_eq!(ways_of_a(folder, Readers::CURRENT), [whole, whole]);
    // Either way the digest of the verdicts holds, and what is not whole is written.
    let labelled = Content {
        ways: vec![Some(FoundBy::Label), None],
        ..content(true)
    };
    labelled.write(&path, &SnapshotHeader::bare("a")).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let expect = "normalized_prediction: \"17\"\nfound_by: label, unknown\nquestion: 00\n";
    assert!(text.contains(expect), "{text}");
    assert_eq!(
        ways_of_a(folder, Readers::default()),
        [Some(FoundBy::Label), None]
    );
    assert_eq!(Content::read(&path).unwrap(), Some(labelled));
    // Masked ones have them, too.
    let masked = Content {
        answer: AnswerForm::Masked("22".to_owned()),
        ways: vec![Some(FoundBy::Box); 2],
        ..content(true)
    };
    assert!(
        masked
            .text()
            .contains("prediction: (masked) 22\nfound_by: box\n")
    );
    masked.write(&path, &SnapshotHeader::bare("a")).unwrap();
    assert_eq!(Content::read(&path).unwrap(), Some(masked));
}

#[test]
fn ways_that_are_not_as_many_as_the_answers_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    accepted(folder.path());
    let path = super::super::path(folder.path(), "a");
    let text = std::fs::read_to_string(&path).unwrap();
    let broken = text.replace("question:", "found_by: box, label, tag\nquestion:");
    std::fs::write(&path, broken).unwrap();
    let error = read(folder.path()).unwrap_err();
    let says = "its `found_by` is `box, label, tag`, expected one value or as many as `answers`";
    assert!(error.message().contains(says), "{}", error.message());
}

#[test]
fn slices_are_stored_and_part_of_the_digest() {
    let folder = tempfile::tempdir().unwrap();
    accepted(folder.path());
    let path = super::super::path(folder.path(), "a");
    let sliced = Content {
        slices: vec![Slice::new("level", "1"), Slice::new("topic", "a=b")],
        ..content(true)
    };
    sliced.write(&path, &SnapshotHeader::bare("a")).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let line = "slices: [\"level=1\", \"topic=a=b\"]\n";
    assert!(text.ends_with(line), "{text}");
    let baseline = read(folder.path()).unwrap().unwrap();
    assert_eq!(baseline.samples.get("a").unwrap().slices(), sliced.slices);
    assert!(!baseline.digest_matches);
    std::fs::write(&path, text.replace(line, "slices: level\n")).unwrap();
    let error = read(folder.path()).unwrap_err();
    let says = "its `slices` are level, expected a list such as [\"level=1\"]";
    assert!(error.message().contains(says), "{}", error.message());
}

#[test]
fn snapshots_of_an_accept_that_did_not_end_are_no_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let file = accepted(folder.path());
    begin(folder.path()).unwrap();
    let error = read(folder.path()).unwrap_err();
    assert!(error.message().contains("did not finish"), "{error}");
    write(folder.path(), &file);
    assert!(read(folder.path()).unwrap().unwrap().digest_matches);
}

#[test]
fn a_part_of_the_samples_opens_their_snapshots_alone() {
    let of = |change: &dyn Fn(&Path), ids: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        accepted(folder.path());
        change(folder.path());
        let committed = CommittedBaseline::open(folder.path()).unwrap().unwrap();
        committed.of(ids)
    };
    let path = super::super::path;
    let spoil = |folder: &Path| std::fs::write(path(folder, "b"), "no snapshot").unwrap();
    let ids = |baseline: &Baseline| {
        let ids = baseline.samples.iter();
        ids.map(|row| row.id().to_owned()).collect::<Vec<_>>()
    };
    let baseline = of(&spoil, &["a", "new"]).unwrap();
    assert_eq!(ids(&baseline), ["a"]);
    assert_eq!(baseline.unread, ["b".into(), "c".into()]);
    assert_eq!(baseline.id_of("c"), Some("c"));
    assert!(baseline.digest_matches && baseline.check_comparable("s1", ["c"]).is_ok());
    assert!(baseline.check_comparable("s1", ["new"]).is_err());
    of(&spoil, &["a", "b"]).unwrap_err();
    let write = |folder: &Path, id: &str| {
        let header = SnapshotHeader::bare(id);
        content(false).write(&path(folder, id), &header).unwrap();
    };
    // Reviewed one by one: counts, but not as accepted.
    let baseline = of(&|folder| write(folder, "new"), &["a", "new"]).unwrap();
    assert_eq!(ids(&baseline), ["a", "new"]);
    assert_eq!(baseline.changed_files.len(), 1);
    // A snapshot in another place is found as always: everything is read.
    let moved = |folder: &Path| {
        std::fs::create_dir(folder.join("zz")).unwrap();
        std::fs::rename(path(folder, "a"), folder.join("zz").join("a.snap")).unwrap();
    };
    let baseline = of(&moved, &["a"]).unwrap();
    assert_eq!(ids(&baseline), ["a", "b", "c"]);
    assert_eq!(baseline.changed_files.len(), 1);
    // The older form of a number as an id.
    let numbered = |folder: &Path| {
        write(folder, "7.0");
        let mut digests = Digests::default();
        digests.add("7.0", &content(false));
        let of_run = vec![PooledRun::old("r1".to_owned(), 1)];
        let file = BaselineFile::new(of_run, "s1".into(), None, Judges::new(), digests, 0);
        super::write(&folder.join(FILE), &file).unwrap();
    };
    let baseline = of(&numbered, &["7"]).unwrap();
    assert_eq!(
        (ids(&baseline), baseline.id_of("7")),
        (vec!["7.0".to_owned()], Some("7.0"))
    );
}
