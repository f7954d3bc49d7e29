//! What cannot stand side by side in Python: two names, as in prose, an operator behind a bracket, as in XML, a brace
//! behind a name.

/// What was read last, as far as it says what cannot follow. White space and comments change nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::calls) enum Last {
    /// The start, an opening bracket or a comma.
    Opening,
    /// A name or a closing bracket.
    Operand,
    /// A string, which only another string can follow of these.
    Text,
    /// Nothing is concluded from anything else.
    Other,
}

/// What comes next.
#[derive(Clone, Copy)]
pub(in crate::calls) enum Next {
    /// A name that is no keyword.
    Name,
    Number,
    Text,
    /// Letters before the quote of a string.
    Prefix,
    Brace,
    /// An operator that has a side before it.
    Operator,
    /// A sign that Python does not have.
    Foreign,
}

impl Next {
    /// Whether this cannot stand behind what was last.
    pub(super) fn cannot_follow(self, last: Last) -> bool {
        match self {
            Self::Name | Self::Number | Self::Brace => matches!(last, Last::Operand | Last::Text),
            Self::Text | Self::Prefix => last == Last::Operand,
            Self::Operator => last == Last::Opening,
            Self::Foreign => true,
        }
    }
}
