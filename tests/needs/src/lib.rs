//! A test that needs what is not there is `ignored`, and libtest says why.
//!
//! ```text
//! #[needs(bwrap, python3)]
//! #[needs(data = "vectors/gaia.jsonl")]
//! #[test]
//! fn …
//! ```
//!
//! libtest knows only `#[ignore]`, which stands there when the test is compiled; so `build.rs` looks at the machine
//! before, and again when `PATH` is another. `cargo test -- --ignored` runs such a test all the same; it then fails with
//! what is missing.

use std::path::Path;

use proc_macro::{Delimiter, TokenStream, TokenTree};

/// Needs by name, each with why it is not met, empty if it is.
const NEEDS: &[(&str, &str)] = &[
    ("bash", env!("NEEDS_BASH")),
    ("browser", env!("NEEDS_BROWSER")),
    ("bwrap", env!("NEEDS_BWRAP")),
    ("clone", env!("NEEDS_CLONE")),
    ("git", env!("NEEDS_GIT")),
    ("inspect_ai", env!("NEEDS_INSPECT_AI")),
    ("landlock", env!("NEEDS_LANDLOCK")),
    ("nextest", env!("NEEDS_NEXTEST")),
    ("jq", env!("NEEDS_JQ")),
    ("node", env!("NEEDS_NODE")),
    ("official_bfcl", env!("NEEDS_OFFICIAL_BFCL")),
    ("opentelemetry_proto", env!("NEEDS_OPENTELEMETRY_PROTO")),
    ("pgrep", env!("NEEDS_PGREP")),
    ("pyarrow", env!("NEEDS_PYARROW")),
    ("python3", env!("NEEDS_PYTHON3")),
    ("setpriv", env!("NEEDS_SETPRIV")),
    ("setsid", env!("NEEDS_SETSID")),
    ("small_disk", env!("NEEDS_SMALL_DISK")),
    ("timeout", env!("NEEDS_TIMEOUT")),
];

/// Ignores the `#[test]` below it where one of these needs is not met: a program, what a program can do here, or
/// `data = "…"`, a file or folder of the parity data.
#[proc_macro_attribute]
pub fn needs(needs: TokenStream, test: TokenStream) -> TokenStream {
    match missing(needs).and_then(|reason| is_test(&test).map(|()| reason)) {
        Ok(Some(reason)) => {
            let mut ignored = parsed(&format!("#[ignore = {reason:?}]"));
            ignored.extend(test);
            ignored
        }
        Ok(None) => test,
        Err(wrong) => parsed(&format!("compile_error!({wrong:?});")),
    }
}

fn parsed(code: &str) -> TokenStream {
    code.parse().expect("code of our own")
}

/// The first need that is not met, as a reason.
fn missing(needs: TokenStream) -> Result<Option<String>, String> {
    let mut tokens = needs.into_iter().peekable();
    let mut reason = None;
    while let Some(token) = tokens.next() {
        let name = token.to_string();
        let is_followed_by = |token: Option<&TokenTree>, mark: char| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark);
        let found = if name == "data" && is_followed_by(tokens.peek(), '=') {
            tokens.next();
            let file = tokens.next().map(|text| text.to_string());
            let file = file.as_deref().unwrap_or_default().trim_matches('"');
            let is_there = Path::new(env!("NEEDS_DATA")).join(file).exists();
            (!is_there).then(|| {
                format!("no `{file}` in the parity data, which `EVALTEST_PARITY_DATA` names")
            })
        } else {
            let need = NEEDS.iter().find(|need| need.0 == name);
            let (_, reason) = need.ok_or(format!("`needs` does not know `{name}`"))?;
            (!reason.is_empty()).then(|| (*reason).to_owned())
        };
        reason = reason.or(found);
        if is_followed_by(tokens.peek(), ',') {
            tokens.next();
        }
    }
    Ok(reason)
}

/// `#[test]` below another attribute looks for `#[ignore]` before that one is there.
fn is_test(test: &TokenStream) -> Result<(), String> {
    let is_test = test.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => {
            group.delimiter() == Delimiter::Bracket && group.to_string() == "[test]"
        }
        _ => false,
    });
    let message = "`#[needs(…)]` stands above `#[test]`";
    is_test.then_some(()).ok_or_else(|| message.to_owned())
}
