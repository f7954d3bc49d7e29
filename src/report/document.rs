//! `ReportText`: what a report says, as headings, paragraphs, lists, tables and bars.
//!
//! What is said stands once, whatever it is written in: Markdown and HTML render the same blocks. The texts in it are as
//! datasets and agents gave them; each format escapes them in one place.

/// What a report says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportText {
    /// What it is about.
    pub title: String,
    /// What follows, in order.
    pub blocks: Vec<ReportBlock>,
}

/// A part of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum ReportBlock {
    /// A title within the report: of a section (2) or of a part of one (3).
    Heading(u8, String),
    /// Words.
    Paragraph(ReportLine),
    /// Words that nobody should overlook, such as that the run ended early.
    Notice(ReportLine),
    /// Things without an order.
    List(Vec<ReportLine>),
    /// Things of which the first matters most.
    Ranked(Vec<ReportLine>),
    /// Rows and columns.
    Table(ReportTable),
    /// Shares as bars, one below the other.
    Bars(Vec<ReportBar>),
}

/// A line of words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportLine(pub Vec<ReportSpan>);

/// Words of one kind.
#[derive(Clone, Debug, PartialEq)]
pub enum ReportSpan {
    /// Words as they are.
    Plain(String),
    /// Words that stand out.
    Strong(String),
    /// What can be typed as it stands.
    Typed(String),
}

/// Rows and columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportTable {
    /// What stands above each column, and to which side it is set.
    pub heads: Vec<(String, ReportSide)>,
    /// Each with a cell for each column.
    pub rows: Vec<Vec<ReportLine>>,
}

/// To which side a column is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportSide {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A share as a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportBar {
    /// Of what.
    pub label: String,
    /// The share from 0 to 1, low and high: the same, but for one that samples without a verdict leave open. `None` where
    /// there is nothing to show.
    pub share: Option<[f64; 2]>,
    /// Its 95 % confidence interval.
    pub interval: Option<[f64; 2]>,
    /// The share in words.
    pub told: String,
}

impl ReportText {
    /// A report with nothing in it yet.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            blocks: Vec::new(),
        }
    }

    /// Begins a section.
    pub fn section(&mut self, title: impl Into<String>) {
        self.blocks.push(ReportBlock::Heading(2, title.into()));
    }

    /// Begins a part of a section.
    pub fn part(&mut self, title: impl Into<String>) {
        self.blocks.push(ReportBlock::Heading(3, title.into()));
    }

    /// Adds words.
    pub fn paragraph(&mut self, words: impl Into<ReportLine>) {
        self.blocks.push(ReportBlock::Paragraph(words.into()));
    }

    /// Adds words that nobody should overlook.
    pub fn notice(&mut self, words: impl Into<ReportLine>) {
        self.blocks.push(ReportBlock::Notice(words.into()));
    }

    /// Adds a table, unless it has no rows.
    pub fn table(&mut self, table: ReportTable) {
        if !table.rows.is_empty() {
            self.blocks.push(ReportBlock::Table(table));
        }
    }
}

impl ReportLine {
    /// Adds words as they are.
    #[must_use]
    pub fn plain(mut self, words: impl Into<String>) -> Self {
        self.0.push(ReportSpan::Plain(words.into()));
        self
    }

    /// Adds words that stand out.
    #[must_use]
    pub fn strong(mut self, words: impl Into<String>) -> Self {
        self.0.push(ReportSpan::Strong(words.into()));
        self
    }

    /// Adds what can be typed as it stands.
    #[must_use]
    pub fn typed(mut self, words: impl Into<String>) -> Self {
        self.0.push(ReportSpan::Typed(words.into()));
        self
    }

    /// Adds words of which those between backticks can be typed, as messages of gates and hints have them.
    #[must_use]
    pub fn marked(self, words: &str) -> Self {
        let pieces: Vec<&str> = words.split('`').collect();
        let is_typed = |place: usize| place % 2 == 1;
        let is_empty = |(place, piece): (usize, &&str)| is_typed(place) && piece.trim().is_empty();
        // Where they are not in pairs, nobody knows what is between them.
        if pieces.len().is_multiple_of(2) || pieces.iter().enumerate().any(is_empty) {
            return self.plain(words);
        }
        let pieces = pieces.into_iter().enumerate();
        let pieces = pieces.filter(|(_, piece)| !piece.is_empty());
        pieces.fold(self, |line, (place, piece)| {
            if is_typed(place) {
                line.typed(piece)
            } else {
                line.plain(piece)
            }
        })
    }
}

impl<T: Into<String>> From<T> for ReportLine {
    fn from(words: T) -> Self {
        Self::default().plain(words)
    }
}

impl ReportTable {
    /// A table without rows yet.
    pub fn new(heads: &[(&str, ReportSide)]) -> Self {
        let heads = heads.iter().map(|(head, side)| ((*head).to_owned(), *side));
        Self {
            heads: heads.collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row<T: Into<ReportLine>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_backticks_is_typed() {
        fn check(words: &str, expect: &ReportLine) {
            assert_eq!(&ReportLine::default().marked(words), expect, "{words}");
        }
        let line = ReportLine::default;
        check("see `a b`", &line().plain("see ").typed("a b"));
        check(
            "`a`, `b` c",
            &line().typed("a").plain(", ").typed("b").plain(" c"),
        );
        for odd in ["it`s", "a `` b", "` `", "`a` `b"] {
            check(odd, &line().plain(odd));
        }
    }
}
