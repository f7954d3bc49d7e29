//! The workflow that `init --ci` writes runs as written: each of its steps, in a fresh project, by a shell.

use std::fs;
use std::path::Path;
use std::process::Command;

use needs::needs;
use serde_json::json;
use serde_yaml::Value;

use crate::project::{Project, Ran, root, without_surroundings};

/// The steps of a workflow of GitHub, by their scripts.
fn steps(project: &Project) -> Vec<String> {
    let text = project.read(".github/workflows/evaltest.yml");
    let workflow: Value = serde_yaml::from_str(&text).unwrap();
    let steps = workflow["jobs"]["evaltest"]["steps"].as_sequence().unwrap();
    let script = |step: &Value| step["run"].as_str().map(str::to_owned);
    steps.iter().filter_map(script).collect()
}

/// Runs a script as a runner does, with the command already installed.
pub(super) fn runner(project: &Project, script: &str) -> Ran {
    let bin = project.file("bin");
    if !bin.exists() {
        fs::create_dir_all(&bin).unwrap();
        let program = env!("CARGO_BIN_EXE_cargo-evaltest");
        std::os::unix::fs::symlink(program, bin.join("cargo-evaltest")).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    let mut command = Command::new("sh");
    command
        .args(["-e", "-c", script])
        .current_dir(project.path());
    without_surroundings(&mut command);
    command
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", project.file("step-summary.md"))
        .env("CI", "true");
    Ran::of(&command.output().unwrap())
}

/// What builds and installs for minutes; the test has the program.
fn installs(script: &str) -> bool {
    script.starts_with("rustup ") || script.starts_with("cargo +stable install ")
}

#[test]
fn on_github_its_steps_run_and_the_committed_baseline_decides() {
    let project = Project::new();
    project
        .run("init --ci github --from path")
        .exits(0)
        .says("created  .github/workflows/evaltest.yml");
    let steps = steps(&project);
    let folder = root().join("cargo-evaltest");
    let install = format!("cargo +stable install --locked --path {}", folder.display());
    assert!(steps.iter().any(|step| step.trim() == install), "{steps:?}");
    let run = |code: i32| {
        let evaluates = |step: &&String| step.starts_with("cargo evaltest run ");
        let scripts: Vec<_> = steps.iter().filter(evaluates).collect();
        assert_eq!(scripts.len(), 1, "{steps:?}");
        runner(&project, scripts[0]).exits(code);
        project.read("step-summary.md")
    };
    let summary = run(0);
    assert!(summary.contains("example"), "{summary}");
    // A gate that compares with a baseline that nobody committed, then one that somebody did.
    let spec = project.read("evals/example.yaml");
    let spec = spec.replace("  # - no_regression", "  - no_regression");
    project.write("evals/example.yaml", &spec);
    run(1);
    project.run("run").exits(0);
    project.run("accept").exits(0);
    run(0);
    project.write(
        "evals/example.yaml",
        spec.replace("agent: { type: demo }", "agent: { type: echo }"),
    );
    run(1);
    // What the workflow keeps is there.
    let exists = |name: &str| project.last_run().join(name).is_file();
    assert!(exists("summary.json") && exists("summary.md"));
    assert!(exists("../junit.xml") && exists("../comment.md"));
}

/// The steps of a job that `init --ci github` writes, by the name of one of them.
fn script_of(project: &Project, job: &str, name: &str) -> String {
    let text = project.read(".github/workflows/evaltest.yml");
    let workflow: Value = serde_yaml::from_str(&text).unwrap();
    let steps = workflow["jobs"][job]["steps"].as_sequence().unwrap();
    let found = steps
        .iter()
        .find(|step| step["name"].as_str() == Some(name));
    found.unwrap()["run"].as_str().unwrap().to_owned()
}

#[needs(git)]
#[test]
fn on_the_main_branch_a_patch_has_what_the_baseline_would_be() {
    let project = Project::new();
    project.run("init --ci github --from path").exits(0);
    let shell = |script: &str| runner(&project, script);
    let baseline = script_of(&project, "evaltest", "Baseline");
    shell("git init -q && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m a")
        .exits(0);
    // Nothing ran: there is nothing to accept, and the step does not hide why.
    shell(&baseline).exits(0);
    project.run("run").exits(0);
    shell(&baseline).exits(0);
    fs::remove_dir_all(project.file("evals/snapshots")).unwrap();
    shell("git reset -q && git apply evaltest-runs/baseline.patch").exits(0);
    project.run("run").exits(0);
    project
        .run("gate --gate no_regression")
        .exits(0)
        .says("✓ no_regression");
}

#[needs(git)]
#[test]
fn on_the_main_branch_a_run_is_a_line_that_another_job_commits() {
    let project = Project::new();
    project.run("init --ci github --from path").exits(0);
    let [evaluate, history, baseline] =
        ["Evaluate", "History", "Baseline"].map(|step| script_of(&project, "evaltest", step));
    let commit = script_of(&project, "history", "Commit");
    let identity = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b\n";
    let shell = |script: &str| runner(&project, &format!("{identity}{script}")).exits(0);
    project.write(".gitignore", "bin\n*.git\nother\nmain\n");
    shell(
        "git init -q -b main && git add . && git commit -qm a && git clone -q --bare . origin.git",
    );
    let patch = |run: &str| {
        shell(run);
        shell(&history);
        project.read("evaltest-runs/history.patch")
    };
    // A pull request adds none.
    assert_eq!(patch(&evaluate), "");
    let first = patch(&format!("HISTORY=yes\n{evaluate}"));
    assert!(first.contains("+{\"format_version\":2,"), "{first}");
    // What would be accepted is no part of it.
    shell(&baseline);
    assert_eq!(project.read("evaltest-runs/history.patch"), first);
    // A runner has a checkout of the commit, and two of them are at it.
    let checkout = |folder: &str| {
        shell(&format!(
            "git clone -q origin.git {folder} && mkdir -p {folder}-tmp/evaltest"
        ));
    };
    let push = |folder: &str, patch: &str| {
        project.write(&format!("{folder}-tmp/evaltest/history.patch"), patch);
        shell(&format!(
            "RUNNER_TEMP=$PWD/{folder}-tmp; cd {folder}\n{commit}"
        ));
    };
    checkout("main");
    checkout("other");
    push("other", &of_another_run(&first));
    push("main", &first);
    checkout("after");
    let lines = project.read("after/evals/snapshots/example/history.jsonl");
    assert_eq!(lines.lines().count(), 2, "{lines}");
    let log = shell("git -C after log --format=%s").out;
    assert_eq!(
        log.matches("Add a run to the eval history [skip ci]")
            .count(),
        2,
        "{log}"
    );
    // Nothing is committed where there is nothing new.
    push("after", "");
    // Once it is there, the acceptance is merged with what came since.
    shell(
        "git -C after pull -q && git reset -q --hard && git clean -qfd -e bin -e evaltest-runs && git pull -q origin.git main",
    );
    shell("git apply --3way evaltest-runs/baseline.patch");
    let lines = project.read("evals/snapshots/example/history.jsonl");
    assert!(
        lines.contains("\"kind\":\"accept\"") && !lines.contains("<<<"),
        "{lines}"
    );
}

/// The patch with the line of another run, as a version wrote it that had no checksums.
fn of_another_run(patch: &str) -> String {
    let mut other = String::new();
    for line in patch.lines() {
        if let Some(line) = line.strip_prefix('+').filter(|line| line.starts_with('{')) {
            let mut members: serde_json::Value = serde_json::from_str(line).unwrap();
            members["format_version"] = 1.into();
            members["id"] = "other".into();
            members
                .as_object_mut()
                .unwrap()
                .shift_remove("sum")
                .unwrap();
            other += "+";
            other += &members.to_string();
        } else {
            other += line;
        }
        other.push('\n');
    }
    other
}

/// A line of a history.
const LINE: &str =
    r#"{"format_version":1,"kind":"run","id":"a","eval":"e","time":"2026-01-01T00:00:00Z"}"#;

/// A patch that adds a line to a new file.
fn adds(path: &str, mode: &str, line: &str) -> String {
    format!(
        "diff --git a/{path} b/{path}\nnew file mode {mode}\nindex 0000000..1111111\n--- /dev/null\n+++ b/{path}\n\
         @@ -0,0 +1 @@\n+{line}\n"
    )
}

/// The script of the job that may write, in a fresh project with the bare repository `origin.git`.
fn with_origin(ci: &str) -> (Project, String) {
    let project = Project::new();
    project.run(&format!("init --ci {ci} --from path")).exits(0);
    let script = if ci == "github" {
        script_of(&project, "history", "Commit")
    } else {
        let text = project.read(".gitlab-ci.yml");
        let jobs: Value = serde_yaml::from_str(&text).unwrap();
        let script = jobs["evaltest-history"]["script"].as_sequence().unwrap();
        let lines = script.iter().map(|line| line.as_str().unwrap());
        let lines: Vec<_> = lines.filter(|line| !installs(line)).collect();
        assert_eq!(lines[0], "cd /");
        lines.join("\n")
    };
    project.write(".gitignore", "bin\n*.git\nwork\ntemp\n");
    let start = "git init -q -b main && git add . && git -c user.name=a -c user.email=a@b commit -qm a
        git clone -q --bare . origin.git && git -C origin.git config receive.advertisePushOptions true";
    runner(&project, start).exits(0);
    (project, script)
}

#[needs(git)]
#[test]
fn the_job_that_may_write_takes_lines_of_histories_and_nothing_else() {
    for ci in ["github", "gitlab"] {
        let (project, script) = with_origin(ci);
        let git = |arguments: &str| {
            let ran = runner(&project, &format!("git -C origin.git {arguments}"));
            ran.exits(0).out.clone()
        };
        let push = |patch: &str| {
            // An agent that was turned against its user may have left hooks where git looks for them.
            let fresh = "rm -rf work temp; git clone -q origin.git work; mkdir -p temp/evaltest work/evaltest-runs
                printf '#!/bin/sh\\nexit 1\\n' > work/.git/hooks/pre-commit; chmod +x work/.git/hooks/pre-commit";
            runner(&project, fresh).exits(0);
            project.write("temp/evaltest/history.patch", patch);
            project.write("work/evaltest-runs/history.patch", patch);
            let variables = "export RUNNER_TEMP=$PWD/temp CI_PROJECT_DIR=$PWD/work CI_SERVER_PROTOCOL=file \
                CI_REPOSITORY_URL=x@$PWD/origin.git CI_DEFAULT_BRANCH=main EVALTEST_PUSH_TOKEN=t TMPDIR=$PWD/temp";
            runner(&project, &format!("{variables}\ncd work\n{script}"))
        };
        let name = "evals/snapshots/e/history.jsonl";
        let good = adds(name, "100644", LINE);
        let before = git("rev-parse main");
        for hostile in [
            adds(".git/config", "100644", "[core]"),
            adds(".github/workflows/evaltest.yml", "100644", "on: push"),
            adds(name, "120000", "/etc/passwd"),
            adds("../history.jsonl", "100644", LINE),
            adds("src/main.rs", "100644", LINE),
            adds(name, "100644", "fn main() {}"),
        ] {
            for patch in [hostile.clone(), format!("{good}{hostile}")] {
                push(&patch).exits(2).says("nothing was written");
                assert_eq!(git("rev-parse main"), before, "{ci}: {patch}");
                assert!(!project.file("work/evals/snapshots/e").exists());
            }
        }
        push(&good).exits(0);
        assert_eq!(
            git("diff --name-only main~1 main")
                .lines()
                .collect::<Vec<_>>(),
            ["evals/snapshots/e/.gitattributes", name]
        );
        assert_eq!(git(&format!("show main:{name}")), format!("{LINE}\n"));
        // A line that is there, and a run without one.
        let after = git("rev-parse main");
        push(&good).exits(0);
        push("").exits(0);
        assert_eq!(git("rev-parse main"), after);
    }
}

#[needs(jq)]
#[test]
fn a_comment_is_written_once_and_then_anew() {
    let project = Project::new();
    project.run("init --ci github --from path").exits(0);
    project.run("run --pr-comment comment.md").exits(0);
    let script = script_of(&project, "comment", "Comment");
    project.script(
        "bin/gh",
        "#!/bin/sh\ncase \"$*\" in *--paginate*) cat comments.json;; *) echo \"$*\" >> gh.log;; esac\n",
    );
    let program = env!("CARGO_BIN_EXE_cargo-evaltest");
    std::os::unix::fs::symlink(program, project.file("bin/cargo-evaltest")).unwrap();
    let ours = project.read("comment.md");
    let comment =
        |kind: &str, id: u32, body: &str| json!({"id": id, "user": {"type": kind}, "body": body});
    let others = json!([comment("Bot", 1, "x"), comment("User", 2, &ours)]);
    for (comments, expect) in [
        (
            json!([]),
            "api --silent --method POST repos/o/r/issues/7/comments --field body=@comment.md",
        ),
        (
            others,
            "api --silent --method POST repos/o/r/issues/7/comments --field body=@comment.md",
        ),
        (
            json!([comment("Bot", 3, &ours), comment("Bot", 4, &ours)]),
            "api --silent --method PATCH repos/o/r/issues/comments/3 --field body=@comment.md",
        ),
    ] {
        project.write("comments.json", comments.to_string());
        let _ = fs::remove_file(project.file("gh.log"));
        runner(
            &project,
            &format!("GITHUB_REPOSITORY=o/r; PULL=7\n{script}"),
        )
        .exits(0);
        assert_eq!(project.read("gh.log").trim(), expect);
    }
}

#[test]
fn on_gitlab_its_script_runs_and_a_file_that_is_there_stays() {
    let project = Project::new();
    project
        .run("init --ci gitlab --from path")
        .exits(0)
        .says("created  .gitlab-ci.yml");
    let text = project.read(".gitlab-ci.yml");
    let whole: Value = serde_yaml::from_str(&text).unwrap();
    let job = &whole["evaltest"];
    let scripts = |key: &str| {
        let lines = job[key].as_sequence().unwrap().iter();
        lines
            .map(|line| line.as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert!(installs(&scripts("script")[0]), "{text}");
    for script in scripts("script").iter().filter(|step| !installs(step)) {
        runner(&project, script)
            .exits(0)
            .says("example: 5 of 6 correct");
    }
    for script in scripts("after_script") {
        runner(&project, &script).exits(0).says("example");
    }
    for path in job["artifacts"]["paths"].as_sequence().unwrap() {
        let path = path.as_str().unwrap();
        if path.ends_with("baseline.patch") || path.ends_with("history.patch") {
            // Of the default branch.
            continue;
        }
        runner(&project, &format!("ls {path}")).exits(0);
    }
    // Once more changes nothing; beside one of the user's own it is a part.
    project
        .run("init --ci gitlab --from path")
        .exits(0)
        .says("kept     .gitlab-ci.yml");
    let own = "build:\n  script: [make]\n";
    project.write(".gitlab-ci.yml", own);
    project
        .run("init --ci gitlab --from path")
        .exits(0)
        .says("created  .gitlab/evaltest.yml")
        .says("add to .gitlab-ci.yml: include: [{ local: .gitlab/evaltest.yml }]");
    assert_eq!(project.read(".gitlab-ci.yml"), own);
    assert_eq!(project.read(".gitlab/evaltest.yml"), text);
    let included = format!("include: [{{ local: .gitlab/evaltest.yml }}]\n{own}");
    project.write(".gitlab-ci.yml", included);
    project
        .run("init --ci gitlab --from path")
        .exits(0)
        .says_nothing_of("add to");
}

#[test]
fn a_name_that_nobody_published_is_not_written() {
    let project = Project::new();
    for from in ["registry", "wheel"] {
        project
            .run(&format!("init --ci github --from {from}"))
            .exits(2)
            .says(&format!("`--from {from}` would not install this program"));
        assert!(!project.file("evals").exists());
    }
    project.run("init --ci github").exits(0);
    let text = project.read(".github/workflows/evaltest.yml");
    let install = text
        .lines()
        .find(|line| line.contains("cargo +stable install "));
    let install = install.unwrap();
    assert!(
        install.contains(" --path ") || install.contains(" --git "),
        "{install}"
    );
}

/// Every file below the project but its own copy of the program that names this checkout.
#[test]
fn a_path_of_this_machine_is_never_written_without_saying_so() {
    let project = Project::new();
    let manifest = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let inline = format!("{manifest}\n[dev-dependencies]\n# mine\nlibc = \"1\"\n");
    for manifest in [
        manifest,
        &inline,
        &format!("dev-dependencies = {{ }}\n{manifest}"),
    ] {
        project.write("Cargo.toml", manifest);
        project.write("src/lib.rs", "");
        for ci in ["github", "gitlab"] {
            project
                .run(&format!("init --name example --ci {ci} --from path"))
                .exits(0);
        }
        let here = root().display().to_string();
        let mut named = 0;
        for file in crate::project::all_files(project.path()) {
            let text = fs::read_to_string(&file).unwrap();
            let lines: Vec<_> = text.lines().collect();
            for place in (0..lines.len()).filter(|&place| lines[place].contains(&here)) {
                let before = &lines[place.saturating_sub(4)..place];
                assert!(
                    before
                        .iter()
                        .any(|line| line.contains("# This path exists only on the machine")),
                    "{}: {text}",
                    file.display()
                );
                named += 1;
            }
        }
        assert_eq!(named, 5);
        let metadata = project.cargo("metadata --no-deps --format-version 1");
        metadata.exits(0);
        fs::remove_file(project.file("Cargo.toml")).unwrap();
    }
}

#[test]
fn the_action_runs_what_it_says() {
    let text = fs::read_to_string(root().join(".github/actions/evaltest/action.yml")).unwrap();
    let action: Value = serde_yaml::from_str(&text).unwrap();
    assert_eq!(action["runs"]["using"].as_str(), Some("composite"));
    let steps = action["runs"]["steps"].as_sequence().unwrap();
    let script = |name: &str| {
        let step = steps
            .iter()
            .find(|step| step["name"].as_str() == Some(name));
        step.unwrap()["run"].as_str().unwrap().to_owned()
    };
    let project = Project::new();
    project.run("init").exits(0);
    let run = |arguments: &str, code: i32| {
        let variables = format!(
            "EVALTEST_ARGS={arguments}; GITHUB_OUTPUT={}; RUNNER_TEMP={}; ",
            Path::new("/dev/null").display(),
            project.path().display(),
        );
        runner(&project, &(variables + &script("Evaluate"))).exits(code)
    };
    run("run", 0).says("example: 5 of 6 correct");
    run("'run --agent echo'", 1);
    // What is typed is not a pattern.
    project.write("a.txt", "");
    run("'run *.txt'", 2).says("*.txt");
    assert!(project.read("step-summary.md").contains("example"));
    // Each way to install is one of `init`.
    let install = script("Install");
    for from in ["path", "git", "registry", "wheel"] {
        assert!(install.contains(&format!("{from})")), "{from}");
    }
    let refused = runner(&project, &format!("FROM=somewhere; {install}"));
    refused.exits(2).says("path, git, registry or wheel");
    // It is built with the stable toolchain, outside the checkout.
    let log = project.file("log");
    for program in ["cargo", "rustup"] {
        let line = format!(
            "#!/bin/sh\necho \"$PWD {program} $*\" >> {}\n",
            log.display()
        );
        project.script(&format!("bin/{program}"), &line);
    }
    fs::create_dir_all(project.file("temp")).unwrap();
    for from in ["path", "git", "registry"] {
        let _ = fs::remove_file(&log);
        let temp = project.file("temp");
        let variables = format!(
            "FROM={from}; RUNNER_TEMP={}; ACTION=/a; REPOSITORY=r; VERSION=; ",
            temp.display()
        );
        runner(&project, &(variables + &install)).exits(0);
        let log = project.read("log");
        assert!(log.contains("rustup toolchain install stable "), "{log}");
        assert!(log.contains("/temp cargo +stable install "), "{log}");
    }
}
