//! `Document`: what a report says, as headings, paragraphs, lists, tables and charts.
//!
//! A section of a report makes [`Block`]s once; [`render`](super::render) writes them as Markdown, as HTML and on a terminal.
//! The texts in a document are as datasets and agents gave them: each renderer escapes them in one place.

use crate::exit::Exit;
use crate::verdict::result::Verdict;

mod chart;

pub use chart::{
    Chart, HistogramMark, ScatterPoint, SeriesChart, SeriesLine, SeriesMark, SeriesPoint,
};
pub use chart::{IntervalRow, IntervalScale, Intervals};

/// What a report says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// What it is about.
    pub title: String,
    /// What follows, in order.
    pub blocks: Vec<Block>,
}

/// A part of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A title within the report: of a section (2) or of a part of one (3).
    Heading(u8, String),
    /// A paragraph.
    Paragraph(Line),
    /// A warning that nobody should overlook, such as that the run ended early.
    Note(Line),
    /// A list without an order.
    List(Vec<Line>),
    /// A list of which the first item matters most.
    Numbered(Vec<Line>),
    /// Names with their values, such as the samples and the cost of a run.
    Facts(Vec<(String, Line)>),
    /// Rows and columns.
    Table(Table),
    /// Values with their intervals, one below the other.
    Intervals(Intervals),
    /// A picture. Only pages show it: what it shows stands beside it in figures.
    Chart(Chart),
    /// A text of several lines, shown as it is.
    Verbatim(String),
    /// Blocks below a line that introduces them.
    Group(Group),
    /// Blocks in a frame whose colour says how things are.
    Framed(Tone, Vec<Block>),
    /// Blocks beside each other, where there is room.
    Columns(Vec<Vec<Block>>),
}

/// Blocks below a line that introduces them.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The line.
    pub title: Line,
    /// Whether a page folds the blocks away.
    pub fold: Fold,
    /// The blocks.
    pub blocks: Vec<Block>,
}

/// Whether a page folds blocks away. Other formats always show them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// They are always shown.
    Never,
    /// They are shown, and can be folded away.
    Open,
    /// They are shown on demand.
    Closed,
}

/// A line of text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line(pub Vec<Span>);

/// A piece of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// Text.
    Plain(String),
    /// Text that stands out.
    Strong(String),
    /// A name or a command, as it is typed.
    Code(String),
    /// Text in a colour.
    Toned(Tone, String),
    /// Here a new line begins.
    Break,
}

/// What a colour says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing.
    #[default]
    Plain,
    /// Green: it is as it should be.
    Good,
    /// Red: it is worse than it should be.
    Bad,
    /// Yellow: it is not known.
    Unsure,
    /// Grey: it matters less.
    Faint,
}

/// Rows and columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What it shows, for who cannot see it, where no heading says it.
    pub caption: String,
    /// What stands above each column, and to which side it is set. Where all are empty, there is no head.
    pub heads: Vec<(String, Align)>,
    /// In which colour a terminal shows the head.
    pub head_tone: Tone,
    /// Each with a cell for each column; the last ones may be left out.
    pub rows: Vec<Vec<Line>>,
}

/// To which side a column is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

impl Document {
    /// A report with nothing in it yet.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            blocks: Vec::new(),
        }
    }

    /// Begins a section.
    pub fn section(&mut self, title: impl Into<String>) {
        self.blocks.push(Block::Heading(2, title.into()));
    }

    /// Begins a part of a section.
    pub fn part(&mut self, title: impl Into<String>) {
        self.blocks.push(Block::Heading(3, title.into()));
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, line: impl Into<Line>) {
        self.blocks.push(Block::Paragraph(line.into()));
    }

    /// Adds a warning.
    pub fn note(&mut self, line: impl Into<Line>) {
        self.blocks.push(Block::Note(line.into()));
    }

    /// Adds a list, unless it is empty.
    pub fn list<T: Into<Line>>(&mut self, items: impl IntoIterator<Item = T>) {
        self.blocks.extend(list(items));
    }

    /// Adds a table, unless it has no rows.
    pub fn table(&mut self, table: Table) {
        self.blocks.extend(table.block());
    }
}

/// A list; nothing where it is empty.
pub fn list<T: Into<Line>>(items: impl IntoIterator<Item = T>) -> Option<Block> {
    let items: Vec<Line> = items.into_iter().map(Into::into).collect();
    (!items.is_empty()).then_some(Block::List(items))
}

impl Block {
    /// A heading of a section.
    pub fn section(title: impl Into<String>) -> Self {
        Self::Heading(2, title.into())
    }

    /// A paragraph.
    pub fn paragraph(line: impl Into<Line>) -> Self {
        Self::Paragraph(line.into())
    }

    /// Blocks below a line, never folded away.
    pub fn group(title: impl Into<Line>, blocks: impl IntoIterator<Item = Self>) -> Self {
        Self::folded(Fold::Never, title, blocks)
    }

    /// Blocks below a line.
    pub fn folded(
        fold: Fold,
        title: impl Into<Line>,
        blocks: impl IntoIterator<Item = Self>,
    ) -> Self {
        Self::Group(Group {
            title: title.into(),
            fold,
            blocks: blocks.into_iter().collect(),
        })
    }
}

impl Line {
    /// Adds text.
    #[must_use]
    pub fn plain(self, text: impl Into<String>) -> Self {
        self.with(Span::Plain(text.into()))
    }

    /// Adds text that stands out.
    #[must_use]
    pub fn strong(self, text: impl Into<String>) -> Self {
        self.with(Span::Strong(text.into()))
    }

    /// Adds a name or a command, as it is typed.
    #[must_use]
    pub fn code(self, text: impl Into<String>) -> Self {
        self.with(Span::Code(text.into()))
    }

    /// Adds text in a colour.
    #[must_use]
    pub fn toned(self, tone: Tone, text: impl Into<String>) -> Self {
        self.with(Span::Toned(tone, text.into()))
    }

    /// Adds all of another line.
    #[must_use]
    pub fn line(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Begins a new line.
    #[must_use]
    pub fn newline(self) -> Self {
        self.with(Span::Break)
    }

    /// Adds a text that keeps its lines.
    #[must_use]
    pub fn lines(mut self, text: &str) -> Self {
        for (place, line) in text.lines().enumerate() {
            if place > 0 {
                self = self.newline();
            }
            self = self.plain(line);
        }
        self
    }

    fn with(mut self, span: Span) -> Self {
        self.0.push(span);
        self
    }

    /// Adds a text whose parts between backticks are names or commands, as messages of gates and hints have them.
    #[must_use]
    pub fn marked(self, text: &str) -> Self {
        let pieces: Vec<&str> = text.split('`').collect();
        let is_code = |place: usize| place % 2 == 1;
        let is_empty = |(place, piece): (usize, &&str)| is_code(place) && piece.trim().is_empty();
        // Where they are not in pairs, nobody knows what is between them.
        if pieces.len().is_multiple_of(2) || pieces.iter().enumerate().any(is_empty) {
            return self.plain(text);
        }
        let pieces = pieces.into_iter().enumerate();
        let pieces = pieces.filter(|(_, piece)| !piece.is_empty());
        pieces.fold(self, |line, (place, piece)| {
            if is_code(place) {
                line.code(piece)
            } else {
                line.plain(piece)
            }
        })
    }
}

impl<T: Into<String>> From<T> for Line {
    fn from(text: T) -> Self {
        Self::default().plain(text)
    }
}

impl Table {
    /// A table without rows yet.
    pub fn new(heads: &[(&str, Align)]) -> Self {
        let heads = heads.iter().map(|(head, side)| ((*head).to_owned(), *side));
        Self {
            heads: heads.collect(),
            ..Self::default()
        }
    }

    /// A table whose first column is text, and all others numbers.
    pub fn of_numbers<T: Into<String>>(heads: impl IntoIterator<Item = T>) -> Self {
        let sides = std::iter::once(Align::Left).chain(std::iter::repeat(Align::Right));
        Self {
            heads: heads.into_iter().map(Into::into).zip(sides).collect(),
            ..Self::default()
        }
    }

    /// Adds a row.
    pub fn row<T: Into<Line>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The table as a block; nothing where it has no rows.
    pub fn block(self) -> Option<Block> {
        (!self.rows.is_empty()).then_some(Block::Table(self))
    }
}

impl From<Verdict> for Tone {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Passed => Self::Good,
            Verdict::Failed => Self::Bad,
            Verdict::Inconclusive => Self::Unsure,
            Verdict::Ignored => Self::Plain,
        }
    }
}

impl From<Exit> for Tone {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Passed => Self::Good,
            Exit::Failed | Exit::Usage => Self::Bad,
            Exit::Infrastructure | Exit::Interrupted => Self::Unsure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_backticks_is_code() {
        fn check(text: &str, expect: &Line) {
            assert_eq!(&Line::default().marked(text), expect, "{text}");
        }
        let line = Line::default;
        check("see `a b`", &line().plain("see ").code("a b"));
        check(
            "`a`, `b` c",
            &line().code("a").plain(", ").code("b").plain(" c"),
        );
        for odd in ["it`s", "a `` b", "` `", "`a` `b"] {
            check(odd, &line().plain(odd));
        }
    }
}
