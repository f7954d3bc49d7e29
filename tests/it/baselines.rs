//! Which runs become a baseline, alone and together.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::project::{Project, Ran, all_files};
use crate::requested;

const FOLDER: &str = "snapshots/e";
const COMMAND: &str = "{ type: command, command: [./agent.sh], input: json }";

/// Six questions; the agent is wrong about q002 while `wrong` exists, and fails at q004 while `broken` does.
fn project(more: &str) -> Project {
    let then = "case $EVALTEST_SAMPLE_ID in q002) test ! -f wrong || { echo 99; exit; };; \
                q004) test ! -f broken || exit 3;; esac";
    let project = requested::project(6, then, "");
    project.spec(COMMAND, more);
    project
}

/// Runs the eval and tells where.
fn run(project: &Project, more: &str) -> PathBuf {
    project.run(&format!("run eval.yaml --ignore-baseline {more}"));
    project.last_run()
}

/// The same while a file exists.
fn run_with(project: &Project, file: &str) -> PathBuf {
    project.write(file, "");
    let dir = run(project, "");
    std::fs::remove_file(project.file(file)).unwrap();
    dir
}

fn accept(project: &Project, flags: &str, dirs: &[&Path]) -> Ran {
    let dirs: Vec<_> = dirs.iter().map(|dir| dir.display().to_string()).collect();
    project.run(&format!("accept {flags} {}", dirs.join(" ")))
}

/// All that is committed of the baseline.
pub(crate) fn committed(project: &Project) -> Vec<(PathBuf, String)> {
    let read = |path: PathBuf| (path.clone(), std::fs::read_to_string(path).unwrap());
    let mut files: Vec<_> = all_files(&project.file(FOLDER))
        .into_iter()
        .filter(|path| !path.ends_with("history.jsonl"))
        .map(read)
        .collect();
    files.sort();
    files
}

/// The line of a snapshot that begins so.
pub(crate) fn line(project: &Project, id: &str, start: &str) -> Option<String> {
    let name = format!("{id}.snap");
    let files = committed(project);
    let (_, text) = files.iter().find(|(path, _)| path.ends_with(&name))?;
    let line = text.lines().find_map(|line| line.strip_prefix(start))?;
    Some(line.to_owned())
}

fn answers(project: &Project, id: &str) -> Option<String> {
    line(project, id, "answers: ")
}

pub(crate) fn baseline(project: &Project) -> Value {
    serde_json::from_str(&project.read("snapshots/e/_baseline.json")).unwrap()
}

fn run_id(dir: &Path) -> String {
    let name = dir.file_name().unwrap().to_string_lossy();
    name.split_once('_').unwrap().1.to_owned()
}

#[test]
fn several_runs_are_one_baseline_in_the_order_of_runs_and_epochs() {
    let project = project("");
    let right = run(&project, "");
    let wrong = run_with(&project, "wrong");
    let last = run(&project, "");
    let five = run(&project, "--epochs 5");
    accept(&project, "", &[&right, &wrong])
        .exits(0)
        .says("e: 2 runs together are now the baseline, 2 of 6 samples correct in most of their answers\n")
        .says(&format!(
            "  run {}\n  run {}\n",
            run_id(&right),
            run_id(&wrong)
        ));
    assert_eq!(answers(&project, "q002").as_deref(), Some("\"10\""));
    let correct_line = || line(&project, "q002", "  correct: ");
    assert_eq!(correct_line().as_deref(), Some("\"1 of 2\""));
    assert_eq!(answers(&project, "q000").as_deref(), Some("\"11\""));
    assert_eq!(answers(&project, "q001").as_deref(), Some("\"00\""));
    accept(&project, "--add", &[&last, &five])
        .exits(0)
        .says("e: 4 runs together are now the baseline, 3 of 6 samples correct in most of their answers\n")
        .says(&format!("  run {}, 5 epochs each\n", run_id(&five)));
    assert_eq!(answers(&project, "q002").as_deref(), Some("\"10111111\""));
    assert_eq!(correct_line().as_deref(), Some("\"7 of 8\""));
    let file = baseline(&project);
    assert_eq!(
        (&file["format_version"], &file["correct"]),
        (&4.into(), &3.into())
    );
    let runs = file["runs"].as_array().unwrap().iter();
    let runs: Vec<_> = runs
        .map(|run| (run["run_id"].as_str(), &run["epochs"]))
        .collect();
    let dirs = [&right, &wrong, &last, &five].map(|dir| run_id(dir));
    let expect = [(&dirs[0], 1), (&dirs[1], 1), (&dirs[2], 1), (&dirs[3], 5)];
    assert_eq!(runs.len(), 4);
    for ((id, epochs), (dir, number)) in runs.iter().zip(expect) {
        assert_eq!((*id, *epochs), (Some(dir.as_str()), &Value::from(number)));
    }
    // The same at once.
    let added = committed(&project);
    accept(&project, "", &[&right, &wrong, &last, &five]).exits(0);
    assert_eq!(committed(&project), added);
    // One alone replaces them all.
    accept(&project, "", &[&wrong])
        .exits(0)
        .says("is now the baseline, 2 of 6 correct\n  snapshots: 6 written");
    assert_eq!(answers(&project, "q002").as_deref(), Some("\"0\""));
    assert_eq!(baseline(&project)["runs"].as_array().map(Vec::len), Some(1));
}

#[test]
fn snapshots_of_samples_that_a_part_did_not_ask_keep_what_stands_above_them() {
    let project = project("");
    let [whole, part] = ["", "--limit 1"].map(|more| run(&project, more));
    accept(&project, "", &[&whole]).exits(0);
    accept(&project, "--add --partial", &[&part]).exits(0);
    let snapshots = committed(&project).into_iter();
    let snapshots = snapshots.filter(|(path, _)| path.extension().is_some_and(|end| end == "snap"));
    let snapshots: Vec<_> = snapshots.map(|(_, text)| text).collect();
    assert_eq!(snapshots.len(), 6);
    for text in &snapshots {
        let shows = |what: &str| assert!(text.contains(what), "{what}: {text}");
        shows("\ndescription: \"What is ");
        shows("\n  ground_truth: \"");
        shows(" of 2\"\n---\n");
    }
}

#[test]
fn masked_runs_count_with_masked_runs() {
    let project = project("");
    let plain = run(&project, "");
    let spec = project.read("eval.yaml");
    project.write(
        "eval.yaml",
        spec.replace("answers: plain", "answers: masked"),
    );
    let [masked, other] = [(); 2].map(|()| run(&project, ""));
    refused(
        &project,
        &plain,
        &masked,
        "another `snapshot.answers` than run",
    );
    accept(&project, "", &[&masked]).exits(0);
    accept(&project, "--add", &[&other]).exits(0);
    assert_eq!(answers(&project, "q000").as_deref(), Some("\"11\""));
    assert!(baseline(&project)["mask_id"].is_string());
    assert_eq!(line(&project, "q000", "description: "), None);
}

/// Asserts that runs count together neither at once nor one after the other, and that nothing is written then.
#[track_caller]
fn refused(project: &Project, one: &Path, other: &Path, says: &str) {
    let flags = "--snapshots snapshots/e";
    accept(project, flags, &[one]).exits(0);
    let before = committed(project);
    for ran in [
        accept(project, flags, &[one, other]),
        accept(project, &format!("{flags} --add"), &[other]),
        accept(project, flags, &[other, one]),
    ] {
        ran.exits(2).says(says).says("hint: ");
        assert_eq!(committed(project), before);
    }
}

#[test]
fn only_answers_that_were_asked_anew_count() {
    let project = project("");
    let one = run(&project, "--cache");
    refused(&project, &one, &one, "would count twice");
    accept(&project, "", &[&one, &one])
        .exits(2)
        .says("is given twice");
    accept(&project, "", &[&one]).exits(0);
    accept(&project, "--add", &[&one])
        .exits(2)
        .says("is in the baseline already");
    project
        .run(&format!("run --resume {} --ignore-baseline", one.display()))
        .exits(0);
    refused(&project, &one, &one, "would count twice");
    let moved = project.file("elsewhere");
    std::fs::create_dir(&moved).unwrap();
    for file in all_files(&one) {
        std::fs::copy(&file, moved.join(file.file_name().unwrap())).unwrap();
    }
    refused(&project, &one, &moved, "would count twice");

    let cached = run(&project, "--cache");
    assert_eq!(project.last_json("summary.json")["cached"], 6);
    let requested = format!("share cached answers of run `{}`", run_id(&one));
    refused(&project, &one, &cached, &requested);
    refused(&project, &cached, &run(&project, "--cache"), &requested);
    // What came from the cache of a run that is not there may count, also with others.
    let anew = run(&project, "--refresh");
    accept(&project, "", &[&cached, &anew]).exits(0);
    refused(
        &project,
        &anew,
        &run(&project, "--cache"),
        &format!("share cached answers of run `{}`", run_id(&anew)),
    );

    for _ in 0..2 {
        project.run(&format!("rescore {}", one.display())).exits(0);
        refused(
            &project,
            &one,
            &project.last_run(),
            "scored again, which count once",
        );
    }
    let runs = project.runs();
    let [.., first, second] = runs.as_slice() else {
        panic!("there are runs")
    };
    refused(&project, first, second, "scored again, which count once");
    accept(&project, "", &[first, &anew]).exits(0);

    // Chosen twice, an id is no run.
    let [first, second] = [(); 2].map(|()| {
        std::thread::sleep(std::time::Duration::from_millis(1100));
        run(&project, "--run-id nightly")
    });
    accept(&project, "", &[&first, &second]).exits(0);
}

#[test]
fn recordings_count_by_their_kind_and_each_once() {
    let project = project("");
    let requested = run(&project, "");
    for (name, answer) in [("one", "000"), ("two", "001")] {
        let line = |n: u32| format!("{{\"id\":\"q00{n}\",\"answer\":\"{answer}\"}}\n");
        let lines: String = (0..6).map(line).collect();
        project.write(&format!("{name}.jsonl"), lines);
    }
    let replay = |path: &str| {
        let agent = format!("{{type: replay, path: {path}}}");
        let arguments = ["run", "eval.yaml", "--ignore-baseline", "--agent", &agent];
        project.run_of(&arguments).exits(0);
        project.last_run()
    };
    let [one, again, two] = ["one.jsonl", "one.jsonl", "two.jsonl"].map(replay);
    refused(&project, &one, &again, "repeat one recording");
    accept(&project, "", &[&one, &two])
        .exits(0)
        .says("2 runs together");
    refused(&project, &one, &requested, "another agent");
    // What repeats a run has its answers, in any number of steps.
    let repeated = replay(&requested.display().to_string());
    refused(&project, &requested, &repeated, "repeat one recording");
    let repeated_again = replay(&repeated.display().to_string());
    refused(
        &project,
        &requested,
        &repeated_again,
        "repeat one recording",
    );
    refused(&project, &repeated, &repeated_again, "repeat one recording");
}

#[test]
fn runs_of_another_agent_prompt_scorer_or_dataset_are_refused() {
    let project = project("");
    let one = run(&project, "");
    let option = run(&project, "--agent-option depth=2");
    refused(&project, &one, &option, "another agent than run");
    let prompt = run(&project, "--set prompt=concise");
    refused(&project, &one, &prompt, "another prompt than run");
    let extract = run(&project, "--set extract=none");
    refused(
        &project,
        &one,
        &extract,
        "another scorer, extraction or `errors` than run",
    );
    let data = project.read("data.jsonl");
    project.write("data.jsonl", data.replace("What is 2?", "What is two?"));
    refused(
        &project,
        &one,
        &run(&project, ""),
        "another dataset than run",
    );
    project.write("data.jsonl", data.replace("\"002\"", "\"003\""));
    refused(
        &project,
        &one,
        &run(&project, ""),
        "another dataset than run",
    );
    let fewer: Vec<_> = data.lines().take(5).collect();
    project.write("data.jsonl", fewer.join("\n"));
    refused(
        &project,
        &one,
        &run(&project, ""),
        "another dataset than run",
    );
    project.write("data.jsonl", data);
    let script = project.read("agent.sh");
    project.script("agent.sh", &format!("{script}# changed\n"));
    refused(&project, &one, &run(&project, ""), "another agent than run");
    project.script("agent.sh", &script);
    // What does not change the agent may change.
    let other = run(&project, "--concurrency 1 --timeout-s 50 --retries 1");
    accept(&project, "", &[&one, &other]).exits(0);
    // Another eval is another baseline.
    let spec = project.read("eval.yaml").replace("name: e\n", "name: f\n");
    project.write("f.yaml", spec);
    project.run("run f.yaml").exits(0);
    accept(&project, "", &[&one, &project.last_run()])
        .exits(0)
        .says("e: evaltest-runs/")
        .says("f: evaltest-runs/");
    accept(
        &project,
        "--snapshots snapshots/g",
        &[&one, &project.last_run()],
    )
    .exits(2)
    .says("cannot hold the snapshots of 2 evals");
}

#[test]
fn snapshots_are_read_only_where_a_gate_compares_with_them() {
    let project = project("gates: [accuracy >= 0.1]\n");
    let right = run(&project, "");
    accept(&project, "", &[&right]).exits(0);
    let wrong = run_with(&project, "wrong");
    let (path, text) = committed(&project)
        .into_iter()
        .find(|(path, _)| path.ends_with("q002.snap"))
        .unwrap();
    // An edited one would not be a flip, and a broken one would be an error.
    for text in [text.replace("correct", "incorrect"), String::new()] {
        std::fs::write(&path, text).unwrap();
        let gate = format!("gate {}", wrong.display());
        project.run(&gate).exits(0).says("q002");
        project.write("wrong", "");
        project.run("run eval.yaml").exits(0).says("q002");
        std::fs::remove_file(project.file("wrong")).unwrap();
    }
    project
        .run("gate --gate no_regression")
        .exits(2)
        .says("q002.snap");
    let exact = "run eval.yaml --set snapshot.assert=exact";
    project.run(exact).exits(2).says("q002.snap");
    let index = project.file("snapshots/e/_index.jsonl");
    std::fs::remove_file(&index).unwrap();
    project.run("gate").exits(2).says("q002.snap");
    // Nothing is lost if there can be none.
    std::fs::create_dir_all(index.join("x")).unwrap();
    accept(&project, "", &[&right])
        .exits(0)
        .says("note: runs read each snapshot, for their index was not written: ");
    project.run("gate").exits(0);
}

#[test]
fn a_run_is_added_only_to_a_baseline_that_is_what_was_accepted() {
    let project = project("");
    let one = run(&project, "");
    let other = run(&project, "");
    accept(&project, "--add", &[&other])
        .exits(2)
        .says("has no baseline to add a run to")
        .says("without `--add`");
    accept(&project, "", &[&one]).exits(0);
    let (path, text) = committed(&project)
        .into_iter()
        .find(|(path, _)| path.ends_with("q001.snap"))
        .unwrap();
    for broken in [text.replace("incorrect", "correct"), "<<<<<<<".to_owned()] {
        std::fs::write(&path, broken).unwrap();
        accept(&project, "--add", &[&other])
            .exits(2)
            .says("q001.snap")
            .says("accept all of its runs again, together");
    }
    // What the hint says leads out.
    accept(&project, "", &[&one, &other]).exits(0);
    assert_eq!(
        line(&project, "q001", "verdict: ").as_deref(),
        Some("incorrect")
    );
    // Of a run of an older version it is not known who answered.
    crate::project::change_manifest(&other, |manifest| {
        manifest.as_object_mut().unwrap().remove("agent_hash");
    });
    refused(&project, &one, &other, "does not record its agent");
}

#[test]
fn a_run_that_lacks_answers_is_refused_and_a_lone_gap_is_a_dot() {
    let project = project("");
    let broken = run_with(&project, "broken");
    let default = "has too many errors to be a baseline: 1 of 6 samples, and `error_rate <= 0.05` allows fewer";
    accept(&project, "", &[&broken])
        .exits(2)
        .says(default)
        .says("--partial");
    project.spec(COMMAND, "gates: [error_rate <= 0.1]\n");
    let broken = run_with(&project, "broken");
    accept(&project, "", &[&broken])
        .exits(2)
        .says("and `error_rate <= 0.1` allows fewer");
    // A bound for a slice is none for the whole.
    project.spec(COMMAND, "gates: ['error_rate[level=1] <= 1']\n");
    let broken = run_with(&project, "broken");
    accept(&project, "", &[&broken]).exits(2).says(default);
    project.spec(COMMAND, "gates: [error_rate <= 0.5]\n");
    let broken = run_with(&project, "broken");
    let whole = run(&project, "");
    accept(&project, "", &[&broken])
        .exits(0)
        .says(" of 5 correct")
        .says("q004 ended in an error and has no snapshot");
    assert_eq!(line(&project, "q004", "verdict: "), None);
    accept(&project, "--add", &[&whole])
        .exits(0)
        .says(" of 6 samples correct");
    assert_eq!(answers(&project, "q004").as_deref(), Some("\".1\""));
    accept(&project, "", &[&whole, &broken])
        .exits(0)
        .says("q004 lacks an answer, which its snapshot shows as a dot");
    assert_eq!(answers(&project, "q004").as_deref(), Some("\"1.\""));
    // What is known of a sample is not lost to an outage, and has as many answers as the others.
    accept(&project, "", &[&broken])
        .exits(0)
        .says("q004 ended in an error; its snapshot stays as it was");
    assert_eq!(
        line(&project, "q004", "verdict: ").as_deref(),
        Some("correct")
    );
    assert_eq!(answers(&project, "q004").as_deref(), Some("\"1\""));
    let two = run(&project, "--epochs 2");
    accept(&project, "", &[&two, &broken]).exits(0);
    assert_eq!(answers(&project, "q004").as_deref(), Some("\"11.\""));
    accept(&project, "", &[&broken, &two]).exits(0);
    assert_eq!(answers(&project, "q004").as_deref(), Some("\"111\""));
}

#[test]
fn a_run_of_two_agents_is_no_baseline() {
    let project = project("");
    let dir = run(&project, "");
    let script = project.read("agent.sh");
    project.script("agent.sh", &format!("{script}# changed\n"));
    let resume = format!("run --resume {} --allow-changed-agent", dir.display());
    project.run(&resume).exits(0);
    project.run(&format!("rescore {}", dir.display())).exits(0);
    for dir in [dir, project.last_run()] {
        accept(&project, "--partial", &[&dir])
            .exits(2)
            .says("its agent changed between its parts")
            .says("everything: cargo evaltest run");
    }
    assert!(!project.file(FOLDER).exists());
}

#[test]
fn the_size_that_the_spec_gives_is_a_whole_run() {
    let project = project("limits: { limit: 4 }\n");
    let whole = run(&project, "");
    assert_eq!(project.last_json("manifest.json")["whole"], true);
    accept(&project, "", &[&whole])
        .exits(0)
        .says(" of 4 correct");
    let part = run(&project, "--limit 4");
    accept(&project, "", &[&part]).exits(2).says("--partial");
    accept(&project, "--add --partial", &[&part]).exits(0);
}

#[test]
fn what_cannot_be_read_is_written_anew() {
    let project = project("");
    let one = run(&project, "");
    accept(&project, "", &[&one]).exits(0);
    let before = committed(&project);
    // What is there for git stays as it is.
    let files = before.iter();
    for (path, _) in files.filter(|(path, _)| !path.ends_with(".gitattributes")) {
        std::fs::write(path, "<<<<<<< HEAD\n").unwrap();
        accept(&project, "", &[&one]).exits(0);
        assert_eq!(committed(&project), before);
    }
}

#[test]
fn the_help_says_when_to_accept() {
    Project::new()
        .run("accept --help")
        .exits(0)
        .says("Do not pick the run that looks best");
}

#[test]
fn a_run_that_failed_its_gates_is_accepted_with_the_option_alone() {
    let project = project("gates: [accuracy >= 0.9]\n");
    let bad = run_with(&project, "wrong");
    accept(&project, "", &[&bad])
        .exits(2)
        .says("failed a gate that needs no baseline: `accuracy >= 0.9`")
        .says("`--failed-gates`");
    accept(&project, "--failed-gates", &[&bad])
        .exits(0)
        .says("failed `accuracy >= 0.9` and is accepted");
    // What is wrong now was wrong in the baseline, and yet a gate is red for it. The run is the last one of the eval.
    project.write("wrong", "");
    project.run("run -v eval.yaml").exits(1);
    project
        .run("run -v --failed e")
        .exits(0)
        .says("partial run, 4 samples, 0 correct");
    // A comparison asks nobody.
    project.spec(COMMAND, "gates: [no_regression(max_drop=0.01)]\n");
    std::fs::remove_file(project.file("wrong")).unwrap();
    accept(&project, "", &[&run(&project, "")]).exits(0);
    project.write("wrong", "");
    project.run("run -v eval.yaml").exits(1);
    accept(&project, "", &[&project.last_run()])
        .exits(0)
        .says("failed `no_regression(max_drop=0.01)` and is accepted");
}
