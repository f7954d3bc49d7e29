//! `Document`: the content of a report as headings, paragraphs, lists, tables and charts.
//!
//! Sections of a report build [`Block`]s; [`render`](super::render) writes them as Markdown, HTML or terminal output.
//! Texts in a document are untrusted input of datasets and agents: each renderer escapes them in one place.

use crate::exit::Exit;
use crate::verdict::result::Verdict;

mod chart;

pub use chart::{AxisUnit, IntervalRow, IntervalScale, Intervals};
pub use chart::{
    Chart, HistogramMark, ScatterPoint, SeriesChart, SeriesLine, SeriesMark, SeriesPoint,
};

/// The content of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// What it is about.
    pub title: String,
    /// Its content, in order.
    pub blocks: Vec<Block>,
}

/// A part of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A title within the report: of a section (2) or of a part of one (3).
    Heading(u8, String),
    /// A paragraph.
    Paragraph(Line),
    /// An important warning, such as that the run ended early.
    Note(Line),
    /// An unordered list.
    List(Vec<Line>),
    /// A list sorted by importance.
    Numbered(Vec<Line>),
    /// Names with values, such as the number of samples and the cost of a run.
    Facts(Vec<(String, Line)>),
    /// Rows and columns.
    Table(Table),
    /// Values with intervals, one per row.
    Intervals(Intervals),
    /// A chart. Shown only on pages: its figures are also in the text.
    Chart(Chart),
    /// A preformatted text of several lines.
    Verbatim(String),
    /// The same with parts highlighted in a colour, by whether each is. Only pages highlight.
    Marked(Tone, Vec<(bool, String)>),
    /// Blocks below an introductory line.
    Group(Group),
    /// Blocks in a frame whose colour signals the state.
    Framed(Tone, Vec<Block>),
    /// Blocks side by side, if there is room.
    Columns(Vec<Vec<Block>>),
}

/// Blocks below an introductory line.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The introductory line. If it is empty, a page that collapses the blocks shows `Details`, and others nothing.
    pub title: Line,
    /// Whether a page can collapse the blocks.
    pub fold: Fold,
    /// The blocks.
    pub blocks: Vec<Block>,
}

/// Whether a page can collapse blocks. Other formats always show them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// They are always shown.
    Never,
    /// Shown initially, and collapsible.
    Open,
    /// Collapsed initially.
    Closed,
}

/// A line of text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line(pub Vec<Span>);

/// A part of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// Text, in which names and commands may stand in backticks.
    Plain(String),
    /// A question, an answer or the like, shown with its backticks.
    Quoted(String),
    /// Emphasised text.
    Strong(String),
    /// A name or a command.
    Code(String),
    /// Coloured text.
    Toned(Tone, String),
    /// Text that leads to another part of the page, or of `view`, by this fragment.
    Link(String, String),
    /// A line break.
    Break,
}

/// The meaning of a colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing.
    #[default]
    Plain,
    /// Green: good.
    Good,
    /// Red: worse than it should be.
    Bad,
    /// Yellow: uncertain.
    Unsure,
    /// Grey: less important.
    Faint,
}

/// Rows and columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Description for screen readers, if no heading has it.
    pub caption: String,
    /// The head and alignment of each column. If all are empty, there is no head.
    pub heads: Vec<(String, Align)>,
    /// The colour of the head on a terminal.
    pub head_tone: Tone,
    /// Rows with a cell per column; trailing cells may be missing.
    pub rows: Vec<Vec<Line>>,
    /// What hides rows of the table. Only on pages.
    pub filter: Option<TableFilter>,
}

/// What hides rows of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum TableFilter {
    /// A switch above the table, by its label, and whether each row stays.
    Switch(String, Vec<bool>),
    /// Fields for the values of the columns with these heads, and for any text. Needs a script.
    Columns(Vec<&'static str>),
}

/// Alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

impl Document {
    /// An empty report.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            blocks: Vec::new(),
        }
    }

    /// Starts a section.
    pub fn section(&mut self, title: impl Into<String>) {
        self.blocks.push(Block::Heading(2, title.into()));
    }

    /// Starts a subsection.
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

/// A list; `None` if it is empty.
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

    /// Blocks below a line, never collapsible.
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

    /// Adds a text of a dataset or an agent, whose backticks are its own.
    #[must_use]
    pub fn quoted(self, text: impl Into<String>) -> Self {
        self.with(Span::Quoted(text.into()))
    }

    /// Adds emphasised text.
    #[must_use]
    pub fn strong(self, text: impl Into<String>) -> Self {
        self.with(Span::Strong(text.into()))
    }

    /// Adds a name or a command.
    #[must_use]
    pub fn code(self, text: impl Into<String>) -> Self {
        self.with(Span::Code(text.into()))
    }

    /// Adds coloured text.
    #[must_use]
    pub fn toned(self, tone: Tone, text: impl Into<String>) -> Self {
        self.with(Span::Toned(tone, text.into()))
    }

    /// Adds text that leads to a fragment, which only pages have.
    #[must_use]
    pub fn link(self, text: impl Into<String>, to: impl Into<String>) -> Self {
        self.with(Span::Link(text.into(), to.into()))
    }

    /// Appends another line.
    #[must_use]
    pub fn line(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Adds a line break.
    #[must_use]
    pub fn newline(self) -> Self {
        self.with(Span::Break)
    }

    /// Adds a text with its line breaks.
    #[must_use]
    pub fn lines(self, text: &str) -> Self {
        text.lines().enumerate().fold(self, |line, (place, text)| {
            let line = if place > 0 { line.newline() } else { line };
            line.plain(text)
        })
    }

    /// Adds a text of a dataset or an agent with its line breaks.
    #[must_use]
    pub fn quoted_lines(self, text: &str) -> Self {
        text.lines().enumerate().fold(self, |line, (place, text)| {
            let line = if place > 0 { line.newline() } else { line };
            line.quoted(text)
        })
    }

    fn with(mut self, span: Span) -> Self {
        self.0.push(span);
        self
    }

    /// Adds a text with names or commands in backticks, as in messages of gates and hints.
    #[must_use]
    pub fn marked(self, text: &str) -> Self {
        pieces(text)
            .into_iter()
            .fold(self, |line, (is_code, piece)| {
                if is_code {
                    line.code(piece)
                } else {
                    line.plain(piece)
                }
            })
    }
}

/// The pieces of a text, each with whether it is a name or a command in backticks.
pub(super) fn pieces(text: &str) -> Vec<(bool, &str)> {
    let pieces: Vec<&str> = text.split('`').collect();
    let is_code = |place: usize| place % 2 == 1;
    let is_empty = |(place, piece): (usize, &&str)| is_code(place) && piece.trim().is_empty();
    // Unpaired backticks are plain text.
    if pieces.len().is_multiple_of(2) || pieces.iter().enumerate().any(is_empty) {
        return vec![(false, text)];
    }
    let pieces = pieces.into_iter().enumerate();
    let pieces = pieces.filter(|(_, piece)| !piece.is_empty());
    pieces
        .map(|(place, piece)| (is_code(place), piece))
        .collect()
}

impl<T: Into<String>> From<T> for Line {
    fn from(text: T) -> Self {
        Self::default().plain(text)
    }
}

impl Table {
    /// A table without rows.
    pub fn new(heads: &[(&str, Align)]) -> Self {
        let heads = heads.iter().map(|(head, side)| ((*head).to_owned(), *side));
        Self {
            heads: heads.collect(),
            ..Self::default()
        }
    }

    /// A table whose first column is text, and whose others are numbers.
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

    /// The table without the columns that have nothing but dashes.
    #[must_use]
    pub fn without_empty(mut self) -> Self {
        let is_empty =
            |cell: &Line| *cell == Line::default() || *cell == "-".into() || *cell == "".into();
        for place in (1..self.heads.len()).rev() {
            let mut cells = self.rows.iter().filter_map(|row| row.get(place));
            if cells.all(is_empty) {
                self.heads.remove(place);
                for row in &mut self.rows {
                    if place < row.len() {
                        row.remove(place);
                    }
                }
            }
        }
        self
    }

    /// The table as a block; `None` without rows.
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
    fn a_column_of_dashes_is_left_out() {
        let heads = ["run", "cost", "errors", ""].map(|head| (head, Align::Left));
        let mut table = Table::new(&heads);
        table.row(["-", "-", "-", ""]);
        table.row(["b", "-", "0"]);
        let table = table.without_empty();
        let heads: Vec<&str> = table.heads.iter().map(|(head, _)| &**head).collect();
        assert_eq!(heads, ["run", "errors"]);
        assert_eq!(table.rows[1], ["b".into(), "0".into()]);
    }

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
