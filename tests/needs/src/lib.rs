//! A test that needs more than the toolchain is `ignored`, and its name says what it needs.
//!
//! ```text
//! #[needs(bwrap, python3)]
//! #[test]
//! fn nobody_gets_out() { … }
//! ```
//!
//! is the test `nobody_gets_out::needs_bwrap::needs_python3`. `cargo test` runs without it, on every machine alike;
//! `cargo test -- --ignored needs_python3` runs those that need Python. `.ci/needs` lists what there is to need, and looks
//! whether it is there.
//!
//! `#[needs(data = "vectors/gaia.jsonl")]` is for parity data: such a test is `ignored` only where the file is not there.

use std::iter::once;
use std::path::Path;

use proc_macro::{Delimiter, TokenStream, TokenTree};

/// What a test needs.
#[derive(Default)]
struct Needs {
    /// Programs, and what a program can do on this machine.
    programs: Vec<String>,
    /// The first file of the parity data that is not there.
    missing: Option<String>,
}

/// Ignores the `#[test]` below it if it needs a program, or parity data that is not there.
#[proc_macro_attribute]
pub fn needs(needs: TokenStream, test: TokenStream) -> TokenStream {
    let needs = parse(needs);
    let reason = match needs.missing {
        Some(file) => {
            format!("no `{file}` in the parity data, which `EVALTEST_PARITY_DATA` names")
        }
        None if needs.programs.is_empty() => return test,
        None => format!("needs {}", needs.programs.join(", ")),
    };
    let mut ignored = parsed(&format!("#[ignore = {reason:?}]"));
    if needs.programs.is_empty() {
        ignored.extend(test);
        return ignored;
    }
    in_modules(&needs.programs, ignored, test)
        .unwrap_or_else(|wrong| parsed(&format!("compile_error!({wrong:?});")))
}

fn parsed(code: &str) -> TokenStream {
    code.parse().expect("code of our own")
}

fn parse(needs: TokenStream) -> Needs {
    let mut found = Needs::default();
    for token in needs {
        match token {
            TokenTree::Ident(name) if name.to_string() != "data" => {
                found.programs.push(name.to_string());
            }
            TokenTree::Literal(file) => {
                let file = file.to_string().trim_matches('"').to_owned();
                let is_there = Path::new(env!("NEEDS_DATA")).join(&file).exists();
                found.missing = found.missing.or((!is_there).then_some(file));
            }
            _ => {}
        }
    }
    found
}

/// The function without `#[test]`, and a module of its name in which the test calls it. Attributes between `#[test]` and
/// the function are the test's.
fn in_modules(
    programs: &[String],
    ignored: TokenStream,
    test: TokenStream,
) -> Result<TokenStream, String> {
    let tokens: Vec<TokenTree> = test.into_iter().collect();
    let is = |token: &TokenTree, word: &str| matches!(token, TokenTree::Ident(it) if it.to_string() == word);
    let start = tokens.iter().position(|token| is(token, "fn"));
    let start = start.ok_or("`#[needs(…)]` stands above a test")?;
    let is_test = |token: &TokenTree| {
        matches!(token, TokenTree::Group(group)
            if group.delimiter() == Delimiter::Bracket && group.to_string() == "[test]")
    };
    if !tokens[..start].iter().any(is_test) {
        return Err("`#[needs(…)]` stands above `#[test]`".to_owned());
    }
    let Some(TokenTree::Ident(name)) = tokens.get(start + 1) else {
        return Err("a test has a name".to_owned());
    };
    let supers = "super::".repeat(programs.len());
    let mut names = programs
        .iter()
        .map(|program| format!("needs_{program}"))
        .rev();
    let leaf = names.next().unwrap_or_default();
    let mut inner = ignored;
    inner.extend(tokens[..start].iter().cloned());
    inner.extend(parsed(&format!("fn {leaf}() {{ {supers}{name}() }}")));
    for module in names.chain(once(name.to_string())) {
        inner = parsed(&format!("mod {module} {{ {inner} }}"));
    }
    let mut function: TokenStream = tokens[start..].iter().cloned().collect();
    function.extend(inner);
    Ok(function)
}
