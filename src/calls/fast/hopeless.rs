//! Texts that cannot be read without an error node, told by a look at their first signs.
//!
//! Every sign of a text is a leaf of its tree. What the parser makes up and is forgiven is one sign before another,
//! and only one that ends a rule: it asks for a rule that is complete behind it. So it never makes up a `(`, a `{`, a
//! `?`, nor a word that something has to follow. Hence there is an error node
//!
//! * for a sign that the language does not have, and for a quote that is not closed, unless the sign behind it can go
//!   on with a value: the closing quote is made up before that one;
//! * for a bracket that closes none;
//! * in Java for `{"a":`, because a `:` belongs to a label or to a `?`, `case`, `default`, `assert` or `for` in the same
//!   braces, and for `[1, 2]`, because a comma stands in no square brackets;
//! * in JavaScript for `for`, `if`, `while`, `with`, `switch`, `try`, `function f`, `class C` and `import a` without the
//!   sign that has to be behind them, where they are these words and no names: a statement starts, or a value has
//!   ended and a `;` is made up before them, for no value stands behind another. Names behind others are in JSX
//!   and in classes, where a look ends;
//! * in JavaScript for two values side by side in round or square brackets: no `;` may be made up there, and the closing
//!   bracket would need one behind it.
//!
//! Signs have to be told as the parser tells them. So a look ends ([`Sign::Unsure`]) where that depends on what is before
//! them, or on more than is worth it: at comments, regular expressions, JSX, most words of JavaScript's syntax that do
//! have their sign behind them, letters beyond ASCII. What a look does not decide is the parser's; `tests` compares
//! the two.

mod brackets;
mod javascript;
mod signs;
#[cfg(test)]
mod tests;

use brackets::OpenBrackets;
use signs::{BraceLanguage, Sign, Signs};

pub(super) use javascript::in_javascript;

/// Whether a Java text has an error node for certain.
pub(super) fn in_java(text: &str) -> bool {
    let mut signs = Signs::new(text, BraceLanguage::Java);
    let mut brackets = OpenBrackets::default();
    // Whether the last sign is a brace, and whether it is a text behind one.
    let (mut is_brace, mut is_key) = (false, false);
    // `new A<B, C>()` may stand in square brackets.
    let mut has_generics = false;
    loop {
        let sign = signs.next();
        match sign {
            Sign::Broken => return true,
            Sign::Unsure => return false,
            // No `::`.
            Sign::Mark(b':') if is_key && signs.peek() != Some(b':') => return true,
            Sign::Mark(b']') if brackets.is_square_list() && !has_generics => return true,
            Sign::Mark(b'<') => has_generics = true,
            Sign::Mark(mark) => {
                if let Some(is_hopeless) = brackets.take(mark) {
                    return is_hopeless;
                }
            }
            _ => {}
        }
        is_key = is_brace && sign == Sign::Text;
        is_brace = sign == Sign::Mark(b'{');
    }
}
