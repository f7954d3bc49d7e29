//! The brackets of a text. The parser never inserts an opening one, so every closing one needs one in the text.

/// Deeper brackets are left to the parser.
const MAX_DEPTH: usize = 32;

/// The open brackets.
#[derive(Default)]
pub(super) struct OpenBrackets {
    open: [u8; MAX_DEPTH],
    /// Whether they directly contain a comma.
    has_comma: [bool; MAX_DEPTH],
    depth: usize,
}

impl OpenBrackets {
    /// Whether the innermost one is round or square.
    pub(super) fn is_within_list(&self) -> bool {
        let last = self.depth.checked_sub(1).map(|last| self.open[last]);
        matches!(last, Some(b'(' | b'['))
    }

    /// Whether the innermost bracket is square, contains a comma, and is the only open square one: then its closing
    /// bracket in the text closes it in every tree.
    pub(super) fn is_square_list(&self) -> bool {
        self.depth.checked_sub(1).is_some_and(|last| {
            self.has_comma[last] && self.open[last] == b'[' && !self.open[..last].contains(&b'[')
        })
    }

    /// Processes a mark. Returns `true` if the text is hopeless, `false` if the scan must stop, `None` to continue.
    pub(super) fn take(&mut self, mark: u8) -> Option<bool> {
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
