//! What differs between platforms is named in one room.

use super::imports::is_test;
use super::sources;
use super::tokens::{Token, production_code};

/// What of one platform is named in one room.
const PLATFORM: &[&str] = &["fd", "linux", "rustix", "signal_hook", "unix"];

/// What code names of one platform; tests may name what they like.
fn named(text: &str) -> Option<String> {
    let names = |token: &Token| match token {
        Token::Word(word) if PLATFORM.contains(&&**word) => Some(word.clone()),
        Token::Text(text) if text.starts_with("\"/proc/") || text == "\"/proc\"" => {
            Some(text.clone())
        }
        _ => None,
    };
    production_code(text).iter().find_map(names)
}

#[test]
fn only_one_room_knows_the_platform() {
    fn check(text: &str, expect: Option<&str>) {
        assert_eq!(named(text).as_deref(), expect, "{text}");
    }
    check("use std::os::unix::fs::symlink;", Some("unix"));
    check("use std::os::fd::AsFd;", Some("fd"));
    check("use std::os::{unix, fd::AsFd};", Some("unix"));
    check("fn f() { rustix::process::getpid() }", Some("rustix"));
    check(
        r#"fn f() { read("/proc/self/stat") }"#,
        Some(r#""/proc/self/stat""#),
    );
    check(r#"fn f() { read("/process") } // rustix"#, None);
    check(
        "#[cfg(test)] mod tests { use std::os::unix::fs::symlink; }",
        None,
    );
    for folder in ["src", "cargo-evaltest/src"] {
        for (name, text) in sources(folder) {
            if !name.starts_with("src/system") && !is_test(&name) {
                assert_eq!(named(&text), None, "{name}: ask `src/system/` for it");
            }
        }
    }
}

/// Who opens a connection: endpoints that a spec names, the Hub where it names that, the relay of a sandbox, and the bridge
/// of a server of tools; and who listens, on this machine alone.
const TALKING: &[&str] = &[
    "src/system/bridge.rs",
    "src/system/http",
    "src/system/sandbox/relay.rs",
    "src/system/loopback.rs",
];
/// Who speaks with the Hub by it, and passes recorded calls on.
const ASKING: &[&str] = &["src/data/hub/", "src/agent/recorded/upstream.rs"];

/// What code names that opens a connection, or asks over one.
fn connects(text: &str) -> Option<String> {
    const NAMES: &[&str] = &[
        "TcpListener",
        "TcpStream",
        "ToSocketAddrs",
        "UdpSocket",
        "UnixListener",
        "UnixStream",
        "ureq",
    ];
    let names = |token: &Token| match token {
        Token::Word(word) if NAMES.contains(&&**word) => Some(word.clone()),
        _ => None,
    };
    production_code(text).iter().find_map(names)
}

#[test]
fn only_what_a_spec_names_is_asked() {
    assert_eq!(
        connects("fn f() { ureq::get(url) }").as_deref(),
        Some("ureq")
    );
    assert_eq!(connects("fn f() {} // ureq"), None);
    for folder in ["src", "cargo-evaltest/src"] {
        for (name, text) in sources(folder) {
            let may = TALKING
                .iter()
                .chain(ASKING)
                .any(|start| name.starts_with(start));
            if !may && !is_test(&name) {
                assert_eq!(
                    connects(&text),
                    None,
                    "{name}: nobody is asked but by `src/system/http/`"
                );
            }
        }
    }
}

/// What of the machine code names: files, the clock, threads, processes, variables.
fn of_the_machine(text: &str) -> Option<String> {
    const NAMES: &[&str] = &[
        "Instant",
        "SystemTime",
        "env",
        "fs",
        "net",
        "process",
        "system",
        "thread",
    ];
    let code = production_code(text);
    let is_path = |place: Option<usize>| place.and_then(|at| code.get(at)) == Some(&Token::Path);
    (0..code.len()).find_map(|at| match &code[at] {
        Token::Word(word) if NAMES.contains(&&**word) => {
            let is_in_path = is_path(at.checked_sub(1)) || is_path(Some(at + 1));
            // A lock asks nothing of the machine.
            let is_lock = code.get(at + 2) == Some(&Token::Word("lock".to_owned()));
            (is_in_path && !is_lock).then(|| word.clone())
        }
        _ => None,
    })
}

#[test]
fn what_is_pure_asks_no_machine() {
    fn check(text: &str, expect: Option<&str>) {
        assert_eq!(of_the_machine(text).as_deref(), expect, "{text}");
    }
    check("use std::env;", Some("env"));
    check("fn f() { fs::read(path) }", Some("fs"));
    check("use crate::system::file;", Some("system"));
    check("use crate::system::lock::lock;", None);
    check("fn f(system: &str) { system.env() }", None);
    for (name, text) in sources("src") {
        let place = name.trim_start_matches("src/").trim_end_matches(".rs");
        let room = place.split('/').next().unwrap();
        // Of the scorers, the rules: those that ask lie apart.
        let is_pure = match room {
            "text" | "stats" | "calls" | "verdict" => true,
            "scorer" => !place.starts_with("scorer/ask"),
            _ => false,
        };
        if is_pure && !is_test(&name) {
            assert_eq!(of_the_machine(&text), None, "{name} is to be pure");
        }
    }
}
