//! The brackets of a text. None of them is made up where it opens, so what closes one needs one in the text.

/// Deeper brackets are the parser's.
const MAX_DEPTH: usize = 32;

/// The brackets that are open.
#[derive(Default)]
pub(super) struct OpenBrackets {
    open: [u8; MAX_DEPTH],
    /// Whether a comma stands in them, not deeper.
    has_comma: [bool; MAX_DEPTH],
    depth: usize,
}

impl OpenBrackets {
    /// Whether the innermost one is round or square.
    pub(super) fn is_within_list(&self) -> bool {
        let last = self.depth.checked_sub(1).map(|last| self.open[last]);
        matches!(last, Some(b'(' | b'['))
    }

    /// Whether the innermost bracket is a square one with a comma in it, and the only one of its kind: then what
    /// closes it in the text closes it in every tree.
    pub(super) fn is_square_list(&self) -> bool {
        self.depth.checked_sub(1).is_some_and(|last| {
            self.has_comma[last] && self.open[last] == b'[' && !self.open[..last].contains(&b'[')
        })
    }

    /// Takes in a mark. If that decides it: whether the text is hopeless, or else too much to look at.
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
        // Another one in between may be closed by a made-up sign.
        Some(!open.contains(&opening))
    }
}
