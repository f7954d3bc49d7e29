//! `bfcl official` and `run --official`.

use std::fs;
use std::process::Stdio;

use needs::needs;
use serde_json::{Value, json};

use super::{VERDICTS, conversations, project, requested};
use crate::project::{Project, Ran, json_lines};
use crate::signals::{is_alive, send};
use crate::wait::{given_time, until};

/// Says the same as our score files, and tells with what it was called.
const AGREES: &str = "#!/bin/sh\n\
    printf '%s\\n' \"$@\" > \"$BFCL_PROJECT_ROOT/called\"\n\
    env > \"$BFCL_PROJECT_ROOT/environment\"\n\
    cp -r \"$BFCL_PROJECT_ROOT/score\" \"$BFCL_PROJECT_ROOT/score-official\"\n";

fn official(project: &Project, run: &str, more: &str) -> Ran {
    project.run(&format!(
        "bfcl official {run} --model-name m --bfcl-bin ./bfcl {more}"
    ))
}

#[test]
fn the_official_program_is_called_as_it_wants_to_be() {
    let project = project();
    let run = requested(&project);
    project.script("bfcl", AGREES);
    official(&project, &run, "")
        .exits(0)
        .says("official program, as `m`: 5 of 5 verdicts agree")
        .says("simple_python        2        1         2       2");
    let folder = format!("{run}/official");
    assert_eq!(
        project
            .read(&format!("{folder}/called"))
            .lines()
            .collect::<Vec<_>>(),
        [
            "evaluate",
            "--model",
            "m",
            "--test-category",
            "simple_python,parallel,irrelevance",
            "--result-dir",
            "result",
            "--score-dir",
            "score-official",
            "--partial-eval",
        ]
    );
    let environment = project.read(&format!("{folder}/environment"));
    let root = environment
        .lines()
        .find_map(|line| line.strip_prefix("BFCL_PROJECT_ROOT="));
    let folder = fs::canonicalize(project.file(&folder)).unwrap();
    assert_eq!(fs::canonicalize(root.unwrap()).unwrap(), folder);
    assert!(environment.contains("OPENAI_API_KEY=placeholder"));
    // Again: the files of the first call give way.
    let json = official(&project, &run, "--json").exits(0).json();
    assert_eq!(json["all"]["agreed"], 5);
    assert_eq!(json["agreement"]["disagreements"], json!([]));
    assert_eq!(json["run_dir"], Value::Null);
    // A folder of the user's own is not touched.
    project.write("mine/result/x", "");
    official(&project, &run, "--output mine")
        .exits(2)
        .says("result` exists already");
}

#[test]
fn keys_of_the_user_are_kept_from_it() {
    let project = project();
    let run = requested(&project);
    project.script("bfcl", AGREES);
    let mut command = project.command(&format!(
        "bfcl official {run} --model-name m --bfcl-bin ./bfcl"
    ));
    command
        .env("OPENAI_API_KEY", "sk-of-the-user")
        .env("OTHER_TOKEN", "tok-of-the-user");
    Ran::of(&command.output().unwrap()).exits(0);
    let environment = project.read(&format!("{run}/official/environment"));
    assert!(!environment.contains("of-the-user"), "{environment}");
}

#[test]
fn disagreements_are_listed_with_both_verdicts() {
    let project = project();
    let run = requested(&project);
    project.script(
        "bfcl",
        &format!(
            "{AGREES}cd \"$BFCL_PROJECT_ROOT/score-official/m/non_live\"\n\
             printf '%s\\n' '{}' '{}' > BFCL_v4_simple_python_score.json\n",
            r#"{"accuracy": 0.5, "correct_count": 1, "total_count": 2}"#,
            r#"{"id": "simple_python_10", "error": ["No."], "error_type": "value_error:string"}"#,
        ),
    );
    official(&project, &run, "--record")
        .exits(1)
        .says("3 of 5 verdicts agree")
        .says("simple_python_10: here correct (exact_match), official wrong (value_error:string)")
        .says(
            "simple_python_2: here wrong (simple_function_checker:unexpected_param), official correct (exact_match)",
        );
    // What is recorded are its verdicts.
    let records = project.last_lines("samples.jsonl");
    let verdicts: Vec<_> = records
        .iter()
        .map(|record| (&record["sample_id"], &record["result"]["score"]["correct"]))
        .collect();
    assert!(verdicts.contains(&(&json!("simple_python_10"), &json!(false))));
    assert!(verdicts.contains(&(&json!("simple_python_2"), &json!(true))));
    let json = official(&project, &run, "--json").exits(1).json();
    assert_eq!(json["exit_code"], 1);
    assert_eq!(
        json["agreement"]["disagreements"][0],
        json!({
            "sample_id": "simple_python_10",
            "category": "simple_python",
            "ours": {"correct": true, "reason": "exact_match"},
            "official": {"correct": false, "reason": "value_error:string"},
        })
    );
}

#[test]
fn its_failures_are_no_verdicts() {
    let project = project();
    let run = requested(&project);
    let check = |script: &str, code: i32, expect: &str| {
        project.script("bfcl", &format!("#!/bin/sh\n{script}\n"));
        let ran = official(&project, &run, "").exits(code).says(expect);
        assert_eq!(ran.out, "", "no verdict is told");
    };
    check("exit 0", 3, "wrote no score file");
    check(
        "mkdir score-official",
        3,
        "wrote no score file of `simple_python`",
    );
    check(
        "cp -r score score-official; echo garbage > score-official/m/non_live/BFCL_v4_parallel_score.json",
        3,
        "BFCL_v4_parallel_score.json:1: broken JSON",
    );
    check(
        "cp -r score score-official; echo '{\"correct_count\": 0, \"total_count\": 0}' > \
         score-official/m/non_live/BFCL_v4_parallel_score.json",
        3,
        "judged 0 answers of `parallel`, not 1",
    );
    check(
        "echo Traceback >&2; printf '\\033[31mValueError: no\\n' >&2; exit 1",
        3,
        "exited with code 1",
    );
    check(
        "echo \"ValueError: Invalid model name 'm'.\" >&2; exit 1",
        3,
        "`bfcl models` lists the models that it knows",
    );
    check(
        "echo \"ModuleNotFoundError: No module named 'faiss'\" >&2; exit 1",
        3,
        "pip install faiss-cpu",
    );
    check(
        "echo \"ModuleNotFoundError: No module named 'soundfile'\" >&2; exit 1",
        3,
        "its environment lacks `soundfile`",
    );
    check(
        "echo \"ImportError: cannot import name 'x'\" >&2; exit 1",
        3,
        "its environment is incomplete",
    );
    check("kill -9 $$", 3, "SIGKILL");
    check("yes | head -c 100000000", 3, "printed more than");
    project.write("bfcl", "#!/bin/sh\n");
    official(&project, &run, "--output x").says("bfcl");
    fs::remove_file(project.file("bfcl")).unwrap();
    official(&project, &run, "")
        .exits(2)
        .says("command not found")
        .says("pip install bfcl-eval==2026.3.23 soundfile");
    project
        .run(&format!("bfcl official {run} --bfcl-bin ./bfcl"))
        .exits(2)
        .says("no model is named");
}

#[test]
fn a_program_that_hangs_is_killed_with_its_children() {
    let project = project();
    let run = requested(&project);
    project.script(
        "bfcl",
        "#!/bin/sh\ntrap '' TERM\nsleep 600 & echo $! > \"$BFCL_PROJECT_ROOT/../../../child\"\nwait; sleep 600\n",
    );
    let child = || fs::read_to_string(project.file("child")).unwrap_or_default();
    given_time(1.0, |seconds| {
        let _ = fs::remove_file(project.file("child"));
        official(&project, &run, &format!("--bfcl-timeout-s {seconds}"))
            .exits(3)
            .says(&format!("did not end within {seconds} s"))
            .says("--bfcl-timeout-s");
        child().ends_with('\n').then_some(())
    });
    until("its child is gone", || !is_alive(child().trim()));
    fs::remove_file(project.file("child")).unwrap();
    let mut command = project.command(&format!(
        "bfcl official {run} --model-name m --bfcl-bin ./bfcl"
    ));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = command.spawn().unwrap();
    until("it runs", || child().ends_with('\n'));
    send("INT", &running);
    assert_eq!(running.wait().unwrap().code(), Some(130));
    until("its child is gone", || !is_alive(child().trim()));
}

#[test]
fn conversations_get_verdicts_that_gates_count() {
    let project = Project::new();
    conversations(&project);
    project.write("verdicts", VERDICTS);
    project.run("import -v --format bfcl there").exits(0);
    let run = project.last_run().display().to_string();
    project.script(
        "bfcl",
        "#!/bin/sh\nd=\"$BFCL_PROJECT_ROOT/score-official/m/multi_turn\"; mkdir -p \"$d\"\n\
         cp \"$BFCL_PROJECT_ROOT/../../../verdicts\" \"$d/BFCL_v4_multi_turn_base_score.json\"\n",
    );
    official(&project, &run, "")
        .exits(0)
        .says("2 answers were judged by it alone")
        .says("bfcl: 1 of 2 correct");
    let recorded = project.last_run().display().to_string();
    assert_ne!(recorded, run);
    let gate = |gate: &str, code: i32| {
        let ran = project
            .command_of(&["gate", "-v", &recorded, "--gate", gate])
            .output();
        Ran::of(&ran.unwrap()).exits(code);
    };
    gate("accuracy[category=multi_turn_base] >= 0.5", 0);
    gate("accuracy[category=multi_turn_base] >= 0.6", 1);
}

#[test]
fn a_run_can_be_judged_in_one_go() {
    let project = project();
    let arguments = "run bfcl.yaml --official --bfcl-bin ./bfcl";
    project.run(arguments).exits(2).says("--model-name");
    project
        .run(&format!("{arguments} --model-name m"))
        .exits(2)
        .says("pip install bfcl-eval==2026.3.23");
    assert!(project.runs().is_empty(), "no agent is asked before");
    project.script("bfcl", AGREES);
    project
        .run(&format!("{arguments} --model-name m"))
        .exits(0)
        .says("3 of 6 correct")
        .says("5 of 5 verdicts agree");
    project.script("bfcl", "#!/bin/sh\nexit 1\n");
    project
        .run(&format!("{arguments} --model-name m --json"))
        .exits(3)
        .says("it printed nothing");
}

/// With `EVALTEST_BFCL_BIN` the real program judges, on its own data.
#[needs(official_bfcl)]
#[test]
fn the_real_program_agrees() {
    let program = std::env::var_os("EVALTEST_BFCL_BIN").expect("EVALTEST_BFCL_BIN names a program");
    let program =
        fs::canonicalize(program).unwrap_or_else(|error| panic!("EVALTEST_BFCL_BIN: {error}"));
    let packages = program.parent().unwrap().parent().unwrap().join("lib");
    let data = walkdir::WalkDir::new(packages)
        .into_iter()
        .flatten()
        .map(walkdir::DirEntry::into_path)
        .find(|path| path.ends_with("bfcl_eval/data"))
        .expect("the package has its data");
    let project = Project::new();
    for category in ["simple_python", "irrelevance", "live_multiple"] {
        let entries = json_lines(&data.join(format!("BFCL_v4_{category}.json")));
        let answers = ["[f(x=1)]", "", "[f(x=", "I cannot."].into_iter().cycle();
        let lines: Vec<_> = entries[..20]
            .iter()
            .zip(answers)
            .map(|(entry, answer)| json!({"id": entry["id"], "result": answer}).to_string())
            .collect();
        let path = format!("there/result/m/BFCL_v4_{category}_result.json");
        project.write(&path, lines.join("\n"));
    }
    let data = data.display().to_string();
    let import = ["import", "--format", "bfcl", "there", "--data", &data];
    Ran::of(&project.command_of(&import).output().unwrap()).exits(0);
    let run = project.last_run().display().to_string();
    let program = program.display().to_string();
    let judge = [
        "bfcl",
        "official",
        &run,
        "--bfcl-bin",
        &program,
        "--model-name",
        "gpt-4o-2024-11-20",
    ];
    Ran::of(&project.command_of(&judge).output().unwrap())
        .exits(0)
        .says("60 of 60 verdicts agree");
}

#[test]
fn a_command_of_the_official_program_is_known_as_one() {
    let project = Project::new();
    project
        .run("bfcl models")
        .exits(2)
        .says("tip: `bfcl models` is a command of the official program");
    project.run("bfcl offical").exits(2).says("'official'");
}
