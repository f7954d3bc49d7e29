//! Looks at what this machine has, once per `PATH`: cargo builds the tests anew with another one.
//!
//! Each need is an environment variable of the compiler, `NEEDS_PYTHON3`: empty if it is met, else the reason why a test
//! that has it is ignored.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

/// A need, and the command that succeeds where it is met. What only looks at the program asks for its version.
const PROBES: &[(&str, &[&str])] = &[
    ("bash", &["bash", "--version"]),
    ("browser", &["chromium-headless-shell", "--version"]),
    ("git", &["git", "--version"]),
    (
        "inspect_ai",
        &[
            "python3",
            "-c",
            "import importlib.metadata as m; m.version('inspect_ai')",
        ],
    ),
    ("jq", &["jq", "--version"]),
    ("node", &["node", "--version"]),
    (
        "opentelemetry_proto",
        &[
            "python3",
            "-c",
            "import importlib.metadata as m; m.version('opentelemetry-proto')",
        ],
    ),
    (
        "pyarrow",
        &[
            "python3",
            "-c",
            "import importlib.metadata as m; m.version('pyarrow')",
        ],
    ),
    ("pgrep", &["pgrep", "--version"]),
    ("python3", &["python3", "--version"]),
    ("setsid", &["setsid", "true"]),
    // Who is root may be another user.
    (
        "setpriv",
        &[
            "setpriv",
            "--reuid=61723",
            "--regid=61723",
            "--clear-groups",
            "true",
        ],
    ),
    ("timeout", &["timeout", "1", "true"]),
    ("nextest", &["cargo-nextest", "nextest", "--version"]),
    // It is there on many systems that do not let it make sandboxes.
    (
        "bwrap",
        &[
            "bwrap",
            "--ro-bind",
            "/",
            "/",
            "--unshare-pid",
            "--unshare-net",
            "true",
        ],
    ),
    // Linux 6.12 or newer, with Landlock on.
    (
        "landlock",
        &[
            "python3",
            "-c",
            "import ctypes, sys; sys.exit(ctypes.CDLL(None).syscall(444, None, 0, 1) < 6)",
        ],
    ),
    // A file system of a few kilobytes, which a namespace of one's own may mount.
    (
        "small_disk",
        &[
            "unshare",
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            "mount -t tmpfs -o size=64k none /tmp",
        ],
    ),
    // A clone, and no unpacked archive.
    ("clone", &["git", "ls-files", "--error-unmatch", "build.rs"]),
];

/// Why a probe does not succeed, in a line; empty if it does.
fn reason(need: &str, command: &[&str]) -> String {
    let program = command[0];
    let ran = Command::new(program)
        .args(&command[1..])
        .stdin(Stdio::null())
        .output();
    match ran {
        Ok(output) if output.status.success() => String::new(),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.trim().lines().next().unwrap_or_default();
            let what = match need {
                "landlock" => "Landlock is off here, or older than Linux 6.12",
                "bwrap" => "`bwrap` cannot make a sandbox here",
                "small_disk" => "a small disk cannot be mounted here",
                "inspect_ai" | "opentelemetry_proto" | "pyarrow" => {
                    &format!("`python3` has no `{need}`")
                }
                "clone" => "git does not know this folder",
                _ => &format!("`{program}` does not work here"),
            };
            format!("{what}: {said}")
        }
        Err(error) if error.kind() == ErrorKind::NotFound => format!("no `{program}` in PATH"),
        Err(error) => format!("`{program}` cannot be started: {error}"),
    }
}

fn say(directive: &str) {
    println!("cargo::{directive}");
}

fn main() {
    say("rerun-if-changed=build.rs");
    for name in ["PATH", "EVALTEST_PARITY_DATA", "EVALTEST_BFCL_BIN"] {
        say(&format!("rerun-if-env-changed={name}"));
    }
    for (need, command) in PROBES {
        let reason = reason(need, command);
        say(&format!("rustc-env=NEEDS_{}={reason}", need.to_uppercase()));
    }

    let named = std::env::var_os("EVALTEST_BFCL_BIN");
    let reason = match named {
        Some(_) => "",
        None => "`EVALTEST_BFCL_BIN` names no official program",
    };
    say(&format!("rustc-env=NEEDS_OFFICIAL_BFCL={reason}"));

    // As `src/tests/parity.rs` has it.
    let folder = std::env::var("EVALTEST_PARITY_DATA")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared").to_owned());
    // A path that is not there would have the tests built anew each time.
    if Path::new(&folder).is_dir() {
        say(&format!("rerun-if-changed={folder}"));
    }
    say(&format!("rustc-env=NEEDS_DATA={folder}"));
}
