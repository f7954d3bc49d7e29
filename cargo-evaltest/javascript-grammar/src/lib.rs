//! The grammar of JavaScript in the release that the official checker of the Berkeley Function Calling Leaderboard has,
//! `tree-sitter-javascript` 0.21.4, for the core that `evaltest` has.
//!
//! ```
//! let mut parser = tree_sitter::Parser::new();
//! parser.set_language(&evaltest_javascript_grammar::LANGUAGE.into()).unwrap();
//! let tree = parser.parse("f(a=1)\n`b`", None).unwrap();
//! assert!(!tree.root_node().has_error());
//! ```
//!
//! The sources in C are those of that release, unmodified, in `c/tree-sitter-javascript` with their licence. White space
//! and letters are the same on every machine: `c/scanner.c`. That release's own crate cannot be built beside others that
//! bring C along, and the next ones read some answers otherwise: a call without `;` before a text in back quotes was an
//! error.

use tree_sitter_language::LanguageFn;

#[expect(unsafe_code, reason = "what is in C is declared so")]
unsafe extern "C" {
    fn evaltest_tree_sitter_javascript() -> *const ();
}

/// The grammar.
#[expect(
    unsafe_code,
    reason = "the function is that of a grammar, made by tree-sitter's own generator"
)]
// SAFETY: it takes nothing and returns a constant `TSLanguage`.
pub const LANGUAGE: LanguageFn = unsafe { LanguageFn::from_raw(evaltest_tree_sitter_javascript) };
