//! What a hostile agent asks the kernel for, in each kind of sandbox, as whoever runs the tests and, where that is root, as
//! a plain user, too.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::Command;

use needs::needs;
use serde_json::{Value, json};

use super::{TREASURE, server};
use crate::project::{Project, Ran};

/// Who is nobody on most systems.
pub(super) const PLAIN: u32 = 65_534;

/// Runs the hostile agent in a sandbox as each user; gives what it says of each sample.
fn attack(sandbox: &str, check: impl Fn(&str, &dyn Fn(&str) -> Value, &Project)) {
    let me = own_user();
    for plain in [false, true] {
        if plain && !(me == 0 && everybody_reaches(env!("CARGO_BIN_EXE_cargo-evaltest").as_ref())) {
            continue;
        }
        let who = if plain {
            "plain user"
        } else {
            "whoever runs this"
        };
        let (project, _guard) = project(sandbox);
        let ran = run(&project, plain.then_some(PLAIN));
        assert!(matches!(ran.code, Some(0 | 1)), "{who}: {ran:?}");
        let reply = |id: &str| {
            let text = super::answer(&project, id);
            serde_json::from_str(&text).unwrap_or_else(|_| panic!("{who}: {id}: {text}"))
        };
        check(who, &reply, &project);
    }
}

pub(super) fn own_user() -> u32 {
    std::fs::metadata("/proc/self").unwrap().uid()
}

/// Whether every user may come as far as a file: it does not lie in the home of root.
pub(super) fn everybody_reaches(file: &Path) -> bool {
    let mut folders = file.ancestors().skip(1);
    folders.all(|folder| {
        let data = std::fs::metadata(folder);
        data.is_ok_and(|data| data.permissions().mode() & 0o001 != 0)
    })
}

fn project(sandbox: &str) -> (Project, UnixListener) {
    let tries = [
        "calls",
        "rights",
        "descriptors",
        "others",
        "many-files",
        "written",
        "sockets",
        "looks",
        "terminal",
        "inherited",
    ];
    let questions: Vec<_> = tries
        .iter()
        .map(|id| (*id, 1, "Where?", TREASURE))
        .collect();
    let echo = format!("{{ type: echo, text: {TREASURE} }}");
    let project = Project::with_eval(&questions, &echo, "");
    project.run("run eval.yaml").exits(0);
    project.run("accept").exits(0);
    project.write("hostile.py", include_str!("hostile.py"));
    project.write("secret.txt", TREASURE);
    project.write("sub/tool.txt", "a tool");
    let listener = UnixListener::bind(project.file("socket")).unwrap();
    let (open, closed) = (server(), server());
    let ports = json!({ "open": open, "closed": closed, "abstract": abstract_name(&project) });
    project.write("ports.json", ports.to_string());
    let sandbox = sandbox.replace("OPEN", &open.to_string());
    project.spec(
        &format!("{{ type: command, command: [python3, hostile.py], sandbox: {sandbox} }}"),
        "limits: { timeout_s: 300 }\n",
    );
    (project, listener)
}

fn abstract_name(project: &Project) -> String {
    let name = format!("evaltest{}", project.path().display());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let listener = UnixListener::bind_addr(&address).unwrap();
    // As long as the tests run.
    std::thread::spawn(move || listener.incoming().for_each(drop));
    name
}

/// Runs the eval, with a file left open, perhaps as another user.
fn run(project: &Project, user: Option<u32>) -> Ran {
    let plain = project.command("run eval.yaml");
    let mut command = Command::new("sh");
    command.args(["-c", "exec 9<secret.txt; exec \"$@\"", "sh"]);
    if let Some(user) = user {
        give(project.path(), user);
        let [user, group] = ["--reuid", "--regid"].map(|option| format!("{option}={user}"));
        command.args(["setpriv", &user, &group, "--clear-groups"]);
    }
    command.arg(plain.get_program()).args(plain.get_args());
    command.current_dir(project.path());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("HOME", project.path());
    Ran::of(&command.output().unwrap())
}

pub(crate) fn give(path: &Path, user: u32) {
    chown(path, Some(user), Some(user)).unwrap();
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path(), user);
        }
    }
}

/// What is the same in every sandbox.
fn check_all(who: &str, reply: &dyn Fn(&str) -> Value, project: &Project) {
    let calls = reply("calls");
    for (call, came) in calls.as_object().unwrap() {
        assert_eq!(came, "ENOSYS", "{who}: {call}");
    }
    assert!(calls.as_object().unwrap().len() > 20);
    let rights = reply("rights");
    assert_eq!(
        rights,
        json!({ "CapEff": 0, "NoNewPrivs": 1, "Seccomp": 2 }),
        "{who}"
    );
    assert_eq!(reply("descriptors"), json!([0, 1, 2]), "{who}");
    assert_eq!(reply("inherited"), "EBADF", "{who}");
    assert_eq!(reply("terminal"), "EPERM", "{who}");
    let listing = reply("looks");
    assert!(!listing.to_string().contains(TREASURE), "{who}: {listing}");
    assert!(!listing.to_string().contains(".snap"), "{who}: {listing}");
    assert!(
        !listing.to_string().contains("manifest"),
        "{who}: {listing}"
    );
    assert_eq!(listing["sub/tool.txt"], "a tool", "{who}");
    let written = reply("written");
    for (what, came) in written.as_object().unwrap() {
        let may = what.ends_with("/scratch/written.1") || what == "/tmp" || what == "/dev/shm";
        // In memory, where bubblewrap makes the folder; nothing of it is left.
        let is_elsewhere = *what == project.path().display().to_string();
        let is_quiet = what == "chmod";
        if !may && !is_elsewhere && !is_quiet {
            assert_ne!(came, "done", "{who}: {what}");
        }
    }
    assert!(!project.file("it-was-here").exists(), "{who}");
    assert_eq!(project.read("secret.txt"), TREASURE, "{who}");
    let mode = std::fs::metadata(project.file("secret.txt")).unwrap();
    assert_ne!(mode.permissions().mode() & 0o777, 0o777, "{who}");
    let sockets = reply("sockets");
    for family in ["vsock", "alg"] {
        assert_eq!(sockets[family], "EAFNOSUPPORT", "{who}: {family}");
    }
    for way in ["closed", "abstract", "path", "mptcp", "fast"] {
        assert_ne!(sockets[way], "done", "{who}: {way}");
    }
    assert_eq!(sockets["open"], "done", "{who}");
    // Of its own processes, which are in the sandbox with it, it may read more.
    assert_eq!(
        reply("others")["read"]["cwd/data.jsonl"],
        json!([]),
        "{who}"
    );
}

#[needs(bwrap, python3)]
#[test]
fn no_call_of_the_kernel_leads_out_of_bubblewrap() {
    let sandbox =
        "{ type: bwrap, network: { loopback: [OPEN] }, read: [sub, ports.json], disk_mb: 8 }";
    attack(sandbox, |who, reply, project| {
        check_all(who, reply, project);
        let others = reply("others");
        assert!(others["seen"].as_u64().unwrap() < 8, "{who}: {others}");
        for place in reply("many-files").as_array().unwrap() {
            assert_eq!(place[1], "ENOSPC", "{who}: {place}");
            assert!(place[0].as_u64().unwrap() < 2100, "{who}: {place}");
        }
        assert_eq!(project.last_json("manifest.json")["sandbox"], "bwrap");
    });
}

#[needs(landlock, python3)]
#[test]
fn no_call_of_the_kernel_leads_out_of_landlock() {
    let sandbox = "{ type: landlock, network: { loopback: [OPEN] }, read: [sub, ports.json] }";
    attack(sandbox, |who, reply, project| {
        check_all(who, reply, project);
        let others = reply("others");
        for (file, pids) in others["read"].as_object().unwrap() {
            assert_eq!(*pids, json!([]), "{who}: {file}");
        }
        assert_eq!(others["signals"], json!([]), "{who}");
        assert_eq!(others["limits"], json!([]), "{who}");
        let written = reply("written");
        for place in ["/tmp", "/dev/shm", &*project.path().display().to_string()] {
            assert_eq!(written[place], "EACCES", "{who}: {place}");
        }
        let sockets = reply("sockets");
        assert_eq!(sockets["udp"], "EAFNOSUPPORT", "{who}");
        assert_eq!(sockets["closed"], "EACCES", "{who}");
        assert_eq!(sockets["listening"], "EACCES", "{who}");
        assert_eq!(project.last_json("manifest.json")["sandbox"], "landlock");
    });
}

#[needs(landlock, python3)]
#[test]
fn without_a_network_landlock_leaves_no_socket() {
    attack(
        "{ type: landlock, network: off, read: [sub, ports.json] }",
        |who, reply, _| {
            for (way, came) in reply("sockets").as_object().unwrap() {
                assert_eq!(came, "EAFNOSUPPORT", "{who}: {way}");
            }
        },
    );
}

#[needs(landlock, python3)]
#[test]
fn with_the_network_landlock_keeps_from_sockets_of_this_machine_that_are_no_ports() {
    attack(
        "{ type: landlock, read: [sub, ports.json] }",
        |who, reply, _| {
            let sockets = reply("sockets");
            for way in ["open", "closed", "listening", "udp"] {
                assert_eq!(sockets[way], "done", "{who}: {way}");
            }
            for way in ["abstract", "path", "vsock"] {
                assert_eq!(sockets[way], "EAFNOSUPPORT", "{who}: {way}");
            }
        },
    );
}
