//! Which sandbox is used, and how the run says so.

use std::path::Path;
use std::process::Command;

use needs::needs;

use super::{TREASURE, answer};
use crate::project::{Project, Ran};

/// What says what it finds of the answer, and writes as programs do.
const LISTING_SCRIPT: &str =
    "#!/bin/sh\nexec 2>&1\ncat data.jsonl\necho here > $TMPDIR/x && cat $TMPDIR/x\ncat $FILE\n";

fn project(agent: &str) -> Project {
    let questions = [("a", 1, "Where?", TREASURE)];
    let project = Project::with_eval(&questions, agent, "");
    project.script("agent.sh", LISTING_SCRIPT);
    project
}

/// A folder of programs without bubblewrap, as there are systems.
fn programs(project: &Project) -> std::path::PathBuf {
    let folder = project.file("bin");
    std::fs::create_dir(&folder).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    for program in ["cat", "sh"] {
        let mut places = std::env::split_paths(&path).map(|place| place.join(program));
        if let Some(place) = places.find(|place| place.is_file()) {
            std::os::unix::fs::symlink(place, folder.join(program)).unwrap();
        }
    }
    folder
}

/// Keeps Landlock from whatever is run: a kernel that has none.
const NO_LANDLOCK: &str = r"
import ctypes, os, struct, sys
rules = struct.pack('HBBIHBBIHBBIHBBI', 0x20, 0, 0, 0, 0x15, 0, 1, 444, 0x06, 0, 0, 0x50026, 0x06, 0, 0, 0x7FFF0000)
held = ctypes.create_string_buffer(rules)
class Program(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('rules', ctypes.c_void_p)]
program = Program(4, ctypes.cast(held, ctypes.c_void_p))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(program)) == 0
os.environ['PATH'] = sys.argv[1]
os.execv(sys.argv[2], sys.argv[2:])
";

fn without(project: &Project, bwrap: bool, landlock: bool) -> Ran {
    let plain = project.command("run eval.yaml");
    let path = if bwrap {
        std::env::var_os("PATH").unwrap()
    } else {
        programs(project).into_os_string()
    };
    let mut command;
    if landlock {
        command = Command::new(plain.get_program());
        command.env("PATH", path);
    } else {
        // It may need more than what it starts is to find.
        command = Command::new("python3");
        command.args(["-c", NO_LANDLOCK]).arg(path);
        command.arg(plain.get_program());
    }
    command.args(plain.get_args()).current_dir(project.path());
    crate::project::without_surroundings(&mut command);
    Ran::of(&command.output().unwrap())
}

#[needs(bwrap)]
#[test]
fn bubblewrap_is_used_where_it_works() {
    for kind in ["auto", "auto?", "{ type: auto }"] {
        let project = project(&format!(
            "{{ type: command, command: [./agent.sh], sandbox: {kind} }}"
        ));
        project.run("run eval.yaml");
        assert_eq!(project.last_json("manifest.json")["sandbox"], "bwrap");
        assert!(!answer(&project, "a").contains(TREASURE));
    }
}

#[needs(bwrap)]
#[test]
fn where_files_cannot_be_counted_it_is_told() {
    let project = project("{ type: command, command: [./agent.sh], sandbox: bwrap }");
    let mut command = project.command("run eval.yaml");
    // Nowhere to mount anything.
    command.env("TMPDIR", project.file("gone"));
    Ran::of(&command.output().unwrap()).says("nothing limits how many files it makes");
    assert_eq!(project.last_json("manifest.json")["sandbox"], "bwrap");
    assert!(!answer(&project, "a").contains(TREASURE));
}

#[needs(landlock)]
#[test]
fn landlock_is_used_where_bubblewrap_does_not_work() {
    for kind in ["auto", "'auto?'", "{ type: 'auto?', disk_mb: 9 }"] {
        let project = project(&format!(
            "{{ type: command, command: [./agent.sh], sandbox: {kind} }}"
        ));
        let ran = without(&project, false, true);
        let ran = ran.says("bubblewrap does not work here, so Landlock confines the agent");
        if kind.contains("disk_mb") {
            ran.says("Landlock does not enforce `disk_mb`");
        }
        assert_eq!(project.last_json("manifest.json")["sandbox"], "landlock");
        let reply = answer(&project, "a");
        assert!(
            !reply.contains(TREASURE) && reply.contains("here"),
            "{reply}"
        );
    }
}

#[needs(python3)]
#[test]
fn where_nothing_works_it_is_an_error_or_a_notice() {
    let project = project("{ type: command, command: [./agent.sh], sandbox: auto }");
    without(&project, false, false)
        .exits(2)
        .says("no sandbox works here")
        .says("`bwrap` is not in `PATH`")
        .says("Landlock")
        .says("`sandbox: auto?`");
    assert!(project.runs().is_empty());
    for kind in ["command", "worker"] {
        let project = self::project(&format!(
            "{{ type: {kind}, command: [sh, -c, cat data.jsonl], sandbox: 'auto?' }}"
        ));
        without(&project, false, false).says("no sandbox works here, so the agent runs without");
        let manifest = project.last_json("manifest.json");
        assert_eq!(manifest["sandbox"], "none");
        if kind == "command" {
            assert!(answer(&project, "a").contains(TREASURE));
        }
    }
}

#[test]
fn a_run_without_a_sandbox_says_nothing_of_one() {
    let project = project("{ type: echo }");
    project.run("run eval.yaml");
    let manifest = project.last_json("manifest.json");
    assert!(manifest.get("sandbox").is_none());
}

#[needs(landlock)]
#[test]
fn doctor_names_the_sandbox() {
    let project = project("{ type: command, command: [./agent.sh], sandbox: landlock }");
    project.run("doctor eval.yaml").says("sandbox: landlock");
}

#[needs(landlock)]
#[test]
fn a_limit_that_landlock_cannot_keep_is_refused() {
    let project = project(
        "{ type: command, command: [./agent.sh], sandbox: { type: landlock, disk_mb: 9 } }",
    );
    project
        .run("run eval.yaml")
        .exits(2)
        .says("Landlock cannot limit disk space")
        .says("eval.yaml:4:");
}

#[needs(landlock, bash)]
#[test]
fn a_worker_in_landlock_has_its_files_and_a_home_of_its_own() {
    let script = r#"#!/bin/bash
while read -r line; do
    id=${line#*'"id":"'}; id=${id%%'"'*}
    file=${line#*'"path":"'}; file=${file%%'"'*}
    { cat "$file"; cat data.jsonl; echo x > $HOME/x && cat $TMPDIR/x; } > $TMPDIR/said 2>&1
    printf '{"id":"%s","answer":"%s"}\n' "$id" "$(tr '\n"\\' '   ' < $TMPDIR/said)"
done
"#;
    let project = Project::new();
    project.script("worker.sh", script);
    project.write("box.txt", "7 apples\n");
    let row = format!(
        "{{\"task_id\":\"a\",\"Question\":\"?\",\"Level\":1,\"Final answer\":\"{TREASURE}\",\"file_name\":\"box.txt\"}}\n"
    );
    project.write("data.jsonl", row);
    project.spec(
        "{ type: worker, command: [./worker.sh], sandbox: landlock }",
        "",
    );
    project.run("run eval.yaml").exits(0);
    let reply = answer(&project, "a");
    assert!(reply.starts_with("7 apples"), "{reply}");
    assert!(reply.ends_with('x'), "{reply}");
    assert!(!reply.contains(TREASURE), "{reply}");
    assert!(Path::new(&project.file("box.txt")).exists());
}

/// An agent of ACP: reads the file of its task and what it should not see, and writes into the folder of its session.
const ACP: &str = r#"#!/bin/bash
reply() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while read -r line; do
    id=${line#*'"id":'}; id=${id%%,*}
    case $line in
    *'"method":"initialize"'*) reply '{"protocolVersion":1,"agentCapabilities":{}}' ;;
    *'"method":"session/new"'*)
        folder=${line#*'"cwd":"'}; folder=${folder%%'"'*}
        reply '{"sessionId":"s"}' ;;
    *'"method":"session/prompt"'*)
        file=${line#*'"uri":"file://'}; file=${file%%'"'*}
        { cat "$file"; cat data.jsonl; echo x > "$folder/x" && cat "$folder/x"; } > "$folder/out" 2>&1
        text=$(tr '\n"\\' '   ' < "$folder/out")
        printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}\n' "$text"
        reply '{"stopReason":"end_turn"}' ;;
    *) reply '{}' ;;
    esac
done
"#;

fn an_acp_agent_works_in(sandbox: &str) {
    let project = Project::new();
    project.script("acp.sh", ACP);
    project.write("box.txt", "7 apples\n");
    let row = format!(
        "{{\"task_id\":\"a\",\"Question\":\"?\",\"Level\":1,\"Final answer\":\"{TREASURE}\",\"file_name\":\"box.txt\"}}\n"
    );
    project.write("data.jsonl", row);
    let agent = format!("{{ type: acp, command: [./acp.sh], sandbox: {sandbox} }}");
    project.spec(&agent, "");
    project.run("run eval.yaml").exits(0);
    assert_eq!(project.last_json("manifest.json")["sandbox"], sandbox);
    let reply = answer(&project, "a");
    assert!(reply.contains("7 apples"), "{reply}");
    assert!(reply.trim_end().ends_with('x'), "{reply}");
    assert!(!reply.contains(TREASURE), "{reply}");
}

#[needs(landlock, bash)]
#[test]
fn an_acp_agent_works_in_landlock() {
    an_acp_agent_works_in("landlock");
}

#[needs(bwrap, bash)]
#[test]
fn an_acp_agent_works_in_bubblewrap() {
    an_acp_agent_works_in("bwrap");
}
