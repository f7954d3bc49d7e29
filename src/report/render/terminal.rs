//! Blocks for a terminal or CI log: titles with indented content.

use std::io;
use std::io::Write;

use anstyle::{AnsiColor, Effects, Style};
use serde::{Deserialize, Serialize};

use super::super::document::{Align, Block, Document, Intervals, Line, Span, Table, Tone};
use crate::text::clean;

/// Indentation below an introductory line.
const STEP: usize = 2;

/// Maximum characters of a row's first cell.
const NAME: usize = 56;

/// Writes a document: its title, and its blocks indented.
pub fn document(document: &Document, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    if !document.title.is_empty() {
        writeln!(out, "{}", clean(&document.title))?;
    }
    blocks(&document.blocks, STEP, paint, out)
}

/// Writes lines.
pub fn lines(lines: impl IntoIterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = lines.into_iter();
    lines.try_for_each(|line| writeln!(out, "{}", clean(&line)))
}

/// Writes the first of these tables that fits into `width`, or else the last one with truncated cells. Returns the heads
/// of the first table that it has not.
pub fn fitting_table(
    tables: impl Iterator<Item = Table>,
    width: usize,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<Vec<String>> {
    let (mut rows, mut heads) = (Vec::new(), Vec::new());
    let mut left_out: Option<Vec<String>> = None;
    for table in tables {
        rows = cells(&table);
        heads = table.heads;
        let all = || heads.iter().map(|(head, _)| head.clone()).collect();
        left_out.get_or_insert_with(all);
        if width_of(&rows) <= width {
            break;
        }
    }
    // For a very narrow terminal.
    for cell in rows.iter_mut().flatten() {
        cell.text = truncate(&cell.text, width.max(1));
    }
    let side = |column: usize| heads.get(column).map_or(Align::Right, |(_, side)| *side);
    write_cells("", &rows, side, paint, out)?;
    let mut left_out = left_out.unwrap_or_default();
    left_out.retain(|head| !heads.iter().any(|(written, _)| written == head));
    Ok(left_out)
}

/// Writes blocks with this indentation.
pub fn blocks(
    blocks: &[Block],
    indent: usize,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    blocks
        .iter()
        .try_for_each(|block| self::block(block, indent, paint, out))
}

fn block(block: &Block, indent: usize, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let mut line = |line: &Line| self::line("", line, indent, paint, out);
    match block {
        Block::Heading(_, title) => {
            writeln!(out)?;
            line_of(&clean(title), indent.saturating_sub(STEP), out)
        }
        Block::Paragraph(text) => line(text),
        Block::Note(text) => self::line("note: ", text, indent, paint, out),
        Block::List(items) => items.iter().try_for_each(line),
        Block::Numbered(items) => (1..).zip(items).try_for_each(|(place, item)| {
            self::line(&format!("{place}. "), item, indent, paint, out)
        }),
        Block::Facts(facts) => {
            let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
            for (name, value) in facts {
                table.row([name.as_str().into(), value.clone()]);
            }
            self::table(&table, indent, paint, out)
        }
        Block::Table(content) => table(content, indent, paint, out),
        Block::Intervals(content) => table(&in_figures(content), indent, paint, out),
        Block::Chart(_) => Ok(()),
        Block::Verbatim(text) => verbatim(text, indent, out),
        Block::Marked(_, parts) => verbatim(&unmarked(parts), indent, out),
        Block::Group(group) => {
            line(&group.title)?;
            blocks(&group.blocks, indent + STEP, paint, out)
        }
        Block::Framed(_, framed) => blocks(framed, indent, paint, out),
        Block::Columns(columns) => columns
            .iter()
            .try_for_each(|column| blocks(column, indent, paint, out)),
    }
}

fn verbatim(text: &str, indent: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = text.lines();
    lines.try_for_each(|line| line_of(&clean(line), indent, out))
}

/// A text without its highlights.
pub(super) fn unmarked(parts: &[(bool, String)]) -> String {
    parts.iter().map(|(_, part)| &**part).collect()
}

/// Values with intervals as a table, for formats without charts.
pub(super) fn in_figures(content: &Intervals) -> Table {
    let mut table = Table::of_numbers(content.heads.clone());
    table.caption.clone_from(&content.caption);
    for row in &content.rows {
        table.row([&row.label, &row.figures, &row.note].map(String::as_str));
    }
    table
}

fn line(
    lead: &str,
    line: &Line,
    indent: usize,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    let text = format!("{lead}{}", text(line, indent + STEP, paint));
    line_of(&text, indent, out)
}

fn line_of(text: &str, indent: usize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{:indent$}{}", "", text.trim_end())
}

/// A line as text, with this indentation after line breaks.
pub fn text(line: &Line, indent: usize, paint: Paint) -> String {
    let spans = line.0.iter().map(|span| match span {
        Span::Plain(text) | Span::Quoted(text) | Span::Strong(text) | Span::Link(text, _) => {
            clean(text)
        }
        Span::Code(text) => format!("`{}`", clean(text)),
        Span::Toned(tone, text) => paint.tone(*tone, &clean(text)),
        Span::Break => format!("\n{:indent$}", ""),
    });
    spans.collect()
}

fn table(content: &Table, indent: usize, paint: Paint, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = cells(content);
    for row in &mut rows {
        if let [first, _, ..] = &mut **row {
            first.text = truncate(&first.text, NAME);
        }
    }
    let side = |column: usize| {
        content
            .heads
            .get(column)
            .map_or(Align::Right, |(_, side)| *side)
    };
    write_cells(&" ".repeat(indent), &rows, side, paint, out)
}

/// The cells of a table, including its head.
fn cells(table: &Table) -> Vec<Vec<TableCell>> {
    let heads = table.heads.iter();
    let heads = heads.map(|(head, _)| TableCell::new(table.head_tone, clean(head)));
    let heads: Vec<_> = heads.collect();
    let has_heads = heads.iter().any(|head| !head.text.is_empty());
    let rows = table.rows.iter().map(|row| row.iter().map(cell).collect());
    has_heads.then_some(heads).into_iter().chain(rows).collect()
}

/// The text of a line, in the colour of its first coloured part.
fn cell(line: &Line) -> TableCell {
    let tone = line.0.iter().find_map(|span| match span {
        Span::Toned(tone, _) => Some(*tone),
        _ => None,
    });
    let text = text(line, 0, Paint::Plain).replace('\n', "; ");
    TableCell::new(tone.unwrap_or(Tone::Plain), text)
}

// Coloured text, if colours are enabled.
//
// Texts must be sanitised before: untrusted text cannot produce colours.

/// Whether text is coloured, according to `--color`, the environment and the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Paint {
    /// No colours.
    #[default]
    Plain,
    /// Colours.
    Colour,
}

impl Paint {
    /// The text in a colour.
    pub fn tone(self, tone: Tone, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Colour => {
                let style = style(tone);
                format!("{style}{text}{style:#}")
            }
        }
    }
}

fn style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Good => AnsiColor::Green.on_default(),
        Tone::Bad => AnsiColor::Red.on_default(),
        Tone::Unsure => AnsiColor::Yellow.on_default(),
        Tone::Faint => Effects::DIMMED.into(),
    }
}

/// A table cell: a text, which must be free of control characters, and its colour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableCell {
    /// What stands in it.
    pub text: String,
    /// Its colour.
    pub tone: Tone,
}

impl TableCell {
    /// A coloured cell.
    pub fn new(tone: Tone, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { text, tone }
    }

    /// A cell without a colour.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::new(Tone::Plain, text)
    }

    fn columns(&self) -> usize {
        self.text.chars().count()
    }
}

/// Writes rows in aligned columns: the first left, the others right. Texts are written verbatim and must be free of
/// control characters.
pub fn write(indent: &str, rows: &[Vec<String>], out: &mut dyn Write) -> io::Result<()> {
    let plain = |row: &Vec<String>| row.iter().map(TableCell::plain).collect();
    let rows: Vec<Vec<TableCell>> = rows.iter().map(plain).collect();
    write_cells(indent, &rows, align_first_left, Paint::Plain, out)
}

/// Alignment of a table whose first column is text and whose others are numbers.
pub fn align_first_left(column: usize) -> Align {
    if column == 0 {
        Align::Left
    } else {
        Align::Right
    }
}

/// The same with colours, and with the alignment from `side`.
pub fn write_cells(
    indent: &str,
    rows: &[Vec<TableCell>],
    side: impl Fn(usize) -> Align,
    paint: Paint,
    out: &mut dyn Write,
) -> io::Result<()> {
    let widths = widths(rows);
    for row in rows {
        let mut line = indent.to_owned();
        // Delay blanks until something follows.
        let mut pending = 0;
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let blanks = width.saturating_sub(cell.columns());
            let (before, after) = match side(column) {
                Align::Left => (0, blanks),
                Align::Right => (blanks, 0),
            };
            pending += before + if column == 0 { 0 } else { 2 };
            if !cell.text.is_empty() {
                line.extend(std::iter::repeat_n(' ', pending));
                line += &paint.tone(cell.tone, &cell.text);
                pending = 0;
            }
            pending += after;
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Width of these rows in terminal columns.
pub fn width_of(rows: &[Vec<TableCell>]) -> usize {
    let widths = widths(rows);
    widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)
}

fn widths(rows: &[Vec<TableCell>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(TableCell::columns).max().unwrap_or(0)
    };
    (0..columns).map(width).collect()
}

/// A text of at most `most` characters; the last one is an ellipsis if it was truncated.
pub fn truncate(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let visible: String = text.chars().take(most.saturating_sub(1)).collect();
    visible + "…"
}

/// The same, truncated in the middle, because names in a project often differ only at the end.
pub fn truncate_middle(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let visible = most.saturating_sub(1);
    let (begin, end) = (visible - visible / 2, visible / 2);
    let mut short: String = text.chars().take(begin).collect();
    short.push('…');
    short.extend(text.chars().skip(length - end));
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_does_not_fit_tells_what_it_lacks() {
        let table = |heads: &[&str]| {
            let mut table = Table::of_numbers(heads.iter().copied());
            table.row(vec!["value"; heads.len()]);
            table
        };
        let check = |width: usize, expect: &str, left_out: &[&str]| {
            let tables = [table(&["a", "b", "c"]), table(&["a", "c"]), table(&["c"])];
            let mut out = Vec::new();
            let left = fitting_table(tables.into_iter(), width, Paint::default(), &mut out);
            assert_eq!(left.unwrap(), left_out);
            let out = String::from_utf8(out).unwrap();
            assert!(out.ends_with(expect), "{out}");
        };
        check(19, "value  value  value\n", &[]);
        check(18, "value  value\n", &["b"]);
        check(6, "value\n", &["a", "b"]);
        check(4, "val\u{2026}\n", &["a", "b"]);
    }

    #[test]
    fn what_belongs_to_a_line_stands_below_it() {
        let mut table = Table::of_numbers(["level", "correct"]);
        table.row(["1", "2 of 3"]);
        table.row(["a\u{1b}", "10 of 12"]);
        let gate = Line::from("gate ").toned(Tone::Bad, "FAILED");
        let report = Document {
            title: "gaia".to_owned(),
            blocks: vec![
                Block::Paragraph(gate.plain(": ").lines("one `x`\ntwo")),
                Block::Table(table),
                Block::Note("mind".into()),
                Block::group(
                    "wrong (2):",
                    super::super::super::document::list(["a", "b"]),
                ),
                Block::Verbatim("  as it\n  is".to_owned()),
            ],
        };
        let check = |paint: Paint, expect: &str| {
            let mut out = Vec::new();
            document(&report, paint, &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expect);
        };
        let rest = ": one `x`
    two
  level     correct
  1          2 of 3
  a\\u{1b}  10 of 12
  note: mind
  wrong (2):
    a
    b
    as it
    is
";
        check(Paint::Plain, &format!("gaia\n  gate FAILED{rest}"));
        let red = "gaia\n  gate \u{1b}[31mFAILED\u{1b}[0m";
        check(Paint::Colour, &format!("{red}{rest}"));
    }
}

#[cfg(test)]
mod paint_tests {
    use super::*;

    #[test]
    fn only_who_sees_colours_has_them() {
        let check = |paint: Paint, tone: Tone, expect: &str| {
            assert_eq!(paint.tone(tone, "x"), expect);
        };
        check(Paint::Plain, Tone::Bad, "x");
        check(Paint::Colour, Tone::Bad, "\x1b[31mx\x1b[0m");
        check(Paint::Colour, Tone::Good, "\x1b[32mx\x1b[0m");
        check(Paint::Colour, Tone::Plain, "x");
    }
}

#[cfg(test)]
mod table_tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [vec!["a", "é1"], vec!["bcd", "2", "x"], vec!["e"]];
        let rows = rows.map(|row| row.into_iter().map(str::to_owned).collect());
        let mut out = Vec::new();
        write("  ", &rows, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert_eq!(out, "  a    é1\n  bcd   2  x\n  e\n");
        assert_eq!(
            (truncate("abcd", 4), truncate("abcde", 4)),
            ("abcd".to_owned(), "abc…".to_owned())
        );
    }

    #[test]
    fn a_colour_takes_no_room() {
        let rows = [
            vec![TableCell::plain("a"), TableCell::new(Tone::Bad, "1")],
            vec![TableCell::plain("b"), TableCell::plain("22")],
        ];
        let mut out = Vec::new();
        write_cells("", &rows, align_first_left, Paint::Colour, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert_eq!(out, "a   \x1b[31m1\x1b[0m\nb  22\n");
        assert_eq!(width_of(&rows), 5);
    }

    #[test]
    fn name_is_truncated_in_the_middle() {
        let check =
            |most: usize, expect: &str| assert_eq!(truncate_middle("abcdefgh", most), expect);
        check(8, "abcdefgh");
        check(7, "abc…fgh");
        check(6, "abc…gh");
        check(1, "…");
    }
}
