//! Aligned columns.

use std::io::{self, Write};

use super::Paint;
use crate::report::document::{Align, Tone};

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
