//! Confusion matrix: a table whose cells are darker for larger counts.

use std::io::{self, Write};

use super::super::escape::{text, truncate};

/// Number of shades in the style sheet.
const SHADES: u64 = 5;

/// Writes the matrix of rows (ground truths) and columns (predictions). `columns` may be one more than `rows`.
pub(super) fn matrix(
    caption: &str,
    rows: &[String],
    columns: &[String],
    counts: &[Vec<u64>],
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        out,
        "<div class=\"wide\" role=\"region\" aria-label=\"{0}\" tabindex=\"0\"><table class=\"matrix\">\
         <caption>{0}</caption>\n<thead><tr><td>truth \\ prediction</td>",
        text(caption)
    )?;
    for column in columns {
        write!(out, "<th scope=\"col\">{}</th>", truncate(column, 24))?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")?;
    for (place, (row, cells)) in rows.iter().zip(counts).enumerate() {
        write!(out, "<tr><th scope=\"row\">{}</th>", truncate(row, 24))?;
        let all: u64 = cells.iter().sum();
        for (column, count) in cells.iter().enumerate() {
            let shade = match (*count, all) {
                (0, _) | (_, 0) => 0,
                (count, all) => (count * (SHADES - 1)).div_ceil(all).min(SHADES - 1),
            };
            let side = if place == column { "hit" } else { "miss" };
            write!(out, "<td class=\"{side} q{shade}\">{count}</td>")?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_the_darker_the_more_of_their_row_they_hold() {
        let labels = ["a", "<b"].map(str::to_owned);
        let counts = [vec![9, 1, 0], vec![0, 0, 0]];
        let columns = ["a", "<b", "(other)"].map(str::to_owned);
        let mut out = Vec::new();
        matrix("Confusion", &labels, &columns, &counts, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let row =
            "<td class=\"hit q4\">9</td><td class=\"miss q1\">1</td><td class=\"miss q0\">0</td>";
        assert!(out.contains(row), "{out}");
        assert!(out.contains("<th scope=\"row\">&lt;b</th>"), "{out}");
    }
}
