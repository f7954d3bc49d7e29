//! Detects texts whose tree must have an error node, from their first tokens.
//!
//! Every token of a text is a leaf of its tree. The parser may insert a missing token without an error node, but only
//! one token before another, and only one that ends a rule: the rule must be complete after it. So it never inserts a
//! `(`, a `{`, a `?`, or a word that must be followed by something. Hence there is an error node
//!
//! * for a token that the language does not have, and for a quote that is not closed, unless the next token can
//!   continue a value: the closing quote is inserted before it;
//! * for a closing bracket without an open one;
//! * in Java for `{"a":`, because a `:` belongs to a label or to a `?`, `case`, `default`, `assert` or `for` in the
//!   same braces, and for `[1, 2]`, because square brackets contain no comma;
//! * in JavaScript for `for`, `if`, `while`, `with`, `switch`, `try`, `function f`, `class C` and `import a` without
//!   the required next token, where they are keywords and not names: at the start of a statement, or after a value,
//!   where a `;` is inserted before them, as two values cannot be adjacent. Adjacent names occur in JSX and in classes,
//!   where the scan ends;
//! * in JavaScript for two adjacent values in round or square brackets: no `;` can be inserted there, and a closing
//!   bracket would need one after it.
//!
//! Tokens must be recognised exactly as by the parser. So the scan ends ([`Sign::Unsure`]) where that depends on
//! context or is not worth the effort: at comments, regular expressions, JSX, most JavaScript keywords that do have
//! their required token, and letters beyond ASCII. What the scan does not decide is left to the parser; `tests`
//! compares the two.

mod javascript;
mod signs;
#[cfg(test)]
mod tests;

use signs::{BraceLanguage, Sign, Signs};

pub(super) use javascript::in_javascript;

/// Whether a Java text certainly has an error node.
pub(super) fn in_java(text: &str) -> bool {
    let mut signs = Signs::new(text, BraceLanguage::Java);
    let mut brackets = OpenBrackets::default();
    // Whether the last token is a brace, and whether it is a string after one.
    let (mut is_brace, mut is_key) = (false, false);
    // `new A<B, C>()` may occur in square brackets.
    let mut has_generics = false;
    loop {
        let sign = signs.next();
        match sign {
            Sign::Broken => return true,
            Sign::Unsure => return false,
            // Not for `::`.
            Sign::Mark(b':') if is_key && signs.peek() != Some(b':') => return true,
            Sign::Mark(b']') if brackets.is_square_list() && !has_generics => return true,
            Sign::Mark(b'<') => has_generics = true,
            Sign::Mark(mark) => {
                if let Some(is_rejected) = brackets.take(mark) {
                    return is_rejected;
                }
            }
            _ => {}
        }
        is_key = is_brace && sign == Sign::Text;
        is_brace = sign == Sign::Mark(b'{');
    }
}

/// Deeper brackets are left to the parser.
const MAX_DEPTH: usize = 32;

/// The open brackets.
#[derive(Default)]
struct OpenBrackets {
    open: [u8; MAX_DEPTH],
    /// Whether they directly contain a comma.
    has_comma: [bool; MAX_DEPTH],
    depth: usize,
}

impl OpenBrackets {
    /// Whether the innermost one is round or square.
    fn is_within_list(&self) -> bool {
        let last = self.depth.checked_sub(1).map(|last| self.open[last]);
        matches!(last, Some(b'(' | b'['))
    }

    /// Whether the innermost bracket is square, contains a comma, and is the only open square one: then its closing
    /// bracket in the text closes it in every tree.
    fn is_square_list(&self) -> bool {
        self.depth.checked_sub(1).is_some_and(|last| {
            self.has_comma[last] && self.open[last] == b'[' && !self.open[..last].contains(&b'[')
        })
    }

    /// Processes a mark. Returns `true` if the text is hopeless, `false` if the scan must stop, `None` to continue.
    fn take(&mut self, mark: u8) -> Option<bool> {
        let opening = match mark {
            b'(' | b'[' | b'{' => {
                if self.depth == MAX_DEPTH {
                    return Some(false);
                }
                self.open[self.depth] = mark;
                self.has_comma[self.depth] = false;
                self.depth += 1;
                return None;
            }
            b',' => {
                if let Some(last) = self.depth.checked_sub(1) {
                    self.has_comma[last] = true;
                }
                return None;
            }
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            _ => return None,
        };
        let open = &self.open[..self.depth];
        if open.last() == Some(&opening) {
            self.depth -= 1;
            return None;
        }
        // Another bracket in between may be closed by an inserted token.
        Some(!open.contains(&opening))
    }
}
