//! A Hub that breaks off, is busy, or lies.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use super::server::{COMMIT, Fault, Moved, State, TOKEN, checksum};
use super::{cached, fetched, large, metadata, project, run, toy};
use crate::project::all_files;

#[test]
fn a_download_that_breaks_goes_on_where_it_ended() {
    let (hub, project) = (toy(), project());
    let file = "2023/validation/large file.csv";
    hub.fault(
        file,
        &[Fault::Half(300), Fault::Status(503, ""), Fault::Half(200)],
    );
    hub.fault(
        "2023/validation/small.txt",
        &[Fault::Status(429, "Retry-After: 0\r\n")],
    );
    run(&project, &hub, "run eval.yaml").exits(0);
    let requested = hub.requested();
    let parts: Vec<_> = requested
        .iter()
        .filter(|line| line.starts_with("GET /cdn/") && line.contains("large"))
        .map(|line| line.split_once(" from ").map_or("", |(_, from)| from))
        .collect();
    assert_eq!(parts, ["", "300", "300", "500"]);
    let snapshot = cached(&project).join("snapshots").join(COMMIT);
    assert_eq!(fs::read_to_string(snapshot.join(file)).unwrap(), large());

    // What another process left, and a server that knows no ranges.
    fs::remove_dir_all(project.file("hf")).unwrap();
    let blob = cached(&project)
        .join("blobs")
        .join(checksum(large().as_bytes()));
    let incomplete = blob.with_extension("incomplete");
    for (content, fault) in [("n,squ", vec![Fault::Whole]), ("wrong", vec![])] {
        let _ = fs::remove_dir_all(project.file("hf"));
        fs::create_dir_all(blob.parent().unwrap()).unwrap();
        fs::write(&incomplete, content).unwrap();
        hub.fault(file, &fault);
        run(&project, &hub, "run eval.yaml").exits(0);
        assert_eq!(fs::read_to_string(&blob).unwrap(), large());
        assert!(!incomplete.exists());
    }
}

#[test]
fn what_has_not_its_checksum_is_not_kept() {
    let (hub, project) = (toy(), project());
    for (file, content) in [
        ("small.txt", "small".to_owned()),
        ("large file.csv", large()),
    ] {
        hub.fault(&format!("2023/validation/{file}"), &[Fault::Other]);
        run(&project, &hub, "run eval.yaml").exits(3).says(&format!(
            "{file}`: the download does not have the checksum `{}`",
            checksum(content.as_bytes())
        ));
        let blobs = all_files(&cached(&project).join("blobs"));
        let is_of_it = |path: &PathBuf| {
            path.to_string_lossy()
                .contains(&checksum(content.as_bytes()))
        };
        assert!(!blobs.iter().any(is_of_it), "{blobs:?}");
        run(&project, &hub, "run eval.yaml").exits(0);
        fs::remove_dir_all(project.file("hf")).unwrap();
    }
}

#[test]
fn redirects_on_the_hub_are_followed_but_not_for_ever() {
    let project = project();
    let hub = toy().gated();
    project.write("hf/token", TOKEN);
    hub.set(|state| state.moved = Some(Moved::Elsewhere));
    run(&project, &hub, "run eval.yaml --limit 1").exits(0);
    let requested = hub.requested();
    let stored = requested
        .iter()
        .filter(|line| line.contains("resolve-cache"));
    assert!(stored.count() >= 4, "{requested:?}");
    // To large storage it leads with the token left out.
    let of_cdn = requested.iter().filter(|line| line.contains("/cdn/"));
    assert!(of_cdn.clone().count() == 1 && of_cdn.clone().all(|line| !line.contains("token")));

    fs::remove_dir_all(cached(&project)).unwrap();
    hub.set(|state| state.moved = Some(Moved::Around));
    run(&project, &hub, "run eval.yaml")
        .exits(3)
        .says("redirects without end");
    let requested = hub.requested();
    assert!(requested.len() < 15, "{requested:#?}");
}

#[test]
fn a_long_download_says_that_it_goes_on() {
    let (hub, project) = (toy(), project());
    hub.set(|state| state.pause = Duration::from_millis(600));
    run(&project, &hub, "run eval.yaml --limit 1")
        .exits(0)
        .says("note: e: still fetching or reading the dataset: ")
        .says(" s so far");
    let started = Instant::now();
    let ran = run(&project, &hub, "run eval.yaml --limit 1").exits(0);
    if started.elapsed() < Duration::from_secs(2) {
        ran.says_nothing_of("so far");
    }
}

#[test]
fn a_hub_that_is_busy_is_said_to_be_so() {
    let (hub, project) = (toy(), project());
    let file = "2023/validation/small.txt";
    hub.fault(file, &[Fault::Status(429, "Retry-After: 300\r\n")]);
    run(&project, &hub, "run eval.yaml")
        .exits(3)
        .says("small.txt`: the Hub answers 429: too many requests")
        .says("hint: try again in 300 s")
        .says("set `HF_TOKEN`");
    run(&project, &hub, "run eval.yaml").exits(0);
}

#[test]
fn a_hostile_hub_reaches_no_file_outside_its_folder() {
    let project = project();
    let refused = |change: fn(&mut State), code: i32, expect: &str| {
        let hub = toy();
        hub.set(change);
        let _ = fs::remove_dir_all(project.file("hf"));
        run(&project, &hub, "run eval.yaml")
            .exits(code)
            .says(expect);
        let outside = all_files(project.path());
        let allowed = [
            "hf/hub/datasets--acme--toy/",
            "hf/hub/.locks/",
            "hf/hub/CACHEDIR.TAG",
            "eval.yaml",
        ];
        for file in outside {
            let inside = file
                .strip_prefix(project.path())
                .unwrap()
                .display()
                .to_string();
            assert!(
                allowed.iter().any(|start| inside.starts_with(start)),
                "{inside}"
            );
        }
    };
    refused(
        |state| state.commit = Some("../../../../x".to_owned()),
        3,
        "names no commit",
    );
    refused(
        |state| state.etag = Some("../../../x".to_owned()),
        3,
        "sends an ETag that is not a checksum",
    );
    for path in ["../x", "/etc/passwd", "a/../../x", "a\\..\\x", "a//b"] {
        let hub = toy();
        hub.set(|state| state.listed = vec![path.to_owned()]);
        let _ = fs::remove_dir_all(project.file("hf"));
        run(&project, &hub, "run eval.yaml")
            .exits(3)
            .says("which could be outside the dataset");
    }
    // More than it said.
    let hub = toy();
    hub.fault("2023/validation/metadata.jsonl", &[Fault::More]);
    let _ = fs::remove_dir_all(project.file("hf"));
    let _ = run(&project, &hub, "run eval.yaml");
    let snapshot = cached(&project).join("snapshots").join(COMMIT);
    let stored = snapshot.join("2023/validation/metadata.jsonl");
    assert!(!stored.exists() || fs::read_to_string(&stored).unwrap() == metadata());
    // A link in the cache that somebody else made.
    let hub = toy();
    run(&project, &hub, "run eval.yaml").exits(0);
    let small = snapshot.join("2023/validation/small.txt");
    fs::remove_file(&small).unwrap();
    project.write("secret", "secret");
    std::os::unix::fs::symlink(project.file("secret"), &small).unwrap();
    run(&project, &hub, "run eval.yaml")
        .exits(2)
        .says("is a link that leaves the folder of the dataset");
}

#[test]
fn processes_that_fetch_at_once_do_each_other_no_harm() {
    let (hub, project) = (toy(), project());
    thread::scope(|scope| {
        for number in 0..4 {
            let (hub, project) = (&hub, &project);
            scope.spawn(move || {
                let arguments = format!("run eval.yaml --run-id r{number}");
                run(project, hub, &arguments).exits(0);
            });
        }
    });
    let blobs = all_files(&cached(&project).join("blobs"));
    assert_eq!(blobs.len(), 4, "{blobs:?}");
    // Each file once, whoever came first.
    let mut names = fetched(&hub);
    names.dedup();
    assert_eq!(
        names,
        [
            "large%20file.csv",
            "metadata.jsonl",
            "other.txt",
            "small.txt"
        ]
    );
}
