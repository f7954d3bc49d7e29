//! Columns that stand under each other.

use std::io::{self, Write};

/// Writes rows whose columns stand under each other: the first to the left, the others to the right.
/// Texts are written as they are; they must hold nothing that a terminal would act on.
pub fn write(indent: &str, rows: &[Vec<String>], out: &mut dyn Write) -> io::Result<()> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let mut line = indent.to_owned();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let blanks = " ".repeat(width.saturating_sub(cell.chars().count()));
            let parts = match column {
                0 => ["", cell, &blanks],
                _ => ["  ", &blanks, cell],
            };
            line.extend(parts);
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// A text of at most `most` characters, the last of which says that more was there.
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    kept + "…"
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
            (cut("abcd", 4), cut("abcde", 4)),
            ("abcd".to_owned(), "abc…".to_owned())
        );
    }
}
